"""Models in which one may stop for good, and be paid for it: how long-run averages become a matter of reaching an end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import IntervalMDP, Rewards
from umdp.solver.graph.decided import Shape

__all__ = ["Stopping", "with_stops"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Stopping:
    """A model with one more choice wherever one may stop, and a last state that is reached by it.

    Attributes
    ----------
    model : the model; the last state carries the label "stopped", and stopping has the price "price"
    origin : (C',) the choice of the given model that each choice is, -1 for those that stop
    """

    model: IntervalMDP
    origin: Array


def with_stops(shape: Shape, lower: Array, upper: Array, initial: int, price: Array) -> Stopping:
    """Return a model in which stopping in a state costs `price` (S,), not a number where one cannot."""
    here = ~np.isnan(price)
    sizes = np.diff(shape.state_ptr)
    origin = np.full(int(sizes.sum() + here.sum()) + 1, -1, dtype=np.int64)
    state_ptr = np.concatenate([[0], np.cumsum(sizes + here), [0]])
    state_ptr[-1] = state_ptr[-2] + 1
    origin[np.arange(shape.choices) + np.repeat(state_ptr[:-2] - shape.state_ptr[:-1], sizes)] = np.arange(
        shape.choices
    )
    own = origin >= 0
    lengths = np.ones(origin.size, dtype=np.int64)
    lengths[own] = np.diff(shape.choice_ptr)
    choice_ptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.repeat(own, lengths)
    successor = np.full(int(choice_ptr[-1]), shape.states, dtype=np.int32)
    low, high = np.ones(successor.size), np.ones(successor.size)
    successor[entries], low[entries], high[entries] = shape.successor, lower, upper
    cost = np.zeros(origin.size)
    cost[state_ptr[1:-1][here] - 1] = price[here]
    label = np.zeros(shape.states + 1, dtype=np.bool_)
    label[-1] = True
    model = IntervalMDP(
        state_ptr, choice_ptr, successor, low, high, initial=initial, labels={"stopped": label},
        rewards={"price": Rewards(choice=cost)},
    )  # fmt: skip
    return Stopping(model, origin)
