"""Reading DRN, Storm's text format for explicit models."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.io.files import (
    Model,
    build,
    check_count,
    decode_text,
    floats,
    initial_state,
    intervals,
    ints,
    is_large,
    load,
    sentence,
    show,
)
from umdp.model import Rewards

__all__ = ["NO_LABEL", "TAG", "read_drn"]

TAG = "// umdp: "  # a comment with what the format has no place for
NO_LABEL = "__NOLABEL__"
START = 2**16  # bytes among which the first two lines of a model are

_BRACKETS = rb"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
_STATE = re.compile(rb"state\s+(\S+)\s*(" + _BRACKETS + rb")?(.*)")
_ACTION = re.compile(rb"action\s+(\S+)\s*(" + _BRACKETS + rb")?\s*")
_LABEL = re.compile(r'"([^"]+)"|([^\s"]+)')
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_ITEM = re.compile(rb"\[[^\]]*\]|[^,\s]+")


@dataclass
class _Header:
    kind: str = ""
    states: int = 0
    choices: int = 0
    rewards: list[str] = field(default_factory=list)
    placeholders: dict[bytes, bytes] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    end: int = 0  # the index of the first line of the model


def read_drn(path: Path) -> Model:
    """Return the model in a DRN file: a DTMC or MDP, with or without intervals."""
    data = load(path)
    if is_large(data):
        model = _read_large(data, path)
        if model is not None:
            return model
    lines = data.split(b"\n")
    del data
    header = _header(lines, path)
    body = [line.strip() for line in lines[header.end :]]
    starts = np.fromiter((line[0] if line else 0 for line in body), dtype=np.uint8, count=len(body))
    is_state, is_action = starts == ord("s"), starts == ord("a")
    is_branch = (starts >= ord("0")) & (starts <= ord("9"))
    strange = np.flatnonzero(~(is_state | is_action | is_branch | (starts == 0) | (starts == ord("/"))))
    first = header.end + 1  # the number, for people, of the body's first line
    if strange.size:
        at = int(strange[0])
        raise FormatError(
            f"{show(body[at])} is neither a state, an action nor a transition", path=path, line=at + first
        )
    states, rows, branches = (np.flatnonzero(mask) for mask in (is_state, is_action, is_branch))
    check_count("states", header.states, states.size, path)
    if rows.size == 0:  # chains may leave out the actions
        rows = states
    elif header.choices:
        check_count("choices", header.choices, rows.size, path)
    state_ptr = np.append(np.searchsorted(rows, states), rows.size)
    choice_ptr = np.append(np.searchsorted(branches, rows), branches.size)
    for early, late, what in (
        (rows, branches, "a transition stands before the first action"),
        (states, rows, "an action stands before the first state"),
    ):
        if late.size and (early.size == 0 or late[0] < early[0]):
            raise FormatError(what, path=path, line=int(late[0]) + first)
    for ptr, owners, what in (
        (state_ptr, states, "the state has no actions; give it one that stays there"),
        (choice_ptr, rows, "there are no transitions here; a choice needs one"),
    ):
        empty = np.flatnonzero(ptr[1:] == ptr[:-1])
        if empty.size:
            raise FormatError(what, path=path, line=int(owners[empty[0]]) + first)

    places = (branches + first).tolist()
    targets, values = _branches([body[i] for i in branches.tolist()], places, header, path)
    successor = ints(targets, places, "successor state", path, header.states)
    lower, upper = intervals(values, places, "probability", path)
    reader = _Annotations(header, path, first)
    return build(
        path,
        lower,
        upper,
        state_ptr=state_ptr,
        choice_ptr=choice_ptr,
        successor=successor.astype(np.int32),
        **reader.read([(i, body[i]) for i in states.tolist()], [(i, body[i]) for i in rows.tolist()], state_ptr),
    )


def _read_large(data: bytes, path: Path) -> Model | None:
    """Return the model in a large file; None where something in it is unusual, be it right or wrong."""
    from umdp.io.drn_scan import scan

    head = re.search(rb"^@model[ \t\r]*\n", data, re.MULTILINE)
    if head is None:
        return None
    header = _header(data[: head.end() - 1].split(b"\n"), path)
    first, second = ([line.strip() for line in data[head.end() : head.end() + START].split(b"\n", 2)] + [b"", b""])[:2]
    state, action = _STATE.fullmatch(first), _ACTION.fullmatch(second)
    if state is None:
        return None
    widths = [len(_ITEM.findall(found[2][1:-1])) if found and found[2] else 0 for found in (state, action)]

    def values(tokens: list[bytes]) -> NDArray[np.float64]:
        return floats([header.placeholders.get(token, token) for token in tokens], [0] * len(tokens), "", path)

    try:
        body = scan(data, head.end(), header.states, (widths[0], widths[1]), action is not None, values)
    except FormatError:  # whoever reads line by line knows where
        return None
    if body is None or (header.choices and header.choices != body.choice_ptr.size - 1):
        return None
    if body.upper is not None and (body.lower > body.upper).any():
        return None
    members: dict[str, list[int]] = {name: [] for name in header.own.get("labels", [])}
    for code, text in enumerate(body.labels[1:], 1):
        for quoted, plain in _LABEL.findall(decode_text(text, path)):
            members.setdefault(quoted or plain, []).append(code)
    reader = _Annotations(header, path, 0)
    return build(
        path,
        body.lower,
        body.upper,
        state_ptr=body.state_ptr,
        choice_ptr=body.choice_ptr,
        successor=body.successor,
        **reader.gather(
            {name: np.flatnonzero(np.isin(body.label_code, codes)) for name, codes in members.items()},
            reader.actions(body.name_code, body.names, body.state_ptr),
            {"state": body.on_state, "choice": body.on_choice},
        ),
    )


def _header(lines: list[bytes], path: Path) -> _Header:
    header = _Header()
    i = 0

    def following() -> str:
        return decode_text(lines[i + 1], path).strip("\r") if i + 1 < len(lines) else ""

    while i < len(lines):
        line = decode_text(lines[i], path).strip()
        key, _, value = line.partition(":")
        if line.startswith(TAG):
            try:
                header.own = msgspec.json.decode(line[len(TAG) :], type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise FormatError(f"the comment cannot be read: {sentence(error)}", path=path, line=i + 1) from None
        elif not line or line.startswith("//"):
            pass
        elif key == "@type":
            header.kind = value.strip().upper()
            if header.kind not in ("DTMC", "MDP"):
                raise FormatError(f"the model is a {value.strip()}; supported are DTMC and MDP", path=path, line=i + 1)
        elif key == "@value_type":
            if value.strip() == "parametric":
                raise FormatError("the model is parametric; give its parameters values first", path=path, line=i + 1)
        elif line == "@parameters":
            if following().strip():
                raise FormatError("the model has parameters; give them values first", path=path, line=i + 2)
            i += 1
        elif line == "@placeholders":
            while i + 1 < len(lines) and not lines[i + 1].startswith(b"@"):
                i += 1
                name, colon, text = lines[i].partition(b":")
                if lines[i].strip() and (not colon or not name.strip().startswith(b"$")):
                    raise FormatError("a placeholder is written $NAME : VALUE", path=path, line=i + 1)
                header.placeholders[name.strip()] = text.strip()
        elif line == "@reward_models":
            header.rewards = _reward_names(following())
            i += 1
        elif line in ("@nr_states", "@nr_choices"):
            if not re.fullmatch(r"[0-9]{1,18}", following().strip()):
                raise FormatError(f"{line} must be followed by a number", path=path, line=i + 2)
            setattr(header, line[4:], int(following()))
            i += 1
        elif line == "@model":
            header.end = i + 1
            break
        else:
            raise FormatError(f'"{line[:40]}" is not part of a DRN header', path=path, line=i + 1)
        i += 1
    for missing, part in ((not header.end, "@model"), (not header.kind, "@type"), (not header.states, "@nr_states")):
        if missing:
            raise FormatError(f"the header has no {part}; this is not a whole DRN file", path=path)
    return header


def _reward_names(line: str) -> list[str]:
    # Storm ends every name with a space, and an unnamed structure has an empty name.
    return line.removesuffix(" ").split(" ") if line else []


def _branches(lines: list[bytes], places: list[int], header: _Header, path: Path) -> tuple[list[bytes], list[bytes]]:
    pairs = [line.partition(b":") for line in lines]
    for (_, colon, _), line in zip(pairs, places, strict=True):
        if not colon:
            raise FormatError("a transition is written STATE : PROBABILITY", path=path, line=line)
    values = [value.strip() for _, _, value in pairs]
    if header.placeholders:
        values = [header.placeholders.get(value, value) for value in values]
    return [target.strip() for target, _, _ in pairs], values


class _Annotations:
    """Rewards, labels and action names, from the lines of states and actions."""

    def __init__(self, header: _Header, path: Path, first: int) -> None:
        self.header, self.path, self.first = header, path, first

    def read(
        self, states: list[tuple[int, bytes]], rows: list[tuple[int, bytes]], state_ptr: NDArray[np.int64]
    ) -> dict[str, Any]:
        own = self.header.own
        members: dict[str, list[int]] = {name: [] for name in own.get("labels", [])}
        on_state: list[tuple[int, bytes]] = []
        for number, (at, line) in enumerate(states):
            matched = _STATE.fullmatch(line)
            if matched is None or matched[1] != b"%d" % number:
                self._fail(f"expected state {number}, found {show(line)}; states must be listed in order", at)
            if matched[2]:
                on_state.append((at, matched[2]))
            rest = matched[3].strip()
            if rest[:1] in (b"!", b"{"):
                self._fail("exit rates and observations are not supported", at)
            if rest:
                for quoted, plain in _LABEL.findall(decode_text(rest, self.path)):
                    members.setdefault(quoted or plain, []).append(number)
        index: dict[bytes, int] = {}
        codes: list[int] = []
        on_choice: list[tuple[int, bytes]] = []
        for at, line in rows if rows[0][1].startswith(b"a") else []:
            action = _ACTION.fullmatch(line)
            if action is None:
                self._fail(f"{show(line)} is not an action; write action NAME [REWARDS]", at)
            codes.append(index.setdefault(action[1], len(index)))
            if action[2]:
                on_choice.append((at, action[2]))
        return self.gather(
            {name: np.array(listed, dtype=np.int64) for name, listed in members.items()},
            self.actions(np.array(codes, dtype=np.int32) if codes else None, list(index), state_ptr),
            {
                "state": self._matrix(on_state, len(states), "states"),
                "choice": self._matrix(on_choice, len(rows), "actions"),
            },
        )

    def gather(
        self,
        members: dict[str, NDArray[np.int64]],
        actions: tuple[NDArray[np.int32], tuple[str, ...]] | None,
        rewards: dict[str, NDArray[np.float64] | None],
    ) -> dict[str, Any]:
        """Return the annotations of a model from the states of every label, the actions, and the rewards in columns."""
        own = self.header.own
        initial = members.pop("init", np.zeros(0, dtype=np.int64))
        more: dict[str, Any] = {key: own[key] for key in ("constants", "formulas", "state_names") if key in own}
        more["variables"] = {name: np.array(values) for name, values in own.get("variables", {}).items()}
        return {
            "initial": initial_state(initial, 'labelled "init"', self.path),
            "labels": members,
            "rewards": self._rewards(rewards),
            "actions": actions,
            **more,
        }

    def _fail(self, message: str, at: int) -> NoReturn:
        raise FormatError(message, path=self.path, line=at + self.first)

    def actions(
        self, codes: NDArray[np.int32] | None, words: list[bytes], state_ptr: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
        """Return the actions' names, by number; None where they are the numbers of choices within their state, or none."""
        names = [decode_text(word, self.path) for word in words]
        named = tuple("" if name == NO_LABEL else name for name in names)
        if "actions" in self.header.own:
            table = self.header.own["actions"]
            index = {name: code for code, name in enumerate(table or [])}
            if table and codes is not None and set(named) <= set(index):
                return np.array([index[name] for name in named], dtype=np.int32)[codes], tuple(table)
            return (codes, named) if table and codes is not None else None
        if codes is None or not any(named):
            return None
        numbers = np.array([int(name) if _NUMBER.fullmatch(name) else -1 for name in names], dtype=np.int64)
        local = np.arange(codes.size) - np.repeat(state_ptr[:-1], np.diff(state_ptr))
        return None if np.array_equal(numbers[codes], local) else (codes, named)

    def _rewards(self, parts: dict[str, NDArray[np.float64] | None]) -> dict[str, Rewards]:
        count = max((m.shape[1] for m in parts.values() if m is not None), default=0)
        kept = self.header.own.get("rewards", {})
        known = list(kept) or self.header.rewards
        names = known[:count] + [f"rew{i}" for i in range(len(known), count)]
        rewards = {}
        for i, name in enumerate(names):
            found = {part: m[:, i] for part, m in parts.items() if m is not None and i < m.shape[1]}
            rewards[name] = Rewards.of({part: v for part, v in found.items() if part in kept.get(name, found)})
        return rewards

    def _matrix(self, given: list[tuple[int, bytes]], count: int, what: str) -> NDArray[np.float64] | None:
        if not given:
            return None
        if len(given) != count:
            raise FormatError(f"{len(given)} of {count} {what} have rewards; give all or none", path=self.path)
        rows = [_ITEM.findall(text[1:-1]) for _, text in given]
        width = len(rows[0])
        for (at, _), row in zip(given, rows, strict=True):
            if len(row) != width:
                self._fail(f"{len(row)} rewards, where earlier lines have {width}", at)
        places = [at + self.first for at, _ in given for _ in range(width)]
        tokens = [self.header.placeholders.get(token, token) for row in rows for token in row]
        lower, upper = intervals(tokens, places, "reward", self.path)
        if upper is not None and not np.array_equal(lower, upper):
            at = int(np.flatnonzero(lower != upper)[0])
            raise FormatError("uncertain rewards are not supported", path=self.path, line=places[at])
        return lower.reshape(count, width)
