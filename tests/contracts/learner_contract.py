"""What every learner must do: one suite, for those of the package and for anybody's.

To run it on a learner of your own, call ``check_learner(MyLearner())`` in a test, or, for one test per check, parametrise
over `CHECKS`. A check takes a learner that is not bound to a graph, and raises where the learner fails.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from thoroughness import examples
from umdp import MDP, Graph, IntervalMDP, ModelError
from umdp.learn import Guarantee, Learner

__all__ = ["CHECKS", "check_learner", "experiences", "make_graph", "same"]

Counts = NDArray[np.int64]
Experience = tuple[Graph, list[Counts]]

relaxed = settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))


def make_graph(sizes: list[list[int]]) -> Graph:
    """Return a graph whose state s has a choice with ``sizes[s][c]`` successors for every c."""
    states = max(len(sizes), max(m for row in sizes for m in row))
    rows = sizes + [[1]] * (states - len(sizes))
    flat = [m for row in rows for m in row]
    return Graph(
        np.cumsum([0] + [len(row) for row in rows]),
        np.cumsum([0, *flat]),
        np.concatenate([np.arange(m) for m in flat]),
    )


FIXED = make_graph([[2, 3], [1], [5, 1, 2]])


@st.composite
def experiences(draw: st.DrawFn, batches: int = 4) -> Experience:
    """Draw a graph and some batches of counts: small, huge, one-sided, or none for some choices."""
    rows = st.lists(st.integers(1, 5), min_size=1, max_size=3)
    graph = make_graph(draw(st.lists(rows, min_size=1, max_size=3)))
    counts = []
    for _ in range(draw(st.integers(1, batches))):
        largest = 10 ** draw(st.integers(0, 10))
        each = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, largest))
        row = draw(st.lists(each, min_size=graph.transitions, max_size=graph.transitions))
        counts.append(np.array(row, dtype=np.int64))
    return graph, counts


def same(one: Learner, other: Learner) -> bool:
    """Whether two learners have learned the same, bit for bit."""
    mine, theirs = one.state(), other.state()
    return mine.keys() == theirs.keys() and all(
        mine[n].dtype == theirs[n].dtype and np.array_equal(mine[n], theirs[n]) for n in mine
    )


def says_what_it_promises(learner: Learner) -> None:
    """It has a name, and a label with a level exactly where something is promised, before and after it is bound."""
    assert isinstance(learner.name, str)
    assert learner.name
    for each in (learner, learner.bind(FIXED)):
        assert isinstance(each.claim, Guarantee)
        assert each.claim.kind in ("none", "fixed-N", "any-time")
        assert (each.claim.level is None) == (each.claim.kind == "none")
        assert each.claim.level is None or 0 < each.claim.level < 1


def binding_gives_a_fresh_start(learner: Learner) -> None:
    """Binding leaves alone what is bound, and the result does not remember what the original has seen."""
    before = dict(learner.__dict__)
    first = learner.bind(FIXED)
    assert learner.__dict__.keys() == before.keys()
    assert all(learner.__dict__[name] is value for name, value in before.items())
    assert first.graph is FIXED
    start = first.clone()
    first.learn(np.arange(FIXED.transitions))
    kept = first.clone()
    again = first.bind(FIXED)
    assert same(again, start)
    again.learn(np.ones(FIXED.transitions, np.int64))
    assert same(first, kept)
    assert first.bind(make_graph([[2]])).lower.shape == (3,)
    with pytest.raises(ModelError, match="matters"):
        learner.bind(FIXED, matters=[True])


def bounds_stay_valid(learner: Learner) -> None:
    """After any data the bounds are intervals of probabilities that a distribution fits, and [1, 1] where nothing is open."""

    @relaxed
    @given(experiences())
    def holds(experience: Experience) -> None:
        graph, batches = experience
        bound = learner.bind(graph)
        for counts in [np.zeros(graph.transitions, np.int64), *batches]:
            bound.learn(counts)
            assert bound.lower.shape == bound.upper.shape == (graph.transitions,)
            assert (bound.lower >= 0).all()
            assert (bound.lower <= bound.upper).all()
            assert (bound.upper > 0).all()
            assert (bound.upper <= 1).all()
            assert (bound.lower[~bound.uncertain] == 1).all()
            model = bound.model
            assert isinstance(model, IntervalMDP)
            assert model.graph is graph

    holds()


def no_data_change_nothing(learner: Learner) -> None:
    """Counts of zero leave everything as it is."""

    @relaxed
    @given(experiences())
    def holds(experience: Experience) -> None:
        graph, batches = experience
        bound = learner.bind(graph)
        for counts in batches:
            before = bound.learn(counts).clone()
            bound.learn(np.zeros_like(counts))
            assert same(bound, before)

    holds()


def state_can_be_saved_and_restored(learner: Learner) -> None:
    """A restored learner is the saved one, and learns on as if nothing had happened."""

    @relaxed
    @given(experiences())
    def holds(experience: Experience) -> None:
        graph, batches = experience
        bound = learner.bind(graph).learn(batches[0])
        saved = bound.state()
        kept = {name: value.copy() for name, value in saved.items()}
        other = learner.bind(graph).restore(saved)
        assert same(other, bound)
        for counts in batches:
            assert same(bound.learn(counts), other.learn(counts))
        assert all(np.array_equal(saved[name], kept[name]) for name in kept)

    holds()
    bound = learner.bind(FIXED)
    with pytest.raises(ModelError):
        bound.restore({})
    with pytest.raises(ModelError):
        bound.restore(learner.bind(make_graph([[2]])).state())


def clones_go_their_own_way(learner: Learner) -> None:
    """A clone starts where the original is; neither sees what the other learns, nor do models taken before."""

    @relaxed
    @given(experiences())
    def holds(experience: Experience) -> None:
        graph, batches = experience
        bound = learner.bind(graph).learn(batches[0])
        clone, model = bound.clone(), bound.model
        assert same(clone, bound)
        kept, lower, upper = bound.state(), model.lower.copy(), model.upper.copy()
        for counts in batches:
            clone.learn(counts)
        assert all(np.array_equal(bound.state()[name], kept[name]) for name in kept)
        for counts in batches:
            bound.learn(counts)
        assert same(clone, bound)
        assert np.array_equal(model.lower, lower)
        assert np.array_equal(model.upper, upper)

    holds()


def counts_stay_the_callers(learner: Learner) -> None:
    """What is handed in is neither changed nor held on to; what are not counts is refused."""
    counts = np.arange(FIXED.transitions)
    bound = learner.bind(FIXED).learn(counts)
    assert np.array_equal(counts, np.arange(FIXED.transitions))
    kept = bound.clone()
    counts[:] = 7
    assert same(bound, kept)
    for wrong in (np.arange(3), np.ones(FIXED.transitions), -counts):
        with pytest.raises(ModelError):
            bound.learn(wrong)
    assert same(bound, kept)


def approaches_the_truth(learner: Learner) -> None:
    """With very many samples both bounds are near the true probabilities."""
    rng = np.random.default_rng(1)
    sizes = np.diff(FIXED.choice_ptr)
    truth = MDP(
        FIXED.state_ptr,
        FIXED.choice_ptr,
        FIXED.successor,
        np.concatenate([rng.dirichlet(2 * np.ones(m)) for m in sizes]),
    )
    rows = np.split(truth.probability, FIXED.choice_ptr[1:-1])
    bound = learner.bind(FIXED)
    distance = []
    for samples in [10, 10**3, 10**5, 10**7, 10**9]:
        bound.learn(np.concatenate([rng.multinomial(samples, p / p.sum()) for p in rows]))
        far = np.maximum(np.abs(bound.lower - truth.probability), np.abs(bound.upper - truth.probability))
        distance.append(far.max())
    assert distance[-1] < 0.01
    assert distance[-1] < distance[0]


CHECKS: tuple[Callable[[Learner], None], ...] = (
    says_what_it_promises,
    binding_gives_a_fresh_start,
    bounds_stay_valid,
    no_data_change_nothing,
    state_can_be_saved_and_restored,
    clones_go_their_own_way,
    counts_stay_the_callers,
    approaches_the_truth,
)


def check_learner(learner: Learner) -> None:
    """Run all checks on a learner that is not bound."""
    for check in CHECKS:
        check(learner)
