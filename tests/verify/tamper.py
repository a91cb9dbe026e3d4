"""Certificates changed after the fact, and whether what they then claim is true (asked of the oracle, not of the checker)."""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from oracles.exact import Choice, Model, Objective, policy_value, value
from umdp.errors import UmdpError
from umdp.verify import verify_content
from umdp.verify.document import digest
from umdp.verify.rationals import number, written

KINDS = ("bound", "value", "policy", "rank", "trap", "property", "transition", "reward", "digest")


def signed(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with the checksum it needs, read back from its text."""
    return json.loads(json.dumps({**content, "digest": digest(content)}))


def accepted(content: dict[str, Any]) -> bool:
    """Whether the checker accepts a certificate."""
    try:
        return verify_content(content).valid
    except UmdpError:
        return False


def tampered(content: dict[str, Any], kind: str, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return a changed copy, its checksum made right again (but for `kind` "digest"); None where there is nothing to change."""
    changed = copy.deepcopy(content)
    if kind == "digest":
        changed = signed(changed)
        changed["claim"]["lower"] = 0.0
        return None if content["claim"]["lower"] == 0.0 else changed
    return signed(changed) if _CHANGES[kind](changed, rng) else None


def _bound(content: dict[str, Any], rng: np.random.Generator) -> bool:
    """Claim more than is true: a lower bound above the upper one, or the reverse."""
    claim = content["claim"]
    low, high = (float(number(claim[side], side)) for side in ("lower", "upper"))
    if rng.random() < 0.5 and math.isfinite(high):
        top = math.nextafter(high, math.inf)
        claim["lower"] = claim["upper"] = top
        return "P" not in content["property"][:1] or top <= 1
    if low > 0 and math.isfinite(low):
        claim["lower"] = claim["upper"] = math.nextafter(low, 0)
        return True
    return False


def _value(content: dict[str, Any], rng: np.random.Generator) -> bool:
    """Raise a state of the lower vector above the upper one, or the reverse."""
    if "lower" not in content or "upper" not in content:
        return False
    low, high = content["lower"]["value"], content["upper"]["value"]
    for s in rng.permutation(len(low)):
        a, b = number(low[s], "low"), number(high[s], "high")
        if not 0 < a <= b < (1 if content["property"][0] == "P" else math.inf):
            continue
        if rng.random() < 0.5:
            low[s] = written(min((b * 3 + 1) / 4, b * 2) if content["property"][0] == "P" else b * 2)
        else:
            high[s] = written(a / 2)
        return True
    return False


def _policy(content: dict[str, Any], rng: np.random.Generator) -> bool:
    policy, ptr = content["policy"], content["model"]["state_ptr"]
    several = [s for s in range(len(ptr) - 1) if ptr[s + 1] - ptr[s] > 1]
    if not several or isinstance(policy[0], list):
        return False
    s = int(rng.choice(several))
    policy[s] = int(rng.choice([c for c in range(ptr[s], ptr[s + 1]) if c != policy[s]]))
    return True


def _ranks(name: str) -> Any:
    def change(content: dict[str, Any], rng: np.random.Generator) -> bool:
        for side in ("lower", "upper"):
            if name in content.get(side, {}):
                content[side][name] = [int(r) for r in rng.permutation(content[side][name])]
                return True
        return False

    return change


def _property(content: dict[str, Any], rng: np.random.Generator) -> bool:
    text = content["property"]
    head, rest = text.split("=", 1)
    players = [head[1:4], head[4:7]]
    flip = {"max": "min", "min": "max"}
    which = int(rng.integers(2))
    players[which] = flip[players[which]]
    content["property"] = f"{head[0]}{players[0]}{players[1]}={rest}"
    return True


def _transition(content: dict[str, Any], rng: np.random.Generator) -> bool:
    model = content["model"]
    loose = [t for t, (a, b) in enumerate(zip(model["lower"], model["upper"], strict=True)) if a < b]
    if not loose:
        return False
    t = int(rng.choice(loose))
    side = "lower" if rng.random() < 0.5 else "upper"
    model[side][t] = 0.5 * (model["lower"][t] + model["upper"][t])
    return True


def _reward(content: dict[str, Any], rng: np.random.Generator) -> bool:
    if "reward" not in content["model"]:
        return False
    choice = content["model"]["reward"]["choice"]
    c = int(rng.integers(len(choice)))
    choice[c] = choice[c] * 2 + 1
    return True


_CHANGES: dict[str, Any] = {
    "bound": _bound, "value": _value, "policy": _policy, "rank": _ranks("rank"), "trap": _ranks("trap"),
    "property": _property, "transition": _transition, "reward": _reward,
}  # fmt: skip


def is_true(content: dict[str, Any]) -> bool:
    """Whether the oracle agrees with what a certificate of a small model claims, of the value and of the policy."""
    objective, goal, left = _objective(content)
    model = _model(content["model"])
    start = content["model"]["initial"]
    claim = content["claim"]
    low, high = (number(claim[side], side) for side in ("lower", "upper"))
    exact = value(model, objective, goal, left)[start]
    if not low <= exact <= high:
        return False
    policy = content.get("policy")
    if not claim["policy"] or policy is None or isinstance(policy[0], list):
        return True
    ptr = content["model"]["state_ptr"]
    own = policy_value(model, objective, [c - ptr[s] for s, c in enumerate(policy)], goal, left)[start]
    return own >= low if objective.agent == "max" else own <= high


def _model(given: dict[str, Any]) -> Model:
    reward = given.get("reward", {})
    size = len(given["state_ptr"]) - 1
    table = []
    for s in range(size):
        choices = []
        for c in range(given["state_ptr"][s], given["state_ptr"][s + 1]):
            own: Any = range(given["choice_ptr"][c], given["choice_ptr"][c + 1])
            rows: Any = [(given["successor"][t], given["lower"][t], given["upper"][t]) for t in own]
            if sum(Fraction(low) for _, low, _ in rows) >= 1:  # the others have no room: they are no edges
                own, rows = zip(*((t, row) for t, row in zip(own, rows, strict=True) if row[1] > 0), strict=True)
            paid = [reward["transition"][t] for t in own] if "transition" in reward else None
            choices.append(Choice(rows, reward["choice"][c] if "choice" in reward else 0, paid))
        table.append(choices)
    return Model(table, reward.get("state", [Fraction(0)] * size))


def _objective(content: dict[str, Any]) -> tuple[Objective, list[bool], list[bool] | None]:
    text, model = content["property"], content["model"]
    size = len(model["state_ptr"]) - 1

    def states(label: str) -> list[bool]:
        members = set(model["labels"].get(label, ()))
        return [s in members for s in range(size)]

    kind, agent, nature = text[0], text[1:4], text[4:7]
    path = text[text.index("[") + 1 : text.rindex("]")].strip()
    bound = int(path.split("<=")[1].split()[0]) if "<=" in path else None
    if path.startswith("C"):
        return Objective(kind, agent, nature, "C", bound), [False] * size, None
    if path.startswith("G"):
        return Objective(kind, agent, nature, "G", bound), states("safe"), None
    if path.startswith("X"):
        return Objective(kind, agent, nature, "X"), states("goal"), None
    if " U" in path:
        return Objective(kind, agent, nature, "U", bound), states("goal"), states("left")
    return Objective(kind, agent, nature, "F", bound), states("goal"), None


def attack(content: dict[str, Any], rng: np.random.Generator, found: Counter[tuple[str, str]]) -> list[str]:
    """Try every kind of change once; count what happened, and return the kinds that were accepted though false."""
    fooled = []
    for kind in KINDS:
        changed = tampered(content, kind, rng)
        if changed is None:
            continue
        if not accepted(changed):
            found[kind, "refused"] += 1
        elif kind not in ("bound", "value", "digest") and is_true(changed):
            found[kind, "still true"] += 1
        else:
            found[kind, "FOOLED"] += 1
            fooled.append(kind)
    return fooled
