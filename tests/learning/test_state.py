"""The state of a run is a value: saved, compared, and taken up again."""

from __future__ import annotations

from umdp import LUI, CandidateEvaluation, ConfidenceSequence
from umdp.benchmark import BENCHMARKS
from umdp.explore import Optimism
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
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


def kept(run: LearningRun) -> bytes:
    return pack(run.state.as_data())


def test_equal_runs_have_equal_states_and_others_have_not() -> None:
    one, other = advance(fresh(), 200), advance(fresh(), 200)
    assert kept(one) == kept(other)
    assert kept(advance(other, 300)) != kept(one)


def test_a_checkpoint_is_the_state() -> None:
    run = advance(fresh(0.5), 300)
    other = fresh(0.5)
    other.restore(unpack(pack(run.checkpoint())))
    assert kept(other) == kept(run)
    assert kept(advance(other, 600)) == kept(advance(run, 600))


def test_a_run_that_goes_on_from_a_checkpoint_leaves_it_as_it_was() -> None:
    for evidence in (None, 0.5):
        saved = advance(fresh(evidence), 200).checkpoint()
        before, other = pack(saved), fresh(evidence)
        other.restore(saved)
        advance(other, 400)
        assert pack(saved) == before


def test_looking_at_an_incomplete_iteration_changes_nothing() -> None:
    bench = BENCHMARKS["grid"]
    run = LearningRun(Simulator(bench.build()), bench.spec, LUI(), Optimism(), 3, bench.horizon)
    for budget in range(50, 100):
        if advance(run, budget).state.pending.any():
            break
    before = kept(run)
    first, second = run.snapshot(), run.snapshot()
    assert kept(run) == before
    assert first.partial
    assert first.bracket == second.bracket
