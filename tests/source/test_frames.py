"""Tables in memory as logs: the same counts as the same rows in a file, whatever holds the columns."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp import ConfidenceSequence, anytime
from umdp.errors import FormatError
from umdp.run.codec import pack, unpack
from umdp.source import Log, graph_of_log, open_log
from umdp.source.logs.overview import overview
from umdp.statements import Code

from .recordings import exhaust, logs, open_skipping, order, small_graph, write

GRAPH = small_graph()
HEADER = ["trajectory", "state", "action", "next"]


class PandasSeries:
    """What of a series of pandas is used: missing values are NaN, and make whole numbers floats."""

    def __init__(self, values: list[Any]) -> None:
        lost = any(value is None for value in values)
        numbers = all(value is None or isinstance(value, int) for value in values)
        self._values = [
            math.nan if value is None else float(value) if lost and numbers else np.int64(value) if numbers else value
            for value in values
        ]

    def tolist(self) -> list[Any]:
        return self._values


class PandasFrame:
    def __init__(self, table: dict[str, list[Any]]) -> None:
        self._table, self.columns = table, list(table)

    def __getitem__(self, name: str) -> PandasSeries:
        return PandasSeries(self._table[name])

    def __eq__(self, other: object) -> Any:
        return self  # as a frame compares, value by value

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a frame is ambiguous")

    __hash__ = None  # type: ignore[assignment]


def frames(table: dict[str, list[Any]]) -> list[Any]:
    polars = pytest.importorskip("polars")
    arrays = {name: np.array(values, dtype=object) for name, values in table.items()}
    return [
        table,
        arrays,
        PandasFrame(table),
        polars.DataFrame(table, strict=False),
        polars.LazyFrame(table, strict=False),
    ]


def table_of(rows: list[Any]) -> dict[str, list[Any]]:
    return {name: [None if row is None else row[at] for row in rows] for at, name in enumerate(HEADER)}


@given(logs(), st.integers(1, 9))
def test_a_frame_says_what_its_file_says(rows: list[Any], block: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write(rows, Path(folder, "log.parquet"))
        expected = exhaust(open_skipping(path, GRAPH), order(GRAPH))
    for frame in frames(table_of(rows)):
        log = open_skipping(frame, GRAPH, block=block)
        found = exhaust(log, order(GRAPH))
        assert np.array_equal(found[0], expected[0])
        assert found[1:3] == expected[1:3]


def numbered(count: int = 300) -> dict[str, list[Any]]:
    rng, table, state = random.Random(1), {name: [] for name in ("s", "a", "t", "pay")}, 0
    for _ in range(count):
        target = rng.choice([state, (state + 1) % 3])
        for name, value in zip(table, (state, rng.choice(["go", "stay"]), target, 0.5 * target), strict=True):
            table[name].append(value)
        state = target
    return table


def test_numbers_names_and_rewards() -> None:
    names = {"state": "s", "action": "a", "next": "t"}
    for frame in frames(numbered()):
        log = open_log(frame, columns=names, rewards={"pay": "pay"}, labels={"two": ["2"]})
        assert set(log.graph.state_names or ()) == {"0", "1", "2", "anything else"}
        *_, last = anytime(log, 'Pmax=? [ F<=5 "two" ]', ConfidenceSequence(0.05))
        assert (last.steps, last.guarantee.kind) == (300, "any-time")
        values = log.graph.rewards["pay"].transition
        assert values is not None
        assert set(values.tolist()) == {0.0, 0.5, 1.0}
        seen = overview(log)
        assert (seen.rows, seen.encoding, seen.columns, seen.others) == (300, None, names, ("pay",))


def test_missing_values_are_rejected_rows_also_where_they_make_floats() -> None:
    table = numbered()
    table["s"][7] = table["t"][9] = None
    for frame in frames(table)[:1] + frames(table)[2:]:
        log = Log(frame, columns={"state": "s", "action": "a", "next": "t"}, on_error="skip")
        *_, last = anytime(log, 'Pmax=? [ F<=5 "end" ]', ConfidenceSequence(0.05))
        assert set(log.graph.state_names or ()) == {"0", "1", "2", "anything else"}
        assert last.guarantee.codes == (Code.REJECTED,)
        assert log.provenance().rejected == 2


def test_it_goes_on_where_it_was_and_only_there() -> None:
    table = numbered()
    names = {"state": "s", "action": "a", "next": "t"}
    log, again = (Log(frame, columns=names, block=17) for frame in frames(table)[2:4])
    log.begin()
    log.collect(order(log.graph, 5))
    again.begin()
    again.restore(unpack(pack(log.state())))
    assert np.array_equal(exhaust(log, order(log.graph))[0], exhaust(again, order(log.graph))[0])
    table["t"][0] = 1 - table["t"][0]
    other = Log(table, log.graph, columns=names, on_error="skip")
    other.begin()
    with pytest.raises(FormatError, match="not the data the run began with"):
        other.restore(log.state())


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ({"state": ["a"], "action": ["x"]}, {}, 'the data frame: there is no column "next"'),
        ({"state": ["a"], "action": ["x"], "next": []}, {}, 'the column "next" has another length'),
        ({"state": [], "action": [], "next": []}, {}, "there is no row"),
        ({"state": ["a"], "action": ["x"], "next": ["b"], "end": ["maybe"]}, {}, "the end is 'maybe'"),
        ({"state": ["a"], "action": ["x"], "next": ["b"]}, {"encoding": "cp1252"}, "leave out encoding"),
        ({"state": ["a"], "action": ["x"], "next": ["b"]}, {"rewards": {"pay": "pya"}}, 'there is no column "pya"'),
    ],
)
def test_what_does_not_fit_is_one_error(table: dict[str, list[Any]], options: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError, match=said):
        graph_of_log(table, **options)


def test_what_is_no_log_is_said() -> None:
    with pytest.raises(FormatError, match="list is no log: give a file's name"):
        Log([("a", "go", "b")])
