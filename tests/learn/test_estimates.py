"""MAP, PAC and UCRL2: by hand, bounded strength, the corners, settings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from learn.small import coin, counted, fan
from umdp import Graph, ModelError
from umdp.benchmark import BENCHMARKS
from umdp.learn import MAP, PAC, UCRL2, Learner
from umdp.learning.loop import LearningRun
from umdp.source.simulator import Simulator

EPSILON = 1e-4


# -- MAP -----------------------------------------------------------------------------------------------------


def test_map_begins_uniform() -> None:
    learner = MAP().bind(fan(3))
    assert learner.lower.tolist() == pytest.approx([1 / 3] * 3 + [1] * 3)


def test_map_by_hand() -> None:
    # Parameters 10 + 4, 10 + 0, 10 + 1, so the mode is 13, 9, 10 over 35 - 3.
    learner = MAP().bind(fan(3)).learn([3, 0, 0, 0, 0, 0]).learn([1, 0, 1, 5, 0, 0])
    assert learner.lower.tolist() == pytest.approx([13 / 32, 9 / 32, 10 / 32, 1, 1, 1])
    assert np.array_equal(learner.lower, learner.upper)
    # Parameters 2 and 5 give 1/5 and 4/5; with (3, 1) more (1 + 3)/9 and (4 + 1)/9.
    uneven = MAP(prior=[2, 5, 2, 2]).bind(coin())
    assert uneven.lower[:2].tolist() == pytest.approx([1 / 5, 4 / 5])
    assert uneven.learn([3, 1, 0, 0]).lower[:2].tolist() == pytest.approx([4 / 9, 5 / 9])


def test_map_with_a_bound_forgets_but_does_not_jump() -> None:
    # 20 sightings: parameters less 1 are 29 and 9, together 38, but the bound 30 leaves 28. The estimate stays 29/38.
    learner = MAP(strength_bound=30).bind(coin()).learn([20, 0, 0, 0])
    assert learner.lower[0] == pytest.approx(29 / 38)
    assert learner.excess[:2].tolist() == pytest.approx([29 * 28 / 38, 9 * 28 / 38])
    # 14 more of the other: 28 + 14 = 42 in all.
    learner.learn([0, 14, 0, 0])
    assert learner.lower[0] == pytest.approx(29 / 38 * 28 / 42)
    assert MAP().bind(coin()).learn([20, 0, 0, 0]).learn([0, 14, 0, 0]).lower[0] == pytest.approx(29 / 52)


def test_map_with_a_bound_stays_positive() -> None:
    learner = MAP(strength_bound=30).bind(coin())
    for _ in range(1000):
        learner.learn([100, 0, 0, 0])
    assert learner.model.lower[1] > 0
    assert learner.learn([0, 100, 0, 0]).lower[1] > 0.7


def test_a_bound_below_the_prior_is_refused() -> None:
    MAP(strength_bound=(20, 30)).bind(fan(3))  # of a pair the upper end counts
    with pytest.raises(
        ModelError, match=r"state 0, action 0: the parameters of its prior sum to 40, more than the .* 30"
    ):
        MAP(strength_bound=30).bind(fan(4))
    with pytest.raises(ModelError, match="strength_bound"):
        MAP(strength_bound=-1)


# -- PAC -----------------------------------------------------------------------------------------------------


def test_pac_by_hand() -> None:
    # Two uncertain transitions share 0.01: half-width sqrt(log(2 / 0.005) / 2 N).
    width = math.sqrt(math.log(400) / 200)
    learner = PAC().bind(coin()).learn([10, 20, 0, 0]).learn([20, 50, 0, 0])
    assert learner.lower.tolist() == pytest.approx([39 / 118 - width, 79 / 118 - width, 1, 1])
    assert learner.upper.tolist() == pytest.approx([39 / 118 + width, 79 / 118 + width, 1, 1])
    mean = PAC(around="mean").bind(coin()).learn([10, 20, 0, 0]).learn([20, 50, 0, 0])
    assert mean.lower.tolist() == pytest.approx([0.3 - width, 0.7 - width, 1, 1])
    assert mean.upper.tolist() == pytest.approx([0.3 + width, 0.7 + width, 1, 1])


def test_pac_before_the_first_sample() -> None:
    assert PAC().bind(coin()).lower.tolist() == [EPSILON, EPSILON, 1, 1]
    assert PAC(around="mean").bind(coin()).lower.tolist() == [0, 0, 1, 1]
    assert PAC().bind(coin()).upper.tolist() == PAC(around="mean").bind(coin()).upper.tolist() == [1, 1, 1, 1]


def test_pac_is_clipped() -> None:
    learner = PAC().bind(coin()).learn([1, 0, 0, 0])
    assert learner.lower.tolist() == [EPSILON, EPSILON, 1, 1]
    assert learner.upper.tolist() == [1, 1, 1, 1]
    mean = PAC(around="mean").bind(coin()).learn([10**6, 1, 0, 0])  # a smallest bound of 1e-4 would exclude 1e-6
    assert mean.lower[1] == 0


def test_pac_pays_for_what_matters_only() -> None:
    graph = fan(2, copies=3)
    counts = counted(graph, [30, 70] * 3)
    width = math.sqrt(math.log(2 / (0.01 / 2)) / 200)
    learner = PAC(around="mean").bind(graph, matters=[False, True, False, True, True]).learn(counts)
    assert learner.level == 0.01 / 2
    assert learner.lower[:6].tolist() == pytest.approx([0, 0, 0.3 - width, 0.7 - width, 0, 0])
    assert learner.upper[:6].tolist() == pytest.approx([1, 1, 0.3 + width, 0.7 + width, 1, 1])
    # Around the mode nothing is claimed, so nothing is held back; and by the paper all transitions share the error rate.
    unclaimed = PAC(spend="relevant").bind(graph, matters=[False, True, False, True, True]).learn(counts)
    assert unclaimed.upper[:6].tolist() == pytest.approx([39 / 118 + width, 79 / 118 + width] * 3)
    papers = PAC().bind(graph, matters=[False, True, False, True, True]).learn(counts)
    width = math.sqrt(math.log(2 / (0.01 / 6)) / 200)
    assert papers.upper[:6].tolist() == pytest.approx([39 / 118 + width, 79 / 118 + width] * 3)
    every = PAC(around="mean", spend="all").bind(graph, matters=[False, True, False, True, True]).learn(counts)
    assert every.lower[:6].tolist() == pytest.approx([0.3 - width, 0.7 - width] * 3)
    with pytest.raises(ModelError, match='spend is \'some\'; give "all" or "relevant"'):
        PAC(spend="some")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "uncertain"), [("chain", 186), ("aircraft", 379), ("grid", 1437), ("bandit", 198)])
def test_pac_divides_its_error_rate_over_all_uncertain_transitions_of_the_benchmarks(name: str, uncertain: int) -> None:
    bench = BENCHMARKS[name]
    assert LearningRun(Simulator(bench.build()), bench.spec, PAC()).learner.level == 0.01 / uncertain


def test_epsilon_gives_way_where_it_would_leave_no_distribution() -> None:
    # Raised to 1e-4 each, the two never seen and the one seen 10^12 times would sum to more than 1.
    learner = PAC().bind(fan(3)).learn([10**12, 0, 0, 0, 0, 0])
    assert learner.model.lower[:3].sum() <= 1
    assert learner.lower[1] == pytest.approx(9 / (10**12 + 27))
    # While the width leaves room, it stays.
    assert PAC().bind(fan(3)).learn([10**6, 0, 0, 0, 0, 0]).lower[1] == EPSILON


def exact_error(learner: PAC, successors: int, samples: int, p: float) -> float:
    """Return the probability that the first successor's interval misses p, summed over all counts it can have."""
    missed = 0.0
    for k in range(samples + 1):
        counts = counted(learner.graph, [k, samples - k] + [0] * (successors - 2))
        bound = learner.bind(learner.graph).learn(counts)
        if not bound.lower[0] <= p <= bound.upper[0]:
            missed += float(binom.pmf(k, samples, p))
    return missed


