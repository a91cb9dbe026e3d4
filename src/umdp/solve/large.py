"""Large components: a few sweeps, then Newton's method on the strategies, and bounds that prove themselves.

Sweeps and linear solvers only propose. What is returned has passed `certify`: an upper vector that one step does not
raise and a lower vector that one step does not lower, rounding included.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solve import bellman
from umdp.solve.linear import Chain

if TYPE_CHECKING:
    from umdp.solve.problem import Problem
    from umdp.solve.unbounded import Effort, Task

__all__ = ["Desk", "solve_large"]

Array = NDArray[Any]
WARM_UP = 32  # sweeps before the first linear system
ROUNDS = 200  # linear systems before giving up
RELAXATIONS = 250  # sweeps that may be spent on making one bound inductive
SHARE = 20_000  # states a thread should have to be worth its while


@dataclass(frozen=True, eq=False)
class Desk:
    """Work space over all unknowns, of which each component touches its own part and the values it reads.

    Many components of a large problem must not cost its size each.
    """

    tail: Array  # what the values miss; zero outside the component at hand
    bound: Array
    rest: Array
    tight: Array
    even: Array
    proof: Array

    @classmethod
    def of_size(cls, n: int) -> Desk:
        """Return work space for `n` unknowns."""
        tail, bound, rest, tight, even = (np.zeros(n + 2) for _ in range(5))
        return cls(tail, bound, rest, tight, even, np.zeros(n, dtype=np.int64))


@dataclass(eq=False)
class _Component:
    """The kernels, bound to one component of one problem and spread over threads."""

    problem: Problem
    begin: int
    end: int
    agent_max: bool
    nature_max: bool
    effort: Effort
    desk: Desk
    inner: slice = field(init=False)
    key: Array = field(init=False)

    def __post_init__(self) -> None:
        self.inner = slice(self.begin, self.end)
        self.key = np.empty(self.problem.widest)

    def _run(self, kernel: Callable[..., Any], *rest: Any) -> list[Any]:
        p = self.problem
        arrays = (p.row_ptr, p.entry_ptr, p.target, p.lower, p.upper, p.slack, p.reward, p.order)
        parts = min(self.effort.threads, (self.end - self.begin) // SHARE)
        if parts <= 1:
            return [kernel(self.begin, self.end, *arrays, self.key, *rest)]
        cuts = np.linspace(self.begin, self.end, parts + 1).astype(np.int64)
        with ThreadPoolExecutor(parts) as pool:
            jobs = [
                pool.submit(kernel, int(a), int(b), *arrays, np.empty_like(self.key), *rest) for a, b in pairwise(cuts)
            ]
            return [job.result() for job in jobs]

    def sweep(self, x: Array, row: Array) -> float:
        self.effort.iterations += 1
        return float(max(self._run(bellman.sweep, x, row, self.agent_max, self.nature_max)))

    def passes(self, x: Array, tail: Array, row: Array, *, from_above: bool) -> bool:
        """Whether ``x + tail`` is inductive; where one row is enough, `row` receives the rows that prove it."""
        players = (self.agent_max, self.nature_max)
        return int(sum(self._run(bellman.certify, x, tail, row, *players, from_above, False))) == 0

    def answer(self, x: Array, tail: Array, row: Array, prob: Array) -> None:
        """Write nature's best response on the rows taken."""
        self._run(bellman.chain_of, x, tail, row, self.nature_max, prob)

    def improve(self, x: Array, tail: Array, row: Array) -> int:
        """Switch rows where that is better beyond rounding; return how many."""
        return int(sum(self._run(bellman.improve, x, tail, row, self.agent_max, self.nature_max)))

    def relax(self, x: Array, tail: Array, load: Array, boost: float, *, from_above: bool) -> int:
        """Move ``x + tail`` outwards where it is not inductive; return how often."""
        players = (self.agent_max, self.nature_max)
        return int(sum(self._run(bellman.relax, x, tail, *players, from_above, load, boost)))

    def loads(self, x: Array, tail: Array) -> Array:
        """Return, per state, a slack that covers the residual of ``x + tail`` and rounding."""
        self._run(bellman.loads, x, tail, self.agent_max, self.nature_max, self.desk.tight)
        return self.desk.tight

    def head_out(self, x: Array, tail: Array, row: Array, prob: Array) -> None:
        """Take rows that make for small numbers, and bring `x` near their value, nature answering as it goes."""
        p = self.problem
        most = float(p.reward[p.row_ptr[self.begin] : p.row_ptr[self.end]].max(initial=0.0))
        guess = self.desk.bound
        guess[self.inner] = (1.0 + most) * np.arange(1, self.end - self.begin + 1)
        self.improve(guess, tail, row)
        for _ in range(8):
            self.answer(x, tail, row, prob)
            if bellman.chain_sweep(self.begin, self.end, 8, p.entry_ptr, p.target, prob, p.reward, x, row) < 1e-2:
                break


