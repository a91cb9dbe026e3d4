"""Events of classes: each has the samples of all choices that tell it apart, and what follows from their bounds is true."""

from __future__ import annotations

import contextlib
import copy
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from learn.test_homogeneity import drawn
from learn.test_tied import corridor, moves
from umdp import LUI, ClopperPearson, ConfidenceSequence, Graph, RestartingSequence, anytime, benchmark
from umdp.analysis.explainer import ledger
from umdp.benchmark.known_ties import tie_aircraft
from umdp.errors import FormatError
from umdp.learn.binomial import Binomial
from umdp.learn.event_bounds import implied
from umdp.learn.homogeneity import misfits
from umdp.learn.tied import Tied
from umdp.model.events import Events
from umdp.model.structure import check_bounds
from umdp.model.tying import Tying
from umdp.statements import Code
from umdp.verify.checker import verify_content
from umdp.verify.document import digest
from umdp.verify.statistics import ruled_out

Partition = list[int]  # the block of every outcome


def divided(partitions: list[Partition]) -> Tying:
    """Return a class of one choice for each partition, whose transitions are its blocks; each leads to a state of its own."""
    rows = [sorted(set(each)) for each in partitions]
    sizes = [len(row) for row in rows]
    states = max(len(partitions) + 1, *sizes)
    rest = states - len(partitions)
    graph = Graph(
        np.arange(states + 1), np.concatenate(([0], np.cumsum(sizes + [1] * rest))),
        [*(place for row in rows for place in range(len(row))), *range(len(partitions), states)],
        actions=["go"] * len(partitions) + ["rest"] * rest,
    )  # fmt: skip

    def outcomes(state: str, action: str, successor: str) -> tuple[str, list[str]] | None:
        if action == "rest":
            return None
        partition, block = partitions[int(state)], rows[int(state)][int(successor)]
        return "go", [f"o{i}" for i, each in enumerate(partition) if each == block]

    return Tying.of(graph, outcomes)


@st.composite
def partitions(draw: st.DrawFn) -> list[Partition]:
    """Some partitions of two to five outcomes; one of them tells all apart."""
    outcomes = draw(st.integers(2, 5))
    some = draw(st.lists(st.lists(st.integers(0, 4), min_size=outcomes, max_size=outcomes), max_size=5))
    return draw(st.permutations([*some, list(range(outcomes))]))


def blocks(tying: Tying, choice: int) -> list[frozenset[str]]:
    """Return the names of the outcomes along each transition of a choice."""
    ptr, graph = tying.transition_ptr, tying.graph
    return [
        frozenset(tying.outcome_names[o] for o in tying.transition_outcome[ptr[t] : ptr[t + 1]])
        for t in range(graph.choice_ptr[choice], graph.choice_ptr[choice + 1])
    ]


