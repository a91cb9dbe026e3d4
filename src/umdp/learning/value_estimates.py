"""Value estimates: the worst and the best case of what a run knows, for explorers that ask, and the gap between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from umdp.explore.view import ValueEstimate, ValueEstimates
from umdp.learning.state import LearningState, RunSettings
from umdp.solver import Bracket, Solution, UncertifiedSolution, solve_uncertified
from umdp.solver.objective import SolveOptions, objective_of

__all__ = ["distance", "value_estimates"]

Array = NDArray[Any]


def value_estimates(
    settings: RunSettings,
    state: LearningState,
    robust: Callable[[], Solution],
    optimistic: Callable[[], UncertifiedSolution | None],
) -> ValueEstimates:
    """Return the worst and the best case of what a run knows; nothing is solved before it is asked for."""
    graph, reading, learner = settings.graph, settings.worst, state.learner
    rises = reading.rises

    def worst() -> ValueEstimate:
        found = robust()
        return ValueEstimate(found.lower if rises else found.upper, _first(found.policy.choice))

    def best() -> ValueEstimate | None:
        found = optimistic()
        values = None if found is None else found.values()
        return None if found is None or values is None else ValueEstimate(values, _first(found.policy.choice))

    def plan(probability: Array) -> Array:
        model = graph.with_probability(probability)
        return _first(
            solve_uncertified(model, reading, SolveOptions(settings.precision, settings.method)).policy.choice
        )

    tying = getattr(learner, "tying", None)
    return ValueEstimates(
        worst, best, plan, rises, learner.sightings(state.counts), objective_of(graph, reading).paid, settings.halt,
        settings.horizon, settings.seed, state.iteration,
        *((None, None) if tying is None else (tying.choice_class, tying.feeds)),
    )  # fmt: skip


def _first(choice: Array | None) -> Array:
    """Return the choices (S,) of a policy in its first step."""
    assert choice is not None
    return choice if choice.ndim == 1 else choice[0]


def distance(worst: Bracket, best: Bracket) -> float:
    """Return how far the better of two values may be from the other's promise; rounded up.

    Examples
    --------
    >>> distance(Bracket(0.25, 0.375), Bracket(0.5, 0.75)), distance(Bracket(8, 9), Bracket(5, 6))
    (0.5, 4)
    >>> distance(Bracket(float("inf"), float("inf")), Bracket(float("inf"), float("inf")))
    0.0
    """
    return max(_less(best.upper, worst.lower), _less(worst.upper, best.lower))


def _less(one: float, other: float) -> float:
    """Return a difference, rounded up; infinity less infinity is nothing."""
    if math.isinf(one) or math.isinf(other):
        return 0.0 if one == other else one - other
    found = one - other
    return found if Fraction(found) >= Fraction(one) - Fraction(other) else math.nextafter(found, math.inf)
