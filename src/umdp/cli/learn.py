"""`umdp learn`: learn, show how the guarantee improves, stop whenever it is good enough."""

from __future__ import annotations

import enum
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from umdp.cli.log_options import LogOptions
from umdp.cli.outputs import check_folder, check_outputs, check_policy_file, files_read
from umdp.cli.plot import Plot, picture_file
from umdp.cli.run_options import Limits, RunOptions, confident, settings_of_texts
from umdp.cli.runs import Export, What
from umdp.cli.session import Session
from umdp.cli.terminal import announce, say
from umdp.errors import ModelError
from umdp.learning.loop import LearningRun
from umdp.run import Config, Store
from umdp.run.fingerprint import fingerprint
from umdp.run.log_settings import LogSettings
from umdp.source.resolve import resolve

__all__ = ["Learn"]

EXPLORE, SHARE = 60.0, 0.2  # seconds for exploratory episodes; where a time is given, this much of it


class OnError(enum.StrEnum):
    """What to do with a row that is malformed or contradicts the model."""

    FAIL = "fail"
    SKIP = "skip"
    CHANCE = "chance"


@dataclass(frozen=True, kw_only=True)
class Learn(Limits, LogOptions, RunOptions):
    """Learn a model from trajectories and give, at any time, a robust policy with its worst-case value.

    MODEL plays the unknown process: only its graph is known to the learner. Stop with Ctrl-C whenever it is good enough:
    the result is printed, and kept with --out.

    Exit status: 0 done, 2 bad input or usage, 130 interrupted after saying what was learned.

    Options
    -------
    per_solve : N
        Trajectories per solve, at least; environments are otherwise played as long as solving takes.
    sampling : NAME
        How a model is simulated: steps, one trajectory after another; counts, many at once with the same law; auto,
        whichever is cheaper.
    switch : MODEL
        What the process becomes, with --after; the learner is not told.
    after : N
        Trajectories before the switch.
    log : FILE
        Learn from a log (.csv .jsonl .parquet) or - for standard input instead of simulating MODEL, its graph.
    follow
        Wait for more records at the end of the log.
    on_error
        A row that does not fit: fail stops, skip rejects it and goes on, chance takes it that rows were spoilt by
        chance, so that the promise stands. Default: skip where the log is the model, otherwise fail.
    aside : FILE
        Write rows of a log that are rejected to this file.
    precision : NUMBER
        The relative width of brackets.
    out : RUN
        Keep the run in this file; umdp resume goes on with it.
    policy : FILE
        Write the policy in the end: .json, .csv or .py (a Python function).
    plot : FILE
        Draw how the answer came about in the end: .png, .pdf or .svg; umdp plot draws more of a run.
    certificate : FILE
        Write a proof of the bracket and of its level in the end, for umdp verify.
    json
        Print one JSON object per snapshot and line.

    Examples
    --------
    # until the worst case is good enough
    umdp learn grid --until '>=0.2' --out grid.run
    # with a promise: right with probability 95 %
    umdp learn aircraft --confidence 0.95 --trajectories 500
    # what is alike learned together, sampled where it counts
    umdp learn grid --confidence 0.95 --tie declared --explore gap --until '>=0.2'
    # by playing candidates while learning
    umdp learn aircraft --evidence 0.5 --trajectories 900
    # for programs
    umdp learn chain --trajectories 100 --json
    # another learner, with settings
    umdp learn bandit --learner pac --set error_rate=0.1 --steps 900
    # a log (python examples/machine.py machine.csv writes this one)
    umdp learn machine.csv 'Pmin=? [ F<=20 "failed" ]' --label failed=failed
    # an environment of Gymnasium (needs the extra gym)
    umdp learn gym:FrozenLake-v1 'Pmax=? [ F "goal" ]' --trajectories 2000
    """

    per_solve: int | None = None
    sampling: str = "steps"
    switch: str | None = None
    after: int | None = None
    log: str | None = None
    follow: bool = False
    on_error: OnError | None = None
    aside: str | None = None
    precision: float = 1e-06
    out: str | None = None
    policy: str | None = None
    plot: str | None = None
    certificate: str | None = None
    force: bool = False
    json: bool = False
    quiet: bool = False

    def configured(self, **found: Any) -> Config:
        """Return what is to be learned, and how; a log may have a description that says some of it."""
        data, question, on_error = self._log()
        chosen = confident(self.learner, settings_of_texts(self.set), self.confidence, self.given)
        return super().configured(after=self.after or 0, data=data, question=question, on_error=on_error, **chosen)

    def _log(self) -> tuple[LogSettings, str | None, str]:
        """Return how a log is to be read, the property, and what to do with rows that do not fit.

        They are what was typed, completed by the file that describes the log.
        """
        name = self.log if self.log is not None else self.model if resolve(self.model).recorded else None
        known = None if self.log is None else self.model
        typed, more = self.settings(name, self._tell, aside=self.aside, known=known)
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
        return not {"learner", "confidence"} & self.given

    def run(self) -> int:
        """Learn until something ends it; return the exit status."""
        self.config.limits()
        config = self.config.for_observed() if self._free and self.config.shows_graph else self.config
        config = msgspec.structs.replace(config, behaviour=config.read_from is not None)
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
            with Store.create(file, config.plain(), run.source.graph, force=self.force, **more) as store:
                status = session.go(run, config, store)
            self._write(file)
            return status

    def _built(self, config: Config) -> tuple[LearningRun, Config, float]:
        """Return the run, and its configuration with what was found out: how it was explored, and which learner fits.

        The last is how long exploration took.
        """
        config.check()
        given = EXPLORE if config.seconds is None else SHARE * config.seconds
        begun, spent = time.monotonic(), 0.0
        source, spec, horizon = config.build_source(given, self._tell)
        if source.explored is not None:
            config, spent = msgspec.structs.replace(config, explored=source.explored), time.monotonic() - begun
        config = msgspec.structs.replace(config, data=config.data.as_read(source))
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
            picture_file(Path(self.plot), place=f"--plot {self.plot}")
        if self.policy is not None:
            check_policy_file(self.policy)
        outputs = {"--out": self.out, "--policy": self.policy, "--plot": self.plot}
        outputs |= {"--certificate": self.certificate, "--aside": config.data.aside}
        if files := [(option, file) for option, file in outputs.items() if file is not None]:
            check_outputs(files, files_read(self.config), force=self.force)

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
        if self.policy is not None:
            Export(run, self.policy, What.POLICY, force=True).write(aloud=not self.json)
        if self.plot is not None:
            Plot([run], out=self.plot, force=True).draw(aloud=not self.json)
