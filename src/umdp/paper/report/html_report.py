"""The report of a reproduction: what was run, which claims hold, all figures, and what differs from the paper."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.paper.claims.endings import ENDING_HEAD, ending_rows
from umdp.paper.claims.order import HEAD, orders
from umdp.paper.claims.prices import price_rows, prices
from umdp.paper.report.page import embed, render, toml
from umdp.paper.report.summary import MODES, ORDER, PRICE, basic_runs, by_claim, explained
from umdp.paper.results import Results
from umdp.plot import METRICS
from umdp.statements.text import printable

if TYPE_CHECKING:
    from umdp.paper.claims.verdict import Judged
    from umdp.paper.report.figures import Drawing

__all__ = ["write_report"]

Context = dict[str, Any]

PAPER = "https://arxiv.org/abs/2205.15827"
TITLE = "Robust anytime learning of Markov decision processes, reproduced"
SIGNS = {"holds": "✓", "partly": "◐", "fails": "✗", "not judged": "–"}
ALL = "-metrics"  # how the names of figures end that show all metrics
NARROW = 400.0  # points of a figure that others fit beside
COUNTED = {"holds": "hold", "partly": "hold partly", "fails": "fail", "not judged": "not judged"}
SECTIONS = {
    "figures": "Figures",
    "results": "How the runs ended",
    "claims": "Claims of the paper",
    "price": "The price of a guarantee",
    "order": "The order of actions",
    "differences": "What differs from the paper, and why",
    "run": "What was run",
    "settings": "Settings",
}
"""In the order of the page: what one came for first, what it was made with last."""


def write_report(path: Path, results: Sequence[Results], judged: Sequence[Judged], drawings: Sequence[Drawing]) -> None:
    """Write the report as one HTML file that needs no other.

    Parameters
    ----------
    path : its folder is made if it is missing
    results : every experiment in every mode that was run
    judged : the claims, in one mode or both
    drawings : what `umdp.paper.report.figures.figures` gave for the results
    """
    own = bool(results) and all(one.own for one in results)
    context: Context = {
        "run": _runs(results, own=own),
        "results": {one.called: ending_rows(one) for one in results if one.own and one.outcomes},
        "ending_head": ENDING_HEAD,
        "claims": None if own else _claims(judged),
        "price": _prices(results),
        "order": _orders(results),
        "figures": _figures(results, drawings),
        "settings": _settings(results),
        "differences": None
        if own
        else tomllib.loads(files("umdp.paper.report").joinpath("differences.toml").read_text("utf-8")),
    }
    sections = {key: name for key, name in SECTIONS.items() if key == "figures" or context[key]}
    title = "; ".join(dict.fromkeys(one.called for one in results)) if own else TITLE
    paper = None if own else PAPER
    text = render(
        "report.html", title=title, paper=paper, sections=sections, modes=[*MODES.values()], signs=SIGNS, explained=explained,
        **context,
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(printable(text), encoding="utf-8", newline="\n")


def _name(one: Results) -> str:
    return one.called if one.own else f"{one.called}, {MODES[one.published]}"


def _runs(results: Sequence[Results], *, own: bool = False) -> Context:
    """Say what was run, with which versions."""
    rows = [
        [
            one.called,
            MODES[one.published],
            _words((problem.title for problem in one.problems.values()), "; "),
            _words((cell.learner for cell in one.cells()), "; "),
            f"{one.trajectories:,}",
            f"{one.seeds:,}",
            f"{len(one.outcomes):,}",
            one.settings.get("root_seed", one.settings.get("seed", "–")),
        ]
        for one in results
    ]
    head = ["experiment", "mode", "environments", "learners", "trajectories", "seeds", "runs", "root seed"]
    if own:  # there is one mode
        head, rows = [each for each in head if each != "mode"], [[row[0], *row[2:]] for row in rows]
    return {"head": head, "rows": rows, "versions": _versions(results)}


def _versions(results: Sequence[Results]) -> list[str]:
    """Return the versions of software, once if all runs share them."""
    found: dict[str, list[str]] = {}
    for one in results:
        versions = one.settings.get("versions")
        if isinstance(versions, dict) and versions:
            text = ", ".join(f"{name} {version}" for name, version in versions.items())
            found.setdefault(text, []).append(f"{one.name} {MODES[one.published]}")
    several = len(found) > 1
    return [f"Made with {text}{f' ({_words(users)})' if several else ''}." for text, users in found.items()]


def _claims(judged: Sequence[Judged]) -> Context:
    """Return the claims and their verdicts, and sentences that count them."""
    counts = []
    for published, mode in MODES.items():
        verdicts = [one.verdict for one in judged if one.published is published]
        numbers = [f"{verdicts.count(verdict)} {words}" for verdict, words in COUNTED.items() if verdict in verdicts]
        counts.append(f"{mode.capitalize()}: {', '.join(numbers) or 'not run'}.")
    return {"counts": counts, "rows": by_claim(judged)}


def _prices(results: Sequence[Results]) -> Context | None:
    """Return what a guarantee costs, from the basic experiment by definition."""
    basic = basic_runs(results)
    if basic is None:
        return None
    return {"text": PRICE, "rows": price_rows(prices(basic))}


def _orders(results: Sequence[Results]) -> Context | None:
    """Return how much depends on the order of actions, in the modes that were run."""
    found = {mode: [each.row() for each in orders(results, published)] for published, mode in MODES.items()}
    modes = {mode: rows for mode, rows in found.items() if rows}
    return {"text": ORDER, "head": HEAD, "modes": modes} if modes else None


def _figures(results: Sequence[Results], drawings: Sequence[Drawing]) -> dict[str, list[Context]]:
    """Return the figures by experiment and mode, those of no known experiment last."""
    titles = {(one.name, one.published): _name(one) for one in results}
    groups = dict.fromkeys([*titles, *((drawing.experiment, drawing.published) for drawing in drawings)])
    whole = [each.name.removesuffix(ALL) for each in drawings if each.name.endswith(ALL)]
    again = {f"{stem}-{metric.title.replace(' ', '-')}" for stem in whole for metric in METRICS}
    found: dict[str, list[Context]] = {}
    number = 0
    for name, published in groups:
        for drawing in drawings:
            if (drawing.experiment, drawing.published) == (name, published):
                number += 1
                title = titles.get((name, published), f"{name}, {MODES[published]}")
                picture = embed(drawing.svg_path, f"f{number}")
                shown = {"number": number, "caption": drawing.caption, "picture": picture}
                shown |= {"narrow": _width(picture.box) < NARROW, "again": drawing.name in again}
                found.setdefault(title, []).append(shown)
    return found


def _width(box: str) -> float:
    return float(box.split()[2])


def _settings(results: Sequence[Results]) -> list[tuple[str, str]]:
    """Return the settings of every experiment, once where both modes share them; what is not set is left out."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in results:
        title = one.called
        found.setdefault((title, toml(_set(one.settings))), []).append(MODES[one.published])
    own = {one.called for one in results if one.own}
    return [
        (title if title in own else f"{title}, {' and '.join(modes)}", text) for (title, text), modes in found.items()
    ]


def _set(value: Any) -> Any:
    """Return plain data without what is empty, and without the mode."""
    if isinstance(value, Mapping):
        inner = {key: _set(each) for key, each in value.items() if key not in ("published", "own")}
        return {
            key: each for key, each in inner.items() if each is not None and each != "" and each != [] and each != {}
        }
    return [_set(each) for each in value] if isinstance(value, list) else value


def _words(words: Iterable[str], between: str = ", ") -> str:
    return between.join(dict.fromkeys(words))
