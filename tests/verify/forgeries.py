"""The rows of the forger's table (docs/explanation/forgeries.md): what a field is set to, and what the checker says."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from umdp import IntervalMDP, Rewards, solve
from umdp.statements import Premise, Refusal
from verify.originals import evidence_certificates, learned_certificates, parameter_certificates

Content = dict[str, Any]
HUGE = 10**400
Set = Callable[[Content], Any]


@dataclass(frozen=True)
class Row:
    """One row: which valid certificate is changed, how, and why it is refused then; or the premise that is then named.

    `says` are words of the message where the file is not well-formed, or in the data of the premise.
    """

    original: str
    change: Set
    says: str = ""
    names: Premise | None = None
    refused: Collection[Refusal] = ()


@cache
def _original(name: str) -> Content:
    if name in SOLVED:
        model, spec = SOLVED[name]
        return solve(model(), spec).certificate().content
    if name == "parameters":
        return next(parameter_certificates(0))
    if name == "plays":
        return next(evidence_certificates(1))
    if name == "earnings":
        return next(evidence_certificates(2))
    order = ("sequence", "tied", "events", "fixed", "fixed tied", "fixed events")
    return dict(zip(order, learned_certificates(0), strict=True))[name]


def original(name: str) -> Content:
    """Return a copy of a valid certificate."""
    return copy.deepcopy(_original(name))


def _walk() -> IntervalMDP:
    """State 0 stays, wins or loses, and may also stay for sure."""
    return IntervalMDP(
        [0, 2, 3, 4], [0, 3, 4, 5, 6], [0, 1, 2, 0, 1, 2], [0.5, 0.125, 0.125, 1, 1, 1], [0.75, 0.5, 0.25, 1, 1, 1],
        labels={"goal": [1]}, rewards={"r": Rewards(state=[1.0, 0.0, 0.0])},
    )  # fmt: skip


def _coin() -> IntervalMDP:
    return IntervalMDP(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.25, 0.25, 1], [0.75, 0.75, 1], labels={"goal": [1]},
        rewards={"r": Rewards(state=[1.0, 0.0])},
    )  # fmt: skip


def _cycle() -> IntervalMDP:
    return IntervalMDP(
        [0, 1, 2],
        [0, 2, 4],
        [0, 1, 0, 1],
        [0.25, 0.25, 0.5, 0.5],
        [0.75, 0.75, 0.5, 0.5],
        rewards={"r": Rewards(state=[1.0, 0.0])},
    )


SOLVED: dict[str, tuple[Callable[[], IntervalMDP], str]] = {
    "reach": (_walk, 'Pmaxmin=? [ F "goal" ]'),
    "reward": (_coin, 'Rminmax=? [ F "goal" ]'),
    "bounded": (_walk, 'Pmaxmin=? [ F<=3 "goal" ]'),
    "total": (_walk, "Rminmax=? [ C ]"),
    "average": (_cycle, "Rmaxmin=? [ S ]"),
    "discounted": (_cycle, "Rmaxmin=? [ Cdiscount=0.9 ]"),
}


def put(*where: str | int, to: Any) -> Set:
    """Return the change that sets one field."""

    def change(content: Content) -> None:
        inside: Any = content
        for key in where[:-1]:
            inside = inside[key]
        inside[where[-1]] = to

    return change


def cut(total: bool) -> Set:
    """Return the change to a model whose first state is left for ever, claimed to be kept by nature, which cuts the way out."""

    def change(content: Content) -> None:
        here, there = (0.0, 1.0) if total else (1.0, 0.0)
        content["model"] |= {
            "initial": 0, "state_ptr": [0, 1, 2], "choice_ptr": [0, 2, 3], "successor": [0, 1, 1], "lower": [0, 0, 1],
            "upper": [1, 1, 1], "labels": {}, "reward": {"name": "r", "state": [here, there]},
        }  # fmt: skip
        proof = {"value": [0.0, "inf"]} if total else {"value": [0.0, 0.0], "gain": [here, there]}
        content |= {
            "policy": [0, 1],
            "lower": None if total else proof,
            "upper": proof,
            "property": f"Rmax{'min' if total else 'max'}=? [ {'C' if total else 'S'} ]",
        }
        content["claim"] |= {"lower": 0.0 if total else 1.0, "upper": 0.0 if total else 1.0, "policy": True}

    return change


def no_room(content: Content) -> None:
    """Claim the probability of an edge that no distribution can use."""
    content["model"] |= {
        "state_ptr": [0, 1, 2], "choice_ptr": [0, 2, 3], "successor": [0, 1, 1], "lower": [1.0, 0.0, 1.0],
        "upper": [1.0, 0.5, 1.0],
    }  # fmt: skip
    content |= {"policy": [0, 1], "lower": {"value": [1.0, 1.0]}, "upper": {"value": [1.0, 1.0]}}
    content["claim"] |= {"lower": 1.0, "upper": 1.0}


def counts(hits: list[int], samples: list[int]) -> Set:
    """Return the change of the counts of the first choice, of three successors."""

    def change(content: Content) -> None:
        for side in ("lower", "upper"):
            content["learning"][f"{side}_hits"][:3], content["learning"][f"{side}_samples"][:3] = hits, samples

    return change


def halves(content: Content) -> None:
    """Take both lower ends of a pair at twice the level, and the upper ends at none to speak of."""
    given = content["learning"]
    for t in (3, 4, 8, 9):
        given["lower_levels"][t], given["upper_levels"][t] = 2 * given["lower_levels"][t], 1e-200


def loose_class(content: Content) -> None:
    """Add a class of one outcome, which no choice has, whose function is the parameter."""
    given = content["learning"]
    given["class_ptr"].append(given["class_ptr"][-1] + 1)
    given["outcome_function"].append(1)
    given["own_lower"].append(0.25)
    given["own_upper"].append(0.25)
    for name in ("lower_hits", "lower_samples", "upper_hits", "upper_samples", "lower_levels", "upper_levels"):
        given[name].append(0)


def only_outcome(content: Content) -> None:
    """Say that the parameter is the probability of a class's only outcome."""
    given = content["learning"]
    given["outcome_function"][0] = 1


