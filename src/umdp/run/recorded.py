"""Logs and streams that a run names, with the graph that is given or their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umdp.errors import ModelError
from umdp.source import Source
from umdp.source.resolve import resolve

if TYPE_CHECKING:
    from umdp.run.config import Config

__all__ = ["recorded"]


def recorded(config: Config, log: str) -> Source:
    """Return the log or stream of a run."""
    from umdp.source import open_log

    data = config.data
    if config.log is not None and data.graph is not None:
        raise ModelError(
            f"with --log the graph is that of MODEL, {config.model}; leave out --graph, or give the log as MODEL"
        )
    name = config.model if config.log is not None else data.graph
    wanted = {} if name is not None and resolve(name).recorded else data.wanted
    return open_log(
        log, None if name is None else config.known(name), follow=config.follow, on_error=config.on_error,
        columns=data.columns, rejected=data.aside, **wanted,
    )  # fmt: skip
