"""Whether the counts of a certificate carry its level, computed anew: scipy's functions, linear programs for what follows."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.special import betaln, logsumexp
from scipy.stats import beta

TOLERANCE = 1e-7
INFEASIBLE = 2  # what linprog says
Interval = tuple[float, float]


def carried(content: dict[str, Any]) -> bool:
    """Whether, on what the verdict takes on trust, all bounds of the model hold with the probability claimed."""
    given, model, level = content["learning"], content["model"], content["claim"]["level"]
    kind = given.get("graph", "listed")
    groups = _groups(given, model, kind)
    spent, intervals = 0.0, {}
    for own in groups:
        if not _used(given, model, kind, own):
            continue
        spent += _price(given, own)
        if not _possible_counts(given, own):
            return False
        intervals |= {t: _interval(given, t) for t in own}
    if spent > 1 - level + 1e-14:
        return False
    if kind == "parametric":
        return _parameters(given, model, intervals)
    return all(_follows(given, model, kind, intervals, choice) for choice in range(len(model["choice_ptr"]) - 1))


def _groups(given: dict[str, Any], model: dict[str, Any], kind: str) -> list[range]:
    if kind == "events":
        return [range(2 * e, 2 * e + 2) for e in range(len(given["event_ptr"]) - 1)]
    return [
        range(a, b) for a, b in pairwise(model["choice_ptr"] if kind == "listed" else given["class_ptr"]) if b - a > 1
    ]


def _used(given: dict[str, Any], model: dict[str, Any], kind: str, own: range) -> bool:
    """Whether anything is claimed of a group."""
    if kind == "listed":
        return any(model["lower"][t] > 0 or model["upper"][t] < 1 for t in own)
    if kind in ("events", "parametric"):
        return any(given["own_lower"][t] > 0 or given["own_upper"][t] < 1 for t in own)
    for a, b in pairwise(model["choice_ptr"]):
        for t in range(a, b) if b - a > 1 else ():
            if _block(given, t) & set(own) and (model["lower"][t] > 0 or model["upper"][t] < 1):
                return True
    return False


def _block(given: dict[str, Any], transition: int) -> set[int]:
    ends = given["transition_ptr"]
    return set(given["transition_outcome"][ends[transition] : ends[transition + 1]])


def _price(given: dict[str, Any], own: range) -> float:
    """Return the probability with which an interval of a group may fail, by the union bound over different events."""
    low, high = given["lower_levels"], given["upper_levels"]
    if min(min(low[t], high[t]) for t in own) <= 0:
        return math.inf
    first, last = own[0], own[-1]
    if given["method"] == "clopper-pearson":
        if len(own) == 2:  # many hits of the first are few of the last
            return (max(low[first], high[last]) + max(high[first], low[last])) / 2
        return math.fsum((low[t] + high[t]) / 2 for t in own)
    if len(own) == 2:
        return float(max(low[first], low[last], high[first], high[last]))
    return math.fsum(max(low[t], high[t]) for t in own)


def _possible_counts(given: dict[str, Any], own: range) -> bool:
    """Whether some numbers of hits, for every outcome at every time, fit: a linear program."""
    known = {(t, given[f"{side}_samples"][t]): given[f"{side}_hits"][t] for t in own for side in ("lower", "upper")}
    for t in own:  # two different counts at one time
        for side in ("lower", "upper"):
            if known[t, given[f"{side}_samples"][t]] != given[f"{side}_hits"][t]:
                return False
    times = sorted({0, *(n for _, n in known)})
    if given["method"] == "clopper-pearson" and len({n for _, n in known}) > 1:
        return False
    size, last = len(own), len(times)
    limits: list[tuple[float, float | None]] = []
    for t in own:
        for n in times:
            exactly = 0 if n == 0 else known.get((t, n))
            if exactly is not None and (exactly > n or (n == 0 and known.get((t, 0), 0))):
                return False
            limits.append((0, n) if exactly is None else (exactly, exactly))
    total = np.zeros((last, size * last))
    for j in range(last):
        total[j, j::last] = 1
    falls = [(i * last + j, i * last + j + 1) for i in range(size) for j in range(last - 1)]
    order = np.zeros((len(falls), size * last))
    for row, (a, b) in enumerate(falls):
        order[row, a], order[row, b] = 1, -1
    found = linprog(
        np.zeros(size * last), A_ub=order if falls else None, b_ub=np.zeros(len(falls)) if falls else None, A_eq=total,
        b_eq=np.array(times, float), bounds=limits,
    )  # fmt: skip
    return bool(found.status == 0)


def _interval(given: dict[str, Any], t: int) -> Interval:
    low = _end(given, given["lower_hits"][t], given["lower_samples"][t], given["lower_levels"][t])
    misses = given["upper_samples"][t] - given["upper_hits"][t]
    return low, 1 - _end(given, misses, given["upper_samples"][t], given["upper_levels"][t])


def _end(given: dict[str, Any], hits: int, samples: int, level: float) -> float:
    """Return the lower end of an interval."""
    if hits == 0:
        return 0.0
    if given["method"] == "clopper-pearson":
        return float(beta.ppf(level / 2, hits, samples - hits + 1))
    return mixture_end(hits, samples, level, [(1.0, given["prior"], given["prior"])])


def mixture_end(hits: float, samples: float, level: float, mixture: list[Any]) -> float:
    """Return the lower end of a confidence sequence by a mixture of Beta distributions."""
    if hits <= 0:
        return 0.0
    misses = samples - hits
    parts = [math.log(w) + betaln(a + hits, b + misses) - betaln(a, b) for w, a, b in mixture if w > 0]
    if not parts:
        return 0.0
    wanted = float(logsumexp(parts)) + math.log(level)

    def excess(log_p: float) -> float:
        rest = misses * math.log(-math.expm1(log_p)) if misses else 0.0
        return hits * log_p + rest - wanted

    top = math.log(hits / samples)
    if excess(top - 1e-15 if misses == 0 else top) <= 0:
        return hits / samples
    return math.exp(brentq(excess, -800.0, top if misses else -1e-300, xtol=1e-14))


def _follows(
    given: dict[str, Any], model: dict[str, Any], kind: str, intervals: dict[int, Interval], choice: int
) -> bool:
    """Whether the bounds of a choice's transitions hold for every distribution that the intervals leave: linear programs."""
    own = range(model["choice_ptr"][choice], model["choice_ptr"][choice + 1])
    if len(own) == 1:
        return True
    if kind == "listed":
        outcomes, blocks = list(own), [{t} for t in own]
        sets = [({t}, intervals.get(t, (0.0, 1.0))) for t in own]
    else:
        blocks = [_block(given, t) for t in own]
        first = min(min(each) for each in blocks)
        number = next(k for k, (a, b) in enumerate(pairwise(given["class_ptr"])) if a <= first < b)
        outcomes = list(range(*given["class_ptr"][number : number + 2]))
        if sorted(o for each in blocks for o in each) != outcomes:
            return False
        sets = [({o}, intervals.get(o, (0.0, 1.0))) for o in outcomes] if kind == "tied" else []
        for e, (a, b) in enumerate(pairwise(given["event_ptr"])) if kind == "events" else ():
            event = set(given["event_outcome"][a:b])
            if event <= set(outcomes):
                sets.append((event, intervals.get(2 * e, (0.0, 1.0))))
                sets.append((set(outcomes) - event, intervals.get(2 * e + 1, (0.0, 1.0))))
    rows, ends = [], []
    for each, (low, high) in sets:
        row = np.array([float(o in each) for o in outcomes])
        rows += [row, -row]
        ends += [high + 1e-12, -low + 1e-12]
    for t, block in zip(own, blocks, strict=True):
        aim = np.array([float(o in block) for o in outcomes])
        for sign, bound in ((1, model["lower"][t]), (-1, -model["upper"][t])):
            found = linprog(
                sign * aim,
                A_ub=np.array(rows),
                b_ub=np.array(ends),
                A_eq=np.ones((1, len(outcomes))),
                b_eq=[1.0],
                bounds=(0, 1),
            )
            if found.status == INFEASIBLE and kind == "events":
                return True  # events with samples of their own contradict each other: one has failed, whatever the model is
            if found.status != 0 or found.fun < bound - TOLERANCE:
                return False
    return True


