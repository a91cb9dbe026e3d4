"""Logs and streams: what others recorded, counted row by row."""

from umdp.source.logs.log import Log, Stream, graph_of_log, open_log

__all__ = ["Log", "Stream", "graph_of_log", "open_log"]
