"""One random model against exact rationals: every state, every method, every precision, cold and from any policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oracles.exact import Objective
from properties.bridge import BOUNDED, OBJECTIVES, exact_policy, exact_value, outside, to_model, to_spec
from properties.generate import Instance, random_model
from umdp import IntervalMDP, Policy, Solution, evaluate, solve
from umdp.solver.methods.method import METHODS as TABLE

METHODS = tuple(TABLE)
PRECISIONS = (1e-3, 1e-6, 1e-9, 1e-12, 1e-15)


@dataclass
class Tally:
    """What was compared, and what was wrong."""

    models: int = 0
    brackets: int = 0
    certified: int = 0
    solved: int = 0


def draw(seed: int, number: int, states: tuple[int, int] = (3, 12)) -> Instance:
    """Return one of an endless series of models: half of them with lower bounds of 0, two thirds with hard numbers."""
    rng = np.random.default_rng([seed, number])
    return random_model(rng, zero_lower=number % 2 == 1, hard=number % 3 > 0, states=states)


def misses(seed: int, number: int, tally: Tally, *, states: tuple[int, int] = (3, 12), runs: int = 3) -> Iterator[str]:
    """Yield a sentence for every bracket of one model that misses the exact value, and every solve that fails."""
    drawn = draw(seed, number, states)
    model = to_model(drawn)
    rng = np.random.default_rng([seed, number, 1])
    tally.models += 1
    for objective in [*OBJECTIVES, *(o for i, o in enumerate(BOUNDED) if i % 4 == number % 4)]:
        exact = exact_value(drawn, objective)
        for method, precision, start in _ways(rng, model, runs if objective.bound is None else 1):
            where = f"seed {seed} model {number}: {to_spec(objective)}, method {method}, precision {precision}, start {start}"
            policy = None if start is None else Policy(model, np.array(start))
            try:
                found = solve(model, to_spec(objective), precision=precision, method=method, start=policy)
                yield from _compare(where, drawn, objective, exact, found, tally)
            except Exception as problem:
                yield f"{where}: {type(problem).__name__}: {problem}"
        if objective.bound is None and rng.random() < 0.3:
            method, precision, start = next(_ways(rng, model, 2, warm=True))
            where = f"seed {seed} model {number}: evaluate {to_spec(objective)}, {method}, {precision}, policy {start}"
            try:
                policy = Policy(model, np.array(start))
                found = evaluate(model, to_spec(objective), policy, precision=precision, method=method)
                earned = exact_policy(drawn, objective, policy)
                for s in range(model.states):
                    tally.brackets += 1
                    if outside(found.lower[s], earned[s], found.upper[s]):
                        yield f"{where}: state {s}: [{found.lower[s]!r}, {found.upper[s]!r}] misses {shown(earned[s])}"
            except Exception as problem:
                yield f"{where}: {type(problem).__name__}: {problem}"


def _ways(
    rng: np.random.Generator, model: IntervalMDP, runs: int, *, warm: bool = False
) -> Iterator[tuple[str, float, list[int] | None]]:
    """Yield methods, precisions and policies to start from (every second time)."""
    for run in range(runs):
        start = None
        if warm or run % 2:
            start = [int(c) for c in model.state_ptr[:-1] + rng.integers(0, np.diff(model.state_ptr))]
        yield str(rng.choice(METHODS)), float(rng.choice(PRECISIONS)), start


def shown(value: object) -> str:
    """Return an exact value in digits, also where it is beyond floating-point numbers."""
    try:
        return f"{float(value)!r}"  # type: ignore[arg-type]
    except OverflowError:
        return "a value above the largest number"


def _compare(
    where: str, drawn: Instance, objective: Objective, exact: list, found: Solution, tally: Tally
) -> Iterator[str]:
    tally.solved += 1
    tally.certified += found.status.is_precise
    for s in range(len(exact)):
        tally.brackets += 1
        if outside(found.lower[s], exact[s], found.upper[s]):
            yield (
                f"{where}: {found.status.name}: state {s}: [{found.lower[s]!r}, {found.upper[s]!r}] "
                f"misses {shown(exact[s])}"
            )
    if objective.bound is None and objective.formula != "X":
        earned, own = exact_policy(drawn, objective, found.policy)[0], found.policy_bracket
        tally.brackets += 1
        if outside(own.lower, earned, own.upper):
            yield f"{where}: the policy earns {shown(earned)}, outside [{own.lower!r}, {own.upper!r}]"
