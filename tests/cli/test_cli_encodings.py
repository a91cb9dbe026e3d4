"""Logs as Excel saves them, on the command line: read, said how, kept, described in a file; or one error."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

QUESTION = ('Pmin=? [ F<=9 "kaputt" ]', "--label", "kaputt=zerstört", "--reward", "kosten=Stunden")
COLUMNS = ("--columns", "state=Zustand,action=Maßnahme,next=danach")
SEPARATE = {"neu": ["neu", "läuft"], "läuft": ["läuft", "zerstört", "neu"]}


def text(rows: int = 300) -> str:
    rng, lines, state = random.Random(1), ["Zustand;Maßnahme;danach;Stunden"], "neu"
    for _ in range(rows):
        target = rng.choice(SEPARATE[state])
        lines.append(f"{state};prüfen;{target};{'2,5' if target == 'zerstört' else '0'}")
        state = "neu" if target == "zerstört" else target
    return "\r\n".join(lines) + "\r\n"


def last(out: str) -> dict:
    return json.loads(out.splitlines()[-1])


def codes(out: str) -> set[str]:
    return {each["code"] for each in last(out)["diagnostics"]}


@pytest.fixture
def log(folder: Path) -> Path:
    path = folder / "wartung.csv"
    path.write_bytes(text().encode("cp1252"))
    return path


def test_what_was_found_out_is_said(umdp, log):
    found = umdp("learn", log.name, *QUESTION, *COLUMNS, "--json")
    assert found.code == 0, found.err
    assert codes(found.out) >= {"encoding-found", "decimal-comma-found"}
    told = umdp("learn", log.name, *QUESTION, *COLUMNS, "--encoding", "cp1252", "--decimal", ",", "--json")
    assert not codes(told.out) & {"encoding-found", "decimal-comma-found", "rows-passed-over"}
    assert last(told.out)["upper"] == last(found.out)["upper"]
    assert last(told.out)["steps"] == 300
    assert "was read as cp1252" in umdp("learn", log.name, *QUESTION, *COLUMNS, "--quiet").out


def test_a_run_keeps_how_the_log_is_written(umdp, folder, log):
    made = umdp("learn", log.name, *QUESTION, *COLUMNS, "--steps", "100", "--out", "w.run", "--quiet")
    assert made.code == 0, made.err
    shown = umdp("show", "w.run").out
    assert "encoding: cp1252" in shown
    assert "decimal: ," in shown
    rest = umdp("resume", "w.run", "--steps", "300", "--json")
    assert rest.code == 0, rest.err
    assert last(rest.out)["steps"] == 300
    whole = umdp("learn", log.name, *QUESTION, *COLUMNS, "--json")
    assert last(rest.out)["lower"] == last(whole.out)["lower"]


def test_it_can_stand_in_the_file_beside_the_log(umdp, folder, log):
    log.write_bytes(text().encode("cp850"))
    described = (
        'encoding = "cp850"\ndecimal = ","\n[columns]\nstate = "Zustand"\naction = "Maßnahme"\nnext = "danach"\n'
    )
    (folder / "wartung.toml").write_text(described, encoding="utf-8")
    done = umdp("learn", log.name, *QUESTION, "--json")
    assert done.code == 0, done.err
    assert last(done.out)["steps"] == 300


@pytest.mark.parametrize(
    ("encoding", "options", "said"),
    [
        ("cp850", (), "301 of the first 301 lines are not text in UTF-8"),
        ("utf-16-le", (), "--encoding utf-16-le"),
        ("cp1252", ("--encoding", "klingon"), "there is no encoding 'klingon' for text"),
        ("cp1252", ("--decimal", ";"), "what stands before decimals"),
        ("cp1252", ("--decimal", "."), 'it must hold numbers, with "." before decimals'),
    ],
)
def test_what_cannot_be_found_out_is_one_error(umdp, log, encoding, options, said):
    log.write_bytes(text().encode(encoding))
    done = umdp("learn", log.name, *QUESTION, *COLUMNS, "--on-error", "fail", *options)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_without_a_log_there_is_nothing_to_decode(umdp):
    done = umdp("learn", "grid", "--encoding", "cp1252")
    assert done.code == 2
    assert "--encoding is about a log, and there is none" in done.err
