"""Specifications: PRISM's properties, read, printed, described and evaluated over a model's states.

Examples
--------
>>> from umdp.spec import Spec
>>> Spec.parse('Pmaxmin>=0.3 [ F<=10 "goal" ]').formula
Until(left=Expression.parse('true'), right=Expression.parse('"goal"'), bound=10)
"""

from __future__ import annotations

from umdp.spec.expression import TRUE, Expression, StateSpace
from umdp.spec.formula import Cumulative, Globally, Next, PathFormula, Reach, Until, Windowed
from umdp.spec.rewarded import Average, Discounted, Instantaneous, LongRun, Total
from umdp.spec.spec import Direction, Spec, Threshold
from umdp.spec.temporal_formula import AutomatonFile, Reachability, Temporal, TemporalFormula, Window

__all__ = [
    "TRUE",
    "AutomatonFile",
    "Average",
    "Cumulative",
    "Direction",
    "Discounted",
    "Expression",
    "Globally",
    "Instantaneous",
    "LongRun",
    "Next",
    "PathFormula",
    "Reach",
    "Reachability",
    "Spec",
    "StateSpace",
    "Temporal",
    "TemporalFormula",
    "Threshold",
    "Total",
    "Until",
    "Window",
    "Windowed",
]
