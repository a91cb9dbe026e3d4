"""The promise of a learner of parameters, by simulation; alarms where the program is wrong; and what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from parametric.programs import PROGRAMS, affine, letters, program
from umdp import (
    LUI,
    MAP,
    MDP,
    PAC,
    UCRL2,
    ClopperPearson,
    ConfidenceSequence,
    ModelError,
    RestartingSequence,
    anytime,
)
from umdp.learn.parametric_learner import Parametric
from umdp.parametric.model import ParametricMDP
from umdp.statements import Code, stated

RATE = 0.2
LEARNERS = [LUI(), MAP(), PAC(), UCRL2(), ClopperPearson(0.05), ConfidenceSequence(0.05)]


def draw(truth: MDP, rng: np.random.Generator, samples: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return counts of so many samples of each choice."""
    counts = np.zeros(truth.transitions, np.int64)
    for choice in range(truth.choices):
        own = slice(truth.choice_ptr[choice], truth.choice_ptr[choice + 1])
        weights = truth.probability[own] / truth.probability[own].sum()
        counts[own] = rng.multinomial(samples[choice], weights)
    return counts


def a_run(given: ParametricMDP, values: dict[str, float], seed: int, looks: int) -> tuple[bool, bool]:
    """Return whether a promise was ever false, and whether there was an alarm, over a run that is looked at again and again."""
    rng, truth = np.random.default_rng(seed), given.at(values)
    learner = Parametric(ConfidenceSequence(RATE), given).bind(given.graph)
    point = np.array([values[name] for name in given.names])
    for _ in range(looks):
        # What is sampled depends on what was learned: mostly that of which least is known.
        width = np.maximum.reduceat(learner.upper - learner.lower, truth.choice_ptr[:-1])
        samples = np.where(width >= np.quantile(width, 0.5), rng.integers(1, 30, truth.choices), 0)
        learner.learn(draw(truth, rng, samples))
        if not learner.claim.holds:
            return False, True
        inside = (learner.lower <= truth.probability) & (truth.probability <= learner.upper)
        if not inside.all() or (point < learner.box_lower).any() or (point > learner.box_upper).any():
            return True, False
    return False, False