@dataclass(eq=False)
class _Bounds:
    """The best bounds proved so far, and how far they lie from the values they were proved around."""

    low: Array
    high: Array
    below: float = np.inf
    above: float = np.inf

    @property
    def width(self) -> float:
        return self.below + self.above


def solve_large(
    problem: Problem,
    begin: int,
    end: int,
    task: Task,
    effort: Effort,
    x: Array,
    rel: Array,
    row: Array,
    prob: Array,
    share: float,
    desk: Desk,
    *,
    proper: bool,
) -> None:
    """Solve one component in place: values `x`, relative errors `rel`, rows, nature's `prob`.

    With `proper`, the rows given are those of a policy that leaves the component, and a place to start from.
    """
    part = _Component(problem, begin, end, task.agent_max, task.nature_max, effort, desk)
    probability = problem.exits != (0.0, 0.0)
    outside = problem.target[problem.entry_ptr[problem.row_ptr[begin]] : problem.entry_ptr[problem.row_ptr[end]]]
    outside = outside[(outside < begin) | (outside >= end)]
    inherited = float(rel[outside].max(initial=0.0))
    tail = desk.tail
    desk.bound[outside] = x[outside]
    safe = row[begin:end].copy() if proper else None
    if task.kind == "R" and not task.agent_max:
        # From below, staying looks cheap for long. Head for the exits first: unknowns are numbered by distance.
        part.head_out(x, tail, row, prob)
    for _ in range(WARM_UP):
        if part.sweep(x, row) < 1e-4:
            break
    bounds = _Bounds(np.zeros(end - begin), np.full(end - begin, 1.0 if probability else np.inf))
    _newton(part, x, tail, row, prob, effort.precision * share, safe, bounds)
    low = np.maximum(bounds.low, 0.0)
    high = np.minimum(bounds.high, 1.0) if probability else bounds.high
    known = np.isfinite(high)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(high > low, (high - low) / (high + low), 0.0)
    x[begin:end] = np.where(known, 0.5 * (low + high), 1.0)
    rel[begin:end] = np.where(known, half, np.inf) + inherited + 4 * bellman.EPS
    part.answer(x, tail, row, prob)
    tail[begin:end] = 0.0
    desk.rest[begin:end] = 0.0


def _newton(
    part: _Component,
    x: Array,
    tail: Array,
    row: Array,
    prob: Array,
    wanted: float,
    safe: Array | None,
    bounds: _Bounds,
) -> None:
    """Alternate between solving the chain of the strategies at hand and improving them, until bounds can be proved.

    Values are kept to twice the working precision: where one can linger almost for ever, they differ by less than
    their own rounding. Systems are solved for what is still missing, first roughly, then to the last digit.
    """
    inner = part.inner
    tolerance, direct, sweeps, idle = 1e-2, False, 1, 0
    for turn in range(ROUNDS):
        part.answer(x, tail, row, prob)
        chain = Chain(part.problem, part.begin, part.end, row, prob, direct)
        step = chain.solve(chain.residual(x, tail), tolerance, _scale(x[inner]))
        direct = chain.direct
        part.effort.iterations += 1
        if step is None or not bool((x[inner] + step >= 0.0).all()):
            # The strategies at hand cannot leave (yet): start over from some that can, or sweep on.
            tail[inner] = 0.0
            if safe is not None:
                x[inner], row[inner], safe = 0.0, safe, None
                continue
            change = max(part.sweep(x, row) for _ in range(sweeps))
            if change == 0.0 or sweeps > 10_000:
                return
            sweeps *= 2
            continue
        _add(x, tail, inner, step)
        moved = _relative(step, x[inner])
        if turn > 12 and moved > 1e-9 and part.agent_max != part.nature_max:
            tolerance = 1e-10  # moving both players at once may go round in circles: let nature answer in full first
            continue
        if moved > 1e-6 and turn <= 12:  # far from the end: sweeps spread better strategies faster
            before = row[inner].copy()
            for _ in range(2):
                part.sweep(x, row)
            tail[inner] = 0.0
            switched = int(np.count_nonzero(row[inner] != before))
        else:
            switched = part.improve(x, tail, row)
        part.effort.tell("policy iteration", moved)
        if moved < 1e-3 and (switched == 0 or moved < wanted):
            _prove(part, chain, x, tail, row, wanted, bounds)
            if bounds.width <= wanted:
                return
        if part.effort.stopped:
            return
        idle = idle + 1 if switched == 0 and moved < 1e-14 else 0
        if idle > (0 if bounds.width < np.inf else 2):
            return
        tolerance = 1e-8 if switched == 0 or moved < 1e-5 else 1e-3


