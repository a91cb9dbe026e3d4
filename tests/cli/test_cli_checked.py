"""`umdp check` takes what `umdp learn` takes, and properties from files; without a property it asks what belongs to the model."""

from __future__ import annotations

import json

import pytest

import umdp as package
from umdp import MDP, IntervalMDP, io
from umdp.benchmark import BENCHMARKS
from umdp.cli.checked import beside
from umdp.spec import Spec

PLUGIN = """
import umdp

def coin(p=0.5):
    return umdp.MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [p, 1 - p, 1, 1], labels={"heads": [1]})

def loaded():
    return coin().with_intervals(0.2)

def graph():
    return coin().graph

class Closed:
    def reset(self, *, seed=None, options=None):
        return 0, {}
    def step(self, action):
        return 0, 0.0, True, False, {}
"""


@pytest.fixture
def answers(umdp):
    """Ask with --json; return the rows."""

    def ask(*arguments):
        code, out, err = umdp("check", *arguments, "--json")
        assert code in (0, 1), err
        return [json.loads(line) for line in out.splitlines()]

    return ask


@pytest.mark.parametrize("name", ["bandit", "betting-favourable"])
def test_a_benchmark_is_asked_its_own_property(answers, name):
    (row,) = answers(name)
    assert Spec.parse(row["property"]) == BENCHMARKS[name].spec
    assert row["lower"] - 1e-6 <= BENCHMARKS[name].optimum <= row["upper"] + 1e-6


def test_a_benchmark_with_arguments_and_another_property(umdp, answers):
    (row,) = answers("chain", 'Pmax=? [ F<=9 "goal" ]')
    (other,) = answers("chain", 'Pmax=? [ F<=9 "goal" ]', "--env-arg", "length=4")
    assert row["upper"] == 0
    assert other["lower"] > 0
    assert "cannot be called" in umdp("check", "chain", "--env-arg", "colour=red").err


def test_the_table_of_an_environment(umdp, answers):
    gymnasium = pytest.importorskip("gymnasium")
    (row,) = answers("gym:FrozenLake-v1,is_slippery=false", 'Pmax=? [ F "goal" ]')
    assert row["lower"] == row["upper"] == 1
    table = gymnasium.make("FrozenLake-v1").unwrapped.P
    exact = package.solve(MDP.from_gymnasium(table), 'Pmax=? [ F<=7 "goal" ]').bracket
    (row,) = answers("gym:FrozenLake-v1", 'Pmax=? [ F<=7 "goal" ]')
    assert (row["lower"], row["upper"]) == (exact.lower, exact.upper)
    code, _, err = umdp("check", "gym:Blackjack-v1", 'Pmax=? [ F "goal" ]')
    assert code == 2
    assert "does not tell its probabilities" in err
    assert "umdp learn gym:Blackjack-v1" in err


def test_what_somebody_wrote(folder, umdp, answers):
    (folder / "mine.py").write_text(PLUGIN)
    (row,) = answers("mine.py:coin", 'Pmax=? [ F "heads" ]', "--env-arg", "p=0.25")
    assert row["lower"] <= 0.25 <= row["upper"]
    (row,) = answers("mine.py:loaded", 'Pmin=? [ F "heads" ]')
    assert row["lower"] == pytest.approx(0.4)
    for name, said in (("graph", "returned Graph; it must return"), ("Closed", "does not tell its probabilities")):
        code, _, err = umdp("check", f"mine.py:{name}", 'Pmin=? [ F "heads" ]')
        assert code == 2
        assert said in err


def test_a_run_is_asked_what_it_was_learned_for_and_other_things(umdp, answers):
    assert umdp("learn", "bandit", "--trajectories", "30", "--out", "b.run", "--quiet").code == 0
    (row,) = answers("b.run")
    run = package.open("b.run")
    assert Spec.parse(row["property"]) == run.spec.robust()
    assert row["guarantee"]["text"] == str(run.guarantee)
    assert row["lower"] <= run.bracket.upper
    assert run.bracket.lower <= row["upper"]
    code, out, _ = umdp("check", "b.run", 'Pmaxmax=? [ F "goal" ]')
    assert code == 0
    assert "learned from 30 trajectories" in out
    assert "of the learned model; of the process, no guarantee" in out


def test_the_promise_of_intervals_is_one_for_other_properties_too(umdp):
    """Of the worst case, by a learner whose intervals hold; not of others, nor of what is not the worst case."""
    learn = ("learn", "betting-favourable", "--trajectories", "40", "--quiet")
    assert umdp(*learn, "--learner", "confidence-sequence", "--out", "sure.run").code == 0
    assert umdp(*learn, "--learner", "lui", "--out", "lui.run").code == 0
    for ask, run, kept in (
        ("Rmaxmin=? [ Cdiscount=0.9 ]", "sure.run", True),
        ("Rmaxmax=? [ Cdiscount=0.9 ]", "sure.run", False),
        ("Rmaxmin=? [ Cdiscount=0.9 ]", "lui.run", False),
    ):
        out = umdp("check", run, ask).out
        assert ("of the process, with probability 99 %" in out) == kept
        assert ("of the process, no guarantee" in out) != kept


