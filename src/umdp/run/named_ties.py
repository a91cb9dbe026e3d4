"""Ties by name: those that a benchmark declares, a function in a Python file, or columns of a table of what can happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.model.tying import Tying
from umdp.source.resolve import is_plugin, plugin, resolve

__all__ = ["DECLARED", "check_tie", "tying_of"]

DECLARED = "declared"


def check_tie(tie: str, model: str, table: str | None) -> None:
    """Raise `ModelError` unless what a run names can be ties of its model; `table` is that of what can happen.

    Examples
    --------
    >>> check_tie("declared", "bandit", None)
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --tie declared: bandit declares no ties: no two of its choices are known to be alike; leave it out
    """
    if tie == DECLARED:
        _declared(model)
    elif not is_plugin(tie):
        _columns(tie, table)


def _declared(model: str) -> Callable[[Graph], Tying]:
    """Return what gives the ties of a graph that a benchmark declares."""
    if (bench := resolve(model).benchmark) is None:
        raise ModelError(f"--tie {DECLARED}: {model} is no benchmark, so nothing is declared; write --tie FILE.py:NAME")
    if bench.tie is None:
        raise ModelError(
            f"--tie {DECLARED}: {model} declares no ties: no two of its choices are known to be alike; leave it out"
        )
    return bench.tie


def _columns(tie: str, table: str | None) -> tuple[str, tuple[str, str]]:
    """Return the table whose columns are named, and their names."""
    parts = [part.strip() for part in tie.split(",")]
    if table is None or not resolve(table).recorded or len(parts) != 2 or not all(parts):
        raise ModelError(
            f"--tie {tie}: write FILE.py:NAME, a function of (state, action, successor) that returns a class and an "
            f"outcome; CLASS,OUTCOME, two columns of the table of what can happen (--graph FILE.csv); or {DECLARED}, for what a "
            "benchmark declares"
        )
    return table, (parts[0], parts[1])


def tying_of(
    tie: str, model: str, table: str | None, graph: Graph, *, columns: Mapping[str, str], texts: Mapping[str, str]
) -> Tying:
    """Return the classes of a graph that a run names.

    Parameters
    ----------
    tie, model, table : as for `check_tie`
    graph : what is known of the process
    columns : the names of the columns of a log, where they have others
    texts : the text of Python files that need not be read
    """
    if tie == DECLARED:
        return _declared(model)(graph)
    if not is_plugin(tie):
        from umdp.source.logs.table_ties import tie_of_table

        file, names = _columns(tie, table)
        return Tying.of(graph, tie_of_table(file, names, columns))
    function = plugin(tie, texts)
    if isinstance(function, Tying) or not callable(function):
        raise ModelError(
            f"--tie {tie}: this is {type(function).__name__}; it must be a function of (state, action, successor)"
        )
    return Tying.of(graph, function)
