"""Saying that kernels are compiled, when they are."""

from __future__ import annotations

from umdp.cli.terminal import say

__all__ = ["announce", "hush"]


def announce() -> None:
    """Have it said on standard error once this command compiles, if it does."""
    from umdp.kernel import on_compile

    on_compile(_say)


def hush() -> None:
    """Say nothing of what is compiled after this command."""
    from umdp.kernel import on_compile

    on_compile(None)


def _say() -> None:
    say("compiling kernels once; later runs start at once", err=True, flush=True)
