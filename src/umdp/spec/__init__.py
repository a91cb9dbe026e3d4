"""Specifications: PRISM's properties, read, printed, described and evaluated over a model's states.

Examples
--------
>>> from umdp.spec import Spec
>>> Spec.parse('Pmaxmin>=0.3 [ F<=10 "goal" ]').formula
Until(left=Expression.parse('true'), right=Expression.parse('"goal"'), bound=10)
"""

from __future__ import annotations

from umdp.spec.expression import TRUE, Expression, StateSpace
from umdp.spec.formula import Globally, LongRun, Next, PathFormula, Reachability, Until, Windowed
from umdp.spec.rewarded import Average, Cumulative, Discounted, Instantaneous, Reach, Total
from umdp.spec.spec import Direction, Spec, Threshold
from umdp.spec.step_bounds import Window
from umdp.spec.temporal_formula import AutomatonFile, RewardBounded, Temporal, TemporalFormula

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
    "RewardBounded",
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