def check_coverage(name: str, runs: int, looks: int) -> None:
    make, values = PROGRAMS[name]
    given = make()
    found = [a_run(given, values, seed, looks) for seed in range(runs)]
    false = sum(wrong for wrong, _ in found)
    alarms = sum(alarm for _, alarm in found)
    # A promise at 20 %, and alarms that choices are not alike, for which there is no reason, at 1 %: the test's own error is one
    # in a thousand.
    assert false + alarms <= binom.ppf(0.999, runs, RATE + 0.01)
    assert false <= binom.ppf(0.999, runs, RATE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_promise_is_kept_at_all_times(name: str) -> None:
    check_coverage(name, 8, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_promise_is_kept_at_all_times_in_many_runs(name: str) -> None:
    check_coverage(name, 2000 if name == "affine" else 300, 25)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_learned_closes_in_on_the_truth(name: str) -> None:
    make, values = PROGRAMS[name]
    given = make()
    truth = given.at(values)
    learner = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    rng = np.random.default_rng(5)
    for _ in range(6):
        learner.learn(draw(truth, rng, np.full(truth.choices, 30_000)))
    assert learner.claim.holds
    assert (learner.upper - learner.lower).max() < 0.03
    assert (learner.lower <= truth.probability).all()
    assert (learner.upper >= truth.probability).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_every_learner_works_on_parameters(learner: object) -> None:
    given = affine()
    for snapshot in anytime(
        given.at(p=0.3),
        'Pmax=? [ F "goal" ]',
        Parametric(learner, given),
        trajectories=120,
        seed=2,  # type: ignore[arg-type]
    ):
        known = snapshot.parameters
        assert known is not None
        assert 0 <= known["p"]["lower"] <= known["p"]["upper"] <= 1
    assert known["p"]["samples"] > 0


def test_numbers_of_the_program_are_known_and_cost_nothing() -> None:
    given = affine()
    learner = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    inner = learner.inner
    assert isinstance(inner, ConfidenceSequence)
    assert inner.bounds == 2  # two classes of two outcomes: p | 1-p in two places, and p/4 | 1-p/4
    own = slice(given.graph.choice_ptr[4], given.graph.choice_ptr[5])
    assert learner.lower[own].tolist() == learner.upper[own].tolist() == [0.5, 0.5]


def test_equal_classes_learn_what_one_choice_with_all_the_counts_learns() -> None:
    given = affine()
    learner = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    counts = np.zeros(given.graph.transitions, np.int64)
    counts[[1, 2, 3, 4]] = 3, 7, 14, 6  # p, 1-p; 1-p, p
    learner.learn(counts)
    alone = ConfidenceSequence(0.05)
    from umdp import Graph

    bound = alone.bind(Graph([0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [0, 1, 2, 3, 2, 3])).learn([9, 21, 0, 0, 0, 0])
    assert learner.box_lower[0] == pytest.approx(bound.lower[0], abs=1e-12)
    assert learner.box_upper[0] == pytest.approx(bound.upper[0], abs=1e-12)
    assert learner.lower[5] <= 1 - learner.box_upper[0] / 4 <= learner.lower[5] + 1e-12


def changed(given: ParametricMDP, values: dict[str, float], choice: int, probability: list[float]) -> MDP:
    """Return the process, with other probabilities of one choice."""
    truth = given.at(values)
    probabilities = truth.probability.copy()
    probabilities[truth.choice_ptr[choice] : truth.choice_ptr[choice + 1]] = probability
    return truth.graph.with_probability(probabilities)


@pytest.mark.parametrize("choice", [1, 2, 3, 4])
def test_a_wrong_program_raises_the_alarm(choice: int) -> None:
    """In one state alone the process is unlike the program: of its class, or of what the others say of the parameter."""
    given = affine()
    wrong = {1: [0.7, 0.3], 2: [0.3, 0.7], 3: [0.7, 0.3], 4: [0.8, 0.2]}  # the last is a number in the program, 1/2
    process = changed(given, {"p": 0.3}, choice, wrong[choice])
    learner = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    rng = np.random.default_rng(choice)
    for _ in range(12):
        learner.learn(draw(process, rng, np.full(process.choices, 100)))
    assert not learner.claim.holds
    reason = stated(learner.claim.reasons[0])
    assert reason.code in (Code.PROGRAM_WRONG, Code.PROGRAM_DIFFERS)
    assert reason.data["origin"] == "small.prism"
    # The run goes on, with the classes: nothing of what was seen is lost, and all rows can be solved.
    learner.learn(draw(process, rng, np.full(process.choices, 100)))
    learner.model  # noqa: B018 - raises where no distribution fits


def test_a_program_that_is_right_raises_none() -> None:
    given = affine()
    truth = given.at(p=0.3)
    learner = Parametric(ConfidenceSequence(0.001), given).bind(given.graph)
    rng = np.random.default_rng(0)
    for _ in range(30):
        learner.learn(draw(truth, rng, np.full(truth.choices, 300)))
    assert learner.claim.holds


def test_without_a_promise_nothing_is_alarming() -> None:
    given = affine()
    process = changed(given, {"p": 0.3}, 3, [0.5, 0.5])
    learner = Parametric(LUI(), given).bind(given.graph)
    rng = np.random.default_rng(0)
    for _ in range(10):
        learner.learn(draw(process, rng, np.full(process.choices, 1000)))
    assert not learner.wrong
    assert learner.claim == LUI().claim
    learner.model  # noqa: B018


def test_a_continued_learner_is_the_one_that_went_on() -> None:
    given = affine()
    truth = given.at(p=0.3)
    rng = np.random.default_rng(3)
    batches = [draw(truth, rng, np.full(truth.choices, 20)) for _ in range(4)]
    whole = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    other = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    for batch in batches[:2]:
        whole.learn(batch)
    other.restore(whole.state())
    copy = whole.clone()
    for batch in batches[2:]:
        whole.learn(batch), other.learn(batch)
    assert {k: v.tolist() for k, v in whole.state().items()} == {k: v.tolist() for k, v in other.state().items()}
    assert copy.samples.sum() < whole.samples.sum()


def test_a_parameter_that_changes_is_found_again() -> None:
    given = affine()
    rng = np.random.default_rng(0)
    learner = Parametric(RestartingSequence(0.05), given).bind(given.graph)
    for value in (0.3, 0.8):
        truth = given.at(p=value)
        for _ in range(12):
            learner.learn(draw(truth, rng, np.full(truth.choices, 100)))
        assert learner.claim.holds
        assert learner.box_lower[0] < value < learner.box_upper[0]
        assert learner.box_upper[0] - learner.box_lower[0] < 0.2
    assert learner.alarms()


def test_the_box_only_shrinks() -> None:
    given = affine()
    truth = given.at(p=0.3)
    rng = np.random.default_rng(4)
    learner = Parametric(ConfidenceSequence(0.05), given).bind(given.graph)
    for _ in range(10):
        before = learner.box_lower.copy(), learner.box_upper.copy()
        learner.learn(draw(truth, rng, np.full(truth.choices, 5)))
        assert (learner.box_lower >= before[0]).all()
        assert (learner.box_upper <= before[1]).all()


def test_values_and_programs_that_do_not_fit_are_refused() -> None:
    given = affine()
    with pytest.raises(ModelError, match="p = 2 lies outside of its box, 0 to 1"):
        given.at(p=2)
    with pytest.raises(ModelError, match="no value"):
        given.at({})
    with pytest.raises(ModelError, match="no parameter q"):
        given.at(q=1)
    with pytest.raises(ModelError, match=r"p = 1: state 1, action 0, successor 4 has the probability 0 \(1 - p\)"):
        given.at(p=1)
    one, p = letters(1)
    with pytest.raises(ModelError, match=r"state 1, action 0: the probabilities sum to 2\*p, not to 1"):
        program([[(one, 0)], [(p, 0), (p, 1)]], ["p"])
    with pytest.raises(ModelError, match="is no program"):
        Parametric(LUI(), given.at(p=0.5))  # type: ignore[arg-type]
