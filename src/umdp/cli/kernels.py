"""Whether the solver's kernels were compiled by an earlier run."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["announce", "compiled"]


def compiled() -> bool:
    """Return False if the kernels will certainly be compiled by this run, True if they are cached or who knows.

    Numba is asked where it keeps them, because that depends on whether the package's folder can be written to.
    """
    try:
        from umdp.solve import graph_kernels

        source = Path(graph_kernels.__file__)
        folders = {Path(each.stats.cache_path) for each in vars(graph_kernels).values() if hasattr(each, "py_func")}
        this = f"{source.stem}.*py{sys.version_info.major}{sys.version_info.minor}.nbi"
        indexes = [index for folder in folders for index in folder.glob(this)]
        # An index older than the source belongs to another version of it.
        return not folders or any(index.stat().st_mtime >= source.stat().st_mtime for index in indexes)
    except (ImportError, AttributeError, TypeError, OSError):
        return True


def announce() -> None:
    """Say on standard error that this run compiles, if it does."""
    if not compiled():
        print("compiling kernels once; later runs start at once", file=sys.stderr, flush=True)
