"""Classes of choices in a certificate: which outcomes lead along which transition, and what their bounds add up to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from umdp.errors import FormatError
from umdp.verify.document import Model
from umdp.verify.inductive import Refused

__all__ = ["Bounds", "outcome_bounds"]

Bounds = tuple[list[float], list[float]]


def outcome_bounds(given: dict[str, Any], model: Model) -> tuple[list[int], Bounds]:
    """Return which outcomes belong to each class, as a pointer, and bounds on them from which those of the model follow.

    Along a transition leads one outcome, or several that nobody can tell apart there. The narrowest bounds of any transition with
    one outcome are to be proved by counts; those of a transition with several must follow from these: no more than they add up
    to, or than the other outcomes of the class leave.
    """
    size = len(model.successor)
    class_ptr = _pointer(given, "class_ptr", None)
    along = _pointer(given, "transition_ptr", size)
    outcome = given.get("transition_outcome")
    outcomes = class_ptr[-1]
    if (
        not isinstance(outcome, list)
        or len(outcome) != along[-1]
        or any(type(o) is not int or not 0 <= o < outcomes for o in outcome)
    ):
        raise FormatError(f"learning, transition_outcome: not a list of {along[-1]} outcomes")
    owner = [k for k in range(len(class_ptr) - 1) for _ in range(class_ptr[k], class_ptr[k + 1])]
    lower, upper = [0.0] * outcomes, [1.0] * outcomes
    several: list[tuple[int, list[int], int]] = []
    for choice in range(model.choices):
        own = range(model.choice_ptr[choice], model.choice_ptr[choice + 1])
        found = [o for t in own for o in outcome[along[t] : along[t + 1]]]
        kinds = {owner[o] for o in found}
        if len(kinds) != 1:
            raise Refused(f"learning, choice {choice}: its outcomes are of different classes")
        kind = kinds.pop()
        if sorted(found) != list(range(class_ptr[kind], class_ptr[kind + 1])):
            raise Refused(f"learning, choice {choice}: its outcomes are not those of its class, each once")
        if any(along[t] == along[t + 1] for t in own):
            raise Refused(f"learning, choice {choice}: no outcome leads along one of its transitions")
        for t in own:
            some = outcome[along[t] : along[t + 1]]
            if len(some) > 1:
                several.append((t, some, kind))
            elif len(own) > 1:
                lower[some[0]] = max(lower[some[0]], model.bounds[0][t])
                upper[some[0]] = min(upper[some[0]], model.bounds[1][t])
    for t, some, kind in several:
        others = [o for o in range(class_ptr[kind], class_ptr[kind + 1]) if o not in some]
        least = max(sum((Fraction(lower[o]) for o in some), Fraction(0)), 1 - sum(Fraction(upper[o]) for o in others))
        most = min(sum((Fraction(upper[o]) for o in some), Fraction(0)), 1 - sum(Fraction(lower[o]) for o in others))
        if Fraction(model.bounds[0][t]) > least or Fraction(model.bounds[1][t]) < min(most, Fraction(1)):
            raise Refused(f"learning, transition {t}: its bounds do not follow from those of its outcomes")
    return class_ptr, (lower, upper)


def _pointer(given: dict[str, Any], name: str, size: int | None) -> list[int]:
    """Return a pointer array, which starts at 0 and never falls."""
    found = given.get(name)
    if (
        not isinstance(found, list)
        or len(found) < 1
        or (size is not None and len(found) != size + 1)
        or any(type(n) is not int or not 0 <= n < 1 << 53 for n in found)
        or found[0] != 0
        or any(found[i] > found[i + 1] for i in range(len(found) - 1))
        or found[-1] > 1 << 40
    ):
        raise FormatError(f"learning, {name}: not a pointer array")
    return found
