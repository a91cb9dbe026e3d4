"""Certificates of what was learned: the proof of the bracket, and the counts and levels behind the bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.errors import ModelError
from umdp.solver.proof.certificate import Certificate
from umdp.solver.proof.prove import prove
from umdp.statements import codes_of
from umdp.verify.document import digest
from umdp.verify.verdict import verify_content

if TYPE_CHECKING:
    from umdp.solver.result import Solution

__all__ = ["prove_learned"]

LESS = 1 - 2.0**-50  # levels are written a little smaller, so that they add up to no more than the error rate
ARRAYS = ("lower_hits", "lower_samples", "upper_hits", "upper_samples", "lower_levels", "upper_levels")
BOX = ("own_lower", "own_upper", "prior_lower", "prior_upper", "box_lower", "box_upper", "outcome_function")
EVENTS = ("event_ptr", "event_outcome", "own_lower", "own_upper")
CLASSES = ("class_ptr", "transition_ptr", "transition_outcome")


def prove_learned(
    solution: Solution, ledger: Mapping[str, Any] | None, assumptions: tuple[str, ...] = ()
) -> Certificate:
    """Return a solution's certificate with a learner's ledger, which proves the level too."""
    if ledger is None:
        raise ModelError("nothing is promised of what was learned, so there is no level to prove")
    kind = ledger.get("graph", "listed")
    if kind not in ("listed", "tied", "events", "parametric"):
        raise ModelError("certificates are for graphs that were given; this one was found in the data")
    base = prove(solution)
    content = dict(base.content)
    learning: dict[str, Any] = {name: ledger[name] for name in ("method", "error_rate", "prior")}
    for name in ARRAYS:
        array = ledger[name] * LESS if name.endswith("levels") else ledger[name]
        learning[name] = array.tolist()
    if kind != "listed":
        learning["graph"] = kind
        learning |= {name: np.asarray(ledger[name]).tolist() for name in CLASSES}
    if kind == "events":
        learning |= {name: np.asarray(ledger[name]).tolist() for name in EVENTS}
    if kind == "parametric":
        learning |= {name: np.asarray(ledger[name]).tolist() for name in BOX}
        learning |= {name: ledger[name] for name in ("parameters", "functions", "weights")}
    learning["assumptions"] = list(map(str, assumptions))
    learning["assumption_codes"] = [code.value for code in codes_of(assumptions)]
    level = 1 - Fraction(float(ledger["error_rate"]))
    shown = float(level)
    content["learning"] = learning
    content["claim"] = {**content["claim"], "level": shown if Fraction(shown) <= level else math.nextafter(shown, 0)}
    content["digest"] = digest(content)
    verdict = verify_content(content)
    if not verdict.valid:
        raise ModelError(f"what was learned cannot be proved: {verdict.reason}")
    return Certificate(content, base.notes)
