"""Random interval models and formulas: the package's brackets against exact rationals, with an automaton built another way."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from oracles.exact import Choice, Model, Objective, value
from umdp import MDP, IntervalMDP, Policy, evaluate, solve
from umdp.automata import MemoryPolicy

from .lassos import Formula, drawn, text
from .safra import Choices, Rabin, TooLargeError, product

DIRECTIONS = ("max", "min")


def draw(rng: random.Random, *, zero: bool, plain: bool = False) -> tuple[Choices, list[int]]:
    """Return the choices of a small model, with bounds in sixteenths, and the letter of each of its states."""
    size = rng.randint(2, 4)
    choices: Choices = []
    for _ in range(size):
        own = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            targets = rng.sample(range(size), rng.randint(1, min(3, size)))
            cuts = sorted(rng.sample(range(1, 16), len(targets) - 1))
            parts = [b - a for a, b in zip([0, *cuts], [*cuts, 16], strict=True)]
            row = []
            for target, part in zip(targets, parts, strict=True):
                least = 0 if zero and rng.random() < 0.4 and len(targets) > 1 else 1
                low = part if plain or rng.random() < 0.3 else rng.randint(least, part)
                high = part if plain or rng.random() < 0.3 else rng.randint(part, 16)
                row.append((target, Fraction(low, 16), Fraction(high, 16)))
            own.append(row)
        choices.append(own)
    return choices, [rng.randrange(4) for _ in range(size)]


def to_model(choices: Choices, letters: list[int]) -> IntervalMDP | MDP:
    """Return the package's model."""
    state_ptr = np.cumsum([0, *(len(own) for own in choices)])
    choice_ptr = np.cumsum([0, *(len(row) for own in choices for row in own)])
    entries = [entry for own in choices for row in own for entry in row]
    successor, lower, upper = (np.array([entry[k] for entry in entries]) for k in range(3))
    labels = {name: np.array([bool(letter >> bit & 1) for letter in letters]) for bit, name in enumerate("ab")}
    if all(low == high for _, low, high in entries):
        return MDP(state_ptr, choice_ptr, successor.astype(int), lower.astype(float), labels=labels)
    return IntervalMDP(
        state_ptr, choice_ptr, successor.astype(int), lower.astype(float), upper.astype(float), labels=labels
    )


def exact(choices: Choices, letters: list[int], formula: Formula, agent: str, nature: str) -> Fraction:
    """Return the exact value of a formula in the first state."""
    if agent == "min":
        other = {"max": "min", "min": "max"}
        return 1 - exact(choices, letters, ("!", formula), "max", other[nature])
    rows, good = product(choices, letters, 0, Rabin(formula), most=60)
    model = Model([[Choice(row) for row in own] for own in rows])
    found = value(model, Objective("P", "max", nature, "F"), goal=good)[0]  # type: ignore[arg-type]
    assert isinstance(found, Fraction)
    return found


def mistakes(seed: int, *, zero: bool, size: int = 4) -> list[str] | None:
    """Return what is wrong with the answers for one random pair; None where it is too large for the oracle."""
    rng = random.Random(seed)
    choices, letters = draw(rng, zero=zero, plain=rng.random() < 0.2)
    formula = drawn(rng, rng.randint(1, size), 2)
    model = to_model(choices, letters)
    wrong = []
    agent, nature = rng.choice(DIRECTIONS), rng.choice(DIRECTIONS)
    try:
        truth = exact(choices, letters, formula, agent, nature)
    except TooLargeError:
        return None
    asked = f"P{agent}{nature}=? [ ({text(formula)}) & (X true) ]"
    solution = solve(model, asked)
    bracket = solution.bracket
    if not Fraction(bracket.lower) <= truth <= Fraction(bracket.upper):
        wrong.append(f"{seed}: {asked} is {truth} = {float(truth)}, not in {bracket}")
    if not zero and bracket.upper - bracket.lower > 1e-5:
        wrong.append(f"{seed}: {asked} is {truth}, and {bracket} is wide")
    own = solution.policy_bracket
    again = evaluate(solution.model, solution.spec, solution.policy).bracket
    if again.lower > own.upper or own.lower > again.upper:
        wrong.append(f"{seed}: {asked}: the policy has {again}, and {own} was claimed")
    if not zero:
        try:
            played = exact(*chain(choices, letters, solution.policy), formula, nature, nature)
        except TooLargeError:
            return wrong
        if not Fraction(own.lower) <= played <= Fraction(own.upper):
            wrong.append(f"{seed}: {asked}: the policy, played on the model, has {played}, and {own} was claimed")
    return wrong


def chain(choices: Choices, letters: list[int], policy: Policy) -> tuple[Choices, list[int]]:
    """Return the chain that a policy with memory makes of a model, and the letter of each of its states."""
    assert isinstance(policy, MemoryPolicy)
    offset = np.cumsum([0, *(len(own) for own in choices)])
    start = (0, policy.product.first(0))
    index, queue = {start: 0}, [start]
    rows: Choices = []
    for state, memory in queue:
        choice, kept = policy.decide(state, memory)
        row = []
        for target, low, high in choices[state][choice - offset[state]]:
            ahead = (target, policy.product.next(kept, target))
            if ahead not in index:
                index[ahead] = len(queue)
                queue.append(ahead)
            row.append((index[ahead], low, high))
        rows.append([row])
    return rows, [letters[state] for state, _ in queue]
