"""Programs with unknown constants: functions are those that stand in the file, checked against Storm's own plain models."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import umdp
from umdp import FormatError
from umdp.io import read, read_parametric

pytest.importorskip("stormpy")

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
mdp
const double p;
const double q;
const int N;
const double r = 0.25;
module m
  s : [0..3] init 0;
  x : bool init false;
  [go] s=0 -> p : (s'=1) + (1-p)*q : (s'=2) + (1-p)*(1-q) : (s'=0);
  [alt] s=0 -> r : (s'=1) + 1-r : (s'=2);
  [] s=1 -> p*p/(p*p+q) : (s'=N) + q/(p*p+q) : (s'=0);
  [] s=2 -> 0.5*p : (s'=3) + 0.5*p : (s'=3)&(x'=false) + 1-p : (s'=2);
  [] s=3 -> 1/3 : (s'=3) + 2/3 : (s'=0);
endmodule
label "ok" = s=3;
rewards "cost"
  s=0 : 1.5;
  [go] true : 2;
endrewards
"""


def written(folder: Path, text: str, name: str = "m.prism") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_functions_are_those_of_the_program(tmp_path: Path) -> None:
    model = read_parametric(written(tmp_path, PROGRAM), "p=0.5:1,q", "N=3")
    texts = [model.functions[f].text(model.names) for f in model.function_of]
    assert texts == [
        "1 - p - q + p*q", "p", "q - p*q", "0.25", "0.75", "q/(q + p^2)", "p^2/(q + p^2)", "1 - p", "p", "2/3", "1/3",
    ]  # fmt: skip
    assert (model.lower.tolist(), model.upper.tolist()) == ([0.5, 0.0], [1.0, 1.0])
    assert model.graph.state_name(0) == "(x=false,s=0)"
    assert dict(model.graph.constants) == {"N": 3, "r": 0.25}
    assert model.origin == "m.prism"
    assert model.constant.tolist() == [False, True, False, False, True]


@pytest.mark.parametrize(
    ("name", "constants", "values"),
    [
        ("brp", "N=3,MAX=2", {"p": 0.98, "q": 0.9}),
        ("zeroconf", "K=3", {"used": 0.3, "lost": 0.1}),
        ("consensus", "B=3", {"p": 0.6, "q": 0.7}),
        ("courier", "N=4", {"loss": 0.2}),
    ],
)
def test_at_values_it_is_the_plain_model(name: str, constants: str, values: dict[str, float]) -> None:
    path = EXAMPLES / f"{name}.prism"
    made = read_parametric(path, ",".join(values), constants).at(values)
    plain = read(path, constants=constants + "".join(f",{key}={value}" for key, value in values.items()))
    assert isinstance(plain, umdp.MDP)
    for part in ("state_ptr", "choice_ptr", "successor"):
        assert np.array_equal(getattr(made, part), getattr(plain, part))
    assert made.probability == pytest.approx(plain.probability, rel=1e-15)
    assert set(made.labels) == set(plain.labels)
    assert set(made.rewards) == set(plain.rewards)
    assert made.state_name(3) == plain.state_name(3)


def test_jani(tmp_path: Path) -> None:
    def edge(at: str, *targets: tuple[str, object]) -> dict[str, object]:
        return {
            "location": at, "action": "go",
            "destinations": [{"location": to, "probability": {"exp": chance}} for to, chance in targets],
        }  # fmt: skip

    minus = {"op": "-", "left": 1, "right": "p"}
    model = {
        "jani-version": 1, "name": "coin", "type": "mdp", "actions": [{"name": "go"}], "properties": [],
        "constants": [{"name": "p", "type": "real"}],
        "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1},
                       "initial-value": 0}],
        "automata": [{"name": "a", "locations": [{"name": "l"}, {"name": "k"}], "initial-locations": ["l"],
                      "edges": [edge("l", ("l", minus), ("k", "p")), edge("k", ("k", 1))]}],
        "system": {"elements": [{"automaton": "a"}], "syncs": [{"synchronise": ["go"], "result": "go"}]},
    }  # fmt: skip
    found = read_parametric(written(tmp_path, json.dumps(model), "coin.jani"), "p")
    assert [found.functions[f].text(["p"]) for f in found.function_of] == ["1 - p", "p", "1"]
    assert found.at(p=0.25).probability.tolist() == [0.75, 0.25, 1.0]


@pytest.mark.parametrize(
    ("change", "unknown", "constants", "message"),
    [
        (("s=0 : 1.5", "s=0 : p"), "p,q", "N=3", "a reward depends on p"),
        (("[alt] s=0", "[alt] s=0 & p>0.5"), "p,q", "N=3", "an unknown constant decides what can happen"),
        (("", ""), "p", "N=3", "constant q has no value; give --const q=VALUE, or learn it: --unknown p,q"),
        (("", ""), "p,q,N", "", "constant N is of type int"),
        (("", ""), "p,q,r", "N=3", "constant r has a value in the file"),
        (("", ""), "p,q,z", "N=3", "there is no constant z to learn; undefined constants: p, q, N"),
        (("", ""), "p,q", "N=3,p=0.5", "p is unknown and has a value"),
        (("r : (s'=1) + 1-r", "r : (s'=1) + 2*q"), "p,q", "N=3", "the probabilities sum to|sum|no values"),
        (("", ""), "p=0.5,q", "N=3", "gives p one value"),
        (("", ""), "p=1:0.5,q", "N=3", "p lies between nothing"),
        (("", ""), "p=a:b,q", "N=3", "ends that are no numbers"),
        (("", ""), "p=0:1e999,q", "N=3", "the ends of p must be finite"),
        (("", ""), "p,p", "N=3", "p is given twice"),
        (("", ""), "p=2:3,q", "N=3", "no values of the unknown constants"),
    ],
)
def test_what_cannot_be_learned_is_refused(
    tmp_path: Path, change: tuple[str, str], unknown: str, constants: str, message: str
) -> None:
    path = written(tmp_path, PROGRAM.replace(*change) if change[0] else PROGRAM)
    with pytest.raises(FormatError, match=message):
        read_parametric(path, unknown, constants)


def test_only_programs_have_unknown_constants() -> None:
    with pytest.raises(FormatError, match="only programs"):
        read_parametric("m.drn", "p")


def test_ends_are_rounded_outwards(tmp_path: Path) -> None:
    found = read_parametric(written(tmp_path, PROGRAM), {"p": ("0.1", "0.7"), "q": (0.0, 1.0)}, "N=3")  # type: ignore[dict-item]
    assert Fraction(found.lower[0]) <= Fraction(1, 10)
    assert Fraction(found.upper[0]) >= Fraction(7, 10)


@pytest.mark.parametrize(
    ("ends", "message"),
    [((0.0, math.inf), "the ends of p must be finite"), ((0.0, math.nan), "ends that are no numbers")],
)
def test_ends_that_are_no_numbers_are_refused(ends: tuple[float, float], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_parametric("m.prism", {"p": ends})
