"""bmdp-tool's files (.txt): numbers of states and actions, terminal states, and a line per transition with its two bounds.

The format has no initial state, which is state 0 then, and no names. Its terminal states are the label ``terminal``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.io.explicit_table import Table
from umdp.io.files import Model, build, certain, check_order, ints, load, show, store
from umdp.model import Graph, IntervalMDP
from umdp.statements.text import nouns

__all__ = ["TERMINAL", "padded_choices", "padded_rows", "read_bmdp", "write_bmdp"]

TERMINAL = "terminal"
LAYOUT = "STATE ACTION SUCCESSOR LOWER UPPER"
HEADER = ("states", "actions", "terminal states")


def read_bmdp(path: Path) -> Model:
    """Return the model in a bmdp-tool file, an MDP where its bounds coincide; a bare terminal state stays where it is."""
    lines = [(number, line.split()) for number, line in enumerate(load(path).splitlines(), 1) if line.strip()]
    table = Table(path, [words for _, words in lines], [number for number, _ in lines], [])
    states, actions, count = (_taken(table, place) for place in range(len(HEADER)))
    terminal = _terminal(Table(path, table.rows[:count], table.lines[:count], []), states, count)
    del table.rows[:count], table.lines[:count]
    table.check_lengths(5, 5, LAYOUT)
    if not table.size:
        raise FormatError(f"there are no transitions; lines read {LAYOUT}", path=path)
    source, action = table.ints(0, "state", states), table.ints(1, "action", actions)
    successor = table.ints(2, "successor state", states)
    lower, upper = table.floats(3, "lower bound"), table.floats(4, "upper bound")
    check_order(lower, upper, table.line, "the interval", path)
    bare = np.setdiff1d(np.arange(states), source)
    if (lost := np.setdiff1d(bare, terminal)).size:
        raise FormatError(
            f"state {lost[0]} has no transitions and is not terminal; list it among the terminal states, or a loop for it",
            path=path,
        )
    loop = np.ones(bare.size)  # of a bare terminal state
    source, successor = np.append(source, bare), np.append(successor, bare)
    action, lower, upper = np.append(action, 0 * bare), np.append(lower, loop), np.append(upper, loop)
    order = np.lexsort((action, source))
    pair = source[order] * actions + action[order]
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    names = pair[first] % actions
    state_ptr = np.searchsorted(pair[first] // actions, np.arange(states + 1))
    within = np.arange(names.size) - np.repeat(state_ptr[:-1], np.diff(state_ptr))
    model = build(
        path,
        lower[order],
        upper[order],
        state_ptr=state_ptr,
        choice_ptr=np.append(first, pair.size),
        successor=successor[order].astype(np.int32),
        labels={TERMINAL: np.isin(np.arange(states), terminal)},
        # Where a state lacks an action, the numbers of the others are their names.
        actions=None if np.array_equal(names, within) else [str(name) for name in names.tolist()],
    )
    return certain(model)


def write_bmdp(model: Model, path: Path) -> None:
    """Write a model for bmdp-tool and IntervalMDP.jl.

    Its terminal states are those with the label ``terminal``; if there is none of that name, the only label. In a state with
    fewer actions than others the last one is repeated, as IntervalMDP.jl wants them all. Names are left out, rewards and
    another initial state than 0 are refused.
    """
    if model.initial != 0:
        raise FormatError(
            f"the initial state is {model.initial}, and the format has none but state 0; write .nc or .umb", path=path
        )
    if model.rewards:
        raise FormatError("the format has no rewards; write .nc or .umb", path=path)
    choice, per_state = padded_choices(model)
    sizes, successor, lower, upper = padded_rows(model, choice)
    number = np.repeat(np.arange(choice.size), sizes)
    columns = (number // per_state, number % per_state, successor, lower, upper)
    marked = np.flatnonzero(_marked(model, path))
    lines = [str(model.states), str(per_state), str(marked.size), *map(str, marked.tolist())]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lines += [f"{state} {action} {target} {low!r} {high!r}" for state, action, target, low, high in rows]
    store(path, ("\n".join(lines) + "\n").encode())


def _marked(model: Model, path: Path) -> NDArray[np.bool_]:
    labels = {name: members for name, members in model.labels.items() if name != "deadlock"}
    if TERMINAL in labels:
        return labels[TERMINAL]
    if len(labels) > 1:
        raise FormatError(
            f"the format has one set of terminal states, and the model the labels {', '.join(labels)}; call one of them "
            f'"{TERMINAL}", or write .umb',
            path=path,
        )
    return next(iter(labels.values()), np.zeros(model.states, dtype=np.bool_))


def _taken(table: Table, place: int) -> int:
    """Take off a line of the header, and return its number."""
    what = f"the number of {HEADER[place]}"
    if not table.size:
        raise FormatError(f"the file ends before {what}", path=table.path)
    if len(table.first) != 1:
        hint = "" if place else "; .txt files are bmdp-tool's, a log ends in .csv"
        table.fail(f"{show(table.text(0))} should be {what}, alone{hint}", 0)
    count = int(ints(table.first, table.lines[:1], what, table.path, 2**31)[0])
    if place < 2 and count < 1:
        table.fail(f"{what} is 0; there must be one", 0)
    table.take_first()
    return count


def _terminal(table: Table, states: int, count: int) -> NDArray[Any]:
    for row, words in enumerate(table.rows):
        if len(words) != 1:
            said = f"{show(table.text(row))} should be a terminal state, alone; the file declares {count} "
            table.fail(f"{said}terminal {nouns(count, 'state')}", row)
    if table.size < count:
        raise FormatError(f"the file declares {count} terminal states and ends after {table.size}", path=table.path)
    return table.ints(0, "terminal state", states)


def padded_choices(graph: Graph) -> tuple[NDArray[np.int64], int]:
    """Return the choices of all states in turn, the last of each repeated until all states have as many; and how many.

    Who decides gains nothing by a choice that is there twice, so the values stay what they are.

    Examples
    --------
    >>> from umdp import Graph
    >>> padded_choices(Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1]))
    (array([0, 1, 2, 2]), 2)
    """
    counts = np.diff(graph.state_ptr)
    most = int(counts.max())
    within = np.minimum(np.arange(most)[None, :], counts[:, None] - 1)
    return (graph.state_ptr[:-1, None] + within).ravel().astype(np.int64), most


def padded_rows(
    model: Model, choice: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sizes of choices in turn, and the successors, in order, and bounds of their transitions.

    Examples
    --------
    >>> from umdp import MDP
    >>> padded_rows(MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.25, 0.75, 1]), np.array([1, 0]))[:2]
    (array([1, 2]), array([1, 0, 1], dtype=int32))
    """
    sizes = np.diff(model.choice_ptr)[choice]
    # Where each choice begins less where it is put, and how far all before it go.
    entry = np.repeat(model.choice_ptr[choice] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
    entry = entry[np.lexsort((model.successor[entry], np.repeat(np.arange(choice.size), sizes)))]
    low, high = (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability, model.probability)
    return sizes, model.successor[entry], low[entry], high[entry]
