"""Programs read through Storm, and exported models as Storm sees them."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from random_models import models

import umdp.io
from umdp import FormatError, IntervalMDP, MissingExtra
from umdp.io.constants import format_constants, parse_constants

MODELS = Path(__file__).parent / "models"


@pytest.fixture(scope="module")
def stormpy():
    module = pytest.importorskip("stormpy")
    module.developer.set_log_level(module.developer.LogLevel.OFF)
    return module


def check(stormpy, model, text, mode=None):
    more = {} if mode is None else {"uncertainty_resolution_mode": mode}
    return stormpy.model_checking(model, stormpy.parse_properties(text)[0], **more).get_value(model.initial_states[0])


def load(stormpy, path, interval):
    if path.suffix == ".umb":
        return stormpy.build_model_from_umb(str(path))
    return (stormpy.build_model_from_drn[stormpy.Interval] if interval else stormpy.build_model_from_drn)(str(path))


def test_a_program_with_everything(stormpy):
    model = umdp.io.read(MODELS / "retry.prism", constants="K=2")
    assert model.constants == {"K": 2, "loss": 0.2, "persistent": False}
    assert model.formulas == {"tired": "failures = K", "done": "phase = 2"}
    assert set(model.variables) == {"phase", "failures", "low"}
    assert model.variables["low"].dtype == np.bool_
    assert model.variables["phase"].dtype == np.int64
    np.testing.assert_array_equal(model.labels["delivered"], model.variables["phase"] == 2)
    assert set(model.action_names) == {"send", "quit", ""}
    assert model.variables["phase"][model.initial] == 0
    on_choice = model.rewards["energy"].choice
    sends = np.array([model.action_name(c) == "send" for c in range(model.choices)])
    low = model.variables["low"][model.choice_state]
    np.testing.assert_array_equal(on_choice, np.where(sends, np.where(low, 3, 1), 0))
    np.testing.assert_array_equal(model.rewards["energy"].state, np.where(model.variables["phase"] == 1, 0.5, 0))


def test_intervals(stormpy):
    model = umdp.io.read(MODELS / "rover.prism")
    assert isinstance(model, IntervalMDP)
    assert model.constants == {"slip": 0.1, "width": 3}
    fast = next(c for c in range(model.choices) if model.action_name(c) == "fast")
    row = slice(model.choice_ptr[fast], model.choice_ptr[fast + 1])
    np.testing.assert_allclose(sorted(model.lower[row]), [0.1, 0.5], atol=1e-12)
    np.testing.assert_allclose(sorted(model.upper[row]), [0.5, 0.9], atol=1e-12)


def test_a_chain_and_an_unnamed_reward(stormpy):
    model = umdp.io.read(MODELS / "dice.pm")
    assert model.is_chain
    assert model.actions is None
    assert model.rewards[""].state[model.initial] == 1


def test_jani(stormpy):
    model = umdp.io.read(MODELS / "walk.jani", constants={"N": 4})
    assert model.states == 5
    assert model.constants == {"N": 4, "p": 0.75}
    np.testing.assert_array_equal(model.labels["goal"], model.variables["x"] == 4)
    assert set(model.action_names) >= {"left", "right"}


def test_constants_change_the_model(stormpy):
    small, large = (umdp.io.read(MODELS / "retry.prism", constants={"K": k}).states for k in (1, 5))
    assert small < large


CHECKS = [
    ("retry.prism", "K=2", 'Pmax=? [F "given_up"]'),
    ("retry.prism", "K=2", 'R{"energy"}min=? [F ("delivered" | "given_up")]'),
    ("retry.prism", "K=2", 'R{"steps"}min=? [F ("delivered" | "given_up")]'),
    ("dice.pm", "", 'P=? [F "three"]'),
]


@pytest.mark.parametrize("suffix", [".umb", ".drn"])
@pytest.mark.parametrize("case", CHECKS)
def test_storm_gives_the_same_values_for_an_export(stormpy, tmp_path, suffix, case):
    file, constants, text = case
    path = tmp_path / f"model{suffix}"
    umdp.io.write(umdp.io.read(MODELS / file, constants=constants), path)
    ours = load(stormpy, path, False)
    program = stormpy.parse_prism_program(str(MODELS / file), prism_compatibility=True)
    program = stormpy.instantiate_constants(program, constants)[0]
    theirs = stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))
    assert ours.nr_states == theirs.nr_states
    assert ours.nr_choices == theirs.nr_choices
    assert ours.nr_transitions == theirs.nr_transitions
    assert check(stormpy, ours, text) == pytest.approx(check(stormpy, theirs, text), abs=1e-6)


@pytest.mark.parametrize("suffix", [".umb", ".drn"])
def test_storm_gives_the_same_robust_values_for_an_export(stormpy, tmp_path, suffix):
    path = tmp_path / f"rover{suffix}"
    umdp.io.write(umdp.io.read(MODELS / "rover.prism"), path)
    ours = load(stormpy, path, True)
    program = stormpy.parse_prism_program(str(MODELS / "rover.prism"), prism_compatibility=True)
    theirs = stormpy.build_model[stormpy.Interval](program, options=stormpy.BuilderOptions(build_full=True))
    assert list(ours.reward_models) == ["time"]
    for mode in ("ROBUST", "COOPERATIVE"):
        mode = getattr(stormpy.UncertaintyResolutionMode, mode)
        text = 'Pmax=? [F "home"]'
        assert check(stormpy, ours, text, mode) == pytest.approx(check(stormpy, theirs, text, mode), abs=1e-6)


@settings(max_examples=25)
@given(model=models(on_transitions=False))
def test_storm_accepts_every_export(stormpy, tmp_path_factory, model):
    for suffix in (".umb", ".drn"):
        path = tmp_path_factory.mktemp("export") / f"model{suffix}"
        umdp.io.write(model, path)
        theirs = load(stormpy, path, isinstance(model, IntervalMDP))
        assert (theirs.nr_states, theirs.nr_choices) == (model.states, model.choices)
        assert theirs.nr_transitions == model.transitions
        assert list(theirs.initial_states) == [model.initial]
        for name, members in model.labels.items():
            if members.any():
                assert list(theirs.labeling.get_states(name)) == np.flatnonzero(members).tolist()
        lower, upper = (
            (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability, model.probability)
        )
        for choice in range(model.choices):
            row = range(model.choice_ptr[choice], model.choice_ptr[choice + 1])
            expected = {int(model.successor[t]): (lower[t], upper[t]) for t in row}
            for entry in theirs.transition_matrix.get_row(choice):
                value = entry.value
                ends = (value.lower(), value.upper()) if isinstance(model, IntervalMDP) else (value, value)
                assert ends == expected[entry.column]


def test_storm_reads_the_transitions_of_an_explicit_export(stormpy, tmp_path):
    """Storm's explicit format is PRISM's but for a word instead of the header, and its own labels file."""
    model = umdp.io.read(MODELS / "retry.prism", constants="K=2")
    umdp.io.write(model, tmp_path / "m.tra")
    lines = (tmp_path / "m.tra").read_text().splitlines()
    (tmp_path / "s.tra").write_text("\n".join(["mdp", *lines[1:], ""]))
    goal = np.flatnonzero(model.labels["given_up"])
    marks = "".join(f"{s} goal\n" for s in goal)
    (tmp_path / "s.lab").write_text(f"#DECLARATION\ninit goal\n#END\n{model.initial} init\n{marks}")
    theirs = stormpy.build_model_from_explicit(str(tmp_path / "s.tra"), str(tmp_path / "s.lab"))
    assert (theirs.nr_states, theirs.nr_transitions) == (model.states, model.transitions)
    back = umdp.io.read(tmp_path / "s.tra")
    np.testing.assert_array_equal(back.probability, model.probability)
    np.testing.assert_array_equal(back.labels["goal"], model.labels["given_up"])


def test_what_storm_exports_is_read(stormpy, tmp_path):
    program = stormpy.parse_prism_program(str(MODELS / "rover.prism"), prism_compatibility=True)
    theirs = stormpy.build_model[stormpy.Interval](program, options=stormpy.BuilderOptions(build_full=True))
    stormpy.io.export_to_drn(theirs, str(tmp_path / "m.drn"))
    stormpy.io.export_to_umb(theirs, str(tmp_path / "m.umb"))  # compressed by default
    text, binary = umdp.io.read(tmp_path / "m.drn"), umdp.io.read(tmp_path / "m.umb")
    np.testing.assert_array_equal(text.successor, binary.successor)
    np.testing.assert_allclose(text.lower, binary.lower, atol=1e-5)
    np.testing.assert_array_equal(text.rewards["time"].choice, binary.rewards["time"].choice)


def test_rewards_that_a_file_leaves_out_are_none_as_storm_reads_them(stormpy, tmp_path):
    model = umdp.io.read(MODELS / "retry.prism", constants="K=2")
    umdp.io.write(model, tmp_path / "m.drn")
    kept, lines = 0, []
    for line in (tmp_path / "m.drn").read_text().splitlines():
        rewarded = line.lstrip().startswith("action") and "[" in line
        kept += rewarded
        lines.append(line[: line.index("[")] if rewarded and kept % 2 else line)
    assert kept > 2
    (tmp_path / "m.drn").write_text("\n".join([*lines, ""]))
    theirs, ours = stormpy.build_model_from_drn(str(tmp_path / "m.drn")), umdp.io.read(tmp_path / "m.drn")
    told = {
        name: each.state_action_rewards for name, each in theirs.reward_models.items() if each.has_state_action_rewards
    }
    assert told
    for name, rewards in told.items():
        assert rewards == ours.rewards[name].choice.tolist()


PROGRAM = """mdp
module m
  x : [0..2] init 0;
  [] x < 2 -> 0.5 : (x' = x + 1) + 0.5 : true;
  [] x = 2 -> true;
endmodule
"""


@pytest.mark.parametrize(
    "case",
    [
        (lambda t: t.replace("true;", "true", 1), "", r"line 5: column 4: expecting .*check the syntax"),
        (lambda t: t + "dtmc\n", "", r"line 7: the type of the model is given twice, as mdp and dtmc"),
        (lambda t: t.replace("mdp", "ctmc"), "", r"the model is a ctmc; supported are dtmc and mdp"),
        (lambda t: t.replace("x < 2", "y < 2"), "", r"line 4: column"),
        (lambda t: t.replace("x < 2", "x <= 2"), "", r"out-of-bounds value"),
        (lambda t: t.replace("0.5 : true", "0.4 : true"), "", r"sum"),
        (lambda t: t.replace("module m", "const int N;\nmodule m"), "", r"no value: N; give --const N=VALUE"),
        (
            lambda t: t.replace("module m", "const int N; const bool b;\nmodule m"),
            "",
            r"N, b; give --const N=VALUE,b=VALUE",
        ),
        (lambda t: t.replace("module m", "const int N;\nmodule m"), "N=0.5", r"N is of type int, but 0.5 was given"),
        (lambda t: t.replace("module m", "const int N = 2;\nmodule m"), "N=3", r"N has a value in the file"),
        (lambda t: t, "N=3", r"there is no constant N to define; undefined constants: none"),
        (lambda t: t, "N", r"no value; write N=VALUE"),
        (lambda t: "", "", r"the file is empty"),
        (
            lambda t: t.replace("0.5 : (", "[0.7,0.6] : (").replace("0.5 : true", "[0.1,1] : true"),
            "",
            r"\[0,0\] or one",
        ),
        (
            lambda t: t.replace("0.5 : (", "[0.7,0.8] : (").replace("0.5 : true", "[0.6,0.9] : true"),
            "",
            r"lower bounds sum to 1\.3",
        ),
    ],
)
def test_mistakes_in_programs(stormpy, tmp_path, capfd, case):
    change, constants, said = case
    path = tmp_path / "model.prism"
    path.write_text(change(PROGRAM))
    with pytest.raises(FormatError, match=said):
        umdp.io.read(path, constants=constants)
    assert capfd.readouterr() == ("", "")


def test_mistakes_in_jani(stormpy, tmp_path, capfd):
    (tmp_path / "m.jani").write_text("{")
    with pytest.raises(FormatError, match=r"m\.jani"):
        umdp.io.read(tmp_path / "m.jani")
    with pytest.raises(FormatError, match=r"no value: N; give --const N=VALUE"):
        umdp.io.read(MODELS / "walk.jani")
    assert capfd.readouterr() == ("", "")


def test_missing_storm(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("stormpy"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "stormpy", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"reading PRISM programs needs the extra \"storm\""):
        umdp.io.read(MODELS / "dice.pm")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("K", r'"K" has no value; write K=VALUE'),
        ("K=", r"the value of K is empty"),
        ("K=two", r'the value of K is "two"; a value is a finite number, true or false'),
        ("K=1,K=2", r"K is given twice"),
        ("K=1,,p=2", r"an empty entry"),
        ("=3", r'"" is not the name of a constant'),
        ("1K=3", r'"1K" is not the name'),
        ("K=nan", r"finite number"),
        ("K=1/0", r"finite number"),
        ("K=1_000", r"finite number"),
    ],
)
def test_mistakes_in_constants(text, said):
    with pytest.raises(FormatError, match=said):
        parse_constants(text)


def test_constants():
    given = {"K": 2, "err": 0.1, "flag": True, "small": 1e-9, "third": 1 / 3, "neg": -4}
    assert parse_constants("K=2, err=.1,flag=true,small=1e-9,third=1/3,neg=-4") == given
    assert parse_constants(format_constants(given)) == given
    assert parse_constants(given) == given
    assert parse_constants("  ") == {}
    with pytest.raises(FormatError, match="finite number"):
        parse_constants({"K": float("inf")})
