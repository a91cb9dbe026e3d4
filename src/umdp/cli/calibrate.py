"""`umdp calibrate`: how often what a learner says is true, measured where the truth is known."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.cli.count_runs import count_runs
from umdp.cli.terminal import say
from umdp.errors import ModelError

if TYPE_CHECKING:
    from umdp.analysis.coverage import Calibration
    from umdp.learning.procedure import LearningRun
    from umdp.run import Config
    from umdp.source.simulator import Simulator
    from umdp.spec import Spec

__all__ = ["Calibrate", "Configured"]

INTERRUPTED = 130
FEW = 20  # runs for which it does not pay to start another process


@dataclass(frozen=True)
class Calibrate:
    """One call of `umdp calibrate`, as typed."""

    config: Config
    seeds: int = 200
    level: float | None = None
    published: bool = False
    jobs: int | None = None
    plot: str | None = None
    json: bool = False
    quiet: bool = False
    force: bool = False

    def run(self) -> int:
        """Run all seeds, print what was found, and draw it; return the exit status."""
        from umdp.analysis.calibration import calibration, default_times
        from umdp.cli.kernels import announce

        config = self._checked()
        if not self.quiet:
            announce()
        make = Configured(config.signed(), self.published)
        trajectories = config.trajectories
        assert trajectories is not None
        with count_runs(self.quiet) as progress:
            found = calibration(
                make, seeds=self.seeds, seed=config.seed, times=default_times(trajectories), level=self.level,
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
        from umdp.cli.outputs import check_outputs, files_read
        from umdp.cli.plot import picture_file

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
        for option, value in (("tie", config.tie), ("evidence", config.evidence), ("unknown", config.unknown or None)):
            if self.published and value is not None:
                raise ModelError(f"--{option} is not part of the published code; leave it out, or --as-published")
        return config

    def _jobs(self) -> int:
        if self.jobs is not None:
            return self.jobs
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(cores, self.seeds // FEW))

    def _called(self) -> str:
        """Return the learner as it was typed, with its settings."""
        from umdp.learn.settings import shown

        settings = ", ".join(f"{name}={shown(value)}" for name, value in self.config.settings.items())
        known = {
            "tied": self.config.tie,
            f"unknown {self.config.unknown}": self.config.unknown,
            "played": self.config.evidence,
        }
        more = "".join(f", {word}" for word, value in known.items() if value)
        return self.config.learner + (f" ({settings})" if settings else "") + more + " as published" * self.published

    def _print(self, found: Calibration) -> None:
        from umdp.cli.live import plain

        if self.json:
            config = self.config
            told = {
                "learner": config.learner, "settings": config.settings, "explore": config.explore, "tie": config.tie,
                "unknown": config.unknown or None,
            }  # fmt: skip
            say(json.dumps(_plain({**found.as_dict(), **told}, plain), ensure_ascii=False))
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
def _built(encoded: bytes) -> tuple[Simulator, Spec, int | None]:
    """Return the process, the property and the horizon, once per process."""
    from dataclasses import replace

    import msgspec

    from umdp.analysis.calibration import simulated
    from umdp.run import Config

    config = msgspec.json.decode(encoded, type=Config)
    source, spec, horizon = config.build_source(explore_seconds=0.0)
    try:
        return simulated(source), replace(spec, threshold=None), horizon
    except ModelError as error:
        raise ModelError(f"{config.model}: {error}") from None


def _plain(value: Any, plain: Any) -> Any:
    """Return what JSON can hold."""
    if isinstance(value, dict):
        return {name: _plain(each, plain) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, plain) for each in value]
    return plain(value)
