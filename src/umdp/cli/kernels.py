"""Saying that kernels are compiled, when they are."""

from __future__ import annotations

import sys

__all__ = ["announce"]


def announce() -> None:
    """Have it said on standard error once this command compiles, if it does."""
    from umdp.kernel import on_compile

    on_compile(_say)


def _say() -> None:
    print("compiling kernels once; later runs start at once", file=sys.stderr, flush=True)
