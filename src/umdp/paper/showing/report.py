"""The report of a reproduction: what was run, which claims hold, all figures, and what differs from the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umdp.paper.judging.differences import CONVENTIONS, DIFFERENCES, INTRODUCTION
from umdp.paper.judging.order import HEAD, orders
from umdp.paper.judging.prices import price_rows, price_table, prices
from umdp.paper.results import Results
from umdp.paper.showing.embed import embed
from umdp.paper.showing.page import element, escape, page, table, toml

if TYPE_CHECKING:
    from umdp.paper.judging.claims import Judged
    from umdp.paper.showing.figures import Drawing

__all__ = ["markdown_table", "summary", "write_report"]

PAPER = "https://arxiv.org/abs/2205.15827"
MODES = {False: "by definition", True: "as published"}
SIGNS = {"holds": "✓", "partly": "◐", "fails": "✗", "not judged": "–"}


def write_report(path: Path, results: Sequence[Results], judged: Sequence[Judged], drawings: Sequence[Drawing]) -> None:
    """Write the report as one HTML file that needs no other.

    Parameters
    ----------
    path : its folder is made if it is missing
    results : every experiment in every mode that was run
    judged : the claims, in one mode or both
    drawings : what `umdp.paper.showing.figures.figures` gave for the results
    """
    title = "Robust anytime learning of Markov decision processes, reproduced"
    sections = [
        ("run", "What was run", _runs(results)),
        ("claims", "Claims of the paper", _claims(judged)),
        ("price", "The price of a guarantee", _price(results)),
        ("order", "The order of actions", _order(results)),
        ("figures", "Figures", _figures(results, drawings)),
        ("settings", "Settings", _settings(results)),
        ("differences", "What differs from the paper, and why", _differences()),
    ]
    sections = [section for section in sections if section[2]]
    links = [element("li", element("a", escape(name), href=f"#{key}")) for key, name, _ in sections]
    paper = element("a", "Suilen, Simão, Parker and Jansen (2022)", href=PAPER)
    body = [
        element("h1", escape(title)),
        element("p", f"The experiments of {paper}, run again, and what becomes of the paper's claims.", kind="faint"),
        element("nav", element("ul", *links)),
        *(element("section", element("h2", escape(name)), content, id=key) for key, name, content in sections),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(title, "\n".join(body)), encoding="utf-8", newline="\n")


def markdown_table(judged: Sequence[Judged]) -> str:
    """Return the claims as a table in GitHub's Markdown, both modes side by side.

    Examples
    --------
    >>> from umdp.paper.judging.claims import Judged
    >>> print(markdown_table([Judged("C4", "UCRL2 is the slowest.", False, "holds", "6 of 6 environments", "By medians.")]))
    | | claim | by definition | as published |
    |---|---|---|---|
    | C4 | UCRL2 is the slowest. | **holds**: 6 of 6 environments. By medians. | not run |
    """
    lines = ["| | claim | by definition | as published |", "|---|---|---|---|"]
    for key, claim, found in _by_claim(judged):
        cells = [f"**{one.verdict}**{_said(one)}" if one else "not run" for one in found]
        lines.append("| " + " | ".join(_flat(cell) for cell in (key, claim, *cells)) + " |")
    return "\n".join(lines)


def summary(results: Sequence[Results], judged: Sequence[Judged]) -> str:
    """Return what was run, the claims, the price of a guarantee and the order of actions, as Markdown."""
    lines = ["| experiment | mode | trajectories | seeds | runs |", "|---|---|---:|---:|---:|"]
    for one in results:
        lines.append(
            f"| {one.name} | {MODES[one.published]} | {one.trajectories:,} | {one.seeds} | {len(one.outcomes):,} |"
        )
    parts = ["### What was run", "\n".join(lines), "### Claims", markdown_table(judged)]
    basic = next((one for one in results if one.name == "basic" and not one.published and one.outcomes), None)
    if basic is not None:
        parts += ["### The price of a guarantee", PRICE, price_table(prices(basic))]
    compared = {mode: orders(results, published) for published, mode in MODES.items()}
    if any(compared.values()):
        parts += ["### The order of actions", ORDER]
    for mode, rows in compared.items():
        if rows:
            head = f"| {mode}: {' | '.join(HEAD)} |\n|---|---|---:|---:|---:|"
            parts.append("\n".join([head, *(f"| {' | '.join(each.row())} |" for each in rows)]))
    return "\n\n".join(parts) + "\n"


def _explained(one: Judged) -> tuple[str, str]:
    """Return number and detail, without saying again that there was nothing to judge."""
    if one.verdict != "not judged":
        return one.number, one.detail
    reason = one.detail.removeprefix("Not judged: ")
    return "", reason[:1].upper() + reason[1:]


def _said(one: Judged) -> str:
    """Return number and detail as the rest of a line that starts with the verdict."""
    number, detail = _explained(one)
    return (f": {number.removesuffix('.')}" if number else "") + (f". {detail}" if detail else "")


def _flat(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())


def _by_claim(judged: Sequence[Judged]) -> list[tuple[str, str, list[Judged | None]]]:
    """Return every claim, by its number, with what was found by definition and as published."""
    found: dict[str, dict[bool, Judged]] = {}
    for one in judged:
        found.setdefault(one.key, {})[one.published] = one
    order = sorted(found, key=lambda key: (int("".join(filter(str.isdigit, key)) or 0), key))
    return [
        (key, next(iter(found[key].values())).claim, [found[key].get(published) for published in MODES])
        for key in order
    ]


def _runs(results: Sequence[Results]) -> str:
    """Say what was run, with which versions."""
    rows = [
        [
            escape(one.title or one.name),
            MODES[one.published],
            escape(_words((problem.title for problem in one.problems.values()), "; ")),
            escape(_words((cell.learner for cell in one.cells()), "; ")),
            f"{one.trajectories:,}",
            f"{one.seeds:,}",
            f"{len(one.outcomes):,}",
            escape(str(one.settings.get("root_seed", one.settings.get("seed", "–")))),
        ]
        for one in results
    ]  # fmt: skip
    head = ["experiment", "mode", "environments", "learners", "trajectories", "seeds", "runs", "root seed"]
    return (table(head, rows, cards=True) if rows else element("p", "Nothing was run.")) + element(
        "p", *_versions(results)
    )


def _versions(results: Sequence[Results]) -> list[str]:
    """Return the versions of software, once if all runs share them."""
    found: dict[str, list[str]] = {}
    for one in results:
        versions = one.settings.get("versions")
        if isinstance(versions, dict) and versions:
            text = ", ".join(f"{name} {version}" for name, version in versions.items())
            found.setdefault(text, []).append(f"{one.name} {MODES[one.published]}")
    several = len(found) > 1
    return [
        escape(f"Made with {text}{f' ({_words(users)})' if several else ''}. ") for text, users in found.items()
    ]  # fmt: skip


def _claims(judged: Sequence[Judged]) -> str:
    """Return the claims and their verdicts, after a line that counts them."""
    if not judged:
        return element("p", "No claim was judged.")
    counts = []
    for published, mode in MODES.items():
        verdicts = [one.verdict for one in judged if one.published is published]
        tally = [f"{verdicts.count(verdict)} {words}" for verdict, words in _TALLY.items() if verdict in verdicts]
        counts.append(f"{mode.capitalize()}: {', '.join(tally)}." if tally else f"{mode.capitalize()}: not run.")
    rows = [
        [element("strong", escape(key)), escape(claim), *(_verdict(one) for one in found)]
        for key, claim, found in _by_claim(judged)
    ]
    return element("p", escape(" ".join(counts))) + table(["", "claim", *MODES.values()], rows, cards=True)


_TALLY = {"holds": "hold", "partly": "hold partly", "fails": "fail", "not judged": "not judged"}


def _verdict(one: Judged | None) -> str:
    """Return what a claim came to in one mode."""
    if one is None:
        return element("span", "not run", kind="faint")
    sign = element("span", f"{SIGNS[one.verdict]} {one.verdict}", kind=f"verdict {one.verdict.replace(' ', '-')}")
    number, detail = _explained(one)
    return f"{sign} {escape(number)}".rstrip() + (element("p", escape(detail), kind="faint") if detail else "")


PRICE = (
    "How much of the optimum each learner promises at the end of the basic experiment, by definition (the median worst-case "
    "value on the learned model; optimum over value where less is better; above 100 % it promises too much), and the share of "
    "runs in which it promised more than its policy kept at some iteration. A guarantee “any-time” holds whenever one stops; "
    "“one look” only for a single look; “none” for none."
)
ORDER = (
    "Among equally good actions the first is taken. This is after how many trajectories the median run first has a policy "
    "within 1 % of the optimum, with actions in the order of the paper's environments and in random order, and the p-value of "
    "Mann and Whitney's test that the order makes no difference."
)


def _price(results: Sequence[Results]) -> str:
    """Return what a guarantee costs, from the basic experiment by definition."""
    basic = next((one for one in results if one.name == "basic" and not one.published and one.outcomes), None)
    if basic is None:
        return ""
    head, *rows = price_rows(prices(basic))
    return element("p", escape(PRICE)) + table([*map(escape, head)], [[*map(escape, row)] for row in rows], cards=True)


def _order(results: Sequence[Results]) -> str:
    """Return how much depends on the order of actions, in the modes that were run."""
    parts = []
    for published, mode in MODES.items():
        rows = [[*map(escape, each.row())] for each in orders(results, published)]
        if rows:
            parts.append(element("h3", mode.capitalize()) + table([*HEAD], rows, cards=True))
    return element("p", escape(ORDER)) + "\n".join(parts) if parts else ""


def _figures(results: Sequence[Results], drawings: Sequence[Drawing]) -> str:
    """Return the figures by experiment and mode, those of no known experiment last."""
    titles = {(one.name, one.published): one.title or one.name for one in results}
    groups = dict.fromkeys([*titles, *((drawing.experiment, drawing.published) for drawing in drawings)])
    parts, number = [], 0
    for name, published in groups:
        some = [drawing for drawing in drawings if (drawing.experiment, drawing.published) == (name, published)]
        if some:
            parts.append(element("h3", escape(f"{titles.get((name, published), name)}, {MODES[published]}")))
        for drawing in some:
            number += 1
            picture = element("div", embed(drawing.svg_path, f"f{number}", drawing.caption), kind="scroll")
            text = element("strong", f"Figure {number}.") + f" {escape(drawing.caption)}"
            parts.append(element("figure", picture, element("figcaption", text), id=f"figure-{number}"))
    return "\n".join(parts) or element("p", "No figure was drawn.")


def _settings(results: Sequence[Results]) -> str:
    """Return the settings of every experiment, folded."""
    return "\n".join(
        element(
            "details",
            element("summary", escape(f"{one.title or one.name}, {MODES[one.published]}")),
            element("pre", escape(toml(one.settings))),
        )
        for one in results
    )


def _differences() -> str:
    """Return the rules of the published code, and what the paper leaves open."""
    rows = [[element("strong", escape(each.topic)), *map(escape, each[1:])] for each in DIFFERENCES]
    head = ["topic", "the paper, by definition", "the published code", "what it does"]
    return (
        element("p", escape(INTRODUCTION))
        + table(head, rows, cards=True)
        + element("h3", "Where the paper is silent")
        + element("ul", *(element("li", escape(each)) for each in CONVENTIONS))
    )


def _words(words: Iterable[str], between: str = ", ") -> str:
    return between.join(dict.fromkeys(words))
