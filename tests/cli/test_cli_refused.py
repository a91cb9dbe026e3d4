"""Whatever is typed at any command: exit status 2 and one message with the remedy; what does nothing is refused."""

from __future__ import annotations

import importlib.util
import json
import os

import pytest

GYM = pytest.mark.skipif(importlib.util.find_spec("gymnasium") is None, reason="needs gymnasium")
STORM = pytest.mark.skipif(importlib.util.find_spec("stormpy") is None, reason="needs stormpy")
PLOT = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")

GOAL = 'Pmax=? [ F "goal" ]'
HUGE = "9" * 400
LAKE = "gym:FrozenLake-v1"
TOML = "trajectories = 5\nseeds = 1\nenvironments = [{}]\nlearners = [{}]\n"
LUI = '{label="LUI", learner="lui"}'


def learn(*arguments, said, model="grid"):
    """Arguments of `umdp learn` behind a model."""
    return pytest.param(("learn", model, *arguments), said, id=f"learn {model} {' '.join(arguments)}"[:80])


def call(*arguments, said, marks=()):
    return pytest.param(arguments, said, id=" ".join(arguments)[:80], marks=marks)


def experiment(said, environments='"grid"', learners=LUI, more=""):
    return pytest.param(more + TOML.format(environments, learners), said, id=said[:60])


