"""The exact value of a small interval Markov decision process, in rationals.

Plain data in, fractions out; nothing here imports the package under test.

Meaning
-------
A row of a choice allows the distributions {p : lower <= p <= upper, sum p = 1}, in exact arithmetic of the given
numbers. Where the lower bounds sum to 1 or more the row is the one distribution lower / sum(lower), where the upper
bounds sum to 1 or less it is upper / sum(upper). A listed transition that some of these distributions can use is an edge of
the graph: one with upper > 0, unless its lower bound is 0 and those of the others sum to 1 or more. What the graph alone decides
is decided with all edges present:

========== ============================================= ==============================================
objective  decided                                       decided
========== ============================================= ==============================================
P max      0: no policy reaches the goal                 1: some policy reaches it almost surely
P min      0: some policy avoids the goal                1: every policy reaches it almost surely
R min      infinite: no policy reaches it almost surely  choices that may lead there are dropped
R max      infinite: some policy may miss the goal
========== ============================================= ==============================================

"max" and "min" are the agent's direction here; nature's plays no part. In the remaining states nature uses the
closed set, so it may cut edges: a trapped play has probability 0 of reaching the goal, and an infinite reward. Their
value is the optimum over memoryless policies of nature's optimum over the vertices of the rows. ``G safe`` is one
minus ``F not safe`` with both directions flipped. Bounded formulas and ``X`` are backward induction, nothing is
decided beforehand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import lcm
from numbers import Integral, Rational
from typing import Literal, cast

from .arena import Arena, Kind, Option, Stage, almost_sure, attract, avoidable, best_response, mask
from .game import enumerated, opposed, together

Number = int | float | Fraction
Value = Fraction | float
Direction = Literal["max", "min"]
Formula = Literal["U", "F", "G", "X", "C"]
Row = tuple[tuple[int, Fraction, Fraction], ...]


def exact(number: Number) -> Fraction:
    """Convert a number exactly; numpy's scalars are accepted."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, Integral):
        return Fraction(int(number))
    return Fraction(number) if isinstance(number, Rational) else Fraction(float(number))


@dataclass(frozen=True)
class Choice:
    """One choice of a state.

    Parameters
    ----------
    rows : sequence of (successor, lower, upper)
        The transitions; successors are distinct.
    reward : number, optional
        Collected whenever the choice is taken.
    transition_rewards : sequence of numbers, optional
        Collected with each transition, in the order of ``rows``; 0 by default.
    """

    rows: Sequence[tuple[int, Number, Number]]
    reward: Number = 0
    transition_rewards: Sequence[Number] | None = None

    def __post_init__(self) -> None:
        rewards = [0] * len(self.rows) if self.transition_rewards is None else self.transition_rewards
        bounds = [(int(t), exact(lower), exact(upper)) for t, lower, upper in self.rows]
        kept = [(b, exact(r)) for b, r in zip(bounds, rewards, strict=True) if b[2] > 0]
        if len({b[0] for b, _ in kept}) < len(kept) or not kept:
            raise ValueError(f"successors must be distinct and some upper bound positive: {self.rows}")
        if any(not 0 <= lower <= upper for (_, lower, upper), _ in kept):
            raise ValueError(f"bounds must satisfy 0 <= lower <= upper: {self.rows}")
        object.__setattr__(self, "rows", tuple(b for b, _ in kept))
        object.__setattr__(self, "transition_rewards", tuple(r for _, r in kept))
        object.__setattr__(self, "reward", exact(self.reward))

    @property
    def row(self) -> Row:
        """The listed transitions, exact."""
        return cast("Row", self.rows)

    @property
    def edges(self) -> list[int]:
        """The successors that some distribution within the bounds can reach."""
        full = sum(lower for _, lower, _ in self.row) >= 1
        return [t for t, lower, _ in self.row if lower > 0 or not full]

    @property
    def support(self) -> int:
        """The mask of the edges."""
        return sum(1 << t for t in self.edges)


