"""Formulas and what they mean on words that end in a cycle, from the definition of each operator; nothing of the package is used.

A formula is a nested tuple: ``("p", 0)``, ``("true",)``, ``("!", f)``, ``("&", f, g)``, ``("U", f, g, lower, upper)``.
"""

from __future__ import annotations

import random
from itertools import product as tuples
from typing import Any

Formula = tuple[Any, ...]


def holds(formula: Formula, prefix: tuple[int, ...], cycle: tuple[int, ...]) -> bool:
    """Whether a formula holds of a word: a prefix of letters and then a cycle for ever."""
    return _truth(formula, prefix + cycle, len(prefix))[0]


def _truth(f: Formula, word: tuple[int, ...], back: int) -> list[bool]:
    """Return whether a formula holds at each position; the last one is followed by position `back`."""
    size = len(word)
    ahead = [*range(1, size), back]

    def walk(i: int, lower: int, upper: int | None) -> list[int]:
        """Return the positions lower, lower + 1, ... upper steps from i (once around where there is no end)."""
        steps = lower + 2 * size + 1 if upper is None else upper
        found = []
        for k in range(steps + 1):
            if k >= lower:
                found.append(i)
            i = ahead[i]
        return found

    inner = [_truth(each, word, back) for each in f[1:] if isinstance(each, tuple)]
    match f[0]:
        case "true":
            return [True] * size
        case "false":
            return [False] * size
        case "p":
            return [bool(letter >> f[1] & 1) for letter in word]
        case "!":
            return [not a for a in inner[0]]
        case "&":
            return [a and b for a, b in zip(*inner, strict=True)]
        case "|":
            return [a or b for a, b in zip(*inner, strict=True)]
        case "=>":
            return [not a or b for a, b in zip(*inner, strict=True)]
        case "<=>":
            return [a == b for a, b in zip(*inner, strict=True)]
        case "X":
            return [inner[0][ahead[i]] for i in range(size)]
        case "F":
            return [any(inner[0][j] for j in walk(i, f[2], f[3])) for i in range(size)]
        case "G":
            return [all(inner[0][j] for j in walk(i, f[2], f[3])) for i in range(size)]
        case "U":
            return [
                _until(inner[0], inner[1], walk(i, 0, f[4] if f[4] is not None else f[3] + 2 * size + 1), f[3])
                for i in range(size)
            ]
        case "W":
            far = [walk(i, 0, 2 * size + 1) for i in range(size)]
            return [_until(inner[0], inner[1], each, 0) or all(inner[0][j] for j in each) for each in far]
        case "R":
            far = [walk(i, 0, 2 * size + 1) for i in range(size)]
            no = [not a for a in inner[0]], [not b for b in inner[1]]
            return [not _until(no[0], no[1], each, 0) for each in far]
    raise AssertionError(f)


def _until(left: list[bool], right: list[bool], positions: list[int], lower: int) -> bool:
    for k, j in enumerate(positions):
        if k >= lower and right[j]:
            return True
        if not left[j]:
            return False
    return False


def text(f: Formula, atoms: tuple[str, ...] = ('"a"', '"b"', '"c"')) -> str:
    """Return a formula as a property has it, every operand in parentheses."""
    inner = [text(each, atoms) for each in f[1:] if isinstance(each, tuple)]
    match f[0]:
        case "true" | "false":
            return str(f[0])
        case "p":
            return atoms[f[1]]
        case "!" | "X":
            return f"{f[0]} ({inner[0]})"
        case "F" | "G":
            return f"{f[0]}{_bound(*f[2:])} ({inner[0]})"
        case "U":
            return f"({inner[0]}) U{_bound(*f[3:])} ({inner[1]})"
    return f"({inner[0]}) {f[0]} ({inner[1]})"


def _bound(lower: int, upper: int | None) -> str:
    if upper is None:
        return f">={lower}" if lower else ""
    if lower == upper:
        return f"={lower}"
    return f"[{lower},{upper}]" if lower else f"<={upper}"


def drawn(rng: random.Random, size: int, atoms: int) -> Formula:
    """Return a random formula of a number of operators."""
    if size == 0:
        return ("p", rng.randrange(atoms)) if rng.random() < 0.95 else (rng.choice(["true", "false"]),)
    kind = rng.choice(["!", "X", "F", "G", "F", "G", "U", "W", "R", "&", "|", "&", "|", "=>", "<=>"])
    window = rng.choice([(0, None)] * 6 + [(0, 2), (1, 2), (2, None), (2, 2), (0, 1)])
    if kind in "!XFG":
        inner = drawn(rng, size - 1, atoms)
        return (kind, inner, *window) if kind in "FG" else (kind, inner)
    left = rng.randrange(size)
    both = drawn(rng, left, atoms), drawn(rng, size - 1 - left, atoms)
    return (kind, *both, *window) if kind == "U" else (kind, *both)


def words(atoms: int, longest: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return all words whose prefix and cycle together have at most so many letters."""
    letters = range(2**atoms)
    return [
        (tuple(prefix), tuple(cycle))
        for total in range(1, longest + 1)
        for behind in range(1, total + 1)
        for prefix in tuples(letters, repeat=total - behind)
        for cycle in tuples(letters, repeat=behind)
    ]
