"""Whether what a certificate claims of its model is true, by exact rationals and by listing, and not by the checker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from oracles.exact import Choice, Model, Objective, exact, policy_value, value, vertices
from oracles.infinite_horizon import Step, chain_average, chain_total, discounted, listed
from umdp.verify.rationals import number
from verify.tamper import _model, _objective

SMALL = (Fraction(1, 2**14), Fraction(1, 2**42), Fraction(1, 2**70))  # what an edge that nature would cut keeps
NEAR = Fraction(1, 1000)  # what that may change

Value = Fraction | float


def claim_holds(content: dict[str, Any]) -> bool:
    """Whether the value of the initial state, and that of the policy where it is claimed, lie where the file says."""
    claim = content["claim"]
    low, high = (number(claim[side], side, signed=True) for side in ("lower", "upper"))
    slip = _slip(content)
    found = _value(content, None)
    if not low - slip <= found <= high + slip:
        return False
    if claim.get("policy") is not True:
        return True
    own = _value(content, content["policy"])
    return own >= low - slip if content["property"][1:4] == "max" else own <= high + slip


def _slip(content: dict[str, Any]) -> Fraction:
    """Return how well the value is known: exactly, but where nature would cut a transition of a sum without end."""
    if _path(content) not in ("S", "C") and content["property"][0] != "S":
        return Fraction(0)
    rewards = content["model"].get("reward", {})
    largest = max(
        (abs(Fraction(r)) for each in ("state", "choice", "transition") for r in rewards.get(each, [])), default=1
    )
    return NEAR * (3 * Fraction(largest) + 1) if _cuts(_model(content["model"])) else Fraction(0)


def _path(content: dict[str, Any]) -> str:
    text = content["property"]
    return str(text[text.index("[") + 1 : text.rindex("]")].strip())


def _value(content: dict[str, Any], policy: Any) -> Value:
    model, start, path, text = (
        _model(content["model"]),
        content["model"]["initial"],
        _path(content),
        content["property"],
    )
    ptr = content["model"]["state_ptr"]
    if policy is not None and not isinstance(policy[0], list):
        chosen = [[each[policy[s] - ptr[s]]] for s, each in enumerate(model.choices)]
        if path in ("S", "C") or path.startswith(("C", "I=")) or text[0] == "S":
            model = Model(chosen, model.state_rewards)
    agent, nature = text[1:4], text[4:7]
    if text[0] == "S":
        members = set(content["model"]["labels"][path.strip('"')])
        shares = [int(s in members) for s in range(len(ptr) - 1)]
        bare = [[Choice(c.rows) for c in each] for each in model.choices]
        return _endless(Model(bare, shares), agent, nature, "S", start)
    if path in ("S", "C"):
        return _endless(model, agent, nature, path, start)
    if path.startswith("Cdiscount="):
        return discounted(model, agent, nature, Fraction(float(path[10:])))[start]
    if path.startswith("I=") or (policy is not None and isinstance(policy[0], list)):
        return _by_steps(content, model, policy)
    objective, goal, left = _objective(content)
    if policy is None or path.startswith("C"):
        return value(model, objective, goal, left)[start]
    return policy_value(model, objective, [c - ptr[s] for s, c in enumerate(policy)], goal, left)[start]


def _by_steps(content: dict[str, Any], model: Model, policy: Any) -> Value:
    """Return the value by backward induction, of a policy that depends on the step if one is given."""
    path, text, ptr = _path(content), content["property"], content["model"]["state_ptr"]
    size, start = len(model.choices), content["model"]["initial"]
    best, worst = (max if text[1:4] == "max" else min), (max if text[4:7] == "max" else min)
    if path.startswith("I="):
        steps, now, fixed, flipped = int(path[2:]), list(model.state_rewards or ()), [False] * size, False
        model = Model([[Choice(c.rows) for c in each] for each in model.choices])
    else:
        objective, goal, left = _objective(content)
        flipped, steps = objective.formula == "G", objective.bound or 1
        goal = [not g for g in goal] if flipped else goal
        if flipped:
            best, worst = (min if best is max else max), (min if worst is max else max)
        now = [Fraction(int(g)) for g in goal]
        kept = objective.formula not in ("X", "C")
        fixed = [kept and (g or (left is not None and not left[s])) for s, g in enumerate(goal)]
        if objective.kind == "P":
            model = Model([[Choice(c.rows) for c in each] for each in model.choices])
    nested = policy is not None and isinstance(policy[0], list)
    for step in range(steps - 1, -1, -1):
        after = list(now)
        for s in range(size):
            if fixed[s]:
                continue
            choices = [model.choices[s][policy[step][s] - ptr[s]]] if nested else model.choices[s]
            after[s] = best(worst(_worth(model, s, c, p, now) for p in vertices(c.row)) for c in choices)
        now = after
    return 1 - now[start] if flipped else now[start]


def _worth(model: Model, state: int, choice: Choice, p: tuple[Fraction, ...], now: list[Any]) -> Fraction:
    base = exact((model.state_rewards or ())[state]) + exact(choice.reward)
    paid = choice.transition_rewards or ()
    return base + sum(
        (q * (exact(r) + now[t]) for q, r, (t, _, _) in zip(p, paid, choice.row, strict=True)), Fraction(0)
    )


def _cuts(model: Model) -> bool:
    return any(min(p) == 0 for each in model.choices for c in each for p in vertices(c.row))


def _endless(model: Model, agent: Any, nature: Any, what: str, start: int) -> Value:
    """Return an average or a total; where nature may cut transitions, nearly: listed ones have positive probabilities."""
    if not _cuts(model):
        return listed(model, agent, nature, what)[start]
    of_chain = chain_average if what == "S" else chain_total
    found = []
    for policy in product(*model.choices):
        steps = [list(_open_steps(model, s, c)) for s, c in enumerate(policy)]
        answers = [_far(of_chain(list(chain))[start], model) for chain in product(*steps)]
        found.append(max(answers) if nature == "max" else min(answers))
    return max(found) if agent == "max" else min(found)


def _far(found: Value, model: Model) -> Value:
    """Return a total as infinite where it grows beyond bounds as probabilities vanish."""
    largest = max((abs(exact(r)) for r in model.state_rewards or ()), default=Fraction(0))
    for each in model.choices:
        for c in each:
            largest = max(largest, abs(exact(c.reward)), *(abs(exact(r)) for r in c.transition_rewards or ()))
    return math.inf if found > 2**13 * (3 * largest + 1) else found


def _open_steps(model: Model, state: int, choice: Choice) -> Iterator[Step]:
    """Yield steps near every vertex that use all edges: with a little, less and hardly anything of the mean of all vertices."""
    every = vertices(choice.row)
    mean = [sum(column, Fraction(0)) / len(every) for column in zip(*every, strict=True)]
    for vertex in every:
        for part in SMALL if min(vertex) == 0 else SMALL[:1]:
            mixed = vertex if min(vertex) > 0 else [p + part * (m - p) for p, m in zip(vertex, mean, strict=True)]
            probabilities = {t: p for p, (t, _, _) in zip(mixed, choice.row, strict=True) if p > 0}
            yield probabilities, _worth(model, state, choice, tuple(mixed), [Fraction(0)] * len(model.choices))


__all__ = ["Objective", "claim_holds"]
