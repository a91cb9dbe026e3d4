"""Reading PRISM's explicit files: .tra with .lab, .sta, .srew and .trew beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.io.explicit_table import Names, Table
from umdp.io.files import Model, build, check_count, decode_text, initial_state, load, show
from umdp.model import Rewards
from umdp.model.structure import CompressedRows, owner
from umdp.statements.text import nouns

__all__ = ["CHOICE_TAG", "companions", "read_explicit"]

CHOICE_TAG = "# Choice rewards"  # in a .trew file: the rewards belong to choices

_REWARD_NAME = re.compile(r'# Reward structure:?\s+"([^"]*)"')
_LABEL = re.compile(r'(\d+)="([^"]*)"')


@dataclass
class _ExplicitRows(CompressedRows):
    nondeterministic: bool
    state_ptr: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    successor: NDArray[np.int32]

    @property
    def key(self) -> NDArray[np.int64]:
        """A number for the choice and the successor of each transition."""
        return owner(self.choice_ptr) * self.states + self.successor


def read_explicit(path: Path) -> Model:
    """Return the model in a .tra file and the files beside it with the same stem.

    Without a .lab file state 0 is initial. Rewards are read from STEM.srew and STEM.trew, from STEM1.srew, STEM2.srew
    and so on (PRISM's numbering of several structures) and from STEM.NAME.srew.
    """
    table = Table.load(path)
    shape, lower, upper, actions = _transitions(table)
    files = companions(path)
    initial, labels = (0, {}) if "lab" not in files else _labels(files["lab"][0], shape.states)
    variables = {} if "sta" not in files else _variables(files["sta"][0], shape.states)
    return build(
        path,
        lower,
        upper,
        state_ptr=shape.state_ptr,
        choice_ptr=shape.choice_ptr,
        successor=shape.successor,
        initial=initial,
        labels=labels,
        rewards=_rewards(path, files, shape),
        actions=actions,
        variables=variables,
    )


def companions(path: Path) -> dict[str, list[Path]]:
    """Return the files that belong to a .tra file, by kind, reward files in order."""
    found = {kind: [path.with_suffix(f".{kind}")] for kind in ("lab", "sta") if path.with_suffix(f".{kind}").is_file()}
    stem = re.escape(path.stem)
    for kind in ("srew", "trew"):
        named = re.compile(stem + r"(?:(\d*)|\.(.+))\." + kind)
        ranked = []
        for each in path.parent.iterdir():
            matched = named.fullmatch(each.name)
            # A numbered file may belong to another model whose name ends in that number.
            if matched and each.is_file() and (each.stem == path.stem or not each.with_suffix(".tra").exists()):
                ranked.append((int(matched[1] or 0), matched[2] or "", each))
        if ranked:
            found[kind] = [each for _, _, each in sorted(ranked)]
    return found


def _transitions(
    table: Table,
) -> tuple[
    _ExplicitRows, NDArray[np.float64], NDArray[np.float64] | None, tuple[NDArray[np.int32], tuple[str, ...]] | None
]:
    hint = b" ".join(table.first).lower()
    counts: list[int] = []
    if hint in (b"mdp", b"dtmc"):  # Storm's flavour, without numbers
        table.take_first()
        nondeterministic = hint == b"mdp"
    else:
        if len(table.first) == 4:
            table.fail("the header has four numbers, that of a POMDP; supported are DTMC and MDP", 0)
        counts = table.header((2, 3))
        nondeterministic = len(counts) == 3
        table.check_count("transitions", counts[-1])
    layout = ("STATE CHOICE SUCCESSOR" if nondeterministic else "STATE SUCCESSOR") + " PROBABILITY [ACTION]"
    wide = 4 if nondeterministic else 3
    table.check_lengths(wide, wide + 1, layout)
    path = table.path
    if not table.size:
        raise FormatError(f"there are no transitions; lines read {layout}", path=path)
    most = counts[0] if counts else 2**31 - 1
    source = table.ints(0, "state", most)
    choice = table.ints(1, "choice", 2**31) if nondeterministic else np.zeros_like(source)
    successor = table.ints(wide - 2, "successor state", most)
    states = most if counts else 1 + int(max(source.max(), successor.max()))
    lower, upper = table.intervals(wide - 1, "probability")
    names = table.names(wide)

    order: NDArray[np.int64] | None = None
    if not _is_sorted(source, choice):
        order = np.lexsort((choice, source))  # stable: successors keep their order
        source, choice, successor, lower = source[order], choice[order], successor[order], lower[order]
        upper = None if upper is None else upper[order]
    new = np.ones(source.size, dtype=np.bool_)
    np.not_equal(source[1:], source[:-1], out=new[1:])
    new[1:] |= choice[1:] != choice[:-1]
    starts = np.flatnonzero(new)
    owners = source[starts]
    _check_every_state(owners, states, path)
    state_ptr = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=states))])
    gap = np.flatnonzero(choice[starts] != np.arange(starts.size) - state_ptr[owners])
    if gap.size:
        at = int(starts[gap[0]])
        table.fail(
            f"the choices of state {source[at]} are not numbered 0, 1, 2 and so on",
            at if order is None else int(order[at]),
        )
    if counts and nondeterministic:
        check_count("choices", counts[1], starts.size, path)
    shape = _ExplicitRows(
        nondeterministic, state_ptr, np.append(starts, source.size), successor.astype(np.int32, copy=False)
    )
    return shape, lower, upper, None if names is None else _actions(names, order, starts, table)


def _is_sorted(source: NDArray[Any], choice: NDArray[Any]) -> bool:
    """Whether the lines are in order of states and, within a state, of choices."""
    falls = choice[1:] < choice[:-1]
    falls &= source[1:] == source[:-1]
    falls |= source[1:] < source[:-1]
    return not falls.any()


def _check_every_state(owners: NDArray[Any], states: int, path: Path) -> None:
    """Raise `FormatError` unless every state is among the sorted owners of choices.

    How many states there are is not believed before that: no array is that long.
    """
    ahead = owners[1:] != owners[:-1]
    some = np.append(owners[:1], owners[1:][ahead])
    if some.size < states:
        at = np.flatnonzero(some != np.arange(some.size))
        raise FormatError(
            f"state {at[0] if at.size else some.size} has no transitions ({states - some.size} such states); let PRISM "
            "add self-loops (-fixdl) or give it one",
            path=path,
        )


def _actions(
    names: Names, order: NDArray[np.int64] | None, starts: NDArray[np.int64], table: Table
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the action of each choice, which all of its lines must name; actions in order of appearance."""
    codes, words = names
    codes = codes if order is None else codes[order]
    first = codes[starts]
    other = codes != np.repeat(first, np.diff(starts, append=codes.size))
    if other.any():
        at = int(np.argmax(other))
        row = int(np.searchsorted(starts, at, side="right")) - 1
        table.fail(
            f"the choice has two action names, {show(words[first[row]])} and {show(words[codes[at]])}",
            at if order is None else int(order[at]),
        )
    used, appears, number = np.unique(first, return_index=True, return_inverse=True)
    ranked = np.argsort(appears)
    rank = np.empty(used.size, np.int32)
    rank[ranked] = np.arange(used.size)
    return rank[number], tuple(decode_text(words[code], table.path) for code in used[ranked])


def _labels(path: Path, states: int) -> tuple[int, dict[str, NDArray[np.int64]]]:
    lines = decode_text(load(path), path).splitlines()
    first = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("# ")), 0)
    if lines[first].strip() == "#DECLARATION":  # Storm's flavour: names instead of numbers
        names = {name: name for name in " ".join(lines[first + 1 : first + 2]).split()}
        first += 2
    else:
        pairs = _LABEL.findall(lines[first])
        names = dict(pairs)
        if not pairs or _LABEL.sub("", lines[first]).strip() or len(set(names.values())) != len(pairs):
            raise FormatError('the first line should read 0="init" 1="deadlock" 2="NAME"', path=path, line=first + 1)
    members: dict[str, list[int]] = {name: [] for name in names.values()}
    for number, line in enumerate(lines[first + 1 :], first + 2):
        head, *carried = line.replace(":", " ", 1).split() or ("#",)
        if head.startswith("#"):
            continue
        if not head.isdigit() or int(head) >= states:
            raise FormatError(
                f'there is no state "{head}"; states are numbered 0 to {states - 1}', path=path, line=number
            )
        for label in carried:
            if label not in names:
                raise FormatError(f'label "{label}" is not declared in the first line', path=path, line=number)
            members[names[label]].append(int(head))
    marked = members.pop("init", [])
    labels = {name: np.array(listed, dtype=np.int64) for name, listed in members.items()}
    return initial_state(marked, 'labelled "init"', path, labels), labels


