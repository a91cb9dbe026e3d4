"""Malformed input of every kind: exit status 2, one message with the place and the remedy, nothing else."""

from __future__ import annotations

import importlib.util
import sys

import pytest

needs_storm = pytest.mark.skipif(importlib.util.find_spec("stormpy") is None, reason="needs stormpy")

TRA = "2 3 4\n0 0 0 [0.2,0.5] try\n0 0 1 [0.5,0.8] try\n0 1 1 1 stop\n1 0 1 1\n"
LAB = '0="init" 1="goal"\n0: 0\n1: 1\n'
STA = "(x)\n0:(0)\n1:(1)\n"
SREW = '# Reward structure "cost"\n2 1\n0 3\n'
DRN = (
    "@type: MDP\n@value_type: double\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\n"
    "state 0 init\n\taction go\n\t\t0 : 0.5\n\t\t1 : 0.5\nstate 1\n\taction stay\n\t\t1 : 1\n"
)
PRISM = (
    "mdp\nconst int N;\nmodule m\n  x : [0..2] init 0;\n  [a] x<2 -> 0.5 : (x'=x+1) + 0.5 : true;\n"
    '  [b] x=2 -> true;\nendmodule\nlabel "goal" = x=2;\n'
)
POLICY = '{"states": 2, "decisions": [{"number": 0, "action": "stop"}, {"number": 1, "choice": 0}]}'
ASK = 'Pmaxmin=? [ F "goal" ]'


@pytest.fixture
def files(folder):
    """Write the small model m.tra and what belongs to it, with some files replaced."""

    def write(changed):
        (folder / "sub").mkdir()
        (folder / "plain.tra").write_text("2 3 3\n0 0 0 1 a\n0 1 1 1 b\n1 0 1 1\n")
        (folder / "plain.lab").write_text(LAB)
        usual = {"m.tra": TRA, "m.lab": LAB, "m.sta": STA, "m.srew": SREW, "p.json": POLICY}
        for name, text in {**usual, **changed}.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    return write


def file(name, text, *said, ask='Pmax=? [ F "goal" ]', more=()):
    """A file of this name and contents, asked a property."""
    model = "m.tra" if name.startswith("m.") else name
    return pytest.param({name: text}, (model, ASK if model == "m.tra" else ask, *more), said)


def prop(text, *said, model="m.tra"):
    """A property of the small model."""
    return pytest.param({}, (model, text), said)


def option(*arguments, said, files=None):
    """Arguments after a model and a property that are fine."""
    return pytest.param(files or {}, ("m.tra", ASK, *arguments), said)


def storm(text, *said, more=(), ask='Pmax=? [ F "goal" ]', name="q.prism"):
    return pytest.param({name: text}, (name, ask, *more), said, marks=needs_storm)


