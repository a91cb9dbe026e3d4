"""The report of a reproduction: what was run, which claims hold, all figures, and what differs from the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.paper.judging.differences import CONVENTIONS, DIFFERENCES, INTRODUCTION
from umdp.paper.judging.order import HEAD, orders
from umdp.paper.judging.prices import price_rows, prices
from umdp.paper.results import Results
from umdp.paper.showing.embed import embed
from umdp.paper.showing.page import render
from umdp.paper.showing.settings import toml
from umdp.paper.showing.summary import MODES, ORDER, PRICE, basic_runs, by_claim, explained

if TYPE_CHECKING:
    from umdp.paper.judging.verdict import Judged
    from umdp.paper.showing.figures import Drawing

__all__ = ["write_report"]

Context = dict[str, Any]

PAPER = "https://arxiv.org/abs/2205.15827"
TITLE = "Robust anytime learning of Markov decision processes, reproduced"
SIGNS = {"holds": "✓", "partly": "◐", "fails": "✗", "not judged": "–"}
COUNTED = {"holds": "hold", "partly": "hold partly", "fails": "fail", "not judged": "not judged"}
SECTIONS = {
    "run": "What was run",
    "claims": "Claims of the paper",
    "price": "The price of a guarantee",
    "order": "The order of actions",
    "figures": "Figures",
    "settings": "Settings",
    "differences": "What differs from the paper, and why",
}


def write_report(path: Path, results: Sequence[Results], judged: Sequence[Judged], drawings: Sequence[Drawing]) -> None:
    """Write the report as one HTML file that needs no other.

    Parameters
    ----------
    path : its folder is made if it is missing
    results : every experiment in every mode that was run
    judged : the claims, in one mode or both
    drawings : what `umdp.paper.showing.figures.figures` gave for the results
    """
    context: Context = {
        "runs": _runs(results),
        "claims": _claims(judged),
        "prices": _prices(results),
        "orders": _orders(results),
        "figures": _figures(results, drawings),
        "settings": [(_name(one), toml(one.settings)) for one in results],
        "differences": {
            "text": INTRODUCTION,
            "head": ["topic", "the paper, by definition", "the published code", "what it does"],
            "rows": DIFFERENCES,
            "conventions": CONVENTIONS,
        },
    }
    empty = {
        key for key, part in {"price": "prices", "order": "orders", "settings": "settings"}.items() if not context[part]
    }
    sections = {key: name for key, name in SECTIONS.items() if key not in empty}
    text = render("report.html", title=TITLE, paper=PAPER, sections=sections, modes=[*MODES.values()], **context)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _name(one: Results) -> str:
    return f"{one.title or one.name}, {MODES[one.published]}"


def _runs(results: Sequence[Results]) -> Context:
    """Say what was run, with which versions."""
    rows = [
        [
            one.title or one.name,
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
    rows = [(key, claim, [_verdict(one) for one in found]) for key, claim, found in by_claim(judged)]
    return {"counts": counts, "rows": rows}


def _verdict(one: Judged | None) -> Context | None:
    """Return what a claim came to in one mode."""
    if one is None:
        return None
    number, detail = explained(one)
    kind = one.verdict.replace(" ", "-")
    return {"verdict": one.verdict, "kind": kind, "sign": SIGNS[one.verdict], "number": number, "detail": detail}


def _prices(results: Sequence[Results]) -> Context | None:
    """Return what a guarantee costs, from the basic experiment by definition."""
    basic = basic_runs(results)
    if basic is None:
        return None
    head, *rows = price_rows(prices(basic))
    return {"text": PRICE, "head": head, "rows": rows}


def _orders(results: Sequence[Results]) -> Context | None:
    """Return how much depends on the order of actions, in the modes that were run."""
    found = {mode: [each.row() for each in orders(results, published)] for published, mode in MODES.items()}
    modes = {mode: rows for mode, rows in found.items() if rows}
    return {"text": ORDER, "head": HEAD, "modes": modes} if modes else None


def _figures(results: Sequence[Results], drawings: Sequence[Drawing]) -> dict[str, list[Context]]:
    """Return the figures by experiment and mode, those of no known experiment last."""
    titles = {(one.name, one.published): _name(one) for one in results}
    groups = dict.fromkeys([*titles, *((drawing.experiment, drawing.published) for drawing in drawings)])
    found: dict[str, list[Context]] = {}
    number = 0
    for name, published in groups:
        for drawing in drawings:
            if (drawing.experiment, drawing.published) == (name, published):
                number += 1
                title = titles.get((name, published), f"{name}, {MODES[published]}")
                shown = {"number": number, "caption": drawing.caption, "picture": embed(drawing.svg_path, f"f{number}")}
                found.setdefault(title, []).append(shown)
    return found


def _words(words: Iterable[str], between: str = ", ") -> str:
    return between.join(dict.fromkeys(words))
