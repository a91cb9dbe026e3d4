"""A method of one's own is a function and a line in the table; what it leaves loose is solved as ever."""

from __future__ import annotations

import numpy as np
import pytest

from properties.bridge import OBJECTIVES, exact_value, outside, to_model, to_spec, too_wide
from properties.generate import random_model
from umdp import solve
from umdp.solver.methods import method
from umdp.solver.methods.component import Component
from umdp.solver.methods.workspace import Bounds, Workspace

tried: list[bool] = []


def jacobi(workspace: Workspace, number: int) -> bool:
    """Guess values by steps that read those of before alone; bounds around the guess must prove themselves."""
    component = Component(workspace, number)
    inner, x = component.inner, workspace.x
    values, bounds = np.zeros(inner.stop - inner.start), Bounds(np.zeros(0), np.zeros(0))
    for _ in range(300):
        x[inner] = values
        component.sweep(x, workspace.row)
        if np.allclose(values, x[inner], rtol=1e-12, atol=0.0):
            break
        values = 0.5 * (values + x[inner])
    with np.errstate(all="ignore"):
        proved = component.surround(workspace.wanted, bounds, 8)
    tried.append(proved)
    if proved:
        component.write(bounds)
    return proved


def test_a_method_is_a_function_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    own = method.Method("jacobi", "value iteration as Jacobi does it", 1, -1, 1, 0, f"{__name__}:jacobi")
    monkeypatch.setitem(method.METHODS, own.name, own)
    for number in range(8):
        drawn = random_model(np.random.default_rng([31, number]), zero_lower=False, states=(3, 9))
        for objective in OBJECTIVES:
            found, exact = solve(to_model(drawn), to_spec(objective), method="jacobi"), exact_value(drawn, objective)
            for s, (low, high) in enumerate(zip(found.lower, found.upper, strict=True)):
                assert not outside(low, exact[s], high), (objective, s)
                assert not too_wide(low, high)
    assert sum(tried) > len(tried) / 4