CASES = [
    # files
    pytest.param({}, ("nowhere.tra", ASK), ("nowhere.tra: there is no such file",)),
    pytest.param(
        {}, ("m.tr", ASK), ("there is no such file; did you mean m.tra?", "MODEL is a file with one of .prism")
    ),
    pytest.param(
        {}, ("chian", ASK), ("chian: there is no such file", "MODEL is a file with one of .prism, .nm", "chain")
    ),
    pytest.param({}, ("gym:Blackjack-v1", ASK), ("gym:Blackjack-v1 does not tell its probabilities", "umdp learn")),
    pytest.param({}, ("no/such/m.tra", ASK), ("the folder no/such does not exist",)),
    pytest.param({}, ("sub", ASK), ("sub: this is a folder; name a file in it",)),
    pytest.param({}, ("m.lab", ASK), ("m.lab: files ending in .lab are not known; a model has one of",)),
    pytest.param({}, (ASK, "m.tra"), ("MODEL comes first, then the properties: umdp check m.tra",)),
    file("m.tra", "", "m.tra: the file is empty"),
    file("m.tra", "2 x 4\n", 'm.tra, line 1: the header "2 x 4" should read STATES'),
    file("m.tra", TRA.replace("2 3 4", "2 3 9"), "the header declares 9 transitions, but the file has 4"),
    file("m.tra", TRA.replace("2 3 4", "2 7 4"), "the header declares 7 choices, but the file has 3"),
    file("m.tra", TRA[:-5], "m.tra, line 5", "should read STATE CHOICE SUCCESSOR PROBABILITY"),
    file("m.tra", TRA.replace("0 0 1 [", "0 0 5 ["), "m.tra, line 3: successor state 5 does not exist"),
    file("m.tra", TRA.replace("[0.5,0.8]", "[0.8,0.5]"), "line 3", "lower bound above"),
    file("m.tra", TRA.replace("[0.5,0.8]", "[0.9,1]"), "state (x=0), action try", "lower bounds sum to 1.1"),
    file("m.tra", TRA.replace("[0.5,0.8]", "[0,0.1]"), "upper bounds to 0.6", "at least 1"),
    file("m.tra", TRA.replace("0.8]", "much]"), "line 3"),
    file("m.lab", '0="init" 1="goal"\n0: 0\n9: 1\n', 'm.lab, line 3: there is no state "9"'),
    file("m.lab", '1="goal"\n1: 1\n', "m.lab", 'no state is labelled "init"'),
    file("m.lab", "goal\n", "m.lab, line 1: the first line should read"),
    file("m.sta", "(x)\n0:(0)\n", "m.sta", "1 state is listed, but the model has 2"),
    file("m.srew", "3 1\n0 3\n", "m.srew", "the rewards are for 3 states, but the model has 2"),
    file("m.srew", "2 1\n0 dear\n", "m.srew, line 2", '"dear" is not a number'),
    file("bad.drn", DRN.replace("1 : 0.5", "9 : 0.5"), "bad.drn", "line"),
    file("bad.drn", "@type: CTMC\n", "bad.drn"),
    file("bad.umb", b"PK\x03\x04 nothing", "bad.umb"),
    file("bad.umb", b"\x1f\x8b\x08\x00garbage", "bad.umb"),
    storm("mdp\nmodule m\n x : [0..2] init 0\nendmodule\n", "q.prism, line 4"),
    storm("modul\n", "q.prism", 'line 1: "modul" begins no part of a program', "dtmc, mdp, const"),
    storm("ctmc\n" + PRISM[4:].replace("const int N;\n", ""), "the model is a ctmc; supported are dtmc and mdp"),
    storm(PRISM, "this constant has no value: N; give --const N=VALUE"),
    storm(PRISM, "there is no constant M to define", "N", more=("--const", "N=1", "--const", "M=2")),
    storm(PRISM, "constant N is of type int, but 0.5 was given", more=("--const", "N=.5")),
    storm(PRISM.replace("x<2 -> 0.5", "x<2 -> 0.4"), "q.prism", "sum", more=("--const", "N=1")),
    storm("{}", "q.jani", name="q.jani"),
    # properties
    prop("", "the property is empty"),
    prop('Pmaxmin=? F "goal"', "square brackets"),
    prop('Pmaxmin=? [ F "goal"', "the bracket is not closed", "add ]"),
    prop('Pmaxmni=? [ F "goal" ]', "did you mean Pmaxmin?"),
    prop('Pmaxmin=? [ F "gaol" ]', 'unknown label "gaol" at column 15', 'Did you mean "goal"?'),
    prop("Pmaxmin=? [ F y=1 ]", "unknown name y", "variables x"),
    prop("Pmaxmin=? [ F goal ]", 'write it in quotes, "goal"'),
    prop("Pmaxmin=? [ F x+1 ]", "not a condition"),
    prop('R{"time"}minmax=? [ F "goal" ]', 'unknown reward "time"', 'the model has: "cost"'),
    prop('Rmin=? [ F "goal" ]', "the model has no rewards", model="plain.tra"),
    prop('Pmax=? [ F "goal" ]', "write Pmaxmin for the worst case or Pmaxmax for the best case"),
    prop('P=? [ F "goal" ]', "does not say which way", "write Pmax or Pmin", model="plain.tra"),
    prop('P=? [ F "goal" ]', "both the policy and nature"),
    prop('Pmaxmin>=1.5 [ F "goal" ]', "the threshold 1.5 is not between 0 and 1"),
    prop('Pmaxmin>=? [ F "goal" ]', "a threshold needs a number"),
    prop('Pmaxmin=? [ F<=-1 "goal" ]', "step bound"),
    prop('Pmaxmin=? [ F<=k "goal" ]', "unknown name k"),
    prop('Pmaxmin=? [ F[3,1] "goal" ]', "no step is both at least 3 and at most 1"),
    prop('Pmaxmin=? [ X<=3 "goal" ]', "X takes no step bound"),
    prop("Rminmax=? [ C=3 ]", "after C"),
    prop('Pmaxmin=? [ "goal" W<=3 x=1 ]', "W takes no step bound"),
    prop('S=? [ F "goal" ]', "S takes a state formula"),
    prop('Pmaxmin=? [ G F "gaol" ]', "Did you mean"),
    prop('Pmaxmin=? [ (F "goal") & G x=1 ]', "G as an operand of & needs parentheses"),
    prop('Pmaxmin=? [ HOA: {"nowhere.hoa"} ]', "nowhere.hoa: there is no such file"),
    prop("Pmaxmin=? [ F 'goal' ]", "labels stand in double quotes"),
    prop('<<1>> Pmax=? [ F "goal" ]', "coalitions"),
    pytest.param({}, ("m.tra", ASK, ASK, 'Pmaxmin=? [ F "gaol" ]'), ("property 3: unknown label",)),
    pytest.param({"m.srew": "2 1\n0 -3\n"}, ("m.tra", "Rminmax=? [ C ]"), ("is -3.0 on state 0", "at least 0")),
    # constants and other options
    option("--const", "K", said=('constants: "K" has no value; write K=VALUE',)),
    option("--const", "K=two", said=("constants: the value of K",)),
    option("--const", "K=1", "--const", "K=2", said=("K is given twice",)),
    option("--const", "K=1", said=("constants (K) can only be given to programs",)),
    option("--precision", "0", said=("--precision must lie strictly between 0 and 1, not 0",)),
    option("--precision", "2", said=("--precision must lie strictly between 0 and 1, not 2",)),
    option("--precision", "nan", said=("--precision must lie strictly between 0 and 1, not nan",)),
    option("--precision", "fine", said=("'--precision': \"fine\" is not a number", "umdp check --help")),
    option("--method", "guess", said=("--method", "auto, policy, value")),
    option("--threads", "0", said=("--threads must be at least 1, not 0",)),
    option("--threads", "all", said=("'--threads': \"all\" is not a whole number",)),
    option("--time-limit", "-1", said=("--time-limit must be more than 0 seconds",)),
    option("--fast", said=("no such option: --fast", "umdp check --help")),
    pytest.param({}, ("m.tra",), ("say what to ask of m.tra: a property such as",)),
    pytest.param({}, (), ("missing argument 'MODEL'", "umdp check --help")),
    # policies
    option("--policy", "p.txt", said=("--policy p.txt: a policy is written as .json or .csv or .py",)),
    option("--policy", "no/p.json", said=("the folder no does not exist; create it first",)),
    option(ASK, "--policy", "q.json", said=("one file for 2 properties", "policy{n}.json")),
    option("--policy", "q.json", "--evaluate", "p.json", said=("--evaluate and --policy do not go together",)),
    option("--evaluate", "q.json", said=("q.json: there is no such file",)),
    option("--evaluate", "m.tra", said=("m.tra: a policy is read from .json or .csv",)),
    option("--evaluate", "p.json", files={"p.json": "{"}, said=("p.json: this is not a policy",)),
    option(
        "--evaluate",
        "p.json",
        files={"p.json": POLICY.replace("stop", "fly")},
        said=('p.json: decision 0: state (x=0) has no action "fly"; it offers try, stop',),
    ),
    option(
        "--evaluate",
        "p.json",
        files={"p.json": POLICY.replace('"number": 0', '"state": "(x=7)"')},
        said=('p.json: decision 0: there is no state "(x=7)"',),
    ),
    option(
        "--evaluate", "p.json", files={"p.json": POLICY.replace('": 2', '": 3')}, said=("the policy is for 3 states",)
    ),
    option(
        "--evaluate", "p.csv", files={"p.csv": "number,choice\n1,0\n"}, said=("p.csv: state (x=0) has no decision",)
    ),
    option(
        "--evaluate",
        "p.csv",
        files={"p.csv": "step,number,choice\n0,0,0\n0,1,0\n"},
        said=("the policy depends on the step", "F<=k"),
    ),
]