@dataclass(frozen=True)
class Model:
    """An interval Markov decision process: the choices of every state, at least one each, and state rewards.

    Examples
    --------
    >>> goal = Choice([(1, 1, 1)])
    >>> model = Model([[Choice([(0, 0.25, 0.5), (1, 0.5, 0.75)], reward=3)], [goal]])
    >>> value(model, Objective("R", "min", "max", "F"), goal=[False, True])
    [Fraction(6, 1), Fraction(0, 1)]
    """

    choices: Sequence[Sequence[Choice]]
    state_rewards: Sequence[Number] | None = None

    def __post_init__(self) -> None:
        rewards = [0] * len(self.choices) if self.state_rewards is None else self.state_rewards
        object.__setattr__(self, "choices", tuple(tuple(choices) for choices in self.choices))
        object.__setattr__(self, "state_rewards", tuple(exact(r) for r in rewards))
        size = len(self.choices)
        if len(self.state_rewards or ()) != size or not all(self.choices):
            raise ValueError("every state needs a reward and at least one choice")
        if any(not 0 <= t < size for choices in self.choices for c in choices for t, _, _ in c.rows):
            raise ValueError("a successor is out of range")


@dataclass(frozen=True)
class Objective:
    """What is asked for.

    Parameters
    ----------
    kind : {"P", "R"}
        Probability or reward.
    agent, nature : {"max", "min"}
        The players' directions.
    formula : {"U", "F", "G", "X", "C"}
        P: ``left U goal``, ``F goal``, ``G goal``, ``X goal``; R: ``F goal``, ``C<=bound``.
    bound : int, optional
        The number of steps of a bounded ``U``, ``F``, ``G`` or ``C``.
    """

    kind: Kind
    agent: Direction
    nature: Direction
    formula: Formula
    bound: int | None = None

    def __post_init__(self) -> None:
        known = self.formula in {"P": "UFGX", "R": "FC"}[self.kind]
        bounded = {"X": False, "C": True}.get(self.formula, self.kind == "P" and self.bound is not None)
        if not known or bounded != (self.bound is not None):
            raise ValueError(f"no such objective: {self}")

    @property
    def flipped(self) -> "Objective":
        """``F`` with both directions flipped, for ``G``."""
        other: dict[Direction, Direction] = {"max": "min", "min": "max"}
        return replace(self, agent=other[self.agent], nature=other[self.nature], formula="F")


@lru_cache(maxsize=4096)
def vertices(row: Row) -> tuple[tuple[Fraction, ...], ...]:
    """List the vertices of a row's distributions: all but at most one entry lie on a bound."""
    lowers, uppers = [r[1] for r in row], [r[2] for r in row]
    for bounds, outside in ((lowers, sum(lowers) >= 1), (uppers, sum(uppers) <= 1)):
        if outside:
            return (tuple(b / sum(bounds) for b in bounds),)
    found: dict[tuple[Fraction, ...], None] = {}
    for free, (_, lower, upper) in enumerate(row):
        rest = [sorted({r[1], r[2]}) for i, r in enumerate(row) if i != free]
        for others in product(*rest):
            last = 1 - sum(others, Fraction(0))
            if lower <= last <= upper:
                found[(*others[:free], last, *others[free:])] = None
    return tuple(found)


def _gain(model: Model, state: int, choice: Choice) -> list[Fraction]:
    """Give the reward of every transition of a choice, the state's and the choice's included."""
    assert model.state_rewards is not None
    assert choice.transition_rewards is not None
    base = exact(model.state_rewards[state]) + exact(choice.reward)
    return [base + exact(r) for r in choice.transition_rewards]


def _row_optimum(row: Row, worth: Sequence[Fraction], maximise: bool) -> Fraction:
    """Optimise sum p_i worth_i over a row: the lower bounds first, the slack in order of worth."""
    if sum(r[1] for r in row) >= 1 or sum(r[2] for r in row) <= 1:
        (only,) = vertices(row)
        return sum((p * w for p, w in zip(only, worth, strict=True)), Fraction(0))
    total = sum((r[1] * w for r, w in zip(row, worth, strict=True)), Fraction(0))
    slack = 1 - sum(r[1] for r in row)
    for i in sorted(range(len(row)), key=worth.__getitem__, reverse=maximise):
        share = min(slack, row[i][2] - row[i][1])
        total += share * worth[i]
        slack -= share
    return total


