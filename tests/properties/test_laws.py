"""Laws that hold for every interval model, whatever its values are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.bridge import to_model
from properties.generate import random_model
from thoroughness import examples
from umdp import IntervalMDP, Policy, evaluate, solve

seeds = st.integers(min_value=0, max_value=2**32 - 1)


def random_interval_model(seed: int, *, zero_lower: bool = False) -> IntervalMDP:
    return to_model(random_model(np.random.default_rng(seed), zero_lower=zero_lower))


@settings(max_examples=examples(60))
@given(seeds, st.floats(0, 1), st.sampled_from(["P", "R"]))
def test_a_narrower_interval_never_makes_the_worst_case_worse(seed: int, share: float, kind: str) -> None:
    model = random_interval_model(seed)
    ptr, sizes = model.choice_ptr[:-1], np.diff(model.choice_ptr)
    rest = 1 - np.add.reduceat(model.lower, ptr)
    room = np.add.reduceat(model.upper - model.lower, ptr)
    inside = model.lower + np.repeat(np.where(room > 0, rest / np.where(room > 0, room, 1), 0), sizes) * (
        model.upper - model.lower
    )
    inside = np.clip(inside, model.lower, model.upper)
    lower = model.lower + share * (inside - model.lower)
    narrow = model.graph.with_bounds(lower, np.maximum(lower, model.upper + share * (inside - model.upper)))
    path = '"left" U "goal"' if kind == "P" else 'F "goal"'
    wide_value, narrow_value = (solve(m, f"{kind}maxmin=? [ {path} ]") for m in (model, narrow))
    # The narrowed bounds are rounded: allow for that where values depend on them by their own size.
    slack = 1e-6 * np.where(np.isfinite(wide_value.lower), wide_value.lower, 1)
    assert (narrow_value.upper >= wide_value.lower - slack).all()


@settings(max_examples=examples(60))
@given(seeds, st.booleans(), st.sampled_from(['P{}=? [ "left" U "goal" ]', 'P{}=? [ G "safe" ]', 'R{}=? [ F "goal" ]']))
def test_the_four_combinations_are_in_order(seed: int, zero_lower: bool, template: str) -> None:
    model = random_interval_model(seed, zero_lower=zero_lower)
    least, worst_of_max, best_of_min, most = (
        solve(model, template.format(players)) for players in ("minmin", "maxmin", "minmax", "maxmax")
    )
    for middle in (worst_of_max, best_of_min):
        assert (least.lower <= middle.upper).all()
        assert (middle.lower <= most.upper).all()


@settings(max_examples=examples(60))
@given(seeds, st.sampled_from(["max", "min"]))
def test_no_policy_beats_the_optimum(seed: int, agent: str) -> None:
    model = random_interval_model(seed)
    nature = "min" if agent == "max" else "max"
    spec = f'P{agent}{nature}=? [ "left" U "goal" ]'
    optimum, own = solve(model, spec), evaluate(model, spec, Policy.uniform(model))
    if agent == "max":
        assert (own.lower[: model.states] <= optimum.upper).all()
    else:
        assert (own.upper[: model.states] >= optimum.lower).all()


@pytest.mark.parametrize("seed", range(20))
def test_always_is_one_minus_ever_not(seed: int) -> None:
    model = random_interval_model(seed)
    always = solve(model, 'Pmaxmin=? [ G "safe" ]')
    ever = solve(model, 'Pminmax=? [ F !"safe" ]')
    assert (always.lower <= 1 - ever.lower + 1e-15).all()
    assert (always.upper >= 1 - ever.upper - 1e-15).all()
