"""What a property asks of the model: who pulls which way, over which states, for how many steps."""

from __future__ import annotations

from dataclasses import dataclass

from umdp.spec import Cumulative, Direction, Globally, Next, Reach, Spec, Until
from umdp.verify.document import Model

__all__ = ["Objective", "objective"]


@dataclass(frozen=True)
class Objective:
    """A property in terms of reaching, collecting and counting steps.

    Attributes
    ----------
    kind : "P" or "R"
    agent_max, nature_max : which way each player pulls what is computed
    goal, left : reach `goal` through `left`; empty for C<=k
    complement : whether what is computed is one minus what was asked (G phi is one minus F !phi)
    steps : the step bound, None without one
    frozen : whether states of the goal, and outside `left`, keep their value (not so for X)
    """

    kind: str
    agent_max: bool
    nature_max: bool
    goal: list[bool]
    left: list[bool]
    complement: bool = False
    steps: int | None = None
    frozen: bool = True


def objective(model: Model, spec: Spec) -> Objective:
    """Return what a property asks, or raise `SpecError` where it does not fit the model."""
    agent_max, nature_max = _players(model, spec)
    steps = spec.steps(model)
    every = [True] * model.states
    formula = spec.formula
    if spec.kind == "R":
        spec.resolve_reward([] if model.reward_name is None else [model.reward_name])
    if isinstance(formula, Cumulative):
        return Objective("R", agent_max, nature_max, [False] * model.states, every, steps=steps)
    if isinstance(formula, Next):
        goal = formula.operand.evaluate(model).tolist()
        return Objective("P", agent_max, nature_max, goal, every, steps=1, frozen=False)
    if isinstance(formula, Globally):
        unsafe = (~formula.operand.evaluate(model)).tolist()
        return Objective("P", not agent_max, not nature_max, unsafe, every, complement=True, steps=steps)
    if isinstance(formula, Reach):
        return Objective("R", agent_max, nature_max, formula.operand.evaluate(model).tolist(), every)
    assert isinstance(formula, Until)
    goal, left = formula.right.evaluate(model).tolist(), formula.left.evaluate(model).tolist()
    return Objective("P", agent_max, nature_max, goal, left, steps=steps)


def _players(model: Model, spec: Spec) -> tuple[bool, bool]:
    spec = spec.deciding()
    choice = model.choices > model.states
    if spec.agent is None:
        if choice or model.uncertain:
            raise spec.error("the property does not say which way the players pull")
        return True, True
    agent = spec.agent is Direction.MAX
    if spec.nature is not None:
        return agent, spec.nature is Direction.MAX
    if choice and model.uncertain:
        raise spec.error("the model has intervals, so the property must say what nature does")
    return agent, agent
