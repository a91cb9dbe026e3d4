"""The compiled simulator: the right law, the right stops, and a state that can be saved anywhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from umdp import MDP, ModelError, benchmark, switch
from umdp.source import SamplingRequest
from umdp.source.simulator import Simulator
from umdp.source.simulator.trajectory_kernels import cumulative

COIN = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.3, 0.7, 1, 1])
ENDS = np.array([False, True, True])


def order(
    mdp: MDP, trajectories: int, *, horizon: int = 200, quota: int = -1, weight: np.ndarray | None = None
) -> SamplingRequest:
    sizes = np.diff(mdp.state_ptr)
    even = np.repeat(1.0 / sizes, sizes)
    halt = np.zeros(mdp.states, bool)
    return SamplingRequest(even if weight is None else weight, halt, horizon, np.full(mdp.choices, quota), trajectories)


def begun(source: Simulator, seed: int = 0) -> Simulator:
    source.begin(seed)
    return source


@pytest.mark.parametrize("name", list(benchmark.BENCHMARKS))
def test_transitions_and_choices_have_the_right_law(name: str) -> None:
    mdp = benchmark.BENCHMARKS[name].build()
    batch = begun(Simulator(mdp), 4).collect(order(mdp, 20_000, horizon=20))
    counts = batch.counts
    taken = np.add.reduceat(counts, mdp.choice_ptr[:-1])
    visits = np.add.reduceat(taken, mdp.state_ptr[:-1])
    assert batch.steps == counts.sum() == 20 * 20_000
    for seen, size, share in (
        (counts, np.repeat(taken, np.diff(mdp.choice_ptr)), mdp.probability),
        (taken, np.repeat(visits, np.diff(mdp.state_ptr)), order(mdp, 1).weight),
    ):
        expected = size * share
        tested = (expected > 5) & (share < 1)
        statistic = ((seen - expected)[tested] ** 2 / expected[tested]).sum()
        # Each row has one constraint; a bound on the degrees of freedom from above is on the safe side.
        assert statistic < chi2.isf(1e-6, int(tested.sum()))


def test_every_transition_follows_from_the_one_before() -> None:
    mdp = benchmark.grid()
    flow = begun(Simulator(mdp), 1).collect(order(mdp, 500, horizon=37)).counts
    owner = np.repeat(mdp.choice_state, np.diff(mdp.choice_ptr))
    out, into = np.bincount(owner, flow, mdp.states), np.bincount(mdp.successor, flow, mdp.states)
    surplus = out - into
    assert surplus[mdp.initial] + (surplus < 0) @ surplus == pytest.approx(
        -surplus[surplus > 0].sum() + surplus[mdp.initial]
    )
    assert surplus.sum() == 0
    assert (np.delete(surplus, mdp.initial) <= 0).all()  # only the start is left more often than entered


def test_a_trajectory_ends_where_told_and_at_the_horizon() -> None:
    source = begun(Simulator(COIN))
    batch = source.collect(SamplingRequest(np.ones(3), ENDS, 10, np.full(3, -1), 100))
    assert (batch.trajectories, batch.steps) == (100, 100)
    batch = source.collect(SamplingRequest(np.ones(3), np.zeros(3, bool), 10, np.full(3, -1), 100))
    assert (batch.trajectories, batch.steps) == (100, 1000)


def test_a_quota_ends_a_batch_after_a_whole_trajectory() -> None:
    mdp = benchmark.chain()
    for quota in (1, 7, 50):
        batch = begun(Simulator(mdp)).collect(order(mdp, 10_000, horizon=100, quota=quota))
        taken = np.add.reduceat(batch.counts, mdp.choice_ptr[:-1])
        assert taken.max() >= quota
        assert batch.steps % 100 == 0
        fewer = begun(Simulator(mdp)).collect(order(mdp, max(batch.trajectories - 1, 1), horizon=100))
        if batch.trajectories > 1:
            assert np.add.reduceat(fewer.counts, mdp.choice_ptr[:-1]).max() < quota


@settings(max_examples=40)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.integers(0, 2**32))
def test_how_it_is_cut_into_batches_does_not_matter(parts: list[int], seed: int) -> None:
    mdp = benchmark.aircraft()
    whole = begun(Simulator(mdp), seed).collect(order(mdp, sum(parts))).counts
    source, total = begun(Simulator(mdp), seed), np.zeros(mdp.transitions, int)
    for part in parts:
        other = begun(Simulator(mdp), seed + 1)  # another process, which is told where to go on
        other.restore(source.state())
        total += other.collect(order(mdp, part)).counts
        source = other
    np.testing.assert_array_equal(total, whole)


def test_the_switch_comes_after_exactly_so_many_trajectories() -> None:
    always, never = (
        COIN.graph.with_probability([1 - 1e-12, 1e-12, 1, 1]),
        COIN.graph.with_probability([1e-12, 1 - 1e-12, 1, 1]),
    )
    for cut in (0, 1, 10, 99, 100, 101):
        source = begun(switch(always, never, after=cut))
        batch = source.collect(SamplingRequest(np.ones(3), ENDS, 10, np.full(3, -1), 100))
        assert batch.counts[0] == min(cut, 100)
        assert source.truth is (never if cut <= 100 else always)


def cumulated(ptr: list[int], values: list[float]) -> np.ndarray:
    out = np.empty(len(values))
    cumulative(np.array(ptr), np.array(values), out)
    return out


def test_rare_outcomes_keep_their_probability_in_large_models() -> None:
    choices, rare = 1_000_000, 1e-12
    ptr = 2 * np.arange(choices + 1)
    for row in ([rare, 1 - rare], [1 - rare, rare]):
        out = np.empty(2 * choices)
        cumulative(ptr, np.tile(row, choices), out)
        assert (out[1::2] == 2.0).all()
        share = out[::2] if row[0] == rare else 1 - out[::2]
        np.testing.assert_allclose(share, rare, rtol=2e-4)  # numbers below 1 are 1.1e-16 apart


def test_a_rare_outcome_far_back_in_a_large_model_is_drawn_as_often_as_it_should_be() -> None:
    # A million states before it, each of which costs a sum over the whole model some digits.
    states, rare = 1_000_000, 3e-6
    state_ptr = np.arange(states + 3)
    choice_ptr = np.concatenate([2 * np.arange(states + 2), [2 * states + 3]])
    last = states
    successor = np.concatenate([np.repeat([[last, last + 1]], states + 1, axis=0).ravel(), [last + 1]])
    probability = np.concatenate([np.tile([1 - 1e-12, 1e-12], states), [rare, 1 - rare, 1.0]])
    mdp = MDP(state_ptr, choice_ptr, successor, probability, initial=last)
    halt = np.zeros(states + 2, bool)
    halt[-1] = True
    draws = 30_000_000
    batch = begun(Simulator(mdp), 2).collect(
        SamplingRequest(np.ones(states + 2), halt, 1, np.full(states + 2, -1), draws)
    )
    assert batch.counts[2 * states] == pytest.approx(draws * rare, abs=6 * np.sqrt(draws * rare))


def test_cumulative_sums_of_each_row_are_those_of_exact_arithmetic() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 60, 200)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    values = np.concatenate([np.power(10.0, -rng.integers(0, 15, n)) * rng.random(n) + 1e-300 for n in sizes])
    found = cumulated(ptr.tolist(), values.tolist())
    for begin, end in pairwise(ptr.tolist()):
        exact = list(map(Fraction, values[begin:end].tolist()))
        total = sum(exact)
        for i in range(begin, end - 1):
            assert abs(Fraction(found[i]) - sum(exact[: i + 1 - begin]) / total) < Fraction(1, 2**51)


def test_a_choice_without_weight_is_never_taken() -> None:
    for weights in ([0.1] * 10 + [0.0], [1 / 3] * 3 + [0.0, 0.0], [0.7, 0.2, 0.1, 0.0]):
        edges = cumulated([0, len(weights)], weights)
        positive = int(np.flatnonzero(weights)[-1])
        assert edges[positive] >= 1.0  # all numbers drawn are below 1


def test_a_switch_keeps_the_graph() -> None:
    with pytest.raises(ModelError, match="same graph"):
        switch(COIN, benchmark.chain(), after=3)


def test_the_generator_is_xoshiro256plusplus() -> None:
    # The reference implementation's first outputs for the state 1, 2, 3, 4.
    source = begun(Simulator(COIN))
    source.restore({"random": np.array([1, 2, 3, 4], np.uint64), "done": 0, "steps": 0})
    mask = 2**64 - 1
    state = [1, 2, 3, 4]

    def rotate(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & mask

    outcomes = []
    for _ in range(50):
        result = (rotate((state[0] + state[3]) & mask, 23) + state[0]) & mask
        t = (state[1] << 17) & mask
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= t
        state[3] = rotate(state[3], 45)
        outcomes.append((result >> 11) * 2.0**-53 < 0.3)
    for expected in outcomes:
        batch = source.collect(SamplingRequest(np.ones(3), ENDS, 10, np.full(3, -1), 1))
        assert bool(batch.counts[0]) == expected
