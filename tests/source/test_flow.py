"""Trajectories as counts: the joint law of one trajectory after another, exactly enumerated where that can be done."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from umdp import MDP, ModelError, benchmark, switch
from umdp.source import SamplingRequest
from umdp.source.simulator import Simulator
from umdp.source.simulator.trajectory_flow import adopt, expected, flow, split, unroll
from umdp.source.simulator.trajectory_kernels import Process, TrajectoryEnd, TransitionCounts

STRICT = 1e-6  # the share of wrong alarms of one test
# A fork with two choices, and what each may lead to: no state is visited twice.
FORK = MDP([0, 2, 3, 4, 5], [0, 2, 5, 7, 8, 9], [1, 2, 1, 2, 3, 2, 3, 2, 3], [0.3, 0.7, 0.5, 0.2, 0.3, 0.6, 0.4, 1, 1])
# Two states that lead to each other and to themselves, and one in which it ends.
LOOP = MDP([0, 1, 3, 4], [0, 3, 5, 6, 7], [0, 1, 2, 0, 1, 2, 2], [0.2, 0.5, 0.3, 0.6, 0.4, 1, 1])
CASES = {
    "fork": (FORK, [0.6, 0.4, 1, 1, 1], [False, False, True, True], 5),
    "one way": (FORK, [0.0, 1.0, 1, 1, 1], [False, False, True, True], 5),
    "cut short": (FORK, [0.6, 0.4, 1, 1, 1], [False, False, False, False], 2),
    "loop": (LOOP, [1, 0.75, 0.25, 1], [False, False, True], 3),
    "endless": (LOOP, [1, 1, 0, 1], [False, False, False], 4),
}
Vector = tuple[int, ...]


def order(name: str, quota: Any, trajectories: int) -> SamplingRequest:
    mdp, weight, halt, horizon = CASES[name]
    quotas = np.broadcast_to(np.asarray(quota, np.int64), mdp.choices).copy()
    return SamplingRequest(np.array(weight, float), np.array(halt), horizon, quotas, trajectories)


def trajectories(name: str) -> dict[Vector, float]:
    """Return the law of the counts of one trajectory, from all there are."""
    mdp, weight, halt, horizon = CASES[name]
    law: Counter[Vector] = Counter()

    def go(state: int, counts: Vector, chance: float, left: int) -> None:
        if halt[state] or left == 0:
            law[counts] += chance  # type: ignore[assignment]
            return
        for c in range(mdp.state_ptr[state], mdp.state_ptr[state + 1]):
            for t in range(mdp.choice_ptr[c], mdp.choice_ptr[c + 1]):
                if weight[c] * mdp.probability[t] > 0:
                    more = (*counts[:t], counts[t] + 1, *counts[t + 1 :])
                    go(int(mdp.successor[t]), more, chance * weight[c] * mdp.probability[t], left - 1)

    go(mdp.initial, (0,) * mdp.transitions, 1.0, horizon)
    return dict(law)


def iterations(name: str, quota: Any, most: int) -> dict[Vector, float]:
    """Return the law of (number of trajectories, counts) when an order is met, one trajectory after another."""
    mdp = CASES[name][0]
    one, wanted = trajectories(name), np.broadcast_to(quota, mdp.choices)
    met: Counter[Vector] = Counter()
    going = {(0,) * mdp.transitions: 1.0}
    for drawn in range(1, most + 1):
        ahead: Counter[Vector] = Counter()
        for (counts, chance), (more, share) in product(going.items(), one.items()):
            total = tuple(np.add(counts, more).tolist())
            taken = np.add.reduceat(total, mdp.choice_ptr[:-1])
            full = drawn == most or bool(((wanted >= 0) & (taken >= wanted)).any())
            key = (drawn, *total) if full else total
            (met if full else ahead)[key] += chance * share  # type: ignore[assignment]
        going = dict(ahead)
    return dict(met)


def agree(seen: Counter[Vector], law: dict[Vector, float]) -> None:
    """Chi-square over full vectors; those that are rare are counted together."""
    draws = seen.total()
    assert sum(law.values()) == pytest.approx(1)
    assert set(seen) <= set(law)
    common = [key for key, share in law.items() if share * draws >= 8]
    shares = np.array([law[key] for key in common])
    hits = np.array([seen[key] for key in common], float)
    if (rest := 1 - shares.sum()) * draws >= 1:
        shares, hits = np.append(shares, rest), np.append(hits, draws - hits.sum())
    statistic = ((hits - shares * draws) ** 2 / (shares * draws)).sum()
    assert len(shares) > 2
    assert statistic < stats.chi2.isf(STRICT, len(shares) - 1)


@pytest.mark.parametrize("sampling", ["steps", "counts"])
@pytest.mark.parametrize(
    ("name", "quota", "most"),
    [
        ("fork", -1, 3), ("fork", [-1, -1, 2, -1, -1], 4), ("fork", [3, 2, 2, -1, -1], 9), ("one way", [-1, 3, 2, -1, -1], 6),
        ("cut short", [2, 2, 2, 2, 2], 5), ("loop", -1, 2), ("loop", [3, 2, -1, -1], 9), ("endless", [6, 6, -1, -1], 9),
    ],
)  # fmt: skip
def test_counts_have_the_joint_law_of_one_trajectory_after_another(
    sampling: str, name: str, quota: Any, most: int
) -> None:
    source, asked = Simulator(CASES[name][0], sampling=sampling), order(name, quota, most)
    source.begin(5)
    seen: Counter[Vector] = Counter()
    for _ in range(15_000):
        batch = source.collect(asked)
        assert batch.steps == batch.counts.sum()
        seen[batch.trajectories, *batch.counts.tolist()] += 1
    agree(seen, iterations(name, quota, most))


@pytest.mark.parametrize("name", CASES)
def test_the_first_of_many_are_like_the_others_and_independent_of_them(name: str) -> None:
    mdp, asked = CASES[name][0], order(name, -1, 1)
    net = _unrolled(name)
    passing, marks = np.empty((2, net.site.size), np.int64)
    count, part = np.empty((2, net.to.size), np.int64)
    random = np.random.SeedSequence(3).generate_state(4, np.uint64)
    seen: Counter[Vector] = Counter()
    for _ in range(15_000):
        flow(net, 3, random, passing, count)
        split(net, 1, random, passing, count, marks, part)
        vectors = np.zeros((2, mdp.transitions), np.int64)
        taken = np.zeros(mdp.choices, np.int64)
        adopt(net, part, TransitionCounts(vectors[0], taken))
        adopt(net, count - part, TransitionCounts(vectors[1], taken))
        seen[tuple(vectors.ravel().tolist())] += 1
    assert asked.quota.max() == -1
    one, pair = iterations(name, -1, 1), iterations(name, -1, 2)
    agree(seen, {(*a[1:], *b[1:]): p * q for (a, p), (b, q) in product(one.items(), pair.items())})


def _unrolled(name: str, most: int = 1000) -> Any:
    mdp, weight, halt, horizon = CASES[name]
    process = Process(mdp.state_ptr, mdp.choice_ptr, mdp.successor, mdp.probability, mdp.probability, mdp.initial)
    until = TrajectoryEnd(np.array(halt), horizon, np.full(mdp.choices, -1))
    return unroll(process, np.array(weight, float), until, most)


@pytest.mark.parametrize("name", CASES)
def test_what_is_expected_is_the_mean(name: str) -> None:
    mdp, net = CASES[name][0], _unrolled(name)
    visits = np.empty(mdp.choices)
    length = expected(net, visits, np.empty(net.site.size))
    law = trajectories(name)
    mean = sum(np.array(counts) * share for counts, share in law.items())
    np.testing.assert_allclose(visits, np.add.reduceat(mean, mdp.choice_ptr[:-1]), rtol=1e-12)
    assert length == pytest.approx(sum(mean), rel=1e-12)


def test_a_chain_without_cycles_has_a_node_for_each_state() -> None:
    assert _unrolled("fork").site.size == 2
    assert _unrolled("cut short").site.size == 4  # where it ends is a cycle
    assert _unrolled("loop").site.size == 1 + 2 + 2
    assert _unrolled("loop", most=10).site.size == 0  # it does not fit
    assert _unrolled("fork", most=3).site.size == 0


# State 1 is rarely visited; what follows it and state 2 is as likely as not, more or less.
RARE = MDP(
    [0, 1, 2, 3, 4, 5], [0, 3, 5, 7, 8, 9], [1, 2, 3, 3, 4, 3, 4, 3, 4], [1e-3, 0.4, 0.599, 0.25, 0.75, 0.5, 0.5, 1, 1]
)  # fmt: skip


def _uniform(law: Any, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return numbers that are uniform if the values have the law, each its own: what is below, and a share of what is not."""
    return np.asarray(law.cdf(values - 1) + rng.random(values.size) * law.pmf(values))


