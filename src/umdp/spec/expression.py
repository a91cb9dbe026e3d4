"""State formulas: expressions over the labels, variables, constants and formulas of a model, and where in a text they stand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from umdp.errors import SpecError

Scalar: TypeAlias = bool | int | float

# From weakest to strongest, as in PRISM: the operator `!` binds weaker than a comparison.
_CONDITIONAL, _NOT, _MINUS, _ATOM = 0, 5, 10, 11
_LEVELS = {
    **{"=>": 1, "<=>": 2, "|": 3, "&": 4},
    **{"=": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7},
    **{"+": 8, "-": 8, "*": 9, "/": 9},
}

_WINDOW = 70  # characters shown on either side of a place
FUNCTIONS = ("min", "max", "floor", "ceil", "round", "pow", "mod", "log")


@dataclass(frozen=True)
class SourceLocation:
    """A source location: a position in the text of a property, or of a formula of the model.

    Parameters
    ----------
    text : str
        The whole text that was read.
    position : int
        Offset of the character pointed at, from 0.
    origin : str, optional
        What the text is where it is not the property itself, such as ``formula "busy"``.

    Examples
    --------
    >>> print(SourceLocation('Pmax=? [ F "gaol" ]', 11).error('unknown label "gaol"', 'did you mean "goal"?'))
    unknown label "gaol" at column 12; did you mean "goal"?
      Pmax=? [ F "gaol" ]
                 ^
    """

    text: str
    position: int
    origin: str = ""

    @property
    def column(self) -> int:
        """Column of the character, from 1, in its own line."""
        return self.position - (self.text.rfind("\n", 0, self.position) + 1) + 1

    @property
    def line(self) -> int:
        """Line of the character, from 1."""
        return self.text.count("\n", 0, self.position) + 1

    def moved(self, position: int) -> SourceLocation:
        """Return the location of another position in the same text."""
        return SourceLocation(self.text, position, self.origin)

    def error(self, problem: str, remedy: str = "") -> SpecError:
        """Return the error whose message names the column, the remedy, the line, and has a caret under it."""
        shown, before = self._excerpt()
        # Tabs are kept, so that the caret stands under its character however wide a tab is drawn.
        indent = "".join("\t" if c == "\t" else " " for c in before)
        place = f"column {self.column}" if "\n" not in self.text else f"line {self.line}, column {self.column}"
        if self.origin:
            place += f" of {self.origin}"
        advice = f"; {remedy}" if remedy else ""
        return SpecError(f"{problem} at {place}{advice}\n  {shown}\n  {indent}^")

    def _excerpt(self) -> tuple[str, str]:
        """Return the line, cut to a window when long and without control characters, and its part left of the place."""
        line = self.text.split("\n")[self.line - 1].rstrip()
        line = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)
        first = max(0, self.column - _WINDOW) if len(line) > 2 * _WINDOW else 0
        lead = "..." if first else ""
        tail = "..." if first + 2 * _WINDOW < len(line) else ""
        return lead + line[first : first + 2 * _WINDOW] + tail, (lead + line[first : self.column - 1]).ljust(
            len(lead) + self.column - 1 - first
        )


Kind = TypeVar("Kind", bound="Expression")


class StateSpace(Protocol):
    """What of a model an expression may speak about."""

    @property
    def states(self) -> int:
        """Number of states S."""

    @property
    def initial(self) -> int:
        """Index of the initial state."""

    @property
    def labels(self) -> Mapping[str, NDArray[np.bool_]]:
        """The states, shape (S,), that carry each label."""

    @property
    def variables(self) -> Mapping[str, NDArray[Any]]:
        """The value, shape (S,), of each variable in every state."""

    @property
    def constants(self) -> Mapping[str, Scalar]:
        """The value of each constant."""

    @property
    def formulas(self) -> Mapping[str, str]:
        """The text of each named formula."""


@dataclass(frozen=True)
class Expression:
    """A node of a state formula; its text is ``str(expression)``, with no parenthesis more than needed.

    Two expressions are equal when they are the same formula, wherever they were written.

    Examples
    --------
    >>> Expression.parse('(x + 1) * 2 > k & (!"trap")')
    Expression.parse('(x + 1) * 2 > k & !"trap"')
    """

    location: SourceLocation | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def level(self) -> int:
        """How strongly the outermost operator binds, from 0 to 11."""
        return _LEVELS.get(getattr(self, "operator", ""), _ATOM)

    @staticmethod
    def parse(text: str) -> Expression:
        """Read a state formula in PRISM's syntax."""
        from umdp.spec.parse import parse_expression

        return parse_expression(text)

    def evaluate(self, model: StateSpace) -> NDArray[np.bool_]:
        """Return the set of states in which the formula holds, shape (S,), dtype bool."""
        from umdp.spec.evaluate import satisfying

        return satisfying(self, model)

    def values(self, model: StateSpace) -> NDArray[Any]:
        """Return the value in every state, shape (S,), dtype bool, int64 or float64."""
        from umdp.spec.evaluate import values

        return values(self, model)

    @cached_property
    def children(self) -> tuple[Expression, ...]:
        """The expressions directly inside this one."""
        parts = chain.from_iterable(part if isinstance(part, tuple) else (part,) for part in vars(self).values())
        return tuple(part for part in parts if isinstance(part, Expression))

    def walk(self) -> Iterator[Expression]:
        """Iterate over this expression and all inside it."""
        stack: list[Expression] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def first(self, kind: type[Kind]) -> Kind | None:
        """Return the first expression of a class, this one or one inside it; None where there is none."""
        return next((node for node in self.walk() if isinstance(node, kind)), None)

    def at_level(self, level: int) -> str:
        """Return the text, in parentheses where it binds weaker than ``level``."""
        return str(self) if self.level >= level else f"({self})"

    def error(self, problem: str, remedy: str = "") -> SpecError:
        """Return the error that points at this expression where it was written."""
        return (self.location or SourceLocation(str(self), 0)).error(problem, remedy)

    def __repr__(self) -> str:
        return f"Expression.parse({str(self)!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Literal(Expression):
    """A truth value or a non-negative number; ``true``, ``1`` and ``1.0`` are three different literals."""

    value: Scalar

    def __post_init__(self) -> None:
        if not isinstance(self.value, bool) and not (0 <= self.value < math.inf):
            raise SpecError(f"{self.value} is no literal; literals are finite and not negative, use Unary('-', ...)")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __str__(self) -> str:
        return str(self.value).lower() if isinstance(self.value, bool) else repr(self.value)


