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

__all__ = ["NO_LABEL", "TAG", "Body", "read_drn"]

Ints = NDArray[np.int64]

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

    def filled(self, tokens: list[bytes]) -> list[bytes]:
        """Return values with those of placeholders in their place."""
        return [self.placeholders.get(token, token) for token in tokens] if self.placeholders else tokens


@dataclass(frozen=True, eq=False)
class Body:
    """The states, choices and transitions of a DRN file, and what stands beside them.

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


def read_drn(path: Path) -> Model:
    """Return the model in a DRN file: a DTMC or MDP, with or without intervals."""
    data = load(path)
    model = _read_large(data, path) if is_large(data) else None
    if model is not None:
        return model
    lines = data.split(b"\n")
    del data
    header = _header(lines, path)
    return _model(header, _DrnLines(header, lines, path).read(), path)


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
        return floats(header.filled(tokens), [0] * len(tokens), "", path)

    try:
        body = scan(data, head.end(), header.states, (widths[0], widths[1]), action is not None, values)
    except FormatError:  # whoever reads line by line knows where
        return None
    if body is None or (header.choices and header.choices != body.choice_ptr.size - 1):
        return None
    if body.upper is not None and (body.lower > body.upper).any():
        return None
    return _model(header, body, path)


def _header(lines: list[bytes], path: Path) -> _Header:
    header, numbered = _Header(), enumerate(lines, 1)

    def fail(message: str, at: int) -> NoReturn:
        raise FormatError(message, path=path, line=at)

    for at, raw in numbered:
        line = decode_text(raw, path).strip()
        key, _, value = line.partition(":")
        if line.startswith(TAG):
            try:
                header.own = msgspec.json.decode(line[len(TAG) :], type=dict[str, Any])
            except msgspec.DecodeError as error:
                fail(f"the comment cannot be read: {sentence(error)}", at)
        elif key == "@type":
            header.kind = value.strip().upper()
            if header.kind not in ("DTMC", "MDP"):
                fail(f"the model is a {value.strip()}; supported are DTMC and MDP", at)
        elif key == "@value_type":
            if value.strip() == "parametric":
                fail("the model is parametric; give its parameters values first", at)
        elif line in ("@parameters", "@reward_models", "@nr_states", "@nr_choices"):
            below = decode_text(next(numbered, (0, b""))[1], path).strip("\r")
            if line == "@parameters" and below.strip():
                fail("the model has parameters; give them values first", at + 1)
            elif (
                line == "@reward_models"
            ):  # Storm ends every name with a space, and an unnamed structure has an empty name
                header.rewards = below.removesuffix(" ").split(" ") if below else []
            elif line.startswith("@nr_"):
                if not re.fullmatch(r"[0-9]{1,18}", below.strip()):
                    fail(f"{line} must be followed by a number", at + 1)
                setattr(header, line[4:], int(below))
        elif line == "@placeholders":
            while at < len(lines) and not lines[at].startswith(b"@"):
                at, raw = next(numbered)
                name, colon, text = (part.strip() for part in raw.partition(b":"))
                if raw.strip() and (not colon or not name.startswith(b"$")):
                    fail("a placeholder is written $NAME : VALUE", at)
                header.placeholders[name] = text
        elif line == "@model":
            header.end = at
            break
        elif line and not line.startswith("//"):
            fail(f'"{line[:40]}" is not part of a DRN header', at)
    for missing, part in ((not header.end, "@model"), (not header.kind, "@type"), (not header.states, "@nr_states")):
        if missing:
            raise FormatError(f"the header has no {part}; this is not a whole DRN file", path=path)
    return header


class _DrnLines:
    """The lines of a model, read one by one: whatever is wrong is said with the line where it stands."""

    def __init__(self, header: _Header, lines: list[bytes], path: Path) -> None:
        self.header, self.path = header, path
        self.lines = [line.strip() for line in lines[header.end :]]

    def read(self) -> Body:
        """Return what the lines say."""
        header, path = self.header, self.path
        starts = np.array([line[0] if line else 0 for line in self.lines], dtype=np.uint8)
        is_state, is_action = starts == ord("s"), starts == ord("a")
        is_branch = (starts >= ord("0")) & (starts <= ord("9"))
        strange = np.flatnonzero(~(is_state | is_action | is_branch | (starts == 0) | (starts == ord("/"))))
        if strange.size:
            at = int(strange[0])
            self.fail(f"{show(self.lines[at])} is neither a state, an action nor a transition", at)
        states, actions, branches = (np.flatnonzero(mask) for mask in (is_state, is_action, is_branch))
        check_count("states", header.states, states.size, path)
        rows = actions if actions.size else states  # chains may leave out the actions
        if actions.size and header.choices:
            check_count("choices", header.choices, rows.size, path)
        self.check_begun(rows, branches, "a transition stands before the first action")
        self.check_begun(states, rows, "an action stands before the first state")
        state_ptr = self.pointer(states, rows, "the state has no actions; give it one that stays there")
        choice_ptr = self.pointer(rows, branches, "there are no transitions here; a choice needs one")
        places, targets, values = self.branches(branches.tolist())
        successor = ints(targets, places, "successor state", path, header.states).astype(np.int32)
        lower, upper = intervals(values, places, "probability", path)
        label_code, labels, on_state = self.states(states.tolist())
        name_code, names, on_choice = self.actions(actions.tolist())
        return Body(
            state_ptr, choice_ptr, successor, lower, upper, self.matrix(on_state, states), self.matrix(on_choice, rows),
            label_code, labels, name_code if names else None, names,
        )  # fmt: skip

    def fail(self, message: str, at: int) -> NoReturn:
        raise FormatError(message, path=self.path, line=at + self.header.end + 1)

    def check_begun(self, owners: Ints, owned: Ints, message: str) -> None:
        """Refuse what stands before the first line that could own it."""
        if owned.size and (owners.size == 0 or owned[0] < owners[0]):
            self.fail(message, int(owned[0]))

    def pointer(self, owners: Ints, owned: Ints, message: str) -> Ints:
        """Return where what each line owns begins; it has to own something."""
        ptr = np.append(np.searchsorted(owned, owners), owned.size)
        empty = np.flatnonzero(ptr[1:] == ptr[:-1])
        if empty.size:
            self.fail(message, int(owners[empty[0]]))
        return ptr

    def branches(self, places: list[int]) -> tuple[list[int], list[bytes], list[bytes]]:
        """Return the numbers of the lines, the successors and the probabilities of transitions."""
        pairs = [self.lines[at].partition(b":") for at in places]
        for (_, colon, _), at in zip(pairs, places, strict=True):
            if not colon:
                self.fail("a transition is written STATE : PROBABILITY", at)
        values = self.header.filled([value.strip() for _, _, value in pairs])
        return [at + self.header.end + 1 for at in places], [target.strip() for target, _, _ in pairs], values

    def states(self, places: list[int]) -> tuple[NDArray[np.int32], list[bytes], list[tuple[int, bytes]]]:
        """Return the number of what stands behind each state, the different texts, and the rewards with their lines."""
        index, codes, rewards = {b"": 0}, [], []
        for number, at in enumerate(places):
            matched = _STATE.fullmatch(self.lines[at])
            if matched is None or matched[1] != b"%d" % number:
                self.fail(f"expected state {number}, found {show(self.lines[at])}; states must be listed in order", at)
            labels = matched[3].strip()
            if labels[:1] in (b"!", b"{"):
                self.fail("exit rates and observations are not supported", at)
            codes.append(index.setdefault(labels, len(index)))
            if matched[2]:
                rewards.append((at, matched[2]))
        return np.array(codes, dtype=np.int32), list(index), rewards

    def actions(self, places: list[int]) -> tuple[NDArray[np.int32], list[bytes], list[tuple[int, bytes]]]:
        """Return the number of each action's name, the different names, and the rewards with their lines."""
        index, codes, rewards = dict[bytes, int](), [], []
        for at in places:
            action = _ACTION.fullmatch(self.lines[at])
            if action is None:
                self.fail(f"{show(self.lines[at])} is not an action; write action NAME [REWARDS]", at)
            codes.append(index.setdefault(action[1], len(index)))
            if action[2]:
                rewards.append((at, action[2]))
        return np.array(codes, dtype=np.int32), list(index), rewards

    def matrix(self, given: list[tuple[int, bytes]], owners: Ints) -> NDArray[np.float64] | None:
        """Return rewards in columns, those of owners without any as 0, as Storm reads them; None where nobody has some."""
        if not given:
            return None
        rows = [_ITEM.findall(text[1:-1]) for _, text in given]
        width = len(rows[0])
        for (at, _), row in zip(given, rows, strict=True):
            if len(row) != width:
                self.fail(f"{len(row)} rewards, where earlier lines have {width}", at)
        places = [at for at, _ in given for _ in range(width)]
        tokens = self.header.filled([token for row in rows for token in row])
        lower, upper = intervals(tokens, [at + self.header.end + 1 for at in places], "reward", self.path)
        if upper is not None and not np.array_equal(lower, upper):
            self.fail("uncertain rewards are not supported", places[int(np.flatnonzero(lower != upper)[0])])
        found = np.zeros((owners.size, width))
        found[np.searchsorted(owners, [at for at, _ in given])] = lower.reshape(len(rows), width)
        return found


