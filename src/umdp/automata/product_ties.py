"""Ties of a product: what is learned of a choice is learned of it with every memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from umdp.automata.product import Product
from umdp.errors import ModelError
from umdp.model.tying import Tying

__all__ = ["product_ties"]

Ints = NDArray[np.int64]


def product_ties(product: Product, tying: Tying | None = None) -> Tying:
    """Return the classes of a product's choices: one for each choice of the model, or for each class of those.

    Examples
    --------
    >>> from umdp import MDP, solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 0], [0.5, 0.5, 1, 1], labels={"heads": [1], "tails": [2]})
    >>> product_ties(solve(coin, 'Pmax=? [ (F "heads") & (F "tails") ]').product)
    Tying of 7 choices: 1 class of several (0, 0: 3 choices, 2 outcomes), 4 choices alone
    """
    base, graph = product.base, product.model.graph
    if tying is None:
        tying = Tying.untied(base)
    elif not all(np.array_equal(getattr(tying.graph, n), getattr(base, n)) for n in ("choice_ptr", "successor")):
        raise ModelError("the classes are those of another graph; make them for the one that is learned")
    source = product.along  # jumps and sinks have one transition, which is no news
    moves = source[graph.choice_ptr[:-1]] >= 0
    used = np.unique(tying.choice_class[product.origin[moves]])
    sizes = np.diff(tying.outcome_ptr)
    number = np.full(tying.classes, -1, dtype=np.int64)
    number[used] = np.arange(used.size)
    begin = np.concatenate([[0], np.cumsum(sizes[used])]).astype(np.int64)
    shift = np.zeros(tying.outcomes, dtype=np.int64)
    for new, old in enumerate(used.tolist()):
        first, last = int(tying.outcome_ptr[old]), int(tying.outcome_ptr[old + 1])
        shift[first:last] = np.arange(begin[new], begin[new + 1])
    still = np.flatnonzero(~moves)
    choice_class = np.empty(graph.choices, dtype=np.int64)
    choice_class[moves] = number[tying.choice_class[product.origin[moves]]]
    choice_class[still] = used.size + np.arange(still.size)
    known = source >= 0
    counts = np.ones(graph.transitions, dtype=np.int64)
    counts[known] = np.diff(tying.transition_ptr)[source[known]]
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    along = np.empty(int(pointers[-1]), dtype=np.int64)
    along[pointers[:-1][~known]] = int(begin[-1]) + np.arange(int((~known).sum()))
    entry = np.repeat(np.arange(graph.transitions), counts)
    place = np.arange(along.size) - pointers[entry]
    of_known = known[entry]
    along[of_known] = shift[tying.transition_outcome[tying.transition_ptr[source[entry[of_known]]] + place[of_known]]]
    names = (*(tying.names[old] for old in used.tolist()), *(f"memory {choice}" for choice in still.tolist()))
    listed = [range(int(tying.outcome_ptr[old]), int(tying.outcome_ptr[old + 1])) for old in used.tolist()]
    outcomes = [tying.outcome_names[k] for each in listed for k in each]
    outcome_ptr = np.concatenate([begin, begin[-1] + 1 + np.arange(still.size)])
    return Tying(graph, names, outcome_ptr, (*outcomes, *["stays"] * still.size), choice_class, pointers, along)
