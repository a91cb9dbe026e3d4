"""One run of an experiment, as plain data that can travel to another process or machine; and the work it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.learning.snapshot import Snapshot
from umdp.model import MDP
from umdp.model.part import part_of
from umdp.model.structure import entries_of
from umdp.paper.results import COLUMNS, WHOLE, Cell, LearningProblem, TrialResult
from umdp.run import Config
from umdp.solver import solve
from umdp.source import Source
from umdp.source.simulator import Simulator
from umdp.spec import Direction, Spec
from umdp.statements.guarantee import Guarantee

__all__ = ["Trial", "build", "describe", "known", "work"]

Array = NDArray[Any]
_DEFAULTS = msgspec.structs.asdict(Config(model=""))
FORMAT = 5  # changes when the same trial would give other numbers


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A run: the cell and the number of the seed it belongs to, and everything it depends on.

    Attributes
    ----------
    config : the run in words, its own seed included
    ties : ``first``, or ``random`` for actions in an order drawn from the seed
    published : whether by the rules of the published code
    """

    cell: Cell
    number: int
    config: Config
    ties: str = "first"
    published: bool = False

    @property
    def key(self) -> str:
        """A digest of everything the result depends on; names in figures are not among it."""
        from umdp import __version__

        # What is as by default is left out, so that a setting that is added later leaves old digests as they are.
        told = {name: value for name, value in msgspec.structs.asdict(self.config).items() if value != _DEFAULTS[name]}
        plain = msgspec.to_builtins([told, self.ties, self.published, FORMAT, __version__])
        return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()

    def outcome(self, found: dict[str, Any]) -> TrialResult:
        """Return what `work` returned as an outcome of this trial's cell."""
        guarantee = Guarantee.from_dict(found["guarantee"])
        return TrialResult(self.cell, self.number, {name: found[name] for name in COLUMNS}, guarantee)


def work(trial: Trial) -> dict[str, Any]:
    """Do a run; return its columns as arrays, and what is promised at its end as plain data.

    Nothing but the trial decides the result: neither which process does it, nor what that process did before.
    """
    run = build(trial)
    table = list(zip(*_rows(run, trial.config), strict=True))
    return {
        **{name: np.array(values, np.int64) for name, values in zip(COLUMNS[:WHOLE], table[:WHOLE], strict=True)},
        **{name: np.array(values, np.float64) for name, values in zip(COLUMNS[WHOLE:], table[WHOLE:], strict=True)},
        "guarantee": run.guarantee().as_dict(),
    }


def _rows(run: LearningRun, config: Config) -> Iterator[tuple[float, ...]]:
    """Yield the metrics after every iteration; where the truth changes within one, those in force on the new truth, too."""
    before: Snapshot | None = None
    for snapshot in proceed(run, StoppingCriteria(trajectories=config.trajectories, exhaust=True)):
        if before is not None and before.trajectories < config.after < snapshot.trajectories:
            yield _row(replace(before, trajectories=config.after, truth=snapshot.truth))
        yield _row(snapshot)
        before = snapshot


def _row(snapshot: Snapshot) -> tuple[float, ...]:
    """Return the values of `COLUMNS`."""
    performance, estimation_error, error = snapshot.performance, snapshot.estimation_error, snapshot.model_error
    assert performance is not None
    assert estimation_error is not None
    assert error is not None
    bracket = snapshot.bracket
    return (
        snapshot.iteration, snapshot.trajectories, snapshot.steps, snapshot.partial, performance, bracket.value,
        estimation_error, error, bracket.lower, bracket.upper,
    )  # fmt: skip


def build(trial: Trial) -> LearningRun:
    """Return the run at its beginning."""
    config = trial.config
    process, spec, horizon = known(config)
    stages = _shuffled(process.stages, config.seed) if trial.ties == "random" else process.stages
    later = stages[1] if len(stages) > 1 else None
    source = Simulator(stages[0], later=later, after=config.after, sampling=config.sampling)
    if not trial.published:
        learner, kind = config.build_learner(), LearningRun
    else:
        from umdp.paper.experiments.published import PUBLISHED, Published

        learner, kind = PUBLISHED[config.learner](**config.settings), Published
    return kind(source, spec, learner, config.build_explorer(), config.seed, horizon, config.precision)


def known(config: Config) -> tuple[Source, Spec, int | None]:
    """Return the process, the property and the horizon; built once per process, with all that is known of the graph."""
    names = ("model", "parameters", "constants", "question", "horizon", "switch", "plugins")
    return _built(msgspec.json.encode({name: getattr(config, name) for name in names}, order="deterministic"))


@lru_cache(maxsize=64)
def _built(encoded: bytes) -> tuple[Source, Spec, int | None]:
    config = msgspec.json.decode(encoded, type=Config)
    source, spec, horizon = config.build_source(explore_seconds=0.0)
    if not source.simulates:
        truth = source.truth  # an environment with a table is simulated from it, at the speed of a model
        source.close()
        if truth is None:
            raise ModelError(
                f"{config.model} has no table of probabilities, and an experiment needs the true ones to measure by; use "
                "umdp learn for it"
            )
        source = Simulator(truth)
    return source, spec, horizon


def describe(config: Config, title: str) -> LearningProblem:
    """Return what is known of the environment of a run."""
    source, spec, _ = known(config)
    values = [solve(mdp, spec).value for mdp in source.stages]
    minimise = spec.deciding().agent is Direction.MIN
    return LearningProblem(
        title, minimise, spec.kind == "P", values[0], values[1] if len(values) > 1 else None, str(spec)
    )


def _shuffled(stages: tuple[MDP, ...], seed: int) -> tuple[MDP, ...]:
    """Return a process with the actions of every state in an order drawn from the seed."""
    order = _order(stages[0], np.random.default_rng(np.random.SeedSequence([seed, 1])))
    first, *rest = (_permuted(mdp, order) for mdp in stages)
    return (first, *(first.graph.with_probability(mdp.probability) for mdp in rest))


def _order(mdp: MDP, rng: np.random.Generator) -> Array:
    """Return the choices (C,), shuffled within each state."""
    within = np.lexsort((rng.random(mdp.choices), mdp.choice_state))
    return np.asarray(within, dtype=np.int64)


def _permuted(mdp: MDP, order: Array) -> MDP:
    """Return the MDP with its choices in another order within each state."""
    moved = entries_of(mdp.choice_ptr, order)
    names = [mdp.action_name(int(c)) for c in order]  # without names, the numbers that choices had before
    return part_of(mdp, moved, mdp.sizes[order], choice=order, actions=names)
