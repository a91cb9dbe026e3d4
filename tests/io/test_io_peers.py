"""Files of bmdp-tool and IntervalMDP.jl: there and back, from the other side, and malformed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import models

import umdp.io
from umdp import MDP, FormatError, IntervalMDP, MissingExtra, Rewards
from umdp.io.intervalmdp_spec import read_specification
from umdp.solver import solve
from umdp.spec import Spec

h5py = pytest.importorskip("h5py")

ROBOT = IntervalMDP(
    [0, 2, 3, 4],
    [0, 2, 4, 5, 6],
    [1, 2, 1, 0, 1, 2],
    [0.2, 0.5, 0.3, 0.1, 1, 1],
    [0.5, 0.8, 0.9, 0.7, 1, 1],
    labels={"goal": [1]},
)


def without(model: Any, **changed: Any) -> Any:
    """Return a model with other annotations."""
    bounds = (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability,)
    return type(model)(model.state_ptr, model.choice_ptr, model.successor, *bounds, **changed)


def rows(model: Any, state: int) -> list[frozenset[tuple[int, float, float]]]:
    """Return the choices of a state, each as what can happen."""
    low, high = (model.lower, model.upper) if isinstance(model, IntervalMDP) else (model.probability, model.probability)
    found = []
    for c in range(model.state_ptr[state], model.state_ptr[state + 1]):
        row = range(model.choice_ptr[c], model.choice_ptr[c + 1])
        found.append(frozenset((int(model.successor[t]), low[t], high[t]) for t in row))
    return found


def assert_repeats(back: Any, model: Any) -> None:
    """Assert that all choices are there to the last bit, the last of a state as often as it takes."""
    most = max(np.diff(model.state_ptr))
    assert back.states == model.states
    for state in range(model.states):
        given = rows(model, state)
        assert rows(back, state) == given + [given[-1]] * (most - len(given))


@settings(max_examples=40)
@given(models(on_transitions=False), st.booleans())
def test_netcdf_there_and_back(tmp_path_factory, model, named):
    path = tmp_path_factory.mktemp("nc") / "m.nc"
    umdp.io.write(model, path)
    back = umdp.io.read(path)
    assert isinstance(back, MDP) == (isinstance(model, MDP) or np.array_equal(model.lower, model.upper))
    assert_repeats(back, model)
    assert back.initial == model.initial
    assert set(back.labels) == set(model.labels)
    for name, members in model.labels.items():
        np.testing.assert_array_equal(back.labels[name], members)
    first = back.state_ptr[:-1]
    for name, reward in model.rewards.items():
        if reward.state is not None:
            np.testing.assert_array_equal(back.rewards[name].state, reward.state)
        if reward.choice is not None:
            np.testing.assert_array_equal(back.rewards[name].choice[first], reward.choice[model.state_ptr[:-1]])
    if model.actions is not None:
        assert [back.action_name(c) for c in first] == [model.action_name(c) for c in model.state_ptr[:-1]]


@settings(max_examples=40)
@given(models(on_transitions=False), st.integers(0, 2**32 - 1))
def test_bmdp_there_and_back(tmp_path_factory, model, seed):
    marked = np.random.default_rng(seed).random(model.states) < 0.4
    model = without(model, labels={"terminal": marked, "other": ~marked})
    path = tmp_path_factory.mktemp("txt") / "m.txt"
    umdp.io.write(model, path)
    back = umdp.io.read(path)
    assert_repeats(back, model)
    assert list(back.labels) == ["terminal"]
    np.testing.assert_array_equal(back.labels["terminal"], marked)
    lines = path.read_text().splitlines()
    shuffled = np.random.default_rng(seed).permutation(lines[3 + marked.sum() :])
    path.write_text("\n".join([*lines[: 3 + marked.sum()], *shuffled]))
    assert_repeats(umdp.io.read(path), model)  # the order of the lines says nothing


@pytest.mark.parametrize("suffix", [".nc", ".txt"])
def test_values_stay_what_they_are(tmp_path, suffix):
    """Closed form: one choice may be tried until it leads there, the other leads there with 0.2 .. 0.5."""
    model = without(ROBOT, labels={"terminal": [1]})
    path = tmp_path / f"robot{suffix}"
    umdp.io.write(model, path)
    for players, value in (("maxmin", 1.0), ("minmin", 0.2), ("minmax", 0.5), ("maxmax", 1.0)):
        bracket = solve(umdp.io.read(path), Spec.parse(f'P{players}=? [ F "terminal" ]')).bracket
        assert bracket.lower - 1e-9 <= value <= bracket.upper + 1e-9


def test_a_bmdp_file_by_hand(tmp_path):
    path = tmp_path / "m.txt"
    path.write_text("3 \n2 \n1 \n2 \n0 1 1 0.25 0.5 \n0 1 2 0.5 0.75 \n1 0 0 1 1 \n1 1 2 1.0 1.0\n")
    model = umdp.io.read(path)
    np.testing.assert_array_equal(model.state_ptr, [0, 1, 3, 4])
    assert [model.action_name(c) for c in range(4)] == ["1", "0", "1", "0"]
    assert rows(model, 0) == [frozenset({(1, 0.25, 0.5), (2, 0.5, 0.75)})]
    assert rows(model, 2) == [frozenset({(2, 1.0, 1.0)})]  # terminal, and nothing is said of it
    assert model.labels["terminal"].tolist() == [False, False, True]


TXT = "2\n2\n1\n1\n0 0 0 0.2 0.6\n0 0 1 0.4 0.8\n0 1 1 1 1\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2\n2\n1\n1\n0 0 0", "state,action\n0 0 0", r'line 1: "state,action" is not a number|number of states'),
        ("2\n2\n1\n1\n", "2 2 1\n", r'line 1: "2 2 1" should be the number of states, alone; .txt files are bmdp-tool'),
        ("2\n2\n1\n", "0\n2\n1\n", r"line 1: the number of states is 0"),
        ("2\n2\n1\n", "2\n0\n1\n", r"line 2: the number of actions is 0"),
        ("2\n2\n1\n", "2\n-2\n1\n", r"line 2: the number of actions -2 does not exist"),
        ("1\n1\n0 0 0", "1\n5\n0 0 0", r"line 4: terminal state 5 does not exist; they are numbered 0 to 1"),
        ("1\n1\n0 0 0", "2\n1\n0 0 0", r'line 5: "0 0 0 0.2 0.6" should be a terminal state, alone; .* declares 2'),
        ("0 0 0 0.2 0.6", "0 0 0 0.2", r'line 5: "0 0 0 0.2" should read STATE ACTION SUCCESSOR LOWER UPPER'),
        ("0 0 0 0.2 0.6", "7 0 0 0.2 0.6", r"line 5: state 7 does not exist"),
        ("0 0 0 0.2 0.6", "0 2 0 0.2 0.6", r"line 5: action 2 does not exist; they are numbered 0 to 1"),
        ("0 0 0 0.2 0.6", "0 0 9 0.2 0.6", r"line 5: successor state 9 does not exist"),
        ("0 0 0 0.2 0.6", "0 0 0 low 0.6", r'line 5: lower bound "low" is not a number'),
        ("0 0 0 0.2 0.6", "0 0 0 0.2 inf", r"line 5: upper bound is inf"),
        ("0 0 0 0.2 0.6", "0 0 0 0.7 0.6", r"line 5: the interval \[0.7,0.6\] has its lower bound above"),
        ("0 0 0 0.2 0.6", "0 0 0 0.7 0.9", r"m\.txt: state 0, action 0: no distribution fits the bounds"),
        ("0 0 0 0.2 0.6\n0 0 1 0.4 0.8\n0 1 1 1 1\n", "", r"there are no transitions; lines read STATE"),
        ("2\n2\n1\n1\n", "3\n2\n1\n1\n", r"state 2 has no transitions and is not terminal; list it"),
        (TXT, "2\n", r"the file ends before the number of actions"),
    ],
)
def test_malformed_bmdp_files(tmp_path, old, new, said):
    assert old in TXT
    (tmp_path / "m.txt").write_text(TXT.replace(old, new, 1))
    with pytest.raises(FormatError, match=said):
        umdp.io.read(tmp_path / "m.txt")


def julia(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None] = lambda a, v: None) -> Path:
    """Write a file as IntervalMDP.jl does, with a change made to its attributes and variables."""
    attributes: dict[str, Any] = {
        "model": "imdp",
        "format": "sparse_csc",
        "num_states": 3,
        "rows": "to",
        "cols": "from/action",
    }
    variables: dict[str, Any] = {
        "initial_states": np.array([2], np.int32),
        "lower_colptr": np.array([1, 2, 4, 5, 6], np.int32),
        "lower_rowval": np.array([3, 1, 2, 2, 3], np.int32),
        "lower_nzval": np.array([0.5, 0.1, 0.3, 1, 1]),
        "upper_colptr": np.array([1, 3, 5, 6, 7], np.int32),
        "upper_rowval": np.array([2, 3, 1, 2, 2, 3], np.int32),
        "upper_nzval": np.array([0.5, 0.8, 0.7, 0.9, 1, 1]),
        "stateptr": np.array([1, 3, 4, 5], np.int32),
    }
    change(attributes, variables)
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for name, values in variables.items():
            file[name] = values
    return path


def test_a_file_of_the_other_side(tmp_path):
    """Bounds of 0 are not stored, states may differ in how many choices they have, and numbers count from 1."""
    model = umdp.io.read(julia(tmp_path / "m.nc"))
    assert model.initial == 1
    assert rows(model, 0) == [frozenset({(1, 0.0, 0.5), (2, 0.5, 0.8)}), frozenset({(0, 0.1, 0.7), (1, 0.3, 0.9)})]
    everywhere = julia(tmp_path / "n.nc", lambda a, v: v.update(initial_states=np.array([], np.int32)))
    assert umdp.io.read(everywhere).initial == 0

    def chain(attributes: dict[str, Any], variables: dict[str, Any]) -> None:
        attributes.update(model="imc", cols="from", num_states=np.array([3]), rows=np.bytes_("to"))
        variables.update(
            lower_colptr=np.array([1, 2, 3, 4]), lower_rowval=np.array([3, 2, 3]), lower_nzval=np.array([0.5, 1, 1]),
            upper_colptr=np.array([1, 3, 4, 5]), upper_rowval=np.array([2, 3, 2, 3]), upper_nzval=np.array([0.5, 0.8, 1, 1]),
        )  # fmt: skip
        del variables["stateptr"]

    assert umdp.io.read(julia(tmp_path / "c.nc", chain)).is_chain


def test_the_netcdf_library_reads_and_writes_the_same(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    umdp.io.write(ROBOT, tmp_path / "m.nc")
    with netcdf.Dataset(tmp_path / "m.nc") as file:
        assert (file.model, file.format, file.rows, file.cols, int(file.num_states)) == (
            "imdp", "sparse_csc", "to", "from/action", 3
        )  # fmt: skip
        assert file["stateptr"][:].tolist() == [1, 3, 5, 7]
        assert file["lower_rowval"][:].tolist() == [2, 3, 1, 2, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a, v: a.pop("model"), r'the attribute "model" is missing'),
        (lambda a, v: a.update(model="fimdp"), r"""the attribute "model" is 'fimdp'; supported are imdp and imc"""),
        (lambda a, v: a.update(format="dense"), r"""the attribute "format" is 'dense'; .* it is "sparse_csc\""""),
        (lambda a, v: a.update(cols="from"), r'the attribute "cols" is .* it is "from/action"'),
        (lambda a, v: a.update(num_states=0), r'the attribute "num_states" is 0'),
        (lambda a, v: a.update(num_states=2.5), r'the attribute "num_states" is 2.5'),
        (lambda a, v: a.update(num_states=4), r"stateptr has 4 entries for 4 states"),
        (lambda a, v: v.pop("upper_nzval"), r'the variable "upper_nzval" is missing'),
        (lambda a, v: v.pop("stateptr"), r'the variable "stateptr" is missing'),
        (lambda a, v: v.update(lower_nzval=np.array([0.5, 0.1])), r"lower_rowval has 5 entries and lower_nzval 2"),
        (lambda a, v: v.update(lower_rowval=np.array([0.5] * 5)), r'"lower_rowval" is not a list of whole numbers'),
        (lambda a, v: v.update(lower_nzval=np.ones((5, 1))), r'"lower_nzval" is not a list of numbers'),
        (lambda a, v: v["upper_rowval"].__setitem__(0, 9), r"upper_rowval names state 9; they are numbered 1 to 3"),
        (lambda a, v: v["upper_rowval"].__setitem__(0, 0), r"upper_rowval names state 0"),
        (lambda a, v: v["upper_colptr"].__setitem__(4, 6), r"upper_colptr must rise from 1 to 7"),
        (lambda a, v: v["stateptr"].__setitem__(1, 4), r"stateptr must rise|has no choice"),
        (lambda a, v: v.update(initial_states=np.array([4])), r"initial_states names state 4"),
        (lambda a, v: v["upper_nzval"].__setitem__(4, 0.5), r"m\.nc: state 1, action 0"),
        (lambda a, v: v.update(label_goal=np.array([1])), r"label_goal has 1 entries; there must be 3"),
    ],
)  # fmt: skip
def test_malformed_netcdf_files(tmp_path, change, said):
    with pytest.raises(FormatError, match=said):
        umdp.io.read(julia(tmp_path / "m.nc", change))


