"""Logs: every row counted exactly once or set rejected, whatever the format, the chunks and the interruptions."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import FormatError, MissingExtra, ModelError, UmdpError
from umdp.run.codec import pack, unpack
from umdp.source import Log, graph_of_log, open_log
from umdp.statements import DiagnosticCode, Unlisted, codes_of, say, stated

from .recordings import FORMATS, Row, count_plainly, exhaust, logs, open_skipping, order, small_graph, write

GRAPH = small_graph()


def folder_file(folder: str, suffix: str) -> Path:
    return Path(folder, f"log{suffix}")


# -- laws ----------------------------------------------------------------------------------------------------


@given(rows=logs(), suffix=st.sampled_from(FORMATS), block=st.integers(1, 400), most=st.integers(1, 5))
def test_counts_are_those_of_a_plain_loop(rows: list[Row], suffix: str, block: int, most: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(rows, folder_file(folder, suffix))
        rejected = Path(folder, "rejected.jsonl")
        log = open_skipping(path, GRAPH, block=block, rejected=rejected)
        counts, trajectories, steps, batches = exhaust(log, order(GRAPH, most))
        log.close()
        plain = count_plainly(rows, GRAPH)
        assert counts.tolist() == plain.array(GRAPH).tolist()
        assert (trajectories, steps) == (plain.trajectories, plain.steps)
        assert all(batch.trajectories == most for batch in batches[:-1])
        places = [json.loads(line)["where"] for line in rejected.read_text().splitlines()]
        first, word = (2, "line") if suffix == ".csv" else (1, "line" if suffix == ".jsonl" else "row")
        assert places == [f"{word} {number + first}" for number in plain.bad]


@given(rows=logs(named=False), suffix=st.sampled_from(FORMATS), block=st.integers(1, 400))
def test_without_names_trajectories_are_cut_where_rows_do_not_join(rows: list[Row], suffix: str, block: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(rows, folder_file(folder, suffix), named=False)
        log = open_skipping(path, GRAPH, block=block)
        counts, trajectories, steps, _ = exhaust(log, order(GRAPH, 2))
        plain = count_plainly(rows, GRAPH)
        assert counts.tolist() == plain.array(GRAPH).tolist()
        assert (trajectories, steps) == (plain.trajectories, plain.steps)
        log.close()


@given(
    rows=logs(),
    suffix=st.sampled_from(FORMATS),
    blocks=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    data=st.data(),
)
def test_a_log_restored_anywhere_goes_on_as_if_nothing_had_happened(
    rows: list[Row], suffix: str, blocks: tuple[int, int], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, rejected = write(rows, folder_file(folder, suffix)), Path(folder, "rejected.jsonl")
        whole = open_skipping(path, GRAPH, block=blocks[0], rejected=rejected)
        whole._longest = 3  # trajectories are given in pieces, so that there are positions in the middle of one
        expected, *_, batches = exhaust(whole, order(GRAPH, 1))
        whole.close()
        report, written = whole.report(), rejected.read_text()

        cut = data.draw(st.integers(0, len(batches) - 1))
        first = open_skipping(path, GRAPH, block=blocks[0], rejected=rejected)
        first._longest = 3
        before = sum((first.collect(order(GRAPH, 1)).counts for _ in range(cut)), np.zeros(GRAPH.transitions, np.int64))
        state = first.state()
        first.collect(order(GRAPH, 1))  # lost: the process dies before it is kept
        first.close()

        second = open_skipping(path, GRAPH, block=blocks[1], rejected=rejected)
        second._longest = 3
        second.restore(unpack(pack(state)))
        after, *_, rest = exhaust(second, order(GRAPH, 1))
        second.close()
        assert (before + after).tolist() == expected.tolist()
        assert [b.counts.tolist() for b in rest] == [b.counts.tolist() for b in batches[cut:]]
        assert second.report() == report
        assert rejected.read_text() == written


@given(rows=logs(most=60), suffix=st.sampled_from(FORMATS), quota=st.lists(st.integers(-1, 4), min_size=8, max_size=8))
def test_a_batch_ends_with_the_trajectory_in_which_a_quota_is_reached(
    rows: list[Row], suffix: str, quota: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = open_skipping(write(rows, folder_file(folder, suffix)), GRAPH)
        *_, batches = exhaust(log, order(GRAPH, 10**9, quota))
        log.close()
    names = [(GRAPH.state_name(int(GRAPH.choice_state[c])), GRAPH.action_name(c)) for c in range(GRAPH.choices)]
    limit = dict(zip(names, quota, strict=True))
    expected: list[int] = []
    taken: dict[tuple[str, str], int] = {}
    begun = 0
    for choices in count_plainly(rows, GRAPH).lengths:
        begun += 1
        for choice in choices:
            taken[choice] = taken.get(choice, 0) + 1
        if any(taken.get(choice, 0) >= most > 0 for choice, most in limit.items()):
            expected.append(begun)
            begun, taken = 0, {}
    if begun or not expected:
        expected.append(begun)  # the last batch ends with the log
    assert [batch.trajectories for batch in batches] == expected


def test_long_trajectories_are_given_in_pieces(tmp_path: Path) -> None:
    rows: list[Row] = [("1", "b", "wait", "b")] * 25 + [("2", "b", "wait", "b")] * 10
    log = open_skipping(write(rows, tmp_path / "log.csv"), GRAPH, block=50)
    log._longest = 10
    *_, batches = exhaust(log, order(GRAPH, 1))
    assert [(b.trajectories, b.steps) for b in batches] == [(1, 10), (0, 10), (1, 15)]


# -- what is wrong with rows ---------------------------------------------------------------------------------

HEADER = "trajectory,state,action,next\n"

MALFORMED = [
    (
        "log.csv",
        HEADER + "1,a,on\n",
        "log.csv, line 2: the line has 3 fields, but the header names 4 columns; correct it",
    ),
    ("log.csv", HEADER + "1,a,on,b\n1,b,on,c,x\n", "log.csv, line 3: the line has 5 fields"),
    ("log.csv", HEADER + '1,a,"on,b\n', "log.csv, line 2: a quotation mark is not closed on the line"),
    ("log.csv", HEADER + "1,a,on,b\n\n1,q,on,c\n", "log.csv, line 4: there is no state 'q'; give a name such as 'a'"),
    ("log.csv", HEADER + "1,a,wait,b\n", "log.csv, line 2: state a has no action 'wait'; it has on, back"),
    ("log.csv", HEADER + "1,a,on,c\n", "line 2: state a, action on: the graph does not list the successor c"),
    (
        "log.csv",
        HEADER + "1,a,on,b\n1,c,on,c\n",
        "line 3: the row starts in state c, but the row before it in its trajectory ended in state b",
    ),
    ("log.csv", HEADER + "1,\udcff,on,b\n", "log.csv, line 2: the line is not text in UTF-8"),
    (
        "log.jsonl",
        '{"state": "a", "action": "on"}\n',
        'line 1: the object does not fit: the key "next" is missing',
    ),
    (
        "log.jsonl",
        '{"state": ["a"], "action": "on", "next": "b"}\n',
        "state: expected a whole number or text, found a list",
    ),
    (
        "log.jsonl",
        '{"state": "a", "action": "on", "next": "b"}\n[1, 2]\n',
        "line 2: the line is not a JSON object: expected an object, found a list",
    ),
    ("log.jsonl", "\nhello\n", "log.jsonl, line 2: the line is not a JSON object"),
    ("log.jsonl", '{"state": 0, "action": 0, "next": 1} {"state": 0, "action": 0, "next": 1}\n\n', "log.jsonl, line 1"),
]


@pytest.mark.parametrize(("name", "text", "message"), MALFORMED)
def test_a_bad_row_is_an_error_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, errors="surrogateescape")
    log = Log(path, GRAPH)
    log.begin()
    with pytest.raises(FormatError) as caught:
        exhaust(log, order(GRAPH))
    assert message in str(caught.value)
    assert str(caught.value).endswith('or pass over such rows with on_error="skip"')
    log.close()


@pytest.mark.parametrize(("name", "text", "message"), MALFORMED)
def test_a_bad_row_can_be_rejected(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, errors="surrogateescape")
    log = open_skipping(path, GRAPH, rejected=tmp_path / "rejected")
    *_, steps, _ = exhaust(log, order(GRAPH))
    log.close()
    lines = text.removeprefix(HEADER).splitlines()
    head, where = log.report()[:2]
    path = str(tmp_path / "rejected")
    assert head == say(DiagnosticCode.REJECTED_ROWS, rejected=1, rows=len(lines), path=path)
    assert codes_of([where]) == (DiagnosticCode.REJECTED_ROW,)
    written = json.loads((tmp_path / "rejected").read_text())
    assert message.removesuffix("; correct it").removeprefix(f"{name}, ") in f"{written['where']}: {written['why']}"
    kept = written["row"]
    assert kept in [line.replace("\udcff", "\N{REPLACEMENT CHARACTER}") for line in lines]
    assert steps == sum(bool(line) for line in lines) - 1


def test_nulls_of_parquet_are_malformed(tmp_path: Path) -> None:
    rows: list[Row] = [("1", "a", "on", "b"), None, ("1", "b", "on", "c")]
    path = write(rows, tmp_path / "log.parquet")
    log = open_skipping(path, GRAPH)
    *_, steps, _ = exhaust(log, order(GRAPH))
    assert steps == 2
    said = {"name": str(path), "place": "row 2", "why": "the row has no state and no action and no next"}
    assert log.report()[1] == say(DiagnosticCode.REJECTED_ROW, **said)
    strict = Log(path, GRAPH)
    strict.begin()
    with pytest.raises(FormatError, match=r"log\.parquet: row 2: the row has no state"):
        exhaust(strict, order(GRAPH))


def test_only_the_first_few_are_shown(tmp_path: Path) -> None:
    log = open_skipping(write([("1", "zz", "on", "b")] * 9, tmp_path / "log.csv"), GRAPH)
    exhaust(log, order(GRAPH))
    report = log.report()
    assert report[0] == say(DiagnosticCode.REJECTED_ROWS, rejected=9, rows=9, path=None)
    assert len(report) == 7
    assert report[-1] == say(DiagnosticCode.MORE_ROWS, more=4)


def test_a_file_of_rows_rejected_is_emptied_by_a_new_run_and_not_by_a_resumed_one(tmp_path: Path) -> None:
    rows: list[Row] = [("1", "zz", "on", "b"), ("2", "yy", "on", "b"), ("3", "xx", "on", "b")]
    path, rejected = write(rows, tmp_path / "log.csv"), tmp_path / "rejected.jsonl"
    rejected.write_text("old\n")
    log = open_skipping(path, GRAPH, rejected=rejected)
    log.collect(order(GRAPH, 2))
    state = log.state()
    log.close()
    assert [json.loads(line)["where"] for line in rejected.read_text().splitlines()] == ["line 2", "line 3"]
    resumed = open_skipping(path, GRAPH, rejected=rejected)
    resumed.restore(state)
    exhaust(resumed, order(GRAPH))
    resumed.close()
    assert [json.loads(line)["where"] for line in rejected.read_text().splitlines()] == ["line 2", "line 3", "line 4"]
    rejected.write_text("")
    resumed.restore(state)
    with pytest.raises(FormatError, match="leave it alone while a run may go on"):
        resumed.collect(order(GRAPH))


# -- files as they come --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "state,note,trajectory,next,action\na,x,1,b,on\nb,,1,c,on\n",
        "\ufefftrajectory,state,action,next\r\n1,a,on,b\r\n1,b,on,c\r\n",
        'trajectory,state,action,next\n"1","a","on","b"\n1,"b",on,c',
        "trajectory, state, action, next\n1, a, on, b\n\n1, b, on, c\n   \n",
        "trajectory,state,action,next\n1,0,0,1\n1,1,0,2\n",
    ],
)
def test_csv_in_many_styles(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode())
    log = Log(path, GRAPH)
    log.begin()
    counts, trajectories, steps, _ = exhaust(log, order(GRAPH))
    assert (trajectories, steps) == (1, 2)
    assert counts.tolist() == count_plainly([("1", "a", "on", "b"), ("1", "b", "on", "c")], GRAPH).array(GRAPH).tolist()
    log.close()


def test_tabs_other_columns_and_compact_json(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("run\tfrom\taction\tto\n1\ta\ton\tb\n")
    (tmp_path / "log.ndjson").write_text('{"run":1,"from":0,"action":"on","to":"b"}')
    columns = {"trajectory": "run", "state": "from", "next": "to"}
    for name in ("log.tsv", "log.ndjson"):
        log = Log(tmp_path / name, GRAPH, columns=columns)
        log.begin()
        assert exhaust(log, order(GRAPH))[1:3] == (1, 1)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        (
            "log.csv",
            "a,b\n1,2\n",
            {},
            'there is no column "state"; the columns are a, b. Say which one holds the state',
        ),
        ("log.csv", HEADER, {"columns": {"trajectory": "run"}}, 'there is no column "run"'),
        (
            "log.csv",
            HEADER,
            {"columns": {"nxt": "x"}},
            "the columns are trajectory, state, action, next, end, terminated, truncated; there is no role nxt",
        ),
        ("log.csv", "state,state,action,next\n", {}, 'there are 2 columns "state"; rename one'),
        ("log.csv", "", {}, "the file is empty; its first line must name the columns"),
        ("log.csv", '"a\n', {}, "line 1: the line that names the columns cannot be read"),
        ("log.parquet", "PAR1 not", {}, "the file is not Parquet"),
        ("log.txt", "", {}, "a log has one of the endings .csv, .tsv, .jsonl, .ndjson, .csv.gz"),
    ],
)
def test_files_that_are_not_logs(tmp_path: Path, name: str, text: str, options: Any, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError) as caught:
        Log(tmp_path / name, GRAPH, **options)
    assert message in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("suffix", FORMATS)
def test_missing_files_and_folders(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"folder{suffix}").mkdir()
    for name, message in (("none", "there is no such file"), ("folder", "there is no log in this folder")):
        with pytest.raises(FormatError, match=message):
            Log(tmp_path / f"{name}{suffix}", GRAPH).begin()


def test_without_polars_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"reading Parquet files needs the extra \"data\""):
        Log(tmp_path / "log.parquet", GRAPH)


def test_extras_are_imported_only_where_they_are_used() -> None:
    code = (
        "import importlib, pkgutil, sys, umdp.source\n"
        "for each in pkgutil.walk_packages(umdp.source.__path__, 'umdp.source.'): importlib.import_module(each.name)\n"
        "assert not {'gymnasium', 'minari', 'polars'} & set(sys.modules)\n"
        "assert all(hasattr(umdp.source, name) for name in umdp.source.__all__)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    path = write([("1", "a", "on", "b")], tmp_path / "log.csv")
    with pytest.raises(UmdpError, match='on_error is "fail", "skip" or "chance", not \'drop\''):
        Log(path, GRAPH, on_error="drop")  # type: ignore[arg-type]
    with pytest.raises(UmdpError, match='only passed over, and written to a file, with on_error="skip"'):
        Log(path, GRAPH, rejected=tmp_path / "rejected")
    with pytest.raises(ModelError, match="labels, rewards, initial and terminal are for a graph made from the log"):
        Log(path, GRAPH, labels={"goal": ["a"]})
    with pytest.raises(ModelError, match="a stream needs a graph"):
        open_log("-")
    assert isinstance(open_log(path, GRAPH, on_error="skip"), Log)


# -- going on ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_log_is_not_continued_in_another_file(tmp_path: Path, suffix: str) -> None:
    rows: list[Row] = [("1", "a", "on", "b"), ("2", "b", "on", "c"), ("3", "c", "on", "d")]
    log = open_skipping(write(rows, tmp_path / f"one{suffix}"), GRAPH)
    log.collect(order(GRAPH, 1))
    state = log.state()
    others = {
        "this is not the data the run began with: bytes 0 to": write(
            [("1", "d", "on", "a"), *rows[1:]], tmp_path / f"two{suffix}"
        ),
        "give the file the run began with|this is not the data": write([], tmp_path / f"three{suffix}"),
    }
    for message, path in others.items():
        with pytest.raises(FormatError, match=message):
            open_skipping(path, GRAPH).restore(state)


def test_a_batch_that_was_interrupted_did_not_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = [(str(i), "a", "on", "b") for i in range(50)]
    log = open_skipping(write(rows, tmp_path / "log.csv"), GRAPH, block=40)
    log.collect(order(GRAPH, 7))
    state, read, calls = log.state(), log._reader.read, 0

    def interrupted() -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return read()

    with monkeypatch.context() as patch:
        patch.setattr(log._reader, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            log.collect(order(GRAPH, 40))
    assert pack(log.state()) == pack(state)
    _, trajectories, steps, _ = exhaust(log, order(GRAPH, 40))
    assert (trajectories, steps) == (43, 43)


def test_collect_before_begin(tmp_path: Path) -> None:
    log = Log(write([], tmp_path / "log.csv"), GRAPH)
    with pytest.raises(ModelError, match="call begin before collect"):
        log.collect(order(GRAPH))


def test_rows_of_a_trajectory_that_stand_apart_are_reported(tmp_path: Path) -> None:
    rows: list[Row] = [("1", "a", "on", "b"), ("2", "b", "on", "c"), ("1", "b", "on", "c")]
    for suffix in FORMATS:
        log = open_skipping(write(rows, tmp_path / f"log{suffix}"), GRAPH)
        assert exhaust(log, order(GRAPH))[1:3] == (3, 3)
        assert codes_of(log.report())[0] is DiagnosticCode.ROWS_APART


# -- the graph of a log --------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_graph_of_what_the_log_shows(tmp_path: Path, suffix: str) -> None:
    rows: list[Row] = [("1", "a", "on", "b"), ("1", "b", "on", "c"), None, ("2", "a", "on", "b"), ("2", "b", "on", "a")]
    path = write(rows, tmp_path / f"log{suffix}")
    graph = graph_of_log(path, labels={"goal": ["c"], "early": lambda name: name < "b"})
    assert graph.state_names == ("a", "b", "c", "anything else")
    assert [graph.action_name(c) for c in range(graph.choices)] == ["on", "on", "unknown", "stay"]
    assert graph.successor.tolist() == [1, 3, 2, 0, 3, 3, 3]
    assert graph.rest == 3
    assert {name: np.flatnonzero(members).tolist() for name, members in graph.labels.items()} == {
        "end": [],
        "unexplored": [2],
        "goal": [2],
        "early": [0],
        "anything else": [3],
    }
    told = graph_of_log(path, terminal=["c"])
    assert told.successor.tolist() == [1, 3, 2, 0, 3, 2, 3]
    assert np.flatnonzero(told.labels["end"]).tolist() == [2]
    with pytest.raises(ModelError, match="terminal: the state 'b' was left, so it is not terminal"):
        graph_of_log(path, terminal=["b"])
    bare = graph_of_log(path, rest=False)
    assert bare.rest is None
    assert [bare.action_name(c) for c in range(bare.choices)] == ["on", "on", "stay"]
    assert bare.successor.tolist() == [1, 2, 0, 2]
    assert graph_of_log(path, initial="b").initial == 1
    with pytest.raises(
        ModelError, match="the initial state 'q' was not observed; some of the states are 'a', 'b', 'c'"
    ):
        graph_of_log(path, initial="q")
    log = Log(path, on_error="skip", labels={"goal": ["c"]})
    log.begin()
    counts, *_ = exhaust(log, order(log.graph))
    assert counts.tolist() == [2, 0, 1, 1, 0, 0, 0]
    shown = {"name": str(path), "states": 4, "transitions": 7, "unlisted": Unlisted.COUNTED}
    assert (stated(log.report()[0]).code, stated(log.report()[0]).data) == (DiagnosticCode.LOG_GRAPH, shown)
    assert (log.provenance().graph, log.provenance().rest, log.provenance().rejected) == ("observed", True, 1)


def test_states_of_which_the_log_says_that_they_end_trajectories(tmp_path: Path) -> None:
    told = [("a", "go", "b", True), ("a", "go", "c", True), ("a", "go", "c", False), ("a", "go", "d", False)]
    (tmp_path / "log.csv").write_text(
        "state,action,next,end\n" + "".join(f"{s},{a},{t},{str(end).lower()}\n" for s, a, t, end in told)
    )
    records = [{"state": s, "action": a, "next": t, "end": end} for s, a, t, end in told]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pl = pytest.importorskip("polars")
    pl.DataFrame(records).write_parquet(tmp_path / "log.parquet")
    for suffix in FORMATS:
        log = Log(tmp_path / f"log{suffix}")
        graph = log.graph
        assert graph.state_names == ("a", "b", "c", "d", "anything else")
        assert np.flatnonzero(graph.labels["end"]).tolist() == [
            1
        ]  # c ends some trajectories, and nobody knows about others
        assert np.flatnonzero(graph.labels["unexplored"]).tolist() == [2, 3]
        log.begin()
        *_, batches = exhaust(log, order(graph, 1))
        assert [batch.trajectories for batch in batches] == [1, 1, 1, 1]
    (tmp_path / "log.csv").write_text("state,action,next,end\na,go,b,maybe\n")
    log = Log(tmp_path / "log.csv", GRAPH)
    log.begin()
    with pytest.raises(FormatError, match="line 2: the end is 'maybe'; it is true or false, 1 or 0"):
        log.collect(order(GRAPH))
    pl.DataFrame({"state": ["a"], "action": ["on"], "next": ["b"], "end": ["soon"]}).write_parquet(
        tmp_path / "x.parquet"
    )
    with pytest.raises(FormatError, match='the column "end" must hold true and false, or 1 and 0'):
        Log(tmp_path / "x.parquet", GRAPH)


def test_labels_of_a_log_name_states_that_exist(tmp_path: Path) -> None:
    path = write([("1", "street", "walk", "home")], tmp_path / "log.csv")
    for make in (graph_of_log, Log):
        with pytest.raises(ModelError, match="label \"goal\": there is no state 'hoem'; the nearest is 'home'"):
            make(path, labels={"goal": ["hoem"]})
    with pytest.raises(ModelError, match="give a list of states"):
        Log(path, labels={"goal": "home"})
    anything = write([("1", "street", "walk", "anything else")], tmp_path / "odd.csv")
    with pytest.raises(ModelError, match="is the name of what was not observed; rename"):
        Log(anything)
    assert Log(anything, rest=False).graph.states == 2


def test_one_wrong_row_makes_a_state_of_which_nothing_is_known(tmp_path: Path) -> None:
    rows: list[Row] = [(str(i), "street", "walk", "home" if i % 2 else "street") for i in range(2000)]
    rows[77] = ("77", "street", "walk", "hoem")
    graph = Log(write(rows, tmp_path / "log.csv"), labels={"goal": ["home"]}).graph
    typo = graph.state_index("hoem")
    first = int(graph.choice_ptr[graph.state_ptr[typo]])
    assert graph.successor[first] == graph.rest
    assert not graph.labels["goal"][typo]


@pytest.mark.parametrize("suffix", FORMATS)
def test_rows_that_an_observed_graph_does_not_list_are_anything_else(tmp_path: Path, suffix: str) -> None:
    old: list[Row] = [("1", "a", "on", "b"), ("1", "b", "on", "a")]
    graph = graph_of_log(write(old, tmp_path / "old.csv"))
    new: list[Row] = [
        ("1", "a", "on", "b"),
        ("1", "b", "on", "new"),  # anything else
        ("1", "new", "on", "a"),  # beyond what was observed
        ("1", "a", "on", "a"),  # anything else
        ("1", "a", "off", "b"),  # an action beyond what was observed
    ]
    log = open_skipping(write(new, tmp_path / f"new{suffix}"), graph)
    counts, *_ = exhaust(log, order(graph))
    assert counts[graph.successor == graph.rest].sum() == 2
    assert counts.sum() == 3
    known = log.provenance()
    assert (known.rest, known.unlisted, known.rejected, known.rows) == (True, 0, 0, 5)
    assert log.report()[0] == say(DiagnosticCode.REJECTED_ROWS, rejected=2, rows=5, path=None)


def test_a_log_without_rows_shows_no_graph(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no row from which a graph could be made; give a graph"):
        graph_of_log(write([], tmp_path / "log.csv"))
