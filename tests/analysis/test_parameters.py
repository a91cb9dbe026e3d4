"""Parameters that hold back, against solving again where one of them is known a little better."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from umdp import ConfidenceSequence, Graph, Spec, solve
from umdp.analysis.explainer import ledger
from umdp.analysis.explanation import held_parameters
from umdp.analysis.worst_case import WorstCase
from umdp.learn.parametric_learner import Parametric
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.model import ParametricMDP


def test_parameters_are_ranked_by_what_halving_their_intervals_is_worth() -> None:
    """Two coins p and q in a row: the value is p q, and at first order halving p is worth q times what its lower end gains."""
    p, q, one = Polynomial.parameter(0, 2), Polynomial.parameter(1, 2), Polynomial.constant(1, 2)
    graph = Graph([0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [1, 3, 2, 3, 2, 3], labels={"goal": [2]})
    row = [Function.of(each) for each in (p, one - p, q, one - q, one, one)]
    learner = Parametric(ConfidenceSequence(0.05), ParametricMDP.of(graph, ["p", "q"], row)).bind(graph)
    learner.learn([900, 100, 300, 100, 0, 0])
    spec = Spec.parse('Pmaxmin=? [ F "goal" ]')
    worst = WorstCase.of(learner.model, spec, learner.sightings(np.array([900, 100, 300, 100, 0, 0])))
    found = {each.name: each for each in held_parameters(worst, learner)}
    low, width = learner.box_lower, learner.box_upper - learner.box_lower
    assert found["p"].holds_back == pytest.approx(width[0] / 2 * low[1], rel=1e-3)
    assert found["q"].holds_back == pytest.approx(width[1] / 2 * low[0], rel=1e-3)
    assert next(iter(found)) == "q"  # seen less often
    # And by solving again with the interval of q a little narrower: the value is that of the lower ends.
    step = 1e-6
    moved = learner.model.lower.copy()
    moved[2] += step
    before = solve(learner.model, spec, precision=1e-11).value
    after = solve(graph.with_bounds(moved, learner.model.upper), spec, precision=1e-11).value
    assert (after - before) / step * width[1] / 2 == pytest.approx(found["q"].holds_back, rel=1e-3)
    spent = ledger(learner)
    assert spent.spent <= Fraction(0.05)
    assert spent.bounds == 2  # a class of two outcomes each
