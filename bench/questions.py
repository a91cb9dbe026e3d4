"""Every kind of property that is asked of small random models, and its exact value in rationals.

A model is read from its arrays; everything else is the work of `tests/oracles`, which shares no code with the package.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from oracles.exact import Choice, Direction, Model, Objective, Value, _induction, policy_value, value, vertices
from oracles.infinite_horizon import chain_average, chain_total, discounted, steps_of
from oracles.temporal import AUTOMATA, temporal_reward, temporal_value

if TYPE_CHECKING:
    from umdp import IntervalMDP, Solution

__all__ = [
    "KINDS",
    "REWARDED",
    "SIGNED",
    "Exact",
    "Question",
    "crowded",
    "largest_reward",
    "may_cut",
    "outside",
    "to_oracle",
]

LISTED = 3000  # chains up to which averages and totals are found by listing all of them
SIGNED = ("C<=", "I=", "discount", "average")  # what takes rewards of any sign
KINDS = {
    "F": 'F "goal"',
    "U": '"left" U "goal"',
    "G": 'G "safe"',
    "X": 'X "goal"',
    "F<=": 'F<={k} "goal"',
    "U<=": '"left" U<={k} "goal"',
    "G<=": 'G<={k} "safe"',
    "reach": 'F "goal"',
    "C<=": "C<={k}",
    "I=": "I={k}",
    "discount": "Cdiscount={d!r}",
    "total": "C",
    "average": "S",
    "share": '"goal"',
    "then reward": AUTOMATA["then"].text,
    **{name: automaton.text for name, automaton in AUTOMATA.items()},
}
REWARDED = ("reach", "C<=", "I=", "discount", "total", "average", "then reward")


@dataclass(frozen=True)
class Question:
    """One property: its kind, the players, and what it is about."""

    kind: str
    agent: Direction
    nature: Direction
    reward: str = "r0"
    bound: int = 3
    discount: float = 0.9

    @property
    def text(self) -> str:
        """The property as it is written."""
        letter = "S" if self.kind == "share" else "R" if self.kind in REWARDED else "P"
        named = f'{{"{self.reward}"}}' if letter == "R" else ""
        path = KINDS[self.kind].format(k=self.bound, d=self.discount)
        return f"{letter}{named}{self.agent}{self.nature}=? [ {path} ]"

    @property
    def bounded(self) -> bool:
        """Whether it is over a number of steps."""
        return self.kind in ("X", "F<=", "U<=", "G<=", "C<=", "I=")

    @property
    def temporal(self) -> bool:
        """Whether it needs an automaton."""
        return self.kind in AUTOMATA or self.kind == "then reward"

    @property
    def listed(self) -> bool:
        """Whether its value is found by listing all chains."""
        return self.kind in ("total", "average", "share")


def to_oracle(model: IntervalMDP, reward: str | None = None) -> Model:
    """Return the oracle's model of the arrays of a model."""
    pays = model.rewards.get(reward) if reward is not None else None
    state = None if pays is None or pays.state is None else [float(r) for r in pays.state]
    table: list[list[Choice]] = []
    for s in range(model.states):
        table.append([])
        for c in range(int(model.state_ptr[s]), int(model.state_ptr[s + 1])):
            row: dict[int, list[Any]] = {}
            for i in range(int(model.choice_ptr[c]), int(model.choice_ptr[c + 1])):
                paid = 0.0 if pays is None or pays.transition is None else float(pays.transition[i])
                row[int(model.successor[i])] = [float(model.lower[i]), float(model.upper[i]), paid]
            got = 0.0 if pays is None or pays.choice is None else float(pays.choice[c])
            table[-1].append(Choice([(t, a, b) for t, (a, b, _) in row.items()], got, [p for *_, p in row.values()]))
    return Model(table, state)


def may_cut(model: Model) -> bool:
    """Whether nature may give some edge of the graph probability 0."""
    for choices in model.choices:
        for choice in choices:
            edges = set(choice.edges)
            for p in vertices(choice.row):
                if any(q == 0 and t in edges for q, (t, _, _) in zip(p, choice.row, strict=True)):
                    return True
    return False


def crowded(model: Model) -> bool:
    """Whether some listed transition cannot be used, since the others fill everything."""
    return any(len(c.edges) < len(c.row) for choices in model.choices for c in choices)


def _letters(model: IntervalMDP) -> list[tuple[bool, bool, bool]]:
    return [tuple(bool(model.labels[n][s]) for n in ("goal", "left", "safe")) for s in range(model.states)]  # type: ignore[misc]


