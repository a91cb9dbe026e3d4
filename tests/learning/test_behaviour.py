"""What doing as in a log is worth: counted as plainly as can be, bounded at all times, whatever decided the actions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import umdp
from umdp import LUI, MDP, ConfidenceSequence, Policy, Spec, evaluate
from umdp.analysis.episode_account import account_of
from umdp.learning.behaviour import LoggedBehaviour, flow_of
from umdp.learning.behaviour_kernels import COUNT, HELD, UNDECIDED
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.source import Log

MACHINE = MDP(
    [0, 1, 3, 4], [0, 2, 4, 6, 7], [0, 1, 0, 1, 1, 2, 2], [0.7, 0.3, 0.8, 0.2, 0.8, 0.2, 1.0],
    labels={"failed": [2], "worn": [1]}, state_names=["new", "worn", "failed"], actions=["run", "service", "run", "stay"],
)  # fmt: skip
WITHIN = 'Pmin=? [ F<=5 "failed" ]'
ASKED = [
    WITHIN,
    'Pmin=? [ F "failed" ]',
    'Pmax=? [ G<=4 !"failed" ]',
    'Pmax=? [ X "worn" ]',
    'Pmax=? [ !"failed" U[2,4] "worn" ]',
]
Rows = list[tuple[str, str, str, str]]


def play(seed: int, machines: int, days: int, serve: Callable[[int, Any], bool]) -> Rows:
    """Return what happened to machines that are watched for so many days; whether one is served depends on the day."""
    rng, rows = np.random.default_rng(seed), []
    for machine in range(machines):
        state = 0
        for day in range(days):
            if state == 2:
                break
            choice = 0 if state == 0 else 1 if serve(day, rng) else 2
            first, last = MACHINE.choice_ptr[choice], MACHINE.choice_ptr[choice + 1]
            following = int(rng.choice(MACHINE.successor[first:last], p=MACHINE.probability[first:last]))
            names = MACHINE.state_name(state), MACHINE.action_name(choice), MACHINE.state_name(following)
            rows.append((str(machine), *names))
            state = following
    return rows


def write(path: Path, rows: Rows) -> Path:
    path.write_text("\n".join(["trajectory,state,action,next", *map(",".join, rows)]) + "\n")
    return path


def failed(name: object) -> bool:
    return name == "failed"


def learned(path: Path, learner: Any, asked: str = WITHIN) -> list[umdp.Snapshot]:
    log = Log(path, labels={"failed": failed}, initial="new", terminal=failed)  # also where none has failed
    found = list(umdp.anytime(log, asked, learner, behaviour=True))
    log.close()
    return found


@given(
    asked=st.sampled_from(ASKED),
    pieces=st.lists(st.lists(st.integers(-1, 6), max_size=8), max_size=6),
    cut=st.integers(0, 40),
)
def test_trajectories_count_as_their_account_says(asked: str, pieces: list[list[int]], cut: int) -> None:
    """Each trajectory by itself, with the account that `umdp simulate` keeps; read in two parts."""
    graph, spec = MACHINE.graph, Spec.parse(asked)
    owner = np.repeat(graph.choice_state, np.diff(graph.choice_ptr))
    account, expected = account_of(graph, spec), [0, 0, 0]
    for number, piece in enumerate(pieces):
        if not piece or piece[0] < 0 or owner[piece[0]] != graph.initial:
            continue
        state, found = int(owner[piece[0]]), None
        for step, transition in enumerate([None, *piece]):
            if transition is not None:
                if transition < 0:
                    break
                state = int(graph.successor[transition])
            stays = state == 2 and bool(account.objective.through[2])  # for ever
            if account.over(state, step) or state == 2:
                found = bool(account.holds(state, max(step, account.objective.wait) if stays else step))
                break
        if found is not None or number < len(pieces) - 1 or -1 in piece:  # who is last may go on
            expected = [expected[0] + 1, expected[1] + (found is True), expected[2] + (found is None)]
    rows = np.array([t for piece in pieces for t in piece], np.int64)
    begins = np.array([k == 0 for piece in pieces for k in range(len(piece))], np.bool_)
    behaviour = LoggedBehaviour(flow_of(graph, spec), 0.05, 0.95)
    for part in (slice(0, cut), slice(cut, None)):
        behaviour.take(rows[part], begins[part], named=True)
    last = max((i for i, piece in enumerate(pieces) if piece), default=-1)
    if last < len(pieces) - 1 and behaviour.seen[0]:  # nothing came after it
        return
    assert [int(behaviour.seen[each]) for each in (COUNT, HELD, UNDECIDED)] == expected


def test_an_endless_recording_is_cut_into_pieces() -> None:
    """From visits of the initial state; the next one begins after the one before was decided."""
    behaviour = LoggedBehaviour(flow_of(MACHINE.graph, Spec.parse('Pmin=? [ F<=2 "worn" ]')), 0.05, 0.95)
    behaviour.take(np.array([0, 0, 0, 1, 2, 1, 3, 2, 0]), np.arange(9) == 0, named=False)
    assert behaviour.seen.tolist() == [1, 1, 3, 2, 0]


@pytest.mark.parametrize("runs", [100, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("habit", ["by chance", "by the day"])
def test_it_is_false_no_more_often_than_it_says(runs: int, habit: str, tmp_path: Path) -> None:
    """At 20 %, at the worst of all looks; the difference too, also where actions depend on the day, which no row says."""
    if habit == "by chance":
        truth = evaluate(MACHINE, WITHIN, Policy(MACHINE, weight=[1, 0.3, 0.7, 1])).value
    else:
        choice = [[0, 1 if day % 2 else 2, 3] for day in range(5)]
        truth = evaluate(MACHINE, WITHIN, Policy(MACHINE, choice)).value
    wrong = better = 0
    for seed in range(runs):
        rows = play(seed, 40, 8, lambda day, rng: rng.random() < 0.3 if habit == "by chance" else day % 2 == 1)
        looks = learned(write(tmp_path / "log.csv", rows), ConfidenceSequence(0.2))
        wrong += any(not each.behaviour.bracket.lower <= truth <= each.behaviour.bracket.upper for each in looks)
        better += any((each.improvement or -1) > truth for each in looks)
    assert wrong <= binom.ppf(0.9999, runs, 0.02)
    assert better == 0


def test_better_than_the_log(tmp_path: Path) -> None:
    rows = play(1, 4000, 8, lambda day, rng: rng.random() < 0.3)
    last = learned(write(tmp_path / "log.csv", rows), ConfidenceSequence(0.05))[-1]
    assert last.guarantee.level == 0.95
    assert last.learner.error_rate == pytest.approx(0.045)
    assert last.behaviour.trajectories == 4000
    assert 0 < last.improvement == last.behaviour.bracket.lower - last.bound
    alone = learned(write(tmp_path / "log.csv", rows), LUI())[-1]
    assert alone.behaviour.bracket.lower > last.behaviour.bracket.lower
    assert alone.improvement is None  # nothing is promised of the policy


def test_a_run_that_goes_on_accounts_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", play(3, 300, 8, lambda day, rng: rng.random() < 0.5))

    def begun() -> LearningRun:
        log = Log(path, labels={"failed": ["failed"]}, initial="new", terminal=["failed"])
        return LearningRun(log, Spec.parse(WITHIN), ConfidenceSequence(0.05), behaviour=True)

    whole = begun()
    expected = [each.row() for each in proceed(whole, StoppingCriteria())]
    for stop in (1, len(expected) // 2):
        first, second = begun(), begun()
        for _, _ in zip(range(stop + 1), proceed(first, StoppingCriteria()), strict=False):
            pass
        second.restore(first.checkpoint())
        assert [each.row() for each in proceed(second, StoppingCriteria())][-1] == expected[-1]


def test_a_log_is_accounted_for_by_its_last_run_alone(tmp_path: Path) -> None:
    """One source for a run with an account, one without, one with another question: each as with a source of its own."""
    path = write(tmp_path / "log.csv", play(3, 200, 8, lambda day, rng: rng.random() < 0.5))

    def opened() -> Log:
        return Log(path, labels={"failed": ["failed"], "worn": ["worn"]}, initial="new", terminal=["failed"])

    shared = opened()
    for asked, behaviour in ((WITHIN, True), (WITHIN, False), ('Pmax=? [ F "worn" ]', True), (WITHIN, True)):
        runs = [
            LearningRun(source, Spec.parse(asked), ConfidenceSequence(0.05), behaviour=behaviour)
            for source in (shared, opened())
        ]
        found = [[each.row() for each in proceed(run, StoppingCriteria())] for run in runs]
        assert found[0] == found[1]
        runs[0].restore(runs[1].checkpoint())
        assert runs[0].snapshot().row() == runs[1].snapshot().row()
