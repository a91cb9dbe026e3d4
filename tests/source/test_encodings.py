"""Logs in another encoding than UTF-8, and numbers with decimal commas: found out once, said, or given; never guessed by row."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umdp import ConfidenceSequence, Graph, anytime
from umdp.errors import FormatError
from umdp.run.codec import pack, unpack
from umdp.source import Log, Stream
from umdp.source.logs.decimals import DecimalSign
from umdp.source.logs.encodings import RecodedFile, Recoder, find_encoding, known_encoding
from umdp.statements import Code, DiagnosticCode, stated

from .recordings import exhaust, order

FAILED = 'Pmin=? [ F<=5 "failed" ]'
NAMES = {"state": "Zustand", "action": "Maßnahme", "next": "danach", "trajectory": "Gerät"}
NEXT = {"neu": ["läuft", "neu"], "läuft": ["läuft", "größer", "zerstört"], "größer": ["zerstört", "läuft"]}


def walk(seed: int = 1, rows: int = 400) -> list[dict[str, str]]:
    """Return rows of German machines."""
    rng, found, name, state = random.Random(seed), [], 1, "neu"
    for _ in range(rows):
        action = rng.choice(["prüfen", "tun"])
        target = rng.choice(NEXT[state])
        values = (f"Gerät {name}", state, action, target, "2,5" if target == "zerstört" else "0,25")
        found.append(dict(zip(("Gerät", "Zustand", "Maßnahme", "danach", "Stunden"), values, strict=True)))
        name, state = (name + 1, "neu") if target == "zerstört" else (name, target)
    return found


def text_of(rows: list[dict[str, str]], kind: str) -> str:
    if kind.startswith(".jsonl"):
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return "\r\n".join([";".join(rows[0]), *(";".join(row.values()) for row in rows)]) + "\r\n"


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(path: Path, **options: Any) -> tuple[Log, Any]:
    log = Log(path, columns=NAMES, **options)
    log.begin()
    return log, exhaust(log, order(log.graph))


def codes(log: Log | Stream) -> list[Any]:
    return [stated(each).code for each in log.report()]


KINDS = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz")
FOUND = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1")
GIVEN = ("cp850", "cp437", "utf-16-le", "utf-16-be", "mac-roman", "cp1252")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("encoding", "told"), [*((e, None) for e in FOUND), *((e, e) for e in GIVEN)])
def test_a_log_says_the_same_in_every_encoding(tmp_path: Path, kind: str, encoding: str, told: str | None) -> None:
    text = text_of(walk(), kind)
    plain, (counts, trajectories, steps, _) = read(put(tmp_path / f"a{kind}", text.encode()))
    log, found = read(put(tmp_path / f"b{kind}", text.encode(encoding)), encoding=told, block=997)
    assert log.graph.state_names == plain.graph.state_names
    assert np.array_equal(found[0], counts)
    assert found[1:3] == (trajectories, steps)
    assert steps == 400
    noted = DiagnosticCode.ENCODING in codes(log)
    assert noted == (told is None and not encoding.startswith("utf-8"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_on_where_it_was(tmp_path: Path, kind: str, encoding: str) -> None:
    path = put(tmp_path / f"log{kind}", text_of(walk(), kind).encode(encoding))
    log, again = (Log(path, columns=NAMES, block=500) for _ in range(2))
    log.begin()
    log.collect(order(log.graph, 20))
    again.begin()
    again.restore(unpack(pack(log.state())))
    assert np.array_equal(exhaust(log, order(log.graph, 7))[0], exhaust(again, order(log.graph, 7))[0])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_streams_are_told_by_their_first_block_also_after_a_kill(
    tmp_path: Path, kind: str, encoding: str, told: bool
) -> None:
    text = text_of(walk(), kind)
    plain, (counts, *_) = read(put(tmp_path / f"a{kind}", text.encode()))
    graph = plain.graph
    more = {"columns": NAMES, "encoding": encoding if told else None, "on_error": "skip"}

    def piped() -> Stream:
        stream = Stream(io.BytesIO(text.encode(encoding)), graph, block=700, **more)
        stream.begin()
        return stream

    stream, again = piped(), piped()
    first = stream.collect(order(graph, 20)).counts
    again.restore(unpack(pack(stream.state())))
    for each in (stream, again):
        assert np.array_equal(first + exhaust(each, order(graph))[0], counts)
        assert (DiagnosticCode.ENCODING in codes(each)) == (
            not told and not encoding.startswith("utf-8") and each is stream
        )


def test_a_file_that_grows_in_utf_16_is_followed(tmp_path: Path) -> None:
    text = text_of(walk(), ".csv")
    graph = read(put(tmp_path / "whole.csv", text.encode()))[0].graph
    data, path = text.encode("utf-16"), tmp_path / "log.csv"
    path.write_bytes(data[:3001])
    stream = Stream(path, graph, follow=True, columns=NAMES, patience=0.05, poll=0.01)
    stream.begin()
    steps = stream.collect(order(graph)).steps
    path.write_bytes(data)
    assert 0 < steps < 400
    assert steps + stream.collect(order(graph)).steps == 400


def test_files_of_one_log_may_have_their_own(tmp_path: Path) -> None:
    rows = walk()
    for number, encoding in enumerate(("utf-8", "cp1252", "utf-16")):
        put(tmp_path / f"{number}.csv", text_of(rows[number * 100 :][:100], ".csv").encode(encoding))
    log, found = read(tmp_path)
    assert found[2] == 300
    assert set(log.graph.state_names or ()) >= {"läuft", "größer"}
    assert codes(log).count(DiagnosticCode.ENCODING) == 1


# -- what cannot be found out, and what is damaged --------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp850", "cp437", "cp1251", "shift_jis", "gbk", "koi8-r"])
def test_another_encoding_is_one_error_with_a_remedy(tmp_path: Path, encoding: str) -> None:
    words = {"cp850": "zerstört", "cp437": "zerstört", "shift_jis": "故障中", "gbk": "故障中"}
    text = text_of(walk(), ".csv").replace("zerstört", words.get(encoding, "сломан"))
    for letter, plain in zip("äüöß", "auos", strict=True):
        text = text.replace(letter, letter if encoding.startswith("cp8") or encoding == "cp437" else plain)
    path = put(tmp_path / "log.csv", text.encode(encoding))
    named = {role: name.encode(encoding, "ignore").decode(encoding) for role, name in NAMES.items()}
    with pytest.raises(FormatError, match=r"lines are not text in UTF-8.* --encoding"):
        Log(path, columns=named)
    header = dict(zip(("trajectory", "state", "action", "next"), text.splitlines()[0].split(";"), strict=False))
    assert words.get(encoding, "сломан") in (Log(path, columns=header, encoding=encoding).graph.state_names or ())


def damaged(seed: int, rows: list[bytes]) -> list[bytes]:
    rng, found = random.Random(seed), list(rows)
    for row in rng.sample(range(1, len(rows)), 30):
        at = rng.randrange(len(rows[row]))
        found[row] = rows[row][:at] + bytes([rng.randrange(128, 256)]) + rows[row][at + 1 :]
    return found


@pytest.mark.parametrize("seed", range(5))
def test_lines_that_chance_spoilt_are_no_encoding(tmp_path: Path, seed: int) -> None:
    """ASCII with 30 wrong bytes stays what it was: these rows are rejected, and may be said to be spoilt by chance."""
    plain = text_of(walk(), ".csv").replace("ä", "a").replace("ü", "u").replace("ö", "o").replace("ß", "s")
    path = put(tmp_path / "log.csv", b"\n".join(damaged(seed, plain.encode().split(b"\n"))))
    names = {"state": "Zustand", "action": "Masnahme", "next": "danach", "trajectory": "Gerat"}
    log = Log(path, columns=names, labels={"failed": ["zerstort"]}, on_error="chance")
    *_, last = anytime(log, FAILED, ConfidenceSequence(0.05))
    assert last.guarantee.codes[0] is Code.SPOILT
    assert DiagnosticCode.ENCODING not in codes(log)


def test_rows_of_another_encoding_than_the_rest_are_not_chance_whatever_they_say(tmp_path: Path) -> None:
    """A remark in another encoding has nothing to do with the outcome; it is no chance all the same."""
    rng = random.Random(3)
    lines = [f"{row['Zustand']};{row['danach']};go;".encode() for row in walk(3)]
    spoilt = [line + ("größer".encode("latin1") if rng.random() < 0.1 else b"-") for line in lines]
    path = put(tmp_path / "log.csv", b"state;next;action;remark\n" + b"\n".join(spoilt) + b"\n")
    for on_error in ("chance", "skip"):
        log = Log(path, labels={"failed": ["zerst*"]}, on_error=on_error)  # type: ignore[arg-type]
        *_, last = anytime(log, FAILED, ConfidenceSequence(0.05))
        assert last.guarantee.kind == "none"
        assert (last.guarantee.codes == (Code.ONE_CAUSE,)) == (on_error == "chance")
        assert (Code.ONE_CAUSE in codes(log)) == (on_error == "skip")
        assert DiagnosticCode.BY_CHANCE not in codes(log)


def test_decimal_commas_between_commas_are_one_error(tmp_path: Path) -> None:
    lines = [f"{row['Zustand']},tun,{row['danach']},{row['Stunden']}" for row in walk()]
    path = put(tmp_path / "log.csv", "\n".join(["state,action,next,cost", *lines]).encode())
    with pytest.raises(FormatError, match="in 400 of 400 rows a number has a decimal comma"):
        Log(path, on_error="skip")
    few = [line if n % 20 == 0 else line.rpartition(",")[0].rpartition(",")[0] + ",1" for n, line in enumerate(lines)]
    put(path, "\n".join(["state,action,next,cost", *few]).encode())
    log = Log(path, labels={"failed": ["zerst*"]}, on_error="chance")
    *_, last = anytime(log, FAILED, ConfidenceSequence(0.05))
    assert last.guarantee.codes in ((Code.ONE_CAUSE,), (Code.UNEVEN,))


def test_what_is_no_text_has_no_encoding(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    polars.DataFrame({"state": ["a"], "action": ["x"], "next": ["b"]}).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(FormatError, match="leave out"):
        Log(tmp_path / "log.parquet", encoding="cp1252")


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "", "base64"])
def test_an_encoding_that_is_none(name: str) -> None:
    with pytest.raises(FormatError, match="there is no encoding"):
        known_encoding(name)


@given(
    st.text(max_size=60), st.lists(st.integers(1, 9), min_size=1), st.sampled_from(["utf-16", "utf-8", "cp1252", "gbk"])
)
def test_a_text_in_pieces_is_the_text(text: str, sizes: list[int], encoding: str) -> None:
    data, recoder, found, at = text.encode(encoding, "ignore"), Recoder(encoding), b"", 0
    for size in sizes * (len(data) + 1):
        found += recoder.take(data[at : at + size])
        at += size
        if at >= len(data):
            break
    assert (found + recoder.take(b"", final=True)).decode() == data.decode(encoding)


@given(st.text("aé\n€x", max_size=40), st.integers(0, 60), st.integers(1, 7))
def test_a_position_of_a_text_is_found_again(text: str, offset: int, size: int) -> None:
    file: Any = RecodedFile(io.BytesIO(text.encode("cp1252")), "cp1252")
    file.seek(offset)
    found = b""
    while data := file.read(size):
        assert len(data) <= size
        found += data
    assert found == text.encode()[offset:]


@given(st.binary(max_size=400), st.integers(1, 50))
@settings(max_examples=200)
def test_however_blocks_are_cut_the_encoding_is_the_same(data: bytes, size: int) -> None:
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    blocks = [b"".join(lines[at : at + size]) for at in range(0, len(lines), size)]

    def asked(blocks: list[bytes]) -> str:
        try:
            return find_encoding(blocks, "log.csv")
        except FormatError:
            return "error"

    assert asked(blocks) == asked([data])


# -- decimals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "given_sign", "sign", "values"),
    [
        (["1.5", "2"], None, ".", [1.5, 2]),
        (["1,5", "2"], None, ",", [1.5, 2]),
        (["1,5", "1,234"], None, ",", [1.5, 1.234]),
        (["1.234,5", "7"], None, ",", [1234.5, 7]),
        (["1,234.5", "7.25"], None, ".", [1234.5, 7.25]),
        (["1.234", "7"], None, ".", [1.234, 7]),
        (["-0,5", "1e3"], None, ",", [-0.5, 1000]),
        (["0,125"], None, ",", [0.125]),
        (["1,234"], ",", ",", [1.234]),
        (["1,234"], ".", ".", [1234]),
        (["1.234", "2,5"], ",", ",", [1234, 2.5]),
        (["1.5"], ",", ",", [None]),
        (["1,5"], ".", ".", [None]),
        (["12,34,56", "x"], None, ".", [None, None]),
        (["1,234"], None, None, []),
        (["1,5", "1.5"], None, None, []),
        (["1,5", "1.234"], None, None, []),
        (["1.5", "1,234"], None, None, []),
    ],
)
def test_numbers_tell_how_they_are_written(
    texts: list[str], given_sign: str | None, sign: str | None, values: list[Any]
) -> None:
    for order_of in (lambda each: each, reversed):  # type: ignore[var-annotated]
        read_so = DecimalSign(given_sign)
        found = [read_so.number(text) for text in order_of(texts)]
        if sign is None:
            with pytest.raises(FormatError, match="--decimal"):
                read_so.sign("log.csv", "cost")
            continue
        assert read_so.sign("log.csv", "cost") == sign
        assert found == list(order_of(values))


def paid(log: Log) -> set[float]:
    values = log.graph.rewards["cost"].transition
    assert values is not None
    return set(values.tolist())


@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace("0,25", '"0,25"')])
def test_rewards_with_decimal_commas(tmp_path: Path, change: Callable[[str], str]) -> None:
    path = put(tmp_path / "log.csv", change(text_of(walk(), ".csv")).encode("cp1252"))
    log = Log(path, columns=NAMES, rewards={"cost": "Stunden"})
    assert paid(log) == {0.0, 0.25, 2.5}
    assert DiagnosticCode.DECIMAL in codes(log)
    assert log.decimal == ","
    told = Log(path, columns=NAMES, rewards={"cost": "Stunden"}, decimal=",")
    assert paid(told) == paid(log)
    assert DiagnosticCode.DECIMAL not in codes(told)
    with pytest.raises(FormatError, match=r'it must hold numbers, with "\." before decimals'):
        Log(path, columns=NAMES, rewards={"cost": "Stunden"}, decimal=".")
    with pytest.raises(FormatError, match="--decimal"):
        Log(path, columns=NAMES, decimal=";")


def test_thousands_are_an_error_that_names_the_remedy(tmp_path: Path) -> None:
    text = text_of(walk(), ".csv").replace("0,25", "1.250")
    path = put(tmp_path / "log.csv", text.encode())
    for on_error in ("fail", "skip"):
        with pytest.raises(FormatError, match=r"holds '2,5' and '1.250'.* --decimal ,"):
            Log(path, columns=NAMES, rewards={"cost": "Stunden"}, on_error=on_error)  # type: ignore[arg-type]
    assert paid(Log(path, columns=NAMES, rewards={"cost": "Stunden"}, decimal=",")) == {0.0, 1250.0, 2.5}


def test_a_graph_is_known_in_any_encoding(tmp_path: Path) -> None:
    """A table of what can happen in UTF-8, and a log in cp1252, name the same states."""
    text = text_of(walk(), ".csv")
    graph: Graph = Log(put(tmp_path / "a.csv", text.encode()), columns=NAMES).graph
    log, found = read(put(tmp_path / "b.csv", text.encode("cp1252")), graph=graph)
    assert found[2] == 400
    assert log.provenance().rejected == log.provenance().unlisted == 0
