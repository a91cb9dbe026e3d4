"""The statistical half of a certificate: that the bounds of the model follow from counts, at levels that add up.

What is proved of one choice (or class, or event) of m outcomes, and at which price:

- *Confidence sequence.* One martingale for each outcome rules out both what is too small and what is too large, at all times. So
  an outcome costs the larger of its two levels; its ends may come from different times of one sequence of samples. With two
  outcomes the martingales are one and the same, mirrored: the choice costs the largest of its four levels.
- *Clopper-Pearson.* Each end is a tail of one number of samples, fixed before, and costs half of its level. With two outcomes the
  lower end of the one and the upper end of the other are one tail, which costs the larger of the two.
- *What the others leave* (no more than 1 minus their lower ends) holds wherever these ends do, and costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from umdp.errors import FormatError
from umdp.statements import Premise, Refusal
from umdp.verify.classes import Bounds, bounds_of, check_possible, event_bounds, outcome_bounds
from umdp.verify.counts import one_sequence
from umdp.verify.document import Document, Model, entries
from umdp.verify.induction import Refused
from umdp.verify.parameters import check_parameters, prior_box
from umdp.verify.premise import Assumption, assume, file_sentences
from umdp.verify.rationals import is_count, is_double
from umdp.verify.statistics import all_counts, lower_end, ruled_out
from umdp.verify.work import Work

__all__ = ["assumed_of", "check_learning"]

METHODS = ("confidence-sequence", "clopper-pearson")
KINDS = ("listed", "tied", "events", "parametric")
COUNTS = ("lower_hits", "lower_samples", "upper_hits", "upper_samples")
FIXED = 2 * 10**7  # samples of which binomial tails are summed


def _is_level(given: Any) -> bool:
    return is_double(given, 0) and given < 1


@dataclass(frozen=True)
class SpentLevels:
    """The counts and levels of a certificate, well-formed; entry t is a transition, an outcome, or an event or what is not it."""

    method: str
    prior: Fraction
    counts: dict[str, list[int]]
    levels: dict[str, list[Fraction]]

    @classmethod
    def of(cls, given: dict[str, Any], size: int) -> SpentLevels:
        """Return the ledger of so many entries."""
        method, prior = given["method"], given.get("prior", 0.5)
        if method == "confidence-sequence" and not is_double(prior, 1e-9, 1e9):
            raise FormatError("learning, prior: not a number from 1e-9 to 1e9, the parameter of the mixture")
        counts = {name: entries(given, name, f"not a list of {size} counts", is_count, size) for name in COUNTS}
        if method == "clopper-pearson" and max(counts["lower_samples"], default=0) > FIXED:
            raise FormatError(f"learning, lower_samples: the tails of more than {FIXED:,} samples are not summed")
        levels = {
            side: list(map(Fraction, entries(given, f"{side}_levels", f"not a list of {size} levels", _is_level, size)))
            for side in ("lower", "upper")
        }
        return cls(method, Fraction(prior) if method == "confidence-sequence" else Fraction(0), counts, levels)

    def tail(self, side: str, t: int) -> tuple[int, int, Fraction, str, Fraction]:
        """Return what the end of one side rests on: hits (what speaks for more, or for less), samples, level, method, prior."""
        hits, samples = self.counts[f"{side}_hits"][t], self.counts[f"{side}_samples"][t]
        return (hits if side == "lower" else samples - hits), samples, self.levels[side][t], self.method, self.prior

    def points(self, t: int) -> list[tuple[int, int]]:
        """Return the times at which the ends of an entry were adopted, with its hits."""
        return [(self.counts[f"{side}_samples"][t], self.counts[f"{side}_hits"][t]) for side in ("lower", "upper")]

    def cost(self, own: range) -> Fraction:
        """Return with which probability some end of a choice may be wrong."""
        low, high = ([self.levels[side][t] for t in own] for side in ("lower", "upper"))
        if any(not 0 < each < 1 for each in (*low, *high)):
            raise Refused(Refusal.UNSPENT, first=own[0], last=own[-1])
        if self.method == "clopper-pearson":
            tails = [max(low[0], high[1]), max(low[1], high[0])] if len(own) == 2 else [*low, *high]
            return sum(tails, Fraction(0)) / 2
        both = [max(pair) for pair in zip(low, high, strict=True)]
        return max(both) if len(own) == 2 else sum(both, Fraction(0))


def check_learning(document: Document) -> None:
    """Refuse a level that the counts and the ledger of levels do not carry.

    Of choices that are not claimed nothing may be assumed. Where choices are tied, a class is what a choice is otherwise, and its
    outcomes are what successors are; or each event of a class is, which happens or not.
    """
    given, model = document.learning, document.model
    if document.level is None:
        raise Refused(Refusal.NO_LEVEL)
    if given is None:
        raise Refused(Refusal.NO_COUNTS)
    pointer, bounds = _to_be_proved(given, model)
    ledger = SpentLevels.of(given, pointer[-1])
    claimed = [
        range(first, last)
        for first, last in pairwise(pointer)
        if last - first > 1 and any(bounds[0][t] > 0 or bounds[1][t] < 1 for t in range(first, last))
    ]
    spent = Fraction(0)
    for own in claimed:
        spent += ledger.cost(own)
        _check_counts(own, ledger)
    if Fraction(document.level) > 1 - spent:
        raise Refused(Refusal.OVERSPENT, spent=float(spent), level=document.level)
    work = all_counts()
    for own in claimed:
        ProvedIntervals(bounds, own, ledger, work).check()


def assumed_of(given: dict[str, Any]) -> tuple[Assumption, ...]:
    """Return what must be true besides what the counts show; nothing that a file says takes any of it away."""
    kind = _kind(given)
    found = [assume(Premise.PROCESS), assume(Premise.SAMPLES), assume(Premise.FIXED_BEFORE)]
    if given["method"] == "clopper-pearson":
        found.append(assume(Premise.FIXED_SIZE))
    if kind != "listed":
        found.append(assume(Premise.CLASSES))
    if kind == "parametric":
        found += [assume(Premise.FUNCTIONS), assume(Premise.PRIOR_BOX, box=prior_box(given))]
    return (*found, *file_sentences(given, "learning"))


def _kind(given: dict[str, Any]) -> str:
    kind = given.get("graph", "listed")
    if given.get("method") not in METHODS or kind not in KINDS:
        raise FormatError("learning: only bounds of listed transitions by the methods " + ", ".join(METHODS))
    return str(kind)


def _to_be_proved(given: dict[str, Any], model: Model) -> tuple[list[int], Bounds]:
    """Return what the counts are about, as a pointer, and the bounds that they are to prove; the model's follow from them."""
    kind = _kind(given)
    if kind == "listed":
        return model.choice_ptr, model.bounds
    if kind == "events":
        return event_bounds(given, model)
    pointer, bounds = outcome_bounds(given, model)
    if kind == "parametric":  # the counts prove the bounds of classes, these the box, and the box those of the model
        own = bounds_of(given, pointer[-1])
        check_parameters(given, pointer, own, bounds)
        return pointer, own
    return pointer, bounds