@given(partitions(), st.data())
def test_every_event_has_the_samples_of_all_choices_that_tell_it_apart(
    some: list[Partition], data: st.DataObject
) -> None:
    """Against sets of names: which events there are, and what is counted for each."""
    tying = divided(some)
    events, graph = Events.of(tying), tying.graph
    whole = frozenset(f"o{i}" for i in range(len(some[0])))
    rows = [blocks(tying, c) for c in range(len(some))]
    expected = {frozenset((block, whole - block)) for row in rows for block in row if block != whole}
    mine = [frozenset(names) for e, names in enumerate(events.sets()) if events.event_class[e] == 0]
    assert {frozenset((each, whole - each)) for each in mine} == expected
    assert len(mine) == len(expected)
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=graph.transitions, max_size=graph.transitions)))
    pooled = events.pool(counts)
    for e, event in enumerate(mine):
        hits = misses = 0
        for c, row in enumerate(rows):
            if all(block <= event or not block & event for block in row):
                own = counts[graph.choice_ptr[c] : graph.choice_ptr[c + 1]]
                hits += sum(int(n) for n, block in zip(own, row, strict=True) if block <= event)
                misses += sum(int(n) for n, block in zip(own, row, strict=True) if not block <= event)
        assert pooled[2 * e : 2 * e + 2].tolist() == [hits, misses]
    for c, row in enumerate(rows):
        for t, block in zip(range(graph.choice_ptr[c], graph.choice_ptr[c + 1]), row, strict=True):
            entry = int(events.entry[t])
            assert (entry == -1) == (block == whole)
            if entry >= 0:
                assert block == (mine[entry // 2] if entry % 2 == 0 else whole - mine[entry // 2])


@given(partitions(), st.lists(st.integers(1, 30), min_size=5, max_size=5), st.data())
def test_what_follows_from_true_bounds_is_true(some: list[Partition], weights: list[int], data: st.DataObject) -> None:
    """Any distribution within the bounds of all events is within those of all outcomes and transitions; in exact arithmetic."""
    tying = divided(some)
    events, size = Events.of(tying), len(some[0])
    truth = [Fraction(w, sum(weights[:size])) for w in weights[:size]]
    lower, upper = np.zeros(2 * events.size), np.ones(2 * events.size)
    unit = st.integers(0, 8)
    for e in range(events.size):
        outcomes = events.event_outcome[events.event_ptr[e] : events.event_ptr[e + 1]]
        p = float(sum(truth[o] for o in outcomes))
        low, high = p * (1 - data.draw(unit) / 8), p + (1 - p) * data.draw(unit) / 8
        lower[2 * e], upper[2 * e] = max(low - 1e-15, 0), min(high + 1e-15, 1)
        lower[2 * e + 1], upper[2 * e + 1] = max(1 - high - 1e-15, 0), min(1 - low + 1e-15, 1)
    found = implied(events, lower, upper)
    assert not found.contradicted.any()
    for o, p in enumerate(truth):
        assert Fraction(found.outcomes[0][o]) <= p <= Fraction(found.outcomes[1][o])
    for c in range(len(some)):
        for t in range(tying.graph.choice_ptr[c], tying.graph.choice_ptr[c + 1]):
            p = sum((truth[o] for o in tying.transition_outcome[slice(*tying.transition_ptr[t : t + 2])]), Fraction(0))
            assert Fraction(found.transitions[0][t]) <= p <= Fraction(found.transitions[1][t])
            if events.entry[t] >= 0:  # and no wider than what was given
                assert found.transitions[0][t] >= lower[events.entry[t]]
                assert found.transitions[1][t] <= upper[events.entry[t]]


@given(partitions(), st.data())
def test_whatever_the_bounds_some_distribution_is_left(some: list[Partition], data: st.DataObject) -> None:
    """Bounds that contradict each other are said to; every choice has a distribution within what is left."""
    tying = divided(some)
    events = Events.of(tying)
    ends = np.sort(
        np.array([data.draw(st.tuples(st.integers(0, 8), st.integers(0, 8))) for _ in range(2 * events.size)]) / 8
    )
    found = implied(events, ends[:, 0], ends[:, 1])
    check_bounds(tying.graph.choice_ptr, *found.transitions, tying.graph.names_of)  # raises where nothing is left
    lower, upper = found.outcomes
    within = slice(0, len(some[0]))
    assert (lower <= upper + 1e-12).all()
    assert lower[within].sum() <= 1 + 1e-12
    assert upper[within].sum() >= 1 - 1e-12


def test_by_hand() -> None:
    """Of four outcomes a, b, c, d one choice sees all, one sees a or b; this event is known better than its parts."""
    tying = divided([[0, 1, 2, 3], [0, 0, 1, 2]])
    events = Events.of(tying)
    assert events.sets()[:5] == [("o0",), ("o1",), ("o2",), ("o3",), ("o0", "o1")]
    lower, upper = np.zeros(2 * events.size), np.ones(2 * events.size)
    for e, (low, high) in enumerate([(0.1, 0.4), (0.1, 0.4), (0.1, 0.3), (0.2, 0.5), (0.4, 0.5)]):
        lower[2 * e : 2 * e + 2], upper[2 * e : 2 * e + 2] = (low, 1 - high), (high, 1 - low)
    found = implied(events, lower, upper)
    # a, b: 1 less the most of the others is 1 - 0.4 - 0.3 - 0.5 < 0.1; the fourth: 1 - 0.1 - 0.1 - 0.1 leaves 0.7.
    assert found.transitions[0][:7] == pytest.approx([0.1, 0.1, 0.1, 0.2, 0.4, 0.1, 0.2])
    assert found.transitions[1][:7] == pytest.approx([0.4, 0.4, 0.3, 0.5, 0.5, 0.3, 0.5])
    assert not found.contradicted.any()
    lower[8] = 0.85  # more than the two have together: nothing fits
    upper[8] = 0.9
    assert implied(events, lower, upper).contradicted.tolist() == [True, *[False] * (tying.classes - 1)]


@pytest.mark.parametrize("learner", [ClopperPearson(0.05), ConfidenceSequence(0.05)], ids=["clopper", "sequence"])
def test_the_bounds_of_an_event_are_those_of_its_counts_at_its_level(learner: Binomial) -> None:
    """Moving right is told apart at all four choices, the others at three; the checker of certificates is the judge."""
    graph = corridor()
    tied = Tied(learner, Tying.of(graph, moves)).bind(graph)
    counts = np.random.default_rng(1).integers(1, 30, graph.transitions)
    tied.learn(counts)
    assert tied.events is not None
    names = [each[0] for each in tied.events.sets()[:3]]
    first = int(graph.choice_ptr[1])
    hits = {"left": counts[first:11:3].sum(), "stays": counts[first + 1 : 11 : 3].sum()}
    hits["right"] = counts[1] + counts[first + 2 : 11 : 3].sum()
    for e, name in enumerate(names):
        samples = int(counts[:11].sum()) if name == "right" else int(counts[first:11].sum())
        level = Fraction(0.05) * (4 if name == "right" else 3) / 10
        low, high = (float(each[2 * e]) for each in (tied.inner.lower, tied.inner.upper))

        def out(p: float, k: int, n: int = samples, at: Fraction = level) -> bool:
            return ruled_out(Fraction(p), k, n, at, learner.name, Fraction(1, 2))

        k = int(hits[name])
        assert out(low - 1e-9, k)
        assert not out(low + 1e-9, k)
        assert out(1 - high - 1e-9, samples - k)
        assert not out(1 - high + 1e-9, samples - k)


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=40), st.floats(1e-12, 0.999))
def test_levels_by_weight_sum_to_the_error_rate_at_most(weights: list[float], rate: float) -> None:
    size = len(weights)
    graph = Graph(np.arange(size + 3), [*range(0, 2 * size + 1, 2), 2 * size + 1, 2 * size + 2], [0, 1] * (size + 1))
    learner = ConfidenceSequence(rate).bind(graph)
    learner.weights = np.array([*weights, 0.0, 0.0])
    spent = sum((Fraction(float(each)) for each in learner.levels[: 2 * size : 2]), Fraction(0))
    assert Fraction(rate) * (1 - Fraction(1, 2**48)) <= spent <= Fraction(rate)
    with_two = learner.levels[: 2 * size : 2] / np.array(weights)
    assert with_two == pytest.approx(np.full(size, with_two[0]))


