"""What `umdp show` says of a run, and policies as tables and programs: against the rows of the run and the policy itself."""

from __future__ import annotations

import csv
import json
import math
import re

import pytest

import umdp as package
from umdp.io import read_policy

CHAIN = """
import umdp

def walk(slip=0.5):
    return umdp.MDP([0, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 2, 1, 2], [slip, 1 - slip, 1, 1, 1],
                    labels={"goal": [1]}, actions=["try", "give up", "7", "7"], state_names=["here", "it's", "gone"])
"""


@pytest.fixture
def walk(folder):
    (folder / "walk.py").write_text(CHAIN)
    return "walk.py:walk"


@pytest.mark.parametrize(
    ("model", "asked", "said", "end"),
    [
        ("grid", 'Pmax=? [ !"trap" U "goal" ]', 'the probability of reaching "goal" while !"trap" holds until then', "lower"),
        ("chain", 'Rmin=? [ F "goal" ]', 'the expected reward accumulated until reaching "goal"', "upper"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", [(), ("--confidence", "0.95")])
def test_a_sentence_in_the_words_of_the_property(umdp, model, asked, said, end, more):
    umdp("learn", model, asked, "--trajectories", "60", "--out", "a.run", *more)
    last = json.loads(umdp("show", "a.run", "--json").out)["last"]
    out = umdp("show", "a.run").out
    assert "bracket" not in out
    assert ".." not in out
    side, bound = re.search(
        rf"^  {re.escape(said)}, with the policy found, is (at \w+|not bounded) (\S+)", out, re.M
    ).groups()
    if side == "not bounded":
        assert math.isinf(float(last[end]))
        return
    assert side == ("at least" if end == "lower" else "at most")
    assert float(bound) <= last[end] if end == "lower" else float(bound) >= last[end]
    assert math.isclose(float(bound), last[end], rel_tol=1e-3)
    assert ("with probability 95 %, whenever you stop" in out) == bool(more)


def test_a_policy_without_places_is_a_table_with_counts(umdp, walk):
    umdp("learn", walk, 'Pmax=? [ F "goal" ]', "--trajectories", "80", "--out", "a.run")
    run = package.open("a.run")
    lines = umdp("show", "a.run").out.split("\n\n")[1].splitlines()
    assert lines[0].split() == ["state", "action", "seen"]
    assert [re.split(r"  +", line)[:2] for line in lines[1:]] == [["here", "try"], ["it's", "7"], ["gone", "7"]]
    assert [int(line.split()[-1]) for line in lines[1:]] == [int(run.counts[:2].sum()), *run.counts[3:].tolist()]


def test_a_policy_that_depends_on_the_step_has_runs_of_steps(umdp, walk):
    umdp("learn", walk, 'Pmax=? [ F<=3 "goal" ]', "--trajectories", "80", "--out", "a.run")
    lines = umdp("show", "a.run").out.split("\n\n")[1].splitlines()
    assert lines[0].split() == ["state", "step", "action", "seen"]
    assert re.match(r"here +0 to 2 +try +\d+$", lines[1])


@pytest.mark.parametrize("asked", ['Pmax=? [ F "goal" ]', 'Pmax=? [ F<=3 "goal" ]'])
def test_a_policy_is_written_as_a_table_and_as_a_program(umdp, folder, walk, asked):
    umdp("learn", walk, asked, "--trajectories", "80", "--out", "a.run", "--policy", "best.py")
    policy = package.open("a.run").policy
    for name in ("policy.csv", "policy.py"):
        assert f"policy written to {name}" in umdp("export", "a.run", name).out
    rows = list(csv.DictReader((folder / "policy.csv").open()))
    stepped = policy.steps is not None
    assert list(rows[0]) == ["state", "action", *(["step"] if stepped else [])]
    back = read_policy("policy.csv", policy.graph)
    assert list(back.rows()) == list(policy.rows())
    made: dict = {}
    exec((folder / "policy.py").read_text(), made)
    assert made["POLICY"] == eval((folder / "best.py").read_text().split("POLICY = ")[1].split("\n\n")[0])
    for step in range(policy.steps or 1):
        for state in ("here", "it's", "gone"):
            wanted = policy[state, step]
            assert made["act"](state, step) == (7 if wanted == "7" else wanted)
    with pytest.raises(KeyError):
        made["act"]("nowhere")


def test_snapshots_are_still_what_other_tables_hold(umdp, folder, walk):
    umdp("learn", walk, 'Pmax=? [ F "goal" ]', "--trajectories", "80", "--out", "a.run")
    umdp("export", "a.run", "course.csv")
    assert (folder / "course.csv").read_text().startswith("trajectories,")


def test_what_a_program_cannot_say_is_an_error(umdp, walk):
    umdp("learn", walk, 'Pmax=? [ (F "goal") & (X X true) & (F !"goal") ]', "--trajectories", "80", "--out", "a.run")
    code, _, err = umdp("export", "a.run", "policy.py")
    assert code == 2
    assert "remembers what happened" in err
    assert "write .json" in err
