"""`umdp reproduce`: the paper's experiments, or a user's own, from runs to a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from umdp.cli.progress import count_runs
from umdp.cli.terminal import announce, as_text, console, say
from umdp.run.trust import require_experiment
from umdp.statements.text import nouns, one_line

if TYPE_CHECKING:
    from umdp.paper.experiments.archive import Archive
    from umdp.paper.experiments.experiment import Experiment
    from umdp.paper.experiments.trial import Trial
    from umdp.paper.reproduction import Reproduction

__all__ = ["Reproduce"]


@dataclass(frozen=True)
class Reproduce:
    """Run experiments, the paper's or your own, and write tables, figures and a report.

    EXPERIMENT is a .toml file of yours, for a report under its title; or basic, strength, change or ties, the paper's, for a
    report that says of each of its claims whether it holds; without one, all four. The paper's are run by its
    definitions and as published, yours by definition. Run the same command again to go on after an interruption:
    what is done is kept in the folder. A file that names code (FILE.py:NAME, gym:MODULE:ID) says so, and executes it with
    --trust.

    Exit status: 0 done, 2 bad input or usage, 130 interrupted.

    Arguments
    ---------
    experiments : EXPERIMENT
        Names, or .toml files.

    Options
    -------
    seeds : N
        How often to repeat every run; 100 in the paper.
    trajectories : N
        How long runs are; 1000000 in the paper.
    seed : N
        The root of all seeds; equal roots give equal results.
    jobs : N
        Processes of this machine; by default one per core.
    scheduler : ADDRESS
        Run on a Dask cluster, such as tcp://host:8786.
    as_published
        Only by the rules of the published code.
    by_definition
        Only by the paper's definitions.
    out : FOLDER
        Where everything goes.
    csv
        Tables as CSV instead of Parquet.
    trust
        Execute the code that an experiment file names.

    Examples
    --------
    # an experiment of your own, with code of your own
    umdp reproduce examples/own/ferry.toml --seeds 2 --trajectories 200 --trust
    """

    experiments: list[str] | None = None
    seeds: int | None = None
    trajectories: int | None = None
    seed: int | None = None
    jobs: int | None = None
    scheduler: str | None = None
    as_published: bool = False
    by_definition: bool = False
    out: str = "reproduction"
    csv: bool = False
    trust: bool = False
    quiet: bool = False

    def run(self) -> int:
        """Run what is missing, write everything, and show the verdicts; return the exit status."""
        from umdp.paper.experiments.sweep import cluster, processes, sweep
        from umdp.paper.reproduction import reproduce

        experiments = list(self._experiments())
        if not self.quiet:
            announce()

        def work(trials: Iterable[Trial], archive: Archive) -> int:
            with count_runs(self.quiet) as progress:
                if self.scheduler is None:
                    return processes(trials, archive, self.jobs, progress)
                with cluster(self.scheduler) as executor:
                    return sweep(trials, archive, executor, progress)

        def tell(text: str) -> None:
            if not self.quiet:
                say(text, err=True)

        try:
            made = reproduce(experiments, self.out, work, kind="csv" if self.csv else None, say=tell)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"what is done is kept in {self.out}; the same command goes on") from None
        _show(made, experiments)
        return 0

    def _experiments(self) -> Iterator[Experiment]:
        from umdp.paper.experiments.experiment import EXPERIMENTS, Experiment

        if self.as_published and self.by_definition:
            raise typer.BadParameter("give --as-published or --by-definition, or neither for both")
        if self.jobs is not None and self.jobs < 1:
            raise typer.BadParameter(f"--jobs must be at least 1, not {self.jobs}")
        if self.jobs is not None and self.scheduler is not None:
            raise typer.BadParameter(
                "--jobs is for processes of this machine, and --scheduler has workers; give one of them"
            )
        for name in dict.fromkeys(self.experiments or EXPERIMENTS):
            given = Experiment.load(name).cut(seeds=self.seeds, trajectories=self.trajectories, seed=self.seed)
            if given.own:
                configs = (trial.config for trial in given.cut(seeds=1).trials())
                require_experiment(configs, name, trusted=self.trust)
            if not self.as_published:
                yield given
            if self.as_published or (name in EXPERIMENTS and not self.by_definition):
                yield given.as_published()


def _show(made: Reproduction, experiments: Iterable[Experiment]) -> None:
    """Print the verdicts, what was left out, and where everything is."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    screen = console()
    colours = {"holds": "green", "partly": "yellow", "fails": "red", "not judged": "dim"}
    modes = [mode for mode in (False, True) if any(each.published == mode for each in made.judged)]
    if any(each.verdict != "not judged" for each in made.judged):
        table = Table("", "claim", box=box.SIMPLE_HEAD, pad_edge=False)
        for mode in modes:
            table.add_column("as published" if mode else "by definition")
        for key in dict.fromkeys(each.key for each in made.judged):
            found = {each.published: each for each in made.judged if each.key == key}
            cells = [
                Text.assemble((found[m].verdict, colours[found[m].verdict]), "\n", one_line(found[m].number))
                for m in modes
            ]
            table.add_row(key, next(iter(found.values())).claim, *cells)
        screen.print(table)
    for one in made.results:
        if one.own and one.outcomes:
            from umdp.paper.claims.endings import ENDING_HEAD, ending_rows

            table = Table(*ENDING_HEAD, box=box.SIMPLE_HEAD, pad_edge=False, title=as_text(one.title or one.name))
            for row in ending_rows(one):
                table.add_row(*map(as_text, row))
            screen.print(table)
    left_out = sorted({after for each in experiments for after in each.left_out()})
    if left_out:
        say(f"left out, as the runs are too short: changes after {', '.join(map(str, left_out))} trajectories")
    runs = sum(len(each.outcomes) for each in made.results)
    say(f"{runs} {nouns(runs, 'run')}, {made.done} of them now; tables and figures in {made.folder}")
    say(f"report: {made.report}")
