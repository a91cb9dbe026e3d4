"""A certificate: a file that proves a bracket to anyone who can multiply integers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import IntervalMDP
from umdp.model.reward_units import own_rewards
from umdp.statements import Statement
from umdp.verify.document import FORMAT, VERSION

if TYPE_CHECKING:
    from umdp.model import MDP
    from umdp.spec import Spec

__all__ = ["Certificate", "Ends", "skeleton"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What `umdp verify` checks: a model, a property, a claim, and the vectors that prove it.

    Attributes
    ----------
    content : the JSON object, as `docs/explanation/certificates.md` describes it
    notes : what is claimed otherwise than in the solution, and why; empty if nothing is

    Examples
    --------
    >>> from umdp import IntervalMDP, solve
    >>> from umdp.verify import verify_content
    >>> model = IntervalMDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1],
    ...                     labels={"goal": [1]})
    >>> certificate = solve(model, 'Pmaxmin=? [ F "goal" ]').certificate()
    >>> verify_content(certificate.content).valid
    True
    """

    content: dict[str, Any]
    notes: tuple[Statement, ...] = field(default=())

    @property
    def lower(self) -> float:
        """The lower bound claimed for the initial state."""
        return float(self.content["claim"]["lower"])

    @property
    def upper(self) -> float:
        """The upper bound claimed for the initial state."""
        return float(self.content["claim"]["upper"])

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(self.content, allow_nan=False)

    def write(self, path: str | Path) -> None:
        """Write the file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")


@dataclass(frozen=True, eq=False)
class Ends:
    """The end components of a model, as the solver of a long-run average knows them.

    Attributes
    ----------
    x : (S,) values in the components, from which a step shows their gains
    component : (S,) the number of each state's component, -1 outside
    stays : (C,) the choices that stay in their state's component
    staying : (S,) the states of components in which the policy stays
    stop : solves for the price (S,) of stopping, not a number where one cannot; returns the `Solution` and, of its choices, those
        of the model (-1 for stopping)
    """

    x: Array
    component: Array
    stays: Array
    staying: Array
    stop: Callable[[Array], tuple[Any, Array]]


def skeleton(model: MDP | IntervalMDP, spec: Spec) -> dict[str, Any]:
    """Return a certificate's content without claim and proof."""
    return {"format": FORMAT, "version": VERSION, "property": str(spec), "model": model_part(model, spec)}


def model_part(model: MDP | IntervalMDP, spec: Spec) -> dict[str, Any]:
    """Return the model as a certificate holds it: only what the property speaks of."""
    part: dict[str, Any] = {
        "initial": int(model.initial),
        "state_ptr": model.state_ptr.tolist(),
        "choice_ptr": model.choice_ptr.tolist(),
        "successor": model.successor.tolist(),
    }
    if isinstance(model, IntervalMDP):
        part |= {"lower": model.lower.tolist(), "upper": model.upper.tolist()}
    else:
        part["probability"] = model.probability.tolist()
    text = str(spec)
    spoken = {name: members for name, members in model.labels.items() if f'"{name}"' in text or model.formulas}
    part["labels"] = {name: np.flatnonzero(members).tolist() for name, members in spoken.items()}
    if spec.kind == "R":
        name = spec.resolve_reward(list(model.rewards))
        rewards = model.rewards[name]
        if spec.aim in ("discounted", "average"):  # as the process pays them
            rewards, _ = own_rewards(model, rewards)
        part["reward"] = {"name": name} | {
            where: getattr(rewards, where).tolist()
            for where in ("state", "choice", "transition")
            if getattr(rewards, where) is not None
        }
    if model.variables:
        part["variables"] = {name: np.asarray(values).tolist() for name, values in model.variables.items()}
    if model.constants:
        part["constants"] = {name: getattr(v, "item", lambda v=v: v)() for name, v in model.constants.items()}
    if model.formulas:
        part["formulas"] = dict(model.formulas)
    return part
