"""Streams: followed as they grow, each record counted exactly once, also after a kill."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import FormatError
from umdp.run.codec import unpack
from umdp.source import Stream, open_log
from umdp.source.logs.line_stream import FileFeed, PipeFeed
from umdp.statements import DiagnosticCode, say, stated

from .recordings import Row, count_plainly, exhaust, logs, order, small_graph

GRAPH = small_graph()


def line(row: tuple[Any, str, str, str], **more: Any) -> bytes:
    record = dict(zip(("trajectory", "state", "action", "next"), row, strict=True)) | more
    return json.dumps({k: v for k, v in record.items() if v is not None}).encode() + b"\n"


def text_of(rows: list[Row]) -> bytes:
    return b"".join(b"[\n" if row is None else line(row) for row in rows)


def stream(path: Any, **options: Any) -> Stream:
    source = Stream(path, GRAPH, **options)
    source.begin()
    return source


# -- what a record says --------------------------------------------------------------------------------------


def test_trajectories_end_where_they_say_so_where_the_name_changes_and_where_records_do_not_join() -> None:
    records = [
        line((None, "a", "on", "b")),
        line((None, "b", "on", "a")),
        line((None, "c", "on", "c")),  # does not join: the second
        line((None, "c", "on", "c"), end=True),
        line((None, "c", "on", "d")),  # joins, but the one before was the last: the third
        line(("x", "d", "on", "a")),  # named: the fourth
        line(("x", "a", "on", "b")),
        line(("y", "b", "on", "c")),  # another name: the fifth
    ]
    source = stream(io.BytesIO(b"".join(records)))
    counts, trajectories, steps, batches = exhaust(source, order(GRAPH, 1))
    assert (trajectories, steps, counts.sum()) == (5, 8, 8)
    assert [batch.steps for batch in batches] == [2, 2, 1, 2, 1]
    assert source.report() == [say(DiagnosticCode.RECORDS, records=8, name="stream")]


def test_a_named_trajectory_that_does_not_join_is_an_error() -> None:
    source = stream(io.BytesIO(line(("x", "a", "on", "b")) + line(("x", "c", "on", "d"))))
    assert source.collect(order(source.graph)).steps == 1  # what was good before it is not lost
    with pytest.raises(FormatError, match="line 2: the row starts in state c, but the row before it in its trajectory"):
        source.collect(order(GRAPH))


@given(rows=logs(), sizes=st.lists(st.integers(1, 60), min_size=1, max_size=8))
def test_counts_do_not_depend_on_how_the_bytes_arrive(rows: list[Row], sizes: list[int]) -> None:
    class Trickle(io.BytesIO):
        turn = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.turn += 1
            return super().read(sizes[self.turn % len(sizes)])

    source = stream(Trickle(text_of(rows)), on_error="skip")
    counts, trajectories, steps, _ = exhaust(source, order(GRAPH, 3))
    plain = count_plainly(rows, GRAPH)
    assert counts.tolist() == plain.array(GRAPH).tolist()
    assert (trajectories, steps) == (plain.trajectories, plain.steps)


# -- following -----------------------------------------------------------------------------------------------


def test_a_line_counts_once_its_newline_is_there(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    whole = line(("1", "a", "on", "b"))
    path.write_bytes(whole + whole[:10])
    source = stream(path, follow=True, patience=0.05, poll=0.01)
    batch = source.collect(order(GRAPH))
    assert (batch.steps, batch.ended) == (1, False)
    assert source.state()["offset"] == len(whole)
    assert source.collect(order(GRAPH)).steps == 0
    with path.open("ab") as file:
        file.write(whole[10:].replace(b'"1"', b'"2"'))
    assert source.collect(order(GRAPH)).steps == 1
    assert source.state()["offset"] == 2 * len(whole)
    source.close()
    # What is not followed is complete, so that its last line needs no newline.
    path.write_bytes(whole.rstrip())
    batch = stream(path).collect(order(GRAPH))
    assert (batch.steps, batch.ended) == (1, True)


def test_a_batch_waits_no_longer_than_its_patience_and_ends_early_when_its_order_is_met(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(b"")
    source = stream(path, follow=True, patience=0.2, poll=0.01)
    begun = time.monotonic()
    batch = source.collect(order(GRAPH))
    assert 0.15 < time.monotonic() - begun < 2
    assert (batch.steps, batch.trajectories, batch.ended) == (0, 0, False)
    path.write_bytes(line(("1", "a", "on", "b"), end=True))
    patient = stream(path, follow=True, patience=60, poll=0.01)
    begun = time.monotonic()
    assert patient.collect(order(GRAPH, 1)).trajectories == 1
    assert time.monotonic() - begun < 30


def test_a_trajectory_goes_on_in_the_next_batch(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(line(("1", "a", "on", "b")))
    source = stream(path, follow=True, patience=0.05, poll=0.01)
    assert (source.collect(order(GRAPH)).trajectories, json.loads(source.state()["trajectory"])) == (1, "1")
    with path.open("ab") as file:
        file.write(line(("1", "b", "on", "c")) + line(("1", "d", "on", "a")))
    assert source.collect(order(GRAPH)).steps == 1
    with pytest.raises(FormatError, match="line 3: the row starts in state d"):
        source.collect(order(GRAPH))
    again = Stream(path, GRAPH, follow=True, patience=0.05, on_error="skip")
    again.begin()
    again.restore(source.state())
    batch = again.collect(order(GRAPH))
    assert (batch.trajectories, batch.steps) == (0, 0)  # the row before it was counted already


def test_a_file_that_is_cut_or_replaced_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    record = line(("1", "b", "wait", "b"))
    for change in (lambda: path.write_bytes(record), lambda: os.replace(tmp_path / "other", path), path.unlink):
        path.write_bytes(2 * record)
        (tmp_path / "other").write_bytes(3 * record)
        source = stream(path, follow=True, patience=0.02, poll=0.01)
        source.collect(order(GRAPH))
        change()
        with pytest.raises(FormatError, match="the file was cut or replaced after"):
            source.collect(order(GRAPH))
        source.close()


def test_a_pipe_is_followed_as_it_fills() -> None:
    reading, writing = os.pipe()
    source = stream(os.fdopen(reading, "rb"), follow=True, patience=0.05)
    assert source.collect(order(GRAPH)).steps == 0
    record = line(("1", "b", "wait", "b"))
    os.write(writing, record + record[:5])
    assert source.collect(order(GRAPH)).steps == 1
    os.write(writing, record[5:])
    assert source.collect(order(GRAPH)).steps == 1

    def later() -> None:
        time.sleep(0.1)
        os.write(writing, 3 * record)
        os.close(writing)

    thread = threading.Thread(target=later)
    thread.start()
    assert exhaust(source, order(GRAPH))[2] == 3
    thread.join()
    assert stated(source.report()[0]).data["records"] == 5


def test_a_pipe_that_is_sent_again_is_passed_over_up_to_where_it_was() -> None:
    records = [line((str(i), "a", "on", "b")) for i in range(9)]
    first = stream(io.BytesIO(b"".join(records)))
    first.collect(order(GRAPH, 4))
    state = first.state()
    for last in (records[-1], records[-1].rstrip()):
        second = stream(io.BytesIO(b"".join([*records[:-1], last])), block=100)
        second.restore(state)
        assert exhaust(second, order(GRAPH, 2))[1:3] == (5, 5)
    short = stream(io.BytesIO(b"".join(records[:3])))
    short.restore(state)
    with pytest.raises(
        FormatError, match="it ended 1 lines before the point at which the run was stopped; send the same"
    ):
        short.collect(order(GRAPH))
    # Going back is no error by itself, since a run that is stopped goes back and then ends.
    first.collect(order(GRAPH, 2))
    first.restore(state)
    with pytest.raises(FormatError, match="what was read cannot be read again"):
        first.collect(order(GRAPH))


def test_which_feed_a_name_stands_for(tmp_path: Path) -> None:
    assert isinstance(open_log("-", GRAPH)._reader._feed, PipeFeed)  # type: ignore[attr-defined]
    assert isinstance(open_log(tmp_path / "x.jsonl", GRAPH, follow=True)._reader._feed, FileFeed)  # type: ignore[attr-defined]


def test_a_line_without_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("umdp.source.logs.line_stream.LONGEST_LINE", 1000)
    (tmp_path / "x.jsonl").write_bytes(b"x" * 5000)
    with pytest.raises(FormatError, match="line 1: the line has more than 1000 bytes; is this a file of lines"):
        stream(tmp_path / "x.jsonl", block=100).collect(order(GRAPH))


# -- kills ---------------------------------------------------------------------------------------------------

READER = """
import io, os, sys
import numpy as np
from umdp.run.codec import pack, unpack
from tests.source.recordings import order, small_graph
from umdp.source import Stream

