"""What can be typed: commands, arguments, options and their help."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from umdp.cli.check import Check
from umdp.cli.check_env import CheckEnv
from umdp.cli.learn import Learn, Resume
from umdp.cli.reproduce import Reproduce, declare
from umdp.cli.runs import Export, Show
from umdp.cli.verify import Verify
from umdp.learn import LEARNERS

__all__ = ["EXAMPLES", "UsageError", "parse"]

# Typer brings its own copy of click, or uses the one installed, depending on its version.
UsageError: Any = typer.BadParameter.__mro__[1]

# (what it shows, command): each is one line of at most 80 columns, and runs in the repository.
EXAMPLES = (
    ("the worst case over the intervals", """umdp check examples/rover.tra 'Pmaxmin=? [ !"crater" U "base" ]'"""),
    (
        "the best case, and a reward",
        """umdp check examples/rover.tra 'Pmaxmax=? [ F<=9 "base" ]' 'Rminmin=? [ C<=9 ]'""",
    ),
    ("yes or no, also as exit status", """umdp check examples/rover.tra 'Pmaxmin>=0.7 [ F<=12 "base" ]'"""),
    ("for programs", """umdp check examples/rover.tra 'Pmaxmin=? [ G<=9 !"crater" ]' --json"""),
    ("keep the policy", """umdp check examples/rover.tra 'Rminmax=? [ F "base" ]' --policy best.json"""),
    (
        "and see what it is worth when all goes well",
        """umdp check examples/rover.tra 'Rminmin=? [ F "base" ]' --evaluate best.json""",
    ),
    (
        "a program with undefined constants (needs the extra storm)",
        """umdp check examples/courier.prism 'Pmax=? [ F "arrived" ]' --const N=3,loss=.1""",
    ),
)


class _WithExamples(TyperCommand):
    """A command whose help ends with examples, which must not be wrapped: they are there to be copied."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        typer.echo("Examples\n" + "".join(f"\n# {what}\n{command}\n" for what, command in EXAMPLES), nl=False)


app = typer.Typer(
    name="umdp",
    add_completion=False,
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


class Method(enum.StrEnum):
    """How unbounded properties are solved."""

    AUTO = "auto"
    POLICY = "policy"
    VALUE = "value"


Request = Check | CheckEnv | Learn | Resume | Show | Export | Reproduce | Verify


def parse(arguments: Sequence[str]) -> Request | int:
    """Return what was asked for, or the exit status where printing help or the version was all.

    Raises
    ------
    UsageError
        If the arguments do not fit.
    """
    request: Request | int | None = app(args=list(arguments), prog_name="umdp", standalone_mode=False)
    return 0 if request is None else request


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number') from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a whole number') from None


