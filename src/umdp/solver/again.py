"""From values to a `Solution`, and solving again: by equations that are kept with the graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.judge.width import status_of
from umdp.solver.result import Bracket, Solution, Statistics
from umdp.solver.task import Effort, Task, Values
from umdp.spec import Spec

if TYPE_CHECKING:
    from umdp.solver.methods.repetition import Found, Repetition

__all__ = [
    "bracket_of",
    "mdp_of",
    "plausible",
    "repetition",
    "solution_of",
    "solve_again",
    "statistics_of",
]

Array = NDArray[Any]


def repetition(task: Task) -> Repetition | None:
    """Return the equations kept with the graph of a task, None where the graph decides everything."""
    from umdp.solver.methods.repetition import Repetition

    assert task.memo is not None
    key = ("repetition", task.kind, task.agent_max, task.reach_max)
    if key not in task.memo:
        task.memo[key] = Repetition(task) if task.decided.maybe.any() else None
    known: Repetition | None = task.memo[key]
    return known


def solve_again(
    known: Repetition,
    model: IntervalMDP,
    spec: Spec,
    nature_max: bool,
    start: Array | None,
    before: Array | None,
    effort: Effort,
    begun: float,
) -> Solution | None:
    """Return the solution by the equations kept with the graph; None where elimination is not enough."""
    found = None
    if known.fits(effort):
        found = known.solve(model.lower, model.upper, nature_max, start, before, effort)
    bounds = None if found is None else known.bracket(found, model.initial)
    if found is None or bounds is None:
        return None
    bracket = bracket_of(spec, *bounds)
    if effort.prove and bracket.relative_width > effort.precision:
        return None
    effort.iterations += found.iterations
    return solution_of(known, model, spec, nature_max, bracket, found.choice, effort, begun, found)


def solution_of(
    known: Repetition,
    model: IntervalMDP,
    spec: Spec,
    nature_max: bool,
    bracket: Bracket,
    choice: Array,
    effort: Effort,
    begun: float,
    found: Found,
) -> Solution:
    """Return what was found as a draft with a bracket and choices (S,); the judge has not seen it."""
    effort.undecided, effort.components, effort.largest = known.n, known.sizes.size, known.largest

    def values() -> Values:
        return known.values(found, model.lower, model.upper, nature_max)

    def nature() -> MDP:
        from umdp.solver.methods.nature import answer

        return mdp_of(model, answer((whole := values()).task, whole))

    return Solution(
        model, spec, bracket, bracket, status_of(bracket, effort), statistics_of(effort, begun),
        lambda: plausible(spec, *values().between(slice(None))), lambda: Policy.trusted(model, choice), nature,
        found.x[: known.n],
        _candidate=lambda: values().candidate(model.states),
    )  # fmt: skip


def bracket_of(spec: Spec, low: float, high: float) -> Bracket:
    """Return the bracket of one state."""
    most = 1.0 if spec.kind == "P" else np.inf
    low, high = max(low, 0.0), min(high, most)
    return Bracket(low, high) if low <= high else Bracket(0.0, most)


def mdp_of(model: MDP | IntervalMDP, prob: Array) -> MDP:
    """Return the MDP that nature made of a model."""
    if isinstance(model, MDP):
        return model
    rest = np.repeat(np.add.reduceat(prob, model.choice_ptr[:-1]), np.diff(model.choice_ptr))
    return MDP(
        model.state_ptr, model.choice_ptr, model.successor, prob / rest, initial=model.initial, labels=model.labels,
        rewards=model.rewards, actions=model.actions, state_names=model.state_names, variables=model.variables,
        constants=model.constants, formulas=model.formulas,
    )  # fmt: skip


def statistics_of(effort: Effort, begun: float) -> Statistics:
    """Return what a solve took."""
    return Statistics(effort.undecided, effort.components, effort.largest, effort.iterations, time.monotonic() - begun)


def plausible(spec: Spec, low: Array, high: Array) -> tuple[Array, Array]:
    """Return bounds within what is possible at all; where they contradict each other (or are no numbers), just that."""
    most = 1.0 if spec.kind == "P" else np.inf
    low, high = np.maximum(low, 0.0), np.minimum(high, most)
    absurd = ~(low <= high)
    return np.where(absurd, 0.0, low), np.where(absurd, most, high)