CASES = [
    # options of learn that would do nothing
    learn("--const", "K=1", said="--const gives values to the constants of a program (.prism .nm .pm .jani), and grid is none"),
    learn("--after", "5", said="--after says when the process changes; say with --switch MODEL into what"),
    learn("--switch", "grid", said="--switch needs --after N"),
    learn("--switch", "grid", "--after", "0", said="--after must be a whole number, more than 0, not 0"),
    learn("--switch", "grid", "--after", "-1", said="--after must be a whole number, more than 0, not -1"),
    learn("--switch", LAKE, "--after", "5", said="--switch is for models that are simulated"),
    learn(GOAL, "--switch", "grid", "--after", "5", model=LAKE, said="--switch is for models that are simulated"),
    learn("--switch", "gird", "--after", "5", said="there is no benchmark 'gird'"),
    learn("--explore", "uniform", "--xi", "0.5", said="--xi is the weight on the optimistic action and does nothing with"),
    learn("--follow", said="--follow waits for more of a log"),
    learn("--on-error", "skip", said="--on-error says what to do with a bad row of a log"),
    learn("--log", "log.csv", "--explore", "uniform", said="--explore does nothing with a log: nobody explores"),
    learn("--log", "log.csv", "--xi", "0.5", said="--xi does nothing with a log"),
    learn("--log", "log.csv", "--sampling", "auto", said="--sampling does nothing with a log"),
    learn("--log", "log.csv", "--horizon", "5", said="--horizon does nothing with a log"),
    learn("--log", "log.csv", "--switch", "grid", "--after", "5", said="--switch does nothing with a log"),
    learn("--log", "log.csv", "--const", "K=1", said="--const gives values to the constants of a program"),
    learn("--log", "log.csv", "--seed", "1", said="--seed does nothing with a log: nothing is drawn at random"),
    # ties
    learn("--tie", "declared", model="bandit", said="bandit declares no ties"),
    learn(GOAL, "--tie", "declared", model=LAKE, said="is no benchmark, so nothing is declared"),
    learn("--tie", "decl", said="--tie decl: write FILE.py:NAME, a function of (state, action, successor)"),
    learn("--tie", "none.py:ties", said="this file cannot be read"),
    # thresholds and properties
    learn("--until", ">=0", said="--until >=0: this always holds, so the run would stop before it has learned anything"),
    learn("--until", ">=-0.0", said="this always holds"),
    learn('Pmin=? [ F "goal" ]', "--until", "<=1", said="--until <=1: this always holds"),
    learn('Rmax=? [ C<=9 ]', "--until", ">=0", model="chain", said="--until >=0: this always holds"),
    learn('Rmax=? [ C<=9 ]', "--until", ">-1", model="chain", said="--until >-1: this always holds"),
    learn("--until", "<=-1", model="chain", said="--until <=-1: a reward is never that small"),
    learn("--until", ">=2", said="--until >=2: a probability is never that large"),
    learn("--until", ">=nan", said="'>=nan' is not a threshold; write one such as >=0.3"),
    learn("--until", ">=1e400", said="'>=1e400' is not a threshold"),
    learn("--until", ">=", said="'>=' is not a threshold"),
    learn("--until", "", said="'' is not a threshold"),
    learn("--until", "<=0.3", said="--until <=0.3: what is learned is how large the value can be made"),
    learn("--until", ">=0.3", model="chain", said="how small the value can be kept, which never proves >=0.3; write <=0.3"),
    learn('Pmaxmin=? [ F "goal" ]', said='takes no nature in the property at column 1; write Pmax=? [ F "goal" ]'),
    learn('Rminmax=? [ F "goal" ]', model="chain", said='write Rmin=? [ F "goal" ]'),
    learn('Pmax<=0.3 [ F "goal" ]', said="which never proves <=0.3"),
    learn('P>=0.3 [ F "goal" ]', said="the property does not say what the policy should do"),
    learn('Pmax>=nan [ F "goal" ]', said="nan"),
    learn('Pmax=? [ F<=99999999999999999999999 "goal" ]', said="integers have 64 bits"),
    learn('Pmax=? [ F<=1/0 "goal" ]', said="division by zero"),
    learn("", said="the property is empty"),
    learn("Pmax=? [ F " + "(" * 2000 + " ]", said="column"),
    # numbers
    learn("--seed", "-1", said="--seed must be a whole number, at least 0, not -1"),
    learn("--seed", HUGE, said="is more than 64 bits hold"),
    learn("--seed", "9223372036854775808", said="is more than 64 bits hold; give at most 9223372036854775807"),
    learn("--seed", "1.5", said='"1.5" is not a whole number'),
    learn("--seed", "", said='"" is not a whole number'),
    learn("--steps", "-1", said="--steps must be a whole number, more than 0, not -1"),
    learn("--steps", "1e400", said="is more than 64 bits hold"),
    learn("--trajectories", "-5", said="--trajectories must be a whole number, more than 0, not -5"),
    learn("--trajectories", "nan", said='"nan" is not a whole number'),
    learn("--seconds", "nan", said="--seconds must be a finite number, more than 0, not nan"),
    learn("--seconds", "inf", said="--seconds must be a finite number, more than 0, not inf"),
    learn("--horizon", "-3", said="--horizon must be a whole number of steps, at least 1, not -3"),
    learn("--xi", "nan", said="must lie between 0 and 1, not nan"),
    learn("--xi", "-0.1", said="must lie between 0 and 1, not -0.1"),
    learn("--precision", "0", said="--precision must lie strictly between 0 and 1, not 0"),
    learn("--precision", "nan", said="--precision must lie strictly between 0 and 1, not nan"),
    # learners
    learn("--confidence", "95", said="95 is not between 0 and 1; give a probability such as 0.95"),
    learn("--confidence", "1", said="1 is not between 0 and 1"),
    learn("--confidence", "nan", said="'--confidence'"),
    learn("--confidence", "sure", said='"sure" is not a number'),
    learn("--confidence", "0.99999999999999", said="is more than any data would show"),
    learn("--confidence", "0.9", "--learner", "lui", said="the learner lui promises nothing; leave out --learner"),
    learn("--confidence", "0.9", "--learner", "pac", said="the learner pac promises nothing"),
    learn("--confidence", "0.9", "--set", "error_rate=0.2", said="say the same thing; give one of them"),
    learn("--certificate", "x.json", said="the learner lui promises nothing, so there is nothing to certify"),
    learn("--certificate", "no/x.json", "--confidence", "0.9", said="the folder no does not exist; create it first"),
    learn("--certificate", "sub", "--confidence", "0.9", said="this is a folder; name a file in it"),
    learn("--set", "strnegth=5,10", said="there is no strnegth; it has prior=0.0001,0.9999, strength=5,10"),
    learn("--set", "strength=nan,nan", said="strength"),
    learn("--set", "strength=1,2,3", said="give a pair (lower, upper)"),
    learn("--set", "=3", said="write NAME=VALUE"),
    learn("--set", "prior=0,1", said="a lower bound of the prior is not positive"),
    learn("--learner", "confidence-sequence", "--set", "prior=1e308", said="give one number from 1e-6 to 1e6"),
    learn("--learner", "clopper-pearson", "--set", "error_rate=nan", said="error_rate is nan"),
    learn("--learner", "", said="there is no learner ''"),
    learn("--learner", "mine.py:maze", said="mine.py:maze is not a learner; it must be a class derived from umdp.Learner"),
    learn("--learner", "broken.py:maze", said="broken.py, line 1"),
    learn("--learner", "none.py:maze", said="none.py: this file cannot be read"),
    learn("--explore", "mine.py:maze", said="is not an explorer"),
    learn("--sampling", "count", said="--sampling 'count' does not exist; there are steps, counts, auto. Did you mean counts?"),
    learn("--explore", "slowly", said="there is no way to explore called 'slowly'"),
    # models and files
    learn(GOAL, model="", said="MODEL is empty; name a benchmark"),
    learn(GOAL, model="mine.py:maze", said="mine.py:maze returned int; it must return an umdp.MDP"),
    learn(GOAL, model="mine.py:fails", said="mine.py:fails fails: RuntimeError: no (mine.py, line 2)"),
    learn(GOAL, model="mine.py:", said="mine.py: there is no '' in this file"),
    learn(GOAL, model="x" * 3000, said="File name too long"),
    learn("--out", "sub", said="--out sub: this is a folder; name a file in it"),
    learn("--out", "log.csv", said="log.csv: this file is there already; choose another name, say --force"),
    learn("--log", "none.csv", said="none.csv"),
    learn("--log", "", said="--log is empty; name a file, or - for standard input"),
    call("learn", "gym:Nope-v0", GOAL, said="gym:Nope-v0", marks=GYM),
    call("learn", "gym:FrozenLake-v1", GOAL, "--sampling", "auto", said="is for models that are simulated, and gym:", marks=GYM),
    call("learn", "gym:no_such_module:Nope-v0", GOAL, said="no_such_module", marks=GYM),
    call("learn", "gym:CartPole-v1", GOAL, said="CartPole", marks=GYM),
    call("learn", LAKE, said="say what to learn for: a property", marks=GYM),
    call("learn", "examples/courier.prism", 'Pmax=? [ F "arrived" ]', said="N", marks=STORM),
    # the other commands
    call("check", "a.run", 'Pmaxmin=? [ F "goal" ]', "--const", "K=1", said="this is a run; leave it out"),
    call("check", "examples/rover.tra", 'Pmaxmin=? [ F "base" ]', "--threads", HUGE, said="more than 64 bits hold"),
    call(
        "check", "examples/rover.tra", 'Pmaxmin=? [ F "base" ]', "--evaluate", "p.json", "--threads", "2",
        said="--threads does nothing with --evaluate",
    ),
    call("check", "y" * 3000 + ".tra", GOAL, said="File name too long"),
    call("resume", "log.csv", said="log.csv: this is not a run of umdp"),
    call("resume", "sub", said="there is no such run"),
    call("resume", "a.run", "--trajectories", "-1", said="--trajectories must be a whole number, more than 0, not -1"),
    call("resume", "a.run", "--until", "<=0.1", said="--until <=0.1: what is learned is how large"),
    call("resume", "a.run", "--until", ">=2", said="--until >=2: a probability is never that large"),
    call("show", "noise.run", said="noise.run: this is not a run of umdp"),
    call("show", "", said="there is no such run"),
    call("export", "a.run", "a.csv", said="a.csv: this file is there already; choose another name, or say --force"),
    call("export", "a.run", "sub", "--what", "model", said="sub: this is a folder; name a file in it"),
    call("export", "a.run", "no/b.csv", said="the folder no does not exist; create it first"),
    call("export", "a.run", "b.dat", said="say what to export with --what"),
    call("export", "a.run", "b.dat", "--what", "snapshots", said="b.dat: snapshots are written as .csv or .parquet"),
    call("export", "a.run", "b.json", "--what", "dreams", said="--what"),
    call("simulate", "a.run", "--render", "--json", said="--render draws for people and --json prints for programs"),
    call("verify", "none.json", said="none.json"),
    call("verify", "null.json", said="null.json"),
    call("verify", "deep.json", said="deep.json"),
    call("verify", "sub", said="sub"),
    call("check-env", LAKE, "--steps", "0", said="--steps must be a whole number, more than 0, not 0", marks=GYM),
    call("check-env", LAKE, "--seed", "-5", said="--seed must be a whole number, at least 0, not -5", marks=GYM),
    call("check-env", "gym:Nope-v0", said="Nope", marks=GYM),
    call("reproduce", "basics", said="there is no experiment 'basics'; there are basic, strength, change, ties"),
    call("reproduce", "none.toml", said="none.toml: this file cannot be read"),
    call("reproduce", "basic", "--seeds", "0", said="--seeds must be at least 1, not 0"),
    call("reproduce", "basic", "--seeds", "1e9", said="--seeds 1000000000 is more than 1,000,000; give fewer"),
    call("reproduce", "basic", "--seeds", "1e400", said="is more than 64 bits hold"),
    call("reproduce", "basic", "--seed", "-1", said="--seed must be at least 0, not -1"),
    call("reproduce", "basic", "--trajectories", "0", said="--trajectories must be at least 1, not 0"),
    call("reproduce", "basic", "--jobs", "0", said="--jobs must be at least 1, not 0"),
    call("reproduce", "basic", "--jobs", "2", "--scheduler", "tcp://host:1", said="give one of them"),
    call("reproduce", "basic", "--as-published", "--by-definition", said="give --as-published or --by-definition"),
]  # fmt: skip

