"""What a property asks of the model: who pulls which way, over which states, for how many steps."""

from __future__ import annotations

from dataclasses import dataclass

from umdp.spec import Direction, Spec
from umdp.verify.document import Model

__all__ = ["Question", "objective"]


@dataclass(frozen=True)
class Question:
    """A property in terms of reaching, collecting and counting steps.

    Attributes
    ----------
    kind : "P" or "R"
    agent_max, nature_max : which way each player pulls what is computed
    goal, left : reach `goal` through `left`; empty for C<=k
    complement : whether what is computed is one minus what was asked (G phi is one minus F !phi)
    steps : the step bound, None without one
    frozen : whether states of the goal, and outside `left`, keep their value (not so for X)
    wait : so many steps from the beginning nothing is reached yet; whoever is outside `left` then has failed
    """

    kind: str
    agent_max: bool
    nature_max: bool
    goal: list[bool]
    left: list[bool]
    complement: bool = False
    steps: int | None = None
    frozen: bool = True
    wait: int = 0


def objective(model: Model, spec: Spec) -> Question:
    """Return what a property asks, or raise `SpecError` where it does not fit the model."""
    agent_max, nature_max = _players(model, spec)
    steps = spec.steps(model)
    asked = spec.formula.reachability()
    if spec.kind == "R":
        spec.resolve_reward([] if model.reward_name is None else [model.reward_name])
    goal, left = asked.goal.evaluate(model).tolist(), asked.through.evaluate(model).tolist()
    if asked.safety:
        agent_max, nature_max = not agent_max, not nature_max
    wait = 0 if asked.wait is None else asked.wait.steps(model)[0]
    return Question(spec.kind, agent_max, nature_max, goal, left, asked.safety, steps, not asked.exact, wait)


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
