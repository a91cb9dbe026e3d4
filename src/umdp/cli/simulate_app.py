"""What can be typed about playing a policy: `umdp simulate`, with its options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from umdp.cli.env_args import ENV_ARG, arguments_of
from umdp.cli.numbers import integer
from umdp.cli.simulate import Simulate

__all__ = ["JSON", "MODEL", "POLICY", "SEED", "TRUST", "declare_simulate"]

_HELP = (
    "Play a policy and show what it earns, or how often the property holds, with a 95 % interval beside the promise.\n\n"
    "The policy of a run is played in the environment or model it was learned in, or in MODEL. A run with code of somebody's own "
    "executes it: what that is is said, and done with --trust.\n\n"
    "Exit status: 0 played, 2 bad input or usage, 130 interrupted."
)


POLICY = Annotated[
    str,
    typer.Argument(
        metavar="RUN|POLICY",
        help="A run, or a policy as .json or .csv (umdp export, check --policy).",
        show_default=False,
    ),
]
MODEL = Annotated[
    str | None,
    typer.Argument(
        metavar="[MODEL]",
        help="Where to play: as for learn, an environment, a file or a benchmark. A run has its own.",
        show_default=False,
    ),
]
SEED = Annotated[int, typer.Option(parser=integer, metavar="N", help="Equal seeds give equal episodes.")]
TRUST = Annotated[bool, typer.Option("--trust", help="Execute the code that the run names.")]
JSON = Annotated[bool, typer.Option("--json", help="As one JSON object.")]


def _simulate(
    policy: POLICY,
    model: MODEL = None,
    episodes: Annotated[int, typer.Option(parser=integer, metavar="N", help="How many episodes.")] = 1000,
    seed: SEED = 0,
    horizon: Annotated[
        int | None,
        typer.Option(parser=integer, metavar="N", help="The most steps of an episode.", show_default=False),
    ] = None,
    property: Annotated[
        str | None,
        typer.Option(
            metavar="PROPERTY",
            help="What to measure, if not what the policy was found for; then nothing is promised.",
            show_default=False,
        ),
    ] = None,
    env_arg: ENV_ARG = None,
    render: Annotated[
        bool,
        typer.Option("--render", help="Show the first episode, drawn where the environment can draw itself as text."),
    ] = False,
    trust: TRUST = False,
    json: JSON = False,
) -> Simulate:
    """Return what `umdp simulate` was asked for."""
    parameters = arguments_of(env_arg)
    return Simulate(policy, model, property, episodes, seed, horizon, render, json, trust, parameters)


def declare_simulate(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="simulate", help=_HELP)(_simulate)
