"""`umdp look`: what is in a log, compared with a plain loop over its rows, and with what learning says of it."""

from __future__ import annotations

import csv
import gzip
import json
import random
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

HEADER = ["trajectory", "state", "action", "next", "cost"]


def rows(seed: int = 1, count: int = 500) -> list[list[str]]:
    rng, found, name, state = random.Random(seed), [], 1, "neu"
    for _ in range(count):
        action = rng.choice(["run", "run", "prüfen"])
        target = rng.choice({"neu": ["neu", "läuft"], "läuft": ["läuft", "failed", "neu"]}[state])
        found.append([str(name), state, action, target, "2" if target == "failed" else "1"])
        name, state = (name + 1, "neu") if target == "failed" else (name, target)
    return found


def write(path: Path, table: list[list[str]], encoding: str = "utf-8") -> None:
    if ".jsonl" in path.name:
        text = "".join(json.dumps(dict(zip(HEADER, row, strict=True)), ensure_ascii=False) + "\n" for row in table)
    else:
        text = "".join(";".join(row) + "\n" for row in [HEADER, *table])
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def counted(table: list[list[str]]) -> dict:
    """Return what a plain loop finds."""
    states = dict.fromkeys(name for row in table for name in (row[1], row[3]))
    return {
        "rows": len(table),
        "steps": len(table),
        "trajectories": len({row[0] for row in table}),
        "rejected": 0,
        "states": len(states),
        "actions": 2,
        "initial": table[0][1],
        "elsewhere": 0,
        "state_rows": {name: sum(row[1] == name for row in table) for name in states},
        "action_rows": dict(Counter(row[2] for row in table)),
    }


def look(umdp, *arguments: str) -> dict:
    done = umdp("look", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz", "log.jsonl", "log.jsonl.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_it_says_what_a_plain_loop_finds(umdp, folder, name, encoding):
    table = rows()
    write(folder / name, table, encoding)
    found = look(umdp, name)
    expected = counted(table)
    assert {key: found[key] for key in expected} == expected
    assert found["columns"] == {role: role for role in HEADER[:4]}
    assert found["other_columns"] == ["cost"]
    assert found["encoding"] == encoding.removesuffix("-sig")
    assert ("encoding-found" in {each["code"] for each in found["diagnostics"]}) == (found["encoding"] != "utf-8")


def test_every_source_of_a_log(umdp, folder, monkeypatch):
    polars = pytest.importorskip("polars")
    table = rows()
    expected = counted(table)
    (folder / "logs").mkdir()
    write(folder / "logs" / "a.csv", table)
    polars.read_csv(folder / "logs" / "a.csv", separator=";").write_parquet(folder / "log.parquet")
    for name in ("logs", "logs/*.csv", "log.parquet"):
        found = look(umdp, name)
        assert {key: found[key] for key in expected} == expected, name
    assert found["encoding"] is None
    for ending in ("csv", "jsonl"):
        write(folder / f"log.{ending}", table, "utf-16")
        with (folder / f"log.{ending}").open("rb") as file:
            command = [sys.executable, "-m", "umdp", "look", "-", "--json"]
            done = subprocess.run(command, stdin=file, capture_output=True, check=True, cwd=folder)
        found = json.loads(done.stdout)
        assert {key: found[key] for key in expected} == expected, ending
        assert found["encoding"] == "utf-16"


def test_several_files_are_one_log(umdp, folder):
    table = rows()
    (folder / "logs").mkdir()
    for number, encoding in enumerate(("utf-8", "cp1252")):
        write(folder / "logs" / f"{number}.csv", table, encoding)
    found = look(umdp, "logs")
    assert found["rows"] == 1000
    assert found["trajectories"] == 2 * counted(table)["trajectories"]
    assert found["state_rows"] == {name: 2 * times for name, times in counted(table)["state_rows"].items()}
    assert found["encoding"] is None


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--label", "broken=fail*"),
        ("--reward", "cost=cost", "--terminal", "failed"),
        ("--initial", "observed"),
        ("--columns", "trajectory=trajectory", "--decimal", ".", "--encoding", "cp1252"),
    ],
)
def test_the_next_command_runs_and_names_the_same_conditions(umdp, folder, options):
    write(folder / "log.csv", rows(), "cp1252")
    found = look(umdp, "log.csv", *options)
    assert found["against"] == []
    done = umdp(*shlex.split(found["next"])[1:], "--json")
    assert done.code == 0, done.err
    promised = json.loads(done.out.splitlines()[-1])["guarantee"]
    assert promised["kind"] == "any-time"
    paid = {"reward-as-shown", "reward-at-least"}  # of a reward, named where it is asked for
    assert {each["code"] for each in found["conditions"]} - paid == set(promised["codes"])
    assert ("--reward" in options) == bool({each["code"] for each in found["conditions"]} & paid)


