"""What may be asked of a run: a property that learning can answer, thresholds it can reach, numbers in their range.

And how its answer reads: as a return, in the units of the process, whose rewards may have any sign.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np

from umdp.errors import ModelError
from umdp.model import REST, Graph, Units
from umdp.model.beginnings import check_one_initial
from umdp.model.reward_units import in_units
from umdp.model.rewards import TERMINATED
from umdp.solver.objective import objective_of
from umdp.spec import Cumulative, Spec, Threshold
from umdp.spec.evaluate import nested_in
from umdp.statements.conditions import COSTLY, Asked

__all__ = [
    "LARGEST",
    "asked_of",
    "check_budgets",
    "check_gap",
    "check_learnable",
    "check_numbers",
    "check_spec",
    "check_until",
    "default_horizon",
    "is_costly",
    "readings",
    "return_of",
    "threshold",
    "units_of",
]  # fmt: skip

LARGEST = 2**63 - 1  # what 64 bits hold: numbers end up in arrays


def check_spec(spec: Spec) -> None:
    """Raise `SpecError` unless learning can answer a property.

    Examples
    --------
    >>> check_spec(Spec.parse('Pmaxmin=? [ F "goal" ]'))
    Traceback (most recent call last):
    ...
    umdp.errors.SpecError: learning looks for the worst case itself and takes no nature in the property ...
    """
    if spec.agent is None:
        raise spec.error("the property does not say what the policy should do", "write Pmax, Pmin, Rmax or Rmin")
    if spec.filter is not None or next(nested_in(spec.formula), None) is not None:
        raise spec.error(
            "learning answers one property of the initial state",
            "leave out filters, and properties inside the property",
        )
    if spec.kind == "T":
        raise spec.error(
            "learning counts no steps by itself", 'give the model a reward "steps" of 1 a step, and write R{"steps"}'
        )
    if spec.nature is not None:
        plain = Spec(spec.kind, spec.agent, None, spec.formula, spec.threshold, spec.reward)
        raise spec.error(
            "learning looks for the worst case itself and takes no nature in the property", f"write {plain}"
        )
    if spec.threshold is not None and _wrong_way(spec, spec.threshold):
        raise spec.error(_one_sided(spec, str(spec.threshold)), f"write {_turned(spec.threshold)}, or =?")


def check_learnable(graph: Graph, spec: Spec) -> None:
    """Raise an error for several initial states, or where rewards were shifted in every step, and the sum is not over so many."""
    check_one_initial(graph)
    if spec.kind != "R" or spec.aim not in ("reach", "total") or not graph.rewards:
        return
    name = spec.resolve_reward(list(graph.rewards))
    units = graph.rewards[name].units
    if units is not None and units.every:
        raise spec.error(
            f'"{name}" cannot be summed until a state is reached (its rewards have both signs, and {units.every:g} is '
            "added to every step)",
            f'ask for R{{"{name}"}}max=? [ Cdiscount=0.95 ] or for a number of steps, [ C<=100 ], or give rewards of one sign '
            "with reward_of",
        )


def units_of(graph: Graph, spec: Spec) -> Units | None:
    """Return how the value of a property reads as a return; None for a probability, or where it does not.

    Where rewards were shifted at the end of episodes, the sum must go until an end. Where they were shifted in every step, it
    must go over a number of steps.
    """
    if spec.kind != "R":
        return None
    units = graph.rewards[spec.resolve_reward(list(graph.rewards))].units
    if units is None:
        return Units()
    if spec.aim in ("discounted", "average"):  # rewards are taken as the process pays them
        return Units(sign=units.sign)
    bounded = isinstance(spec.formula, Cumulative)
    if units.every and not bounded:
        return None
    if units.once:
        if bounded or TERMINATED not in graph.labels:
            return None
        goal = spec.formula.reachability().goal.evaluate(graph)
        # An outcome never seen, where the property takes it for the end, pays what the worst end pays: nothing that is added.
        if (goal & ~graph.labels[TERMINATED] & ~np.asarray(graph.labels.get(REST, False))).any():
            return None
    return units


def return_of(graph: Graph, spec: Spec, lower: float, upper: float) -> tuple[float, float] | None:
    """Return the bounds on a value as bounds on the return; None where the value is the return, or is none.

    Examples
    --------
    >>> from umdp.model import Rewards
    >>> paid = Rewards(transition=[1, 0, 0]).with_units(Units(sign=-1, once=20.0))
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"terminated": [1]}, rewards={"cost": paid})
    >>> return_of(graph, Spec.parse('Rmin=? [ F "terminated" ]'), 12.0, 13.0)
    (7.0, 8.0)
    >>> return_of(graph, Spec.parse("Rmin=? [ C<=9 ]"), 5.0, 5.0)  # the end may not be reached by then
    """
    units = units_of(graph, spec)
    return None if units is None or units == Units() else in_units(units, lower, upper, spec.steps(graph))


def is_costly(graph: Graph, spec: Spec) -> bool:
    """Return whether what a graph does not list may be worse than anything that it does: costs, and losses, have no end.

    Examples
    --------
    >>> from umdp.model import Rewards
    >>> coin = Graph([0, 1], [0, 1], [0], rewards={"gain": Rewards(choice=[-1.0])})
    >>> is_costly(coin, Spec.parse("Rmax=? [ C<=9 ]")), is_costly(coin, Spec.parse("Rmax=? [ Cdiscount=0.9 ]"))
    (True, False)
    """
    return asked_of(graph, spec) in COSTLY


def asked_of(graph: Graph, spec: Spec) -> Asked:
    """Return what kind of property it is, for the table of what follows from where data come from.

    Examples
    --------
    >>> from umdp.model import Rewards
    >>> coin = Graph([0, 1], [0, 1], [0], rewards={"gain": Rewards(choice=[-1.0])})
    >>> asked_of(coin, Spec.parse("Rmax=? [ C<=9 ]"))
    <Asked.SIGNED: 'largest sum, something below 0'>
    """
    if spec.aim == "average":
        return Asked.AVERAGE
    if spec.kind != "R":
        return Asked.PROBABILITY
    spent = not spec.rises
    if spec.aim == "discounted":
        return Asked.DISCOUNTED_SPENT if spent else Asked.DISCOUNTED
    return Asked.SPENT if spent else Asked.SIGNED if objective_of(graph, spec).signed else Asked.EARNED


def readings(spec: Spec, graph: Graph) -> tuple[Spec, Spec]:
    """Return a property as it is meant in the worst case and in the best.

    What a graph does not list is the worst that can happen, and the best to hope for.
    """
    return (spec, spec) if graph.rest is None else (spec.pessimistic(REST), spec.hopeful(REST))


def threshold(text: str) -> Threshold:
    """Return the threshold a text such as ``>=0.3`` stands for.

    Examples
    --------
    >>> threshold(">= 0.3")
    Threshold(operator='>=', value=0.3)
    """
    match = re.fullmatch(r"\s*(<=|>=|<|>)\s*(\S+)\s*", text)
    try:
        if match is None:
            raise ValueError
        value = float(match[2])
        if not math.isfinite(value):
            raise ValueError
        return Threshold(match[1], value)  # type: ignore[arg-type]
    except ValueError:
        raise ModelError(f"{text!r} is not a threshold; write one such as >=0.3 or <=20") from None


def check_until(spec: Spec, until: Threshold, name: str = "until", graph: Graph | None = None) -> None:
    """Raise `ModelError` unless a run for a property can reach a threshold; of a sum of steps the graph says what signs it has.

    Examples
    --------
    >>> check_until(Spec.parse('Pmax=? [ F "goal" ]'), Threshold(">=", 2))
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: until >=2: a probability is never that large, so nothing would stop the run; give a number ...
    """
    place, value = f"{name} {until}", until.value
    if _wrong_way(spec, until):
        raise ModelError(f"{place}: {_one_sided(spec, str(until))}; write {_turned(until)}")
    rises, strict, reward = until.operator.startswith(">"), until.operator in ("<", ">"), spec.kind == "R"
    # A sum until an end is at least 0, others if no reward is negative.
    if reward and spec.aim not in ("reach", "total") and (graph is None or objective_of(graph, spec).signed):
        return
    least, most = 0.0, math.inf if reward else 1.0
    easy, hard = (least, most) if rises else (most, least)
    passed, left = (value - easy, hard - value) if rises else (easy - value, value - hard)
    if passed < 0 or (passed == 0 and not strict):
        beyond = passed < 0 and not reward
        said = "every probability passes that" if beyond else "this always holds"
        remedy = "between 0 and 1" if beyond else "that says something"
        raise ModelError(
            f"{place}: {said}, so the run would stop before it has learned anything; give a number {remedy}"
        )
    if left < 0 or (left == 0 and strict):
        said = f"a {'reward' if reward else 'probability'} is never that {'large' if rises else 'small'}"
        remedy = "a larger number" if reward else "a number between 0 and 1"
        raise ModelError(f"{place}: {said}, so nothing would stop the run; give {remedy}")


def _wrong_way(spec: Spec, threshold: Threshold) -> bool:
    return threshold.operator.startswith("<") == spec.rises


def _one_sided(spec: Spec, threshold: str) -> str:
    known = "large the value can be made" if spec.rises else "small the value can be kept"
    return f"what is learned is how {known}, which never proves {threshold}"


def _turned(threshold: Threshold) -> str:
    other = "<" if threshold.operator.startswith(">") else ">"
    return str(replace(threshold, operator=other + threshold.operator[1:]))  # type: ignore[arg-type]


def check_budgets(*, trajectories: Any = None, steps: Any = None, seconds: Any = None, prefix: str = "") -> None:
    """Raise `ModelError` unless budgets are more than nothing.

    Examples
    --------
    >>> check_budgets(trajectories=-1, prefix="--")
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --trajectories must be a whole number, more than 0, not -1
    """
    for name, whole, given in (
        ("trajectories", True, trajectories),
        ("steps", True, steps),
        ("seconds", False, seconds),
    ):
        if given is None:
            continue
        kind = "a whole number, more than 0" if whole else "a finite number, more than 0"
        _within(prefix + name, given, 1 if whole else 0, kind, whole=whole, strict=not whole)


def check_gap(gap: Any, prefix: str = "") -> None:
    """Raise `ModelError` unless a gap is a number that a run can reach.

    Examples
    --------
    >>> check_gap(0)
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: gap must be a finite number, more than 0, not 0
    """
    if gap is not None:
        _within(f"{prefix}gap", gap, 0, "a finite number, more than 0", whole=False, strict=True)


def check_numbers(
    *, seed: Any = 0, horizon: Any = None, precision: Any = 1e-6, per_solve: Any = None, prefix: str = ""
) -> None:
    """Raise `ModelError` unless the numbers of a run are in their range.

    Examples
    --------
    >>> check_numbers(seed=-1)
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: seed must be a whole number, at least 0, not -1
    """
    _within(f"{prefix}seed", seed, 0, "a whole number, at least 0", whole=True)
    if horizon is not None:
        _within(f"{prefix}horizon", horizon, 1, "a whole number of steps, at least 1", whole=True)
    if per_solve is not None:
        name = f"{prefix}per-solve" if prefix else "per_solve"
        _within(name, per_solve, 1, "a whole number of trajectories, at least 1", whole=True)
    if isinstance(precision, bool) or not isinstance(precision, int | float) or not 0 < precision < 1:
        raise ModelError(f"{prefix}precision must lie strictly between 0 and 1, not {precision}")


def _within(name: str, given: Any, least: int, kind: str, *, whole: bool, strict: bool = False) -> None:
    try:
        value = float(given)
        fits = math.isfinite(value) and (value > least if strict else value >= least)
        fits = fits and not isinstance(given, str | bytes | bool) and (not whole or value.is_integer())
    except (TypeError, ValueError, OverflowError):
        fits = isinstance(given, int) and given > 0
    if not fits:
        raise ModelError(f"{name} must be {kind}, not {given}")
    if whole and given > LARGEST:
        raise ModelError(f"{name} is more than 64 bits hold; give at most {LARGEST}")


def default_horizon(states: int) -> int:
    """Return how long trajectories may be where nobody says: some times as long as a walk through all states."""
    return min(max(10 * states, 100), 10_000)
