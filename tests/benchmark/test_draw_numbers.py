"""Grid and chain as text with a number for each state, and with how often each was visited."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import ModelError, Policy, solve
from umdp.benchmark import chain, draw_chain, draw_grid, grid, load
from umdp.benchmark.cells import short

SMALL = grid(3, 2, traps=[(1, 0)])
SCALES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def number(text: str) -> float:
    """Read a short number back."""
    text = text.strip("<>")
    return float(text[:-1]) * SCALES[text[-1]] if text[-1] in SCALES else float(text)


# -- short numbers -------------------------------------------------------------------------------------------


@given(st.floats(1e-300, 1e300), st.sampled_from([1, -1]))
def test_a_short_number_is_near_the_number(value: float, sign: int) -> None:
    text = short(sign * value)
    assert len(text) <= 5 + (sign < 0) + (value < 1e-99)
    digits = 0.05 if value >= 1 and value < 1e15 else 0.5
    assert math.isclose(number(text), sign * value, rel_tol=digits)
    assert (number(text) == sign * 1.0) <= (value >= 1)  # only 1 and what is a little above is written as 1
    assert text not in {"0", "-0"}


@given(st.integers(0, 10**16))
def test_a_short_count_takes_four_characters(count: int) -> None:
    assert len(short(count)) <= 4
    assert math.isclose(number(short(count)), count, rel_tol=0.5 if count > 9e14 else 0.05)


@given(st.lists(st.floats(0, 1e18), min_size=2, max_size=2).map(sorted))
def test_short_numbers_are_in_order(pair: list[float]) -> None:
    assert number(short(pair[0])) <= number(short(pair[1]))


# -- the grid ------------------------------------------------------------------------------------------------


def read_grid(text: str, columns: int, rows: int) -> list[list[str]]:
    """Return the cells of a drawing, without borders; all of them must have the same width."""
    lines = text.split("\n")[:rows]
    width, rest = divmod(max(map(len, lines)), columns)
    assert rest == 0
    return [[line.ljust(width * columns)[x * width + 1 : (x + 1) * width] for x in range(columns)] for line in lines]


def test_values_beside_the_arrows() -> None:
    policy = Policy.from_actions(SMALL, {"(0,0)": "south", "(0,1)": "east", "(1,1)": "east"})
    text = draw_grid(SMALL, policy, values=[0.35, 0, 1, 1e-3, 73, np.inf])
    assert text.split("\n") == ["[↓  .35]×    0 ◎    1", " → 1e-3 →   73 ↑  inf"]


def test_visits_are_shades_and_numbers() -> None:
    text = draw_grid(SMALL, visits=[1100, 0, 1, 31_000, 30, 1_000_000])
    assert text.split("\n") == [
        "[·▓ 1.1k]×     0 ◎░    1",
        " ·▓  31k ·░   30 ·█   1M",
        "visits: ░ 1 to 30, ▓ 1.1k to 31k, █ 1M, blank none",
    ]


def test_visits_beside_values_are_shades_alone() -> None:
    text = draw_grid(SMALL, values=[0.5] * 6, visits=[7, 7, 7, 7, 7, 7])
    assert text.split("\n") == ["[·█ .50]×█ .50 ◎█ .50", " ·█ .50 ·█ .50 ·█ .50", "visits: █ 7"]
    assert draw_grid(SMALL, visits=np.zeros(6)).endswith("\nvisits: none")


def test_transitions_count_for_the_state_they_leave() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, SMALL.transitions)
    counts[SMALL.choice_ptr[SMALL.state_ptr[4]] : SMALL.choice_ptr[SMALL.state_ptr[5]]] = 0
    left = [0] * SMALL.states
    for choice in range(SMALL.choices):
        for transition in range(SMALL.choice_ptr[choice], SMALL.choice_ptr[choice + 1]):
            left[SMALL.choice_state[choice]] += int(counts[transition])
    assert left[4] == 0
    assert draw_grid(SMALL, visits=counts) == draw_grid(SMALL, visits=left)


def test_the_grid_of_the_paper_fits_a_terminal() -> None:
    mdp = grid()
    solution = solve(mdp, load("grid").spec)
    shown = read_grid(draw_grid(mdp, solution.policy, values=solution.lower), 10, 10)
    bare = draw_grid(mdp, solution.policy).split("\n")
    for y, row in enumerate(shown):
        for x, cell in enumerate(row):
            assert cell[0] == bare[y][3 * x + 1]
            value = solution.lower[mdp.state_index(f"({x},{y})")]
            assert abs(number(cell[1:]) - value) <= 0.0051
    for scale in (1, 1e-11, 1e120):
        visits = np.random.default_rng(2).integers(0, 10**15, mdp.transitions)
        text = draw_grid(mdp, solution.policy, values=scale * solution.lower, visits=visits)
        assert max(map(len, text.split("\n"))) <= 80
        assert max(map(len, draw_grid(mdp, visits=visits).split("\n"))) <= 80


def test_a_map_without_a_policy() -> None:
    assert draw_grid(SMALL) == "[·] ×  ◎\n ·  ·  ·"
    assert draw_chain(chain(length=3)) == "[·] ·  ·  ◎"


# -- the chain -----------------------------------------------------------------------------------------------


def test_the_chain_in_lines_of_ten() -> None:
    mdp = chain()
    solution = solve(mdp, load("chain").spec)
    lines = draw_chain(mdp, solution.policy, values=solution.lower).split("\n")
    assert [line[:2] for line in lines] == [" 0", "10", "20", "30"]
    words = " ".join(line[2:] for line in lines).replace("[", " ").replace("]", " ").split()
    assert words[::2] == ["c"] * 30 + ["◎"]
    steps = [sum(0.95**-k for k in range(position + 1, 31)) for position in range(31)]
    assert words[1::2] == [short(value) for value in steps]


def test_wide_numbers_leave_fewer_positions_to_a_line() -> None:
    visits = np.arange(31) * 10**9
    text = draw_chain(chain(), values=np.linspace(1e118, 1e120, 31), visits=visits)
    lines = text.split("\n")
    assert [line[:2] for line in lines[:-1]] == [" 0", " 5", "10", "15", "20", "25", "30"]
    assert lines[-1].startswith("visits: ░ 1G to 2G, ")
    assert lines[-1].endswith("blank none")
    assert max(map(len, lines)) <= 80
    huge = draw_chain(chain(), values=np.full(31, -1e-120)).split("\n")
    assert max(map(len, huge)) <= 80


# -- refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_arrays", "message"),
    [
        ({"values": [1, 2]}, r"values has shape \(2,\); give one number for each state \(6\)$"),
        ({"values": np.zeros((2, 3))}, r"values has shape \(2, 3\); give one number for each state \(6\)$"),
        ({"values": 0.5}, r"values cannot be read|values has shape \(\)"),
        ({"values": ["a"] * 6}, "values cannot be read as numbers; give one number for each state"),
        ({"values": [[1, 2], [3]]}, "values cannot be read as numbers"),
        ({"values": [1j] * 6}, "values cannot be read as numbers"),
        ({"values": [None] * 6}, "values cannot be read as numbers"),
        ({"visits": [1, 2]}, r"visits has shape \(2,\); .*each state \(6\) or one number for each transition \(\d+\)$"),
        ({"visits": [1, 2, 3, -4, 5, 6]}, "visits counts entry 3 as -4"),
        ({"visits": [1, 2, np.inf, 4, 5, 6]}, "visits counts entry 2 as inf"),
        ({"visits": [1, np.nan, 3, 4, 5, 6]}, "visits counts entry 1 as nan"),
    ],
)
def test_arrays_that_do_not_fit(given_arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        draw_grid(SMALL, **given_arrays)
    with pytest.raises(ModelError, match=message):
        draw_chain(chain(length=5), **given_arrays)


def test_fractions_and_whole_numbers_are_numbers() -> None:
    half = draw_grid(SMALL, values=[0.5] * 6)
    assert draw_grid(SMALL, values=[Fraction(1, 2)] * 6) == half
    assert draw_grid(SMALL, values=[True] * 6) == draw_grid(SMALL, values=[1] * 6)