Weights = list[list[tuple[Choice, Fraction]]]


def _induction(
    model: Model, objective: Objective, steps: int, start: list[Fraction], *, fixed: int, weights: Weights | None
) -> list[Value]:
    """Run ``steps`` backups; the states of the mask ``fixed`` keep their value."""
    values = start
    for _ in range(steps):
        after = list(values)
        for s, choices in enumerate(model.choices):
            if fixed >> s & 1:
                continue
            found = []
            for choice in choices if weights is None else [c for c, _ in weights[s]]:
                gains = _gain(model, s, choice) if objective.kind == "R" else [Fraction(0)] * len(choice.rows)
                worth = [g + values[t] for g, (t, _, _) in zip(gains, choice.rows, strict=True)]
                found.append(_row_optimum(choice.row, worth, objective.nature == "max"))
            if weights is None:
                after[s] = max(found) if objective.agent == "max" else min(found)
            else:
                after[s] = sum((w * f for (_, w), f in zip(weights[s], found, strict=True)), Fraction(0))
        values = after
    return list(values)


def _decide(model: Model, objective: Objective, goal: int, left: int, weights: Weights | None) -> tuple[int, int]:
    """Decide by the graph with all edges: the absorbing target, and the states still open.

    For P the target is where the value is 1, and what is neither target nor open has value 0. For R the target is the
    goal, and the rest is infinite.
    """
    size = len(model.choices)
    everything = (1 << size) - 1
    graph: Arena = {}
    for s, choices in enumerate(model.choices):
        if left >> s & 1 and not goal >> s & 1:
            supports = [c.support for c in choices]
            if weights is not None:
                union = 0
                for c, _ in weights[s]:
                    union |= c.support
                supports = [union]
            graph[s] = [[Option(m, (), 0) for m in supports]]
    sure, _, _ = almost_sure(graph, goal)
    avoid = avoidable(graph, goal, everything)
    miss, _ = attract(graph, avoid)
    if objective.kind == "R":
        return goal, (sure if objective.agent == "min" else everything & ~miss) & ~goal
    if objective.agent == "max":
        reached, _ = attract(graph, goal)
        return sure, reached & ~sure
    return everything & ~miss, miss & ~avoid


def _unbounded(
    model: Model, objective: Objective, goal: int, left: int, *, weights: Weights | None, method: str
) -> list[Value]:
    size = len(model.choices)
    target, inner = _decide(model, objective, goal, left, weights)
    kind = objective.kind
    scale: dict[int, int] = {}
    options: dict[int, list[list[Option]]] = {}
    for s in range(size):
        if not inner >> s & 1:
            continue
        pairs = [(c, Fraction(1)) for c in model.choices[s]] if weights is None else weights[s]
        if kind == "R":
            # Choices that may lead to an infinite state; with the agent maximising there are none.
            pairs = [(c, w) for c, w in pairs if not c.support & ~(inner | target)]
        steps: list[list[tuple[list[tuple[int, Fraction]], Fraction]]] = []
        for choice, weight in pairs:
            gains = _gain(model, s, choice) if kind == "R" else [Fraction(0)] * len(choice.rows)
            steps.append([])
            for p in vertices(choice.row):
                reward = sum((weight * q * g for q, g in zip(p, gains, strict=True)), Fraction(0))
                edges = [(t, weight * q) for q, (t, _, _) in zip(p, choice.rows, strict=True) if q > 0]
                steps[-1].append((edges, reward))
        denominators = {x.denominator for moves in steps for e, r in moves for x in (r, *(q for _, q in e))}
        scale[s] = common = lcm(*denominators)
        options[s] = [
            [
                Option(sum(1 << t for t, _ in e), tuple((t, int(q * common)) for t, q in e), int(r * common))
                for e, r in moves
            ]
            for moves in steps
        ]
    stage = Stage(kind, scale, target, size)
    agent_max, nature_max = objective.agent == "max", objective.nature == "max"
    if weights is not None:
        found = best_response(stage, nature_max, options).fractions()
    elif method == "enumerate":
        found = enumerated(stage, agent_max, nature_max, options)
    elif agent_max == nature_max:
        found = together(stage, agent_max, options).fractions()
    else:
        found = opposed(stage, agent_max, options).fractions()
    if kind == "R":
        return [v if (inner | target) >> s & 1 else float("inf") for s, v in enumerate(found)]
    return found