def test_pac_keeps_its_promise_around_the_mean() -> None:
    learner = PAC(0.1, around="mean").bind(fan(4))
    assert learner.claim.kind == "fixed-N"
    assert learner.claim.level == 0.9
    assert max(exact_error(learner, 4, 50, p) for p in np.linspace(0, 1, 41)) <= learner.level


def test_pac_does_not_keep_its_promise_around_the_mode() -> None:
    # The largest mode is (9 + 50) / 86 = 0.686: with half-width 0.259 no data reach 0.96.
    learner = PAC().bind(fan(4))
    assert learner.claim.kind == "none"
    assert exact_error(learner, 4, 50, 0.96) == pytest.approx(1)
    # In a graph with as many uncertain transitions as aircraft, it is still hundreds of times the promise.
    large = PAC(0.01 * 4 / 379).bind(fan(4))
    assert exact_error(large, 4, 50, 0.96) > 500 * large.level


# -- UCRL2 ---------------------------------------------------------------------------------------------------


def test_ucrl2_by_hand() -> None:
    # Three states; two actions in state 0, one elsewhere; 10^7 + 3 steps in all, 10^7 of them of the first choice.
    graph = fan(2, copies=2)
    learner = UCRL2().bind(graph).learn([6 * 10**6, 4 * 10**6, 0, 0, 2, 1])
    width = math.sqrt(14 * 3 * math.log(2 * 2 * (10**7 + 3) / 0.01) / 10**7)
    one, other = (6 * 10**6 + 9) / (10**7 + 18), (4 * 10**6 + 9) / (10**7 + 18)
    assert learner.lower.tolist() == pytest.approx([one - width, other - width, EPSILON, EPSILON, 1, 1])
    assert learner.upper.tolist() == pytest.approx([one + width, other + width, 1, 1, 1, 1])


