"""How often promises are false: `python -m bench.promises [RUNS] [--logs] [--keep FILE]`, 2000 runs unless told otherwise.

First where nobody gave a graph: a run is false if at any look the truth was outside the bounds, or the value promised was more
than the optimum. For comparison, what the same learner does when it takes the observed graph for the whole truth, as if somebody
had given it. Then logs that say less than it seems, one for every row of the table of conditions (`bench.promised_logs`).

With `--keep` results are kept in a file, and a campaign that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.promised_logs import ERROR_RATE, LOGS, Outcome
from umdp import MDP, ConfidenceSequence, Graph, Snapshot, anytime, solve
from umdp.model import REST
from umdp.source import Gymnasium, Log

RUNS = 2000
BLOCK = 50  # runs after which results are kept
GOAL = 'Pmax=? [ F "goal" ]'

Rows = dict[tuple[str, str], dict[str, float]]


def draw_process(seed: int) -> Rows:
    """Return a small process with rare outcomes: from a you go left or right, with luck to the goal, else you are lost."""
    rng = np.random.default_rng([seed, 0])

    def row(*names: str) -> dict[str, float]:
        return dict(zip(names, rng.dirichlet(np.full(len(names), 0.4)).tolist(), strict=True))

    return {
        ("a", "left"): row("goal", "b", "lost", "rare"),
        ("a", "right"): row("b", "lost", "goal"),
        ("b", "left"): row("goal", "a", "lost"),
        ("b", "right"): row("lost", "goal", "rare", "a", "b"),
        ("rare", "left"): row("lost", "a"),
        ("rare", "right"): row("goal", "lost"),
    }


def optimum(rows: Rows) -> float:
    """Return the largest probability of reaching the goal."""
    names = ["a", "b", "rare", "goal", "lost"]
    choices = [rows[s, action] for s in names[:3] for action in ("left", "right")] + [{"goal": 1.0}, {"lost": 1.0}]
    model = MDP(
        [0, 2, 4, 6, 7, 8],
        np.cumsum([0, *map(len, choices)]),
        [names.index(t) for row in choices for t in row],
        [p for row in choices for p in row.values()],
        labels={"goal": [3]},
    )
    return solve(model, GOAL, precision=1e-9).bracket.upper


class Hidden:
    """An environment without a table."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.random, self.state = rows, random.Random(0), "a"

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode."""
        if seed is not None:
            self.random = random.Random(seed)
        self.state = "a"
        return self.state, {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take a step."""
        row = self.rows[self.state, action]
        (self.state,) = self.random.choices(list(row), list(row.values()))
        return self.state, float(self.state == "goal"), self.state in ("goal", "lost"), False, {}


def inside(snapshot: Snapshot, rows: Rows) -> bool:
    """Whether the true probabilities are within the learned bounds, what is not listed together."""
    model = snapshot.model
    name = [model.state_name(s) for s in range(model.states)]
    for choice in range(model.choices):
        row = rows.get((name[model.choice_state[choice]], model.action_name(choice)))
        if row is None:
            continue
        some = range(model.choice_ptr[choice], model.choice_ptr[choice + 1])
        listed = {t: row.get(name[model.successor[t]], 0.0) for t in some}
        beyond = max(0.0, 1 - sum(listed.values()))
        rest = [t for t in some if model.successor[t] == model.rest]
        if not rest and beyond > 1e-9:
            return False
        listed |= dict.fromkeys(rest, beyond)
        if any(not model.lower[t] - 1e-12 <= p <= model.upper[t] + 1e-12 for t, p in listed.items()):
            return False
    return True


def environment(seed: int, *, rest: bool = True) -> Iterator[tuple[Snapshot, Rows]]:
    """Yield the looks of a run with an environment without a table."""
    rows = draw_process(seed)
    source = Gymnasium(Hidden(rows), actions=["left", "right"], episodes=3 + seed % 20)
    learner = ConfidenceSequence(ERROR_RATE) if rest else Believing(ERROR_RATE)
    for snapshot in anytime(source, GOAL, learner, seed=seed, trajectories=300):
        yield snapshot, rows


