"""The arrays behind a model, which nobody can change: checked, cleaned up, merged; vectorised over transitions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import InfeasibleChoice, ModelError

__all__ = [
    "ROUNDING", "Compaction", "CompressedRows", "at_most_one", "check_bounds", "check_probability", "check_rows", "coded",
    "compact", "entries_of", "frozen", "held", "mask_of", "members_of", "owned", "owner", "pointer", "read_only", "row_sums",
    "same_rows",
]  # fmt: skip

Ints = NDArray[np.int64]
ROUNDING = 1e-9  # how far the sum of a choice may miss 1
MANY, SOME = 2**20, 2**12  # transitions from which compiled code is worth loading, and worth calling once it is loaded
LARGE = 2**16  # bytes from which an array is not copied for nothing
Scalar = TypeVar("Scalar", bound=np.generic)


class _Held:
    """The buffer of a large array that only this package holds: nobody can make it writable, and models may share it."""

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], True)
        self.__array_interface__ = interface


class _Bytes(bytes):
    """The buffer of a small one: a class of its own, since bytes of a pickle may lie below arrays that are writable."""


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


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a view for kernels that only read an array: they are compiled once, whoever else may write."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


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


def entries_of(ptr: Ints, rows: NDArray[Any]) -> Ints:
    """Return the entries of some ranges that a pointer array covers, one range after the other."""
    first = ptr[rows]
    sizes = ptr[rows + 1] - first
    ends = np.cumsum(sizes)
    entries: Ints = np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - sizes - first, sizes)
    return entries


def mask_of(chosen: Any, size: int) -> NDArray[np.bool_]:
    """Return which of so many places are among those chosen, shape (size,)."""
    mask = np.zeros(size, dtype=np.bool_)
    mask[chosen] = True
    return mask


def row_sums(ptr: Ints, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of `values` over each (non-empty) range of `ptr`."""
    if ptr.size == 1:
        return np.zeros(0)
    sums: NDArray[np.float64] = np.add.reduceat(values, ptr[:-1])
    return sums


def check_rows(
    state_ptr: ArrayLike, choice_ptr: ArrayLike, successor: ArrayLike
) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """Return the rows of a model as arrays that nobody can change; every state has a choice, every choice a successor."""
    targets = np.asarray(successor)
    if targets.ndim != 1 or (targets.size and targets.dtype.kind not in "iu"):
        raise ModelError("successor must be a one-dimensional integer array")
    own = owned(targets) if targets.dtype == np.int32 else held(targets.astype(np.int32))
    choices = pointer(choice_ptr, "choice_ptr", targets.size)
    owners = pointer(state_ptr, "state_ptr", choices.size - 1)
    states = owners.size - 1
    if states == 0:
        raise ModelError("a model needs at least one state")
    if states > np.iinfo(np.int32).max:
        raise ModelError(f"{states} states are too many; at most {np.iinfo(np.int32).max} are supported")
    empty = np.flatnonzero(owners[1:] == owners[:-1])
    if empty.size:
        raise ModelError(
            f"state {empty[0]} has no choices ({empty.size} such states); give each a choice that stays there"
        )
    empty = np.flatnonzero(choices[1:] == choices[:-1])
    if empty.size:
        raise ModelError(f"choice {empty[0]} has no transitions; a choice needs at least one successor")
    if targets.size and not 0 <= targets.min() <= targets.max() < states:
        outside = np.flatnonzero((targets < 0) | (targets >= states))
        raise ModelError(
            f"transition {outside[0]} leads to state {targets[outside[0]]}; states are numbered 0 to {states - 1}"
        )
    return owners, choices, own


def members_of(name: str, given: ArrayLike, states: int) -> NDArray[np.bool_]:
    """Return the states of a label, given as a boolean array or as a list, as a boolean array (S,)."""
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (states,):
            raise ModelError(f'label "{name}" has shape {array.shape}, but there are {states} states')
        return owned(array)
    members = np.zeros(states, dtype=np.bool_)
    if array.size:
        if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= states:
            raise ModelError(f'label "{name}" must be a boolean array or list states from 0 to {states - 1}')
        members[array] = True
    return held(members)


def coded(given: Any, choices: int) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return action names, or codes (C,) and the names they stand for, as codes and names."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], np.ndarray):
        codes, names = owned(given[0]), tuple(map(str, given[1]))
    else:
        index: dict[str, int] = {}
        codes = np.array([index.setdefault(str(name), len(index)) for name in given], dtype=np.int32)
        names = tuple(index)
    if codes.shape != (choices,):
        raise ModelError(f"{codes.size} action names were given for {choices} choices")
    if choices and (codes.min() < 0 or codes.max() >= len(names)):
        raise ModelError(f"action codes must lie between 0 and {len(names) - 1}")
    return held(codes.astype(np.int32, copy=False)), names