@pytest.mark.parametrize("sampling", ["steps", "counts", "auto"])
@pytest.mark.parametrize("quota", [1, 2, 40])
def test_an_end_that_is_hard_to_foresee_comes_when_it_should(sampling: str, quota: int) -> None:
    """How many trajectories, and what they did, where many are drawn at once and the end lies somewhere among them."""
    source = Simulator(RARE, sampling=sampling)
    source.begin(11 + quota)
    ends = np.array([False, False, False, True, True])
    asked = SamplingRequest(np.ones(5), ends, 9, np.array([-1, quota, -1, -1, -1]), 2**30)
    found = [source.collect(asked) for _ in range(4000)]
    drawn = np.array([batch.trajectories for batch in found])
    counts = np.array([batch.counts for batch in found])
    assert (counts[:, 0] == quota).all()
    rng = np.random.default_rng(quota)
    # The last trajectory is a rare one; given how many there are, what the others did, and given that, what followed.
    levels = (
        _uniform(stats.nbinom(quota, 1e-3), drawn - quota, rng),
        _uniform(stats.binom(drawn - quota, 0.4 / 0.999), counts[:, 1], rng),
        _uniform(stats.binom(counts[:, 1], 0.5), counts[:, 5], rng),
        _uniform(stats.binom(quota, 0.25), counts[:, 3], rng),
    )
    cells = sum((level * 4).astype(int) * 4**i for i, level in enumerate(levels))
    hits, even = np.bincount(cells, minlength=256), drawn.size / 256
    assert ((hits - even) ** 2 / even).sum() < stats.chi2.isf(STRICT, 255)


