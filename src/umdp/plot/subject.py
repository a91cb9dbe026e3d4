"""What can be drawn: runs, snapshots, solutions, policies and models, seen alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError, UmdpError
from umdp.learning.snapshot import Snapshot
from umdp.learning.validation import threshold
from umdp.model import MDP, Graph, IntervalMDP, Policy
from umdp.model.sketch import Marks, marks_of
from umdp.run import OpenedRun, open_run
from umdp.solver import Solution, solve
from umdp.spec import Direction, Spec, Threshold
from umdp.statements.guarantee import Guarantee

__all__ = ["Drawable", "Subject", "subject", "subjects"]

Drawable: TypeAlias = OpenedRun | str | Path | Snapshot | Iterable[Snapshot] | Solution | Policy | IntervalMDP | MDP
"""A run or its file, a snapshot or all of them, a solution, a policy, a model."""
COLUMNS = ("trajectories", "lower", "upper", "optimistic", "performance", "promised", "estimation_error", "model_error")
LARGE = 20_000  # states above which the optimum is not worked out for a picture
TITLES = {
    "lui": "LUI", "pac": "PAC", "map": "MAP", "ucrl2": "UCRL2", "confidence-sequence": "Confidence sequence",
    "clopper-pearson": "Clopper-Pearson", "restarting-sequence": "Restarting sequence",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Subject:
    """One thing to draw.

    Attributes
    ----------
    style : the name that decides its colour: the learner's, where it is known
    parts : what tells it from others, the most telling first
    place : where it is from, for errors
    table : returns the columns of its rows; None where there are none
    guarantee : what is promised at the end
    spec, until, reason : what was asked, what it was to reach, and why it ended
    find_model, find_policy : return what was learned, or raise an error
    counts : (T,) how often transitions were seen; None where that is not known
    truth : the process itself, where it is known
    """

    style: str
    parts: tuple[str, ...]
    place: str
    table: Callable[[], Mapping[str, NDArray[np.float64]]] | None = None
    guarantee: Guarantee | None = None
    spec: Spec | None = None
    until: Threshold | None = None
    reason: str | None = None
    find_model: Callable[[], Graph] | None = None
    find_policy: Callable[[], Policy] | None = None
    counts: NDArray[np.int64] | None = None
    truth: MDP | None = None
    name: str = ""

    @cached_property
    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """The rows, oldest first, as columns."""
        if self.table is None:
            raise ModelError(f"{self.place} is one answer, not a course of them; give a run or a list of snapshots")
        found = self.table()
        if not len(found["trajectories"]):
            raise ModelError(f"{self.place} has no snapshot yet, so that there is nothing to draw")
        return found

    @cached_property
    def curves(self) -> Mapping[str, NDArray[np.float64]]:
        """The columns with the last row of every number of trajectories; and "bound", the bound on the worst case."""
        at = self.columns["trajectories"]
        last = np.append(at[1:] != at[:-1], True)
        bound = self.columns["lower" if self.rises else "upper"]
        return {name: values[last] for name, values in {**self.columns, "bound": bound}.items()}

    def has(self, curve: str) -> bool:
        """Whether anything is known of a curve."""
        return not np.isnan(self.curves[curve]).all()

    @property
    def model(self) -> IntervalMDP | MDP:
        """The learned model."""
        found = None if self.find_model is None else self.find_model()
        if not isinstance(found, IntervalMDP | MDP):
            raise ModelError(f"{self.place} has no model; give a run, a snapshot or a solution")
        return found

    @property
    def graph(self) -> Graph:
        """The states and choices."""
        return self.model.graph if self.find_policy is None else self.policy.graph

    @property
    def policy(self) -> Policy:
        """The policy found."""
        if self.find_policy is None:
            raise ModelError(f"{self.place} has no policy; give a run, a snapshot, a solution or a policy")
        return self.find_policy()

    @property
    def rises(self) -> bool:
        """Whether larger values are better."""
        return self.spec is None or self.spec.deciding().agent is not Direction.MIN

    @cached_property
    def optimum(self) -> float | None:
        """The best value on the process itself, where it is known and small enough to be worked out."""
        if self.truth is None or self.spec is None or self.truth.states > LARGE:
            return None
        try:
            value = solve(self.truth, self.spec).value
        except UmdpError:
            return None
        return value if np.isfinite(value) else None

    @property
    def chance(self) -> NDArray[np.float64] | None:
        """How likely transitions are, from what was learned, shape (T,); None without a model."""
        if self.find_model is None:
            return None
        found = self.find_model()
        if isinstance(found, IntervalMDP):
            return (found.lower + found.upper) / 2
        return found.probability if isinstance(found, MDP) else None

    @cached_property
    def marks(self) -> Marks:
        """The states that the property wants, and those it does not; without a property, by their labels."""
        usual = marks_of(self.graph)
        if self.spec is None:
            return usual
        asked = self.spec.formula.reachability()
        try:
            goal, through = asked.goal.evaluate(self.graph), asked.through.evaluate(self.graph)
        except UmdpError:  # a graph without the labels that the property names
            return usual
        unwanted = asked.safety or (self.spec.kind == "P" and not self.rises)
        good, bad = (usual.good & ~goal, goal) if unwanted else (goal, ~through & ~goal)
        if self.spec.kind == "R" and (good & usual.good).any():
            good = good & ~usual.bad  # a sum that goes until an end goes until a bad one, too
        return Marks(good, (bad | usual.bad) & ~good)


def subjects(given: Drawable | Sequence[Drawable] | Mapping[str, Drawable]) -> list[Subject]:
    """Return what to draw, each with a name that tells it from the others.

    Parameters
    ----------
    given : one thing, a list of runs or files, or a mapping of names to things. A list of snapshots is one thing.
    """
    if isinstance(given, Mapping):
        return [replace(subject(each), name=str(name)) for name, each in given.items()]
    several: list[Any] = list(cast(Iterable[Any], given)) if _is_several(given) else [given]
    if not several:
        raise ModelError("there is nothing to draw; give a run, a list of snapshots or a solution")
    one = all(isinstance(each, Snapshot) for each in several)
    found = [subject(several)] if one else [subject(each) for each in several]
    return [replace(each, name=name) for each, name in zip(found, _names([each.parts for each in found]), strict=True)]


def subject(given: Drawable) -> Subject:
    """Return one thing to draw."""
    if isinstance(given, str | Path):
        return _from_run(open_run(given))
    if isinstance(given, OpenedRun):
        return _from_run(given)
    if isinstance(given, Snapshot):
        return _from_snapshots([given])
    if isinstance(given, Solution):
        return Subject(
            "solution", (), "the solution", spec=given.spec, find_model=lambda: given.model,
            find_policy=lambda: given.policy,
        )  # fmt: skip
    if isinstance(given, Policy):
        return Subject("policy", (), "the policy", find_policy=lambda: given)
    if isinstance(given, IntervalMDP | MDP):
        return Subject("model", (), "the model", find_model=lambda: given)
    if isinstance(given, Iterable):
        listed = list(given)
        if listed and all(isinstance(each, Snapshot) for each in listed):
            return _from_snapshots(listed)
    raise ModelError(
        f"a {type(given).__name__} cannot be drawn; give a run, its file, snapshots, a solution or a policy"
    )


def _is_several(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | Path | OpenedRun | Policy)


def _names(parts: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a name for each, of the first part and of those in which they differ.

    Examples
    --------
    >>> _names([("LUI", "grid", "seed 0"), ("LUI", "grid", "seed 1"), ("PAC", "grid", "seed 0")])
    ['LUI, seed 0', 'LUI, seed 1', 'PAC, seed 0']
    >>> _names([("LUI", "grid"), ("LUI", "grid")])
    ['LUI, 1', 'LUI, 2']
    """
    size = max(map(len, parts), default=0)
    padded = [(*each, *[""] * (size - len(each))) for each in parts]
    kept = [0] if size else []
    for k in range(1, size):
        before = {tuple(each[i] for i in kept) for each in padded}
        if len(before) == len(padded):
            break
        if len({tuple(each[i] for i in (*kept, k)) for each in padded}) > len(before):
            kept.append(k)
    names = [", ".join(each[i] for i in kept if each[i]) for each in padded]
    if len(set(names)) == len(names):
        return names
    return [f"{name}, {number}" if name else str(number) for number, name in enumerate(names, 1)]


