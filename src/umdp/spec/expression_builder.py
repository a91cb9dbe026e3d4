"""From the tree that the parser finds to state formulas: expressions over labels, variables, constants and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from umdp.spec.expression import (
    FUNCTIONS,
    Binary,
    Call,
    Conditional,
    Expression,
    Junction,
    Label,
    Literal,
    Name,
    SourceLocation,
    Unary,
)
from umdp.spec.names import listed
from umdp.spec.temporal_formula import Temporal

if TYPE_CHECKING:
    from lark import Token

__all__ = ["ExpressionBuilder"]


class ExpressionBuilder:
    """Turns the tree of one text into an expression, node by node; whoever knows more kinds of nodes derives from it."""

    def __init__(self, location: SourceLocation) -> None:
        self.location = location

    def build(self, node: Any) -> Any:
        """Return what a tree stands for: each node is made by the method of its name."""
        if hasattr(node, "data"):
            return getattr(self, node.data)(*map(self.build, node.children))
        return node

    def at(self, token: Token) -> SourceLocation:
        """Return where a token stands."""
        return self.location.moved(token.start_pos or 0)

    def truth(self, token: Token) -> Expression:
        """Return true or false."""
        return Literal(token == "true", location=self.at(token))

    def integer(self, token: Token) -> Expression:
        """Return an integer of 64 bits."""
        if len(token) > 18:
            raise self.at(token).error("the integer is too large", "integers have 64 bits")
        return Literal(int(token), location=self.at(token))

    def decimal(self, token: Token) -> Expression:
        """Return a number."""
        value = float(token)
        if value == float("inf"):
            raise self.at(token).error("the number is too large", "the largest is about 1.8e308")
        return Literal(value, location=self.at(token))

    def label(self, token: Token) -> Expression:
        """Return a label."""
        return Label(token[1:-1], location=self.at(token))

    def name(self, token: Token) -> Expression:
        """Return the name of a variable, a constant or a formula."""
        return Name(str(token), location=self.at(token))

    def unary(self, token: Token, operand: Expression) -> Expression:
        """Return a negation, or a number with the other sign."""
        if token == "-":
            self.stateful(operand, "a number")
        return Unary(str(token), operand, location=self.at(token))

    def binary(self, left: Expression, token: Token, right: Expression) -> Expression:
        """Return a comparison, a computation or an implication."""
        if token not in ("=>", "<=>"):
            for each in (left, right):
                self.stateful(each, f"an operand of {token}")
        return Binary(str(token), left, right, location=self.at(token))

    def junction(self, *parts: Any) -> Expression:
        """Return a conjunction or a disjunction."""
        return Junction(str(parts[1]), tuple(parts[::2]), location=self.at(parts[1]))

    def conditional(self, condition: Expression, token: Token, yes: Expression, no: Expression) -> Expression:
        """Return a choice between two expressions."""
        for each in (condition, yes, no):
            self.stateful(each, "? :")
        return Conditional(condition, yes, no, location=self.at(token))

    def call(self, token: Token, *arguments: Expression) -> Expression:
        """Return a function of numbers."""
        if token not in FUNCTIONS:
            raise self.at(token).error(f"unknown function {token}", f"there are {listed(FUNCTIONS)}")
        for each in arguments:
            self.stateful(each, f"{token}(...)")
        return Call(str(token), arguments, location=self.at(token))

    def stateful(self, formula: Expression, where: str) -> None:
        """Raise `SpecError` where an expression has temporal operators."""
        inner = formula.first(Temporal)
        if inner is not None:
            raise inner.error(f"{inner.operator} inside {where}", "only conditions on states and numbers stand there")
