"""The return: what the value of a reward structure is in the units of the process, whose rewards may have any sign."""

from __future__ import annotations

from umdp.model import Graph, Units
from umdp.model.reward_units import TERMINATED, in_units
from umdp.spec import Cumulative, Spec

__all__ = ["refuse_shifted", "return_of", "units_of"]


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
        if (goal & ~graph.labels[TERMINATED]).any():
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


def refuse_shifted(graph: Graph, spec: Spec) -> None:
    """Raise `SpecError` where rewards were shifted in every step, and the sum does not go over a number of them."""
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
