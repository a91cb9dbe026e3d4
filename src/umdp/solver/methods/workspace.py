"""What solving one problem writes on: values, errors, rows, nature's answer, and work space for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.kernels.policy_iteration import solve_small
from umdp.solver.kernels.rounding import EPS
from umdp.solver.kernels.structs import (
    EliminationOptions,
    EliminationSpace,
    EliminationTask,
    Players,
    Sweeping,
    SweepOptions,
    SweepSpace,
    Unknowns,
    eliminated,
    inherit,
    row_space,
)
from umdp.solver.kernels.value_iteration import iterate_values, keep, longest

if TYPE_CHECKING:
    from umdp.solver.methods.resumption import Past
    from umdp.solver.objective import SolveOptions
    from umdp.solver.reduction.problem import Problem
    from umdp.solver.task import Task

__all__ = ["Bounds", "Workspace"]

Array = NDArray[Any]


@dataclass(eq=False)
class Bounds:
    """The best bounds proved so far, how far they lie from the values they were proved around, and the agent's proof.

    The rows are those of a policy that is at least as good as the bound on the agent's side. With the rests added, bounds are
    inductive; None where they are not known to be.
    """

    low: Array
    high: Array
    rows: Array | None = None
    low_rest: Array | None = None
    high_rest: Array | None = None
    below: float = np.inf
    above: float = np.inf

    @property
    def width(self) -> float:
        """How far the bounds are apart, relatively."""
        return self.below + self.above


class Workspace:
    """The unknowns of a problem, solved component after component.

    Work space is as long as the problem, and each component touches its own part of it and the values it reads: many
    components must not cost the problem's size each.

    Attributes
    ----------
    x, relative_error : (n+2,) values and their relative errors, exits included
    row : (n,) the row every unknown takes
    prob : (entries,) nature's distribution on the rows taken
    safe : (n,) the rows of a policy that arrives, where one was given to start from
    past : what was found for other bounds; its values are those to start from
    counts : (policy evaluations and sweeps, components left loose)
    slow : (components,) those that sweeps did not settle in time
    exact, least : the unknowns of which the value is known without any error; what others are at least
    found, players : the first four, and which way the players pull, for kernels
    ceiling : what no value exceeds
    heads_out : whether to look for rows that lead out before the first sweep
    tail, rest : (n+2,) what the values, or a bound, miss; zero outside the component at hand
    above, below, load : (n+2,) work space
    proof : (n,) rows that prove a bound
    """

    def __init__(
        self, problem: Problem, task: Task, options: SolveOptions, start: Array | None, past: Past | None = None
    ) -> None:
        self.problem, self.task, self.options = problem, task, options
        self.x, self.relative_error = np.zeros(problem.n + 2), np.zeros(problem.n + 2)
        self.x[problem.n :] = problem.exits
        self.safe = start
        self.row = np.array(problem.rows.row_ptr[:-1] if start is None else start)
        # Where nature has no choice, its answer is what is there.
        self.prob = problem.rows.lower if problem.plain else np.array(problem.rows.lower)
        self.past = past
        if past is not None:
            self.x[:], self.relative_error[:] = past.x, past.relative_error
            self.row = np.array(past.row)
            if not problem.plain:
                self.prob = np.array(past.prob)
        self.counts = np.zeros(2, dtype=np.int64)
        self.exact: dict[int, Fraction] = {}
        self.least: dict[int, float] = {}
        self.sizes = np.diff(problem.rows.comp_ptr)
        self.slow = np.zeros(self.sizes.size, np.bool_) if past is None else np.array(past.slow)
        self.found = Unknowns(self.x, self.relative_error, self.row, self.prob)
        self.players = Players(task.agent_max, task.nature_max)
        self.ceiling = 1.0 if problem.exits != (0.0, 0.0) else np.inf
        self.heads_out = task.kind == "R" and not task.agent_max
        # Zeros that nobody touches take no memory.
        self.tail, self.rest, self.above, self.below, self.load = (np.zeros(problem.n + 2) for _ in range(5))
        self.proof = np.zeros(problem.n, dtype=np.int64)

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """Bounds from below and above by elimination, and the same in two parts where these are known, (3, n+2) each."""
        if self.past is not None and self.past.parts is not None:
            return np.array(self.past.parts[0]), np.array(self.past.parts[1])
        return np.full((3, self.problem.n + 2), np.nan), np.full((3, self.problem.n + 2), np.nan)

    @property
    def known_parts(self) -> tuple[Array, Array] | None:
        """The same, or None where there are none at all."""
        return self.parts if "parts" in self.__dict__ or (self.past and self.past.parts) else None

    def forget_parts(self, first: int, last: int) -> None:
        """Take back bounds in two parts of some components, which are solved again."""
        if self.known_parts is not None:
            begin, end = self.problem.rows.comp_ptr[first], self.problem.rows.comp_ptr[last]
            for part in self.parts:
                part[:, begin:end] = np.nan

    def show(self, component: int, bounds: Bounds, inherited: float) -> tuple[Array, Array]:
        """Write inductive bounds of a component in two parts, widened by the error of what it leads to; return their sums.

        Bounds are homogeneous: with all exits they may be multiplied by one number. That is added to the smaller part, which
        has digits to spare.
        """
        inner, found = self.unknowns(component), []
        more = inherited + 16.0 * EPS if inherited > 0.0 else 0.0
        assert bounds.low_rest is not None and bounds.high_rest is not None  # noqa: PT018 - they are inductive
        for side, sign, base, rest in ((0, -1.0, bounds.low, bounds.low_rest), (1, 1.0, bounds.high, bounds.high_rest)):
            # Where a bound is 0 there is nothing to widen, however little is known of what it leads to.
            total = base + rest
            with np.errstate(over="ignore"):  # beyond the largest double is infinity
                wider = np.multiply(more, total, out=np.zeros_like(total), where=total > 0.0)
                self.parts[side][1, inner], self.parts[side][2, inner] = base, rest + sign * wider
                found.append(np.where(rest == 0.0, base, np.nextafter(total, sign * np.inf)))
        return found[0], found[1]

    def sweeping(self, *, cold: bool) -> Sweeping:
        """Return what sweeps work on; if `cold`, nothing is known of the values."""
        one, clock = row_space(self.problem.widest), self.options.watch.flag
        how = SweepOptions(self.safe is not None and cold, self.heads_out and cold, self.wanted, self.ceiling)
        space = SweepSpace(one, self.above, self.below, self.tail, self.proof, self.counts, clock)
        return Sweeping(self.problem.rows, self.found, self.players, how, space)

    @cached_property
    def _space(self) -> EliminationSpace:
        """Work space of elimination, but for a matrix."""
        rows, p = self.problem.rows.slack.size, self.problem
        allowed, other_prob = np.ones(rows, dtype=np.bool_), np.empty(p.rows.target.size)
        return EliminationSpace(
            eliminated(0), row_space(p.widest), self.tail, allowed, np.zeros(rows), np.zeros(rows),
            *self.parts, self.proof, other_prob,
        )  # fmt: skip

    def start_over(self, inner: slice) -> None:
        """Forget what is known about some unknowns: they begin as if nothing had been found before."""
        self.x[inner] = 0.0
        self.row[inner] = (self.problem.rows.row_ptr[:-1] if self.safe is None else self.safe)[inner]

    def leave(self, component: int) -> None:
        """Leave the unknowns of a component, and of all after it, anywhere within what is possible: there is no time."""
        begin, end = self.unknowns(component).start, self.problem.n
        low, high = np.zeros(end - begin), np.full(end - begin, self.ceiling)
        keep(begin, end, low, high, self.ceiling, 0.0, self.x, self.relative_error)

    def keep(self, component: int) -> tuple[Array, ...]:
        """Return what is known of a component: values, errors, rows taken and nature's answer, to go `back_to`."""
        inner, entries = self.unknowns(component), self._entries(component)
        return tuple(
            np.array(part) for part in (self.x[inner], self.relative_error[inner], self.row[inner], self.prob[entries])
        )

    def back_to(self, kept: tuple[Array, ...], component: int) -> None:
        """Take back what was kept of a component, if its bounds were narrower than those found since."""
        inner, entries = self.unknowns(component), self._entries(component)
        if not float(kept[1].max()) < float(self.relative_error[inner].max()):
            return
        self.x[inner], self.relative_error[inner], self.row[inner] = kept[:3]
        if not self.problem.plain:
            self.prob[entries] = kept[3]

    def _entries(self, component: int) -> slice:
        p, inner = self.problem.rows, self.unknowns(component)
        return slice(*p.entry_ptr[p.row_ptr[[inner.start, inner.stop]]].tolist())

    def unknowns(self, component: int) -> slice:
        """Return the unknowns of a component."""
        return slice(*self.problem.rows.comp_ptr[component : component + 2].tolist())

    def exits(self, component: int) -> list[int]:
        """Return the unknowns and exits outside a component that its rows lead to."""
        p, inner = self.problem, self.unknowns(component)
        rows = slice(*p.rows.row_ptr[[inner.start, inner.stop]])
        reached = p.rows.target[self._entries(component)]
        if p.given is not None:  # the model's own rows may lead where floating-point numbers saw nothing left to give
            own = [slice(p.given.choice_ptr[c], p.given.choice_ptr[c + 1]) for c in p.origin[rows]]
            reached = np.concatenate([reached, *(p.index[p.given.successor[each]] for each in own)])
        reached = np.unique(reached)
        return [int(t) for t in reached if not inner.start <= t < inner.stop]

    def eliminate(self, first: int, stop: int, most: int, *, warm: bool | None = None) -> int:
        """Solve the components `first` to `stop` by elimination; return the first that is larger than `most` or stays loose."""
        p, options = self.problem, self.options
        size = int(min(self.sizes[first:stop].max(initial=1), most))
        if self._space.made.value.size < size:  # as large as it has been needed so far
            self._space = self._space._replace(made=eliminated(size))
        how = EliminationOptions(
            self.safe is not None or self.past is not None if warm is None else warm,
            self.past is not None and warm is None, p.faint, options.precision / 4 if options.prove else np.inf,
        )  # fmt: skip
        work = EliminationTask(p.rows, self.found, self.players, how, self._space, self.counts, options.watch.flag)
        return int(solve_small(first, stop, most, work))

    def iterate_values(self, first: int, stop: int, most: int) -> int:
        """Solve the components `first` to `stop` by sweeps; return the first that is larger than `most` or does not settle."""
        return int(iterate_values(first, stop, most, self.sweeping(cold=self.past is None)))

    @cached_property
    def wanted(self) -> float:
        """How far the bounds of one component may be apart, for errors on the longest way to add up to the precision."""
        p = self.problem
        # Only where nature has a choice do rows keep their self-loops.
        single = p.plain and np.count_nonzero(self.sizes > 1) <= 1
        chain = 1 if single else longest(p.rows)
        return 0.9 * self.options.precision / max(chain, 1)

    def inherited(self, component: int) -> float:
        """Return the largest relative error of the values a component reads."""
        inner = self.unknowns(component)
        return float(inherit(inner.start, inner.stop, self.problem.rows, self.relative_error)[0])
