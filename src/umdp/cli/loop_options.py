"""Arguments and options of every command that runs the learning loop."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from umdp.cli.numbers import number
from umdp.cli.words import explorers
from umdp.explore import EXPLORERS

__all__ = ["CONST", "EXPLORE", "PROPERTY", "XI"]

PROPERTY: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="[PROPERTY]",
        help='What for, such as Pmax=? \\[ F "goal" ]; benchmarks have their own.',
        show_default=False,
    ),
]
EXPLORE: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME", help=f"How to move: {', '.join(EXPLORERS)}, or FILE.py:NAME.", autocompletion=explorers
    ),
]
XI: TypeAlias = Annotated[float, typer.Option(parser=number, metavar="NUMBER", help="Weight on the optimistic action.")]
CONST: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--const", metavar="K=2,err=.2", help="Values for a program's constants.", show_default=False),
]
