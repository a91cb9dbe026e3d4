"""`umdp plot`: a picture of runs, from what is in them alone. Nothing in them is executed or changed."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from umdp.cli.outputs import check_folder, check_outputs
from umdp.cli.terminal import say
from umdp.errors import FormatError
from umdp.run import OpenedRun, open_run

__all__ = ["Plot", "picture_file"]


class PlotKind(enum.StrEnum):
    """What to draw."""

    VALUE = "value"
    ERROR = "error"
    MODEL = "model"
    INTERVALS = "intervals"
    POLICY = "policy"
    VISITS = "visits"
    PARAMETERS = "parameters"


ALONE = (PlotKind.POLICY, PlotKind.VISITS, PlotKind.PARAMETERS)  # pictures of one run


@dataclass(frozen=True)
class Plot:
    """Draw runs, also while they are going on. Nothing in them is executed.

    value: the bound and the optimistic value over trajectories, with the threshold, the end and what is promised; error and
    model: the estimation error and the model error, where the truth is known; intervals: what was learned of the most visited
    choices; policy and visits: on a map where states have a place, else as a graph or bars; parameters: what is left of each,
    for a program learned with --unknown.

    Needs the extra plot.

    Options
    -------
    what : value|error|model|intervals|policy|visits|parameters
        What to draw.
    out : FILE
        Where to: .png, .pdf or .svg. By default a .png named after the run, beside it.

    Examples
    --------
    # the bound and the optimistic value over trajectories
    umdp plot grid.run
    # where the policy goes
    umdp plot grid.run --what policy --out policy.svg
    """

    runs: list[str]
    what: PlotKind = PlotKind.VALUE
    out: str | None = None
    force: bool = False

    def run(self) -> int:
        """Draw, and say where the picture is."""
        self.draw(aloud=True)
        return 0

    def draw(self, *, aloud: bool) -> None:
        """Draw; say where the picture is, if that is wanted."""
        from umdp import plot
        from umdp.plot.figure import save_as

        runs = [open_run(path) for path in self.runs]
        if self.what in ALONE and len(runs) > 1:
            raise FormatError(f"--what {self.what} draws one run at a time, and {len(runs)} were given")
        file = Path(self.out) if self.out is not None else self._name()
        picture_file(file)
        check_outputs([("", file)], self.runs, force=self.force)
        draw = getattr(plot, self.what.value)
        axes = draw(runs if len(runs) > 1 else runs[0])
        save_as(axes.figure, file)
        if aloud:
            say(f"{_said(self.what, runs)} drawn in {file}")

    def _name(self) -> Path:
        """Return a name beside the first run."""
        first, *others = [Path(path) for path in self.runs]
        stems = [first.stem, *(other.stem for other in others)]
        stem = "-".join(stems) if len(stems) <= 3 else f"{stems[0]}-and-{len(others)}-more"
        return first.with_name(f"{stem}-{self.what}.png")


def picture_file(file: Path, place: str | None = None) -> None:
    """Raise an error unless a picture can have this name; `place` is what the error is about, if not the file."""
    from umdp.plot.figure import ENDINGS

    where = place or file
    if file.suffix.lower() not in ENDINGS:
        raise FormatError(f"a picture is written as one of {', '.join(ENDINGS)}; give a name that ends so", path=where)
    check_folder(file, where, folder="this is a folder; give the name of a file in it")


def _said(what: PlotKind, runs: list[OpenedRun]) -> str:
    names = {
        PlotKind.VALUE: "the value", PlotKind.ERROR: "the estimation error", PlotKind.MODEL: "the model error",
        PlotKind.INTERVALS: "the learned intervals", PlotKind.POLICY: "the policy", PlotKind.VISITS: "the visits",
        PlotKind.PARAMETERS: "the parameters",
    }  # fmt: skip
    return names[what] + ("" if len(runs) == 1 else f" of {len(runs)} runs")