def _parameters(given: dict[str, Any], model: dict[str, Any], intervals: dict[int, Interval]) -> bool:
    """Whether no parameters that fit the intervals lead to a probability outside the model's bounds: tried at many points."""
    rng = np.random.default_rng(0)
    low, high = np.array(given["prior_lower"], float), np.array(given["prior_upper"], float)
    points = [rng.random((3000, low.size)), rng.integers(0, 2, (64, low.size)).astype(float)]
    box = [np.array(given[f"box_{end}"], float) for end in ("lower", "upper")]
    near = box[0] + (box[1] - box[0]) * (2.4 * rng.random((3000, low.size)) - 0.7)
    theta = np.concatenate([low + (high - low) * np.concatenate(points), np.clip(near, low, high)])
    with np.errstate(all="ignore"):
        values = [_polynomial(over, theta) / _polynomial(under, theta) for over, under in given["functions"]]
    fits = np.ones(len(theta), bool)
    for o, (least, most) in intervals.items():
        f = values[given["outcome_function"][o]]
        fits &= (f >= least + 1e-9) & (f <= most - 1e-9)
    for a, b in pairwise(model["choice_ptr"]):
        for t in range(a, b) if b - a > 1 else ():
            p = sum(values[given["outcome_function"][o]] for o in _block(given, t))
            if (fits & ((p < model["lower"][t] - TOLERANCE) | (p > model["upper"][t] + TOLERANCE))).any():
                return False
    return True


def _polynomial(terms: list[Any], theta: np.ndarray) -> np.ndarray:
    total = np.zeros(len(theta))
    for coefficient, exponents in terms:
        over, _, under = coefficient.partition("/")
        total += int(over) / int(under or 1) * np.prod(theta ** np.array(exponents), axis=1)
    return total


def played(content: dict[str, Any]) -> bool:
    """Whether the counts of a certificate by evidence carry its bound at its level."""
    given, claim = content["evidence"], content["claim"]
    rate, spent, level = given["error_rate"], given["spent"], given["spent"][given["rank"]]
    if math.fsum(spent) > rate + 1e-15 or claim["level"] > 1 - rate + 1e-15 or not 0 < level < 1:
        return False
    if math.fsum(w for w, _, _ in given["mixture"]) > 1 + 1e-12 or not 0 <= given["hits"] <= given["plays"]:
        return False
    if content["property"][0] == "P" and given["most"] != 1:
        return False
    end = mixture_end(given["hits"], given["plays"], level, given["mixture"])
    at_least = content["property"][1:4] == "max"
    share = claim["bound"] / given["most"]
    return bool((share if at_least else 1 - share) <= end + TOLERANCE)
