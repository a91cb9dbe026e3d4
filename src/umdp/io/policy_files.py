"""Policies as JSON, CSV and Python, with the names of states and actions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from umdp.automata import MemoryPolicy
from umdp.errors import FormatError
from umdp.io.decisions import UNDONE, Decision, Fitted, decisions_of, fit, starts_before
from umdp.io.files import decode_text, load, sentence, store
from umdp.model import Graph, Policy
from umdp.model.interface import Interface

__all__ = ["POLICIES", "read_about", "read_policy_file", "read_remembered", "write_policy_file"]

POLICIES = (".json", ".csv", ".py")
COLUMNS = ("state", "action", "step", "weight", "number", "choice")
REMEMBERED = ("memory", "number", "state", "action", "choice", "becomes")


class _Memory(msgspec.Struct, omit_defaults=True):
    """An automaton: the memory after reading the letter of a state; bit `i` of a letter says if condition `i` holds there.

    `reads` is the column of `after`, and the place in `letters`, for each state of the model; `along` that for each transition,
    where letters come with these.
    """

    asked: str
    initial: int
    conditions: list[str]
    letters: list[int]
    after: list[list[int]]
    remaining: list[str]
    reads: list[int] = []
    along: list[int] = []


class _File(msgspec.Struct, omit_defaults=True):
    states: int
    decisions: list[Decision]
    kind: str = "deterministic"
    steps: int | None = None
    about: dict[str, Any] | None = None
    memory: _Memory | None = None


def write_policy_file(policy: Policy, path: Path, about: Mapping[str, Any] | None = None) -> None:
    """Write a policy as JSON, CSV or Python, by the name's ending."""
    if not isinstance(policy, MemoryPolicy) and policy.steps is None and MemoryPolicy.knows(policy):
        policy = MemoryPolicy.of(policy)
    columns: tuple[str, ...]
    if isinstance(policy, MemoryPolicy):
        kind, columns, memory = "with memory", REMEMBERED, _memory(policy)
        states, decisions = policy.product.base.states, _remembered(policy)
    else:
        kind, columns, memory = "deterministic", _columns(policy), None
        states, decisions = policy.graph.states, decisions_of(policy)
    if path.suffix == ".json":
        kind = kind if policy.weight is None else "randomised"
        given = None if about is None else dict(about)
        file = _File(states, list(decisions), kind, policy.steps, given, memory)
        store(path, msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n")
    elif path.suffix == ".csv":
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([getattr(each, column) for column in columns] for each in decisions)
        store(path, buffer.getvalue().encode())
    elif path.suffix == ".py":
        if memory is not None or policy.weight is not None:
            why = "remembers what happened" if memory is not None else "draws its actions"
            raise FormatError(f"this policy {why}, which a table of states in Python cannot; write .json", path=path)
        store(path, _program(policy, about or {}).encode())
    else:
        raise FormatError(f"a policy is written as {' or '.join(POLICIES)}", path=path)


def _columns(policy: Policy) -> tuple[str, ...]:
    """Return the columns that a table of a policy needs: numbers where names are missing or shared."""
    graph = policy.graph
    names = [graph.state_name(s) for s in range(graph.states)]
    pairs = {(state, graph.action_name(choice)) for choice, state in enumerate(graph.choice_state.tolist())}
    told = graph.state_names is not None or bool(graph.variables)
    spared = set()
    if told and graph.actions is not None and len(set(names)) == graph.states and len(pairs) == graph.choices:
        spared |= {"number", "choice"}
    spared |= {"step"} if policy.steps is None else set()
    spared |= {"weight"} if policy.weight is None else set()
    return tuple(column for column in COLUMNS if column not in spared)


PROGRAM = '''"""A policy: what to do in each state{per_step}. It needs nothing but Python."""

ABOUT = {about!r}

POLICY = {{
{rows}
}}


def act(state, step=0):
    """Return the action in a state; KeyError for one that the policy does not know{at_step}."""
    return POLICY[str(state)]{index}
'''


def _program(policy: Policy, about: Mapping[str, Any]) -> str:
    """Return a policy as a program: actions by the names of states, as numbers where they are whole numbers."""
    graph, given = policy.graph, policy.graph.interface or Interface.by_name(policy.graph)
    assert policy.choice is not None
    names = [graph.state_name(s) for s in range(graph.states)]
    if len(set(names)) < len(names):
        raise FormatError("states share a name, by which a policy in Python goes; write .json")
    before = int(policy.steps is not None and starts_before(graph))
    rows = []
    for state, column in enumerate(np.atleast_2d(policy.choice).T[:, before:].tolist()):
        alone = graph.state_ptr[state + 1] - graph.state_ptr[state] == 1
        nobodys = state == graph.rest or (alone and graph.action_name(int(graph.state_ptr[state])) in UNDONE)
        actions = [given.actions[choice] for choice in column]
        if not nobodys and None not in actions:
            rows.append(f"    {names[state]!r}: {actions[0] if policy.steps is None else tuple(actions)!r},")
    stepped, known = (
        policy.steps is not None,
        msgspec.json.decode(msgspec.json.encode(about)),
    )  # literals of Python, whatever it was
    return PROGRAM.format(
        per_step=" at each step, from 0" if stepped else "", about=known, rows="\n".join(rows),
        at_step=", IndexError for a step beyond its last" if stepped else "", index="[step]" if stepped else "",
    )  # fmt: skip


@dataclass(frozen=True)
class Remembered:
    """A policy with memory as a file has it.

    Attributes
    ----------
    asked : the property
    decisions : (state, memory, choice within the state, memory when it is taken) each
    after : the automaton: the memory after each letter
    states : the names of states, where the file has them
    """

    asked: str
    decisions: tuple[tuple[int, int, int, int], ...]
    after: tuple[tuple[int, ...], ...]
    states: Mapping[int, str]

    def check(self, graph: Graph, path: Path) -> None:
        """Raise `FormatError` where a graph calls states by other names."""
        for number, name in self.states.items():
            own = graph.state_name(number) if 0 <= number < graph.states else None
            if own != name:
                there = "there is no such state" if own is None else f"that is {own}"
                raise FormatError(f"state {number} is {name} in this policy, and in the model {there}", path=path)


def read_remembered(path: Path) -> Remembered | None:
    """Return the policy with memory in a JSON file; None where it is no such file."""
    if path.suffix != ".json":
        return None
    file = _read_json(path)
    if file.memory is None:
        return None
    found = []
    for place, each in enumerate(file.decisions):
        row = (each.number, each.memory, each.choice, each.becomes)
        if None in row:
            raise FormatError(f"decision {place} lacks its number, memory, choice or becomes", path=path)
        found.append(row)
    names = {each.number: each.state for each in file.decisions if each.number is not None and each.state is not None}
    return Remembered(file.memory.asked, tuple(found), tuple(map(tuple, file.memory.after)), names)  # type: ignore[arg-type]


def _memory(policy: MemoryPolicy) -> _Memory:
    reading = policy.product.reading
    automaton = reading.automaton
    return _Memory(
        str(policy.product.asked), automaton.initial, [str(atom) for atom in reading.atoms], automaton.letters.tolist(),
        automaton.step.tolist(), list(policy.memories()), reading.code.tolist(),
        [] if reading.arrival is None else reading.arrival.tolist(),
    )  # fmt: skip


def _remembered(policy: MemoryPolicy) -> Iterator[Decision]:
    """Yield the decisions of a policy with memory, in terms of its model."""
    base = policy.product.base
    for state, memory, choice, becomes in policy.decisions():
        within = choice - int(base.state_ptr[state])
        yield Decision(base.state_name(state), base.action_name(choice), state, within, memory=memory, becomes=becomes)


def read_policy_file(path: Path, graph: Graph, *, partly: bool = False) -> Fitted:
    """Return the policy for `graph` that a JSON or CSV file holds; with `partly`, some states may be unknown to it."""
    if path.suffix not in (".json", ".csv"):
        raise FormatError("a policy is read from .json or .csv", path=path)
    steps: int | None = None
    states: int | None = None
    if path.suffix == ".json":
        file = _read_json(path)
        if file.memory is not None:
            raise FormatError(
                f"this is a policy with memory, for {file.memory.asked}; umdp check --evaluate and umdp simulate read it",
                path=path,
            )
        states = file.states
        placed = [(f"decision {i}", each) for i, each in enumerate(file.decisions)]
        steps, randomised = file.steps, file.kind == "randomised"
    else:
        placed = list(_read_csv(path))
        given = [each.step for _, each in placed if each.step is not None]
        steps = max(given) + 1 if given else None
        randomised = any(each.weight != 1.0 for _, each in placed)
    return fit(placed, graph, steps, randomised, path, states=states, partly=partly)


def read_about(path: Path) -> dict[str, Any]:
    """Return what a JSON file says about its policy."""
    return (_read_json(path).about or {}) if path.suffix == ".json" else {}


def _read_json(path: Path) -> _File:
    try:
        return msgspec.json.decode(load(path), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"this is not a policy: {sentence(error)}", path=path) from None


def _read_csv(path: Path) -> Iterator[tuple[str, Decision]]:
    rows = csv.DictReader(io.StringIO(decode_text(load(path), path), newline=""))
    if "memory" in (rows.fieldnames or ()):
        raise FormatError("this is a policy with memory, which is read back from .json only", path=path)
    if not {"state", "number"} & set(rows.fieldnames or ()) or not {"action", "choice"} & set(rows.fieldnames or ()):
        raise FormatError(f"the first line should name the columns {','.join(COLUMNS)}", path=path, line=1)
    for line, row in enumerate(rows, 2):
        filled: dict[str, Any] = {
            key: value for key, value in row.items() if key in COLUMNS and value not in (None, "")
        }
        if row.get("action") == "":
            filled["action"] = ""
        try:
            yield f"line {line}", msgspec.convert(filled, Decision, strict=False)
        except msgspec.ValidationError as error:
            raise FormatError(sentence(error), path=path, line=line) from None
