"""The compiled pass over rows: counts, and fingerprints of trajectories and of pieces cut where their contents say so."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["OFTEN", "WINDOW", "Counts", "Going", "Stretches", "fingerprints"]

Array = NDArray[Any]

WINDOW = 16  # rows that decide where a piece ends, so that a copy is cut into the same pieces wherever it stands
OFTEN = 256  # rows of an average piece
BASE = np.uint64(0xD6E8FEB86659FD93)
LEFT = np.uint64(pow(int(BASE), WINDOW, 2**64))  # what a row's code is multiplied by when it leaves the window


@kernel
def _mixed(x: Any) -> Any:
    """Return the finalizer of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class Counts(NamedTuple):
    """Of each transition its choice, and how often it was seen before and since the last look (T,); and of each choice (C,)."""

    choice_of: Array
    first: Array
    second: Array
    choices: Array


class Going(NamedTuple):
    """The trajectory and the piece that go on, and the last rows: `words` (20,), `numbers` (4,), `surprise` (2,)."""

    words: Array
    numbers: Array
    surprise: Array


class Stretches(NamedTuple):
    """Room for stretches of rows, (2n,) each.

    Fingerprint, number of rows, the negative logarithm of a bound on the probability of the outcomes; and for trajectories the
    number of the name, otherwise 0.
    """

    prints: Array
    sizes: Array
    unlikely: Array
    named: Array


@kernel
def fingerprints(transition: Array, begins: Array, names: Array, counted: Counts, going: Going, out: Stretches) -> int:
    """Count rows, and return how many stretches of rows were completed by them.

    Parameters
    ----------
    transition, begins : (n,) the transition of each row (-1: none), and whether a trajectory begins with it
    names : a number for the name of each trajectory that begins, in order; none, or 0 for those without a name
    counted : `second` and `choices` are added to
    going : changed
    out : written
    """
    choice_of, first, second, choices = counted
    words, numbers, surprise = going
    prints, sizes, unlikely, named = out
    golden, one = np.uint64(0x9E3779B97F4A7C15), np.uint64(1)
    found, begun = 0, 0
    for i in range(transition.size):
        t = transition[i]
        code = _mixed(np.uint64(t + 2) * golden)
        rare = 0.0
        if t >= 0:
            c = choice_of[t]
            second[t] += 1
            choices[c] += 1
            seen = first[t] + second[t]
            bound = (seen + 3.0 * np.sqrt(seen) + 3.0) / choices[c]
            if bound < 1.0:
                rare = -math.log(bound)
        for kind in range(2):
            starts = begins[i] if kind == 0 else numbers[3] != 0
            size = numbers[kind]
            if starts and size > 0:
                prints[found] = _mixed(words[kind] ^ _mixed((np.uint64(size) << one) | np.uint64(kind)))
                sizes[found] = size
                unlikely[found] = surprise[kind]
                named[found] = words[19] if kind == 0 else np.uint64(0)
                found += 1
                words[kind] = np.uint64(0)
                surprise[kind] = 0.0
                size = 0
            words[kind] += _mixed(code + np.uint64(size) * golden)
            surprise[kind] += rare
            numbers[kind] = size + 1
        if begins[i]:
            words[19] = names[begun] if begun < names.size else np.uint64(0)
            begun += 1
        at = 3 + numbers[2]
        # A polynomial of the last rows: a mere sum would forget their order, and take few values where outcomes are few.
        words[2] = words[2] * BASE + code - words[at] * LEFT
        words[at] = code
        numbers[2] = (numbers[2] + 1) % WINDOW
        numbers[3] = _mixed(words[2]) % np.uint64(OFTEN) == np.uint64(0)
    return found
