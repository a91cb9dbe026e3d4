"""What can be typed about runs: learn, resume, show, export, with their options and help."""

from __future__ import annotations

import enum
from decimal import Decimal
from typing import Annotated, Any

import typer

from umdp.cli import log_options as logs
from umdp.cli.afterwards import Afterwards
from umdp.cli.env_args import ENV_ARG, arguments_of
from umdp.cli.evidence import EVIDENCE, MOST, check_evidence, evidence_rate
from umdp.cli.learn import Learn, Resume
from umdp.cli.loop_options import CONST, EXPLORE, PROPERTY, XI
from umdp.cli.numbers import integer, number, share
from umdp.cli.outputs import FORCE_HELP
from umdp.cli.runs import Export, Show
from umdp.cli.setting import setting
from umdp.cli.used import confident, typed, unused
from umdp.cli.words import learners, models, settings, settings_in_words
from umdp.learn import LEARNERS

__all__ = ["declare_runs"]


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

_RESUME_HELP = (
    "Go on with a run where it was when it ended, however it ended.\n\n"
    "Limits that are given replace all there were, so that a run goes on beyond its end. A run with code of somebody's own "
    "(FILE.py:NAME, gym:MODULE:ID) executes it: what that is is said, and done with --trust."
)


def _maybe(metavar: str, text: str, *, whole: bool = True) -> Any:
    return typer.Option(parser=integer if whole else number, metavar=metavar, help=text, show_default=False)


_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object per snapshot and line.")]
_QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")]
_TRAJECTORIES = Annotated[int | None, _maybe("N", "Stop after so many trajectories.")]
_STEPS = Annotated[int | None, _maybe("N", "Stop after so many steps.")]
_SECONDS = Annotated[float | None, _maybe("SECONDS", "Stop after this time.", whole=False)]
_GAP = Annotated[
    float | None,
    _maybe("0.01", "Stop when no policy can be better than what is promised by more than this.", whole=False),
]
_UNTIL = Annotated[str | None, typer.Option(metavar='">=0.3"', help="Stop when this is reached.", show_default=False)]
_RUN = Annotated[str, typer.Argument(metavar="RUN", help="A file written by umdp learn --out.", show_default=False)]


