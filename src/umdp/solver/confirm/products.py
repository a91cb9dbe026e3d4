"""Products with automata, as far as the judge confirms that they answer what was asked of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP
from umdp.model.policy import taken_choices
from umdp.model.structure import mask_of
from umdp.solver.judge.question import rows_of
from umdp.solver.objective import Objective, objective_of
from umdp.solver.result import Bracket, Diagnostic, Solution, Status
from umdp.spec import Direction

if TYPE_CHECKING:
    from umdp.automata.product import Product
    from umdp.model import Policy
    from umdp.solver.judge.lift import RabinTable
    from umdp.solver.objective import Request
    from umdp.spec import Spec

__all__ = ["ConfirmedSides", "check_lift", "confirm_lift", "examine_product"]

Array = NDArray[Any]


class ConfirmedSides(NamedTuple):
    """Whether bounds from below, and from above, on what is asked of a product are bounds on what was asked of the model."""

    below: bool
    above: bool


def confirm_lift(solution: Solution, product: Product, request: Request, policy: Policy | None = None) -> Solution:
    """Return the solution of a product with the bounds that the judge confirms to be those of the model.

    Parameters
    ----------
    solution : of the product, as far as it is confirmed there
    request : what was asked
    policy : of the product, where the value is that of one; otherwise None
    """
    from umdp.solver.judge import refuse

    model, spec, options = request.model, request.spec, request.options
    holds = examine_product(product, model, spec, request.players, policy)
    if solution.model is not product.model or solution.spec != product.spec:
        holds = ConfirmedSides(False, False)
    if all(holds):
        return solution
    refuse()
    most = np.inf if spec.kind == "R" else 1.0

    def kept(bracket: Bracket) -> Bracket:
        return Bracket(bracket.lower if holds.below else 0.0, bracket.upper if holds.above else most)

    def bounds() -> tuple[Array, Array]:
        size = product.model.states
        return solution.lower if holds.below else np.zeros(size), solution.upper if holds.above else np.full(size, most)

    bracket = kept(solution.bracket)
    status = options.status(bracket, Status.OPEN_GAME if solution.status is Status.OPEN_GAME else Status.IMPRECISE)
    return replace(
        solution, bracket=bracket, policy_bracket=kept(solution.policy_bracket), status=status, _bounds=bounds, unknowns=None,
        values=None, _candidate=None, diagnostics=(*solution.diagnostics, Diagnostic.UNCONFIRMED),
    )  # fmt: skip


def check_lift(
    product: Product, model: MDP | IntervalMDP, spec: Spec, players: tuple[bool, bool], rest: int | None
) -> None:
    """Raise `ModelError` where the judge does not confirm a product with an agent that chooses its jumps.

    In the state `rest` all is lost.
    """
    if not all(examine_product(product, model, spec, players, chained=True, rest=rest)):
        raise ModelError(
            f"the product with the automaton of {spec.formula} was not confirmed on the model: please report both"
        )


def examine_product(
    product: Product,
    model: MDP | IntervalMDP,
    spec: Spec,
    players: tuple[bool, bool],
    policy: Policy | None = None,
    *,
    chained: bool = False,
    rest: int | None = None,
) -> ConfirmedSides:
    """Return what the judge says of a product: of its rows, of the question asked there, and of the goal.

    With `chained` the agent chooses the jumps, also where it has nothing else to choose. A policy has chosen them. In the state
    `rest` all is lost.
    """
    from umdp.solver.judge.lift import LiftedRows, is_accepted, is_lift, is_missed, is_settled, pursues

    reading, made = product.reading, product.model
    pursued = not reading.negated  # the automaton of a policy may be either
    if policy is None:
        support_may_shrink = isinstance(model, IntervalMDP) and bool((model.lower <= 0.0).any())
        pursued = pursues(*players, model.is_chain and not chained, support_may_shrink)
    asked = objective_of(made, product.spec)
    if not _is_asked(product, asked, spec, pursued, players[1]) or reading.rest != rest or not reading.reads(model):
        return ConfirmedSides(False, False)
    table = _table(product)
    lifted = LiftedRows(rows_of(made, asked), made.initial, product.state, product.memory, product.origin)
    if not any(
        is_lift(
            rows_of(base, asked_of_base),
            base.initial,
            int(reading.code[base.initial]),
            reading.along(base.successor),
            table,
            lifted,
        )
        for base, asked_of_base in _models(model, made, asked, product.spec, apart=reading.arrival is not None)
    ):
        return ConfirmedSides(False, False)
    if asked.kind == "R":
        letters = table.step.shape[1] - (reading.rest is not None)
        held = is_settled(product.memory, table, letters, asked.goal)
        return ConfirmedSides(held, held)
    if product.witness is None:
        return ConfirmedSides(False, False)
    pair, rank, level = product.witness
    used = _used(product, policy)
    below = is_accepted(lifted.rows, product.memory, table, asked.goal, used, pair, rank)
    every = np.ones_like(used) if policy is None else used
    above = is_missed(lifted.rows, product.memory, table, asked.goal, every, policy is not None, level)
    return ConfirmedSides(above, below) if asked.safety else ConfirmedSides(below, above)


def _is_asked(product: Product, asked: Objective, spec: Spec, pursued: bool, nature_max: bool) -> bool:
    """Whether a product is asked what was asked of the model, if its rows and its goal are right."""
    reading, lowered = product.reading, product.spec
    same = lowered.kind == spec.kind and lowered.threshold == spec.threshold and product.asked == spec
    directions = (lowered.agent is Direction.MAX, lowered.nature is Direction.MAX) == (pursued, nature_max)
    if not (same and directions and reading.formula == spec.formula and asked.aim == "reach" and asked.through.all()):
        return False
    if spec.kind == "R":
        return reading.every and not reading.negated and not asked.safety
    return reading.negated != pursued and asked.safety != pursued


def _models(
    model: MDP | IntervalMDP, made: MDP | IntervalMDP, asked: Objective, lowered: Spec, *, apart: bool
) -> list[tuple[MDP | IntervalMDP, Objective]]:
    """Return the model with what it is asked to pay, and without other rewards, which keep equal successors apart.

    Where the automaton reads transitions, equal successors stay `apart`.
    """
    rewards = {}
    if apart:
        return [(model, asked)]
    if asked.kind == "R":
        name = lowered.resolve_reward(list(made.rewards))
        rewards = {name: model.rewards[name]}
        asked = replace(asked, rewards=model.rewards[name])
    found = [(model, asked)]
    others = [each for name, each in model.rewards.items() if name not in rewards]
    if any(each.transition is not None for each in others):
        arrays = model.state_ptr, model.choice_ptr, model.successor
        bare = type(model)(*arrays, *model.numbers, initial=model.initial, rewards=rewards)
        if bare.transitions != model.transitions:
            paid = bare.rewards[name] if rewards else None
            found = [(bare, replace(asked, rewards=paid))]
    return found


def _table(product: Product) -> RabinTable:
    from umdp.solver.judge.lift import RabinTable

    automaton = product.reading.automaton
    sizes = [len(each) for each in automaton.jumps]
    shape = (len(automaton.pairs), automaton.states)
    return RabinTable(
        automaton.initial,
        np.ascontiguousarray(automaton.step, dtype=np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([jump for each in automaton.jumps for jump in each], dtype=np.int32),
        np.array([pair.avoid for pair in automaton.pairs], dtype=np.bool_).reshape(shape),
        np.array([pair.repeat for pair in automaton.pairs], dtype=np.bool_).reshape(shape),
    )


def _used(product: Product, policy: Policy | None) -> NDArray[np.bool_]:
    """Return the choices (C,) that are taken in the goal."""
    if policy is not None:
        return taken_choices(policy)
    return mask_of(product.stay[product.stay >= 0], product.model.choices)
