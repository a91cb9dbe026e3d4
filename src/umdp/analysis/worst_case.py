"""The worst case of a model and what its counts suggest instead: values, visits, and what lies between the two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.sensitivity import Course, Sensitivity, course_of, sensitivity, visits_of
from umdp.model import MDP, Graph, IntervalMDP
from umdp.solver import Solution, evaluate, relevant, solve
from umdp.solver.objective import objective_of, players
from umdp.spec import Spec

__all__ = ["WorstCase", "suggested"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
LITTLE = 0.01  # of what lies between promise and estimate: where all bounds together say less, none matters alone
HUGE = 1e12  # a worst case so many times what counts suggest says that next to nothing is known


def suggested(model: IntervalMDP, counts: Array | None) -> Floats:
    """Return the probabilities (T,) that counts suggest, within the bounds; the middle of each where there are none.

    Examples
    --------
    >>> model = IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.25, 0.25, 1], [0.75, 0.75, 1])
    >>> suggested(model, np.array([9, 1, 0])).tolist(), suggested(model, None).tolist()
    ([0.75, 0.25, 1.0], [0.5, 0.5, 1.0])
    """
    sizes, ptr = np.diff(model.choice_ptr), model.choice_ptr[:-1]
    guess = 0.5 * (model.lower + model.upper)
    if counts is not None:
        total = np.repeat(np.add.reduceat(counts, ptr), sizes)
        # One sample is shared by all successors: every transition is possible, and nothing else is known of it.
        guess = np.where(total > 0, (counts + 1 / np.repeat(sizes, sizes)) / (total + 1), guess)
    guess = np.clip(guess, model.lower, model.upper)
    # What is missing to 1 is spread over the room that is left, so that bounds are kept.
    missing = np.repeat(1 - np.add.reduceat(guess, ptr), sizes)
    room = np.where(missing > 0, model.upper - guess, guess - model.lower)
    total = np.repeat(np.add.reduceat(room, ptr), sizes)
    guess = guess + np.where(total > 0, missing * room / np.where(total > 0, total, 1.0), 0.0)
    inside = np.clip(guess, 0.0, 1.0)
    found: Floats = inside / np.repeat(np.add.reduceat(inside, ptr), sizes)
    return found


def _answer(model: IntervalMDP, nature: MDP) -> Floats:
    """Return nature's probabilities for the transitions (T,) of the model; those it cuts are missing in its MDP."""
    own = _keys(model)
    order = np.argsort(own)
    prob = np.zeros(model.transitions)
    prob[order[np.searchsorted(own[order], _keys(nature))]] = nature.probability
    return prob


def _keys(graph: Graph) -> NDArray[np.int64]:
    return np.repeat(np.arange(graph.choices), np.diff(graph.choice_ptr)) * graph.states + graph.successor


@dataclass(frozen=True, eq=False)
class WorstCase:
    """What a robust policy is promised, what counts suggest it is worth, and which choices are behind the difference.

    Attributes
    ----------
    solution : the robust solution
    guess : (T,) the probabilities that counts suggest
    promise, estimate : the value that is promised, and that of the same policy with the probabilities suggested
    sensitivity : what tighter bounds are worth
    basis : "worst case", or "estimate" where the worst case says nothing: it is decided before anything can matter
    visits : (C,) how often each choice is taken, as counts suggest
    rises : whether larger values are better
    loss : (C,) how much of what lies between promise and estimate is due to each choice; they sum to it, if it is finite
    """

    solution: Solution
    guess: Floats
    promise: float
    estimate: float
    sensitivity: Sensitivity
    basis: str
    visits: Floats
    rises: bool
    loss: Floats

    @classmethod
    def of(
        cls, model: IntervalMDP, spec: Spec, counts: Array | None = None, start: Solution | None = None
    ) -> WorstCase:
        """Return the worst case of a model for a property with both players, or of a solution of it."""
        solution = start or solve(model, spec)
        _, nature_max = players(model, spec)
        rises = spec.rises if spec.agent is not None else not nature_max
        guess = suggested(model, counts)
        plain = Spec(spec.kind, spec.agent, None, spec.formula, None, spec.reward)
        nominal = evaluate(model.graph.with_probability(guess), plain, solution.policy)
        promise = solution.bracket.lower if rises else solution.bracket.upper
        choice = solution.policy.choice
        assert choice is not None
        asked = objective_of(model, spec)
        look = partial(course_of, model, asked, choice) if choice.ndim == 2 else partial(_unbounded, solution, nominal)
        known = promise <= HUGE * max(nominal.value, 1.0)
        found = look(guess, nature_max=nature_max, suggested=not known)
        loss = found.loss if rises else -found.loss
        basis = "worst case" if known else "estimate"
        short = abs(nominal.value - promise)
        first = float((found.sensitivity.gain * (model.upper - model.lower)).sum())
        if known and short > 1e-9 * max(abs(promise), 1.0) and first < LITTLE * short:
            # At the worst case no bound matters alone: what matters if things are as counts suggest is the next best question.
            basis, found = "estimate", look(guess, nature_max=nature_max, suggested=True)
        return cls(solution, guess, promise, nominal.value, found.sensitivity, basis, found.visits, rises, loss)


def _unbounded(solution: Solution, nominal: Solution, guess: Array, *, nature_max: bool, suggested: bool) -> Course:
    """Return what bounds are worth to the policy of a solution without a bound on steps; `nominal`: as counts suggest."""
    from umdp.solver.kernels.best_response import respond

    model, choice = solution.model, solution.policy.choice
    assert isinstance(model, IntervalMDP)
    assert choice is not None
    asked, stop = objective_of(model, solution.spec), relevant(model.graph, solution.spec).decided
    expected = visits_of(model, guess, choice, stop)
    if suggested:
        prob, values = np.empty(model.transitions), np.nan_to_num(nominal.lower, posinf=0.0)
        respond(model.choice_ptr, model.successor, model.lower, model.upper, values, asked.paid, nature_max, prob)
        visits = expected
    else:
        prob = _answer(model, solution.nature)
        values = np.where(np.isfinite(solution.upper), 0.5 * (solution.lower + solution.upper), solution.upper)
        visits = visits_of(model, prob, choice, stop)
    worth = values[model.successor] + (asked.paid if asked.paid.size else 0.0)
    found = sensitivity(model, model.lower, model.upper, prob, worth, visits, nature_max=nature_max)
    finite = np.nan_to_num(worth, posinf=0.0)
    return Course(found, expected, expected * np.add.reduceat((guess - prob) * finite, model.choice_ptr[:-1]))
