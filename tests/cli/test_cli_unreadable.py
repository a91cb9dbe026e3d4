"""Logs of which nothing can be read: the first cause is said, with its line and the remedy."""

from __future__ import annotations

import pytest

QUESTION = ('Pmax=? [ F "goal" ]', "--label", "goal=b", "--quiet")
HEAD = b"state,action,next\n"
ROW = b'{"state": "a", "action": "go", "next": "b"}'


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("log.csv", HEAD + "ä,go,b\n".encode("latin1"), "log.csv, line 2: the line is not text in UTF-8"),
        ("log.csv", HEAD + "ä,go,b\n".encode("latin1"), "--encoding cp1252"),
        ("log.csv", "stäte,action,next\na,go,b\n".encode("latin1"), "did you mean 'stäte'?"),
        ("log.csv", (HEAD + b"a,go,b\n").decode().encode("utf-16-le"), "--encoding utf-16-le, or save it as UTF-8"),
        ("log.csv", HEAD + b"a\0,go,b\n", "log.csv, line 2: the line holds a byte 0"),
        (
            "log.jsonl",
            b"[" + ROW + b"]",
            "log.jsonl, line 1: the line is not a JSON object: expected an object, found a list",
        ),
        ("log.jsonl", b"[" + ROW + b"]", "jq -c '.[]'"),
        ("log.jsonl", b"\nhello\n", "log.jsonl, line 2: the line is not a JSON object: the JSON is malformed"),
        ("log.jsonl", ROW.replace(b'"a"', b'"\\u0000"'), "log.jsonl, line 1: the line holds a character 0"),
        (
            "log.jsonl",
            b'{"state": 1.5, "action": "go", "next": "b"}',
            "state: expected a whole number or text, found a number",
        ),
    ],
)
def test_a_log_without_a_row_says_why(umdp, folder, name, data, said):
    (folder / name).write_bytes(data)
    done = umdp("learn", name, *QUESTION)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err


def test_several_files_say_which(umdp, folder):
    (folder / "logs").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (folder / "logs" / name).write_text("[]\n")
    assert "a.jsonl, line 1: the line is not a JSON object" in umdp("learn", "logs", *QUESTION).err


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_one_column_has_one_role(umdp, folder, name):
    row = ROW.replace(b'"b"}', b'"c", "end": "b"}')
    (folder / name).write_bytes(row + b"\n" if name.endswith("l") else HEAD.replace(b"\n", b",end\n") + b"a,go,c,b\n")
    refused = umdp("learn", name, *QUESTION, "--columns", "next=state")
    assert refused.code == 2
    assert 'the column "state" cannot be both the next and the state' in refused.err
    assert (
        umdp("learn", name, *QUESTION, "--columns", "next=end").code == 0
    )  # no column says that trajectories end then


@pytest.mark.parametrize("more", [(), ("--label", "goal=b")])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("book.xlsx", "files ending in .xlsx are not known; a model has one of .prism"),
        ("book.xlsx", "a log one of .csv, .tsv, .jsonl"),
        ("book.xlsx", "save the sheet as CSV"),
        ("list.json", "one object on every line, and ends in .jsonl"),
        ("readme.md", "files ending in .md are not known"),
        ("maze.py", "this is Python; say what in it makes the model or environment: maze.py:Maze"),
    ],
)
def test_a_file_of_another_kind_is_told_what_it_should_be(umdp, folder, name, said, more):
    (folder / name).write_text("class _Hidden: ...\nclass Maze: ...\n")
    done = umdp("learn", name, 'Pmax=? [ F "goal" ]', *more)
    assert done.code == 2
    assert f"error: {name}: " in done.err
    assert said in done.err


def test_a_description_without_a_log_is_named_as_it_was_typed(umdp, folder):
    (folder / "m.toml").write_text('[labels]\nfailed = "failed"\n')
    done = umdp("learn", "grid", "--describe", "m.toml")
    assert done.code == 2
    assert "error: --describe m.toml is about a log, and there is none" in done.err


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--terminal", "fialed", "error: terminal: there is no state 'fialed'; the nearest is 'failed'"),
        ("--terminal", "x*", "error: terminal: no state fits the pattern 'x*'"),
        ("--initial", "gud", "the initial state 'gud' was not observed; the nearest is 'good'"),
        (
            "--initial",
            "good:0.5,failed:0.5",
            "initial is one state, not 'good:0.5,failed:0.5': weights cannot be given",
        ),
    ],
)
def test_states_that_are_not_there(umdp, folder, option, given, said):
    (folder / "log.csv").write_bytes(HEAD + b"good,run,good\ngood,run,failed\n")
    done = umdp("learn", "log.csv", 'Pmax=? [ F "goal" ]', "--label", "goal=failed", option, given)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[initial]\ngood = 0.5\n", 'd.toml: initial is one state, or "observed": weights cannot be given'),
        ("initial = 3\n", "d.toml: the description does not fit: initial: expected text, found a whole number"),
    ],
)
def test_a_description_says_what_it_takes(umdp, folder, text, said):
    (folder / "log.csv").write_bytes(HEAD + b"good,run,good\n")
    (folder / "d.toml").write_text(text)
    done = umdp("learn", "log.csv", 'Pmax=? [ F "end" ]', "--describe", "d.toml")
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("FrozenLake", 0, "note: gym:FrozenLake names no version; FrozenLake-v1 is taken\n"),
        (
            "Taxi-v3",
            2,
            "error: gym:Taxi-v3: Environment version v3 for `Taxi` is deprecated. Please use `Taxi-v4` instead.\n",
        ),
    ],
)
def test_what_gymnasium_warns_of_is_a_line(umdp, name, code, said):
    pytest.importorskip("gymnasium")
    done = umdp("learn", f"gym:{name}", 'Pmax=? [ F<=9 "goal" ]', "--trajectories", "3", "--quiet")
    assert done.code == code
    assert done.err == said
