"""Sources of trajectories: a simulator, environments, logs and streams.

`source` is the contract. `simulator` draws from an MDP that is known, `environments` plays objects with `reset` and `step`,
`logs` counts what others recorded. `observed_graph` gathers a graph from data, for want of one that is known.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from umdp.model import MDP
from umdp.source.simulator import Simulator, switch
from umdp.source.source import Batch, Provenance, SamplingRequest, Source

if TYPE_CHECKING:
    from umdp.source.environments import (
        Environment,
        EnvironmentCheck,
        Finding,
        Gymnasium,
        Observed,
        check_environment,
        observe,
    )
    from umdp.source.logs import Log, Stream, graph_of_log, open_log

__all__ = [
    "Batch",
    "Environment",
    "EnvironmentCheck",
    "Finding",
    "Gymnasium",
    "Log",
    "Observed",
    "Provenance",
    "SamplingRequest",
    "Simulator",
    "Source",
    "Stream",
    "as_source",
    "check_environment",
    "graph_of_log",
    "observe",
    "open_log",
    "switch",
]


def as_source(origin: Any) -> Source:
    """Return a source: an MDP plays the unknown process, anything else that is none is taken for a Gymnasium environment."""
    if isinstance(origin, Source):
        return origin
    if isinstance(origin, MDP):
        return Simulator(origin)
    from umdp.source.environments import Gymnasium

    return Gymnasium(origin)


# Whoever simulates a model should not wait for the readers of logs, so these are imported when they are asked for.
_LOGS = ("Log", "Stream", "graph_of_log", "open_log")


if not TYPE_CHECKING:  # so that a name that is not here is still an error for a type checker

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{'logs' if name in _LOGS else 'environments'}"), name)
