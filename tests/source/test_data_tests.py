"""Tests of a log's assumptions: copies and drift are found, and nothing is found where there is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

from umdp import Graph, benchmark
from umdp.run.codec import pack, unpack
from umdp.source import Log
from umdp.source.logs.data_tests import FIRST, DataTests, drift
from umdp.source.logs.duplicate_names import numbers_of
from umdp.source.lookup import Lookup
from umdp.statements import Code, codes_of

from .recordings import Row, exhaust, order, small_graph, write
from .test_large_logs import ring

Walk = tuple[Any, Any]  # transitions, begins

GRAPH = small_graph()
RING = Lookup(ring())


def walk(lookup: Lookup, rows: int, length: int, seed: int, *, probability: Any = None) -> Walk:
    """Return a walk with actions at random, in trajectories of so many rows that all start in the initial state."""
    graph, rng = lookup.graph, np.random.default_rng(seed)
    sizes = np.diff(graph.choice_ptr)
    given = np.repeat(1 / sizes, sizes) if probability is None else probability
    transitions, state = np.empty(rows, np.int64), graph.initial
    for i in range(rows):
        state = graph.initial if i % length == 0 else state
        choice = int(rng.integers(graph.state_ptr[state], graph.state_ptr[state + 1]))
        own = slice(int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1]))
        transitions[i] = own.start + np.searchsorted(np.cumsum(given[own]), rng.random() * given[own].sum())
        state = int(graph.successor[transitions[i]])
    return transitions, np.arange(rows) % length == 0


def findings(lookup: Lookup, *parts: Walk, chunk: int = 1000) -> tuple[str, ...]:
    tests = DataTests(lookup)
    transition, begins = (np.concatenate(each) for each in zip(*parts, strict=True))
    for at in range(0, transition.size, chunk):
        tests.take(transition[at : at + chunk], begins[at : at + chunk])
    tests.end()
    tests.end()  # nothing comes of ending twice
    return tests.findings


@pytest.mark.parametrize("length", [1, 3, 20, 5000])
def test_nothing_is_found_in_logs_that_are_as_they_should_be(length: int) -> None:
    for seed in range(5):
        assert findings(RING, walk(RING, 5000, length, seed)) == ()


def test_nothing_is_found_in_logs_of_processes_that_hardly_vary() -> None:
    chain = benchmark.chain()
    lookup = Lookup(chain.graph)
    for length in (5, 100):
        assert findings(lookup, walk(lookup, 20_000, length, 1, probability=chain.probability)) == ()
    loop = Lookup(GRAPH)
    same = (
        np.zeros(5000, np.int64),
        np.arange(5000) % 5 == 0,
    )  # one trajectory, a thousand times: no outcome was uncertain
    assert findings(loop, same) == ()


@pytest.mark.parametrize("length", [1, 3, 20, 5000])
@pytest.mark.parametrize("chunk", [64, 1000, 100_000])
def test_a_log_that_contains_itself_is_noticed(length: int, chunk: int) -> None:
    log = walk(RING, 5000, length, 1)
    other = walk(RING, 3333, length, 2)
    found = findings(RING, log, other, log, chunk=chunk)
    assert codes_of(found) == (Code.COPIES,)


def test_copies_are_noticed_where_outcomes_are_few_and_trajectories_short() -> None:
    # With three outcomes in all, pieces must be cut by the order of rows: how often each occurs takes too few values.
    lookup = Lookup(Graph([0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2]))
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(3, 3000, p=[0.1, 0.6, 0.3])
        part = rows, np.concatenate([[True], rows[:-1] != 0])
        assert findings(lookup, part) == ()
        assert codes_of(findings(lookup, part, part))[0] is Code.COPIES


def test_single_trajectories_that_occur_twice_are_noticed() -> None:
    transition, begins = walk(RING, 20_000, 100, 1)
    rng = np.random.default_rng(3)
    numbers = np.concatenate([np.arange(200), rng.choice(200, 10, replace=False)])
    rng.shuffle(numbers)
    rows = (numbers[:, None] * 100 + np.arange(100)).ravel()
    assert codes_of(findings(RING, (transition[rows], begins[rows])))[0] is Code.COPIES


def test_short_trajectories_that_occur_twice_under_the_same_name_are_noticed() -> None:
    rng = np.random.default_rng(4)
    rows, begins = walk(RING, 3000, 1, 1)
    names = numbers_of([f"run {i}" for i in range(3000)])
    copies = rng.choice(3000, 300, replace=False)
    order_ = rng.permutation(np.concatenate([np.arange(3000), copies]))
    tests, half = DataTests(RING), order_.size // 2
    tests.take(rows[order_[:half]], begins[order_[:half]], names[order_[:half]])
    other = DataTests(RING)
    other.restore(unpack(pack(tests.state())))
    other.take(rows[order_[half:]], begins[order_[half:]], names[order_[half:]])
    other.end()
    assert other.findings[0].code is Code.SAME_NAME
    assert not other.names.apart


def test_names_that_are_used_again_are_no_copies() -> None:
    rows, begins = walk(RING, 6000, 2, 1)
    tests = DataTests(RING)
    tests.take(rows, begins, numbers_of([i % 1500 for i in range(3000)]))  # two files, each numbered from 0
    tests.end()
    assert tests.findings == ()
    assert tests.names.apart
    many = DataTests(RING)
    many.take(rows, np.ones(6000, np.bool_), numbers_of(list(range(6000))))
    assert len(many.names._known) <= 2048
    assert not many.names.apart


def test_what_is_kept_does_not_grow_and_copies_are_still_found() -> None:
    rng = np.random.default_rng(0)
    tests = DataTests(RING)
    rows = rng.integers(0, RING.graph.transitions, 1_500_000)
    begins = np.arange(rows.size) % 50 == 0
    tests.take(rows, begins)
    assert tests.findings == ()
    assert tests._known.size <= 2048
    tests.take(rows[:50_000], begins[:50_000])
    assert tests.findings[0].code is Code.COPIES


def test_outcomes_that_depend_on_the_position_are_noticed() -> None:
    log = walk(RING, 8000, 20, 1)
    order_ = np.lexsort((log[0] % 3,))  # rows sorted by where they led
    found = findings(RING, (log[0][order_], np.ones(8000, np.bool_)))
    assert codes_of(found)[0] is Code.DRIFT
    chain = benchmark.chain()
    lookup = Lookup(chain.graph)
    before = walk(lookup, 5000, 20, 1, probability=chain.probability)
    after = walk(lookup, 5000, 20, 2, probability=benchmark.chain_switched().probability)
    assert codes_of(findings(lookup, before, after))[0] is Code.DRIFT


def test_p_values_are_those_of_fisher() -> None:
    first, second = np.zeros((2, GRAPH.transitions), np.int64)
    first[1:5], second[1:5] = [40, 3, 20, 5], [5, 30, 22, 4]
    first[6:9], second[6:9] = [9, 9, 9], [8, 9, 10]
    lookup = Lookup(GRAPH)
    found = drift(lookup, first, second)
    tested, smallest = 0, 1.0
    for c in range(GRAPH.choices):
        own = slice(int(GRAPH.choice_ptr[c]), int(GRAPH.choice_ptr[c + 1]))
        a, b = first[own], second[own]
        for i in range(a.size):
            if a.sum() and b.sum() and 0 < a[i] + b[i] < a.sum() + b.sum():
                tested += 1
                smallest = min(smallest, fisher_exact([[a[i], a.sum() - a[i]], [b[i], b.sum() - b[i]]]).pvalue)
    assert found is not None
    assert found[1] == pytest.approx(smallest * tested)


def test_tests_go_on_from_a_state() -> None:
    transition, begins = walk(RING, 3000, 20, 1)
    copy = np.concatenate([transition, transition]), np.concatenate([begins, begins])
    for cut in (0, 1, FIRST, 1234, 3000, 4000):
        whole, first, second = DataTests(RING), DataTests(RING), DataTests(RING)
        whole.take(*copy)
        first.take(copy[0][:cut], copy[1][:cut])
        second.restore(unpack(pack(first.state())))
        second.take(copy[0][cut:], copy[1][cut:])
        assert second.findings == whole.findings != ()
        assert pack(second.state()) == pack(whole.state())


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_findings_of_a_log_are_reported_and_known(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(5)
    rows: list[Row] = [
        (str(i), "b", "back", "abc"[int(rng.integers(3))])
        if rng.random() < 0.5
        else (str(i), "a", "back", "ad"[int(rng.integers(2))])
        for i in range(1500)
    ]
    twice = write([*rows, *((f"{row[0]}x", *row[1:]) for row in rows if row)], tmp_path / f"log{suffix}")
    log = Log(twice, GRAPH)
    log.begin()
    exhaust(log, order(GRAPH, 100))
    assert codes_of(log.provenance().findings)[0] is Code.COPIES
    assert log.report() == [f"{twice}: {log.provenance().findings[0]}"]
    again = Log(twice, GRAPH)
    again.begin()
    again.restore(log.state())
    assert again.provenance() == log.provenance()
    once = Log(write(rows, tmp_path / f"once{suffix}"), GRAPH)
    once.begin()
    exhaust(once, order(GRAPH, 100))
    assert once.provenance().findings == ()
