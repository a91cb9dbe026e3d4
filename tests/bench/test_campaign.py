"""A sample of the campaign: random models, their brackets and certificates, against exact rationals."""

from __future__ import annotations

import pytest
from bench.campaign import _one, one_sequence

from bench import sequences


@pytest.mark.parametrize(
    ("first", "count"), [(0, 5), *(pytest.param(n, 20, marks=pytest.mark.slow) for n in range(5, 200, 20))]
)
def test_no_bracket_misses_and_every_certificate_is_accepted(first: int, count: int) -> None:
    wrong = [line for number in range(first, first + count) for line in _one((2, number, 3, 12))[0]]
    assert wrong == []


def test_a_bound_beyond_doubles_is_refused_in_words() -> None:
    assert _one((100, 35, 3, 12))[0] == []  # changed certificates of rewards that overflow


@pytest.mark.parametrize("number", range(12))
def test_calls_that_share_a_graph_say_nothing_false(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "PATIENCE", 120.0)  # kernels may be compiled meanwhile
    found = one_sequence(5, number)
    assert found.failures == []
    assert sum(n for (_, what), n in found.count.items() if what == "checked") > 0
