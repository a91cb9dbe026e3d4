"""Small parametric programs, written by hand: affine in one and in two parameters, products, quotients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from umdp import Graph
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.model import ParametricMDP

Row = Sequence[tuple[Polynomial | Function, int]]


def program(
    rows: Sequence[Row], names: Sequence[str], prior: Mapping[str, tuple[float, float]] | None = None
) -> ParametricMDP:
    """Return the program with a choice for each row, one in each state; state 0 is labelled goal, the last one lost."""
    pointers = np.cumsum([0, *(len(row) for row in rows)])
    graph = Graph(
        np.arange(len(rows) + 1), pointers, [s for row in rows for _, s in row],
        labels={"goal": [0], "lost": [len(rows) - 1]}, initial=1,
    )  # fmt: skip
    functions = [f if isinstance(f, Function) else Function.of(f) for row in rows for f, _ in row]
    return ParametricMDP.of(graph, names, functions, prior, "small.prism")


def letters(size: int) -> list[Polynomial]:
    return [Polynomial.constant(1, size), *(Polynomial.parameter(i, size) for i in range(size))]


def affine() -> ParametricMDP:
    """One parameter: the same coin in two places, a quarter of it in a third, and a known one."""
    one, p = letters(1)
    quarter, half = p.scaled(Fraction(1, 4)), one.scaled(Fraction(1, 2))
    return program(
        [[(one, 0)], [(p, 2), (one - p, 4)], [(one - p, 5), (p, 3)], [(one - quarter, 0), (quarter, 5)], [(half, 0), (half, 5)],
         [(one, 5)]], ["p"],
    )  # fmt: skip


def two() -> ParametricMDP:
    """Two parameters, that meet in a sum and a difference."""
    one, p, q = letters(2)
    mean, less = (p + q).scaled(Fraction(1, 2)), (one + p - q).scaled(Fraction(1, 2))
    return program(
        [[(one, 0)], [(mean, 2), (one - mean, 3)], [(less, 0), (one - less, 4)], [(q, 0), (one - q, 4)], [(one, 4)]],
        ["p", "q"],
    )


def products() -> ParametricMDP:
    """Products of two parameters, and one that neither rises nor falls."""
    one, p, q = letters(2)
    bent = p - p * p
    return program(
        [[(one, 0)], [(p * q, 2), (p - p * q, 3), (one - p, 4)], [(bent, 0), (one - bent, 4)], [(q, 0), (one - q, 4)],
         [(one, 4)]], ["p", "q"],
    )  # fmt: skip


def quotients() -> ParametricMDP:
    """Rates: who is first."""
    one, p, q = letters(2)
    first, second = Function.of(p, p + q), Function.of(q, p + q)
    return program(
        [[(one, 0)], [(first, 0), (second, 2)], [(second, 0), (first, 3)], [(one, 3)]], ["p", "q"],
        {"p": (0.25, 2.0), "q": (0.5, 1.0)},
    )  # fmt: skip


PROGRAMS = {
    "affine": (affine, {"p": 0.3}), "two": (two, {"p": 0.7, "q": 0.4}), "products": (products, {"p": 0.6, "q": 0.8}),
    "quotients": (quotients, {"p": 0.5, "q": 0.75}),
}  # fmt: skip
