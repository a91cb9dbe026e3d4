"""Formulas with several temporal operators, bounds on rewards, automata in files: answered in the product with an automaton."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf
from typing import NoReturn

from umdp.spec.expression import (
    TRUE,
    Binary,
    Expression,
    Junction,
    Label,
    Literal,
    SourceLocation,
    StateSpace,
    Unary,
)
from umdp.spec.formula import PathFormula, Reachability
from umdp.spec.step_bounds import Window, number_of

__all__ = [
    "OPERATORS", "AutomatonFile", "Operator", "RewardBound", "RewardBounded", "Temporal", "TemporalFormula", "is_state_formula",
    "lasting",
]  # fmt: skip

_UNARY, _INFIX = -1, -2  # weaker than any operator of a state formula, as in PRISM
Operator = OneOf["F", "G", "X", "U", "W", "R"]


@dataclass(frozen=True)
class OperatorTraits:
    """What is known of a temporal operator, wherever it stands.

    Attributes
    ----------
    text : how it is read: its operands, and what is said of its step bound
    infix : whether it stands between two formulas
    bounded : whether it may have a step bound
    ends : whether a trajectory settles at some time that it holds; False if that it does not, None if both
    """

    text: str
    infix: bool
    bounded: bool
    ends: bool | None


OPERATORS: Mapping[Operator, OperatorTraits] = MappingProxyType(
    {
        "F": OperatorTraits("eventually{within} {0}", infix=False, bounded=True, ends=True),
        "G": OperatorTraits("always{within} {0}", infix=False, bounded=True, ends=False),
        "X": OperatorTraits("next {0}", infix=False, bounded=False, ends=None),
        "U": OperatorTraits("{0} until{within} {1}", infix=True, bounded=True, ends=True),
        "W": OperatorTraits("{0} unless {1}", infix=True, bounded=False, ends=False),
        "R": OperatorTraits("{1} until {0} releases it", infix=True, bounded=False, ends=False),
    }
)


@dataclass(frozen=True)
class RewardBound:
    """How much may, or must, have been earned where a goal counts.

    Attributes
    ----------
    reward : the name of the reward
    lower, upper : at least and at most so much; None where there is no end
    above, below : whether it must be more, or less

    Examples
    --------
    >>> print(RewardBound("time", None, Literal(5)), RewardBound("time", Literal(2), None, above=True))
    {"time"}<=5 {"time"}>2
    """

    reward: str
    lower: Expression | None
    upper: Expression | None
    above: bool = field(default=False, kw_only=True)
    below: bool = field(default=False, kw_only=True)

    def ends(self, model: StateSpace) -> tuple[Fraction | None, Fraction | None]:
        """Return both ends as the decimals they are written as, with the constants of the model."""
        low, high = (None if each is None else _amount(each, model) for each in (self.lower, self.upper))
        for number, end in ((low, self.lower), (high, self.upper)):
            if (
                end is not None
                and end is self.upper
                and number is not None
                and (number < 0 or (self.below and number == 0))
            ):
                raise end.error("no accumulated reward is less than 0", "write <=0 for no reward at all")
        if low is not None and high is not None and low > high and self.upper is not None:
            raise self.upper.error(f"no reward is both at least {low} and at most {high}", "turn them around")
        return low, high

    def describe(self) -> str:
        """Return the bound in words."""
        if self.lower is not None and self.upper is not None:
            amount = f"exactly {self.lower}" if self.lower == self.upper else f"{self.lower} to {self.upper}"
        elif self.upper is not None:
            amount = f"{'less than' if self.below else 'at most'} {self.upper}"
        else:
            amount = f"{'more than' if self.above else 'at least'} {self.lower}"
        return f'with {amount} of "{self.reward}" earned'

    def __str__(self) -> str:
        low, high = (None if each is None else each.at_level(11) for each in (self.lower, self.upper))
        if low is not None and high is not None:
            return f'{{"{self.reward}"}}' + (f"={high}" if self.lower == self.upper else f"[{low},{high}]")
        text = f"<{'' if self.below else '='}{high}" if low is None else f">{'' if self.above else '='}{low}"
        return f'{{"{self.reward}"}}{text}'


def _amount(given: Expression, model: StateSpace) -> Fraction:
    number = number_of(given, "reward bound", model)
    if isinstance(number, bool):
        raise given.error("the reward bound is a truth value", "a bound is a number, such as 5 or 2.5")
    return Fraction(repr(number))


@dataclass(frozen=True, repr=False)
class Temporal(Expression):
    """A temporal operator, one of ``F G X U W R``, applied to formulas that may have such operators themselves.

    Examples
    --------
    >>> print(Temporal("G", (Temporal("F", (Label("goal"),)),)))
    G F "goal"
    >>> print(Junction("&", (Temporal("F", (Label("a"),), Window(0, 5)), Unary("!", Label("b")))))
    (F<=5 "a") & !"b"
    """

    operator: Operator
    operands: tuple[Expression, ...]
    window: Window = field(default=Window())
    earned: RewardBound | None = None

    @property
    def level(self) -> int:
        """How strongly the operator binds: weaker than any of a state formula."""
        return _INFIX if len(self.operands) == 2 else _UNARY

    def __str__(self) -> str:
        shown = [each.at_level(0 if len(self.operands) == 2 else _UNARY) for each in self.operands]
        bound = self.window if self.earned is None else self.earned
        if str(bound) and shown[-1].startswith("-"):  # else it would be read as part of the bound
            shown[-1] = f"({shown[-1]})"
        return " ".join([*shown[:-1], f"{self.operator}{bound}", shown[-1]])


def is_state_formula(formula: Expression) -> bool:
    """Whether no temporal operator occurs."""
    return formula.first(Temporal) is None


def lasting(formula: Expression, *, negated: bool = False) -> Expression | None:
    """Return a part of a formula that asks for something for ever; None in a co-safe one, which is settled at some time.

    Examples
    --------
    >>> lasting(Temporal("F", (Label("goal"),))) is None, str(lasting(Unary("!", Temporal("F", (Label("goal"),)))))
    (True, 'F "goal"')
    """
    if is_state_formula(formula):
        return None
    if isinstance(formula, Unary):
        return lasting(formula.operand, negated=not negated)
    if isinstance(formula, Temporal) and formula.window.upper is None and OPERATORS[formula.operator].ends is negated:
        return formula
    turned = [negated] * len(formula.children)
    if isinstance(formula, Binary) and formula.operator == "=>":
        turned[0] = not negated
    found = [lasting(child, negated=turn) for child, turn in zip(formula.children, turned, strict=True)]
    if isinstance(formula, Binary) and formula.operator == "<=>":
        found += [lasting(child, negated=not negated) for child in formula.children]
    return next((each for each in found if each is not None), None)


@dataclass(frozen=True)
class TemporalFormula(PathFormula):
    """A formula of linear temporal logic: temporal operators, ``! & | => <=>`` of them, and state formulas.

    Examples
    --------
    >>> from umdp.spec import Spec
    >>> Spec.parse('Pmax=? [ (G !"trap") & (G F "goal") ]').formula
    TemporalFormula(formula=Expression.parse('(G !"trap") & (G F "goal")'))
    """

    formula: Expression

    def describe(self) -> str:
        """Return the event in words."""
        return _described(self.formula)

    def reachability(self) -> Reachability:
        """Raise `SpecError`: this is reachability in the product with an automaton only."""
        _refuse(next(self.formula.walk()))

    def marked(self, label: str, *, holds: bool) -> TemporalFormula:
        """Return a formula that holds where a label is reached, too, or does not hold there."""
        if holds:
            return TemporalFormula(Junction("|", (self.formula, Temporal("F", (Label(label),)))))
        return TemporalFormula(Junction("&", (self.formula, Temporal("G", (Unary("!", Label(label)),)))))

    def __str__(self) -> str:
        return str(self.formula)


@dataclass(frozen=True)
class AutomatonFile(PathFormula):
    """The words that a deterministic automaton in a file accepts; its propositions stand for state formulas.

    Parameters
    ----------
    path : str
        A file in the Hanoi omega-automata format.
    propositions : tuple of (str, Expression)
        What each of its propositions means; one that is not listed is the label of its name.

    Examples
    --------
    >>> from umdp.spec import Spec
    >>> print(Spec.parse('Pmax=? [ HOA: {"mission.hoa", "p0" <- "goal"} ]').formula)
    HOA: {"mission.hoa", "p0" <- "goal"}
    """

    path: str
    propositions: tuple[tuple[str, Expression], ...] = ()
    location: SourceLocation | None = field(default=None, compare=False, repr=False, kw_only=True)

    def describe(self) -> str:
        """Return the event in words."""
        return f"a trajectory that the automaton in {self.path} accepts"

    def reachability(self) -> Reachability:
        """Raise `SpecError`: this is reachability in the product with an automaton only."""
        _refuse(Literal(True, location=self.location))

    def marked(self, label: str, *, holds: bool) -> AutomatonFile:
        """Raise `SpecError`: an automaton in a file stays as it is."""
        _refuse(Literal(True, location=self.location))

    def __str__(self) -> str:
        bound = "".join(f', "{name}" <- {meaning}' for name, meaning in self.propositions)
        return f'HOA: {{"{self.path}"{bound}}}'


@dataclass(frozen=True)
class RewardBounded(PathFormula):
    """Stay in ``left`` until ``right`` is reached with so much of a reward earned on the way.

    What a state pays is earned on leaving it, so that the state where ``right`` holds pays nothing.

    Examples
    --------
    >>> from umdp.spec import Spec
    >>> print(Spec.parse('Pmax=? [ F{rew{"time"}<=5} "goal" ]').formula)
    F{"time"}<=5 "goal"
    """

    left: Expression
    right: Expression
    bound: RewardBound
    location: SourceLocation | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        """Leave the bound as it is: it is none on steps."""

    @property
    def aim(self) -> str:
        """What the solver is asked for, in the product with an automaton that counts."""
        return "reach"

    def steps(self, model: StateSpace) -> int | None:
        """Return that no number of steps bounds it."""
        return None

    def describe(self) -> str:
        """Return the event in words."""
        staying = "" if self.left == TRUE else f" while {self.left.at_level(5)} holds until then"
        return f"reaching {self.right.at_level(5)} {self.bound.describe()}{staying}"

    def reachability(self) -> Reachability:
        """Raise `SpecError`: this is reachability in the product with an automaton only."""
        _refuse(Literal(True, location=self.location))

    def marked(self, label: str, *, holds: bool) -> RewardBounded:
        """Return the formula that does not hold where a label is reached; that it does it cannot say, whatever was earned."""
        if holds:
            raise Literal(True, location=self.location).error(
                "what nobody has listed is not reached within a bound on a reward", "ask for the largest probability"
            )
        return replace(self, right=Junction("&", (self.right, Unary("!", Label(label)))))

    def __str__(self) -> str:
        return str(Temporal("F", (self.right,), earned=self.bound) if self.left == TRUE else self._until)

    @property
    def _until(self) -> Temporal:
        return Temporal("U", (self.left, self.right), earned=self.bound)


def _refuse(place: Expression) -> NoReturn:
    raise place.error("a formula that needs an automaton is not answered here", "umdp check and umdp.solve answer it")


def _described(formula: Expression) -> str:
    if isinstance(formula, Temporal):
        several = len(formula.operands) == 2
        inner = [f"({_described(e)})" if several and not is_state_formula(e) else _operand(e) for e in formula.operands]
        within = "" if formula.window.is_open else f" ({_window(formula.window)})"
        return OPERATORS[formula.operator].text.format(*inner, within=within)
    if is_state_formula(formula):
        return formula.at_level(5)
    if isinstance(formula, Unary):
        return f"not {_operand(formula.operand)}"
    if isinstance(formula, Junction):
        return {"&": " and ", "|": " or "}[formula.operator].join(map(_operand, formula.operands))
    if isinstance(formula, Binary) and formula.operator == "=>":
        return f"{_operand(formula.right)} if {_operand(formula.left)}"
    return " exactly if ".join(map(_operand, formula.children))


def _operand(formula: Expression) -> str:
    short = is_state_formula(formula) or (isinstance(formula, Temporal) and len(formula.operands) == 1)
    return _described(formula) if short else f"({_described(formula)})"


def _window(window: Window) -> str:
    if window.upper is None:
        return f"after at least {window.lower} steps"
    if window.lower == window.upper:
        return f"after {window.upper} steps"
    return f"within {window.upper} steps" if window.lower == 0 else f"after {window.lower} to {window.upper} steps"
