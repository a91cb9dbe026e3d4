"""Writing PRISM's explicit files: .tra with .lab, .sta, .srew and .trew beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.io.explicit_read import CHOICE_TAG, companions
from umdp.io.files import Model, check_init_label, store
from umdp.model import IntervalMDP, Rewards
from umdp.model.beginnings import initial_states

__all__ = ["write_explicit"]


def write_explicit(model: Model, path: Path) -> None:
    """Write a model as a .tra file, with .lab and where needed .sta, .srew and .trew beside it.

    Several reward structures are numbered as PRISM does (STEM1.srew, STEM2.srew); their names are in the first line.
    Files of an earlier model of the same name are removed. The files have no place for state names, constants and
    formulas, which are left out; a .umb file holds them.
    """
    _check(model, path)
    if path.parent.is_dir():
        for files in companions(path).values():
            for old in files:
                old.unlink()
    store(path, _text(_transition_lines(model)))
    store(path.with_suffix(".lab"), _text(_label_lines(model)))
    if model.variables:
        store(path.with_suffix(".sta"), _text(_state_lines(model)))
    for number, (name, reward) in enumerate(model.rewards.items(), 1):
        suffix = str(number) if len(model.rewards) > 1 else ""
        on_state = reward.state
        if on_state is None and reward.choice is None and reward.transition is None:
            on_state = np.zeros(model.states)
        if on_state is not None:
            store(path.with_name(f"{path.stem}{suffix}.srew"), _text(_state_rewards(name, on_state)))
        if reward.choice is not None or reward.transition is not None:
            store(path.with_name(f"{path.stem}{suffix}.trew"), _text(_transition_rewards(model, name, reward)))


def _check(model: Model, path: Path) -> None:
    check_init_label(model, path)
    for name in model.action_names:
        if re.search(r"\s", name) or name.startswith("#"):
            raise FormatError(f'the action name "{name}" does not fit into .tra; rename it or write .umb', path=path)
    for name in (*model.labels, *model.rewards):
        if re.search(r'["\n\r]', name):
            raise FormatError(f"the name {name!r} does not fit into PRISM's files; rename it or write .umb", path=path)
    for name, values in model.variables.items():
        texts = values.tolist() if values.dtype.kind in "UO" else []
        if re.search(r"[(),\s]", name) or any(re.search(r"^$|[(),:\s]", str(text)) for text in texts):
            raise FormatError(f"variable {name} does not fit into a .sta file; write .umb instead", path=path)
    pairs = np.repeat(np.arange(model.choices), np.diff(model.choice_ptr)) * model.states + model.successor
    repeated = np.unique(pairs).size != pairs.size
    for name, reward in model.rewards.items():
        if reward.choice is not None and reward.transition is not None:
            raise FormatError(
                f'reward "{name}" is on choices and on transitions; PRISM\'s files hold one; write .umb instead',
                path=path,
            )
        if reward.transition is not None and repeated:
            raise FormatError(
                f'a choice lists a successor twice, with different rewards "{name}"; write .umb instead', path=path
            )


def _text(lines: Iterable[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _places(model: Model) -> list[str]:
    """Return the source, choice (unless a chain) and successor of each transition as text."""
    owner = np.repeat(np.arange(model.choices), np.diff(model.choice_ptr))
    source = model.choice_state[owner]
    if model.is_chain:
        return [f"{s} {t}" for s, t in zip(source.tolist(), model.successor.tolist(), strict=True)]
    local = owner - model.state_ptr[source]
    triples = zip(source.tolist(), local.tolist(), model.successor.tolist(), strict=True)
    return [f"{s} {k} {t}" for s, k, t in triples]


def _transition_lines(model: Model) -> list[str]:
    if isinstance(model, IntervalMDP):
        bounds = zip(model.lower.tolist(), model.upper.tolist(), strict=True)
        values = [f"[{low!r},{high!r}]" for low, high in bounds]
    else:
        values = [repr(p) for p in model.probability.tolist()]
    lines = [f"{place} {value}" for place, value in zip(_places(model), values, strict=True)]
    if model.actions is not None:
        codes = np.repeat(model.actions[0], np.diff(model.choice_ptr)).tolist()
        names = [f" {name}" if name else "" for name in model.action_names]
        lines = [line + names[code] for line, code in zip(lines, codes, strict=True)]
    counts = (model.states, model.transitions) if model.is_chain else (model.states, model.choices, model.transitions)
    return [" ".join(map(str, counts)), *lines]


def _label_lines(model: Model) -> Iterable[str]:
    labels: dict[str, NDArray[np.int64]] = {"init": initial_states(model)}
    labels |= {name: np.flatnonzero(members) for name, members in model.labels.items() if name != "init"}
    yield " ".join(f'{i}="{name}"' for i, name in enumerate(labels))
    carried: dict[int, list[str]] = {}
    for i, members in enumerate(labels.values()):
        for state in members.tolist():
            carried.setdefault(state, []).append(str(i))
    for state in sorted(carried):
        yield f"{state}: {' '.join(carried[state])}"


def _state_lines(model: Model) -> Iterable[str]:
    yield f"({','.join(model.variables)})"
    columns = [_values(values) for values in model.variables.values()]
    for state, row in enumerate(zip(*columns, strict=True)):
        yield f"{state}:({','.join(row)})"


def _values(values: NDArray[Any]) -> list[str]:
    if values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    return [str(value) for value in values.tolist()]


def _title(name: str) -> str:
    return f'# Reward structure "{name}"' if name else "# Reward structure"


def _state_rewards(name: str, values: NDArray[np.float64]) -> list[str]:
    paid = np.flatnonzero(values)
    lines = [f"{state} {value!r}" for state, value in zip(paid.tolist(), values[paid].tolist(), strict=True)]
    return [_title(name), "# State rewards", f"{values.size} {paid.size}", *lines]


def _transition_rewards(model: Model, name: str, reward: Rewards) -> list[str]:
    if reward.transition is not None:
        values, kind = reward.transition, "# Branch rewards"
    else:
        assert reward.choice is not None
        values, kind = np.repeat(reward.choice, np.diff(model.choice_ptr)), CHOICE_TAG
    paid = np.flatnonzero(values).tolist()
    places = _places(model)
    lines = [f"{places[t]} {values[t].item()!r}" for t in paid]
    counts = (model.states, len(paid)) if model.is_chain else (model.states, model.choices, len(paid))
    return [_title(name), "# Transition rewards", kind, " ".join(map(str, counts)), *lines]