@pytest.mark.parametrize(
    ("name", "horizon", "quota"), [("chain", 30, 700), ("betting-favourable", 7, 60), ("grid", 25, 40)]
)
def test_iterations_of_the_environments_have_the_same_law_either_way(name: str, horizon: int, quota: int) -> None:
    mdp = benchmark.BENCHMARKS[name].build()
    sizes = np.diff(mdp.state_ptr)
    weight = np.repeat(1.0 / sizes, sizes)
    wanted = np.where(np.diff(mdp.choice_ptr) > 1, quota, -1)
    asked = SamplingRequest(weight, np.zeros(mdp.states, bool), horizon, wanted, 2**30)
    found = {}
    for sampling in ("steps", "counts"):
        source = Simulator(mdp, sampling=sampling)
        source.begin(2)
        batches = [source.collect(asked) for _ in range(1500)]
        found[sampling] = np.array([[batch.trajectories, *batch.counts] for batch in batches], float)
        met = np.add.reduceat(found[sampling][:, 1:], mdp.choice_ptr[:-1], axis=1)
        assert (met[:, wanted > 0].max(axis=1) >= quota).all()
    steps, counts = found["steps"], found["counts"]
    spread = np.sqrt((steps.var(axis=0) + counts.var(axis=0)) / 1500)
    moved = spread > 0
    off = (counts.mean(axis=0) - steps.mean(axis=0))[moved] / spread[moved]
    assert np.abs(off).max() < stats.norm.isf(STRICT / off.size)
    most = 1 + np.argsort(-steps[:, 1:].var(axis=0))[:3]  # of what differs most, and of the number of trajectories:
    for column in (0, *most.tolist()):
        assert stats.ks_2samp(steps[:, column], counts[:, column], method="asymp").pvalue > STRICT
    looked_at = [0, *most.tolist()]
    middle = np.median(steps[:, looked_at], axis=0)
    table = [np.bincount((rows[:, looked_at] > middle) @ [1, 2, 4, 8], minlength=16) for rows in (steps, counts)]
    kept = np.array(table)[:, np.sum(table, axis=0) > 0]
    assert stats.chi2_contingency(kept).pvalue > STRICT


