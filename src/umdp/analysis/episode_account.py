"""The account of an episode: whether it satisfies a property, or what it earns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from umdp.learning.candidates.tally import paid
from umdp.learning.validation import units_of
from umdp.model import Graph, Units
from umdp.solver.objective import Objective, objective_of
from umdp.spec import Instantaneous, Spec

__all__ = ["Account", "Played", "Quantity", "account_of"]

Array = NDArray[Any]
Quantity: TypeAlias = Literal["probability", "return", "reward", "average"]
FAINT = 1e-4  # what a step may count so that it is left out
FEWEST = 10_000  # steps over which an average is taken
MOST = 1_000_000  # steps of an episode, whatever the discount


@dataclass(frozen=True, eq=False)
class Played:
    """What some episodes counted for.

    Attributes
    ----------
    quantity : what the values are
    values : (N,) for each episode 1 or 0, or what it earned
    steps : how many were made in all
    undecided : (N,) whether an episode ended, or was cut off, before the property was decided
    strange : (N,) whether an episode met a state the policy knows nothing of
    """

    quantity: Quantity
    values: NDArray[np.float64]
    steps: int
    undecided: NDArray[np.bool_]
    strange: NDArray[np.bool_]

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Which episodes (N,) say whether a property holds: also those that met a strange state, which counts as the worst."""
        return ~self.undecided | self.strange

    @property
    def cut(self) -> int:
        """How many ended, or were cut off, before the property was decided."""
        return int(np.count_nonzero(self.undecided))

    @property
    def unseen(self) -> int:
        """How many met a state the policy knows nothing of."""
        return int(np.count_nonzero(self.strange))


@dataclass(frozen=True, eq=False)
class Account:
    """What a property counts, over the states of a graph.

    Attributes
    ----------
    objective : what is to be reached, in how many steps, and how steps count
    exact : whether the goal counts at the last step only
    maximises : whether the policy wants much
    paid : (T,) what the reward structure pays on each transition; None for a probability
    units : how a value of the structure reads as a return; None where it is none
    final : (S,) what the last state earns, where that is all that counts
    """

    objective: Objective
    exact: bool
    maximises: bool
    paid: Array | None
    units: Units | None
    final: Array | None = None

    @property
    def endless(self) -> bool:
        """Whether nothing ends what is counted."""
        return self.objective.aim in ("total", "discounted", "average")

    @property
    def longest(self) -> int | None:
        """The steps of an episode, where the property says how many: all that count, or as many as an average takes."""
        aim, discount = self.objective.aim, self.objective.discount
        if aim == "discounted":
            return min(max(math.ceil(math.log(FAINT * (1 - discount)) / math.log(discount)), 1), MOST)
        return FEWEST if aim == "average" else self.objective.steps

    def about(self, longest: int) -> str:
        """Return what is measured, where that is not quite what was asked for; nothing where it is."""
        if self.objective.aim == "average":
            return f"the average of {longest:,} steps from the start, not of infinitely many"
        if self.objective.aim == "discounted":
            rest = self.objective.discount**longest / (1 - self.objective.discount)
            return (
                f"steps after the first {longest:,} are left out; all together they count for {rest:.1g} of a first one"
            )
        return ""

    def left_out(self, longest: int, quantity: Quantity) -> tuple[float, float]:
        """Return the least and the most that steps count for that come after so many, in the units of a quantity."""
        if self.objective.aim != "discounted" or self.paid is None or not self.paid.size:
            return 0.0, 0.0
        rest = self.objective.discount**longest / (1 - self.objective.discount)
        ends = rest * float(self.paid.min()), rest * float(self.paid.max())
        if quantity == "return" and self.units is not None and self.units.sign < 0:
            ends = -ends[1], -ends[0]
        return min(ends[0], 0.0), max(ends[1], 0.0)

    def quantity(self, *, raw: bool) -> Quantity:
        """Return what values are; `raw` if they are in the units of the process."""
        if self.paid is None and self.final is None:
            return "probability"
        return "average" if self.objective.aim == "average" else "return" if raw else "reward"

    def worth(self, earned: Array, state: Array, when: Array, made: Array | int) -> Array:
        """Return what episodes are worth that earned so much in the structure, over so many steps.

        They were decided in these states, after so many steps (`when`).
        """
        if self.final is not None:
            return np.asarray(self.final[state])
        if self.paid is None:
            return self.holds(state, when).astype(np.float64)
        return earned / np.maximum(made, 1) if self.objective.aim == "average" else earned

    def over(self, state: Array | int, step: int) -> Array:
        """Return where it is decided, after so many steps, what paths that are in these states count for."""
        asked = self.objective
        if asked.steps is not None and step >= asked.steps:
            return np.ones_like(state, dtype=np.bool_)
        if self.exact or self.endless:
            return np.zeros_like(state, dtype=np.bool_)
        failed: Array = ~asked.through[state]
        if step < asked.wait:
            return failed
        reached: Array = asked.goal[state]
        return reached if self.paid is not None else reached | failed

    def holds(self, state: Array | int, step: Array | float) -> Array:
        """Return where the property holds for paths that end in these states, after so many steps."""
        held: Array = (self.objective.goal[state] & (np.asarray(step) >= self.objective.wait)) ^ self.objective.safety
        return held

    def promise(self, bracket: tuple[float, float], quantity: str) -> tuple[float, bool]:
        """Return the bound that a bracket of the value promises, in the units of a quantity, and whether it is a lower one."""
        bound = bracket[0] if self.maximises else bracket[1]
        if quantity != "return" or self.units is None:
            return bound, self.maximises
        return self.returned(bound), self.maximises == (self.units.sign > 0)

    def returned(self, value: Any) -> Any:
        """Return what values of the structure are as returns."""
        assert self.units is not None
        return self.units.sign * value + self.units.once - self.units.every * (self.objective.steps or 0)


def account_of(graph: Graph, spec: Spec) -> Account:
    """Return what a property counts on a graph.

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [1]})
    >>> account = account_of(graph, Spec.parse('Pmax=? [ F<=3 "goal" ]'))
    >>> account.over(np.array([0, 1]), 2), account.over(np.array([0, 1]), 3), account.holds(np.array([0, 1]), 3)
    (array([False,  True]), array([ True,  True]), array([False,  True]))
    """
    objective, exact = objective_of(graph, spec), spec.formula.reachability().exact
    pays = None if objective.rewards is None else paid(graph, spec)
    final = objective.final if isinstance(spec.formula, Instantaneous) else None
    return Account(objective, exact, spec.rises, pays, units_of(graph, spec), final)
