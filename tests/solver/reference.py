"""The kernels once more in plain NumPy, a row at a time: what the tests compare the compiled ones with.

Nothing here is fast. The row functions also work on object arrays of `fractions.Fraction`, exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from umdp.solver.graph.decided import Shape
    from umdp.solver.reduction.problem import Problem

__all__ = ["backward", "dual_optimum", "dual_value", "fill", "row_value", "sweep"]

Array = NDArray[Any]


def fill(lower: Array, upper: Array, order: Array) -> Array:
    """Return the distribution that hands out, in the order given, what the lower bounds leave of 1; shape (size,)."""
    given = lower.copy()
    rest = max(1 - lower.sum(), 0)
    for k in order:
        share = min(upper[k] - lower[k], rest)
        given[k] += share
        rest -= share
    return given


def row_value(lower: Array, upper: Array, x: Array, nature_max: bool) -> Any:
    """Return nature's best expectation of `x` over one row; all arrays have shape (size,)."""
    order = np.argsort(-x if nature_max else x, kind="stable")
    return (fill(lower, upper, order) * x).sum()


def dual_value(lower: Array, upper: Array, x: Array, t: Any, nature_max: bool) -> Any:
    """Return the dual bound at `t`: for any `t` at most the smallest (at least the largest) expectation of `x`.

    Every probability starts at one of its bounds, and what that misses of 1 is charged at the price `t`.
    """
    above, below = np.maximum(x - t, 0), np.maximum(t - x, 0)
    if nature_max:
        return t + (upper * above - lower * below).sum()
    return t + (lower * above - upper * below).sum()


def dual_optimum(lower: Array, upper: Array, x: Array, nature_max: bool) -> Any:
    """Return the best dual bound; it is piecewise linear in `t`, so one of the values in `x` attains it."""
    bounds = [dual_value(lower, upper, x, t, nature_max) for t in x]
    return min(bounds) if nature_max else max(bounds)


def sweep(
    problem: Problem, x: Array, choice: Array, agent_max: bool, nature_max: bool, *, gauss_seidel: bool = True
) -> tuple[Array, Array]:
    """Return the values and the rows taken after one Bellman sweep over all unknowns.

    Parameters
    ----------
    problem : Problem
    x : (n+2,) values of the unknowns and the two exits
    choice : (n,) the rows taken so far, kept where no row is better than none
    agent_max, nature_max : bool
        Which way the players pull.
    gauss_seidel : bool
        Whether later unknowns already see the new values of earlier ones.
    """
    new, taken = x.copy(), choice.copy()
    for s in range(problem.n):
        seen = new if gauss_seidel else x
        best = -np.inf if agent_max else np.inf
        for row in range(problem.rows.row_ptr[s], problem.rows.row_ptr[s + 1]):
            entries = slice(problem.rows.entry_ptr[row], problem.rows.entry_ptr[row + 1])
            value = problem.rows.reward[row] + row_value(
                problem.rows.lower[entries], problem.rows.upper[entries], seen[problem.rows.target[entries]], nature_max
            )
            if value > best if agent_max else value < best:
                best, taken[s] = value, row
        new[s] = best
    return new, taken


def backward(
    shape: Shape,
    lower: Array,
    upper: Array,
    x: Array,
    frozen: Array,
    *,
    agent_max: bool,
    nature_max: bool,
    reward: Array | None = None,
    paid: Array | None = None,
    weight: Array | None = None,
) -> tuple[Array, Array]:
    """Return the values with one step more to go, and the first best choice of every state, each of shape (S,).

    Parameters
    ----------
    shape : Shape
    lower, upper : (T,) bounds
    x : (S,) values with one step less to go
    frozen : (S,) the states that keep their value
    agent_max, nature_max : bool
        Which way the players pull.
    reward, paid : (C,) and (T,), optional
        What choices and transitions earn.
    weight : (C,), optional
        A randomised policy to evaluate instead of the best choice.
    """
    worth = np.empty(shape.choices)
    for c in range(shape.choices):
        entries = slice(shape.choice_ptr[c], shape.choice_ptr[c + 1])
        key = x[shape.successor[entries]] + (0.0 if paid is None else paid[entries])
        worth[c] = row_value(lower[entries], upper[entries], key, nature_max)
    if reward is not None:
        worth += reward
    value, choice = x.copy(), np.array(shape.state_ptr[:-1])
    for s in np.flatnonzero(~frozen):
        own = slice(shape.state_ptr[s], shape.state_ptr[s + 1])
        choice[s] += np.argmax(worth[own] if agent_max else -worth[own])
        value[s] = worth[choice[s]] if weight is None else (weight[own] * worth[own]).sum()
    return value, choice