def _variables(path: Path, states: int) -> dict[str, NDArray[Any]]:
    lines = [line.strip() for line in decode_text(load(path), path).splitlines()]
    kept = [(i, line) for i, line in enumerate(lines, 1) if line and not line.startswith("#")]
    at, head = kept[0]
    if not (head.startswith("(") and head.endswith(")")):
        raise FormatError("the first line should list the variables: (x,y)", path=path, line=at)
    names = [name.strip() for name in head[1:-1].split(",")]
    if len(kept) - 1 != states:
        count = len(kept) - 1
        verb = "is" if count == 1 else "are"
        raise FormatError(f"{count} {nouns(count, 'state')} {verb} listed, but the model has {states}", path=path)
    rows = []
    for number, (at, line) in enumerate(kept[1:]):
        index, _, values = line.partition(":")
        row = [value.strip() for value in values.strip().removeprefix("(").removesuffix(")").split(",")]
        if index.strip() != str(number) or len(row) != len(names):
            raise FormatError(
                f"expected {number}:(...) with {len(names)} values, found {line[:40]}", path=path, line=at
            )
        rows.append(row)
    return {name: _typed(list(column)) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _typed(column: list[str]) -> NDArray[Any]:
    if set(column) <= {"true", "false"}:
        return np.array([value == "true" for value in column])
    for kind in (int, float):
        try:
            return np.array([kind(value) for value in column])
        except (ValueError, OverflowError):
            continue
    return np.array(column, dtype=np.str_)


def _rewards(path: Path, files: dict[str, list[Path]], shape: _ExplicitRows) -> dict[str, Rewards]:
    parts: dict[str, dict[str, NDArray[np.float64]]] = {}
    for each in sorted(files.get("srew", []) + files.get("trew", []), key=_number):
        table = Table.load(each)
        name = _reward_name(table, path)
        part, values = (_state_rewards if each.suffix == ".srew" else _transition_rewards)(table, shape)
        if part in parts.setdefault(name, {}):
            raise FormatError(f'reward "{name}" is given on {part}s by two files; remove one', path=each)
        parts[name][part] = values
    return {name: Rewards.of(found) for name, found in parts.items()}


def _number(path: Path) -> tuple[int, str]:
    digits = re.search(r"(\d*)$", path.stem)
    return int(digits[1] or 0) if digits else 0, path.name


def _reward_name(table: Table, path: Path) -> str:
    for comment in table.comments:
        matched = _REWARD_NAME.match(comment)
        if matched or comment == "# Reward structure":
            return matched[1] if matched else ""
    stem = table.path.stem
    return stem.removeprefix(f"{path.stem}.") if stem.startswith(f"{path.stem}.") else stem.removeprefix(path.stem)


def _state_rewards(table: Table, shape: _ExplicitRows) -> tuple[str, NDArray[np.float64]]:
    states, count = table.header((2,))
    if states != shape.states:
        raise FormatError(f"the rewards are for {states} states, but the model has {shape.states}", path=table.path)
    table.check_count("rewards", count)
    table.check_lengths(2, 2, "STATE REWARD")
    values = np.zeros(states)
    values[table.ints(0, "state", states)] = table.floats(1, "reward")
    return "state", values


def _transition_rewards(table: Table, shape: _ExplicitRows) -> tuple[str, NDArray[np.float64]]:
    wide = 4 if shape.nondeterministic else 3
    counts = table.header((wide - 1,))
    if counts[0] != shape.states or (shape.nondeterministic and counts[1] != shape.choices):
        raise FormatError("the header does not fit the .tra file; export both together", path=table.path)
    # PRISM counts choices or transitions here, depending on its version and engine: the number is not relied upon.
    table.check_lengths(wide, wide, ("STATE CHOICE" if wide == 4 else "STATE") + " SUCCESSOR REWARD")
    source = table.ints(0, "state", shape.states)
    local = table.ints(1, "choice", 2**31) if wide == 4 else np.zeros_like(source)
    target = table.ints(wide - 2, "successor state", shape.states)
    given = table.floats(wide - 1, "reward")
    choice = shape.state_ptr[source] + local
    key, wanted = shape.key, choice * shape.states + target
    if np.array_equal(key, wanted):  # every transition, in order
        values = np.array(given)
    else:
        order = np.argsort(key, kind="stable")
        known = key[order]
        at = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
        wrong = np.flatnonzero((choice >= shape.state_ptr[source + 1]) | (known[at] != wanted))
        if wrong.size:
            row = int(wrong[0])
            table.fail(f"{show(table.text(row))} is a reward on no transition of the model", row)
        values = np.zeros(known.size)
        values[order[at]] = given
    first = values[shape.choice_ptr[:-1]]
    marked = CHOICE_TAG in table.comments
    same = np.array_equal(np.repeat(first, np.diff(shape.choice_ptr)), values)
    if same and (marked or shape.nondeterministic) and "# Branch rewards" not in table.comments:
        return "choice", first
    return "transition", values
