"""IntervalMDP.jl's specifications (.json): a property with the states it is about, as numbers from 1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, in_a_sentence, misfit
from umdp.io.files import load
from umdp.model import Rewards

__all__ = ["Specification", "read_specification"]

State = int | list[int]


class _Property(msgspec.Struct):
    type: Literal["reachability", "reach-avoid", "reward", "safety"]
    infinite_time: bool
    time_horizon: int | None = None
    eps: float | None = None
    reach: list[State] = []
    avoid: list[State] = []
    reward: list[float] = []
    discount: float = 1.0


class _SpecificationFile(msgspec.Struct):
    property: _Property
    satisfaction_mode: Literal["pessimistic", "optimistic"]
    strategy_mode: Literal["minimize", "maximize"]


@dataclass(frozen=True)
class Specification:
    """What is asked of a model in IntervalMDP.jl's words.

    Attributes
    ----------
    property : the same in PRISM's syntax; None where there is no such property here, and `reason` says why
    labels : ``reach`` and ``avoid``, where the property has them
    rewards : ``reward``, where the property has one
    """

    property: str | None
    reason: str
    labels: dict[str, NDArray[np.bool_]]
    rewards: dict[str, Rewards]


def read_specification(path: Path, states: int) -> Specification | None:
    """Return the specification in a file; None if there is no such file, or if it is something else than one."""
    if not path.is_file():
        return None
    data = load(path)
    try:
        known: Any = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise FormatError(f"this is no specification: {in_a_sentence(error)}", path=path) from None
    if not isinstance(known, dict) or "property" not in known:
        return None
    try:
        file = msgspec.convert(known, _SpecificationFile)
    except msgspec.ValidationError:
        raise FormatError(f"this is no specification: {misfit(known, _SpecificationFile)}", path=path) from None
    asked = file.property
    labels = {
        name: _members(name, given, states, path)
        for name, given in (("reach", asked.reach), ("avoid", asked.avoid))
        if given or name == {"safety": "avoid"}.get(asked.type, "reach" if asked.type != "reward" else "")
    }
    if asked.type == "reach-avoid":
        labels.setdefault("avoid", np.zeros(states, dtype=np.bool_))
    rewards = {}
    if asked.type == "reward":
        if len(asked.reward) != states:
            raise FormatError(f"the reward has {len(asked.reward)} entries for {states} states", path=path)
        rewards["reward"] = Rewards(state=np.array(asked.reward))
    text, reason = _wording(file, path)
    return Specification(text, reason, labels, rewards)


def _wording(file: _SpecificationFile, path: Path) -> tuple[str | None, str]:
    """Return the property in PRISM's syntax; or None, and why."""
    asked = file.property
    agent = file.strategy_mode[:3]
    other = {"min": "max", "max": "min"}[agent]
    players = agent + (other if file.satisfaction_mode == "pessimistic" else agent)
    bound = ""
    if not asked.infinite_time:
        if asked.time_horizon is None or asked.time_horizon < 0:
            raise FormatError('a finite property needs "time_horizon", a whole number of steps', path=path)
        bound = f"<={asked.time_horizon}"
    if asked.type == "reachability":
        return f'P{players}=? [ F{bound} "reach" ]', ""
    if asked.type == "safety":
        return f'P{players}=? [ G{bound} !"avoid" ]', ""
    if asked.type == "reach-avoid":
        return f'P{players}=? [ !"avoid" U{bound} "reach" ]', ""
    if asked.infinite_time:
        return f'R{{"reward"}}{players}=? [ Cdiscount={asked.discount!r} ]', ""
    if asked.discount == 1:  # that of the state after the last step counts there, and not in PRISM
        return f'R{{"reward"}}{players}=? [ C<={(asked.time_horizon or 0) + 1} ]', ""
    return None, "a reward that is discounted up to a time horizon is not supported"


def _members(name: str, given: list[State], states: int, path: Path) -> NDArray[np.bool_]:
    members = np.zeros(states, dtype=np.bool_)
    for state in given:
        number = state[0] if isinstance(state, list) and len(state) == 1 else state
        if isinstance(number, list):
            raise FormatError(f'"{name}" has a state with {len(number)} numbers; one is supported', path=path)
        if not 1 <= number <= states:
            raise FormatError(f'"{name}" names state {number}; they are numbered 1 to {states}', path=path)
        members[number - 1] = True
    return members
