"""Figures: made without a display, with one legend for all panels, and written with the same bytes every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from io import BytesIO
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.errors import FormatError
from umdp.plot.lines import MARKER, OPTIMUM, line_style
from umdp.plot.style import Style, settings
from umdp.plot.svg import minify
from umdp.plot.trajectory import trajectory_axis
from umdp.statements.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = [
    "ENDINGS", "course_picture", "legend", "legend_handles", "new_figure", "picture", "place_legend", "save", "save_as",
]  # fmt: skip

COURSE = (5.4, 3.2)  # inches of a picture over trajectories
ENTRY, LETTER = 0.45, 0.062  # inches of a legend: an entry without its text, and a letter of it
LEGEND_ROW = 0.16  # inches
DOTS = 200  # per inch, of a PNG

_FORMATS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None}},
    "svg": {"metadata": {"Date": None, "Creator": None, "Format": None, "Type": None}},
    "png": {"metadata": {"Software": None}, "dpi": DOTS},
}
ENDINGS = tuple(f".{name}" for name in _FORMATS)
"""How the name of a picture may end."""
_SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,
    "svg.hashsalt": "umdp",
    "savefig.bbox": None,
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
}


def new_figure(width: float, height: float) -> Figure:
    """Return a new, empty figure of so many inches that belongs to no window.

    Raises
    ------
    MissingExtra
        Without matplotlib.
    """
    with settings():
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        room = ConstrainedLayoutEngine(w_pad=0.05, h_pad=0.04, wspace=0.02, hspace=0.02)
        return _shown_in_notebooks()(figsize=(width, height), layout=room, facecolor="white")


@cache
def _shown_in_notebooks() -> type[Figure]:
    """Return figures that notebooks show by themselves: those without a window otherwise need pyplot for it."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, **_FORMATS["png"])
            return buffer.getvalue()

    return NotebookFigure


def picture(size: tuple[float, float], ax: Axes | None, title: str, draw: Callable[[Axes], Sequence[Any]]) -> Axes:
    """Draw on the caller's axes, or on a figure of its own, with a title and a legend of the handles that `draw` returns."""
    figure = new_figure(*size) if ax is None else None
    with settings() if figure is not None else nullcontext():
        target = figure.add_subplot() if figure is not None else ax
        assert target is not None
        handles = draw(target)
        if figure is not None:
            target.set_title(title, wrap=True)
            if handles:
                place_legend(figure, handles)
            figure.draw_without_rendering()
    return target


def course_picture(
    ax: Axes | None, title: str, trajectories: int, quantity: str, draw: Callable[[Axes], Sequence[Any]]
) -> Axes:
    """Draw as `picture` does, over the axis of trajectories."""

    def drawn(target: Axes) -> Sequence[Any]:
        trajectory_axis(target, trajectories)
        target.set_xlabel("trajectories")
        target.set_ylabel(quantity)
        return draw(target)

    return picture(COURSE, ax, title, drawn)


def legend(figure: Figure, styles: Mapping[str, Style], *, optimum: str = "", title: str = "") -> None:
    """Put one legend above all panels of a figure, which grows where that takes more than a row.

    Parameters
    ----------
    optimum : what the dashed line is called, if there is one
    title : of the legend
    """
    place_legend(figure, legend_handles(styles, optimum), title=title)


def legend_handles(styles: Mapping[str, Style], optimum: str = "") -> list[Any]:
    """Return what a legend explains: every style, and the dashed line by its name, if it has one."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker=style.marker, label=label, **line_style(style), **MARKER)
        for label, style in styles.items()
    ]
    if optimum:
        handles.append(Line2D([], [], label=optimum, **OPTIMUM))
    return handles


def place_legend(figure: Figure, handles: Sequence[Any], *, title: str = "") -> None:
    """Put a legend of these lines above all panels of a figure, which grows where that takes more than a row."""
    widths = [ENTRY + LETTER * len(str(handle.get_label())) for handle in handles]
    columns = next(
        n for n in range(max(len(handles), 1), 0, -1) if n == 1 or _needs(widths, n) <= figure.get_figwidth()
    )
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * max(-(-len(handles) // columns) - 1, 0))
    with settings():
        figure.legend(
            handles=handles, loc="outside upper center", ncols=columns, borderaxespad=0.3, title=title or None
        )


def _needs(widths: Sequence[float], columns: int) -> float:
    """Return how wide a legend of so many columns is; entries fill one column after the other."""
    ends = [sum(len(widths[start::columns]) for start in range(column)) for column in range(columns + 1)]
    return sum(max(widths[begin:end]) for begin, end in pairwise(ends))


def save(figure: Figure, stem: str | PathLike[str]) -> list[Path]:
    """Write a figure as PDF, SVG and PNG; the same figure gives the same bytes.

    Parameters
    ----------
    stem : the path without an extension; folders are made where they are missing.

    Returns
    -------
    list of Path
        The three files, in that order.
    """
    path = Path(stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    files = [path.with_name(f"{path.name}.{ending}") for ending in _FORMATS]
    _write(figure, files)
    return files


def save_as(figure: Figure, file: str | PathLike[str]) -> Path:
    """Write a figure to one file, as what its name says: .png, .pdf or .svg."""
    path = Path(file)
    if path.suffix.lower() not in ENDINGS:
        raise FormatError(f"a picture is written as one of {', '.join(ENDINGS)}; give a name that ends so", path=path)
    try:
        _write(figure, [path])
    except OSError as error:
        raise FormatError(f"the picture cannot be written ({error.strerror or error})", path=path) from None
    return path


def _write(figure: Figure, files: Sequence[Path]) -> None:
    import matplotlib

    _make_printable(figure)
    with matplotlib.rc_context(_SETTINGS):
        engine = figure.get_layout_engine()
        figure.draw_without_rendering()  # panels are laid out once, not once per file
        figure.set_layout_engine(None)
        try:
            for file in files:
                ending = file.suffix.lower().removeprefix(".")
                figure.savefig(file, format=ending, **_FORMATS[ending])
                if ending == "svg":
                    text = printable(file.read_text(encoding="utf-8"))
                    file.write_text(minify(text), encoding="utf-8", newline="\n")
        finally:
            figure.set_layout_engine(engine)


def _make_printable(figure: Figure) -> None:
    """Write out what is not printable in the texts of a figure, and let no name be taken for a formula."""
    from matplotlib.text import Text

    formulas = set(_numbers_of_axes(figure))
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        shown = text.get_text()
        if "$" in shown and text not in formulas:
            text.set_parse_math(False)
        text.set_text(printable(shown))


def _numbers_of_axes(figure: Figure) -> Iterator[Text]:
    """Yield the texts that matplotlib writes itself: numbers at the ticks of an axis, as formulas, and their common factor."""
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        yield axis.get_offset_text()
        for formatter, ticks in (
            (axis.get_major_formatter(), axis.get_major_ticks()),
            (axis.get_minor_formatter(), axis.get_minor_ticks()),
        ):
            if isinstance(formatter, LogFormatter | ScalarFormatter):
                yield from (label for tick in ticks for label in (tick.label1, tick.label2))