EXPERIMENTS = [
    experiment("there are no environments or no learners", environments=""),
    experiment("there are no environments or no learners", learners=""),
    experiment("two environments are called 'grid'", environments='"grid", "grid"'),
    experiment("there is no benchmark 'gird'", environments='"gird"'),
    experiment("there is no learner 'liu'", learners='{label="x", learner="liu"}'),
    experiment("there is no strnegth", learners='{label="x", learner="lui", settings={strnegth=1}}'),
    experiment("takes no nature in the property", environments=r'{name="g", model="grid", property="Pmaxmin=? [ F \"goal\" ]"}'),
    experiment("a property starts with P or R", environments='{name="g", model="grid", property="nonsense"}'),
    experiment("horizon must be a whole number of steps", environments='{name="g", model="grid", horizon=-1}'),
    experiment("must lie between 0 and 1, not 7.0", environments='{name="g", model="grid", xi=7.0}'),
    experiment("give both becomes and after, or neither", environments='{name="g", model="grid", after=3}'),
    experiment("seed must be at least 0, not -1", more="seed = -1\n"),
    experiment('there is no key "titel"', more='titel = "x"\n'),
    experiment("this is not TOML", more="= 3\n"),
]  # fmt: skip


@pytest.fixture
def full(folder, umdp):
    """A folder with a run, a log and files that are none of what they should be."""
    (folder / "sub").mkdir()
    (folder / "log.csv").write_text("trajectory,state,action,next\n1,0,c,1\n")
    (folder / "mine.py").write_text("def maze(): return 3\ndef fails(): raise RuntimeError('no')\n")
    (folder / "broken.py").write_text("def maze(: return 3\n")
    (folder / "noise.run").write_bytes(os.urandom(300))
    (folder / "null.json").write_text("null")
    (folder / "deep.json").write_text("[" * 100_000)
    umdp("learn", "grid", "--trajectories", "5", "--out", "a.run", "--quiet")
    (folder / "a.csv").write_text("mine")
    return folder