Names = Callable[[int], tuple[str, str, str]]
"""What the state, the action and the successor of a transition are called."""


def check_probability(choice_ptr: Ints, p: NDArray[np.float64], names: Names) -> None:
    """Raise `ModelError` unless probabilities (T,) are between 0 and 1 and those of every choice sum to 1, up to rounding."""
    if p.shape != (choice_ptr[-1],):
        raise ModelError(f"probability has shape {p.shape}, but there are {choice_ptr[-1]} transitions")
    if not (p.min(initial=0.0) >= 0 and p.max(initial=0.0) <= 1 + ROUNDING):  # nor where one is not a number
        bad = int(np.flatnonzero(~((p >= 0) & (p <= 1 + ROUNDING)))[0])
        state, action, _ = names(bad)
        raise ModelError(f"state {state}, action {action}: {p[bad]} is not a probability")
    sums = row_sums(choice_ptr, p)
    wrong = np.flatnonzero(np.abs(sums - 1) > ROUNDING)
    if wrong.size:
        state, action, _ = names(int(choice_ptr[wrong[0]]))
        raise ModelError(f"state {state}, action {action}: probabilities sum to {sums[wrong[0]]:.12g}, not to 1")


def check_bounds(choice_ptr: Ints, lower: NDArray[np.float64], upper: NDArray[np.float64], names: Names) -> None:
    """Raise `ModelError` unless bounds (T,) are intervals of probabilities that a distribution fits in every choice."""
    for name, bound in (("lower", lower), ("upper", upper)):
        if bound.shape != (choice_ptr[-1],):
            raise ModelError(f"{name} has shape {bound.shape}, but there are {choice_ptr[-1]} transitions")
    right = lower >= 0
    right &= lower <= upper
    right &= upper <= 1 + ROUNDING
    if not right.all():
        bad = int(np.flatnonzero(~right)[0])
        state, action, successor = names(bad)
        raise ModelError(
            f"state {state}, action {action}, successor {successor}: [{lower[bad]}, {upper[bad]}] is not an "
            "interval of probabilities; bounds must satisfy 0 <= lower <= upper <= 1"
        )
    del right
    low, high = row_sums(choice_ptr, lower), row_sums(choice_ptr, upper)
    wrong = np.flatnonzero((low > 1 + ROUNDING) | (high < 1 - ROUNDING))
    if wrong.size:
        state, action, _ = names(int(choice_ptr[wrong[0]]))
        sums = {"lower_sum": float(low[wrong[0]]), "upper_sum": float(high[wrong[0]])}
        raise InfeasibleChoice(state=state, action=action, **sums)


def at_most_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities of which some may be above 1 by rounding, such that nobody can change them."""
    return held(values if values.max(initial=0.0) <= 1 else np.minimum(values, 1.0))


class CompressedRows:
    """States own choices, and choices own transitions: how many of each there are, and which owns which."""

    state_ptr: Ints
    choice_ptr: Ints
    successor: NDArray[np.int32]

    @property
    def states(self) -> int:
        """The number of states."""
        return self.state_ptr.size - 1

    @property
    def choices(self) -> int:
        """The number of choices (state-action pairs)."""
        return self.choice_ptr.size - 1

    @property
    def transitions(self) -> int:
        """The number of transitions."""
        return self.successor.size

    @property
    def is_chain(self) -> bool:
        """Whether every state has exactly one choice."""
        return self.choices == self.states

    @cached_property
    def sizes(self) -> Ints:
        """The number of successors of every choice, shape (C,)."""
        return held(np.diff(self.choice_ptr))

    @cached_property
    def choice_state(self) -> Ints:
        """The state each choice belongs to, shape (C,)."""
        return held(owner(self.state_ptr))


def same_rows(one: CompressedRows, other: CompressedRows) -> bool:
    """Whether two graphs have the same states, choices and transitions."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in ("state_ptr", "choice_ptr", "successor"))
    return all(mine is theirs or np.array_equal(mine, theirs) for mine, theirs in pairs)


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

    def means(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weighted averages of `values` over merged transitions; what was not merged stays, to the last digit."""
        single = np.bincount(self.group[self.group >= 0], minlength=self.first.size) == 1
        return np.where(single, values[self.first], self.sums(values * weights) / self.sums(weights))


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
        from umdp.model.row_kernels import merge, repeats

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
