"""The time limit of an environment, which ends episodes that a property lets go on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from umdp.spec import Spec
from umdp.spec.formula import Globally, Until
from umdp.statements import DiagnosticCode, Statement, say

__all__ = ["cut_note", "time_limit"]


def time_limit(env: Any) -> int | None:
    """Return after how many steps an environment cuts its episodes, as its wrapper or its specification says; None if never."""
    inner = env
    while inner is not None:
        if any(kind.__name__ == "TimeLimit" for kind in type(inner).__mro__):
            found = getattr(inner, "_max_episode_steps", None)
            if isinstance(found, int):
                return found
        inner = vars(inner).get("env") if hasattr(inner, "__dict__") else None
    found = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    return found if isinstance(found, int) and found > 0 else None


def cut_note(env: Any, name: str, spec: Spec, *, entry: bool = False, remembers: bool = False) -> Statement | None:
    """Return that an environment cuts episodes and an unbounded probability does not; None where that is not so.

    Parameters
    ----------
    entry : bool
        Whether the reset counts as a step.
    remembers : bool
        Whether the property is that of a product with an automaton, which nobody asks for by itself.
    """
    formula, limit = spec.formula, time_limit(env)
    if limit is None or not isinstance(formula, Until | Globally) or formula.bound is not None:
        return None
    bounded = None if remembers else str(replace(spec, formula=replace(formula, bound=limit + entry)))
    return say(DiagnosticCode.TIME_LIMIT, name=name, limit=limit, ask=bounded, entry=entry)
