"""The error budget as a ledger: what was spent on which bound, summed in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from umdp.errors import ModelError
from umdp.learn.observed_sequence import SHARE
from umdp.model import Graph

__all__ = ["Ledger", "Spent", "ledger_of"]


@dataclass(frozen=True)
class Spent:
    """What was spent on one choice or class, or on a policy that was played as evidence.

    Attributes
    ----------
    name : the state and action, the class, or the policy
    bounds : how many bounds are paid for
    level : the largest share of one of them
    spent : the share of all of them together, exactly
    """

    name: str
    bounds: int
    level: float
    spent: Fraction


@dataclass(frozen=True)
class Ledger:
    """How an error rate is spent: every bound has a level, and the levels sum to the error rate at most.

    Attributes
    ----------
    method : the learner's name
    allowed : what may be spent, exactly
    entries : what was spent on each choice or class, in their order, and on each policy that was played
    free : how many choices cost nothing: the graph decides what they are worth, or they have one successor

    Examples
    --------
    >>> from umdp import ConfidenceSequence, Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> ledger = ledger_of(ConfidenceSequence(0.05).bind(coin).learn([4, 6, 0]).ledger(), coin)
    >>> ledger.bounds, ledger.free, ledger.spent <= Fraction(0.05), float(ledger.spent)
    (1, 1, True, 0.04999999999999999)
    """

    method: str
    allowed: Fraction
    entries: tuple[Spent, ...]
    free: int

    @property
    def error_rate(self) -> float:
        """What may be spent."""
        return float(self.allowed)

    @property
    def bounds(self) -> int:
        """The number of bounds that are paid for."""
        return sum(entry.bounds for entry in self.entries)

    @property
    def spent(self) -> Fraction:
        """All that was spent, exactly."""
        return sum((entry.spent for entry in self.entries), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What is left of the error rate, exactly; never less than 0."""
        return self.allowed - self.spent

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as numbers, texts and lists; sums are exact as texts, and rounded as numbers."""
        return {
            "method": self.method, "error_rate": self.error_rate, "bounds": self.bounds, "free": self.free,
            "spent": float(self.spent), "spent_exact": str(self.spent), "within": self.left >= 0,
            "entries": [
                {"name": e.name, "bounds": e.bounds, "level": e.level, "spent": float(e.spent), "spent_exact": str(e.spent)}
                for e in self.entries
            ],
        }  # fmt: skip


def ledger_of(
    found: Mapping[str, Any] | None,
    graph: Graph,
    names: tuple[str, ...] | None = None,
    played: tuple[float, Sequence[float]] | None = None,
) -> Ledger:
    """Return the ledger of what `Learner.ledger` says, for a graph.

    `names` are those of classes where choices are tied; `played` is what bounds from playing policies may spend, and the level
    of each of these policies.

    Raises
    ------
    ModelError
        If nothing is promised, or the levels sum to more than the error rate.
    """
    rate, levels = (0.0, ()) if played is None else played
    evidence = tuple(Spent(f"playing candidate {i + 1}", 1, level, Fraction(level)) for i, level in enumerate(levels))
    if found is None:
        if played is None:
            raise ModelError("there is no ledger: this learner promises nothing, so that there is no error to spend")
        return _balanced(Ledger("evidence", Fraction(rate), evidence, graph.choices))
    tied = "class_ptr" in found
    pointers = np.asarray(found["class_ptr"] if tied else graph.choice_ptr)
    shares = {"observed": _observed, "events": _by_event}.get(found["graph"], _listed)(found, pointers)
    entries = tuple(
        Spent(names[k] if tied and names else _name(graph, k), len(paid), float(max(paid)), sum(paid, Fraction(0)))
        for k, paid in shares
        if paid
    )
    allowed = Fraction(float(found["error_rate"])) + Fraction(rate)
    method = f"{found['method']}{'' if played is None else ' and evidence'}"
    return _balanced(Ledger(method, allowed, entries + evidence, len(pointers) - 1 - len(entries)))


def _balanced(ledger: Ledger) -> Ledger:
    """Return a ledger that spends no more than it has."""
    if ledger.left < 0:
        raise ModelError(f"the levels sum to {float(ledger.spent)!r}, more than the error rate {ledger.error_rate!r}")
    return ledger


def _name(graph: Graph, choice: int) -> str:
    return f"{graph.state_name(int(graph.choice_state[choice]))}, {graph.action_name(choice)}"


Shares = Iterator[tuple[int, list[Fraction]]]


def _listed(found: Mapping[str, Any], ptr: Any) -> Shares:
    """Yield what is spent where outcomes are listed: one bound for two successors, one each for more."""
    levels, claimed = np.asarray(found["levels"]), np.asarray(found["claimed"])
    epoch = found.get("epoch")  # of those that start anew, the r-th time with 1 / r^2 of what they have
    for k in range(len(ptr) - 1):
        own = range(int(ptr[k]), int(ptr[k + 1]))
        paid = [Fraction(float(levels[t])) for t in own if claimed[t]]
        paid = [max(paid)] if paid and len(own) == 2 else paid
        if epoch is not None and epoch[k] > 1:
            whole = sum((Fraction(int(epoch[k]) ** 2, j**2) for j in range(1, int(epoch[k]) + 1)), Fraction(0))
            paid = [level * whole for level in paid]
        yield k, paid


def _by_event(found: Mapping[str, Any], ptr: Any) -> Shares:
    """Yield what is spent on the events of every class: one bound each, for it and what is left without it."""
    levels, claimed = np.asarray(found["levels"])[::2], np.asarray(found["claimed"])[::2]
    first = np.asarray(found["event_outcome"])[np.asarray(found["event_ptr"])[:-1]]
    kinds = np.searchsorted(ptr, first, side="right") - 1
    for k in np.unique(kinds[claimed]).tolist():
        yield k, [Fraction(float(level)) for level in levels[(kinds == k) & claimed]]


def _observed(found: Mapping[str, Any], ptr: Any) -> Shares:
    """Yield what is spent where outcomes were found in the data.

    Each that was found has a bound, and all that were not have one together, every time that it started anew.
    """
    rank, order, restarts = (np.asarray(found[name]) for name in ("rank", "order", "restarts"))
    share, rate = Fraction(SHARE), Fraction(float(found["error_rate"]))
    for c in np.flatnonzero(rank > 0).tolist():
        half = rate * share / int(rank[c]) ** 2 / 2
        ranks = order[ptr[c] : ptr[c + 1]]
        numbers = [int(j) for j in ranks[ranks > 0]] + list(range(1, int(restarts[c]) + 1))
        yield c, [half * share / j**2 for j in numbers]
