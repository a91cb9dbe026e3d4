"""Exact policy iteration in rationals, for small components in which rounding leaves a bracket too wide.

Slow values. It starts from the strategies floating-point arithmetic found, which are almost always optimal already, so that one
elimination and one check of all rows settle the value beyond doubt.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from umdp.solve.problem import Problem

__all__ = ["solve_exactly"]

Array = NDArray[Any]
Row = list[tuple[int, Fraction]]  # target and probability


def solve_exactly(
    problem: Problem, begin: int, end: int, x: Array, row: Array, prob: Array, agent_max: bool, nature_max: bool
) -> list[Fraction] | None:
    """Return the exact values of a component's states given the values of its exits; None where no strategy is proper.

    `row` and `prob` are replaced by optimal ones.
    """
    rows = range(int(problem.row_ptr[begin]), int(problem.row_ptr[end]))
    known = {int(t): Fraction(float(x[t])) for t in problem.target[_span(problem, rows)] if not begin <= t < end}
    taken = [int(r) for r in row[begin:end]]
    dist = {r: _inside(problem, r) for r in taken}
    for r in taken:
        started = _near(problem, r, prob)
        dist[r] = started if started is not None else dist[r]
    values = _evaluate(problem, begin, taken, dist, known)
    if values is None:
        dist = {r: _inside(problem, r) for r in taken}
        values = _evaluate(problem, begin, taken, dist, known)
    while values is not None:
        changed = False
        for r in taken:  # nature first
            best = _respond(problem, begin, r, values, known, nature_max)
            old, new = _worth(problem, begin, r, dist[r], values, known), _worth(problem, begin, r, best, values, known)
            if (new > old) if nature_max else (new < old):
                dist[r] = best
                changed = True
        if not changed:
            for s in range(end - begin):
                own = values[s]
                for r in range(int(problem.row_ptr[begin + s]), int(problem.row_ptr[begin + s + 1])):
                    best = _respond(problem, begin, r, values, known, nature_max)
                    worth = _worth(problem, begin, r, best, values, known)
                    if (worth > own) if agent_max else (worth < own):
                        own, taken[s] = worth, r
                        dist[r] = best
                        changed = True
        if not changed:
            break
        values = _evaluate(problem, begin, taken, dist, known)
    if values is None:
        return None
    row[begin:end] = taken
    for r in taken:
        prob[problem.entry_ptr[r] : problem.entry_ptr[r + 1]] = [float(p) for _, p in dist[r]]
    return values


def _span(problem: Problem, rows: range) -> slice:
    return slice(int(problem.entry_ptr[rows.start]), int(problem.entry_ptr[rows.stop]))


def _entries(problem: Problem, r: int) -> list[tuple[int, Fraction, Fraction]]:
    span = range(int(problem.entry_ptr[r]), int(problem.entry_ptr[r + 1]))
    return [
        (int(problem.target[t]), Fraction(float(problem.lower[t])), Fraction(float(problem.upper[t]))) for t in span
    ]


def _fixed(entries: list[tuple[int, Fraction, Fraction]]) -> Row | None:
    """Return the distribution of a row without freedom: its bounds, normalised."""
    for side in (1, 2):
        total = sum((e[side] for e in entries), Fraction(0))
        if (total >= 1) if side == 1 else (total <= 1):
            return [(e[0], Fraction(e[side]) / total) for e in entries]
    return None


def _inside(problem: Problem, r: int) -> Row:
    """Return a distribution that uses every entry the bounds allow."""
    entries = _entries(problem, r)
    fixed = _fixed(entries)
    if fixed is not None:
        return fixed
    rest = 1 - sum((low for _, low, _ in entries), Fraction(0))
    room = sum((high - low for _, low, high in entries), Fraction(0))
    return [(t, low + rest * (high - low) / room) for t, low, high in entries]


def _near(problem: Problem, r: int, prob: Array) -> Row | None:
    """Return the vertex next to the probabilities `prob` of a row: the same entries at the same bounds."""
    entries = _entries(problem, r)
    fixed = _fixed(entries)
    if fixed is not None:
        return fixed
    begin = int(problem.entry_ptr[r])
    shares: list[tuple[int, Fraction | None, Fraction, Fraction]] = []
    for i, (t, low, high) in enumerate(entries):
        p = float(prob[begin + i])
        at = low if p <= float(low) else high if p >= float(high) else None
        shares.append((t, at, low, high))
    open_entries = [i for i, share in enumerate(shares) if share[1] is None]
    rest = Fraction(1) - sum((at for _, at, _, _ in shares if at is not None), Fraction(0))
    if len(open_entries) != 1 or not shares[open_entries[0]][2] <= rest <= shares[open_entries[0]][3]:
        return None
    return [(t, rest if at is None else at) for t, at, _, _ in shares]


def _value(target: int, begin: int, values: list[Fraction], known: dict[int, Fraction]) -> Fraction:
    return known[target] if target in known else values[target - begin]


def _respond(
    problem: Problem, begin: int, r: int, values: list[Fraction], known: dict[int, Fraction], nature_max: bool
) -> Row:
    entries = _entries(problem, r)
    fixed = _fixed(entries)
    if fixed is not None:
        return fixed
    share = [low for _, low, _ in entries]
    rest = 1 - sum(share, Fraction(0))
    keys = [_value(t, begin, values, known) for t, _, _ in entries]
    for i in sorted(range(len(entries)), key=lambda i: keys[i], reverse=nature_max):
        take = min(rest, entries[i][2] - entries[i][1])
        share[i] += take
        rest -= take
    return [(e[0], p) for e, p in zip(entries, share, strict=True)]


def _worth(
    problem: Problem, begin: int, r: int, dist: Row, values: list[Fraction], known: dict[int, Fraction]
) -> Fraction:
    total = Fraction(float(problem.reward[r]))
    for t, p in dist:
        total += p * _value(t, begin, values, known)
    return total


def _evaluate(
    problem: Problem, begin: int, taken: list[int], dist: dict[int, Row], known: dict[int, Fraction]
) -> list[Fraction] | None:
    """Solve the Markov chain of the given strategies; None where it cannot leave the component."""
    n = len(taken)
    matrix: list[list[Fraction]] = [[Fraction(0)] * (n + 1) for _ in range(n)]
    for s, r in enumerate(taken):
        matrix[s][s] += 1
        matrix[s][n] += Fraction(float(problem.reward[r]))
        for t, p in dist[r]:
            if t in known:
                matrix[s][n] += p * known[t]
            else:
                matrix[s][t - begin] -= p
    for k in range(n):
        pivot = next((i for i in range(k, n) if matrix[i][k] != 0), None)
        if pivot is None:
            return None
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        lead = matrix[k][k]
        matrix[k] = [entry / lead for entry in matrix[k]]
        for i in range(n):
            if i != k and matrix[i][k] != 0:
                f = matrix[i][k]
                matrix[i] = [a - f * b for a, b in zip(matrix[i], matrix[k], strict=True)]
    return [matrix[s][n] for s in range(n)]
