"""What is written comes back the same, to the last bit."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import assert_same, models

import umdp.io
from thoroughness import examples
from umdp import MDP, IntervalMDP, Rewards
from umdp.io import umb_read

PROSE = st.text(min_size=1, max_size=6).filter(lambda text: text.isprintable())


def there_and_back(model, name):
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        umdp.io.write(model, path)
        return umdp.io.read(path)


@settings(max_examples=examples(150))
@given(models(words=PROSE))
def test_umb_holds_everything(model):
    back = there_and_back(model, "model.umb")
    assert_same(model, back)
    assert back.action_names == model.action_names


@pytest.mark.usefixtures("both_readers")
@settings(max_examples=examples(150))
@given(models(on_transitions=False))
def test_drn_holds_all_but_transition_rewards(model):
    back = there_and_back(model, "model.drn")
    assert_same(model, back)
    assert back.action_names == model.action_names


@pytest.mark.usefixtures("both_readers")
@settings(max_examples=examples(150))
@given(models(both=False))
def test_explicit_files_hold_all_but_names(model):
    assert_same(model, there_and_back(model, "model.tra"), ignore=("state_names", "constants", "formulas"))


@pytest.mark.usefixtures("both_readers")
@pytest.mark.parametrize("name", ["m.umb", "m.drn", "m.tra"])
def test_extreme_numbers(name):
    p = [1e-300, 5e-324, 1 - 2**-53, 1.0]
    model = MDP(
        [0, 1, 2, 3], [0, 3, 4, 5], [2, 0, 1, 1, 2], [*p[:3], 1, 1], rewards={"r": Rewards(state=[1e300, 0, 0.1])}
    )
    assert_same(model, there_and_back(model, name))


def test_umb_compressed(tmp_path):
    model = IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.1, 0.2, 1], [0.9, 0.7, 1])
    umdp.io.write(model, tmp_path / "m.umb")
    data = (tmp_path / "m.umb").read_bytes()
    for compress in (gzip.compress, lzma.compress):
        (tmp_path / "c.umb").write_bytes(compress(data))
        assert_same(model, umdp.io.read(tmp_path / "c.umb"))


def test_umb_arrays_are_taken_in_bulk(tmp_path, monkeypatch):
    """Reading takes a handful of calls, however many transitions there are."""
    states = 20_000
    successor = np.stack([np.arange(states), (np.arange(states) + 1) % states], axis=1)
    model = MDP(
        np.arange(states + 1), 2 * np.arange(states + 1), np.sort(successor, axis=1).ravel(), np.full(2 * states, 0.5)
    )
    umdp.io.write(model, tmp_path / "m.umb")
    calls = []
    original = umb_read._Archive.array
    monkeypatch.setattr(umb_read._Archive, "array", lambda self, *a: calls.append(a) or original(self, *a))
    back = umdp.io.read(tmp_path / "m.umb")
    assert len(calls) <= 4
    assert_same(model, back)
    assert not back.probability.flags.writeable


def test_a_chain_of_files_without_labels_starts_in_state_0(tmp_path):
    (tmp_path / "m.tra").write_text("2 3\n0 1 0.5\n0 0 0.5\n1 1 1\n")
    model = umdp.io.read(tmp_path / "m.tra")
    assert (model.initial, model.is_chain, model.successor.tolist()) == (0, True, [1, 0, 1])


@pytest.mark.usefixtures("both_readers")
def test_prism_explicit_as_prism_writes_it(tmp_path):
    (tmp_path / "m.tra").write_text("2 3 4\n0 0 0 [0.1,0.5] go\n0 0 1 [0.2, 0.9] go\n0 1 1 1\n1 0 1 1.0 stay\n")
    (tmp_path / "m.lab").write_text('0="init" 1="deadlock" 2="goal"\n0: 0\n1: 2\n')
    (tmp_path / "m.sta").write_text("(x,b)\n0:(-1,false)\n1:(4,true)\n")
    (tmp_path / "m1.srew").write_text('# Reward structure "time"\n# State rewards\n2 1\n0 2.5\n')
    (tmp_path / "m1.trew").write_text('# Reward structure "time"\n# Transition rewards\n2 3 2\n0 0 0 3\n0 0 1 3\n')
    (tmp_path / "m2.trew").write_text("# Reward structure\n# Transition rewards\n2 3 1\n0 0 1 7\n")
    (tmp_path / "m.extra.srew").write_text("2 0\n")
    model = umdp.io.read(tmp_path / "m.tra")
    assert isinstance(model, IntervalMDP)
    assert [model.action_name(c) for c in range(3)] == ["go", "", "stay"]
    assert model.labels.keys() == {"deadlock", "goal"}
    assert model.state_name(1) == "(x=4,b=true)"
    assert model.rewards["time"].state.tolist() == [2.5, 0]
    assert model.rewards["time"].choice.tolist() == [3, 0, 0]
    assert model.rewards[""].transition.tolist() == [0, 7, 0, 0]
    assert model.rewards["extra"].state.tolist() == [0, 0]


@pytest.mark.usefixtures("both_readers")
def test_lines_in_any_order(tmp_path):
    (tmp_path / "m.tra").write_text("2 3 4\n1 0 1 1\n0 1 1 1\n0 0 1 0.75\n0 0 0 0.25\n")
    model = umdp.io.read(tmp_path / "m.tra")
    assert model.successor.tolist() == [1, 0, 1, 1]
    assert model.state_ptr.tolist() == [0, 2, 3]


def test_rewards_of_an_earlier_model_do_not_linger(tmp_path):
    plain = MDP([0, 1], [0, 1], [0], [1.0])
    rich = MDP([0, 1], [0, 1], [0], [1.0], rewards={"a": Rewards(state=[1]), "b": Rewards(choice=[2])})
    neighbour = tmp_path / "m1.tra"
    umdp.io.write(rich, tmp_path / "m.tra")
    umdp.io.write(MDP([0, 1], [0, 1], [0], [1.0], rewards={"c": Rewards(state=[1])}), neighbour)
    umdp.io.write(plain, tmp_path / "m.tra")
    assert not umdp.io.read(tmp_path / "m.tra").rewards
    assert list(umdp.io.read(neighbour).rewards) == ["c"]


@pytest.mark.usefixtures("both_readers")
def test_drn_with_placeholders_and_comments(tmp_path):
    (tmp_path / "m.drn").write_text(
        "// a comment\n@type: MDP\n@value_type: double\n@parameters\n\n@placeholders\n$p : 1/4\n$q : 0.75\n"
        '@reward_models\n cost \n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 [1, $p] init "two words"\n//[x=0]\n'
        "\taction go [0, 2]\n\t\t0 : $p\n\t\t1 : $q\nstate 1 [0, 0] goal\n\taction __NOLABEL__ [0, 0]\n\t\t1 : 1\n"
    )
    model = umdp.io.read(tmp_path / "m.drn")
    assert model.probability.tolist() == [0.25, 0.75, 1]
    assert list(model.rewards) == ["", "cost"]
    assert model.rewards["cost"].state.tolist() == [0.25, 0]
    assert model.labels.keys() == {"two words", "goal"}
    assert model.action_names == ("go", "")


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("m.drn", {"rewards": {"r": Rewards(transition=[1, 2, 3])}}, r"on transitions, which DRN cannot hold.*\.umb"),
        ("m.drn", {"actions": ["a b", "c"]}, r'action name "a b" does not fit into DRN'),
        ("m.tra", {"actions": ["a b", "c"]}, r'action name "a b" does not fit into \.tra'),
        ("m.tra", {"rewards": {"r": Rewards(choice=[1, 2], transition=[1, 2, 3])}}, r"choices and on transitions"),
        ("m.drn", {"labels": {'q"': [0]}}, r"label name .* does not fit into DRN"),
        ("m.umb", {"labels": {"init": [1]}}, r'label "init" stands for the initial state'),
        ("m.xyz", {}, r"ending in \.xyz are not known.*\.umb, \.drn, \.tra, \.nc or \.txt"),
        ("none/m.umb", {}, r"folder .* does not exist"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(tmp_path, name, more, said):
    model = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], **more)
    with pytest.raises(umdp.FormatError, match=said):
        umdp.io.write(model, tmp_path / name)


def test_a_repeated_successor_needs_umb(tmp_path):
    rewards = {"r": Rewards(transition=[1, 2, 0])}
    model = IntervalMDP([0, 1, 2], [0, 2, 3], [1, 1, 1], [0.2, 0.3, 1], [0.7, 0.8, 1], rewards=rewards)
    assert_same(model, there_and_back(model, "m.umb"))
    with pytest.raises(umdp.FormatError, match="lists a successor twice"):
        umdp.io.write(model, tmp_path / "m.tra")


def test_reading_models_is_light():
    import subprocess
    import sys

    code = "import sys, umdp.io; sys.exit(any(m in sys.modules for m in ('stormpy', 'numba', 'scipy', 'msgspec')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
