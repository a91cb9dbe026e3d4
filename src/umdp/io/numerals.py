"""Numbers in text, parsed by compiled code: whole numbers, and decimals to the nearest double.

A decimal is a whole number times a power of ten. Its product with the power, which is tabulated to 128 bits, has the digits
of the double and tells whether they are right (D. Lemire, Number parsing at a gigabyte per second, 2021). Where they might
not be, and for anything but plain decimals of up to 19 digits, somebody else must look: that is `HARD`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["HARD", "PLAIN", "decimal", "intern", "powers", "whole"]

Array = NDArray[Any]
Word = Any  # 64 bits without sign: to a kernel, other whole numbers are something else

PLAIN, HARD = 0, 1
LEAST, MOST = -342, 308  # exponents of ten beyond which a decimal of 19 digits is 0, or too large

ONE, TWO, TEN, FIFTYTWO, SIXTYTHREE = (np.uint64(value) for value in (1, 2, 10, 52, 63))
HALF, LOW, ALL = np.uint64(32), np.uint64(2**32 - 1), np.uint64(2**64 - 1)
NINE = np.uint64(0x1FF)


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
def intern(data: Array, begin: int, end: int, slots: Array, begins: Array, ends: Array, count: int) -> int:
    """Return the number of a word: that of an equal one before, or else `count`; -1 where there are too many.

    Words are found by hashing: `slots` has a power of two of entries, -1 at first; word `k` is at ``begins[k]:ends[k]``.
    """
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
