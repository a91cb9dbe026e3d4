"""Numbers and words in text, read by compiled code: whole numbers, decimals to the nearest double, intervals of them.

A decimal is a whole number times a power of ten. Its product with the power, which is tabulated to 128 bits, has the digits
of the double and tells whether they are right (D. Lemire, Number parsing at a gigabyte per second, 2021). Where they might
not be, and for anything but plain decimals of up to 19 digits, somebody else must look: that is `HARD`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = [
    "HARD",
    "INTERVAL",
    "PLAIN",
    "NumberFields",
    "Words",
    "blank",
    "decimal",
    "intern",
    "note",
    "powers",
    "value",
    "whole",
    "word_end",
]

Array = NDArray[Any]
Look = Callable[[list[bytes], NDArray[np.int64]], NDArray[np.float64]]
Word = Any  # 64 bits without sign: to a kernel, other whole numbers are something else

PLAIN, HARD = 0, 1
LOWER, UPPER, INTERVAL = 1, 2, 4
LEAST, MOST = -342, 308  # exponents of ten beyond which a decimal of 19 digits is 0, or too large

ONE, TWO, TEN, FIFTYTWO, SIXTYTHREE = (np.uint64(value) for value in (1, 2, 10, 52, 63))
HALF, LOW, ALL = np.uint64(32), np.uint64(2**32 - 1), np.uint64(2**64 - 1)
NINE = np.uint64(0x1FF)


class Words(NamedTuple):
    """Different words of a text, found by hashing; word `k` is at ``begins[k]:ends[k]``.

    Attributes
    ----------
    slots : a power of two of numbers of words, -1 at first
    """

    slots: Array
    begins: Array
    ends: Array

    @staticmethod
    def room(most: int = 2**16) -> Words:
        """Return room for so many words."""
        return Words(np.full(2 * most, -1, np.int32), np.zeros(most, np.int64), np.zeros(most, np.int64))

    def texts(self, data: bytes, count: int) -> list[bytes]:
        """Return the first words."""
        return [data[i:j] for i, j in zip(self.begins[:count].tolist(), self.ends[:count].tolist(), strict=True)]


class NumberFields(NamedTuple):
    """Numbers and intervals of numbers, one a row, as they are read.

    Attributes
    ----------
    powers : see `powers`
    lower, upper : (rows,) bits of doubles; `upper` is not written to before there is an interval
    doubts : (2 rows, 3) what takes a second look: twice the row, one more for an upper end; begin; end
    found : (2,) how many doubts there are, and whether there are intervals
    """

    powers: Array
    lower: Array
    upper: Array
    doubts: Array
    found: Array

    @staticmethod
    def room(most: int) -> NumberFields:
        """Return room for so many rows; what is never written to takes no memory."""
        lower, upper = np.empty(most, np.uint64), np.empty(most, np.uint64)
        return NumberFields(powers(), lower, upper, np.empty((2 * most, 3), np.int64), np.zeros(2, np.int64))

    def resolved(self, data: bytes, rows: int, look: Look) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the values, or the lower and upper ends where some are intervals; `look` is given tokens and their rows."""
        lower = self.lower.view(np.float64)[:rows]
        upper = self.upper.view(np.float64)[:rows] if self.found[1] else None
        unsure = self.doubts[: self.found[0]]
        if unsure.size:
            row, is_upper = np.divmod(unsure[:, 0], 2)
            values = look([data[i:j].strip() for i, j in unsure[:, 1:].tolist()], row)
            lower[row[is_upper == 0]] = values[is_upper == 0]
            if upper is not None:
                upper[row[is_upper == 1]] = values[is_upper == 1]
        return lower, upper