def formulas(content: Content) -> None:
    doubled = {f"f{i}": f"f{i - 1} & f{i - 1}" for i in range(1, 61)}
    content["model"]["formulas"] = {"f0": '"goal"', **doubled}
    content["property"] = "Pmaxmin=? [ F f60 ]"


def degrees(content: Content) -> None:
    given, size = content["learning"], 16
    given["parameters"] = [f"p{i}" for i in range(size)]
    for name, end in (("prior", 0.0), ("box", 0.0)):
        given[f"{name}_lower"], given[f"{name}_upper"] = [end] * size, [1.0] * size
    given["functions"] = [[[["1", [64] * size]], [["1", [0] * size]]] for _ in given["functions"]]


def busy(content: Content) -> None:
    """Make functions of a degree that keeps the checker busy: p^64 and what is left of it, in the place of p and 1 - p."""
    given = content["learning"]
    given["functions"][1] = [[["1", [64]]], [["1", [0]]]]
    given["functions"][2] = [[["1", [0]], ["-1", [64]]], [["1", [0]]]]
    given["functions"] += [[[["1", [64]]], [["1", [0]]]] for _ in range(3000)]


def mass(content: Content) -> None:
    given = content["learning"]
    given["class_ptr"] = [0, 6000]
    model = content["model"]
    model |= {
        "initial": 0,
        "state_ptr": [0, 1, 2],
        "choice_ptr": [0, 6000, 6001],
        "successor": [0, 1] * 3000 + [1],
        "labels": {"goal": [1]},
    }
    model |= {"lower": [0.0] * 6000 + [1.0], "upper": [1.0] * 6001}
    content |= {"policy": [0, 1], "lower": None, "upper": None}
    given["transition_ptr"], given["transition_outcome"] = [*range(6001), 12000], [*range(6000)] * 2