def _value(
    model: Model,
    objective: Objective,
    goal: Sequence[bool],
    left: Sequence[bool] | None,
    weights: Weights | None,
    *,
    method: str = "certified",
) -> list[Value]:
    size = len(model.choices)
    everything = (1 << size) - 1
    if objective.formula == "G":
        missed = _value(model, objective.flipped, [not g for g in goal], None, weights, method=method)
        return [1 - v for v in missed]
    target = mask(goal)
    if objective.formula == "C":
        assert objective.bound is not None
        return _induction(model, objective, objective.bound, [Fraction(0)] * size, fixed=0, weights=weights)
    indicator = [Fraction(bool(g)) for g in goal]
    if objective.formula == "X":
        return _induction(model, objective, 1, indicator, fixed=0, weights=weights)
    through = mask(left) if objective.formula == "U" and left is not None else everything
    if objective.bound is not None:
        kept = target | everything & ~through
        return _induction(model, objective, objective.bound, indicator, fixed=kept, weights=weights)
    return _unbounded(model, objective, target, through, weights=weights, method=method)


def value(
    model: Model,
    objective: Objective,
    goal: Sequence[bool] = (),
    left: Sequence[bool] | None = None,
    *,
    method: Literal["certified", "enumerate"] = "certified",
) -> list[Value]:
    """Give the exact value of every state.

    Parameters
    ----------
    model : Model
        The interval model; rewards are not negative.
    objective : Objective
        The directions and the formula.
    goal : sequence of bool
        The right-hand side of the formula: the goal of ``U`` and ``F``, the safe states of ``G``, the states of
        ``X``. ``C`` needs none.
    left : sequence of bool, optional
        The left-hand side of ``U``; all states by default.
    method : {"certified", "enumerate"}
        Unbounded formulas: strategy iteration with a certificate that is always checked (see ``game``), or every
        memoryless policy of the agent in turn.

    Returns
    -------
    list of Fraction
        One value per state; ``math.inf`` where it is infinite.
    """
    return _value(model, objective, goal, left, None, method=method)


def policy_value(
    model: Model,
    objective: Objective,
    policy: Sequence[int] | Sequence[Sequence[Number]],
    goal: Sequence[bool] = (),
    left: Sequence[bool] | None = None,
) -> list[Value]:
    """Give the exact value of every state under a fixed memoryless policy, nature alone optimising.

    Parameters
    ----------
    model, objective, goal, left
        As in `value`; the agent's direction does not matter.
    policy : sequence of int or of sequences of numbers
        For every state the index of its choice, or one weight per choice. Weights are divided by their exact sum;
        choices of weight 0 are not used. Nature answers each choice separately:
        value(s) = sum_a weight_a * optimum over the row of a.

    Returns
    -------
    list of Fraction
        One value per state; ``math.inf`` where it is infinite.
    """
    weights: Weights = []
    for choices, pick in zip(model.choices, policy, strict=True):
        if hasattr(pick, "__len__"):
            given = [exact(w) for w in cast("Sequence[Number]", pick)]
            pairs = zip(choices, given, strict=True)
            weights.append([(c, w / sum(given)) for c, w in pairs if w > 0])
        else:
            weights.append([(choices[int(cast("int", pick))], Fraction(1))])
    return _value(model, objective, goal, left, weights)