def check(outcome, said):
    code, out, err = outcome
    assert code == 2, (out, err)
    assert out == ""
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert "bug in umdp" not in err
    assert len(err) < 5000
    lines = err.splitlines()
    assert len(lines) == 1 or (len(lines) == 3 and lines[2].strip() == "^"), err
    assert said in err, err


@pytest.mark.parametrize(("arguments", "said"), CASES)
def test_refused(umdp, full, arguments, said):
    check(umdp(*arguments), said)


@PLOT
@pytest.mark.parametrize(("text", "said"), EXPERIMENTS)
def test_an_experiment_that_makes_no_sense(umdp, folder, text, said):
    (folder / "my.toml").write_text(text)
    check(umdp("reproduce", "my.toml", "--jobs", "1", "--quiet"), said)


def test_there_are_many():
    assert len(CASES) + len(EXPERIMENTS) >= 100


def test_what_is_used_is_not_refused(umdp, full):
    """Each option above, where it means something."""
    good = [
        ("grid", "--xi", "0.9", "--horizon", "50", "--trajectories", "3"),
        ("grid", "--explore", "uniform", "--trajectories", "3", "--seed", "9223372036854775807"),
        ("chain", "--switch", "chain-switched", "--after", "2", "--trajectories", "3"),
        ("chain", "--log", "log.csv", "--on-error", "skip"),
        ("chain", "--until", "<=1000", "--trajectories", "1e1"),
        ("grid", "--set", "strength_bound=none", "--trajectories", "3"),
        ("aircraft", "--confidence", "90%", "--trajectories", "3", "--certificate", "proof.json"),
        ("grid", "--confidence", "0.9", "--learner", "pac", "--set", "around=mean", "--trajectories", "3"),
    ]
    for arguments in good:
        code, out, err = umdp("learn", *arguments, "--quiet")
        assert code == 0, (arguments, err)
        assert out


