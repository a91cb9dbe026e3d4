"""Compressed sparse rows: checks and clean-up of the arrays behind a model, vectorised over transitions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError

__all__ = ["Compaction", "compact", "frozen", "held", "owned", "owner", "pointer", "row_sums"]

Ints = NDArray[np.int64]
MANY, SOME = 2**20, 2**12  # transitions from which compiled code is worth loading, and worth calling once it is loaded
LARGE = 2**16  # bytes from which an array is not copied for nothing
Scalar = TypeVar("Scalar", bound=np.generic)


class _Held:
    """What a large array that only this package holds lies in: nobody can make it writable, and models may share it."""

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], True)
        self.__array_interface__ = interface


class _Bytes(bytes):
    """What a small one lies in: a class of its own, since bytes of a pickle may lie below arrays that are writable."""


def owned(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return `array` as one that nobody can change: a copy, unless it is such an array already.

    A write-protected array is not enough, since whoever made it, or holds what it is a view of, can lift the protection.

    Examples
    --------
    >>> given = np.arange(3)
    >>> kept = owned(given)
    >>> given[0] = 9
    >>> kept, owned(kept) is kept
    (array([0, 1, 2]), True)
    >>> kept.flags.writeable = True
    Traceback (most recent call last):
    ...
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    return array if _is_owned(array) else held(array.copy() if array.nbytes >= LARGE else array)


def held(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return `array` as one that nobody can change, for arrays that nobody else has: large ones are not copied.

    Examples
    --------
    >>> made = np.arange(100_000)
    >>> kept = held(made)
    >>> np.shares_memory(made, kept), owned(kept) is kept, kept.flags.writeable
    (True, True, False)
    """
    if _is_owned(array):
        return array
    if array.dtype.hasobject:
        array = array.copy()
        array.flags.writeable = False
        return array.view()
    if array.nbytes < LARGE:
        return np.ndarray(array.shape, array.dtype, _Bytes(array.tobytes()))
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return np.asarray(_Held(array))


def _is_owned(array: NDArray[Any]) -> bool:
    base: Any = array.base
    if isinstance(base, np.ndarray):  # a part of a larger one
        base = base.base
    return isinstance(base, _Bytes | _Held) and bool(array.flags.c_contiguous)


def frozen(value: Any) -> Any:
    """Return what a pickle or a copy holds as a model holds it: nobody can change arrays or mappings.

    Examples
    --------
    >>> labels = frozen({"goal": np.array([False, True])})
    >>> type(labels).__name__, labels["goal"].flags.writeable
    ('mappingproxy', False)
    """
    if isinstance(value, np.ndarray):
        return owned(value)
    if isinstance(value, dict):
        return MappingProxyType({name: frozen(each) for name, each in value.items()})
    if isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
        return tuple(map(frozen, value))
    return value


def pointer(given: ArrayLike, name: str, end: int | None) -> Ints:
    """Return `given` as a pointer array that nobody can change: starts at 0, never falls, ends at `end` (if known)."""
    array = np.asarray(given)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ModelError(f"{name} must be a one-dimensional integer array with at least one entry")
    array = owned(array.astype(np.int64, copy=False))
    if array[0] != 0:
        raise ModelError(f"{name} must start at 0, not at {array[0]}")
    falls = np.flatnonzero(array[1:] < array[:-1])
    if falls.size:
        raise ModelError(f"{name} falls from {array[falls[0]]} to {array[falls[0] + 1]} at entry {falls[0] + 1}")
    if end is not None and array[-1] != end:
        raise ModelError(f"{name} ends at {array[-1]}, but there are {end} entries to point at")
    return array


def owner(ptr: Ints) -> Ints:
    """Return, for every entry a pointer array covers, the index of the range it lies in."""
    return np.repeat(np.arange(ptr.size - 1, dtype=np.int64), np.diff(ptr))


def row_sums(ptr: Ints, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of `values` over each (non-empty) range of `ptr`."""
    if ptr.size == 1:
        return np.zeros(0)
    sums: NDArray[np.float64] = np.add.reduceat(values, ptr[:-1])
    return sums


@dataclass(frozen=True)
class Compaction:
    """How transitions were dropped and merged.

    Attributes
    ----------
    choice_ptr, successor : the arrays that remain
    group : (T,) the new index of every old transition, -1 where it was dropped
    first : (T',) the old index of every new transition
    """

    choice_ptr: Ints
    successor: NDArray[np.int32]
    group: Ints
    first: Ints

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `values` added up over merged transitions."""
        kept = self.group >= 0
        summed: NDArray[np.float64] = np.zeros(self.first.size)
        np.add.at(summed, self.group[kept], values[kept])
        return summed


def compact(
    choice_ptr: Ints,
    successor: NDArray[np.int32],
    states: int,
    keep: NDArray[np.bool_] | None,
    distinct: Sequence[NDArray[np.float64]] = (),
) -> Compaction | None:
    """Drop the transitions not in `keep` and merge equal successors of a choice.

    Transitions whose entries in one of the arrays `distinct` differ are left apart. The order of first
    occurrence is kept. Returns None where nothing changes, at the cost of one pass when the successors
    of every choice are listed in increasing order.
    """
    if keep is not None and keep.all():
        keep = None
    if keep is None:
        rising = successor[1:] > successor[:-1]
        borders = choice_ptr[1:-1]
        rising[borders[(borders > 0) & (borders < successor.size)] - 1] = True
        if rising.all():
            return None
        del rising
    if not distinct and successor.size >= (SOME if "umdp.kernel" in sys.modules else MANY):
        from umdp.model.merging import merge, repeats

        if keep is None and not repeats(choice_ptr, successor, states):
            return None
        new_ptr, new_first, full_group = merge(
            choice_ptr, successor, states, np.empty(0, np.bool_) if keep is None else keep
        )
        return Compaction(new_ptr, successor[new_first], full_group, new_first)
    choice = owner(choice_ptr)
    old = np.arange(successor.size, dtype=np.int64) if keep is None else np.flatnonzero(keep)
    key = choice[old] * states + successor[old]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    for values in distinct:
        differs = values[old] != values[old][first[group]]
        if differs.any():
            apart = np.isin(group, group[differs])
            key = np.where(apart, states * np.int64(choice_ptr.size) + np.arange(key.size), key)
            _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if keep is None and first.size == successor.size:
        return None
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    new_first = old[first[order]]
    full_group = np.full(successor.size, -1, dtype=np.int64)
    full_group[old] = rank[group]
    counts = np.bincount(choice[new_first], minlength=choice_ptr.size - 1)
    new_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Compaction(new_ptr, successor[new_first], full_group, new_first)
