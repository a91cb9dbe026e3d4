"""Ties that are wrong: found at all times, with as few false alarms as the user wants; and nothing is promised any more."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from learn.test_tied import corridor, moves
from umdp import MDP, ConfidenceSequence, Graph, RestartingSequence, anytime, benchmark
from umdp.benchmark.known_ties import tie_chain, tie_grid
from umdp.learn.homogeneity import compared, misfits
from umdp.learn.learner import Changed, Misfit
from umdp.learn.tied import Tied
from umdp.model.tying import Tying
from umdp.statements import Code, stated

RATE = 0.2


def drawn(truth: MDP, samples: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counts (T,) of so many samples of every choice."""
    rows = np.split(truth.probability, truth.choice_ptr[1:-1])
    return np.concatenate([rng.multinomial(n, p / p.sum()) for n, p in zip(samples, rows, strict=True)])


def walk() -> tuple[MDP, Tying]:
    """Return a corridor where all choices are alike, one of them merging two outcomes, and how they are tied."""
    graph = corridor()
    return graph.with_probability([0.5, 0.5, 0.2, 0.3, 0.5, 0.2, 0.3, 0.5, 0.2, 0.3, 0.5, 1]), Tying.of(graph, moves)


@pytest.mark.parametrize("runs", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_right_ties_raise_as_few_alarms_as_promised(runs: int) -> None:
    """It is looked at after every batch; which choice is sampled depends on what was seen."""
    truth, tying = walk()
    false = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        counts = np.zeros(truth.transitions, np.int64)
        for _ in range(60):
            share = counts[[0, 2, 5, 8]] / np.maximum(np.add.reduceat(counts, truth.choice_ptr[:-1])[:4], 1)
            sampled = np.append(rng.poisson(1 + 20 * (share > np.median(share))), 0)
            counts += drawn(truth, sampled, rng)
            if misfits(tying, counts, RATE).any():
                false += 1
                break
    assert false <= RATE * runs


def pair(one: float, other: float) -> tuple[MDP, Tying]:
    """Return two coins that somebody says are alike."""
    graph = Graph([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], actions=["a", "b", "stay", "stay"])
    coins = Tying.of(graph, lambda state, action: "coin" if state == "0" else None, lambda *where: f"side {where[2]}")
    return graph.with_probability([one, 1 - one, other, 1 - other, 1, 1]), coins


@pytest.mark.parametrize(("one", "other", "enough"), [(0.5, 0.6, 3000), (0.5, 0.55, 14_000), (0.9, 0.1, 20)])
def test_a_wrong_tie_is_found(one: float, other: float, enough: int) -> None:
    """After so many samples of each coin, in nine runs of ten."""
    truth, coins = pair(one, other)
    rng = np.random.default_rng(2)
    found = [misfits(coins, drawn(truth, np.array([enough, enough, 0, 0]), rng), 0.01)[:2].any() for _ in range(50)]
    assert np.mean(found) > 0.9


def test_a_choice_that_merges_outcomes_is_tested_by_their_sum() -> None:
    truth, tying = walk()
    assert tying.feeds.tolist() == [False, True, True, True, True]
    assert compared(tying).tolist() == [True, False] + 9 * [True] + [False]
    rng = np.random.default_rng(0)
    wrong = truth.graph.with_probability([0.8, 0.2, *truth.probability[2:]])
    found = misfits(tying, drawn(wrong, np.array([300, 300, 300, 300, 0]), rng), 0.01)
    assert found.tolist() == [True, False, False, False, False]


def test_choices_that_do_not_matter_are_not_tested() -> None:
    truth, coins = pair(0.9, 0.1)
    counts = drawn(truth, np.array([100, 100, 0, 0]), np.random.default_rng(0))
    assert misfits(coins, counts, 0.01).any()
    assert not misfits(coins, counts, 0.01, np.zeros(4, np.bool_)).any()


def test_the_promise_is_withdrawn() -> None:
    """The switched half of a chain is not what somebody said it is."""
    chain, switched = benchmark.chain(), benchmark.chain_switched()
    half = np.arange(chain.transitions) < 90
    wrong = chain.graph.with_probability(np.where(half, chain.probability, switched.probability))
    *_, last = anytime(
        wrong, 'Rmin=? [ F "goal" ]', ConfidenceSequence(), trajectories=2000, tie=tie_chain(chain), horizon=100
    )
    assert last.guarantee.kind == "none"
    assert "do not share one distribution" in str(last.guarantee)
    assert all(isinstance(alarm, Misfit) for alarm in last.alarms)
    assert last.alarms[0].as_dict()["of"] in "abc"
    *_, right = anytime(
        chain, 'Rmin=? [ F "goal" ]', ConfidenceSequence(), trajectories=2000, tie=tie_chain(chain), horizon=100
    )
    assert right.guarantee.kind == "any-time"
    assert not right.alarms


def test_a_class_that_changes_starts_anew_and_its_ties_still_hold() -> None:
    chain, switched = benchmark.chain(), benchmark.chain_switched()
    learner = Tied(RestartingSequence(), tie_chain(chain)).bind(chain)
    rng = np.random.default_rng(0)
    for truth in (chain,) * 5 + (switched,) * 5:
        learner.learn(drawn(truth, rng.poisson(20, chain.choices), rng))
    changes = [alarm for alarm in learner.alarms() if isinstance(alarm, Changed)]
    assert {alarm.place for alarm in changes} == {"class b", "class c"}
    assert len(changes) == len(learner.alarms())
    assert learner.claim.kind == "any-time"
    since = stated(learner.claim.reasons[0])
    assert (since.code, since.data["places"]) == (Code.UNCHANGED_SINCE, 2)
    again = Tied(RestartingSequence(), tie_chain(chain)).bind(chain).restore(learner.state())
    assert again.alarms() == learner.alarms()
    assert np.array_equal(again.remembered(np.zeros(0)), learner.remembered(np.zeros(0)))


def test_what_is_compared_on_grid() -> None:
    """Every transition of a move but the second of two, wherever the grid lets it lead."""
    grid = benchmark.grid()
    tying = tie_grid(grid)
    tied = tying.sizes[tying.choice_class] > 1
    sizes = np.diff(grid.choice_ptr)
    assert compared(tying).sum() == sizes[tied & (sizes > 2)].sum() + (tied & (sizes == 2)).sum()