def _model(header: _Header, body: Body, path: Path) -> Model:
    """Return the model that a header and what follows it make."""
    own = header.own
    members: dict[str, list[int]] = {name: [] for name in own.get("labels", [])}
    for code, text in enumerate(body.labels[1:], 1):
        for quoted, plain in _LABEL.findall(decode_text(text, path)):
            members.setdefault(quoted or plain, []).append(code)
    labels = {name: np.flatnonzero(np.isin(body.label_code, codes)) for name, codes in members.items()}
    initial = initial_state(labels.pop("init", np.zeros(0, dtype=np.int64)), 'labelled "init"', path, labels)
    more: dict[str, Any] = {key: own[key] for key in ("constants", "formulas", "state_names") if key in own}
    return build(
        path,
        body.lower,
        body.upper,
        state_ptr=body.state_ptr,
        choice_ptr=body.choice_ptr,
        successor=body.successor,
        initial=initial,
        labels=labels,
        rewards=_rewards(header, {"state": body.on_state, "choice": body.on_choice}),
        actions=_actions(header, body, path),
        variables={name: np.array(values) for name, values in own.get("variables", {}).items()},
        **more,
    )


def _actions(header: _Header, body: Body, path: Path) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
    """Return the actions' names, by number; None where they are the numbers of choices within their state, or none."""
    codes, own = body.name_code, header.own
    names = [decode_text(word, path) for word in body.names]
    named = tuple("" if name == NO_LABEL else name for name in names)
    if "actions" in own:
        table = own["actions"]
        index = {name: code for code, name in enumerate(table or [])}
        if table and codes is not None and set(named) <= set(index):
            return np.array([index[name] for name in named], dtype=np.int32)[codes], tuple(table)
        return (codes, named) if table and codes is not None else None
    if codes is None or not any(named):
        return None
    numbers = np.array([int(name) if _NUMBER.fullmatch(name) else -1 for name in names], dtype=np.int64)
    local = np.arange(codes.size) - np.repeat(body.state_ptr[:-1], np.diff(body.state_ptr))
    return None if np.array_equal(numbers[codes], local) else (codes, named)


def _rewards(header: _Header, parts: dict[str, NDArray[np.float64] | None]) -> dict[str, Rewards]:
    count = max((m.shape[1] for m in parts.values() if m is not None), default=0)
    kept = header.own.get("rewards", {})
    known = list(kept) or header.rewards
    names = known[:count] + [f"rew{i}" for i in range(len(known), count)]
    rewards = {}
    for i, name in enumerate(names):
        found = {part: m[:, i] for part, m in parts.items() if m is not None and i < m.shape[1]}
        rewards[name] = Rewards.of({part: v for part, v in found.items() if part in kept.get(name, found)})
    return rewards
