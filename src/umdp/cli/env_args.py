"""Arguments of environments and models, as typed: ``--env-arg NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

__all__ = ["ENV_ARG", "arguments_of"]

ENV_ARG = Annotated[
    list[str] | None,
    typer.Option(
        "--env-arg",
        metavar="NAME=VALUE",
        help="An argument of the environment, benchmark or function: true, false, a number, a list or a word; may be repeated.",
        show_default=False,
    ),
]


def arguments_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return arguments by name.

    Examples
    --------
    >>> arguments_of(["map_name=8x8", "is_slippery=false"])
    {'map_name': '8x8', 'is_slippery': False}
    """
    from umdp.source.environments.naming import argument

    found: dict[str, Any] = {}
    for text in texts or ():
        name, value = argument(text)
        if name in found:
            raise typer.BadParameter(f"--env-arg {name} is given twice")
        found[name] = value
    return found
