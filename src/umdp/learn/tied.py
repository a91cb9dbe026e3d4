"""Learning by classes: any learner, where choices are known to share one distribution over outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.learn.binomial import ULP, Binomial, Ints, tighten
from umdp.learn.event_bounds import implied, learns_events, sighted
from umdp.learn.homogeneity import misfits
from umdp.learn.learner import Alarm, Learner, Misfit
from umdp.learn.learner_settings import as_rate, place
from umdp.learn.observed_sequence import SHARE
from umdp.learn.restarting_sequence import RestartingSequence
from umdp.model import Graph
from umdp.model.events import Events
from umdp.model.structure import mask_of, same_rows
from umdp.model.tying import Outcome, Tie, Tying
from umdp.parametric.model import ParametricMDP
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

if TYPE_CHECKING:
    from umdp.automata.product import Product

__all__ = ["TIED", "Tied", "as_tied"]

Floats = NDArray[np.float64]
TIED = say(Code.TIED)
OF_CLASS = "class "  # before the names of what the learner of classes keeps


class Tied(Learner):
    """Learns outcomes of classes of choices, and bounds every transition by the outcomes that lead along it.

    Counts of all choices of a class at which outcomes can be told apart are pooled, and a learner of classes moves its bounds by
    them, as if each class were one choice. A transition has the sum of the bounds of its outcomes, cut by what the others leave.
    At any time the next outcome of a class has the same distribution, whatever was seen and wherever it is taken; so what a
    learner claims of a choice holds for a class, and costs its share of the error rate once.

    Where some choices merge outcomes, `ConfidenceSequence` and `ClopperPearson` learn `Events` instead: every event, be it one
    outcome or several that are merged somewhere, has the samples of all choices that tell it apart, and bounds of its own. The
    events of a class share what the class may spend, by how many choices see each of them as one transition.

    Settings of the learner that are arrays have one entry for each outcome. For `UCRL2` the number of states is that of classes
    (or of the outcomes of one, if that is more), and every class is the only action of its state.

    Parameters
    ----------
    learner : Learner
        Of classes, not yet bound.
    tying : Tying
    false_alarms : float
        The probability with which there may ever be an alarm that a choice is not like the others of its class although it is.
        After one nothing is promised any more.
    assumed : bool
        Whether somebody says that the classes are right; false where they are by construction, as in a product.

    Attributes
    ----------
    inner : the learner, bound to the classes, or to their events
    tying : the classes
    events : their events, where these are learned; else None
    contradicted : (K,) how often bounds of events of a class left no distribution
    own_lower, own_upper : (O,) bounds of the outcomes, as they are spread
    walked : (1,) how many steps there were
    member_counts : (T,) how often each transition was seen, since its class started anew if it ever did
    misfit_samples, misfit_steps : (C,) samples of a choice, and steps in all, when it turned out not to be like its class; or 0

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
    kept: ClassVar[tuple[str, ...]] = (
        "own_lower", "own_upper", "walked", "member_counts", "misfit_samples", "misfit_steps",
    )  # fmt: skip
    growth: ClassVar[float] = 0.25  # a class is seen far more often than any choice of it: look more often
    inner: Learner
    own_lower: Floats
    own_upper: Floats
    walked: Ints
    member_counts: Ints
    misfit_samples: Ints
    misfit_steps: Ints
    contradicted: Ints
    events: Events | None = None

    def __init__(self, learner: Learner, tying: Tying, false_alarms: float = 0.01, *, assumed: bool = True) -> None:
        if isinstance(learner, Tied):
            raise ModelError("choices are tied once; give the learner alone")
        self.inner, self.tying, self.watches, self.assumed = learner, tying, learner.watches, assumed
        self.false_alarms = as_rate(false_alarms, "false_alarms")
        self.misfit_samples, self.contradicted = np.zeros((2, 0), np.int64)
        if not assumed:  # classes are hardly larger than single choices, and find what these would
            self.__dict__["growth"], self.__dict__["discovers"] = learner.growth, learner.discovers

    @property
    def claim(self) -> Guarantee:
        """What the learner of classes claims, provided that the classes are right."""
        claim, wrong = self.inner.claim, np.flatnonzero(self.misfit_samples)
        if wrong.size:
            kind, first = self.tying.names[self.tying.choice_class[wrong[0]]], place(self.graph, int(wrong[0]))
            return Guarantee(
                "none", reasons=(say(Code.MISFIT, kind=kind, choice=first), *(() if claim.holds else claim.reasons))
            )
        if claim.holds and self.contradicted.any():
            kind = self.tying.names[np.argmax(self.contradicted > 0)]
            return Guarantee("none", reasons=(say(Code.CONTRADICTED, kind=kind),))
        return replace(claim, reasons=(*claim.reasons, TIED)) if claim.holds and self.assumed else claim

    def bind(self, graph: Graph, matters: ArrayLike | None = None, *, graph_known: bool = False) -> Self:
        """Return a learner with these settings, at its beginning, for the graph of the classes."""
        if not same_rows(self.tying.graph, graph):
            raise ModelError("the classes are those of another graph; make them for the one that is learned")
        return super().bind(graph, matters, graph_known=graph_known)

    @property
    def by_event(self) -> bool:
        """Whether events are learned: some choices merge outcomes, and the learner can be told of each event apart."""
        return learns_events(self.inner) and not bool(self.tying.feeds.all())

    @property
    def feeds(self) -> NDArray[np.bool_]:
        """Whether samples of a choice say something of its class, (C,)."""
        return self.tying.feeds if self.events is None else self.tying.feeds | (self.sizes > 1)

    def classes_that_matter(self) -> NDArray[np.bool_]:
        """Return whether a class (and what fills up the graph of classes) has a choice whose probabilities matter."""
        tying = self.tying
        return mask_of(tying.choice_class[self.matters & (self.sizes > 1)], tying.class_graph.choices)

    def begin(self) -> None:
        """Bind the learner of classes, or of their events, and spread what it believes."""
        self.events = Events.of(self.tying) if self.by_event else None
        if self.events is None:
            self._bind_to_classes()
        else:
            self._bind_to_events(self.events)
        self.misfit_samples, self.misfit_steps = np.zeros((2, self.graph.choices), np.int64)
        self.member_counts, self.walked = np.zeros(self.graph.transitions, np.int64), np.zeros(1, np.int64)
        self.contradicted = np.zeros(self.tying.classes, np.int64)
        self._spread()

    def _bind_to_classes(self) -> None:
        self.inner = self.inner.bind(self.tying.class_graph, self.classes_that_matter(), graph_known=self.graph_known)
        if isinstance(self.inner, RestartingSequence):
            self.inner.noun = "class"

    def _bind_to_events(self, events: Events) -> None:
        """Let each event have its share of what its class may spend."""
        weights = np.zeros(events.graph.choices)
        weights[: events.size] = events.weights(self.matters & (self.sizes > 1))
        inner = self.inner.bind(events.graph, weights > 0)
        assert isinstance(inner, Binomial)
        inner.weights = weights
        self.inner = inner

    def update(self, counts: NDArray[np.int64]) -> None:
        """Pool counts by class, where outcomes can be told apart, and learn from them."""
        inner = self.inner.clone()
        pooled = np.zeros(inner.graph.transitions, np.int64)
        found = self.tying.pool(counts) if self.events is None else self.events.pool(counts)
        pooled[: found.size] = found
        inner.update(pooled)
        self._compare(counts, self.inner, inner)
        self.inner = inner
        self._spread()

    def _compare(self, counts: Ints, before: Learner, now: Learner) -> None:
        """Note which choices contradict that they are like the others of their class; one that started anew has no past."""
        self.member_counts, self.walked = self.member_counts + counts, self.walked + counts.sum()
        share: float | Floats = 1.0
        if isinstance(now, RestartingSequence) and isinstance(before, RestartingSequence):
            classes = slice(self.tying.classes)
            anew = (now.epoch > before.epoch)[classes][self.tying.choice_class]
            self.member_counts[self.per_transition(anew)] = 0
            share = SHARE / now.epoch[classes].astype(np.float64) ** 2
        found = misfits(self.tying, self.member_counts, self.false_alarms, self.matters, share) & (
            self.misfit_samples == 0
        )
        self.misfit_samples = np.where(found, self.per_choice(self.member_counts), self.misfit_samples)
        self.misfit_steps = np.where(found, self.walked, self.misfit_steps)

    def alarms(self) -> tuple[Alarm, ...]:
        """Return which choices turned out not to be like their class, and which classes have changed."""
        now = int(self.walked[0])
        wrong = tuple(
            Misfit(
                place(self.graph, c), int(self.misfit_samples[c]), int(self.misfit_steps[c]),
                bool(self.misfit_steps[c] == now), self.tying.names[self.tying.choice_class[c]],
            )
            for c in np.flatnonzero(self.misfit_samples).tolist()
        )  # fmt: skip
        named = {place(self.tying.class_graph, k): f"class {name}" for k, name in enumerate(self.tying.names)}
        return (*wrong, *(replace(each, place=named[each.place]) for each in self.inner.alarms()))

    def remembered(self, counts: Ints) -> Ints:
        """Return how often each transition was seen since its class started anew, if it ever did."""
        return self.member_counts

    def refine(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return the bounds of outcomes (O,) as they are spread: those of the learner, where nothing else is known."""
        return lower, upper

    def _spread(self) -> None:
        outcomes, tying = self.tying.outcomes, self.tying
        if self.events is not None:
            entries = slice(2 * self.events.size)
            found = implied(self.events, self.inner.lower[entries], self.inner.upper[entries])
            (self.own_lower, self.own_upper), (self.lower, self.upper) = found.outcomes, found.transitions
            lasting = self.inner.claim.kind == "any-time"  # what was excluded once stays so
            self.contradicted = self.contradicted * lasting + found.contradicted
            return
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

    def sightings(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often an outcome of each transition was seen, anywhere in its class, (T,)."""
        if self.events is not None:
            return sighted(self.events, counts)
        pooled: NDArray[np.int64] = self.tying.along(self.tying.pool(counts))
        return np.maximum(counts, pooled)

    # -- what is kept ----------------------------------------------------------------------------------------

    def own_arrays(self) -> list[str]:
        """Return the names of the arrays besides those of the learner of classes."""
        return [*super().own_arrays(), *(() if self.events is None else ("contradicted",))]

    def arrays(self) -> list[str]:
        """Return the names of the arrays that make up what has been learned, those of classes behind `OF_CLASS`."""
        return sorted([*self.own_arrays(), *(OF_CLASS + name for name in self.inner.arrays())])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of everything learned."""
        return {**super().state(), **{OF_CLASS + name: value for name, value in self.inner.state().items()}}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Self:
        """Go back to a state; the learner must be bound to the same graph and classes.

        One of a learner that was fed by class goes on by class.
        """
        if self.events is not None and "contradicted" not in state:
            self.events = None
            self._bind_to_classes()
        super().restore(state)
        self.inner.restore({name.removeprefix(OF_CLASS): v for name, v in state.items() if name.startswith(OF_CLASS)})
        return self

    def clone(self) -> Self:
        """Return a copy that goes its own way."""
        other = super().clone()
        other.inner = self.inner.clone()
        return other

    def structure(self) -> list[Any]:
        """Return classes and outcomes."""
        tying = self.tying
        return [
            tying.choice_class,
            tying.outcome_ptr,
            tying.transition_ptr,
            tying.transition_outcome,
            list(tying.names),
        ]

    def along(self, product: Product) -> Learner:
        """Return a learner of the same classes in a product."""
        from umdp.automata.product import product_ties

        return Tied(self.inner, product_ties(product, self.tying), self.false_alarms)

    def ledger(self) -> dict[str, Any] | None:
        """Return how the error rate is spent, and the counts behind the bounds of outcomes; and which outcomes lead where."""
        found = self.inner.ledger()
        if found is None:
            return None
        if found["graph"] == "observed":  # it speaks of classes, and is no part of certificates
            return {**found, "class_ptr": self.inner.graph.choice_ptr}
        if not self.claim.holds and self.events is not None:
            return None
        tying, events = self.tying, self.events
        size = tying.outcomes if events is None else 2 * events.size
        entries = {name: value[:size] if isinstance(value, np.ndarray) else value for name, value in found.items()}
        classes = {
            **entries, "graph": "tied", "class_ptr": tying.outcome_ptr, "transition_ptr": tying.transition_ptr,
            "transition_outcome": tying.transition_outcome,
        }  # fmt: skip
        if events is None:
            return classes
        return {
            **classes, "graph": "events", "event_ptr": events.event_ptr, "event_outcome": events.event_outcome,
            "own_lower": self.inner.lower[:size], "own_upper": self.inner.upper[:size],
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Tied({self.inner!r}; {self.tying!r})"


def as_tied(
    learner: Learner, graph: Graph, tie: Tying | ParametricMDP | Tie | None, outcome: Outcome | None = None
) -> Learner:
    """Return a learner of classes, where choices are tied; otherwise the learner as it is."""
    if tie is None:
        if outcome is not None:
            raise ModelError("outcome names the outcomes of choices that are tied; say which with tie")
        return learner
    if isinstance(tie, Tying):
        return Tied(learner, tie)
    if isinstance(tie, ParametricMDP):
        from umdp.learn.parametric_learner import Parametric

        return Parametric(learner, tie)
    if not callable(tie):
        raise ModelError(f"tie is {tie!r}; give a function of (state, action) with outcome=, or an umdp.Tying")
    return Tied(learner, Tying.of(graph, tie, outcome))