path, store, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
graph = small_graph()
first = Stream(io.BytesIO(b'{"state": "a", "action": "on", "next": "b"}'), graph)  # has kernels loaded
first.begin(0)
first.collect(order(graph, 1))
source = Stream(path, graph, follow=path != "-", patience=0.02, poll=0.001, on_error="skip", rejected=store + ".rejected")
source.begin(0)
counts, trajectories = np.zeros(graph.transitions, dtype=np.int64), 0
if os.path.exists(store):
    kept = unpack(open(store, "rb").read())
    source.restore(kept["state"])
    counts, trajectories = kept["counts"], kept["trajectories"]
print("up", flush=True)
quota = 1
while True:
    batch = source.collect(order(graph, 1 + quota % 7, quota % 1000))
    quota = quota * 3 % 1001
    counts, trajectories = counts + batch.counts, trajectories + batch.trajectories
    state = source.state()
    with open(store + ".part", "wb") as file:
        file.write(pack({"state": state, "counts": counts, "trajectories": trajectories}))
    os.replace(store + ".part", store)
    if batch.ended or state["read"] >= last:
        break
"""


def records(number: int, seed: int) -> list[Row]:
    """Return a long walk, with a mistake now and then."""
    rng = random.Random(seed)
    rows: list[Row] = []
    state, name = 0, 0
    for _ in range(number):
        if rng.random() < 0.1:
            name, state = name + 1, rng.randrange(GRAPH.states)
        if rng.random() < 0.01:
            rows.append(None if rng.random() < 0.5 else (str(name), "zz", "on", "a"))
            continue
        choice = rng.randrange(int(GRAPH.state_ptr[state]), int(GRAPH.state_ptr[state + 1]))
        transition = rng.randrange(int(GRAPH.choice_ptr[choice]), int(GRAPH.choice_ptr[choice + 1]))
        target = int(GRAPH.successor[transition])
        rows.append((str(name), GRAPH.state_name(state), GRAPH.action_name(choice), GRAPH.state_name(target)))
        state = target
    return rows


def start(path: str, store: Path, last: int, **options: Any) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", READER, path, str(store), str(last)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        stdout=subprocess.PIPE,
        **options,
    )


def check(store: Path, rows: list[Row]) -> None:
    kept = unpack(store.read_bytes())
    plain = count_plainly(rows, GRAPH)
    assert kept["counts"].tolist() == plain.array(GRAPH).tolist()
    assert kept["trajectories"] == plain.trajectories
    assert kept["state"]["read"] == len(rows)
    rejected = Path(f"{store}.rejected").read_text().splitlines()
    assert [json.loads(each)["where"] for each in rejected] == [f"line {number + 1}" for number in plain.bad]


@pytest.mark.parametrize(
    ("number", "kills"), [(10_000, 3), pytest.param(1_000_000, 20, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_every_record_of_a_growing_file_is_counted_once_whenever_the_reader_is_killed(
    tmp_path: Path, number: int, kills: int
) -> None:
    rows = records(number, seed=number)
    data = text_of(rows)
    path, store = tmp_path / "stream.jsonl", tmp_path / "store.json"
    path.write_bytes(b"")
    rng = random.Random(7)

    killed = threading.Event()

    def write_slowly() -> None:
        at = 0
        with path.open("ab", buffering=0) as file:
            while at < len(data):
                if at > 0.9 * len(data):  # however fast it is read, kills fall into the middle
                    killed.wait()
                size = rng.randrange(1, max(2, len(data) // 200))
                file.write(data[at : at + size])
                at += size
                time.sleep(0.002)

    writer = threading.Thread(target=write_slowly)
    writer.start()
    seen = []
    for _ in range(kills):
        process = start(str(path), store, number)
        assert process.stdout is not None
        process.stdout.readline()
        while not store.exists():
            assert process.poll() is None
            time.sleep(0.002)
        time.sleep(rng.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        seen.append(unpack(store.read_bytes())["state"]["read"])
    killed.set()
    writer.join()
    assert any(0 < read < number for read in seen), "no kill fell into the middle of the stream"
    process = start(str(path), store, number)
    process.communicate()
    assert process.returncode == 0
    check(store, rows)


def test_every_record_of_standard_input_is_counted_once_if_it_is_sent_again(tmp_path: Path) -> None:
    rows = records(20_000, seed=3)
    data, store = text_of(rows), tmp_path / "store.json"
    for size in (len(data) // 3, len(data) // 2):
        process = start("-", store, len(rows), stdin=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(data[:size])
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
    assert unpack(store.read_bytes())["state"]["read"] > 1000
    process = start("-", store, len(rows), stdin=subprocess.PIPE)
    process.communicate(data)
    assert process.returncode == 0
    check(store, rows)


def test_a_state_is_made_of_numbers_text_lists_and_arrays() -> None:
    source = stream(io.BytesIO(line((7, "a", "on", "b"))))
    source.collect(order(GRAPH))
    assert all(isinstance(value, int | str | list | np.ndarray) for value in source.state().values())
