"""Certificates of sums and averages: accepted as they are, and never when they were changed to claim something false."""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracles.exact import Model, Objective, value
from oracles.infinite_horizon import discounted, listed
from properties.bridge import PLAYERS, to_model
from properties.generate import random_model
from properties.test_infinite_horizon import drawn
from umdp import MDP, IntervalMDP, Policy, Rewards, SpecError, evaluate, solve
from umdp.verify import verify_content
from umdp.verify.rationals import number, written
from verify.tamper import _model, accepted, signed

KINDS = ("claim", "value", "gain", "rank", "trap", "policy", "property", "transition", "reward")
ASKED = ("Cdiscount=0.95", "S", "C", "C<=4", "I=3")


def content_of(model: IntervalMDP, spec: str, precision: float = 1e-6) -> dict[str, Any]:
    certificate = solve(model, spec, precision=precision).certificate()
    return json.loads(certificate.to_json())


def exact_value(model: Model, text: str) -> Fraction | float:
    """Return the value of the initial state, 0, by the oracle."""
    agent, nature, path = text[1:4], text[4:7], text[text.index("[") + 1 : -1].strip()
    size = len(model.choices)
    if path in ("S", "C"):
        return listed(model, agent, nature, path)[0]  # type: ignore[arg-type]
    if path.startswith("Cdiscount="):
        return discounted(model, agent, nature, Fraction(float(path[10:])))[0]  # type: ignore[arg-type]
    if path.startswith("C<="):
        objective = Objective("R", agent, nature, "C", bound=int(path[3:]))  # type: ignore[arg-type]
        return value(model, objective, goal=[False] * size)[0]
    steps = int(
        path[2:]
    )  # I=k: what is earned by k + 1 steps of which only the last pays, where nothing is paid but by states
    v = [Fraction(r) for r in model.state_rewards or ()]
    for _ in range(steps):
        v = [_one_step(model, s, v, agent, nature) for s in range(size)]
    return v[0]


def _one_step(model: Model, state: int, v: list[Fraction], agent: str, nature: str) -> Fraction:
    from oracles.exact import vertices

    best, worst = (max if agent == "max" else min), (max if nature == "max" else min)
    return best(
        worst(
            sum((p * v[t] for (t, _, _), p in zip(c.row, vertex, strict=True)), Fraction(0))
            for vertex in vertices(c.row)
        )
        for c in model.choices[state]
    )


def is_true(content: dict[str, Any]) -> bool:
    """Whether the oracle agrees with the claim about the value, and about the policy."""
    model, text, claim = _model(content["model"]), content["property"], content["claim"]
    low, high = (number(claim[side], side, signed=True) for side in ("lower", "upper"))
    if not low <= exact_value(model, text) <= high:
        return False
    policy, ptr = content.get("policy"), content["model"]["state_ptr"]
    if not claim["policy"] or policy is None or isinstance(policy[0], list):
        return True
    own = Model([[each[policy[s] - ptr[s]]] for s, each in enumerate(model.choices)], model.state_rewards)
    worth = exact_value(own, text)
    return worth >= low if text[1:4] == "max" else worth <= high


