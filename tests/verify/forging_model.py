"""What a forger would do to the claim, the proof and the model of a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from umdp.verify.rationals import double, number, written

__all__ = ["MODEL", "Change", "Content", "has_sign", "moved", "pessimist", "pick"]

Content = dict[str, Any]
Change = Callable[[Content, np.random.Generator], bool]


def pick(given: list[Any], rng: np.random.Generator) -> int:
    return int(rng.integers(len(given)))


def moved(x: float, rng: np.random.Generator) -> float:
    """Return another number: close by, or one that is special."""
    how = int(rng.integers(6))
    return [x * (1 + 1e-6), x * (1 - 1e-6), x + 0.05 * rng.random(), max(x - 0.05 * rng.random(), 0.0), 0.0, x * 2][how]


def _claim(content: Content, rng: np.random.Generator) -> bool:
    """Claim more: one side moves towards the other, or past it."""
    claim = content["claim"]
    low, high = (float(number(claim[side], side, signed=True)) for side in ("lower", "upper"))
    side = ("lower", "upper")[int(rng.integers(2))]
    if not (math.isfinite(low) and math.isfinite(high)):
        claim[side] = 0.5 if side == "upper" or math.isinf(low) else low + 1.0
        return True
    span = max(high - low, 1e-9, abs(high) * 1e-9)
    step = span * float(rng.choice([0.5, 1.5, 1e3, 1e6, 1e8]))
    claim["lower"], claim["upper"] = (
        (low + step, max(high, low + step)) if side == "lower" else (min(low, high - step), high - step)
    )
    if content["property"][0] in "PS":
        claim["lower"], claim["upper"] = (min(max(claim[each], 0.0), 1.0) for each in ("lower", "upper"))
    elif not has_sign(content):
        claim["lower"], claim["upper"] = (max(claim[each], 0.0) for each in ("lower", "upper"))
    return True


def has_sign(content: Content) -> bool:
    text = content["property"]
    return any(each in text for each in ("C<=", "I=", "Cdiscount", "[ S ]"))


def _follow(content: Content, rng: np.random.Generator) -> bool:
    """Move the vector of the initial state to what is claimed, and claim it."""
    side = ("lower", "upper")[int(rng.integers(2))]
    part = content.get(side)
    if part is None:
        return False
    start, name = content["model"]["initial"], "gain" if "gain" in part else "value"
    if "G" in content["property"].split("[")[1]:
        part[name][start] = 1 - content["claim"]["upper" if side == "lower" else "lower"]
        return bool(part[name][start] >= 0)
    part[name][start] = content["claim"][side]
    return True


def _scaled(content: Content, rng: np.random.Generator) -> bool:
    """Move all values of one side, and the claim with them."""
    side = ("lower", "upper")[int(rng.integers(2))]
    if side not in content:
        return False
    factor = Fraction(float(rng.choice([0.5, 0.9, 0.999, 1.001, 1.1, 2.0])))
    name = "gain" if "gain" in content[side] and rng.random() < 0.5 else "value"
    for s, each in enumerate(content[side][name]):
        now = number(each, name, signed=True)
        if isinstance(now, Fraction) and not (content["property"][0] == "P" and now in (0, 1)):
            content[side][name][s] = written(now * factor)
    return _claim_vector(content, side) if rng.random() < 0.7 else True


def _claim_vector(content: Content, side: str) -> bool:
    """Claim on one side what its vector says of the initial state."""
    part, claim, start = content[side], content["claim"], content["model"]["initial"]
    found = number(part.get("gain", part["value"])[start], side, signed=True)
    if "G" in content["property"].split("[")[1]:
        side, found = {"lower": "upper", "upper": "lower"}[side], 1 - found
    if not isinstance(found, Fraction):
        claim[side] = "inf" if side == "upper" or found > 0 else claim[side]
        return True
    claim[side] = double(found, up=side == "upper")
    other = number(claim["lower" if side == "upper" else "upper"], side, signed=True)
    if (found < other) if side == "upper" else (found > other):
        claim["lower" if side == "upper" else "upper"] = claim[side]
    return True


def _flat(content: Content, rng: np.random.Generator) -> bool:
    """Give all states that are not 0 or 1 one value, as on an end component, and ranks at random; claim it."""
    side = ("lower", "upper")[int(rng.integers(2))]
    if side not in content:
        return False
    part, size = content[side], len(content["model"]["state_ptr"]) - 1
    for s, each in enumerate(part["value"]):
        now = number(each, "value", signed=True)
        if isinstance(now, Fraction) and now not in (0, 1):
            part["value"][s] = (
                float(rng.choice([1.0, 0.0, 0.5])) if content["property"][0] == "P" else float(rng.choice([0.0, 9.0]))
            )
    if rng.random() < 0.5:
        part["rank"] = [int(r) for r in rng.integers(-1, 3, size)]
    return _claim_vector(content, side)


def pessimist(content: Content) -> None:
    """Claim nothing on the side where nature helps: there narrower bounds are noticed at once."""
    nature = content["property"][4:7]
    side = "upper" if nature == "min" else "lower"
    vector = {"lower": "upper", "upper": "lower"}[side] if " G" in content["property"] else side
    content.pop(vector, None)
    signed_ = has_sign(content)
    content["claim"][side] = {
        "upper": 1.0 if content["property"][0] == "P" else "inf",
        "lower": "-inf" if signed_ else 0.0,
    }[side]


def _cut_model(content: Content, rng: np.random.Generator) -> bool:
    """Put a model of two states in its place, in which nature would stay for ever if it could cut the way out, and claim that."""
    text = content["property"]
    if text[text.index("[") :] not in ("[ S ]", "[ C ]"):
        return False
    nature, least = str(rng.choice(["max", "min"])), float(rng.choice([0.0, 0.125]))
    here, there = (float(x) for x in rng.permutation([0.0, 1.0]))
    total = "C" in text
    content["model"] = {
        "initial": 0, "state_ptr": [0, 1, 2], "choice_ptr": [0, 2, 3], "successor": [0, 1, 1], "lower": [least, least, 1.0],
        "upper": [1.0, 1.0, 1.0], "labels": {}, "reward": {"name": "r", "state": [here, there]},
    }  # fmt: skip
    content["property"], content["policy"] = f"Rmax{nature}=? [ {'C' if total else 'S'} ]", [0, 1]
    for side in ("lower", "upper"):
        if total:
            content[side] = {"value": ["inf" if here else 0.0, "inf" if there else 0.0], "rank": [0, 0], "trap": [0, 0]}
        else:
            content[side] = {"value": [0.0, 0.0], "gain": [here, there]}
        content["claim"][side] = content[side].get("gain", content[side]["value"])[0]
    return True


def _entry(name: str) -> Change:
    def change(content: Content, rng: np.random.Generator) -> bool:
        part = content.get(("lower", "upper")[int(rng.integers(2))], {}).get(name)
        if not part:
            return False
        s = pick(part, rng)
        if name in ("rank", "trap"):
            part[s] = int(rng.integers(-1, 4))
            return True
        now = number(part[s], name, signed=True)
        part[s] = (
            "inf"
            if rng.random() < 0.05
            else written(Fraction(moved(float(now), rng)))
            if isinstance(now, Fraction)
            else 1.0
        )
        return True

    return change


def _policy(content: Content, rng: np.random.Generator) -> bool:
    policy, ptr = content.get("policy"), content["model"]["state_ptr"]
    if not policy:
        return False
    row = policy[pick(policy, rng)] if isinstance(policy[0], list) else policy
    s = pick(row, rng)
    row[s] = int(rng.integers(ptr[s], ptr[s + 1]))
    return ptr[s + 1] - ptr[s] > 1


def _property(content: Content, rng: np.random.Generator) -> bool:
    text = content["property"]
    at = (1, 4)[int(rng.integers(2))]
    if text[at : at + 3] not in ("max", "min"):
        return False
    content["property"] = text[:at] + {"max": "min", "min": "max"}[text[at : at + 3]] + text[at + 3 :]
    return True


def _steps(content: Content, rng: np.random.Generator) -> bool:
    text = content["property"]
    for k in ("<=3", "<=4", "<=5", "I=3"):
        if k in text:
            content["property"] = text.replace(k, k[:-1] + str(int(rng.integers(1, 6))))
            return True
    return False


def _bounds(content: Content, rng: np.random.Generator) -> bool:
    """Narrow, widen or move a bound of the model; or leave no room for the others."""
    model = content["model"]
    t = pick(model["lower"], rng)
    low, high = model["lower"][t], model["upper"][t]
    how = int(rng.integers(6))
    if how == 0:
        model["lower"][t] = 0.0
    elif how == 1:
        model["upper"][t] = 1.0
    elif how == 2:
        model["lower"][t] = model["upper"][t] = (low + high) / 2
    elif how == 3:
        model["lower"][t] = low + 0.3 * (high - low)
        pessimist(content)
    elif how == 4:
        model["upper"][t] = high - 0.3 * (high - low)
        pessimist(content)
    else:
        c = next(c for c in range(len(model["choice_ptr"]) - 1) if model["choice_ptr"][c + 1] > t)
        for other in range(model["choice_ptr"][c], model["choice_ptr"][c + 1]):
            model["lower"][other] = float(other == t)
        model["upper"][t] = 1.0
    return True


def _label(content: Content, rng: np.random.Generator) -> bool:
    labels = content["model"]["labels"]
    if not labels:
        return False
    name = sorted(labels)[pick(sorted(labels), rng)]
    labels[name] = sorted(set(labels[name]) ^ {pick(content["model"]["state_ptr"][1:], rng)})
    return True


def _initial(content: Content, rng: np.random.Generator) -> bool:
    content["model"]["initial"] = pick(content["model"]["state_ptr"][1:], rng)
    return True


def _reward(content: Content, rng: np.random.Generator) -> bool:
    reward = content["model"].get("reward")
    if reward is None:
        return False
    part = next(reward[name] for name in ("state", "choice", "transition") if name in reward)
    part[pick(part, rng)] += float(rng.choice([0.5, 1.0, 10.0]))
    return True


MODEL: dict[str, Change] = {
    "claim": _claim, "follow": _follow, "scaled": _scaled, "flat": _flat, "cut": _cut_model, "value": _entry("value"),
    "gain": _entry("gain"),
    "rank": _entry("rank"), "trap": _entry("trap"), "policy": _policy, "property": _property, "steps": _steps,
    "bounds": _bounds, "label": _label, "initial": _initial, "reward": _reward,
}  # fmt: skip
