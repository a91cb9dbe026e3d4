"""Logs that are damaged, changed or made to do harm: one error with a place, or a rejected row, and bounded memory."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umdp import FormatError, UmdpError
from umdp.source import Log, Stream, graph_of_log
from umdp.source.logs.prefix import Prefix

from .recordings import FORMATS, Row, exhaust, open_skipping, order, small_graph, write

GRAPH = small_graph()
GOOD = b'{"state":"a","action":"on","next":"b"}\n'
DEEP = 100_000


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b'{"state":"a","action":"on","next":"b","x":' + b"[" * DEEP + b"]" * DEEP + b"}", "nested too deeply"),
        (b'{"x":' * DEEP + b"1" + b"}" * DEEP, "nested too deeply"),
        (b'{"state":' + b"[" * DEEP + b"]" * DEEP + b',"action":"on","next":"b"}', "nested too deeply"),
        (b'{"state":' + b"9" * 5000 + b',"action":"on","next":"b"}', "integer value out of range"),
        (b'{"state":1e400,"action":"on","next":"b"}', "number out of range"),
        (b'{"state":NaN,"action":"on","next":"b"}', "the line is not a JSON object"),
        (b'{"state":"\\ud800","action":"on","next":"b"}', "surrogate"),
        (b"\x00\x01\xff\xfe" * 100, "the line is not a JSON object|not text in UTF-8"),
        (b'{"state":"a","action":"on","ne', "truncated"),
    ],
)
def test_a_hostile_record_is_one_rejected_row(tmp_path: Path, record: bytes, message: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(GOOD + record + b"\n" + GOOD)
    log = open_skipping(path, GRAPH)
    assert exhaust(log, order(GRAPH))[2] == 2
    assert log.provenance().rejected == 1
    strict = Log(path, GRAPH)
    strict.begin()
    with pytest.raises(FormatError, match=message) as caught:
        exhaust(strict, order(GRAPH))
    assert "line 2" in str(caught.value)
    assert graph_of_log(path).states == 3


@given(data=st.binary(max_size=300), suffix=st.sampled_from(FORMATS), head=st.booleans())
def test_whatever_a_file_holds_it_is_rows_rejected_rows_or_one_error(data: bytes, suffix: str, head: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"log{suffix}")
        path.write_bytes((b"state,action,next\n" if head and suffix == ".csv" else b"PAR1" if head else b"") + data)
        for use in (lambda: exhaust(open_skipping(path, GRAPH), order(GRAPH)), lambda: graph_of_log(path)):
            with suppress(UmdpError):
                use()


def test_a_first_line_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"x" * 10_000_000)
    with pytest.raises(FormatError, match="line 1: the first line has more than 4194304 bytes; is this CSV"):
        Log(path, GRAPH)


def test_columns_of_parquet_that_cannot_name_anything(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    path = tmp_path / "log.parquet"
    pl.DataFrame({"state": ["a"], "action": [[1]], "next": ["b"]}).write_parquet(path)
    with pytest.raises(FormatError, match='the column "action", the action, must hold text or numbers, not List'):
        Log(path, GRAPH)
    pl.DataFrame({"state": ["a"] * 999, "action": ["on"] * 999, "next": ["b"] * 999}).write_parquet(path)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="the file is not Parquet"):
        Log(path, GRAPH)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process's memory")
def test_a_decompression_bomb_is_read_in_bounded_memory(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    path, rows = tmp_path / "log.parquet", 2_000_000
    frame = pl.select(state=pl.repeat("a" * 300, rows), action=pl.repeat("on", rows), next=pl.repeat("b", rows))
    frame.write_parquet(path, row_group_size=rows)
    assert path.stat().st_size < 100_000  # of 600 MB
    code = (
        "import sys\nfrom umdp.source import graph_of_log\n"
        "graph_of_log(sys.argv[1])\n"
        "lines = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "print(int(lines['VmHWM'].split()[0]) // 1024)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True)
    assert int(run.stdout) < 400


# -- the checksum of what was read ---------------------------------------------------------------------------


@given(data=st.binary(max_size=50_000), cuts=st.lists(st.integers(0, 50_000), max_size=8))
def test_a_checksum_does_not_depend_on_how_the_bytes_come(data: bytes, cuts: list[int]) -> None:
    whole, parts = Prefix(), Prefix()
    whole.extend(data)
    at = 0
    for cut in sorted(cuts):
        parts.extend(data[at:cut])
        at = max(at, min(cut, len(data)))
    parts.extend(data[at:])
    assert parts.state() == whole.state()
    assert parts.offset == len(data)


@settings(max_examples=50)
@given(size=st.integers(1, 400_000), data=st.data())
def test_a_single_changed_byte_is_noticed_and_its_place_told(size: int, data: st.DataObject) -> None:
    original = bytes(size)
    at = data.draw(st.integers(0, size - 1))
    changed = original[:at] + b"x" + original[at + 1 :]
    known, found = Prefix(), Prefix()
    known.extend(original)
    assert len(known.state()["points"]) <= 32  # type: ignore[arg-type]
    found.extend(changed)
    with pytest.raises(FormatError, match="this is not the data the run began with: bytes") as caught:
        found.compare(known.state(), "log.csv")
    words = str(caught.value).replace(",", "").split("bytes ")[1].split()
    assert int(words[0]) <= at < int(words[2])


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_change_anywhere_in_what_was_read_is_noticed(tmp_path: Path, suffix: str) -> None:
    rows: list[Row] = [(str(i), "a", "back", "ad"[i % 3 // 2]) for i in range(9000)]
    path = write(rows, tmp_path / f"log{suffix}")
    log = open_skipping(path, GRAPH, block=5000)
    for _ in range(3):
        log.collect(order(GRAPH, 2000))
    state = log.state()
    again = open_skipping(path, GRAPH, block=777)
    again.restore(state)
    assert exhaust(again, order(GRAPH))[2] == 3000
    middle: list[Row] = [*rows[:4000], ("4000", "a", "back", "da"[4000 % 3 // 2]), *rows[4001:]]
    write(middle, path)
    with pytest.raises(FormatError, match="this is not the data the run began with"):
        open_skipping(path, GRAPH).restore(state)
    if suffix != ".parquet":  # a file of lines may grow, and what has not been read may change
        write([*rows[:8000], ("8000", "b", "wait", "b"), *rows[8001:], ("x", "a", "on", "b")], path)
        later = open_skipping(path, GRAPH)
        later.restore(state)
        assert exhaust(later, order(GRAPH))[2] == 3001


def test_other_data_sent_again_is_noticed() -> None:
    records = [b'{"trajectory":%d,"state":"a","action":"on","next":"b"}\n' % i for i in range(100)]
    first = Stream(io.BytesIO(b"".join(records)), GRAPH)
    first.begin()
    first.collect(order(GRAPH, 50))
    state = first.state()

    def resumed(data: list[bytes], **options: Any) -> Stream:
        stream = Stream(io.BytesIO(b"".join(data)), GRAPH, **options)
        stream.begin()
        stream.restore(state)
        return stream

    assert exhaust(resumed(records, block=100), order(GRAPH))[2] == 50
    changed = [*records[:20], records[0], *records[21:]]
    with pytest.raises(FormatError, match="this is not the data the run began with"):
        resumed(changed, block=100).collect(order(GRAPH))
    waiting = resumed(records)
    assert waiting.state()["prefix"] == state["prefix"]
