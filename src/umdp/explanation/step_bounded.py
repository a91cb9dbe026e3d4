"""Properties with a bound on steps: a bound of a transition matters in every step anew, and what it is worth adds up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.explanation.sensitivity import Sensitivity, sensitivity
from umdp.model import Graph, IntervalMDP
from umdp.solver.objective import Objective

__all__ = ["Course", "course_of"]

Array = NDArray[Any]
Floats = NDArray[np.float64]


class Course(NamedTuple):
    """What bounds are worth over all steps, visits as counts suggest (C,), and what is lost by each choice (C,)."""

    sensitivity: Sensitivity
    visits: Floats
    loss: Floats


def course_of(
    model: IntervalMDP, asked: Objective, choice: Array, guess: Array, *, nature_max: bool, suggested: bool
) -> Course:
    """Return what bounds are worth to a policy of choices (K, S), in the worst case; or `suggested`, as counts have it.

    Values go backwards from the last step; visits forwards from the first, with nature's answer in each.
    """
    from umdp.solver.kernels.nature import respond

    steps, paid = choice.shape[0], asked.paid
    assert asked.final is not None  # what a step bound comes with
    reward = _reward(model, asked)
    prob = np.empty(model.transitions)

    def answer(values: Array) -> Floats:
        """Return what a step is worth by each choice (C,), and leave nature's answer in `prob`."""
        worst: Floats = respond(
            model.choice_ptr, model.successor, model.lower, model.upper, values, paid, nature_max, prob
        )
        return worst

    def worth(values: Array) -> Floats:
        found: Floats = values[model.successor] + (paid if paid.size else 0.0)
        return found

    values = np.empty((steps + 1, model.states))
    values[steps] = asked.final
    for k in range(steps - 1, -1, -1):
        ahead = values[k + 1]
        gained = np.add.reduceat(guess * worth(ahead), model.choice_ptr[:-1]) if suggested else answer(ahead)
        frozen, decided = asked.kept(k)
        values[k] = np.where(frozen, decided, (gained + reward)[choice[k]])
    here, there = np.zeros((2, model.states))
    here[model.initial] = there[model.initial] = 1.0
    total, visits, loss = np.zeros((3, model.choices))
    lower, upper, moved = np.zeros((3, model.transitions))
    for k in range(steps):
        frozen, _ = asked.kept(k)
        answer(values[k + 1])
        taken = _taken(model, choice[k], np.where(frozen, 0.0, here))
        expected = _taken(model, choice[k], np.where(frozen, 0.0, there))
        step = worth(values[k + 1])
        found = sensitivity(
            model, model.lower, model.upper, prob, step, expected if suggested else taken, nature_max=nature_max
        )
        total, lower, upper = total + found.visits, lower + found.lower, upper + found.upper
        moved += np.repeat(found.visits, np.diff(model.choice_ptr)) * found.difference
        visits += expected
        loss += expected * np.add.reduceat((guess - prob) * step, model.choice_ptr[:-1])
        here, there = _next(model, prob, taken, here, frozen), _next(model, guess, expected, there, frozen)
    often = np.repeat(total, np.diff(model.choice_ptr))
    difference = np.where(often > 0, moved / np.where(often > 0, often, 1.0), 0.0)
    return Course(Sensitivity(total, lower, upper, difference), visits, loss)


def _reward(model: IntervalMDP, asked: Objective) -> Floats:
    """Return what every choice (C,) earns in a step, but for its transitions."""
    reward = np.zeros(model.choices)
    if asked.rewards is not None and asked.rewards.state is not None:
        reward += asked.rewards.state[model.choice_state]
    if asked.rewards is not None and asked.rewards.choice is not None:
        reward += asked.rewards.choice
    return reward


def _taken(graph: Graph, choice: Array, here: Array) -> Floats:
    taken = np.zeros(graph.choices)
    taken[choice] = here
    return taken


def _next(graph: Graph, prob: Array, taken: Array, here: Array, frozen: Array) -> Floats:
    """Return where (S,) one is a step later; who has stopped stays."""
    moved = np.bincount(graph.successor, prob * np.repeat(taken, np.diff(graph.choice_ptr)), graph.states)
    found: Floats = np.asarray(moved, dtype=np.float64) + np.where(frozen, here, 0.0)
    return found
