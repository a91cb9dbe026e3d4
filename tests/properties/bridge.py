"""Between the oracle's models and the package's, and the comparison of one answer with the exact one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from oracles.exact import Objective, policy_value, value
from properties.generate import Instance
from umdp import IntervalMDP, Policy, Rewards, Solution, Spec, evaluate, solve

PLAYERS = [(agent, nature) for agent in ("max", "min") for nature in ("max", "min")]
OBJECTIVES = [
    *(Objective("P", a, n, f) for f in ("U", "G") for a, n in PLAYERS),
    *(Objective("R", a, n, "F") for a, n in PLAYERS),
]
BOUNDED = [
    *(Objective("P", a, n, f, bound=k) for f, k in (("U", 4), ("G", 3)) for a, n in PLAYERS),
    *(Objective("P", a, n, "X") for a, n in PLAYERS),
    *(Objective("R", a, n, "C", bound=5) for a, n in PLAYERS),
]

UNDERFLOW = 1e-300  # below it doubles have no relative precision; who ends there must not say that it is precise


def to_model(instance: Instance) -> IntervalMDP:
    """Return the package's model of an instance, with the reward structure `r`."""
    state_ptr, choice_ptr = [0], [0]
    successor: list[int] = []
    lower: list[float] = []
    upper: list[float] = []
    choice_reward: list[float] = []
    paid: list[float] = []
    for choices in instance.model.choices:
        for choice in choices:
            for (target, low, high), reward in zip(choice.row, choice.transition_rewards or (), strict=True):
                successor.append(target)
                lower.append(float(low))
                upper.append(float(high))
                paid.append(float(reward))
            choice_ptr.append(len(successor))
            choice_reward.append(float(choice.reward))
        state_ptr.append(len(choice_ptr) - 1)
    rewards = Rewards(
        state=np.array([float(r) for r in instance.model.state_rewards or ()]), choice=choice_reward, transition=paid
    )
    labels = {"goal": np.array(instance.goal), "left": np.array(instance.left), "safe": np.array(instance.safe)}
    return IntervalMDP(state_ptr, choice_ptr, successor, lower, upper, labels=labels, rewards={"r": rewards})


def to_spec(objective: Objective) -> Spec:
    """Return the property for an objective."""
    k = "" if objective.bound is None else f"<={objective.bound}"
    path = {
        "U": f'"left" U{k} "goal"',
        "F": 'F "goal"',
        "G": f'G{k} "safe"',
        "X": 'X "goal"',
        "C": f"C{k}",
    }[objective.formula]
    return Spec.parse(f"{objective.kind}{objective.agent}{objective.nature}=? [ {path} ]")


def exact_value(instance: Instance, objective: Objective) -> list[Fraction | float]:
    """Return the exact value of every state."""
    goal = instance.safe if objective.formula == "G" else instance.goal
    return value(instance.model, objective, goal, instance.left if objective.formula == "U" else None)


def exact_policy(instance: Instance, objective: Objective, policy: Policy) -> list[Fraction | float]:
    """Return the exact value of every state under a policy."""
    goal = instance.safe if objective.formula == "G" else instance.goal
    left = instance.left if objective.formula == "U" else None
    ptr = policy.graph.state_ptr
    if policy.choice is not None:
        picks = [int(c - ptr[s]) for s, c in enumerate(policy.choice)]
    else:
        picks = [list(map(float, policy.weight[ptr[s] : ptr[s + 1]])) for s in range(policy.graph.states)]
    return policy_value(instance.model, objective, picks, goal, left)


def outside(lower: float, exact: Fraction | float, upper: float) -> bool:
    """Whether an exact value lies outside a bracket."""
    if exact == math.inf:
        return upper != math.inf
    low_ok = lower != math.inf and Fraction(float(lower)) <= exact
    return not (low_ok and (upper == math.inf or exact <= Fraction(float(upper))))


def too_wide(lower: float, upper: float, precision: float = 1e-6, least: float = 0.0) -> bool:
    """Whether a bracket is wider than the precision asked for, and reaches beyond `least`."""
    return lower != upper and not (upper <= least or upper - lower <= precision * upper)


def claims_too_much(solution: Solution) -> bool:
    """Whether a bracket that is wider than the precision asked for is said to be precise."""
    return solution.status.is_precise and too_wide(solution.bracket.lower, solution.bracket.upper)


def mistakes(instance: Instance, objective: Objective, *, positive: bool, method: str = "auto") -> list[str]:
    """Return what is wrong with the solver's answer to one objective, an empty list if nothing."""
    model, spec = to_model(instance), to_spec(objective)
    solution: Solution = solve(model, spec, method=method)
    exact = exact_value(instance, objective)
    found = []
    for s, (low, high) in enumerate(zip(solution.lower, solution.upper, strict=True)):
        if outside(low, exact[s], high):
            found.append(f"{spec}, state {s}: {float(exact[s])} is outside [{low!r}, {high!r}]")
        elif positive and too_wide(low, high):
            found.append(f"{spec}, state {s}: [{low!r}, {high!r}] is too wide around {float(exact[s])}")
    if objective.bound is None and objective.formula != "X":
        earned = exact_policy(instance, objective, solution.policy)[model.initial]
        own = solution.policy_bracket
        if outside(own.lower, earned, own.upper):
            found.append(f"{spec}: the policy earns {float(earned)}, outside {own}")
        if claims_too_much(solution) or too_wide(own.lower, own.upper, least=UNDERFLOW):
            found.append(f"{spec}: the policy's bracket {own} is too wide around {float(earned)}")
    return found


def evaluation_mistakes(instance: Instance, objective: Objective, policy: Policy) -> list[str]:
    """Return what is wrong with the evaluation of a policy."""
    model, spec = to_model(instance), to_spec(objective)
    solution = evaluate(model, spec, policy)
    exact = exact_policy(instance, objective, policy)
    return [
        f"{spec}, state {s}: {float(exact[s])} is outside [{low!r}, {high!r}] or that is too wide"
        for s, (low, high) in enumerate(zip(solution.lower, solution.upper, strict=True))
        if outside(low, exact[s], high)
        or claims_too_much(solution)
        or (objective.formula != "G" and too_wide(low, high, least=UNDERFLOW))
    ]