def test_files_that_are_not_netcdf(tmp_path):
    (tmp_path / "m.nc").write_bytes(b"CDF\x01more")
    with pytest.raises(FormatError, match="a classic netCDF file"):
        umdp.io.read(tmp_path / "m.nc")
    (tmp_path / "m.nc").write_bytes(b"something else")
    with pytest.raises(FormatError, match="not a netCDF-4 file"):
        umdp.io.read(tmp_path / "m.nc")
    whole = julia(tmp_path / "whole.nc").read_bytes()
    for size in range(8, len(whole), 499):
        (tmp_path / "m.nc").write_bytes(whole[:size])
        with pytest.raises(FormatError):
            umdp.io.read(tmp_path / "m.nc")


def test_without_the_library(tmp_path, monkeypatch):
    julia(tmp_path / "m.nc")
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"reading .nc files needs the extra \"netcdf\""):
        umdp.io.read(tmp_path / "m.nc")
    with pytest.raises(MissingExtra, match="writing"):
        umdp.io.write(ROBOT, tmp_path / "n.nc")


SPEC: dict[str, Any] = {
    "property": {"type": "reachability", "infinite_time": True, "eps": 1e-6, "reach": [[3]]},
    "satisfaction_mode": "pessimistic",
    "strategy_mode": "maximize",
}


