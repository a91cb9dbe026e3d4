"""Whether the solver's kernels were compiled by an earlier run."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["announce", "compiled"]


def compiled() -> bool:
    """Return False if the kernels will certainly be compiled by this run, True if they are cached or who knows.

    Their folder is named by a digest of the sources, so that whatever lies in it is current.
    """
    try:
        from umdp.solver.graph import attractor

        folders = {Path(each.stats.cache_path) for each in vars(attractor).values() if hasattr(each, "py_func")}
        this = f"attractor.*py{sys.version_info.major}{sys.version_info.minor}.nbi"
        return not folders or any(index for folder in folders for index in folder.glob(this))
    except (ImportError, AttributeError, TypeError, OSError):
        return True


def announce() -> None:
    """Say on standard error that this run compiles, if it does."""
    if not compiled():
        print("compiling kernels once; later runs start at once", file=sys.stderr, flush=True)
