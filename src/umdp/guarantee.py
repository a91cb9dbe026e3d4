"""What is promised: computed here, and only here, from what a learner claims and what a source knows of its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from umdp.plural import nouns, were

if TYPE_CHECKING:
    from umdp.source.base import Knowledge

__all__ = ["Guarantee", "promise"]

Kind = Literal["none", "fixed-N", "any-time"]

LOOKED_AGAIN = (
    "the bounds hold for one look, after numbers of samples fixed before, and this was look {looks}: "
    "use ConfidenceSequence, which holds at all looks"
)
FOLLOWED = (
    "the bounds hold for numbers of samples fixed before, and here what was seen decided what was sampled, or when to stop: "
    "use ConfidenceSequence"
)
FIXED = "the number of samples of every choice was fixed before, not by what was seen"
OBSERVED = "the graph was only observed: what can happen but was not seen is missing from it"
NOT_FOUND = (
    "the graph was found in the data, and the learner's bounds are for one that is known: use ConfidenceSequence"
)
COSTLY = (
    "an outcome that was never seen may cost anything, or hold for ever: no bound on a smallest cost, or on a long-run average, "
    "follows from an observed graph"
)
POSSIBLE = "every listed transition can happen"  # where the value rests on some that were never seen
CHANGES = "the process is known to change: bounds from before say nothing of it after"
UNKNOWN = "the learner promises nothing"


@dataclass(frozen=True)
class Guarantee:
    """What bounds promise: nothing, something for one look after a fixed number of samples, or something at all times.

    Attributes
    ----------
    kind : {"none", "fixed-N", "any-time"}
    level : the probability with which all bounds hold at once; None where nothing is promised
    reasons : why nothing is promised; or what must be true for the promise to hold; a sentence each

    Examples
    --------
    >>> print(Guarantee("any-time", 0.99))
    with probability 99 %, whenever you stop
    >>> print(Guarantee("any-time", 0.99, ("no row was recorded twice", "no row was left out")))
    with probability 99 %, whenever you stop, provided that no row was recorded twice (and 1 more condition)
    >>> print(Guarantee("none", reasons=("the graph was only observed",)))
    no guarantee: the graph was only observed
    """

    kind: Kind
    level: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether anything is promised."""
        return self.kind != "none"

    @property
    def text(self) -> str:
        """The label in one line: what is promised and under which condition, or that nothing is, and why."""
        if self.level is None:
            return self._with_first("no guarantee", ": ", "reason")
        when = (
            "whenever you stop"
            if self.kind == "any-time"
            else "if you look once, after a number of samples fixed before"
        )
        share = f"{100 * self.level:.10g}"
        share = "over 99.9999999" if share == "100" else share  # nothing is sure
        return self._with_first(f"with probability {share} %, {when}", ", provided that ", "condition")

    @property
    def short(self) -> str:
        """The label in few words, for legends and tables.

        Examples
        --------
        >>> Guarantee("any-time", 0.95).short, Guarantee("none", None, ("why",)).short
        ('95 %, whenever you stop', 'no guarantee')
        >>> Guarantee("any-time", 0.95, ("no row was left out",)).short
        '95 %, whenever you stop, on conditions'
        """
        if self.level is None:
            return "no guarantee"
        when = "whenever you stop" if self.kind == "any-time" else "for one look"
        return f"{100 * self.level:.10g} %, {when}" + (", on conditions" if self.reasons else "")

    def _with_first(self, text: str, joint: str, noun: str) -> str:
        if not self.reasons:
            return text
        more = len(self.reasons) - 1
        tail = f" (and {more} more {noun}{'s' if more > 1 else ''})" if more else ""
        return f"{text}{joint}{self.reasons[0]}{tail}"

    def as_dict(self) -> dict[str, Any]:
        """Return kind, level, reasons and the text, for JSON."""
        return {"kind": self.kind, "level": self.level, "reasons": list(self.reasons), "text": self.text}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee that `as_dict` was made from.

        Examples
        --------
        >>> label = Guarantee("any-time", 0.95, ("no row was recorded twice",))
        >>> Guarantee.from_dict(label.as_dict()) == label
        True
        """
        return Guarantee(given["kind"], given["level"], tuple(given["reasons"]))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from umdp.model.display import facts_html

        why = "provided that" if self.holds else "because"
        facts = [(why if number == 0 else "", reason) for number, reason in enumerate(self.reasons)]
        return facts_html(replace(self, reasons=()).text, facts)


def promise(
    claim: Guarantee,
    knowledge: Knowledge,
    *,
    looks: int = 0,
    whole: bool = True,
    discovers: bool = False,
    watches: bool = False,
    costly: bool = False,
    decided_unseen: int = 0,
) -> Guarantee:
    """Return what is promised: a learner's claim, where nothing that is known of the data stands against it.

    Parameters
    ----------
    claim : Guarantee
        What the learner alone would promise.
    knowledge : Knowledge
        What the source knows of its data.
    looks : int
        How often the bounds were looked at after data had come in.
    whole : bool
        Whether all of a data set was read, so that nothing that was seen decided what was sampled, or when to look.
    discovers : bool
        Whether the learner's claim allows for a graph that was found in the data.
    watches : bool
        Whether the learner's claim itself says since when the process must not have changed.
    costly : bool
        Whether the property asks for a smallest reward, which an outcome that was never seen may exceed by anything.
    decided_unseen : int
        How many listed transitions were never seen though what the graph decides rests on them.

    Examples
    --------
    >>> from umdp.source.base import Knowledge
    >>> claim = Guarantee("any-time", 0.95)
    >>> print(promise(claim, Knowledge()))
    with probability 95 %, whenever you stop
    >>> print(promise(claim, Knowledge(changes=True)))
    no guarantee: the process is known to change: bounds from before say nothing of it after
    >>> print(promise(claim, Knowledge(), decided_unseen=2))
    with probability 95 %, whenever you stop, provided that every listed transition can happen: 2 of those on which ...
    """
    against = [
        *(() if claim.holds else claim.reasons or (UNKNOWN,)),
        *_against_graph(knowledge, discovers=discovers, costly=costly, unseen=decided_unseen),
        *_against_data(knowledge, watches=watches),
        *_against_looking(claim, looks, whole=whole),
    ]
    if against:
        return Guarantee("none", None, tuple(against))
    conditions = [*claim.reasons, *knowledge.assumptions]
    if claim.kind == "fixed-N" and FIXED not in conditions:
        conditions.append(FIXED)
    if decided_unseen:
        conditions.insert(
            0,
            f"{POSSIBLE}: {decided_unseen:,} of those on which the value rests "
            f"{'was' if decided_unseen == 1 else 'were'} never seen",
        )
    return replace(claim, reasons=tuple(conditions))


def _against_graph(knowledge: Knowledge, *, discovers: bool, costly: bool, unseen: int) -> list[str]:
    if knowledge.graph == "given" and not knowledge.rest:
        return []
    if not knowledge.rest:
        return [OBSERVED]
    found = [] if discovers else [NOT_FOUND]
    if costly:
        found.append(COSTLY)
    if unseen and knowledge.graph == "observed":
        found.append(
            f"the value rests on {unseen:,} listed {nouns(unseen, 'transition')} that {were(unseen)} never seen, in a graph only "
            "observed"
        )
    return found


def _against_data(knowledge: Knowledge, *, watches: bool) -> list[str]:
    found = []
    of = f" of {knowledge.rows:,}" if knowledge.rows else ""
    if knowledge.unlisted:
        found.append(
            f"{knowledge.unlisted:,}{of} {nouns(knowledge.rows or knowledge.unlisted, 'step')} that the graph does not list "
            f"{were(knowledge.unlisted)} dropped: what is left was selected by outcome"
        )
    if knowledge.rejected:
        they = "it" if knowledge.rejected == 1 else "they"
        found.append(
            f"{knowledge.rejected:,}{of} {nouns(knowledge.rows or knowledge.rejected, 'row')} {were(knowledge.rejected)} "
            f"rejected: nobody knows what {they} would have said"
        )
    if knowledge.changes and not watches:
        found.append(CHANGES)
    return [*found, *knowledge.findings]


def _against_looking(claim: Guarantee, looks: int, *, whole: bool) -> list[str]:
    if claim.kind != "fixed-N" or looks == 0:
        return []
    if looks > 1:
        return [LOOKED_AGAIN.format(looks=looks)]
    return [] if whole else [FOLLOWED]
