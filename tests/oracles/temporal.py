"""The probability of a temporal formula, in rationals: automata written by hand, and the product from its definition.

Nothing here imports the package under test. For each formula there is one automaton that reads the letters of the states passed,
the first included. A pair ``(avoid, repeat)`` accepts a run that is in ``avoid`` finitely often and in ``repeat`` infinitely
often; a run is accepted by the formula's pairs or by those of its negation. What is as small as possible is one minus what the
negation is at most. Which end components accept is decided by the graph, with all edges present; the rest is reachability (see
``exact``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .exact import Choice, Direction, Model, Objective, Value, value

Letter = tuple[bool, bool, bool]  # goal, left, safe
Where = Callable[[int, Letter], bool]
Pair = tuple[Where, Where]


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton: ``step(memory, letter)``, begun in memory 0, with pairs for the formula and for its negation.

    Where the formula does not depend on a beginning, ``lasting`` is true.
    """

    text: str
    step: Callable[[int, Letter], int]
    pairs: tuple[Pair, ...]
    negated: tuple[Pair, ...]
    lasting: bool = False


def _never(_q: int, _x: Letter) -> bool:
    return False


def _always(_q: int, _x: Letter) -> bool:
    return True


def _then(q: int, x: Letter) -> int:
    return 1 if q == 0 and x[0] else 2 if q == 1 and x[1] else q


def _safely(q: int, x: Letter) -> int:
    return 2 if q == 2 or not x[2] else 1 if q == 1 or x[0] else 0


def _answered(q: int, x: Letter) -> int:
    return 0 if x[1] else 1 if x[0] else q


def _weak(q: int, x: Letter) -> int:
    return q if q else 1 if x[0] else 0 if x[1] else 2


def _release(q: int, x: Letter) -> int:
    return q if q else 2 if not x[2] else 1 if x[1] else 0


def _lost(q: int, _x: Letter) -> bool:
    return q == 2


AUTOMATA = {
    "W": Automaton('"left" W "goal"', _weak, ((_lost, _always),), ((_never, _lost),)),
    "R": Automaton('"left" R "safe"', _release, ((_lost, _always),), ((_never, _lost),)),
    "GF": Automaton(
        'G F "goal"',
        lambda _q, _x: 0,
        ((_never, lambda _q, x: x[0]),),
        ((lambda _q, x: x[0], _always),),
        lasting=True,
    ),
    "FG": Automaton(
        'F G "left"',
        lambda _q, _x: 0,
        ((lambda _q, x: not x[1], _always),),
        ((_never, lambda _q, x: not x[1]),),
        lasting=True,
    ),
    "GF&FG": Automaton(
        '(G F "goal") & (F G "left")',
        lambda _q, _x: 0,
        ((lambda _q, x: not x[1], lambda _q, x: x[0]),),
        ((lambda _q, x: x[0], _always), (_never, lambda _q, x: not x[1])),
        lasting=True,
    ),
    "then": Automaton(
        'F ("goal" & (X F "left"))',
        _then,
        ((_never, _lost),),
        ((_lost, _always),),
    ),
    "safely": Automaton(
        '(F "goal") & (G "safe")',
        _safely,
        ((_lost, lambda q, _x: q == 1),),
        ((_never, _lost), (lambda q, _x: q > 0, _always)),
    ),
    "answered": Automaton(
        'G ("goal" => (F "left"))',
        _answered,
        ((_never, lambda q, _x: q == 0),),
        ((lambda q, _x: q == 0, _always),),
    ),
}


def product(
    model: Model, automaton: Automaton, letters: Sequence[Letter]
) -> tuple[Model, list[tuple[int, int]], list[int]]:
    """Give the product as far as it is reached from any state, its pairs of state and memory, and where each state begins."""
    number: dict[tuple[int, int], int] = {}
    pairs: list[tuple[int, int]] = []

    def at(s: int, q: int) -> int:
        if (s, q) not in number:
            number[s, q] = len(pairs)
            pairs.append((s, q))
        return number[s, q]

    begin = [at(s, automaton.step(0, letters[s])) for s in range(len(letters))]
    table = []
    rewards = []
    done = 0
    while done < len(pairs):
        s, q = pairs[done]
        done += 1
        rewards.append((model.state_rewards or ())[s])
        table.append(
            [
                Choice(
                    [(at(t, automaton.step(q, letters[t])), lower, upper) for t, lower, upper in c.row],
                    c.reward,
                    c.transition_rewards,
                )
                for c in model.choices[s]
            ]
        )
    return Model(table, rewards), pairs, begin


def end_components(model: Model, inside: set[int]) -> list[set[int]]:
    """Give the maximal end components among some states, by taking away what cannot stay until nothing changes."""
    todo, found = [inside], []
    while todo:
        part = todo.pop()
        while True:
            kept = {s for s in part if any(set(c.edges) <= part for c in model.choices[s])}
            if kept == part:
                break
            part = kept
        pieces = _strong(model, part)
        if len(pieces) == 1:
            found.append(part)
        else:
            todo += pieces
    return found


def _strong(model: Model, part: set[int]) -> list[set[int]]:
    """Give the strongly connected pieces of some states, by the choices that stay among them."""
    after = {s: {t for c in model.choices[s] if set(c.edges) <= part for t in c.edges} for s in part}
    reach = {}
    for s in part:
        seen, todo = {s}, [s]
        while todo:
            fresh = after[todo.pop()] - seen
            seen |= fresh
            todo += fresh
        reach[s] = seen
    pieces = []
    left = set(part)
    while left:
        s = min(left)
        piece = {t for t in left if t in reach[s] and s in reach[t]}
        pieces.append(piece)
        left -= piece
    return pieces


def temporal_value(
    model: Model, automaton: Automaton, agent: Direction, nature: Direction, letters: Sequence[Letter]
) -> list[Value]:
    """Give the probability from every state; a model without choices is read as one with the same choice twice."""
    other: dict[Direction, Direction] = {"max": "min", "min": "max"}
    wide, pairs, begin = product(model, automaton, letters)
    goal = [False] * len(pairs)
    for avoid, repeat in automaton.pairs if agent == "max" else automaton.negated:
        inside = {i for i, (s, q) in enumerate(pairs) if not avoid(q, letters[s])}
        for part in end_components(wide, inside):
            if any(repeat(pairs[i][1], letters[pairs[i][0]]) for i in part):
                for i in part:
                    goal[i] = True
    if agent == "max":
        found = value(wide, Objective("P", "max", nature, "F"), goal)
        return [found[i] for i in begin]
    missed = value(wide, Objective("P", "max", other[nature], "F"), goal)
    return [1 - missed[i] for i in begin]


def temporal_reward(model: Model, agent: Direction, nature: Direction, letters: Sequence[Letter]) -> list[Value]:
    """Give the reward until "then" is satisfied, which is when its automaton comes to memory 2."""
    wide, pairs, begin = product(model, AUTOMATA["then"], letters)
    found = value(wide, Objective("R", agent, nature, "F"), [q == 2 for _, q in pairs])
    return [found[i] for i in begin]
