"""Logs and streams: what others recorded, counted row by row."""

from umdp.source.logs.log import Log, graph_of_log, open_log
from umdp.source.logs.stream import Stream

__all__ = ["Log", "Stream", "graph_of_log", "open_log"]