def test_a_file_comes_before_a_benchmark(folder, umdp):
    (folder / "grid").write_text("nothing")
    code, _, err = umdp("check", "grid", "Pmax=? [ F x=1 ]")
    assert code == 2
    assert "grid" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("grid", "--const", "K=2"), "--const gives values to the constants of a program"),
        (
            ("m.drn", 'Pmax=? [ F "goal" ]', "--env-arg", "n=2"),
            "--env-arg is for benchmarks, environments and functions",
        ),
        (("gridd", 'Pmax=? [ F "goal" ]'), "a benchmark (chain"),
        (("m.drn",), "say what to ask of m.drn: a property such as 'Pmaxmin=? [ F \"goal\" ]' after it"),
        (("m.drn", "no.props"), "no.props: cannot be read"),
    ],
)
def test_refused(folder, umdp, arguments, said):
    model = IntervalMDP([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], [1, 1, 1], labels={"goal": [1]})
    io.write(model, folder / "m.drn")
    code, out, err = umdp("check", *arguments)
    assert code == 2
    assert out == ""
    assert said in " ".join(err.split())


# -- properties in files ---------------------------------------------------------------------------------------

PROPS = """// two of them, without semicolons
const int k = 2;
const int T;
label "near" = "goal" | "init";
"soon": Pmaxmin=? [ F<=k
   "goal" ]  // here
Pmaxmin>=0.2 [ F<=T "near" ]
"""


@pytest.fixture
def model(folder):
    """A model with one file of properties beside it."""
    made = IntervalMDP(
        [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.25, 0.5, 1, 1], [1, 0.5, 0.75, 1, 1], labels={"goal": [1]}
    )
    io.write(made, folder / "m.drn")
    (folder / "m.props").write_text(PROPS)
    return "m.drn"


def test_the_file_beside_the_model_is_asked(folder, umdp, answers, model):
    first, second = answers(model, "--const", "T=5")
    assert first["property"] == 'Pmaxmin=? [ F<=k "goal" ]'
    assert first["lower"] <= 0.25 <= first["upper"]
    assert second["satisfied"] is True
    assert "the properties of m.props" in umdp("check", model, "--const", "T=5").out
    (folder / "m.drn.more.props").write_text('P>=0 [ F "goal" ]')
    assert beside(model)[-1].name == "m.props"
    assert len(answers(model, "--const", "T=5")) == 2
    assert len(answers(model, "m.drn.more.props", "m.props", 'Pmaxmax=? [ F "goal" ]', "--const", "T=5")) == 4
    (folder / "m.props").unlink()
    assert len(answers(model)) == 1
    (folder / "m.drn.other.props").write_text('P>=0 [ F "goal" ]')
    assert "one of the files beside it (m.drn.more.props, m.drn.other.props)" in umdp("check", model).err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PROPS, "m.props: T has no value; give it one: --const T=VALUE"),
        ("// nothing\n", "m.props: there is no property in it"),
        ("P=? [ F \n 3 ]\n", "m.props, line 1: "),
        ('// one\n\nPmaxmin=? [ F "gaol" ];', 'm.props, line 3: unknown label "gaol"'),
        ('label near = "goal";', "m.props, line 1: "),
    ],
)
def test_mistakes_in_files_of_properties(folder, umdp, model, text, said):
    (folder / "m.props").write_text(text)
    code, _, err = umdp("check", model)
    assert code == 2
    assert said in err


def test_a_property_that_is_not_supported_does_not_cost_the_others(folder, umdp, model):
    (folder / "m.props").write_text(
        'Pmaxmin=? [ F "goal" ]\nPmaxmin=? [ F{discount=0.9} "goal" ]\nPmaxmin=? [ F "gaol" ]\n'
    )
    code, out, err = umdp("check", model, "--json")
    assert code == 2
    assert [json.loads(line)["property"] for line in out.splitlines()] == ['Pmaxmin=? [ F "goal" ]']
    assert "error: m.props, line 2: " in err
    assert 'error: m.props, line 3: unknown label "gaol"' in err


def test_a_specification_of_intervalmdp_is_asked(folder, umdp, answers, model):
    pytest.importorskip("h5py")
    io.write(io.read(model), folder / "s.nc")
    asked = {"type": "reach-avoid", "infinite_time": True, "eps": 1e-6, "reach": [2], "avoid": [[3]]}
    spec = {"property": asked, "satisfaction_mode": "pessimistic", "strategy_mode": "maximize"}
    (folder / "s.json").write_text(json.dumps(spec))
    (row,) = answers("s.nc")
    assert row["property"] == 'Pmaxmin=? [ !"avoid" U "reach" ]'
    assert row["lower"] == pytest.approx(0.25)
    spec["property"] = {
        "type": "reward",
        "infinite_time": False,
        "time_horizon": 3,
        "reward": [1, 2, 3],
        "discount": 0.9,
    }
    (folder / "s.json").write_text(json.dumps(spec))
    assert "s.json: a reward that is discounted up to a time horizon is not supported" in umdp("check", "s.nc").err


def test_learned_models_go_to_other_tools(folder, umdp):
    pytest.importorskip("h5py")
    assert umdp("learn", "bandit", "--trajectories", "30", "--out", "b.run", "--quiet").code == 0
    assert umdp("export", "b.run", "b.nc").code == 0
    learned, back = package.open("b.run").model, io.read(folder / "b.nc")
    assert set(learned.lower.tolist()) == set(back.lower.tolist())
    for text in ('Pmaxmin=? [ F "goal" ]', 'Pminmin=? [ F "success" ]', 'Rmaxmin=? [ F "goal" ]'):
        ours, theirs = (package.solve(each, text).bracket for each in (learned, back))
        assert max(ours.lower, theirs.lower) <= min(ours.upper, theirs.upper) + 1e-12
    assert umdp("check", "b.nc", 'Pmaxmin=? [ F "goal" ]').code == 0
