"""Sparse elimination without subtraction: orders, solutions and bounds against rationals and closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.random_arrays import fractions
from umdp import MDP, Rewards, Status, solve
from umdp.solver.kernels import elimination_order
from umdp.solver.kernels.structs import SystemRows, chain_of
from umdp.solver.methods import linear_system, sparse_elimination
from umdp.solver.methods.sparse_elimination import SparseElimination
from umdp.solver.reduction.problem import Problem

quick = settings(max_examples=60)


def chain(rows: list[dict[int, float]], reward: np.ndarray, exits: tuple[float, float]) -> Problem:
    """Return the problem of one component in which every state has one row; the targets n and n + 1 are the exits."""
    n = len(rows)
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    p = np.array([q for row in rows for q in row.values()])
    return Problem(
        SystemRows(
            np.array([0, n]),
            np.arange(n + 1),
            ptr,
            np.array([t for row in rows for t in row], np.int32),
            p,
            p,
            np.zeros(n),
            reward,
            np.zeros(0, np.int32),
        ),
        np.arange(n, dtype=np.int32),
        np.arange(n, dtype=np.int32),
        exits,
    )


def eliminated(problem: Problem, fill: float = 1e6, work: float = 1e8) -> SparseElimination | None:
    return SparseElimination.of(
        chain_of(problem.rows, problem.rows.row_ptr, problem.rows.lower), 0, problem.n, fill, work
    )


def values(problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    found = eliminated(problem)
    assert found is not None
    return found.values(np.concatenate([np.zeros(problem.n), problem.exits]), 0.0)


def exact(problem: Problem) -> list[Fraction]:
    """Solve the chain's equations by Gauss-Jordan elimination in rationals; rows are normalised."""
    n = problem.n
    system = [[Fraction(int(i == j)) for j in range(n)] + [Fraction(float(problem.rows.reward[i]))] for i in range(n)]
    for i in range(n):
        own = range(problem.rows.entry_ptr[i], problem.rows.entry_ptr[i + 1])
        whole = fractions(problem.rows.lower[list(own)]).sum()
        for t in own:
            p, j = Fraction(float(problem.rows.lower[t])) / whole, int(problem.rows.target[t])
            if j < n:
                system[i][j] -= p
            else:
                system[i][n] += p * Fraction(problem.exits[j - n])
    for k in range(n):
        pivot = next(i for i in range(k, n) if system[i][k])
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [a / system[k][k] for a in system[k]]
        for i in range(n):
            if i != k and system[i][k]:
                f = system[i][k]
                system[i] = [a - f * b for a, b in zip(system[i], system[k], strict=True)]
    return [line[n] for line in system]


def contain(found: tuple[np.ndarray, np.ndarray] | None, true: list[Fraction]) -> bool:
    assert found is not None
    return all(
        Fraction(float(x)) * (1 - Fraction(float(relative_error)))
        <= v
        <= Fraction(float(x)) * (1 + Fraction(float(relative_error)))
        for x, relative_error, v in zip(*found, true, strict=True)
    )


@st.composite
def chains(draw: st.DrawFn, most: int = 12) -> Problem:
    """Draw a chain that can leave from everywhere: a path to an exit, and edges of any size across and back."""
    n = draw(st.integers(2, most))
    sizes = st.sampled_from([1.0, 0.5, 0.1, 1e-3, 1e-9, 1e-40])
    rewarded = draw(st.booleans())
    rows: list[dict[int, float]] = []
    for s in range(n):
        row = {s + 1: draw(sizes)}
        for t in draw(st.lists(st.integers(0, n + 1), max_size=3)):
            if t != s:
                row[t] = draw(sizes)
        total = sum(row.values())
        rows.append({t: p / total for t, p in row.items()})
    reward = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 1e-30, 1e20]), min_size=n, max_size=n)))
    return chain(rows, reward if rewarded else np.zeros(n), (0.0, 0.0) if rewarded else (1.0, 0.0))


