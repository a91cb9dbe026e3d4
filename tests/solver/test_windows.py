"""Windows of steps, `F[2,9]`: solved backwards step by step, against exact rationals, the automaton, and Storm."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from automata.lassos import Formula, text
from automata.pairs import DIRECTIONS, draw, exact, to_model
from automata.safra import TooLargeError
from umdp import MDP, ConfidenceSequence, IntervalMDP, ModelError, SpecError, anytime, evaluate, io, simulate, solve
from umdp.automata import MemoryPolicy
from umdp.source import Environment
from umdp.spec import Spec, TemporalFormula, Windowed
from umdp.verify import verify_content

A, B = ("p", 0), ("p", 1)


def windows(rng: random.Random) -> Formula:
    lower = rng.randint(1, 3)
    upper = lower + rng.randint(0, 2)
    kind = rng.choice("FGU")
    return (kind, ("!", B), A, lower, upper) if kind == "U" else (kind, rng.choice([A, ("!", B)]), lower, upper)


def test_values_are_those_of_exact_rationals_and_of_the_automaton() -> None:
    compared = 0
    for seed in range(150):
        rng = random.Random(seed)
        choices, letters = draw(rng, zero=seed % 3 == 0, plain=seed % 4 == 0)
        formula, agent, nature = windows(rng), rng.choice(DIRECTIONS), rng.choice(DIRECTIONS)
        asked = f"P{agent}{nature}=? [ {text(formula)} ]"
        model = to_model(choices, letters)
        solution = solve(model, asked)
        assert solution.product is None
        again = evaluate(model, asked, solution.policy).bracket
        assert again.lower <= solution.bracket.upper
        assert solution.bracket.lower <= again.upper
        through = solve(model, f"P{agent}{nature}=? [ ({text(formula)}) & (X true) ]")
        assert through.product is not None
        assert through.bracket.lower - 1e-6 <= solution.bracket.value <= through.bracket.upper + 1e-6, asked
        assert solution.bracket.width < 1e-9
        assert verify_content(solution.certificate().content).valid
        if seed < 60:
            try:
                truth = exact(choices, letters, formula, agent, nature)
            except TooLargeError:
                continue
            compared += 1
            assert Fraction(solution.bracket.lower) <= truth <= Fraction(solution.bracket.upper), asked
    assert compared >= 30


def test_what_happens_before_the_window_does_not_count() -> None:
    # a, then b, then c for ever
    line = MDP([0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 2], [1, 1, 1], labels={"a": [0], "b": [1], "c": [2]})
    for formula, value in (
        ('F[1,1] "b"', 1), ('F[2,5] "b"', 0), ('F[0,5] "b"', 1), ('G[2,7] "c"', 1), ('G[1,7] "c"', 0), ('"a" U[1,3] "b"', 1),
        ('"a" U[2,3] "c"', 0), ('("a" | "b") U[2,3] "c"', 1), ('!"b" U[1,2] "b"', 1), ('!"b" U[2,3] "b"', 0),
        ('!"b" U[2,3] "c"', 0),
    ):  # fmt: skip
        assert solve(line, f"P=? [ {formula} ]").value == pytest.approx(value, abs=1e-12), formula
        assert simulate(solve(line, f"P=? [ {formula} ]").policy, line, f"P=? [ {formula} ]", episodes=3).mean == value


def test_storm_says_the_same(tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
    for seed in range(30):
        rng = random.Random(seed)
        choices, letters = draw(rng, zero=False, plain=True)
        letters[1:] = [(letters[0] ^ 3), *letters[2:]]  # a label without states is not written
        model = to_model(choices, letters)
        io.write(model, tmp_path / "model.drn")
        theirs = stormpy.build_model_from_drn(str(tmp_path / "model.drn"))
        reach = rng.choice(["F", '!"b" U'])
        asked = f'P{rng.choice(["max", "min"])}=? [ {reach}[2,5] "a" ]'
        found = stormpy.model_checking(theirs, stormpy.parse_properties(asked)[0]).get_value(theirs.initial_states[0])
        assert found == pytest.approx(solve(model, asked).value, abs=1e-6), asked


def test_a_thousand_steps_need_no_automaton() -> None:
    slow = IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.99, 0.001, 1], [0.999, 0.01, 1], labels={"goal": [1]})
    solution = solve(slow, 'Pmaxmin=? [ F[500,100000] "goal" ]')
    assert 1 - 0.999**100000 in solution.bracket
    assert solution.bracket.width < 1e-8
    early = solve(slow, 'Pmaxmin=? [ G[500,2000] !"goal" ]')
    assert early.value == pytest.approx(0.99**2000, rel=1e-9)


def test_constants_of_the_model_may_bound_a_window() -> None:
    coin = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels={"goal": [1]}, constants={"k": 2, "n": 4})
    assert solve(coin, 'P=? [ F[k,n] "goal" ]').value == pytest.approx(1 - 0.5**4)
    assert solve(coin, 'P=? [ G[k,2*k] !"goal" ]').value == pytest.approx(0.5**4)
    with pytest.raises(SpecError, match="no step is both at least 4 and at most 2"):
        solve(coin, 'P=? [ F[n,k] "goal" ]')


def test_one_window_is_told_from_more() -> None:
    assert isinstance(Spec.parse('Pmax=? [ F[2,9] "a" ]').formula, Windowed)
    for asked in ('Pmax=? [ F>=2 "a" ]', 'Pmax=? [ (F[2,9] "a") & (F "b") ]', 'Pmax=? [ F[2,9] (X "a") ]'):
        assert isinstance(Spec.parse(asked).formula, TemporalFormula)
    assert isinstance(Spec.parse('Rmin=? [ F[2,9] "a" ]').formula, TemporalFormula)
    assert str(Spec.parse('Pmax=? [ "a" U=4 "b" ]')) == 'Pmax=? [ "a" U=4 "b" ]'


class Line:
    """Goes to the end, which is a goal, and stops; every step may fail to go on."""

    def reset(self, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        self.random, self.state = random.Random(seed), 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.state += self.random.random() < 0.5
        return self.state, 0.0, self.state == 2, False, {}


def line() -> MDP:
    return MDP(
        [0, 1, 2, 3], [0, 2, 4, 5], [0, 1, 1, 2, 2], [0.5, 0.5, 0.5, 0.5, 1], labels={"goal": [2], "half": [1]},
        actions=["0", "0", "0"],
    )  # fmt: skip


@pytest.mark.parametrize("asked", ['Pmax=? [ F[3,4] "goal" ]', 'Pmax=? [ F[2,2] "half" ]', 'Pmin=? [ G[3,5] !"goal" ]'])
def test_windows_are_learned_and_played(asked: str) -> None:
    truth = solve(line(), asked).value
    for source in (line(), Environment(Line(), line().graph)):
        *_, last = anytime(source, asked, ConfidenceSequence(0.01), trajectories=2000, seed=2)
        assert last.policy.graph.states == 3
        assert not MemoryPolicy.knows(last.policy)
        end = last.bracket.lower if "max" in asked else last.bracket.upper
        assert abs(end - truth) < 0.15
        assert (end <= truth) == ("max" in asked)
        played = simulate(last.policy, source, asked, episodes=4000)
        assert abs(played.mean - truth) < 4 * (truth * (1 - truth) / 4000) ** 0.5
        assert played.cut == 0


def test_evidence_of_windows_is_refused() -> None:
    with pytest.raises((SpecError, ModelError), match="leave evidence out"):
        next(iter(anytime(line(), 'Pmax=? [ F[3,4] "goal" ]', ConfidenceSequence(0.01), evidence=0.5)))
