"""Leaps: many iterations of learning in one call of compiled code.

A run of one of the paper's learners on a small model that is simulated needs nothing but arrays: solve for both players, explore,
count, update. `leaping.leap` does that until something comes up that takes a closer look, and writes down what every snapshot has
to say. What comes out is what one iteration after another gives, up to the last digits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.explore import Optimism, Uniform
from umdp.learn.kinds import parameters
from umdp.learning.snapshot import Snapshot
from umdp.learning.stopping import reached
from umdp.solver.again import bracket_of, repetition, solution_of
from umdp.solver.confirm.reaching import case_of
from umdp.solver.objective import objective_of, players
from umdp.solver.task import Effort
from umdp.solver.unbounded import task_of
from umdp.source.simulator.simulator import SAMPLING, Simulator

if TYPE_CHECKING:
    from umdp.learning.run import LearningRun
    from umdp.learning.stopping import StoppingCriteria
    from umdp.solver.methods.repetition import Repetition

__all__ = ["Leaper"]

Arrays = tuple[Any, ...]
PATIENCE = 2**20  # steps that a leap may be ahead of what was shown, where somebody may stop looking
ROOM = 2**21  # numbers that the snapshots of one leap may take up
MOST, FEWEST = 512, 8  # iterations of one leap


class Leaper:
    """Takes a run ahead, many iterations at a time.

    The source simulates a process, the learner is one of the paper's, exploration is optimism or uniform, and elimination solves
    what is learned. No leap goes beyond a change of the process.
    """

    def __init__(
        self,
        run: LearningRun,
        limits: StoppingCriteria,
        source: Simulator,
        kept: Repetition,
        true: Repetition,
        nature_max: bool,
    ) -> None:
        self.run, self.limits, self.source = run, limits, source
        self.kept, self.true, self.nature_max = kept, true, nature_max
        self._last = 0  # steps of the last iteration
        self._question: Arrays | None = None
        graph = source.graph
        self.length = int(min(max(ROOM // (3 * graph.transitions + graph.states), FEWEST), MOST))
        self.stage = source.stage

    @classmethod
    def of(cls, run: LearningRun, limits: StoppingCriteria) -> Leaper | None:
        """Return a leaper for a run, None where it has to be taken iteration by iteration."""
        source, graph, robust = run.source, run.source.graph, run.reading.robust()
        explores = type(run.explorer) is Uniform or (type(run.explorer) is Optimism and not run.explorer.spread)
        if type(source) is not Simulator or not explores:
            return None
        timed = limits.seconds is not None or limits.steps is not None or run.per_solve is not None
        timed = timed or limits.gap is not None  # the best case is proved before it ends anything
        if (
            timed
            or graph.is_chain  # nature decides alone, and so do both directions of it
            or robust.aim != "reach"
            or not run.open
            or graph.rest is not None
            or run.playing is not None
            or parameters(run.learner) is None
        ):
            return None
        model = run.learner.model
        agent_max, nature_max = players(model, robust)
        about, task = task_of(model, robust, agent_max, nature_max)
        kept = repetition(task) if about.kept else None
        if kept is None or not kept.fits(Effort(run.precision, run.method)) or kept.index[graph.initial] >= kept.n:
            return None
        from umdp.solver.methods.repetition import Repetition

        true = Repetition(task)
        # The last that is asked about, whose rows stay, is the process as it is now.
        known = all(true.renew(mdp.probability, mdp.probability) for mdp in reversed(source.stages[source.stage :]))
        return cls(run, limits, source, kept, true, nature_max) if known else None

    def _judged(self) -> Arrays:
        """Return what the judge looks at besides the bounds: rewards, the objective, and how unknowns stand for states."""
        if self._question is None:
            model, spec, task = self.run.learner.model, self.run.reading.robust(), self.kept.task
            agent_max, nature_max = players(model, spec)
            rows, asked, _ = case_of(
                model, objective_of(model, spec), agent_max, nature_max, complement=task.complement
            )
            trap = np.full(model.states, -1, np.int64)
            if asked.reward and bool(task.decided.infinite.any()):
                from umdp.solver.confirm.witness import trap_levels

                via = task.decided.via
                taken = np.where(via >= 0, via, model.state_ptr[:-1]).astype(np.int64)  # what the policy takes there
                trap = trap_levels(rows, asked, taken, asked.all_below, asked.nature_max)
            about = np.array(self.kept.index), task.decided.infinite, trap, task.complement
            self._question = (rows[5:], asked, about)
        return self._question

    def snapshots(self) -> Iterator[Snapshot]:
        """Take the run ahead by some iterations, and yield what was known at the beginning of each."""
        from umdp.learning.leaping import leap

        run, limits, kept, length = self.run, self.limits, self.kept, self.length
        if run.pending.any():
            return
        source, truth = self.source, self.source.truth
        if source.stage != self.stage:
            self.stage = source.stage
            self.true.renew(truth.probability, truth.probability)
        graph, learner, state = source.graph, run.learner.clone(), run.state()
        found = parameters(learner)
        assert found is not None
        kind, factor, settings = found
        names = ("strength_lower", "strength_upper") if kind == 0 else ("excess", "samples")
        clock = learner.steps if hasattr(learner, "steps") else np.zeros(1, np.int64)
        lowers, uppers = np.empty((2, length, graph.transitions))
        seen, chosen = np.empty((length, graph.transitions), np.int64), np.empty((length, graph.states), np.int64)
        numbers, marks = np.empty((length, 5)), np.empty((length, 4), np.int64)
        given = state["starts"]
        starts = [
            np.array(given.get(name, empty))
            for name, empty in (
                ("robust", np.empty(graph.states, np.int64)), ("robust values", np.empty(kept.n)),
                ("optimistic", np.empty(graph.states, np.int64)), ("optimistic values", np.empty(kept.n)),
            )
        ]  # fmt: skip
        order = ("robust", "robust values", "optimistic", "optimistic values")
        known = np.array([name in given for name in order])
        counts, pending = state["counts"], np.zeros_like(state["counts"])
        so_far = np.array([run.iteration, run.trajectories, run.steps, self._last], np.int64)
        # Who wants to see the budget used up looks at all there is; anybody else may have seen enough at any time.
        patience = 2**62 if limits.exhaust and limits.trajectories is not None else run.steps + PATIENCE
        random, course = state["source"]["random"], state["source"].get("course")
        begun, task = time.monotonic(), kept.task
        most = min(2**62 if limits.trajectories is None else limits.trajectories, source.until)
        uncertain = (truth.probability > 0) & (truth.probability < 1)
        arguments: Arrays = (
            length, kind, factor, settings, getattr(learner, names[0]), getattr(learner, names[1]), clock, learner.lower,
            learner.upper, counts, pending, so_far, most, patience,
            limits.exhaust, run.explorer.xi if isinstance(run.explorer, Optimism) else -1.0, run.halt, run.horizon,
            source.edges(self.stage), SAMPLING.index(source.sampling), random, course, graph.initial, truth.probability,
            uncertain, run.precision,
            *kept.for_leap(graph.initial), self.nature_max, task.kind == "R" and not task.agent_max, *kept.parts(),
            self.true.parts()[3][2], self.true.parts()[4], *starts, known, lowers, uppers, seen, chosen, numbers, marks,
            *self._judged(),
        )  # fmt: skip
        if not kept.lock.acquire(blocking=False):
            return  # another thread solves on the same graph
        try:
            kept.forget()
            made = leap(*arguments)
        finally:
            kept.lock.release()
        self._last = int(so_far[3])
        if not made:
            return
        state.update(
            iteration=int(so_far[0]), trajectories=int(so_far[1]), steps=int(so_far[2]), counts=counts, pending=pending,
            learner=learner.state(),
            starts={name: array for name, array, there in zip(order, starts, known, strict=True) if there},
            source={**state["source"], "random": random, "done": int(so_far[1]), "steps": int(so_far[2])},
        )  # fmt: skip
        state["since"] = (marks[made - 1, 1:3] if pending.any() else so_far[1:3]).tolist()
        guarantee, ledger, spec = run.guarantee(), run.learner.ledger, run.reading.robust()
        run.restore(state)
        effort = Effort(run.precision, run.method)
        for i in range(made):
            model = graph.with_trusted(lowers[i].copy(), uppers[i].copy())
            value, error, best, worth, missed = numbers[i].tolist()
            effort.iterations, bounds = int(marks[i, 3]), kept.around(value, error)
            assert bounds is not None
            bracket = bracket_of(spec, *bounds)
            robust = solution_of(kept, model, spec, self.nature_max, bracket, chosen[i].copy(), effort, begun)
            optimistic = None if np.isnan(best) else best
            iteration, trajectories, steps, _ = marks[i].tolist()
            snapshot = Snapshot(
                iteration, trajectories, steps, robust, optimistic, guarantee, truth, ledger=ledger,
                counts=seen[i].copy(),
            )  # fmt: skip
            snapshot.__dict__["model_error"] = missed
            if not np.isnan(worth):
                snapshot.__dict__["performance"] = worth
            reason = reached(snapshot, limits.until or run.spec.threshold)
            yield snapshot if reason is None else replace(snapshot, reason=reason)
        spent = limits.spent(run.trajectories, run.steps) is not None
        if run.pending.any() and source.stage != self.stage and not spent:
            # The process has changed within an iteration, which goes on.
            complete, _ = run.explore(run.direct(), limits, lambda: None)
            if complete:
                run.update()
