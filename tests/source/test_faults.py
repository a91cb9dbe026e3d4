"""Rows that were not spoilt by chance: where something in them is why they cannot be read, they were selected."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from umdp import ConfidenceSequence, Guarantee, anytime
from umdp.run.codec import pack, unpack
from umdp.source import Log
from umdp.source.logs.rejected import Cause, Causes
from umdp.statements import Code

from .recordings import exhaust, order

FAILED = 'Pmin=? [ F<=5 "failed" ]'


def walk(seed: int, rows: int = 4000) -> list[list[str]]:
    """Return rows of a machine that is off now and then, and fails seldom."""
    rng, found, state, name = random.Random(seed), [], "on", 0
    for _ in range(rows):
        target = {"on": rng.choices(["on", "off", "failed"], [90, 8, 2])[0], "off": "on"}[state]
        found.append([str(name), state, "run", target, "1.5" if target == "failed" else "0"])
        name, state = (name + 1, "on") if target == "failed" else (name, target)
    return found


def promised(path: Path, lines: list[bytes]) -> Guarantee:
    path.write_bytes(b"\n".join(lines) + b"\n")
    log = Log(path, labels={"failed": ["fail*"]}, on_error="chance")
    *_, last = anytime(log, FAILED, ConfidenceSequence(0.05))
    return last.guarantee


HEADER = b"trajectory,state,action,next,cost"


def lines_of(rows: list[list[str]]) -> list[bytes]:
    return [",".join(row).encode() for row in rows]


@pytest.mark.parametrize("seed", range(3))
def test_rows_spoilt_by_chance_are_a_condition(tmp_path: Path, seed: int) -> None:
    lines = lines_of(walk(seed))
    rng = random.Random(seed)
    for row in rng.sample(range(len(lines)), 60):
        kind = row % 3
        lines[row] = lines[row][:9] if kind == 0 else lines[row] + b",x" if kind == 1 else lines[row] + b"\xff"
    label = promised(tmp_path / "log.csv", [HEADER, *lines])
    assert label.kind == "any-time"
    assert label.codes[0] is Code.SPOILT


def test_a_name_in_another_encoding_than_the_rest_is_not_chance(tmp_path: Path) -> None:
    written = [line.replace(b"run", "révisé".encode()) for line in lines_of(walk(1))]
    lines = [line.replace(b"failed", "défaut".encode("latin1")) for line in written]
    kept = [line.replace("défaut".encode("latin1"), b"failed") if n % 5 == 0 else line for n, line in enumerate(lines)]
    label = promised(tmp_path / "log.csv", [HEADER, *kept])
    assert label.codes == (Code.UNEVEN,)
    data = label.reasons[0].data  # type: ignore[attr-defined]
    assert (data["cause"], data["role"], data["name"]) == (Cause.ENCODING, "next", "d\N{REPLACEMENT CHARACTER}faut")


def test_a_decimal_comma_is_not_chance(tmp_path: Path) -> None:
    lines = lines_of(walk(1))
    rows = [line.replace(b"1.5", b"1,5") if n % 3 else line for n, line in enumerate(lines)]
    label = promised(tmp_path / "log.csv", [HEADER, *rows])
    assert label.codes == (Code.UNEVEN,)
    data = label.reasons[0].data  # type: ignore[attr-defined]
    assert (data["role"], data["name"]) == ("next", "failed")


def test_nor_are_objects_of_one_state_that_do_not_fit(tmp_path: Path) -> None:
    rows = []
    for n, (name, state, action, target, _) in enumerate(walk(1)):
        odd = target == "failed" and n % 3
        record = {"trajectory": name, "state": state, "action": [action] if odd else action, "next": target}
        rows.append(json.dumps(record).encode())
    label = promised(tmp_path / "log.jsonl", rows)
    assert label.codes == (Code.UNEVEN,)


def test_a_few_are_not_judged(tmp_path: Path) -> None:
    lines = lines_of(walk(1))
    failing = [n for n, line in enumerate(lines) if b"failed" in line][:5]
    for n in failing:
        lines[n] = lines[n].replace(b"1.5", b"1,5")
    label = promised(tmp_path / "log.csv", [HEADER, *lines])
    assert (label.kind, label.codes[0]) == ("any-time", Code.SPOILT)


def test_chance_is_seldom_denied() -> None:
    counted = {"state": {"a": 900, "b": 90, "c": 10}.get}
    denied = 0
    for seed in range(2000):
        rng, causes = random.Random(seed), Causes()
        for name in rng.choices("abc", [900, 90, 10], k=30):
            causes.take(Cause.FIELDS, {"state": name})
        denied += causes.uneven(counted, 1000) is not None
    assert denied <= 8  # the level is 1e-3: more has a probability of 2e-4


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    lines = lines_of(walk(1))
    path = tmp_path / "log.csv"
    promised(path, [HEADER, *(line.replace(b"1.5", b"1,5") if n % 3 else line for n, line in enumerate(lines))])
    log, again = (Log(path, on_error="chance") for _ in range(2))
    log.begin()
    log.collect(order(log.graph, 20))
    again.begin()
    again.restore(unpack(pack(log.state())))
    for each in (log, again):
        exhaust(each, order(log.graph, 10))
    assert log.provenance() == again.provenance()
    assert [each.code for each in log.provenance().findings] == [Code.UNEVEN]  # type: ignore[attr-defined]
