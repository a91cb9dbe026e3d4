"""What the graph decides for the agent without a number, and how much of that nobody has seen happen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Graph, Policy
from umdp.model.structure import entries_of, mask_of
from umdp.solver.graph.decided import Edges, Shape, reachable
from umdp.solver.objective import objective_of
from umdp.spec import Direction, Spec

__all__ = ["unseen_staying", "unseen_support"]

Array = NDArray[Any]
Mask = NDArray[np.bool_]


def unseen_support(graph: Graph, spec: Spec, policy: Policy, counts: Array) -> int:
    """Return how many listed transitions were never seen, though a value that the graph decides for the policy rests on them.

    A graph lists what can happen. From that alone follows that some states reach a goal surely, or may miss it for ever,
    however unlikely each step is. Where a transition that is needed for it was seen, nothing has to be believed; where
    none was, the conclusion is as good as the list.

    Only conclusions in the agent's favour count: probability 1 of what it wants to reach, infinite rewards where it wants
    many. What is decided against it, or by numbers within bounds, does not rest on the list.

    Parameters
    ----------
    counts : (T,) how often each transition was seen

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [1]})  # "try" stays, or reaches the goal
    >>> spec, policy = Spec.parse('Pmax=? [ F "goal" ]'), Policy(graph, [0, 1])
    >>> unseen_support(graph, spec, policy, np.array([9, 0, 0])), unseen_support(graph, spec, policy, np.array([9, 1, 0]))
    (1, 0)
    """
    objective, rises = objective_of(graph, spec), spec.deciding().agent is not Direction.MIN
    if objective.steps is not None or rises == objective.safety or policy.choice is None or policy.choice.ndim != 1:
        return 0
    goal, left = objective.goal, objective.through
    chain = _Chain(graph, policy.choice, counts)
    through = left & ~goal
    can = chain.listed.attract(goal, through, every=False)[0]
    if objective.kind == "R":  # infinite: the goal may be missed
        lost = chain.listed.attract(~can, through, every=False)[0]
        proved = chain.proved(~can, through)
        decided = lost & can
    else:  # one: a state that cannot reach the goal is out of reach
        decided = ~chain.listed.attract(~can, through, every=False)[0] & ~goal
        proved = chain.proved(goal, through)
    open_states = decided & ~proved
    if not open_states.any():
        return 0
    open_states &= reachable(chain.listed.graph, graph.initial, goal | ~left)
    return int(np.count_nonzero(chain.unseen & open_states[chain.owner]))


def unseen_staying(graph: Graph, stay: Array, policy: Policy, counts: Array) -> int:
    """Return how many listed transitions were never seen where the policy gets to and then goes on for ever.

    Where a set of states is never left again, it is taken from the graph that all of it is visited again and again.

    Parameters
    ----------
    stay : (S,) the choice taken there, -1 elsewhere
    counts : (T,) how often each transition was seen

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 0])
    >>> unseen_staying(graph, np.array([0, 1]), Policy(graph, [0, 1]), np.array([9, 0, 0]))
    1
    """
    if policy.choice is None or policy.choice.ndim != 1 or not (stay >= 0).any():
        return 0
    chain = _Chain(graph, np.where(stay >= 0, stay, policy.choice), counts)
    reached = reachable(chain.listed.graph, graph.initial, np.zeros(graph.states, dtype=np.bool_))
    return int(np.count_nonzero(chain.unseen & (reached & (stay >= 0))[chain.owner]))


class _Chain:
    """The graph under a policy: what is listed, and what was seen of it."""

    def __init__(self, graph: Graph, choice: Array, counts: Array) -> None:
        shape, entries = Shape.of(graph), entries_of(graph.choice_ptr, choice)
        self.listed = Edges(shape.under(mask_of(choice, graph.choices)))
        self.successor, self.sizes = graph.successor[entries], graph.sizes[choice]
        self.owner = np.repeat(np.arange(graph.states), self.sizes)
        self.unseen: Mask = (counts[entries] == 0) & (self.sizes > 1)[self.owner]

    def proved(self, target: Mask, through: Mask) -> Mask:
        """Return the states that are drawn to a target by what was seen, whichever unseen transitions can happen.

        A state drawn by one of several transitions that were seen has one choice among them. Where none was seen any of
        them may be the only one that happens: each is a choice of its own, and every one must draw.
        """
        seen = np.bincount(self.owner, ~self.unseen, minlength=self.sizes.size) > 0
        kept = ~self.unseen | ~seen[self.owner]
        owner = self.owner[kept]
        begins = ~seen[owner] | np.concatenate([[True], owner[1:] != owner[:-1]])
        choices = np.bincount(owner, begins, minlength=self.sizes.size).astype(np.int64)
        shape = Shape(
            np.concatenate([[0], np.cumsum(choices)]),
            np.append(np.flatnonzero(begins), owner.size),
            self.successor[kept],
        )
        return Edges(shape).attract(target, through, every=True)[0]
