"""What a forger would do to the counts, levels, classes and parameters of a certificate, and to plays."""

from __future__ import annotations

import numpy as np

from verify.forging_model import Change, Content, moved, pessimist, pick

__all__ = ["EVIDENCE", "LEARNING"]


def _level(content: Content, rng: np.random.Generator) -> bool:
    content["claim"]["level"] = 1 - (1 - content["claim"]["level"]) * float(rng.choice([0.999, 0.9, 0.5, 0.1]))
    return True


def _levels(content: Content, rng: np.random.Generator) -> bool:
    """Change levels: of one entry, of one side, of all; to more where bounds need it, to less where they are added up."""
    given, factor = content["learning"], float(rng.choice([1e-9, 0.1, 0.5, 0.9, 1.001, 2.0, 10.0]))
    for side in ("lower", "upper") if rng.random() < 0.5 else (("lower", "upper")[int(rng.integers(2))],):
        levels = given[f"{side}_levels"]
        only = pick(levels, rng) if rng.random() < 0.5 else None
        given[f"{side}_levels"] = [min(a * factor, 0.9) if only in (None, t) else a for t, a in enumerate(levels)]
    return True


def _counts(content: Content, rng: np.random.Generator) -> bool:
    given = content["learning"]
    names = ("lower_hits", "lower_samples", "upper_hits", "upper_samples")
    t, how = pick(given["lower_hits"], rng), int(rng.integers(4))
    if how == 0:
        name = names[int(rng.integers(4))]
        given[name][t] = max(0, given[name][t] + int(rng.choice([-50, -5, -1, 1, 5, 50, 1000])))
    elif how == 1:  # ten times as many of everything
        for name in names:
            given[name] = [10 * n for n in given[name]]
    elif how == 2:  # the ends of one from a time that others do not have
        more = int(rng.choice([1, 10, 1000]))
        for side in ("lower", "upper"):
            given[f"{side}_samples"][t] += more
            given[f"{side}_hits"][t] += more if rng.random() < 0.5 else 0
    else:
        for side in ("lower", "upper"):
            given[f"{side}_hits"][t] = given[f"{side}_samples"][t] // 2
    return True


def _both(content: Content, rng: np.random.Generator) -> bool:
    """Narrow the bounds of the model, and of what proves them, alike."""
    given, model = content["learning"], content["model"]
    part = float(rng.choice([1e-4, 0.05, 0.5]))
    for low, high in ((model["lower"], model["upper"]), (given.get("own_lower"), given.get("own_upper"))):
        for t in range(len(low or ())):
            if low[t] < high[t] and (low[t] > 0 or high[t] < 1):
                low[t], high[t] = low[t] + part * (high[t] - low[t]) / 2, high[t] - part * (high[t] - low[t]) / 2
    if "box_lower" in given:
        for i, (low, high) in enumerate(zip(given["box_lower"], given["box_upper"], strict=True)):
            given["box_lower"][i], given["box_upper"][i] = low + part * (high - low) / 2, high - part * (high - low) / 2
    pessimist(content)
    return True


def _pointers(content: Content, rng: np.random.Generator) -> bool:
    given = content["learning"]
    names = [
        n
        for n in ("class_ptr", "transition_ptr", "transition_outcome", "event_ptr", "event_outcome", "outcome_function")
        if given.get(n)
    ]
    if not names:
        return False
    part = given[names[pick(names, rng)]]
    t = pick(part, rng)
    part[t] = int(part[pick(part, rng)] if rng.random() < 0.7 else max(0, part[t] + int(rng.choice([-1, 1]))))
    return True


def _method(content: Content, rng: np.random.Generator) -> bool:
    given = content["learning"]
    if rng.random() < 0.5:
        given["method"] = {"clopper-pearson": "confidence-sequence", "confidence-sequence": "clopper-pearson"}[
            given["method"]
        ]
        given["prior"] = given["prior"] or 0.5
    else:
        given["prior"] = float(rng.choice([1e-3, 0.5, 5.0, 100.0]))
    return True


def _box(content: Content, rng: np.random.Generator) -> bool:
    given = content["learning"]
    if "parameters" not in given:
        return False
    which, part = ("box", "prior")[int(rng.integers(2))], float(rng.choice([1e-3, 0.1, 0.4]))
    low, high = given[f"{which}_lower"], given[f"{which}_upper"]
    for i in range(len(low)):
        low[i], high[i] = low[i] + part * (high[i] - low[i]), high[i] - part * (high[i] - low[i])
    model = content["model"]
    for t, (least, most) in enumerate(zip(model["lower"], model["upper"], strict=True)):
        if least < most and rng.random() < 0.5:
            model["lower"][t], model["upper"][t] = least + part * (most - least) / 2, most - part * (most - least) / 2
    pessimist(content)
    return True


def _function(content: Content, rng: np.random.Generator) -> bool:
    given = content["learning"]
    if "functions" not in given:
        return False
    terms = given["functions"][pick(given["functions"], rng)][int(rng.integers(2))]
    if terms:
        terms[pick(terms, rng)][0] = str(rng.choice(["1", "1/2", "-1", "3/4", "0"]))
    return bool(terms)


def _said(content: Content, rng: np.random.Generator) -> bool:
    given = content.get("learning", content.get("evidence", {}))
    given["assumptions"] = ["the choices of every class share one distribution over outcomes", "nothing is assumed"]
    return True


def _played(name: str) -> Change:
    def change(content: Content, rng: np.random.Generator) -> bool:
        given = content["evidence"]
        if name == "bound":
            content["claim"]["bound"] = min(
                max(content["claim"]["bound"] + float(rng.choice([-0.1, -1e-4, 1e-4, 0.1])), 0.0), 1e6
            )
        elif name == "spent":
            factor = float(rng.choice([0.1, 1.001, 2.0, 10.0]))
            given["spent"] = [min(a * factor, 0.9) for a in given["spent"]]
        elif name == "fewer":
            given["spent"], given["rank"] = [given["spent"][given["rank"]]], 0
        elif name == "rank":
            given["rank"] = pick(given["spent"], rng)
        elif name == "mixture":
            given["mixture"][0] = [
                float(rng.choice([0.5, 1.0, 2.0])),
                *(float(x) for x in rng.choice([0.5, 5.0, 50.0], 2)),
            ]
        elif name == "plays":
            given["plays"] = max(0, given["plays"] + int(rng.choice([-100, -1, 1, 100])))
        else:
            given[name] = moved(float(given[name]), rng)
        return True

    return change


LEARNING: dict[str, Change] = {
    "level": _level, "levels": _levels, "counts": _counts, "both": _both, "pointers": _pointers, "method": _method, "box": _box,
    "function": _function, "said": _said,
}  # fmt: skip
_PLAYED = ("bound", "spent", "fewer", "rank", "mixture", "plays", "hits", "most", "error_rate")
EVIDENCE: dict[str, Change] = {f"played: {name}": _played(name) for name in _PLAYED} | {
    "played: level": _level, "played: said": _said,
}  # fmt: skip
