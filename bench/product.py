"""Temporal formulas: `python -m bench.product [--size 1e6] [--repeat 3]`, building and solving products beside plain models.

A product of a model and an automaton is built, its accepting parts are found, and what is left is to reach them. Beside it
stands what that last step takes alone, on the product as a plain model, and a plain model of the same family and size with a
property of its own. Seconds are the best of so many runs; all on one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from bench import arrays
from umdp import MDP, IntervalMDP, Spec, solve
from umdp.automata.labelled_automaton import read_formula
from umdp.automata.product import multiply
from umdp.solver.temporal import lift
from umdp.spec import TemporalFormula

__all__ = ["QUESTIONS", "Question", "measure"]

T = TypeVar("T")
PRECISION = 1e-6


class Question(NamedTuple):
    """A family of models, how many times larger the product is, the formula, and what a plain model of the family is asked."""

    family: str
    times: float
    formula: str
    plain: str
    intervals: bool = False


QUESTIONS = (
    Question("grid", 1.55, '(F "red") & (G !"trap")', 'Pmax=? [ !"trap" U "goal" ]'),
    Question("grid", 2.0, '(G F "red") & (G F "goal")', 'Pmax=? [ !"trap" U "goal" ]'),
    Question("grid", 1.55, '(F "red") & (G !"trap")', 'Pmaxmin=? [ !"trap" U "goal" ]', intervals=True),
    Question("random", 1.95, '(F "red") & (F "goal")', 'Pmax=? [ F "goal" ]'),
    Question("random", 1.95, '(F "red") & (F "goal")', 'Pmaxmin=? [ F "goal" ]', intervals=True),
    Question("clusters", 1.93, '(F "red") & (F "goal")', 'Pmax=? [ F "goal" ]'),
    Question("clusters", 1.93, '(F "red") & (F "goal")', 'Pmaxmin=? [ F "goal" ]', intervals=True),
)
FAMILIES: dict[str, Callable[[int], MDP]] = {
    "grid": arrays.grid, "random": arrays.random_sparse, "clusters": arrays.clusters,
}  # fmt: skip


def model_of(question: Question, transitions: int) -> MDP | IntervalMDP:
    """Return a model of the family in which one state of twenty is red."""
    plain = FAMILIES[question.family](transitions)
    red = np.random.default_rng(3).random(plain.states) < 0.05
    labels = {**plain.labels, "red": red}
    rows = plain.state_ptr, plain.choice_ptr, plain.successor
    if not question.intervals:
        return MDP(*rows, plain.probability, labels=labels, initial=plain.initial)
    low, high = np.maximum(plain.probability - 0.02, 1e-3), np.minimum(plain.probability + 0.02, 1.0)
    return IntervalMDP(*rows, np.minimum(low, plain.probability), high, labels=labels, initial=plain.initial)


def best(repeat: int, work: Callable[[], T]) -> tuple[float, T]:
    """Return the least seconds that something took, and what it returned."""
    least = np.inf
    for _ in range(repeat):
        begun = time.perf_counter()
        found = work()
        least = min(least, time.perf_counter() - begun)
    return least, found


def measure(question: Question, size: int, repeat: int) -> str:
    """Return a row of the table."""
    model, other = model_of(question, round(size / question.times)), model_of(question, size)
    spec = Spec.parse(f"Pmax{'min' if question.intervals else ''}=? [ {question.formula} ]")
    assert isinstance(spec.formula, TemporalFormula)
    reading = read_formula(spec.formula, model)
    multiply(model, reading)  # compiles
    building, skeleton = best(repeat, lambda: multiply(model, reading))
    lifting, product = best(repeat, lambda: lift(model, spec, True, not question.intervals))
    reaching, _ = best(repeat, lambda: solve(product.model, product.spec, precision=PRECISION))
    whole, found = best(repeat, lambda: solve(model, spec, precision=PRECISION))
    alone, _ = best(repeat, lambda: solve(other, question.plain, precision=PRECISION))
    transitions = skeleton.successor.size
    kind = "intervals" if question.intervals else "plain"
    return (
        f"| {question.family}, {kind} | `{question.formula}` | {transitions:,} | {transitions / building / 1e6:.1f} | "
        f"{building:.2f} | {lifting - building:.2f} | {reaching:.2f} | {whole:.2f} | {alone:.2f} | "
        f"{found.status.name.lower()} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.product", description=__doc__)
    parser.add_argument("--size", type=lambda text: int(float(text)), default=1_000_000, help="transitions, roughly")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print(
        "| model | formula | transitions | built, million/s | building, s | accepting, s | reaching, s | in all, s | plain, s | |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for question in QUESTIONS:
        print(measure(question, given.size, given.repeat), flush=True)


if __name__ == "__main__":
    main()
