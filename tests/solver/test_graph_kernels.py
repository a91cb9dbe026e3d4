"""Compiled graph searches against searches over Python sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from solver.random_arrays import Arrays, fractions, random_graph
from umdp.solver.graph.decided import Edges, Shape
from umdp.solver.kernels.end_components import confined, end_components, sure_against_nature, trap
from umdp.solver.kernels.graph_search import attractor, components, descends, reverse, stream, sure_reach

SEEDS = range(200)


def drawn(seed: int, *, largest: int = 9, zero_lower: bool = False) -> tuple[Arrays, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return random_graph(rng, states=int(rng.integers(2, largest)), zero_lower=zero_lower), rng


def members(mask: Iterable[bool]) -> set[int]:
    return {i for i, inside in enumerate(mask) if inside}


def shrink(start: set[int], keep: Callable[[int, set[int]], bool]) -> set[int]:
    """Return the largest part of `start` all of whose members may stay."""
    current = set(start)
    while True:
        smaller = {s for s in current if keep(s, current)}
        if smaller == current:
            return current
        current = smaller


def grow(start: set[int], add: Callable[[int, set[int]], bool], states: int) -> set[int]:
    """Return the smallest set that holds `start` and everything `add` draws in."""
    current = set(start)
    while True:
        larger = current | {s for s in range(states) if s not in current and add(s, current)}
        if larger == current:
            return current
        current = larger


def can_keep(g: Arrays, choice: int, group: set[int]) -> bool:
    """Whether some distribution within the bounds of a choice lies in `group`, in exact arithmetic."""
    inside = [t for t in g.edges(choice) if int(g.successor[t]) in group]
    outside = [t for t in g.edges(choice) if int(g.successor[t]) not in group]
    if not outside:
        return True
    return all(g.lower[t] == 0 for t in outside) and fractions(g.upper[inside]).sum() >= 1


# -- reverse edges and attractors ----------------------------------------------------------------------------


def test_reverse_lists_every_edge_backwards() -> None:
    for seed in SEEDS:
        g, _ = drawn(seed)
        owner, ptr, entering = reverse(g.state_ptr, g.choice_ptr, g.successor)
        assert [int(s) for s in owner] == [s for s in range(g.states) for _ in g.own(s)]
        for s in range(g.states):
            found = sorted(int(c) for c in entering[ptr[s] : ptr[s + 1]])
            assert found == [c for c in range(g.choices) if s in g.targets(c)]


@pytest.mark.parametrize("every", [False, True])
def test_attractor(every: bool) -> None:
    for seed in SEEDS:
        g, rng = drawn(seed)
        goal, through = rng.random(g.states) < 0.25, rng.random(g.states) < 0.8
        usable = rng.random(g.choices) < 0.85
        reached, via = goal.copy(), np.full(g.states, -1, np.int64)
        order = attractor(
            g.state_ptr, reverse(g.state_ptr, g.choice_ptr, g.successor), through, usable, reached, via, every
        )

        def draws(
            s: int, into: set[int], g: Arrays = g, usable: np.ndarray = usable, through: np.ndarray = through
        ) -> bool:
            own = [c for c in g.own(s) if usable[c]]
            hits = [bool(g.targets(c) & into) for c in own]
            return bool(through[s]) and (bool(own) and all(hits) if every else any(hits))

        assert members(reached) == grow(members(goal), draws, g.states)
        assert {int(s) for s in order} == members(reached)
        assert len(order) == len(set(order.tolist()))
        place = {int(s): i for i, s in enumerate(order)}
        for s in members(reached) - members(goal):  # the choice shown leads to a state that was reached before
            assert int(via[s]) in g.own(s)
            assert usable[via[s]]
            assert any(place.get(t, g.states) < place[s] for t in g.targets(int(via[s])))
        assert (via[~reached] == -1).all()


@pytest.mark.parametrize("every", [False, True])
def test_passes_over_the_states_find_part_of_the_attractor_or_all_of_it(every: bool) -> None:
    complete = 0
    for seed in SEEDS:
        g, rng = drawn(seed)
        goal, through = rng.random(g.states) < 0.25, rng.random(g.states) < 0.8
        usable = rng.random(g.choices) < 0.85

        def drawn_in(
            s: int, now: set[int], g: Arrays = g, usable: np.ndarray = usable, on: np.ndarray = through
        ) -> bool:
            enters = [bool(g.targets(c) & now) for c in g.own(s) if usable[c]]
            return bool(on[s]) and bool(enters) and (all if every else any)(enters)

        wanted = grow({int(s) for s in np.flatnonzero(goal)}, drawn_in, g.states)
        reached = goal.copy()
        whole = stream(g.state_ptr, g.choice_ptr, g.successor, through, usable, reached, every)
        found = {int(s) for s in np.flatnonzero(reached)}
        assert found == wanted if whole else found <= wanted
        complete += whole
        usable[:] = True
        edges = Edges(Shape(g.state_ptr, g.choice_ptr, g.successor))
        assert (edges.drawn(goal, through, every=every) == edges.attract(goal, through, every=every)[0]).all()
    assert complete > len(SEEDS) / 2


def test_a_line_that_winds_back_and_forth_is_left_to_the_search_along_edges() -> None:
    n = 1000
    way = np.concatenate(
        [np.arange(n).reshape(2, -1).T.ravel(), [n]]
    )  # 0, 500, 1, 501, ...: every other step goes back
    successor = np.empty(n + 1, np.int32)
    successor[way[:-1]], successor[n] = way[1:], n
    goal = np.arange(n + 1) == n
    edges = Edges(Shape(np.arange(n + 2), np.arange(n + 2), successor))
    assert edges.drawn(goal, ~goal, every=False).all()
    reached = goal.copy()
    assert not stream(np.arange(n + 2), np.arange(n + 2), successor, ~goal, np.ones(n + 1, np.bool_), reached, False)


def test_numbers_that_rise_along_every_edge_leave_no_cycle() -> None:
    state_ptr, choice_ptr = np.arange(5), np.array([0, 2, 3, 4, 5])
    rising, inside = np.array([1, 2, 3, 3, 3], np.int32), np.array([True, True, True, False])
    usable = np.ones(4, np.bool_)
    assert descends(state_ptr, choice_ptr, rising, inside, usable)
    for place, target in ((1, 0), (2, 0), (3, 2)):
        other = rising.copy()
        other[place] = target
        assert not descends(state_ptr, choice_ptr, other, inside, usable)
        closed = usable.copy()
        closed[np.searchsorted(choice_ptr, place, side="right") - 1] = False
        assert descends(state_ptr, choice_ptr, other, inside, closed)


def test_sure_reach() -> None:
    for seed in SEEDS:
        g, rng = drawn(seed)
        goal, through = rng.random(g.states) < 0.25, rng.random(g.states) < 0.85
        through &= ~goal
        via = np.full(g.states, -1, np.int64)
        found = sure_reach(g.state_ptr, reverse(g.state_ptr, g.choice_ptr, g.successor), through, goal, via)

        wanted = members(goal | through)
        while True:  # the largest set within which every state can still reach the goal
            inside = {c for c in range(g.choices) if g.targets(c) <= wanted}
            drawn_in = grow(
                members(goal),
                lambda s, into: s in wanted and any(c in inside and g.targets(c) & into for c in g.own(s)),  # noqa: B023
                g.states,
            )
            if drawn_in == wanted:
                break
            wanted = drawn_in
        assert members(found) == wanted
        for s in wanted - members(goal):  # the choices shown are those of a policy that arrives
            assert g.targets(int(via[s])) <= wanted
        policy = {s: g.targets(int(via[s])) for s in wanted - members(goal)}
        assert grow(members(goal), lambda s, into: s in policy and bool(policy[s] & into), g.states) == wanted  # noqa: B023


# -- components ----------------------------------------------------------------------------------------------


def test_components_are_scipys_in_topological_order() -> None:
    for seed in range(300):
        g, rng = drawn(seed, largest=25)
        inside, usable = rng.random(g.states) < 0.85, rng.random(g.choices) < 0.85
        listed = rng.permutation(g.states).astype(np.int32)
        component, order, count, cyclic = components(g.state_ptr, g.choice_ptr, g.successor, inside, usable, listed)
        edges = {(s, t) for s in members(inside) for c in g.own(s) if usable[c] for t in g.targets(c) if inside[t]}
        matrix = np.zeros((g.states, g.states))
        for s, t in edges:
            matrix[s, t] = 1
        _, labels = connected_components(csr_array(matrix), directed=True, connection="strong")
        kept = np.flatnonzero(inside)
        assert (component[~inside] == -1).all()
        assert count == len(set(labels[kept].tolist())) == len(set(component[kept].tolist()))
        np.testing.assert_array_equal(
            component[kept][:, None] == component[kept][None, :], labels[kept][:, None] == labels[kept][None, :]
        )
        assert all(component[t] <= component[s] for s, t in edges)
        sizes = np.bincount(component[kept], minlength=count)
        assert members(cyclic) == {s for s in kept.tolist() if sizes[component[s]] > 1 or (s, s) in edges}
        place = {int(s): i for i, s in enumerate(listed)}
        assert order.tolist() == sorted(kept.tolist(), key=lambda s: (component[s], place[s]))


def test_components_of_a_long_line_need_no_recursion() -> None:
    n = 200_000
    successor = np.minimum(np.arange(n) + 1, n - 1).astype(np.int32)
    ptr = np.arange(n + 1)
    every = np.ones(n, np.bool_)
    component, order, count, cyclic = components(ptr, ptr, successor, every, every, np.arange(n, dtype=np.int32))
    assert count == n
    assert (component == np.arange(n)[::-1]).all()
    assert order[0] == n - 1
    assert members(cyclic) == {n - 1}


def test_confined_asks_the_bounds_exactly() -> None:
    for seed in SEEDS:
        g, rng = drawn(seed, zero_lower=True)
        group = rng.integers(0, 2, g.states).astype(np.int32)
        for c in range(g.choices):
            got = confined(c, g.rows, group, 1)
            assert got == can_keep(g, c, members(group == 1))
    # In floating point 0.1 + 0.2 + 0.7 is 1; the numbers given sum to a little less.
    successor, group = np.arange(4, dtype=np.int32), np.array([1, 1, 1, 0], np.int32)
    one = Arrays(np.array([0, 1]), np.array([0, 4]), successor, np.zeros(4), np.array([0.1, 0.2, 0.7, 1.0]))
    assert not confined(0, one.rows, group, 1)
    assert confined(0, replace(one, upper=np.array([0.25, 0.25, 0.5, 1.0])).rows, group, 1)


def is_end_component(g: Arrays, group: set[int], inside: set[int], usable: np.ndarray) -> bool:
    """Whether agent and nature together can stay in `group` for ever and visit all of it."""
    if not group <= inside:
        return False
    stays = {s: [c for c in g.own(s) if usable[c] and can_keep(g, c, group)] for s in group}
    if not all(stays.values()):
        return False
    for s in group:  # strongly connected by those choices, edges out of the group cut
        if grow({s}, lambda t, into: t in group and any(g.targets(c) & into for c in stays[t]), g.states) != group:
            return False
    return True


@pytest.mark.parametrize("zero_lower", [False, True])
def test_end_components_are_the_maximal_ones(zero_lower: bool) -> None:
    several = 0
    for seed in SEEDS:
        g, rng = drawn(seed, largest=7, zero_lower=zero_lower)
        inside, usable = rng.random(g.states) < 0.9, rng.random(g.choices) < 0.9
        component, stays, count = end_components(g.rows, inside, usable)
        every = [
            set(group)
            for size in range(1, g.states + 1)
            for group in combinations(range(g.states), size)
            if is_end_component(g, set(group), members(inside), usable)
        ]
        maximal = [group for group in every if not any(group < other for other in every)]
        states = {s for s in range(g.states) if any(stays[c] for c in g.own(s))}
        found = {frozenset(s for s in states if component[s] == k) for k in range(count)} - {frozenset()}
        assert found == {frozenset(group) for group in maximal}
        for group in maximal:
            for s in group:
                wanted = {c for c in g.own(s) if usable[c] and can_keep(g, c, group)}
                assert {c for c in g.own(s) if stays[c]} == wanted
        several += len(maximal) > 1
    assert several > 10


# -- games on the graph --------------------------------------------------------------------------------------


def test_trap_is_where_both_players_can_stay() -> None:
    for seed in SEEDS:
        g, rng = drawn(seed, zero_lower=True)
        inside, held = rng.random(g.states) < 0.8, rng.random(g.states) < 0.1
        via = np.full(g.states, -1, np.int64)
        found = trap(g.rows, inside, held, via)
        wanted = shrink(
            members(inside),
            lambda s, group: bool(held[s]) or any(can_keep(g, c, group) for c in g.own(s)),  # noqa: B023
        )
        assert members(found) == wanted
        assert all(held[s] or can_keep(g, int(via[s]), wanted) for s in wanted)


def winning(g: Arrays, target: set[int], policy: dict[int, int]) -> set[int]:
    """Return where the policy surely reaches the target: nature can neither keep the play away nor get to where it can."""
    every = set(range(g.states))
    stuck = shrink(every - target, lambda s, group: s not in policy or can_keep(g, policy[s], group))
    lost = grow(stuck, lambda s, into: s in policy and s not in target and bool(g.targets(policy[s]) & into), g.states)
    return every - lost


def test_sure_against_nature_is_where_no_cut_keeps_the_agent_away() -> None:
    for seed in SEEDS:
        g, rng = drawn(seed, largest=7, zero_lower=True)
        goal, usable = rng.random(g.states) < 0.3, rng.random(g.choices) < 0.9
        via = np.full(g.states, -1, np.int64)
        found = sure_against_nature(g.rows, goal, usable, via)
        wanted = members(goal)
        options = [[c for c in g.own(s) if usable[c]] or [-1] for s in range(g.states)]
        for picks in product(*options):
            wanted |= winning(g, members(goal), {s: c for s, c in enumerate(picks) if c >= 0})
        assert members(found) == wanted
        shown = {s: int(via[s]) for s in members(found & ~goal)}
        assert members(found) <= winning(g, members(goal), shown)