@cache
def powers() -> Array:
    """Return the leading 128 bits of 5 to the power of `LEAST` to `MOST`, two words each, those of fractions rounded up."""
    words = np.empty((MOST - LEAST + 1, 2), np.uint64)
    for q in range(LEAST, MOST + 1):
        five: int = 5 ** abs(q)
        if q < 0:
            bits = (five - 1).bit_length()
            value = 2 ** (bits + 127 if q >= -27 else 2 * bits + 128) // five + 1
        else:
            value = five << 128
        value >>= max(value.bit_length() - 128, 0)
        words[q - LEAST] = value >> 64, value & (2**64 - 1)
    return words


@kernel
def _product(a: Word, b: Word) -> tuple[Word, Word]:
    """Return the upper and the lower word of a product of two words."""
    a_high, a_low, b_high, b_low = a >> HALF, a & LOW, b >> HALF, b & LOW
    low, middle, other = a_low * b_low, a_high * b_low, a_low * b_high
    carried = (low >> HALF) + (middle & LOW) + (other & LOW)
    return a_high * b_high + (middle >> HALF) + (other >> HALF) + (carried >> HALF), a * b


@kernel
def _nearest(mantissa: Word, exponent: int, table: Array) -> tuple[int, Word]:
    """Return (`PLAIN`, bits of the double nearest to ``mantissa * 10**exponent``), or `HARD` where that is not certain."""
    if mantissa == np.uint64(0):
        return PLAIN, np.uint64(0)
    if exponent < LEAST or exponent > MOST:
        return HARD, np.uint64(0)
    zeros = 0
    shifted = mantissa
    for step in (32, 16, 8, 4, 2, 1):
        if shifted >> np.uint64(64 - step) == np.uint64(0):
            shifted <<= np.uint64(step)
            zeros += step
    high, low = _product(shifted, table[exponent - LEAST, 0])
    if high & NINE == NINE:
        second, _ = _product(shifted, table[exponent - LEAST, 1])
        low += second
        if second > low:
            high += ONE
    if low == ALL and not -27 <= exponent <= 55:
        return HARD, np.uint64(0)
    upper = high >> SIXTYTHREE
    drop = upper + np.uint64(9)
    digits = high >> drop
    power = ((217706 * exponent) >> 16) + 63 + np.int64(upper) - zeros + 1023
    if power <= 0:  # too small to have all digits
        return HARD, np.uint64(0)
    if low <= ONE and -4 <= exponent <= 23 and digits & np.uint64(3) == ONE and digits << drop == high:
        digits &= ~ONE  # halfway between two doubles: the even one
    digits += digits & ONE
    digits >>= ONE
    if digits >= TWO << FIFTYTWO:
        digits = ONE << FIFTYTWO
        power += 1
    if power >= 2047:
        return HARD, np.uint64(0)
    return PLAIN, (digits & ~(ONE << FIFTYTWO)) | (np.uint64(power) << FIFTYTWO)


@kernel
def decimal(data: Array, at: int, table: Array) -> tuple[int, Word, int]:
    """Return (`PLAIN` or `HARD`, bits of the double, where it ends) for the number that begins at a place of a text.

    The text must end with something that is no part of a number.
    """
    negative = data[at] == ord("-")
    if negative or data[at] == ord("+"):
        at += 1
    mantissa, digits, exponent, some = np.uint64(0), 0, 0, False
    while ord("0") <= data[at] <= ord("9"):
        mantissa = mantissa * TEN + np.uint64(data[at] - ord("0"))
        digits += 1 if digits > 0 or data[at] != ord("0") else 0
        some = True
        at += 1
    if data[at] == ord("."):
        at += 1
        while ord("0") <= data[at] <= ord("9"):
            mantissa = mantissa * TEN + np.uint64(data[at] - ord("0"))
            digits += 1 if digits > 0 or data[at] != ord("0") else 0
            exponent -= 1
            some = True
            at += 1
    if not some or digits > 19:
        return HARD, np.uint64(0), at
    if data[at] == ord("e") or data[at] == ord("E"):
        at += 1
        falls = data[at] == ord("-")
        if falls or data[at] == ord("+"):
            at += 1
        begun, given = at, 0
        while ord("0") <= data[at] <= ord("9"):
            given = given * 10 + data[at] - ord("0")
            at += 1
        if at == begun or at - begun > 5:
            return HARD, np.uint64(0), at
        exponent += -given if falls else given
    status, bits = _nearest(mantissa, exponent, table)
    return status, bits | (ONE << SIXTYTHREE) if negative else bits, at


