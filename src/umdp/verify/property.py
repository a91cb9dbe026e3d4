"""What a property asks of the model: who pulls which way, over which states, for how many steps, at what price."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from umdp.spec import Direction, Discounted, Instantaneous, Spec
from umdp.spec.temporal_formula import AutomatonFile, RewardBounded, TemporalFormula
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
    aim : reach, bounded, total, discounted or average
    discount : what a step later counts
    reward, paid : what choices and transitions earn; nothing for probabilities
    final : the values with no step left to go, where they are not those of the goal
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
    aim: str = "reach"
    discount: Fraction = Fraction(1)
    reward: list[Fraction] = field(default_factory=list)
    paid: list[Fraction] | None = None
    final: list[Fraction] | None = None

    def side(self, *, upper: bool) -> str:
        """Return which side of the claim a bound from above, or from below, on what is computed proves."""
        return "upper" if upper != self.complement else "lower"


def objective(model: Model, spec: Spec) -> Question:
    """Return what a property asks, or raise `SpecError` where it does not fit the model, or the checker does not know it."""
    if spec.filter is not None:
        raise spec.error("a certificate is about the value of the initial state", "leave out the filter")
    if isinstance(spec.formula, TemporalFormula | AutomatonFile | RewardBounded):
        raise spec.error(
            "a certificate is about the product with an automaton", "give the product, and what it must reach"
        )
    agent_max, nature_max = _players(model, spec)
    steps = spec.steps(model)
    asked = spec.formula.reachability()
    reward, paid, final = [Fraction(0)] * model.choices, None, None
    if spec.kind == "R":
        spec.resolve_reward([] if model.reward_name is None else [model.reward_name])
        reward, paid = model.reward, model.paid
    goal, left = asked.goal.evaluate(model).tolist(), asked.through.evaluate(model).tolist()
    if spec.kind == "S":  # the share of time is what a step earns where being there earns 1
        reward = [Fraction(int(goal[s])) for s in range(model.states) for _ in model.of(s)]
    if isinstance(spec.formula, Instantaneous):
        reward, paid, final = [Fraction(0)] * model.choices, None, model.state_reward
    if asked.safety:
        agent_max, nature_max = not agent_max, not nature_max
    wait = 0 if asked.wait is None else asked.wait.steps(model)[0]
    factor = Fraction(spec.formula.factor(model)) if isinstance(spec.formula, Discounted) else Fraction(1)
    return Question(
        "P" if spec.kind == "S" else spec.kind, agent_max, nature_max, goal, left, asked.safety, steps, not asked.exact,
        wait, spec.aim, factor, reward, paid, final,
    )  # fmt: skip


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
