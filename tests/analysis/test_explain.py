"""`umdp.explain`: of models, snapshots and runs; what a target takes, against what then happened."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cli.conftest import Cli, folder, umdp  # noqa: F401 - fixtures
from umdp import (
    LUI,
    MDP,
    ConfidenceSequence,
    IntervalMDP,
    Learner,
    ModelError,
    Spec,
    Tied,
    anytime,
    benchmark,
    explain,
    io,
)
from umdp import open as open_run
from umdp.analysis.forecast import forecast, law_of
from umdp.analysis.worst_case import WorstCase
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.learning.validation import threshold
from umdp.source.simulator import Simulator

COIN = MDP(
    [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.7, 0.3, 1, 1], labels={"heads": [1]}, actions=["toss", "stay", "stay"],
    state_names=["start", "heads", "tails"],
)  # fmt: skip
HEADS = 'Pmax=? [ F "heads" ]'
BETTING = benchmark.BENCHMARKS["betting-favourable"]


def test_a_coin_is_held_back_by_its_bound() -> None:
    *_, last = anytime(COIN, HEADS, ConfidenceSequence(0.05), trajectories=400)
    found = explain(last)
    (only,) = found.transitions
    assert (only.state, only.action, only.successor, only.bound) == ("start", "toss", "heads", "lower")
    assert (only.samples, only.visits, only.gain) == (400, 1.0, pytest.approx(1.0))
    assert only.holds_back == pytest.approx(last.model.upper[0] - last.model.lower[0])
    assert found.promise == last.bracket.lower
    (choice,) = found.choices
    assert choice.holds_back == pytest.approx(found.estimate - found.promise)
    assert found.promised
    assert not found.classes


def test_nothing_holds_back_what_is_decided_or_tight() -> None:
    tight = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], [0.5, 0.5, 1, 1], labels={"goal": [1]}
    )
    for model, asked in ((tight, 'Pmaxmin=? [ F "goal" ]'), (tight, "Pmaxmin=? [ F true ]")):
        found = explain(model, asked)
        assert found.transitions == found.choices == ()
        assert "nothing holds it back" in found.sentence


def test_where_the_worst_case_is_infinite_what_counts_suggest_is_asked() -> None:
    bench = benchmark.BENCHMARKS["chain"]
    *_, last = anytime(bench.build(), bench.spec, ConfidenceSequence(0.05), trajectories=3, horizon=100)
    assert math.isinf(last.bracket.upper)
    found = explain(last, target="<=80")
    assert found.basis == "estimate"
    assert found.transitions
    assert "if things" in found.sentence
    shown = json.loads(json.dumps(found.as_dict()))
    assert shown["promise"] == "inf"


def test_the_root_law_is_a_square_root() -> None:
    """Of one coin the promise is the lower bound: how many samples it takes is known in closed form."""
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.1, 1, 1], [0.9, 0.5, 1, 1], labels={"heads": [1]}
    )
    counts = np.array([69, 30, 0, 0])
    worst = WorstCase.of(model, Spec.parse('Pmaxmin=? [ F "heads" ]'), counts)
    found = forecast(worst, threshold(">=0.6"), counts, 99)
    wanted = 99 * (((worst.estimate - 0.5) / (worst.estimate - 0.6)) ** 2 - 1)
    assert found.law == "root"
    assert found.trajectories == pytest.approx(wanted, rel=0.05)
    assert found.samples == pytest.approx(wanted, rel=0.05)
    assert forecast(worst, threshold(">=0.4"), counts, 99).reached
    never = forecast(worst, threshold(">=0.8"), counts, 99)
    assert (never.trajectories, never.samples) == (None, None)
    shrunk = law_of(model, worst.guess, counts, None)(np.array([3 * 99.0, 0, 0]))
    assert shrunk.upper[0] - shrunk.lower[0] == pytest.approx(0.2)  # four times the samples, half the width


SMALL = (benchmark.chain(8), benchmark.BENCHMARKS["chain"].spec)
BET = (BETTING.build(), BETTING.spec)


@pytest.mark.parametrize(
    ("process", "learner", "first", "then"),
    [
        pytest.param((COIN, Spec.parse(HEADS)), ConfidenceSequence(0.05), ">=0.4", ">=0.6", marks=pytest.mark.slow),
        pytest.param((COIN, Spec.parse(HEADS)), ConfidenceSequence(0.05), ">=0.6", ">=0.65", marks=pytest.mark.slow),
        pytest.param(SMALL, ConfidenceSequence(0.05), "<=13", "<=11.5", marks=pytest.mark.slow),
        pytest.param(SMALL, LUI(), "<=13", "<=11", marks=pytest.mark.slow),
        pytest.param(BET, ConfidenceSequence(0.05), ">=20", ">=30", marks=pytest.mark.slow),
        pytest.param(BET, ConfidenceSequence(0.05), ">=30", ">=35", marks=pytest.mark.slow),
    ],
)
def test_what_a_target_takes_against_what_then_happened(
    process: tuple[MDP, Spec], learner: Learner, first: str, then: str
) -> None:
    """The estimate is within a factor of three, in the geometric mean over a few runs, of what it then took."""
    errors = []
    for seed in range(4):
        run = LearningRun(Simulator(process[0], sampling="auto"), process[1], learner, seed=seed, horizon=100)
        *_, now = proceed(run, StoppingCriteria(until=threshold(first)))
        found = explain(now, target=then).forecast
        assert found is not None
        assert found.trajectories is not None
        *_, later = proceed(run, StoppingCriteria(until=threshold(then)))
        errors.append(math.log(found.trajectories / (later.trajectories - now.trajectories)))
    assert abs(np.mean(errors)) < math.log(3)


def test_classes_sum_over_the_transitions_of_their_outcomes() -> None:
    bench = benchmark.BENCHMARKS["grid"]
    mdp = benchmark.grid(4, 3, traps=[(1, 1)])
    assert bench.tie is not None
    tying = bench.tie(mdp.graph)
    *_, last = anytime(mdp, bench.spec, ConfidenceSequence(0.05), tie=tying, trajectories=200, horizon=50)
    found = explain(last, target=">=0.3", top=1000)
    assert isinstance(last.learner, Tied)
    about = WorstCase.of(last.model, bench.spec.robust(), last.learner.sightings(last.counts)).sensitivity  # type: ignore[arg-type]
    for each in found.classes:
        outcome = next(
            o for o, name in enumerate(tying.outcome_names)
            if name == each.outcome and tying.names[int(np.searchsorted(tying.outcome_ptr, o, side="right")) - 1] == each.name
        )  # fmt: skip
        along = [
            t for t in range(mdp.transitions)
            if outcome in tying.transition_outcome[tying.transition_ptr[t] : tying.transition_ptr[t + 1]]
        ]  # fmt: skip
        assert each.gain == pytest.approx(sum(about.gain[t] for t in along))
    assert found.classes[0].holds_back >= found.transitions[0].holds_back


def test_models_and_runs_and_their_files(umdp: Cli) -> None:  # noqa: F811
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1], labels={"goal": [1]}
    )
    io.write(model, "coin.drn")
    done = umdp("explain", "coin.drn", 'Pmaxmin=? [ F "goal" ]', "--json")
    shown = json.loads(done.out)
    assert (done.code, shown["transitions"][0]["gain"], shown["guarantee"]) == (0, 1.0, None)
    assert shown["promise"] == pytest.approx(0.2)
    assert "worst case" in umdp("explain", "coin.drn", 'Pmaxmin=? [ F "goal" ]').out

    learn = ("learn", "betting-favourable", "--confidence", "0.95", "--trajectories", "500", "--out", "a.run", "-q")
    assert umdp(*learn).code == 0
    done = umdp("explain", "a.run", "--target", ">=30", "--top", "2", "--json")
    shown = json.loads(done.out)
    names = {"model", "property", "promise", "estimate", "guarantee", "played", "basis", "explanation", "transitions", "choices",
             "classes", "parameters", "forecast"}  # fmt: skip
    assert set(shown) == names
    assert len(shown["transitions"]) == 2
    assert shown["forecast"]["law"] == "learner"
    assert shown["forecast"]["estimate"] is True
    run = open_run("a.run")
    assert shown["promise"] == run.bracket.lower
    # The learner is put together again from the file: what it says of a snapshot in memory is the same.
    *_, last = anytime(BETTING.build(), BETTING.spec, ConfidenceSequence(float(run.config.settings["error_rate"])),
                       trajectories=500, horizon=7)  # fmt: skip
    again = explain(last, target=">=30", top=2).as_dict()
    assert {**again, "model": "a.run"} == shown
    text = umdp("explain", "a.run", "--target", ">=30").out
    assert "promise" in text
    assert "an estimate, not a promise" in text


def test_a_run_without_a_guarantee_promises_nothing_here_either(umdp: Cli) -> None:  # noqa: F811
    assert umdp("learn", "bandit", "--trajectories", "50", "--out", "l.run", "-q").code == 0
    text = umdp("explain", "l.run").out
    assert "promise  " not in text
    assert "no guarantee" in text
    done = umdp("explain", "l.run", "--ledger")
    assert (done.code, "promises nothing" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("examples/nothing.run",), "no such"),
        (("a.run", HEADS), "its own property"),
        (("a.run", "--top", "0"), "at least 1"),
        (("a.run", "--target", ">=2"), "never that large"),
        (("a.run", "--target", "x"), "not a threshold"),
        (("a.run", "--ledger", "--target", ">=0.5"), "leave out"),
        (("plain.drn", HEADS), "no intervals"),
        (("coin.drn",), "say which promise"),
        (("coin.drn", 'Pmaxmin=? [ F "heads" ]', "--target", ">=0.5"), "what was learned"),
    ],
)
def test_what_cannot_be_explained_is_said_in_one_line(umdp: Cli, arguments: tuple[str, ...], said: str) -> None:  # noqa: F811
    if "a.run" in arguments:
        umdp("learn", "grid", "--trajectories", "5", "--out", "a.run", "-q")
    io.write(COIN, "plain.drn")
    io.write(COIN.graph.with_bounds([0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1]), "coin.drn")
    done = umdp("explain", *arguments)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_top_and_subject_are_checked() -> None:
    with pytest.raises(ModelError, match="top"):
        explain(COIN.graph.with_bounds([0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1]), 'Pmaxmin=? [ F "heads" ]', top=0)
    with pytest.raises(ModelError, match="cannot be explained"):
        explain(3)  # type: ignore[arg-type]
