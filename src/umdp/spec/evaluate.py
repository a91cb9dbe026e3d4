"""Evaluation of state formulas in all states of a model at once, and properties inside them, which a solver answers before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from umdp.errors import SpecError, UnknownLabel
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
    Scalar,
    StateSpace,
    Unary,
)
from umdp.spec.names import listed, suggestion

if TYPE_CHECKING:
    from umdp.spec.spec import Spec

Values: TypeAlias = NDArray[Any]

BUILT_IN_LABELS = ("init", "deadlock")

_WORDS = {"b": "a truth value", "i": "an integer", "f": "a number"}
_COMPARISONS: Mapping[str, Callable[..., Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_ARITHMETIC: Mapping[str, Callable[..., Any]] = {"+": np.add, "-": np.subtract, "*": np.multiply}
_ARGUMENTS = {"floor": 1, "ceil": 1, "round": 1, "pow": 2, "mod": 2, "log": 2}


def satisfying(expression: Expression, model: StateSpace) -> NDArray[np.bool_]:
    """Return the states, shape (S,), in which a condition holds."""
    result = values(expression, model)
    if result.dtype.kind != "b":
        raise expression.error(
            f"{expression} is {_WORDS[result.dtype.kind]}, not a condition",
            "a set of states needs true or false in every state, for example a comparison",
        )
    return result


def values(expression: Expression, model: StateSpace) -> Values:
    """Return the value of an expression in every state, shape (S,), dtype bool, int64 or float64."""
    every = np.ones(model.states, dtype=bool)
    try:
        with np.errstate(all="ignore"):
            result = _Evaluation(model).value(expression, every)
    except RecursionError:
        raise expression.error("the expression is nested too deeply", "split it into formulas of the model") from None
    return np.array(np.broadcast_to(result, (model.states,)))


def constant(expression: Expression, constants: Mapping[str, Scalar], formulas: Mapping[str, str]) -> Scalar:
    """Return the value of an expression that speaks of no state: over constants, and formulas of constants."""
    result: Scalar = values(expression, _Constants(constants, formulas))[0].item()
    return result


@dataclass(frozen=True)
class _Constants:
    """One state of which nothing is known but the constants."""

    constants: Mapping[str, Scalar]
    formulas: Mapping[str, str]
    states: int = 1
    initial: int = 0
    labels: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    variables: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True)
class _Evaluation:
    """One evaluation over a model; ``within`` are the formulas being expanded.

    Every method takes ``active``, the states whose value matters: as in PRISM, what stands to the right of a
    decided ``&``, ``|`` or ``=>``, or in the branch not taken of ``? :``, cannot fail there (``x>0 & 1/x<k``).
    """

    model: StateSpace
    within: tuple[str, ...] = ()

    def value(self, node: Expression, active: NDArray[np.bool_]) -> Values:
        match node:
            case Literal(value=value):
                return _typed(node, value)
            case Label():
                return self.label(node)
            case Name():
                return self.name(node, active)
            case Unary(operator="!", operand=operand):
                return ~self.condition(operand, active, node)
            case Unary(operand=operand):
                return _sound(node, np.subtract, active, np.asarray(0), self.number(operand, active, node))
            case Junction():
                return self.junction(node, active)
            case Binary():
                return self.binary(node, active)
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                chosen = self.condition(condition, active, node)
                yes, no = self.value(then, active & chosen), self.value(otherwise, active & ~chosen)
                if (yes.dtype.kind == "b") != (no.dtype.kind == "b"):
                    raise node.error("the branches of ? : are a truth value and a number", "make both the same")
                return np.where(chosen, yes, no)
            case Call():
                return self.call(node, active)
            case Known():
                return node.holds
            case Nested():
                raise node.error(
                    "a property inside a formula is answered by a solver, not here", "use umdp.solve or umdp check"
                )
        raise TypeError(f"not an expression: {node!r}")

    def label(self, node: Label) -> Values:
        name, labels = node.name, self.model.labels
        if name == "init" and not ("init" in labels and labels["init"][self.model.initial]):
            return np.asarray(np.arange(self.model.states) == self.model.initial)
        if name in labels:
            return _typed(node, labels[name])
        if name == "deadlock":
            return np.zeros(self.model.states, dtype=bool)
        if name in {**self.model.variables, **self.model.constants, **self.model.formulas}:
            raise _unknown(node, f"{name} is a name of the model: write it without quotes")
        known = [other for other in labels if other not in BUILT_IN_LABELS]
        has = f"the model has: {listed(known, quoted=True)}" if known else 'the model has only "init" and "deadlock"'
        raise _unknown(node, has + suggestion(name, (*known, *BUILT_IN_LABELS), quoted=True))

    def name(self, node: Name, active: NDArray[np.bool_]) -> Values:
        name, model = node.name, self.model
        if name in model.variables:
            return _typed(node, model.variables[name])
        if name in model.constants:
            return _typed(node, model.constants[name])
        if name in model.formulas:
            if name in self.within:
                raise node.error(f"formula {name} is defined by itself", " -> ".join((*self.within, name)))
            from umdp.spec.parse import parse_expression

            inner = parse_expression(model.formulas[name], origin=f'formula "{name}"')
            return _Evaluation(model, (*self.within, name)).value(inner, active)
        raise self.unknown(node)

    def unknown(self, node: Name) -> SpecError:
        name, model = node.name, self.model
        if name in model.labels or name in BUILT_IN_LABELS:
            return node.error(f"unknown name {name}", f'there is a label of that name: write it in quotes, "{name}"')
        if isinstance(model, _Constants):
            groups: dict[str, Iterable[str]] = {"constants": model.constants}
            none = "only constants can be used here, and the model has none"
        else:
            groups = {"variables": model.variables, "constants": model.constants, "formulas": model.formulas}
            none = "the model has no variables, constants or formulas"
        has = "; ".join(f"{group} {listed(names)}" for group, names in groups.items() if names)
        every = [other for names in groups.values() for other in names]
        return node.error(f"unknown name {name}", (f"the model has: {has}" if has else none) + suggestion(name, every))

    def condition(self, node: Expression, active: NDArray[np.bool_], user: Expression) -> NDArray[np.bool_]:
        result = self.value(node, active)
        if result.dtype.kind != "b":
            what = getattr(user, "operator", "? :")
            raise node.error(f"{node} is {_WORDS[result.dtype.kind]}", f"{what} needs a condition, true or false")
        return result

    def number(self, node: Expression, active: NDArray[np.bool_], user: Expression) -> Values:
        result = self.value(node, active)
        if result.dtype.kind == "b":
            what = getattr(user, "operator", "") or getattr(user, "function", "")
            raise node.error(f"{node} is a truth value", f"{what} needs a number")
        return result

    def junction(self, node: Junction, active: NDArray[np.bool_]) -> Values:
        conjunction = node.operator == "&"
        result: NDArray[np.bool_] = np.bool_(conjunction)  # type: ignore[assignment]
        for operand in node.operands:
            open_ = active & result if conjunction else active & ~result
            now = self.condition(operand, open_, node)
            result = result & now if conjunction else result | now
        return result

    def binary(self, node: Binary, active: NDArray[np.bool_]) -> Values:
        operator = node.operator
        if operator == "=>":
            premise = self.condition(node.left, active, node)
            return ~premise | self.condition(node.right, active & premise, node)
        if operator == "<=>":
            same: Values = self.condition(node.left, active, node) == self.condition(node.right, active, node)
            return same
        if operator in ("=", "!="):
            left, right = self.value(node.left, active), self.value(node.right, active)
            if (left.dtype.kind == "b") != (right.dtype.kind == "b"):
                words = f"{_WORDS[left.dtype.kind]} with {_WORDS[right.dtype.kind]}"
                raise node.error(f"{operator} compares {words}", "both sides must be numbers or both truth values")
            return np.asarray(_COMPARISONS[operator](left, right))
        left, right = self.number(node.left, active, node), self.number(node.right, active, node)
        if operator in _COMPARISONS:
            return np.asarray(_COMPARISONS[operator](left, right))
        if operator == "/":
            _refuse(node, active, right == 0, "division by zero", "guard it, for example x != 0 & 1/x > 2")
            return _sound(node, np.true_divide, active, left, np.where(right == 0, 1, right))
        return _sound(node, _ARITHMETIC[operator], active, left, right)

    def call(self, node: Call, active: NDArray[np.bool_]) -> Values:
        function, given = node.function, len(node.arguments)
        if function not in FUNCTIONS:
            raise node.error(f"unknown function {function}", f"there are {listed(FUNCTIONS)}")
        wanted = _ARGUMENTS.get(function)
        if given != wanted if wanted else given < 2:
            counts = {1: "one argument", 2: "two arguments", None: "at least two arguments"}[wanted]
            raise node.error(f"{function} takes {counts}", f"it is given {given}")
        arguments = [self.number(argument, active, node) for argument in node.arguments]
        if function in ("min", "max"):
            return np.asarray(reduce(np.minimum if function == "min" else np.maximum, arguments))
        if function in ("floor", "ceil", "round"):
            return _rounded(node, active, arguments[0])
        first, second = arguments
        integers = first.dtype.kind == "i" and second.dtype.kind == "i"
        if function == "mod":
            if not integers:
                raise node.error("mod takes two integers", "round them with floor or ceil")
            _refuse(node, active, second <= 0, "mod by a number that is not positive", "the divisor must be at least 1")
            return np.asarray(np.mod(first, np.maximum(second, 1)))
        if function == "log":
            bad = (first <= 0) | (second <= 0) | (second == 1)
            _refuse(node, active, bad, "log is not defined", "log(x, b) needs x > 0, b > 0 and b != 1")
            return np.asarray(np.where(bad, 0.0, np.log(first) / np.log(second)))
        if integers:
            _refuse(node, active, second < 0, "an integer to a negative power", "write pow(1.0 * x, n) for a fraction")
            return _sound(node, np.power, active, first, np.maximum(second, 0))
        return _sound(node, np.power, active, first, second)


def _unknown(node: Label, remedy: str) -> UnknownLabel:
    return UnknownLabel(str(node.error(f'unknown label "{node.name}"', remedy)), node.name)


def _typed(node: Expression, value: Any) -> Values:
    """Return the value as an array of bool, int64 or float64."""
    try:
        array = np.asarray(value)
        wide = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}[array.dtype.kind]
        return array.astype(wide, copy=False)
    except (KeyError, OverflowError):
        raise node.error(
            f"the value of {node} is not usable", "values are truth values, 64-bit integers or numbers"
        ) from None


def _refuse(node: Expression, active: NDArray[np.bool_], bad: Values, problem: str, remedy: str) -> None:
    """Raise where something bad happens in a state that matters, naming the state."""
    failing = active & bad
    if failing.any():
        where = f" in state {int(failing.argmax())}" if np.ndim(bad) else ""
        raise node.error(problem + where, remedy)


def _sound(
    node: Expression, operation: Callable[..., Any], active: NDArray[np.bool_], left: Values, right: Values
) -> Values:
    """Apply an operation; neither integers that wrap around nor infinities pass for an answer."""
    result = np.asarray(operation(left, right))
    if result.dtype.kind == "i":
        exact = operation(left.astype(np.float64), right.astype(np.float64))
        large = ~(np.abs(exact) < 2.0**63 - 2.0**11)  # the float is off by a rounding at most, hence the margin
        _refuse(node, active, large, "the integer is too large", "use 1.0 * to compute with fractions")
    else:
        wrong = ~np.isfinite(result)
        _refuse(node, active, wrong, "the result is not a finite number", "check the values it is computed from")
    return result


def _rounded(node: Call, active: NDArray[np.bool_], number: Values) -> Values:
    """Return floor, ceil or PRISM's round, which rounds halves up, as integers."""
    if number.dtype.kind == "i":
        return number
    low = np.floor(number)
    result = np.ceil(number) if node.function == "ceil" else low + (node.function == "round") * (number - low >= 0.5)
    large = ~(np.abs(result) < 2.0**63)
    _refuse(node, active, large, "the integer is too large", "integers have 64 bits")
    return np.asarray(np.where(large, 0, result).astype(np.int64))


