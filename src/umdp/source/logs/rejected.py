"""Rows that cannot be counted: fatal or put into a file, by choice, and never silently dropped."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from umdp.errors import FormatError, UmdpError
from umdp.statements import Cause, Code, DiagnosticCode, Statement, say

__all__ = ["FEW", "Cause", "Causes", "Fault", "Kind", "OnError", "RejectedRows"]

OnError = Literal["fail", "skip", "chance"]
Kind = Literal["malformed", "unlisted", "beyond"]
KINDS: tuple[Kind, ...] = ("malformed", "unlisted", "beyond")
SHOWN = 5
FEW = 5  # rows rejected for one cause that are not judged
LEVEL = 1e-3  # probability with which rows that were spoilt by chance are said not to have been
KEPT = 200  # different names kept, for a cause and a role
PIECE = "piece"


class RejectedRows:
    """Rejected rows, which are malformed or do not fit the graph: raises, or counts and keeps them.

    There are three kinds: ``malformed`` rows, which cannot be read or contradict the row before them; rows that are ``unlisted``,
    though the graph should list them; and rows ``beyond`` it, which start in a state or with an action it does not list, where
    it has the outcome "anything else" for whatever led there.

    Parameters
    ----------
    name : str
        What the data is called in messages.
    on_error : {"fail", "skip", "chance"}
        Whether the first such row is an error, or they are passed over; and if they are, whether it is taken for granted that
        rows were spoilt by chance.
    path : str or path, optional
        A file to which rows that are rejected are written, one JSON object a line: where, why, and the row.

    Attributes
    ----------
    counts : how many were rejected, by kind
    stray : what a row said that the graph does not list, where that was an error; empty otherwise
    causes : what malformed rows say as far as they can be read, by the cause of their rejection

    Examples
    --------
    >>> rejected = RejectedRows("log.csv", "skip")
    >>> rejected.take(("line 7", 7), "there is no state 'x'", ["1", "x", "go", "y"])
    >>> print(*rejected.report(rows=10), sep="; ")
    1 of 10 rows was rejected and not counted; log.csv, line 7: there is no state 'x'
    """

    def __init__(self, name: str, on_error: OnError, path: str | os.PathLike[str] | None = None) -> None:
        if on_error not in ("fail", "skip", "chance"):
            raise UmdpError(f'on_error is "fail", "skip" or "chance", not {on_error!r}')
        if path is not None and on_error == "fail":
            raise UmdpError('rows are only passed over, and written to a file, with on_error="skip"')
        self._name, self.on_error = name, on_error
        self._path = None if path is None else Path(path)
        self._file: BinaryIO | None = None
        self.counts: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self._written = 0
        self._first: list[str] = []
        self.stray = ""
        self.causes = Causes()

    def begin(self) -> None:
        """Start with nothing rejected."""
        self.restore({**dict.fromkeys(KINDS, 0), "rejected_first": [], "rejected_bytes": 0})

    def take(self, where: tuple[str, int | None], reason: str, row: Any, kind: Kind = "malformed") -> None:
        """Reject a row, or raise `FormatError` that says where it is and what to do."""
        place, line = where
        if self.on_error == "fail":
            self.stray = reason if kind == "unlisted" else ""
            remedy = 'correct it, or pass over such rows with on_error="skip"'
            shown = reason if line is not None else f"{place}: {reason}"
            raise FormatError(f"{shown}; {remedy}", path=self._name, line=line)
        self.counts[kind] += 1
        if len(self._first) < SHOWN:
            self._first.append(str(say(DiagnosticCode.REJECTED_ROW, name=self._name, place=place, why=reason)))
        if self._path is not None:
            entry = msgspec.json.encode({"where": place, "why": reason, "row": row}, enc_hook=str) + b"\n"
            self.truncate()
            assert self._file is not None
            try:
                self._file.write(entry)
            except OSError as error:
                raise self._unwritable(error) from None
            self._written += len(entry)

    @property
    def count(self) -> int:
        """How many were rejected, for whatever reason."""
        return sum(self.counts.values())

    def report(self, rows: int) -> list[Statement]:
        """Return how many of so many rows were rejected, and the first few."""
        if not self.count:
            return []
        path = None if self._path is None else str(self._path)
        more = [say(DiagnosticCode.MORE_ROWS, more=self.count - SHOWN)] if self.count > SHOWN else []
        return [
            say(DiagnosticCode.REJECTED_ROWS, rejected=self.count, rows=rows, path=path),
            *(Statement(first, DiagnosticCode.REJECTED_ROW) for first in self._first),
            *more,
        ]

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs; whatever was written is on its way to the disk by then."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                raise self._unwritable(error) from None
        numbers: dict[str, int] = {kind: self.counts[kind] for kind in KINDS}
        first, cells = list(self._first), self.causes.state()
        return {**numbers, "rejected_first": first, "rejected_bytes": self._written, "rejected_cells": cells}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state; the file follows once `truncate` is called."""
        self.close()
        self.counts = {kind: int(state[kind]) for kind in KINDS}
        self._first, self._written = list(state["rejected_first"]), int(state["rejected_bytes"])
        self.stray = ""
        self.causes.restore(state.get("rejected_cells"))

    def truncate(self) -> None:
        """Remove from the file whatever was not rejected by now: an earlier run, or a batch that was interrupted.

        Not done by `restore`, because a run that is resumed begins first, and must not empty the file by that.
        """
        if self._path is None or self._file is not None:
            return
        try:
            self._file = open(self._path, "r+b" if self._path.exists() else "w+b")  # noqa: SIM115 - kept open
        except OSError as error:
            raise self._unwritable(error) from None
        size = self._file.seek(0, os.SEEK_END)
        if size < self._written:
            raise FormatError(
                f"the file has {size} bytes, but {self._written} bytes of rejected rows were written to it; leave "
                "it alone while a run may go on",
                path=self._path,
            )
        self._file.truncate(self._written)
        self._file.seek(self._written)

    def _unwritable(self, error: OSError) -> FormatError:
        return FormatError(f"the file cannot be written: {error.strerror}", path=self._path)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class Fault(str):
    """What is wrong with a row, a sentence; its `cause` is what decides.

    Where it is a way of writing, `piece` is what was written so: what chance spoils is not the same again and again.
    """

    __slots__ = ("cause", "piece")
    cause: Cause
    piece: str

    def __new__(cls, text: str, cause: Cause = Cause.OTHER, piece: str = "") -> Fault:
        """Return a sentence with its cause."""
        made = super().__new__(cls, text)
        made.cause, made.piece = cause, piece
        return made


