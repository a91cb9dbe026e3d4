"""Confidence sequences over an observed graph: predictable starts, levels, what was not found; and ledgers of all of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from learn.small import counted, fan
from umdp import ClopperPearson, ConfidenceSequence, Graph, ModelError
from umdp.learn import LUI, Learner
from umdp.learn.binomial import ULP, Binomial, tighten
from umdp.learn.observed_sequence import SHARE, ObservedSequence
from umdp.model import REST
from umdp.statements import Code

RATE = 0.05


def observed(sizes: list[int]) -> Graph:
    """Return a graph whose first states have a choice each, with so many outcomes and "anything else", the last state."""
    rest = max(sizes) + len(sizes)
    rows = [[*range(len(sizes), len(sizes) + m), rest] for m in sizes] + [[s] for s in range(len(sizes), rest + 1)]
    return Graph(
        np.arange(len(rows) + 1),
        np.cumsum([0, *map(len, rows)]),
        [t for row in rows for t in row],
        labels={REST: [rest]},
    )


def end(hits: int, misses: int, level: float) -> float:
    """Return the lower end of a confidence sequence."""
    if not hits:
        return 0.0
    return float(ConfidenceSequence(0.5).end(np.array([float(hits)]), np.array([float(misses)]), level)[0])


def give(learner: Binomial, *counts: int) -> Binomial:
    """Let a learner take in the counts of the first transitions."""
    return learner.learn([*counts, *[0] * (learner.graph.transitions - len(counts))])


def test_a_graph_with_anything_else_is_learned_by_what_is_found() -> None:
    learner = ConfidenceSequence(RATE, prior=1.5).bind(observed([2]))
    assert isinstance(learner, ObservedSequence)
    assert (learner.error_rate, learner.prior, learner.name) == (RATE, 1.5, "confidence-sequence")
    assert learner.claim == ConfidenceSequence(RATE).claim
    assert learner.lower.tolist() == [0, 0, 0, 1, 1, 1]
    assert learner.upper.tolist() == [1] * 6
    again = learner.bind(observed([3]))
    assert again.graph.transitions == 4 + 4
    assert not again.rank.any()


def test_where_the_graph_was_settled_before_anything_else_is_an_outcome_like_others() -> None:
    graph = observed([2, 3])
    learner = give(ConfidenceSequence(RATE).bind(graph, graph_known=True), 30, 60, 10)
    assert not isinstance(learner, ObservedSequence)
    assert learner.level == pytest.approx(
        RATE / (3 + 4)
    )  # every outcome has its share, and counts from the first sample
    assert learner.lower[2] == pytest.approx(end(10, 90, learner.level))
    listed = Graph(graph.state_ptr, graph.choice_ptr, graph.successor)
    same = give(ConfidenceSequence(RATE).bind(listed), 30, 60, 10)
    np.testing.assert_array_equal(learner.lower, same.lower)
    np.testing.assert_array_equal(learner.upper, same.upper)


def test_the_first_batch_of_a_choice_bounds_nothing() -> None:
    learner = give(ConfidenceSequence(RATE).bind(observed([2])), 1000, 0, 0)
    assert learner.lower[:3].tolist() == [0, 0, 0]
    assert learner.upper[:3].tolist() == [1, 1, 1]


def test_levels_and_counts_by_hand() -> None:
    learner = ConfidenceSequence(RATE).bind(observed([3]))
    give(learner, 5, 0, 0, 0)  # the first outcome is found
    give(learner, 60, 40, 0, 0)  # it counts from here; the second is found
    half = RATE * SHARE / 2
    assert learner.lower[0] == pytest.approx(end(60, 40, half * SHARE))
    assert learner.lower[1] == 0
    missing = 1 - end(60, 40, half * SHARE)  # 40 of 100 were something not found
    assert learner.upper[[1, 2, 3]] == pytest.approx([missing] * 3)
    give(learner, 30, 69, 0, 1)  # the second counts from here, at a quarter; one step the graph does not list
    assert learner.least[0] == pytest.approx(max(end(60, 40, half * SHARE), end(90, 110, half * SHARE)))
    assert learner.least[1] == pytest.approx(end(69, 31, half * SHARE / 4))
    beyond = 1 - end(99, 1, half * SHARE / 4)  # the second start of the interval of what was not found
    assert learner.most[[2, 3]] == pytest.approx([beyond] * 2)
    assert learner.order.tolist()[:4] == [1, 2, 0, 0]  # anything else is never found
    assert learner.restarts[0] == 2
    assert 6 / math.pi**2 > SHARE


def test_choices_get_the_budget_in_the_order_in_which_they_are_taken() -> None:
    graph = observed([1, 1, 1])
    learner = ConfidenceSequence(RATE).bind(graph)
    batch = np.zeros(graph.transitions, np.int64)
    for choice in (2, 0, 2, 0, 1):
        batch[:] = 0
        batch[graph.choice_ptr[choice]] = 50
        learner.learn(batch)
    assert learner.rank[:3].tolist() == [2, 3, 1]
    first, second = (learner.lower[graph.choice_ptr[c]] for c in (2, 0))
    assert first == pytest.approx(end(50, 0, RATE * SHARE / 2 * SHARE))
    assert second == pytest.approx(end(50, 0, RATE * SHARE / 4 / 2 * SHARE))


def test_all_levels_ever_given_sum_to_the_error_rate_at_most() -> None:
    total = sum(RATE * SHARE / v**2 / 2 * SHARE * 2 / j**2 for v in range(1, 2000) for j in (1,))
    total *= sum(1 / j**2 for j in range(1, 10**5))
    assert 0.9 * RATE < total < RATE


def test_a_narrow_row_is_still_a_distribution() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        learner = ConfidenceSequence(0.9).bind(observed([4]))
        p = rng.dirichlet(np.full(5, 0.3))
        for n in (1, 3, 10, 100, 10_000):
            give(learner, *rng.multinomial(n, p).tolist())
            low, high = learner.lower[:5], learner.upper[:5]
            assert (low <= high).all()
            assert (high > 0).all()
            assert low.sum() <= 1 + 1e-12
            assert high.sum() >= 1 - 1e-12
            assert learner.model.graph is learner.graph


def test_a_change_is_noticed_there_too() -> None:
    learner = give(ConfidenceSequence(RATE).bind(observed([2])), 1, 1, 0)
    give(learner, 9000, 1000, 0)
    give(learner, 0, 90_000, 0)
    assert learner.claim.kind == "none"
    assert learner.claim.codes == (Code.BROKEN,)
    assert learner.ledger() is None


def test_it_can_be_saved_and_cloned() -> None:
    rng = np.random.default_rng(0)
    graph = observed([3, 2])
    learner = ConfidenceSequence(RATE).bind(graph)
    for _ in range(5):
        learner.learn(np.where(np.arange(graph.transitions) < 7, rng.integers(0, 5, graph.transitions), 0))
    other, clone = ConfidenceSequence(RATE).bind(graph).restore(learner.state()), learner.clone()
    kept = learner.state()
    more = np.where(np.arange(graph.transitions) < 7, 3, 0)
    other.learn(more), clone.learn(more)
    assert all(np.array_equal(learner.state()[name], kept[name]) for name in kept)
    learner.learn(more)
    for each in (other, clone):
        assert all(np.array_equal(each.state()[name], value) for name, value in learner.state().items())


# -- ledgers -------------------------------------------------------------------------------------------------


def recompute(learner: Binomial) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds that follow from a ledger and the graph alone."""
    ledger = learner.ledger()
    assert ledger is not None
    graph = learner.graph
    low, high = np.where(learner.uncertain, 0.0, 1.0), np.ones(graph.transitions)
    for t in np.flatnonzero(ledger["claimed"]):
        for side in ("lower", "upper"):
            hits, samples = int(ledger[f"{side}_hits"][t]), int(ledger[f"{side}_samples"][t])
            hit, miss, level = float(hits), float(samples - hits), float(ledger[f"{side}_levels"][t])
            one, other = (hit, miss) if side == "lower" else (miss, hit)
            found = learner.end(np.array([one]), np.array([other]), level)[0] if one else 0.0
            if side == "lower":
                low[t] = found
            else:
                high[t] = min(1 - found + ULP, 1.0) if samples else 1.0
    return tighten(low, high, learner.sizes)


