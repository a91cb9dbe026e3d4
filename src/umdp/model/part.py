"""Models made of some of another's choices and transitions, with all that is known of these."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from umdp.model.process import Graph

__all__ = ["annotations_of", "part_of"]

Array = NDArray[Any]
G = TypeVar("G", bound=Graph)
ALL = slice(None)


def annotations_of(model: Graph, **others: Any) -> dict[str, Any]:
    """Return what is known besides the rows and their numbers, by name, with `others` in place of some of it."""
    return {each.name: getattr(model, each.name) for each in fields(Graph) if each.kw_only} | others


def part_of(
    model: G, entries: Array, sizes: Array, *, state_ptr: Array | None = None, choice: Array | slice = ALL, **given: Any
) -> G:
    """Return the model with some of its choices, each with some of its transitions.

    Parameters
    ----------
    entries : the transitions, in order; or which of them (T,)
    sizes : how many transitions each choice has
    state_ptr, choice : the choices, in order, and which state has which; all, unless given
    **given : annotations in place of the model's

    Examples
    --------
    >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], actions=["try", "go", "stay"])
    >>> part_of(graph, np.array([False, True, True, True]), np.array([1, 1, 1])).successor.tolist()
    [1, 1, 1]
    """

    def among(values: Array | None, places: Array | slice) -> Array | None:
        return None if values is None else values[places]

    rewards = {
        name: replace(each, choice=among(each.choice, choice), transition=among(each.transition, entries))
        for name, each in model.rewards.items()
    }
    actions = None if model.actions is None else (model.actions[0][choice], model.actions[1])
    own, ptr = model.state_ptr if state_ptr is None else state_ptr, np.concatenate([[0], np.cumsum(sizes)])
    more = annotations_of(model, rewards=rewards, actions=actions) | given
    return type(model)(own, ptr, model.successor[entries], *(each[entries] for each in model.numbers), **more)
