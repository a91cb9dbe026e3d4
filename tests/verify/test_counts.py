"""Counts that one sequence of samples can have, against a linear program that lists all hits at all times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from umdp.verify.counts import one_sequence
from verify.carried import _possible_counts


def as_learning(known: list[list[tuple[int, int]]]) -> dict[str, Any]:
    given: dict[str, Any] = {"method": "confidence-sequence"}
    for side, which in (("lower", 0), ("upper", -1)):
        given[f"{side}_samples"] = [points[which][0] for points in known]
        given[f"{side}_hits"] = [points[which][1] for points in known]
    return given


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_same_as_a_linear_program(size: int) -> None:
    rng = np.random.default_rng(size)
    seen = {True: 0, False: 0}
    for _ in range(150):
        steps = np.cumsum([rng.multinomial(int(rng.integers(0, 6)), np.ones(size) / size) for _ in range(3)], axis=0)
        known = []
        for i in range(size):
            times = rng.integers(0, 3, 2)
            known.append([(int(steps[t].sum()), int(steps[t][i])) for t in times])
        if rng.random() < 0.6:  # one count is another
            i, which = int(rng.integers(size)), int(rng.integers(2))
            samples, hits = known[i][which]
            known[i][which] = (samples, max(0, hits + int(rng.choice([-1, 1]))))
        wanted = _possible_counts(as_learning(known), range(size))
        assert one_sequence(known) is wanted, known
        seen[wanted] += 1
    assert min(seen.values()) > 20


def test_what_was_sampled_is_always_possible() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        size = int(rng.integers(2, 6))
        steps = np.cumsum([rng.multinomial(int(rng.integers(0, 50)), np.ones(size) / size) for _ in range(4)], axis=0)
        known = [[(int(steps[t].sum()), int(steps[t][i])) for t in rng.integers(0, 4, 2)] for i in range(size)]
        assert one_sequence(known)
