"""What a solver returns: brackets, a policy, nature's choice, and what happened; for exploration, a policy without a proof."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP, IntervalMDP, Policy
from umdp.model.part import annotations_of
from umdp.model.structure import held
from umdp.solver.judge.question import Status
from umdp.spec import Spec
from umdp.statements import DiagnosticCode, say
from umdp.statements.text import facts_html

if TYPE_CHECKING:
    from umdp.automata.product import Product
    from umdp.model import IntervalMDP, Policy
    from umdp.solver.proof.certificate import Certificate, Ends
    from umdp.spec import Spec

__all__ = ["Bracket", "Diagnostic", "DraftBounds", "Solution", "Statistics", "Status", "UncertifiedSolution", "mdp_of"]

T = TypeVar("T")


class DraftBounds(NamedTuple):
    """Bounds (S,) from below and above that are to be judged, each the sum of two numbers; of not reaching if `complement`."""

    low: tuple[NDArray[Any], NDArray[Any]]
    high: tuple[NDArray[Any], NDArray[Any]]
    complement: bool


@dataclass(frozen=True)
class Bracket:
    """Two certified bounds on one value: it is at least `lower` and at most `upper`.

    Examples
    --------
    >>> bracket = Bracket(0.25, 0.75)
    >>> bracket.value, bracket.width, 0.4 in bracket
    (0.5, 0.5, True)
    >>> print(Bracket(float("inf"), float("inf")))
    inf
    """

    lower: float
    upper: float

    @property
    def value(self) -> float:
        """A point inside the bracket: its middle."""
        if math.isinf(self.upper):
            return self.upper if math.isinf(self.lower) else self.lower
        return min(max(self.lower + 0.5 * (self.upper - self.lower), self.lower), self.upper)

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """The width relative to the bound that is larger in size; 0 where the bounds coincide."""
        if self.lower == self.upper:
            return 0.0
        size = max(abs(self.lower), abs(self.upper))
        return math.inf if math.isinf(size) else self.width / size

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"{self.lower:.10g}" if self.lower == self.upper else f"[{self.lower:.10g}, {self.upper:.10g}]"

    def _repr_html_(self) -> str:
        facts = [("lower", f"{self.lower:.10g}"), ("upper", f"{self.upper:.10g}"), ("width", f"{self.width:.3g}")]
        return facts_html("Bracket", facts)


class Diagnostic(enum.Enum):
    """What there is to say of a solution besides its bracket and status."""

    UNCONFIRMED = DiagnosticCode.UNCONFIRMED

    @property
    def code(self) -> str:
        """The name for programs."""
        return self.value.value

    @property
    def text(self) -> str:
        """The sentence for people."""
        return str(say(self.value))


class StateBounds(NamedTuple):
    """Bounds (S,) on the value of every state, known by name wherever they are shown."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """What a solve took.

    Attributes
    ----------
    undecided : states whose value the graph alone does not decide
    components : strongly connected components among them
    largest : states in the largest component
    iterations : policy evaluations and sweeps
    seconds : wall-clock time
    """

    undecided: int = 0
    components: int = 0
    largest: int = 0
    iterations: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to one property of one model.

    Attributes
    ----------
    model, spec : what was asked
    bracket : certified bounds on the value of the initial state
    policy_bracket : bounds on the value of `policy` in the initial state
    status : what stands behind the bracket
    statistics : what it took
    unknowns : the values of what the graph left open, for a solve that starts from here; None where none could use them
    values : all that was found, for the same; likewise
    product : what `model`, `spec`, policy and nature are about where the property needs an automaton; otherwise None
    shown : with a filter, the states that it is about: those that attain an optimum, that satisfy a threshold, or all to print
    ends : of a long-run average, the end components and what is known of them, for a certificate; otherwise None
    diagnostics : what else there is to say
    """

    model: MDP | IntervalMDP
    spec: Spec
    bracket: Bracket
    policy_bracket: Bracket
    status: Status
    statistics: Statistics
    _bounds: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]] = field(repr=False)
    _policy: Callable[[], Policy] = field(repr=False)
    _nature: Callable[[], MDP] = field(repr=False)
    unknowns: NDArray[np.float64] | None = field(default=None, repr=False)
    values: Any = field(default=None, repr=False)
    product: Product | None = field(default=None, repr=False)
    shown: NDArray[np.int64] | None = field(default=None, repr=False)
    ends: Ends | None = field(default=None, repr=False)
    diagnostics: tuple[Diagnostic, ...] = ()
    _candidate: Callable[[], DraftBounds] | None = field(default=None, repr=False)

    @cached_property
    def _state_bounds(self) -> StateBounds:
        return StateBounds(*map(held, self._bounds()))

    @property
    def lower(self) -> NDArray[np.float64]:
        """Certified bounds from below on the value of every state, shape (S,)."""
        return self._state_bounds.lower

    @property
    def upper(self) -> NDArray[np.float64]:
        """Certified bounds from above on the value of every state, shape (S,)."""
        return self._state_bounds.upper

    @cached_property
    def policy(self) -> Policy:
        """A policy whose own value against nature lies in the bracket; step-dependent for bounded properties."""
        return self._policy()

    def at(self, state: int | str) -> Bracket:
        """Return the bracket of a state, given by number or name."""
        s = self.model.state_index(state)
        return Bracket(self.lower.item(s), self.upper.item(s))

    @property
    def asked(self) -> Spec:
        """The property as it was asked; `spec` is what it comes to on `model`, which may be a product."""
        return self.spec if self.product is None else self.product.asked

    @property
    def value(self) -> float:
        """A point inside the bracket of the initial state."""
        return self.bracket.value

    @property
    def satisfied(self) -> bool | None:
        """Whether the threshold holds; None without one, or when the bracket straddles it."""
        if self.spec.threshold is None:
            return None
        if self.spec.filter is not None:
            decided = self.spec.filter.operator != "count" and self.bracket.lower == self.bracket.upper
            return bool(self.bracket.lower) if decided else None
        return self.spec.threshold.holds(self.bracket.lower, self.bracket.upper)

    @cached_property
    def nature(self) -> MDP:
        """The MDP nature chose: the worst (or best) case itself."""
        return self._nature()

    def certificate(self) -> Certificate:
        """Return a file's worth of proof for the bracket, which `umdp verify` checks in exact arithmetic."""
        from umdp.solver.proof.prove import prove

        return prove(self)

    def __getstate__(self) -> dict[str, Any]:
        # What would be worked out when asked for is worked out now: how to do so cannot be carried along.
        try:
            nature: MDP | ModelError = self.nature
        except ModelError as refusal:
            nature = refusal
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        state |= {"_bounds": tuple(self._state_bounds), "_policy": self.policy, "_nature": nature}
        return state | dict.fromkeys(("unknowns", "values", "ends", "_candidate"))

    def __setstate__(self, state: dict[str, Any]) -> None:
        known = {name: _known(state[name]) for name in ("_bounds", "_policy", "_nature")}
        self.__dict__.update(state | known)

    def __repr__(self) -> str:
        return f"Solution of {self.asked}: {self.bracket} ({self.status.name.lower()})"

    def _repr_html_(self) -> str:
        from umdp.model.sketch import sketch

        facts = [("property", str(self.asked)), ("bracket", str(self.bracket)), ("status", self.status.value)]
        if self.satisfied is not None or self.spec.threshold is not None:
            facts.append(("holds", {True: "yes", False: "no", None: "undecided"}[self.satisfied]))
        facts.append(("model", repr(self.model)))
        return facts_html("Solution", facts, drawing=sketch(self.policy))


def mdp_of(model: MDP | IntervalMDP, prob: NDArray[np.float64]) -> MDP:
    """Return the MDP that nature made of a model."""
    if isinstance(model, MDP):
        return model
    rest = np.repeat(np.add.reduceat(prob, model.choice_ptr[:-1]), np.diff(model.choice_ptr))
    return MDP(model.state_ptr, model.choice_ptr, model.successor, prob / rest, **annotations_of(model))


def _known(found: T | ModelError) -> Callable[[], T]:
    """Return the function that returns what was found, or raises the error that was."""

    def give() -> T:
        if isinstance(found, ModelError):
            raise found
        return found

    return give


class UncertifiedSolution(NamedTuple):
    """An optimal policy, its value, and a function that returns the choices (C,) that are as good as those taken, if known.

    `unknowns` are as in `Solution`; `values` returns those of all states, shape (S,), without a proof, if known.
    """

    policy: Policy
    value: float
    tied: Callable[[], NDArray[np.bool_] | None] = lambda: None
    unknowns: NDArray[np.float64] | None = None
    values: Callable[[], NDArray[np.float64] | None] = lambda: None
