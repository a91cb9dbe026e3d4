"""`umdp calibrate`: how often what a learner says is true, measured where the truth is known."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from umdp.analysis.calibration import calibration, default_times, simulated
from umdp.analysis.coverage import Calibration
from umdp.cli.outputs import check_outputs, files_read
from umdp.cli.plot import picture_file
from umdp.cli.progress import count_runs
from umdp.cli.run_options import RunOptions, learners, models, promises, settings_of_texts
from umdp.cli.terminal import INTERRUPTED, announce, say, say_json
from umdp.errors import ModelError
from umdp.learn import LEARNERS
from umdp.learn.learner_settings import settings_of, shown
from umdp.learning.loop import LearningRun
from umdp.run import Config
from umdp.source import Source
from umdp.source.resolve import is_plugin, plugin
from umdp.spec import Spec

__all__ = ["Calibrate", "Configured"]

FEW = 20  # runs for which it does not pay to start another process


@dataclass(frozen=True, kw_only=True)
class Calibrate(RunOptions):
    """Measure how often what a learner says is true: each interval, the whole model, and the value of its policy.

    Many seeded runs, each looked at after every iteration: at fixed times, and at the worst time until then. All frequencies
    come with exact 95 % intervals. The truth must be known: a benchmark, a model file, an environment with a table.
    Ctrl-C gives what is there.

    Exit status: 0 measured, 2 bad input or usage, 130 interrupted after printing what was measured.

    Arguments
    ---------
    learner : LEARNER
        {learners}, or FILE.py:NAME, a class of yours.
    model : ENVIRONMENT
        As MODEL for learn, where the probabilities are known: a benchmark, a model file, gym:ID with a table,
        FILE.py:NAME.

    Options
    -------
    confidence : 0.95
        Compare with this level: sets the error rate of a learner that has one, and is nominal for others.
    tie : FILE.py:NAME
        Which choices share one distribution over outcomes, as for learn; or: declared, for what a benchmark declares.
    seed : N
        Of the first run.
    seeds : N
        How many runs.
    trajectories : N
        How many trajectories each run sees.
    as_published
        By the rules of the paper's published code, for its learners.
    jobs : N
        Processes at a time; by default as many as there are cores, fewer for few runs.
    plot : FILE
        Draw coverage over trajectories: .png, .pdf or .svg.
    json
        As one JSON object.

    Examples
    --------
    # are LUI's intervals right?
    umdp calibrate lui chain --seeds 20 --trajectories 100
    # at 95 %, for programs
    umdp calibrate pac chain --confidence 0.95 --seeds 10 --json
    """

    learner: str = field(metadata={"autocompletion": learners})
    model: str = field(metadata={"autocompletion": models})
    confidence: Decimal | None = None
    tie: str | None = None
    seed: int = 0
    seeds: int = 200
    trajectories: int = 1000
    as_published: bool = False
    jobs: int | None = None
    plot: str | None = None
    force: bool = False
    json: bool = False
    quiet: bool = False

    def configured(self, **found: Any) -> Config:
        """Return what each run is, but for its seed."""
        learner, confidence = self.learner, self.confidence
        by_evidence = confidence is not None and "evidence" in self.given and not promises(learner)
        rate = float(1 - confidence) if by_evidence and confidence is not None else None
        chosen = _with_rate(learner, settings_of_texts(self.set), confidence)
        return super().configured(question=self.property, settings=chosen, evidence_rate=rate)

    def run(self) -> int:
        """Run all seeds, print what was found, and draw it; return the exit status."""
        config = self._checked()
        quiet = self.quiet or self.json
        if not quiet:
            announce()
        make = Configured(config.signed(), self.as_published)
        trajectories = config.trajectories
        assert trajectories is not None
        level = None if self.confidence is None else float(self.confidence)
        with count_runs(quiet) as progress:
            found = calibration(
                make, seeds=self.seeds, seed=config.seed, times=default_times(trajectories), level=level,
                jobs=self._jobs(), name=config.model, learner=self._called(), progress=progress,
            )  # fmt: skip
        self._print(found)
        if self.plot is not None:
            from umdp import plot

            figure = plot.coverage(found).get_figure(root=True)
            assert figure is not None
            plot.save_as(figure, self.plot)
            if not self.json:
                say("", f"the coverage drawn in {self.plot}")
        return INTERRUPTED if found.interrupted else 0

    def _checked(self) -> Config:
        """Return the configuration; raise what is wrong with it before anything runs."""
        config = self.config
        config.limits()
        if self.seeds < 1:
            raise ModelError(f"--seeds must be at least 1, not {self.seeds}")
        if self.jobs is not None and self.jobs < 1:
            raise ModelError(f"--jobs must be at least 1, not {self.jobs}")
        if config.read_from is not None:
            raise ModelError(
                f"{config.model} is a log: the true probabilities are not known, and coverage is measured against them; "
                "calibrate on a benchmark, a model file, or an environment with a table"
            )
        if self.plot is not None:
            picture_file(Path(self.plot), place=f"--plot {self.plot}")
            check_outputs([("--plot", self.plot)], files_read(config), force=self.force)
        config.check()
        for name, value in (("tie", config.tie), ("evidence", config.evidence), ("unknown", config.unknown or None)):
            if self.as_published and value is not None:
                raise ModelError(f"--{name} is not part of the published code; leave it out, or --as-published")
        return config

    def _jobs(self) -> int:
        if self.jobs is not None:
            return self.jobs
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(cores, self.seeds // FEW))

    def _called(self) -> str:
        """Return the learner as it was typed, with its settings."""
        settings = ", ".join(f"{name}={shown(value)}" for name, value in self.config.settings.items())
        known = {
            "tied": self.config.tie,
            f"unknown {self.config.unknown}": self.config.unknown,
            "played": self.config.evidence,
        }
        more = "".join(f", {word}" for word, value in known.items() if value)
        return self.config.learner + (f" ({settings})" if settings else "") + more + " as published" * self.as_published

    def _print(self, found: Calibration) -> None:
        if self.json:
            config = self.config
            told = {
                "learner": config.learner, "settings": config.settings, "explore": config.explore, "tie": config.tie,
                "unknown": config.unknown or None,
            }  # fmt: skip
            say_json({**found.as_dict(), **told})
        else:
            say(*str(found).split("\n"))


@dataclass(frozen=True)
class Configured:
    """Makes the run of a seed from a configuration; it can travel to other processes, with the text of a user's own files."""

    config: Config
    published: bool = False

    def __call__(self, seed: int) -> LearningRun:
        """Return the run at its beginning."""
        import msgspec

        config = msgspec.structs.replace(self.config, seed=seed)
        try:
            encoded = msgspec.json.encode(msgspec.structs.replace(config, seed=0))
        except UnicodeEncodeError as error:
            raise ModelError(f"the name {error.object!r} is not text; rename the file") from None
        source, spec, horizon = _built(encoded)
        if not self.published:
            return config.assemble(source, spec, horizon)
        from umdp.paper.experiments.published import PUBLISHED, Published

        if config.learner not in PUBLISHED:
            raise ModelError(f"--as-published is for {', '.join(PUBLISHED)}, not for {config.learner}")
        learner = PUBLISHED[config.learner](**config.settings)
        return Published(source, spec, learner, config.build_explorer(), seed, horizon, config.precision)


@lru_cache(maxsize=1)
def _built(encoded: bytes) -> tuple[Source, Spec, int | None]:
    """Return the process, the property and the horizon, once per process."""
    from dataclasses import replace

    import msgspec

    config = msgspec.json.decode(encoded, type=Config)
    source, spec, horizon = config.build_source(explore_seconds=0.0)
    try:
        return simulated(source), replace(spec, threshold=None), horizon
    except ModelError as error:
        raise ModelError(f"{config.model}: {error}") from None


def _with_rate(learner: str, chosen: dict[str, Any], confidence: Decimal | None) -> dict[str, Any]:
    """Return the settings of a learner, with the error rate that a confidence stands for, if it has one."""
    if confidence is None:
        return chosen
    kind = plugin(learner) if is_plugin(learner) else LEARNERS.get(learner)
    if not isinstance(kind, type) or "error_rate" not in settings_of(kind):
        return chosen
    if "error_rate" in chosen:
        raise ModelError("--confidence and --set error_rate say the same thing; give one of them")
    return {**chosen, "error_rate": float(1 - confidence)}
