"""Compiled Bellman kernels against the plain versions in `solver.reference`, and against rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver import reference
from solver.random_arrays import Row, fractions, random_graph, random_problem, rows, slack_of
from thoroughness import examples
from umdp.solver.graph.decided import Shape
from umdp.solver.kernels import sweeps, two_part
from umdp.solver.kernels.best_response import fill, respond, sort_row
from umdp.solver.kernels.structs import Players, Section, SystemRows, chain_of, row_space
from umdp.solver.methods.backward_induction import induct
from umdp.solver.reduction.problem import Problem

ULP = Fraction(1, 2**53)
SIDES = [(agent, nature) for agent in (True, False) for nature in (True, False)]
quick = settings(max_examples=examples(300))


def order_of(row: Row, nature_max: bool) -> np.ndarray:
    return np.argsort(-row.x if nature_max else row.x, kind="stable").astype(np.int32)


def filled(row: Row, order: np.ndarray) -> np.ndarray:
    probe = np.empty(row.x.size)
    fill(0, row.x.size, row.lower, row.upper, slack_of(row.lower), order, probe)
    return probe


def whole(problem: Problem, agent_max: bool, nature_max: bool) -> Section:
    """Return all unknowns of a problem, as kernels take them."""
    return Section(0, problem.n, problem.rows, row_space(problem.widest), Players(agent_max, nature_max))


def sweep(problem: Problem, x: np.ndarray, agent_max: bool, nature_max: bool) -> tuple[np.ndarray, np.ndarray, float]:
    new, choice = x.copy(), np.array(problem.rows.row_ptr[:-1])
    change, switched = sweeps.sweep(whole(problem, agent_max, nature_max), new, choice)
    assert switched == np.count_nonzero(choice != problem.rows.row_ptr[:-1])
    return new, choice, change


def enclose(
    problem: Problem, x: np.ndarray, choice: np.ndarray, agent_max: bool, nature_max: bool, from_above: bool
) -> int:
    return sweeps.enclose(whole(problem, agent_max, nature_max), x, choice, from_above)


def one_row(row: Row) -> Problem:
    """Return the problem of one state with one row, whose successors have other values."""
    size = row.x.size
    return Problem(
        SystemRows(
            np.array([0, 1]),
            np.array([0, 1]),
            np.array([0, size]),
            np.arange(1, size + 1, dtype=np.int32),
            row.lower,
            row.upper,
            np.array([slack_of(row.lower)]),
            np.zeros(1),
            np.arange(size, dtype=np.int32),
        ),
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        (1.0, 0.0),
    )


def bad_states(problem: Problem, x: np.ndarray, agent_max: bool, nature_max: bool, from_above: bool) -> int:
    choice = np.array(problem.rows.row_ptr[:-1])
    return two_part.certify(whole(problem, agent_max, nature_max), x, np.zeros_like(x), choice, from_above)


# -- one row -------------------------------------------------------------------------------------------------


@quick
@given(rows(), st.booleans())
def test_sort_row_sorts_and_keeps_the_order_of_equal_values(row: Row, nature_max: bool) -> None:
    order = np.arange(row.x.size, dtype=np.int32)
    sort_row(0, row.x.size, row.x, order, nature_max)
    np.testing.assert_array_equal(order, order_of(row, nature_max))


@quick
@given(rows(smallest=2), st.booleans())
def test_fill_is_accurate_relative_to_every_entry(row: Row, nature_max: bool) -> None:
    order = order_of(row, nature_max)
    exact = reference.fill(fractions(row.lower), fractions(row.upper), order)
    assert sum(exact) == 1
    for got, wanted in zip(filled(row, order), exact, strict=True):
        assert abs(Fraction(float(got)) - wanted) <= 64 * ULP * wanted


@quick
@given(rows(smallest=2), st.randoms(use_true_random=False))
def test_fill_makes_a_distribution_within_the_bounds_in_any_order(row: Row, random: object) -> None:
    order = np.arange(row.x.size, dtype=np.int32)
    random.shuffle(order)  # type: ignore[attr-defined]
    p = filled(row, order)
    assert abs(fractions(p).sum() - 1) <= 64 * ULP
    assert (p >= row.lower).all()
    assert (p <= row.upper * (1 + 64 * float(ULP))).all()
    np.testing.assert_allclose(p, reference.fill(row.lower, row.upper, order), rtol=0, atol=1e-15)


@quick
@given(rows(), st.booleans())
def test_a_sweep_of_one_row_is_natures_best_expectation(row: Row, nature_max: bool) -> None:
    got = sweep(one_row(row), np.concatenate([[0.0], row.x]), True, nature_max)[0][0]
    exact = reference.row_value(fractions(row.lower), fractions(row.upper), fractions(row.x), nature_max)
    # Rounding of 1 - sum(lower) may move a share of 1e-16 to the best value there is.
    assert got == pytest.approx(float(exact), rel=1e-14, abs=1e-15 * row.x.max())
    assert got == pytest.approx(reference.row_value(row.lower, row.upper, row.x, nature_max), abs=1e-14 * row.x.max())


@quick
@given(rows(), st.booleans())
def test_enclosing_one_row_rounds_natures_best_expectation_outwards(row: Row, nature_max: bool) -> None:
    lower, upper = fractions(row.lower), fractions(row.upper)
    if slack_of(row.lower) <= 0:  # a distribution up to rounding
        lower = upper = lower / lower.sum()
    exact = reference.row_value(lower, upper, fractions(row.x), nature_max)
    for from_above in (True, False):
        x = np.concatenate([[0.0], row.x])
        enclose(one_row(row), x, np.zeros(1, np.int64), True, nature_max, from_above)
        assert (Fraction(float(x[0])) >= exact) if from_above else (Fraction(float(x[0])) <= exact)
        assert x[0] == pytest.approx(float(exact), rel=1e-12, abs=1e-12 * row.x.max())


@quick
@given(rows(), st.booleans(), st.floats(-10, 1e3) | st.floats(0, 1e120))
def test_any_dual_price_is_a_bound_and_the_best_is_tight(row: Row, nature_max: bool, t: float) -> None:
    lower, upper, x = fractions(row.lower), fractions(row.upper), fractions(row.x)
    value = reference.row_value(lower, upper, x, nature_max)
    bound = reference.dual_value(lower, upper, x, Fraction(t), nature_max)
    assert bound >= value if nature_max else bound <= value
    assert reference.dual_optimum(lower, upper, x, nature_max) == value


@quick
@given(rows(), st.booleans())
def test_respond_gives_natures_distribution_and_its_expectation(row: Row, nature_max: bool) -> None:
    size = row.x.size
    p = np.empty(size)
    got = respond(
        np.array([0, size]), np.arange(size, dtype=np.int32), row.lower, row.upper, row.x, np.empty(0), nature_max, p
    )
    exact = reference.row_value(fractions(row.lower), fractions(row.upper), fractions(row.x), nature_max)
    assert got[0] == pytest.approx(float(exact), rel=1e-14)
    np.testing.assert_allclose(p, reference.fill(row.lower, row.upper, order_of(row, nature_max)), rtol=0, atol=1e-15)


# -- sweeps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("agent_max", "nature_max"), SIDES)
def test_sweep_is_the_bellman_operator(agent_max: bool, nature_max: bool) -> None:
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, exits=(0.0, 0.0) if seed % 2 else (1.0, 0.0), rewards=bool(seed % 2))
        x = rng.choice([0.0, 0.25, 0.5, 1.0], problem.n + 2) if seed % 3 else rng.random(problem.n + 2)
        x[problem.n :] = problem.exits
        for _ in range(3):  # the kept order of rows must not change the outcome
            new, choice, change = sweep(problem, x, agent_max, nature_max)
            wanted, best = reference.sweep(problem, x, np.array(problem.rows.row_ptr[:-1]), agent_max, nature_max)
            np.testing.assert_allclose(new, wanted, rtol=1e-13)
            assert change == pytest.approx((abs(new - x) / np.maximum(abs(new), 1e-300)).max(), rel=1e-12)
            assert ((problem.rows.row_ptr[:-1] <= choice) & (choice < problem.rows.row_ptr[1:])).all()
            # Where two rows tie up to rounding either may be taken; the first sweep over short numbers has exact ties.
            same = choice == best
            if not same.all():
                s = int(np.flatnonzero(~same)[0])
                seen = np.concatenate([new[:s], x[s:]])
                assert row_worth(problem, int(choice[s]), seen, nature_max) == pytest.approx(wanted[s], rel=1e-13)
            x = new


def row_worth(problem: Problem, row: int, x: np.ndarray, nature_max: bool) -> float:
    own = slice(problem.rows.entry_ptr[row], problem.rows.entry_ptr[row + 1])
    worth = reference.row_value(
        problem.rows.lower[own], problem.rows.upper[own], x[problem.rows.target[own]], nature_max
    )
    return float(problem.rows.reward[row] + worth)


def test_sweep_takes_the_first_of_equal_rows() -> None:
    problem = Problem(
        SystemRows(
            np.array([0, 1]),
            np.array([0, 3]),
            np.array([0, 1, 2, 3]),
            np.array([2, 1, 1], np.int32),
            np.ones(3),
            np.ones(3),
            np.zeros(3),
            np.zeros(3),
            np.zeros(3, np.int32),
        ),
        np.arange(3, dtype=np.int32),
        np.zeros(1, np.int32),
        (1.0, 0.0),
    )
    x = np.array([0.0, 1.0, 0.0])
    assert sweep(problem, x, True, True)[1][0] == 1
    assert reference.sweep(problem, x, np.zeros(1, int), True, True)[1][0] == 1
    assert sweep(problem, x, False, True)[1][0] == 0


def test_from_below_gauss_seidel_is_never_behind_jacobi() -> None:
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed))
        x = np.zeros(problem.n + 2)
        x[problem.n] = 1.0
        y, choice = x.copy(), np.array(problem.rows.row_ptr[:-1])
        for _ in range(20):
            older = x
            x, _ = reference.sweep(problem, x, choice, True, False)
            y, _ = reference.sweep(problem, y, choice, True, False, gauss_seidel=False)
            assert (x >= older - 1e-15).all()
            assert (x >= y - 1e-15).all()


# -- certificates --------------------------------------------------------------------------------------------


def exact_excess(problem: Problem, s: int, x: np.ndarray, agent_max: bool, nature_max: bool) -> Fraction:
    """Return by how much one exact Bellman step moves state `s` away from `x`."""
    worth = []
    for row in range(problem.rows.row_ptr[s], problem.rows.row_ptr[s + 1]):
        own = slice(problem.rows.entry_ptr[row], problem.rows.entry_ptr[row + 1])
        low, high = fractions(problem.rows.lower[own]), fractions(problem.rows.upper[own])
        if problem.rows.slack[row] <= 0:  # a distribution up to rounding: the differences are what counts
            low = high = low / low.sum()
        difference = fractions(x[problem.rows.target[own]]) - Fraction(float(x[s]))
        worth.append(Fraction(float(problem.rows.reward[row])) + reference.row_value(low, high, difference, nature_max))
    return max(worth) if agent_max else min(worth)


@pytest.mark.parametrize(("agent_max", "nature_max"), SIDES)
@pytest.mark.parametrize("from_above", [True, False])
def test_what_certify_passes_is_inductive_in_exact_arithmetic(
    agent_max: bool, nature_max: bool, from_above: bool
) -> None:
    passed = refused = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        x = np.full(problem.n + 2, 1.0 if from_above else 0.0)
        x[problem.n :] = problem.exits
        for _ in range(int(rng.integers(1, 30))):
            x = sweep(problem, x, agent_max, nature_max)[0]
        # At a fixed point within rounding, one unit in the last place decides.
        x[: problem.n] *= 1 + (1 if from_above else -1) * rng.choice([-1e-9, 0.0, 1e-16, 1e-15, 1e-9], problem.n)
        bad = bad_states(problem, x, agent_max, nature_max, from_above)
        excess = [exact_excess(problem, s, x, agent_max, nature_max) for s in range(problem.n)]
        truly_bad = sum(e > 0 if from_above else e < 0 for e in excess)
        assert bad >= truly_bad
        passed += bad == 0
        refused += truly_bad > 0
    assert passed
    assert refused


@pytest.mark.parametrize(("agent_max", "nature_max"), SIDES)
@pytest.mark.parametrize("from_above", [True, False])
def test_what_enclose_leaves_alone_is_inductive_in_exact_arithmetic(
    agent_max: bool, nature_max: bool, from_above: bool
) -> None:
    passed = refused = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        x = np.full(problem.n + 2, 1.0 if from_above else 0.0)
        x[problem.n :] = problem.exits
        for _ in range(int(rng.integers(1, 30))):
            x = sweep(problem, x, agent_max, nature_max)[0]
        x[: problem.n] *= 1 + (1 if from_above else -1) * rng.choice([-1e-9, 0.0, 1e-14, 1e-9], problem.n)
        choice = np.array(problem.rows.row_ptr[:-1])
        for _ in range(20):
            if enclose(problem, x, choice, agent_max, nature_max, from_above):
                refused += 1
                continue
            passed += 1
            for s in range(problem.n):
                excess = exact_excess(problem, s, x, agent_max, nature_max)
                assert excess <= 0 if from_above else excess >= 0
            # The rows written down prove it on the side where the agent decides.
            if agent_max != from_above:
                rows = problem.rows._replace(
                    row_ptr=np.arange(problem.n + 1), entry_ptr=pointers(problem, choice),
                    **{name: taken(problem, choice, name) for name in ("target", "lower", "upper", "order")},
                    slack=problem.rows.slack[choice], reward=problem.rows.reward[choice],
                )  # fmt: skip
                alone = replace(problem, rows=rows, origin=problem.origin[choice])
                for s in range(problem.n):
                    excess = exact_excess(alone, s, x, agent_max, nature_max)
                    assert excess <= 0 if from_above else excess >= 0
            break
    assert passed
    assert refused


def pointers(problem: Problem, choice: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(problem.rows.entry_ptr[choice + 1] - problem.rows.entry_ptr[choice])])


def taken(problem: Problem, choice: np.ndarray, name: str) -> np.ndarray:
    array = getattr(problem.rows, name)
    return np.concatenate([array[problem.rows.entry_ptr[r] : problem.rows.entry_ptr[r + 1]] for r in choice])


@pytest.mark.parametrize("extrapolate", [0.0, 0.999])
def test_following_a_chain_comes_to_its_value_and_extrapolation_gets_there_sooner(extrapolate: float) -> None:
    # A ring with one exit: errors shrink by one factor.
    n, leave = 40, 0.3
    problem = Problem(
        SystemRows(
            np.array([0, n]),
            np.arange(n + 1),
            2 * np.arange(n + 1),
            np.stack([(np.arange(n) - 1) % n, np.full(n, n)], 1).ravel().astype(np.int32),
            np.tile([1 - leave / n, leave / n], n),
            np.tile([1 - leave / n, leave / n], n),
            np.zeros(n),
            np.arange(n) / n,
            np.zeros(0, np.int32),
        ),
        np.arange(n, dtype=np.int32),
        np.zeros(n, np.int32),
        (0.0, 0.0),
    )
    matrix = np.eye(n)
    for s in range(n):
        matrix[s, (s - 1) % n] -= 1 - leave / n
    wanted = np.linalg.solve(matrix, problem.rows.reward)
    x = np.zeros(n + 2)
    errors = []
    for _ in range(8):
        sweeps.follow(
            0, n, 3, chain_of(problem.rows, np.arange(n), problem.rows.lower), x, np.zeros(n + 2), True, extrapolate
        )
        errors.append(abs(x[:n] / wanted - 1).max())
    assert errors == sorted(errors, reverse=True)
    assert (errors[-1] < 1e-12) == (extrapolate > 0)


def test_certify_sees_a_reward_that_vanishes_against_the_value() -> None:
    # x = 1 + x has no solution; at 1e20 the 1 is lost in x but not in the difference.
    problem = Problem(
        SystemRows(
            np.array([0, 1]),
            np.array([0, 1]),
            np.array([0, 1]),
            np.array([0], np.int32),
            np.ones(1),
            np.ones(1),
            np.zeros(1),
            np.ones(1),
            np.zeros(1, np.int32),
        ),
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        (0.0, 0.0),
    )
    assert bad_states(problem, np.array([1e20, 0.0, 0.0]), False, True, True) == 1


# -- backward induction --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("agent_max", "nature_max"), SIDES)
def test_backward_induction_repeats_the_reference_step(agent_max: bool, nature_max: bool) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        arrays = random_graph(rng, states=int(rng.integers(2, 8)), zero_lower=bool(seed % 2))
        shape = Shape(arrays.state_ptr, arrays.choice_ptr, arrays.successor)
        x = rng.choice([0.0, 0.25, 1.0], shape.states)
        frozen = rng.random(shape.states) < 0.3
        reward = rng.choice([0.0, 1.0, 0.3], shape.choices) if seed % 3 == 0 else None
        paid = rng.choice([0.0, 1.0, 0.7], shape.transitions) if seed % 3 == 1 else None
        weight = None
        if seed % 5 == 0:
            raw = rng.integers(0, 3, shape.choices) + np.isin(np.arange(shape.choices), shape.state_ptr[:-1])
            weight = raw / np.add.reduceat(raw, shape.state_ptr[:-1])[shape.choice_state]
        steps = int(rng.integers(1, 5))
        empty = np.empty(0)
        result = induct(
            shape, arrays.lower, arrays.upper, steps, x, lambda step, same=(frozen, x): same,
            reward=empty if reward is None else reward, paid=empty if paid is None else paid, weights=weight,
            agent_max=agent_max, nature_max=nature_max,
        )  # fmt: skip
        wanted, before = x, x
        for _ in range(steps):
            before = wanted
            wanted, choice = reference.backward(
                shape, arrays.lower, arrays.upper, before, frozen, agent_max=agent_max, nature_max=nature_max,
                reward=reward, paid=paid, weight=weight,
            )  # fmt: skip
        np.testing.assert_allclose(result.x, wanted, rtol=1e-13)
        np.testing.assert_allclose(result.trace, before, rtol=1e-13)
        if weight is None:
            assert result.choice.shape == (steps, shape.states)
            free = ~frozen
            first = result.choice[0]
            picked = np.zeros(shape.choices)
            picked[first] = 1.0
            again, _ = reference.backward(
                shape, arrays.lower, arrays.upper, before, frozen, agent_max=agent_max, nature_max=nature_max,
                reward=reward, paid=paid, weight=picked,
            )  # fmt: skip
            np.testing.assert_allclose(again[free], wanted[free], rtol=1e-11)
            assert (choice >= shape.state_ptr[:-1]).all()


def test_a_row_that_gives_no_number_proves_nothing() -> None:
    # The second row reads an infinite value with probability 0. No comparison objects to what is no number.
    x = np.array([1.0, 0.5, np.inf])
    bounds = np.array([1.0, 0.0])
    rows = SystemRows(
        np.array([0, 1]), np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 2], dtype=np.int32), bounds, bounds, np.zeros(2),
        np.zeros(2), np.empty(0, np.int32),
    )  # fmt: skip
    moved = sweeps.enclose(Section(0, 1, rows, row_space(2), Players(True, True)), x, np.zeros(1, np.int64), True)
    assert moved == 1
