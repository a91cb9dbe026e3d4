"""`umdp learn`: learn, show how the guarantee improves, stop whenever it is good enough."""

from __future__ import annotations

import enum
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from umdp.cli import options, run_options
from umdp.cli.options import argument, check_folder, flag, option, real, share, whole
from umdp.cli.run_options import SETTINGS_IN_WORDS, learners, models, settings
from umdp.cli.session import Session
from umdp.cli.terminal import announce, say
from umdp.errors import FormatError, ModelError
from umdp.learn import LEARNERS

if TYPE_CHECKING:
    from umdp.learning.procedure import LearningRun
    from umdp.run import Config
    from umdp.run.log_settings import LogSettings

__all__ = ["GAP", "ONE_PER_SNAPSHOT", "SECONDS", "STEPS", "TRAJECTORIES", "UNTIL", "Learn"]

EXPLORE, SHARE = 60.0, 0.2  # seconds for exploratory episodes; where a time is given, this much of it
LOGS = "Logs"  # the title of options about them

TRAJECTORIES: TypeAlias = Annotated[int | None, whole("N", "Stop after so many trajectories.")]
STEPS: TypeAlias = Annotated[int | None, whole("N", "Stop after so many steps.")]
SECONDS: TypeAlias = Annotated[float | None, real("SECONDS", "Stop after this time.")]
UNTIL: TypeAlias = Annotated[str | None, option('">=0.3"', "Stop when this is reached.")]
GAP: TypeAlias = Annotated[
    float | None, real("0.01", "Stop when no policy can be better than what is promised by more than this.")
]
ONE_PER_SNAPSHOT: TypeAlias = Annotated[bool, flag("Print one JSON object per snapshot and line.", "--json")]


class OnError(enum.StrEnum):
    """What to do with a row that is malformed or contradicts the model."""

    FAIL = "fail"
    SKIP = "skip"
    CHANCE = "chance"


_of_logs = partial(option, rich_help_panel=LOGS)