def _learn(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A benchmark (chain, chain-switched, aircraft, grid, bandit, betting-favourable, betting-unfavourable), a "
            "file as for check, gym:ID (gym:FrozenLake-v1,map_name=8x8), MODULE:ID, FILE.py:NAME, a function or class of yours "
            "that makes an MDP or an environment, or a log: .csv .tsv .jsonl .parquet, also .gz, a folder or pattern of these, "
            "or - for standard input.",
            show_default=False,
            autocompletion=models,
        ),
    ],
    property: PROPERTY = None,
    learner: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"{', '.join(LEARNERS)}, or FILE.py:NAME. Where the graph is only observed (a log without a graph, an "
            "environment without a table) and none is asked for, confidence-sequence with the error rate 0.05.",
            autocompletion=learners,
        ),
    ] = "lui",
    confidence: Annotated[
        Decimal | None,
        typer.Option(
            parser=share,
            metavar="0.95",
            help="Learn so that the result holds with this probability, whenever you stop: chooses the learner "
            "confidence-sequence, and its error rate.",
            show_default=False,
        ),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=f"A setting of the learner; may be repeated. {settings_in_words()}.",
            show_default=False,
            autocompletion=settings,
        ),
    ] = None,
    tie: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py:NAME",
            help="Which choices share one distribution over outcomes, so that what is seen of one is learned of all: a function "
            "of (state, action, successor) that returns a class and an outcome, or None; CLASS,OUTCOME, two columns of "
            "the table given by --graph; or: declared, for what a benchmark declares.",
            show_default=False,
        ),
    ] = None,
    trajectories: _TRAJECTORIES = None,
    steps: _STEPS = None,
    seconds: _SECONDS = None,
    until: _UNTIL = None,
    gap: _GAP = None,
    explore: EXPLORE = "optimism",
    xi: XI = 1.0,
    horizon: Annotated[int | None, _maybe("N", "The longest a trajectory may be.")] = None,
    seed: Annotated[int, typer.Option(parser=integer, metavar="N", help="Equal seeds give equal runs.")] = 0,
    per_solve: Annotated[
        int | None,
        _maybe("N", "Trajectories per solve, at least; environments are otherwise played as long as solving takes."),
    ] = None,
    sampling: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How a model is simulated: steps, one trajectory after another; counts, many at once with the same law; auto, "
            "whichever is cheaper.",
        ),
    ] = "steps",
    evidence: EVIDENCE = None,
    most: MOST = None,
    const: CONST = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            "--unknown",
            metavar="p=0.5:1,q",
            help="Undefined constants of a program to be learned, with the ends between which they lie, 0 and 1 unless given; "
            "--const gives the values with which the process is played. May be repeated.",
            show_default=False,
        ),
    ] = None,
    env_arg: ENV_ARG = None,
    switch: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="What the process becomes, with --after; the learner is not told.", show_default=False
        ),
    ] = None,
    after: Annotated[int | None, _maybe("N", "Trajectories before the switch.")] = None,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Learn from a log (.csv .jsonl .parquet) or - for standard input instead of simulating MODEL, its graph.",
            show_default=False,
            rich_help_panel="Logs",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for more records at the end of the log.", rich_help_panel="Logs")
    ] = False,
    columns: logs.COLUMNS = None,
    label: logs.LABEL = None,
    reward: logs.REWARD = None,
    initial: logs.INITIAL = None,
    terminal: logs.TERMINAL = None,
    graph: logs.GRAPH = None,
    describe: logs.DESCRIBE = None,
    trust: logs.TRUST = False,
    on_error: logs.ON_ERROR = None,
    aside: logs.ASIDE = None,
    precision: Annotated[
        float, typer.Option(parser=number, metavar="NUMBER", help="The relative width of brackets.")
    ] = 1e-6,
    out: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Keep the run in this file; umdp resume goes on with it.", show_default=False),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the policy in the end: .json or .csv.", show_default=False)
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw how the answer came about in the end: .png, .pdf or .svg; umdp plot draws more of a run.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a proof of the bracket and of its level in the end, for umdp verify.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
    json: _JSON = False,
    quiet: _QUIET = False,
) -> Learn:
    """Return what `umdp learn` was asked for."""
    from umdp.run import Config

    asked = {
        "columns": columns, "label": label, "reward": reward, "initial": initial, "terminal": terminal, "graph": graph,
        "aside": aside,
    }  # fmt: skip
    read = logs.log_options(model, log, property, on_error, describe, asked, quiet=quiet or json, trust=trust)
    given = typed(context)
    apart = evidence_rate(learner, confidence, given)
    learner, chosen = confident(
        learner, dict(setting(text) for text in set or ()), confidence if apart is None else None, given
    )
    config = Config(
        model=model, parameters=arguments_of(env_arg), constants=",".join(const or ()), question=read.question,
        unknown=",".join(unknown or ()),
        learner=learner, settings=chosen, tie=tie, explore=explore, xi=xi, seed=seed, horizon=horizon, precision=precision,
        per_solve=per_solve, sampling=sampling, switch=switch, after=after or 0, log=log, follow=follow, on_error=read.on_error,
        evidence=evidence, evidence_rate=apart, most=most,
        data=read.settings, until=until, trajectories=trajectories, steps=steps, seconds=seconds, gap=gap,
    )  # fmt: skip
    unused(config, given)
    check_evidence(config, given)
    return Learn(
        config, out, json, quiet, certificate, Afterwards(plot, policy), free=not {"learner", "confidence"} & given,
        force=force,
    )  # fmt: skip


def _resume(
    run: _RUN,
    trajectories: _TRAJECTORIES = None,
    steps: _STEPS = None,
    seconds: _SECONDS = None,
    until: _UNTIL = None,
    gap: _GAP = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Execute the code and write the files that the run names.")
    ] = False,
    json: _JSON = False,
    quiet: _QUIET = False,
) -> Resume:
    """Return what `umdp resume` was asked for."""
    limits = {"trajectories": trajectories, "steps": steps, "seconds": seconds, "until": until, "gap": gap}
    return Resume(run, json, quiet, trust, limits)


def _show(run: _RUN, json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False) -> Show:
    """Return what `umdp show` was asked for."""
    return Show(run, json)


def _export(
    run: _RUN,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help=".csv .parquet: snapshots; .drn .umb .tra .nc .txt: the model; .json: the policy.",
            show_default=False,
        ),
    ],
    what: Annotated[
        What | None,
        typer.Option(
            metavar="snapshots|model|policy", help="What to write, if the name does not say.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=FORCE_HELP)] = False,
) -> Export:
    """Return what `umdp export` was asked for."""
    return Export(run, file, None if what is None else what.value, force)


def declare_runs(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(name="learn", help=_LEARN_HELP)(_learn)
    app.command(
        name="resume",
        help=_RESUME_HELP,
    )(_resume)
    app.command(
        name="show", help="Show what a run is and what it knows; also while it is going on. Nothing in it is executed."
    )(_show)
    app.command(
        name="export", help="Write a run's snapshots, learned model or policy to a file; also while it is going on."
    )(_export)
