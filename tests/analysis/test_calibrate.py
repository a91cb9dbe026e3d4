"""Calibration: what is measured is what is so, for learners whose errors are known."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import beta, binom

from umdp import LUI, MDP, Guarantee, Learner, ModelError, anytime, benchmark, calibrate
from umdp.analysis.calibration import default_times
from umdp.explore import Uniform
from umdp.learning.candidates import CandidateEvaluation
from umdp.source import Simulator

# From the start, a leads to the goal with probability 0.3 and b with 0.6; otherwise one is lost.
FORK = MDP(
    [0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], [0.3, 0.7, 0.6, 0.4, 1, 1], labels={"goal": [1], "lost": [2]},
)  # fmt: skip
GOAL = 'Pmax=? [ F "goal" ]'
COIN = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
HEADS = 'Pmax=? [ F "heads" ]'


class Told(Learner):
    """Says after every update what it was told to say: points for a and b, of which the last stay."""

    name: ClassVar[str] = "told"
    kept: ClassVar[tuple[str, ...]] = ("updates",)
    updates: np.ndarray

    def __init__(self, *said: tuple[float, float], width: float = 0.0) -> None:
        self.said, self.width = said, width

    @property
    def claim(self) -> Guarantee:
        return Guarantee("any-time", 0.9)

    def begin(self) -> None:
        self.updates = np.zeros(1, np.int64)
        self._say()

    def update(self, counts: np.ndarray) -> None:
        self.updates = self.updates + 1
        self._say()

    def _say(self) -> None:
        a, b = self.said[min(int(self.updates[0]), len(self.said) - 1)]
        point = np.array([a, 1 - a, b, 1 - b, 1.0, 1.0])
        self.lower, self.upper = np.maximum(point - self.width, 0), np.minimum(point + self.width, 1)
        self.lower[4:] = 1


TRUE = (0.3, 0.6)


def found(*said: tuple[float, float], width: float = 0.0, spec: str = GOAL):
    return calibrate(Told(*said, width=width), FORK, spec, seeds=4, trajectories=20, explorer=Uniform())


def share(given, quantity: str, when: str, at: int | None = None) -> float:
    return given.frequency(quantity, when, at).share


def test_the_truth_is_always_true() -> None:
    made = found(TRUE)
    for quantity in ("interval", "model", "policy", "optimum"):
        for when in ("then", "always"):
            assert share(made, quantity, when) == 1
    assert made.optimum == pytest.approx(0.6)
    assert np.median(made.columns["worth"]) == pytest.approx(0.6)


def test_what_was_false_once_is_true_then_and_not_always() -> None:
    made = found(TRUE, TRUE, (0.3, 0.7), TRUE)
    assert [share(made, each, "then") for each in ("interval", "model", "policy", "optimum")] == [1, 1, 1, 1]
    assert [share(made, each, "always") for each in ("model", "policy", "optimum")] == [0, 0, 0]
    assert share(made, "interval", "always") == 0.5  # those of b
    assert share(made, "policy", "always", 1) == 1  # the first update said the truth


def test_a_promise_may_be_false_though_it_is_below_the_optimum() -> None:
    made = found((0.5, 0.4))  # it takes a for the better one, and promises 0.5 of it; it is worth 0.3
    assert [share(made, each, "always") for each in ("model", "policy", "optimum")] == [0, 0, 1]
    assert np.median(made.columns["bound"]) == pytest.approx(0.5)
    assert np.median(made.columns["worth"]) == pytest.approx(0.3)


def test_a_false_model_may_keep_its_promise() -> None:
    made = found((0.1, 0.2))
    assert [share(made, each, "always") for each in ("interval", "model", "policy", "optimum")] == [0, 0, 1, 1]


def test_where_less_is_better_the_bound_is_from_above() -> None:
    least = 'Pmin=? [ F "goal" ]'
    assert share(found((0.2, 0.6), spec=least), "policy", "always") == 0
    assert share(found((0.4, 0.6), spec=least), "policy", "always") == 1
    assert share(found((0.2, 0.6), width=0.11, spec=least), "policy", "always") == 1


def test_a_bound_that_is_met_exactly_is_kept() -> None:
    assert share(found(TRUE), "policy", "always") == 1
    assert share(found((0.3, 0.6 + 1e-7)), "policy", "always") == 0


@pytest.mark.slow
def test_at_one_time_exact_intervals_cover_what_the_binomial_distribution_says() -> None:
    """Clopper and Pearson's interval after n flips of a fair coin, by summing over all outcomes."""
    times = [16, 64]
    made = calibrate("clopper-pearson", COIN, HEADS, seeds=200, trajectories=64, times=times)  # its error rate is 0.01
    for n in times:
        k = np.arange(n + 1)
        low = np.where(k > 0, beta.ppf(0.005, k, n - k + 1), 0)
        high = np.where(k < n, beta.ppf(0.995, k + 1, n - k), 1)
        exact = binom.pmf(k, n, 0.5)[(low <= 0.5) & (high >= 0.5)].sum()
        measured = made.frequency("model", "then", n)
        runs, hits = measured.runs, round(measured.share * measured.runs)
        assert binom.ppf(0.0005, runs, exact) <= hits <= binom.ppf(0.9995, runs, exact)
    assert share(made, "model", "always") <= share(made, "model", "then")


