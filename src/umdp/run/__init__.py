"""Durable runs: one SQLite file that survives being killed."""

from umdp.run.config import Config
from umdp.run.store import Store

__all__ = ["Config", "Store"]
