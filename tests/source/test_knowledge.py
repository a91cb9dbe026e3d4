"""What sources know of their data: what was given, what was left out, what must be assumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from umdp import benchmark, switch
from umdp.source import Log, Stream
from umdp.source.simulator import Simulator
from umdp.source.source import Provenance
from umdp.statements import Code, codes_of

from .recordings import Row, exhaust, open_skipping, order, small_graph, write
from .test_environment import Stray, begun, only_right

GRAPH = small_graph()


def test_a_simulator_knows_everything_and_says_whether_it_changes() -> None:
    chain = benchmark.chain()
    source = Simulator(chain)
    source.begin(0)
    assert source.provenance() == Provenance()
    batch = source.collect(order(chain.graph, 10))
    assert source.provenance() == Provenance(rows=batch.steps)
    again = Simulator(chain)
    again.restore(source.state())
    assert again.provenance() == source.provenance()
    assert switch(chain, benchmark.chain_switched(), after=5).provenance().changes


def test_an_environment_counts_the_steps_that_its_graph_does_not_list() -> None:
    source = begun(Stray(), on_error="skip")
    batch = source.collect(only_right(1000))
    known = source.provenance()
    assert (known.graph, known.rest, known.passive) == ("given", False, False)
    assert known.unlisted > 20
    assert known.rows == batch.steps + known.unlisted
    again = begun(Stray(), on_error="skip")
    again.restore(source.state())
    assert again.provenance() == known


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_log_tells_unlisted_rows_from_malformed_ones(tmp_path: Path, suffix: str) -> None:
    rows: list[Row] = [
        ("1", "a", "on", "b"),
        ("2", "a", "on", "c"),  # the graph does not list it
        None,
        ("3", "zz", "on", "c"),  # nor a state of that name
        ("4", "a", "on", "b"),
        ("4", "c", "on", "d"),  # does not start where the row before it ended
    ]
    path = write(rows, tmp_path / f"log{suffix}")
    log = open_skipping(path, GRAPH)
    exhaust(log, order(GRAPH))
    known = log.provenance()
    assert (known.graph, known.passive, known.rows) == ("given", True, 6)
    assert (known.unlisted, known.rejected) == (2, 2)
    assert Code.SELECTED in codes_of(known.assumptions)
    again = open_skipping(path, GRAPH)
    assert again.provenance().rows == 0
    again.restore(log.state())
    assert again.provenance() == known
    if suffix == ".jsonl":
        stream = Stream(path, GRAPH, on_error="skip")
        stream.begin()
        exhaust(stream, order(GRAPH))
        assert stream.provenance() == known


def test_a_log_without_a_model_has_an_observed_graph(tmp_path: Path) -> None:
    log = Log(write([("1", "a", "on", "b")], tmp_path / "log.csv"))
    log.begin()
    assert log.provenance().graph == "observed"
