"""The ledger: what is spent on every bound sums, exactly, to no more than the error rate."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.conftest import Cli, folder, umdp  # noqa: F401 - fixtures
from umdp import LUI, ClopperPearson, ConfidenceSequence, Graph, ModelError, anytime, benchmark
from umdp.analysis.error_ledger import ledger_of
from umdp.analysis.explainer import ledger
from umdp.learn.restarting_sequence import RestartingSequence
from umdp.model import REST

GRAPH = Graph([0, 2, 3, 4, 5], [0, 2, 5, 6, 7, 8], [1, 2, 1, 2, 3, 1, 2, 3])


@settings(max_examples=40)
@given(st.floats(1e-6, 0.5), st.lists(st.booleans(), min_size=5, max_size=5))
def test_bounds_are_counted_and_levels_add_up(rate: float, matters: list[bool]) -> None:
    for kind in (ConfidenceSequence, ClopperPearson):
        found = ledger(kind(rate).bind(GRAPH, matters).learn(np.arange(8)))
        wanted = (1 if matters[0] else 0) + (3 if matters[1] else 0)  # two successors are one bound, three are three
        assert found.bounds == wanted
        assert found.free == 5 - matters[0] - matters[1]
        assert found.spent <= Fraction(rate)
        assert found.spent == sum(e.spent for e in found.entries)
        if wanted:
            assert found.spent >= Fraction(rate) * (1 - Fraction(1, 10**9))


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 9), min_size=6, max_size=6), min_size=1, max_size=8))
def test_where_outcomes_are_found_in_the_data_every_start_is_paid_for(batches: list[list[int]]) -> None:
    """Counted again by hand: the j-th outcome and the j-th start of the interval of all others cost 1/j^2 of a half each."""
    graph = Graph([0, 1, 2, 3, 4], [0, 3, 4, 5, 6], [1, 2, 3, 1, 2, 3], labels={REST: [3]})
    learner = ConfidenceSequence(0.05).bind(graph)
    found_at: list[int] = []
    starts = 0
    for batch in batches:
        counts = np.array(batch)
        new = [t for t in (0, 1) if counts[t] and t not in found_at]
        first = not found_at and not starts and counts[:3].any()
        starts += bool(new or first)
        found_at += new
        learner.learn(counts)
    spent = ledger(learner)
    half = Fraction(0.05) * Fraction(0.6079) / 2
    pieces = [half * Fraction(0.6079) / j**2 for j in (*range(1, len(found_at) + 1), *range(1, starts + 1))]
    assert spent.spent == sum(pieces, Fraction(0))
    assert spent.bounds == len(pieces)
    assert spent.spent < Fraction(0.05)


def test_a_class_costs_once_and_decided_parts_cost_nothing() -> None:
    bench = benchmark.BENCHMARKS["grid"]
    mdp = bench.build()
    assert bench.tie is not None
    *_, tied = anytime(mdp, bench.spec, ConfidenceSequence(0.05), tie=bench.tie(mdp.graph), trajectories=50, horizon=50)
    *_, alone = anytime(mdp, bench.spec, ConfidenceSequence(0.05), trajectories=50, horizon=50)
    assert (
        ledger(tied).bounds == 6
    )  # as told, left, right, back; and of what corners merge, one pair with its opposite each
    assert len(ledger(tied).entries) == 1
    assert [e.name for e in ledger(tied).entries] == ["move"]
    assert ledger(alone).bounds > 1000
    decided = {"(9,0)", *(f"({x},{y})" for x, y in ((2, 1), (3, 1)))}
    traps = {mdp.state_name(s) for s in np.flatnonzero(mdp.labels["trap"] | mdp.labels["goal"])}
    assert not {e.name.rpartition(", ")[0] for e in ledger(alone).entries} & (traps | (decided & traps))


def test_where_nothing_is_promised_there_is_none() -> None:
    with pytest.raises(ModelError, match="promises nothing"):
        ledger(LUI().bind(GRAPH))
    levels = {
        "graph": "listed",
        "method": "x",
        "error_rate": 0.1,
        "levels": np.full(8, 0.09),
        "claimed": np.ones(8, bool),
    }
    with pytest.raises(ModelError, match="more than the error rate"):
        ledger_of(levels, GRAPH)


def test_the_ledger_of_a_run(umdp: Cli) -> None:  # noqa: F811
    learn = ("learn", "betting-favourable", "--confidence", "0.95", "--trajectories", "100", "--out", "a.run", "-q")
    assert umdp(*learn).code == 0
    shown = json.loads(umdp("explain", "a.run", "--ledger", "--json").out)
    assert shown["error_rate"] == 0.05
    assert Fraction(shown["spent_exact"]) == sum(Fraction(e["spent_exact"]) for e in shown["entries"]) <= Fraction(0.05)
    assert shown["within"] is True
    assert shown["bounds"] == sum(e["bounds"] for e in shown["entries"])
    assert "no more than the error rate" in umdp("explain", "a.run", "--ledger").out


def test_policies_that_are_played_are_paid_for_out_of_the_same_rate(umdp: Cli) -> None:  # noqa: F811
    """What the learner and the candidates spend sums, in fractions, to the rate that was asked for at most."""
    learn = ("learn", "aircraft", "--confidence", "0.95", "--evidence", "0.5", "--trajectories", "400", "-q")
    assert umdp(*learn, "--out", "e.run").code == 0
    shown = json.loads(umdp("explain", "e.run", "--ledger", "--json").out)
    played = [each for each in shown["entries"] if each["name"].startswith("playing")]
    assert shown["error_rate"] == 0.05
    assert played
    of_model = sum(Fraction(e["spent_exact"]) for e in shown["entries"] if e not in played)
    assert Fraction(0.05) / 2 * (1 - Fraction(1, 10**9)) < of_model <= Fraction(0.05) / 2
    assert (
        of_model + sum(Fraction(e["spent_exact"]) for e in played) == Fraction(shown["spent_exact"]) <= Fraction(0.05)
    )
    # Of a learner that promises nothing, what is played is all there is.
    assert umdp("learn", "aircraft", "--evidence", "0.5", "--trajectories", "200", "--out", "l.run", "-q").code == 0
    alone = json.loads(umdp("explain", "l.run", "--ledger", "--json").out)
    assert (alone["method"], alone["error_rate"], alone["within"]) == ("evidence", 0.01, True)


def test_epochs_that_are_over_were_paid_for() -> None:
    """A choice that starts anew for the r-th time has spent 1 + 1/4 + ... + 1/r^2 of its share, times 6/pi^2 or a little less."""
    graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2])
    learner = RestartingSequence(0.05).bind(graph)
    for hits in (1000, 0, 1000, 0):
        for _ in range(3):
            learner.learn([hits, 1000 - hits, 0, 0])
    epoch = int(learner.epoch[0])
    assert epoch > 2
    spent = ledger(learner)
    part = Fraction(float(learner.levels[0])) * sum(Fraction(epoch**2, j**2) for j in range(1, epoch + 1))
    assert spent.spent == part <= Fraction(0.05)
