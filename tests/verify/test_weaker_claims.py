"""A certificate that does not pass claims less: what less is, is decided by why it was refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from umdp import IntervalMDP, Spec, solve
from umdp.solver.proof.prove import _settle
from umdp.statements import DiagnosticCode
from umdp.verify import verify_content
from umdp.verify.document import has_sign, make_model
from umdp.verify.property import objective

# "go" reaches the goal 1 with 0.2 to 0.5, otherwise 2, for ever.
MODEL = IntervalMDP(
    [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1], labels={"goal": [1], "lost": [2]}
)  # fmt: skip
LESS, POLICY = DiagnosticCode.CLAIMED_LESS, DiagnosticCode.POLICY_NOT_CLAIMED


def claim(**bounds: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["claim"].update(bounds)


def raise_value(content: dict[str, Any]) -> None:
    content["lower"]["value"][0] = 0.9


def lower_value(content: dict[str, Any]) -> None:
    content["upper"]["value"][0] = 0.1


def without_policy(content: dict[str, Any]) -> None:
    del content["policy"]


@pytest.mark.parametrize(
    ("asked", "change", "said", "lower", "upper"),
    [
        ('Pmaxmin=? [ F "goal" ]', claim(), [], 0.2, 0.2),
        ('Pmaxmin=? [ F "goal" ]', claim(lower=0.3, upper=0.4), [LESS], 0.2, 0.4),
        ('Pmaxmin=? [ F "goal" ]', claim(lower=0.1, upper=0.15), [LESS], 0.1, 0.2),
        ('Pmaxmin=? [ F "goal" ]', raise_value, [LESS], 0.0, 0.2),
        ('Pmaxmin=? [ F "goal" ]', lower_value, [LESS], 0.2, 1.0),
        ('Pmaxmin=? [ G !"lost" ]', claim(lower=0.3, upper=0.4), [LESS], 0.2, 0.4),
        ('Pmaxmin=? [ F<=3 "goal" ]', claim(lower=0.3, upper=0.4), [LESS], 0.2, 0.4),
        ('Pmaxmin=? [ F<=3 "goal" ]', without_policy, [POLICY], 0.2, 0.2),
    ],
)
def test_less_is_claimed(
    asked: str, change: Callable[[dict[str, Any]], None], said: list[DiagnosticCode], lower: float, upper: float
) -> None:
    spec = Spec.parse(asked)
    content = copy.deepcopy(solve(MODEL, spec).certificate().content)
    model = make_model(content["model"], signed=has_sign(spec))
    change(content)
    made = _settle(content, model, objective(model, spec))
    assert [each.code for each in made.notes] == said
    assert verify_content(made.content).valid
    assert (made.lower, made.upper) == pytest.approx((lower, upper), abs=1e-9)
    assert made.content["claim"]["policy"] == (POLICY not in said)


def test_what_no_weaker_claim_repairs_is_an_error() -> None:
    spec = Spec.parse('Pmaxmin=? [ F "goal" ]')
    content = copy.deepcopy(solve(MODEL, spec).certificate().content)
    model = make_model(content["model"])
    content["claim"] |= {"lower": 0.9, "upper": 0.8}
    with pytest.raises(ArithmeticError):
        _settle(content, model, objective(model, spec))