def check_message(outcome, said):
    code, out, err = outcome
    assert code == 2, (out, err)
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("error: ") == 1
    assert "Traceback" not in err
    # A message is one line, followed by the property and a caret at the place in it where that is what is wrong.
    lines = err.splitlines()
    assert len(lines) == 1 or (len(lines) == 3 and lines[2].strip() == "^"), err
    for part in said:
        assert part in err, err


@pytest.mark.parametrize(("changed", "arguments", "said"), CASES)
def test_malformed(umdp, files, changed, arguments, said):
    files(changed)
    check_message(umdp("check", *arguments), said)


def test_there_are_many():
    assert len(CASES) >= 80


@pytest.mark.parametrize(("name", "text"), [("q.prism", PRISM), ("q.jani", "{}")])
def test_storm_is_not_installed(umdp, files, monkeypatch, name, text):
    files({name: text})
    monkeypatch.setitem(sys.modules, "stormpy", None)
    said = ("needs the extra \"storm\"; install it with: pip install 'umdp[storm]'",)
    check_message(umdp("check", name, 'Pmax=? [ F "goal" ]', "--const", "N=1"), said)


def test_unknown_command(umdp):
    check_message(umdp("chek", "m.tra"), ("chek", "umdp --help"))


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_nothing_is_solved_when_the_last_property_is_wrong(umdp, files, monkeypatch, json):
    files({})
    monkeypatch.setattr(sys.modules["umdp.solver"], "solve", lambda *_, **__: pytest.fail("solved"))
    check_message(
        umdp("check", "m.tra", ASK, ASK, 'Pmax=? [ F "goal" ]', *json), ("property 3: the model has intervals",)
    )
