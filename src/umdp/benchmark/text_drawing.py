"""Text drawings of policies on the grid and the chain, with values and visit counts of their states."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from umdp.benchmark.cells import WIDTH, Cells, cells, line
from umdp.errors import ModelError
from umdp.model import Graph, Policy

__all__ = ["draw_chain", "draw_grid"]

_ARROWS = {"north": "↑", "east": "→", "south": "↓", "west": "←"}
_TRAP, _GOAL, _PLAIN = "×", "◎", "·"
_CELL = re.compile(r"\((\d+),(\d+)\)")


def draw_grid(
    mdp: Graph, policy: Policy | None = None, *, values: ArrayLike | None = None, visits: ArrayLike | None = None
) -> str:
    """Return the grid as text, north up: an arrow for the move in each cell, ``×`` traps, ``◎`` goal, ``[ ]`` start.

    Parameters
    ----------
    mdp : Graph
        A model made by `grid`, or one with the same graph, such as a learned one.
    policy : Policy, optional
        A deterministic policy of that graph that does not depend on the step; without it cells have a dot.
    values : array_like of float, shape (S,), optional
        A number to show for each state, such as ``solution.lower``.
    visits : array_like of float, shape (S,) or (T,), optional
        How often each state was visited, or each transition taken. It is shown as a shade, explained in the last line,
        and as a number where there are no values. A grid of ten columns fits into 80 characters.

    Examples
    --------
    >>> from umdp import Policy, solve
    >>> from umdp.benchmark import grid
    >>> mdp = grid(3, 2, traps=[(1, 0)])
    >>> policy = Policy.from_actions(mdp, {"(0,0)": "south", "(0,1)": "east", "(1,1)": "east"})
    >>> print(draw_grid(mdp, policy))
    [↓] ×  ◎
     →  →  ↑
    >>> solution = solve(mdp, 'Pmax=? [ !"trap" U "goal" ]')
    >>> print(draw_grid(mdp, policy, values=solution.lower, visits=[900, 12, 31, 5_400, 180, 0]))
    [↓▓ .54]×░   0 ◎░   1
     →█ .69 →▒ .73 ↑  .94
    visits: ░ 12 to 31, ▒ 180, ▓ 900, █ 5.4k, blank none
    """
    taken = None if policy is None else _taken(mdp, policy)
    places = [_cell(mdp, state) for state in range(mdp.states)]
    width, height = (max(column) + 1 for column in zip(*places, strict=True))
    if len(set(places)) != mdp.states or mdp.states != width * height:
        raise _refusal("grid", f"{mdp.states} states do not fill {width} x {height} cells once each")
    rows = [[0] * width for _ in range(height)]
    for state, (x, y) in enumerate(places):
        rows[y][x] = state
    symbols = [_symbol(mdp, state, None if taken is None else taken[state]) for state in range(mdp.states)]
    if values is None and visits is None:
        return _bare(mdp, symbols, rows)
    return "\n".join(_annotated(mdp, cells(mdp, symbols, values, visits, WIDTH // width), rows))


def draw_chain(
    mdp: Graph, policy: Policy | None = None, *, values: ArrayLike | None = None, visits: ArrayLike | None = None
) -> str:
    """Return the chain as text: the action at each position, ``◎`` goal, ``[ ]`` start.

    The policy alone takes one line. With numbers there are ten or fewer positions to a line of at most 80 characters, which
    begins with the first of them.

    Parameters
    ----------
    mdp : Graph
        A model made by `chain` or `chain_switched`, or one with the same graph.
    policy, values, visits : optional
        As for `draw_grid`.

    Examples
    --------
    >>> from umdp import Policy, solve
    >>> from umdp.benchmark import chain
    >>> mdp = chain(length=4)
    >>> policy = Policy.from_actions(mdp, {"0": "c", "1": "c", "3": "b"})
    >>> print(draw_chain(mdp, policy))
    [c] c  a  b  ◎
    >>> print(draw_chain(chain(length=12), values=solve(chain(length=12), 'Rmin=? [ F "goal" ]').lower))
     0 [·  17]·  16 ·  15 ·  14 ·  12 ·  11 · 9.8 · 8.4 · 6.9 · 5.3
    10  · 3.6 · 1.9 ◎   0
    """
    taken = None if policy is None else _taken(mdp, policy)
    if "goal" not in mdp.labels or [mdp.state_name(s) for s in range(mdp.states)] != [*map(str, range(mdp.states))]:
        raise _refusal("chain", 'its states are not the positions 0, 1, 2, ... with a label "goal"')
    actions = [_PLAIN] * mdp.states if taken is None else taken
    symbols = [_GOAL if mdp.labels["goal"][state] else action for state, action in enumerate(actions)]
    if values is None and visits is None:
        return _bare(mdp, symbols, [range(mdp.states)])
    margin = len(str(mdp.states - 1)) + 1
    for count in (10, 5, 2, 1):
        room = (WIDTH - margin) // count
        drawn = cells(mdp, symbols, values, visits, room)
        if len(drawn.texts[0]) < room:
            break
    firsts = range(0, mdp.states, count)
    lines = _annotated(mdp, drawn, [range(first, min(first + count, mdp.states)) for first in firsts])
    numbered = [f"{first:>{margin - 1}} {text}" for first, text in zip(firsts, lines, strict=False)]
    return "\n".join([*numbered, *lines[len(numbered) :]])


def _bare(mdp: Graph, symbols: list[str], rows: Sequence[Sequence[int]]) -> str:
    """Return the symbols alone, three characters for each."""
    return "\n".join("".join(_framed(symbols[state], state == mdp.initial) for state in row).rstrip() for row in rows)


def _annotated(mdp: Graph, drawn: Cells, rows: Sequence[Sequence[int]]) -> list[str]:
    """Return a line of cells for each row of states, and the legend if there is one."""
    lines = []
    for row in rows:
        start = row.index(mdp.initial) if mdp.initial in row else None
        lines.append(line([drawn.texts[state] for state in row], start))
    return lines if drawn.legend is None else [*lines, drawn.legend]


def _taken(mdp: Graph, policy: Policy) -> list[str]:
    """Return the name of the action in every state."""
    if not np.array_equal(policy.graph.state_ptr, mdp.state_ptr):
        raise ModelError("the policy is for a model with other states and choices; draw it with its own model")
    if policy.choice is None or policy.steps is not None:
        raise ModelError("only a policy that takes one action in each state, at all steps, can be drawn")
    return [mdp.action_name(int(choice)) for choice in policy.choice]


def _cell(mdp: Graph, state: int) -> tuple[int, int]:
    match = _CELL.fullmatch(mdp.state_name(state))
    if match is None:
        raise _refusal("grid", f"state {mdp.state_name(state)} is not a cell such as (3,4)")
    return int(match[1]), int(match[2])


def _symbol(mdp: Graph, state: int, action: str | None) -> str:
    for label, symbol in (("trap", _TRAP), ("goal", _GOAL)):
        if label not in mdp.labels:
            raise _refusal("grid", f'it has no label "{label}"')
        if mdp.labels[label][state]:
            return symbol
    if action is None:
        return _PLAIN
    if action not in _ARROWS:
        raise _refusal("grid", f"action {action} of state {mdp.state_name(state)} is none of {', '.join(_ARROWS)}")
    return _ARROWS[action]


def _framed(symbol: str, start: bool) -> str:
    return f"[{symbol}]" if start else f" {symbol} "


def _refusal(kind: str, reason: str) -> ModelError:
    return ModelError(f"this model was not made by umdp.benchmark.{kind}: {reason}")