@app.callback(invoke_without_command=True)
def _umdp(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Learn uncertain Markov decision processes, and check them robustly, with certified answers."""
    if version:
        from umdp import __version__

        typer.echo(f"umdp {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(name="check", cls=_WithExamples, help=_CHECK_HELP)
def _check(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A file: PRISM language (.prism .nm .pm) or JANI (.jani), both with the extra storm; PRISM explicit "
            "(.tra, with .lab .sta .srew .trew beside it); DRN (.drn); UMB (.umb); or a run, for the model it has learned.",
            show_default=False,
        ),
    ],
    properties: Annotated[
        list[str],
        typer.Argument(
            metavar="PROPERTY...",
            help="Properties in PRISM's syntax, the policy's direction first and nature's second: "
            'Pmaxmin=? \\[ F "goal" ], Pmaxmin>=0.3 \\[ F<=9 "goal" ], R{"cost"}minmax=? \\[ F "goal" ].',
            show_default=False,
        ),
    ],
    const: Annotated[
        list[str] | None,
        typer.Option(
            "--const",
            metavar="K=2,err=.2",
            help="Values for a program's undefined constants; may be repeated.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        float, typer.Option(parser=_number, metavar="NUMBER", help="The relative width the bracket should have.")
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
        Method,
        typer.Option(help="Policy iteration, value iteration with inductive bounds, or the solver's choice."),
    ] = Method.AUTO,
    threads: Annotated[int, typer.Option(parser=_integer, metavar="N", help="Threads for large models.")] = 1,
    time_limit: Annotated[
        float | None,
        typer.Option(
            parser=_number,
            metavar="SECONDS",
            help="Give the bracket reached after this time, for each property.",
            show_default=False,
        ),
    ] = None,
) -> Check:
    """Return what `umdp check` was asked for."""
    return Check(
        model=model,
        properties=tuple(properties),
        constants=",".join(const or ()),
        precision=precision,
        policy=policy,
        certificate=certificate,
        evaluate=evaluate,
        json=json,
        method=method.value,
        threads=threads,
        time_limit=time_limit,
    )


class OnError(enum.StrEnum):
    """What to do with a row that is malformed or contradicts the model."""

    FAIL = "fail"
    SKIP = "skip"


class What(enum.StrEnum):
    """What to export."""

    SNAPSHOTS = "snapshots"
    MODEL = "model"
    POLICY = "policy"


_LEARN_HELP = (
    "Learn a model from trajectories and give, at any time, a robust policy with its worst-case value.\n\n"
    "MODEL plays the unknown process: only its graph is known to the learner. Stop with Ctrl-C whenever it is good enough: "
    "the result is printed, and kept with --out.\n\n"
    "Exit status: 0 done, 2 bad input or usage, 130 interrupted after saying what was learned."
)


def _maybe(metavar: str, text: str, *, whole: bool = True) -> Any:
    return typer.Option(parser=_integer if whole else _number, metavar=metavar, help=text, show_default=False)


_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object per snapshot and line.")]
_QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")]
_TRAJECTORIES = Annotated[int | None, _maybe("N", "Stop after so many trajectories.")]
_STEPS = Annotated[int | None, _maybe("N", "Stop after so many steps.")]
_SECONDS = Annotated[float | None, _maybe("SECONDS", "Stop after this time.", whole=False)]
_UNTIL = Annotated[str | None, typer.Option(metavar='">=0.3"', help="Stop when this is reached.", show_default=False)]
_RUN = Annotated[str, typer.Argument(metavar="RUN", help="A file written by umdp learn --out.", show_default=False)]


@app.command(name="learn", help=_LEARN_HELP)
def _learn(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A benchmark (chain, chain-switched, aircraft, grid, bandit, betting-favourable, betting-unfavourable), a "
            "file as for check, gym:ID, or FILE.py:NAME, a function of yours that returns an MDP.",
            show_default=False,
        ),
    ],
    property: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROPERTY]",
            help='What for, such as Pmax=? \\[ F "goal" ]; benchmarks have their own.',
            show_default=False,
        ),
    ] = None,
    learner: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"{', '.join(LEARNERS)}, or FILE.py:NAME."),
    ] = "lui",
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the learner; may be repeated.", show_default=False
        ),
    ] = None,
    trajectories: _TRAJECTORIES = None,
    steps: _STEPS = None,
    seconds: _SECONDS = None,
    until: _UNTIL = None,
    explore: Annotated[
        str, typer.Option(metavar="NAME", help="How to move while learning: optimism, uniform, or FILE.py:NAME.")
    ] = "optimism",
    xi: Annotated[float, typer.Option(parser=_number, metavar="NUMBER", help="Weight on the optimistic action.")] = 1.0,
    horizon: Annotated[int | None, _maybe("N", "The longest a trajectory may be.")] = None,
    seed: Annotated[int, typer.Option(parser=_integer, metavar="N", help="Equal seeds give equal runs.")] = 0,
    const: Annotated[
        list[str] | None,
        typer.Option("--const", metavar="K=2,err=.2", help="Values for a program's constants.", show_default=False),
    ] = None,
    switch: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="What the process becomes, with --after; the learner is not told.", show_default=False
        ),
    ] = None,
    after: Annotated[int, typer.Option(parser=_integer, metavar="N", help="Trajectories before the switch.")] = 0,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Learn from a log (.csv .jsonl .parquet) or - for standard input instead of simulating.",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more records at the end of the log.")] = False,
    on_error: Annotated[
        OnError, typer.Option(help="A record that does not fit: stop, or reject it and go on.")
    ] = OnError.FAIL,
    precision: Annotated[
        float, typer.Option(parser=_number, metavar="NUMBER", help="The relative width of brackets.")
    ] = 1e-6,
    out: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Keep the run in this file; umdp resume goes on with it.", show_default=False),
    ] = None,
    json: _JSON = False,
    quiet: _QUIET = False,
) -> Learn:
    """Return what `umdp learn` was asked for."""
    from umdp.run import Config

    config = Config(
        model=model, constants=",".join(const or ()), question=property, learner=learner,
        settings=dict(_setting(text) for text in set or ()), explore=explore, xi=xi, seed=seed, horizon=horizon,
        precision=precision, switch=switch, after=after, log=log, follow=follow, on_error=on_error.value, until=until,
        trajectories=trajectories, steps=steps, seconds=seconds,
    )  # fmt: skip
    return Learn(config, out, json, quiet)


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and value of a learner's setting: a number, a pair of numbers, or a word."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f'--set "{text}": write NAME=VALUE, such as strength=5,10 or error_rate=0.01')
    parts = [_plain_value(part) for part in value.split(",")]
    return name.strip(), parts[0] if len(parts) == 1 else tuple(parts)


def _plain_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


@app.command(
    name="resume",
    help="Go on with a run where it was when it ended, however it ended. Limits that are given replace all there were, so that "
    "a run goes on beyond its end.\n\n"
    "A run with code of somebody's own (FILE.py:NAME, gym:MODULE:ID) executes it: what that is, is said, and done with --trust.",
)
def _resume(
    run: _RUN,
    trajectories: _TRAJECTORIES = None,
    steps: _STEPS = None,
    seconds: _SECONDS = None,
    until: _UNTIL = None,
    trust: Annotated[bool, typer.Option("--trust", help="Execute the code that the run names.")] = False,
    json: _JSON = False,
    quiet: _QUIET = False,
) -> Resume:
    """Return what `umdp resume` was asked for."""
    limits = {"trajectories": trajectories, "steps": steps, "seconds": seconds, "until": until}
    return Resume(run, json, quiet, trust, limits)


@app.command(
    name="show", help="Show what a run is and what it knows; also while it is going on. Nothing in it is executed."
)
def _show(run: _RUN, json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False) -> Show:
    """Return what `umdp show` was asked for."""
    return Show(run, json)


@app.command(
    name="export", help="Write a run's snapshots, learned model or policy to a file; also while it is going on."
)
def _export(
    run: _RUN,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help=".csv .parquet: snapshots; .drn .umb .tra: the model; .json: the policy.",
            show_default=False,
        ),
    ],
    what: Annotated[
        What | None, typer.Option(help="What to write, if the name does not say.", show_default=False)
    ] = None,
) -> Export:
    """Return what `umdp export` was asked for."""
    return Export(run, file, None if what is None else what.value)


declare(app)


@app.command(
    name="verify",
    help="Check a certificate in exact rational arithmetic, without the solver, and say what it proves.\n\n"
    "Exit status: 0 proved, 1 not proved, and which part fails, 2 not a certificate.",
)
def _verify(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Written by umdp check --certificate.", show_default=False)
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
    environment: Annotated[str, typer.Argument(metavar="ID", help="Such as gym:FrozenLake-v1.", show_default=False)],
    steps: Annotated[int, typer.Option(parser=_integer, metavar="N", help="How long to play.")] = 20_000,
    seed: Annotated[int, typer.Option(parser=_integer, metavar="N", help="Equal seeds give equal findings.")] = 0,
) -> CheckEnv:
    """Return what `umdp check-env` was asked for."""
    return CheckEnv(environment, steps, seed)
