"""Expected numbers of steps, Storm's T: closed forms, Storm, and the same asked as a reward of 1 a step."""

from __future__ import annotations

from pathlib import Path

import pytest

import umdp
import umdp.io
from umdp import MDP, IntervalMDP, Rewards, Spec, SpecError, solve

TOY = """dtmc
const int N = 4;
module main
  x : [0..2*N] init N;
  [] x=N -> 0.7 : (x'=N-1) + 0.3 : (x'=N+1);
  [] x>0 & x<N -> 0.5 : (x'=x-1) + 0.5 : (x'=N);
  [] x>N & x<2*N -> 0.5 : (x'=x+1) + 0.5 : (x'=N);
  [] x=0 | x=2*N -> true;
endmodule
label "done" = x=0 | x=2*N;
"""
# In state 0, try (1/4, each time again) or go round by two states for sure.
WAYS = {"labels": {"goal": [3]}, "rewards": {"steps": Rewards(choice=[5, 5, 5, 5, 5])}}
ROWS = [0, 2, 3, 4, 5], [0, 2, 3, 4, 5, 6], [0, 3, 1, 2, 3, 3]


@pytest.mark.parametrize(("asked", "value"), [('Tmin=? [ F "goal" ]', 3), ('Tmax=? [ F "goal" ]', 4)])
def test_steps_count_one_each_whatever_rewards_there_are(asked: str, value: float) -> None:
    model = MDP(*ROWS, [0.75, 0.25, 1, 1, 1, 1], **WAYS)
    assert value in solve(model, asked).bracket
    assert solve(model, asked).bracket.width < 1e-5
    assert solve(model, asked.replace("=?", "<=3.5")).satisfied is (value == 3)
    assert solve(model, f"filter(max, {asked})").value == pytest.approx(value)


def test_nature_takes_her_time() -> None:
    lower, upper = [0.7, 0.2, 1, 1, 1, 1], [0.8, 0.3, 1, 1, 1, 1]
    model = IntervalMDP(*ROWS, lower, upper, **WAYS)
    assert solve(model, 'Tmaxmax=? [ F "goal" ]').value == pytest.approx(5)
    assert solve(model, 'Tmaxmin=? [ F "goal" ]').value == pytest.approx(1 / 0.3)
    proof = solve(model, 'Tmaxmin=? [ F "goal" ]').certificate()
    from umdp.verify import verify_content

    assert verify_content(proof.content).valid


def test_as_storm_counts(tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    (tmp_path / "toy.prism").write_text(TOY)
    program = stormpy.parse_prism_program(str(tmp_path / "toy.prism"))
    formula = stormpy.parse_properties('T=? [ F "done" ]', program)
    theirs = stormpy.build_model(program, formula)
    value = stormpy.model_checking(theirs, formula[0]).get_value(theirs.initial_states[0])
    model = umdp.io.read(tmp_path / "toy.prism")
    assert solve(model, 'T=? [ F "done" ]').value == pytest.approx(value, rel=1e-5)
    assert solve(model, 'T=? [ F "done" ]').value == pytest.approx(
        (1 + 1 + 1 / 2 + 1 / 4) * 8
    )  # a round takes so many steps, and ends it all once in 8


def test_it_is_played_and_refused() -> None:
    model = MDP(*ROWS, [0.75, 0.25, 1, 1, 1, 1], **WAYS)
    found = solve(model, 'Tmin=? [ F "goal" ]')
    played = umdp.simulate(found.policy, model, 'Tmin=? [ F "goal" ]', episodes=50)
    assert played.mean == 3
    with pytest.raises(SpecError, match="learning counts no steps by itself"):
        next(iter(umdp.anytime(model, 'Tmin=? [ F "goal" ]', "lui", trajectories=10)))


def test_reading() -> None:
    assert str(Spec.parse('Tmaxmin=? [ F "goal" ]')) == 'Tmaxmin=? [ F "goal" ]'
    assert Spec.parse('Tmin<=2*k [ F "goal" ]').threshold is not None
    assert Spec.parse('Tmin=? [ F "goal" ]').describe() == (
        'the smallest expected number of steps, over policies, until reaching "goal"'
    )
    for text in ("Pmax=? [ F<=T x=T ]", "Pmax=? [ F (T<=3 & (F<=2 T>1)) ]", "P>=T [ F T=Tmax ]"):
        assert Spec.parse(str(Spec.parse(text))) == Spec.parse(text)  # T is still a name
    for text in ("Tmin=? [ C<=3 ]", 'Tmin=? [ G "goal" ]', "Tmin=? [ S ]", 'T{"a"}min=? [ F "goal" ]'):
        with pytest.raises(SpecError):
            Spec.parse(text)
