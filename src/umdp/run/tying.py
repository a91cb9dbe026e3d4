"""Ties by name: those that a benchmark declares, or a function in a Python file."""

from __future__ import annotations

from collections.abc import Mapping

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.model.tying import Tying
from umdp.run.plugin import is_plugin, plugin

__all__ = ["DECLARED", "check_tie", "tying_of"]

DECLARED = "declared"


def check_tie(tie: str, model: str) -> None:
    """Raise `ModelError` unless a name can be that of ties of a model.

    Examples
    --------
    >>> check_tie("declared", "bandit")
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --tie declared: bandit declares no ties: no two of its choices are known to be alike; leave it out
    """
    from umdp.benchmark import BENCHMARKS

    if is_plugin(tie):
        return
    if tie != DECLARED:
        raise ModelError(
            f"--tie {tie}: write FILE.py:NAME, a function of (state, action, successor) that returns a class and an outcome, or "
            f"{DECLARED}, for what a benchmark declares"
        )
    if model not in BENCHMARKS:
        raise ModelError(f"--tie {tie}: {model} is no benchmark, so nothing is declared; write --tie FILE.py:NAME")
    if BENCHMARKS[model].tie is None:
        raise ModelError(
            f"--tie {tie}: {model} declares no ties: no two of its choices are known to be alike; leave it out"
        )


def tying_of(tie: str, model: str, graph: Graph, texts: Mapping[str, str]) -> Tying:
    """Return the classes of a graph that a name stands for; `texts` are those of files that need not be read."""
    from umdp.benchmark import BENCHMARKS

    check_tie(tie, model)
    if tie == DECLARED:
        made = BENCHMARKS[model].tie
        assert made is not None
        return made(graph)
    function = plugin(tie, texts)
    if isinstance(function, Tying) or not callable(function):
        raise ModelError(
            f"--tie {tie}: this is {type(function).__name__}; it must be a function of (state, action, successor)"
        )
    return Tying.of(graph, function)
