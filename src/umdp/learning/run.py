"""The anytime-learning procedure of the paper's figure 1: an answer after every iteration, whenever it is stopped.

`loop.proceed` is the figure. Its four steps are methods of `LearningRun`: `snapshot` computes the robust policy, `direct` chooses
how to explore where the answer is not good enough, `explore` samples from the process, and `update` moves the intervals.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.product import product_of
from umdp.conditions import ON_OBSERVED
from umdp.explore import Explorer, Optimism, Uniform, View, reaches
from umdp.explore.policies import directions
from umdp.explore.schedule import doubling, least_trajectories
from umdp.guarantee import Guarantee, promise
from umdp.learn import Learner
from umdp.learning.candidates import DirectEvidence
from umdp.learning.candidates.scheduler import CandidateScheduler
from umdp.learning.candidates.settings import divide
from umdp.learning.checkpoint import restore, state_of
from umdp.learning.snapshot import Snapshot
from umdp.learning.stopping import StoppingCriteria, default_horizon
from umdp.learning.validation import asked_of, check_numbers, check_spec, readings
from umdp.learning.value_estimates import distance, outlook_of
from umdp.model import IntervalMDP
from umdp.returns import refuse_shifted
from umdp.solver import Bracket, Proposal, Solution, prepare, relevant
from umdp.solver.graph.relevance import resting
from umdp.solver.graph.unseen import unseen_staying, unseen_support
from umdp.solver.prepared import keep_start
from umdp.source import Order, Source
from umdp.source.listed import without_rest
from umdp.spec import Spec

__all__ = ["LearningRun"]

Array = NDArray[Any]
PATIENCE = 0.05  # seconds between looks at what may stop a run
CUTOFF = 1e9  # times the largest reward: expectations beyond it say that next to nothing is known
SMALL = 400  # states up to which policies are found by elimination, whose ties do not depend on where it started


@dataclass(eq=False)
class LearningRun:
    """A run that can be advanced, saved and continued; `umdp.anytime` makes one and loops over it.

    What it does next depends on its state alone, so that a run continued from a saved state is the run that was not
    interrupted. An iteration that was interrupted is continued, too: what it has seen so far is pending, shown by a partial
    snapshot, and counted once the iteration is complete.

    Attributes
    ----------
    counts : (T,) how often each transition was seen in complete iterations
    pending : (T,) and since then
    since : trajectories and steps seen when the iteration began
    iteration : the number of complete iterations
    trajectories, steps : how many were seen, with those pending
    ended : the source has no more data
    open : whether there is anything to learn: a choice whose probabilities matter
    halt : (S,) states at which trajectories end, because their value is known
    """

    source: Source
    spec: Spec
    learner: Learner
    explorer: Explorer = field(default_factory=Optimism)
    seed: int = 0
    horizon: int | None = None
    precision: float = 1e-6
    per_solve: int | None = None
    evidence: DirectEvidence | None = None

    def __post_init__(self) -> None:
        check_spec(self.spec)
        self.spec = self.spec.counted(self.source.graph)
        refuse_shifted(self.source.graph, self.spec)
        check_numbers(seed=self.seed, horizon=self.horizon, precision=self.precision, per_solve=self.per_solve)
        self.learner, budget = divide(self.learner, self.evidence)
        self.asked = asked_of(self.source.graph, self.spec)
        if ON_OBSERVED[self.asked].against or not self.learner.discovers:
            self.source = without_rest(self.source)  # nothing would be known of it, or follow from what is
        graph = self.source.graph
        worst, best = readings(self.spec, graph)
        self.reading = worst
        self.method = "policy" if graph.states <= SMALL else "auto"
        self._pessimist, self._optimist = prepare(graph, worst.robust()), prepare(graph, best.optimistic())
        known = relevant(graph, self.reading)
        self.open, self._favoured = bool(known.choices.any()), known.favoured
        horizon = self.horizon or (default_horizon(graph.states) if known.steps is None else known.steps)
        # Where a log that is its own graph is cut short must not depend on what the rest of it shows: it is not cut at all.
        decided = known.decided & (self.source.interactive or graph.rest is None)
        self.learner = self.learner.bind(graph, known.choices, settled=self.source.settled)
        if self.source.interactive and graph.rest is None:  # nothing is left to earn, or to learn
            decided = decided | resting(graph, known.spent, self.learner.lower)
        self.halt, self.horizon = self.trajectory_ends(decided, horizon)
        self.playing = None if budget is None else CandidateScheduler.of(budget, self.source, worst, self.horizon)
        self.counts = np.zeros(graph.transitions, dtype=np.int64)
        self.pending = np.zeros_like(self.counts)
        self.iteration = self.trajectories = self.steps = 0
        self.since, self.ended, self._chunk = (0, 0), False, 1  # so many trajectories between two looks at the clock
        # Solves start from what the iteration before found: saved with the state, so that a continued run repeats them.
        self._starts: dict[str, Array] = {}
        self._forget()
        self.source.begin(self.seed)

    def _forget(self) -> None:
        """Drop what was worked out for the model before it changed."""
        self._learned: IntervalMDP | None = None
        self._worst: Solution | None = None
        self._best: Proposal | None = None
        self._weight: NDArray[np.float64] | None = None
        self._quota: Array | None = None
        self._ceiling: Bracket | None = None
        self._found: dict[str, Array] = dict(self._starts)

    # -- step 1: robust policy computation -------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return what is known now: the robust policy and its worst-case value, data of an incomplete iteration included."""
        if self.pending.any():
            return replace(self._ahead().snapshot(), partial=True)
        robust, best = self._robust(), self._optimistic()
        played = None if self.playing is None else self.playing.promised(self.source, robust.policy)
        return Snapshot(
            self.iteration, self.trajectories, self.steps, robust, best and best.value, self.guarantee(),
            self.source.truth, ledger=self.learner.ledger, counts=self.counts, evidence=played, alarms=self.learner.alarms(),
            learner=self.learner,
        )  # fmt: skip

    def guarantee(self) -> Guarantee:
        """Return what is promised: what the learner claims, as far as what is known of the data lets it stand."""
        claim, unseen = self.learner.claim if self.playing is None else self.playing.shared(self.learner.claim), 0
        graph = self.source.graph
        product = product_of(graph)
        if claim.holds and (self._favoured or product is not None):
            seen, policy = self.learner.sightings(self.counts), self._robust().policy
            unseen = unseen_support(graph, self.reading, policy, seen) if self._favoured else 0
            unseen += 0 if product is None else unseen_staying(graph, product.stay, policy, seen)
        return promise(
            claim, self.source.knowledge(), looks=self.iteration, whole=self.ended and not self.source.interactive,
            discovers=self.learner.discovers, watches=self.learner.watches, asked=self.asked, decided_unseen=unseen,
            reward=self.spec.resolve_reward(list(graph.rewards)) if self.spec.kind == "R" else None,
        )  # fmt: skip

    def gap(self, snapshot: Snapshot) -> float:
        """Return by how much any policy can be better than what is promised of this one, as far as is known; both ends proved.

        It is the distance from the promise, by the model or by playing, to the value in the best case: if the process is one of
        those that were not ruled out, the optimum is no better than that.
        """
        if self._ceiling is None:
            best = self._optimist.solve_model(self._model(), cutoff=CUTOFF, **self._options("optimistic"))
            self._ceiling = best.bracket
        return distance(snapshot.promised, self._ceiling)

    # -- step 2: where to look -------------------------------------------------------------------------------

    def direct(self) -> NDArray[np.float64]:
        """Return how to explore: the probability of every choice within its state, shape (C,), or (K, C) by the step."""
        if self._weight is None:
            best, learner = self._optimistic(), self.learner
            explorer = self.explorer if self.source.interactive else Uniform()  # a log does not follow anybody
            choice = None if best is None else best.policy.choice
            now = choice[0] if choice is not None and choice.ndim == 2 else choice
            tied = best.tied() if best is not None and explorer.spreads_ties(self.source.pace > 0) else None
            known = (self.source.graph, self.counts, learner.lower, learner.upper, learner.matters)
            view = View(*known, self.towards(now), tied, outlook_of(self))
            self._weight = directions(explorer, view, choice if self.source.stepwise else None)
        return self._weight

    def can_learn(self) -> bool:
        """Whether exploring as directed can reach a choice whose outcome is not known beforehand."""
        how = (self.direct(), self._wanted() >= 0, self.halt, self.horizon or 0)
        return not self.source.interactive or reaches(self.source.graph, *how)

    # -- step 3: sample from the process ---------------------------------------------------------------------

    def explore(
        self, weight: NDArray[np.float64], limits: StoppingCriteria, over: Callable[[], str | None]
    ) -> tuple[bool, str | None]:
        """Explore until some choice has been taken as often as ever before; return whether it was, or what `over` said.

        Where steps are slow or `per_solve` says so, it takes at least a number of trajectories that depends on the run alone.
        """
        assert self.horizon is not None
        quota, left = self._wanted(), self._wanted()
        least = self.per_solve or least_trajectories(self.source.graph, self.source.pace, *self.since)
        while True:
            begun = time.perf_counter()
            missing = 0 if least <= 1 else max(least - (self.trajectories - self.since[0]), 0)
            if missing:
                left = np.full_like(quota, -1)
            elif self.trajectories > self.since[0]:
                left = np.where(quota < 0, -1, np.maximum(quota - self._taken(), 0))
                if not left.all():
                    return True, None
            chunk = 2**40 if self.source.eager or self.source.whole else self._chunk
            free = 2**40 if self.playing is None else self.playing.free
            most = min(chunk, limits.most(self.trajectories, self.steps, self.horizon), missing or 2**40, free)
            batch = self.source.collect(Order(weight, self.halt, self.horizon, left, most))
            self.pending, self.ended = self.pending + batch.counts, batch.ended
            self.trajectories, self.steps = self.trajectories + batch.trajectories, self.steps + batch.steps
            enough = missing <= batch.trajectories and bool(((self._taken() >= quota) & (quota >= 0)).any())
            turn = self.playing is not None and self.playing.explore(batch.trajectories)  # a candidate's
            if enough or turn or (self.source.eager and batch.steps > 0):
                return True, None
            if self.ended or limits.spent(self.trajectories, self.steps):
                return False, None
            if (why := over()) is not None:
                return False, why
            if batch.trajectories == chunk and time.perf_counter() - begun < PATIENCE:
                self._chunk = min(2 * chunk, 2**40)

    def _wanted(self) -> Array:
        self._quota = self.quota() if self._quota is None else self._quota
        return self._quota

    def _taken(self) -> Array:
        return np.add.reduceat(self.pending, self.source.graph.choice_ptr[:-1])

    # -- step 4: update the intervals ------------------------------------------------------------------------

    def update(self) -> None:
        """Learn from what was seen since the last update; that completes an iteration."""
        learner = self.learner.clone()  # one that fails half-way must not leave half an update behind
        learner.update(self.pending)
        self.learner, self.counts = learner, self.counts + self.pending
        self.pending = np.zeros_like(self.counts)
        self.iteration += 1
        self.since = self.trajectories, self.steps
        self._starts = dict(self._found)
        self._forget()
        self.updated()

    # -- what a variant may change ---------------------------------------------------------------------------
    # Hooks: the procedure as published (`umdp.paper.published`) is this one with these methods of its own, and no others.

    def trajectory_ends(self, decided: NDArray[np.bool_], horizon: int) -> tuple[NDArray[np.bool_], int]:
        """Return where (S,) and after how many steps trajectories end, given where the graph decides the value."""
        return decided, horizon

    def solve_robust(self, model: IntervalMDP) -> Solution:
        """Solve the learned model for the worst case."""
        return self._pessimist.solve_model(model, cutoff=CUTOFF, **self._options("robust"))

    def solve_optimistic(self, model: IntervalMDP) -> Proposal:
        """Find what is best in the best case, and its value; without a proof."""
        return self._optimist.propose(model, **self._options("optimistic"))

    def towards(self, optimistic: Array | None) -> Array | None:
        """Return the choices (S,) that exploration is told are best, given those of the model as it is now."""
        return optimistic

    def quota(self) -> Array:
        """Return how often each choice (C,) must be taken for an iteration to be complete; -1: it does not matter."""
        if self.learner.claim.kind == "fixed-N" and not (self.source.interactive or self.source.eager):
            return np.full(self.source.graph.choices, -1)  # such bounds allow for one look: at all of the data
        return doubling(self.source.graph, self.learner.remembered(self.counts), self.learner.growth)

    def updated(self) -> None:
        """Take note that an iteration is complete."""

    # -- solves, at most one of each kind per iteration ------------------------------------------------------

    def _robust(self) -> Solution:
        if self._worst is None:
            self._worst = self.solve_robust(self._model())
            keep_start(self._found, "robust", self._worst)
        return self._worst

    def _optimistic(self) -> Proposal | None:
        """Return what is best in the best case, where exploration asks for it and something is there to follow it."""
        if self._best is None and self.explorer.optimistic and self.source.interactive:
            self._best = self.solve_optimistic(self._model())
            keep_start(self._found, "optimistic", self._best)
        return self._best

    def _model(self) -> IntervalMDP:
        self._learned = self._learned or self.learner.model
        return self._learned

    def _options(self, name: str) -> dict[str, Any]:
        start, before = self._starts.get(name), self._starts.get(f"{name} values")
        return {"precision": self.precision, "method": self.method, "start": start, "before": before}

    def _ahead(self) -> LearningRun:
        """Return this run as it would be if the iteration were complete; the run itself goes its own way."""
        self._robust(), self._optimistic()  # its solves start from the policies found here
        ahead = copy.copy(self)
        ahead.update()
        return ahead

    # -- durability ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything a continued run needs."""
        return state_of(self)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        restore(self, state)
        self._forget()
