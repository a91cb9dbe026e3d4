"""Specifications: what is asked of a model, which way each of the two players pulls, and filters over many states."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from umdp.errors import SpecError
from umdp.spec.expression import TRUE, Expression, SourceLocation, StateSpace
from umdp.spec.formula import LongRun, PathFormula
from umdp.spec.names import listed, suggestion
from umdp.spec.rewarded import Instantaneous, Reach, Rewarding
from umdp.spec.step_bounds import number_of
from umdp.spec.temporal_formula import AutomatonFile, RewardBounded, TemporalFormula

_RELATIONS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}
UNNAMED = ("", "default")


FILTERS = {
    "min": "the smallest value",
    "max": "the largest value",
    "avg": "the average",
    "sum": "the sum",
    "range": "the range of values",
    "first": "the value of the first state",
    "state": "the value of the only state",
    "argmin": "the states of smallest value",
    "argmax": "the states of largest value",
    "print": "the value of every state",
    "printall": "the value of every state",
    "count": "the number of states",
    "forall": "whether all states satisfy it",
    "exists": "whether some state satisfies it",
}
TRUTHS = ("count", "forall", "exists")


@dataclass(frozen=True)
class Filter:
    """What is wanted of the values in some states, instead of the value of the initial one.

    Attributes
    ----------
    operator : one of min, max, avg, sum, range, first, state, argmin, argmax, print, printall, count, forall, exists
    states : the states that count

    Examples
    --------
    >>> from umdp.spec import Spec
    >>> print(Spec.parse('filter(max, Pmin=? [ F "goal" ], x > 2)'))
    filter(max, Pmin=? [ F "goal" ], x > 2)
    """

    operator: str
    states: Expression = TRUE

    def describe(self) -> str:
        """Return what is wanted, in words."""
        return f"{FILTERS[self.operator]} over {'all states' if self.states == TRUE else f'states with {self.states}'}"


class Direction(enum.Enum):
    """Which way a player pulls the value."""

    MAX = "max"
    MIN = "min"

    @property
    def flipped(self) -> Direction:
        """The other direction."""
        return Direction.MIN if self is Direction.MAX else Direction.MAX


@dataclass(frozen=True)
class Threshold:
    """A number that a value is compared with.

    Parameters
    ----------
    operator : {"<", "<=", ">", ">="}
        How the value is compared.
    value : float
        The number on the right; not a number while it is not known.
    said : Expression or None
        What it was written as, where that has constants of the model in it: `Spec.counted` makes it a number.

    Examples
    --------
    >>> Threshold(">=", 0.3).holds(0.31, 0.32), Threshold(">=", 0.3).holds(0.1, 0.2)
    (True, False)
    >>> Threshold(">=", 0.3).holds(0.29, 0.31) is None
    True
    """

    operator: Literal["<", "<=", ">", ">="]
    value: float
    said: Expression | None = field(default=None, repr=False, kw_only=True)
    location: SourceLocation | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        # A zero has no sign, or equal thresholds would read differently; and what is no number is one and the same.
        object.__setattr__(self, "value", math.nan if math.isnan(self.value) else self.value + 0.0)

    def holds(self, lower: float, upper: float) -> bool | None:
        """Return whether every value in [lower, upper] passes, none does (False), or only some do (None)."""
        value = self.value
        match self.operator:
            case ">=":
                every, none = lower >= value, upper < value
            case ">":
                every, none = lower > value, upper <= value
            case "<=":
                every, none = upper <= value, lower > value
            case "<":
                every, none = upper < value, lower >= value
        return True if every else False if none else None

    def describe(self) -> str:
        """Return the comparison in words."""
        return f"{_RELATIONS[self.operator]} {f'{self.value:.12g}' if self.said is None else self.said}"

    def __str__(self) -> str:
        if self.said is not None:
            return f"{self.operator}{self.said.at_level(11)}"
        whole = abs(self.value) < 1e15 and self.value == int(self.value)
        return f"{self.operator}{int(self.value) if whole else self.value!r}"


@dataclass(frozen=True)
class Spec:
    """A property of PRISM's language, with both players named: ``Pmaxmin``, agent first, nature second.

    Parameters
    ----------
    kind : {"P", "R", "S", "T"}
        A probability, an expected reward, the share of time in the long run, or an expected number of steps.
    agent : Direction or None
        What the policy pulls towards; None in a bare ``P>=0.3``, which speaks of all policies and all natures,
        and in a bare ``P=?``, which needs a model without choices.
    nature : Direction or None
        What the choice of probabilities within the intervals pulls towards; None where it is not said.
    formula : PathFormula
        ``Until``, ``Globally``, ``Next`` or ``Windowed`` for P; ``Reach``, ``Cumulative``, ``Instantaneous``, ``Total``,
        ``Discounted`` or ``Average`` for R; ``LongRun`` for S; ``TemporalFormula``, ``AutomatonFile`` or ``RewardBounded``,
        with an automaton.
    threshold : Threshold or None
        What the value is compared with; None where the value itself is asked for (``=?``).
    reward : str or None
        Name of the reward, where one is given.
    filter : Filter or None
        What is wanted of the values of some states; None for the value of the initial one.

    Examples
    --------
    >>> spec = Spec.parse('Pmax=? [ !"trap" U "goal" ]')
    >>> print(spec.robust())
    Pmaxmin=? [ !"trap" U "goal" ]
    >>> spec.robust().describe()
    'the largest probability, over policies, of reaching "goal" while !"trap" holds until then, \
nature choosing the least favourable probabilities'
    >>> Spec.parse('R{"time"}minmax<=9 [ F done ]').threshold
    Threshold(operator='<=', value=9.0)
    """

    kind: Literal["P", "R", "S", "T"]
    agent: Direction | None
    nature: Direction | None
    formula: PathFormula
    threshold: Threshold | None = None
    reward: str | None = None
    filter: Filter | None = None
    location: SourceLocation | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        fits = "R" if isinstance(self.formula, Rewarding) else "S" if isinstance(self.formula, LongRun) else "P"
        until = isinstance(self.formula, TemporalFormula) or (self.kind == "T" and isinstance(self.formula, Reach))
        if fits != self.kind and not (self.sums and until):
            raise self.error(
                f"{self.kind} of {type(self.formula).__name__}",
                "P takes F, G, X or U; S takes a state formula; T takes F phi; R takes F phi without a step bound, C<=k, C, I=k, "
                "S, or Cdiscount=0.95",
            )
        if self.agent is None and self.nature is not None:
            raise self.error("nature has a direction and the agent has none", "give both, as in Pmaxmin")
        if self.reward is not None and self.kind != "R":
            raise self.error("a probability has no reward name", f'write R{{"{self.reward}"}} for an expected reward')
        if self.threshold is not None and self.threshold.said is None:
            value = self.threshold.value
            if not math.isfinite(value) or (not self.sums and not 0 <= value <= 1):
                domain = "a finite number" if self.sums else "between 0 and 1"
                location = self.threshold.location or self.location or SourceLocation(str(self), 0)
                raise location.error(
                    f"the threshold {value:.12g} is not {domain}", "compare with a value that can occur"
                )

    @staticmethod
    def parse(text: str) -> Spec:
        """Read one property; a leading ``"name":`` and ``// comments`` are allowed and not kept."""
        from umdp.spec.parse import parse_property

        return parse_property(text)

    def robust(self) -> Spec:
        """Return the pessimistic reading: nature pulls against the agent."""
        return replace(self, nature=self._agent("robust").flipped)

    def optimistic(self) -> Spec:
        """Return the optimistic reading: nature pulls with the agent."""
        return replace(self, nature=self._agent("optimistic"))

    def pessimistic(self, label: str) -> Spec:
        """Return the property in which a state that is never left, known by its label, is the worst that can happen.

        The state stands for what nobody has listed. What is to be reached is not reached there, what is to be avoided happens;
        a sum that should be large ends there, one that should be small never does (`C<=k` cannot say that and stays as it is).

        Examples
        --------
        >>> print(Spec.parse('Pmax=? [ F "goal" ]').pessimistic("lost"))
        Pmax=? [ F "goal" & !"lost" ]
        >>> print(Spec.parse('Rmax=? [ F "goal" ]').pessimistic("lost"))
        Rmax=? [ F "goal" | "lost" ]
        """
        agent = self.deciding().agent
        if self.sums:
            return replace(self, formula=self.formula.marked(label, holds=agent is not Direction.MIN))
        return replace(self, formula=self.formula.marked(label, holds=agent is Direction.MIN))

    def hopeful(self, label: str) -> Spec:
        """Return the property in which a state that is never left, known by its label, is good, so that it is worth a visit.

        Sums end there, whichever way they are wanted.

        Examples
        --------
        >>> print(Spec.parse('Pmax=? [ !"trap" U "goal" ]').hopeful("lost"))
        Pmax=? [ !"trap" U "goal" | "lost" ]
        """
        holds = self.sums or self.rises
        return replace(self, formula=self.formula.marked(label, holds=holds))

    @property
    def sums(self) -> bool:
        """Whether rewards or steps are asked for, not a probability."""
        return self.kind in ("R", "T")

    @property
    def rises(self) -> bool:
        """Whether larger values are better for the agent."""
        return self.deciding().agent is not Direction.MIN

    def deciding(self) -> Spec:
        """Return the specification whose value decides a bare threshold; any other is returned unchanged.

        All policies and all natures reach at least 0.3 exactly when the worst of both does.

        Examples
        --------
        >>> print(Spec.parse('P>=0.3 [ F "goal" ]').deciding())
        Pminmin>=0.3 [ F "goal" ]
        """
        if self.agent is not None or self.threshold is None:
            return self
        worst = Direction.MIN if self.threshold.operator in (">", ">=") else Direction.MAX
        return replace(self, agent=worst, nature=worst)

    def steps(self, model: StateSpace) -> int | None:
        """Return the step bound, with the constants of the model; None where there is none (1 for ``X``)."""
        return self.formula.steps(model)

    @property
    def aim(self) -> str:
        """Which of the few things that the solver knows is asked for: reach, bounded, total, discounted or average."""
        return self.formula.aim

    def counted(self, model: StateSpace) -> Spec:
        """Return the property with a number for a threshold that was written with constants of the model.

        Examples
        --------
        >>> from umdp import Graph
        >>> coin = Graph([0, 1], [0, 1], [0], constants={"least": 0.25})
        >>> print(Spec.parse("Pmax>=2*least [ F goal ]").counted(coin))
        Pmax>=0.5 [ F goal ]
        """
        threshold = self.threshold
        if threshold is None or threshold.said is None:
            return self
        number = number_of(threshold.said, "threshold", model)
        if isinstance(number, bool):
            raise threshold.said.error("the threshold is a truth value", "a threshold is a number, such as 0.3")
        return replace(self, threshold=Threshold(threshold.operator, float(number), location=threshold.location))

    def resolve_reward(self, names: Sequence[str]) -> str:
        """Return which of a model's rewards is meant: the one named, otherwise the unnamed one, or the first, as in PRISM.

        Examples
        --------
        >>> Spec.parse('Rmin=? [ F "goal" ]').resolve_reward(["time"])
        'time'
        """
        if not names:
            raise self.error("the model has no rewards", "ask for a probability P, or give the model a reward")
        if self.reward is not None:
            if self.reward in names:
                return self.reward
            place = self.location and self.location.moved(
                max(0, self.location.text.find(f'"{self.reward}"', self.location.position))
            )
            remedy = f"the model has: {listed(names, quoted=True)}" + suggestion(self.reward, names, quoted=True)
            raise replace(self, location=place).error(f'unknown reward "{self.reward}"', remedy)
        return next((name for name in UNNAMED if name in names), names[0])

    def describe(self) -> str:
        """Return the question in one English line that names both players."""
        if self.filter is not None:
            return f"{self.filter.describe()}: {replace(self, filter=None).describe()}"
        quantity, event = self._quantity()
        if self.agent is None:
            if self.threshold is None:
                return f"the {quantity} {event}"
            everyone = "for every policy and every choice of probabilities by nature"
            return f"whether, {everyone}, the {quantity} {event} is {self.threshold.describe()}"
        size = "largest" if self.agent is Direction.MAX else "smallest"
        text = f"the {size} {quantity}, over policies, {event}"
        if self.nature is not None:
            favour = "most" if self.nature is self.agent else "least"
            text += f", nature choosing the {favour} favourable probabilities"
        return text if self.threshold is None else f"whether {text}, is {self.threshold.describe()}"

    def describe_value(self) -> str:
        """Return what the value of one policy is, in words.

        Examples
        --------
        >>> Spec.parse('Pmin=? [ F<=20 "failed" ]').describe_value()
        'the probability of reaching "failed" within 20 steps'
        """
        return "the " + " ".join(self._quantity())

    def _quantity(self) -> tuple[str, str]:
        """Return the kind of number that is asked for, and of what."""
        if self.kind == "T":
            settled = "" if isinstance(self.formula, Reach) else "until it is settled that "
            return "expected number of steps", f"{settled}{self.formula.describe()}"
        if self.kind != "R":
            return "probability", f"of {self.formula.describe()}"
        earned = "earned" if self.aim == "average" or isinstance(self.formula, Instantaneous) else "accumulated"
        until = "until it is settled that " if isinstance(self.formula, TemporalFormula) else ""
        quantity = "expected reward" if not self.reward else f'expected reward "{self.reward}"'
        return quantity, f"{earned} {until}{self.formula.describe()}"

    def error(self, problem: str, remedy: str = "") -> SpecError:
        """Return the error that points at this property where it was written."""
        return (self.location or SourceLocation(str(self), 0)).error(problem, remedy)

    def _agent(self, reading: str) -> Direction:
        if self.agent is None:
            why = (
                f"a bare {self.kind}{self.threshold} already speaks of all policies and all natures"
                if self.threshold
                else "nobody is said to choose"
            )
            raise self.error(
                f"no agent to give a {reading} reading to", f"{why}; write {self.kind}max or {self.kind}min"
            )
        return self.agent

    def __str__(self) -> str:
        reward = "" if self.reward is None else f'{{"{self.reward}"}}'
        players = "".join(player.value for player in (self.agent, self.nature) if player)
        query = "=?" if self.threshold is None else str(self.threshold)
        text = f"{self.kind}{reward}{players}{query} [ {self.formula} ]"
        if self.filter is None:
            return text
        states = "" if self.filter.states == TRUE else f", {self.filter.states}"
        return f"filter({self.filter.operator}, {text}{states})"


def needs_automaton(spec: Spec) -> bool:
    """Whether a property is answered in the product with an automaton."""
    return isinstance(spec.formula, TemporalFormula | AutomatonFile | RewardBounded)