def changed(content: dict[str, Any], kind: str, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return a changed copy with a right checksum; None where there is nothing to change."""
    made = copy.deepcopy(content)
    claim, model = made["claim"], made["model"]
    side = ("lower", "upper")[int(rng.integers(2))]
    away = 1 if side == "lower" else -1
    if kind == "claim":
        other = number(claim["upper" if side == "lower" else "lower"], "claim", signed=True)
        if not isinstance(other, Fraction):
            return None
        claim["lower"] = claim["upper"] = math.nextafter(float(other), away * math.inf)
    elif kind in ("value", "gain"):
        part = made.get(side, {}).get(kind)
        if not part:
            return None
        s = int(rng.integers(len(part)))
        before = number(part[s], kind, signed=True)
        part[s] = written(before + away * Fraction(int(rng.integers(1, 9)), 4)) if isinstance(before, Fraction) else 0.0
        if kind == "gain":
            claim[side] = written(max(Fraction(0), *map(abs, map(Fraction, (claim["lower"], claim["upper"])))) * away)
    elif kind in ("rank", "trap"):
        if kind not in made.get("lower", {}):
            return None
        made["lower"][kind] = [int(r) for r in rng.permutation(made["lower"][kind])]
    elif kind == "policy":
        several = [s for s in range(len(model["state_ptr"]) - 1) if np.diff(model["state_ptr"])[s] > 1]
        if not several or isinstance(made["policy"][0], list):
            return None
        s = int(rng.choice(several))
        made["policy"][s] = int(rng.integers(model["state_ptr"][s], model["state_ptr"][s + 1]))
    elif kind == "property":
        text = made["property"]
        flip, at = {"max": "min", "min": "max"}, (1, 4)[int(rng.integers(2))]
        made["property"] = text[:at] + flip[text[at : at + 3]] + text[at + 3 :]
    elif kind == "transition":
        t = int(rng.integers(len(model["lower"])))
        model["lower"][t] = model["upper"][t] = 0.5 * (model["lower"][t] + model["upper"][t])
    else:
        c = int(rng.integers(len(model["reward"]["choice"])))
        model["reward"]["choice"][c] += away
    return signed(made)


def attack(content: dict[str, Any], rng: np.random.Generator, found: Counter[tuple[str, str]]) -> list[str]:
    fooled = []
    for kind in KINDS:
        made = changed(content, kind, rng)
        if made is None:
            continue
        if not accepted(made):
            found[kind, "refused"] += 1
        elif kind != "claim" and is_true(made):
            found[kind, "still true"] += 1
        else:
            fooled.append(kind)
    return fooled


def check(number: int, path: str, found: Counter[tuple[str, str]]) -> None:
    rng = np.random.default_rng([31, number])
    small = path in ("S", "C")
    instance = drawn(32, number, signed=path != "C", zero_lower=not small and number % 2 == 1, small=small)
    model = to_model(instance)
    for agent, nature in PLAYERS:
        spec = f"R{agent}{nature}=? [ {path} ]"
        solution = solve(model, spec, precision=(1e-6, 1e-12)[number % 2])
        certificate = solution.certificate()
        content = json.loads(certificate.to_json())
        verdict = verify_content(content)
        assert verdict.valid, (number, spec, verdict.reason)
        assert is_true(content), (number, spec)
        if solution.status.is_precise:
            assert certificate.lower >= solution.bracket.lower, (number, spec, certificate.notes)
            assert certificate.upper <= solution.bracket.upper, (number, spec, certificate.notes)
        assert not attack(content, rng, found), (number, spec)


@pytest.mark.parametrize("path", ASKED)
def test_certificates_are_accepted_and_no_false_one_is(path: str) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for number_ in range(12):
        check(number_, path, found)
    refused = {kind for kind, what in found if what == "refused"}
    wanted = {"claim", "property", "transition"} | {
        "Cdiscount=0.95": {"value", "policy", "reward"}, "S": {"value", "gain", "policy", "reward"},
        "C": {"value", "trap", "rank", "policy", "reward"}, "C<=4": {"reward"}, "I=3": set(),
    }[path]  # fmt: skip
    assert refused >= wanted, wanted - refused


@pytest.mark.slow
@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("first", range(100, 500, 100))
def test_many_certificates_of_sums_and_averages(path: str, first: int) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for number_ in range(first, first + 100):
        check(number_, path, found)


@pytest.mark.parametrize("path", ["Cdiscount=0.99", "S", "C"])
def test_larger_models_are_proved_to_the_bracket(path: str) -> None:
    model = to_model(random_model(np.random.default_rng([33, 1]), states=(60, 90)))
    for agent, nature in PLAYERS:
        solution = solve(model, f"R{agent}{nature}=? [ {path} ]")
        certificate = solution.certificate()
        assert verify_content(json.loads(certificate.to_json())).valid
        assert certificate.lower >= solution.bracket.lower
        assert certificate.upper <= solution.bracket.upper


def machine() -> IntervalMDP:
    """A machine that works (pays 1) and breaks with probability 0.1 to 0.2; repaired with probability 0.5 (costs 2 a step)."""
    return IntervalMDP(
        [0, 1, 2], [0, 2, 4], [0, 1, 0, 1], [0.8, 0.1, 0.5, 0.5], [0.9, 0.2, 0.5, 0.5], labels={"up": [0]},
        rewards={"profit": Rewards(state=[1.0, -2.0])},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "exact"),
    [
        # up a share of 0.5 / (0.5 + p) of the time
        ("Rmin=? [ S ]", Fraction(1, 2) / (Fraction(1, 2) + Fraction(0.2))),
        ("Smin=? [ up ]", Fraction(1, 2) / (Fraction(1, 2) + Fraction(0.2))),
        ("Smax=? [ up ]", Fraction(1, 2) / (1 - Fraction(0.9) + Fraction(1, 2))),
    ],
)
def test_shares_of_time(spec: str, exact: Fraction) -> None:
    text = spec.replace("up", '"up"')
    wanted = 3 * exact - 2 if spec[0] == "R" else exact
    certificate = solve(machine(), text).certificate()
    verdict = verify_content(json.loads(certificate.to_json()))
    assert verdict.valid, verdict.reason
    assert Fraction(certificate.lower) <= wanted <= Fraction(certificate.upper)
    assert certificate.upper - certificate.lower < 1e-6


def test_an_infinite_total_is_proved() -> None:
    paid = IntervalMDP(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.3, 0.2, 1], [0.8, 0.7, 1], rewards={"r": Rewards(state=[0, 1])}
    )
    content = content_of(paid, "Rmin=? [ C ]")
    assert content["claim"]["lower"] == "inf"
    assert verify_content(content).valid
    content["lower"]["trap"] = [-1, -1]
    assert not accepted(signed(content))


def test_what_is_not_about_the_initial_state_is_refused() -> None:
    with pytest.raises(SpecError, match="initial state"):
        solve(machine(), 'filter(max, Smax=? [ "up" ])').certificate()
    with pytest.raises(SpecError, match="others inside"):
        solve(machine(), 'Pmax=? [ F P>=0.6 [ X "up" ] ]').certificate()
    content = content_of(machine(), 'Smax=? [ "up" ]')
    content["property"] = 'filter(max, Smax=? [ "up" ])'
    assert not accepted(signed(content))


def test_negative_rewards_are_refused_where_a_sum_may_not_have_a_value() -> None:
    content = content_of(machine(), "Rmin=? [ C<=3 ]")
    for path in ("C", 'F "up"'):
        content["property"] = f"Rmin=? [ {path} ]"
        assert not accepted(signed(content))


def test_an_evaluation_proves_its_policy() -> None:
    mdp = MDP([0, 2, 3], [0, 1, 2, 3], [0, 1, 0], [1, 1, 1], rewards={"r": Rewards(choice=[-1.0, 2.0, 0.0])})
    solution = evaluate(mdp, "Rmax=? [ Cdiscount=0.5 ]", Policy(mdp, [0, 2]))
    certificate = solution.certificate()
    assert certificate.lower <= -2.0
    assert certificate.upper >= 8 / 3  # the value of the best policy, not of the one that was evaluated
    assert verify_content(json.loads(certificate.to_json())).valid
