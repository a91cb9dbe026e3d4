"""The state of a run is a value: copied, compared, saved, and taken up again."""

from __future__ import annotations

from umdp import LUI, CandidateEvaluation, ConfidenceSequence
from umdp.benchmark import BENCHMARKS
from umdp.explore import Optimism
from umdp.learning.loop import StoppingCriteria, proceed
from umdp.learning.procedure import LearningRun
from umdp.run.codec import pack, unpack
from umdp.source.simulator import Simulator

AIRCRAFT = BENCHMARKS["aircraft"]


def fresh(evidence: float | None = None) -> LearningRun:
    given = None if evidence is None else CandidateEvaluation(evidence)
    source = Simulator(AIRCRAFT.build())
    return LearningRun(
        source, AIRCRAFT.spec, ConfidenceSequence(0.05), Optimism(0.9), 3, AIRCRAFT.horizon, evidence=given
    )


def advance(run: LearningRun, trajectories: int) -> LearningRun:
    for _ in proceed(run, StoppingCriteria(trajectories=trajectories)):
        pass
    return run


def test_equal_runs_have_equal_states_and_others_have_not() -> None:
    one, other = advance(fresh(), 200), advance(fresh(), 200)
    assert one.state == other.state
    assert advance(other, 300).state != one.state
    assert one.state != 3


def test_a_copy_goes_its_own_way() -> None:
    for evidence in (None, 0.5):
        run = advance(fresh(evidence), 200)
        kept = run.state.copy()
        assert kept == run.state
        advance(run, 400)
        assert kept != run.state
        assert kept == advance(fresh(evidence), 200).state


def test_a_checkpoint_is_the_state() -> None:
    run = advance(fresh(0.5), 300)
    other = fresh(0.5)
    other.restore(unpack(pack(run.checkpoint())))
    assert other.state == run.state
    assert advance(other, 600).state == advance(run, 600).state


def test_looking_at_an_incomplete_iteration_changes_nothing() -> None:
    bench = BENCHMARKS["grid"]
    run = LearningRun(Simulator(bench.build()), bench.spec, LUI(), Optimism(), 3, bench.horizon)
    for budget in range(50, 100):
        if advance(run, budget).state.pending.any():
            break
    before = run.state.copy()
    first, second = run.snapshot(), run.snapshot()
    assert run.state == before
    assert first.partial
    assert first.bracket == second.bracket
