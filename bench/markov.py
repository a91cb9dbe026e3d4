"""Data that are not Markov: `python -m bench.markov [--runs N] [--false N]` prints how often that is found.

Wrongly: processes with random probabilities, explored by policies some of which depend on all that was seen. Rightly: processes
whose state leaves something out: hidden wear, velocity, a clock, an action that acts a step later, a mode of the weather.
`--speed` says how long the test takes over a million rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp import Graph
from umdp.source.markov import LEVEL, MarkovTest

Array = NDArray[Any]
SIZES = (300, 1_000, 3_000, 10_000, 30_000)
EPISODE = 50


# -- processes that are not Markov: a graph, and rows of (transition, whether a trajectory begins) --------------------------


def wear(rng: np.random.Generator) -> tuple[Graph, Iterator[tuple[int, bool]]]:
    """Return a machine that breaks the more often the longer it has run since it was repaired, which nobody sees."""
    graph = Graph(
        [0, 2, 3], [0, 2, 3, 4], [0, 1, 0, 0], state_names=["works", "broken"], actions=["run", "stop", "mend"]
    )

    def rows() -> Iterator[tuple[int, bool]]:
        while True:
            age, broken = 0, False
            for step in range(EPISODE):
                if broken:
                    yield 3, False
                    age, broken = 0, False
                elif rng.random() < 0.05:
                    yield 2, step == 0
                else:
                    age, broken = age + 1, bool(rng.random() < (0.05 if age < 10 else 0.2))
                    yield int(broken), step == 0

    return graph, rows()


def velocity(rng: np.random.Generator) -> tuple[Graph, Iterator[tuple[int, bool]]]:
    """Return a position on a ring of eight that goes on in its direction with probability 0.7, and nobody sees the direction."""
    size = 8
    graph = Graph(
        range(size + 1), range(0, 2 * size + 1, 2), [t for s in range(size) for t in ((s - 1) % size, (s + 1) % size)]
    )

    def rows() -> Iterator[tuple[int, bool]]:
        while True:
            place, way = 0, int(rng.integers(2))
            for step in range(EPISODE):
                yield 2 * place + way, step == 0
                place, way = (place + 2 * way - 1) % size, way ^ int(rng.random() < 0.3)

    return graph, rows()


def _failing(
    rate: Callable[[int, int, int], float], rng: np.random.Generator
) -> tuple[Graph, Iterator[tuple[int, bool]]]:
    """Return a machine with two actions that fails, and is mended, at a rate that depends on step, action before and mode."""
    graph = Graph(
        [0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 0], state_names=["works", "broken"], actions=["slow", "fast", "mend"]
    )  # fmt: skip

    def rows() -> Iterator[tuple[int, bool]]:
        mode = 0
        while True:
            broken, before = False, 0
            for step in range(EPISODE):
                mode ^= int(rng.random() < 0.05)
                if broken:
                    yield 4, False
                    broken = False
                    continue
                action = int(rng.integers(2))
                broken = bool(rng.random() < rate(step, before, mode))
                yield 2 * action + int(broken), step == 0
                before = action

    return graph, rows()


HIDDEN: dict[str, Callable[[np.random.Generator], tuple[Graph, Iterator[tuple[int, bool]]]]] = {
    "hidden wear (0.05, after ten runs 0.2)": wear,
    "velocity left out of the state (0.7 against 0.3)": velocity,
    "failures by the clock (0.1, after step 25 0.2)": lambda rng: _failing(
        lambda step, *_: 0.1 if step < 25 else 0.2, rng
    ),
    "failures by odd and even steps (0.1, 0.2)": lambda rng: _failing(lambda step, *_: (0.1, 0.2)[step % 2], rng),
    "an action that acts a step later (0.1, 0.2)": lambda rng: _failing(lambda _, before, __: (0.1, 0.2)[before], rng),
    "a hidden mode that lasts (0.1, 0.3)": lambda rng: _failing(lambda _, __, mode: (0.1, 0.3)[mode], rng),
}


# -- processes that are Markov ------------------------------------------------------------------------------------------------


def markov(rng: np.random.Generator, rows: int) -> tuple[Graph, Array, Array]:
    """Return the rows of a random process, explored by one of five policies, three of which depend on all that was seen."""
    states, actions, width = int(rng.integers(1, 7)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    choices = states * actions
    targets = np.array([np.sort(rng.choice(states + width, width, replace=False)) for _ in range(choices)]) % states
    graph = _graph(states, actions, targets)
    edges = np.cumsum(rng.dirichlet(np.full(width, 0.5), choices), axis=1)
    kind, length = int(rng.integers(5)), int(rng.integers(2, 100))
    visits, outcomes = np.zeros(choices), np.zeros((choices, width))
    transition, begins = np.empty(rows, np.int64), np.zeros(rows, np.bool_)
    state, step, last = 0, 0, 0
    for row in range(rows):
        own = slice(state * actions, (state + 1) * actions)
        if kind == 0:
            action = int(rng.integers(actions))
        elif kind == 1:  # the one that was tried least
            action = int(np.argmin(visits[own]))
        elif kind == 2:  # on with what was lucky
            action = step % actions if last else int(rng.integers(actions))
        elif kind == 3:  # by the clock
            action = (step * step // 3) % actions
        else:  # where the first outcome has been frequent
            action = int(np.argmax((outcomes[own, 0] + 1) / (visits[own] + 2)))
        choice = state * actions + action
        last = min(int(np.searchsorted(edges[choice], rng.random())), width - 1)
        visits[choice] += 1
        outcomes[choice, last] += 1
        transition[row], begins[row] = choice * width + last, step == 0
        state, step = int(targets[choice, last]), step + 1
        if step == length or (kind == 4 and last == 1):
            state, step = 0, 0
    return graph, transition, begins


def _graph(states: int, actions: int, targets: Array) -> Graph:
    """Return a graph in which every outcome has a state of its own, which stands for one of the states."""
    choices, width = targets.shape
    inner = choices * width
    return Graph(
        np.append(np.arange(states) * actions, choices + np.arange(inner + 1)),
        np.append(np.arange(choices) * width, inner + np.arange(inner + 1)),
        np.append(states + np.arange(inner), states + np.arange(inner)),
    )


# -- what is printed ----------------------------------------------------------------------------------------------------------


def found(process: Callable[..., Any], rng: np.random.Generator, sizes: tuple[int, ...]) -> list[bool]:
    """Return after which numbers of rows it has been found that a process is not Markov."""
    graph, source = process(rng)
    test, said, done = MarkovTest(graph), [], 0
    for size in sizes:
        rows = [next(source) for _ in range(size - done)]
        test.take(np.array([t for t, _ in rows]), np.array([begins for _, begins in rows]))
        test.look()
        said.append(test.finding is not None)
        done = size
    return said


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40, help="of each process that is not Markov")
    parser.add_argument("--false", type=int, default=1000, help="processes that are Markov, of 3,000 rows each")
    parser.add_argument("--speed", action="store_true", help="how long a million rows take")
    given = parser.parse_args()
    print("| not Markov | " + " | ".join(f"{size:,} rows" for size in SIZES) + " |")
    print("|---|" + "---:|" * len(SIZES))
    for name, process in HIDDEN.items():
        shares = np.mean([found(process, np.random.default_rng([7, run]), SIZES) for run in range(given.runs)], axis=0)
        print(f"| {name} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
    alarms = 0
    for run in range(given.false):
        graph, transition, begins = markov(np.random.default_rng([8, run]), 3_000)
        test = MarkovTest(graph)
        test.take(transition, begins)
        test.look()
        alarms += test.finding is not None
    print(f"\n{alarms} false alarms over {given.false:,} Markov processes; stated: {LEVEL:.1%} of them")
    if given.speed:
        graph, transition, begins = markov(np.random.default_rng(1), 100_000)
        many, start = np.tile(transition, 10), np.tile(begins, 10)
        MarkovTest(graph).take(transition, begins)
        begun = time.process_time()
        MarkovTest(graph).take(many, start)
        print(f"{many.size:,} rows: {time.process_time() - begun:.2f} s of one core")


if __name__ == "__main__":
    main()
