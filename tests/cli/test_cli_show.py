"""What people see: a table on a terminal, plain lines elsewhere; numbers with the digits that matter."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import Bracket, Status, solve
from umdp.cli.answers import numbers

SURE = 'Pmaxmin>=0.9 [ !"crater" U "base" ]'
COST = 'R{"energy"}minmax=? [ F "base" ]'


@pytest.fixture
def hard(folder):
    """Very small and very large values, infinity, and a bracket that does not close."""
    (folder / "hard.tra").write_text("3 3 4\n0 0 1 1e-200 go\n0 0 2 1 go\n1 0 1 1\n2 0 2 1\n")
    (folder / "hard.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    (folder / "hard.srew").write_text("3 1\n0 1e120\n")
    return "hard.tra"


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("columns", ["60", "80"])
def test_plain_lines(umdp, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = umdp("check", "examples/rover.tra", SURE, COST)
    assert code == 1
    assert "\x1b" not in out
    assert "…" not in out
    digits = re.compile(r"\d{3,}(e[+-]?\d+)?")
    assert digits.sub("#", out).splitlines() == [
        "examples/rover.tra: interval MDP with 20 states, 52 choices, # transitions (# uncertain)",
        "",
        'Pmaxmin>=0.9 [ !"crater" U "base" ]',
        '  whether the largest probability, over policies, of reaching "base" while !"crater" holds until then, '
        "nature choosing the least favourable probabilities, is at least 0.9",
        "  value    0.#",
        "  bracket  0.# .. 0.#",
        f"  width    {out.split('width')[1].split()[0]} relative",
        "  holds    no",
        "",
        'R{"energy"}minmax=? [ F "base" ]',
        '  the smallest expected reward "energy", over policies, accumulated until reaching "base", nature choosing '
        "the least favourable probabilities",
        "  value    17.#",
        "  bracket  17.# .. 17.#",
        f"  width    {out.split('width')[2].split()[0]} relative",
    ]


@pytest.mark.parametrize("columns", [56, 60, 80, 120])
def test_table(umdp, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, out, _ = umdp("check", "examples/rover.tra", SURE, COST, "--policy", "p{n}.csv")
    text = plain(out)
    assert code == 1
    assert max(map(len, text.splitlines())) <= columns
    assert "…" not in text
    assert "..." not in text
    assert text.count("│ value ") == 2
    assert re.search(r"│ lower 0\.7766836\d+ +│", text)
    assert re.search(r"│ upper 17\.25876\d+ +│", text)
    assert re.search(r"│ holds no +│", text)
    joined = " ".join(re.sub(r"│[^│]*│$", "", line).strip("│ ") for line in text.splitlines())
    assert "nature choosing the least favourable probabilities, is at least 0.9" in joined
    assert "policy written to p2.csv" in joined


def test_a_narrow_terminal_gets_lines(umdp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "  bracket  " in umdp("check", "examples/rover.tra", COST).out


@pytest.mark.parametrize("force", ["", "1"])
def test_extreme_values(umdp, monkeypatch, hard, force):
    monkeypatch.setenv("FORCE_COLOR", force)
    monkeypatch.setenv("COLUMNS", "80")
    out = plain(umdp("check", hard, 'Pmax=? [ F "goal" ]', 'Rmax=? [ F "goal" ]', "Rmax=? [ C<=1 ]").out)
    values = re.findall(r"value +(\S+)", out)
    assert re.fullmatch(r"1(\.0*)?e-200|9\.9+\d*e-201", values[0])
    assert values[1] == "infinity"
    assert re.fullmatch(r"1(\.0*)?e\+120|9\.9+\d*e\+119", values[2])


def test_undecided_says_so(umdp):
    code, out, _ = umdp("check", "examples/rover.tra", 'Pmaxmin>=0.77668365120 [ !"crater" U "base" ]')
    assert code == 0
    assert "  holds    undecided\n" in out
    assert "a smaller --precision may decide it" in out


def test_who_decides_is_said_as_the_model_has_it(umdp, folder):
    (folder / "chain.tra").write_text("2 3\n0 0 [0.2,0.5]\n0 1 [0.5,0.8]\n1 1 1\n")
    (folder / "plain.tra").write_text("2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n")
    out = umdp("check", "chain.tra", 'Pmin=? [ X !"init" ]').out
    assert "chain.tra: interval Markov chain with 2 states" in out
    assert "the smallest probability, over nature's choices of probabilities, of being" in out
    out = umdp("check", "plain.tra", 'Pmaxmin=? [ X !"init" ]').out
    assert "plain.tra: Markov chain with 2 states" in out
    assert "it has no intervals" in out


def test_intervals_that_a_formula_does_not_reach_are_still_the_models(umdp, folder):
    """The product with the automaton ends where the formula is settled: here in the first state, before any interval."""
    (folder / "chain.tra").write_text("2 3\n0 0 [0.2,0.5]\n0 1 [0.5,0.8]\n1 1 1\n")
    (folder / "chain.lab").write_text('0="init" 1="goal"\n0: 0\n1: 1\n')
    out = umdp("check", "chain.tra", 'Pmaxmin=? [ (X "goal") & (G "goal") ]').out
    assert "(2 uncertain)" in out
    assert "nature choosing the least favourable probabilities\n" in out
    assert "it has no intervals" not in out


def test_an_evaluated_policy_is_named(umdp):
    umdp("check", "examples/rover.tra", COST, "--policy", "best.json")
    out = umdp("check", "examples/rover.tra", COST, 'P>=0.1 [ F<=9 "base" ]', "--evaluate", "best.json").out
    assert 'the expected reward "energy", under the policy in best.json, accumulated until' in out
    assert "whether, under the policy in best.json and for every choice of probabilities by nature, the" in out


def test_a_wide_bracket_explains_itself(umdp, monkeypatch):
    def wide(*arguments, precision, **_):
        solution = solve(*arguments, precision=precision)
        bracket = Bracket(solution.bracket.lower * 0.5, solution.bracket.upper)
        return replace(solution, bracket=bracket, status=Status.STOPPED)

    monkeypatch.setattr(sys.modules["umdp.solver"], "solve", wide)
    out = umdp("check", "examples/rover.tra", COST).out
    assert re.search(r"bracket  8\.629 \.\. 17\.26\n  width    0\.5 relative\n", out)
    assert "stopped at the limit on time or iterations\n  the policy found is worth 17.2587" in out


def test_a_policy_that_cannot_be_written_does_not_cost_the_answer(umdp, monkeypatch):
    from umdp import io
    from umdp.errors import FormatError

    def full(policy, path, about=None):
        if path == "p2.json":
            raise FormatError("the file cannot be written: No space left on device", path=path)

    monkeypatch.setattr(io, "write_policy", full)
    code, out, err = umdp("check", "examples/rover.tra", COST, COST, SURE, "--policy", "p{n}.json")
    assert code == 2
    assert out.count("  value    17.2587") == 2
    assert "p2.json: the file cannot be written" in err


positive = st.floats(min_value=0, max_value=1e300, allow_subnormal=False)


@given(positive, st.floats(min_value=0, max_value=1))
def test_numbers_are_outside_the_bracket_and_around_the_value(lower, spread):
    bracket = Bracket(lower, lower * (1 + spread) + spread * 1e-6)
    shown = numbers(bracket)
    low, value, high = (float(text) for text in (shown.lower, shown.value, shown.upper))
    assert low <= bracket.lower
    assert high >= bracket.upper
    assert low <= value <= high
    assert math.isclose(low, bracket.lower, abs_tol=1.1e-3 * bracket.upper)
    assert max(map(len, shown)) <= 25
