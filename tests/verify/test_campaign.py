"""Forged certificates of every kind: none that claims something false is accepted; and a checker without a line is fooled."""

from __future__ import annotations

from typing import Any

import pytest

import umdp.verify.played as plays
from umdp.verify import learning
from umdp.verify.distributions import Row
from umdp.verify.induction import Arena
from umdp.verify.rationals import vector
from verify import campaign
from verify.originals import KINDS


def test_no_false_certificate_is_accepted() -> None:
    fooled: list[dict[str, Any]] = []
    found = campaign.campaign(300, 2, fooled)
    assert not fooled, [(each["kind"], each["number"], each["changes"], each["what"]) for each in fooled]
    assert all(found[kind, "refused"] for kind in KINDS)
    assert all(found[kind, "still true"] for kind in ("model", "sums", "learned", "evidence"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_forgeries(seed: int) -> None:
    fooled: list[dict[str, Any]] = []
    campaign.campaign(5000, seed, fooled)
    assert not fooled, [(each["kind"], each["number"], each["changes"], each["what"]) for each in fooled]


COST = learning.SpentLevels.cost


@pytest.mark.parametrize(
    ("where", "name", "instead", "kind", "count"),
    [
        (learning.SpentLevels, "cost", lambda self, own: COST(self, own) / 2, "learned", 150),
        (learning, "one_sequence", lambda _: True, "learned", 300),
        (learning.ProvedIntervals, "check", lambda _: None, "learned", 100),
        (plays, "mixture_rules_out", lambda *_: True, "evidence", 50),
        (Row, "cut", lambda *_: False, "sums", 1000),
        (Arena, "check", lambda self, bound, upper: vector(bound.value, "side", self.unit), "model", 1000),
    ],
    ids=["half the price", "any counts", "any bounds", "any plays", "cut transitions", "any vector"],
)
def test_a_checker_without_this_is_fooled(
    where: Any, name: str, instead: Any, kind: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, instead)
    monkeypatch.setattr(campaign, "KINDS", {kind: (KINDS[kind][0], 1.0)})
    fooled: list[dict[str, Any]] = []
    campaign.campaign(count, 5, fooled)
    assert fooled