def birth_death(up: np.ndarray, kind: str) -> Problem:
    """Return a walk that ends beyond its last state, or, for a probability, in a trap below its first one."""
    n = up.size
    rows = [{s - 1: float(1 - p), s + 1: float(p)} for s, p in enumerate(up)]
    rows[0] = {1: float(up[0]), n + 1: float(1 - up[0])} if kind == "P" else {1: 1.0}
    return chain(rows, np.full(n, float(kind == "R")), (1.0, 0.0) if kind == "P" else (0.0, 0.0))


def closed_form(up: list[Fraction], kind: str) -> list[Fraction]:
    """Return the values of `birth_death`, by the products of odds and by the time a walk takes for one step up."""
    down = [1 - p for p in up]
    if kind == "P":
        odds = [Fraction(1)]
        for p, q in zip(up, down, strict=True):
            odds.append(odds[-1] * q / p)
        partial = np.cumsum(np.array(odds, dtype=object))
        return [part / partial[-1] for part in partial[:-1]]
    steps = [Fraction(1)]
    for p, q in list(zip(up, down, strict=True))[1:]:
        steps.append((1 + q * steps[-1]) / p)
    return list(np.cumsum(np.array(steps, dtype=object)[::-1])[::-1])


# -- the order -----------------------------------------------------------------------------------------------


@quick
@given(chains(20))
def test_the_structure_lists_who_are_neighbours_when_a_state_is_eliminated(problem: Problem) -> None:
    n = problem.n
    near = [set[int]() for _ in range(n)]
    for s in range(n):
        for t in problem.rows.target[problem.rows.entry_ptr[s] : problem.rows.entry_ptr[s + 1]]:
            if t < n:
                near[s].add(int(t))
                near[t].add(s)
    ptr, listed = elimination_order.neighbours(0, n, chain_of(problem.rows, problem.rows.row_ptr, problem.rows.lower))
    assert [set(listed[a:b]) for a, b in pairwise(ptr)] == near
    assert listed.size == sum(map(len, near))
    order, start, stop, filled, cost = elimination_order.order_states(ptr, listed, 10**6, 1e9)
    assert sorted(order) == list(range(n))
    work = 0
    for s in order:
        assert set(filled[start[s] : stop[s]]) == near[s]
        assert stop[s] - start[s] == len(near[s])
        work += len(near[s]) ** 2
        for t in near[s]:
            near[t] = (near[t] | near[s]) - {s, t}
    assert cost == work


