"""What breaks one line of the numerical core breaks one of these: each stands for a line whose loss no other test saw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from properties.bridge import to_model
from properties.generate import random_model
from solver import reference
from solver.random_arrays import fractions
from umdp import Graph, IntervalMDP, Rewards, solve
from umdp.solver.graph.decided import Edges, Shape, decide
from umdp.solver.kernels import sweeps
from umdp.solver.kernels.structs import Players, Section, SystemRows, chain_of, row_space
from umdp.solver.methods import by_component as unbounded
from umdp.solver.methods import large_component as large
from umdp.solver.methods import newton
from umdp.solver.methods.component import Component
from umdp.solver.methods.linear_system import Chain
from umdp.solver.methods.workspace import Bounds, Workspace
from umdp.solver.objective import SolveOptions
from umdp.solver.reduction.layout import build_problem, state_quotient_of
from umdp.solver.reduction.problem import Problem
from umdp.solver.task import Analysis, Task

PLAYERS = ("maxmax", "maxmin", "minmax", "minmin")

# -- rounding outwards where nature has no choice ------------------------------------------------------------


def plain_problem(rng: np.random.Generator, *, rewards: bool) -> Problem:
    """Return a component of 2 to 7 unknowns, 1 to 3 rows each, whose rows are distributions up to rounding."""
    n = int(rng.integers(2, 8))
    row_ptr, entry_ptr = [0], [0]
    target: list[int] = []
    prob: list[float] = []
    for s in range(n):
        for _ in range(int(rng.integers(1, 4))):
            others = [t for t in range(n + 2) if t != s]
            picked = rng.choice(others, size=int(rng.integers(2, min(6, len(others)) + 1)), replace=False)
            raw = rng.random(picked.size) + 0.05
            target += [int(t) for t in picked]
            prob += list(raw / raw.sum())
            entry_ptr.append(len(target))
        row_ptr.append(len(entry_ptr) - 1)
    count = row_ptr[-1]
    p = np.array(prob)
    return Problem(
        SystemRows(
            np.array([0, n]),
            np.array(row_ptr),
            np.array(entry_ptr),
            np.array(target, np.int32),
            p,
            p,
            np.zeros(count),
            rng.random(count) if rewards else np.zeros(count),
            np.zeros(0, np.int32),
        ),
        np.arange(count, dtype=np.int32),
        np.arange(n, dtype=np.int32),
        (0.0, 0.0) if rewards else (1.0, 0.0),
    )


def exact_step(problem: Problem, s: int, x: list[Fraction], agent_max: bool) -> Fraction:
    """Return what one exact step from `x` gives in state `s`; a row is its probabilities, normalised."""
    worth = []
    for row in range(problem.rows.row_ptr[s], problem.rows.row_ptr[s + 1]):
        own = range(problem.rows.entry_ptr[row], problem.rows.entry_ptr[row + 1])
        p = [Fraction(float(problem.rows.lower[t])) for t in own]
        mean = sum((q * x[problem.rows.target[t]] for q, t in zip(p, own, strict=True)), Fraction(0)) / sum(
            p, Fraction(0)
        )
        worth.append(Fraction(float(problem.rows.reward[row])) + mean)
    return max(worth) if agent_max else min(worth)


@pytest.mark.parametrize("agent_max", [True, False])
@pytest.mark.parametrize("from_above", [True, False])
@pytest.mark.parametrize("rewards", [True, False])
def test_enclosed_values_are_inductive_where_nature_has_no_choice(
    agent_max: bool, from_above: bool, rewards: bool
) -> None:
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, int(rewards)])
        problem = plain_problem(rng, rewards=rewards)
        assert problem.plain
        whole = Section(0, problem.n, problem.rows, row_space(problem.widest), Players(agent_max, True))
        x, choice = np.zeros(problem.n + 2), np.array(problem.rows.row_ptr[:-1])
        x[problem.n :] = problem.exits
        for _ in range(400):  # to the last digit, where only the rounding is left
            sweeps.sweep(whole, x, choice)
        x[: problem.n] *= 1 + (1e-13 if from_above else -1e-13)
        for _ in range(200):
            if sweeps.enclose(whole, x, choice, from_above) == 0:
                break
        else:
            continue
        passed += 1
        exact = [Fraction(float(v)) for v in x]
        for s in range(problem.n):
            step = exact_step(problem, s, exact, agent_max)
            assert step <= exact[s] if from_above else step >= exact[s], (seed, s)
    assert passed > 30


# -- the error of what a component reads ---------------------------------------------------------------------


def desk_of(problem: Problem, *, kind: str = "P", agent_max: bool = True, nature_max: bool = True) -> Workspace:
    """Return where a problem is solved, as the solver sets it up."""
    task: Any = SimpleNamespace(kind=kind, agent_max=agent_max, nature_max=nature_max, perturbation=0.0)
    return Workspace(problem, task, SolveOptions(precision=1e-6), None)


def two_stages(states: int, *, plain: bool) -> Problem:
    """Return an unknown, and above it a component of `states` that goes round, on to the unknown, or is lost."""
    n = states + 1
    target, low, high = [n, n + 1], [0.5, 0.5], [0.5, 0.5]
    for i in range(states):
        around = [1 + (i + 1) % states] if states > 1 else []
        target += [*around, 0, n + 1]
        low += [*([0.5] if around else []), 0.375, 0.125] if around else [0.75, 0.25]
        high += [*([0.5] if around else []), 0.375, 0.125] if around else [0.75, 0.25]
    size = 3 if states > 1 else 2
    entry_ptr = np.concatenate([[0], 2 + size * np.arange(n)])
    lower, upper = np.array(low), np.array(high)
    order = np.concatenate([np.arange(2), np.tile(np.arange(size), states)]).astype(np.int32)
    return Problem(
        SystemRows(
            np.array([0, 1, n]),
            np.arange(n + 1),
            entry_ptr,
            np.array(target, np.int32),
            lower,
            lower if plain else upper,
            np.zeros(n),
            np.zeros(n),
            order[:0] if plain else order,
        ),
        np.arange(n, dtype=np.int32),
        np.arange(n, dtype=np.int32),
        (1.0, 0.0),
    )


SOLVERS: dict[str, Callable[[Workspace], Any]] = {
    "elimination": lambda workspace: workspace.eliminate(1, 2, 48),
    "sweeps": lambda workspace: workspace.iterate_values(1, workspace.sizes.size, 48),
    "large": lambda workspace: large.solve_large(workspace, 1, swept=False),
    "newton": lambda workspace: large.solve_large(workspace, 1, swept=True),
    "rationals": lambda workspace: unbounded._solve_exactly(workspace, 1),
}


@pytest.mark.parametrize("way", SOLVERS)
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("states", [1, 2, 60])
@pytest.mark.parametrize("off", [1e-3, -1e-3])
def test_the_error_of_what_a_component_reads_is_passed_on(way: str, plain: bool, states: int, off: float) -> None:
    # The value below is 1/2, known to a thousandth; everything above it is worth three quarters of that.
    if states > 48 and way in ("elimination", "sweeps", "rationals"):
        return
    problem = two_stages(states, plain=plain)
    workspace = desk_of(problem)
    workspace.x[0], workspace.relative_error[0] = 0.5 * (1 + off), 1.01e-3
    SOLVERS[way](workspace)
    value, error = (fractions(array[1 : problem.n]) for array in (workspace.x, workspace.relative_error))
    assert (value * (1 - error) <= Fraction(3, 8)).all()
    assert (value * (1 + error) >= Fraction(3, 8)).all()
    assert (error < Fraction(2, 1000)).all()


# -- the policy that is returned is the one that was proved --------------------------------------------------


def leaking_problem(rng: np.random.Generator) -> Problem:
    """Return a component of 4 to 9 unknowns whose every row may reach both exits, within bounds or as it is."""
    n = int(rng.integers(4, 10))
    row_ptr, entry_ptr = [0], [0]
    target: list[int] = []
    lower: list[float] = []
    upper: list[float] = []
    slack: list[float] = []
    for _ in range(n):
        for _ in range(int(rng.integers(2, 4))):
            parts = rng.integers(1, 9, 5) * np.array([4, 4, 4, 1, 1])
            p, free = parts / parts.sum(), rng.random() < 0.6
            low = p * (0.75 if free else 1.0)
            target += [*(int(t) for t in rng.choice(n, size=3, replace=False)), n, n + 1]
            lower += list(low)
            upper += list(p * (1.5 if free else 1.0))
            slack.append(float(1 - fractions(low).sum()) if free else 0.0)
            entry_ptr.append(len(target))
        row_ptr.append(len(slack))
    return Problem(
        SystemRows(
            np.array([0, n]),
            np.array(row_ptr),
            np.array(entry_ptr),
            np.array(target, np.int32),
            np.array(lower),
            np.array(upper),
            np.array(slack),
            np.zeros(len(slack)),
            np.tile(np.arange(5, dtype=np.int32), len(slack)),
        ),
        np.arange(len(slack), dtype=np.int32),
        np.arange(n, dtype=np.int32),
        (1.0, 0.0),
    )


def exact_row(problem: Problem, row: int, x: np.ndarray, nature_max: bool) -> Fraction:
    """Return what a row is worth against exact values `x`, nature answering."""
    own = slice(problem.rows.entry_ptr[row], problem.rows.entry_ptr[row + 1])
    low, high = fractions(problem.rows.lower[own]), fractions(problem.rows.upper[own])
    if problem.rows.slack[row] <= 0:
        low = high = low / low.sum()
    worth: Fraction = reference.row_value(low, high, x[problem.rows.target[own]], nature_max)
    return Fraction(float(problem.rows.reward[row])) + worth


@pytest.mark.parametrize("agent_max", [True, False])
@pytest.mark.parametrize("nature_max", [True, False])
def test_newton_hands_out_the_rows_that_prove_its_bound(agent_max: bool, nature_max: bool) -> None:
    proved = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = leaking_problem(rng)
        workspace = desk_of(problem, agent_max=agent_max, nature_max=nature_max)
        part = Component(workspace, 0)
        for _ in range(500):
            part.sweep(workspace.x, workspace.row)
        workspace.row[:] = [
            rng.integers(problem.rows.row_ptr[s], problem.rows.row_ptr[s + 1]) for s in range(problem.n)
        ]
        given = workspace.row.copy()
        part.read(workspace.above)
        part.answer(workspace.x, workspace.tail, workspace.row, workspace.prob)
        chain = Chain(chain_of(problem.rows, workspace.row, workspace.prob), 0, problem.n, True)
        bounds = Bounds(np.zeros(problem.n), np.ones(problem.n))
        newton.prove(part, chain, 1e-3, bounds)
        if not np.isfinite(bounds.below if agent_max else bounds.above):
            continue
        assert bounds.rows is not None
        bound = fractions(np.concatenate([bounds.low if agent_max else bounds.high, workspace.x[problem.n :]]))
        for row, own in zip(bounds.rows, bound, strict=False):
            gain = exact_row(problem, int(row), bound, nature_max) - own
            assert (gain if agent_max else -gain) >= -own / 10**14, seed  # the bound itself is rounded once
        proved += bool((bounds.rows != given).any())
    assert proved >= 5  # by other rows than those that were taken


def test_a_large_component_takes_the_rows_that_were_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = leaking_problem(np.random.default_rng(3))
    proof = problem.rows.row_ptr[1:] - 1
    assert (proof != problem.rows.row_ptr[:-1]).any()

    def prove(component: Component, x: np.ndarray, *rest: Any) -> None:
        rest[-1].rows, rest[-1].below, rest[-1].above = proof.copy(), 0.0, 0.0

    monkeypatch.setattr(large, "newton", prove)
    workspace = desk_of(problem)
    large.solve_large(workspace, 0, swept=True)
    np.testing.assert_array_equal(workspace.row, proof)


def near_tie(*, better: float, plain: bool) -> Problem:
    """Return two unknowns, the second with two rows that are worth the same up to a factor.

    By the first of them its value is 7/15, and that of the other unknown 8/15. The second row gives `better` times as much.
    """
    share = 0.875 * better
    p = np.array([0.5, 0.3, 0.2, 0.2, 0.5, 0.3, share, 1 - share])
    size = [3, 3, 2]
    order = np.concatenate([np.arange(k) for k in size]).astype(np.int32)
    return Problem(
        SystemRows(
            np.array([0, 2]),
            np.array([0, 1, 3]),
            np.concatenate([[0], np.cumsum(size)]),
            np.array([1, 2, 3, 2, 0, 3, 0, 3], np.int32),
            p,
            p if plain else p.copy(),
            np.zeros(3),
            np.zeros(3),
            order[:0] if plain else order,
        ),
        np.arange(3, dtype=np.int32),
        np.arange(2, dtype=np.int32),
        (1.0, 0.0),
    )


@pytest.mark.parametrize("way", ["sweeps", "large"])
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("agent_max", [True, False])
def test_sweeps_hand_out_the_rows_that_prove_the_bound(way: str, plain: bool, agent_max: bool) -> None:
    # Exits do not move with a bound, so that a little off the values the other row is the better one.
    problem = near_tie(better=1 + 3e-8 if agent_max else 1 - 3e-8, plain=plain)
    workspace = desk_of(problem, agent_max=agent_max)
    if way == "sweeps":
        assert workspace.iterate_values(0, workspace.sizes.size, 48) == 1
    else:
        large.solve_large(workspace, 0, swept=False)
    bound = fractions(workspace.below if agent_max else workspace.above)
    for s, row in enumerate(workspace.row):
        worth = exact_row(problem, int(row), bound, True)
        assert worth >= bound[s] if agent_max else worth <= bound[s]
    assert workspace.relative_error[:2].max() < 1e-6


# -- what is kept with a graph ------------------------------------------------------------------------------


PATHS = ('"left" U "goal"', 'F "goal"', 'G "safe"')
ONE = [
    f"{kind}{players}=? [ {path} ]"
    for kind, path in [*(("P", p) for p in PATHS), ("R", PATHS[1])]
    for players in PLAYERS
]
TWO = [
    f'R{{"{name}"}}{players}=? [ F {goal} ]' for name in "ab" for goal in ('"goal"', '!"safe"') for players in PLAYERS
]


def alone(graph: Graph, lower: np.ndarray, upper: np.ndarray) -> IntervalMDP:
    """Return the model with these bounds that shares its graph with no other."""
    return IntervalMDP(
        graph.state_ptr, graph.choice_ptr, graph.successor, lower, upper, labels=graph.labels, rewards=graph.rewards
    )


@pytest.mark.parametrize("zero_lower", [False, True])
@pytest.mark.parametrize("rewards", ["on choices", "on transitions", "two"])
def test_what_is_kept_with_a_graph_changes_no_answer(zero_lower: bool, rewards: str) -> None:
    for number in range(4):
        rng = np.random.default_rng([5, number])
        drawn = to_model(random_model(rng, zero_lower=zero_lower))
        paid = {
            "a": Rewards(choice=rng.choice([0.0, 1.0, 3.0], drawn.choices)),
            "b": Rewards(state=np.ones(drawn.states), transition=rng.choice([0.0, 0.5, 2.0], drawn.transitions)),
        }
        graph = Graph(
            drawn.state_ptr, drawn.choice_ptr, drawn.successor, labels=drawn.labels,
            rewards=paid if rewards == "two" else {"a": paid["a" if rewards == "on choices" else "b"]},
        )  # fmt: skip
        inside = spread_out(drawn)
        bounds = [(drawn.lower, drawn.upper), ((drawn.lower + inside) / 2, (drawn.upper + inside) / 2)]
        asked = [(pair, question) for pair in bounds for question in (TWO if rewards == "two" else ONE)]
        for which in rng.permutation(len(asked)):
            pair, question = asked[which]
            shared, own = solve(graph.with_bounds(*pair), question), solve(alone(graph, *pair), question)
            assert (shared.bracket, shared.status) == (own.bracket, own.status), (number, question)
            np.testing.assert_array_equal(shared.lower, own.lower)
            np.testing.assert_array_equal(shared.policy.choice, own.policy.choice)


def spread_out(model: IntervalMDP) -> np.ndarray:
    """Return a distribution inside the bounds that uses every transition."""
    starts, sizes = model.choice_ptr[:-1], np.diff(model.choice_ptr)
    room = model.upper - model.lower
    rest = np.maximum(1 - np.add.reduceat(model.lower, starts), 0)
    total = np.add.reduceat(room, starts)
    share = np.divide(rest, total, out=np.zeros(rest.size), where=total > 0)
    inside: np.ndarray = np.minimum(model.lower + room * np.repeat(share, sizes), model.upper)
    return inside


@pytest.mark.parametrize("formula", ["U", "G", "R"])
def test_a_plan_that_is_remembered_is_the_plan_of_the_task(formula: str) -> None:
    kind = "R" if formula == "R" else "P"
    seen = 0
    for number in range(40):
        drawn = to_model(random_model(np.random.default_rng([6, number])))
        goal = ~drawn.labels["safe"] if formula == "G" else drawn.labels["goal"]
        left = np.ones(drawn.states, np.bool_)
        edges = Edges(Shape.of(drawn))
        reward = drawn.rewards["r"].choice if kind == "R" else np.empty(0)
        kept: dict[Any, Any] = {}
        analysis = Analysis(edges, drawn.lower, drawn.upper, reward, goal, left, kept, formula == "G")
        for agent_max in (True, False):
            reach_max = agent_max != (formula == "G")
            decided = analysis.decide(kind, reach_max)
            fresh = decide(edges, kind, reach_max, goal, left)
            for name in ("one", "zero", "infinite", "usable"):
                np.testing.assert_array_equal(getattr(decided, name), getattr(fresh, name))
            if not fresh.maybe.any():
                continue
            task = Task(**vars(analysis), kind=kind, agent_max=agent_max, nature_max=True, decided=fresh)
            turned = replace(task, complement=not task.complement, agent_max=not agent_max)
            for each in (task, turned) if kind == "P" else (task,):
                seen += 1
                plan, again = state_quotient_of(each), state_quotient_of(replace(each, memo=None))
                for name in ("block", "stays", "index", "order", "comp_size"):
                    np.testing.assert_array_equal(getattr(plan, name), getattr(again, name))
                one, other = build_problem(each, plan), build_problem(replace(each, memo=None), again)
                for name in ("row_ptr", "entry_ptr", "target", "lower", "comp_ptr"):
                    np.testing.assert_array_equal(getattr(one.rows, name), getattr(other.rows, name))
                np.testing.assert_array_equal(one.origin, other.origin)
                assert one.exits == other.exits
    assert seen > 20
