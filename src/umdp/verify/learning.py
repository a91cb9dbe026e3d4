"""The statistical half of a certificate: that the bounds of the model follow from counts, at levels that add up."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from umdp.errors import FormatError
from umdp.verify.classes import Bounds, bounds_of, event_bounds, outcome_bounds
from umdp.verify.document import Document
from umdp.verify.inductive import Refused
from umdp.verify.parameters import check_parameters
from umdp.verify.statistics import lower_end, ruled_out

__all__ = ["check_learning"]

METHODS = ("confidence-sequence", "clopper-pearson")
KINDS = ("listed", "tied", "events", "parametric")
SIDES = ("lower", "upper")
COUNTS = ("lower_hits", "lower_samples", "upper_hits", "upper_samples")


def check_learning(document: Document) -> None:
    """Refuse a level that the counts and the ledger of levels do not carry.

    One bound is spent on a choice of two successors, whose intervals mirror each other, and one on each successor of a wider
    choice. Of choices that are not claimed nothing may be assumed. Where choices are tied, a class is what a choice is
    otherwise, and its outcomes are what successors are; or each event of a class is, which happens or not.
    """
    given, model = document.learning, document.model
    if document.level is None:
        raise Refused("claim, level: counts are given, and no level is claimed")
    if given is None:
        raise Refused("claim, level: there are no counts to prove it")
    method, prior = given.get("method"), _fraction(given, "prior", None)
    kind = given.get("graph", "listed")
    if method not in METHODS or kind not in KINDS:
        raise FormatError("learning: only bounds of listed transitions by the methods " + ", ".join(METHODS))
    if kind == "events":
        pointer, bounds = event_bounds(given, model)
    else:
        pointer, bounds = (model.choice_ptr, model.bounds) if kind == "listed" else outcome_bounds(given, model)
    if kind == "parametric":  # the counts prove the bounds of classes, these the box, and the box those of the model
        by_class = bounds_of(given, pointer[-1])
        check_parameters(given, pointer, by_class, bounds)
        bounds = by_class
    if prior is None or prior <= 0:
        prior = Fraction(1, 2)
    size = pointer[-1]
    counts = {name: _counts(given, name, size) for name in COUNTS}
    levels = [_levels(given, name, size) for name in ("lower_levels", "upper_levels")]
    lower, upper = bounds
    spent = Fraction(0)
    for first, last in pairwise(pointer):
        own = range(first, last)
        if len(own) <= 1:
            continue
        if all(lower[t] == 0 and upper[t] == 1 for t in own):
            continue
        costs = []
        for t in own:
            a, b = levels[0][t], levels[1][t]
            if not (0 < a < 1 and 0 < b < 1):
                raise Refused(f"learning, transition {t}: bounded, and no level is spent on it")
            if method == "clopper-pearson":
                if counts["lower_hits"][t] != counts["upper_hits"][t] or (
                    counts["lower_samples"][t] != counts["upper_samples"][t]
                ):
                    raise Refused(f"learning, transition {t}: both ends must follow from the same counts")
                costs.append((a + b) / 2)
            else:
                costs.append(max(a, b))
        _check_counts(own, counts)
        spent += max(costs) if len(own) == 2 else sum(costs)
        _check_choice(bounds, own, counts, levels, str(method), prior)
    if Fraction(document.level) > 1 - spent:
        raise Refused(
            f"learning, levels: they add up to {float(spent)!r}, more than a level of {document.level!r} leaves"
        )


def _check_counts(own: range, counts: dict[str, list[int]]) -> None:
    """Refuse counts that no sequence of samples has: those of one successor at two times, or of all at one time."""
    seen: dict[int, int] = {}
    for t in own:
        times = [(counts[f"{side}_hits"][t], counts[f"{side}_samples"][t]) for side in ("lower", "upper")]
        if len(own) == 2:  # what is not the one is the other
            other = own[0] + own[1] - t
            times += [
                (n - k, n) for k, n in ((counts[f"{x}_hits"][other], counts[f"{x}_samples"][other]) for x in SIDES)
            ]
        times.sort(key=lambda pair: (pair[1], pair[0]))
        if any(k > n for k, n in times):
            raise Refused(f"learning, transition {t}: seen more often than its choice")
        for (k, n), (later, more) in pairwise(times):
            if not 0 <= later - k <= more - n:
                raise Refused(f"learning, transition {t}: its counts contradict each other")
        for k, n in set(times[:2]) if len(own) > 2 else ():
            seen[n] = seen.get(n, 0) + k
    if any(total > n for n, total in seen.items()):
        raise Refused(f"learning, transitions {own[0]} to {own[-1]}: seen more often than their choice")


def _check_choice(
    bounds: Bounds,
    own: range,
    counts: dict[str, list[int]],
    levels: list[list[Fraction]],
    method: str,
    prior: Fraction,
) -> None:
    """Refuse bounds of a choice that are narrower than its intervals, tightened by what the other successors leave."""
    lower, upper = bounds

    def least(t: int, near: Fraction) -> Fraction:
        return lower_end(counts["lower_hits"][t], counts["lower_samples"][t], levels[0][t], method, prior, near=near)

    def most(t: int, near: Fraction) -> Fraction:
        samples = counts["upper_samples"][t]
        misses = samples - counts["upper_hits"][t]
        return 1 - lower_end(misses, samples, levels[1][t], method, prior, near=1 - near)

    for t in own:
        low, high = Fraction(lower[t]), Fraction(upper[t])
        if low > 0 and not _ruled(counts, "lower", t, low, levels[0][t], method, prior):
            others = sum((most(o, Fraction(upper[o])) for o in own if o != t), Fraction(0))
            if low > 1 - others:
                raise Refused(f"learning, transition {t}: the counts do not carry the lower bound {lower[t]!r}")
        if high < 1 and not _ruled(counts, "upper", t, 1 - high, levels[1][t], method, prior):
            others = sum((least(o, Fraction(lower[o])) for o in own if o != t), Fraction(0))
            if high < 1 - others:
                raise Refused(f"learning, transition {t}: the counts do not carry the upper bound {upper[t]!r}")


def _ruled(
    counts: dict[str, list[int]], side: str, t: int, p: Fraction, level: Fraction, method: str, prior: Fraction
) -> bool:
    hits, samples = counts[f"{side}_hits"][t], counts[f"{side}_samples"][t]
    return ruled_out(p, hits if side == "lower" else samples - hits, samples, level, method, prior)


def _fraction(given: dict[str, Any], name: str, otherwise: Fraction | None) -> Fraction | None:
    found = given.get(name)
    if found is None:
        return otherwise
    if type(found) not in (int, float) or not 0 <= found < 1e9:
        raise FormatError(f"learning, {name}: {str(found)[:40]!r} is not a number")
    return Fraction(found)


def _counts(given: dict[str, Any], name: str, size: int) -> list[int]:
    found = given.get(name)
    if (
        not isinstance(found, list)
        or len(found) != size
        or any(type(n) is not int or not 0 <= n < 1 << 53 for n in found)
    ):
        raise FormatError(f"learning, {name}: not a list of {size} counts")
    return found


def _levels(given: dict[str, Any], name: str, size: int) -> list[Fraction]:
    found = given.get(name)
    if (
        not isinstance(found, list)
        or len(found) != size
        or any(type(a) not in (int, float) or not 0 <= a < 1 for a in found)
    ):
        raise FormatError(f"learning, {name}: not a list of {size} levels")
    return [Fraction(a) for a in found]