@pytest.mark.parametrize("shape", ["path", "star", "tree"])
def test_trees_are_eliminated_without_fill(shape: str) -> None:
    n = 200
    up = {"path": lambda s: s - 1, "star": lambda s: 0, "tree": lambda s: (s - 1) // 2}[shape]
    rows = [{n: 1.0}] + [{up(s): 0.5, n: 0.5} for s in range(1, n)]
    problem = chain(rows, np.ones(n), (0.0, 0.0))
    assert eliminated(problem, fill=n - 1) is not None
    assert eliminated(problem, fill=n - 2) is None


@pytest.mark.parametrize("count", [1, 2, 3])
def test_states_with_very_many_neighbours_come_last(count: int) -> None:
    n, rng = 900, np.random.default_rng(count)
    rows = []
    for s in range(n):
        near = range(count, n) if s < count else {int(rng.integers(count)), int(rng.integers(n)), (s + 7) % n}
        rows.append({t: 0.9 / len(near) for t in near} | {n: 0.1})
    problem = chain(rows, rng.random(n), (0.0, 0.0))
    ptr, _ = elimination_order.neighbours(0, n, chain_of(problem.rows, problem.rows.row_ptr, problem.rows.lower))
    assert sparse_elimination.hubs(ptr).tolist() == list(range(count))
    made = eliminated(problem, fill=10**6)
    assert made is not None
    assert sorted(made.pattern.order) == list(range(n))
    assert made.pattern.order[-count:].tolist() == list(range(count))
    matrix = np.eye(n)
    for s in range(n):
        for t in range(problem.rows.entry_ptr[s], problem.rows.entry_ptr[s + 1]):
            if problem.rows.target[t] < n:
                matrix[s, problem.rows.target[t]] -= problem.rows.lower[t]
    found = made.values(np.zeros(n + 2), 0.0)
    assert found is not None
    np.testing.assert_allclose(found[0], np.linalg.solve(matrix, problem.rows.reward), rtol=1e-10)


def test_a_grid_fills_in_little_more_than_n_log_n() -> None:
    side = 40
    n = side * side
    rows = []
    for s in range(n):
        x, y = s % side, s // side
        near = [s + d for d, inside in ((1, x < side - 1), (-1, x > 0), (side, y < side - 1), (-side, y > 0)) if inside]
        rows.append({t: 1.0 / (len(near) + 1) for t in [*near, n]})
    assert eliminated(chain(rows, np.ones(n), (0.0, 0.0)), fill=1.5 * n * np.log2(n)) is not None


# -- solutions and bounds ------------------------------------------------------------------------------------


@quick
@given(chains())
def test_bounds_contain_the_exact_values(problem: Problem) -> None:
    found = values(problem)
    if found is None:  # something came close to underflow
        assert problem.rows.lower.min() < 1e-30
        return
    assert contain(found, exact(problem))
    assert found[1].max() < 1e-11


@pytest.mark.parametrize("kind", ["P", "R"])
@pytest.mark.parametrize("n", [50, 120, 300])
def test_birth_and_death_exactly(kind: str, n: int) -> None:
    for seed in range(5):
        rng = np.random.default_rng([n, seed])
        low, high = [(0.3, 0.7), (0.05, 0.2), (0.8, 0.95), (0.499, 0.501), (1e-3, 1.0)][seed]
        up = rng.uniform(low, high, n)
        problem = birth_death(up, kind)
        given_up = []
        for s in range(n):  # probabilities of a row need not add up to 1 in floating point: their ratio counts
            own = slice(problem.rows.entry_ptr[s], problem.rows.entry_ptr[s + 1])
            p = dict(zip(problem.rows.target[own], fractions(problem.rows.lower[own]), strict=True))
            given_up.append(p[s + 1] / sum(p.values()))
        found = values(problem)
        assert contain(found, closed_form(given_up, kind))
        assert found is not None
        assert found[1].max() < 1e-9


@quick
@given(chains(), st.integers(0, 2**32 - 1))
def test_loads_of_any_sign_are_solved_for(problem: Problem, seed: int) -> None:
    load = np.random.default_rng(seed).normal(size=problem.n)
    matrix = np.eye(problem.n)
    for s in range(problem.n):
        for t in range(problem.rows.entry_ptr[s], problem.rows.entry_ptr[s + 1]):
            if problem.rows.target[t] < problem.n:
                matrix[s, problem.rows.target[t]] -= problem.rows.lower[t]
    found = eliminated(problem)
    assert found is not None
    assert found.proper
    v = found.solve(load)
    scale = found.solve(np.abs(load))
    assert np.abs(matrix @ v - load).max() <= 1e-12 * max(scale.max(), 1.0)


def test_what_cannot_leave_is_not_proper() -> None:
    found = eliminated(chain([{1: 1.0}, {0: 1.0}, {0: 0.5, 3: 0.5}], np.ones(3), (0.0, 0.0)))
    assert found is not None
    assert not found.proper
    assert values(chain([{1: 1.0}, {0: 1.0}, {0: 0.5, 3: 0.5}], np.ones(3), (0.0, 0.0))) is None


def test_what_comes_near_underflow_is_not_proved() -> None:
    assert values(birth_death(np.full(200, 0.1), "P")) is not None
    assert values(birth_death(np.concatenate([np.full(400, 0.9), np.full(400, 0.1)]), "P")) is None


# -- through the solver --------------------------------------------------------------------------------------


def walk(up: np.ndarray, kind: str) -> MDP:
    """Return `birth_death` as a model; state 0 is the trap, or leads to 1, and the last state is the goal."""
    n = up.size
    sizes = np.full(n, 2)
    sizes[[0, -1]] = 1
    choice_ptr = np.concatenate([[0], np.cumsum(sizes)])
    inside = np.arange(1, n - 1)
    successor, p = np.zeros(choice_ptr[-1], np.int64), np.ones(choice_ptr[-1])
    successor[choice_ptr[inside]], successor[choice_ptr[inside] + 1] = inside - 1, inside + 1
    p[choice_ptr[inside]], p[choice_ptr[inside] + 1] = 1 - up[inside], up[inside]
    successor[0], successor[-1] = int(kind == "R"), n - 1
    return MDP(
        np.arange(n + 1), choice_ptr, successor, p, initial=n // 3, labels={"goal": np.arange(n) == n - 1},
        rewards={"steps": Rewards(state=np.ones(n))},
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["P", "R"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "spread"), [(3_000, 0.02), pytest.param(30_000, 0.2, marks=pytest.mark.slow)])
def test_long_walks_are_certified_however_slow_they_are(kind: str, seed: int, n: int, spread: float) -> None:
    up = np.random.default_rng(seed).uniform(0.5 - spread, 0.5 + spread, n)
    solution = solve(walk(up, kind), 'P=? [ F "goal" ]' if kind == "P" else 'R{"steps"}=? [ F "goal" ]')
    down = 1 - up
    if kind == "P":
        log_odds = np.concatenate([[0.0], np.cumsum(np.log(down[1:-1] / up[1:-1]))])
        odds = np.exp(log_odds - log_odds.max())
        true = odds[: n // 3].sum() / odds.sum()
    else:
        steps = np.ones(n - 1)
        for s in range(1, n - 1):
            steps[s] = (1 + down[s] * steps[s - 1]) / up[s]
        true = steps[n // 3 :].sum()
    assert solution.status is Status.CERTIFIED
    assert solution.bracket.upper - solution.bracket.lower <= 1e-6 * max(solution.bracket.upper, 1e-300)
    assert solution.value == pytest.approx(true, rel=1e-8)


def test_systems_of_policies_are_solved_by_elimination_where_iteration_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []
    kept = SparseElimination.solve
    monkeypatch.setattr(SparseElimination, "solve", lambda self, load: used.append(1) or kept(self, load))
    problem = birth_death(np.random.default_rng(1).uniform(0.45, 0.55, 500), "R")
    one = linear_system.Chain(chain_of(problem.rows, problem.rows.row_ptr, problem.rows.lower), 0, problem.n)
    v = one.solve(np.ones(problem.n), 1e-8, np.ones(problem.n))
    assert used
    assert one.slow
    found = values(problem)
    assert found is not None
    np.testing.assert_allclose(v, found[0], rtol=1e-9)
    another = one.again(problem.rows.row_ptr, problem.rows.lower)
    assert another.slow


def test_only_a_chain_that_can_leave_is_factorised() -> None:
    leaving: list[dict[int, float]] = [{1: 0.5, 3: 0.5}, {2: 1.0}, {0: 0.75, 1: 0.25}]
    stuck: list[dict[int, float]] = [{1: 0.5, 3: 0.5}, {2: 1.0}, {1: 1.0}]
    cut: list[dict[int, float]] = [{1: 1.0, 3: 0.0}, *leaving[1:]]
    for rows, leaves in ((leaving, True), (stuck, False), (cut, False)):
        problem = chain(rows, np.ones(3), (0.0, 0.0))
        one = linear_system.Chain(chain_of(problem.rows, problem.rows.row_ptr, problem.rows.lower), 0, 3)
        one._factorise()
        assert (one._factor is not None) == leaves
