"""Event logs in XES: the same counts as the steps of their cases in a table, and nothing that expands or is read at once."""

from __future__ import annotations

import csv
import gzip
import random
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from umdp import ConfidenceSequence, anytime
from umdp.errors import FormatError
from umdp.run.codec import pack, unpack
from umdp.source import Log, graph_of_log
from umdp.source.logs.overview import overview
from umdp.source.logs.xes_reader import ACTION
from umdp.statements import Code

from .recordings import exhaust, order

NEXT = {"Aufnahme": ["prüfen", "ablehnen"], "prüfen": ["prüfen", "zahlen", "ablehnen"], "ablehnen": ["Aufnahme"]}
Case = tuple[str, list[dict[str, str]]]


def cases(count: int = 60, seed: int = 1) -> list[Case]:
    rng, found = random.Random(seed), []
    for number in range(count):
        activity, events = "Aufnahme", []
        while len(events) < 9:
            events.append({"concept:name": activity, "org:resource": rng.choice("AB"), "hours": f"{len(activity) / 2}"})
            if activity not in NEXT:
                break
            activity = rng.choice(NEXT[activity])
        found.append((f"case <{number}>", events))
    return found


def xes(found: list[Case], encoding: str = "utf-8", head: str = "") -> bytes:
    """Return the document, with what such files have besides: extensions, classifiers, globals, nested attributes."""
    parts = [
        f'<?xml version="1.0" encoding="{encoding}"?>{head}',
        '<log xes.version="1.0" xmlns="http://www.xes-standard.org/">',
        '<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>',
        '<global scope="event"><string key="concept:name" value="UNKNOWN"/></global>',
        '<classifier name="Activity" keys="concept:name"/><string key="concept:name" value="the log"/>',
    ]
    for name, events in found:
        parts.append(f"<trace><string key='concept:name' value={quoteattr(name)}/><int key='amount' value='7'/>")
        for event in events:
            parts.append("<event><date key='time:timestamp' value='2026-01-01T00:00:00Z'/>")
            parts.append("<string key='note' value='x'><string key='concept:name' value='nested'/></string>")
            parts += [f"<string key='{key}' value={quoteattr(value)}/>" for key, value in event.items()]
            parts.append("</event>")
        parts.append("</trace>")
    return "\n".join([*parts, "</log>"]).encode(encoding)


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def table(path: Path, found: list[Case], action: str | None = None) -> Path:
    """Write the steps as a table: from the state after an event to that after the next."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["trajectory", "state", "action", "next", "hours"])
        for name, events in found:
            for before, event in pairwise(events):
                done = ACTION if action is None else event[action]
                writer.writerow([name, before["concept:name"], done, event["concept:name"], event["hours"]])
    return path


def read(path: Path, **options: Any) -> tuple[Log, Any]:
    log = Log(path, **options)
    log.begin()
    return log, exhaust(log, order(log.graph))


@pytest.mark.parametrize("name", ["log.xes", "log.xes.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("action", [None, "org:resource"])
@pytest.mark.parametrize("block", [None, 7])
def test_it_says_what_a_table_of_its_steps_says(
    tmp_path: Path, name: str, encoding: str, action: str | None, block: int | None
) -> None:
    found = cases()
    plain, expected = read(table(tmp_path / "log.csv", found, action), rewards={"cost": "mean:hours"})
    columns = None if action is None else {"action": action}
    path = put(tmp_path / name, xes(found, encoding))
    log, counted = read(path, columns=columns, rewards={"cost": "mean:hours"}, block=block)
    assert log.graph.state_names == plain.graph.state_names
    assert np.array_equal(counted[0], expected[0])
    assert counted[1:3] == expected[1:3]
    assert np.array_equal(log.graph.rewards["cost"].transition, plain.graph.rewards["cost"].transition)
    assert log.provenance() == plain.provenance()
    assert overview(log).encoding == {"iso-8859-1": "iso8859-1", "windows-1252": "cp1252"}.get(encoding, encoding)


def test_what_is_promised_and_seen_of_it(tmp_path: Path) -> None:
    found = cases(200)
    path = put(tmp_path / "log.xes", xes(found))
    log = Log(path, labels={"paid": ["zahlen"]}, terminal=["zahlen"])
    *_, last = anytime(log, 'Pmax=? [ F<=4 "paid" ]', ConfidenceSequence(0.05))
    assert last.guarantee.kind == "any-time"
    assert last.guarantee.codes[-1] is Code.TERMINAL
    seen = overview(log)
    assert seen.rows == sum(len(events) - 1 for _, events in found)
    assert seen.trajectories == sum(len(events) > 1 for _, events in found)
    assert seen.columns == {"trajectory": "case:concept:name", "state": "concept:name"}
    assert set(seen.others) == {"case:amount", "time:timestamp", "note", "org:resource", "hours"}
    assert seen.encoding == "utf-8"


@pytest.mark.parametrize("at", [1, 30, 59])
def test_it_goes_on_where_it_was_and_only_there(tmp_path: Path, at: int) -> None:
    path = put(tmp_path / "log.xes", xes(cases()))
    log, again = (Log(path, block=11) for _ in range(2))
    log.begin()
    log.collect(order(log.graph, at))
    again.begin()
    again.restore(unpack(pack(log.state())))
    assert np.array_equal(exhaust(log, order(log.graph, 7))[0], exhaust(again, order(log.graph, 7))[0])
    put(path, xes(cases(seed=2)))
    other = Log(path, log.graph, on_error="skip")
    other.begin()
    with pytest.raises(FormatError, match="not the data the run began with"):
        other.restore(log.state())


def test_an_event_without_its_attribute_is_two_rejected_steps(tmp_path: Path) -> None:
    found = cases()
    long = next(number for number, (_, events) in enumerate(found) if len(events) > 4)
    del found[long][1][2]["concept:name"]
    log = read(put(tmp_path / "log.xes", xes(found)), on_error="skip")[0]
    assert log.provenance().rejected == 2
    with pytest.raises(FormatError, match=rf"case case <{long}>, event 3: the row has no next"):
        read(tmp_path / "log.xes")


def test_an_encoding_that_is_given_goes_before_what_is_declared(tmp_path: Path) -> None:
    data = xes(cases(), "utf-8").replace(b"utf-8", b"iso-8859-1")
    path = put(tmp_path / "log.xes", data)
    assert "prüfen" not in (graph_of_log(path).state_names or ())
    assert "prüfen" in (graph_of_log(path, encoding="utf-8").state_names or ())
    put(path, xes(cases(), "cp850").replace(b'encoding="cp850"', b""))
    with pytest.raises(FormatError, match=r"line 1\d: the XML cannot be read"):
        graph_of_log(path)
    assert "prüfen" in (graph_of_log(path, encoding="cp850").state_names or ())


LAUGHS = '<!DOCTYPE log [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (xes(cases(), head=LAUGHS), "declares a document type"),
        (xes(cases(), head='<!DOCTYPE log SYSTEM "file:///etc/passwd">'), "declares a document type"),
        (xes(cases())[:9000], "the XML cannot be read"),
        (b"<pnml></pnml>", "this is no event log"),
        (b"state,action,next\na,b,c\n", "the XML cannot be read"),
        (b"", "the XML cannot be read: no element found"),
        (xes([]), "there is no row"),
        (xes([("one", [{"concept:name": "a"}])]), "there is no row"),
    ],
)
def test_what_is_no_event_log_is_one_error(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        graph_of_log(put(tmp_path / "log.xes", data))


@pytest.mark.parametrize("role", ["next", "end", "stat"])
def test_columns_of_an_event_log(tmp_path: Path, role: str) -> None:
    with pytest.raises(FormatError, match=f"there is no role {role}"):
        graph_of_log(put(tmp_path / "log.xes", xes(cases())), columns={role: "x"})


def test_it_is_read_as_it_is_parsed(tmp_path: Path) -> None:
    """The memory that reading takes does not grow with the file."""
    from umdp.source.logs.opening import open_reader

    def most(count: int) -> int:
        reader = open_reader(put(tmp_path / f"{count}.xes", xes(cases(count))), block=500)
        tracemalloc.start()
        while reader.read() is not None:
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert most(4_000) < 1.5 * most(1_000)
