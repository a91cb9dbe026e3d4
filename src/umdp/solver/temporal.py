"""Temporal logic: properties that need an automaton, as reachability in the product of model and automaton.

An end component of the product is a set of states in which the agent can stay for ever and visit all of, again and again.
Which sets these are depends on the graph alone, and nature cannot change the graph. So whether the automaton can be made to
accept in one is decided by the graph, and what is left is to reach one that accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.automata.labelled_automaton import read_formula
from umdp.automata.memory_policy import MemoryPolicy
from umdp.automata.product import ACCEPTING, Product, Skeleton, carried, multiply
from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy, Rewards
from umdp.model.policy import taken_choices
from umdp.model.structure import mask_of, same_rows
from umdp.solver.graph.decided import Edges, Shape
from umdp.solver.result import Solution
from umdp.spec import TRUE, AutomatonFile, Direction, Globally, Reach, RewardBounded, Spec, TemporalFormula, Until
from umdp.spec.expression import Label, Unary
from umdp.spec.temporal_formula import lasting

if TYPE_CHECKING:
    from umdp.solver.objective import Request

__all__ = [
    "accepting", "along", "check_temporal", "in_memory", "lift", "on_model", "probability_in", "recalled",
    "unanswered",
]  # fmt: skip

Array = NDArray[Any]


def lift(
    model: MDP | IntervalMDP,
    spec: Spec,
    agent_max: bool,
    nature_max: bool,
    *,
    chained: bool = False,
    rest: int | None = None,
    policy: MemoryPolicy | None = None,
    late: Callable[[], bool] = lambda: False,
) -> Product:
    """Return the product in which a property is a matter of reachability.

    What is to be as small as possible is one minus what its negation is at most, so that the agent always wants its automaton to
    accept and may choose its jumps. Where the agent has nothing else to choose, nature's direction says which is asked. The state
    `rest` stands for what nobody has listed: there the product has one state, and no memory matters. What accepts is what does so
    by a `policy`, where one is given.

    Raises `OutOfTime` once `late` says that time is up.
    """
    from umdp.solver.judge.lift import pursues

    assert isinstance(spec.formula, TemporalFormula | AutomatonFile | RewardBounded)
    support_may_shrink = isinstance(model, IntervalMDP) and bool((model.lower <= 0.0).any())
    agent_max = pursues(agent_max, nature_max, model.is_chain and not chained, support_may_shrink)
    name, earns = spec.reward, spec.kind == "R"
    if earns:
        assert isinstance(spec.formula, TemporalFormula)
        part = lasting(spec.formula.formula)
        if part is not None:
            raise part.error(f"the reward of {part} is not supported", "R takes formulas that are settled at some time")
        name = spec.resolve_reward(list(model.rewards))
    reading = read_formula(spec.formula, model, negated=not (agent_max or earns), every=earns, late=late)
    skeleton = multiply(model, reading if rest is None else reading.losing(rest))
    accepts = Label(ACCEPTING)
    lowered = replace(
        spec,
        agent=Direction.MAX if agent_max else Direction.MIN,
        nature=Direction.MAX if nature_max else Direction.MIN,
        formula=Reach(accepts) if earns else Until(TRUE, accepts) if agent_max else Globally(Unary("!", accepts)),
        reward=name,
        location=None,
    )
    if earns:  # the reward of a co-safe formula is that until a state is reached: one where it is settled
        goal = np.append(reading.automaton.settled, False)[skeleton.memory]  # the last is for where all is lost
        stay = np.full(goal.size, -1, dtype=np.int64)
        assert name is not None
        return Product.of(skeleton, spec, lowered, goal, stay, {name: carried(skeleton, model.rewards[name])})
    found = accepting(skeleton, None if policy is None else _taken(policy, skeleton))
    witness = found.pair, found.rank, found.level
    return Product.of(skeleton, spec, lowered, found.goal, found.stay, _apart(skeleton), witness)


def _apart(skeleton: Skeleton) -> dict[str, Rewards] | None:
    """Return rewards that keep equal successors apart where the automaton reads transitions; None where it does not."""
    rewards = skeleton.base.rewards if skeleton.reading.arrival is not None else {}
    kept = {name: each for name, each in rewards.items() if each.transition is not None}
    return {name: carried(skeleton, each) for name, each in kept.items()} or None


class Acceptance(NamedTuple):
    """Where the automaton accepts in a product, how, and what shows it to the judge (`umdp.solver.judge.lift`).

    Attributes
    ----------
    goal : (P,) the states of end components in which the automaton accepts
    stay : (P,) a choice there by which it does, -1 elsewhere
    pair, rank : (P,) the Rabin pair by which it does, and the way to a state that is to be seen again and again
    level : (K, P) for each pair, why no other end component is accepted
    """

    goal: NDArray[np.bool_]
    stay: Array
    pair: Array
    rank: Array
    level: Array


def accepting(skeleton: Skeleton, taken: NDArray[np.bool_] | None = None) -> Acceptance:
    """Return the states (P,) of end components in which the automaton accepts, and a choice there by which it does.

    For each pair, these are the maximal end components of what is not to be seen again and again, if they have something that is.
    In one of them, the choice leads to the nearest such state. `taken` (C,) are the choices of a policy, where it is all about
    one: those of a state then count together.
    """
    from umdp.solver.kernels.end_components import end_components, leaving_levels
    from umdp.solver.kernels.graph_search import attractor
    from umdp.solver.kernels.structs import ChoiceRows

    shape = Shape(skeleton.state_ptr, skeleton.choice_ptr, skeleton.successor)
    shape = shape if taken is None else shape.under(taken)
    edges, pairs = Edges(shape), skeleton.reading.automaton.pairs
    size, even, every = shape.states, np.ones(shape.transitions), np.ones(shape.choices, dtype=np.bool_)
    rows = ChoiceRows.of(shape.state_ptr, shape.choice_ptr, shape.successor, even, even, even[:0])  # nothing can be cut
    found, stay = np.zeros(size, dtype=np.bool_), np.full(size, -1, dtype=np.int64)
    number, rank = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
    level = np.zeros((len(pairs), size), dtype=np.int32)
    parts: list[tuple[Array, int] | None] = []
    for k, pair in enumerate(pairs):
        inside, wanted = ~pair.avoid[skeleton.memory], pair.repeat[skeleton.memory]
        if not (inside & wanted).any():
            parts.append(None)
            continue
        component, stays, count = end_components(rows, inside, every)
        parts.append((component, count))
        good = mask_of(component[wanted & (component >= 0)], count + 1)
        good[count] = False
        members = good[component] & (component >= 0)
        goal = members & wanted
        via = np.full(size, -1, dtype=np.int64)
        usable = stays & members[shape.choice_state]
        order = attractor(shape.state_ptr, edges.reverse, members, usable, goal.copy(), via, False)
        via = np.where(goal, edges.first_choice(usable), via)
        new = members & ~found
        place = np.zeros(size, dtype=np.int32)
        place[order] = np.arange(order.size)
        stay[new], number[new], rank[new], found = via[new], k, place[new], found | members
    for k, (pair, part) in enumerate(zip(pairs, parts, strict=True)):
        inside = ~found & ~pair.avoid[skeleton.memory]
        if part is not None and (inside & pair.repeat[skeleton.memory]).any():
            level[k] = leaving_levels(shape.state_ptr, shape.choice_ptr, shape.successor, edges.reverse, inside, *part)
    if taken is not None:
        first = Edges(Shape(skeleton.state_ptr, skeleton.choice_ptr, skeleton.successor)).first_choice(taken)
        stay = np.where(found, first, -1)
    return Acceptance(found, stay, number, rank, level)


def _taken(policy: MemoryPolicy, skeleton: Skeleton) -> NDArray[np.bool_]:
    """Return the choices (C,) that a policy takes at all."""
    if not np.array_equal(policy.graph.state_ptr, skeleton.state_ptr):
        raise ModelError("the policy is for a model with other states, choices or labels")
    return taken_choices(policy)


def in_memory(solution: Solution, product: Product) -> Solution:
    """Return the solution of a product with the policy that remembers, and knows how to go on where the automaton accepts."""
    product = replace(product, witness=None)  # it was for the judge

    def policy() -> Policy:
        choice = solution.policy.choice
        assert choice is not None
        return MemoryPolicy(product.model, np.where(product.stay >= 0, product.stay, choice), product=product)

    return replace(solution, _policy=policy, product=product)


def unanswered(request: Request) -> Solution:
    """Return what is known where time was up before the product was there: nothing, of any policy and any nature."""
    model = request.model
    low, high = np.zeros(model.states), np.full(model.states, 1.0 if request.spec.kind == "P" else np.inf)
    nature = replace(request, nature_max=True)
    return request.solution(
        low, high, lambda: Policy(model, model.state_ptr[:-1]), lambda: nature.answer_to(low, np.empty(0))[0]
    )


def along(policy: MemoryPolicy, model: MDP | IntervalMDP, spec: Spec, nature_max: bool) -> Product:
    """Return the product of a model in which a policy with memory is to be evaluated, or raise where it is not one of its."""
    known = policy.product
    if known.asked.formula != spec.formula or known.asked.kind != spec.kind:
        raise ModelError(f"the policy remembers what matters for {known.asked.formula}; ask for that")
    agent_max = not isinstance(known.spec.formula, Globally)
    product = lift(model, spec, agent_max, nature_max, chained=True, policy=policy)
    if not same_rows(product.model, policy.graph):
        raise ModelError("the policy is for a model with other states, choices or labels")
    return product


def recalled(
    model: MDP | IntervalMDP,
    spec: Spec,
    decisions: Iterable[tuple[int, int, int, int]],
    *,
    after: Iterable[Iterable[int]] | None = None,
    rest: int | None = None,
) -> MemoryPolicy:
    """Return the policy with memory that decisions make: (state, memory, choice within the state, memory when it is taken).

    `after` is the table of the automaton that they are about. The state `rest` stands for what nobody has listed. Raises
    `ModelError` where they are not those of a policy for this model and property.
    """
    maximises = spec.deciding().agent is not Direction.MIN
    product = lift(model, spec, maximises, maximises, chained=True, rest=rest)
    graph, base = product.model, product.base
    table = [list(row) for row in (() if after is None else after)]
    own_table = product.reading.automaton.step
    if table and not np.array_equal(own_table[: len(table), : len(table[0])], table):
        raise ModelError("the policy remembers by another automaton: its model has other labels")
    choice = np.where(np.diff(graph.state_ptr) == 1, graph.state_ptr[:-1], -1)
    for state, memory, taken, becomes in decisions:
        at = product.index(state, memory) if 0 <= state < base.states else -1
        if at < 0 and _settled(product, state, memory, taken, becomes):
            continue
        own = np.arange(graph.state_ptr[at], graph.state_ptr[at + 1]) if at >= 0 else np.empty(0, dtype=np.int64)
        if at < 0:
            fits = own
        elif becomes == memory:
            fits = own[product.origin[own] == base.state_ptr[state] + taken]
        else:
            ahead = graph.successor[graph.choice_ptr[own]]
            fits = own[(product.origin[own] < 0) & (ahead == product.index(state, becomes))]
        if fits.size == 0:
            raise ModelError(
                f"the policy decides for state {state} with memory {memory} what the model does not offer there"
            )
        choice[at] = fits[0]
    missing = np.flatnonzero(choice < 0)
    if missing.size:
        where = base.state_name(int(product.state[missing[0]]))
        raise ModelError(f"the policy has nothing for state {where} with memory {int(product.memory[missing[0]])}")
    return MemoryPolicy(graph, choice, product=product)


def _settled(product: Product, state: int, memory: int, taken: int, becomes: int) -> bool:
    """Whether a decision is for a state of the model with a memory that settles all, where a product does not go on."""
    base, sinks = product.base, product.reading.automaton.sinks
    return bool(
        0 <= state < base.states
        and 0 <= memory < sinks.size
        and sinks[memory]
        and becomes == memory
        and 0 <= taken < base.state_ptr[state + 1] - base.state_ptr[state]
    )


def on_model(product: Product, mdp: MDP) -> Product:
    """Return the product of another model with the same automaton: one of those that the first stands for.

    Raises `ModelError` where it has other states, choices or transitions.
    """
    skeleton = _again(product, mdp)
    rewards = {name: carried(skeleton, mdp.rewards[name]) for name in product.model.rewards if name in mdp.rewards}
    return Product.of(skeleton, product.asked, product.spec, product.model.labels[ACCEPTING], product.stay, rewards)


def probability_in(product: Product, mdp: MDP) -> Array:
    """Return the probabilities of a product's transitions (T,) where its model is a certain one of those it stands for."""
    return _again(product, mdp).numbers[0]


def _again(product: Product, mdp: MDP) -> Skeleton:
    if not same_rows(product.base, mdp) or mdp.initial != product.base.initial:
        raise ModelError("the policy with memory is for a model with other states, choices or transitions")
    return multiply(mdp, product.reading)


def check_temporal(model: MDP | IntervalMDP, spec: Spec) -> None:
    """Raise `SpecError` where a formula or its automaton does not fit a model."""
    assert isinstance(spec.formula, TemporalFormula | AutomatonFile | RewardBounded)
    read_formula(spec.formula, model)
