"""Policies as JSON and CSV, with the names of states and actions."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import numpy as np

from umdp.errors import FormatError, ModelError
from umdp.io.files import load, sentence, store
from umdp.io.tokens import decode_text
from umdp.model import Graph, Policy

__all__ = ["Decision", "read_about", "read_policy_file", "write_policy_file"]

COLUMNS = ("step", "number", "state", "action", "choice", "weight")


class Decision(msgspec.Struct, omit_defaults=True):
    """One line of a policy: in `state` (at `step`) take `action` with probability `weight`.

    `number` is the state's number and `choice` the number of the action within its state; they decide where names
    are missing or shared.
    """

    state: str | None = None
    action: str | None = None
    number: int | None = None
    choice: int | None = None
    step: int | None = None
    weight: float = 1.0


class _File(msgspec.Struct, omit_defaults=True):
    states: int
    decisions: list[Decision]
    kind: str = "deterministic"
    steps: int | None = None
    about: dict[str, Any] | None = None


def write_policy_file(policy: Policy, path: Path, about: Mapping[str, Any] | None = None) -> None:
    """Write a policy as JSON or CSV, by the name's ending."""
    decisions = _decisions(policy)
    if path.suffix == ".json":
        kind = "randomised" if policy.weight is not None else "deterministic"
        given = None if about is None else dict(about)
        file = _File(policy.graph.states, list(decisions), kind, policy.steps, given)
        store(path, msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n")
    elif path.suffix == ".csv":
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([getattr(each, column) for column in COLUMNS] for each in decisions)
        store(path, buffer.getvalue().encode())
    else:
        raise FormatError("a policy is written as .json or .csv", path=path)


def _decisions(policy: Policy) -> Iterator[Decision]:
    graph = policy.graph
    owner = graph.choice_state.tolist()
    first = graph.state_ptr.tolist()
    names = [graph.state_name(s) for s in range(graph.states)]
    rows: list[tuple[int | None, list[int], list[float]]] = []
    if policy.weight is not None:
        taken = np.flatnonzero(policy.weight > 0)
        rows.append((None, taken.tolist(), policy.weight[taken].tolist()))
    else:
        assert policy.choice is not None
        for step, chosen in enumerate(np.atleast_2d(policy.choice)):
            rows.append((None if policy.steps is None else step, chosen.tolist(), [1.0] * graph.states))
    for number, choices, weights in rows:
        for choice, weight in zip(choices, weights, strict=True):
            s = owner[choice]
            yield Decision(names[s], graph.action_name(choice), s, choice - first[s], number, weight)


def read_policy_file(path: Path, graph: Graph) -> Policy:
    """Return the policy for `graph` that a JSON or CSV file holds."""
    if path.suffix not in (".json", ".csv"):
        raise FormatError("a policy is read from .json or .csv", path=path)
    steps: int | None = None
    if path.suffix == ".json":
        file = _read_json(path)
        if file.states != graph.states:
            raise FormatError(f"the policy is for {file.states} states, but the model has {graph.states}", path=path)
        placed = [(f"decision {i}", each) for i, each in enumerate(file.decisions)]
        steps, randomised = file.steps, file.kind == "randomised"
    else:
        placed = list(_read_csv(path))
        given = [each.step for _, each in placed if each.step is not None]
        steps = max(given) + 1 if given else None
        randomised = any(each.weight != 1.0 for _, each in placed)
    return _assemble(placed, graph, steps, randomised, path)


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


class _NameIndex:
    """Finds states and choices by name, or by number where names are missing or shared."""

    def __init__(self, graph: Graph, path: Path) -> None:
        self.graph, self.path = graph, path
        names = [graph.state_name(s) for s in range(graph.states)]
        shared = Counter(names)
        self.index = {name: s for s, name in enumerate(names) if shared[name] == 1}
        self.shared = {name for name, count in shared.items() if count > 1}

    def fail(self, place: str, message: str) -> NoReturn:
        raise FormatError(f"{place}: {message}", path=self.path)

    def state(self, decision: Decision, place: str) -> int:
        if decision.state is not None and decision.state in self.index:
            return self.index[decision.state]
        if decision.state is not None and decision.state not in self.shared:
            shown = next(iter(self.index), "0")
            self.fail(place, f'there is no state "{decision.state}"; one of the names is "{shown}"')
        if decision.number is None or not 0 <= decision.number < self.graph.states:
            self.fail(place, f"the state needs a number from 0 to {self.graph.states - 1}")
        return decision.number

    def choice(self, decision: Decision, state: int, place: str) -> int:
        own = range(int(self.graph.state_ptr[state]), int(self.graph.state_ptr[state + 1]))
        named = [c for c in own if decision.action is not None and self.graph.action_name(c) == decision.action]
        if len(named) == 1:
            return named[0]
        numbered = own[decision.choice] if decision.choice is not None and 0 <= decision.choice < len(own) else None
        if numbered is not None and (decision.action is None or numbered in named):
            return numbered
        name = self.graph.state_name(state)
        if named:
            self.fail(place, f'state {name} has {len(named)} actions "{decision.action}"; add the choice')
        offered = ", ".join(self.graph.action_name(c) or f"(unnamed, choice {c - own[0]})" for c in own)
        wanted = f'"{decision.action}"' if decision.action is not None else f"number {decision.choice}"
        return self.fail(place, f"state {name} has no action {wanted}; it offers {offered}")


def _assemble(
    placed: list[tuple[str, Decision]], graph: Graph, steps: int | None, randomised: bool, path: Path
) -> Policy:
    index = _NameIndex(graph, path)
    if randomised and steps is not None:
        raise FormatError("a policy cannot be both randomised and step-dependent", path=path)
    weight = np.zeros(graph.choices)
    chosen = np.full((steps or 1, graph.states), -1, dtype=np.int64)
    for place, decision in placed:
        state = index.state(decision, place)
        choice = index.choice(decision, state, place)
        step = decision.step or 0
        if not 0 <= step < (steps or 1):
            index.fail(place, f"step {step} is outside the policy's {steps or 1} steps")
        if not randomised and chosen[step, state] >= 0 and decision.weight > 0:
            index.fail(place, f"state {graph.state_name(state)} has a second decision at step {step}")
        chosen[step, state] = choice
        weight[choice] += decision.weight
    if (chosen < 0).any():
        step, state = (int(i) for i in np.argwhere(chosen < 0)[0])
        at = "" if steps is None else f" at step {step}"
        count = int(np.count_nonzero(chosen < 0))
        raise FormatError(f"state {graph.state_name(state)} has no decision{at} ({count} are missing)", path=path)
    try:
        if randomised:
            return Policy(graph, weight=weight)
        return Policy(graph, chosen if steps is not None else chosen[0])
    except ModelError as error:
        raise FormatError(str(error), path=path) from None
