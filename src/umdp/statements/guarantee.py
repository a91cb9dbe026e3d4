"""What is promised: computed here, and only here, from what a learner claims and what a source knows of its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from umdp.statements import Code, Statement, codes_of, say, stated
from umdp.statements.conditions import CONDITIONS, COSTLY, FLOORS, Asked, GraphKind
from umdp.statements.text import WordedCode, facts_html

if TYPE_CHECKING:
    from umdp.source.source import Provenance

__all__ = ["Guarantee", "guarantee_of"]

Kind = Literal["none", "fixed-N", "any-time"]


@dataclass(frozen=True)
class Guarantee:
    """What bounds promise: nothing, something for one look after a fixed number of samples, or something at all times.

    Attributes
    ----------
    kind : {"none", "fixed-N", "any-time"}
    level : the probability with which all bounds hold at once; None where nothing is promised
    reasons : why nothing is promised; or what must be true for the promise to hold; a sentence each, which knows its code
        (`umdp.statements.Statement`)

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "reasons", tuple(map(stated, self.reasons)))

    @property
    def codes(self) -> tuple[WordedCode, ...]:
        """What the reasons say, by their codes."""
        return codes_of(self.reasons)

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
        """Return kind, level, reasons, their codes and the text, for JSON."""
        reasons, codes = [str(each) for each in self.reasons], [each.value for each in self.codes]
        return {"kind": self.kind, "level": self.level, "reasons": reasons, "codes": codes, "text": str(self.text)}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee that `as_dict` was made from.

        Examples
        --------
        >>> label = Guarantee("any-time", 0.95, ("no row was recorded twice",))
        >>> Guarantee.from_dict(label.as_dict()) == label
        True
        """
        reasons = given["reasons"]
        codes = given.get("codes", [None] * len(reasons))  # older runs have none
        return Guarantee(given["kind"], given["level"], tuple(map(stated, reasons, codes)))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        why = "provided that" if self.holds else "because"
        facts = [(why if number == 0 else "", reason) for number, reason in enumerate(self.reasons)]
        return facts_html(replace(self, reasons=()).text, facts)


def guarantee_of(
    claim: Guarantee,
    provenance: Provenance,
    *,
    looks: int = 0,
    whole: bool = True,
    discovers: bool = False,
    watches: bool = False,
    asked: Asked = Asked.PROBABILITY,
    reward: str | None = None,
    decided_unseen: int = 0,
) -> Guarantee:
    """Return what is promised: a learner's claim, where nothing that is known of the data stands against it.

    Parameters
    ----------
    claim : Guarantee
        What the learner alone would promise.
    provenance : Provenance
        What the source knows of its data.
    looks : int
        How often the bounds were looked at after data had come in.
    whole : bool
        Whether all of a data set was read, so that nothing that was seen decided what was sampled, or when to look.
    discovers : bool
        Whether the learner's claim allows for a graph that was found in the data.
    watches : bool
        Whether the learner's claim itself says since when the process must not have changed.
    asked : Asked
        What kind of property it is: of some, what was never seen may be worse than anything that was.
    reward : str, optional
        The reward that the property asks for.
    decided_unseen : int
        How many listed transitions were never seen though what the graph decides rests on them.

    Examples
    --------
    >>> from umdp.source.source import Provenance
    >>> claim = Guarantee("any-time", 0.95)
    >>> print(guarantee_of(claim, Provenance()))
    with probability 95 %, whenever you stop
    >>> print(guarantee_of(claim, Provenance(changes=True)))
    no guarantee: the process is known to change: bounds from before say nothing of it after
    >>> print(guarantee_of(claim, Provenance(), decided_unseen=2))
    with probability 95 %, whenever you stop, provided that every listed transition can happen: 2 of those on which ...
    """
    paid = [stated(each) for each in provenance.rewards.get(reward or "", ())]
    if asked in COSTLY:
        paid = [each for each in paid if each.code not in FLOORS]
    against = [
        *(() if claim.holds else claim.reasons or (say(Code.NO_CLAIM),)),
        *_against_graph(provenance, asked, discovers=discovers, unseen=decided_unseen),
        *_against_data(provenance, watches=watches),
        *(each for each in paid if each.code not in CONDITIONS),
        *_against_looking(claim, looks, whole=whole),
    ]
    if against:
        return Guarantee("none", None, tuple(against))
    conditions = [*claim.reasons, *provenance.assumptions, *paid]
    if claim.kind == "fixed-N" and Code.FIXED not in codes_of(conditions):
        conditions.append(say(Code.FIXED))
    if decided_unseen:
        conditions.insert(0, say(Code.POSSIBLE, unseen=decided_unseen))
    return replace(claim, reasons=tuple(conditions))


def _against_graph(provenance: Provenance, asked: Asked, *, discovers: bool, unseen: int) -> list[Statement]:
    kind = provenance.graph_kind
    if kind is GraphKind.GIVEN:
        return []
    if kind is GraphKind.CLOSED:
        return [say(Code.OBSERVED)]
    found = [] if discovers else [say(Code.NOT_FOUND)]
    if asked in COSTLY:
        found.append(say(Code.COSTLY))
    if unseen and provenance.graph == "observed":
        found.append(say(Code.UNSEEN, unseen=unseen))
    return found


def _against_data(provenance: Provenance, *, watches: bool) -> list[str]:
    found: list[str] = []
    if provenance.unlisted:
        found.append(say(Code.DROPPED, unlisted=provenance.unlisted, rows=provenance.rows))
    if provenance.rejected:
        found.append(say(Code.REJECTED, rejected=provenance.rejected, rows=provenance.rows))
    if provenance.changes and not watches:
        found.append(say(Code.CHANGES))
    return [*found, *provenance.findings]


def _against_looking(claim: Guarantee, looks: int, *, whole: bool) -> list[Statement]:
    if claim.kind != "fixed-N" or looks == 0:
        return []
    if looks > 1:
        return [say(Code.LOOKED_AGAIN, looks=looks)]
    return [] if whole else [say(Code.FOLLOWED)]
