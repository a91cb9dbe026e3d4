"""Who is played, and when: candidates, what they have shown, and the turns that exploration and evidence take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from umdp.errors import ModelError
from umdp.learning.candidates.candidate import Candidate, informed, same
from umdp.learning.candidates.evaluation_settings import Budget
from umdp.learning.candidates.guaranteed import GuaranteedBound
from umdp.learning.candidates.point_estimate import PointEstimate
from umdp.learning.candidates.tally import Role, Tally
from umdp.model import Policy
from umdp.solver.prepared import Prepared, prepare
from umdp.source.source import Batch, Source
from umdp.spec import Spec
from umdp.statements import Code, say, stated
from umdp.statements.guarantee import Guarantee

__all__ = ["ALIKE", "CandidateScheduler"]

ALIKE = say(Code.ALIKE)
START = 64  # trajectories before anybody becomes a candidate
TURN = 16  # a turn is this part of all there was
AGAIN = 1.25  # times as many trajectories before it is asked again who should be played
GUESSED = 4.0  # trajectories of exploration that are worth a play, for the guess of what a candidate is worth
EARLY = 4  # this part of what is due goes to candidates that are for the time being
SOONER, SETTLED = 1 / 16, 2 / 3  # of what is left of the error rate, for such a candidate and for one that is to stay
KNOWN = 0.9  # of what a policy is likely to be worth, which it must be worth with bad luck for that
MOST_OF_IT = 0.82  # of what a policy is likely to be worth, which is to be proved where nothing else is asked for
CUTOFF = 1e9  # times the largest reward: expectations beyond it say that next to nothing is known
ROOM = 1 - 2.0**-40  # shares of the error rate are rounded down


@dataclass(eq=False)
class CandidateScheduler:
    """The evidence of a run: its candidates, who is played now, and whose turn it is.

    Exploration goes first. Whenever it has gone on by a part of what there was of it, the candidate is played until the share of
    its trajectories is that of the settings, or a part of that while candidates are for the time being. How many trajectories are
    played depends on what was seen before them, never on what they show, so that none is left out for what it counts for.

    Attributes
    ----------
    budget : the settings, and the error rate
    tally : what trajectories count for
    explored, played : trajectories of exploration, and of candidates
    turn : the candidate is played when exploration has come so far
    look : what it has shown is looked at when candidates have been played so often
    asked : the trajectories after which it is asked again who should be played
    tried, settled : how far exploration was when the last candidate came that is for the time being, or that is to stay; or 0
    candidates : in the order in which they came
    current : who is played now; -1 if nobody is
    beyond : whether a trajectory has cost more than it could
    """

    budget: Budget
    tally: Tally
    solver: Prepared
    explored: int = 0
    played: int = 0
    turn: int = START
    look: int = START
    asked: int = START
    tried: int = 0
    settled: int = 0
    current: int = -1
    beyond: bool = False
    candidates: list[Candidate] = field(default_factory=list)
    _role: Role | None = None

    @classmethod
    def of(cls, budget: Budget, source: Source, spec: Spec, horizon: int) -> Self:
        """Return the evidence of a run at its beginning.

        Raises
        ------
        ModelError
            Where nothing can be played, or what is played cannot be bounded.
        """
        if not source.interactive:
            raise ModelError(
                "evidence is for sources that can be played: the trajectories of a log are those of whoever recorded it, and are "
                "evidence of nobody else. Leave evidence out, or certify the policy where it can be played"
            )
        tally = Tally(source, spec, horizon, budget.settings.most)
        if tally.steps is not None and not (source.stepwise or source.simulates):
            raise ModelError(
                f"{spec} asks for a policy that depends on the step, which this source cannot follow; leave evidence out"
            )
        return cls(budget, tally, prepare(source.graph, spec.robust()))

    # -- turns -----------------------------------------------------------------------------------------------

    @property
    def ratio(self) -> float:
        """Trajectories of candidates for each of exploration."""
        return self.budget.settings.share / (1 - self.budget.settings.share)

    @property
    def owed(self) -> int:
        """How often the candidate is to be played now; 0 while it is exploration's turn."""
        if self.current < 0 or self.explored < self.turn:
            return 0
        part = 1 if self.settled else EARLY
        return max(math.ceil(self.ratio * self.explored / part) - self.played, 0)

    @property
    def free(self) -> int:
        """How many trajectories exploration may take before it is the candidate's turn."""
        return 2**40 if self.current < 0 else max(self.turn - self.explored, 1)

    def explore(self, trajectories: int) -> bool:
        """Take note that exploration went on; return whether it is the candidate's turn."""
        self.explored += trajectories
        return self.owed > 0

    @property
    def is_asked(self) -> bool:
        """Whether it is time to ask again who should be played."""
        return self.explored + self.played >= self.asked

    @property
    def horizon(self) -> int:
        """The longest a trajectory of a candidate may be."""
        return self.tally.horizon

    def play(self, source: Source, most: int) -> Batch:
        """Play the candidate for at most so many trajectories of its turn; return what was seen."""
        one = self.candidates[self.current]
        self._role = self.tally.role(one.policy) if self._role is None else self._role
        most = 1 if self.tally.one_by_one else min(most, self.owed, max(self.look - self.played, 1))
        batch, worth = self.tally.play(source, self._role, most)
        self.beyond = self.beyond or math.isnan(worth)
        one.plays, one.hits = one.plays + batch.trajectories, one.hits + (0.0 if math.isnan(worth) else worth)
        self.played += batch.trajectories
        return batch

    def is_over(self) -> bool:
        """Whether the candidate's turn is over or a look is due; if so, the next ones are set."""
        if self.played < self.look and self.owed:
            return False
        self.turn = self.turn if self.owed else self.explored + max(self.explored // TURN, 1)
        self.look = self.played + max(self.played // TURN, TURN)
        return True

    # -- candidates ------------------------------------------------------------------------------------------

    def consider(self, estimate: PointEstimate, wanted: float | None) -> None:
        """Decide who is played from now on: whoever was, somebody from before, or the best policy there is by a point estimate.

        Until playing is likely to prove what is `wanted`, or most of what a policy is likely to be worth, candidates are for the
        time being: they get little of the error rate, and most trajectories that are due to candidates are kept for one that is
        better known. After that, what each is likely to be promised with twice as many trajectories decides.
        """
        for one in self.candidates:
            one.best = one.bound()[1:]
        self.asked = max(math.ceil(AGAIN * (self.explored + self.played)), self.asked + 1)
        found = self.solver.solve_model(estimate.model, precision=1e-4, method="auto", cutoff=CUTOFF)
        bad, likely = map(self.tally.share, estimate.values(found.policy))
        if not (bad > 0 and likely > 0):  # nothing to hope for, or nobody can say
            return
        known = [same(self.tally.graph, found.policy, one.policy) for one in self.candidates]
        left = self.budget.rate - math.fsum(one.level for one in self.candidates)
        mixture = informed(likely, self.explored / GUESSED)
        stays = Candidate(found.policy, left * SETTLED * ROOM, mixture)
        if not self.settled:
            due = math.ceil(self.ratio * self.explored) - self.played
            ready = bad >= KNOWN * likely and due > 0
            if ready and stays.end(due, due * (bad + likely) / 2) >= self._aim(likely, wanted):
                self.settled = self.explored
                self._take(stays)
            elif not any(known) and self.explored >= 4 * self.tried:
                self.tried = self.explored
                self._take(Candidate(found.policy, left * SOONER * ROOM, mixture))
            return
        more = max(math.ceil(2 * self.ratio * self.explored) - self.played, 1)
        hopes = [self._hope(one, estimate, more) for one in self.candidates]
        top = int(np.argmax(hopes))
        if not any(known) and self.explored >= 1.5 * self.settled and stays.end(more, more * bad) > hopes[top]:
            self.settled = self.explored
            self._take(stays)
        elif hopes[top] > hopes[self.current]:
            self.current, self._role = top, None

    def _aim(self, likely: float, wanted: float | None) -> float:
        """Return the mean that is to be proved of a policy with a likely one."""
        asked = 1.0 if wanted is None else self.tally.share(wanted)
        return asked if asked < likely else max(MOST_OF_IT * likely, 2 * likely - 1)

    def _hope(self, one: Candidate, estimate: PointEstimate, more: int) -> float:
        """Return what a candidate may be promised after more plays."""
        likely, own = self.tally.share(estimate.values(one.policy)[1]), one.plays / (one.plays + 100.0)
        mean = own * one.hits / max(one.plays, 1) + (1 - own) * (likely if math.isfinite(likely) else 0.0)
        return one.end(one.plays + more, one.hits + more * mean)

    def _take(self, made: Candidate) -> None:
        self.candidates.append(made)
        self.current, self._role = len(self.candidates) - 1, None

    # -- what is promised ------------------------------------------------------------------------------------

    def promised(self, source: Source, policy: Policy) -> GuaranteedBound:
        """Return the best that playing promises; without a candidate, of the policy given that it is not the worst."""
        label, tally = self.label(source), self.tally
        found = [one.bound() for one in self.candidates]
        if not found:
            rate = self.budget.rate
            return GuaranteedBound(
                tally.value(0.0), tally.at_least, policy, label, "evidence", most=tally.most, rate=rate
            )
        rank = max(range(len(found)), key=lambda i: found[i][0])
        one, (end, plays, hits) = self.candidates[rank], found[rank]
        return GuaranteedBound(
            tally.value(end), tally.at_least, one.policy, label, "evidence", plays, hits,
            tuple(each.level for each in self.candidates), rank, one.mixture, tally.most, self.budget.rate,
        )  # fmt: skip

    def label(self, source: Source) -> Guarantee:
        """Return how sure bounds from playing are, and on which conditions; or why they are not."""
        known, tally = source.provenance(), self.tally
        against: list[str] = [say(Code.CHANGES)] if known.changes else []
        if self.beyond:
            against.append(say(Code.BEYOND_MOST, most=tally.most))
        if not tally.wants_goal:  # what is certain to come is taken from the graph
            against += known.findings
            if known.unlisted:
                against.append(say(Code.LED_OUT, unlisted=known.unlisted))
        if tally.rewarded and known.graph == "observed" and not tally.at_least:
            against.append(say(Code.COST_OBSERVED))
        if against:
            return Guarantee("none", None, tuple(against))
        conditions: list[str] = [] if source.simulates else [ALIKE]
        conditions += (
            [each for each in known.assumptions if stated(each).code is not Code.MARKOV] if tally.rewarded else []
        )
        return Guarantee("any-time", self.budget.level, tuple(conditions))

    def shared(self, claim: Guarantee) -> Guarantee:
        """Return what a learner claims, with the probability that it and bounds from playing hold."""
        return replace(claim, level=self.budget.level) if claim.holds else claim

    def copy(self) -> Self:
        """Return a scheduler that goes its own way."""
        return replace(self, candidates=[replace(one) for one in self.candidates])

    # -- durability ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything a continued run needs."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return {**numbers, "beyond": self.beyond, "candidates": [one.state() for one in self.candidates]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        for name in NUMBERS:
            setattr(self, name, int(state[name]))
        self.beyond, self._role = bool(state["beyond"]), None
        self.candidates = [Candidate.restored(self.tally.graph, each) for each in state["candidates"]]


NUMBERS = ("explored", "played", "turn", "look", "asked", "tried", "settled", "current")
