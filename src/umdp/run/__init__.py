"""Durable runs: one SQLite file that survives being killed, and that executes nothing when it is opened."""

from umdp.run.access import format_of
from umdp.run.config import Config
from umdp.run.opened import OpenedRun, open_run
from umdp.run.store import Learned, Store, WriteError

__all__ = ["Config", "Learned", "OpenedRun", "Store", "WriteError", "format_of", "open_run"]
