"""Path formulas: what a run of the model is asked to do.

Every formula says of itself how it is a matter of reachability (`Reachability`). Nothing outside this package asks for its
class, so that a new one touches the grammar, the parser and this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from umdp.spec.expression import FALSE, TRUE, Expression, Junction, Label, StateSpace, Unary
from umdp.spec.step_bounds import StepBound, Window, normal_bound, resolved_bound, shown


@dataclass(frozen=True)
class Reachability:
    """Reachability: what a path formula comes to, whatever its operators are.

    Attributes
    ----------
    goal : the states to reach; rewards are summed until then
    through : the states that may be passed on the way
    safety : whether staying away from `goal` is what is asked for
    exact : whether `goal` counts at the last step only, and not when it is reached before
    wait : the steps at which `goal` counts, where that is not from the beginning; until then whoever leaves `through` has failed

    Examples
    --------
    >>> from umdp.spec import Globally, Expression
    >>> Globally(Expression.parse('"safe"')).reachability().goal
    Expression.parse('!"safe"')
    """

    goal: Expression = FALSE
    through: Expression = TRUE
    safety: bool = False
    exact: bool = False
    wait: Window | None = None


@dataclass(frozen=True)
class PathFormula(ABC):
    """What a run of the model is asked to do, or over how much of it reward is summed."""

    _aim: ClassVar[str] = "reach"
    _target: ClassVar[str] = ""  # the part that says what is to be reached, or to be stayed in

    def __post_init__(self) -> None:
        if "bound" in vars(self):
            object.__setattr__(self, "bound", normal_bound(vars(self)["bound"]))

    @property
    def aim(self) -> str:
        """Which of the few things that the solver knows is asked for: reach, bounded, total, discounted or average.

        Examples
        --------
        >>> from umdp.spec import Cumulative, Discounted, Reach
        >>> Reach(Label("goal")).aim, Cumulative(9).aim, Discounted(0.9).aim
        ('reach', 'bounded', 'discounted')
        """
        return self._aim if getattr(self, "bound", None) is None else "bounded"

    def steps(self, model: StateSpace) -> int | None:
        """Return the step bound as a number, with the constants of the model; None where there is no bound."""
        return resolved_bound(getattr(self, "bound", None), model)

    @abstractmethod
    def describe(self) -> str:
        """Return the event, or what is summed, in words."""

    def reachability(self) -> Reachability:
        """Return what is to be reached; nothing ends a sum, or counts before the last step, where the formula names no states."""
        return Reachability()

    def marked(self, label: str, *, holds: bool) -> PathFormula:
        """Return the formula whose aim holds in the states of a label too, or does not hold there.

        Examples
        --------
        >>> print(Globally(Expression.parse('x > 0')).marked("lost", holds=True))
        G x > 0 | "lost"
        """
        return self._marked(self._target, label, holds) if self._target else self

    def _marked(self, part: str, label: str, holds: bool) -> PathFormula:
        there = Label(label)
        aim = getattr(self, part)
        return replace(
            self, **{part: Junction("|", (aim, there)) if holds else Junction("&", (aim, Unary("!", there)))}
        )


@dataclass(frozen=True)
class Until(PathFormula):
    """Stay in ``left`` until ``right`` is reached; ``F phi`` is ``Until(TRUE, phi)``.

    Examples
    --------
    >>> print(Until(TRUE, Label("goal"), 10))
    F<=10 "goal"
    >>> print(Until(Expression.parse('!"trap"'), Label("goal")))
    !"trap" U "goal"
    """

    left: Expression
    right: Expression
    bound: StepBound = None
    _target: ClassVar[str] = "right"

    def describe(self) -> str:
        """Return the event in words."""
        within = "" if self.bound is None else f" within {counted(self.bound)}"
        return f"reaching {self.right.at_level(5)}{within}{_staying(self.left)}"

    def reachability(self) -> Reachability:
        """Return ``right``, to be reached through ``left``."""
        return Reachability(self.right, self.left)

    def __str__(self) -> str:
        return f"{_until(self.left)}{bounded('<=', self.bound)} {_operand(self.right, self.bound)}"


@dataclass(frozen=True)
class Globally(PathFormula):
    """Stay in ``operand``, for ever or for the first ``bound`` steps."""

    operand: Expression
    bound: StepBound = None
    _target: ClassVar[str] = "operand"

    def describe(self) -> str:
        """Return the event in words."""
        span = "always" if self.bound is None else f"through the first {counted(self.bound)}"
        return f"staying where {self.operand.at_level(5)} holds {span}"

    def reachability(self) -> Reachability:
        """Return what must not be reached: where ``operand`` does not hold."""
        return Reachability(Unary("!", self.operand), safety=True)

    def __str__(self) -> str:
        return f"G{bounded('<=', self.bound)} {_operand(self.operand, self.bound)}"


@dataclass(frozen=True)
class Next(PathFormula):
    """Be in ``operand`` after one step, or after exactly ``bound`` of them.

    Examples
    --------
    >>> print(Next(Label("goal")), Next(Label("goal"), 3), sep=", ")
    X "goal", F=3 "goal"
    """

    operand: Expression
    bound: int | Expression = 1
    _target: ClassVar[str] = "operand"

    def describe(self) -> str:
        """Return the event in words."""
        after = "one step" if self.bound == 1 else f"{self.bound} steps"
        return f"being where {self.operand.at_level(5)} holds after {after}"

    def reachability(self) -> Reachability:
        """Return ``operand``, at the last step."""
        return Reachability(self.operand, exact=True)

    def __str__(self) -> str:
        return f"X {self.operand}" if self.bound == 1 else f"F={shown(self.bound)} {_operand(self.operand, self.bound)}"


@dataclass(frozen=True)
class Windowed(PathFormula):
    """Reach ``right`` at a step of a window, staying in ``left`` until then; with ``always``, be in ``right`` at each of them.

    The window has an end. A property whose window starts with the first step is an `Until` or a `Globally`.

    Examples
    --------
    >>> print(Windowed(TRUE, Label("goal"), Window(2, 9)), Windowed(TRUE, Label("safe"), Window(2, 9), always=True), sep=", ")
    F[2,9] "goal", G[2,9] "safe"
    """

    left: Expression
    right: Expression
    window: Window
    always: bool = False

    @property
    def bound(self) -> StepBound:
        """The last step of the window."""
        return self.window.upper

    def describe(self) -> str:
        """Return the event in words."""
        lower, upper = self.window.lower, self.window.upper
        span = f"{upper} steps" if lower == upper else f"{lower} to {upper} steps"
        each = "each of " if self.always else ""
        staying = "" if self.always else _staying(self.left)
        return f"being where {self.right.at_level(5)} holds after {each}{span}{staying}"

    def reachability(self) -> Reachability:
        """Return what counts once the window has begun."""
        goal = Unary("!", self.right) if self.always else self.right
        return Reachability(goal, self.left, safety=self.always, wait=self.window)

    def marked(self, label: str, *, holds: bool) -> PathFormula:
        """Return the formula whose aim holds in the states of a label too, or does not hold there."""
        passed = holds and self.left != TRUE  # who is there before it counts has not left
        formula = self._marked("left", label, holds) if passed else self
        return formula._marked("right", label, holds)

    def __str__(self) -> str:
        prefix = "G" if self.always else _until(self.left)
        return f"{prefix}{self.window} {_operand(self.right, self.bound)}"


@dataclass(frozen=True)
class LongRun(PathFormula):
    """The share of time spent in ``operand`` in the long run.

    Examples
    --------
    >>> print(LongRun(Label("up")))
    "up"
    """

    operand: Expression
    _aim: ClassVar[str] = "average"
    _target: ClassVar[str] = "operand"

    def describe(self) -> str:
        """Return the event in words."""
        return f"being where {self.operand.at_level(5)} holds, in the long run"

    def reachability(self) -> Reachability:
        """Return the states that count, which are not an end of anything."""
        return Reachability(self.operand)

    def __str__(self) -> str:
        return str(self.operand)


def bounded(relation: str, bound: StepBound) -> str:
    """Return a step bound behind its relation; nothing where there is none."""
    return "" if bound is None else f"{relation}{shown(bound)}"


def counted(bound: int | Expression) -> str:
    """Return a number of steps in words."""
    return f"{bound} step{'' if bound == 1 else 's'}"


def _until(left: Expression) -> str:
    return "F" if left == TRUE else f"{left} U"


def _staying(left: Expression) -> str:
    return "" if left == TRUE else f" while {left.at_level(5)} holds until then"


def _operand(operand: Expression, bound: StepBound) -> str:
    # Behind a bound, a leading minus would be read as part of the bound.
    text = str(operand)
    return f"({text})" if bound is not None and text.startswith("-") else text
