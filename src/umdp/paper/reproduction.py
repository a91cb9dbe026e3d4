"""From experiments to a folder: runs, tables, figures, verdicts, and one page that shows them all."""

from __future__ import annotations

import importlib.util
import json
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from umdp.errors import FormatError, MissingExtra
from umdp.paper.claims.claims import Judged, judge
from umdp.paper.experiments.archive import Archive
from umdp.paper.experiments.experiment import Experiment, check
from umdp.paper.experiments.trial import Trial, describe
from umdp.paper.report.results_table import table_stem, write_table
from umdp.paper.results import Results
from umdp.statements.text import printable

__all__ = ["Reproduction", "collect", "reproduce"]

ARCHIVE = "runs.db"

Run = Callable[[Iterable[Trial], Archive], int]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` made.

    Attributes
    ----------
    folder, report : where everything is, and the page to begin with
    results : one for each experiment and mode
    judged : the claims, mode by mode
    done : how many runs were done now; the others were there
    """

    folder: Path
    report: Path
    results: list[Results]
    judged: list[Judged]
    done: int


def reproduce(
    experiments: Sequence[Experiment], folder: str | Path, run: Run, *, kind: str | None = None, say: Say | None = None
) -> Reproduction:
    """Do the runs that are missing in a folder, and write tables, figures and the report there.

    Parameters
    ----------
    experiments : sequence of Experiment
    folder : str or Path
        Runs that an earlier call finished here are not done again.
    run : callable
        Given trials and an archive, does what is not there yet: `processes`, or `sweep` with an executor.
    kind : {"parquet", "csv"}, optional
        The kind of the tables; Parquet where polars is installed.
    say : callable, optional
        Told, in a few words, what comes next.

    Raises
    ------
    FormatError
        Before the first run, if an environment, property, learner or setting does not fit.
    """
    for experiment in experiments:
        check(experiment)
    folder = _folder(folder)
    told = say or (lambda text: None)
    kind = kind or ("parquet" if importlib.util.find_spec("polars") else "csv")
    if any(importlib.util.find_spec(name) is None for name in ("matplotlib", "jinja2")):
        raise MissingExtra("plot", "drawing the figures and writing the report")
    _check_files(folder, experiments, kind)
    with Archive.open(folder / ARCHIVE) as archive:
        trials = [trial for experiment in experiments for trial in experiment.trials()]
        done = run(trials, archive)
        told("writing the tables")
        results = [collect(experiment, archive) for experiment in experiments]
    for each in results:
        write_table(each, folder, kind)
    ours = [each for each in results if not each.own]
    judged = [verdict for mode in sorted({each.published for each in ours}) for verdict in judge(ours, mode)]
    if ours:
        (folder / "claims.json").write_text(
            json.dumps([_as_written(each) for each in judged], indent=1) + "\n", encoding="utf-8"
        )
    report = _show(results, judged, folder, told)
    return Reproduction(folder, report, results, judged, done)


def collect(experiment: Experiment, archive: Archive) -> Results:
    """Return the results of an experiment, all of whose runs are in the archive."""
    titles = {each.name: each.title or _title(each.name) for each in experiment.environments}
    problems = {name: describe(config, titles[name]) for name, config in experiment.problems().items()}
    outcomes = tuple(trial.outcome(archive.get(trial.key)) for trial in experiment.trials())
    settings = {"experiment": msgspec.to_builtins(experiment), "versions": _versions(), "seed": experiment.seed}
    return Results(
        experiment.name, experiment.title, experiment.published, experiment.trajectories, experiment.seeds, problems,
        outcomes, settings, experiment.own,
    )  # fmt: skip


def _as_written(one: Judged) -> dict[str, object]:
    """Return a claim as the file of claims has it; why it was not judged stands in the detail there."""
    return {name: value for name, value in asdict(one).items() if name != "reason"}


def _show(results: list[Results], judged: list[Judged], folder: Path, say: Say) -> Path:
    from umdp.paper.report.figures import figures
    from umdp.paper.report.html_report import write_report
    from umdp.paper.report.summary import summary

    say("drawing the figures")
    pictures = folder / "figures"
    pictures.mkdir(exist_ok=True)
    drawings = [drawing for each in results if each.outcomes for drawing in figures(each, pictures)]
    report = folder / "report.html"
    say("writing the report")
    write_report(report, results, judged, drawings)
    (folder / "summary.md").write_text(printable(summary(results, judged)), encoding="utf-8")
    return report


def _folder(given: str | Path) -> Path:
    folder = Path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(
            f"this folder cannot be made ({error.strerror}); choose another with --out", path=folder
        ) from None
    return folder


def _check_files(folder: Path, experiments: Iterable[Experiment], kind: str) -> None:
    """Raise `FormatError` where a file that will be written is there, and is none of an earlier reproduction."""
    if (folder / ARCHIVE).exists():
        return
    names = ["report.html", "summary.md", "claims.json"]
    for each in experiments:
        stem = table_stem(each.name, published=each.published)
        names += [f"{stem}.{kind}", f"{stem}.json"]
    for name in names:
        if (folder / name).exists():
            raise FormatError(
                "this file is there already, and not from an earlier reproduction; choose another folder with --out",
                path=folder / name,
            )


def _title(name: str) -> str:
    titles = {"betting-favourable": "Betting game, favourable", "betting-unfavourable": "Betting game, unfavourable"}
    if name.startswith("gym:"):
        return name.removeprefix("gym:")
    return titles.get(name, name[:1].upper() + name[1:].replace("-", " "))


def _versions() -> dict[str, str]:
    found: dict[str, Any] = {"python": platform.python_version()}
    for name in ("umdp", "numpy", "scipy", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
