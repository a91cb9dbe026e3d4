"""Exploration towards the gap: where another sample brings the promise and the best case closest together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.explore.policies import Explorer, best, even
from umdp.explore.view import ValueEstimate, ValueEstimates, View
from umdp.model import Graph
from umdp.model.structure import mask_of

__all__ = ["Gap", "estimate", "expected_visits"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
AHEAD = 1000  # the most steps that are looked ahead: directions need no more
WILD = 10.0  # worst-case costs beyond so many times the best case say that next to nothing is known, not how much


@dataclass(frozen=True)
class Gap(Explorer):
    r"""Visit what lowers the gap between the promise and the best case most.

    The gap is the sum, over the choices c of a policy, of :math:`v_c \, w_c`: how often c is visited, and by how much what its
    bounds leave open moves the value of a step: interval widths times the spread of the values of its successors. Widths shrink
    like :math:`1/\sqrt{n_c}`, so one more sample of c lowers the gap by about :math:`v_c w_c / 2 n_c`. That is what a visit of c
    earns, and the policy that earns most within a trajectory is followed: one step of Frank and Wolfe's method towards the
    counts with the smallest gap.

    What is to be lowered is the width of the optimistic policy, from its best case to its worst, and how far the robust policy
    falls short of what counts suggest. Choices that share their distribution earn together: a sample of one is a sample of all.

    Examples
    --------
    >>> from umdp import benchmark
    >>> from umdp.learning import anytime
    >>> bandit = benchmark.BENCHMARKS["bandit"]
    >>> *_, last = anytime(bandit.build(), bandit.spec, "confidence-sequence", explorer="gap", gap=0.1, trajectories=10_000)
    >>> last.reason
    'the policy is certified to be within 0.1 of the optimum'
    """

    optimistic = True

    def weight(self, view: View) -> Floats:
        """Put all weight on the choices with which a trajectory earns most; where nothing can be earned, on the optimistic."""
        estimates, graph = view.estimates, view.graph
        if estimates is None:
            raise ModelError("exploration towards the gap needs a run, which knows both cases; use it with anytime")
        assert view.optimistic is not None
        guess = estimate(graph, estimates.seen, view.lower, view.upper)
        earned = estimates.pooled(_held_back(view, estimates, guess))
        earned /= np.maximum(estimates.pooled(view.visits.astype(np.float64), fed=True), 1.0)
        if estimates.feeds is not None:
            earned = np.where(estimates.feeds, earned, 0.0)
        return _earning_most(graph, guess, earned, estimates, view.optimistic)


def estimate(graph: Graph, counts: Array, lower: Array, upper: Array) -> Floats:
    """Return the probabilities (T,) that counts suggest, within bounds as far as possible; untried choices are even.

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> estimate(graph, np.array([2, 7, 4]), np.zeros(3), np.ones(3)).tolist()
    [0.25, 0.75, 1.0]
    """
    sizes = np.diff(graph.choice_ptr)
    seen = np.repeat(np.add.reduceat(counts, graph.choice_ptr[:-1]), sizes)
    inside = np.clip((counts + 1 / np.repeat(sizes, sizes)) / (seen + 1), lower, upper)
    found: Floats = inside / np.repeat(np.add.reduceat(inside, graph.choice_ptr[:-1]), sizes)
    return found


def expected_visits(graph: Graph, prob: Array, choice: Array, halt: Array, horizon: int) -> Floats:
    """Return how often a policy of choices (S,) takes each choice (C,) in a trajectory, with probabilities (T,).

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> visits = expected_visits(graph, np.array([0.5, 0.5, 1.0]), np.array([0, 1]), np.array([False, True]), 100)
    >>> visits.round(2).tolist()
    [2.0, 0.0]
    """
    from umdp.explore.ahead import visits

    total = visits(graph.choice_ptr, graph.successor, prob, choice, halt, graph.initial, min(horizon, AHEAD))
    found = np.zeros(graph.choices)
    found[choice] = np.where(halt, 0.0, total)
    return found


def _held_back(view: View, estimates: ValueEstimates, guess: Array) -> Floats:
    """Return how much of the gap is due to each choice, shape (C,)."""
    graph = view.graph
    worst, best = estimates.worst(), estimates.best()
    if best is None:
        best = worst
    way = [expected_visits(graph, guess, case.choice, estimates.halt, estimates.horizon) for case in (best, worst)]
    most = float(np.abs(best.values[np.isfinite(best.values)]).max(initial=0.0))
    above = _left_open(view, estimates, guess, best, WILD * most, best_case=True)
    below = _left_open(view, estimates, guess, worst, WILD * most, best_case=False)
    return way[0] * (above + below) + way[1] * below


def _left_open(
    view: View, estimates: ValueEstimates, guess: Array, case: ValueEstimate, most: float, *, best_case: bool
) -> Floats:
    """Return how far the bounds of each choice (C,) let the value of a step be from what counts suggest."""
    from umdp.solver.kernels.best_response import respond

    graph, paid = view.graph, estimates.paid
    values = np.clip(np.nan_to_num(case.values, nan=most, posinf=most), 0.0, most)
    high = estimates.rises == best_case
    prob = np.empty(graph.transitions)
    turned = respond(graph.choice_ptr, graph.successor, view.lower, view.upper, values, paid, high, prob)
    step = values[graph.successor] + (paid if paid.size else 0.0)
    found: Floats = np.abs(np.add.reduceat(guess * step, graph.choice_ptr[:-1]) - turned)
    return found


def _earning_most(graph: Graph, prob: Array, earned: Array, estimates: ValueEstimates, otherwise: Array) -> Floats:
    """Return the weights of the policy that earns most within the horizon: value iteration, as far as it moves."""
    from umdp.explore.ahead import earnings

    worth = earnings(
        graph.state_ptr, graph.choice_ptr, graph.successor, prob, earned, estimates.halt, min(estimates.horizon, AHEAD)
    )
    top = best(graph, worth)
    return even(graph, np.where(top > 0, worth >= top, mask_of(otherwise, graph.choices)))
