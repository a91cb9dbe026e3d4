"""Proofs for large models: values to as many digits as it takes, moved outwards by a little per step.

Let v be the value and d > 0. A vector u with u >= T u + d proves an upper bound, and rounding cannot hurt it as long as it
stays below d. The value of the game that pays d per step is such a vector (and the one that charges d a lower bound):
v + d w, with w the expected number of steps. Strategies are improved until they are optimal for *that* game, so that
choices that tie pass too. Values are integers over a power of two. Their last digits come from iterative refinement:
residuals exactly, corrections from a sparse solver in floating point.

Where the one who wants the goal reached can stay for ever (end components; for rewards, those that pay nothing), states
share one value. Such a set is one unknown here, with all the choices that leave it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.solver.proof.game import Picks
from umdp.verify.induction import Arena
from umdp.verify.rationals import Number, Vector

__all__ = ["ChainElimination", "Iteration", "NotProved", "Side", "magnitude", "solve_scaled"]

Array = NDArray[Any]

RANGE = 10**15


class ChainElimination:
    """The system ``(exit[i] + sum of row i) x[i] = sum of row[i][j] x[j] + right[i]``, ready to be solved.

    Parameters
    ----------
    rows : the off-diagonal entries of each row, positive integers
    exits : what leaves the system from each row, an integer
    digits : decimal digits carried
    """

    def __init__(self, rows: list[dict[int, int]], exits: list[int], digits: int) -> None:
        self.context = Context(prec=digits, Emax=RANGE, Emin=-RANGE)
        with localcontext(self.context):
            self.steps = self._eliminate([{j: Decimal(p) for j, p in row.items()} for row in rows], exits)

    @staticmethod
    def _eliminate(
        rows: list[dict[int, Decimal]], exits: list[int]
    ) -> list[tuple[int, Decimal, list[tuple[int, Decimal]], list[tuple[int, Decimal]]]]:
        out = [Decimal(e) for e in exits]
        entering: list[set[int]] = [set() for _ in rows]
        for i, row in enumerate(rows):
            for j in row:
                entering[j].add(i)
        left = set(range(len(rows)))
        steps = []
        while left:
            k = min(left, key=lambda i: len(rows[i]) * len(entering[i]))  # fewest new entries
            left.remove(k)
            row = rows[k]
            diagonal = out[k] + sum(row.values(), Decimal(0))
            if not diagonal:
                raise ArithmeticError("the chain can stay for ever among the states to be solved")
            factors = []
            for i in entering[k]:
                other = rows[i]
                factor = other.pop(k) / diagonal
                factors.append((i, factor))
                out[i] += factor * out[k]
                for j, p in row.items():
                    if j != i:
                        other[j] = other.get(j, Decimal(0)) + factor * p
                        entering[j].add(i)
            for j in row:
                entering[j].discard(k)
            steps.append((k, diagonal, factors, list(row.items())))
        return steps

    def solve(self, right: list[int]) -> list[int]:
        """Return the solution, rounded to integers."""
        with localcontext(self.context):
            b = [Decimal(r) for r in right]
            for k, _, factors, _ in self.steps:
                if b[k]:
                    for i, factor in factors:
                        b[i] += factor * b[k]
            x = [Decimal(0)] * len(b)
            for k, diagonal, _, row in reversed(self.steps):
                x[k] = (b[k] + sum((p * x[j] for j, p in row), Decimal(0))) / diagonal
            return [int(v) for v in x]


ROUNDS = 60
DIRECT = 1500  # unknowns up to which systems are factorised at once


class NotProved(Exception):
    """No vector was found that proves the bound."""


class Side:
    """One side of the bracket: the unknowns, the rows that count for it, and the values that are known.

    Parameters
    ----------
    arena : Arena
    all_rows : whether every choice counts, or the policy's alone
    known : (S,) the values that are known exactly, None elsewhere
    group : (S,) states with the same number share a value; -1 for a state of its own
    """

    def __init__(self, arena: Arena, *, all_rows: bool, known: list[Number | None], group: Array | None) -> None:
        self.arena, self.known = arena, known
        together: dict[int, list[int]] = {}
        for s, value in enumerate(known):
            if value is None:
                together.setdefault(-1 - s if group is None or group[s] < 0 else int(group[s]), []).append(s)
        self.members = list(together.values())
        self.of = [-1] * arena.model.states
        for i, members in enumerate(self.members):
            for s in members:
                self.of[s] = i
        self.rows: list[list[int]] = []
        for i, members in enumerate(self.members):
            rows = [c for s in members for c in arena.rows(s, all_rows, "proof")]
            self.rows.append([c for c in rows if any(self.of[t] != i for t in arena.model.rows[c].target)])
            if not self.rows[-1]:
                raise NotProved("a state cannot be left")

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.members)


class Iteration:
    """Policy iteration for one side, in integers over ``2 ** bits``.

    With `digits` above 0, chains are solved by elimination in that many decimal digits instead of floating point.
    """

    def __init__(self, side: Side, guess: list[float], bits: int, digits: int) -> None:
        self.side, self.digits = side, digits
        self.arena = side.arena
        one = 1 << bits
        self.unit = one * side.arena.unit
        tops: list[int | None] = []
        for s, known in enumerate(side.known):
            value = known if known is not None else Fraction(guess[s])
            tops.append(None if not isinstance(value, Fraction) else round(value * self.unit))
        for members in side.members:
            for s in members:
                tops[s] = tops[members[0]]
        self.x = Vector(tops, self.unit)
        self.pick: Picks = {}
        self.extra = 0
        self.direct = False

    def worth(self, unknown: int, choice: int) -> tuple[int, int, list[int]] | None:
        """Return (numerator, denominator, distribution) of a choice's value, once it leaves the unknown's states."""
        found = self.arena.backup(choice, self.x)
        if found is None:
            return None
        given = found[3]
        row = self.arena.model.rows[choice]
        top, below = self.fixed_worth(unknown, choice, given)
        if below == 0:  # nature would rather stay: the least it has to let go
            order = sorted(range(len(given)), key=lambda k: self.side.of[row.target[k]] == unknown)
            given = row.fill(order)
            top, below = self.fixed_worth(unknown, choice, given)
        return (top, below, given) if below else None

    def improve(self, tolerance: int, *, agent: bool) -> bool:
        """Switch to better answers of nature, and to better choices of the agent; return whether there were any."""
        agent_max, nature_max = self.arena.asked.agent_max, self.arena.asked.nature_max
        changed = False
        for i, rows in enumerate(self.side.rows):
            old = self.pick.get(i)
            held = None if old is None else (*self.fixed_worth(i, *old), old[1])
            best: tuple[int, int, list[int]] | None = None
            taken, before = -1, -1 if old is None else old[0]
            for c in self._start(i) if old is None else rows if agent else (before,):
                found = self.worth(i, c)
                if held and c == before and (found is None or not _better(found, held, nature_max, tolerance)):
                    found = held
                if found is not None and (best is None or _better(found, best, agent_max, 0)):
                    best, taken = found, c
            if best is None:
                raise NotProved("a state cannot be left")
            if held is None or taken == before or _better(best, held, agent_max, tolerance):
                self.pick[i] = (taken, best[2])
                changed = changed or taken != before or held is None or best[2] is not held[2]
        return changed

    def _start(self, unknown: int) -> list[int]:
        """Return the rows to start from: the policy's, unless states share a value."""
        members, policy = self.side.members[unknown], self.arena.policy
        own = [] if policy is None or len(members) > 1 else [policy[members[0]]]
        return own if own and own[0] in self.side.rows[unknown] else self.side.rows[unknown]

    def fixed_worth(self, unknown: int, choice: int, given: list[int]) -> tuple[int, int]:
        """Return the value of a choice under a given distribution, as a fraction over the unit."""
        total, leaving = 0, 0
        target, earned = self.arena.model.rows[choice].target, self.arena.earned(choice, self.x.below)
        for p, t, each in zip(given, target, earned, strict=True):
            if not p:
                continue
            total += p * each
            if self.side.of[t] != unknown:
                top = self.x.top[t]
                if top is None:
                    raise NotProved("a value is infinite")
                total += p * top
                leaving += p
        return total, leaving

    def chain(self) -> tuple[list[dict[int, int]], list[int], list[int]]:
        """Return the chain of the current picks: entries between unknowns, what leaves to known values, row sums."""
        rows, exits, sums = [], [], []
        for i, (choice, given) in self.pick.items():
            row: dict[int, int] = {}
            out = 0
            for p, t in zip(given, self.arena.model.rows[choice].target, strict=True):
                j = self.side.of[t]
                if p and j < 0:
                    out += p
                elif p and j != i:
                    row[j] = row.get(j, 0) + p
            rows.append(row)
            exits.append(out)
            sums.append(out + sum(row.values()))
        return rows, exits, sums

    def factorise(self) -> Callable[[list[int]], list[int]]:
        """Return a function that solves the chain of the current picks, approximately, for integer right-hand sides."""
        rows, exits, sums = self.chain()
        if self.digits:
            system = ChainElimination(rows, exits, self.digits)
            return lambda right: system.solve([r * whole for r, whole in zip(right, sums, strict=True)])
        import scipy.sparse as sp
        from scipy.sparse.linalg import LinearOperator, bicgstab, spilu, splu

        size = self.side.size
        of = [i for i, row in enumerate(rows) for _ in row]
        to = [j for row in rows for j in row]
        entries = [-(p / sums[i]) for i, row in enumerate(rows) for p in row.values()]
        matrix = sp.csr_matrix((entries, (of, to)), shape=(size, size)) + sp.identity(size, format="csr")
        if size > DIRECT and not self.direct:
            try:
                around = LinearOperator((size, size), spilu(matrix.tocsc(), drop_tol=1e-3, fill_factor=8).solve)
                return partial(solve_scaled, lambda right: bicgstab(matrix, right, M=around, rtol=1e-8, maxiter=300)[0])
            except RuntimeError:
                self.direct = True
        try:
            return partial(solve_scaled, splu(matrix.tocsc()).solve)
        except (RuntimeError, MemoryError):
            raise NotProved("a chain cannot be solved") from None

    def residual(self) -> list[int]:
        """Return by how much each unknown misses its value, over the unit."""
        found = []
        for i, pick in self.pick.items():
            top, below = self.fixed_worth(i, *pick)
            found.append(top // below + self.extra - self.x.finite(self.side.members[i][0]))
        return found

    def evaluate(self, tolerance: int) -> None:
        """Bring the values of the current picks to within `tolerance` of their equations, or raise `NotProved`."""
        solve = self.factorise()
        last = None
        while True:
            missing = self.residual()
            worst = max(map(abs, missing), default=0)
            if worst <= tolerance:
                return
            if last is not None and worst * 2 > last:
                if self.direct or self.digits or self.side.size <= DIRECT:
                    raise NotProved("values do not settle")
                self.direct, last = True, None
                solve = self.factorise()
                continue
            last = worst
            for members, part in zip(self.side.members, solve(missing), strict=True):
                for s in members:
                    self.x.top[s] = self.x.finite(s) + part

    def steps(self) -> list[int]:
        """Return the expected number of steps of the current chain from every unknown, rounded up."""
        found = [(w >> 64) + 1 for w in self.factorise()([1 << 64] * self.side.size)]
        if min(found) < 1:
            raise NotProved("a chain cannot be solved")
        return found

    def run(self, extra: int, tolerance: int, exactness: int) -> None:
        """Find the value of the game that pays `extra` per step; strategies may fall short by `tolerance` per step.

        Nature answers the agent's choices until it has nothing better, then the agent improves them.
        """
        self.extra = extra
        together = self.arena.asked.agent_max == self.arena.asked.nature_max
        for turn in range(ROUNDS):
            if not self.improve(tolerance, agent=True) and turn > 0:
                return
            self.evaluate(exactness)
            for _ in range(0 if together else ROUNDS):
                if not self.improve(tolerance, agent=False):
                    break
                self.evaluate(exactness)
        raise NotProved("strategies do not settle")


def solve_scaled(near: Callable[[Array], Array], right: list[int]) -> list[int]:
    """Return a solution for integers of any size, by one that is near to it in floating point for numbers up to 1."""
    worst = max(map(abs, right))
    found = near(np.array([float((r << 60) // worst) * 2.0**-60 for r in right]))
    if not (np.abs(found) < 1e200).all():
        raise NotProved("a chain cannot be solved")
    return [int(part * 2.0**60) * worst >> 60 for part in found.tolist()]


def magnitude(value: Fraction) -> int:
    """Return about the binary logarithm of a number."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def _better(found: tuple[int, int, Any], held: tuple[int, int, Any], largest: bool, margin: int) -> bool:
    """Whether a fraction exceeds another (falls below it) by more than `margin`."""
    gain = found[0] * held[1] - held[0] * found[1]
    return (gain if largest else -gain) > margin * found[1] * held[1]
