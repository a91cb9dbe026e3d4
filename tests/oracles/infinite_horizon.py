"""What never ends, in rationals: discounted sums proved by their equation, averages and totals by listing everything.

Nothing here imports the package under test. Rows are those of `exact`; nature's part in a row is found from the list of its
vertices. Averages and totals are meant for models of two to four states whose lower bounds are positive.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import inf

from .exact import Choice, Direction, Model, Value, exact, vertices

Step = tuple[dict[int, Fraction], Fraction]  # probabilities and the expected reward


def steps_of(model: Model, state: int, choice: Choice) -> list[Step]:
    """Give every step nature may make of a choice: one for each vertex of its row."""
    assert model.state_rewards is not None
    assert choice.transition_rewards is not None
    base = exact(model.state_rewards[state]) + exact(choice.reward)
    found = []
    for vertex in vertices(choice.row):
        extra = sum((p * exact(r) for p, r in zip(vertex, choice.transition_rewards, strict=True)), Fraction(0))
        found.append(({t: p for (t, _, _), p in zip(choice.row, vertex, strict=True) if p > 0}, base + extra))
    return found


def solve_linear(rows: list[list[Fraction]]) -> list[Fraction]:
    """Solve a regular system, given with its right-hand sides in the last column."""
    size = len(rows)
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def discounted(
    model: Model,
    agent: Direction,
    nature: Direction,
    discount: Fraction,
    weights: Sequence[Sequence[tuple[Choice, Fraction]]] | None = None,
) -> list[Fraction]:
    """Give the discounted sum from every state; the result satisfies its equation, which has one solution."""
    size = len(model.choices)
    every = [[steps_of(model, s, c) for c in choices] for s, choices in enumerate(model.choices)]
    pick_agent, pick_nature = (max if way == "max" else min for way in (agent, nature))

    def worth(step: Step, v: list[Fraction]) -> Fraction:
        return step[1] + discount * sum((p * v[t] for t, p in step[0].items()), Fraction(0))

    def evaluated(taken: list[list[tuple[Step, Fraction]]]) -> list[Fraction]:
        rows = []
        for s in range(size):
            row = [Fraction(s == t) for t in range(size)] + [Fraction(0)]
            for step, w in taken[s]:
                for t, p in step[0].items():
                    row[t] -= w * discount * p
                row[size] += w * step[1]
            rows.append(row)
        return solve_linear(rows)

    mixed: list[list[tuple[list[Step], Fraction]]]
    if weights is None:
        mixed = [[(options[0], Fraction(1))] for options in every]
    else:
        mixed = [[(steps_of(model, s, c), w) for c, w in taken] for s, taken in enumerate(weights)]
    while True:
        answer = [[(options[0], w) for options, w in taken] for taken in mixed]
        while True:  # nature's best answer to the policy
            v = evaluated(answer)
            better = []
            for taken, now in zip(mixed, answer, strict=True):
                better.append([])
                for (options, w), (step, _) in zip(taken, now, strict=True):
                    best = pick_nature(options, key=lambda o: worth(o, v))
                    better[-1].append((best if worth(best, v) != worth(step, v) else step, w))
            if better == answer:
                break
            answer = better
        if weights is not None:
            return v
        changed = False
        for s, choices in enumerate(every):
            best = pick_agent(choices, key=lambda options: pick_nature(worth(o, v) for o in options))
            if pick_nature(worth(o, v) for o in best) != v[s]:
                mixed[s], changed = [(best, Fraction(1))], True
        if not changed:
            return v


def _reachable(chain: list[Step], start: int) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        fresh = set(chain[todo.pop()][0]) - seen
        seen |= fresh
        todo += fresh
    return seen


def chain_average(chain: list[Step]) -> list[Value]:
    """Give what a step of a Markov chain earns in the long run, from every state."""
    size = len(chain)
    reach = [_reachable(chain, s) for s in range(size)]
    closed = [all(s in reach[t] for t in reach[s]) for s in range(size)]
    gain: dict[int, Fraction] = {}
    for s in range(size):
        if closed[s] and s not in gain:
            group = sorted(reach[s])
            rows = []
            for t in group:  # the stationary distribution: inflow is what there is
                row = [Fraction(t == u) - chain[u][0].get(t, Fraction(0)) for u in group]
                rows.append([*row, Fraction(0)])
            rows[-1] = [Fraction(1)] * (len(group) + 1)
            share = solve_linear(rows)
            gain |= dict.fromkeys(group, sum((q * chain[u][1] for q, u in zip(share, group, strict=True)), Fraction(0)))
    return _absorbed(chain, gain, [Fraction(0)] * size)


def chain_total(chain: list[Step]) -> list[Value]:
    """Give all that a Markov chain with rewards of at least 0 ever earns, from every state."""
    size = len(chain)
    reach = [_reachable(chain, s) for s in range(size)]
    closed = [all(s in reach[t] for t in reach[s]) for s in range(size)]
    endless = {s for s in range(size) if any(closed[t] and chain[t][1] > 0 for t in reach[s])}
    known: dict[int, Value] = dict.fromkeys(endless, inf)
    known |= {s: Fraction(0) for s in range(size) if closed[s] and s not in endless}
    return _absorbed(chain, known, [reward for _, reward in chain])


def _absorbed(chain: list[Step], known: dict[int, Value], rewards: list[Fraction]) -> list[Value]:
    free = [s for s in range(len(chain)) if s not in known]
    rows = []
    for s in free:
        row = [Fraction(s == t) - chain[s][0].get(t, Fraction(0)) for t in free]
        right = sum((p * Fraction(known[t]) for t, p in chain[s][0].items() if t in known), Fraction(0))
        rows.append([*row, right + rewards[s]])
    values = {**known, **dict(zip(free, solve_linear(rows), strict=True))}
    return [values[s] for s in range(len(chain))]


def listed(model: Model, agent: Direction, nature: Direction, what: str) -> list[Value]:
    """Give averages ("S") or totals ("C") by listing policies and vertices: strategies without memory are enough for both."""
    of_chain = chain_average if what == "S" else chain_total
    every = [[steps_of(model, s, c) for c in choices] for s, choices in enumerate(model.choices)]
    outcomes = [_best((of_chain(list(chain)) for chain in product(*policy)), nature) for policy in product(*every)]
    return _best(outcomes, agent)


def _best(outcomes: Iterable[list[Value]], way: Direction) -> list[Value]:
    return [(max if way == "max" else min)(column) for column in zip(*outcomes, strict=True)]