@pytest.mark.parametrize(
    ("asked", "modes", "wanted"),
    [
        ({}, ("pessimistic", "maximize"), 'Pmaxmin=? [ F "reach" ]'),
        ({}, ("pessimistic", "minimize"), 'Pminmax=? [ F "reach" ]'),
        ({}, ("optimistic", "maximize"), 'Pmaxmax=? [ F "reach" ]'),
        ({"infinite_time": False, "time_horizon": 10}, ("optimistic", "minimize"), 'Pminmin=? [ F<=10 "reach" ]'),
        ({"type": "reach-avoid", "avoid": [2]}, ("pessimistic", "maximize"), 'Pmaxmin=? [ !"avoid" U "reach" ]'),
        (
            {"type": "reward", "infinite_time": False, "time_horizon": 4, "reward": [1, 2, 3], "discount": 1.0},
            ("pessimistic", "maximize"),
            'R{"reward"}maxmin=? [ C<=5 ]',
        ),
    ],
)
def test_specifications(tmp_path, asked, modes, wanted):
    given = {"property": SPEC["property"] | asked, "satisfaction_mode": modes[0], "strategy_mode": modes[1]}
    julia(tmp_path / "m.nc")
    (tmp_path / "m.json").write_text(json.dumps(given))
    found = read_specification(tmp_path / "m.json", 3)
    assert found is not None
    assert found.property == wanted
    model = umdp.io.read(tmp_path / "m.nc")
    assert model.labels["reach"].tolist() == [False, False, True]
    solve(model, Spec.parse(wanted))


