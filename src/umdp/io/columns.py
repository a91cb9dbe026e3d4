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
from umdp.io.numerals import INTERVAL, NumberFields, Words, blank, intern, note, value, whole, word_end
from umdp.kernel import kernel

__all__ = ["Columns", "scan"]

Array = NDArray[Any]
ROWS, WORDS, NAMED, PLACE = range(4)  # what is counted while a table is read


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table, as they were read.

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
    most = data.count(b"\n", begin)
    numbers, codes, values, words = (
        np.empty((wide, most), np.int32),
        np.empty(most, np.int32),
        NumberFields.room(most),
        Words.room(),
    )
    found = np.zeros(4, np.int64)
    if not _scan(np.frombuffer(data, dtype=np.uint8), begin, numbers, values, codes, words, found):
        place = int(found[PLACE])
        return place, line + data.count(b"\n", begin, place)
    rows = int(found[ROWS])
    lower, upper = values.resolved(data, rows, lambda tokens, row: floats(tokens, (row + line).tolist(), what, path))
    names = words.texts(data, int(found[WORDS]))
    return Columns(numbers[:, :rows], lower, upper, codes[:rows] if found[NAMED] else None, names)


@kernel
def _scan(data: Array, at: int, numbers: Array, values: NumberFields, codes: Array, words: Words, found: Array) -> bool:
    """Fill the columns, and write to `found` how much there is; return whether no line is unusual."""
    table, lower, upper, doubts, _ = values
    places = np.empty((2, 2), np.int64)
    row, unsure, intervals, named, ended = 0, 0, False, False, False
    known = intern(data, 0, 0, words, 0) + 1  # no name is a name, too
    while at < data.size:
        found[PLACE] = at
        at = blank(data, at)
        if data[at] == ord("\n"):
            at += 1
            ended = True
            continue
        for k in range(numbers.shape[0]):
            number, at = whole(data, at)
            if ended or number < 0 or not (data[at] == ord(" ") or data[at] == ord("\t")):
                return False
            numbers[k, row] = number
            at = blank(data, at)
        at, low, high, kind = value(data, at, table, places)
        if at < 0 or data[at] > ord(" "):
            return False
        if kind & INTERVAL and not intervals:
            intervals = True
            upper[:row] = lower[:row]
        lower[row] = low
        if intervals:
            upper[row] = high
        if kind & ~INTERVAL:
            unsure = note(doubts, unsure, row, kind, places)
        at, code = blank(data, at), 0
        if data[at] != ord("\n"):
            begun, at = at, word_end(data, at)
            code = intern(data, begun, at, words, known)
            known = max(known, code + 1)
            at = blank(data, at)
            if code < 0 or data[at] != ord("\n"):
                return False
            if not named:
                named = True
                codes[:row] = 0
        if named:
            codes[row] = code
        at += 1
        row += 1
    values.found[0], values.found[1] = unsure, intervals
    found[ROWS], found[WORDS], found[NAMED] = row, known, named
    return True
