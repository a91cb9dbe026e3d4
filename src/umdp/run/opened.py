"""A run that was opened to be looked at: its rows, what it has learned, and what is promised. Nothing in it is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.benchmark import BENCHMARKS
from umdp.errors import FormatError, ModelError
from umdp.model import MDP, Graph, IntervalMDP, Policy
from umdp.run.config import Config
from umdp.run.store import NO_MODEL, NOTHING, Learned, Store
from umdp.solver import Bracket
from umdp.spec import Spec
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import facts_html, nouns

if TYPE_CHECKING:
    from umdp.run.lock import Writer

__all__ = ["OpenedRun", "configuration", "kept_counts", "kept_policy", "open_run"]


@dataclass(frozen=True, eq=False, repr=False)
class OpenedRun:
    """A run as it was when it was opened; `umdp.open` makes one.

    Attributes
    ----------
    path : the file
    config : what was asked for
    question : the property, as text
    rows : all snapshots as rows, oldest first; `run["lower"]` is one column as an array
    writer : who is writing the run now; None if nobody is
    """

    path: Path
    config: Config
    question: str
    rows: tuple[Mapping[str, Any], ...]
    writer: Writer | None
    _learned: Learned | None
    _graph: Graph | None
    _counts: NDArray[np.int64] | None
    _probability: NDArray[np.float64] | None

    # -- the rows --------------------------------------------------------------------------------------------

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers, nan where there is none, shape (rows,)."""
        if self.rows and column not in self.rows[0]:
            raise ModelError(f"a run has no column {column!r}; there are {', '.join(self.rows[0])}")
        try:
            return np.array([np.nan if row[column] is None else float(row[column]) for row in self.rows])
        except (TypeError, ValueError):
            raise ModelError(f"the column {column!r} of a run does not hold numbers; it is in `rows`") from None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def last(self) -> Mapping[str, Any]:
        """The newest row."""
        if not self.rows:
            raise FormatError(NOTHING, path=self.path)
        return self.rows[-1]

    @property
    def trajectories(self) -> int:
        """How many were seen."""
        return int(self.last["trajectories"])

    @property
    def steps(self) -> int:
        """How many were seen."""
        return int(self.last["steps"])

    @property
    def bracket(self) -> Bracket:
        """Bounds on the worst-case value of the learned model."""
        return Bracket(float(self.last["lower"]), float(self.last["upper"]))

    @property
    def optimistic(self) -> float | None:
        """The value in the best case, without a proof; None where it was not needed."""
        return _maybe(self.last["optimistic"])

    @property
    def performance(self) -> float | None:
        """The value of the policy on the process itself; None where that is not known."""
        return _maybe(self.last["performance"])

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, and under which conditions; or nothing, and why."""
        return Guarantee.from_dict(self.last["guarantee"])

    @property
    def promise(self) -> Mapping[str, Any] | None:
        """What is promised of the policy, by the model or by playing it, in a run with evidence; otherwise None."""
        found: Mapping[str, Any] | None = self.last.get("promise")
        return found

    @property
    def parameters(self) -> Mapping[str, Mapping[str, Any]] | None:
        """The ends of every parameter of a program, and how many samples say so; None without parameters."""
        found: Mapping[str, Mapping[str, Any]] | None = self.last.get("parameters")
        return found

    @property
    def reason(self) -> str | None:
        """Why the run ended; None if it did not."""
        return self.last["reason"] or None

    # -- what it is ------------------------------------------------------------------------------------------

    @cached_property
    def spec(self) -> Spec:
        """The property."""
        return Spec.parse(self.question)

    @property
    def rises(self) -> bool:
        """Whether larger values are better."""
        return self.spec.rises

    @property
    def name(self) -> str:
        """What was learned: the model, or the log."""
        return self.config.model if self.config.log is None else self.config.log

    # -- what it has learned ---------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """What was known of the process."""
        if self._graph is None:
            raise FormatError(NO_MODEL, path=self.path)
        return self._graph

    @property
    def model(self) -> IntervalMDP:
        """The learned interval MDP."""
        return self._known().model

    @property
    def policy(self) -> Policy:
        """The policy that the promise is about; the robust policy, where there is none."""
        return kept_policy(self._known(), self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the source said about its data, a line each."""
        return () if self._learned is None else self._learned.report

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each transition was seen, shape (T,)."""
        if self._counts is None:
            self._known()
            raise FormatError("the counts of this run do not fit its graph", path=self.path)
        return self._counts

    @cached_property
    def truth(self) -> MDP | None:
        """The process itself, where it was known when the run began and does not change; otherwise None."""
        if self._probability is None or self._graph is None:
            return None
        try:
            return self._graph.with_probability(self._probability)
        except ModelError:
            return None

    def _known(self) -> Learned:
        if self._learned is None:
            self.graph  # noqa: B018 - says why where it is not there
            raise FormatError(NOTHING, path=self.path)
        return self._learned

    # -- display ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        known = f"{self.bracket} after {self._seen()} ({self.guarantee})" if self.rows else "empty"
        return f"Run {self.path}: {self.question} with {self.config.learner} on {self.name}: {known}"

    def _repr_html_(self) -> str:
        facts = [("property", self.question), ("model", self.name), ("learner", self.config.learner)]
        if self.rows:
            facts += [
                ("bracket", str(self.bracket)),
                *self._returned(),
                ("promise", str(self.guarantee)),
                *([] if self.promise is None else [("promised", _in_words(self.promise))]),
                ("seen", f"{self._seen()}, {self.steps:,} {nouns(self.steps, 'step')}"),
                ("ended because", self.reason or "it has not ended"),
            ]
            if self.performance is not None:
                facts.append(("the policy's true value", f"{self.performance:.6g}"))
        return facts_html(f"Run {self.path.name}", facts)

    def _seen(self) -> str:
        return f"{self.trajectories:,} {nouns(self.trajectories, 'trajectory')}"

    def _returned(self) -> list[tuple[str, str]]:
        """Return the bracket in the units of the process, where they differ."""
        if "return_lower" not in self.last:
            return []
        return [("return", str(Bracket(float(self.last["return_lower"]), float(self.last["return_upper"]))))]


def open_run(path: str | Path) -> OpenedRun:
    """Open a run to look at it, also while it is going on. Nothing in it is executed or changed.

    Parameters
    ----------
    path : str or path
        A file written by ``umdp learn --out``.
    """
    with Store.open(path) as store:
        config = configuration(store)
        rows = tuple(store.snapshots())
        modern = store.version > 1
        learned = store.learned() if modern and rows else None
        graph = learned.model.graph if learned is not None else store.graph() if modern else None
        return OpenedRun(
            store.path, config, store.question or config.wording(), rows, store.writer(), learned, graph,
            None if graph is None else kept_counts(store, graph), None if graph is None else _truth(store, graph),
        )  # fmt: skip


def kept_policy(learned: Learned, path: str | Path) -> Policy:
    """Return the policy of what was learned in a run; `FormatError` where it was too large to be kept."""
    if learned.policy is None:
        raise FormatError(
            "the policy depends on the step and was too large to be kept; `umdp check RUN PROPERTY --policy FILE` "
            "finds it again",
            path=path,
        )
    return learned.policy


def configuration(store: Store) -> Config:
    """Return the configuration that a run was made with."""
    try:
        return msgspec.convert(store.config, Config)
    except msgspec.ValidationError as error:
        raise FormatError(f"the configuration of this run cannot be read ({error})", path=store.path) from None


def kept_counts(store: Store, graph: Graph) -> NDArray[np.int64] | None:
    """Return how often each transition was seen, data of an incomplete iteration included."""
    state = store.state() or {}
    parts = [np.asarray(part) for part in (state.get("counts"), state.get("pending")) if part is not None]
    if not parts or any(part.shape != (graph.transitions,) or part.dtype.kind not in "iu" for part in parts):
        return None
    total: NDArray[np.int64] = np.sum(parts, axis=0, dtype=np.int64)
    return total


def _truth(store: Store, graph: Graph) -> NDArray[np.float64] | None:
    """Return the true probabilities that the run holds; those of a benchmark are known without."""
    found, config = store.truth(), store.config
    if found is None and config.get("model") in BENCHMARKS and not config.get("parameters"):
        if config.get("switch") or config.get("log"):
            return None
        found = BENCHMARKS[config["model"]].build().probability
    fits = isinstance(found, np.ndarray) and found.shape == (graph.transitions,) and found.dtype.kind == "f"
    return found if fits else None


def _in_words(promise: Mapping[str, Any]) -> str:
    return f"{promise['side']} {promise['bound']:.6g} {promise['text']}"


def _maybe(value: Any) -> float | None:
    return None if value is None else float(value)
