"""Policies in files."""

from __future__ import annotations

import numpy as np
import pytest

import umdp.io
from umdp import FormatError, Graph, Policy

GRAPH = Graph([0, 2, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 1, 2, 2], actions=["go", "stay", "go", "go", "stay"])
NAMED = Graph([0, 2, 3], [0, 1, 2, 3], [0, 1, 1], actions=["a", "", "a,b"], state_names=["(0,0)", "(0,1)"])
TWINS = Graph([0, 2, 4], [0, 1, 2, 3, 4], [0, 1, 0, 1], state_names=["same", "same"])


@pytest.mark.parametrize("suffix", [".json", ".csv"])
@pytest.mark.parametrize(
    "policy",
    [
        Policy(GRAPH, [1, 3, 4]),
        Policy(GRAPH, [[0, 2, 4], [1, 3, 4]]),
        Policy(GRAPH, weight=[0.25, 0.75, 0.1, 0.9, 1]),
        Policy(NAMED, [1, 2]),
        Policy(TWINS, [0, 3]),
    ],
)
def test_round_trip(tmp_path, policy, suffix):
    path = tmp_path / f"policy{suffix}"
    umdp.io.write_policy(policy, path)
    back = umdp.io.read_policy(path, policy.graph)
    assert back.steps == policy.steps
    assert back.is_deterministic == policy.is_deterministic
    np.testing.assert_array_equal(back.weights(), policy.weights())


def test_names_suffice(tmp_path):
    (tmp_path / "p.csv").write_text('state,action\n"(0,0)",a\n"(0,1)","a,b"\n')
    assert umdp.io.read_policy(tmp_path / "p.csv", NAMED).choice.tolist() == [0, 2]
    (tmp_path / "p.json").write_text(
        '{"states": 2, "decisions": [{"state": "(0,1)", "action": "a,b"}, {"number": 0, "choice": 1}]}'
    )
    assert umdp.io.read_policy(tmp_path / "p.json", NAMED).choice.tolist() == [1, 2]


def test_names_go_before_numbers(tmp_path):
    (tmp_path / "p.csv").write_text('number,state,action\n1,"(0,0)",a\n0,"(0,1)","a,b"\n')
    assert umdp.io.read_policy(tmp_path / "p.csv", NAMED).choice.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.csv", "state,action\nnowhere,a\n", r'line 2: there is no state "nowhere"; one of the names is "\(0,0\)"'),
        ("p.csv", 'state,action\n"(0,0)",fly\n', r'state \(0,0\) has no action "fly"; it offers a, \(unnamed'),
        ("p.csv", 'state,action\n"(0,1)","a,b"\n', r"state \(0,0\) has no decision \(1 missing\)"),
        ("p.csv", 'state,action\n"(0,0)",a\n"(0,0)",\n', r"state \(0,0\) has a second decision"),
        ("p.csv", 'state,action,step\n"(0,0)",a,0\n"(0,1)","a,b",1\n', r"has no decision at step"),
        ("p.csv", 'state,action,weight\n"(0,0)",a,0.5\n"(0,1)","a,b",1\n', r"state \(0,0\): weights must .* sum to 1"),
        ("p.csv", 'state,action,step\n"(0,0)",a,x\n', r"line 2: .*int"),
        ("p.csv", "x,y\n1,2\n", r"line 1: the first line should name the columns"),
        ("p.json", '{"states": 3, "decisions": []}', r"for 3 states, but the model has 2"),
        ("p.json", '{"states": 2}', r"not a policy.*decisions"),
        ("p.json", "{", r"not a policy"),
        ("p.json", '{"states": 2, "decisions": [{"number": 5, "choice": 0}]}', r"decision 0: .*number from 0 to 1"),
        (
            "p.json",
            '{"states": 2, "steps": 1, "decisions": [{"number": 1, "choice": 0, "step": 1}]}',
            r"step 1 is outside",
        ),
        ("p.json", "", r"the file is empty"),
        ("p.txt", "x", r"\.json or \.csv"),
    ],
)
def test_mistakes(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=said):
        umdp.io.read_policy(tmp_path / name, NAMED)


def test_shared_names_need_numbers(tmp_path):
    (tmp_path / "p.csv").write_text("state,action\nsame,0\n")
    with pytest.raises(FormatError, match="the state needs a number"):
        umdp.io.read_policy(tmp_path / "p.csv", TWINS)


def test_writing_elsewhere(tmp_path):
    with pytest.raises(FormatError, match=r"\.json or \.csv"):
        umdp.io.write_policy(Policy(NAMED, [0, 2]), tmp_path / "p.xml")