def log(seed: int, *, rest: bool = True) -> Iterator[tuple[Snapshot, Rows]]:
    """Yield the looks of a run with a log without a model, whose length depends on what happened."""
    rows, rng = draw_process(seed), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.csv")
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["trajectory", "state", "action", "next"])
            for trajectory in range(40 + seed % 100):
                state = "a"
                for _ in range(20):
                    action = rng.choice(["left", "right"])
                    row = rows[state, action]
                    (after,) = rng.choices(list(row), list(row.values()))
                    writer.writerow([trajectory, state, action, after])
                    state = after
                    if state in ("goal", "lost"):
                        break
        source = Log(path, labels={"goal": lambda name: name == "goal"})
        learner = ConfidenceSequence(ERROR_RATE) if rest else Believing(ERROR_RATE)
        for snapshot in anytime(source, GOAL, learner):
            yield snapshot, rows
        source.close()


def batches(seed: int, learner: ConfidenceSequence | None = None) -> bool:
    """Whether bounds hold at every look for one choice with many small outcomes, of which the graph lists what it may."""
    rng = np.random.default_rng([seed, 1])
    p = rng.dirichlet(np.full(rng.integers(2, 30), 0.5))
    listed = rng.random(p.size) < 0.8
    truth = np.append(p[listed], p[~listed].sum())
    size = truth.size
    graph = Graph(
        np.arange(size + 2),
        [0, *range(size, 2 * size + 1)],
        [*range(1, size + 1), *range(1, size + 1)],
        labels={REST: [size]},
    )
    bound = (learner or ConfidenceSequence(ERROR_RATE)).bind(graph)
    counts = np.zeros(graph.transitions, np.int64)
    for _ in range(30):
        counts[:size] = rng.multinomial(int(2 ** rng.uniform(0, 7)), truth / truth.sum())
        bound.learn(counts)
        if (bound.lower[:size] > truth + 1e-12).any() or (bound.upper[:size] < truth - 1e-12).any():
            return False
    return True


class Believing(ConfidenceSequence):
    """Takes the observed graph for one that somebody gave."""

    discovers = False


def kept(looks: Iterator[tuple[Snapshot, Rows]]) -> bool:
    """Whether every look of a run kept its promise."""
    best = None
    for snapshot, rows in looks:
        best = optimum(rows) if best is None else best
        if snapshot.bracket.lower > best + 1e-9 or not inside(snapshot, rows):
            return False
    return True


CASES: dict[str, Callable[[int], bool]] = {
    "environment without a table": lambda seed: kept(environment(seed)),
    "log without a model": lambda seed: kept(log(seed)),
    "batches of one choice": batches,
    "environment, taken for the whole truth": lambda seed: kept(environment(seed, rest=False)),
    "log, taken for the whole truth": lambda seed: kept(log(seed, rest=False)),
}


def counted(
    name: str, case: Callable[[int], Outcome], runs: int, kept: dict[str, list[float]], save: Callable[[], None]
) -> None:
    """Go on with a case until there are so many runs: how many, in how many something was promised, false, seconds."""
    done = kept.setdefault(name, [0, 0, 0, 0.0])
    while done[0] < runs:
        begun = time.perf_counter()
        for seed in range(int(done[0]), min(int(done[0]) + BLOCK, runs)):
            found = case(seed)
            done[0], done[1], done[2] = done[0] + 1, done[1] + found.promised, done[2] + found.false
        done[3] += time.perf_counter() - begun
        save()


def main() -> None:
    """Print how many runs of each kind were false."""
    parser = argparse.ArgumentParser(description="How often promises are false.")
    parser.add_argument("runs", nargs="?", type=int, default=RUNS)
    parser.add_argument("--keep", type=Path, help="a file of results, to go on from")
    parser.add_argument("--only", default="", help="cases whose name has these words")
    parser.add_argument("--logs", action="store_true", help="only logs that say less than it seems")
    given = parser.parse_args()
    results: dict[str, list[float]] = {}
    if given.keep is not None and given.keep.exists():
        results = json.loads(given.keep.read_text(encoding="utf-8"))

    def save() -> None:
        if given.keep is not None:
            given.keep.write_text(json.dumps(results, indent=1), encoding="utf-8")

    graphs = {name: _as_outcome(case) for name, case in CASES.items()}
    print(f"{given.runs} seeded runs each, error rate {ERROR_RATE:.0%}")
    for name, case in {**({} if given.logs else graphs), **LOGS}.items():
        if given.only in name:
            counted(name, case, given.runs, results, save)
            runs, promised, false, seconds = results[name]
            line = f"{name:44} {promised:6.0f} promised {false:6.0f} false, {false / runs:7.2%}   {seconds:6.0f} s"
            print(line, flush=True)


def _as_outcome(holds: Callable[[int], bool]) -> Callable[[int], Outcome]:
    return lambda seed: Outcome(promised=True, false=not holds(seed))


if __name__ == "__main__":
    main()
