"""Seeded random interval models that cover the hard corners of solving."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from oracles.exact import Choice, Model

Entry = tuple[int, float, float]


@dataclass(frozen=True)
class Instance:
    """A model with its labels, one bool per state: ``goal``, ``left`` for ``left U goal``, ``safe`` for ``G safe``."""

    model: Model
    goal: list[bool]
    left: list[bool]
    safe: list[bool]


def _parts(rng: Generator, count: int, total: int) -> list[int]:
    """Split ``total`` into ``count`` positive integers."""
    cuts = sorted(rng.choice(total - 1, size=count - 1, replace=False) + 1)
    edges = [0, *(int(c) for c in cuts), total]
    return [b - a for a, b in pairwise(edges)]


def _dyadic(rng: Generator, successors: list[int]) -> list[Entry]:
    """Bounds k/16 or k/64 around a distribution: narrow, wide, or some entries exact."""
    total = int(rng.choice([16, 64]))
    spread = int(rng.choice([1, total // 8, total // 2]))
    row = []
    for t, k in zip(successors, _parts(rng, len(successors), total), strict=True):
        down, up = (int(d) for d in rng.integers(0, spread + 1, size=2))
        row.append((t, max(1, k - down) / total, min(total, k + up) / total))
    return row


def _plain(rng: Generator, successors: list[int]) -> list[Entry]:
    """One distribution: mostly dyadic, some in floats that sum to 1 only after rounding."""
    if rng.random() < 0.6:
        parts = _parts(rng, len(successors), 16)
        return [(t, k / 16, k / 16) for t, k in zip(successors, parts, strict=True)]
    raw = rng.random(len(successors)) + 0.05
    return [(t, float(p), float(p)) for t, p in zip(successors, raw / raw.sum(), strict=True)]


def _floats(rng: Generator, successors: list[int]) -> list[Entry]:
    """Arbitrary floats around a distribution, with a margin far above rounding."""
    raw = rng.random(len(successors)) + 0.02
    width = float(rng.choice([0.01, 0.2, 0.9]))
    return [
        (t, float(p) * (1 - width * (0.1 + 0.9 * float(a))), min(1.0, float(p) * (1 + width * (0.1 + 0.9 * float(b)))))
        for t, p, a, b in zip(successors, raw / raw.sum(), rng.random(len(raw)), rng.random(len(raw)), strict=True)
    ]


def _slow(rng: Generator, state: int, successors: list[int]) -> list[Entry]:
    """A self-loop of probability close to 1; the others share what is left."""
    others = [t for t in successors if t != state]
    leave = float(rng.choice([1e-6, 1e-9, 2.0**-20]))
    share = leave / len(others)
    if rng.random() < 0.5:
        return [(state, 1 - leave, 1 - leave), *((t, 0.4 * share, 1.7 * share) for t in others)]
    return [(state, 1 - 2 * leave, 1 - leave / 2), *((t, share / 8, 2.5 * share) for t in others)]


def _tiny(rng: Generator, successors: list[int]) -> list[Entry]:
    """Tiny lower bounds: everywhere, with upper bounds to match, or one successor that is hardly ever reached."""
    tiny = float(rng.choice([1e-4, 1e-10, 2.0**-14]))
    if len(successors) == 2 and rng.random() < 0.3:
        return [(successors[0], tiny, 2 * tiny), (successors[1], 1 - 2 * tiny, 1 - tiny)]
    if len(successors) > 2 and rng.random() < 0.5:
        rest = _parts(rng, len(successors) - 1, 16)
        wide = [(t, max(0.5, k - 1) / 16, min(16, k + 1) / 16) for t, k in zip(successors[1:], rest, strict=True)]
        return [(successors[0], tiny, 2 * tiny), *wide]
    return [(t, tiny, 1 - tiny) for t in successors]


def _hard(rng: Generator, state: int, successors: list[int]) -> list[Entry]:
    """Numbers that rounding finds hard: sizes from 1e-300 to 1, slack that all but cancels, self-loops of almost 1."""
    count = len(successors)
    sizes = rng.choice([1.0, 1.0, 1e-2, 1e-12, 1e-17, 1e-30, 1e-160, 1e-290, 1e-300], size=count)
    sizes[int(rng.integers(count))] = 1.0
    if state in successors and rng.random() < 0.5:
        sizes[:] = np.minimum(sizes, rng.choice([1e-6, 1e-12, 1e-15, 1e-100]))
        sizes[successors.index(state)] = 1.0
    p = sizes * (0.1 + rng.random(count))
    p = p / p.sum()
    kind = rng.random()
    if kind < 0.35:  # one distribution, its sum off by rounding
        return [(t, float(q), float(q)) for t, q in zip(successors, p, strict=True)]
    width = float(rng.choice([1e-15, 1e-12, 1e-6, 0.1, 0.6]))
    low, high = p * (1 - width * rng.random(count)), np.minimum(p * (1 + width * rng.random(count)), 1.0)
    if kind < 0.55:  # nearly all is handed out
        low = np.where(rng.random(count) < 0.6, p, low)
        high = np.where(rng.random(count) < 0.3, p, np.maximum(high, low))
    high[int(np.argmax(p))] = 1.0
    if sum(map(Fraction, low)) > 1:
        low[int(np.argmax(p))] *= 0.999
    return [(t, float(a), float(max(a, b))) for t, a, b in zip(successors, low, high, strict=True)]


def _wide(rng: Generator, successors: list[int]) -> list[Entry]:
    """Many entries without freedom, and at most three with."""
    p = rng.random(len(successors)) ** int(rng.choice([1, 8, 40])) + 1e-300
    p = p / p.sum()
    low, high = p.copy(), p.copy()
    for i in rng.choice(len(successors), size=min(3, len(successors)), replace=False):
        low[i], high[i] = p[i] * 0.5, min(1.0, p[i] * 1.5 + 1e-3)
    if sum(map(Fraction, low)) > 1:
        low[:], high[:] = p, p
    return [(t, float(a), float(b)) for t, a, b in zip(successors, low, high, strict=True)]


def _cut(rng: Generator, row: list[Entry]) -> list[Entry]:
    """Lower some bounds to 0, so that nature may cut these edges, but keep every edge possible."""
    every = rng.random() < 0.3
    cut = [(t, 0.0 if every or rng.random() < 0.5 else lower, upper) for t, lower, upper in row]
    if sum(Fraction(u) for _, _, u in cut) <= 1:
        # A plain row has no slack: widen the first entry, so that nature has a choice to make.
        t, lower, _ = cut[0]
        cut[0] = (t, lower, 1.0)
    return cut


def _row(rng: Generator, state: int, successors: list[int], zero_lower: bool, hard: bool = False) -> list[Entry]:
    if len(successors) == 1:
        return [(successors[0], 1.0, 1.0)]
    kind = rng.random()
    if hard and len(successors) > 5:
        return _wide(rng, successors)
    if hard and rng.random() < 0.6:
        row = _hard(rng, state, successors)
    elif kind < 0.55:
        row = _dyadic(rng, successors)
    elif kind < 0.7:
        row = _plain(rng, successors)
    elif kind < 0.8:
        row = _floats(rng, successors)
    elif kind < 0.9:
        row = _slow(rng, state, successors)
    else:
        row = _tiny(rng, successors)
    if zero_lower and rng.random() < 0.5:
        row = _cut(rng, row)
    return row


def _reward(rng: Generator, active: bool, hard: bool = False) -> float:
    if not active or rng.random() < 0.4:
        return 0.0
    if hard and rng.random() < 0.5:
        return float(rng.choice([1e-300, 1e-160, 1e-17, 1e17, 1e160, 1e300, 3e-310, 1.7e308]))
    return float(rng.choice([1.0, 1.0, 2.0, 0.5, 3.0, 1000.0, 2.0**-10, 1e-3, float(rng.random())]))


def _check(row: Sequence[Entry]) -> None:
    low = sum((Fraction(lower) for _, lower, _ in row), Fraction(0))
    high = sum((Fraction(upper) for _, _, upper in row), Fraction(0))
    rounding = Fraction(1, 10**12)  # within it, a row is one distribution: the bounds divided by their sum
    if low > 1 + rounding or high < 1 - rounding or any(not 0 <= lower <= upper <= 1 for _, lower, upper in row):
        raise AssertionError(f"infeasible row {row}")


def random_model(
    rng: Generator,
    *,
    zero_lower: bool = False,
    states: tuple[int, int] = (3, 8),
    choices: tuple[int, int] = (1, 3),
    successors: tuple[int, int] = (1, 4),
    hard: bool = False,
) -> Instance:
    """Draw a model whose rows are all feasible.

    Parameters
    ----------
    rng : numpy.random.Generator
        The only source of randomness.
    zero_lower : bool
        Whether some lower bounds are 0. Every listed edge can have positive probability in any case.
    hard : bool
        Whether numbers are chosen to be hard on rounding, and some rows are as wide as the model.
    states, choices, successors : (int, int)
        Smallest and largest number of states, choices per state and successors per choice.

    Notes
    -----
    There are four shapes. In a *proper* model every choice has an edge to a later state and the last state is a
    goal, so every policy reaches the goal almost surely and maximal rewards are finite. In an *escaping* model the
    first choice of a state is of that kind and the others are free: end components that can be left. A *leaking*
    model is an escaping one in which most choices also have an edge to a sink, so that probabilities lie strictly
    between 0 and 1. In a *free* model anything goes: sinks, traps, states that nothing leads to.

    Returns
    -------
    Instance
        The model, ``goal`` (at least one state), ``left`` (all states in half of the models) and ``safe`` (all but
        the sink of a leaking model, all but the goal otherwise).

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> instance = random_model(default_rng(7), states=(4, 4))
    >>> len(instance.goal), any(instance.goal)
    (4, True)
    """
    size = int(rng.integers(states[0], states[1] + 1))
    shape = str(rng.choice(["proper", "escaping", "leaking", "free"], p=[0.25, 0.2, 0.4, 0.15]))
    goal = [False] * size
    goal[-1] = True
    if rng.random() < 0.3:
        goal[int(rng.integers(size))] = True
    trap = size - 2 if shape == "leaking" and size > 2 else -1
    sinks = {trap} - {-1}
    if trap >= 0:
        goal[trap] = False
    if shape == "free":
        sinks = {int(s) for s in rng.integers(0, size, size=int(rng.integers(0, 3)))}
    unreachable = int(rng.integers(size)) if rng.random() < 0.2 else -1
    reachable = [t for t in range(size) if t != unreachable or t == size - 1]
    # Goals draw everything to them unless they are rare among the successors.
    popular = [t for t in reachable if not goal[t] and t != trap] or reachable
    uses = rng.random(3) < 0.6

    def successors_of(s: int, forward: bool) -> list[int]:
        count = int(rng.integers(successors[0], successors[1] + 1))
        pool = popular if rng.random() < 0.7 else reachable
        drawn = [int(t) for t in rng.choice(pool, size=min(count, len(pool)), replace=False)]
        if rng.random() < 0.25 and s not in drawn:
            drawn[-1] = s
        later = [t for t in reachable if t > s and t != trap]
        if trap >= 0 and trap not in drawn and rng.random() < 0.6:
            drawn[len(drawn) - 1 if len(drawn) == successors[1] else len(drawn) :] = [trap]
        if forward and later and not set(drawn) & set(later):
            # One step or a leap; replacing the first entry keeps a self-loop drawn above.
            drawn[0] = later[0] if rng.random() < 0.7 else int(rng.choice(later))
        return list(dict.fromkeys(drawn))

    table: list[list[Choice]] = []
    for s in range(size):
        if s in sinks or (goal[s] and rng.random() < 0.7):
            table.append([Choice([(s, 1.0, 1.0)], reward=_reward(rng, bool(uses[1])))])
            continue
        listed: list[Choice] = []
        for a in range(int(rng.integers(choices[0], choices[1] + 1))):
            forward = shape == "proper" or (shape in {"escaping", "leaking"} and a == 0)
            draw = rng.random()
            if listed and draw < 0.08:
                listed.append(listed[int(rng.integers(len(listed)))])
                continue
            if not forward and draw < 0.25:
                # A loop, often free of reward, or a free hop to another state: zero-reward end components.
                t = s if draw < 0.16 else int(rng.choice(popular))
                listed.append(Choice([(t, 1.0, 1.0)], reward=_reward(rng, bool(uses[1] and rng.random() < 0.3))))
                continue
            reached = successors_of(s, forward)
            if hard and rng.random() < 0.08:
                reached = list(range(size))
            row = _row(rng, s, reached, zero_lower, hard)
            _check(row)
            rewards = [_reward(rng, bool(uses[2]), hard) for _ in row]
            listed.append(Choice(row, reward=_reward(rng, bool(uses[1]), hard), transition_rewards=rewards))
        order = rng.permutation(len(listed))
        table.append([listed[int(i)] for i in order])
    state_rewards = [_reward(rng, bool(uses[0]), hard) for _ in range(size)]
    left = [True] * size if rng.random() < 0.5 else [bool(x) for x in rng.random(size) < 0.8]
    safe = [s != trap if trap >= 0 else not goal[s] for s in range(size)]
    return Instance(Model(table, state_rewards), goal, left, safe)