@pytest.mark.parametrize("name", ["aircraft", "grid"])
def test_the_ledger_of_events_is_that_of_classes(name: str) -> None:
    """The events of a class spend what its outcomes spent, to the last bit but rounding."""
    bench = benchmark.BENCHMARKS[name]
    mdp = bench.build()
    assert bench.tie is not None
    tying = bench.tie(mdp.graph)
    *_, last = anytime(mdp, bench.spec, ConfidenceSequence(0.05), tie=tying, trajectories=50, horizon=50)
    found = ledger(last)
    assert Fraction(0.05) * (1 - Fraction(1, 2**48)) <= found.spent <= Fraction(0.05)
    outcomes = dict(zip(tying.names, np.diff(tying.outcome_ptr).tolist(), strict=True))
    total = sum(outcomes[entry.name] for entry in found.entries)
    for entry in found.entries:
        assert float(entry.spent) == pytest.approx(0.05 * outcomes[entry.name] / total)


def walls() -> tuple[Any, Tying]:
    """Return a corridor with two ends, in which a step goes right, stays or goes left, and stays at walls; and how it is tied."""
    rows = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]
    graph = Graph(np.arange(5), np.cumsum([0, *map(len, rows)]), [t for row in rows for t in row], actions=["go"] * 4)
    chance = {-1: 0.2, 0: 0.3, 1: 0.5}

    def row(state: str, action: str, successor: str) -> tuple[str, list[str]]:
        here, there = int(state), int(successor)
        return "go", [str(d) for d in chance if min(max(here + d, 0), 3) == there]

    tying = Tying.of(graph, row)
    truth = graph.with_probability(tying.along(np.array([chance[int(name)] for name in tying.outcome_names])))
    return truth, tying


