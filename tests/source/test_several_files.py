"""Logs of several files, compressed or not, in whatever dialect of CSV; and streams of CSV."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from tests.source.recordings import order, small_graph

from umdp import UmdpError
from umdp.errors import FormatError
from umdp.source import Log, Stream
from umdp.statements import Code, stated

GRAPH = small_graph()
WALK = [("1", "a", "on", "b"), ("1", "b", "on", "c"), ("2", "a", "back", "d"), ("2", "d", "on", "a")]


def text(rows: list[tuple[str, ...]], separator: str = ",") -> str:
    head = ("trajectory", "state", "action", "next")
    return "".join(separator.join(row) + "\n" for row in [head, *rows])


def counted(source: Log | Stream) -> tuple[list[int], int]:
    source.begin()
    counts, trajectories = np.zeros(source.graph.transitions, int), 0
    while True:
        batch = source.collect(order(source.graph))
        counts += batch.counts
        trajectories += batch.trajectories
        if batch.ended:
            source.close()
            return counts.tolist(), trajectories


@pytest.fixture
def expected(tmp_path: Path) -> tuple[list[int], int]:
    (tmp_path / "one.csv").write_text(text(WALK))
    return counted(Log(tmp_path / "one.csv", GRAPH))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_separators_and_byte_order_marks(
    tmp_path: Path, expected: tuple[list[int], int], separator: str, mark: str, suffix: str
) -> None:
    data = (mark + text(WALK, separator)).encode()
    path = tmp_path / f"log{suffix}"
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    assert counted(Log(path, GRAPH)) == expected
    assert counted(Stream(io.BytesIO(data), GRAPH)) == expected


@pytest.mark.parametrize("how", ["folder", "pattern"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet"])
def test_a_folder_and_a_pattern_are_one_data_set(tmp_path: Path, how: str, suffix: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, rows in (("b", WALK[2:]), ("a", WALK[:2]), ("c", WALK)):
        _write(folder / f"{name}{suffix}", rows)
    (folder / "notes.txt").write_text("not a log")
    source = Log(folder if how == "folder" else str(folder / f"*{suffix}"), GRAPH)
    (tmp_path / "all.csv").write_text(text([*WALK, *((f"again {t}", *rest) for t, *rest in WALK)]))
    assert counted(source) == counted(Log(tmp_path / "all.csv", GRAPH))
    assert "(3 files)" in source._reader.name
    assert counted(source) == counted(Log(tmp_path / "all.csv", GRAPH)), "begin starts with the first file again"


def _write(path: Path, rows: list[tuple[str, ...]]) -> None:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text(rows).encode()))
    elif path.suffix == ".csv":
        path.write_text(text(rows))
    elif path.suffix == ".jsonl":
        line = '{{"trajectory": "{}", "state": "{}", "action": "{}", "next": "{}"}}\n'
        path.write_text("".join(line.format(*row) for row in rows))
    else:
        import polars

        polars.DataFrame(rows, schema=["trajectory", "state", "action", "next"], orient="row").write_parquet(path)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet"])
@pytest.mark.parametrize("batches", [0, 1, 2, 3, 4, 5, 6])
def test_several_files_restored_anywhere(tmp_path: Path, suffix: str, batches: int) -> None:
    for name, rows in (("a", WALK[:2]), ("b", WALK), ("c", []), ("d", WALK[2:]), ("e", [])):
        _write(tmp_path / f"{name}{suffix}", rows)
    if suffix == ".parquet":  # of a table without rows the types of its columns are not known
        (tmp_path / "c.parquet").unlink(), (tmp_path / "e.parquet").unlink()
    first, second = (Log(tmp_path, GRAPH, on_error="skip") for _ in range(2))
    first.begin(), second.begin()
    one = order(GRAPH, trajectories=1)
    for _ in range(batches):
        first.collect(one)
    second.restore(first.state())
    for _ in range(6):
        ahead, resumed = first.collect(one), second.collect(one)
        assert ahead.counts.tolist() == resumed.counts.tolist()
        assert (ahead.trajectories, ahead.ended) == (resumed.trajectories, resumed.ended)
    ends = [each.state() for each in (first, second)]
    assert {k: v for k, v in ends[0].items() if k in ("file", "read", "at")} == {
        k: v for k, v in ends[1].items() if k in ("file", "read", "at")
    }


def test_files_that_changed_or_came_between_are_noticed(tmp_path: Path) -> None:
    for name in "ace":
        _write(tmp_path / f"{name}.csv", WALK)
    log = Log(tmp_path, GRAPH)
    log.begin()
    for _ in range(3):
        log.collect(order(GRAPH, trajectories=1))
    state = log.state()

    def again() -> None:
        other = Log(tmp_path, GRAPH)
        other.begin()
        other.restore(state)

    again()
    _write(tmp_path / "f.csv", WALK)
    again()  # what comes later was not read yet
    _write(tmp_path / "b.csv", WALK)
    with pytest.raises(FormatError, match="files were added or removed"):
        again()
    (tmp_path / "b.csv").unlink()
    (tmp_path / "a.csv").write_text(text(WALK).replace("b", "c"))
    with pytest.raises(FormatError, match=r"a\.csv: this is not the data the run began with"):
        again()


def test_bad_rows_of_several_files_name_the_file(tmp_path: Path) -> None:
    _write(tmp_path / "a.csv", WALK)
    _write(tmp_path / "b.csv", [*WALK, ("3", "a", "fly", "b")])
    log = Log(tmp_path, GRAPH)
    with pytest.raises(FormatError, match=r"\(2 files\): b\.csv, line 6: state a has no action 'fly'"):
        counted(log)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.csv.gz", b"not gzip", "not what gzip wrote"),
        ("x.csv.gz", gzip.compress(text(WALK * 1000).encode())[:-30], "not what gzip wrote, or was cut"),
        ("nothing/*.csv", b"", "no file fits this pattern"),
    ],
)
def test_what_cannot_be_opened_is_one_error(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    if data:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=message):
        counted(Log(str(tmp_path / name), GRAPH))


def test_parquet_and_text_are_not_mixed(tmp_path: Path) -> None:
    _write(tmp_path / "a.csv", WALK)
    _write(tmp_path / "b.parquet", WALK)
    with pytest.raises(FormatError, match="cannot be one log"):
        Log(tmp_path, GRAPH)


@pytest.mark.parametrize("data", [b"PAR1xxxx\n", gzip.compress(b"x" * 100, mtime=0) + b"\n"], ids=["parquet", "gzip"])
def test_streams_are_text(data: bytes) -> None:
    with pytest.raises(FormatError, match="this is not text"):
        counted(Stream(io.BytesIO(data), GRAPH))


def test_a_csv_stream_is_sent_again_and_goes_on(expected: tuple[list[int], int]) -> None:
    data = text(WALK).encode()
    first = Stream(io.BytesIO(data), GRAPH)
    first.begin()
    batch = first.collect(order(GRAPH, trajectories=1))
    second = Stream(io.BytesIO(data), GRAPH)
    second.begin()
    second.restore(first.state())
    rest = second.collect(order(GRAPH))
    assert ((batch.counts + rest.counts).tolist(), batch.trajectories + rest.trajectories) == expected
    other = Stream(io.BytesIO(data.replace(b"1,a,on,b", b"1,b,on,a")), GRAPH)
    other.begin()
    other.restore(first.state())
    with pytest.raises(UmdpError, match="not the data the run began with"):
        other.collect(order(GRAPH))


@pytest.mark.parametrize("columns", [{"state": "unt"}, {"sate": "state"}])
def test_the_nearest_column_is_named(tmp_path: Path, columns: dict[str, str]) -> None:
    (tmp_path / "log.csv").write_text("trajectory,unit,state,action,next\n1,a,a,on,b\n")
    with pytest.raises(FormatError, match=r"did you mean '(unit|state)'"):
        Log(tmp_path / "log.csv", GRAPH, columns=columns)


@pytest.mark.parametrize("row", ["1,,on,b", "1,a,,b", "1,a,on,", '1,"a",on," "'])
def test_an_empty_field_is_malformed(tmp_path: Path, row: str) -> None:
    (tmp_path / "log.csv").write_text(text(WALK) + row + "\n")
    with pytest.raises(
        FormatError, match=r"line 6: the (line has no (state|action)|row does not say where the step led)"
    ):
        counted(Log(tmp_path / "log.csv", GRAPH))
    log = Log(tmp_path / "log.csv", GRAPH, on_error="skip")
    counted(log)
    assert (log.provenance().rejected, log.provenance().unlisted) == (1, 0)


def test_a_step_that_led_nobody_knows_where_is_anything_else(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(text([*WALK, ("3", "a", "on", ""), ("3", "b", "on", "c")]))
    log = Log(tmp_path / "log.csv")
    counts, _ = counted(log)
    assert sum(counts) == 6
    assert np.array(counts)[log.graph.successor == log.graph.rest].sum() == 1
    assert "" not in (log.graph.state_names or ())
    assert log.provenance().rejected == 0


def test_what_is_good_before_a_bad_line_is_kept(tmp_path: Path) -> None:
    data = text(WALK * 50) + "1,a,on\n" + text(WALK)
    stream = Stream(io.BytesIO(data.encode()), GRAPH)
    stream.begin()
    assert stream.collect(order(GRAPH)).steps == 200
    with pytest.raises(FormatError, match="line 202: the line has 3 fields"):
        stream.collect(order(GRAPH))
    assert stream.state()["read"] == 200


def test_rows_spoilt_by_chance_are_a_condition_of_the_promise(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(text(WALK) + "1,a\n")
    for on_error, rejected in (("skip", 1), ("chance", 0)):
        log = Log(tmp_path / "log.csv", GRAPH, on_error=on_error)  # type: ignore[arg-type]
        counted(log)
        known = log.provenance()
        assert known.rejected == rejected
        said = [each.data for each in map(stated, known.assumptions) if each.code is Code.SPOILT]
        assert said == ([{"rejected": 1, "rows": 5}] if on_error == "chance" else [])
    (tmp_path / "log.csv").write_text(text([*WALK, ("3", "a", "on", "d")]))
    log = Log(tmp_path / "log.csv", GRAPH, on_error="chance")
    counted(log)
    assert log.provenance().unlisted == 1, "rows that the graph does not list were left out by their outcome"