def _from_run(run: OpenedRun) -> Subject:
    config = run.config
    settings = ", ".join(f"{name} {value}" for name, value in config.settings.items())
    learner = TITLES.get(config.learner, config.learner)
    last = run.rows[-1] if run.rows else None
    try:
        until = threshold(config.until) if config.until else run.spec.threshold
    except UmdpError:
        until = None
    return Subject(
        learner, (learner, Path(run.name).name, settings, f"seed {config.seed}", run.question, run.path.stem), str(run.path),
        table=lambda: _columns(run.rows), guarantee=None if last is None else run.guarantee,
        spec=run.spec, until=until, reason=None if last is None else run.reason, find_model=lambda: run.model,
        find_policy=lambda: run.policy, counts=run._counts, truth=run.truth,
    )  # fmt: skip


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of rows, nan where they say nothing; what is promised is there only in runs with evidence."""
    found = {name: [row.get(name) for row in rows] for name in COLUMNS}
    return {name: np.array([np.nan if each is None else float(each) for each in found[name]]) for name in found}


def _from_snapshots(given: Sequence[Snapshot]) -> Subject:
    last, spec = given[-1], given[-1].robust.spec
    return Subject(
        "LUI", (), "the list of snapshots", table=lambda: _columns([each.row() for each in given]),
        guarantee=last.guarantee, spec=spec, until=spec.threshold, reason=last.reason, find_model=lambda: last.model,
        find_policy=lambda: last.policy, counts=getattr(last, "counts", None), truth=last.truth,
    )  # fmt: skip