def _check_counts(own: range, ledger: SpentLevels) -> None:
    """Refuse counts that no sequence of samples has; and for a number of samples fixed before, more than one such number."""
    known = [ledger.points(t) for t in own]
    if ledger.method == "clopper-pearson" and len({samples for each in known for samples, _ in each}) > 1:
        raise Refused(Refusal.SEVERAL_SIZES, first=own[0], last=own[-1])
    if any(hits > samples for each in known for samples, hits in each):
        raise Refused(Refusal.HITS, first=own[0], last=own[-1])
    if not one_sequence(known):
        raise Refused(Refusal.NO_SEQUENCE, first=own[0], last=own[-1])


@dataclass(frozen=True)
class ProvedIntervals:
    """The intervals of one choice, from its counts, and the bounds that must not be narrower."""

    bounds: Bounds
    own: range
    ledger: SpentLevels
    work: Work

    def check(self) -> None:
        """Refuse bounds that are narrower than the intervals, tightened by what the other successors leave."""
        lower, upper = self.bounds
        for t in self.own:
            low, high = Fraction(lower[t]), Fraction(upper[t])
            if low > 0 and not self._ruled("lower", t, low):
                others = sum(self._most.values(), Fraction(0)) - self._most[t]
                if low > 1 - others:
                    raise Refused(Refusal.NOT_CARRIED, transition=t, end="lower", bound=lower[t])
            if high < 1 and not self._ruled("upper", t, 1 - high):
                others = sum(self._least.values(), Fraction(0)) - self._least[t]
                if high < 1 - others:
                    raise Refused(Refusal.NOT_CARRIED, transition=t, end="upper", bound=upper[t])
        self._check_agreement()

    def _check_agreement(self) -> None:
        """Refuse intervals, from several times, that no distribution lies in: then it is known that one of them has failed."""
        if len({samples for t in self.own for samples, _ in self.ledger.points(t)}) == 1:
            return  # the shares that were seen lie in all of them
        lower, upper = ([Fraction(each[t]) for t in self.own] for each in self.bounds)
        width = sum(upper, Fraction(0)) - sum(lower, Fraction(0))
        part = (1 - sum(lower, Fraction(0))) / width if width > 0 else Fraction(0)
        inside = [low + part * (high - low) for low, high in zip(lower, upper, strict=True)]
        if not any(
            self._ruled("lower", t, p) or self._ruled("upper", t, 1 - p) for t, p in zip(self.own, inside, strict=True)
        ):
            return  # here is one
        check_possible(
            [(self._least[t], self._most[t]) for t in self.own], f"transitions {self.own[0]} to {self.own[-1]}"
        )

    @cached_property
    def _least(self) -> dict[int, Fraction]:
        return {t: self._end("lower", t, Fraction(self.bounds[0][t])) for t in self.own}

    @cached_property
    def _most(self) -> dict[int, Fraction]:
        return {t: 1 - self._end("upper", t, 1 - Fraction(self.bounds[1][t])) for t in self.own}

    def _end(self, side: str, t: int, near: Fraction) -> Fraction:
        return lower_end(*self.ledger.tail(side, t), near=near, work=self.work)

    def _ruled(self, side: str, t: int, p: Fraction) -> bool:
        return ruled_out(p, *self.ledger.tail(side, t), self.work)
