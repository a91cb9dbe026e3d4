"""Where trajectories come from: simulators, environments, logs, streams."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from umdp.source.base import Batch, Knowledge, Order, Source

if TYPE_CHECKING:
    from umdp.source.check import Check, check_environment
    from umdp.source.environment import Environment
    from umdp.source.episodes import Observed, observe
    from umdp.source.gymnasium import Gymnasium
    from umdp.source.judge import Finding
    from umdp.source.log import Log, graph_of_log, open_log
    from umdp.source.stream import Stream

__all__ = [
    "Batch",
    "Check",
    "Environment",
    "Finding",
    "Gymnasium",
    "Knowledge",
    "Log",
    "Observed",
    "Order",
    "Source",
    "Stream",
    "check_environment",
    "graph_of_log",
    "observe",
    "open_log",
]

# Whoever simulates a model should not wait for the readers of logs, so these are imported when they are asked for.
_LATER = {
    "check": ("Check", "check_environment"),
    "environment": ("Environment",),
    "episodes": ("Observed", "observe"),
    "gymnasium": ("Gymnasium",),
    "judge": ("Finding",),
    "log": ("Log", "graph_of_log", "open_log"),
    "stream": ("Stream",),
}
_HOME = {name: module for module, names in _LATER.items() for name in names}


if not TYPE_CHECKING:  # so that a name that is not here is still an error for a type checker

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