def _scale(values: Array) -> Array:
    """Return positive units for values: their own size, the smallest positive one where they are 0."""
    least = float(values.min(where=values > 0.0, initial=np.inf))
    return np.where(values > 0.0, values, least if least < np.inf else 1.0)


def _relative(step: Array, values: Array) -> float:
    """Return the largest relative size of a step."""
    return float((np.abs(step) / np.maximum(np.abs(values), 1e-300)).max(initial=0.0))


def _add(x: Array, tail: Array, inner: slice, step: Array) -> None:
    """Add `step` to ``x + tail`` and keep the sum in two parts."""
    step = step + tail[inner]
    total = x[inner] + step
    tail[inner] = step - (total - x[inner])
    x[inner] = total


def _prove(part: _Component, chain: Chain, x: Array, tail: Array, row: Array, wanted: float, bounds: _Bounds) -> None:
    """Add to the values what a small load accumulates to under the strategies at hand, and see whether that is proof."""
    inner = part.inner
    values = x[inner]
    tight = part.loads(x, tail)
    # An even load is easier on iterative solvers; a tight one leaves alone the states where one can linger.
    even = part.desk.even
    even[inner] = np.maximum(tight[inner], _relative(tight[inner], values) * values)
    for load in (tight, even) if chain.direct else (even, tight):
        shift = chain.solve(load[inner], 1e-3, _scale(values))
        if shift is None or _relative(shift, values) > wanted / 4:
            continue
        shift = np.maximum(shift, 0.0)
        low, low_row = _inductive(part, x, tail, row, load, shift, wanted, from_above=False)
        high, high_row = _inductive(part, x, tail, row, load, shift, wanted, from_above=True)
        if low is not None and (below := _relative(low - values, values)) < bounds.below:
            bounds.low, bounds.below = np.nextafter(low, -np.inf), below
            if part.agent_max:
                row[inner] = low_row
        if high is not None and (above := _relative(high - values, values)) < bounds.above:
            bounds.high, bounds.above = np.nextafter(high, np.inf), above
            if not part.agent_max:
                row[inner] = high_row
        if bounds.width <= wanted:
            return


def _inductive(
    part: _Component, x: Array, tail: Array, row: Array, load: Array, shift: Array, wanted: float, *, from_above: bool
) -> tuple[Array | None, Array]:
    """Return an inductive vector on one side of ``x + tail`` (None if it does not become one), and the rows to prove it."""
    bound, rest, proof, inner = part.desk.bound, part.desk.rest, part.desk.proof, part.inner
    bound[inner], rest[inner], proof[inner] = x[inner], tail[inner], row[inner]
    # Scaling the values gives every row slack in proportion to what it collects, whichever strategy it belongs to.
    away = 2.0 * shift + 0.125 * wanted * x[inner]
    _add(bound, rest, inner, away if from_above else -away)
    before = np.inf
    for attempt in range(RELAXATIONS):
        # The longer one can linger, the more the load adds up to; growth must stay slow, or it feeds on itself.
        moved = part.relax(bound, rest, load, 0.25 * 1.01**attempt, from_above=from_above)
        if moved == 0:
            break
        if attempt % 16 == 15:
            if moved > 0.8 * before:
                return None, proof[inner]
            before = moved
    passed = part.passes(bound, rest, proof, from_above=from_above)
    return (bound[inner].copy() if passed else None), proof[inner].copy()
