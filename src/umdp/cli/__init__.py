"""The command line: one file per command, shared output apart; `main` is the console script ``umdp``."""

from umdp.cli.terminal import main, run

__all__ = ["main", "run"]
