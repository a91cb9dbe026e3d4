"""Rows of any width: sorted in n log n comparisons, few where the kept order is almost right, and answered by nature in order."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thoroughness import examples
from umdp import IntervalMDP, solve
from umdp.solver.kernels import best_response
from umdp.solver.kernels.structs import ChoiceRows, SystemRows


class Counted(float):
    """A number that counts how often it is compared."""

    times = 0

    def __lt__(self, other: float) -> bool:
        Counted.times += 1
        return float(self) < float(other)

    def __rmul__(self, other: float) -> Counted:
        return Counted(float(self) * other)


def comparisons(monkeypatch: pytest.MonkeyPatch, keys: np.ndarray, order: np.ndarray) -> int:
    """Return how many comparisons the plain version needs to sort a row; it must sort it."""
    monkeypatch.setattr(best_response, "merge_row", best_response.merge_row.py_func)
    counted: Any = np.array([Counted(key) for key in keys], dtype=object)
    Counted.times = 0
    best_response.sort_row.py_func(0, keys.size, counted, order, True)
    assert (np.diff(keys[order]) <= 0).all()
    return Counted.times


@settings(max_examples=examples(200))
@given(st.integers(1, 400), st.integers(1, 50), st.booleans(), st.integers(0, 2**32 - 1))
def test_sorting_is_stable_at_any_width(size: int, values: int, descending: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, values, size).astype(float)
    kept = rng.permutation(size).astype(np.int32)
    order = np.concatenate([[7, 7], kept, [7]]).astype(np.int32)
    best_response.sort_row(2, size, keys, order, descending)
    wanted = kept[np.argsort(-keys[kept] if descending else keys[kept], kind="stable")]
    np.testing.assert_array_equal(order, np.concatenate([[7, 7], wanted, [7]]))


@pytest.mark.parametrize("size", [33, 100, 1000, 4000])
@pytest.mark.parametrize("kind", ["random", "reversed", "halves"])
def test_a_wide_row_is_sorted_in_n_log_n_comparisons(monkeypatch: pytest.MonkeyPatch, size: int, kind: str) -> None:
    keys = {
        "random": np.random.default_rng(size).random(size),
        "reversed": np.arange(size, dtype=float),
        "halves": np.concatenate([np.arange(size // 2, 0, -1), np.arange(size, size // 2, -1)]).astype(float),
    }[kind]
    # One insertion may exceed what is left to move, by a row at most.
    most = (best_response.MOVES + 1 + log2(size) + 2) * keys.size
    assert comparisons(monkeypatch, keys, np.arange(keys.size, dtype=np.int32)) <= most


def test_a_kept_order_that_is_almost_right_costs_hardly_more_than_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = np.random.default_rng(0).random(2000)
    order = np.argsort(-keys).astype(np.int32)
    for at in range(0, 2000, 10):
        order[[at, at + 1]] = order[[at + 1, at]]
    assert comparisons(monkeypatch, keys, order) <= 1.2 * keys.size


@pytest.mark.parametrize("spec", ["Pmaxmin", "Pmaxmax"])
def test_nature_answers_a_wide_row_as_a_sort_does(spec: str) -> None:
    n = 3000
    rng = np.random.default_rng(5)
    # One state leads to n others, in pairs that have one value and one name each; these lead to the goal or a trap.
    sizes = np.concatenate([[n], np.full(n, 2), [1, 1]])
    choice_ptr = np.concatenate([[0], np.cumsum(sizes)])
    successor = np.concatenate(
        [rng.permutation(n) + 1, np.tile([n + 1, n + 2], n), [n + 1, n + 2]],
    )
    value = np.repeat(rng.random(n // 2), 2)
    inside = np.column_stack([value, 1 - value]).ravel()
    lower = np.concatenate([np.full(n, 0.5 / n), inside, [1, 1]])
    upper = np.concatenate([np.full(n, 2.0 / n), inside, [1, 1]])
    model = IntervalMDP(
        np.arange(n + 4), choice_ptr, successor, lower, upper, labels={"goal": np.arange(n + 3) == n + 1}
    )
    solution = solve(model, f'{spec}=? [ F "goal" ]')
    rank = np.argsort(-value if spec == "Pmaxmax" else value, kind="stable")
    share = np.full(n, 0.5 / n)
    share[rank[: n // 3]] = 2.0 / n  # a slack of 1/2 serves a third of them, 1.5/n each
    assert solution.value == pytest.approx(float(share @ value), abs=1e-9)
    found = solution.nature.probability[:n]
    assert found @ value[successor[:n] - 1] == pytest.approx(float(share @ value), abs=1e-9)
    assert model.contains(solution.nature, tolerance=1e-12)


def test_natures_answer_is_handed_to_each_transition_of_a_target() -> None:
    # Transitions 0 and 2 lead to states that are one unknown; the third entry is another's.
    prob = np.zeros(3)
    none = np.empty(0)
    system = SystemRows(
        np.array([0, 3]), np.arange(4), np.array([0, 2, 3, 4]), np.array([1, 2, 3, 3], np.int32), none, none,
        np.array([0.5, 0.0, 0.0]), none, np.empty(0, np.int32),
    )  # fmt: skip
    model = ChoiceRows.of(
        np.array([0, 1, 2, 3]), np.array([0, 3, 3, 3]), np.array([1, 2, 3]), np.array([0.1, 0.1, 0.2]),
        np.array([0.4, 0.5, 0.6]), none,
    )  # fmt: skip
    best_response.transfer(
        system, np.array([0, 1, 2], np.int32), np.array([0, 1, 2, 1], np.int32), np.array([0, 1, 2]),
        np.array([0.7, 0.3, 1.0, 1.0]), model, prob,
    )  # fmt: skip
    np.testing.assert_allclose(prob, [0.4, 0.3, 0.3])