@dataclass(frozen=True, repr=False)
class Nested(Expression):
    """The states in which a property with a threshold holds; a solver answers it before anything else is looked at.

    Examples
    --------
    >>> print(Expression.parse('"up" & P>=0.9 [ F "done" ]'))
    "up" & P>=0.9 [ F "done" ]
    """

    spec: Spec

    def __str__(self) -> str:
        return str(self.spec)


@dataclass(frozen=True, repr=False)
class Known(Expression):
    """The states that a property was found to hold in; printed as the property."""

    text: str
    members: bytes

    @staticmethod
    def of(nested: Nested, members: NDArray[np.bool_]) -> Known:
        """Return what is known of a nested property: the states (S,) in which it holds."""
        return Known(str(nested), np.asarray(members, dtype=np.bool_).tobytes(), location=nested.location)

    @property
    def holds(self) -> NDArray[np.bool_]:
        """The states, shape (S,)."""
        return np.frombuffer(self.members, dtype=np.bool_)

    def __str__(self) -> str:
        return self.text


def nested_in(part: Any) -> Iterator[Nested]:
    """Yield the properties directly inside a formula or an expression, not those inside these."""
    ahead = [part]  # not by recursion: formulas may be nested deeply
    while ahead:
        part = ahead.pop()
        if isinstance(part, Nested):
            yield part
        elif isinstance(part, tuple):
            ahead.extend(reversed(part))
        elif is_dataclass(part) and not isinstance(part, type):
            ahead.extend(getattr(part, each.name) for each in reversed(fields(part)) if each.name != "location")


def names_in(part: Any) -> set[str]:
    """Return the names of variables, constants and formulas in a specification, those inside its properties included.

    Examples
    --------
    >>> from umdp.spec import Spec
    >>> sorted(names_in(Spec.parse("Pmax>=least [ F<=k P>0.5 [ X x=n ] ]")))
    ['k', 'least', 'n', 'x']
    """
    found: set[str] = set()

    def look(leaf: Expression) -> Expression:
        if isinstance(leaf, Name):
            found.add(leaf.name)
        return Nested(mapped(leaf.spec, look)) if isinstance(leaf, Nested) else leaf

    mapped(part, look)
    return found


def mapped(part: Any, change: Callable[[Expression], Expression]) -> Any:
    """Return a formula or an expression in which every expression without parts is what `change` makes of it."""
    if isinstance(part, tuple):
        return tuple(mapped(each, change) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    if isinstance(part, Expression) and not part.children:
        return change(part)
    inner = {
        each.name: mapped(getattr(part, each.name), change)
        for each in fields(part)
        if each.init and each.name != "location"
    }
    new = {name: value for name, value in inner.items() if value is not getattr(part, name)}
    return replace(part, **new) if new else part
