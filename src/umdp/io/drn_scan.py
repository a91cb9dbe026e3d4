"""DRN, read by compiled code: files as tools write them; whatever is unusual in one is left to the reader of small files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.io.drn_read import Body
from umdp.io.numerals import INTERVAL, PLAIN, NumberFields, Words, blank, decimal, intern, note, value, whole, word_end
from umdp.kernel import kernel

__all__ = ["scan"]

Array = NDArray[Any]


class _Model(NamedTuple):
    """The arrays of a `Body` while they are filled, rewards as bits; and counts: states, choices, branches, names and labels."""

    state_ptr: Array
    choice_ptr: Array
    successor: Array
    on_state: Array
    on_choice: Array
    label_code: Array
    name_code: Array
    counts: Array


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
    model = _Model(
        np.empty(states + 1, np.int64), np.empty(lines + 1, np.int64), np.empty(lines, np.int32),
        np.empty((states, widths[0]), np.uint64), np.empty((lines, widths[1]), np.uint64),
        np.empty(states, np.int32), np.empty(lines, np.int32), np.zeros(5, np.int64),
    )  # fmt: skip
    values, labels, names = NumberFields.room(lines), Words.room(), Words.room()
    if not _scan(np.frombuffer(data, dtype=np.uint8), begin, actions, model, values, labels, names):
        return None
    found, choices, branches, named, texts = model.counts.tolist()
    model.state_ptr[found], model.choice_ptr[choices] = choices, branches
    if found != states or model.state_ptr[-2] == choices or model.choice_ptr[choices - 1] == branches:
        return None
    lower, upper = values.resolved(data, branches, lambda tokens, _: second(tokens))
    return Body(
        model.state_ptr,
        model.choice_ptr[: choices + 1].copy(),
        model.successor[:branches],
        lower,
        upper,
        model.on_state.view(np.float64) if widths[0] else None,
        model.on_choice.view(np.float64)[:choices] if widths[1] else None,
        model.label_code,
        labels.texts(data, texts),
        model.name_code[:choices] if actions else None,
        names.texts(data, named),
    )


@kernel
def _keyword(data: Array, at: int, word: Array) -> int:
    """Return where what follows a keyword and white space begins; -1 where there is no such keyword."""
    for k in range(word.size):
        if data[at] != word[k]:
            return -1
        at += 1
    after = blank(data, at)
    return after if after > at else -1


@kernel
def _rewards(data: Array, at: int, table: Array, out: Array) -> int:
    """Read ``[1,2,3]`` into a row; return where it ends, -1 where it is something else."""
    if out.size == 0:
        return at if data[at] != ord("[") else -1
    for k in range(out.size):
        if data[at] != (ord("[") if k == 0 else ord(",")):
            return -1
        status, bits, at = decimal(data, blank(data, at + 1), table)
        if status != PLAIN:
            return -1
        out[k] = bits
        at = blank(data, at)
    return at + 1 if data[at] == ord("]") else -1


STATE, ACTION = (np.frombuffer(word, dtype=np.uint8) for word in (b"state", b"action"))


@kernel
def _label_end(data: Array, at: int) -> int:
    """Return where what stands behind a state ends; -1 where it is no labels."""
    if data[at] == ord("!") or data[at] == ord("{"):
        return -1
    end = at
    while data[at] != ord("\n"):
        at += 1
        if data[at - 1] > ord(" "):
            end = at
    return end


@kernel
def _state(data: Array, at: int, number: int, table: Array, rewards: Array) -> int:
    """Read ``state 3 [1,2]``; return where what stands behind it begins, -1 where it is not that."""
    at = _keyword(data, at, STATE)
    if at < 0:
        return -1
    found, after = whole(data, at)
    if found != number or (after - at > 1 and data[at] == ord("0")) or data[after] > ord(" "):
        return -1
    at = _rewards(data, blank(data, after), table, rewards)
    return blank(data, at) if at >= 0 else -1


@kernel
def _scan(
    data: Array, at: int, actions: bool, model: _Model, values: NumberFields, labels: Words, names: Words
) -> bool:
    """Fill the arrays; return whether no line is unusual."""
    table, lower, upper, doubts, _ = values
    state_ptr, choice_ptr = model.state_ptr, model.choice_ptr
    places = np.empty((2, 2), np.int64)
    states, choices, branches, unsure, intervals = 0, 0, 0, 0, False
    texts, named = intern(data, 0, 0, labels, 0) + 1, 0  # no label is a text, too
    while at < data.size:
        at = blank(data, at)
        lone = states > 0 and state_ptr[states - 1] == choices  # a state without choices so far
        bare = choices > 0 and choice_ptr[choices - 1] == branches  # a choice without transitions so far
        if ord("0") <= data[at] <= ord("9"):
            target, at = whole(data, at)
            at = blank(data, at)
            if not 0 <= target < state_ptr.size - 1 or data[at] != ord(":") or states == 0 or lone:
                return False
            at, low, high, kind = value(data, blank(data, at + 1), table, places)
            if at < 0:
                return False
            if kind & INTERVAL and not intervals:
                intervals = True
                upper[:branches] = lower[:branches]
            lower[branches] = low
            if intervals:
                upper[branches] = high
            if kind & ~INTERVAL:
                unsure = note(doubts, unsure, branches, kind, places)
            model.successor[branches] = target
            branches += 1
        elif data[at] == ord("s") and states < state_ptr.size - 1 and not (lone or bare):
            begun = _state(data, at, states, table, model.on_state[states])
            at = _label_end(data, begun) if begun >= 0 else -1
            code = intern(data, begun, at, labels, texts) if at >= 0 else -1
            if code < 0:
                return False
            texts = max(texts, code + 1)
            model.label_code[states], state_ptr[states] = code, choices
            states += 1
            if not actions:
                choice_ptr[choices] = branches
                choices += 1
        elif data[at] == ord("a") and actions and states > 0 and (lone or not bare):
            begun = _keyword(data, at, ACTION)
            if begun < 0:
                return False
            at = word_end(data, begun)
            code = intern(data, begun, at, names, named)
            at = _rewards(data, blank(data, at), table, model.on_choice[choices])
            if code < 0 or at < 0 or data[begun] == ord("\n"):
                return False
            named = max(named, code + 1)
            model.name_code[choices], choice_ptr[choices] = code, branches
            choices += 1
        at = blank(data, at)
        if data[at] != ord("\n"):
            return False
        at += 1
    values.found[0], values.found[1] = unsure, intervals
    model.counts[:] = states, choices, branches, named, texts
    return True
