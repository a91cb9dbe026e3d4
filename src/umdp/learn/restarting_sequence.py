"""Confidence sequences for a process that may change: an alarm where a choice does, and a new start for it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.learn.binomial import ULP, WITNESSES, Floats, Ints
from umdp.learn.confidence_sequence import ConfidenceSequence
from umdp.learn.learner import Alarm, Changed
from umdp.learn.learner_settings import as_rate, check, place
from umdp.learn.observed_sequence import SHARE
from umdp.learn.two_samples import contradiction
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

__all__ = ["SLOTS", "RestartingSequence"]

FORGET = {"choice": "its last alarm", "state": "the last alarm in its state", "all": "the last alarm"}
MANY = 256  # samples of a choice from which on it is looked at when there are a quarter more
SLOTS = 16  # starts that are remembered: of the newest 2^16 updates of a choice, at geometric ages


class RestartingSequence(ConfidenceSequence):
    r"""Intervals of a process that may change: where a choice does, it raises an alarm and starts anew.

    Every choice has its own epochs. In one, the bounds are those of `ConfidenceSequence`, from the samples of that epoch
    alone. After each update the samples of an epoch are cut in two, at starts of geometric ages. Where what came before a start
    and what came after contradict that they have one probability (`two_samples.contradiction`), or where intervals of one epoch
    exclude each other, the choice has changed: an alarm, and a new epoch, which counts what comes from then on.

    **False alarms.** An alarm is false where the distribution of the choice was one and the same from the beginning of its
    epoch to the alarm. With probability 1 - `false_alarms` there is none, ever. Half of the rate is for starts: the bounds that
    are needed (as for `Binomial`: one for a choice of two successors, m for one of m >= 3) share it evenly; the r-th epoch of
    a choice gets :math:`6/(\pi^2 r^2)` of its share; and in it the t-th start, with :math:`2^s \le t < 2^{s+1}`, gets
    :math:`1/(2^s (s+1)(s+2))`, which for the :math:`2^s` starts of one s sum to :math:`1/((s+1)(s+2))`, and in all to 1. Epochs
    and starts begin where updates end, which does not depend on later samples. So each test fails with at most its level's
    probability, given what was seen when it began, and all levels that can ever occur sum to half the rate at most. The other
    half is for intervals that exclude each other, which they do not while all of them hold: they have the error rate, but no
    more than half the rate of false alarms.

    **The promise.** No bound can hold at all times of a process that may change unnoticed: until there are samples of the new
    distribution nothing is known of it, and a choice that nobody takes raises no alarm. What holds is this: with
    probability 1 - `error_rate`, at all times, *if no choice has changed since its epoch began* then all bounds hold. The r-th
    epoch of a choice spends :math:`6/(\pi^2 r^2)` of its share of the error rate, on a confidence sequence of the
    samples of that epoch. The condition is part of the claim.

    Parameters
    ----------
    error_rate : float
        The probability with which bounds of choices that have not changed since their last alarm may ever be wrong.
    false_alarms : float
        The probability with which there may ever be an alarm without a change. Below twice the error rate it makes the bounds
        wider, a little.
    forget : {"choice", "state", "all"}
        What starts anew at an alarm: the choice that raised it, all choices of its state, or all there are. Others may have
        changed too, unseen: with ``"state"`` and ``"all"`` what was believed of them is not relied upon, the condition asks less,
        and optimism tries them again.
    prior : float
        The parameter b > 0 of the mixtures. It decides where intervals are narrow, not whether they hold.

    Attributes
    ----------
    counts : (T,) how often each transition was seen in the epoch of its choice
    taken : (C,) how often each choice was taken in all
    epoch : (C,) the number of its epoch, from 1
    batches : (C,) updates of this epoch in which it was taken
    started : (C, SLOTS) at which of them the starts were that are remembered, 0: none
    begun : (C, SLOTS) how often it had been taken in the epoch at these starts
    marks : (T, SLOTS) the counts at these starts
    raised : (C,) how many alarms it raised
    alarm_after, alarm_samples, alarm_steps : (C,) of its last alarm: samples of the choice before the change, about; samples of
        the choice when it was raised, and steps in all

    Examples
    --------
    >>> from umdp import Graph
    >>> coin = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    >>> learner = RestartingSequence(0.05).bind(coin).learn([80, 20, 0]).learn([40, 10, 0])
    >>> learner.lower.round(4), learner.upper.round(4)
    (array([0.646 , 0.0898, 1.    ]), array([0.9102, 0.354 , 1.    ]))
    >>> print(learner.learn([8, 32, 0]).alarms()[0])
    alarm: state 0, action 0 changed after about 150 of its samples; noticed after 190, 190 steps in all, and restarted
    >>> learner.lower, learner.upper
    (array([0., 0., 1.]), array([1., 1., 1.]))
    >>> print(learner.claim)
    with probability 95 %, whenever you stop, provided that no choice has changed since its last alarm (or since ...
    """

    name: ClassVar[str] = "restarting-sequence"
    noun: str = "choice"  # what its choices are: they may stand for classes
    kept: ClassVar[tuple[str, ...]] = (
        "taken", "epoch", "batches", "started", "begun", "marks", "raised", "alarm_after", "alarm_samples", "alarm_steps",
    )  # fmt: skip
    discovers: ClassVar[bool] = False
    watches: bool = True
    taken: Ints
    epoch: Ints
    batches: Ints
    started: Ints
    begun: Ints
    marks: Ints
    raised: Ints
    alarm_after: Ints
    alarm_samples: Ints
    alarm_steps: Ints

    def __init__(
        self,
        error_rate: float = 0.01,
        false_alarms: float = 0.01,
        forget: Literal["choice", "state", "all"] = "choice",
        prior: float = 0.5,
    ) -> None:
        super().__init__(error_rate, prior)
        self.false_alarms = as_rate(false_alarms, "false_alarms")
        check(forget in FORGET, f'forget is {forget!r}; give "choice", "state" or "all"')
        self.forget = forget
        self.raised = np.zeros(0, np.int64)

    @property
    def claim(self) -> Guarantee:
        """Every time at once, of choices that have not changed since their last alarm; until that is known to have failed."""
        known = super().claim
        if not known.holds:
            return known
        if not self.raised.any():
            return Guarantee("any-time", known.level, (say(Code.UNCHANGED),))
        last, some = int(self.alarm_steps.max()), int(np.count_nonzero(self.raised))
        where = {} if self.forget == "all" else {"noun": self.noun, "since": FORGET[self.forget], "places": some}
        return Guarantee("any-time", known.level, (say(Code.UNCHANGED_SINCE, steps=last, **where),))

    def begin(self) -> None:
        """Claim nothing."""
        super().begin()
        choices, transitions = self.graph.choices, self.graph.transitions
        self.taken, self.batches, self.raised, self.alarm_after, self.alarm_samples, self.alarm_steps = np.zeros(
            (6, choices), np.int64
        )
        self.epoch = np.ones(choices, np.int64)
        self.started, self.begun = np.zeros((2, choices, SLOTS), np.int64)
        self.marks = np.zeros((transitions, SLOTS), np.int64)

    def update(self, counts: Ints) -> None:
        """Add counts; where they contradict what came before, start anew, and elsewhere bound anew what was sampled."""
        now = self.per_choice(counts)
        self.taken += now
        self.counts = self.counts + counts
        fresh = (now > 0) & self.matters & (self.sizes > 1)
        if not fresh.any():
            return
        choice = np.flatnonzero(fresh)
        excluded = self._bound(choice, np.flatnonzero(self.per_transition(fresh)))
        changed = self._changed(choice) | excluded
        if changed.any():
            self.raised += changed
            self.alarm_samples[changed], self.alarm_steps[changed] = self.taken[changed], self.taken.sum()
            restarted = self._reached(changed)
            self._restart(restarted)
            fresh &= ~restarted
        self._start(np.flatnonzero(fresh), np.flatnonzero(self.per_transition(fresh)))

    # -- the test --------------------------------------------------------------------------------------------

    def _changed(self, choice: Ints) -> NDArray[np.bool_]:
        """Return which choices (C,), among some, contradict what they were before some start; and note which start."""
        changed = np.zeros(self.graph.choices, np.bool_)
        sizes, first = self.sizes[choice], self.graph.choice_ptr[choice]
        # Two successors mirror each other, so the first is enough; of more, each is tested.
        tests = np.where(sizes > 2, sizes, 1)
        owner = np.repeat(np.arange(choice.size), tests)
        transition = np.repeat(first - (np.cumsum(tests) - tests), tests) + np.arange(owner.size)
        top = int(np.max(np.flatnonzero(self.started[choice].any(axis=0)), initial=-1)) + 1
        if not top:
            return changed
        number = np.maximum(self.started[choice, :top], 1)
        samples = self.per_choice(self.counts)[choice].astype(np.float64)[owner, None]
        old, before = (
            self.begun[choice, :top].astype(np.float64)[owner],
            self.marks[transition, :top].astype(np.float64),
        )
        hits, after = self.counts[transition, None] - before, samples - old
        epoch = self.epoch[choice, None].astype(np.float64)
        level = self.false_alarms / 2 / max(self.bounds, 1) * (1 - ULP) * SHARE / epoch**2 * _weight(number)
        excess = contradiction(before, old - before, hits, after - hits, level[owner])
        row, slot = np.nonzero(excess >= 0)
        order = np.argsort(excess[row, slot], kind="stable")  # the strongest evidence of a choice is the last
        for test, start in zip(row[order], slot[order], strict=True):
            c = choice[owner[test]]
            changed[c] = True
            self.alarm_after[c] = self.taken[c] - int(after[test, start])
        return changed

    def _reached(self, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which choices (C,) start anew, given those that changed: those with something to forget."""
        if self.forget == "choice":
            return changed
        known: NDArray[np.bool_] = self.per_choice(self.counts) > 0
        if self.forget == "all":
            return known
        state = np.zeros(self.graph.states, np.bool_)
        state[self.graph.choice_state[changed]] = True
        return known & state[self.graph.choice_state]

    def _restart(self, restarted: NDArray[np.bool_]) -> None:
        """Forget what some choices (C,) were."""
        gone = self.per_transition(restarted)
        self.epoch[restarted] += 1
        self.batches[restarted] = self.broken[restarted] = 0
        self.started[restarted] = self.begun[restarted] = 0
        self.marks[gone] = 0
        self.counts[gone] = 0
        self.lower, self.upper = self.lower.copy(), self.upper.copy()
        for low, high in ((self.lower, self.upper), (self.least, self.most)):
            low[gone], high[gone] = np.where(self.uncertain[gone], 0.0, 1.0), 1.0
        for name in WITNESSES:
            getattr(self, name)[gone] = 0

    # -- the bounds ------------------------------------------------------------------------------------------

    @property
    def level(self) -> float:
        """The share of the error rate that each bound has for all its epochs."""
        return min(self.error_rate, self.false_alarms / 2) / max(self.bounds, 1) * (1 - ULP)

    @property
    def levels(self) -> Floats:
        """The share of the error rate that each bound gets in the epoch of its choice, shape (T,)."""
        levels: Floats = self.per_transition(self.level * SHARE / self.epoch.astype(np.float64) ** 2)
        return levels

    def _bound(self, choice: Ints, transition: Ints) -> NDArray[np.bool_]:
        """Bound the transitions of some choices by the samples of their epochs; return where (C,) nothing is left."""
        samples = self.per_transition(self.per_choice(self.counts))[transition]
        hits, level = self.counts[transition].astype(np.float64), self.levels[transition]
        misses = samples - hits
        lower = self.ends(hits, misses, level)
        upper = np.minimum(1 - self.ends(misses, hits, level) + ULP, 1.0)
        older = np.where(lower > self.most[transition], self.upper_samples[transition], 0)
        older = np.where(upper < self.least[transition], self.lower_samples[transition], older)
        self.adopt(choice, transition, lower, upper)
        excluded = self.broken > 0
        sizes = self.sizes[choice]
        since = samples - np.where(older > 0, older, samples)  # it was the same for as long as the end that is excluded
        latest = np.maximum.reduceat(since, np.cumsum(sizes) - sizes)
        here = excluded[choice]
        self.alarm_after[choice[here]] = (self.taken[choice] - latest)[here]
        return excluded

    def _start(self, choice: Ints, transition: Ints) -> None:
        """Remember where some choices are now: the t-th start takes the place of the last with as many factors 2."""
        self.batches[choice] += 1
        number = self.batches[choice]
        slot = np.minimum(np.frexp((number & -number).astype(np.float64))[1] - 1, SLOTS - 1)
        self.started[choice, slot] = number
        self.begun[choice, slot] = self.per_choice(self.counts)[choice]
        self.marks[transition, np.repeat(slot, self.sizes[choice])] = self.counts[transition]

    # -- what others ask -------------------------------------------------------------------------------------

    def alarms(self) -> tuple[Alarm, ...]:
        """Return the last alarm of every choice that raised any."""
        now = int(self.taken.sum())
        return tuple(
            Changed(
                place(self.graph, c), int(self.alarm_samples[c]), int(self.alarm_steps[c]),
                bool(self.alarm_steps[c] == now), int(self.alarm_after[c]), int(self.raised[c]),
            )
            for c in np.flatnonzero(self.raised).tolist()
        )  # fmt: skip

    def remembered(self, counts: Ints) -> Ints:
        """Return how often each transition was seen in the epoch of its choice; of many samples a quarter.

        What changed is noticed when it is looked at: choices that are taken often are looked at more often than when they double.
        """
        many = self.per_transition(self.per_choice(self.counts) >= MANY)
        remembered: Ints = np.where(many, self.counts // 4, self.counts)
        return remembered

    def sightings(self, counts: Ints) -> Ints:
        """Return how often each transition was seen in the epoch of its choice: what was possible before may not be now."""
        return self.counts

    def ledger(self) -> dict[str, Any] | None:
        """Return how the error rate is spent: each bound is a confidence sequence of its epoch, at that epoch's level."""
        found = super().ledger()
        if found is None:
            return None
        level = np.where(self.claimed, self.levels, 0.0)
        return {
            **found, "method": ConfidenceSequence.name, "levels": level, "lower_levels": level, "upper_levels": level,
            "epoch": self.epoch.copy(),
        }  # fmt: skip


def _weight(number: Ints) -> Floats:
    """Return the share that the t-th start has, for t from 1: all of them together have 1."""
    power = np.frexp(number.astype(np.float64))[1] - 1
    weight: Floats = 1 / (np.exp2(power) * (power + 1) * (power + 2))
    return weight
