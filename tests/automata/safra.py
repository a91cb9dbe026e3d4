"""Deterministic Rabin automata the classical way: a tableau gives a Buchi automaton, Safra's trees make it deterministic.

Plain data in and out; nothing of the package is used, and nothing of its construction: no progression, no guesses.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any

from .lassos import Formula

Set = frozenset[Any]
Tree = tuple[Any, ...]  # (name, states, marked, children)


class TooLargeError(Exception):
    """An automaton that would take too long."""


def normal(f: Formula, negated: bool = False) -> Formula:
    """Return a formula over literals, &, |, X, U and R, all step bounds unrolled."""
    kind = f[0]
    if kind in ("true", "false"):
        return ("true",) if (kind == "true") != negated else ("false",)
    if kind == "p":
        return ("p", f[1], not negated)
    if kind == "!":
        return normal(f[1], not negated)
    if kind == "=>":
        return normal(("|", ("!", f[1]), f[2]), negated)
    if kind == "<=>":
        return normal(("|", ("&", f[1], f[2]), ("&", ("!", f[1]), ("!", f[2]))), negated)
    if kind in ("&", "|"):
        return ({"&": "|", "|": "&"}[kind] if negated else kind, normal(f[1], negated), normal(f[2], negated))
    if kind == "X":
        return ("X", normal(f[1], negated))
    if kind == "F":
        return normal(("U", ("true",), f[1], f[2], f[3]), negated)
    if kind == "G":
        return normal(("F", ("!", f[1]), f[2], f[3]), not negated)
    if kind == "W":
        return normal(("|", ("U", f[1], f[2], 0, None), ("G", f[1], 0, None)), negated)
    if kind == "R":
        return normal(("U", ("!", f[1]), ("!", f[2]), 0, None), not negated)
    _, left, right, lower, upper = f
    if lower > 0:
        rest = ("U", left, right, lower - 1, None if upper is None else upper - 1)
        return normal(("&", left, ("X", rest)), negated)
    if upper is None:
        return ("R" if negated else "U", normal(left, negated), normal(right, negated))
    if upper == 0:
        return normal(right, negated)
    return normal(("|", right, ("&", left, ("X", ("U", left, right, 0, upper - 1)))), negated)


def _expansions(todo: tuple[Formula, ...], letter: int) -> list[tuple[Set, Set]]:
    """Return (what is left for the next step, untils put off) for every way to satisfy formulas now."""
    if not todo:
        return [(frozenset(), frozenset())]
    f, rest = todo[0], todo[1:]
    match f[0]:
        case "true":
            return _expansions(rest, letter)
        case "false":
            return []
        case "p":
            return _expansions(rest, letter) if bool(letter >> f[1] & 1) == f[2] else []
        case "&":
            return _expansions((f[1], f[2], *rest), letter)
        case "|":
            return _expansions((f[1], *rest), letter) + _expansions((f[2], *rest), letter)
        case "X":
            return [(ahead | {f[1]}, late) for ahead, late in _expansions(rest, letter)]
        case "U":
            later = [(ahead | {f}, late | {f}) for ahead, late in _expansions((f[1], *rest), letter)]
            return _expansions((f[2], *rest), letter) + later
    # R
    later = [(ahead | {f}, late) for ahead, late in _expansions((f[2], *rest), letter)]
    return _expansions((f[1], f[2], *rest), letter) + later


def _untils(f: Formula) -> set[Formula]:
    inner = [each for each in f[1:] if isinstance(each, tuple)]
    return set().union(*map(_untils, inner), {f} if f[0] == "U" else set())


class Rabin:
    """A deterministic automaton: `step` from a tree and a letter; accepted where a name stays for good and is marked for ever."""

    def __init__(self, formula: Formula, most: int = 400) -> None:
        root = normal(formula)
        self.untils = sorted(_untils(root), key=repr)
        self.most = most
        self.numbers: dict[tuple[Set, int], int] = {}
        self.states: list[tuple[Set, int]] = []
        self.moves: dict[tuple[int, int], list[int]] = {}
        first = self._number((frozenset([root]), 0))
        self.initial: Tree = (1, frozenset([first]), False, ())

    def _number(self, state: tuple[Set, int]) -> int:
        if state not in self.numbers:
            if len(self.states) > self.most:
                raise TooLargeError
            self.numbers[state] = len(self.states)
            self.states.append(state)
        return self.numbers[state]

    def _accepting(self, number: int) -> bool:
        return self.states[number][1] == len(self.untils)

    def _next(self, number: int, letter: int) -> list[int]:
        if (number, letter) not in self.moves:
            todo, level = self.states[number]
            found = set()
            for ahead, late in _expansions(tuple(sorted(todo, key=repr)), letter):
                k = 0 if level == len(self.untils) else level
                while k < len(self.untils) and self.untils[k] not in late:
                    k += 1
                found.add(self._number((ahead, k)))
            self.moves[number, letter] = sorted(found)
        return self.moves[number, letter]

    def step(self, tree: Tree, letter: int) -> Tree:
        """Return Safra's tree after a letter."""
        used = _names(tree)
        fresh = (name for name in count(1) if name not in used)

        def moved(label: Set) -> Set:
            return frozenset(r for q in label for r in self._next(q, letter))

        def grow(node: Tree) -> Tree:
            name, label, _, children = node
            children = tuple(map(grow, children))
            good = frozenset(q for q in label if self._accepting(q))
            if good:
                children = (*children, (next(fresh), moved(good), False, ()))
            return name, moved(label), False, children

        def tidy(node: Tree, taken: Set) -> Tree | None:
            name, label, _, children = node
            label = label - taken
            if not label:
                return None
            seen: Set = frozenset()
            kept = []
            for child in children:
                own = tidy((child[0], child[1] & label, False, child[3]), seen)
                if own is not None:
                    kept.append(own)
                    seen = seen | own[1]
            if seen == label:
                return name, label, True, ()
            return name, label, False, tuple(kept)

        return tidy(grow(tree), frozenset()) or (0, frozenset(), False, ())