class Exact:
    """The exact values of questions about one model, each found once."""

    def __init__(self, model: IntervalMDP, goal: str = "goal") -> None:
        self.model = model
        every = np.ones(model.states, dtype=np.bool_)
        names = (goal, "left", "safe")
        self.goal, self.left, self.safe = ([bool(x) for x in model.labels.get(name, every)] for name in names)
        self._oracle: dict[str | None, Model] = {}
        self._known: dict[Any, list[Value] | None] = {}
        self._lists: dict[Any, Any] = {}

    def oracle(self, reward: str | None) -> Model:
        """Return the model with one of its rewards."""
        if reward not in self._oracle:
            self._oracle[reward] = to_oracle(self.model, reward)
        return self._oracle[reward]

    def value(self, question: Question, picks: tuple[int, ...] | None = None) -> list[Value] | None:
        """Return the value of every state, of the best policy or of one given by its choices; None where it costs too much."""
        key = (question, picks)
        if key not in self._known:
            self._known[key] = self._found(question, picks)
        return self._known[key]

    def _found(self, question: Question, picks: tuple[int, ...] | None) -> list[Value] | None:
        model = self.oracle(question.reward if question.kind in REWARDED else None)
        if picks is not None:
            first = self.model.state_ptr
            model = Model(
                [[choices[p - int(first[s])]] for s, (choices, p) in enumerate(zip(model.choices, picks, strict=True))],
                model.state_rewards,
            )
        return self._of(model, question, picks)

    def _of(self, model: Model, question: Question, picks: tuple[int, ...] | None) -> list[Value] | None:
        agent, nature, kind = question.agent, question.nature, question.kind
        goal, left, safe, k = self.goal, self.left, self.safe, question.bound
        if kind in ("F", "U", "G", "X"):
            return value(model, Objective("P", agent, nature, kind), safe if kind == "G" else goal, left)  # type: ignore[arg-type]
        if kind in ("F<=", "U<=", "G<="):
            asked = Objective("P", agent, nature, kind[0], k)  # type: ignore[arg-type]
            return value(model, asked, safe if kind == "G<=" else goal, left)
        if kind == "reach":
            return value(model, Objective("R", agent, nature, "F"), goal)
        if kind == "C<=":
            return value(model, Objective("R", agent, nature, "C", k), goal)
        if kind == "I=":
            start = [Fraction(r) for r in model.state_rewards or ()]
            return _induction(model, Objective("P", agent, nature, "X"), k, start, fixed=0, weights=None)
        if kind == "discount":
            return list(discounted(model, agent, nature, Fraction(question.discount)))
        if question.listed:
            return self._all(model, question, picks)
        if kind == "then reward":
            return temporal_reward(model, agent, nature, _letters(self.model))
        return temporal_value(model, AUTOMATA[kind], agent, nature, _letters(self.model))

    def _all(self, model: Model, question: Question, picks: tuple[int, ...] | None) -> list[Value] | None:
        """Return averages or totals by listing the chains; one list serves all players."""
        if question.kind == "share":
            bare = [[Choice(c.rows) for c in choices] for choices in model.choices]
            model = Model(bare, [int(g) for g in self.goal])
        key = (question.kind, question.reward, picks)
        if key not in self._lists:
            every = [[steps_of(model, s, c) for c in choices] for s, choices in enumerate(model.choices)]
            count = math.prod(sum(map(len, each)) for each in every)
            if count > LISTED:
                self._lists[key] = None
            else:
                of_chain = chain_total if question.kind == "total" else chain_average
                self._lists[key] = [[of_chain(list(c)) for c in product(*policy)] for policy in product(*every)]
        chains = self._lists[key]
        if chains is None:
            return None
        by_agent, by_nature = (max if way == "max" else min for way in (question.agent, question.nature))
        best = [[by_nature(column) for column in zip(*found, strict=True)] for found in chains]
        return [by_agent(column) for column in zip(*best, strict=True)]

    def randomised(self, question: Question, weights: Sequence[float]) -> list[Value] | None:
        """Return the value of every state under a policy that draws its choices; None where the oracle knows no way."""
        ptr = self.model.state_ptr
        parts = [[Fraction(float(w)) for w in weights[int(ptr[s]) : int(ptr[s + 1])]] for s in range(self.model.states)]
        model = self.oracle(question.reward if question.kind in REWARDED else None)
        if question.kind == "discount":
            mixed = [
                [(c, w / sum(p)) for c, w in zip(cs, p, strict=True) if w > 0]
                for cs, p in zip(model.choices, parts, strict=True)
            ]
            return list(discounted(model, question.agent, question.nature, Fraction(question.discount), mixed))
        if question.kind not in ("F", "U", "G", "X", "F<=", "U<=", "G<=", "reach", "C<="):
            return None
        letter = {"reach": "F"}.get(question.kind, question.kind[0])
        kind = "R" if question.kind in REWARDED else "P"
        bound = question.bound if question.kind.endswith("<=") else None
        asked = Objective(kind, question.agent, question.nature, letter, bound)  # type: ignore[arg-type]
        return policy_value(model, asked, parts, self.safe if letter == "G" else self.goal, self.left)

    def stepwise(self, question: Question, choice: Any) -> list[Value]:
        """Return the value of every state under the choices (K, S) of a policy that knows the step."""
        model = self.oracle(question.reward if question.kind in REWARDED else None)
        ptr, size, kind = self.model.state_ptr, self.model.states, question.kind
        rewarded = kind == "C<="
        safety = kind == "G<="
        goal = mask_of(self.safe if safety else self.goal)
        everything = (1 << size) - 1
        if kind == "I=":
            values, fixed = [Fraction(r) for r in model.state_rewards or ()], 0
        elif rewarded:
            values, fixed = [Fraction(0)] * size, 0
        else:
            values = [Fraction(bool(goal >> s & 1)) for s in range(size)]
            fixed = {"X": 0, "F<=": goal, "U<=": goal | everything & ~mask_of(self.left), "G<=": everything & ~goal}[
                kind
            ]
        steps = 1 if kind == "X" else question.bound
        asked = (
            Objective("R", "max", question.nature, "C", steps)
            if rewarded
            else Objective("P", "max", question.nature, "X")
        )
        for k in range(steps - 1, -1, -1):
            picked = [model.choices[s][int(choice[k][s]) - int(ptr[s])] for s in range(size)]
            weights = [[(c, Fraction(1))] for c in picked]
            values = _induction(model, asked, 1, values, fixed=fixed, weights=weights)  # type: ignore[arg-type,assignment]
        return list(values)

    def remembering(self, question: Question, solution: Solution) -> list[Value]:
        """Return the value, at the beginning, of the policy with memory that a solution of a temporal formula has."""
        made, policy = solution.product, solution.policy
        assert made is not None
        assert policy.choice is not None
        wide = to_oracle(made.model, question.reward if question.kind == "then reward" else None)  # type: ignore[arg-type]
        ptr = made.model.state_ptr
        letters = _letters(self.model)

        def settled(p: int) -> int:
            """Where the memory has changed as the policy wants before the next step."""
            for _ in range(made.model.states):
                c = int(policy.choice[p])  # type: ignore[index]
                if made.origin[c] >= 0:
                    return p
                p = int(made.model.successor[made.model.choice_ptr[c]])
            return p

        table = []
        for p in range(made.model.states):
            q = settled(p)
            table.append([wide.choices[q][int(policy.choice[q]) - int(ptr[q])]])
        chain = Model(table, wide.state_rewards)
        seen = [letters[int(s)] for s in made.state]
        if question.kind == "then reward":
            return temporal_reward(chain, question.nature, question.nature, seen)
        return temporal_value(chain, AUTOMATA[question.kind], question.agent, question.nature, seen)


def mask_of(states: Sequence[bool]) -> int:
    """Return the bit mask of the true entries."""
    return sum(1 << s for s, member in enumerate(states) if member)


def outside(lower: float, exact: Value, upper: float) -> bool:
    """Whether an exact value lies outside a bracket (or the bracket is none)."""
    if exact == math.inf:
        return upper != math.inf or math.isnan(lower)
    if math.isnan(lower) or math.isnan(upper) or lower == math.inf or upper == -math.inf:
        return True
    low_ok = lower == -math.inf or Fraction(float(lower)) <= exact
    return not (low_ok and (upper == math.inf or exact <= Fraction(float(upper))))


def largest_reward(model: IntervalMDP, question: Question) -> float:
    """Return the most that a step may earn, in size: what the width of a sum of any sign is relative to."""
    if question.kind == "share":
        return 1.0
    if question.kind not in SIGNED:
        return 0.0
    pays = model.rewards[question.reward]
    zero = np.zeros(1)
    state, choice, paid = (
        np.abs(zero if part is None else part) for part in (pays.state, pays.choice, pays.transition)
    )
    return float((np.broadcast_to(state, model.states)[model.choice_state] + choice).max() + paid.max())
