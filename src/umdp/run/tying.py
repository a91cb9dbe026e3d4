"""Ties by name: those that a benchmark declares, a function in a Python file, or columns of a table of what can happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.model.tying import Tying
from umdp.source.resolve import is_plugin, plugin, resolve

if TYPE_CHECKING:
    from umdp.run.config import Config

__all__ = ["DECLARED", "check_tie", "tying_of"]

DECLARED = "declared"


def check_tie(config: Config) -> None:
    """Raise `ModelError` unless what a run names can be ties of its model.

    Examples
    --------
    >>> from umdp.run import Config
    >>> check_tie(Config(model="bandit", tie="declared"))
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --tie declared: bandit declares no ties: no two of its choices are known to be alike; leave it out
    """
    tie, model = config.tie, config.model
    if tie is None or is_plugin(tie):
        return
    if tie != DECLARED:
        _columns(config)
        return
    if (bench := resolve(model).benchmark) is None:
        raise ModelError(f"--tie {tie}: {model} is no benchmark, so nothing is declared; write --tie FILE.py:NAME")
    if bench.tie is None:
        raise ModelError(
            f"--tie {tie}: {model} declares no ties: no two of its choices are known to be alike; leave it out"
        )


def _columns(config: Config) -> tuple[str, tuple[str, str]]:
    """Return the table whose columns are named, and their names."""
    table = config.model if config.log is not None else config.data.graph
    parts = [part.strip() for part in str(config.tie).split(",")]
    if table is None or not resolve(table).recorded or len(parts) != 2 or not all(parts):
        raise ModelError(
            f"--tie {config.tie}: write FILE.py:NAME, a function of (state, action, successor) that returns a class and an "
            f"outcome; CLASS,OUTCOME, two columns of the table of what can happen (--graph FILE.csv); or {DECLARED}, for what a "
            "benchmark declares"
        )
    return table, (parts[0], parts[1])


def tying_of(config: Config, graph: Graph) -> Tying:
    """Return the classes of a graph that a run names."""
    check_tie(config)
    tie = config.tie
    assert tie is not None
    if tie == DECLARED:
        bench = resolve(config.model).benchmark
        assert bench is not None
        assert bench.tie is not None
        return bench.tie(graph)
    if not is_plugin(tie):
        from umdp.source.logs.table_ties import tie_of_table

        table, names = _columns(config)
        return Tying.of(graph, tie_of_table(table, names, config.data.columns))
    function = plugin(tie, config.plugins)
    if isinstance(function, Tying) or not callable(function):
        raise ModelError(
            f"--tie {tie}: this is {type(function).__name__}; it must be a function of (state, action, successor)"
        )
    return Tying.of(graph, function)