def test_a_reward_counts_in_the_state_after_the_last_step(tmp_path):
    """IntervalMDP.jl: the sum over k = 0 .. K of the rewards; by hand for K = 1 in a chain 0 -> 1 -> 1."""
    model = MDP([0, 1, 2], [0, 1, 2], [1, 1], [1, 1], rewards={"reward": Rewards(state=[1.0, 10.0])})
    umdp.io.write(model, tmp_path / "m.nc")
    asked = {"type": "reward", "infinite_time": False, "time_horizon": 1, "reward": [1, 10], "discount": 1}
    (tmp_path / "m.json").write_text(json.dumps({**SPEC, "property": asked}))
    found = read_specification(tmp_path / "m.json", 2)
    assert found is not None
    assert found.property is not None
    bracket = solve(umdp.io.read(tmp_path / "m.nc"), Spec.parse(found.property)).bracket
    assert bracket.lower <= 11 <= bracket.upper
    assert bracket.upper - bracket.lower < 1e-9


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"satisfaction_mode": "hopeful"}, r"satisfaction_mode: there is no 'hopeful'"),
        ({"property": {**SPEC["property"], "type": "bliss"}}, r"property, type: there is no 'bliss'"),
        ({"property": {**SPEC["property"], "reach": [4]}}, r'"reach" names state 4; they are numbered 1 to 3'),
        ({"property": {**SPEC["property"], "reach": [[1, 2]]}}, r'"reach" has a state with 2 numbers'),
        ({"property": {**SPEC["property"], "infinite_time": False}}, r'needs "time_horizon"'),
        ({"property": {"type": "reachability"}}, r'property: the key "infinite_time" is missing'),
        ({"property": {"type": "reward", "infinite_time": True, "reward": [1]}}, r"1 entries for 3 states"),
    ],
)
def test_malformed_specifications(tmp_path, given, said):
    julia(tmp_path / "m.nc")
    (tmp_path / "m.json").write_text(json.dumps({**SPEC, **given}))
    with pytest.raises(FormatError, match=rf"m\.json: .*{said}"):
        umdp.io.read(tmp_path / "m.nc")


def test_what_the_formats_cannot_hold(tmp_path):
    two = without(ROBOT, labels={"goal": [1], "trap": [2]})
    with pytest.raises(FormatError, match=r'the labels goal, trap; call one of them "terminal"'):
        umdp.io.write(two, tmp_path / "m.txt")
    with pytest.raises(FormatError, match=r"the initial state is 2"):
        umdp.io.write(without(ROBOT, initial=2), tmp_path / "m.txt")
    with pytest.raises(FormatError, match=r"has no rewards"):
        umdp.io.write(without(ROBOT, rewards={"r": Rewards(state=[1, 0, 0])}), tmp_path / "m.txt")
    with pytest.raises(FormatError, match=r'reward "r" is on transitions'):
        umdp.io.write(without(ROBOT, rewards={"r": Rewards(transition=np.ones(6))}), tmp_path / "m.nc")
    with pytest.raises(FormatError, match=r"the name 'a/b' does not fit"):
        umdp.io.write(without(ROBOT, labels={"a/b": [1]}), tmp_path / "m.nc")
    assert not list(tmp_path.iterdir())