@pytest.mark.parametrize("found", [False, True])
@pytest.mark.parametrize("kind", [ConfidenceSequence, ClopperPearson])
def test_bounds_follow_from_the_ledger(kind: type[Binomial], found: bool) -> None:
    graph = observed([3, 2]) if found and kind is ConfidenceSequence else fan(3, copies=2)
    rng = np.random.default_rng(1)
    learner = kind(RATE).bind(graph)
    edge = int(graph.choice_ptr[2])
    for _ in range(12):
        learner.learn(np.where(np.arange(graph.transitions) < edge, rng.poisson(4.0, graph.transitions), 0))
    low, high = recompute(learner)
    claimed = learner.claimed
    assert low[claimed] == pytest.approx(learner.lower[claimed], abs=1e-14)
    assert high[claimed] == pytest.approx(learner.upper[claimed], abs=1e-14)


def test_the_ledger_of_a_running_intersection_has_the_counts_of_different_times() -> None:
    graph = fan(2)
    learner = ConfidenceSequence(RATE).bind(graph).learn(counted(graph, [50, 50])).learn(counted(graph, [0, 10]))
    ledger = learner.ledger()
    assert ledger is not None
    assert (ledger["lower_hits"][0], ledger["lower_samples"][0]) == (50, 100)  # what was excluded stays so
    assert (ledger["upper_hits"][0], ledger["upper_samples"][0]) == (50, 110)
    assert ledger["levels"][:2] == pytest.approx([RATE, RATE])  # one bound, mirrored
    assert ledger["levels"][0] <= RATE
    assert ledger["claimed"].tolist() == [True, True, False, False]
    assert (ledger["method"], ledger["error_rate"], ledger["prior"]) == ("confidence-sequence", RATE, 0.5)


def test_without_a_claim_there_is_no_ledger() -> None:
    assert LUI().bind(fan(2)).ledger() is None


# -- what learners keep --------------------------------------------------------------------------------------


class Forgetful(LUI):
    """Learns something it does not declare."""

    def begin(self) -> None:
        super().begin()
        self.secret = np.zeros(3)


class Promising(LUI):
    """Declares something it does not make."""

    kept = ("nothing",)


@pytest.mark.parametrize(("kind", "words"), [(Forgetful, "secret.*without declaring"), (Promising, "nothing.*begin")])
def test_what_is_kept_must_be_declared(kind: type[Learner], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        kind().bind(fan(2))
