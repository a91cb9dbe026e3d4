"""Promises that must go: a change, sorted rows, rows that a graph does not list, a run that stopped on an error."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from umdp import ConfidenceSequence, Graph, anytime
from umdp.cli import run
from umdp.errors import FormatError
from umdp.run import Store
from umdp.source import Log
from umdp.statements import Code

FAILED = 'Pmin=? [ F<=1 "failed" ]'
LABELS = {"failed": ["failed"]}


def write(path: Path, rows: Iterable[Iterable[object]], header: str = "state,action,next") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


def changing(seed: int) -> list[list[object]]:
    rng = random.Random(seed)
    return [["on", "run", "failed" if i >= 1000 and rng.random() < 0.3 else "ok"] for i in range(2000)]


@pytest.mark.parametrize("seed", range(5))
def test_a_change_on_an_observed_graph_is_no_error_and_takes_the_promise_away(tmp_path: Path, seed: int) -> None:
    path = write(tmp_path / "log.csv", changing(seed))
    *_, last = anytime(Log(path, labels=LABELS), FAILED, ConfidenceSequence(0.05))
    assert last.guarantee.kind == "none"
    assert {Code.DRIFT, Code.BROKEN} <= set(last.guarantee.codes)
    assert last.bracket.upper >= 0.3


@pytest.mark.parametrize("rows", [100, 300, 3000])
def test_sorted_rows_take_the_promise_away(tmp_path: Path, rows: int) -> None:
    given = sorted(["on", "run", "failed" if i % 3 == 0 else "ok"] for i in range(rows))
    *_, last = anytime(Log(write(tmp_path / "log.csv", given), labels=LABELS), FAILED, ConfidenceSequence(0.05))
    assert last.guarantee.kind == "none"
    assert Code.DRIFT in last.guarantee.codes


STRAY_GRAPH = Graph(
    [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"failed": [2]}, actions=["run", "stay", "stay"],
    state_names=["on", "ok", "failed"],
)  # fmt: skip


def stray(n: int) -> list[list[object]]:
    rng = random.Random(3)
    rows: list[list[object]] = [["on", "run", "failed" if rng.random() < 0.1 else "ok"] for _ in range(n)]
    rows[n // 2] = ["on", "run", "on"]
    return rows


@pytest.mark.parametrize("on_error", ["skip", "chance"])
def test_a_row_that_the_graph_does_not_list_takes_the_promise_away(tmp_path: Path, on_error: Any) -> None:
    path = write(tmp_path / "log.csv", stray(400))
    *_, last = anytime(Log(path, STRAY_GRAPH, on_error=on_error), FAILED, ConfidenceSequence(0.05))
    assert Code.DROPPED in last.guarantee.codes


def test_also_where_it_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", stray(400))
    log = Log(path, STRAY_GRAPH, on_error="fail")
    with pytest.raises(FormatError, match="does not list the successor on"):
        list(anytime(log, FAILED, ConfidenceSequence(0.05)))
    assert [each.code for each in log.provenance().findings] == [Code.STRAY]  # type: ignore[attr-defined]


def test_what_is_kept_of_a_run_that_stopped_at_such_a_row_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("log.csv"), stray(400))
    write(Path("allowed.csv"), [["on", "run", "ok"], ["on", "run", "failed"]])
    asked = [
        "learn", "log.csv", FAILED, "--graph", "allowed.csv", "--label", "failed=failed", "--learner", "confidence-sequence",
    ]  # fmt: skip
    assert run([*asked, "--on-error", "fail", "--out", "a.run", "--json"]) == 2
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["guarantee"]["kind"] == "any-time"
    last = rows[-1]
    assert (last["guarantee"]["kind"], last["guarantee"]["codes"]) == ("none", ["unlisted-row"])
    assert last["status"] == "solved"
    with Store.open("a.run") as store:
        assert (store.last() or {})["guarantee"] == last["guarantee"]


def test_what_is_kept_of_a_run_that_failed_inside_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from umdp.learn.observed_sequence import ObservedSequence

    monkeypatch.chdir(tmp_path)
    write(Path("log.csv"), [["on", "run", "failed" if i % 3 == 0 else "ok"] for i in range(400)])
    update = ObservedSequence.update

    def failing(self: ObservedSequence, counts: Any) -> None:
        if self.counts.sum() > 50:
            raise ZeroDivisionError("by chance")
        update(self, counts)

    monkeypatch.setattr(ObservedSequence, "update", failing)
    asked = ["learn", "log.csv", FAILED, "--label", "failed=failed", "--learner", "confidence-sequence"]
    assert run([*asked, "--out", "a.run", "--json"]) == 2
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[-2]["guarantee"]["kind"] == "any-time"
    last = rows[-1]
    assert last["guarantee"]["codes"] == ["run-failed"]
    with Store.open("a.run") as store:
        assert (store.last() or {})["guarantee"] == last["guarantee"]
