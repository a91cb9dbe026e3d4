"""The value of a Markov chain in rationals: elimination without fractions, component by component."""

from __future__ import annotations

import math
from fractions import Fraction

from umdp.verify.inductive import Arena
from umdp.verify.numbers import Number

__all__ = ["solve_exactly"]


def solve_exactly(arena: Arena, picks: dict[int, tuple[int, list[int]]], value: list[Number]) -> None:
    """Write the value of every picked state into `value`; the others are known, and no picks can stay for ever."""
    for component in _components(arena, picks):
        _solve(arena, {s: picks[s] for s in component}, value)


def _solve(arena: Arena, picks: dict[int, tuple[int, list[int]]], value: list[Number]) -> None:
    states = list(picks)
    column = {s: i for i, s in enumerate(states)}
    size, model = len(states), arena.model
    rewards = arena.objective.kind == "R"
    rows = []
    for i, s in enumerate(states):
        choice, given = picks[s]
        row = model.rows[choice]
        line = [0] * size
        line[i] = row.whole
        known = model.reward[choice] * row.whole if rewards else Fraction(0)
        for k, (p, t) in enumerate(zip(given, row.target, strict=True)):
            if not p:
                continue
            if rewards and model.paid is not None:
                known += p * model.paid[model.choice_ptr[choice] + k]
            if t in column:
                line[column[t]] -= p
            else:
                there = value[t]
                if not isinstance(there, Fraction):
                    raise ArithmeticError("a choice may lead to an infinite value")
                known += p * there
        scale = known.denominator
        rows.append([v * scale for v in line] + [known.numerator])
        divisor = math.gcd(*rows[-1])
        rows[-1] = [v // divisor for v in rows[-1]]
    previous = 1
    for k in range(size):
        pivot_row, pivot = rows[k], rows[k][k]
        if pivot <= 0:
            raise ArithmeticError("the chain can stay for ever among the states to be solved")
        for i, line in enumerate(rows):
            if i == k:
                continue
            factor = line[k]
            if i < k:
                line[i] = pivot
            if factor:
                for j in range(k, size + 1):
                    line[j] = (pivot * line[j] - factor * pivot_row[j]) // previous
            elif pivot != previous:
                for j in range(k, size + 1):
                    if line[j]:
                        line[j] = pivot * line[j] // previous
        previous = pivot
    for i, s in enumerate(states):
        value[s] = Fraction(rows[i][size], previous)


def _components(arena: Arena, picks: dict[int, tuple[int, list[int]]]) -> list[list[int]]:
    """Return the strongly connected components of the chain, successors first (Tarjan, without recursion)."""
    after = {
        s: [t for p, t in zip(given, arena.model.rows[c].target, strict=True) if p and t in picks]
        for s, (c, given) in picks.items()
    }
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    done: set[int] = set()
    for root in picks:
        if root in number:
            continue
        work = [(root, iter(after[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            s, rest = work[-1]
            for t in rest:
                if t not in number:
                    number[t] = low[t] = len(number)
                    stack.append(t)
                    work.append((t, iter(after[t])))
                    break
                if t not in done:
                    low[s] = min(low[s], number[t])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[s])
                if low[s] == number[s]:
                    group: list[int] = []
                    while not group or group[-1] != s:
                        group.append(stack.pop())
                    done.update(group)
                    found.append(group)
    return found