def run_false(seed: int, truth: Any, tying: Tying, error_rate: float) -> bool:
    """Whether a bound was ever false in a run in which what is sampled depends on what was seen."""
    rng = np.random.default_rng(seed)
    learner = Tied(ConfidenceSequence(error_rate), tying).bind(truth.graph)
    seen: NDArray[np.int64] = np.zeros(truth.transitions, np.int64)
    for _ in range(40):
        share = np.maximum.reduceat(seen, truth.choice_ptr[:-1]) / np.maximum(
            np.add.reduceat(seen, truth.choice_ptr[:-1]), 1
        )
        batch = drawn(truth, rng.poisson(1 + 8 * (share >= np.median(share))), rng)
        seen += batch
        learner.learn(batch)
        if (truth.probability < learner.lower - 1e-12).any() or (truth.probability > learner.upper + 1e-12).any():
            return True
        assert learner.claim.holds  # while all bounds hold they cannot contradict each other
    return False


@pytest.mark.parametrize(
    ("runs", "allowed", "least"), [(60, 24, 0), pytest.param(1500, 349, 20, marks=pytest.mark.slow)]
)
def test_all_bounds_hold_at_all_times(runs: int, allowed: int, least: int) -> None:
    """Runs at error rate 0.2, looked at after every batch: more false ones than `allowed` have a chance of 1 in 1000."""
    tail = sum(comb(runs, k) * Fraction(1, 5) ** k * Fraction(4, 5) ** (runs - k) for k in range(allowed + 1, runs + 1))
    assert tail < Fraction(1, 1000)
    truth, tying = walls()
    assert tying.feeds.tolist() == [False, True, True, False]
    false = sum(run_false(seed, truth, tying, 0.2) for seed in range(runs))
    assert least <= false <= allowed


def test_bounds_that_contradict_each_other_end_the_promise() -> None:
    """A corridor whose ends are not like its middle; without comparing choices it shows in what their bounds imply."""
    truth, tying = walls()
    learner = Tied(ConfidenceSequence(0.05), tying, false_alarms=1e-300).bind(truth.graph)
    batch = np.array([1, 149, 50, 50, 50, 50, 50, 50, 149, 1])  # right from the left wall, left from the right wall
    learner.learn(batch)
    assert not learner.misfit_samples.any()
    assert learner.contradicted.any()
    assert learner.claim.kind == "none"
    assert learner.claim.codes == (Code.CONTRADICTED,)
    assert learner.ledger() is None
    assert learner.model.transitions == truth.transitions
    again = Tied(ConfidenceSequence(0.05), tying).bind(truth.graph).restore(learner.state())
    assert again.claim == learner.claim


def test_who_learns_events() -> None:
    """Those whose bounds follow from hits and samples, where something is merged."""
    truth, tying = walls()
    for learner, by_event in [
        (ConfidenceSequence(), True), (ClopperPearson(), True), (LUI(), False), (RestartingSequence(), False)
    ]:  # fmt: skip
        bound = Tied(learner, tying).bind(truth.graph)
        assert (bound.events is not None) == by_event
        assert bound.feeds.tolist() == ([True] * 4 if by_event else tying.feeds.tolist())
    chain = benchmark.BENCHMARKS["chain"]
    assert chain.tie is not None
    mdp = chain.build()
    assert Tied(ConfidenceSequence(), chain.tie(mdp.graph)).bind(mdp).events is None