def _names(tree: Tree) -> set[int]:
    return {tree[0]}.union(*map(_names, tree[3]))


def _marks(tree: Tree) -> set[int]:
    own = {tree[0]} if tree[2] else set()
    return own.union(*map(_marks, tree[3]))


Row = list[tuple[int, Fraction, Fraction]]
Choices = list[list[Row]]


def product(
    choices: Choices, letters: list[int], initial: int, rabin: Rabin, most: int = 300
) -> tuple[Choices, list[bool]]:
    """Return the choices of the product of a model and an automaton, and the states of its accepting end components."""
    start = (initial, rabin.step(rabin.initial, letters[initial]))
    index, queue = {start: 0}, [start]
    rows: Choices = []
    for state, tree in queue:
        own = []
        for row in choices[state]:
            made = []
            for target, low, high in row:
                ahead = (target, rabin.step(tree, letters[target]))
                if ahead not in index:
                    if len(queue) >= most:
                        raise TooLargeError
                    index[ahead] = len(queue)
                    queue.append(ahead)
                made.append((index[ahead], low, high))
            own.append(made)
        rows.append(own)
    good: set[int] = set()
    names = set().union(*(_names(tree) for _, tree in queue))
    for name in names - {0}:
        inside = {k for k, (_, tree) in enumerate(queue) if name in _names(tree)}
        marked = {k for k, (_, tree) in enumerate(queue) if name in _marks(tree)}
        for component in end_components(rows, inside):
            if component & marked:
                good |= component
    return rows, [k in good for k in range(len(queue))]


def end_components(rows: Choices, inside: set[int]) -> list[set[int]]:
    """Return the maximal end components within some states, by taking away what cannot stay until nothing changes."""
    todo, found = [inside], []
    while todo:
        part = todo.pop()
        while True:
            stay = {s: [r for r in rows[s] if all(t in part for t, _, _ in r)] for s in part}
            kept = {s for s in part if stay[s]}
            if kept == part:
                break
            part = kept
        if not part:
            continue
        edges = {s: {t for row in stay[s] for t, _, _ in row} for s in part}
        forward = _reach(edges, next(iter(part)))
        backward = _reach({s: {t for t in part if s in edges[t]} for s in part}, next(iter(part)))
        both = forward & backward
        if both == part:
            found.append(part)
        else:
            todo += [both, part - both]
    return found


def _reach(edges: dict[int, set[int]], start: int) -> set[int]:
    seen, stack = {start}, [start]
    while stack:
        for t in edges[stack.pop()] - seen:
            seen.add(t)
            stack.append(t)
    return seen


def accepts(step: Callable[[Tree, int], Tree], initial: Tree, prefix: tuple[int, ...], cycle: tuple[int, ...]) -> bool:
    """Whether the automaton accepts a word that ends in a cycle."""
    tree = initial
    for letter in prefix:
        tree = step(tree, letter)
    seen: dict[Tree, int] = {}
    visited: list[list[Tree]] = []
    while tree not in seen:
        seen[tree] = len(visited)
        visited.append([])
        for letter in cycle:
            tree = step(tree, letter)
            visited[-1].append(tree)
    again = [each for turn in visited[seen[tree] :] for each in turn]
    always = set.intersection(*map(_names, again))
    return bool((always - {0}) & set().union(*map(_marks, again)))
