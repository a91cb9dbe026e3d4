"""Several initial states: filters over "init", what a property without one means, and who refuses them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import umdp
import umdp.io
from umdp import MDP, IntervalMDP, ModelError, SpecError, solve
from umdp.model.beginnings import initial_states

HERMAN = """dtmc
module m1 x1 : [0..1];
  [step] x1=x2 -> 0.5 : (x1'=0) + 0.5 : (x1'=1);
  [step] x1!=x2 -> (x1'=x2);
endmodule
module m2 = m1[x1=x2, x2=x3] endmodule
module m3 = m1[x1=x3, x2=x1] endmodule
formula tokens = (x1=x2 ? 1 : 0) + (x2=x3 ? 1 : 0) + (x3=x1 ? 1 : 0);
rewards "steps" true : 1; endrewards
label "stable" = tokens=1;
init true endinit
"""
# A gambler with 1, 2 or 3 of 4 at the beginning, who wins with 1/3: two chains that never meet (even, odd) but at the ends.
P = Fraction(1, 3)


def gambler(interval: float = 0.0) -> MDP | IntervalMDP:
    up, down = float(P), 1 - float(P)
    rows = [0, 1, 3, 5, 7, 8]
    successor = [0, 0, 2, 1, 3, 2, 4, 4]
    probability = np.array([1, down, up, down, up, down, up, 1])
    labels = {"won": [4], "init": [1, 2, 3]}
    if not interval:
        return MDP(range(6), rows, successor, probability, initial=1, labels=labels)
    lower = np.where(probability < 1, probability - interval, 1)
    return IntervalMDP(
        range(6), rows, successor, lower, np.minimum(probability + interval, 1), initial=1, labels=labels
    )


def ruin(p: Fraction, have: int) -> float:
    ratio = (1 - p) / p
    return float((1 - ratio**have) / (1 - ratio**4))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ('filter(min, P=? [ F "won" ], "init")', [1]),
        ('filter(max, P=? [ F "won" ], "init")', [3]),
        ('filter(avg, P=? [ F "won" ], "init")', [1, 2, 3]),
        ('P=? [ F "won" ]', [1, 3]),
    ],
)
def test_filters_over_the_initial_states(asked: str, wanted: list[int]) -> None:
    found = solve(gambler(), asked).bracket
    values = [ruin(P, have) for have in wanted]
    if asked.startswith("P"):
        assert (found.lower, found.upper) == pytest.approx((min(values), max(values)))
        assert found.lower <= min(values) <= max(values) <= found.upper
    else:
        assert sum(values) / len(values) in found
        assert found.width < 1e-6


def test_in_intervals_each_state_has_its_own_worst_case() -> None:
    found = solve(gambler(0.05), 'Pmin=? [ F "won" ]').bracket
    worst = [ruin(P - Fraction(1, 20), have) for have in (1, 3)]
    assert (found.lower, found.upper) == pytest.approx(tuple(worst))


def test_a_threshold_is_for_all_of_them() -> None:
    assert solve(gambler(), 'P>=0.06 [ F "won" ]').satisfied is True
    assert solve(gambler(), 'P>=0.4 [ F "won" ]').satisfied is False
    assert solve(gambler(), 'filter(exists, P>=0.4 [ F "won" ], "init")').satisfied is True
    assert solve(gambler(), 'filter(count, P>=0.1 [ F "won" ], "init")').value == 2


def test_a_label_elsewhere_does_not_move_the_beginning() -> None:
    model = MDP(range(3), [0, 1, 2], [1, 1], [1.0, 1.0], labels={"init": [1]})
    assert initial_states(model).tolist() == [0]
    assert solve(model, 'P=? [ X "init" ]').value == 0


def test_who_needs_one_beginning_says_so() -> None:
    model = gambler()
    with pytest.raises(ModelError, match=r"3 initial states, and trajectories begin in one; add a state before them"):
        next(iter(umdp.anytime(model, 'Pmax=? [ F "won" ]', "lui", trajectories=10)))
    with pytest.raises(ModelError, match="3 initial states"):
        umdp.simulate(solve(model, 'Pmax=? [ F "won" ]').policy, model, 'Pmax=? [ F "won" ]', episodes=10)
    with pytest.raises(SpecError, match=r"the one initial state at .*; give a model with one"):
        solve(model, 'Pmax=? [ F "won" ]').certificate()
    with pytest.raises(SpecError, match="the model has 3 initial states"):
        solve(model, 'Pmax=? [ (F "won") & (G F "won") ]')


@pytest.mark.parametrize("suffix", [".drn", ".tra", ".umb"])
def test_files_have_them(tmp_path: Path, suffix: str) -> None:
    model = gambler()
    umdp.io.write(model, tmp_path / f"m{suffix}")
    back = umdp.io.read(tmp_path / f"m{suffix}")
    assert initial_states(back).tolist() == [1, 2, 3]
    assert solve(back, 'P=? [ F "won" ]').bracket == solve(model, 'P=? [ F "won" ]').bracket


def test_storm_and_closed_forms_of_a_ring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stormpy = pytest.importorskip("stormpy")
    path = tmp_path / "ring.prism"
    path.write_text(HERMAN)
    program = stormpy.parse_prism_program(str(path))
    for operator in ("max", "min", "avg"):
        asked = f'filter({operator}, R=? [ F "stable" ], "init")'
        # of 8 states, 2 have three tokens: these wait 4/3 steps, the others none
        value = {"max": Fraction(4, 3), "min": Fraction(0), "avg": Fraction(1, 3)}[operator]
        assert float(value) in solve(umdp.io.read(path), asked).bracket
    formula = stormpy.parse_properties('R=? [ F "stable" ]', program)
    theirs = stormpy.build_model(program, formula)
    result = stormpy.model_checking(theirs, formula[0])
    worst = max(result.get_value(state) for state in theirs.initial_states)
    assert worst == pytest.approx(4 / 3)
    (tmp_path / "ring.jani").write_text(str(program.to_jani([])[0]))
    assert initial_states(umdp.io.read(tmp_path / "ring.jani")).size == 8
    from umdp.cli import run

    assert run(["check", str(path), 'R=? [ F "stable" ]']) == 0
    out = capsys.readouterr().out
    assert 'filter(range, R=? [ F "stable" ], "init")' in out
    assert "0 .. 1.334" in out
