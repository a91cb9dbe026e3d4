"""Writing DRN, Storm's text format for explicit models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from umdp.errors import FormatError
from umdp.io.drn_read import NO_LABEL, TAG
from umdp.io.files import Model, check_init_label, store
from umdp.model import IntervalMDP
from umdp.model.beginnings import initial_states

__all__ = ["write_drn"]


def write_drn(model: Model, path: Path, note: str = "") -> None:
    """Write a model as a DRN file; rewards on transitions raise `FormatError`, because DRN has none.

    A comment in the header holds what DRN has no place for (labels without states, state names, variables, constants
    and formulas); Storm skips it. Another one holds the note.
    """
    _check(model, path)
    interval = isinstance(model, IntervalMDP)
    lines = [
        "// Exported by umdp",
        *(f"// {line}" for line in note.splitlines()),
        TAG + msgspec.json.encode(_extension(model)).decode(),
        f"@type: {'DTMC' if model.is_chain else 'MDP'}",
        f"@value_type: {'double-interval' if interval else 'double'}",
        "@parameters",
        "",
        "@reward_models",
        " ".join(model.rewards),
        "@nr_states",
        str(model.states),
        "@nr_choices",
        str(model.choices),
        "@model",
    ]
    states, actions, branches = _state_lines(model), _action_lines(model), _branch_lines(model)
    first, last = model.state_ptr[:-1].tolist(), model.state_ptr[1:].tolist()
    ends = model.choice_ptr.tolist()
    for state, (begin, end) in enumerate(zip(first, last, strict=True)):
        lines.append(states[state])
        for choice in range(begin, end):
            lines.append(actions[choice])
            lines += branches[ends[choice] : ends[choice + 1]]
    lines.append("")
    store(path, "\n".join(lines).encode())


def _check(model: Model, path: Path) -> None:
    check_init_label(model, path)
    for name, reward in model.rewards.items():
        if reward.transition is not None:
            raise FormatError(
                f'reward "{name}" is on transitions, which DRN cannot hold; write a .umb file instead', path=path
            )
    for what, names, bad in (
        ("reward", model.rewards, r"\s"),
        ("action", model.action_names, r"\s"),
        ("label", model.labels, r'["\n\r]|^$'),
    ):
        for name in names:
            if re.search(bad, name):
                raise FormatError(f'the {what} name "{name}" does not fit into DRN; rename it or write .umb', path=path)
    if NO_LABEL in model.action_names:
        raise FormatError(f"an action is called {NO_LABEL}, which means none in DRN; rename it", path=path)


def _extension(model: Model) -> dict[str, Any]:
    own: dict[str, Any] = {
        "labels": [name for name in model.labels if name != "init"],
        "actions": None if model.actions is None else model.action_names,
        "rewards": {
            name: [part for part in ("state", "choice") if getattr(reward, part) is not None]
            for name, reward in model.rewards.items()
        },
        "constants": dict(model.constants),
        "formulas": dict(model.formulas),
    }
    if model.state_names is not None:
        own["state_names"] = model.state_names
    if model.variables:
        own["variables"] = {name: values.tolist() for name, values in model.variables.items()}
    return own


def _brackets(model: Model, part: str, count: int) -> Iterable[str]:
    if not model.rewards:
        return [""] * count
    columns = []
    for reward in model.rewards.values():
        values = getattr(reward, part)
        columns.append(["0"] * count if values is None else [repr(value) for value in values.tolist()])
    # Points, because Storm cannot read intervals among the rewards.
    return [f" [{','.join(row)}]" for row in zip(*columns, strict=True)]


def _state_lines(model: Model) -> list[str]:
    lines = [f"state {i}{text}" for i, text in enumerate(_brackets(model, "state", model.states))]
    for state in initial_states(model).tolist():
        lines[state] += " init"
    for name, members in model.labels.items():
        if name == "init":
            continue
        text = f" {name}" if re.fullmatch(r"[^\s\[\]!{}]+", name) else f' "{name}"'
        for state in np.flatnonzero(members).tolist():
            lines[state] += text
    return lines


def _action_lines(model: Model) -> list[str]:
    if model.actions is None:
        local = np.arange(model.choices) - model.state_ptr[model.choice_state]
        names = [str(i) for i in local.tolist()]
    else:
        names = [model.action_names[code] or NO_LABEL for code in model.actions[0].tolist()]
    rewards = _brackets(model, "choice", model.choices)
    return [f"\taction {name}{text}" for name, text in zip(names, rewards, strict=True)]


def _branch_lines(model: Model) -> list[str]:
    targets = model.successor.tolist()
    if isinstance(model, IntervalMDP):
        bounds = zip(targets, model.lower.tolist(), model.upper.tolist(), strict=True)
        return [f"\t\t{target} : [{low!r}, {high!r}]" for target, low, high in bounds]
    return [f"\t\t{target} : {p!r}" for target, p in zip(targets, model.probability.tolist(), strict=True)]