@pytest.mark.slow
def test_lui_covers_less_the_more_it_has_seen() -> None:
    """THEORY: per transition at p = 0.5, 89 % after 16 samples, 45 % after 128, 17 % after 1024."""
    made = calibrate(LUI(), COIN, HEADS, seeds=300, trajectories=1024, times=[16, 128, 1024])
    for n, about in ((16, 0.89), (128, 0.45), (1024, 0.17)):
        measured = made.frequency("model", "then", n)
        assert measured.lower - 0.03 <= about <= measured.upper + 0.03
    assert made.verdict("model", "then", 1024) == "below"
    assert made.level == 0.95


def test_a_run_is_that_of_its_seed() -> None:
    bench = benchmark.BENCHMARKS["aircraft"]
    made = calibrate("lui", bench.build(), bench.spec, seeds=2, seed=7, trajectories=50, horizon=bench.horizon)
    *_, last = anytime(bench.build(), bench.spec, "lui", seed=8, trajectories=50, horizon=bench.horizon)
    assert made.seeds.tolist() == [7, 8]
    assert made.columns["bound"][1, -1] == last.bracket.lower
    assert made.columns["worth"][1, -1] == pytest.approx(last.performance)


def test_learner_and_source_may_be_made_for_every_run() -> None:
    made = []

    def learner() -> Learner:
        made.append(1)
        return Told(TRUE)

    calibrate(learner, lambda: Simulator(FORK), GOAL, seeds=3, trajectories=5)
    assert len(made) == 4  # one to see what it claims


def test_ctrl_c_gives_what_is_there() -> None:
    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    made = calibrate(Told(TRUE), FORK, GOAL, seeds=9, trajectories=5, progress=stop)
    assert made.interrupted
    assert made.seeds.tolist() == [0, 1, 2]
    assert "3 runs of 5 trajectories, interrupted" in str(made)


@pytest.mark.slow  # the command line does it in the normal suite
def test_processes_give_the_same() -> None:
    given = ("lui", COIN, HEADS)
    alone, together = (calibrate(*given, seeds=6, trajectories=30, jobs=jobs) for jobs in (1, 2))
    for name, column in alone.columns.items():
        np.testing.assert_array_equal(column, together.columns[name])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"level": 95}, "give a probability between 0 and 1"),
        ({"times": [0, 3]}, "from 1 to 1000"),
        ({"trajectories": 0}, "trajectories must be a whole number"),
        ({"learner": lambda: LUI((0.1, 0.9)), "jobs": 2}, "cannot travel to other processes"),
        ({"source": Simulator(COIN, later=COIN, after=5)}, "the process changes"),
    ],
)
def test_what_cannot_be_measured(given, said) -> None:
    more = {"learner": "lui", "source": COIN, "spec": HEADS} | given
    with pytest.raises(ModelError, match=said):
        calibrate(**more)


def test_the_truth_must_be_known(tmp_path) -> None:
    from umdp.source import Log

    (tmp_path / "log.csv").write_text("trajectory,state,action,next\n1,a,go,b\n1,b,go,b\n")
    source = Log(tmp_path / "log.csv", labels={"heads": lambda name: name == "b"})
    with pytest.raises(ModelError, match="the true probabilities are not known here"):
        calibrate("lui", source, HEADS)


def test_a_threshold_does_not_end_the_runs() -> None:
    made = calibrate(LUI(), COIN, 'Pmax>=0.1 [ F "heads" ]', seeds=3, trajectories=200)
    plain = calibrate(LUI(), COIN, HEADS, seeds=3, trajectories=200)
    np.testing.assert_array_equal(made.columns["bound"], plain.columns["bound"])


def test_times() -> None:
    assert default_times(1).tolist() == [1]
    assert default_times(1000).tolist()[-4:] == [300, 500, 700, 1000]
    assert default_times(1234).tolist()[-2:] == [1000, 1234]


def test_ties_are_learned_together() -> None:
    bench = benchmark.BENCHMARKS["aircraft"]
    made = [
        calibrate(
            "confidence-sequence", bench.build(), bench.spec, seeds=2, trajectories=30, horizon=bench.horizon, tie=tie
        )
        for tie in (None, bench.tie(bench.build().graph))
    ]
    bound = [float(np.median(each.columns["bound"][:, -1])) for each in made]
    assert bound[1] > 2 * bound[0]
    assert [share(each, "policy", "always") for each in made] == [1, 1]


def test_what_is_played_is_the_promise() -> None:
    """With LUI nothing is promised but what candidates have shown: before that, nothing is said."""
    bench = benchmark.BENCHMARKS["aircraft"]
    made = calibrate(
        "lui", bench.build(), bench.spec, seeds=3, trajectories=400, horizon=bench.horizon,
        evidence=CandidateEvaluation(0.5, 0.1), times=[10, 400],
    )  # fmt: skip
    assert made.level == 0.9
    assert (made.claims("policy"), made.claims("model")) == (True, False)
    assert made.columns["promised"][:, 0].tolist() == [0, 0, 0]
    assert np.isneginf(made.columns["bound"][:, 0]).all()
    assert made.columns["promised"][:, 1].tolist() == [1, 1, 1]
    assert (made.columns["bound"][:, 1] > 0).all()
    assert share(made, "policy", "always") == 1
    assert share(made, "model", "always") == 0
    assert "playing candidates claims 90 % of the value" in str(made)
