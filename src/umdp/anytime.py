"""The paper's figure 1 as a loop: explore, learn, solve robustly; an answer after every iteration."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.explore import Explorer, Optimism, doubling
from umdp.learn import Learner
from umdp.model import MDP, IntervalMDP, Policy
from umdp.snapshot import Snapshot
from umdp.solve import Solution, propose, relevant, solve
from umdp.source import Order, Source
from umdp.source.simulator import Simulator
from umdp.spec import Spec, Threshold

__all__ = ["Anytime", "Limits", "anytime", "proceed", "threshold"]

Array = NDArray[Any]
PATIENCE = 0.05  # seconds between looks at what may stop a run
SMALL = 400  # states up to which policies are found by elimination, whose ties do not depend on where it started


@dataclass(frozen=True)
class Limits:
    """What ends a run: a threshold that is certified, or a budget.

    Attributes
    ----------
    until : the threshold
    trajectories, steps : the most of them, over the whole run; the last trajectory is never cut
    seconds : of this sitting
    """

    until: Threshold | None = None
    trajectories: int | None = None
    steps: int | None = None
    seconds: float | None = None


@dataclass(eq=False)
class Anytime:
    """A run that can be advanced, saved and continued; `anytime` makes one and loops over it.

    What it does next depends on its state alone, so that a run continued from a saved state is the run that was not
    interrupted.
    """

    source: Source
    spec: Spec
    learner: Learner
    explorer: Explorer = field(default_factory=Optimism)
    seed: int = 0
    horizon: int | None = None
    precision: float = 1e-6

    def __post_init__(self) -> None:
        graph = self.source.graph
        if self.spec.deciding().agent is None:
            raise self.spec.error(
                "the property does not say what the policy should do", "write Pmax, Pmin, Rmax or Rmin"
            )
        known = relevant(graph, self.spec)
        self.halt = known.settled
        self.open = bool(known.choices.any())
        if self.horizon is None:
            self.horizon = known.steps if known.steps is not None else _horizon(graph.states)
        if self.horizon < 1:
            raise ModelError(f"the horizon is a number of steps and must be at least 1, not {self.horizon}")
        self.learner = self.learner.bind(graph, known.choices)
        self.counts = np.zeros(graph.transitions, dtype=np.int64)
        self.iteration = self.trajectories = self.steps = 0
        self.ended = False
        self._learned: IntervalMDP | None = None
        self._robust: Solution | None = None
        self._optimistic: tuple[Policy, float] | None = None
        # Solves start from the policies of the iteration before: saved with the state, so that a continued run repeats them.
        self._starts: dict[str, Array] = {}
        self._found: dict[str, Array] = {}
        self.source.begin(self.seed)

    # -- one iteration ---------------------------------------------------------------------------------------

    def snapshot(self, reason: str | None = None) -> Snapshot:
        """Return what is known now."""
        return Snapshot(
            self.iteration, self.trajectories, self.steps, self._solution(), self._direction()[1],
            self.learner.guarantee, self.source.truth, reason,
        )  # fmt: skip

    def _solution(self) -> Solution:
        """Solve the learned model for the worst case, once per iteration."""
        if self._robust is None:
            self._robust = solve(self._model, self.spec.robust(), start=self._start("robust"), **self._options)
            self._note("robust", self._robust.policy)
        return self._robust

    def _direction(self) -> tuple[Policy | None, float | None]:
        """Find where the best case leads, once per iteration, where exploration asks for it."""
        if self._optimistic is None and self.explorer.optimistic:
            self._optimistic = propose(
                self._model, self.spec.optimistic(), start=self._start("optimistic"), **self._options
            )
            self._note("optimistic", self._optimistic[0])
        return self._optimistic or (None, None)

    @property
    def _model(self) -> IntervalMDP:
        if self._learned is None:
            self._learned = self.learner.model
        return self._learned

    @property
    def _options(self) -> dict[str, Any]:
        return {"precision": self.precision, "method": "policy" if self.source.graph.states <= SMALL else "auto"}

    def _start(self, name: str) -> Policy | None:
        choice = self._starts.get(name)
        return None if choice is None else Policy(self.source.graph, choice)

    def _note(self, name: str, policy: Policy) -> None:
        if policy.choice is not None and policy.choice.ndim == 1:
            self._found[name] = policy.choice

    def heading(self) -> Array | None:
        """Return the choices (S,) to explore with in the next iteration, None where exploration does not ask for any."""
        ahead, _ = self._direction()
        choice = None if ahead is None else ahead.choice
        return choice[0] if choice is not None and choice.ndim == 2 else choice

    def quota(self) -> Array:
        """Return how often each choice (C,) must be taken for the next iteration to end; -1: it does not matter."""
        return doubling(self.source.graph, self.counts)

    def advance(self, limits: Limits, stop: Callable[[], bool]) -> bool:
        """Explore until some choice has been taken as often as ever before, and learn from it; False if stopped before."""
        graph = self.source.graph
        weight = self.explorer.weight(graph, self.heading())
        quota = self.quota()
        fresh = np.zeros_like(self.counts)
        taken = np.zeros(graph.choices, dtype=np.int64)
        trajectories = steps = 0
        chunk = 2**40 if self.source.eager else 1
        saved = self.source.state()
        assert self.horizon is not None
        while True:
            most = chunk
            if limits.trajectories is not None:
                most = min(most, limits.trajectories - self.trajectories - trajectories)
            begun = time.perf_counter()
            left = np.where(quota < 0, -1, quota - taken)
            batch = self.source.collect(Order(weight, self.halt, self.horizon, left, most))
            fresh += batch.counts
            taken += np.add.reduceat(batch.counts, graph.choice_ptr[:-1])
            trajectories, steps = trajectories + batch.trajectories, steps + batch.steps
            self.ended = batch.ended
            spent = limits.trajectories is not None and self.trajectories + trajectories >= limits.trajectories
            walked = limits.steps is not None and self.steps + steps >= limits.steps
            full = bool((taken >= quota)[quota >= 0].any()) or (self.source.eager and batch.steps > 0)
            if batch.ended or spent or walked or full:
                break
            if stop():
                if steps:  # what was collected since is collected again when the run goes on
                    self.source.restore(saved)
                return False
            if time.perf_counter() - begun < PATIENCE:
                chunk = min(2 * chunk, 2**40)
        self.counts += fresh
        self.trajectories += trajectories
        self.steps += steps
        self.iteration += 1
        self.learner.update(fresh)
        self._starts = dict(self._found)
        self._learned = self._robust = self._optimistic = None
        return True

    # -- durability ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything a continued run needs."""
        return {
            "iteration": self.iteration, "trajectories": self.trajectories, "steps": self.steps, "ended": self.ended,
            "counts": self.counts.copy(), "learner": self.learner.state(), "source": self.source.state(),
            "starts": {name: choice.copy() for name, choice in self._starts.items()},
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state."""
        self.iteration, self.trajectories = int(state["iteration"]), int(state["trajectories"])
        self.steps, self.ended = int(state["steps"]), bool(state["ended"])
        self.counts = np.array(state["counts"], dtype=np.int64)
        self.learner.restore(state["learner"])
        self.source.restore(state["source"])
        self._starts = {name: np.array(choice, dtype=np.int64) for name, choice in state["starts"].items()}
        self._learned = self._robust = self._optimistic = None


def _horizon(states: int) -> int:
    """Return how long trajectories may be where nobody says: some times as long as a walk through all states."""
    return min(max(10 * states, 100), 10_000)


def anytime(
    source: Source | MDP | Any,
    spec: Spec | str,
    learner: Learner,
    *,
    explorer: Explorer | None = None,
    seed: int = 0,
    horizon: int | None = None,
    until: Threshold | str | None = None,
    trajectories: int | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    precision: float = 1e-6,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Snapshot]:
    """Learn from a source and yield what is known after every iteration; leave the loop whenever it is good enough.

    Parameters
    ----------
    source : Source, MDP or environment
        Where trajectories come from; an MDP plays the unknown process; anything else is taken for a Gymnasium environment.
    spec : Spec or str
        The property, without nature: what is asked for is its worst case on what has been learned.
    learner : Learner
    explorer : Explorer
        How to move; optimism without randomisation unless told otherwise.
    seed : int
    horizon : int, optional
        The longest a trajectory may be.
    until : Threshold or str, optional
        Stop when this is certified on the learned model, such as ``">=0.3"``.
    trajectories, steps, seconds : optional
        Budgets.
    precision : float
        The relative width of brackets.
    stop : callable, optional
        Asked now and then; a true answer ends the run with what is known.

    Examples
    --------
    >>> from umdp import LUI, MDP
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> for snapshot in anytime(coin, 'Pmax=? [ F "heads" ]', LUI(), trajectories=1000):
    ...     pass
    >>> 0.4 < snapshot.bracket.lower < 0.6, snapshot.trajectories, str(snapshot.guarantee)
    (True, 1000, 'no guarantee')
    """
    origin = Simulator(source) if isinstance(source, MDP) else source
    if not isinstance(origin, Source):
        from umdp.source import Gymnasium

        origin = Gymnasium(origin)
    asked = Spec.parse(spec) if isinstance(spec, str) else spec
    run = Anytime(origin, asked, learner, explorer or Optimism(), seed, horizon, precision)
    limits = Limits(threshold(until) if isinstance(until, str) else until, trajectories, steps, seconds)
    yield from proceed(run, limits, stop)


def threshold(text: str) -> Threshold:
    """Return the threshold a text such as ``>=0.3`` stands for.

    Examples
    --------
    >>> threshold(">= 0.3")
    Threshold(operator='>=', value=0.3)
    """
    match = re.fullmatch(r"\s*(<=|>=|<|>)\s*(\S+)\s*", text)
    try:
        if match is None:
            raise ValueError
        return Threshold(match[1], float(match[2]))  # type: ignore[arg-type]
    except ValueError:
        raise ModelError(f"{text!r} is not a threshold; write one such as >=0.3 or <=20") from None


def proceed(
    run: Anytime,
    limits: Limits,
    stop: Callable[[], bool] | None = None,
    keep: Callable[[Snapshot], None] | None = None,
) -> Iterator[Snapshot]:
    """Yield snapshots of a run from where it is; `keep` is called with each before it is shown."""
    deadline = np.inf if limits.seconds is None else time.monotonic() + limits.seconds
    certified = limits.until or run.spec.threshold

    def over() -> bool:
        return time.monotonic() >= deadline or (stop is not None and stop())

    while True:
        reason = _reason(run, limits, certified, time.monotonic() >= deadline, stop is not None and stop())
        snapshot = run.snapshot(reason)
        if keep is not None:
            keep(snapshot)
        yield snapshot
        if reason is not None:
            return
        if not run.advance(limits, over):
            late = time.monotonic() >= deadline
            yield run.snapshot("the time is up" if late else "stopped")
            return


def _reason(run: Anytime, limits: Limits, certified: Threshold | None, late: bool, stopped: bool) -> str | None:
    """Return why a run ends here, None if it does not."""
    if certified is not None:
        bracket = run.snapshot().bracket
        if certified.holds(bracket.lower, bracket.upper):
            return f"{certified.operator} {certified.value:g} is certified"
    if not run.open:
        return "the graph decides the value: there is nothing to learn"
    if run.ended:
        return "there is no more data"
    if limits.trajectories is not None and run.trajectories >= limits.trajectories:
        return f"{limits.trajectories} trajectories have been seen"
    if limits.steps is not None and run.steps >= limits.steps:
        return f"{limits.steps} steps have been seen"
    if late:
        return "the time is up"
    return "stopped" if stopped else None
