"""DRN, read by compiled code: files as tools write them; whatever is unusual in one is left to the reader of small files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.io.numerals import PLAIN, decimal, intern, powers, whole
from umdp.kernel import kernel

__all__ = ["Body", "scan"]

Array = NDArray[Any]
WORDS = 2**16  # different names of actions, or sets of labels, a file may have
STATES, CHOICES, BRANCHES, INTERVALS, NAMES, LABELS, DOUBTS, STOPPED = range(8)


@dataclass(frozen=True, eq=False)
class Body:
    """What follows the header.

    Attributes
    ----------
    state_ptr, choice_ptr, successor, lower, upper : as in a model; `upper` is None where no value is an interval
    on_state, on_choice : (S, width) and (C, width) rewards; None without
    label_code, labels : (S,) the number of what stands behind a state, and the texts, the first of which is empty
    name_code, names : (C,) the number of an action's name, and the names; None where there are no actions
    """

    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64] | None
    on_state: NDArray[np.float64] | None
    on_choice: NDArray[np.float64] | None
    label_code: NDArray[np.int32]
    labels: list[bytes]
    name_code: NDArray[np.int32] | None
    names: list[bytes]


def scan(
    data: bytes,
    begin: int,
    states: int,
    widths: tuple[int, int],
    actions: bool,
    second: Callable[[list[bytes]], NDArray[np.float64]],
) -> Body | None:
    """Return the model that begins at a place of a text; None where something is unusual, be it right or wrong.

    Parameters
    ----------
    states : how many there should be
    widths : the numbers of rewards of a state and of an action, 0 where there are none
    actions : whether there are lines for actions
    second : returns the values of tokens that take a second look
    """
    if not data.endswith(b"\n"):
        data += b"\n"
    lines = data.count(b"\n", begin)
    if states > lines:
        return None
    # What is never written to takes no memory.
    state_ptr, choice_ptr = np.empty(states + 1, np.int64), np.empty(lines + 1, np.int64)
    successor = np.empty(lines, np.int32)
    lower, upper = np.empty(lines, np.uint64), np.empty(lines, np.uint64)
    on_state, on_choice = np.empty((states, widths[0]), np.uint64), np.empty((lines, widths[1]), np.uint64)
    label_code, name_code = np.empty(states, np.int32), np.empty(lines, np.int32)
    slots = np.full((2, 2 * WORDS), -1, np.int32)
    begins, ends = np.zeros((2, WORDS), np.int64), np.zeros((2, WORDS), np.int64)
    doubts = np.empty((2 * lines, 3), np.int64)
    found = np.zeros(8, np.int64)
    _scan(
        np.frombuffer(data, dtype=np.uint8), begin, powers(), actions, state_ptr, choice_ptr, successor, lower, upper,
        on_state, on_choice, label_code, name_code, slots, begins, ends, doubts, found,
    )  # fmt: skip
    if found[STOPPED] or found[STATES] != states:
        return None
    choices, branches = int(found[CHOICES]), int(found[BRANCHES])
    low = lower.view(np.float64)[:branches]
    high = upper.view(np.float64)[:branches] if found[INTERVALS] else None
    unsure = doubts[: found[DOUBTS]]
    if unsure.size:
        values = second([data[i:j].strip() for i, j in unsure[:, 1:].tolist()])
        at, is_upper = unsure[:, 0] // 2, unsure[:, 0] % 2 == 1
        low[at[~is_upper]] = values[~is_upper]
        if high is not None:
            high[at[is_upper]] = values[is_upper]
    texts = [
        [data[i:j] for i, j in zip(first[:count].tolist(), last[:count].tolist(), strict=True)]
        for first, last, count in zip(begins, ends, found[[LABELS, NAMES]].tolist(), strict=True)
    ]
    return Body(
        state_ptr,
        choice_ptr[: choices + 1].copy(),
        successor[:branches],
        low,
        high,
        on_state.view(np.float64) if widths[0] else None,
        on_choice.view(np.float64)[:choices] if widths[1] else None,
        label_code,
        texts[0],
        name_code[:choices] if actions else None,
        texts[1],
    )


@kernel
def _blank(data: Array, at: int) -> int:
    """Return the first place from one on that is neither a space nor a tab nor a carriage return."""
    while data[at] == ord(" ") or data[at] == ord("\t") or data[at] == ord("\r"):
        at += 1
    return at


@kernel
def _keyword(data: Array, at: int, word: Array) -> int:
    """Return where what follows a keyword and white space begins; -1 where there is no such keyword."""
    for k in range(word.size):
        if data[at] != word[k]:
            return -1
        at += 1
    after = _blank(data, at)
    return after if after > at else -1


@kernel
def _rewards(data: Array, at: int, table: Array, out: Array) -> int:
    """Read ``[1,2,3]`` into a row; return where it ends, -1 where it is something else."""
    if out.size == 0:
        return at if data[at] != ord("[") else -1
    for k in range(out.size):
        if data[at] != (ord("[") if k == 0 else ord(",")):
            return -1
        status, bits, at = decimal(data, _blank(data, at + 1), table)
        if status != PLAIN:
            return -1
        out[k] = bits
        at = _blank(data, at)
    return at + 1 if data[at] == ord("]") else -1


@kernel
def _value(
    data: Array, at: int, table: Array, last: int, doubts: Array, unsure: int, number: int
) -> tuple[int, Any, int]:
    """Return (where a number that ends before `last` ends, its bits, how many took a second look so far).

    The place is -1 where there is nothing. What takes a second look is noted in `doubts` as (`number`, begin, end).
    """
    begun = _blank(data, at)
    status, bits, at = decimal(data, begun, table)
    at = _blank(data, at)
    if status != PLAIN or data[at] != last:
        while data[at] != last and data[at] != ord("\n"):
            at += 1
        doubts[unsure] = number, begun, at
        unsure += 1
    return (at if at > begun and data[at] == last else -1), bits, unsure


STATE, ACTION = (np.frombuffer(word, dtype=np.uint8) for word in (b"state", b"action"))


@kernel
def _scan(
    data: Array,
    at: int,
    table: Array,
    actions: bool,
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    on_state: Array,
    on_choice: Array,
    label_code: Array,
    name_code: Array,
    slots: Array,
    begins: Array,
    ends: Array,
    doubts: Array,
    found: Array,
) -> None:
    """Fill the arrays; `found` receives how much there is, or in `STOPPED` that a line is unusual."""
    size, most = data.size, state_ptr.size - 1
    states, choices, branches, unsure, intervals = 0, 0, 0, 0, False
    labels = intern(data, 0, 0, slots[0], begins[0], ends[0], 0) + 1
    names = 0
    found[STOPPED] = 1
    while at < size:
        at = _blank(data, at)
        if ord("0") <= data[at] <= ord("9"):
            target, at = whole(data, at)
            at = _blank(data, at)
            if not 0 <= target < most or data[at] != ord(":") or states == 0 or state_ptr[states - 1] == choices:
                return
            at = _blank(data, at + 1)
            if data[at] == ord("["):
                if not intervals:
                    intervals = True
                    upper[:branches] = lower[:branches]
                at, lower[branches], unsure = _value(data, at + 1, table, ord(","), doubts, unsure, 2 * branches)
                if at < 0:
                    return
                at, upper[branches], unsure = _value(data, at + 1, table, ord("]"), doubts, unsure, 2 * branches + 1)
                if at < 0:
                    return
                at = _blank(data, at + 1)
                if data[at] != ord("\n"):
                    return
            else:
                before = unsure
                at, lower[branches], unsure = _value(data, at, table, ord("\n"), doubts, unsure, 2 * branches)
                if at < 0:
                    return
                if unsure > before:  # an interval may follow
                    doubts[unsure] = 2 * branches + 1, doubts[before, 1], doubts[before, 2]
                    unsure += 1
                if intervals:
                    upper[branches] = lower[branches]
            successor[branches] = target
            branches += 1
        elif data[at] == ord("s"):
            at = _keyword(data, at, STATE)
            if at < 0 or states == most:
                return
            number, after = whole(data, at)
            if number != states or (after - at > 1 and data[at] == ord("0")) or data[after] > ord(" "):
                return
            if states > 0 and state_ptr[states - 1] == choices:
                return
            if choices > 0 and choice_ptr[choices - 1] == branches:
                return
            at = _rewards(data, _blank(data, after), table, on_state[states])
            if at < 0:
                return
            at = _blank(data, at)
            begun, code = at, 0
            if data[at] == ord("!") or data[at] == ord("{"):
                return
            while data[at] != ord("\n"):
                at += 1
            end = at
            while end > begun and data[end - 1] <= ord(" "):
                end -= 1
            if end > begun:
                code = intern(data, begun, end, slots[0], begins[0], ends[0], labels)
                if code < 0:
                    return
                labels = max(labels, code + 1)
            label_code[states] = code
            state_ptr[states] = choices
            states += 1
            if not actions:
                choice_ptr[choices] = branches
                choices += 1
        elif data[at] == ord("a") and actions:
            at = _keyword(data, at, ACTION)
            if at < 0 or states == 0:
                return
            if choices > state_ptr[states - 1] and choice_ptr[choices - 1] == branches:
                return
            begun = at
            while data[at] > ord(" "):
                at += 1
            code = intern(data, begun, at, slots[1], begins[1], ends[1], names)
            if code < 0 or at == begun:
                return
            names = max(names, code + 1)
            at = _rewards(data, _blank(data, at), table, on_choice[choices])
            if at < 0:
                return
            at = _blank(data, at)
            if data[at] != ord("\n"):
                return
            name_code[choices] = code
            choice_ptr[choices] = branches
            choices += 1
        elif data[at] != ord("\n"):
            return
        at += 1
    if states == 0 or state_ptr[states - 1] == choices or choice_ptr[choices - 1] == branches:
        return
    state_ptr[states], choice_ptr[choices] = choices, branches
    found[STATES], found[CHOICES], found[BRANCHES], found[INTERVALS] = states, choices, branches, intervals
    found[NAMES], found[LABELS], found[DOUBTS], found[STOPPED] = names, labels, unsure, 0
