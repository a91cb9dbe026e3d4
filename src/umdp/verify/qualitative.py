"""What the graph alone decides, with all listed transitions present that some distribution can use: plain searches over lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from umdp.errors import FormatError
from umdp.verify.document import Model
from umdp.verify.property import Question
from umdp.verify.rationals import Number

__all__ = ["ByGraph", "SearchGraph", "decide"]

WORK = 10**9  # edges, times the rounds of a search


@dataclass(frozen=True)
class ByGraph:
    """The states whose value the graph fixes, and the choices left in the others.

    Attributes
    ----------
    one : value 1 (probabilities) or the goal, value 0 (rewards)
    zero : value 0 (probabilities)
    infinite : infinite reward
    usable : the choices that do not lead to an infinite state
    """

    one: list[bool]
    zero: list[bool]
    infinite: list[bool]
    usable: list[bool]

    def open(self, state: int) -> bool:
        """Whether the graph leaves a state undecided."""
        return not (self.one[state] or self.zero[state] or self.infinite[state])

    def value(self, state: int, kind: str) -> Number:
        """Return the value of a decided state: of a probability ("P") or a reward ("R")."""
        if self.infinite[state]:
            return math.inf
        return Fraction(int(self.one[state] and kind == "P"))


class SearchGraph:
    """The edges of a model, or of one choice per state, forwards and backwards."""

    def __init__(self, model: Model, policy: Sequence[int] | None = None) -> None:
        self.states = model.states
        kept = range(model.choices) if policy is None else sorted(policy)
        self.owner = {c: s for s in range(model.states) for c in model.of(s)}
        self.successors = {c: model.rows[c].edges for c in kept}
        self.count = [0] * model.states
        self.entering: list[list[int]] = [[] for _ in range(model.states)]
        for c in kept:
            self.count[self.owner[c]] += 1
            for t in set(self.successors[c]):
                self.entering[t].append(c)

    def attract(
        self, target: list[bool], through: list[bool], *, every: bool = False, allowed: dict[int, bool] | None = None
    ) -> list[bool]:
        """Return the states of `through` drawn to `target`: by an edge of some choice, or of every choice."""
        reached = list(target)
        missing = list(self.count)
        hit: set[int] = set()
        todo = [s for s in range(self.states) if target[s]]
        while todo:
            for c in self.entering[todo.pop()]:
                s = self.owner[c]
                if reached[s] or not through[s] or c in hit or (allowed is not None and not allowed[c]):
                    continue
                hit.add(c)
                missing[s] -= 1
                if not every or missing[s] == 0:
                    reached[s] = True
                    todo.append(s)
        return reached

    def sure(self, goal: list[bool], through: list[bool]) -> list[bool]:
        """Return the states from which some policy reaches `goal` with probability 1, staying in `through`."""
        region = [g or t for g, t in zip(goal, through, strict=True)]
        allowed = {c: all(region[t] for t in targets) for c, targets in self.successors.items()}
        left = [0] * self.states
        for c, kept in allowed.items():
            left[self.owner[c]] += kept
        edges, done = sum(map(len, self.successors.values())) + self.states, 0
        while True:
            done += edges
            if done > WORK:
                raise FormatError(f"model: a search in its {edges} edges takes too many rounds to check")
            reached = self.attract(goal, [r and not g for r, g in zip(region, goal, strict=True)], allowed=allowed)
            todo = [s for s in range(self.states) if region[s] and not reached[s]]
            if not todo:
                return region
            for s in todo:
                region[s] = False
            while todo:  # choices that lead out are gone, and states without choices
                for c in self.entering[todo.pop()]:
                    if allowed[c]:
                        allowed[c] = False
                        s = self.owner[c]
                        left[s] -= 1
                        if left[s] == 0 and region[s] and not goal[s]:
                            region[s] = False
                            todo.append(s)

    def reachable(self, start: int) -> list[bool]:
        """Return the states that can be reached from one."""
        seen = [False] * self.states
        seen[start] = True
        leaving: dict[int, list[int]] = {}
        for c in self.successors:
            leaving.setdefault(self.owner[c], []).append(c)
        todo = [start]
        while todo:
            for c in leaving[todo.pop()]:
                for t in self.successors[c]:
                    if not seen[t]:
                        seen[t] = True
                        todo.append(t)
        return seen


def decide(graph: SearchGraph, asked: Question) -> ByGraph:
    """Return what the graph decides of the probability or reward of reaching a goal."""
    none, goal = [False] * graph.states, asked.goal
    through = [a and not g for a, g in zip(asked.left, goal, strict=True)]
    usable = [True] * (max(graph.owner) + 1)
    if asked.kind == "P" and asked.agent_max:
        can = graph.attract(goal, through)
        one = graph.sure(goal, [a and b for a, b in zip(through, can, strict=True)])
        return ByGraph(one, [not c for c in can], none, usable)
    if asked.kind == "P":
        zero = [not m for m in graph.attract(goal, through, every=True)]
        risky = graph.attract(zero, through)
        return ByGraph([not r for r in risky], zero, none, usable)
    if not asked.agent_max:
        sure = graph.sure(goal, through)
        for c in graph.successors:
            usable[c] = all(sure[t] for t in graph.successors[c])
        return ByGraph(goal, none, [not s for s in sure], usable)
    must = graph.attract(goal, through, every=True)
    misses = graph.attract([not m for m in must], through)
    return ByGraph(goal, none, [m and not g for m, g in zip(misses, goal, strict=True)], usable)
