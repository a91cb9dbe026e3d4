"""Learning parameters: every probability is a known function of a few unknown numbers, and all that is seen narrows these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.learn.binomial import ULP, infeasible, tighten
from umdp.learn.confidence_sequence import ConfidenceSequence
from umdp.learn.learner import Alarm, Contradicted, Learner
from umdp.learn.restarting_sequence import RestartingSequence
from umdp.learn.tied import Tied
from umdp.parametric.contraction import Constraints, contract, linear_weights
from umdp.parametric.model import ParametricMDP
from umdp.parametric.ranges import ends_of
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

if TYPE_CHECKING:
    from umdp.automata.product import Product

__all__ = ["Parametric"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDER = 12  # times that intervals without a promise are widened, until some values fit all of them


class Parametric(Tied):
    """Learns the parameters of a program, from all that is seen of any of its probabilities.

    Choices with the same functions, in whatever order, form a class and share their counts. What a learner of classes says of
    an outcome is a constraint on the parameters; all of these together leave a box of them. An outcome is then as probable
    as its function can be over the box, and as its class has been seen. Where a program has numbers instead of functions, they
    are known: nothing is learned of them, and no share of the error rate is spent.

    With a learner that keeps a promise at all times the box only shrinks, and if the true values are in it, the true process
    is in the interval model. If nothing is left of it, or if a choice behaves unlike its class, the program is wrong or the
    promised event failed: the guarantee is withdrawn, with the class, and learning goes on with classes alone.

    Parameters
    ----------
    learner : Learner
        Of classes, not yet bound.
    program : ParametricMDP
    false_alarms : float
        The probability with which there may ever be an alarm that a choice is not like the others of its class although it is;
        and that with which there may be one that a number of the program is wrong although it is right.

    Attributes
    ----------
    box_lower, box_upper : (K,) the box of the parameters
    samples : (classes,) how often each class was sampled
    box_alarm : (2,) the outcome that left nothing of the box, and the steps until then; -1 without

    Examples
    --------
    >>> from fractions import Fraction
    >>> from umdp import ConfidenceSequence, Graph
    >>> from umdp.parametric.function import Function
    >>> from umdp.parametric.function import Polynomial
    >>> p, one = Polynomial.parameter(0, 1), Polynomial.constant(1, 1)
    >>> graph = Graph([0, 1, 2, 3], [0, 2, 4, 5], [1, 2, 0, 2, 2])
    >>> half = Function.of(p.scaled(Fraction(1, 2)))
    >>> row = [Function.of(p), Function.of(one - p), half, Function.of(one - half.numerator), Function.of(one)]
    >>> learner = Parametric(ConfidenceSequence(0.05), ParametricMDP.of(graph, ["p"], row)).bind(graph)
    >>> _ = learner.learn([600, 400, 250, 750, 0])
    >>> {name: (round(each["lower"], 3), round(each["upper"], 3)) for name, each in learner.parameters().items()}
    {'p': (0.54, 0.61)}
    """

    name: ClassVar[str] = "parametric"
    kept: ClassVar[tuple[str, ...]] = ("box_alarm", "box_lower", "box_upper", "samples")
    box_lower: Floats
    box_upper: Floats
    samples: Ints
    box_alarm: Ints

    def __init__(self, learner: Learner, program: ParametricMDP, false_alarms: float = 0.01) -> None:
        if not isinstance(program, ParametricMDP):
            raise ModelError(f"{program!r} is no program; give an umdp.ParametricMDP, as umdp.read_parametric does")
        super().__init__(learner, program.tying, false_alarms)
        self.program = program
        self.box_alarm = np.full(2, -1, np.int64)

    # -- what is claimed -------------------------------------------------------------------------------------

    @property
    def lasting(self) -> bool:
        """Whether what was excluded once stays excluded: the learner of classes keeps a promise about a process that stays."""
        return self.inner.claim.kind == "any-time" and not isinstance(self.inner, RestartingSequence)

    @property
    def wrong(self) -> bool:
        """Whether the data contradict the program: nothing is left of the box, or a choice is not like its class."""
        return bool(self.box_alarm[0] >= 0 or self.misfit_samples.any())

    @property
    def claim(self) -> Guarantee:
        """What the learner of classes claims, provided that the program is right; nothing once the data contradict it."""
        claim, origin = self.inner.claim, self.program.origin
        if self.misfit_samples.any():
            first, *others = super().claim.reasons
            return Guarantee("none", reasons=(say(Code.PROGRAM_DIFFERS, origin=origin, why=str(first)), *others))
        if not claim.holds:
            return claim
        if self.wrong:
            names = ", ".join(self.program.names)
            kind = self.tying.names[self.outcome_class[self.box_alarm[0]]]
            return Guarantee("none", reasons=(say(Code.PROGRAM_WRONG, origin=origin, names=names, kind=kind),))
        box = zip(self.program.names, self.program.lower, self.program.upper, strict=True)
        given = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, low, high in box)
        return replace(claim, reasons=(*claim.reasons, say(Code.PROGRAM, origin=origin, box=given)))

    def alarms(self) -> tuple[Alarm, ...]:
        """Return which class left nothing of the box, which choices are not like their class, and which classes changed."""
        found, steps = (int(each) for each in self.box_alarm)
        if found < 0:
            return super().alarms()
        kind = self.outcome_class[found]
        place = f"class {self.tying.names[kind]}"
        mine = Contradicted(place, int(self.samples[kind]), steps, steps == int(self.walked[0]), self.program.origin)
        return (mine, *super().alarms())

    @property
    def outcome_class(self) -> Ints:
        """The class of each outcome, shape (O,)."""
        return np.repeat(np.arange(self.tying.classes), np.diff(self.tying.outcome_ptr))

    def _by_function(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return what bounds of outcomes (O,) say of the functions."""
        of, size = self.program.outcome_function, len(self.program.functions)
        least, most = np.zeros(size), np.ones(size)
        np.maximum.at(least, of, lower)
        np.minimum.at(most, of, upper)
        return least, most

    def parameters(self) -> dict[str, dict[str, Any]]:
        """Return the ends of every parameter, and how many samples of choices that depend on it were seen."""
        uses = np.zeros((self.tying.classes, len(self.program.names)), np.bool_)
        for kind, function in zip(self.outcome_class, self.program.outcome_function, strict=True):
            uses[kind, list(self.program.functions[function].uses)] = True
        return {
            name: {
                "lower": float(self.box_lower[i]), "upper": float(self.box_upper[i]),
                "samples": int(self.samples[uses[:, i]].sum()),
            }
            for i, name in enumerate(self.program.names)
        }  # fmt: skip

    # -- learning --------------------------------------------------------------------------------------------

    def classes_that_matter(self) -> NDArray[np.bool_]:
        """Return whether a class has a choice whose probabilities matter, and are not known."""
        found = super().classes_that_matter()
        found[: self.tying.classes] &= ~self.program.constant
        return found

    def begin(self) -> None:
        """Know of the parameters what the program says."""
        self.box_lower, self.box_upper = self.program.lower.copy(), self.program.upper.copy()
        self.samples = np.zeros(self.tying.classes, np.int64)
        self.box_alarm = np.full(2, -1, np.int64)
        super().begin()

    def update(self, counts: NDArray[np.int64]) -> None:
        """Pool counts by class, learn from them, and let all classes narrow the parameters."""
        self.samples = self.samples + np.add.reduceat(self.tying.pool(counts), self.tying.outcome_ptr[:-1])
        super().update(counts)
        if self.lasting and not self.wrong:
            self._check_numbers()

    def _check_numbers(self) -> None:
        """Raise the alarm where the counts of a class exclude the numbers that the program gives it."""
        at = np.flatnonzero(self.inner.uncertain[: self.tying.outcomes] & self.program.constant[self.outcome_class])
        if not at.size:
            return
        hits = self.tying.pool(self.member_counts)[at].astype(np.float64)
        misses = self.samples[self.outcome_class[at]] - hits
        low, high = (each[self.program.outcome_function[at]] for each in self.program.numbers)
        test, level = ConfidenceSequence(self.false_alarms), self.false_alarms / at.size * (1 - ULP)
        excluded = (test.ends(hits, misses, level) > high) | (1 - test.ends(misses, hits, level) < low)
        if excluded.any():
            self._contradict(int(at[np.argmax(excluded)]))
            self._spread()

    def refine(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return the bounds of outcomes: those of their class, and the range of their function over what is left of the box."""
        known, sizes = self.program.constant[self.outcome_class], np.diff(self.tying.outcome_ptr)
        low, high = self.program.numbers
        of = self.program.outcome_function
        lower, upper = np.where(known, low[of], lower), np.where(known, high[of], upper)
        if not self.lasting:
            self.box_alarm = np.full(2, -1, np.int64)  # the next intervals may fit again
        if self.wrong:
            return lower, upper
        found = self._narrow(lower, upper)
        if found is None:
            return lower, upper
        low, high = self.program.ranges(*found)
        ends = np.maximum(lower, low[of]), np.minimum(upper, high[of])
        wrong = infeasible(*ends, sizes)
        if wrong.any():
            self._contradict(int(self.tying.outcome_ptr[np.argmax(wrong)]))
            return lower, upper
        self.box_lower, self.box_upper = found
        cut = tighten(*ends, sizes)
        return np.where(known, ends[0], cut[0]), np.where(known, ends[1], cut[1])

    def _narrow(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats] | None:
        """Return what the bounds of outcomes leave of the box; None where that is nothing."""
        program = self.program
        least, most = self._by_function(lower, upper)
        start = (self.box_lower, self.box_upper) if self.lasting else (program.lower, program.upper)
        low, high = program.ranges(*start)
        asked = np.flatnonzero(~program.known & ((least > low) | (most < high)))
        crossed = asked[least[asked] > most[asked]]
        if crossed.size:
            self._contradict(self._outcome(int(crossed[0])))
        middle, half = (least + most) / 2, np.maximum((most - least) / 2, 0.0)
        for attempt in range(1 if crossed.size == 0 and self.inner.claim.holds else WIDER):
            ends = (
                (least, most)
                if attempt == 0
                else (middle - 4.0**attempt * half - 1e-9, middle + 4.0**attempt * half + 1e-9)
            )
            found = contract(start, Constraints(program.tables, asked, ends[0][asked], ends[1][asked]))
            if found.box is not None:
                if attempt == 0:
                    return found.box
                self.box_lower, self.box_upper = found.box  # to be shown, and no more
                return None
            if attempt == 0 and found.culprit is not None:
                self._contradict(self._outcome(int(asked[found.culprit])))
        return None

    def _outcome(self, function: int) -> int:
        return int(np.flatnonzero(self.program.outcome_function == function)[0])

    def _contradict(self, outcome: int) -> None:
        """Remember that nothing fits; without a promise that says nothing of the program."""
        if self.inner.claim.holds and not self.wrong:
            self.box_alarm = np.array([outcome, int(self.walked[0])], np.int64)

    # -- what is kept ----------------------------------------------------------------------------------------

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Self:
        """Go back to a state; the learner must be bound to the same graph and program."""
        for name in self.kept:
            if name in state and state[name].shape != self.__dict__[name].shape:
                raise ModelError(f"{name} has shape {state[name].shape}: the parameters have changed")
        return super().restore(state)

    def structure(self) -> list[Any]:
        """Return parameters and functions, and where they are found."""
        program = self.program
        texts = [each.text(program.names) for each in program.functions]
        return [list(program.names), texts, program.function_of, program.lower, program.upper]

    def along(self, product: Product) -> Learner:
        """Return a learner of the same parameters in a product."""
        return Parametric(self.inner, self.program.along(product.model.graph, product.along), self.false_alarms)

    def ledger(self) -> dict[str, Any] | None:
        """Return how the error rate is spent on classes, and what the parameters are."""
        found = super().ledger() if self.claim.holds else None
        if found is None:
            return None
        program, outcomes = self.program, self.tying.outcomes
        return {
            **found, "graph": "parametric", "parameters": list(program.names),
            "own_lower": self.inner.lower[:outcomes], "own_upper": self.inner.upper[:outcomes],
            "prior_lower": program.lower, "prior_upper": program.upper, "box_lower": self.box_lower, "box_upper": self.box_upper,
            "functions": [each.as_terms() for each in program.functions], "outcome_function": program.outcome_function,
            "weights": self._weights(),
        }  # fmt: skip

    def _weights(self) -> list[list[Any]]:
        """Return numbers with which sums of affine functions prove the box, where these have several parameters."""
        program, outcomes = self.program, self.tying.outcomes
        affine = [f for f, each in enumerate(program.functions) if each.is_affine and not each.is_constant]
        if not any(len(program.functions[f].uses) > 1 for f in affine):
            return []
        least, most = self._by_function(self.inner.lower[:outcomes], self.inner.upper[:outcomes])
        rows = [program.functions[f].affine_row(float(least[f]), float(most[f])) for f in affine]
        found: list[list[Any]] = []
        for axis, sign, given in linear_weights(ends_of(self.box_lower, self.box_upper), rows):
            numbers = np.zeros(len(program.functions))
            numbers[affine] = given
            found.append([axis, sign, numbers.tolist()])
        return found

    def __repr__(self) -> str:
        return f"Parametric({self.inner!r}; {', '.join(self.program.names)} of {self.program.origin})"
