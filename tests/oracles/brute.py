"""The definition itself: every policy, every vertex, one Markov chain each.

Usable on two to four states only. Shares nothing with the exact solver but the model's data, the list of vertices
and the meaning of an objective: graph decisions, too, are found by listing the memoryless policies.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import inf

from .exact import Choice, Model, Objective, Value, exact, vertices

Chain = list[dict[int, Fraction]]


def _reachable(chain: Chain, start: int, absorbing: set[int]) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        s = todo.pop()
        if s not in absorbing:
            fresh = {t for t, p in chain[s].items() if p > 0} - seen
            seen |= fresh
            todo += fresh
    return seen


def _chain_value(chain: Chain, rewards: list[Fraction], known: dict[int, Value], target: set[int]) -> list[Value]:
    """Solve one chain by Gaussian elimination; ``rewards`` is empty for a probability."""
    size = len(chain)
    absorbing = set(known)
    reach = [_reachable(chain, s, absorbing) for s in range(size)]
    fixed: dict[int, Value] = dict(known)
    for s in range(size):
        if s in fixed:
            continue
        if rewards and any(not reach[t] & target for t in reach[s]):
            fixed[s] = inf
        elif not rewards and not reach[s] & target:
            fixed[s] = Fraction(0)
    free = [s for s in range(size) if s not in fixed]
    rows = []
    for s in free:
        row = [Fraction(s == t) - chain[s].get(t, 0) for t in free]
        extra = sum((p * Fraction(fixed[t]) for t, p in chain[s].items() if t in fixed and p > 0), Fraction(0))
        rows.append([*row, extra + (rewards[s] if rewards else 0)])
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    for s, row in zip(free, rows, strict=True):
        fixed[s] = row[-1]
    return [fixed[s] for s in range(size)]


def _optimum(found: Iterable[list[Value]], maximise: bool) -> list[Value]:
    return [(max if maximise else min)(column) for column in zip(*found, strict=True)]


def _open_chain(choices: Sequence[Choice]) -> Chain:
    """Every edge present."""
    return [{t: Fraction(1, len(c.edges)) for t in c.edges} for c in choices]


def brute_value(model: Model, objective: Objective, goal: Sequence[bool], left: Sequence[bool]) -> list[Value]:
    """Give the value of an unbounded ``U``, ``F`` or ``G`` by listing everything."""
    if objective.formula == "G":
        flipped = brute_value(model, objective.flipped, [not g for g in goal], [True] * len(goal))
        return [1 - v for v in flipped]
    size = len(goal)
    states = range(size)
    target = {s for s in states if goal[s]}
    lost = {s for s in states if objective.formula == "U" and not left[s] and not goal[s]}
    agent_max, nature_max = objective.agent == "max", objective.nature == "max"

    # By the graph: what the optimal policy gets where every listed edge has some positive probability.
    graph = []
    for policy in product(*model.choices):
        reach = [_reachable(_open_chain(policy), s, target | lost) for s in states]
        sure = [all(reach[t] & target for t in reach[s]) for s in states]
        graph.append([2 if sure[s] else int(bool(reach[s] & target)) for s in states])
    if objective.kind == "P":
        best = [(max if agent_max else min)(column) for column in zip(*graph, strict=True)]
        known: dict[int, Value] = {s: Fraction(best[s] // 2) for s in states if best[s] != 1}
        target = {s for s in known if known[s] == 1}
    else:
        # Rewards: infinite unless the goal is reached surely, by some policy or by all.
        best = [(min if agent_max else max)(column) for column in zip(*graph, strict=True)]
        known = {s: Fraction(0) if goal[s] else inf for s in states if goal[s] or best[s] < 2}
    infinite = {s for s, v in known.items() if v == inf}

    def allowed(s: int) -> list[Choice]:
        if s in known:
            return [model.choices[s][0]]
        return [c for c in model.choices[s] if not infinite & set(c.edges)]

    assured = model.state_rewards or ()
    outcomes = []
    for policy in product(*(allowed(s) for s in states)):
        corners = [vertices(c.row) if s not in known else [None] for s, c in enumerate(policy)]
        answers = []
        for nature in product(*corners):
            chain: Chain = [
                {} if p is None else {t: q for (t, _, _), q in zip(c.rows, p, strict=True)}
                for c, p in zip(policy, nature, strict=True)
            ]
            rewards: list[Fraction] = []
            if objective.kind == "R":
                for s, (c, p) in enumerate(zip(policy, nature, strict=True)):
                    moving = zip(p or (), c.transition_rewards or (), strict=False)
                    rewards.append(exact(assured[s]) + exact(c.reward) + sum(q * exact(r) for q, r in moving))
            answers.append(_chain_value(chain, rewards, known, target))
        outcomes.append(_optimum(answers, nature_max))
    return _optimum(outcomes, agent_max)