@dataclass(frozen=True)
class Learn:
    """Learn a model from trajectories and give, at any time, a robust policy with its worst-case value.

    MODEL plays the unknown process: only its graph is known to the learner. Stop with Ctrl-C whenever it is good enough:
    the result is printed, and kept with --out.

    Exit status: 0 done, 2 bad input or usage, 130 interrupted after saying what was learned.
    """

    context: typer.Context
    model: Annotated[
        str,
        argument(
            "MODEL",
            "A benchmark (chain, chain-switched, aircraft, grid, bandit, betting-favourable, betting-unfavourable), a "
            "file as for check, gym:ID (gym:FrozenLake-v1,map_name=8x8), MODULE:ID, FILE.py:NAME, a function or class of yours "
            "that makes an MDP or an environment, or a log: .csv .tsv .jsonl .parquet, also .gz, a folder or pattern of these, "
            "or - for standard input.",
            autocompletion=models,
        ),
    ]
    property: run_options.PROPERTY = None
    learner: Annotated[
        str,
        option(
            "NAME",
            f"{', '.join(LEARNERS)}, or FILE.py:NAME. Where the graph is only observed (a log without a graph, an "
            "environment without a table) and none is asked for, confidence-sequence with the error rate 0.05.",
            autocompletion=learners,
        ),
    ] = "lui"
    confidence: Annotated[
        Decimal | None,
        option(
            "0.95",
            "Learn so that the result holds with this probability, whenever you stop: chooses the learner "
            "confidence-sequence, and its error rate.",
            parser=share,
        ),
    ] = None
    set: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            f"A setting of the learner; may be repeated. {SETTINGS_IN_WORDS}.",
            "--set",
            autocompletion=settings,
        ),
    ] = None
    tie: Annotated[
        str | None,
        option(
            "FILE.py:NAME",
            "Which choices share one distribution over outcomes, so that what is seen of one is learned of all: a function "
            "of (state, action, successor) that returns a class and an outcome, or None; CLASS,OUTCOME, two columns of "
            "the table given by --graph; or: declared, for what a benchmark declares.",
        ),
    ] = None
    trajectories: TRAJECTORIES = None
    steps: STEPS = None
    seconds: SECONDS = None
    until: UNTIL = None
    gap: GAP = None
    explore: run_options.EXPLORE = "optimism"
    xi: run_options.XI = 1.0
    horizon: Annotated[int | None, whole("N", "The longest a trajectory may be.")] = None
    seed: Annotated[int, whole("N", "Equal seeds give equal runs.")] = 0
    per_solve: Annotated[
        int | None,
        whole("N", "Trajectories per solve, at least; environments are otherwise played as long as solving takes."),
    ] = None
    sampling: Annotated[
        str,
        option(
            "NAME",
            "How a model is simulated: steps, one trajectory after another; counts, many at once with the same law; auto, "
            "whichever is cheaper.",
        ),
    ] = "steps"
    evidence: run_options.EVIDENCE = None
    most: run_options.MOST = None
    const: run_options.CONST = None
    unknown: Annotated[
        list[str] | None,
        option(
            "p=0.5:1,q",
            "Undefined constants of a program to be learned, with the ends between which they lie, 0 and 1 unless given; "
            "--const gives the values with which the process is played. May be repeated.",
            "--unknown",
        ),
    ] = None
    env_arg: options.ENV_ARG = None
    switch: Annotated[
        str | None, option("MODEL", "What the process becomes, with --after; the learner is not told.")
    ] = None
    after: Annotated[int | None, whole("N", "Trajectories before the switch.")] = None
    log: Annotated[
        str | None,
        _of_logs(
            "FILE",
            "Learn from a log (.csv .jsonl .parquet) or - for standard input instead of simulating MODEL, its graph.",
        ),
    ] = None
    follow: Annotated[bool, flag("Wait for more records at the end of the log.", "--follow", rich_help_panel=LOGS)] = (
        False
    )
    columns: Annotated[
        list[str] | None,
        _of_logs(
            "ROLE=NAME",
            "Columns of a log: state=unit,next=after; roles: trajectory, state, action, next, end, terminated, truncated.",
            "--columns",
        ),
    ] = None
    label: Annotated[
        list[str] | None,
        _of_logs(
            "NAME=STATES",
            "A label: failed=failed, failed=fail*,broken, hot=column:alarm, failed=next:end.",
            "--label",
        ),
    ] = None
    reward: Annotated[
        list[str] | None,
        _of_logs(
            "NAME=COLUMN",
            "A reward: cost=downtime, gain=pay>=-20, cost=mean:downtime, steps=1, cost=worn:1,failed:10.",
            "--reward",
        ),
    ] = None
    initial: Annotated[
        str | None,
        _of_logs("STATE", "The initial state of a log; observed: the states in which trajectories begin."),
    ] = None
    terminal: Annotated[
        str | None, _of_logs("STATES", "States of a log that end trajectories, though it does not say so.")
    ] = None
    graph: Annotated[
        str | None,
        _of_logs("MODEL", "What can happen, if not what the log shows: a model, FILE.py:NAME, or a CSV of it."),
    ] = None
    describe: Annotated[
        str | None,
        _of_logs("FILE", "A TOML file that says all this; machine.toml beside machine.csv is found by itself."),
    ] = None
    trust: Annotated[
        bool,
        flag("Execute the code and write the files that a description names.", "--trust", rich_help_panel=LOGS),
    ] = False
    on_error: Annotated[
        OnError | None,
        typer.Option(
            help="A row that does not fit: fail stops, skip rejects it and goes on, chance takes it that rows were spoilt by "
            "chance, so that the promise stands. Default: skip where the log is the model, otherwise fail.",
            rich_help_panel=LOGS,
        ),
    ] = None
    aside: Annotated[str | None, _of_logs("FILE", "Write rows of a log that are rejected to this file.")] = None
    precision: Annotated[float, real("NUMBER", "The relative width of brackets.")] = 1e-6
    out: Annotated[str | None, option("RUN", "Keep the run in this file; umdp resume goes on with it.")] = None
    policy: Annotated[str | None, option("FILE", "Write the policy in the end: .json or .csv.")] = None
    plot: Annotated[
        str | None,
        option("FILE", "Draw how the answer came about in the end: .png, .pdf or .svg; umdp plot draws more of a run."),
    ] = None
    certificate: Annotated[
        str | None, option("FILE", "Write a proof of the bracket and of its level in the end, for umdp verify.")
    ] = None
    force: options.FORCE = False
    json: ONE_PER_SNAPSHOT = False
    quiet: options.QUIET = False

    def __post_init__(self) -> None:
        """Refuse at once what cannot be put together."""
        _ = self.config

    @cached_property
    def config(self) -> Config:
        """What is to be learned, and how."""
        settings, question, on_error = self._log()
        given = run_options.typed(self.context)
        chosen = run_options.confident(self.learner, run_options.settings_of_texts(self.set), self.confidence, given)
        read = {"data": settings, "question": question, "on_error": on_error}
        return run_options.configured(self, given, after=self.after or 0, **chosen, **read)

    def _log(self) -> tuple[LogSettings, str | None, str]:
        """Return how a log is to be read, the property, and what to do with rows that do not fit.

        They are what was typed, completed by the file that describes the log.
        """
        from umdp.run.log_settings import LogSettings, beside, read_description
        from umdp.run.trust import require_description
        from umdp.source.logs.extra_columns import split
        from umdp.source.resolve import resolve

        parts = (part for text in self.columns or () for part in split(text))
        columns = dict(_pairs("--columns", parts, "state=unit"))
        labels: dict[str, list[str]] = {}
        for label, states in _pairs("--label", self.label or (), "failed=failed"):
            labels.setdefault(label, []).extend(split(states))
        typed = LogSettings(
            columns=columns,
            labels=labels,
            rewards=dict(_pairs("--reward", self.reward or (), "cost=downtime")),
            initial=self.initial,
            terminal=[] if self.terminal is None else split(self.terminal),
            aside=self.aside,
            graph=self.graph,
        )
        name = self.log if self.log is not None else self.model if resolve(self.model).recorded else None
        found = self.describe if self.describe is not None else None if name is None else beside(name)
        more: dict[str, str] = {}
        if found is not None:
            settings, more = read_description(found)
            if self.log is not None:
                settings = settings.with_graph(None)
            require_description(typed, settings, Path(found), trusted=self.trust)
            known = self.model if self.log is not None else typed.graph or settings.graph
            if known is not None and not resolve(known).recorded:
                settings = settings.unlabelled()  # a model has labels and rewards of its own
            typed = typed.over(settings)
            if self.describe is None:
                self._tell(f"{name} is described by {found}")
        observed = self.log is None and typed.graph is None and name is not None
        default = more.get("on-error", "skip" if observed else "fail")
        question = more.get("property") if self.property is None else self.property
        return typed, question, default if self.on_error is None else self.on_error.value

    def _tell(self, line: str) -> None:
        if not (self.quiet or self.json):
            say(line, err=True, flush=True)

    @cached_property
    def _free(self) -> bool:
        """Whether nobody asked for a learner."""
        return not {"learner", "confidence"} & run_options.typed(self.context)

    def run(self) -> int:
        """Learn until something ends it; return the exit status."""
        from umdp.run import Store
        from umdp.run.fingerprint import fingerprint

        self.config.limits()
        config = self.config.for_observed() if self._free and self.config.shows_graph else self.config
        self._check_outputs(config)
        config = config.signed()
        announce()
        run, config, spent = self._built(config)
        session = Session(self.json, self.quiet, self.certificate, self.out, spent)
        with self._kept() as file:
            if file is None:
                return session.go(run, config)
            truth = None if run.source.truth is None or config.switch is not None else run.source.truth.probability
            more = {"property": str(run.spec), "fingerprint": fingerprint(config, run), "truth": truth}
            with Store.create(file, config.plain(), run.source.graph, **more) as store:
                status = session.go(run, config, store)
            self._write(file)
            return status

    def _built(self, config: Config) -> tuple[LearningRun, Config, float]:
        """Return the run, and its configuration with what was found out: how it was explored, and which learner fits.

        The last is how long exploration took.
        """
        import msgspec

        config.check()
        given = EXPLORE if config.seconds is None else SHARE * config.seconds
        begun, spent = time.monotonic(), 0.0
        source, spec, horizon = config.build_source(given, self._tell)
        if source.explored is not None:
            config, spent = msgspec.structs.replace(config, explored=source.explored), time.monotonic() - begun
        if self._free and not config.chosen and source.provenance().graph == "observed":
            config = config.for_observed()
        return config.assemble(source, spec, horizon), config, min(spent, given)

    # -- what is written in the end --------------------------------------------------------------------------

    def _check_outputs(self, config: Config) -> None:
        """Raise an error where a file could not be written in the end."""
        if self.certificate is not None:
            place = f"--certificate {self.certificate}"
            if not config.build_learner().claim.holds and config.evidence is None:
                raise ModelError(
                    f"{place}: the learner {config.learner} promises nothing, so there is nothing to certify; use "
                    "--confidence 0.95"
                )
            check_folder(Path(self.certificate), place)
        if self.plot is not None:
            from umdp.cli.plot import picture_file

            picture_file(Path(self.plot), place=f"--plot {self.plot}")
        if self.policy is not None:
            file, place = Path(self.policy), f"--policy {self.policy}"
            if file.suffix not in (".json", ".csv"):
                raise FormatError("a policy is written as .json or .csv", path=place)
            check_folder(file, place)
        files = [("--out", self.out), ("--policy", self.policy), ("--plot", self.plot)]
        files += [("--certificate", self.certificate), ("--aside", config.data.aside)]
        options.check_outputs(files, options.files_read(self.config), force=self.force)

    @contextmanager
    def _kept(self) -> Iterator[str | None]:
        """Give the file in which to keep the run: the user's, one for the time being, or none."""
        if self.out is not None or (self.plot is None and self.policy is None):
            yield self.out
            return
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder, "learned.run"))

    def _write(self, run: str) -> None:
        """Write the policy and the picture from a run, over those of an earlier call."""
        from umdp.cli.plot import Plot
        from umdp.cli.runs import Export, What

        if self.policy is not None:
            Export(run, self.policy, What.POLICY, force=True).write(aloud=not self.json)
        if self.plot is not None:
            Plot([run], out=self.plot, force=True).draw(aloud=not self.json)


def _pairs(option: str, texts: Iterable[str], example: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise typer.BadParameter(f'{option} "{text}": write NAME=VALUE, such as {example}')
        yield name.strip(), value.strip()
