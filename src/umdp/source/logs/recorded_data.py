"""Sources that hold what has already happened: counted row by row, each exactly once."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
import numpy as np

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.source.logs.counting import RowCounter
from umdp.source.logs.data_tests import DataTests
from umdp.source.logs.duplicate_names import numbers_of
from umdp.source.logs.initial_states import Beginnings
from umdp.source.logs.log_graph import LogGraph
from umdp.source.logs.reader import Reader
from umdp.source.logs.rejected import FEW, Cause, Kind, OnError, RejectedRows
from umdp.source.logs.row_decoding import Carry, Rows, decode
from umdp.source.lookup import Lookup, Memo
from umdp.source.source import Batch, Provenance, RowFollower, SamplingRequest, Source
from umdp.statements import Code, DiagnosticCode, Statement, say
from umdp.statements.conditions import OF_LOGS

__all__ = ["Recorded"]

ASSUMPTIONS = tuple(map(say, OF_LOGS))
PARTS = 8  # of all rows that came before, so many make a batch of one trajectory


class Recorded(Source):
    """A data set that others recorded, a log or a stream: rows are decoded in chunks, and counted or rejected.

    A batch that was interrupted did not happen: `state` is that of the last batch returned, and collecting again starts there.
    A row that is an error ends the batch before it, so that what was good is not lost.

    Parameters
    ----------
    reader, graph, on_error, rejected : see `umdp.source.Log`
    shown : what the graph was made of, if it was made from the log
    """

    interactive: ClassVar[bool] = False
    _follow: bool = False
    _patience = _poll = 0.05
    _longest: int = 100  # rows of a trajectory after which a batch may end in the middle of it

    def __init__(
        self,
        reader: Reader,
        graph: Graph,
        *,
        on_error: OnError,
        rejected: str | os.PathLike[str] | None,
        shown: LogGraph | None = None,
    ) -> None:
        self.graph = graph.graph
        self._reader = reader
        self._rejected = RejectedRows(reader.name, on_error, rejected)
        self._memo = Memo(Lookup(self.graph))
        self._tests = DataTests(self._memo.lookup)
        self._shown = shown
        left = np.ones(self.graph.states, np.bool_) if shown is None else shown.left
        self._beginnings = Beginnings(self._memo.lookup, left)
        self.draws_start = shown is not None and shown.starts is not None
        self._followed: RowFollower | None = None
        self._kept: dict[str, Any] | None = None
        self._read = 0
        self._interrupted = self._scattered = False

    def follow(self, behaviour: RowFollower | None) -> bool:
        """Have rows accounted for while they are read, by this one alone; None: by nobody."""
        self._followed = behaviour
        return True

    def begin(self, seed: int = 0) -> None:
        """Start with the first row; what is recorded is the same for every seed."""
        self._rejected.begin()
        self._tests.begin()
        self._beginnings.begin()
        if self._followed is not None:
            self._followed.restore([0] * len(self._followed.state()))
        self._position: dict[str, int] = self._reader.begin()
        self._carry = Carry()
        self._rows: Rows | None = None
        self._taken = self._read = 0
        self._scattered = self._interrupted = False
        self._kept = self._state()

    def collect(self, order: SamplingRequest) -> Batch:
        """Count trajectories, long ones in pieces, until the order is met or no more rows come; its weights do not matter."""
        if self._kept is None:
            raise ModelError("call begin before collect")
        if self._interrupted:
            self.restore(self._kept)
        self._interrupted = True
        self._rejected.truncate()
        starts = None if self._shown is None else self._shown.starts
        # A long trajectory counts while it goes on. When a batch ends depends on what came before it alone.
        longest = max(self._longest, self._read // PARTS)
        counter = RowCounter(self._memo.lookup, order, longest, starts)
        ended = self._fill(counter)
        if ended:
            self._tests.end()
        batch = counter.batch(ended=ended)
        self._kept = self._state()
        self._interrupted = False
        return batch

    def _fill(self, counter: RowCounter) -> bool:
        """Take rows until the order is met, or those that come in time where data grow; return whether no more will come."""
        deadline = time.monotonic() + self._patience
        while not self._take(counter):
            while not self._next():
                if self._reader.over:
                    return True
                left = deadline - time.monotonic()
                if self._follow and left <= 0:
                    return False
                self._reader.wait(min(self._poll, left) if self._follow else self._poll)
            if self._follow and time.monotonic() > deadline and counter.rows:
                return False
        return False

    def _take(self, counter: RowCounter) -> bool:
        """Take the rows that are at hand; return whether the order is met."""
        if self._rows is None:
            return False
        rows, taken = self._rows, self._taken
        bad = rows.bad[bisect_left(rows.bad, taken) :]
        # What is good before a row that is an error is a batch of its own; the error comes with the next.
        fatal = bad[0] if bad and self._rejected.on_error == "fail" and (bad[0] > taken or counter.rows) else None
        self._taken, met = counter.take(rows, taken, fatal)
        met |= self._taken == fatal
        for row in bad[: bisect_left(bad, self._taken)]:
            kind: Kind = (
                "malformed" if row not in rows.unlisted else "unlisted" if self.graph.rest is None else "beyond"
            )
            raw, fault = rows.chunk.raw(row), rows.reasons[row]
            self._rejected.take(rows.chunk.where(row), fault, raw, kind)
            if kind == "malformed":
                cells = self._reader.cells(raw)
                if fault.cause is Cause.CONTRADICTS:  # its state, or that of the row before, is what was spoilt
                    cells.pop("state", None)
                self._rejected.causes.take(fault.cause, cells, fault.piece)
        self._test(rows, taken, self._taken)
        self._read += self._taken - taken
        return met

    def _test(self, rows: Rows, start: int, stop: int) -> None:
        """Have rows tested for what would speak against the data."""
        begins, chunk = rows.begins[start:stop], rows.chunk
        names = None
        if chunk.named.any():
            first = np.searchsorted(chunk.index, start + np.flatnonzero(begins))
            names = numbers_of(chunk.trajectories(first.tolist()))
        self._tests.take(rows.transition[start:stop], begins, names)
        if self._followed is not None:
            self._followed.take(rows.transition[start:stop], begins, named=names is not None)
        if self._shown is not None:
            self._beginnings.take(rows.transition[start:stop], begins)

    def _next(self) -> bool:
        """Have the next rows at hand; return whether there are any."""
        if self._rows is not None:
            self._carry = self._rows.carry(self._taken)
            self._position = self._rows.chunk.position(self._taken)
            self._rows = None
        chunk = self._reader.read()
        if chunk is None:
            return False
        self._rows, self._taken = decode(chunk, self._memo, self._carry), 0
        self._scattered |= self._rows.scattered
        return True

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the position after the last batch, and what was rejected until then."""
        if self._kept is None:
            raise ModelError("call begin before state")
        return dict(self._kept)

    def _state(self) -> dict[str, Any]:
        at_hand = self._rows
        carry = self._carry if at_hand is None else at_hand.carry(self._taken)
        position = self._position if at_hand is None else at_hand.chunk.position(self._taken)
        return {
            **position,
            **self._reader.evidence(position),
            **self._rejected.state(),
            **self._tests.state(),
            **self._beginnings.state(),
            "read": self._read,
            "scattered": int(self._scattered),
            "trajectory": msgspec.json.encode(carry.trajectory).decode(),
            "successor": carry.successor,
            "over": int(carry.over),
            "behaviour": [] if self._followed is None else self._followed.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on after the last row that was counted in a state, no row counted twice or left out."""
        self._reader.seek(state)
        self._rejected.restore(state)
        self._tests.restore(state)
        self._beginnings.restore(state)
        if self._followed is not None:
            self._followed.restore(state["behaviour"])
        self._position = {name: int(state[name]) for name in self._position}
        self._carry = Carry(msgspec.json.decode(state["trajectory"]), int(state["successor"]), bool(state["over"]))
        self._rows, self._taken, self._read = None, 0, int(state["read"])
        self._scattered, self._interrupted = bool(state["scattered"]), False
        self._kept = dict(state)

    def provenance(self) -> Provenance:
        """Return how many rows were read and how many of them rejected, and what must be true of a log."""
        rejected = self._rejected.counts
        assumptions: tuple[str, ...] = ASSUMPTIONS
        if self.graph.rest is None:
            assumptions = (say(Code.LISTED), *assumptions)
        findings: tuple[str, ...] = self._tests.findings
        if self._rejected.stray:  # the run stops there; what it knew before is contradicted all the same
            findings = (say(Code.STRAY, why=self._rejected.stray), *findings)
        if self._shown is not None:
            assumptions = (*self._of_beginning(), *assumptions, *self._shown.assumed)
            findings = (*findings, *self._against_order())
        malformed = rejected["malformed"]
        if malformed and self._rejected.on_error == "chance":
            assumptions = (say(Code.SPOILT, rejected=malformed, rows=self._read), *assumptions)
            findings = (*self._against_chance(), *findings)
            malformed = 0
        return Provenance(
            graph="given" if self._shown is None else "observed",
            rest=self.graph.rest is not None,
            unlisted=rejected["unlisted"],
            rejected=malformed,
            rows=self._read,
            passive=True,
            assumptions=assumptions,
            findings=findings,
            rewards=_of_rewards(self.graph) if self._shown is None else self._shown.rewards,
        )

    def _against_chance(self) -> tuple[Statement, ...]:
        """Return what shows that rows were not rejected by chance, if anything does."""
        if self._rejected.counts["malformed"] <= FEW:
            return ()
        causes = self._rejected.causes
        found = causes.uneven(*self._tests.said()) or causes.repeated()
        return () if found is None else (found,)

    def _of_beginning(self) -> tuple[Statement, ...]:
        """Return that it starts where the first row does, if trajectories also begin elsewhere."""
        found = self._beginnings
        if self._shown is None or not self._shown.first or not found.elsewhere:
            return ()
        state = self.graph.state_name(self.graph.initial)
        return (say(Code.INITIAL, state=state, elsewhere=found.elsewhere, trajectories=found.begun),)

    def _against_order(self) -> tuple[Statement, ...]:
        """Return why nobody can tell in which states trajectories begin, where that is asked for."""
        if self._shown is None or self._shown.starts is None:
            return ()
        apart = say(Code.APART) if self._scattered or self._tests.names.apart else None
        disorder = None if self._shown.named else self._beginnings.disorder()
        return tuple(each for each in (apart, disorder) if each is not None)

    @property
    def rejected(self) -> int:
        """How many rows were not counted."""
        return self._rejected.count

    @property
    def elsewhere(self) -> int | None:
        """How many trajectories began in another state than the initial one; None where nobody counts, or that is learned."""
        return None if self._shown is None or self._shown.starts is not None else self._beginnings.elsewhere

    def written(self) -> dict[str, Any]:
        """Return how the data are written: which columns are read, and others; the encoding; what stands before decimals."""
        columns, others = self._reader.described()
        decimal = None if self._shown is None else self._shown.decimal
        return {"columns": columns, "others": others, "encoding": self._reader.encoding, "decimal": decimal}

    def report(self) -> list[str]:
        """Return what was rejected, and what is unusual about the data."""
        notes = [*self._reader.notes(), *self._rejected.report(self._read)]
        if self._rejected.on_error == "skip" and self._rejected.counts["malformed"]:
            notes += self._against_chance() or [say(DiagnosticCode.BY_CHANCE)]
        if self._scattered or self._tests.names.apart:
            notes.append(say(DiagnosticCode.ROWS_APART).about(self._reader.name))
        return [*notes, *(finding.about(self._reader.name) for finding in self._tests.findings)]

    def close(self) -> None:
        """Close the files."""
        self._reader.close()
        self._rejected.close()


def _of_rewards(graph: Graph) -> dict[str, tuple[str, ...]]:
    """Return what must be true of the rewards of a graph that was given, where it leaves room for what it does not list."""
    if graph.rest is None:
        return {}
    least = {}
    for name, each in graph.rewards.items():
        parts = [part for part in (each.state, each.choice, each.transition) if part is not None]
        least[name] = min((float(part.min(initial=0.0)) for part in parts), default=0.0)
    return {name: (say(Code.LEAST, reward=name, least=paid),) for name, paid in least.items()}
