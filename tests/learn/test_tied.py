"""Learning by classes: counts are pooled where outcomes can be told apart, and bounds are spread where they lead."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import (
    LUI,
    MAP,
    MDP,
    PAC,
    UCRL2,
    ConfidenceSequence,
    Graph,
    ModelError,
    RestartingSequence,
    anytime,
    benchmark,
)
from umdp.learn.tied import TIED, Tied
from umdp.model.tying import Tying

LEARNERS = [
    LUI(),
    MAP(),
    PAC(),
    PAC(around="mean"),
    UCRL2(),
    RestartingSequence(0.05),
]  # all outcomes of a class at once


def corridor(length: int = 4) -> Graph:
    """Return a corridor in which "go" moves right, stays or moves left; at the left end two of these are one."""
    rows = [sorted({max(s - 1, 0), s, s + 1}) for s in range(length)]
    flat = [t for row in rows for t in row] + [length]
    return Graph(
        np.arange(length + 2), np.cumsum([0, *(len(row) for row in rows), 1]), flat,
        actions=["go"] * length + ["rest"], labels={"end": [length]},
    )  # fmt: skip


def moves(state: str, action: str, successor: str) -> tuple[str, list[str]] | None:
    if action != "go":
        return None
    here, there = int(state), int(successor)
    names = {here + 1: ["right"], here: ["stays"], here - 1: ["left"]}[there]
    return "go", ["stays", "left"] if here == 0 and there == 0 else names


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_bounds_are_those_of_one_choice_with_all_the_counts(learner: object) -> None:
    """The law of pooling: what a class learns is what one choice with the sum of the counts learns; `test_events` has others."""
    graph = corridor()
    tied = Tied(learner, Tying.of(graph, moves)).bind(graph)  # type: ignore[arg-type]
    batches = np.random.default_rng(1).integers(0, 9, (3, graph.transitions))
    assert tied.tying.class_graph.states == 3  # as many as here: UCRL2 counts them
    single = learner.bind(Graph([0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2]))  # type: ignore[attr-defined]
    order = {name: place for place, name in enumerate(tied.tying.outcome_names[:3])}
    for batch in batches:
        tied.learn(batch)
        pooled = np.zeros(single.graph.transitions, np.int64)
        for s in (1, 2, 3):  # state 0 cannot tell staying from moving left
            left, stays, right = batch[graph.choice_ptr[s] : graph.choice_ptr[s + 1]]
            pooled[order["left"]] += left
            pooled[order["stays"]] += stays
            pooled[order["right"]] += right
        single.learn(pooled)
        for s in (1, 2, 3):
            own = slice(graph.choice_ptr[s], graph.choice_ptr[s + 1])
            places = [order["left"], order["stays"], order["right"]]
            assert np.array_equal(tied.lower[own], single.lower[places])
            assert np.array_equal(tied.upper[own], single.upper[places])
        low, high = single.lower, single.upper
        right = order["right"]
        together = [place for place in range(3) if place != right]
        assert tied.lower[0] <= max(low[together].sum(), 1 - high[right]) + 1e-12
        assert tied.lower[0] >= low[together].sum() - 1e-12
        assert tied.upper[0] <= min(high[together].sum(), 1.0) + 1e-12


@given(st.lists(st.integers(1, 60), min_size=3, max_size=3), st.data())
def test_a_truth_inside_the_classes_is_inside_the_transitions(weights: list[int], data: st.DataObject) -> None:
    """Whatever the counts, a distribution within the bounds of the outcomes gives one within those of every transition."""
    graph = corridor()
    counts = np.array(data.draw(st.lists(st.integers(0, 40), min_size=13, max_size=13)))[: graph.transitions]
    tied = Tied(ConfidenceSequence(0.05), Tying.of(graph, moves)).bind(graph).learn(counts)
    truth = np.array(weights) / sum(weights)
    if (truth < tied.own_lower[:3]).any() or (truth > tied.own_upper[:3]).any():
        return
    inside = tied.tying.along(np.concatenate((truth, np.ones(tied.tying.outcomes - 3))))
    assert (inside >= tied.lower - 1e-12).all()
    assert (inside <= tied.upper + 1e-12).all()


def test_what_feeds() -> None:
    tying = Tying.of(corridor(), moves)
    assert tying.feeds.tolist() == [False, True, True, True, True]
    assert tying.names[0] == "go"
    assert tying.sizes[0] == 4


def test_a_class_that_nobody_can_tell_apart_is_divided() -> None:
    """Two walls: at either of them two outcomes are one, but not the same two; no choice sees all three."""
    graph = Graph([0, 1, 2, 3, 4], [0, 2, 4, 6, 7], [0, 1, 0, 1, 2, 3, 3], actions=["go", "go", "go", "rest"])

    def row(state: str, action: str, successor: str) -> tuple[str, object] | None:
        if action == "rest":
            return None
        if state == "2":
            return "go", "a" if successor == "2" else ["b", "c"]
        return "go", ["a", "b"] if successor == "0" else "c"

    tying = Tying.of(graph, row)
    assert tying.names[:2] == ("go, a or b | c", "go, a | b or c")
    assert tying.feeds.all()
    assert tying.choice_class.tolist() == [0, 0, 1, 2]


def test_state_and_clones_carry_everything() -> None:
    graph = corridor()
    tied = Tied(ConfidenceSequence(0.05), Tying.of(graph, moves)).bind(graph)
    first = np.arange(graph.transitions)
    tied.learn(first)
    kept, other = tied.state(), tied.clone()
    other.learn(first)
    assert np.array_equal(tied.lower, kept["lower"])
    back = tied.bind(graph).restore(kept).learn(first)
    assert all(np.array_equal(value, other.state()[name]) for name, value in back.state().items())


def test_the_claim_says_what_it_rests_on() -> None:
    graph = corridor()
    assert Tied(ConfidenceSequence(0.05), Tying.of(graph, moves)).claim.reasons == (TIED,)
    assert not Tied(LUI(), Tying.of(graph, moves)).claim.holds


@pytest.mark.parametrize(
    ("tie", "outcome", "said"),
    [
        (lambda s, a: "x", None, "fails: TypeError"),
        (lambda s, a, t: "x", None, "must return a class and an outcome"),
        (lambda s, a, t: (t, "x"), None, "tie names the classes"),
        (lambda s, a, t: ("x", "y"), None, "the outcome y leads to two successors"),
        (lambda s, a: "x", lambda s, a, t: t, "class x: the outcome"),
        (lambda s, a: "x", lambda s, a, t: None, "has no name"),
        (lambda s, a: "x", lambda s, a, t: [], "no outcome leads to 0"),
        (lambda s, a: 1 / 0, lambda s, a, t: t, "ZeroDivisionError"),
        (3, None, "give a function of (state, action)"),
        (None, lambda s, a, t: t, "say which with tie"),
    ],
)
def test_mistakes_are_named_with_their_place(tie: object, outcome: object, said: str) -> None:
    mdp = corridor().with_probability(np.repeat(1 / corridor().sizes, corridor().sizes))
    with pytest.raises(ModelError) as caught:
        next(anytime(mdp, 'Pmax=? [ F "end" ]', LUI(), tie=tie, outcome=outcome))  # type: ignore[arg-type]
    assert said in str(caught.value)


def _coin(heads: float) -> MDP:
    """Return ten tosses in a row, all alike: the number of heads is what is reached."""
    states = 66
    index = {(n, k): n * (n + 1) // 2 + k for n in range(11) for k in range(n + 1)}
    successor, probability, choice_ptr = [], [], [0]
    for n in range(11):
        for k in range(n + 1):
            if n < 10:
                successor += [index[n + 1, k + 1], index[n + 1, k]]
                probability += [heads, 1 - heads]
            else:
                successor.append(index[n, k])
                probability.append(1.0)
            choice_ptr.append(len(successor))
    return MDP(
        np.arange(states + 1), choice_ptr, successor, probability, labels={"many": [index[10, k] for k in range(6, 11)]}
    )


@pytest.mark.parametrize(("runs", "allowed"), [(25, 12), pytest.param(1000, 240, marks=pytest.mark.slow)])
def test_promises_keep_their_level_at_the_worst_time(runs: int, allowed: int) -> None:
    """Runs at error rate 0.2, looked at after every iteration: false more often than `allowed` has a chance of 1 in 1000."""
    mdp = _coin(0.55)
    tying = Tying.of(
        mdp, lambda s, a, t: None if s == t else ("coin", "heads" if int(t) - int(s) > _row(s) else "tails")
    )
    assert tying.sizes[0] == 55
    false = 0
    for seed in range(runs):
        wrong = False
        for snapshot in anytime(
            mdp, 'Pmax=? [ F "many" ]', ConfidenceSequence(0.2), tie=tying, seed=seed, trajectories=20
        ):
            assert snapshot.performance is not None
            wrong |= snapshot.bracket.lower > snapshot.performance + 1e-9
        false += wrong
    assert false <= allowed


def _row(state: str) -> int:
    """Return the number of tosses before a state of `_coin`, plus 1: the distance to the successor by tails."""
    n = 0
    while (n + 1) * (n + 2) // 2 <= int(state):
        n += 1
    return n + 1


def test_tied_narrows_with_what_others_saw() -> None:
    """The same trajectories prove more where choices are tied; and what they prove is true."""
    mdp = _coin(0.55)
    tie = lambda s, a, t: None if s == t else ("coin", "heads" if int(t) - int(s) > _row(s) else "tails")  # noqa: E731
    *_, tied = anytime(mdp, 'Pmax=? [ F "many" ]', ConfidenceSequence(0.05), tie=tie, trajectories=400)
    *_, apart = anytime(mdp, 'Pmax=? [ F "many" ]', ConfidenceSequence(0.05), trajectories=400)
    truth = sum(math.comb(10, k) * 0.55**k * 0.45 ** (10 - k) for k in range(6, 11))
    assert apart.bracket.lower + 0.2 < tied.bracket.lower < truth + 1e-9
    assert tied.performance == pytest.approx(truth, abs=1e-9)


def test_the_benchmarks_declare_theirs() -> None:
    """In every class the true rows are the same: what is declared is true."""
    for name, each in benchmark.BENCHMARKS.items():
        if each.tie is None:
            assert name == "bandit"
            continue
        mdp = each.build()
        tying = each.tie(mdp)
        chance = np.full(tying.outcomes, np.nan)
        fed = np.flatnonzero(tying.fed)
        first = tying.transition_outcome[tying.transition_ptr[fed]]
        chance[first] = mdp.probability[fed]
        assert not np.isnan(chance).any()
        assert np.allclose(tying.along(chance), mdp.probability, atol=1e-12)
        assert tying.sizes.max() > 10
