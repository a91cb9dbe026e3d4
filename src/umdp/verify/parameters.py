"""Parameters in a certificate: from the bounds of classes to a box of parameters, and from the box to those of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

from umdp.errors import FormatError
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.ranges import Ends, range_of
from umdp.statements import Refusal
from umdp.verify.box import Limit, all_boxes, leaves_only, work_of
from umdp.verify.classes import UNIT, Bounds, both, check_possible, cut
from umdp.verify.document import entries, numbers_of
from umdp.verify.induction import Refused
from umdp.verify.premise import plain
from umdp.verify.rationals import is_integer
from umdp.verify.work import Work

__all__ = ["check_parameters", "prior_box"]

MOST, DEGREE = 16, 64  # parameters, and the degree of a function in one of them
SPLITS = 64
TABLE = 1 << 14  # coefficients of one function over a box
LARGEST = 1e9  # of the ends of a box
_COEFFICIENT = re.compile(r"-?[0-9]{1,500}(/[0-9]{1,500})?")


def check_parameters(given: dict[str, Any], pointer: list[int], own: Bounds, wanted: Bounds) -> None:
    """Refuse a box of parameters that the bounds of classes do not carry, or bounds of the model that the box does not.

    Wherever the true parameters lie in the prior box, every outcome's function lies between the bounds of its class. That leaves
    the box, and over the box every function has a range. A bound of the model follows from one of these, or from what the
    other outcomes of the class leave.
    """
    size = len(_names(given))
    prior, box = _box(given, "prior", size), _box(given, "box", size)
    functions = [_function(each, size) for each in entries(given, "functions", "not a list")]
    which = entries(given, "outcome_function", "not a list")
    if len(which) != pointer[-1] or not all(is_integer(f, 0, len(functions) - 1) for f in which):
        raise FormatError(f"learning, outcome_function: not a function for each of {pointer[-1]} outcomes")
    work = all_boxes()
    for function in functions:
        work.spend(4 * SPLITS * work_of(function))
    for number, (first, last) in enumerate(pairwise(pointer)):
        _check_sum([functions[f] for f in which[first:last]], number, work)
        if last - first == 1 and own[1][first] < 1:
            raise Refused(Refusal.SURE_OUTCOME, outcome=first)
    known = [(Fraction(low), Fraction(high)) for low, high in zip(*own, strict=True)]
    bounds = [UNIT] * len(functions)
    for ends, f in zip(known, which, strict=True):
        bounds[f] = both(bounds[f], ends)
    open_ = [f for f, function in enumerate(functions) if not function.is_constant]
    limits = [Limit(functions[f], *bounds[f]) for f in open_]
    weights = [(axis, sign, [y[f] for f in open_]) for axis, sign, y in _weights(given, size, len(functions))]
    if not leaves_only(prior, limits, box, weights, work):
        raise Refused(Refusal.BOX)
    ranges = [range_of(function, box, SPLITS) or UNIT for function in functions]
    left = [both(ends, ranges[f]) for ends, f in zip(known, which, strict=True)]
    for number, (first, last) in enumerate(pairwise(pointer)):
        check_possible(left[first:last], f"class {number}")
        for outcome, (floor, ceiling) in enumerate(cut(left[first:last]), first) if last - first > 1 else ():
            if Fraction(wanted[0][outcome]) > floor or Fraction(wanted[1][outcome]) < ceiling:
                raise Refused(Refusal.NOT_FROM_BOX, outcome=outcome)


def _check_sum(functions: list[Function], number: int, work: Work) -> None:
    """Refuse functions of one class that do not sum to 1, whatever the parameters: they describe no distribution."""
    total = functions[0]
    for each in functions[1:]:
        sizes = [len(p.terms) for f in (total, each) for p in (f.numerator, f.denominator)]
        work.spend(10 * max(sizes[0] * sizes[3], sizes[1] * sizes[2], sizes[1] * sizes[3]))
        total = total + each
    if total.numerator != total.denominator:
        raise Refused(Refusal.NOT_A_SUM, number=number)


def prior_box(given: dict[str, Any]) -> str:
    """Return the box believed beforehand, in words."""
    names = _names(given)
    ends = zip(names, *(numbers_of(given, f"prior_{end}", len(names)) for end in ("lower", "upper")), strict=True)
    return ", ".join(f"{plain(name)!r} between {low!r} and {high!r}" for name, low, high in ends)


def _names(given: dict[str, Any]) -> list[str]:
    names = given.get("parameters")
    if not isinstance(names, list) or not 1 <= len(names) <= MOST:
        raise FormatError(f"learning, parameters: not a list of at most {MOST} names")
    if any(not isinstance(n, str) or not 0 < len(n) <= 100 for n in names) or len(set(names)) < len(names):
        raise FormatError("learning, parameters: names are different texts of at most 100 characters")
    return names


def _box(given: dict[str, Any], name: str, size: int) -> Ends:
    lower, upper = (numbers_of(given, f"{name}_{end}", size) for end in ("lower", "upper"))
    if any(low > high for low, high in zip(lower, upper, strict=True)):
        raise FormatError(f"learning, {name}: a lower end is above the upper one")
    if any(abs(end) > LARGEST for end in (*lower, *upper)):
        raise FormatError(f"learning, {name}: an end is beyond {LARGEST:g}")
    return [(Fraction(low), Fraction(high)) for low, high in zip(lower, upper, strict=True)]


def _weights(given: dict[str, Any], size: int, functions: int) -> Iterator[tuple[int, int, list[Fraction]]]:
    for each in entries(given, "weights", "not a list"):
        if not isinstance(each, list) or len(each) != 3 or not is_integer(each[0], 0, size - 1):
            raise FormatError("learning, weights: not a parameter, a sign and numbers")
        if type(each[1]) is not int or each[1] not in (1, -1):
            raise FormatError("learning, weights: a sign is 1 or -1")
        yield each[0], each[1], [Fraction(y) for y in numbers_of({"weights": each[2]}, "weights", functions)]


def _function(given: Any, size: int) -> Function:
    if not isinstance(given, list) or len(given) != 2:
        raise FormatError("learning, functions: not a list of pairs, numerator and denominator")
    over, under = (_polynomial(each, size) for each in given)
    if not under.terms:
        raise FormatError("learning, functions: a denominator is 0")
    if prod(max(d) + 1 for d in zip(over.degrees, under.degrees, strict=True)) > TABLE:
        raise FormatError("learning, functions: too many parameters, of too high degrees")
    return Function.of(over, under)


def _polynomial(given: Any, size: int) -> Polynomial:
    """Return a polynomial from pairs of a coefficient, as text, and exponents."""
    terms: dict[tuple[int, ...], Fraction] = {}
    if not isinstance(given, list):
        raise FormatError("learning, functions: a polynomial is a list of terms")
    for term in given:
        fits = isinstance(term, list) and len(term) == 2 and isinstance(term[0], str) and isinstance(term[1], list)
        if not fits or not _COEFFICIENT.fullmatch(term[0]) or len(term[1]) != size:
            raise FormatError("learning, functions: a term is not a coefficient and its exponents")
        if not all(is_integer(e, 0, DEGREE) for e in term[1]) or tuple(term[1]) in terms:
            raise FormatError("learning, functions: exponents are repeated, or not whole numbers")
        try:
            terms[tuple(term[1])] = Fraction(term[0])
        except ZeroDivisionError:
            raise FormatError(f"learning, functions: {term[0][:40]!r} is not a fraction") from None
    return Polynomial(terms, size)
