"""What can be typed about certifying a policy: `umdp certify`, with its options and help."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import typer

from umdp.cli.certify import Certify
from umdp.cli.env_args import ENV_ARG, arguments_of
from umdp.cli.numbers import integer, number, share
from umdp.cli.simulate import Simulate
from umdp.cli.simulate_app import JSON, MODEL, POLICY, SEED, TRUST

__all__ = ["declare_certify"]

_HELP = (
    "Play a policy, and promise what it shows: a bound on its own value that holds whenever you stop.\n\n"
    "Nothing but the episodes is used, so that the promise is the same whichever learner found the policy. Of several policies "
    "of which the best is taken, each needs its share of the error: two at 0.975 make 0.95.\n\n"
    "Exit status: 0 played, 1 --until was not reached, 2 bad input or usage, 130 interrupted."
)


def _certify(
    policy: POLICY,
    model: MODEL = None,
    trajectories: Annotated[int, typer.Option(parser=integer, metavar="N", help="How many to play at most.")] = 10_000,
    confidence: Annotated[
        Decimal | None,
        typer.Option(
            parser=share,
            metavar="0.95",
            help="The probability with which the promise holds; by default 0.95.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar='">=0.3"', help="Stop when this is promised.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(parser=number, metavar="SECONDS", help="Stop after this time.", show_default=False)
    ] = None,
    most: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="REWARD",
            help="The most that an episode can earn or cost, for an expected reward.",
            show_default=False,
        ),
    ] = None,
    seed: SEED = 0,
    horizon: Annotated[
        int | None,
        typer.Option(
            parser=integer,
            metavar="N",
            help="The most steps of an episode; longer ones count as the worst.",
            show_default=False,
        ),
    ] = None,
    property: Annotated[
        str | None,
        typer.Option(
            metavar="PROPERTY", help="What to promise, if not what the policy was found for.", show_default=False
        ),
    ] = None,
    env_arg: ENV_ARG = None,
    trust: TRUST = False,
    json: JSON = False,
) -> Certify:
    """Return what `umdp certify` was asked for."""
    played = Simulate(
        policy,
        model,
        property,
        1,
        seed,
        horizon,
        json=json,
        trust=trust,
        parameters=arguments_of(env_arg),
        command="certify",
    )
    return Certify(played, confidence or Decimal("0.95"), trajectories, until, seconds, most)


def declare_certify(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="certify", help=_HELP)(_certify)
