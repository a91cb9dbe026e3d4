"""Where trajectories begin: which state is the initial one, and what rows that are out of order can tell of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from umdp import ConfidenceSequence, Snapshot, anytime
from umdp.source import Log
from umdp.source.logs.initial_states import Beginnings
from umdp.statements import Code

Rows = list[tuple[int, str, str]]
FAILED = 'Pmin=? [ F<=3 "failed" ]'


def walks(seed: int, trajectories: int = 150, *, elsewhere: float = 0.3) -> Rows:
    """Return steps of machines that are new or worn when they begin."""
    rng, rows = random.Random(seed), []
    for name in range(trajectories):
        state = "worn" if name and rng.random() < elsewhere else "new"
        for _ in range(4):
            drawn, now = rng.random(), state
            state = {"new": "new" if drawn < 0.5 else "worn", "worn": "failed" if drawn < 0.2 else "worn"}[state]
            rows.append((name, now, state))
            if state == "failed":
                break
    return rows


def answer(path: Path, rows: Rows, *, named: bool, **options: object) -> Snapshot:
    head = "trajectory,state,action,next\n" if named else "state,action,next\n"
    lines = (
        f"{name},{state},run,{successor}" if named else f"{state},run,{successor}" for name, state, successor in rows
    )
    path.write_text(head + "\n".join(lines) + "\n")
    log = Log(path, labels={"failed": ["failed"]}, **options)  # type: ignore[arg-type]
    *_, last = anytime(log, FAILED, ConfidenceSequence(0.05))
    return last


@pytest.mark.parametrize("named", [True, False])
def test_that_trajectories_begin_elsewhere_too_is_the_first_condition(tmp_path: Path, named: bool) -> None:
    last = answer(tmp_path / "log.csv", walks(1), named=named)
    assert last.guarantee.codes[0] is Code.INITIAL
    assert last.guarantee.reasons[0].data["state"] == "new"  # type: ignore[attr-defined]
    assert (Code.ORDER in last.guarantee.codes) == (not named)
    said = answer(tmp_path / "log.csv", walks(1), named=named, initial="new")
    assert Code.INITIAL not in said.guarantee.codes
    alike = answer(tmp_path / "log.csv", walks(1, elsewhere=0), named=True)
    assert Code.INITIAL not in alike.guarantee.codes


@pytest.mark.parametrize("named", [True, False])
def test_where_it_begins_can_be_learned_from_rows_in_order(tmp_path: Path, named: bool) -> None:
    last = answer(tmp_path / "log.csv", walks(1), named=named, initial="observed")
    assert last.guarantee.kind == "any-time"
    assert Code.ORDER in last.guarantee.codes


@pytest.mark.parametrize("seed", range(5))
def test_not_from_rows_without_names_that_were_shuffled(tmp_path: Path, seed: int) -> None:
    rows = walks(seed)
    random.Random(seed).shuffle(rows)
    last = answer(tmp_path / "log.csv", rows, named=False, initial="observed")
    assert last.guarantee.codes == (Code.DISORDER,)
    given = answer(tmp_path / "log.csv", rows, named=False, initial="new")
    assert given.guarantee.kind == "any-time"  # what each choice does can be told in any order


def test_nor_from_rows_of_trajectories_that_stand_apart(tmp_path: Path) -> None:
    steps = [(n, [row for row in walks(3) if row[0] == n]) for n in range(150)]
    rows = [own[i] for i in range(4) for _, own in steps if len(own) > i]  # the first rows of all, then the second
    last = answer(tmp_path / "log.csv", rows, named=True, initial="observed")
    assert Code.APART in last.guarantee.codes


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    from umdp.run.codec import pack, unpack

    from .recordings import exhaust, order

    path = tmp_path / "log.csv"
    answer(path, walks(1), named=False)
    log = Log(path)
    log.begin()
    log.collect(order(log.graph, 20))
    again = Log(path)
    again.begin()
    again.restore(unpack(pack(log.state())))
    for each in (log, again):
        exhaust(each, order(log.graph, 10))
    assert log.provenance() == again.provenance()
    assert isinstance(log._beginnings, Beginnings)
    assert log._beginnings.elsewhere == again._beginnings.elsewhere > 10
