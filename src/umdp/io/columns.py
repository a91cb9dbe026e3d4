"""Tables in text, read by compiled code: lines of whole numbers, a value or an interval, and perhaps a name.

Only files as tools write them are read here: no line without numbers between the others, nothing that takes a second look but
some values. Whatever else there is makes `scan` stop, and then the file is read line by line, as small files are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.io.files import floats
from umdp.io.numerals import PLAIN, decimal, intern, powers, whole
from umdp.kernel import kernel

__all__ = ["Columns", "scan"]

Array = NDArray[Any]
NAMES = 2**16  # different names a file may have
ROWS, DOUBTS, WORDS, INTERVALS, NAMED, STOPPED, PLACE = range(7)


@dataclass(frozen=True, eq=False)
class Columns:
    """What the lines of a table say.

    Attributes
    ----------
    whole : (columns, rows) int32
    lower, upper : (rows,) the values; `upper` is None where no value is an interval
    codes, names : (rows,) the number of the name on every line, and the names, the first of which is empty; None without names
    """

    whole: NDArray[np.int32]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64] | None
    codes: NDArray[np.int32] | None
    names: list[bytes]


def scan(data: bytes, begin: int, line: int, wide: int, what: str, path: object) -> Columns | tuple[int, int]:
    """Return the table that begins at a place of a text, `wide` whole numbers a line.

    Where something is unusual, return the place and the number of the line instead.

    Parameters
    ----------
    line : the number of the first line, for people
    what : what the values are
    """
    if not data.endswith(b"\n"):
        data += b"\n"
    text = np.frombuffer(data, dtype=np.uint8)
    most = data.count(b"\n", begin)
    numbers = np.empty((wide, most), np.int32)
    # What is never written to takes no memory.
    lower, upper = np.empty(most, np.uint64), np.empty(most, np.uint64)
    codes, doubts = np.empty(most, np.int32), np.empty((2 * most, 3), np.int64)
    slots, begins, ends = np.full(2 * NAMES, -1, np.int32), np.zeros(NAMES, np.int64), np.zeros(NAMES, np.int64)
    found = np.zeros(7, np.int64)
    _scan(text, begin, powers(), numbers, lower, upper, codes, doubts, slots, begins, ends, found)
    if found[STOPPED]:
        place = int(found[PLACE])
        return place, line + data.count(b"\n", begin, place)
    rows = int(found[ROWS])
    low = lower.view(np.float64)[:rows]
    high = upper.view(np.float64)[:rows] if found[INTERVALS] else None
    unsure = doubts[: found[DOUBTS]]
    if unsure.size:
        tokens = [data[i:j].strip() for i, j in unsure[:, 1:].tolist()]
        values = floats(tokens, (unsure[:, 0] // 2 + line).tolist(), what, path)
        at, ends_there = unsure[:, 0] // 2, unsure[:, 0] % 2 == 1
        low[at[~ends_there]] = values[~ends_there]
        if high is not None:
            high[at[ends_there]] = values[ends_there]
    names = [data[i:j] for i, j in zip(begins.tolist(), ends.tolist()[: found[WORDS]], strict=False)]
    return Columns(numbers[:, :rows], low, high, codes[:rows] if found[NAMED] else None, names)


@kernel
def _scan(
    data: Array,
    at: int,
    table: Array,
    numbers: Array,
    lower: Array,
    upper: Array,
    codes: Array,
    doubts: Array,
    slots: Array,
    begins: Array,
    ends: Array,
    found: Array,
) -> None:
    """Fill the columns; `found` receives how much there is, or in `STOPPED` that a line is unusual.

    `doubts` receives (twice the row, one more for an upper end; begin; end) of values that take a second look.
    """
    wide, size = numbers.shape[0], data.size
    row, unsure, intervals, named, blank = 0, 0, False, False, False
    words = intern(data, 0, 0, slots, begins, ends, 0) + 1  # no name is a name, too
    found[STOPPED] = 1
    while at < size:
        found[PLACE] = at
        while data[at] == ord(" ") or data[at] == ord("\t") or data[at] == ord("\r"):
            at += 1
        if data[at] == ord("\n"):
            at += 1
            blank = True
            continue
        if blank:
            return
        for k in range(wide):
            value, at = whole(data, at)
            if value < 0 or not (data[at] == ord(" ") or data[at] == ord("\t")):
                return
            numbers[k, row] = value
            while data[at] == ord(" ") or data[at] == ord("\t"):
                at += 1
        if data[at] == ord("["):
            if not intervals:
                intervals = True
                upper[:row] = lower[:row]
            for end in range(2):
                at += 1
                while data[at] == ord(" "):
                    at += 1
                begun = at
                status, bits, at = decimal(data, at, table)
                last = ord(",") if end == 0 else ord("]")
                if status != PLAIN or (data[at] != last and data[at] != ord(" ")):
                    while data[at] != last and data[at] != ord("\n"):
                        at += 1
                    doubts[unsure] = 2 * row + end, begun, at
                    unsure += 1
                while data[at] == ord(" "):
                    at += 1
                if data[at] != last:
                    return
                if end == 0:
                    lower[row] = bits
                else:
                    upper[row] = bits
            at += 1
        else:
            begun = at
            status, bits, at = decimal(data, at, table)
            doubtful = status != PLAIN or data[at] > ord(" ")
            while data[at] > ord(" "):
                at += 1
            if at == begun:
                return
            if doubtful:
                for end in range(2):  # an interval may follow
                    doubts[unsure] = 2 * row + end, begun, at
                    unsure += 1
            lower[row] = bits
            if intervals:
                upper[row] = bits
        if data[at] > ord(" "):
            return
        while data[at] == ord(" ") or data[at] == ord("\t") or data[at] == ord("\r"):
            at += 1
        word = 0
        if data[at] != ord("\n"):
            begun = at
            while data[at] > ord(" "):
                at += 1
            word = intern(data, begun, at, slots, begins, ends, words)
            if word < 0:
                return
            words = max(words, word + 1)
            if not named:
                named = True
                codes[:row] = 0
            while data[at] == ord(" ") or data[at] == ord("\t") or data[at] == ord("\r"):
                at += 1
            if data[at] != ord("\n"):
                return
        if named:
            codes[row] = word
        at += 1
        row += 1
    found[ROWS], found[DOUBTS], found[WORDS], found[STOPPED] = row, unsure, words, 0
    found[INTERVALS], found[NAMED] = intervals, named
