"""Classes of choices in a certificate: which outcomes lead along which transition, and what their bounds add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from umdp.errors import FormatError
from umdp.statements import Refusal
from umdp.verify.document import Model, entries, numbers_of
from umdp.verify.induction import Refused
from umdp.verify.rationals import is_count, is_integer

__all__ = ["UNIT", "Bounds", "both", "bounds_of", "check_possible", "cut", "event_bounds", "outcome_bounds"]

Bounds = tuple[list[float], list[float]]
Block = frozenset[int]
Ends = tuple[Fraction, Fraction]

UNIT = Fraction(0), Fraction(1)
SLIP = Fraction(1, 10**9)  # of sums, as for the bounds of a choice
WORK = 2 * 10**7  # outcomes of classes, once for each transition or event


@dataclass(frozen=True)
class Classes:
    """Which outcomes there are, and which of them lead along which transition.

    Attributes
    ----------
    class_ptr : class k has the outcomes ``class_ptr[k] .. class_ptr[k+1]``
    kind : the class of every choice
    blocks : the outcomes that lead along each transition
    """

    class_ptr: list[int]
    kind: list[int]
    blocks: list[Block]

    @classmethod
    def of(cls, given: dict[str, Any], model: Model) -> Classes:
        """Return the classes of a certificate, in which every choice has the outcomes of its class, each once."""
        size = len(model.successor)
        class_ptr = _pointer(given, "class_ptr", None)
        along = _pointer(given, "transition_ptr", size)
        if class_ptr[-1] > along[-1]:
            raise FormatError(f"learning, class_ptr: {class_ptr[-1]} outcomes, of which transitions have {along[-1]}")
        outcome = _outcomes(given, "transition_outcome", along[-1], class_ptr[-1])
        owner = [k for k in range(len(class_ptr) - 1) for _ in range(class_ptr[k], class_ptr[k + 1])]
        kind = []
        for choice in range(model.choices):
            own = range(model.choice_ptr[choice], model.choice_ptr[choice + 1])
            found = [o for t in own for o in outcome[along[t] : along[t + 1]]]
            kinds = {owner[o] for o in found}
            if len(kinds) != 1:
                raise Refused(Refusal.MIXED_CLASSES, choice=choice)
            kind.append(kinds.pop())
            if sorted(found) != list(range(class_ptr[kind[-1]], class_ptr[kind[-1] + 1])):
                raise Refused(Refusal.NOT_ITS_CLASS, choice=choice)
            if any(along[t] == along[t + 1] for t in own):
                raise Refused(Refusal.NO_OUTCOME, choice=choice)
        if len(set(kind)) < len(class_ptr) - 1:
            raise Refused(Refusal.UNUSED_CLASS)
        work = sum(
            (class_ptr[k + 1] - class_ptr[k]) * (b - a)
            for k, (a, b) in zip(kind, pairwise(model.choice_ptr), strict=True)
        )
        if work > WORK:
            raise FormatError("learning, class_ptr: classes of so many outcomes are too large to check")
        return cls(class_ptr, kind, [frozenset(outcome[along[t] : along[t + 1]]) for t in range(size)])

    def whole(self, kind: int) -> range:
        """Return the outcomes of a class."""
        return range(self.class_ptr[kind], self.class_ptr[kind + 1])


def outcome_bounds(given: dict[str, Any], model: Model) -> tuple[list[int], Bounds]:
    """Return which outcomes belong to each class, as a pointer, and bounds on them from which those of the model follow.

    Along a transition leads one outcome, or several that nobody can tell apart there. The narrowest bounds of any transition with
    one outcome are to be proved by counts; those of a transition with several must follow from these: no more than they add up
    to, or than the other outcomes of the class leave.
    """
    classes = Classes.of(given, model)
    outcomes = classes.class_ptr[-1]
    lower, upper = [0.0] * outcomes, [1.0] * outcomes
    several: list[tuple[int, int]] = []
    for choice in range(model.choices):
        own = range(model.choice_ptr[choice], model.choice_ptr[choice + 1])
        for t in own:
            if len(classes.blocks[t]) > 1:
                several.append((t, classes.kind[choice]))
            elif len(own) > 1:
                (only,) = classes.blocks[t]
                lower[only] = max(lower[only], model.bounds[0][t])
                upper[only] = min(upper[only], model.bounds[1][t])
    exact = [(Fraction(low), Fraction(high)) for low, high in zip(lower, upper, strict=True)]
    for k in range(len(classes.class_ptr) - 1):
        check_possible([exact[o] for o in classes.whole(k)], f"class {k}")
    for t, kind in several:
        _check(model, t, _together(classes.blocks[t], classes.whole(kind), exact), "its outcomes")
    return classes.class_ptr, (lower, upper)


def event_bounds(given: dict[str, Any], model: Model) -> tuple[list[int], Bounds]:
    """Return a pointer to pairs, each event and what is left without it, and bounds on them from which those of the model follow.

    An event is a set of outcomes of a class; its bounds are to be proved by counts. An outcome has the bounds of its event, cut
    by what the others of its class leave. The bounds of a transition must follow from those of its event, of its outcomes
    together, of the other outcomes of its class, or of the other transitions of its choice.
    """
    classes = Classes.of(given, model)
    pointer = _pointer(given, "event_ptr", None)
    listed = _outcomes(given, "event_outcome", pointer[-1], classes.class_ptr[-1])
    size = len(pointer) - 1
    lower, upper = bounds_of(given, 2 * size)
    owner = [k for k in range(len(classes.class_ptr) - 1) for _ in classes.whole(k)]
    known: dict[Block, Ends] = {}
    work = 0
    for e in range(size):
        event = frozenset(listed[pointer[e] : pointer[e + 1]])
        kinds = {owner[o] for o in event}
        if len(kinds) != 1 or len(event) != pointer[e + 1] - pointer[e]:
            raise Refused(Refusal.NO_EVENT, event=e)
        whole = classes.whole(kinds.pop())
        work += len(whole)
        if work > WORK:
            raise FormatError("learning, event_ptr: so many events of so many outcomes are too many to check")
        rest = frozenset(whole) - event
        if not rest:
            raise Refused(Refusal.SURE_EVENT, event=e)
        for side, block in enumerate((event, rest)):
            ends = Fraction(lower[2 * e + side]), Fraction(upper[2 * e + side])
            known[block] = both(ends, known.get(block, UNIT))
    outcome: list[Ends] = []
    for k in range(len(classes.class_ptr) - 1):
        alone = [known.get(frozenset((o,)), UNIT) for o in classes.whole(k)]
        check_possible(alone, f"class {k}")
        outcome += cut(alone)
    found: dict[Block, Ends] = {}
    for choice in range(model.choices):
        own = range(model.choice_ptr[choice], model.choice_ptr[choice + 1])
        for block in (classes.blocks[t] for t in own if classes.blocks[t] not in found):
            together = _together(block, classes.whole(classes.kind[choice]), outcome)
            found[block] = both(together, known.get(block, UNIT))
        parts = [found[classes.blocks[t]] for t in own]
        check_possible(parts, f"choice {choice}")
        for t, ends in zip(own, cut(parts), strict=True) if len(own) > 1 else ():
            _check(model, t, ends, "events")
    return list(range(0, 2 * size + 1, 2)), (lower, upper)


def bounds_of(given: dict[str, Any], size: int) -> Bounds:
    """Return the bounds that the counts are to prove."""
    lower, upper = (numbers_of(given, name, size) for name in ("own_lower", "own_upper"))
    if any(not 0 <= low <= high <= 1 for low, high in zip(lower, upper, strict=True)):
        raise FormatError("learning, own_lower, own_upper: not bounds on probabilities")
    return lower, upper


def both(ends: Ends, others: Ends) -> Ends:
    """Return what is left where two bounds hold."""
    return max(ends[0], others[0]), min(ends[1], others[1])


def _sums(ends: Iterable[Ends]) -> Ends:
    """Return what parts add up to at least, and at most."""
    low, high = Fraction(0), Fraction(0)
    for each in ends:
        low, high = low + each[0], high + each[1]
    return low, high


def _together(block: Block, whole: range, outcome: list[Ends]) -> Ends:
    """Return what outcomes add up to, cut by what the others of their class leave."""
    least, most = _sums(outcome[o] for o in whole if o not in block)
    return both(_sums(outcome[o] for o in block), (1 - most, 1 - least))


def cut(ends: list[Ends]) -> list[Ends]:
    """Return the bounds of parts of a whole, each cut by what the others leave."""
    least, most = _sums(ends)
    return [both(each, (1 - (most - each[1]), 1 - (least - each[0]))) for each in ends]


def check_possible(ends: list[Ends], place: str) -> None:
    """Refuse bounds of parts of a whole that no distribution fits: then the counts contradict what they are said to be of."""
    least, most = _sums(ends)
    if any(low > high + SLIP for low, high in ends) or least > 1 + SLIP or most < 1 - SLIP:
        raise Refused(Refusal.NO_DISTRIBUTION, place=place)


def _check(model: Model, t: int, ends: Ends, what: str) -> None:
    """Refuse bounds of a transition that are narrower."""
    if Fraction(model.bounds[0][t]) > ends[0] or Fraction(model.bounds[1][t]) < min(ends[1], Fraction(1)):
        raise Refused(Refusal.NOT_DERIVED, transition=t, what=what)


def _outcomes(given: dict[str, Any], name: str, size: int, outcomes: int) -> list[int]:
    return entries(given, name, f"not a list of {size} outcomes", lambda o: is_integer(o, 0, outcomes - 1), size)


def _pointer(given: dict[str, Any], name: str, size: int | None) -> list[int]:
    """Return a pointer array, which starts at 0 and never falls."""
    refusal = "not a pointer array"
    found = entries(given, name, refusal, is_count, None if size is None else size + 1)
    if found[:1] != [0] or any(a > b for a, b in pairwise(found)) or found[-1] > 1 << 40:
        raise FormatError(f"learning, {name}: {refusal}")
    return found
