"""Reading the table `P` that Gymnasium's toy-text environments carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from umdp.errors import ModelError
from umdp.model.reward_units import reward_structures
from umdp.model.rewards import TERMINATED
from umdp.model.structure import mask_of
from umdp.statements import Statement

__all__ = ["read_table"]


def read_table(
    table: Mapping[int, Mapping[int, Sequence[Any]]],
    initial: int,
    annotations: dict[str, Any],
    reward_of: Callable[[float], float] | None = None,
) -> tuple[dict[str, Any], Statement | None]:
    """Return the arguments of `MDP` for ``P[state][action] = [(probability, successor, reward, terminated)]``.

    Labels go by the rewards as they are, reward structures by what `reward_of` makes of them. The second thing returned is
    what was done to rewards of both signs, None where nothing was.
    """
    states = len(table)
    if sorted(table) != list(range(states)):
        raise ModelError(f"the table must have the states 0 to {states - 1}")
    choices = [(s, a, table[s][a]) for s in range(states) for a in table[s]]
    outcomes = [(s, a, each) for s, a, listed in choices for each in listed]
    for s, a, each in outcomes:
        if len(each) != 4:
            raise ModelError(f"state {s}, action {a}: an outcome is (probability, successor, reward, terminated)")
    probability, successor, reward, terminated = (
        np.array(column) for column in zip(*(o for *_, o in outcomes), strict=True)
    )
    ends = mask_of(successor[terminated.astype(bool)], states)
    goal = mask_of(successor[terminated.astype(bool) & (reward > 0)], states)

    choice_ptr = np.cumsum([0, *(len(listed) for _, _, listed in choices)])
    state_ptr = np.cumsum([0, *(len(table[s]) for s in range(states))])
    source = np.array([s for s, *_ in outcomes])
    stays = ends[source]  # the table may let a terminated state go on; the environment never does
    successor = np.where(stays, source, successor)
    changed = reward if reward_of is None else np.array([float(reward_of(float(r))) for r in reward])
    paid = np.where(stays, 0.0, changed).astype(np.float64)
    rewards, note = reward_structures(paid, ends[successor] & ~stays)
    return {
        "state_ptr": state_ptr,
        "choice_ptr": choice_ptr,
        "successor": successor.astype(np.int32),
        "probability": probability.astype(np.float64),
        "initial": initial,
        "actions": [str(a) for _, a, _ in choices],
        "rewards": rewards,
        **annotations,
        "labels": {TERMINATED: ends, "goal": goal, "fail": ends & ~goal, **annotations.get("labels", {})},
    }, note
