"""Anytime learning, the paper's figure 1: a run with its four steps, and the loop over them, a generator of snapshots.

`proceed` is the figure. `LearningRun.snapshot` computes the robust policy, `reason_to_end` says whether it is good enough,
`LearningRun.direct` chooses how to explore where it is not, `explore` samples from the process, and `LearningRun.update` moves
the intervals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.explore import Explorer, Optimism, Uniform, View, reaches
from umdp.explore.policies import directions, doubling, least_trajectories
from umdp.learn import Learner
from umdp.learning.behaviour import behaviour_of
from umdp.learning.candidates import CandidateEvaluation
from umdp.learning.candidates.evaluation_settings import divide
from umdp.learning.candidates.scheduler import CandidateScheduler
from umdp.learning.snapshot import Snapshot
from umdp.learning.state import LearningState, RunSettings, Solved, StoppingCriteria, restored
from umdp.learning.validation import asked_of, check_learnable, check_numbers, check_spec, default_horizon, readings
from umdp.learning.value_estimates import distance, value_estimates
from umdp.model import IntervalMDP
from umdp.solver import Solution, UncertifiedSolution, prepare, relevant
from umdp.solver.graph.decided import resting
from umdp.solver.prepared import PolicyValues, keep_start
from umdp.source import SamplingRequest, Source
from umdp.source.source import without_rest
from umdp.spec import Spec
from umdp.statements.conditions import COSTLY
from umdp.statements.guarantee import Guarantee, guarantee_of

__all__ = ["LearningRun", "StoppingCriteria", "explore", "play", "proceed", "reason_to_end"]

Array = NDArray[Any]
PATIENCE = 0.05  # seconds between looks at what may stop a run
MANY = 2**40
CUTOFF = 1e9  # times the largest reward: expectations beyond it say that next to nothing is known
SMALL = 400  # states up to which policies are found by elimination, whose ties do not depend on where it started


# -- the loop ------------------------------------------------------------------------------------------------


def proceed(
    run: LearningRun,
    criteria: StoppingCriteria,
    stop: Callable[[], bool] | None = None,
    keep: Callable[[Snapshot], None] | None = None,
) -> Iterator[Snapshot]:
    """Yield snapshots of a run from where it is; `keep` is called with each before it is shown."""
    deadline, halted = np.inf, None
    if criteria.seconds is not None:
        run.snapshot()  # its solves are kept for the first turn; what is compiled for them is not time spent
        deadline = time.monotonic() + criteria.seconds

    def over() -> str | None:
        if time.monotonic() >= deadline:
            return "the time is up"
        return "stopped" if stop is not None and stop() else None

    while True:
        snapshot = run.snapshot()  # robust policy computation
        reason = reason_to_end(run, snapshot, criteria, halted or over())  # good enough, or all there is?
        snapshot = snapshot if reason is None else replace(snapshot, reason=reason)
        if keep is not None:
            keep(snapshot)
        yield snapshot
        if reason is not None:
            return
        # If not: let a candidate show what it is worth, or look where there is most to learn.
        complete, halted = (play if run.state.is_candidates_turn(run.settings) else explore)(run, criteria, over)
        if complete:
            run.update()  # update the intervals


def explore(run: LearningRun, criteria: StoppingCriteria, over: Callable[[], str | None]) -> tuple[bool, str | None]:
    """Explore until some choice has been taken as often as ever before; return whether it was, or what `over` said.

    Where steps are slow or `per_solve` says so, it takes at least a number of trajectories that depends on the run alone.
    """
    from umdp.explore.ahead import is_met

    state, source, candidates = run.state, run.source, run.state.candidates
    quota, weight, horizon = run.wanted(), run.direct(), run.settings.horizon
    least = run.per_solve or least_trajectories(source.graph, source.pace, *state.since)
    choice_ptr, left = source.graph.choice_ptr, quota
    while True:
        begun = time.perf_counter()
        missing = 0 if least <= 1 else max(least - (state.trajectories - state.since[0]), 0)
        if missing:
            left = np.full_like(quota, -1)
        elif not state.begins:
            left = np.where(quota < 0, -1, np.maximum(quota - np.add.reduceat(state.pending, choice_ptr[:-1]), 0))
            if not left.all():
                return True, None
        chunk = MANY if source.eager or source.whole else run.chunk
        free = MANY if candidates is None else candidates.free
        most = min(chunk, criteria.most(state.trajectories, state.steps, horizon), missing or MANY, free)
        batch = source.collect(SamplingRequest(weight, run.halt, horizon, left, most))
        state.see(batch)
        if candidates is not None and candidates.explore(batch.trajectories):  # it is a candidate's turn
            return True, None
        if source.eager and batch.steps > 0:
            return True, None
        if missing <= batch.trajectories and is_met(choice_ptr, state.pending, quota):
            return True, None
        if state.ended or criteria.spent(state.trajectories, state.steps):
            return False, None
        if (why := over()) is not None:
            return False, why
        if batch.trajectories == chunk and time.perf_counter() - begun < PATIENCE:
            run.chunk = min(2 * chunk, MANY)


def play(run: LearningRun, criteria: StoppingCriteria, over: Callable[[], str | None]) -> tuple[bool, str | None]:
    """Play the candidate until its turn is over or a look is due; return whether it is, or what `over` said."""
    state, source, candidates = run.state, run.source, run.state.candidates
    assert candidates is not None
    chunk = MANY if source.whole else 1
    while True:
        begun = time.perf_counter()
        most = min(chunk, criteria.most(state.trajectories, state.steps, candidates.horizon))
        state.see(candidates.play(source, most))
        if candidates.is_over():
            return True, None
        if state.ended or criteria.spent(state.trajectories, state.steps):
            return False, None
        if (why := over()) is not None:
            return False, why
        if time.perf_counter() - begun < PATIENCE:
            chunk = min(2 * chunk, MANY)


def reason_to_end(run: LearningRun, snapshot: Snapshot, criteria: StoppingCriteria, over: str | None) -> str | None:
    """Return why a run ends with a snapshot, None if it does not; `over` is what was said from outside."""
    reason: str | None
    if run.settings.decided and not run.settings.is_unread(run.source, run.state.ended):
        reason = "the graph decides the value: there is nothing to learn"
    elif run.state.ended:
        reason = "there is no more data"
    else:
        reason = criteria.spent(snapshot.trajectories, snapshot.steps) or over
        if reason is None and not criteria.exhaust and not run.can_learn():
            reason = "exploration reaches nothing from which more could be learned"
    # Within an iteration a threshold ends nothing, so that where a run was interrupted does not decide how it goes on.
    if reason is None and snapshot.partial:
        return None
    met = criteria.reached(snapshot, run.spec.threshold)
    return met or criteria.closed(snapshot, lambda: run.gap(snapshot)) or reason


# -- a run, and its steps -----------------------------------------------------------------------------------


@dataclass(eq=False)
class LearningRun:
    """A run that can be advanced, saved and continued; `umdp.anytime` makes one and loops over it.

    What it does next depends on its state and that of the source alone, so that a run continued from a checkpoint is the run that
    was not interrupted. An iteration that was interrupted is continued, too: what it has seen so far is pending, shown by a
    partial snapshot, and counted once the iteration is complete.

    Attributes
    ----------
    state : what was seen and learned
    settings : what is fixed: the question on its graph, where trajectories end
    """

    source: Source
    spec: Spec
    learner: Learner
    explorer: Explorer = field(default_factory=Optimism)
    seed: int = 0
    horizon: int | None = None
    precision: float = 1e-6
    per_solve: int | None = None
    evidence: CandidateEvaluation | None = None
    behaviour: bool = False

    def __post_init__(self) -> None:
        check_spec(self.spec)
        self.spec = self.spec.counted(self.source.graph)
        check_learnable(self.source.graph, self.spec)
        check_numbers(seed=self.seed, horizon=self.horizon, precision=self.precision, per_solve=self.per_solve)
        learner, budget = (self.learner, None) if self.evidence is None else divide(self.learner, self.evidence)
        asked = asked_of(self.source.graph, self.spec)
        if asked in COSTLY or not learner.discovers:
            self.source = without_rest(self.source)  # nothing would be known of it, or follow from what is
        graph = self.source.graph
        worst, best = readings(self.spec, graph)
        self._pessimist, self._optimist = prepare(graph, worst.robust()), prepare(graph, best.optimistic())
        known = relevant(graph, worst)
        horizon = self.horizon or (default_horizon(graph.states) if known.steps is None else known.steps)
        # Where a log that is its own graph is cut short must not depend on what the rest of it shows: it is not cut at all.
        decided = known.decided & (self.source.interactive or graph.rest is None)
        learner, self._behaviour = behaviour_of(self.source, self.spec, learner, wanted=self.behaviour)
        learner = learner.bind(graph, known.choices, graph_known=self.source.graph_known)
        if self.source.interactive and graph.rest is None:  # nothing is left to earn, or to learn
            decided = decided | resting(graph, known.spent, learner.lower)
        self.halt, self.horizon = self.trajectory_ends(decided, horizon)
        self.settings = RunSettings(
            graph, self.spec, worst, best, asked, not known.choices.any(), known.favoured, self.halt, self.horizon, self.seed,
            self.precision, "policy" if graph.states <= SMALL else "auto",
        )  # fmt: skip
        candidates = None if budget is None else CandidateScheduler.of(budget, self.source, worst, self.horizon)
        self.chunk = 1  # so many trajectories between two looks at the clock
        self._values = PolicyValues(worst.robust())
        self._become(LearningState.before(learner, candidates))
        self.source.begin(self.seed)

    def _become(self, state: LearningState) -> None:
        """Take on another state, and drop what was worked out for the model before."""
        self.state, self.learner = state, state.learner
        self._solved = Solved(dict(state.starts))

    @property
    def trajectories(self) -> int:
        """How many were seen."""
        return self.state.trajectories

    @property
    def steps(self) -> int:
        """How many were seen."""
        return self.state.steps

    @property
    def candidates(self) -> CandidateScheduler | None:
        """Who is played as evidence; None without."""
        return self.state.candidates

    # -- step 1: robust policy computation -------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return what is known now: the robust policy and its worst-case value, data of an incomplete iteration included."""
        state = self.state
        if state.pending.any():
            return replace(self._ahead(), partial=True)
        robust, best = self._robust(), self._optimistic()
        played = None if state.candidates is None else state.candidates.promised(self.source, robust.policy)
        return Snapshot(
            state.iteration, state.trajectories, state.steps, robust, best and best.value,
            self._guarantee(),  # type: ignore[arg-type]
            self.source.truth, None, False, state.learner.ledger, state.counts, played, state.learner.alarms(), state.learner,
            self._values, None if self._behaviour is None else self._behaviour.value(), not self.source.interactive,
        )  # fmt: skip

    def guarantee(self) -> Guarantee:
        """Return what is promised: what the learner claims, as far as what is known of the data lets it stand."""
        if self.state.learner.claim.holds:
            self._robust()  # what is promised is promised of its policy
        return self._guarantee()()

    def _guarantee(self) -> Callable[[], Guarantee]:
        """Return how to work out what is promised now; that depends on nothing that may change later."""
        state, settings, source, solution = self.state, self.settings, self.source, self._solved.robust
        learner, counts, looks, candidates = state.learner, state.counts, state.iteration, state.candidates
        whole, provenance, behaviour = state.ended and not source.interactive, source.provenance(), self._behaviour

        def work_out() -> Guarantee:
            shared = behaviour.claimed if behaviour is not None else None if candidates is None else candidates.shared
            claim = learner.claim if shared is None else shared(learner.claim)
            return guarantee_of(
                claim, provenance, looks=looks, whole=whole, discovers=learner.discovers, watches=learner.watches,
                asked=settings.asked, decided_unseen=settings.unseen(learner.sightings(counts), solution) if claim.holds else 0,
                reward=settings.reward,
            )  # fmt: skip

        return work_out

    def gap(self, snapshot: Snapshot) -> float:
        """Return by how much any policy can be better than what is promised of this one, as far as is known; both ends proved.

        It is the distance from the promise, by the model or by playing, to the value in the best case: if the process is one of
        those that were not ruled out, the optimum is no better than that.
        """
        solved = self._solved
        if solved.ceiling is None:
            options = self.settings.options(self.state.starts, "optimistic")
            solved.ceiling = self._optimist.solve_model(self._model(), cutoff=CUTOFF, **options).bracket
        return distance(snapshot.promised, solved.ceiling)

    # -- step 2: where to look -------------------------------------------------------------------------------

    def direct(self) -> NDArray[np.float64]:
        """Return how to explore: the probability of every choice within its state, shape (C,), or (K, C) by the step."""
        solved = self._solved
        if solved.weight is None:
            best, learner, source = self._optimistic(), self.state.learner, self.source
            explorer = self.explorer if source.interactive else Uniform()  # a log does not follow anybody
            choice = None if best is None else best.policy.choice
            now = choice[0] if choice is not None and choice.ndim == 2 else choice
            tied = best.tied() if best is not None and explorer.spreads_ties(source.pace > 0) else None
            view = View(
                self.settings.graph, self.state.counts, learner.lower, learner.upper, learner.matters, self.towards(now), tied,
                lambda: value_estimates(self.settings, self.state, self._robust, self._optimistic),
            )  # fmt: skip
            solved.weight = directions(explorer, view, choice if source.stepwise else None)
        return solved.weight

    def can_learn(self) -> bool:
        """Whether exploring as directed can reach a choice whose outcome is not known beforehand."""
        if not self.source.interactive:
            return True
        return reaches(self.settings.graph, self.direct(), self.wanted() >= 0, self.halt, self.horizon or 0)

    def wanted(self) -> Array:
        """Return how often each choice (C,) must be taken for the iteration to be complete, worked out once."""
        solved = self._solved
        if solved.quota is None:
            solved.quota = self.quota()
        return solved.quota

    # -- step 4: update the intervals ------------------------------------------------------------------------

    def update(self) -> None:
        """Learn from what was seen since the last update; that completes an iteration."""
        self._become(self.state.completed(self._solved.starts))
        self.updated()

    # -- what a variant may change ---------------------------------------------------------------------------
    # Hooks: the procedure as published (`umdp.paper.published`) is this one with these methods of its own, and no others.

    def trajectory_ends(self, decided: NDArray[np.bool_], horizon: int) -> tuple[NDArray[np.bool_], int]:
        """Return where (S,) and after how many steps trajectories end, given where the graph decides the value."""
        return decided, horizon

    def solve_robust(self, model: IntervalMDP) -> Solution:
        """Solve the learned model for the worst case."""
        options = self.settings.options(self.state.starts, "robust")
        return self._pessimist.solve_model(model, cutoff=CUTOFF, **options)

    def solve_optimistic(self, model: IntervalMDP) -> UncertifiedSolution:
        """Find what is best in the best case, and its value; without a proof."""
        return self._optimist.solve_uncertified(model, **self.settings.options(self.state.starts, "optimistic"))

    def towards(self, optimistic: Array | None) -> Array | None:
        """Return the choices (S,) that exploration is told are best, given those of the model as it is now."""
        return optimistic

    def quota(self) -> Array:
        """Return how often each choice (C,) must be taken for an iteration to be complete; -1: it does not matter."""
        learner, graph = self.state.learner, self.settings.graph
        if not (self.source.interactive or self.source.eager) and learner.claim.kind == "fixed-N":
            return np.full(graph.choices, -1)  # such bounds allow for one look: at all of the data
        return doubling(graph, learner.remembered(self.state.counts), learner.growth)

    def updated(self) -> None:
        """Take note that an iteration is complete."""

    # -- solves, at most one of each kind per iteration ------------------------------------------------------

    def _robust(self) -> Solution:
        solved = self._solved
        if solved.robust is None:
            solved.robust = self.solve_robust(self._model())
            keep_start(solved.starts, "robust", solved.robust)
        return solved.robust

    def _optimistic(self) -> UncertifiedSolution | None:
        """Return what is best in the best case, where exploration asks for it and something is there to follow it."""
        solved = self._solved
        if solved.optimistic is None and self.explorer.optimistic and self.source.interactive:
            solved.optimistic = self.solve_optimistic(self._model())
            keep_start(solved.starts, "optimistic", solved.optimistic)
        return solved.optimistic

    def _model(self) -> IntervalMDP:
        solved = self._solved
        if solved.model is None:
            solved.model = self.state.learner.model
        return solved.model

    def _ahead(self) -> Snapshot:
        """Return what would be known if the iteration were complete; the run itself stays where it is."""
        self._robust(), self._optimistic()  # its solves start from the policies found here
        state, solved = self.state, self._solved
        try:
            self._become(state.completed(solved.starts))
            return self.snapshot()
        finally:
            self._become(state)
            self._solved = solved

    # -- durability ------------------------------------------------------------------------------------------

    def checkpoint(self) -> dict[str, Any]:
        """Return everything a continued run needs: numbers, lists, arrays and dictionaries of them."""
        return {**self.state.as_data(), "source": self.source.state()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._become(restored(self.state, self.source, saved))
