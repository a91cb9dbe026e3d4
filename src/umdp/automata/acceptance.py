"""Acceptance conditions over marks, made into Rabin pairs, whatever they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from umdp.automata.automaton import Automaton, Pair, trimmed
from umdp.errors import SpecError

__all__ = ["Alternative", "Condition", "alternatives", "rabin"]

Condition: TypeAlias = tuple[object, ...]
"""``("Inf", mark)``, ``("Fin", mark)``, ``("&", ...)``, ``("|", ...)``, ``("t",)`` or ``("f",)``."""
MOST_ALTERNATIVES = 1024
MOST_STATES = 200_000


class Alternative(NamedTuple):
    """One way to accept: marks that are seen finitely often only, and marks each of which is seen again and again."""

    avoid: frozenset[int]
    repeat: frozenset[int]


def alternatives(condition: Condition, *, negated: bool = False) -> list[Alternative]:
    """Return the ways to satisfy a condition, or its negation; together they are the same.

    Examples
    --------
    >>> streett = ("|", ("Fin", 0), ("Inf", 1))
    >>> alternatives(streett)
    [Alternative(avoid=frozenset({0}), repeat=frozenset()), Alternative(avoid=frozenset(), repeat=frozenset({1}))]
    >>> alternatives(streett, negated=True)
    [Alternative(avoid=frozenset({1}), repeat=frozenset({0}))]
    """
    nothing: frozenset[int] = frozenset()
    match condition:
        case ("t",) | ("f",):
            return [Alternative(nothing, nothing)] if (condition == ("t",)) != negated else []
        case ("Inf" | "Fin" as kind, int(mark)):
            again = (kind == "Inf") != negated
            return [Alternative(nothing, frozenset([mark])) if again else Alternative(frozenset([mark]), nothing)]
    parts = [alternatives(each, negated=negated) for each in condition[1:] if isinstance(each, tuple)]
    found = [Alternative(nothing, nothing)] if (condition[0] == "&") != negated else []
    for part in parts:
        if (condition[0] == "&") != negated:
            found = [Alternative(a.avoid | b.avoid, a.repeat | b.repeat) for a in found for b in part]
        else:
            found = found + part
        found = _weakest(found)
        if len(found) > MOST_ALTERNATIVES:
            raise SpecError(
                f"the acceptance condition has more than {MOST_ALTERNATIVES} alternatives; use an automaton with fewer sets"
            )
    return found


def _weakest(found: list[Alternative]) -> list[Alternative]:
    """Return the alternatives that ask for no more than another, and can be satisfied at all."""
    kept: list[Alternative] = []
    for each in dict.fromkeys(found):
        if each.avoid & each.repeat or any(k.avoid <= each.avoid and k.repeat <= each.repeat for k in kept):
            continue
        kept = [k for k in kept if not (each.avoid <= k.avoid and each.repeat <= k.repeat)] + [each]
    return kept


def rabin(
    initial: int,
    letters: Sequence[int],
    step: Callable[[int, int], tuple[int, frozenset[int]]],
    ways: Sequence[Alternative],
    name: Callable[[int], str],
) -> Automaton:
    """Return the automaton with Rabin pairs for a deterministic one with marks on its transitions.

    A state remembers the marks of the transition by which it was entered. Where several marks must be seen again and again, it
    also counts them off, one after another.

    Parameters
    ----------
    step : from a state and a letter to the next state and the marks of the transition
    """
    turns = [sorted(way.repeat) if len(way.repeat) > 1 else [] for way in ways]
    known = sorted(set(letters))
    start = (initial, frozenset[int](), (0,) * len(ways))
    states = {start: 0}
    queue = [start]
    table: list[list[int]] = []
    for state, _, counters in queue:
        row: list[int] = []
        for letter in known:
            ahead, marks = step(state, letter)
            moved = tuple(_counted(count, turn, marks) for count, turn in zip(counters, turns, strict=True))
            target = (ahead, marks, moved)
            if target not in states:
                if len(states) >= MOST_STATES:
                    raise SpecError(
                        f"the automaton needs more than {MOST_STATES:,} states with its acceptance condition"
                    )
                states[target] = len(states)
                queue.append(target)
            row.append(states[target])
        table.append(row)
    pairs = []
    for number, (way, turn) in enumerate(zip(ways, turns, strict=True)):
        avoid = [bool(marks & way.avoid) for _, marks, _ in queue]
        if turn:
            repeat = [counters[number] == len(turn) for _, _, counters in queue]
        else:
            repeat = [not way.repeat or bool(marks & way.repeat) for _, marks, _ in queue]
        pairs.append(Pair(np.array(avoid, dtype=np.bool_), np.array(repeat, dtype=np.bool_)))
    names = tuple(name(state) for state, _, _ in queue)
    whole = np.array(table, dtype=np.int32).reshape(len(queue), len(known))
    return trimmed(Automaton(0, np.array(known, dtype=np.int64), whole, ((),) * len(queue), tuple(pairs), names))


def _counted(count: int, turn: Sequence[int], marks: frozenset[int]) -> int:
    if not turn:
        return 0
    count = 0 if count == len(turn) else count
    while count < len(turn) and turn[count] in marks:
        count += 1
    return count