@dataclass(frozen=True, repr=False)
class Label(Expression):
    """The states that carry a label; ``"init"`` and ``"deadlock"`` always exist."""

    name: str

    def __str__(self) -> str:
        return f'"{self.name}"'


@dataclass(frozen=True, repr=False)
class Name(Expression):
    """A variable, constant or formula of the model."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Unary(Expression):
    """Negation: ``!`` of a condition or ``-`` of a number."""

    operator: str
    operand: Expression

    @property
    def level(self) -> int:
        """How strongly the operator binds."""
        return _NOT if self.operator == "!" else _MINUS

    def __str__(self) -> str:
        return self.operator + self.operand.at_level(self.level)


@dataclass(frozen=True, repr=False)
class Binary(Expression):
    """A comparison, an arithmetic operation, ``=>`` or ``<=>``; all associate to the left, as in PRISM."""

    operator: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{self.left.at_level(self.level)} {self.operator} {self.right.at_level(self.level + 1)}"


@dataclass(frozen=True, repr=False)
class Junction(Expression):
    """A conjunction ``&`` or disjunction ``|`` of two or more conditions, kept flat however long it is."""

    operator: str
    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        first = self.operands[0]
        if isinstance(first, Junction) and first.operator == self.operator:
            object.__setattr__(self, "operands", first.operands + self.operands[1:])

    def __str__(self) -> str:
        return f" {self.operator} ".join(operand.at_level(self.level + 1) for operand in self.operands)


@dataclass(frozen=True, repr=False)
class Conditional(Expression):
    """The choice ``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression

    @property
    def level(self) -> int:
        """How strongly the operator binds."""
        return _CONDITIONAL

    def __str__(self) -> str:
        return f"{self.condition.at_level(1)} ? {self.then.at_level(1)} : {self.otherwise.at_level(0)}"


@dataclass(frozen=True, repr=False)
class Call(Expression):
    """A function of PRISM, one of ``FUNCTIONS``, applied to its arguments."""

    function: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


TRUE, FALSE = Literal(True), Literal(False)
