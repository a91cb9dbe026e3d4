"""How long after its time limit a solve ends: models that are slow for different reasons, each in a process of its own.

`python -m bench.limits` prints a table; names on the command line choose cases. A case that compiled kernels is run again, so
that compilation does not count. On a busy machine the processor's time says more than the clock's. A process is killed
`PATIENCE` seconds after the limit.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import umdp
from umdp.errors import UmdpError

PATIENCE = 60.0


@dataclass(frozen=True)
class Case:
    """One solve: a model, a property, and the limit in seconds (infinite: how long it takes at all)."""

    name: str
    build: Callable[[], Any]
    spec: str
    limit: float = np.inf
    precision: float = 1e-6


def _interval(ptr: Any, choice_ptr: Any, successor: Any, prob: Any, width: float, **rest: Any) -> Any:
    """Return an interval MDP around probabilities; the plain one where the width is 0."""
    if width == 0.0:
        return umdp.MDP(ptr, choice_ptr, successor, prob, **rest)
    return umdp.IntervalMDP(
        ptr, choice_ptr, successor, prob * (1.0 - width), np.minimum(prob * (1.0 + width), 1.0), **rest
    )


def random_walk(states: int, choices: int, width: float, *, degree: int = 4, seed: int = 1) -> Any:
    """Return a model whose choices lead to random states nearby; the last state is the goal, and absorbing."""
    rng = np.random.default_rng(seed)
    rows = states * choices
    spread = np.arange(degree) ** 2
    near = rng.integers(-50, 52, size=rows) + np.repeat(np.arange(states), choices)
    successor = np.clip(near, 0, states - 1 - spread[-1])[:, None] + spread
    weights = rng.uniform(0.2, 1.0, size=(rows, degree))
    prob = weights / weights.sum(axis=1, keepdims=True)
    last = (states - 1) * choices
    successor, prob = successor[:last].ravel(), prob[:last].ravel()
    ptr = np.append(np.arange(states) * choices, last + 1)
    choice_ptr = np.append(np.arange(last + 1) * degree, last * degree + 1)
    return _interval(
        ptr, choice_ptr, np.append(successor, states - 1), np.append(prob, 1.0), width,
        labels={"goal": [states - 1]}, rewards={"r": umdp.Rewards(state=np.append(np.ones(states - 1), 0.0))},
    )  # fmt: skip


def grid(side: int, width: float, choices: int = 2) -> Any:
    """Return a square in which a choice pushes weakly in one of two directions; the goal is one corner."""
    x, y = np.divmod(np.arange(side * side), side)
    rows = []
    for c in range(choices):
        prob = np.full(4, 0.25)
        prob[c] += 0.02
        prob[(c + 2) % 4] -= 0.02
        moves = [np.minimum(x + 1, side - 1) * side + y, x * side + np.minimum(y + 1, side - 1),
                 np.maximum(x - 1, 0) * side + y, x * side + np.maximum(y - 1, 0)]  # fmt: skip
        rows.append((np.stack(moves, axis=1), prob))
    ptr, choice_ptr, successor, probs = [0], [0], [], []
    for s in range(side * side):
        for targets, prob in rows if s < side * side - 1 else [(np.full((side * side, 1), s), np.ones(1))]:
            merged: dict[int, float] = {}
            for t, p in zip(targets[s], prob, strict=True):
                merged[int(t)] = merged.get(int(t), 0.0) + float(p)
            for t in sorted(merged):
                successor.append(t)
                probs.append(merged[t])
            choice_ptr.append(len(successor))
        ptr.append(len(choice_ptr) - 1)
    size = side * side
    return _interval(
        np.array(ptr), np.array(choice_ptr), np.array(successor), np.array(probs), width,
        labels={"goal": [size - 1]}, rewards={"r": umdp.Rewards(state=np.append(np.ones(size - 1), 0.0))},
    )  # fmt: skip


def clusters(count: int, size: int, width: float, *, degree: int = 6, leave: float = 1e-4, back: bool = False) -> Any:
    """Return clusters of random states, each left rarely; the last leads to the goal. Some lead `back` to the one before."""
    rng = np.random.default_rng(3)
    total = count * size
    successor = np.empty((2 * total, degree + 1), dtype=np.int64)
    for row in range(2 * total):
        own = row // 2 // size
        successor[row, :degree] = np.sort(rng.choice(size, degree, replace=False)) + own * size
        successor[row, degree] = min((own + 1) * size, total)
        if back and own and rng.random() < 0.3:
            successor[row, degree] = (own - 1) * size + int(rng.integers(size))
            successor[row] = np.sort(successor[row])
    weights = rng.uniform(0.2, 1.0, size=(2 * total, degree))
    prob = np.hstack([(1.0 - leave) * weights / weights.sum(axis=1, keepdims=True), np.full((2 * total, 1), leave)])
    ptr = np.append(np.arange(total + 1) * 2, 2 * total + 1)
    choice_ptr = np.append(np.arange(2 * total + 1) * (degree + 1), 2 * total * (degree + 1) + 1)
    return _interval(
        ptr, choice_ptr, np.append(successor.ravel(), total), np.append(prob.ravel(), 1.0), width,
        labels={"goal": [total]}, rewards={"r": umdp.Rewards(state=np.append(np.ones(total), 0.0))},
    )  # fmt: skip


def star(leaves: int, width: float) -> Any:
    """Return a state that leads to many, of which each mostly leads back, and rarely to the goal, or nowhere."""
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.2, 1.0, size=leaves)
    ptr = np.arange(leaves + 4)
    sizes = np.concatenate([[leaves], np.full(leaves, 3), [1, 1]])
    choice_ptr = np.concatenate([[0], np.cumsum(sizes)])
    goal = leaves + 1
    back = np.tile([0, goal, goal + 1], leaves)
    share = rng.uniform(0.1, 0.9, size=leaves) * 1e-4
    each = np.stack([np.full(leaves, 1.0 - 1e-4), share, 1e-4 - share], axis=1).ravel()
    successor = np.concatenate([np.arange(1, leaves + 1), back, [goal, goal + 1]])
    prob = np.concatenate([weights / weights.sum(), each, [1.0, 1.0]])
    return _interval(ptr, choice_ptr, successor, prob, width, labels={"goal": [goal]})


def birth_death(states: int, width: float) -> Any:
    """Return a chain that drifts away from its goal, so that reaching it takes very long."""
    size = states + 1
    successor, prob, sizes = [0], [1.0], [1]
    for s in range(1, size):
        up = min(s + 1, size - 1)
        p = 0.5 + 0.011 * (s < 0.8 * size)
        successor += [s - 1, up]
        prob += [1.0 - p, p]
        sizes.append(2)
    ptr = np.arange(size + 1)
    return _interval(
        ptr, np.concatenate([[0], np.cumsum(sizes)]), np.array(successor), np.array(prob), width, initial=states // 2,
        labels={"goal": [0]}, rewards={"r": umdp.Rewards(state=np.append(0.0, np.ones(states)))},
    )  # fmt: skip


def gambler() -> Any:
    """Return two states whose discounted sum is larger than doubles can tell apart to the precision asked for."""
    return umdp.MDP([0, 1, 2], [0, 2, 3], [0, 1, 0], [0.3, 0.7, 1], rewards={"r": umdp.Rewards(choice=[-1, 2])})


def ring(states: int) -> Any:
    """Return a ring of states with two labels."""
    pairs = np.stack([np.arange(states), (np.arange(states) + 1) % states], axis=1)
    return umdp.MDP(
        np.arange(states + 1), 2 * np.arange(states + 1), np.sort(pairs, axis=1).ravel(), np.full(2 * states, 0.5),
        labels={"a": np.arange(0, states, 2), "b": np.arange(0, states, 3)},
    )  # fmt: skip


def _nexts(count: int) -> str:
    return f'P=? [ {"X " * count}"a" ]'


CASES = [
    Case("discount 1-1e-12", gambler, "Rmin=? [ Cdiscount=0.999999999999 ]"),
    Case("discount 1-1e-7, 1e-10", gambler, "Rmin=? [ Cdiscount=0.9999999 ]", precision=1e-10),
    Case("discount, 20,000 states", lambda: random_walk(20_000, 3, 0.1), "Rmaxmin=? [ Cdiscount=0.999999 ]", 3.0),
    Case("average, 20,000 states", lambda: random_walk(20_000, 3, 0.1), "Rmaxmin=? [ S ]", 3.0),
    Case("average, 3,000 states", lambda: random_walk(3_000, 3, 0.1), 'Smaxmin=? [ "goal" ]', 1.0),
    Case("X 20 times", lambda: ring(6), _nexts(20), 5.0),
    Case("X 200 times", lambda: ring(6), _nexts(200), 5.0),
    Case("X after F 16 times", lambda: ring(6), f'P=? [ G (F ("a" & ({"X " * 16}"b"))) ]', 2.0),
    Case("F<=1,000,000", lambda: random_walk(200, 2, 0.0), 'Pmax=? [ F<=1000000 "goal" ]', 2.0),
    Case("C<=10,000,000", lambda: random_walk(20, 2, 0.1), "Rmaxmin=? [ C<=10000000 ]", 2.0),
    Case("F<=1000, 100,000 plain", lambda: random_walk(100_000, 2, 0.0), 'Pmax=? [ F<=1000 "goal" ]'),
    Case("F<=1000, 100,000 intervals", lambda: random_walk(100_000, 2, 0.1), 'Pmaxmin=? [ F<=1000 "goal" ]'),
    Case("F<=1000, 100,000, limit", lambda: random_walk(100_000, 2, 0.1), 'Pmaxmin=? [ F<=1000 "goal" ]', 2.0),
    Case("grid, 90,000", lambda: grid(300, 0.0), 'Rmin=? [ F "goal" ]', 5.0),
    Case("grid, 90,000 intervals", lambda: grid(300, 0.02), 'Rminmax=? [ F "goal" ]', 5.0),
    Case("100 clusters of 1000", lambda: clusters(100, 1000, 0.0), 'Rmin=? [ F "goal" ]', 5.0),
    Case("100 clusters, intervals", lambda: clusters(100, 1000, 0.1), 'Rminmax=? [ F "goal" ]', 5.0),
    Case("100 linked clusters", lambda: clusters(100, 1000, 0.0, back=True), 'Rmin=? [ F "goal" ]', 5.0),
    Case("100 linked, intervals", lambda: clusters(100, 1000, 0.1, back=True), 'Rminmax=? [ F "goal" ]', 5.0),
    Case("star, 100,000", lambda: star(100_000, 0.0), 'Pmax=? [ F "goal" ]'),
    Case("star, intervals", lambda: star(100_000, 0.1), 'Pmaxmin=? [ F "goal" ]'),
    Case("birth and death", lambda: birth_death(10_000, 0.001), 'Rmaxmax=? [ F "goal" ]'),
    Case("nested", lambda: grid(300, 0.02), 'Pmaxmin=? [ F P>=0.5 [ F "goal" ] & "goal" ]', 2.0),
]


def _measure(number: int, pipe: Any) -> None:
    from umdp.kernel import on_compile

    case, compiled = CASES[number], []
    on_compile(lambda: compiled.append(True))
    model, spec = case.build(), umdp.Spec.parse(case.spec)
    pipe.send("ready")
    begun, worked = time.monotonic(), time.process_time()
    try:
        found = umdp.solve(model, spec, time_limit=case.limit, precision=case.precision)
        told = f"{found.status.name} {found.bracket}"
    except UmdpError as error:
        told = f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
    pipe.send((time.monotonic() - begun, time.process_time() - worked, told, bool(compiled)))


def run(number: int) -> tuple[float, float, str]:
    """Return the seconds a case takes, those of the processor, and what it says; infinity where it had to be killed."""
    case, context = CASES[number], multiprocessing.get_context("spawn")
    for _ in range(3):
        ours, theirs = context.Pipe()
        process = context.Process(target=_measure, args=(number, theirs))
        process.start()
        theirs.close()
        ready = ours.recv() == "ready"
        patience = PATIENCE + (case.limit if case.limit < np.inf else 0.0)
        if not (ready and ours.poll(patience)):
            process.kill()
            process.join()
            return np.inf, np.inf, f"killed after {patience:.0f} s"
        seconds, worked, told, compiled = ours.recv()
        process.join()
        if not compiled:
            break
    return seconds, worked, told


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1:]
    print(f"{'case':<28} {'limit':>6} {'took':>7} {'over':>7} {'cpu':>7}  answer")
    for number, case in enumerate(CASES):
        if wanted and not any(each in case.name for each in wanted):
            continue
        seconds, worked, told = run(number)
        over = max(seconds - case.limit, 0.0) if case.limit < np.inf else np.nan
        print(f"{case.name:<28} {case.limit:>6.1f} {seconds:>7.2f} {over:>7.2f} {worked:>7.2f}  {told}", flush=True)


if __name__ == "__main__":
    main()
