"""Path formulas: what a run of the model is asked to do, or over how much of it reward is summed.

Every formula says of itself how it is a matter of reachability (`Reachability`). Nothing outside this package asks for its
class, so that a new one touches the grammar, the parser and this module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, Union

from umdp.spec.expression import TRUE, Expression, Junction, Label, StateSpace, Unary
from umdp.spec.rewarded import Average, Discounted, Instantaneous, LongRun, Total
from umdp.spec.temporal_formula import (
    AutomatonFile,
    Reachability,
    StepBound,
    TemporalFormula,
    Window,
    normal_bound,
    resolved_bound,
)


@dataclass(frozen=True)
class Until:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", normal_bound(self.bound))

    def describe(self) -> str:
        """Return the event in words."""
        staying = "" if self.left == TRUE else f" while {self.left.at_level(5)} holds until then"
        return f"reaching {self.right.at_level(5)}{_within(self.bound)}{staying}"

    def reachability(self) -> Reachability:
        """Return ``right``, to be reached through ``left``."""
        return Reachability(self.right, self.left)

    def __str__(self) -> str:
        prefix = "F" if self.left == TRUE else f"{self.left} U"
        return f"{prefix}{_shown(self.bound)} {_operand(self.right, self.bound)}"


@dataclass(frozen=True)
class Globally:
    """Stay in ``operand``, for ever or for the first ``bound`` steps."""

    operand: Expression
    bound: StepBound = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", normal_bound(self.bound))

    def describe(self) -> str:
        """Return the event in words."""
        span = " always" if self.bound is None else f" through{_first(self.bound)}"
        return f"staying where {self.operand.at_level(5)} holds{span}"

    def reachability(self) -> Reachability:
        """Return what must not be reached: where ``operand`` does not hold."""
        return Reachability(Unary("!", self.operand), safety=True)

    def __str__(self) -> str:
        return f"G{_shown(self.bound)} {_operand(self.operand, self.bound)}"


@dataclass(frozen=True)
class Next:
    """Be in ``operand`` after one step, or after exactly ``bound`` of them.

    Examples
    --------
    >>> print(Next(Label("goal")), Next(Label("goal"), 3), sep=", ")
    X "goal", F=3 "goal"
    """

    operand: Expression
    bound: int | Expression = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", normal_bound(self.bound))

    def describe(self) -> str:
        """Return the event in words."""
        after = "one step" if self.bound == 1 else f"{self.bound} steps"
        return f"being where {self.operand.at_level(5)} holds after {after}"

    def reachability(self) -> Reachability:
        """Return ``operand``, at the last step."""
        return Reachability(self.operand, exact=True)

    def __str__(self) -> str:
        if self.bound == 1:
            return f"X {self.operand}"
        return f"F{_shown(self.bound).replace('<=', '=', 1)} {_operand(self.operand, self.bound)}"


@dataclass(frozen=True)
class Windowed:
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
        shown = f"{self.window.lower} to {self.window.upper} steps"
        if self.window.lower == self.window.upper:
            shown = f"{self.window.upper} steps"
        if self.always:
            return f"being where {self.right.at_level(5)} holds after each of {shown}"
        staying = "" if self.left == TRUE else f" while {self.left.at_level(5)} holds until then"
        return f"being where {self.right.at_level(5)} holds after {shown}{staying}"

    def reachability(self) -> Reachability:
        """Return what counts once the window has begun."""
        goal = Unary("!", self.right) if self.always else self.right
        return Reachability(goal, self.left, safety=self.always, wait=self.window)

    def __str__(self) -> str:
        prefix = "G" if self.always else "F" if self.left == TRUE else f"{self.left} U"
        return f"{prefix}{self.window} {_operand(self.right, self.bound)}"


@dataclass(frozen=True)
class Reach:
    """Sum the reward until ``operand`` is reached; infinite on runs that never reach it, as in PRISM."""

    operand: Expression

    def describe(self) -> str:
        """Return what is summed, in words."""
        return f"until reaching {self.operand.at_level(5)}"

    def reachability(self) -> Reachability:
        """Return ``operand``, where summing ends."""
        return Reachability(self.operand)

    def __str__(self) -> str:
        return f"F {self.operand}"


@dataclass(frozen=True)
class Cumulative:
    """Sum the reward of the first ``bound`` steps."""

    bound: int | Expression

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", normal_bound(self.bound))

    def describe(self) -> str:
        """Return what is summed, in words."""
        return f"over{_first(self.bound)}"

    def reachability(self) -> Reachability:
        """Return that nothing ends the sum but the step bound."""
        return Reachability()

    def __str__(self) -> str:
        return f"C{_shown(self.bound)}"


Rewarding: TypeAlias = Reach | Cumulative | Instantaneous | Total | Discounted | Average
"""What R asks for."""
PathFormula: TypeAlias = Union[Until, Globally, Next, Windowed, LongRun, Rewarding, "TemporalFormula", "AutomatonFile"]


def marked(formula: PathFormula, label: str, *, holds: bool) -> PathFormula:
    """Return a formula whose aim holds in the states of a label too, or does not hold there.

    Examples
    --------
    >>> print(marked(Globally(Expression.parse('x > 0')), "lost", holds=True))
    G x > 0 | "lost"
    """
    if isinstance(formula, Cumulative | Instantaneous | Total | Discounted | Average):
        return formula
    if not isinstance(formula, Until | Globally | Next | Windowed | Reach | LongRun):
        return formula.marked(label, holds=holds)
    if isinstance(formula, Windowed) and holds and formula.left != TRUE:  # who is there before it counts has not left
        formula = replace(formula, left=_marked(formula.left, label, holds))
    if isinstance(formula, Until | Windowed):
        return replace(formula, right=_marked(formula.right, label, holds))
    return replace(formula, operand=_marked(formula.operand, label, holds))


def _marked(aim: Expression, label: str, holds: bool) -> Expression:
    there = Label(label)
    return Junction("|", (aim, there)) if holds else Junction("&", (aim, Unary("!", there)))


def aim(formula: PathFormula) -> str:
    """Return which of the few things that the solver knows a formula comes to.

    Examples
    --------
    >>> aim(Reach(Label("goal"))), aim(Cumulative(9)), aim(Discounted(0.9))
    ('reach', 'bounded', 'discounted')
    """
    own: str | None = getattr(formula, "aim", None)
    if own is not None:
        return own
    return "bounded" if isinstance(formula, Next) or getattr(formula, "bound", None) is not None else "reach"


def steps(formula: PathFormula, model: StateSpace) -> int | None:
    """Return the step bound as a number, with the constants of the model; None where there is no bound."""
    bound: StepBound = getattr(formula, "bound", None)
    return resolved_bound(bound, model) if isinstance(bound, Expression) else bound


def _shown(bound: StepBound) -> str:
    if bound is None:
        return ""
    return f"<={bound}" if isinstance(bound, int) else f"<={bound.at_level(11)}"


def _operand(operand: Expression, bound: StepBound) -> str:
    # Behind a bound, a leading minus would be read as part of the bound.
    text = str(operand)
    return f"({text})" if bound is not None and text.startswith("-") else text


def _within(bound: StepBound) -> str:
    return "" if bound is None else f" within {bound} step{'' if bound == 1 else 's'}"


def _first(bound: StepBound) -> str:
    return f" the first {bound} step{'' if bound == 1 else 's'}"