@kernel
def whole(data: Array, at: int) -> tuple[int, int]:
    """Return (the number of up to 9 digits that begins at a place of a text, where it ends); -1 where there is none."""
    begun, value = at, 0
    while ord("0") <= data[at] <= ord("9"):
        value = value * 10 + data[at] - ord("0")
        at += 1
        if at - begun > 9:
            return -1, at
    return (value if at > begun else -1), at


@kernel
def intern(data: Array, begin: int, end: int, words: Words, count: int) -> int:
    """Return the number of a word: that of an equal one before, or else `count`; -1 where there are too many."""
    slots, begins, ends = words.slots, words.begins, words.ends
    code = np.uint64(14695981039346656037)
    for i in range(begin, end):
        code = (code ^ np.uint64(data[i])) * np.uint64(1099511628211)
    last = slots.size - 1
    slot = np.int64((code ^ (code >> HALF)) & np.uint64(last))
    while slots[slot] >= 0:
        known: int = slots[slot]
        if ends[known] - begins[known] == end - begin:
            same = True
            for i in range(end - begin):
                if data[begins[known] + i] != data[begin + i]:
                    same = False
                    break
            if same:
                return known
        slot = (slot + 1) & last
    if 2 * (count + 1) > slots.size or count >= begins.size:
        return -1
    slots[slot], begins[count], ends[count] = count, begin, end
    return count


@kernel
def blank(data: Array, at: int) -> int:
    """Return the first place from one on that is neither a space nor a tab nor a carriage return."""
    while data[at] == ord(" ") or data[at] == ord("\t") or data[at] == ord("\r"):
        at += 1
    return at


@kernel
def word_end(data: Array, at: int) -> int:
    """Return the first white space from a place on."""
    while data[at] > ord(" "):
        at += 1
    return at


@kernel
def value(data: Array, at: int, table: Array, places: Array) -> tuple[int, Word, Word, int]:
    """Return (where a number or an interval such as ``[0.1,0.2]`` ends, the bits of both ends, what kind it is).

    The place is -1 where there is neither. The kind is a sum of `LOWER` and `UPPER`, for ends that take a second look, whose
    texts are at `places` (2, begin and end), and `INTERVAL`. Calls cost by the array, so this one writes no others.
    """
    kind, lower, upper = 0, np.uint64(0), np.uint64(0)
    if data[at] != ord("["):
        status, lower, end = decimal(data, at, table)
        last = word_end(data, end)
        if status != PLAIN or last > end:
            kind = LOWER | UPPER  # an interval may follow
            places[:, 0], places[:, 1] = at, last
        return (last if last > at else -1), lower, lower, kind
    for end in range(2):
        begun = blank(data, at + 1)
        status, bits, at = decimal(data, begun, table)
        at = blank(data, at)
        last = ord(",") if end == 0 else ord("]")
        if status != PLAIN or data[at] != last:
            while data[at] != last and data[at] != ord("\n"):
                at += 1
            kind |= LOWER if end == 0 else UPPER
            places[end, 0], places[end, 1] = begun, at
        if at == begun or data[at] != last:
            return -1, lower, upper, kind
        lower, upper = (bits, upper) if end == 0 else (lower, bits)
    return at + 1, lower, upper, kind | INTERVAL


@kernel
def note(doubts: Array, count: int, row: int, kind: int, places: Array) -> int:
    """Write down which ends of a value take a second look; return how many that are, with those before."""
    for end in range(2):
        if kind >> end & 1:
            doubts[count] = 2 * row + end, places[end, 0], places[end, 1]
            count += 1
    return count