def test_a_run_that_was_fed_by_class_goes_on_by_class(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = benchmark.aircraft()
    tying = tie_aircraft(truth.graph)
    rng = np.random.default_rng(0)
    first, second = (drawn(truth, np.full(truth.choices, 50), rng) for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr(Tied, "by_event", False)
        old = Tied(ConfidenceSequence(), tying).bind(truth.graph).learn(first)
    kept = old.state()
    back = Tied(ConfidenceSequence(), tying).bind(truth.graph).restore(kept)
    assert back.events is None
    assert (back.ledger() or {})["levels"].tolist() == (old.ledger() or {})["levels"].tolist()
    back.learn(second)
    old.learn(second)
    assert all(np.array_equal(value, old.state()[name]) for name, value in back.state().items())


def test_sightings_are_shares_of_as_many_samples_as_there_are_of_all_events() -> None:
    """Staying is told apart in the middle alone, 20 times; moving right also at the left wall, where it was seen more often."""
    truth, tying = walls()
    learner = Tied(ConfidenceSequence(), tying).bind(truth.graph)
    counts = np.array([40, 40, 2, 8, 10, 0, 0, 0, 0, 0])
    seen = learner.sightings(counts)
    assert seen[2:5].tolist() == [2, 8, 10]  # left 2 of 20, stays 8 of 20, right 50 of 100
    assert seen[5:8].tolist() == [2, 8, 10]
    assert seen[8:].tolist() == [2, 18]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("own_lower", lambda given: [x + 0.01 if 0 < x < 0.5 else x for x in given]),
        ("event_outcome", lambda given: [given[1], given[0], *given[2:]]),
        ("event_outcome", lambda given: [given[0]] * len(given)),
        ("event_ptr", lambda given: [*given[:-1], given[-2]]),
        ("lower_levels", lambda given: [a * 1.01 for a in given]),
        ("graph", lambda given: "tied"),
    ],
)
def test_forged_events_are_refused(name: str, change: Any) -> None:
    bench = benchmark.BENCHMARKS["aircraft"]
    mdp = bench.build()
    assert bench.tie is not None
    *_, last = anytime(mdp, bench.spec, ConfidenceSequence(0.1), tie=bench.tie(mdp.graph), trajectories=300)
    content = last.certificate().content
    assert content["learning"]["graph"] == "events"
    assert verify_content(copy.deepcopy(content)).valid
    forged = copy.deepcopy(content)
    forged["learning"][name] = change(forged["learning"][name])
    forged["digest"] = digest(forged)
    with contextlib.suppress(FormatError):
        assert not verify_content(forged).valid


def test_a_transition_is_bounded_by_its_own_event() -> None:
    """What a wall shows directly is narrower than the sum of what it merges, once the wall was seen often."""
    truth, tying = walls()
    learner = Tied(ConfidenceSequence(0.05), tying).bind(truth.graph)
    learner.learn(drawn(truth, np.array([0, 30, 30, 4000]), np.random.default_rng(3)))
    merged = slice(int(truth.choice_ptr[3]), int(truth.choice_ptr[4]))
    assert tying.transition_ptr[merged.stop] - tying.transition_ptr[merged.start] == 3
    widths = learner.upper - learner.lower
    assert (widths[merged] < 0.1).all()
    own = learner.own_upper - learner.own_lower
    parts = [own[list(tying.transition_outcome[a:b])].sum() for a, b in pairwise(tying.transition_ptr[8:11])]
    assert max(parts) > 0.3


def test_choices_that_merge_the_same_are_compared_with_each_other() -> None:
    """Nobody went where all outcomes are told apart; two walls that differ are found all the same."""
    tying = divided([[0, 1, 2], [0, 0, 1], [0, 0, 1]])
    alike, different = (np.zeros(tying.graph.transitions, np.int64) for _ in range(2))
    alike[3:7] = [300, 300, 280, 320]
    different[3:7] = [300, 300, 500, 100]
    assert not misfits(tying, alike, 0.01).any()
    assert misfits(tying, different, 0.01)[:3].tolist() == [False, True, True]


def test_an_event_is_of_one_class() -> None:
    bench = benchmark.BENCHMARKS["aircraft"]
    mdp = bench.build()
    assert bench.tie is not None
    *_, last = anytime(mdp, bench.spec, ConfidenceSequence(0.1), tie=bench.tie(mdp.graph), trajectories=50)
    content = copy.deepcopy(last.certificate().content)
    given = content["learning"]
    ends = given["event_ptr"]
    first = next(e for e in range(len(ends) - 1) if ends[e + 1] - ends[e] > 1)
    other = given["class_ptr"][-1] - 1
    assert other not in given["event_outcome"][ends[first] : ends[first + 1]]
    given["event_outcome"] = list(given["event_outcome"])
    given["event_outcome"][ends[first + 1] - 1] = other
    content["digest"] = digest(content)
    found = verify_content(content)
    assert not found.valid
    assert "no set of outcomes of one class" in str(found)
