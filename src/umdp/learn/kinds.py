"""The paper's learners as numbers, for their compiled updates in `updates`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn.dirichlet import EPSILON
from umdp.learn.lui import LUI
from umdp.learn.map import MAP
from umdp.learn.pac import PAC
from umdp.learn.ucrl2 import UCRL2

__all__ = ["LUI_KIND", "MAP_KIND", "PAC_KIND", "UCRL2_KIND", "parameters"]

Array = NDArray[Any]
LUI_KIND, PAC_KIND, MAP_KIND, UCRL2_KIND = 0, 1, 2, 3


def parameters(learner: Any) -> tuple[int, Array, Array] | None:
    """Return kind, `factor` and `settings` of one of the paper's learners as it is by definition; None for others."""
    graph = learner.graph
    if type(learner) is LUI:
        bounds = learner.strength_bound or (np.inf, np.inf)
        return LUI_KIND, np.zeros(graph.choices), np.array(bounds, dtype=np.float64)
    bound = getattr(learner, "strength_bound", None)
    most = np.inf if bound is None else float(bound)
    if type(learner) is MAP:
        return MAP_KIND, np.zeros(graph.choices), np.array([most, 0.0])
    if type(learner) is PAC and learner.around == "map":
        return PAC_KIND, np.full(graph.choices, np.log(2 / learner.level) / 2), np.array([most, EPSILON])
    if type(learner) is UCRL2:
        actions = np.diff(graph.state_ptr)[graph.choice_state]
        settings = [most, EPSILON, learner.error_rate, 14 * graph.states, *actions]
        return UCRL2_KIND, np.zeros(graph.choices), np.array(settings, dtype=np.float64)
    return None
