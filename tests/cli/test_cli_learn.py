"""`umdp learn`, `resume`, `show` and `export` as a user meets them."""

from __future__ import annotations

import csv
import json
import re

import pytest

import umdp as package
import umdp.io as files
from umdp.cli.live import stops
from umdp.cli.session import short
from umdp.run import Config


def test_a_benchmark_needs_nothing_else(umdp):
    code, out, err = umdp("learn", "chain", "--trajectories", "50")
    assert code == 0
    assert "at most" in out
    assert "on the learned model, no guarantee" in out
    assert "after 50 trajectories" in out
    assert "the policy is worth 73.1798 on the process itself" in out
    assert "ended because 50 trajectories have been seen" in out
    assert not err or "compiling" in err


def test_the_guarantee_is_said_in_words(umdp):
    out = umdp("learn", "aircraft", "--learner", "confidence-sequence", "--trajectories", "200", "--quiet").out
    assert out.startswith("at least ")
    assert "with probability 99 %, whenever you stop" in out
    out = umdp("learn", "aircraft", "--learner", "clopper-pearson", "--trajectories", "20", "--quiet").out
    assert "on the learned model, no guarantee: the bounds hold for one look" in out


def test_json_has_one_object_per_snapshot_with_the_contract_keys(umdp):
    code, out, _ = umdp("learn", "bandit", "--trajectories", "30", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    wanted = {
        "trajectories", "steps", "iterations", "lower", "upper", "optimistic", "guarantee", "performance",
        "estimation_error", "model_error",
    }  # fmt: skip
    assert all(wanted <= row.keys() for row in rows)
    assert [row["iterations"] for row in rows] == list(range(len(rows)))
    assert rows[-1]["trajectories"] == 30
    assert rows[-1]["reason"] == "30 trajectories have been seen"


def test_it_stops_when_a_threshold_is_reached(umdp):
    out = umdp("learn", "bandit", "--until", ">=0.9", "--trajectories", "100000", "--quiet").out
    assert "ended because >= 0.9 is reached on the learned model" in out


def test_settings_reach_the_learner(umdp):
    one = umdp("learn", "grid", "--trajectories", "50", "--json").out
    other = umdp("learn", "grid", "--trajectories", "50", "--json", "--set", "strength=20,30").out
    assert one.splitlines()[0] == other.splitlines()[0]
    assert one.splitlines()[-1] != other.splitlines()[-1]


def test_a_model_in_a_file(umdp, folder):
    files.write(package.benchmark.grid(), folder / "grid.umb")
    spec = 'Pmax=? [ !"trap" U "goal" ]'
    named = umdp("learn", "grid", spec, "--horizon", "200", "--trajectories", "100", "--json").out
    assert umdp("learn", "grid.umb", spec, "--horizon", "200", "--trajectories", "100", "--json").out == named


def test_a_process_that_changes(umdp):
    arguments = ("learn", "chain", "--switch", "chain-switched", "--after", "20", "--trajectories", "40", "--json")
    rows = [json.loads(line) for line in umdp(*arguments).out.splitlines()]
    assert any(row["performance"] > 1e6 for row in rows if row["trajectories"] >= 20)


def test_a_run_is_kept_shown_and_exported(umdp, folder):
    out = umdp("learn", "grid", "--trajectories", "200", "--out", "grid.run", "--quiet").out
    assert "kept in grid.run" in out
    out = umdp("show", "grid.run").out
    assert "200 trajectories" in out
    assert "ended because" in out
    assert json.loads(umdp("show", "grid.run", "--json").out)["last"]["trajectories"] == 200
    assert umdp("export", "grid.run", "a.csv").code == 0
    with (folder / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert int(rows[-1]["trajectories"]) == 200
    umdp("export", "grid.run", "a.umb")
    umdp("export", "grid.run", "a.json")
    model = files.read(folder / "a.umb")
    policy = files.read_policy(folder / "a.json", model)
    value = package.evaluate(model, 'Pmaxmin=? [ !"trap" U "goal" ]', policy).bracket
    assert value.lower <= float(rows[-1]["upper"])
    assert float(rows[-1]["lower"]) <= value.upper


def test_what_is_promised_travels_with_the_model_and_the_policy(umdp, folder):
    arguments = ("--learner", "confidence-sequence", "--trajectories", "200", "--out", "grid.run", "--quiet")
    umdp("learn", "grid", *arguments)
    promised = json.loads(umdp("show", "grid.run", "--json").out)["last"]["guarantee"]
    assert "with probability 99 %" in umdp("export", "grid.run", "a.json").out
    about = json.loads((folder / "a.json").read_text())["about"]
    assert about["guarantee"] == promised
    assert about["property"] == 'Pmax=? [ !"trap" U "goal" ]'
    for name in ("a.drn", "a.umb"):
        umdp("export", "grid.run", name)
        assert promised["text"].encode() in (folder / name).read_bytes()
        assert files.read(folder / name).states == 100


def test_parquet_export(umdp, folder):
    polars = pytest.importorskip("polars")
    umdp("learn", "chain", "--trajectories", "20", "--out", "c.run", "--quiet")
    assert umdp("export", "c.run", "c.parquet").code == 0
    table = polars.read_parquet(folder / "c.parquet")
    assert table["trajectories"][-1] == 20


def test_a_run_goes_on(umdp):
    umdp("learn", "grid", "--steps", "500", "--out", "grid.run", "--quiet")
    again = umdp("resume", "grid.run", "--quiet")
    assert again.code == 0
    assert "500 steps have been seen" in again.out


BAD = [
    (("learn",), "missing argument"),
    (("learn", "gird"), "grid"),
    (("learn", "grid", "Pmax=? [ F goal ]"), "goal"),
    (("learn", "grid", 'Pmax=? [ F "gaol" ]'), "goal"),
    (("learn", "grid", "--learner", "lui2"), "there is no learner 'lui2'"),
    (("learn", "grid", "--set", "strength"), "NAME=VALUE"),
    (("learn", "grid", "--set", "strnegth=1,2"), "does not take these settings"),
    (("learn", "grid", "--set", "strength=10,5"), "strength"),
    (("learn", "grid", "--learner", "pac", "--set", "error_rate=2"), "error_rate"),
    (("learn", "grid", "--until", "0.3"), ">=0.3"),
    (("learn", "grid", "--trajectories", "0"), "more than 0"),
    (("learn", "grid", "--trajectories", "many"), "not a whole number"),
    (("learn", "grid", "--seconds", "-1"), "more than 0"),
    (("learn", "grid", "--xi", "1.5"), "between 0 and 1"),
    (("learn", "grid", "--horizon", "0"), "at least 1"),
    (("learn", "grid", "--out", "nowhere/a.run"), "does not exist"),
    (("learn", "examples/rover.tra", 'Pmax=? [ F "base" ]'), "intervals"),
    (("learn", "missing.prism", 'Pmax=? [ F "base" ]'), "missing.prism"),
    (("learn", "grid", "--switch", "chain", "--after", "5"), "same graph"),
    (("resume", "missing.run"), "no such run"),
    (("resume", "examples/rover.tra"), "not a run"),
    (("show", "missing.run"), "no such run"),
    (("export", "missing.run", "a.csv"), "no such run"),
    (("export", "missing.run", "a.dat"), "--what"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input_gets_one_message(umdp, arguments, words):
    code, out, err = umdp(*arguments)
    assert code == 2
    assert not out
    assert words.lower() in err.lower()
    assert "Traceback" not in err
    assert err.strip().count("\n") <= 6


def test_a_run_is_not_overwritten(umdp):
    umdp("learn", "chain", "--trajectories", "5", "--out", "c.run", "--quiet")
    code, _, err = umdp("learn", "chain", "--trajectories", "5", "--out", "c.run", "--quiet")
    assert code == 2
    assert "there already" in err


def test_a_model_that_changed_is_noticed(umdp, folder):
    files.write(package.benchmark.chain(), folder / "m.umb")
    umdp("learn", "m.umb", 'Rmin=? [ F "goal" ]', "--trajectories", "5", "--out", "m.run", "--quiet")
    files.write(package.benchmark.chain(length=10), folder / "m.umb")
    code, _, err = umdp("resume", "m.run")
    assert code == 2
    assert "has changed" in err


def test_numbers_are_rounded_to_the_safe_side():
    assert short(0.99999, down=True) == "0.9999"
    assert short(0.00012345, down=False) == "0.0001235"
    assert short(1e120, down=False) == "1e+120"


def test_what_stops_a_run_in_words():
    assert stops(Config(model="grid")) == "when you press Ctrl-C"
    assert stops(Config(model="grid", trajectories=1000)) == "after 1,000 trajectories, or when you press Ctrl-C"


def test_a_row_that_does_not_fit_is_named_with_the_remedy(umdp, folder):
    rows = ["trajectory,state,action,next", "1,0,c,1", "1,1,fly,2"]
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    code, _, err = umdp("learn", "chain", "--log", "log.csv", "--quiet")
    assert code == 2
    assert "line 3" in err
    assert "fly" in err
    assert "--on-error skip" in err
    code, out, _ = umdp("learn", "chain", "--log", "log.csv", "--quiet", "--on-error", "skip")
    assert code == 0
    assert "1 of 2 rows was rejected" in out


def test_a_model_and_a_learner_of_ones_own(umdp, folder):
    arguments = (
        "learn",
        "examples/own/ferry.py:ferry",
        'Pmax=? [ F "home" ]',
        "--learner",
        "examples/own/ferry.py:Wilson",
    )
    result = umdp(*arguments, "--set", "z=2.6", "--trajectories", "300", "--out", "own.run", "--quiet")
    assert result.code == 0, result.err
    assert "after 300 trajectories" in result.out
    asked = umdp("resume", "own.run", "--quiet")
    assert asked.code == 2
    assert "the learner Wilson" in asked.err
    assert "the file here is the same" in asked.err
    assert umdp("resume", "own.run", "--quiet", "--trust").out.startswith(result.out)
    missing = umdp("learn", "examples/own/ferry.py:boat", 'Pmax=? [ F "home" ]')
    assert missing.err == "error: examples/own/ferry.py: there is no 'boat' in this file\n"


TIES = """
def ties(state, action, successor):
    return action, "back" if successor.position == 0 else "forward"

wrong = 3

def partly(state, action, successor):
    return None if state.position else (action, successor)
"""


def test_choices_are_tied_by_a_function_of_ones_own(umdp, tmp_path, monkeypatch):
    """The same run as with what the benchmark declares, kept, continued and certified."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(TIES)
    arguments = ("--confidence", "0.9", "--trajectories", "200", "--quiet")
    mine = umdp("learn", "chain", "--tie", "mine.py:ties", *arguments, "--out", "a.run", "--certificate", "c.json")
    theirs = umdp("learn", "chain", "--tie", "declared", *arguments)
    assert mine.out.splitlines()[0] == theirs.out.splitlines()[0]
    assert "provided that the choices of every class share one distribution over outcomes" in mine.out
    assert "class a, 31 choices, after" in mine.out
    assert umdp("verify", "c.json").code == 0
    refused = umdp("resume", "a.run", "--trajectories", "300", "--quiet")
    assert "for the ties ties" in refused.err
    longer = umdp("resume", "a.run", "--trajectories", "300", "--quiet", "--trust")
    assert longer.code == 0, longer.err
    at_once = umdp("learn", "chain", "--tie", "mine.py:ties", "--confidence", "0.9", "--trajectories", "300", "--quiet")
    assert longer.out.splitlines()[:2] == at_once.out.splitlines()[:2]
    (tmp_path / "other.py").write_text(TIES)
    assert "it must be a function" in umdp("learn", "chain", "--tie", "other.py:wrong", *arguments).err
    assert "states" not in umdp("learn", "chain", "--tie", "other.py:partly", *arguments).err


@pytest.mark.parametrize("end", [("--trajectories", "20"), ("--until", "<=1000"), ("--steps", "500")])
def test_a_run_that_has_reached_its_end_says_how_to_go_on(umdp, end):
    umdp("learn", "chain", "--out", "a.run", "--quiet", *end)
    seen = json.loads(umdp("show", "a.run", "--json").out)["last"]["trajectories"]
    code, out, _ = umdp("resume", "a.run", "--quiet")
    assert code == 0
    (line,) = [line for line in out.splitlines() if "nothing was added: to go on, add --trajectories" in line]
    more = re.search(r"--trajectories (\d+)", line).group(1)
    again = umdp("resume", "a.run", "--quiet", "--trajectories", more)
    assert "nothing was added" not in again.out
    assert json.loads(umdp("show", "a.run", "--json").out)["last"]["trajectories"] == int(more) == 2 * seen
