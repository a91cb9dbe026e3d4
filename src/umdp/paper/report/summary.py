"""The summary of a reproduction in Markdown: what was run, which claims hold, what a guarantee costs."""

from __future__ import annotations

from collections.abc import Sequence

from umdp.paper.claims.endings import ENDING_HEAD, ending_rows
from umdp.paper.claims.order import HEAD, orders
from umdp.paper.claims.prices import price_table, prices
from umdp.paper.claims.verdict import Judged, markdown
from umdp.paper.results import Results
from umdp.statements.text import as_markdown

__all__ = ["MODES", "ORDER", "PRICE", "basic_runs", "by_claim", "explained", "markdown_table", "summary"]

MODES = {False: "by definition", True: "as published"}
PRICE = (
    "How much of the optimum each learner promises at the end of the basic experiment, by definition (the median worst-case "
    "value on the learned model; optimum over value where less is better; above 100 % it promises too much), and the share of "
    "runs in which it promised more than its policy kept at some iteration. A guarantee “any-time” holds whenever one stops; "
    "“one look” only for a single look; “none” promises nothing, and the tables say why."
)
ORDER = (
    "Among equally good actions the first is taken. This is after how many trajectories the median run first has a policy "
    "within 1 % of the optimum, with actions in the order of the paper's environments and in random order, and the p-value of "
    "Mann and Whitney's test that the order makes no difference."
)


def markdown_table(judged: Sequence[Judged]) -> str:
    """Return the claims as a table in GitHub's Markdown, both modes side by side.

    Examples
    --------
    >>> said = ("6 of 6", "Chain: 2 (1.8 to 2.1).", "Its gap is largest.", 100)
    >>> one = Judged("C4", "UCRL2 is the slowest.", False, "holds", *said)
    >>> print(markdown_table([one]))
    | | claim, and what decides | by definition | as published |
    |---|---|---|---|
    | C4 | **UCRL2 is the slowest.** Its gap is largest. | **holds**: 6 of 6 (100 seeds). Chain: 2 (1.8 to 2.1). | not run |
    """
    lines = [("", "claim, and what decides", *MODES.values())]
    for key, claim, criterion, found in by_claim(judged):
        cells = [f"**{one.verdict}**{_said(one)}" if one else "not run" for one in found]
        lines.append(tuple(map(_flat, (key, f"**{claim}** {criterion}", *cells))))
    return markdown(lines)


def summary(results: Sequence[Results], judged: Sequence[Judged]) -> str:
    """Return what was run, the claims, the price of a guarantee and the order of actions, as Markdown."""
    lines = [("experiment", "mode", "trajectories", "seeds", "runs")]
    for one in results:
        counts = (f"{one.trajectories:,}", str(one.seeds), f"{len(one.outcomes):,}")
        lines.append((as_markdown(one.name), MODES[one.published], *counts))
    parts = ["### What was run", markdown(lines, range(2, 5))]
    if any(not one.own for one in results) or not results:
        parts += ["### Claims", markdown_table(judged)]
    for one in results:
        if one.own and one.outcomes:
            ends = [list(map(as_markdown, row)) for row in (ENDING_HEAD, *ending_rows(one))]
            parts += [f"### {as_markdown(one.called)}", markdown(ends, range(2, 6))]
    basic = basic_runs(results)
    if basic is not None:
        parts += ["### The price of a guarantee", PRICE, price_table(prices(basic))]
    compared = {mode: orders(results, published) for published, mode in MODES.items()}
    if any(compared.values()):
        parts += ["### The order of actions", ORDER]
    for mode, rows in compared.items():
        if rows:
            head = (f"{mode}: {HEAD[0]}", *HEAD[1:])
            parts.append(markdown([head, *(each.row() for each in rows)], range(2, 5)))
    return "\n\n".join(parts) + "\n"


def by_claim(judged: Sequence[Judged]) -> list[tuple[str, str, str, list[Judged | None]]]:
    """Return every claim, by its number, with its criterion, and with what was found by definition and as published."""
    found: dict[str, dict[bool, Judged]] = {}
    for one in judged:
        found.setdefault(one.key, {})[one.published] = one
    order = sorted(found, key=lambda key: (int("".join(filter(str.isdigit, key)) or 0), key))
    firsts = {key: found[key][min(found[key])] for key in order}
    return [
        (key, first.claim, first.criterion, [found[key].get(published) for published in MODES])
        for key, first in firsts.items()
    ]


def basic_runs(results: Sequence[Results]) -> Results | None:
    """Return the basic experiment by definition, which shows the price of a guarantee; None if it was not run."""
    return next(
        (one for one in results if one.name == "basic" and not one.own and not one.published and one.outcomes), None
    )


def explained(one: Judged) -> tuple[str, str]:
    """Return number and detail, without saying again that there was nothing to judge."""
    return ("", one.reason or one.detail) if one.verdict == "not judged" else (one.number, one.detail)


def _said(one: Judged) -> str:
    """Return number and detail as the rest of a line that starts with the verdict."""
    number, detail = explained(one)
    seeds = f" ({one.seeds} seeds)" if number and one.seeds else ""
    return (f": {number.removesuffix('.')}{seeds}" if number else "") + (f". {detail}" if detail else "")


def _flat(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())
