"""What can be typed: commands, arguments, options and their help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from umdp.cli.calibrate import Calibrate
from umdp.cli.calibrate_app import declare_calibrate
from umdp.cli.certify import Certify
from umdp.cli.certify_app import declare_certify
from umdp.cli.check import Check
from umdp.cli.check_env import SECONDS, CheckEnv
from umdp.cli.compare import Compare, declare_compare
from umdp.cli.env_args import ENV_ARG, arguments_of
from umdp.cli.explain import Explain, declare_explain
from umdp.cli.help import App, Commands, UsageError
from umdp.cli.learn import Learn, Resume
from umdp.cli.numbers import integer, number
from umdp.cli.outputs import FORCE_HELP
from umdp.cli.plot import Plot, declare_plot
from umdp.cli.reproduce import Reproduce, declare
from umdp.cli.runs import Export, Show
from umdp.cli.runs_app import declare_runs
from umdp.cli.simulate import Simulate
from umdp.cli.simulate_app import declare_simulate
from umdp.cli.verify import Verify
from umdp.solver.methods.table import METHODS

__all__ = ["UsageError", "app", "parse"]

app = App(
    name="umdp",
    cls=Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_CHECK_HELP = (
    "Answer properties of a model with certified brackets.\n\n"
    "The value lies between the two bounds printed, rounding included. For an interval model the property names both "
    "players, the policy first: Pmaxmin is the best policy against the worst probabilities.\n\n"
    "Exit status: 0 answered, 1 a threshold does not hold, 2 bad input or usage, 130 interrupted."
)


def _method(text: str) -> str:
    """Return the name of a method, or raise what the command line shows."""
    if text not in METHODS:
        raise typer.BadParameter(f"there is no method {text!r}; there are {', '.join(METHODS)}")
    return text


Request = (
    Calibrate
    | Certify
    | Check
    | CheckEnv
    | Explain
    | Learn
    | Resume
    | Show
    | Export
    | Plot
    | Compare
    | Simulate
    | Reproduce
    | Verify
)


def parse(arguments: Sequence[str]) -> Request | int:
    """Return what was asked for, or the exit status where printing help or the version was all.

    Raises
    ------
    UsageError
        If the arguments do not fit.
    """
    request: Request | int | None = app(args=list(arguments), prog_name="umdp", standalone_mode=False)
    return 0 if request is None else request


@app.callback(invoke_without_command=True)
def _umdp(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")] = False,
) -> None:
    """Learn uncertain Markov decision processes, and check them robustly, with certified answers."""
    if version:
        from umdp import __version__

        typer.echo(f"umdp {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(name="check", help=_CHECK_HELP)
def _check(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A file: PRISM language (.prism .nm .pm) or JANI (.jani), both with the extra storm; PRISM explicit "
            "(.tra, with .lab .sta .srew .trew beside it); DRN (.drn); UMB (.umb); IntervalMDP.jl (.nc, with the extra netcdf); "
            "bmdp-tool (.txt). Or a run, for the model it has learned; a benchmark; gym:ID, for the table it has; FILE.py:NAME.",
            show_default=False,
        ),
    ],
    properties: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROPERTY...]",
            help="Properties in PRISM's syntax, the policy's direction first and nature's second: "
            'Pmaxmin=? \\[ F "goal" ], Pmaxmin>=0.3 \\[ F<=9 "goal" ], R{"cost"}minmax=? \\[ F "goal" ]; or files of them '
            "(.props). Without any: those of the file beside the model, a benchmark's own, or the one of a run.",
            show_default=False,
        ),
    ] = None,
    const: Annotated[
        list[str] | None,
        typer.Option(
            "--const",
            metavar="K=2,err=.2",
            help="Values for a program's undefined constants; may be repeated.",
            show_default=False,
        ),
    ] = None,
    env_arg: ENV_ARG = None,
    precision: Annotated[
        float, typer.Option(parser=number, metavar="NUMBER", help="The relative width the bracket should have.")
    ] = 1e-6,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the policy found, as .json or .csv; with several properties put {n} in the name.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a proof of the bracket, for umdp verify; with several properties put {n} in the name.",
            show_default=False,
        ),
    ] = None,
    evaluate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Give the value of the policy in this .json or .csv file instead of the best one.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per property and line.")] = False,
    method: Annotated[
        str,
        typer.Option(
            parser=_method,
            metavar="|".join(METHODS),
            help="; ".join(f"{method.name}: {method.title}" for method in METHODS.values()) + ".",
        ),
    ] = "auto",
    threads: Annotated[int, typer.Option(parser=integer, metavar="N", help="Threads for large models.")] = 1,
    time_limit: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="SECONDS",
            help="Give the bracket reached after this time, for each property.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
) -> Check:
    """Return what `umdp check` was asked for."""
    return Check(
        model=model,
        properties=tuple(properties or ()),
        constants=",".join(const or ()),
        precision=precision,
        policy=policy,
        certificate=certificate,
        evaluate=evaluate,
        json=json,
        method=method,
        threads=threads,
        time_limit=time_limit,
        force=force,
        parameters=arguments_of(env_arg),
    )


declare_runs(app)
declare_plot(app)
declare_compare(app)
declare_simulate(app)
declare_certify(app)
declare_calibrate(app)
declare_explain(app)
declare(app)


@app.command(
    name="verify",
    help="Check a certificate in exact rational arithmetic, without the solver, and say what it proves.\n\n"
    "Exit status: 0 proved, 1 not proved, and which part fails, 2 not a certificate.",
)
def _verify(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Written by umdp check or learn --certificate.", show_default=False)
    ],
    json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> Verify:
    """Return what `umdp verify` was asked for."""
    return Verify(file, json)


@app.command(
    name="check-env",
    help="Say why a Gymnasium environment is unfit to be learned, if it is. Exit status: 0 fit, 1 unfit.",
)
def _check_env(
    environment: Annotated[
        str,
        typer.Argument(
            metavar="ENVIRONMENT",
            help="gym:ID, also with arguments (gym:FrozenLake-v1,map_name=8x8), MODULE:ID, or FILE.py:NAME.",
            show_default=False,
        ),
    ],
    env_arg: ENV_ARG = None,
    steps: Annotated[int, typer.Option(parser=integer, metavar="N", help="How long to play.")] = 20_000,
    seed: Annotated[int, typer.Option(parser=integer, metavar="N", help="Equal seeds give equal findings.")] = 0,
    seconds: Annotated[
        float, typer.Option(parser=number, metavar="SECONDS", help="How long to play at most.")
    ] = SECONDS,
) -> CheckEnv:
    """Return what `umdp check-env` was asked for."""
    return CheckEnv(environment, steps, seed, seconds, arguments_of(env_arg))