def test_ucrl2_counts_the_actions_of_the_state() -> None:
    one = Graph([0, 1, 3], [0, 2, 4, 6], [0, 1] * 3)
    learner = UCRL2().bind(one).learn([10**6] * 6)
    assert np.unique(np.round((learner.upper - learner.lower)[:2], 12)).size == 1
    narrow, wide = math.log(2 * 6 * 10**6 / 0.01), math.log(4 * 6 * 10**6 / 0.01)
    assert learner.upper[2] - 0.5 == pytest.approx((learner.upper[0] - 0.5) * math.sqrt(wide / narrow))


def test_ucrl2_widens_where_nothing_is_sampled() -> None:
    graph = fan(2, copies=2)
    learner = UCRL2().bind(graph).learn([10**6] * 4 + [0, 0])
    width = learner.upper[0] - learner.lower[0]
    learner.learn([0, 0, 10**7, 10**7, 0, 0])
    assert learner.upper[0] - learner.lower[0] > width
    assert learner.upper[2] - learner.lower[2] < width


def test_ucrl2_with_a_bound() -> None:
    learner = UCRL2(strength_bound=10**6).bind(coin()).learn([4 * 10**6, 6 * 10**6, 0, 0])
    width = math.sqrt(14 * 3 * math.log(2 * 10**7 / 0.01) / 10**6)
    assert learner.samples[0] == 10**6
    assert learner.upper[0] == pytest.approx((4 * 10**6 + 9) / (10**7 + 18) + width)


# -- settings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [MAP, PAC, UCRL2])
@pytest.mark.parametrize("prior", [1, 0, -3, float("nan"), float("inf"), "ten", [[10]]])
def test_bad_parameters_are_refused(learner: type[Learner], prior: object) -> None:
    with pytest.raises(ModelError, match="prior"):
        learner(prior=prior)  # type: ignore[call-arg]


@pytest.mark.parametrize("learner", [PAC, UCRL2])
@pytest.mark.parametrize("rate", [0, 1, -0.1, 1.5, float("nan"), "small", [0.1]])
def test_bad_error_rates_are_refused(learner: type[Learner], rate: object) -> None:
    with pytest.raises(ModelError, match=r"error_rate is .*; give"):
        learner(error_rate=rate)  # type: ignore[call-arg]


def test_other_bad_settings_are_refused() -> None:
    with pytest.raises(ModelError, match=r'around is \'middle\'; give "map" or "mean"'):
        PAC(around="middle")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="3 entries, but the graph has 4 transitions"):
        MAP(prior=[10, 10, 10]).bind(coin())
    for learner in (PAC(), UCRL2()):
        with pytest.raises(ModelError, match=r"state 0, action 0: lower bounds of 0.0001 on its 10001 successors"):
            learner.bind(fan(10_001))
    PAC(around="mean").bind(fan(10_001))