def test_a_flow_is_counted_once_and_stops_where_the_process_changes() -> None:
    always, never = (
        FORK.graph.with_probability([1 - 1e-12, 1e-12, 0.5, 0.2, 0.3, 0.6, 0.4, 1, 1]),
        FORK.graph.with_probability([1e-12, 1 - 1e-12, 0.5, 0.2, 0.3, 0.6, 0.4, 1, 1]),
    )
    for cut in (0, 1, 1000, 10**6, 10**9):
        source = Simulator(always, later=never, after=cut, sampling="counts")
        source.begin(1)
        left, hits = 10**6, 0
        while left:
            batch = source.collect(
                SamplingRequest(np.array([1.0, 0, 1, 1, 1]), np.arange(4) > 1, 5, np.full(5, -1), left)
            )
            left, hits = left - batch.trajectories, hits + int(batch.counts[0])
        assert hits == min(cut, 10**6)
    assert switch(always, never, after=3).sampling == "steps"


def test_thousands_of_millions_take_no_time() -> None:
    source = Simulator(LOOP, sampling="auto")
    source.begin(1)
    drawn, _, halt, horizon = 0, *CASES["loop"][1:]
    counts = np.zeros(LOOP.transitions, np.int64)
    while drawn < 10**12:
        batch = source.collect(
            SamplingRequest(np.array([1, 0.75, 0.25, 1]), np.array(halt), horizon, np.full(4, -1), 10**12 - drawn)
        )
        drawn, counts = drawn + batch.trajectories, counts + batch.counts
    law = trajectories("loop")
    mean = sum(np.array(each) * share for each, share in law.items())
    variance = sum(np.array(each) ** 2 * share for each, share in law.items()) - mean**2
    assert (np.abs(counts - 1e12 * mean) <= 6 * np.sqrt(1e12 * variance)).all()


def test_small_orders_come_step_by_step_and_do_not_keep_large_ones_from_counts() -> None:
    source, plain = Simulator(LOOP, sampling="auto"), Simulator(LOOP)
    source.begin(1)
    plain.begin(1)
    for number in (1, 10, 1, 20):
        mine, theirs = source.collect(order("loop", -1, number)), plain.collect(order("loop", -1, number))
        np.testing.assert_array_equal(mine.counts, theirs.counts)
    for _ in range(3):
        source.collect(order("loop", 500, 2**30))
    drawn = 0
    for _ in range(20):
        drawn += source.collect(order("loop", -1, 10**15)).trajectories
    assert drawn > 10**12


def test_a_sampling_that_does_not_exist() -> None:
    with pytest.raises(ModelError, match="sampling 'count' does not exist; there are steps, counts"):
        Simulator(FORK, sampling="count")


def test_what_cannot_be_unrolled_is_drawn_step_by_step() -> None:
    """A walk so long that its states and steps do not fit; trajectories that end before they begin."""
    ring = MDP(np.arange(1002), np.arange(1002) * 2, np.stack([np.arange(1001), (np.arange(1001) + 1) % 1001], 1).ravel(),
               np.full(2002, 0.5))  # fmt: skip
    for halt in (np.zeros(1001, bool), np.ones(1001, bool)):
        batches = []
        for sampling in ("steps", "counts"):
            source = Simulator(ring, sampling=sampling)
            source.begin(3)
            batches.append(source.collect(SamplingRequest(np.ones(1001), halt, 100_000, np.full(1001, -1), 20)))
        drawn = batches[1].trajectories
        assert drawn == 20 if halt.all() else 0 < drawn <= 20
        if drawn == 20:
            np.testing.assert_array_equal(batches[0].counts, batches[1].counts)