class Causes:
    """Counts, for every cause, what rejected rows say as far as they can be read; and tells what was not spoilt by chance.

    A row that is spoilt by chance is spoilt whatever it says. So among rows rejected for one cause a state, action or next state
    stands as often as among all others. Where one stands there more often (binomial test, Bonferroni over all that are compared,
    level 1e-3), and more than 5 rows were rejected for that cause, it is something in these rows that spoils them: the encoding
    of a name, a decimal comma. And where one word, or one way to write numbers, is why more than 5 rows were rejected, it was no
    chance either (`repeated`).

    Examples
    --------
    >>> causes = Causes()
    >>> for n in range(10):
    ...     causes.take(Cause.ENCODING, {"state": "defect" if n < 8 else "fine"})
    >>> print(causes.uneven({"state": {"defect": 20, "fine": 980}.get}, 1000))
    rows were not rejected by chance: of 10 because they are not text in the encoding of the log, 8 have the state ...
    """

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, Counter[str]]] = {}

    def take(self, cause: Cause, cells: Mapping[str, str], piece: str = "") -> None:
        """Take in a rejected row: what it says, by role, and the piece of it that is why it was rejected."""
        own = self._cells.setdefault(cause.name, {})
        for role, name in {**cells, **({PIECE: piece} if piece else {})}.items():
            counts = own.setdefault(role, Counter())
            if name in counts or len(counts) < KEPT:
                counts[name] += 1

    def repeated(self) -> Statement | None:
        """Return for which one thing more than a few rows were rejected, if there is one: that is how something writes."""
        found = [
            (times, cause, piece) for cause, own in self._cells.items() for piece, times in own.get(PIECE, {}).items()
        ]
        times, cause, piece = max(found, default=(0, "", ""))
        return say(Code.ONE_CAUSE, rejected=times, cause=Cause[cause], piece=piece) if times > FEW else None

    def uneven(self, counted: Mapping[str, Callable[[str], int | None]], rows: int) -> Statement | None:
        """Return the state, action or next state that speaks against chance, if any does.

        Parameters
        ----------
        counted : by role, a function that returns how many of the rows that were counted say a name; None for one of another log
        rows : how many were counted
        """
        found = [
            (cause, role, name, times, sum(counts.values()))
            for cause, roles in self._cells.items()
            for role, counts in roles.items()
            if sum(counts.values()) > FEW and role in counted
            for name, times in counts.items()
        ]
        if not found:
            return None
        from scipy.stats import binom

        worst, best = None, LEVEL / len(found)
        for cause, role, name, times, size in found:
            share = ((counted[role](name) or 0) + 1) / (rows + 1)
            if share < 1 and (p := float(binom.sf(times - 1, size, share))) < best:
                worst, best = (cause, role, name, times, size, share), p
        if worst is None:
            return None
        cause, role, name, times, size, share = worst
        return say(Code.UNEVEN, rejected=size, cause=Cause[cause], role=role, name=name, times=times, share=share)

    def state(self) -> str:
        """Return what `restore` needs, as text."""
        return msgspec.json.encode(self._cells).decode()

    def restore(self, given: Any) -> None:
        """Go back to a state."""
        cells = msgspec.json.decode(given) if given else {}
        self._cells = {cause: {role: Counter(own) for role, own in roles.items()} for cause, roles in cells.items()}
