"""A policy of the grid or the chain as text."""

from __future__ import annotations

import re

import numpy as np

from umdp.errors import ModelError
from umdp.model import Graph, Policy

__all__ = ["draw_chain", "draw_grid"]

_ARROWS = {"north": "↑", "east": "→", "south": "↓", "west": "←"}
_TRAP, _GOAL = "×", "◎"
_CELL = re.compile(r"\((\d+),(\d+)\)")


def draw_grid(mdp: Graph, policy: Policy) -> str:
    """Return the grid as text, north up: an arrow for the move in each cell, ``×`` traps, ``◎`` goal, ``[ ]`` start.

    Parameters
    ----------
    mdp : Graph
        A model made by `grid`, or one with the same graph, such as a learned one.
    policy : Policy
        A deterministic policy of that graph that does not depend on the step.

    Examples
    --------
    >>> from umdp import Policy
    >>> from umdp.benchmark import grid
    >>> mdp = grid(3, 2, traps=[(1, 0)])
    >>> policy = Policy.from_actions(mdp, {"(0,0)": "south", "(0,1)": "east", "(1,1)": "east"})
    >>> print(draw_grid(mdp, policy))
    [↓] ×  ◎
     →  →  ↑
    """
    taken = _taken(mdp, policy)
    cells = [_cell(mdp, state) for state in range(mdp.states)]
    width, height = (max(column) + 1 for column in zip(*cells, strict=True))
    if len(set(cells)) != mdp.states or mdp.states != width * height:
        raise _refusal("grid", f"{mdp.states} states do not fill {width} x {height} cells once each")
    rows = [[""] * width for _ in range(height)]
    for state, (x, y) in enumerate(cells):
        rows[y][x] = _framed(_symbol(mdp, state, taken[state]), state == mdp.initial)
    return "\n".join("".join(row).rstrip() for row in rows)


def draw_chain(mdp: Graph, policy: Policy) -> str:
    """Return the chain as one line: the action at each position, ``◎`` goal, ``[ ]`` start.

    Parameters
    ----------
    mdp : Graph
        A model made by `chain` or `chain_switched`, or one with the same graph.
    policy : Policy
        A deterministic policy of that graph that does not depend on the step.

    Examples
    --------
    >>> from umdp import Policy
    >>> from umdp.benchmark import chain
    >>> mdp = chain(length=4)
    >>> print(draw_chain(mdp, Policy.from_actions(mdp, {"0": "c", "1": "c", "3": "b"})))
    [c] c  a  b  ◎
    """
    taken = _taken(mdp, policy)
    if "goal" not in mdp.labels or [mdp.state_name(s) for s in range(mdp.states)] != [*map(str, range(mdp.states))]:
        raise _refusal("chain", 'its states are not the positions 0, 1, 2, ... with a label "goal"')
    marks = [_GOAL if mdp.labels["goal"][state] else action for state, action in enumerate(taken)]
    return "".join(_framed(mark, state == mdp.initial) for state, mark in enumerate(marks)).rstrip()


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


def _symbol(mdp: Graph, state: int, action: str) -> str:
    for label, symbol in (("trap", _TRAP), ("goal", _GOAL)):
        if label not in mdp.labels:
            raise _refusal("grid", f'it has no label "{label}"')
        if mdp.labels[label][state]:
            return symbol
    if action not in _ARROWS:
        raise _refusal("grid", f"action {action} of state {mdp.state_name(state)} is none of {', '.join(_ARROWS)}")
    return _ARROWS[action]


def _framed(symbol: str, start: bool) -> str:
    return f"[{symbol}]" if start else f" {symbol} "


def _refusal(kind: str, reason: str) -> ModelError:
    return ModelError(f"this model was not made by umdp.benchmark.{kind}: {reason}")
