"""Formulas with several temporal operators, automata in files, and what all formulas rest on: step bounds, reachability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from umdp.errors import SpecError
from umdp.spec.expression import (
    TRUE,
    Binary,
    Expression,
    Junction,
    Label,
    Literal,
    Name,
    Scalar,
    SourceLocation,
    StateSpace,
    Unary,
)

__all__ = [
    "FALSE",
    "AutomatonFile",
    "Reachability",
    "StepBound",
    "Temporal",
    "TemporalFormula",
    "Window",
    "is_state_formula",
    "lasting",
    "normal_bound",
    "resolved_bound",
]

StepBound: TypeAlias = int | Expression | None
"""A number of steps; an expression over the constants of the model; None where there is no bound."""


def resolved_bound(bound: StepBound, model: StateSpace) -> int | None:
    """Return a step bound as a number, with the constants of the model; None where there is none."""
    if isinstance(bound, Expression):
        _constant_only(bound, model)
        return _number(bound, model.constants, model.formulas)
    return bound


def _constant_only(bound: Expression, model: StateSpace) -> None:
    for node in bound.walk():
        if isinstance(node, Name) and node.name in model.variables:
            raise node.error(f"the step bound depends on the variable {node.name}", "use numbers and constants only")


def normal_bound(bound: StepBound) -> StepBound:
    """Return the bound as a number where it is one already, so that equal bounds compare equal."""
    if isinstance(bound, Expression):
        label = next((node for node in bound.walk() if isinstance(node, Label)), None)
        if label is not None:
            raise label.error("a label in a step bound", "a step bound is an integer: numbers and constants only")
        if not any(isinstance(node, Name) for node in bound.walk()):
            return _number(bound, {}, {})
    elif bound is not None and bound < 0:
        raise SpecError(f"the step bound {bound} is negative; it must be 0 or more")
    return bound


def _number(bound: Expression, constants: Mapping[str, Scalar], formulas: Mapping[str, str]) -> int:
    # NumPy is needed to evaluate, not to read: a literal is the common case.
    if isinstance(bound, Literal):
        value = bound.value
    else:
        from umdp.spec.evaluate import constant

        value = constant(bound, constants, formulas)
    plain = str(value).lower()
    shown = plain if str(bound) == plain else f"{bound}, which is {plain},"
    if isinstance(value, bool) or not isinstance(value, int):
        raise bound.error(f"the step bound {shown} is not an integer", "round it with floor or ceil")
    if value < 0:
        raise bound.error(f"the step bound {shown} is negative", "it must be 0 or more")
    return value


_UNARY, _INFIX = -1, -2  # weaker than any operator of a state formula, as in PRISM
_WORDS = {"F": "eventually", "G": "always", "X": "next"}
_BETWEEN = {"U": "until", "W": "unless"}


@dataclass(frozen=True)
class Window:
    """The steps after which something counts: from `lower` to `upper`, both included; None where there is no end.

    Examples
    --------
    >>> str(Window(0, 3)), str(Window(2)), str(Window(4, 4)), str(Window(2, 9))
    ('<=3', '>=2', '=4', '[2,9]')
    """

    lower: int | Expression = 0
    upper: StepBound = None

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, normal_bound(getattr(self, name)))
        if isinstance(self.lower, int) and isinstance(self.upper, int) and self.lower > self.upper:
            raise Literal(0).error(
                f"no step is both at least {self.lower} and at most {self.upper}", "turn them around"
            )

    @property
    def is_open(self) -> bool:
        """Whether every step counts."""
        return self.lower == 0 and self.upper is None

    @property
    def is_exact(self) -> bool:
        """Whether one step counts, and not the first."""
        return self.lower == self.upper != 0

    def steps(self, model: StateSpace) -> tuple[int, int | None]:
        """Return both ends as numbers, with the constants of the model."""
        lower, upper = resolved_bound(self.lower, model) or 0, resolved_bound(self.upper, model)
        if upper is not None and lower > upper:
            where = self.upper if isinstance(self.upper, Expression) else self.lower
            place = where if isinstance(where, Expression) else Literal(upper)
            raise place.error(f"no step is both at least {lower} and at most {upper}", "turn them around")
        return lower, upper

    def __str__(self) -> str:
        lower, upper = (
            each if isinstance(each, int) else each and each.at_level(11) for each in (self.lower, self.upper)
        )
        if self.upper is None:
            return "" if self.lower == 0 else f">={lower}"
        if self.lower == self.upper:
            return f"={upper}"
        return f"<={upper}" if self.lower == 0 else f"[{lower},{upper}]"


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

    operator: str
    operands: tuple[Expression, ...]
    window: Window = field(default=Window())

    @property
    def level(self) -> int:
        """How strongly the operator binds: weaker than any of a state formula."""
        return _INFIX if len(self.operands) == 2 else _UNARY

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.operands

    def __str__(self) -> str:
        shown = [each.at_level(0 if len(self.operands) == 2 else _UNARY) for each in self.operands]
        if not self.window.is_open and shown[-1].startswith("-"):  # else it would be read as part of the bound
            shown[-1] = f"({shown[-1]})"
        return " ".join([*shown[:-1], f"{self.operator}{self.window}", shown[-1]])


def is_state_formula(formula: Expression) -> bool:
    """Whether no temporal operator occurs."""
    return not any(isinstance(node, Temporal) for node in formula.walk())


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
    endless = isinstance(formula, Temporal) and formula.operator != "X" and formula.window.upper is None
    if endless and isinstance(formula, Temporal) and (formula.operator in "FU") == negated:
        return formula
    turned = [negated] * len(formula.children)
    if isinstance(formula, Binary) and formula.operator == "=>":
        turned[0] = not negated
    found = [lasting(child, negated=turn) for child, turn in zip(formula.children, turned, strict=True)]
    if isinstance(formula, Binary) and formula.operator == "<=>":
        found += [lasting(child, negated=not negated) for child in formula.children]
    return next((each for each in found if each is not None), None)


@dataclass(frozen=True)
class TemporalFormula:
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
class AutomatonFile:
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


def _refuse(place: Expression) -> NoReturn:
    raise place.error(
        "a formula with several temporal operators is not answered here", "umdp check and umdp.solve answer it"
    )


def _described(formula: Expression) -> str:
    if isinstance(formula, Temporal):
        several = len(formula.operands) == 2
        inner = [f"({_described(e)})" if several and not is_state_formula(e) else _operand(e) for e in formula.operands]
        within = "" if formula.window.is_open else f" ({_window(formula.window)})"
        if formula.operator == "R":
            return f"{inner[1]} until {inner[0]} releases it"
        if several:
            return f"{inner[0]} {_BETWEEN[formula.operator]}{within} {inner[1]}"
        return f"{_WORDS[formula.operator]}{within} {inner[0]}"
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


FALSE = Literal(False)


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
