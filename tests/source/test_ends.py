"""Ends of recordings are not ends of trajectories: which flags say that a last state is terminal, and what is promised."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from umdp import ConfidenceSequence, anytime
from umdp.errors import FormatError
from umdp.source import Log, graph_of_log
from umdp.source.logs.trajectory_ends import RecordingEnds
from umdp.statements import Code, DiagnosticCode, stated

from .recordings import FORMATS

Rows = list[dict[str, Any]]


def write(path: Path, rows: Rows) -> Path:
    if path.suffix == ".parquet":
        pytest.importorskip("polars").DataFrame(rows).write_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({name: int(v) if isinstance(v, bool) else v for name, v in row.items()} for row in rows)
    return path


def row(name: object, state: str, successor: str, **flags: bool) -> dict[str, Any]:
    return {"trajectory": str(name), "state": state, "action": "go", "next": successor, **flags}


def windows(seed: int = 0, days: int = 3, recordings: int = 300, column: str = "end") -> Rows:
    """Return recordings of three days; `end` is true with the last row of each. What comes on day four is not recorded."""
    rng, rows = random.Random(seed), []
    for name in range(recordings):
        for day in range(days):
            failed = rng.random() < 0.05
            last = failed or day == days - 1
            rows.append(row(name, f"d{day}", "failed" if failed else f"d{day + 1}", **{column: last}))
            if failed:
                break
    return rows


def terminal(path: Path, **options: Any) -> set[str]:
    graph = graph_of_log(path, **options)
    stays = [c for c in range(graph.choices) if graph.action_name(c) == "stay"]
    return {graph.state_name(int(graph.choice_state[c])) for c in stays} - {"anything else"}


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_flag_on_the_last_row_of_every_recording_says_nothing_of_states(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"log{suffix}", windows())
    assert terminal(path) == set()
    assert terminal(path, terminal=["failed"]) == {"failed"}
    log = Log(path, labels={"failed": ["failed"]})
    said = [each for each in map(stated, log.report()) if each.code is DiagnosticCode.RECORDINGS_END]
    assert [each.data["column"] for each in said] == ["end"]
    assert np.flatnonzero(log.graph.labels["end"]).size == 2  # where recordings end: failed, d3
    *_, last = anytime(log, 'Pmin=? [ F "failed" ]', ConfidenceSequence(0.05))
    assert last.bracket.upper == pytest.approx(1)  # nobody knows what comes after day three
    assert last.guarantee.kind == "any-time"
    assert Code.ENDS not in last.guarantee.codes


@pytest.mark.parametrize("suffix", FORMATS)
def test_whoever_knows_says_which_states_are_terminal(tmp_path: Path, suffix: str) -> None:
    log = Log(write(tmp_path / f"log{suffix}", windows()), labels={"failed": ["failed"]}, terminal=["failed", "d3"])
    *_, last = anytime(log, 'Pmin=? [ F "failed" ]', ConfidenceSequence(0.05))
    assert last.bracket.upper < 0.4
    assert Code.TERMINAL in last.guarantee.codes


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_flag_that_some_recordings_end_without_says_something_of_states(tmp_path: Path, suffix: str) -> None:
    rows: Rows = []
    for name in range(100):
        cut = name % 5 == 0
        rows += [row(name, "a", "b", end=False), row(name, "b", "a" if cut else "home", end=not cut)]
    path = write(tmp_path / f"log{suffix}", rows)
    assert terminal(path) == {"home"}
    log = Log(path, labels={"home": ["home"]})
    *_, last = anytime(log, 'Pmax=? [ F "home" ]', ConfidenceSequence(0.05))
    assert Code.ENDS in last.guarantee.codes
    said = [each for each in map(stated, last.guarantee.reasons) if each.code is Code.ENDS]
    assert [each.data for each in said] == [{"column": "end"}]


@pytest.mark.parametrize("suffix", FORMATS)
def test_terminated_and_truncated_tell_both_apart(tmp_path: Path, suffix: str) -> None:
    rows: Rows = []
    for name in range(40):
        cut = name % 2 == 0
        rows += [
            row(name, "a", "b", terminated=False, truncated=False),
            row(name, "b", "c" if cut else "home", terminated=not cut, truncated=cut),
        ]
    assert terminal(write(tmp_path / f"log{suffix}", rows)) == {"home"}
    whole = [each for each in rows if int(each["trajectory"]) % 2]
    path = write(tmp_path / f"whole{suffix}", whole)
    assert terminal(path) == {"home"}  # all terminated, and a column says that none was cut
    assert terminal(path, columns={"end": "terminated"}) == {"home"}
    alone = [{name: value for name, value in each.items() if name != "truncated"} for each in whole]
    assert terminal(write(tmp_path / f"alone{suffix}", alone)) == set()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_truncated_trajectory_is_over_and_a_new_one_begins(tmp_path: Path, suffix: str) -> None:
    rows = [
        {"state": "a", "action": "go", "next": "a", "terminated": False, "truncated": True},
        {"state": "a", "action": "go", "next": "b", "terminated": True, "truncated": False},
        {"state": "a", "action": "go", "next": "b", "terminated": True, "truncated": False},
    ]
    log = Log(write(tmp_path / f"log{suffix}", rows), labels={"b": ["b"]})
    *_, last = anytime(log, 'Pmax=? [ F "b" ]', ConfidenceSequence(0.05))
    assert last.trajectories == 3


def test_rows_of_many_machines_by_time_are_still_recordings_that_all_end_with_the_flag(tmp_path: Path) -> None:
    rows = sorted(windows(recordings=50), key=lambda each: str(each["state"]))  # day by day, all machines
    assert terminal(write(tmp_path / "log.csv", rows)) == set()


def test_a_file_that_was_cut_and_rows_that_cannot_be_read_are_no_other_way_to_end(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", windows(recordings=50)[:-1])
    assert terminal(path) == set()
    lines = path.read_text().splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if line.endswith(",1\n")][:10]
    for n in ends:
        lines[n] = "spoilt\n"
    path.write_text("".join(lines))
    assert terminal(path) == set()


@pytest.mark.parametrize("suffix", FORMATS)
def test_rows_that_miss_a_value_are_no_other_way_to_end_either(tmp_path: Path, suffix: str) -> None:
    rows = windows(recordings=50)
    for each in [each for each in rows if each["end"]][:10]:
        each["state"] = None
    assert terminal(write(tmp_path / f"log{suffix}", rows)) == set()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_log_of_which_no_row_can_be_read_says_why(tmp_path: Path, suffix: str) -> None:
    rows = [{"state": "a", "action": None, "next": "b"}, {"state": None, "action": "go", "next": "b"}]
    with pytest.raises(
        FormatError, match=r"(line|row) [12]: .*, and no other row can be read either; correct the rows"
    ):
        graph_of_log(write(tmp_path / f"log{suffix}", rows))


def test_a_few_recordings_that_lack_the_flag_were_cut_by_accident(tmp_path: Path) -> None:
    rows = windows(recordings=500)
    last = next(n for n, each in enumerate(rows) if each["end"])
    rows[last]["end"] = False
    assert terminal(write(tmp_path / "log.csv", rows)) == set()


def test_several_files_are_judged_together(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", [row(n, "a", "home", end=True) for n in range(20)])
    write(tmp_path / "2.csv", [row(n, "a", "home", end=True) for n in range(20)])
    assert terminal(tmp_path) == set()
    write(tmp_path / "3.csv", [row(n, "a", "a", end=False) for n in range(20)])
    assert terminal(tmp_path) == {"home"}


def test_columns_that_only_have_the_name_are_no_error(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("state,action,next,terminated\na,go,b,2024-01-01\na,go,a,\n")
    assert terminal(path) == set()
    log = Log(path, columns={"terminated": "terminated"}, on_error="skip")
    log.begin()
    from .recordings import exhaust, order

    exhaust(log, order(log.graph))
    assert log.provenance().rejected == 1


def test_many_recordings_that_go_on_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("umdp.source.logs.trajectory_ends.MOST", 10)
    ends = RecordingEnds()
    ends.take(list(map(str, range(100))), [("a", "b")] * 100, [False] * 100)
    assert len(ends._open) <= 10
    ends.finish()
    assert ends.says_of_states