def test_what_stands_against_a_promise_is_said(umdp, folder):
    table = rows()
    table[7][1] = table[9][2] = ""
    write(folder / "log.csv", [*table, *table])
    found = look(umdp, "log.csv")
    learned = umdp("learn", "log.csv", 'Pmin=? [ F "f" ]', "--label", "f=failed", "--json")
    promised = json.loads(learned.out.splitlines()[-1])["guarantee"]
    assert promised["kind"] == "none"
    assert {each["code"] for each in found["against"]} == set(promised["codes"])
    assert found["rejected"] == 4
    text = umdp("look", "log.csv").out
    assert "4 rows rejected" in text
    assert "log.csv, line 9: the line has no state" in text


def test_tables_for_people(umdp, folder):
    write(folder / "log.csv", [[*row[:4], "0,5"] for row in rows()], "cp1252")
    done = umdp("look", "log.csv", "--reward", "hours=cost", "--label", "bad=failed")
    assert done.code == 0
    assert done.err == ""
    lines = [line.split() for line in done.out.splitlines()]
    found = counted(rows())
    for action, times in found["action_rows"].items():
        assert [action, str(times)] in lines
    for state, times in found["state_rows"].items():
        assert [state, str(times)] in [line[:2] for line in lines]
    assert ["cost", "reward", "hours"] in lines
    assert "cp1252, decimal commas, 0 rows rejected" in done.out
    assert done.out.splitlines()[-1].startswith("next: umdp learn log.csv 'Pmin=? [ F \"bad\" ]' --label bad=failed")


def test_a_file_beside_the_log_says_how_it_is_read(umdp, folder):
    write(folder / "log.csv", rows(), "cp850")
    written = 'encoding = "cp850"\nproperty = \'Pmin=? [ F "bad" ]\'\naside = "bad.jsonl"\n[labels]\nbad = "failed"\n'
    (folder / "log.toml").write_text(written)
    found = look(umdp, "log.csv")
    assert found["encoding"] == "cp850"
    assert found["labels"]["bad"] == ["failed"]
    assert found["next"] == "umdp learn log.csv"
    assert not (folder / "bad.jsonl").exists()


def test_a_graph_that_is_given_is_looked_at_with(umdp, folder):
    table = rows()
    write(folder / "log.csv", table)
    with (folder / "allowed.csv").open("w", newline="") as file:
        csv.writer(file).writerows([HEADER[1:4], *sorted({tuple(row[1:4]) for row in table})])
    found = look(umdp, "log.csv", "--graph", "allowed.csv", "--label", "bad=failed")
    assert found["rows"] == 500
    assert found["elsewhere"] is None
    assert "outcomes-listed" in {each["code"] for each in found["conditions"]}
    assert umdp(*shlex.split(found["next"])[1:], "--quiet").code == 0


def test_names_control_nothing(umdp, folder):
    table = [[*row[:2], "\x1b[2J[red]x[/red]", *row[3:]] for row in rows()]
    write(folder / "log.csv", table)
    done = umdp("look", "log.csv")
    assert "\x1b" not in done.out
    assert "[red]x[/red]" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("grid",), "grid is no log"),
        (("none.csv",), "there is no such file"),
        (("log.csv", "--columns", "state=unt"), 'there is no column "unt"; the columns are'),
        (("log.csv", "--label", "x=faild"), "the nearest is 'failed'"),
        (("log.csv", "--encoding", "klingon"), "there is no encoding 'klingon'"),
    ],
)
def test_what_is_wrong_is_one_error(umdp, folder, arguments, said):
    write(folder / "log.csv", rows())
    done = umdp("look", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert len(done.err.splitlines()) == 1
