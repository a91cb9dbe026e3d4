"""How much work a property with formulas is: formulas are expanded where they are named, and may name each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from umdp.errors import FormatError

__all__ = ["check_formulas"]

WORK = 200_000  # characters, all formulas expanded
ENTRIES = 10**10  # characters times states
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_formulas(text: str, formulas: Mapping[str, str], states: int) -> None:
    """Refuse a property that is too long once every formula is expanded: sixty that double each other are 2^60.

    Examples
    --------
    >>> check_formulas("Pmax=? [ F f2 ]", {"f1": "x > 0", "f2": "f1 & f1"}, 10)
    >>> doubled = {f"f{i}": f"f{i - 1} & f{i - 1}" for i in range(1, 60)} | {"f0": "true"}
    >>> check_formulas("Pmax=? [ F f59 ]", doubled, 10)
    Traceback (most recent call last):
        ...
    umdp.errors.FormatError: model, formulas: too long once they are expanded
    """
    work: dict[str, int] = {}

    def size(given: str) -> int:
        return len(given) + sum(work.get(name, 0) for name in _NAME.findall(given))

    try:
        order = list(TopologicalSorter({name: _NAME.findall(each) for name, each in formulas.items()}).static_order())
    except CycleError:
        raise FormatError("model, formulas: one is defined by itself") from None
    for name in order:
        if name in formulas:
            work[name] = min(size(formulas[name]), WORK + 1)
    longest = max(size(text), max(work.values(), default=0))
    if longest > WORK or size(text) * states > ENTRIES:
        raise FormatError("model, formulas: too long once they are expanded")
