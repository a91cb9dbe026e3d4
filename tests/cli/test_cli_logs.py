"""Logs on the command line: from a file, a folder or a stream to a policy and what is promised of it."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from umdp.run import Store

FAILS = 'Pmin=? [ F<=20 "failed" ]'
SMALL = ("--rows", "4000", "--defective", "8")


def machine(folder: Path, *arguments: str, name: str = "machine.csv") -> Path:
    script = folder / "examples" / "machine.py"
    subprocess.run([sys.executable, script, name, *(arguments or SMALL)], cwd=folder, check=True, capture_output=True)
    return folder / name


def last(out: str) -> dict:
    return json.loads(out.splitlines()[-1])


@pytest.fixture
def log(folder):
    return machine(folder)


def test_from_a_log_to_a_policy_and_a_promise(umdp, folder, log):
    asked = ("learn", "machine.csv", FAILS, "--label", "failed=failed", "--learner", "confidence-sequence", "--quiet")
    plain = umdp(*asked)
    assert plain.code == 0, plain.err
    assert "no guarantee: 5 of 4,000 rows were rejected" in plain.out
    assert "--on-error chance" in plain.out
    kept = umdp(*asked, "--on-error", "chance", "--aside", "bad.jsonl", "--out", "machine.run")
    assert kept.code == 0, kept.err
    assert "with probability 99 %, whenever you stop, provided that the 5 of 4,000 rows" in kept.out
    assert "slip of the pen" in kept.out
    aside = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    assert len(aside) == 5
    assert {"where", "why", "row"} == set(aside[0])
    assert umdp("export", "machine.run", "policy.json").code == 0
    shown = umdp("show", "machine.run").out
    assert "from the log machine.csv" in shown
    assert 'label "failed": failed' in shown


def test_a_clean_log_needs_no_excuse(umdp, folder):
    machine(folder, "--rows", "3000", "--defective", "0")
    done = umdp("learn", "machine.csv", FAILS, "--label", "failed=failed", "--learner", "confidence-sequence", "--json")
    label = last(done.out)["guarantee"]
    assert label["kind"] == "any-time"
    assert not any("spoilt" in reason for reason in label["reasons"])


def test_every_form_of_a_log_gives_the_same_answer(umdp, folder):
    import polars

    log = machine(folder, "--rows", "2000", "--defective", "0")
    frame = polars.read_csv(log)
    (folder / "parts").mkdir()
    lines = log.read_text().splitlines(keepends=True)
    cut = next(n for n in range(1000, 2000) if lines[n].split(",")[0] != lines[n - 1].split(",")[0])
    (folder / "parts" / "1.csv").write_text("".join(lines[:cut]))
    (folder / "parts" / "2.csv").write_text("".join([lines[0], *lines[cut:]]))
    (folder / "m.tsv").write_text(log.read_text().replace(",", "\t"))
    (folder / "semi.csv").write_text("\ufeff" + log.read_text().replace(",", ";"))
    (folder / "m.csv.gz").write_bytes(gzip.compress(log.read_bytes()))
    frame.write_ndjson(folder / "m.jsonl")
    (folder / "m.jsonl.gz").write_bytes(gzip.compress((folder / "m.jsonl").read_bytes()))
    frame.write_parquet(folder / "m.parquet")
    forms = (
        "machine.csv",
        "m.tsv",
        "semi.csv",
        "m.csv.gz",
        "m.jsonl",
        "m.jsonl.gz",
        "m.parquet",
        "parts",
        "parts/*.csv",
    )
    found = {}
    for form in forms:
        done = umdp("learn", form, FAILS, "--label", "failed=failed", "--json")
        assert done.code == 0, (form, done.err)
        row = last(done.out)
        found[form] = (row["lower"], row["upper"], row["trajectories"], row["steps"])
    assert len(set(found.values())) == 1, found


def test_a_description_beside_the_log_is_found_and_said(umdp, folder, log):
    renamed = log.read_text().replace("trajectory,state,action,next", "machine,unit,done,after", 1)
    (folder / "machine.csv").write_text(renamed)
    (folder / "machine.toml").write_text(
        f"property = '{FAILS}'\non-error = 'chance'\naside = 'aside.jsonl'\n"
        "[columns]\ntrajectory = 'machine'\nstate = 'unit'\naction = 'done'\nnext = 'after'\n"
        "[labels]\nfailed = 'fail*'\nfine = ['new', 'good']\n"
        "[rewards]\ncost = 'downtime'\nsteps = 1\nwear = {worn = 1, bad = 2}\n"
    )
    done = umdp("learn", "machine.csv", "--learner", "confidence-sequence", "--out", "m.run", "--trust")
    assert done.code == 0, done.err
    assert "machine.csv is described by machine.toml" in done.err
    assert "with probability 99 %" in done.out
    assert (folder / "aside.jsonl").exists()
    (folder / "machine.toml").unlink()  # a run holds what it said
    shown = umdp("show", "m.run").out
    assert "described by machine.toml" in shown
    assert "columns: trajectory is machine, state is unit" in shown
    assert 'reward "wear": worn:1, bad:2' in shown
    again = umdp("resume", "m.run", "--quiet", "--trust")
    assert again.code == 0, again.err
    cost = umdp("learn", "machine.csv", 'R{"cost"}min=? [ C<=20 ]', "--describe", "none.toml")
    assert cost.code == 2
    assert "none.toml: the description cannot be read" in cost.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lables = 1", "there is no key 'lables' in the description of a log; did you mean 'labels'?"),
        ("labels = 1", "labels must be a table"),
        ("[labels]\nx = 1", "the description does not fit: labels: expected a list, found a whole number"),
        ("x = ", "this is not TOML"),
        ("on-error = 'pass'", "on-error is fail, skip or chance, not 'pass'"),
        ("property = 1", "property must be text"),
        ("[columns]\nsate = 'state'", "there is no role sate; did you mean 'state'?"),
    ],
)
def test_a_description_that_does_not_fit_is_one_error(umdp, folder, log, text, message):
    (folder / "machine.toml").write_text(text)
    done = umdp("learn", "machine.csv", FAILS, "--label", "failed=failed")
    assert done.code == 2
    assert message in done.err
    assert "machine.toml" in done.err or "machine.csv" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("machine.csv", FAILS, "--label", "failed=faild"), "there is no state 'faild'; the nearest is 'failed'"),
        (("machine.csv", FAILS, "--label", "failed=column:downtme"), "did you mean 'downtime'?"),
        (("machine.csv", FAILS, "--label", "failed"), "write NAME=VALUE, such as failed=failed"),
        (("machine.csv", FAILS, "--columns", "state=stat"), 'there is no column "stat"'),
        (("machine.csv", FAILS, "--columns", "stte=state"), "did you mean 'state'?"),
        (("machine.csv", FAILS, "--reward", "cost=downtme"), "did you mean 'downtime'?"),
        (("machine.csv", FAILS, "--reward", "cost=trajectory"), "it must hold numbers"),
        (("machine.csv", FAILS, "--initial", "god"), "the nearest is 'good'"),
        (("machine.csv", FAILS, "--terminal", "failde"), "the nearest is 'failed'"),
        (("machine.csv", FAILS, "--on-error", "fail", "--label", "failed=failed"), "machine.csv, line "),
        (("machine.csv", FAILS, "--aside", "x", "--on-error", "fail"), "--on-error skip"),
        (("machine.csv",), "say what to learn for"),
        (("nothing.csv", FAILS), "there is no such file"),
        (("nothing/*.csv", FAILS), "no file fits this pattern"),
        (("empty", FAILS), "there is no log in this folder"),
        (("grid", "--label", "x=y"), "--label is about a log, and there is none"),
        (("grid", "--graph", "grid"), "--graph is about a log"),
        (("grid", FAILS, "--log", "machine.csv", "--graph", "grid"), "leave out --graph"),
        (("grid", FAILS, "--log", "machine.csv", "--label", "x=y"), "the graph that was given has its own"),
        (("machine.csv", FAILS, "--graph", "nothing.tra"), "nothing.tra"),
        (
            ("machine.csv", FAILS, "--graph", "grid", "--follow", "--label", "x=y"),
            "the graph that was given has its own",
        ),
        (("machine.csv", FAILS, "--follow"), "a stream needs a graph"),
        (("minari:none", FAILS), "inari"),
        (("machine.csv", FAILS), "say which states it names: --label failed=STATE"),
    ],
)
def test_what_is_wrong_with_a_log_is_one_message(umdp, folder, log, arguments, message):
    (folder / "empty").mkdir()
    done = umdp("learn", *arguments, "--trajectories", "1000")
    assert done.code == 2
    assert message in done.err
    assert done.err.count("error:") == 1
    assert "Traceback" not in done.err


ALLOWED = """state,action,next
new,run,new
new,run,good
good,run,good
good,run,worn
good,run,failed
good,service,new
good,service,good
good,service,failed
worn,run,worn
worn,run,bad
worn,run,failed
worn,service,new
worn,service,good
worn,service,worn
worn,service,failed
bad,run,bad
bad,run,failed
bad,service,good
bad,service,worn
bad,service,bad
bad,service,failed
"""

OWN = '''
import csv
import umdp

def machine():
    """Return what can happen."""
    moves = {}
    for row in csv.DictReader(open("allowed.csv")):
        moves.setdefault(row["state"], {}).setdefault(row["action"], {})[row["next"]] = (0.0001, 1)
    moves["failed"] = {"stay": {"failed": 1}}
    model = umdp.IntervalMDP.from_function("new", moves.get, labels={"failed": lambda s: s == "failed"})
    return model.graph

def wrong():
    return 3
'''


@pytest.fixture
def known(folder):
    machine(folder, "--rows", "2000", "--defective", "0")
    (folder / "allowed.csv").write_text(ALLOWED)
    (folder / "own.py").write_text(OWN)
    return folder


def test_what_can_happen_from_a_table_and_from_a_function(umdp, known):
    from_table = umdp(
        "learn", "machine.csv", FAILS, "--graph", "allowed.csv", "--label", "failed=failed", "--json",
        "--learner", "confidence-sequence",
    )  # fmt: skip
    assert from_table.code == 0, from_table.err
    row = last(from_table.out)
    assert "the graph lists every outcome that can happen" in row["guarantee"]["reasons"]
    more = ("--json", "--learner", "confidence-sequence")
    from_function = umdp("learn", "machine.csv", FAILS, "--graph", "own.py:machine", *more)
    assert from_function.code == 0, from_function.err
    with_log = umdp("learn", "own.py:machine", FAILS, "--log", "machine.csv", *more)
    assert with_log.code == 0, with_log.err
    assert last(from_function.out)["upper"] == last(with_log.out)["upper"] == pytest.approx(row["upper"], rel=1e-6)
    wrong = umdp("learn", "machine.csv", FAILS, "--graph", "own.py:wrong")
    assert wrong.code == 2
    assert "own.py:wrong returned int; it must return an umdp.Graph or umdp.MDP" in wrong.err
    alone = umdp("learn", "own.py:machine", FAILS)
    assert alone.code == 2
    assert "it must return an umdp.MDP" in alone.err
    assert "a graph says what can happen in a log: give one with --log" in alone.err


def test_a_function_that_gives_the_graph_is_code_and_asks_for_trust(umdp, known):
    asked = (
        "learn",
        "machine.csv",
        FAILS,
        "--graph",
        "own.py:machine",
        "--trajectories",
        "5",
        "--out",
        "own.run",
        "-q",
    )
    assert umdp(*asked).code == 0
    refused = umdp("resume", "own.run")
    assert refused.code == 2
    assert "for the graph machine" in refused.err
    assert umdp("resume", "own.run", "--trust", "-q", "--trajectories", "10").code == 0


class Pipe(io.BytesIO):
    """Standard input, as far as a stream reads it."""

    @property
    def buffer(self) -> Pipe:
        return self


def test_a_stream_of_csv(umdp, known, monkeypatch):
    asked = ("learn", "-", FAILS, "--graph", "allowed.csv", "--label", "failed=failed", "--json")
    data = (known / "machine.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", Pipe(data))
    streamed = umdp(*asked)
    assert streamed.code == 0, streamed.err
    read = umdp("learn", "machine.csv", *asked[2:])
    assert last(streamed.out)["steps"] == last(read.out)["steps"] == 2000
    assert last(streamed.out)["upper"] == pytest.approx(last(read.out)["upper"], rel=1e-9)


def test_what_was_good_before_a_bad_line_is_kept(umdp, known, monkeypatch):
    lines = (known / "machine.csv").read_bytes().splitlines(keepends=True)
    lines[1901] = b"machine 20,new\n"
    monkeypatch.setattr(sys, "stdin", Pipe(b"".join(lines)))
    asked = ("learn", "-", FAILS, "--graph", "allowed.csv", "--label", "failed=failed", "--quiet", "--out", "s.run")
    done = umdp(*asked)
    assert done.code == 2
    assert "1,900 steps" in done.out
    assert done.err.count("error:") == 1
    assert "standard input, line 1902: the line has 2 fields" in done.err
    assert "1,900 steps" in umdp("show", "s.run").out


def test_folders_and_patterns_are_resumed(umdp, folder):
    for name, seed in (("a", "1"), ("b", "2")):
        machine(folder, "--rows", "3000", "--defective", "2", "--seed", seed, name=f"{name}.csv")
    for pattern in ("*.csv", "."):
        asked = ("learn", pattern, FAILS, "--label", "failed=failed", "--initial", "observed", "--json")
        whole = umdp(*asked)
        assert whole.code == 0, whole.err
        part = umdp(*asked, "--trajectories", "40", "--out", "p.run")
        assert part.code == 0, part.err
        assert "(2 files)" in umdp("show", "p.run").out
        rest = umdp("resume", "p.run", "--json", "--steps", "1000000")
        assert rest.code == 0, rest.err
        counted = [last(each.out) for each in (whole, rest)]
        assert counted[0]["steps"] == counted[1]["steps"]
        assert counted[0]["trajectories"] == counted[1]["trajectories"]
        (folder / "p.run").unlink()
    part = umdp(*asked, "--trajectories", "40", "--out", "p.run")
    (folder / "a.csv").write_text((folder / "a.csv").read_text().replace("new,run,good", "new,run,new ", 1))
    changed = umdp("resume", "p.run", "--steps", "1000000")
    assert changed.code == 2
    assert "a.csv: this is not the data the run began with" in changed.err


def test_how_a_log_is_read_is_part_of_what_a_run_depends_on(umdp, known):
    asked = ("learn", "machine.csv", FAILS, "--label", "failed=failed", "--trajectories", "5", "--out", "m.run", "-q")
    assert umdp(*asked).code == 0
    with Store.open("m.run") as store:
        found = store.fingerprint()
        assert found is not None
        assert "log" in found
        assert store.config["data"]["labels"] == {"failed": ["failed"]}


def test_five_lines_of_python_do_the_same(umdp, folder, log):
    import umdp as package
    from umdp.source import Log

    log = Log("machine.csv", labels={"failed": ["failed"]}, on_error="chance")
    *_, snapshot = package.anytime(log, FAILS, package.ConfidenceSequence(), behaviour=True)
    done = umdp(
        "learn", "machine.csv", FAILS, "--label", "failed=failed", "--learner", "confidence-sequence", "--json",
        "--on-error", "chance",
    )  # fmt: skip
    assert last(done.out)["upper"] == snapshot.bracket.upper
    assert last(done.out)["guarantee"]["text"] == str(snapshot.guarantee)


def test_a_csv_file_is_followed_and_every_row_counted_once(known):
    """The run is killed and resumed while its log grows; it sees each row once."""
    lines = (known / "machine.csv").read_text().splitlines(keepends=True)
    growing = known / "growing.csv"
    growing.write_text("".join(lines[:500]))
    program = "import sys; from umdp.cli import run; sys.exit(run(sys.argv[1:]))"
    asked = ("learn", "growing.csv", FAILS, "--graph", "allowed.csv", "--label", "failed=failed", "--follow")
    for arguments in ((*asked, "--out", "f.run", "--seconds", "2"), ("resume", "f.run", "--seconds", "2")):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments, "--json"],
            cwd=known,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        with growing.open("a") as file:
            file.write("".join(lines[500:1200]) if len(growing.read_text().splitlines()) == 500 else "")
    assert last(done.stdout)["steps"] == 1199


def test_a_stream_that_is_sent_again_goes_on(umdp, known, monkeypatch):
    data = (known / "machine.csv").read_bytes()
    asked = ("learn", "-", FAILS, "--graph", "allowed.csv", "--label", "failed=failed", "--json", "--out", "s.run")
    monkeypatch.setattr(sys, "stdin", Pipe(data))
    assert umdp(*asked, "--trajectories", "5").code == 0
    monkeypatch.setattr(sys, "stdin", Pipe(data))
    rest = umdp("resume", "s.run", "--json", "--steps", "1000000")
    assert rest.code == 0, rest.err
    assert last(rest.out)["steps"] == 2000


def test_a_description_says_nothing_about_a_graph_that_has_its_own_labels(umdp, known):
    (known / "machine.toml").write_text("graph = 'nothing.csv'\n[labels]\nfailed = 'failed'\n[rewards]\ncost = 1\n")
    for asked in (
        ("own.py:machine", FAILS, "--log", "machine.csv"),
        ("machine.csv", FAILS, "--graph", "own.py:machine"),
    ):
        done = umdp("learn", *asked, "--quiet")
        assert done.code == 0, done.err
    done = umdp("learn", "machine.csv", FAILS, "--quiet")
    assert done.code == 2
    assert "nothing.csv: there is no such file" in done.err
