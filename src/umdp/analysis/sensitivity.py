"""Sensitivity: by how much the worst-case value would move if one bound of one transition were tighter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph, IntervalMDP, Rewards
from umdp.model.structure import entries_of, mask_of
from umdp.solver.objective import Objective, rewards_of_choices

__all__ = ["Course", "Sensitivity", "course_of", "sensitivity", "visits_of"]

Array = NDArray[Any]
Floats = NDArray[np.float64]
CLOSE = 1e-12  # a probability is at its bound if it is no farther from it


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """By how much the promise would move, for every bound of every transition, at first order.

    Attributes
    ----------
    visits : (C,) how often each choice is taken in expectation
    lower, upper : (T,) what the promise gains for every unit by which the bound were tighter; 0 where the bound does not bind
    difference : (T,) the value of the successor less that of the one that gives way, 0 where no bound binds
    """

    visits: Floats
    lower: Floats
    upper: Floats
    difference: Floats

    @property
    def gain(self) -> Floats:
        """What the promise gains for every unit of the bound that binds, shape (T,)."""
        return np.maximum(self.lower, self.upper)


def visits_of(graph: Graph, prob: Array, choice: Array, stop: Array) -> Floats:
    """Return how often a policy of choices (S,) takes each choice (C,) before it stops: one sparse linear system.

    Where it may never stop, what comes after is not counted: nothing that is done there can matter.

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> visits_of(graph, np.array([0.75, 0.25, 1.0]), np.array([0, 1]), np.array([False, True])).tolist()
    [4.0, 0.0]
    """
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.csgraph import breadth_first_order
    from scipy.sparse.linalg import spsolve

    visits = np.zeros(graph.choices)
    if stop[graph.initial]:
        return visits
    going = np.flatnonzero(~stop)
    entry = entries_of(graph.choice_ptr, choice[going])
    origin, chance, successor = np.repeat(going, graph.sizes[choice[going]]), prob[entry], graph.successor[entry]
    kept = chance > 0
    shape = (graph.states, graph.states)
    step = csr_array((chance[kept], (origin[kept], successor[kept])), shape=shape)
    ahead = mask_of(breadth_first_order(step, graph.initial, return_predecessors=False), graph.states)
    # All that stops is one place more, from which everything that may stop is found backwards.
    final = np.flatnonzero(stop & ahead)
    back = csr_array(
        (np.ones(kept.sum() + final.size),
         (np.concatenate((successor[kept], np.full(final.size, graph.states))), np.concatenate((origin[kept], final)))),
        shape=(graph.states + 1, graph.states + 1),
    )  # fmt: skip
    ends_somewhere = mask_of(breadth_first_order(back, graph.states, return_predecessors=False), graph.states + 1)
    inside = np.flatnonzero(ahead & ends_somewhere[:-1] & ~stop)
    if not inside.size or not ends_somewhere[graph.initial]:
        return visits
    place = np.searchsorted(inside, graph.initial)
    begin = np.zeros(inside.size)
    begin[place] = 1.0
    found = spsolve((eye_array(inside.size) - step[inside][:, inside].T).tocsc(), begin)
    visits[choice[inside]] = np.maximum(np.nan_to_num(found, nan=0.0, posinf=0.0), 0.0)
    return visits


def sensitivity(
    graph: Graph, lower: Array, upper: Array, prob: Array, worth: Array, visits: Array, *, nature_max: bool
) -> Sensitivity:
    """Return what tighter bounds are worth, where nature answers with probabilities (T,) to what successors are worth (T,).

    A lower bound that binds can be raised at the cost of the successor nature likes least of those it serves; an upper bound
    that binds lowered to the good of the one it likes best of those it does not serve in full.

    Examples
    --------
    >>> graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2])
    >>> low, high, answer = np.array([0.25, 0.5, 1, 1]), np.array([0.5, 0.75, 1, 1]), np.array([0.25, 0.75, 1, 1])
    >>> worth = np.array([1.0, 0.0, 0.0, 0.0])
    >>> found = sensitivity(graph, low, high, answer, worth, np.array([2.0, 0, 0]), nature_max=False)
    >>> found.lower.tolist(), found.upper.tolist()
    ([2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0])
    """
    sizes = np.diff(graph.choice_ptr)
    key = -worth if nature_max else worth  # nature wants it small
    free = upper - lower > CLOSE
    served, room = prob > lower + CLOSE, prob < upper - CLOSE
    donor = np.repeat(np.maximum.reduceat(np.where(served, key, -np.inf), graph.choice_ptr[:-1]), sizes)
    taker = np.repeat(np.minimum.reduceat(np.where(room, key, np.inf), graph.choice_ptr[:-1]), sizes)
    taken = np.repeat(visits, sizes)
    with np.errstate(invalid="ignore"):
        raised = np.where(free & ~served & np.isfinite(donor) & (taken > 0), key - donor, 0.0)
        lowered = np.where(free & ~room & np.isfinite(taker) & (taken > 0), taker - key, 0.0)
        raised, lowered = np.maximum(np.nan_to_num(raised), 0.0), np.maximum(np.nan_to_num(lowered), 0.0)
    difference = np.where(raised >= lowered, raised, -lowered)
    return Sensitivity(visits, taken * raised, taken * lowered, -difference if nature_max else difference)


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
    from umdp.solver.kernels.best_response import respond

    steps, paid = choice.shape[0], asked.paid
    assert asked.final is not None  # what a step bound comes with
    reward = rewards_of_choices(model, asked.rewards or Rewards())
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


def _taken(graph: Graph, choice: Array, here: Array) -> Floats:
    taken = np.zeros(graph.choices)
    taken[choice] = here
    return taken


def _next(graph: Graph, prob: Array, taken: Array, here: Array, frozen: Array) -> Floats:
    """Return where (S,) one is a step later; who has stopped stays."""
    moved = np.bincount(graph.successor, prob * np.repeat(taken, np.diff(graph.choice_ptr)), graph.states)
    found: Floats = np.asarray(moved, dtype=np.float64) + np.where(frozen, here, 0.0)
    return found