def test_a_confidence_chooses_the_learner_that_keeps_it(umdp):
    row = json.loads(umdp("learn", "aircraft", "--confidence", "0.95", "--trajectories", "50", "--json", "--quiet").out)
    assert (row["guarantee"]["kind"], row["guarantee"]["level"]) == ("any-time", 0.95)
    out = umdp("learn", "aircraft", "--confidence", "95 %", "--trajectories", "50", "--quiet").out
    assert "with probability 95 %, whenever you stop" in out


def test_nothing_is_sure(umdp):
    settings = ("--learner", "confidence-sequence", "--set", "error_rate=1e-30")
    out = umdp("learn", "aircraft", *settings, "--trajectories", "5", "--quiet").out
    assert "with probability over 99.9999999 %, whenever you stop" in out


def test_export_writes_over_a_file_only_if_told(umdp, full):
    assert umdp("export", "a.run", "a.csv", "--force").code == 0
    assert (full / "a.csv").read_text().startswith("trajectories,")


def test_names_with_spaces_are_quoted_in_advice(umdp, folder):
    out = umdp("learn", "grid", "--trajectories", "5", "--out", "my run.run", "--quiet").out
    assert "umdp show 'my run.run', umdp export 'my run.run' policy.json, umdp resume 'my run.run'" in out


def test_quiet_json_is_the_last_object(umdp):
    every = umdp("learn", "grid", "--trajectories", "5", "--json").out.splitlines()
    last = umdp("learn", "grid", "--trajectories", "5", "--json", "--quiet").out.splitlines()
    assert len(every) > 1
    assert last == every[-1:]


def test_a_bug_is_called_one(umdp, monkeypatch):
    monkeypatch.setattr("umdp.cli.runs.Show.run", lambda self: 1 / 0)
    code, out, err = umdp("show", "a.run")
    assert (code, out) == (2, "")
    assert err == (
        "error: this is a bug in umdp, please report it (ZeroDivisionError: division by zero); set UMDP_TRACEBACK=1 to see "
        "where\n"
    )
    monkeypatch.setenv("UMDP_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        umdp("show", "a.run")
