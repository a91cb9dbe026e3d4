"""Learning by classes: any learner, where choices are known to share one distribution over outcomes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.guarantee import Guarantee
from umdp.learn.base import Learner
from umdp.learn.binomial import ULP, tighten
from umdp.model import Graph
from umdp.model.tying import Outcome, Tie, Tying

__all__ = ["TIED", "Tied", "as_tied"]

Floats = NDArray[np.float64]
TIED = "the choices of every class share one distribution over outcomes"
OF_CLASS = "class "  # before the names of what the learner of classes keeps


class Tied(Learner):
    """Learns outcomes of classes of choices, and bounds every transition by the outcomes that lead along it.

    Counts of all choices of a class at which outcomes can be told apart are pooled, and a learner of classes moves its bounds by
    them, as if each class were one choice. A transition has the sum of the bounds of its outcomes, cut by what the others leave.
    At any time the next outcome of a class has the same distribution, whatever was seen and wherever it is taken; so what a
    learner claims of a choice holds for a class, and costs its share of the error rate once.

    Settings of the learner that are arrays have one entry for each outcome. For `UCRL2` the number of states is that of classes
    (or of the outcomes of one, if that is more), and every class is the only action of its state.

    Parameters
    ----------
    learner : Learner
        Of classes, not yet bound.
    tying : Tying
    assumed : bool
        Whether somebody says that the classes are right; false where they are by construction, as in a product.

    Attributes
    ----------
    inner : the learner, bound to the classes
    tying : the classes
    own_lower, own_upper : (O,) bounds of the outcomes, as they are spread

    Examples
    --------
    >>> from umdp import ConfidenceSequence, Graph
    >>> graph = Graph([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], actions=["a", "b", "stay", "stay"])
    >>> coins = Tying.of(graph, lambda state, action: "coin" if state == "0" else None, lambda *where: f"side {where[2]}")
    >>> learner = Tied(ConfidenceSequence(0.05), coins).bind(graph).learn([2, 3, 2, 3, 0, 0])
    >>> learner.lower[:4].round(4)  # of ten tosses, whichever coin it was
    array([0.0689, 0.1784, 0.0689, 0.1784])
    """

    name: ClassVar[str] = "tied"
    growth: ClassVar[float] = 0.25  # a class is seen far more often than any choice of it: look more often
    inner: Learner
    own_lower: Floats
    own_upper: Floats

    def __init__(self, learner: Learner, tying: Tying, *, assumed: bool = True) -> None:
        if isinstance(learner, Tied):
            raise ModelError("choices are tied once; give the learner alone")
        self.inner, self.tying, self.assumed = learner, tying, assumed
        if not assumed:  # classes are hardly larger than single choices
            self.__dict__["growth"] = learner.growth

    @property
    def claim(self) -> Guarantee:
        """What the learner of classes claims, provided that the classes are right."""
        claim = self.inner.claim
        return replace(claim, reasons=(*claim.reasons, TIED)) if claim.holds and self.assumed else claim

    def bind(self, graph: Graph, matters: ArrayLike | None = None, *, settled: bool = False) -> Self:
        """Return a learner with these settings, at its beginning, for the graph of the classes."""
        own = self.tying.graph
        if not all(
            np.array_equal(getattr(own, name), getattr(graph, name))
            for name in ("state_ptr", "choice_ptr", "successor")
        ):
            raise ModelError("the classes are those of another graph; make them for the one that is learned")
        fresh = copy.copy(self)
        fresh.__dict__.pop("sizes", None), fresh.__dict__.pop("uncertain", None)
        fresh.graph = graph.graph
        given = np.ones(graph.choices, np.bool_) if matters is None else np.asarray(matters, dtype=np.bool_)
        fresh.matters = given
        fresh.inner = self.inner.bind(self.tying.class_graph, fresh.classes_that_matter(), settled=settled)
        fresh.begin()
        return fresh

    def classes_that_matter(self) -> NDArray[np.bool_]:
        """Return whether a class (and what fills up the graph of classes) has a choice whose probabilities matter."""
        tying = self.tying
        found = np.zeros(tying.class_graph.choices, np.bool_)
        found[tying.choice_class[self.matters & (self.sizes > 1)]] = True
        return found

    def begin(self) -> None:
        """Spread what is believed of the classes."""
        self._spread()

    def update(self, counts: NDArray[np.int64]) -> None:
        """Pool counts by class, where outcomes can be told apart, and learn from them."""
        inner = self.inner.clone()
        pooled = np.zeros(self.tying.class_graph.transitions, np.int64)
        pooled[: self.tying.outcomes] = self.tying.pool(counts)
        inner.update(pooled)
        self.inner = inner
        self._spread()

    def refine(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return the bounds of outcomes (O,) as they are spread: those of the learner, where nothing else is known."""
        return lower, upper

    def _spread(self) -> None:
        outcomes, tying = self.tying.outcomes, self.tying
        own = self.refine(self.inner.lower[:outcomes], self.inner.upper[:outcomes])
        self.own_lower, self.own_upper = own
        merged = np.diff(tying.transition_ptr)
        rounding = np.where(merged > 1, (merged + 1) * ULP, 0.0)
        lower = tying.along(self.own_lower) * (1 - rounding)
        upper = np.minimum(tying.along(self.own_upper) * (1 + rounding), 1.0)
        # What several outcomes leave together may be less than the sum of what each leaves alone.
        choices = np.flatnonzero(~tying.feeds)
        if choices.size:
            within = np.flatnonzero(np.repeat(~tying.feeds, self.sizes))
            cut = tighten(lower[within], upper[within], self.sizes[choices])
            lower[within] = np.where(merged[within] > 1, cut[0], lower[within])
            upper[within] = np.where(merged[within] > 1, cut[1], upper[within])
        self.lower, self.upper = np.where(self.uncertain, lower, 1.0), np.where(self.uncertain, upper, 1.0)

    def seen(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often an outcome of each transition was seen, anywhere in its class, (T,)."""
        pooled: NDArray[np.int64] = self.tying.along(self.tying.pool(counts))
        return np.maximum(counts, pooled)

    # -- what is kept ----------------------------------------------------------------------------------------

    def arrays(self) -> list[str]:
        """Return the names of the arrays that make up what has been learned, those of classes behind `OF_CLASS`."""
        return sorted(["lower", "upper", "own_lower", "own_upper", *(OF_CLASS + name for name in self.inner.arrays())])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of everything learned."""
        own = {name: self.__dict__[name].copy() for name in self.arrays() if not name.startswith(OF_CLASS)}
        return {**own, **{OF_CLASS + name: value for name, value in self.inner.state().items()}}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Self:
        """Go back to a state; the learner must be bound to the same graph and classes."""
        if set(state) != set(self.arrays()):
            raise ModelError(f"the state has {sorted(state)}, the learner {self.arrays()}")
        self.inner.restore({name.removeprefix(OF_CLASS): v for name, v in state.items() if name.startswith(OF_CLASS)})
        for name in self.arrays():
            if not name.startswith(OF_CLASS):
                self.__dict__[name] = np.array(state[name], dtype=self.__dict__[name].dtype)
        return self

    def clone(self) -> Self:
        """Return a copy that goes its own way."""
        other = copy.copy(self)
        other.inner = self.inner.clone()
        for name in self.arrays():
            if not name.startswith(OF_CLASS):
                other.__dict__[name] = self.__dict__[name].copy()
        return other

    def ledger(self) -> dict[str, Any] | None:
        """Return how the error rate is spent, and the counts behind the bounds of outcomes; and which outcomes lead where."""
        found = self.inner.ledger()
        if found is None:
            return None
        tying = self.tying
        outcomes = {
            name: value[: tying.outcomes] if isinstance(value, np.ndarray) else value for name, value in found.items()
        }
        return {
            **outcomes, "graph": "tied", "class_ptr": tying.outcome_ptr, "transition_ptr": tying.transition_ptr,
            "transition_outcome": tying.transition_outcome,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Tied({self.inner!r}; {self.tying!r})"


def as_tied(learner: Learner, graph: Graph, tie: Tying | Tie | None, outcome: Outcome | None = None) -> Learner:
    """Return a learner of classes, where choices are tied; otherwise the learner as it is."""
    if tie is None:
        if outcome is not None:
            raise ModelError("outcome names the outcomes of choices that are tied; say which with tie")
        return learner
    if isinstance(tie, Tying):
        return Tied(learner, tie)
    if not callable(tie):
        raise ModelError(f"tie is {tie!r}; give a function of (state, action) with outcome=, or an umdp.Tying")
    return Tied(learner, Tying.of(graph, tie, outcome))
