"""The price of a guarantee: how much of the optimum a learner promises in the end, and how often it promised too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from umdp.paper.claims.measures import Evidence
from umdp.paper.claims.verdict import markdown, percent
from umdp.paper.results import Results

__all__ = ["GUARANTEES", "Price", "price_rows", "price_table", "prices"]

GUARANTEES = {"none": "none", "fixed-N": "one look", "any-time": "any-time"}
"""Kinds of guarantees as the table calls them, the weakest first."""


@dataclass(frozen=True)
class Price:
    """What a learner promises in an environment.

    Attributes
    ----------
    environment : its title
    learner : its label
    guarantee : "any-time", "one look" or "none": what is promised at the end of every run
    promised : the median over seeds of the estimate at the end, the worst-case value on the learned model, as a share of the
        optimum; optimum / estimate where small values are better, so that more is better everywhere, and above 1 is too much
    misleading : the share of runs in which the estimate was better than the performance (by more than 1e-6) at some iteration

    Examples
    --------
    >>> Price("Grid", "LUI", "none", 0.99, 0.25).promised
    0.99
    """

    environment: str
    learner: str
    guarantee: str
    promised: float
    misleading: float


def prices(results: Results) -> list[Price]:
    """Return what every learner promises in every environment, in the order of the results."""
    evidence = Evidence(results)
    found = []
    for cell in evidence.cells:
        runs = evidence.runs(cell)
        assert runs is not None
        problem = runs.problem
        estimate, optimum = float(np.median(runs.column("estimate")[:, -1])), problem.optimum
        if estimate == optimum:
            promised = 1.0
        elif problem.minimise:
            promised = optimum / estimate if estimate > 0 else float("inf")
        else:
            promised = estimate / optimum if optimum > 0 else float("inf")
        wrong = (runs.column("estimation_error") > runs.misleading()).any(1)
        said = {outcome.guarantee.kind for outcome in runs.outcomes}
        guarantee = next(short for kind, short in GUARANTEES.items() if kind in said)
        found.append(Price(problem.title, cell.learner, guarantee, promised, float(wrong.mean())))
    return found


def price_table(prices: Sequence[Price]) -> str:
    """Return the prices as a table in Markdown: a row per environment, a column per learner.

    Examples
    --------
    >>> print(price_table([Price("Grid", "LUI", "none", 0.99, 0.25), Price("Grid", "PAC", "none", 0.8, 0.0)]))
    | promised of the optimum / misleading runs | LUI (guarantee: none) | PAC (guarantee: none) |
    |---|---:|---:|
    | Grid | 99 % / 25 % | 80 % / 0 % |
    """
    rows = price_rows(prices)
    return markdown(rows, range(1, len(rows[0])))


def price_rows(prices: Sequence[Price]) -> list[list[str]]:
    """Return the table as text, its head first."""
    learners = dict.fromkeys(price.learner for price in prices)
    head = [
        f"{learner} (guarantee: {_behind([each for each in prices if each.learner == learner])})"
        for learner in learners
    ]
    rows = [["promised of the optimum / misleading runs", *head]]
    for environment in dict.fromkeys(price.environment for price in prices):
        cells = {
            price.learner: f"{_share(price.promised)} / {percent(price.misleading)}"
            for price in prices
            if price.environment == environment
        }
        rows.append([environment, *(cells.get(learner, "–") for learner in learners)])
    return rows


def _behind(prices: Sequence[Price]) -> str:
    """Return the guarantee that stands behind a learner, and where some run ended with less."""
    kinds = list(dict.fromkeys(price.guarantee for price in prices))
    usual = max(kinds, key=lambda kind: sum(price.guarantee == kind for price in prices))
    rest = [f"{price.guarantee} in some runs on {price.environment}" for price in prices if price.guarantee != usual]
    return "; ".join([usual, *rest])


def _share(share: float) -> str:
    return "unbounded" if np.isinf(share) else percent(share)
