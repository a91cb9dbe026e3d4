"""The Markov property, tested: whether the past of a trajectory, or its clock, tells more than state and action do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.model import Graph
from umdp.statements import Code, PastCase, PastFeature, Statement, say

__all__ = ["LEVEL", "MarkovFinding", "MarkovTest", "PastFeature"]

Array = NDArray[Any]

LEVEL = 1e-3  # probability that a Markov process is ever said not to be one, over all pasts, choices and looks
BUCKETS = 8  # values of a past that are told apart
ROOM = 2**15  # outcomes that are followed at most
WAIT = 16  # visits before a choice is followed, where there are more outcomes than that
STRENGTHS = np.array([8.0, 64.0])  # rows of a bucket that weigh as much as all rows of the choice; the mean is taken
PARTS = 4.0 ** -np.arange(10)  # the part of the choices that depends on the past; the mean is taken
UNFIT = "what was kept of the test of the Markov property does not fit the graph; start the run again"
# Of what is remembered (`markov_kernels.Followed`) the axes, as they are named there, and what is there before the first row.
LAYOUT: dict[str, tuple[str, Any]] = {
    "visits": ("C", 0), "slot_of": ("C", -1), "begin": ("M", 0), "rank_of": ("T", -1), "owner": ("M", -1), "ids": ("2MB", -2),
    "last": ("M", 0), "known": ("M2", 0), "total": ("R", 0), "base": ("R", 0), "member": ("R", -1),
    "counts": ("PRB", np.int32(0)), "sums": ("PMB", np.int32(0)), "gains": ("PMJ", 0.0), "now": ("5", 0), "used": ("2", 0),
}  # fmt: skip
DERIVED = ("slot_of", "rank_of")  # made of the others
FIRST, AGAIN = 64, 1.125  # rows before the first look, and how much longer the data are at the next


@dataclass(frozen=True)
class MarkovFinding:
    """What speaks against the Markov property.

    Attributes
    ----------
    past : what the outcome depends on
    said : the same with place and remedy, as a reason why nothing is promised
    """

    past: PastFeature
    said: Statement


class MarkovTest:
    r"""A test of the Markov property that may be looked at after every row, in memory that does not grow with the data.

    Under the Markov property the outcomes of a choice are drawn from one distribution, whatever came before, also where actions
    and the end of the data are chosen by what was seen. Of each choice and each past (`PastFeature`), forecasts of the next
    outcome are made from the rows so far, those with the same past weighing more. The product :math:`M` of what they gave to
    the outcomes that came, divided by the largest that any one distribution can give to all of them, is at most a martingale
    that starts at 1. Let :math:`E_c` be the mean of :math:`M` over the strengths of that weight; then

    .. math:: E = \operatorname{mean}_\lambda \prod_c (1 - \lambda + \lambda E_c)

    is one as well, since each row belongs to one choice. By Ville's inequality it ever reaches :math:`6/\alpha` for one of the
    six pasts with a probability of at most :math:`\alpha`, 0.001 unless it is given.

    The first time that an outcome of a choice is seen does not count: forecasts are of which of the outcomes seen before it is,
    given that it is one of them. So the test knows nothing of a graph that was made from the same data.

    That nothing is found proves nothing.

    Parameters
    ----------
    graph : Graph
    level : float
        The probability :math:`\alpha`.

    Examples
    --------
    >>> rng, moves = np.random.default_rng(1), Graph([0, 1, 2, 3], [0, 2, 4, 6], [1, 2, 0, 2, 0, 1])
    >>> test, position, rows = MarkovTest(moves), 0, []
    >>> for step in range(600):  # round a ring of three, mostly on in the same direction as before
    ...     way = int(rng.random() < 0.5) if step == 0 else way ^ int(rng.random() < 0.2)
    ...     rows.append(2 * position + (way if position == 1 else way ^ (position == 2)))
    ...     position = int(moves.successor[rows[-1]])
    >>> test.take(np.array(rows), np.arange(600) == 0)
    >>> test.finding.past
    <PastFeature.STATE: 0>
    """

    def __init__(self, graph: Graph, level: float = LEVEL) -> None:
        from umdp.source.markov_kernels import Choices

        self._graph, self._level = graph, level
        width = np.diff(graph.choice_ptr).astype(np.int64)
        codes = graph.action_codes
        first = graph.state_ptr[graph.choice_state]
        self._choices = Choices(
            np.repeat(np.arange(graph.choices), width),
            np.asarray(graph.successor, dtype=np.int64),
            np.asarray(graph.choice_state, dtype=np.int64),
            (np.arange(graph.choices) - first if codes is None else np.asarray(codes)).astype(np.int64),
            width,
        )
        self.begin()

    def begin(self) -> None:
        """Start with no rows."""
        from umdp.source.markov_kernels import Followed

        self.finding: MarkovFinding | None = None
        self.rows, self._next = 0, FIRST
        graph = self._graph
        room = min(graph.transitions, ROOM)
        sizes = {"C": graph.choices, "T": graph.transitions, "M": min(graph.choices, room), "R": room}
        sizes |= {"B": BUCKETS, "P": len(PastFeature), "J": STRENGTHS.size}
        self._kept = Followed(
            **{
                name: np.full([sizes.get(axis) or int(axis) for axis in axes], fill)
                for name, (axes, fill) in LAYOUT.items()
            }
        )
        self._kept.now[1:3] = -1

    def take(self, transition: Array, begins: Array) -> None:
        """Take in rows, in order.

        Parameters
        ----------
        transition, begins : (n,) the transition of each row (-1: none), and whether a trajectory begins with it
        """
        if not transition.size:
            return
        from umdp.source.markov_kernels import forecast

        transition = np.ascontiguousarray(transition, dtype=np.int64)
        begins, at = np.ascontiguousarray(begins, dtype=np.bool_), 0
        wait = 0 if self._graph.transitions <= ROOM else WAIT
        while at < transition.size and self.finding is None:
            end = min(at + self._next - self.rows, transition.size)
            forecast(transition[at:end], begins[at:end], self._choices, wait, STRENGTHS, self._kept)
            self.rows, at = self.rows + end - at, end
            if self.rows >= self._next:
                self.look()
                self._next = max(int(AGAIN * self.rows), self.rows + FIRST)

    def evidence(self) -> Array:
        """Return the logarithm of the evidence against the Markov property by each past, shape (6,)."""
        gained = self._by_choice()
        # log(1 - part + part * E), without overflow
        with np.errstate(divide="ignore"):
            parts = PARTS[:, None, None]
            each = np.logaddexp(np.log1p(-parts), np.log(parts) + gained).sum(axis=2)
        return np.asarray(np.logaddexp.reduce(each, axis=0) - np.log(PARTS.size))

    def look(self) -> None:
        """Decide whether the rows so far speak against the Markov property."""
        if self.finding is not None:
            return
        found = self.evidence()
        past = PastFeature(int(np.argmax(found)))
        if found[past] >= np.log(len(PastFeature) / self._level):
            self.finding = MarkovFinding(past, self._said(past, float(found[past])))

    def _by_choice(self) -> Array:
        """Return the logarithm of the evidence by each past (6,) and choice that is followed, shape (6, M)."""
        kept = self._kept
        slots, room = kept.used.tolist()
        begin = kept.begin[:slots]
        if not slots:
            return np.zeros((len(PastFeature), 0))
        total = kept.total[:room]
        # Given that it is not new, the outcome of rank l is told from those of lower rank by a coin of its own.
        running = np.cumsum(total) - total
        sizes = np.diff(np.append(begin, room))
        lower = running - np.repeat(running[begin], sizes) - kept.base[:room]
        later = np.maximum(total - 1, 0)
        lower = np.where(total > 0, lower, 0)
        both = np.maximum(later + lower, 1)
        best = later * np.log(np.maximum(later, 1) / both) + lower * np.log(np.maximum(lower, 1) / both)
        largest = np.add.reduceat(best, begin)
        gains = kept.gains[:, :slots]
        return np.asarray(np.logaddexp.reduce(gains, axis=2) - np.log(STRENGTHS.size) - largest)

    def _said(self, past: PastFeature, evidence: float) -> Statement:
        kept, graph = self._kept, self._graph
        slot = int(np.argmax(self._by_choice()[past]))
        choice, first = int(kept.owner[slot]), int(kept.begin[slot])
        seen = slice(first, first + int(kept.known[slot, 0]))
        counts = kept.counts[past, seen].astype(np.float64)
        shares, rows = counts.sum(axis=1, keepdims=True) / counts.sum(), counts.sum(axis=0)
        surprise = np.where(rows > 0, np.abs(counts - shares * rows) / np.sqrt(np.maximum(shares * rows, 1e-9)), 0.0)
        outcome, bucket = np.unravel_index(int(np.argmax(surprise)), surprise.shape)
        target = graph.state_name(int(graph.successor[kept.member[first + int(outcome)]]))
        inside, within = int(counts[outcome, bucket]), int(rows[bucket])
        outside, without = int(counts[outcome].sum()) - inside, int(rows.sum()) - within
        return say(
            Code.PAST_MATTERS,
            past=past,
            case=self._case(past, slot, int(bucket), first),
            state=graph.state_name(int(graph.choice_state[choice])),
            action=graph.action_name(choice),
            successor=target,
            inside=(inside, within),
            outside=(outside, without),
            evidence=float(np.exp(min(evidence, 690.0))),
        )

    def _case(self, past: PastFeature, slot: int, bucket: int, first: int) -> PastCase:
        """Return the past that rows of a bucket have."""
        kept, graph, late = self._kept, self._graph, bucket == BUCKETS - 1
        if past in (PastFeature.STATE, PastFeature.ACTION):
            value = int(kept.ids[past, slot, bucket])
            if late or value == -2:
                return PastCase()
            if value == -1:
                return PastCase(began=True)
            if past is PastFeature.STATE:
                return PastCase(graph.state_name(value))
            return PastCase(graph.action_name(int(np.flatnonzero(self._choices.action_of == value)[0])))
        if past is PastFeature.PARITY:
            return PastCase(least=bucket)
        if past is PastFeature.OUTCOME:
            return PastCase(None if late else graph.state_name(int(graph.successor[kept.member[first + bucket]])))
        return PastCase(least=(2**bucket) // 2, most=None if late else 2**bucket - 1)

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs."""
        if self.finding is not None:
            return {"markov_rows": [self.rows], "markov_finding": [int(self.finding.past), str(self.finding.said)]}
        kept = self._kept._asdict()
        used = dict(zip("MR", kept["used"].tolist(), strict=True))
        cut = {name: tuple(slice(used.get(axis)) for axis in axes) for name, (axes, _) in LAYOUT.items()}
        saved = {f"markov_{name}": kept[name][cut[name]].copy() for name in LAYOUT if name not in DERIVED}
        return {"markov_rows": [self.rows, self._next], **saved}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state; one that knows nothing of this test begins it, which it may at any time."""
        self.begin()
        if "markov_rows" not in state:
            return
        self.rows = int(state["markov_rows"][0])
        if "markov_finding" in state:
            past, text = state["markov_finding"]
            self.finding = MarkovFinding(PastFeature(int(past)), Statement(str(text), Code.PAST_MATTERS))
            return
        self._next, kept = int(state["markov_rows"][1]), self._kept
        for name, array in kept._asdict().items():
            if f"markov_{name}" in state:
                given = np.asarray(state[f"markov_{name}"])
                if given.ndim != array.ndim or any(
                    size > room for size, room in zip(given.shape, array.shape, strict=True)
                ):
                    raise FormatError(UNFIT)
                array[tuple(slice(0, size) for size in given.shape)] = given
        self._check()
        slots = int(kept.used[0])
        kept.slot_of[kept.owner[:slots]] = np.arange(slots)
        for first, seen in zip(kept.begin[:slots].tolist(), kept.known[:slots, 0].tolist(), strict=True):
            kept.rank_of[kept.member[first : first + seen]] = np.arange(seen)

    def _check(self) -> None:
        """Raise `FormatError` unless what was restored fits the graph: the kernel trusts what it is given."""
        kept, graph, width = self._kept, self._graph, self._choices.width
        slots, places = kept.used.tolist()
        owner = kept.owner
        fits = (
            0 <= slots <= owner.size
            and 0 <= places <= kept.total.size
            and bool(((owner[:slots] >= 0) & (owner[:slots] < graph.choices)).all())
            and np.unique(owner[:slots]).size == slots
        )
        if fits:
            sizes, seen = width[owner[:slots]], kept.known[:slots, 0]
            ends = np.cumsum(sizes)
            member = kept.member[:places]
            fits = (
                np.array_equal(kept.begin[:slots], ends - sizes)
                and places == int(sizes.sum())
                and bool(((seen >= 0) & (seen <= sizes)).all())
                and bool(((kept.last[:slots] >= 0) & (kept.last[:slots] < np.maximum(seen, 1))).all())
                and bool((np.count_nonzero(member >= 0) == seen.sum()) and (member < graph.transitions).all())
                and bool((kept.ids < max(graph.states, graph.choices)).all())
            )
        if not fits:
            raise FormatError(UNFIT)
