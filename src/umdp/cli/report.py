"""Answers as text and as JSON: numbers with the digits that matter, properties in words."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from umdp.model import MDP, IntervalMDP
from umdp.statements.text import nouns

if TYPE_CHECKING:
    from umdp.automata import Product
    from umdp.solver import Bracket, Solution

__all__ = ["Numbers", "describe", "kind", "numbers", "record", "remembering", "sizes", "verdict"]

FEW = 4  # significant digits of a bracket too wide to have many in common
MOST = 17  # significant digits that tell any two floats apart


class Numbers(NamedTuple):
    """A bracket as text: the value, the bounds (rounded outwards) and the relative width."""

    value: str
    lower: str
    upper: str
    width: str


def numbers(bracket: Bracket) -> Numbers:
    """Return a bracket as text with just enough digits to see it, its bounds rounded outwards.

    Examples
    --------
    >>> from umdp import Bracket
    >>> numbers(Bracket(0.49999987, 0.50000012))
    Numbers(value='0.499999995', lower='0.499999870', upper='0.500000120', width='5e-07')
    >>> numbers(Bracket(1.0001e120, 1.0001001e120)).lower
    '1.000100000e+120'
    >>> numbers(Bracket(0.25, 0.25))
    Numbers(value='0.25', lower='0.25', upper='0.25', width='0')
    >>> numbers(Bracket(2.0, float("inf")))
    Numbers(value='at least 2', lower='2', upper='infinity', width='infinity')
    """
    value, lower, upper = bracket.value, bracket.lower, bracket.upper
    if lower == upper:
        text = _plain(lower)
        return Numbers(text, text, text, "0")
    if math.isinf(lower):
        most = "unknown" if math.isinf(upper) else f"at most {_plain(upper)}"
        return Numbers(most, "-infinity", "infinity" if math.isinf(upper) else _plain(upper), "infinity")
    if math.isinf(upper):
        return Numbers(f"at least {_plain(lower)}", _plain(lower), "infinity", "infinity")
    width = bracket.relative_width

    def place(x: float, digits: int) -> int:
        return Decimal(repr(x)).adjusted() - digits + 1

    if width > 0.1:
        units = (place(value, FEW), place(lower, FEW), place(upper, FEW))
    else:
        digits = MOST if width == 0 else min(MOST, max(FEW, math.ceil(-math.log10(width)) + 2))
        units = (place(upper, digits),) * 3
    return Numbers(
        _rounded(value, units[0], ROUND_HALF_EVEN),
        _rounded(lower, units[1], ROUND_FLOOR),
        _rounded(upper, units[2], ROUND_CEILING),
        f"{width:.2g}",
    )


def _plain(x: float) -> str:
    """Return a float exactly, whole numbers without a point."""
    if math.isinf(x):
        return "infinity"
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def _rounded(x: float, unit: int, way: str) -> str:
    """Return a float rounded to a multiple of ten to the `unit`, in scientific form where it is long otherwise."""
    if x == 0:
        return "0"
    number = Decimal(repr(x)).quantize(Decimal(1).scaleb(unit), rounding=way)
    return f"{number:f}" if -5 <= number.adjusted() < 12 or number == 0 else f"{number:e}"


def verdict(solution: Solution) -> str:
    """Return whether the threshold holds, in a word; nothing without a threshold."""
    if solution.spec.threshold is None or (
        solution.spec.filter is not None and solution.spec.filter.operator == "count"
    ):
        return ""
    return {True: "yes", False: "no", None: "undecided"}[solution.satisfied]


def kind(model: MDP | IntervalMDP) -> str:
    """Return what a model is, in words."""
    plain = "Markov chain" if model.is_chain else "MDP"
    return f"interval {plain}" if isinstance(model, IntervalMDP) else plain


def sizes(model: MDP | IntervalMDP) -> str:
    """Return the sizes of a model, in words."""
    counts = (("state", model.states), ("choice", model.choices), ("transition", model.transitions))
    text = ", ".join(f"{count:,} {nouns(count, noun)}" for noun, count in counts)
    if isinstance(model, IntervalMDP):
        text += f" ({int(np.count_nonzero(model.lower < model.upper)):,} uncertain)"
    return text


def remembering(product: Product) -> str:
    """Return in words how large the product is in which a temporal formula was answered."""
    memories = product.reading.automaton.states
    return f"in the product with an automaton of {memories:,} {nouns(memories, 'state')}: {sizes(product.model)}"


def describe(solution: Solution, evaluated: str | None = None) -> str:
    """Return the question in words that name both players, as they are in this model.

    Parameters
    ----------
    solution : Solution
    evaluated : str, optional
        The file of the policy whose value was asked for instead of the best one.
    """
    spec, model = solution.asked, solution.model
    text = spec.describe()
    uncertain = isinstance(model, IntervalMDP) and bool((model.lower < model.upper).any())
    if evaluated is not None:
        for old in ("largest", "smallest"):
            text = text.replace(f"the {old} ", "the ", 1)
        text = text.replace(", over policies,", f", under the policy in {evaluated},", 1)
        text = text.replace(
            "for every policy and every choice", f"under the policy in {evaluated} and for every choice"
        )
    elif model.is_chain and uncertain and spec.nature is None:
        text = text.replace("over policies", "over nature's choices of probabilities", 1)
    if spec.nature is not None and not uncertain:
        text += " (of which this model leaves none: it has no intervals)"
    return text


def record(text: str, solution: Solution, model: str) -> dict[str, Any]:
    """Return the answer to a property as what `--json` prints; infinity is the string "inf"."""
    bracket, own = solution.bracket, solution.policy_bracket
    return {
        "property": text,
        "value": _json(bracket.value),
        "lower": _json(bracket.lower),
        "upper": _json(bracket.upper),
        "relative_width": _json(bracket.relative_width),
        "satisfied": solution.satisfied,
        "status": solution.status.name.lower(),
        "message": solution.status.value,
        "diagnostics": [{"code": each.code, "text": each.text} for each in solution.diagnostics],
        "policy_lower": _json(own.lower),
        "policy_upper": _json(own.upper),
        "model": model,
        "kind": kind(solution.model),
        "states": solution.model.states,
        "choices": solution.model.choices,
        "transitions": solution.model.transitions,
        "iterations": solution.statistics.iterations,
        "seconds": solution.statistics.seconds,
    }


def _json(x: float) -> float | str:
    return ("inf" if x > 0 else "-inf") if math.isinf(x) else float(x)
