"""What can be typed about calibration: `umdp calibrate`, with its options and help."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import typer

from umdp.cli.calibrate import Calibrate
from umdp.cli.env_args import ENV_ARG, arguments_of
from umdp.cli.evidence import EVIDENCE, MOST, check_evidence, evidence_rate
from umdp.cli.loop_options import CONST, EXPLORE, PROPERTY, XI
from umdp.cli.numbers import integer, share
from umdp.cli.outputs import FORCE_HELP
from umdp.cli.setting import setting
from umdp.cli.used import typed, unused
from umdp.cli.words import learners, models, settings
from umdp.learn import LEARNERS

__all__ = ["declare_calibrate"]

_HELP = (
    "Measure how often what a learner says is true: each interval, the whole model, and the value of its policy.\n\n"
    "Many seeded runs, each looked at after every iteration: at fixed times, and at the worst time until then. All frequencies "
    "come with exact 95 % intervals. The truth must be known: a benchmark, a model file, an environment with a table. "
    "Ctrl-C gives what is there.\n\n"
    "Exit status: 0 measured, 2 bad input or usage, 130 interrupted after printing what was measured."
)


def _calibrate(
    context: typer.Context,
    learner: Annotated[
        str,
        typer.Argument(
            metavar="LEARNER",
            help=f"{', '.join(LEARNERS)}, or FILE.py:NAME, a class of yours.",
            show_default=False,
            autocompletion=learners,
        ),
    ],
    model: Annotated[
        str,
        typer.Argument(
            metavar="ENVIRONMENT",
            help="As MODEL for learn, where the probabilities are known: a benchmark, a model file, gym:ID with a table, "
            "FILE.py:NAME.",
            show_default=False,
            autocompletion=models,
        ),
    ],
    property: PROPERTY = None,
    seeds: Annotated[int, typer.Option(parser=integer, metavar="N", help="How many runs.")] = 200,
    trajectories: Annotated[
        int, typer.Option(parser=integer, metavar="N", help="How many trajectories each run sees.")
    ] = 1000,
    confidence: Annotated[
        Decimal | None,
        typer.Option(
            parser=share,
            metavar="0.95",
            help="Compare with this level: sets the error rate of a learner that has one, and is nominal for others.",
            show_default=False,
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the learner, as for learn; may be repeated.",
            show_default=False,
            autocompletion=settings,
        ),
    ] = None,
    tie: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py:NAME",
            help="Which choices share one distribution over outcomes, as for learn; or: declared, for what a benchmark declares.",
            show_default=False,
        ),
    ] = None,
    evidence: EVIDENCE = None,
    most: MOST = None,
    explore: EXPLORE = "optimism",
    xi: XI = 1.0,
    horizon: Annotated[
        int | None,
        typer.Option(parser=integer, metavar="N", help="The longest a trajectory may be.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(parser=integer, metavar="N", help="Of the first run.")] = 0,
    const: CONST = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            "--unknown",
            metavar="p=0.5:1,q",
            help="Undefined constants of a program to be learned, as for learn; --const gives the true values.",
            show_default=False,
        ),
    ] = None,
    env_arg: ENV_ARG = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="By the rules of the paper's published code, for its learners.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            parser=integer,
            metavar="N",
            help="Processes at a time; by default as many as there are cores, fewer for few runs.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw coverage over trajectories: .png, .pdf or .svg.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
    json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")] = False,
) -> Calibrate:
    """Return what `umdp calibrate` was asked for."""
    from umdp.run import Config

    given = typed(context)
    apart = evidence_rate(learner, confidence, given | {"learner"})
    chosen = dict(setting(text) for text in set or ())
    config = Config(
        model=model, parameters=arguments_of(env_arg), constants=",".join(const or ()), question=property, learner=learner,
        unknown=",".join(unknown or ()),
        settings=_with_rate(learner, chosen, confidence), tie=tie, evidence=evidence, most=most, evidence_rate=apart,
        explore=explore, xi=xi, seed=seed, horizon=horizon,
        trajectories=trajectories,
    )  # fmt: skip
    unused(config, given)
    check_evidence(config, given)
    level = None if confidence is None else float(confidence)
    return Calibrate(config, seeds, level, as_published, jobs, plot, json, quiet or json, force)


def _with_rate(learner: str, chosen: dict[str, Any], confidence: Decimal | None) -> dict[str, Any]:
    """Return the settings of a learner, with the error rate that a confidence stands for, if it has one."""
    from umdp.errors import ModelError
    from umdp.learn.settings import settings_of
    from umdp.source.resolve import is_plugin, plugin

    if confidence is None:
        return chosen
    kind = plugin(learner) if is_plugin(learner) else LEARNERS.get(learner)
    if not isinstance(kind, type) or "error_rate" not in settings_of(kind):
        return chosen
    if "error_rate" in chosen:
        raise ModelError("--confidence and --set error_rate say the same thing; give one of them")
    return {**chosen, "error_rate": float(1 - confidence)}


def declare_calibrate(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(name="calibrate", help=_HELP)(_calibrate)
