"""Expressions over all states at once agree with evaluating each state in plain Python."""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from umdp.errors import SpecError
from umdp.spec import Expression, Spec
from umdp.spec.expression import Binary, Call, Conditional, Junction, Label, Literal, Name, Unary

from .generated import conditions


@dataclass
class Toy:
    states: int = 5
    initial: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    formulas: Mapping[str, str] = field(default_factory=dict)


TOY = Toy(
    labels={"goal": np.array([0, 0, 0, 1, 1], bool), "trap": np.array([1, 0, 0, 0, 0], bool)},
    variables={
        "x": np.array([0, 1, 2, 3, 4], np.int32),
        "y": np.array([2, -1, 0, 5, -3]),
        "b": np.array([1, 1, 0, 0, 1], bool),
    },
    constants={"k": 3, "p": 0.5, "on": True},
    formulas={
        "sum": "x + y",
        "busy": "sum > k & b",
        "loop": "other",
        "other": "loop + 1",
        "broken": "x + ",
        "bad": "z",
    },
)

COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def plainly(node: Expression, state: int) -> Any:
    """Evaluate one state with Python's own numbers."""
    match node:
        case Literal(value=value):
            return value
        case Label(name=name):
            return {"init": state == TOY.initial, "deadlock": False}.get(
                name, bool(TOY.labels.get(name, [0] * 5)[state])
            )
        case Name(name=name):
            if name in TOY.formulas:
                return plainly(Expression.parse(TOY.formulas[name]), state)
            return TOY.constants[name] if name in TOY.constants else TOY.variables[name][state].item()
        case Unary(operator=symbol, operand=operand):
            return not plainly(operand, state) if symbol == "!" else -plainly(operand, state)
        case Junction(operator=symbol, operands=operands):
            return (all if symbol == "&" else any)(plainly(operand, state) for operand in operands)
        case Binary(operator="=>", left=left, right=right):
            return not plainly(left, state) or plainly(right, state)
        case Binary(operator="<=>", left=left, right=right):
            return plainly(left, state) == plainly(right, state)
        case Binary(operator=symbol, left=left, right=right):
            return {**COMPARE, **ARITHMETIC}[symbol](plainly(left, state), plainly(right, state))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return plainly(then if plainly(condition, state) else otherwise, state)
        case Call(function=function, arguments=arguments):
            values = [plainly(argument, state) for argument in arguments]
            half_up = {"round": lambda x: math.floor(x + 0.5), "mod": operator.mod, "log": math.log}
            return {"min": min, "max": max, "floor": math.floor, "ceil": math.ceil, "pow": pow, **half_up}[function](
                *values
            )
    raise AssertionError(node)


CASES = [
    'true', 'false', '"goal"', '"init"', '"deadlock"', '!"goal" & !"trap"', "b", "!b | x=2", "on & b", "b = on",
    "b != (x>2)",
    "x > y", "x+1 >= k", "2*x - y/4 < p", "x/2 = 1.5", "-x < -2", "--x > 2", "sum > 2", "busy", "sum*2 = 2*(x+y)",
    "min(x, y, k) = y", "max(x, p) > 0.5", "floor(x/2) = 1", "ceil(x/2) = 1", "round(x/2) = 1", "round(-x/2) = -1",
    "floor(x) = x", "pow(x, 2) > 3", "pow(x, p) > 1.5", "pow(2.0, y) < 1", "mod(y, 3) = 2", "log(x + 1, 2) >= 1",
    "b => x > 1", "b <=> x > 1", "(x > 1 ? y : -y) > 0", "x > 1 ? b : !b", "x != 0 & 6/x > 2", "x = 0 | 6/x > 2",
    "x > 0 => 6/x > 2", "(x = 0 ? 1 : 6/x) > 2", "x = 1 | x = 2 & !b", "1e-3 < p", "x - 1 - 1 = 0", "k = 3",
]  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_agrees_with_plain_python(text: str) -> None:
    expression = Expression.parse(text)
    result = expression.evaluate(TOY)
    assert result.dtype == bool
    assert result.shape == (5,)
    assert result.tolist() == [plainly(expression, state) for state in range(5)]


@given(
    conditions(names=("x", "y", "k"), flags=("b", "on"), labels=("goal", "trap", "init"), arithmetic=("+", "-", "*"))
)
def test_random_conditions_agree_with_plain_python(expression: Expression) -> None:
    assert expression.evaluate(TOY).tolist() == [plainly(expression, state) for state in range(5)]


def test_values_have_their_types() -> None:
    assert Expression.parse("x + k").values(TOY).dtype == np.int64
    assert Expression.parse("x / 2").values(TOY).dtype == np.float64
    assert Expression.parse("7").values(TOY).tolist() == [7] * 5


def test_the_result_is_a_copy() -> None:
    Expression.parse('"goal"').evaluate(TOY)[:] = True
    assert TOY.labels["goal"].sum() == 2


def test_a_deadlock_label_of_the_model_is_used() -> None:
    toy = Toy(labels={"deadlock": np.array([0, 0, 1, 0, 0], bool)})
    assert Expression.parse('"deadlock"').evaluate(toy).tolist() == [False, False, True, False, False]


BAD = [
    ('^"gaol"', 'unknown label "gaol" at column 1; the model has: "goal", "trap". Did you mean "goal"?'),
    ('x > 1 & ^"zzz"', 'the model has: "goal", "trap"'),
    ("^goal", 'in quotes, "goal"'),
    ("^init", 'in quotes, "init"'),
    ('^"busy"', "without quotes"),
    ("x > ^summ", "has: variables x, y, b; constants k, p, on; formulas sum, busy, loop"),
    ("x > ^summ", "Did you mean sum?"),
    ("^x", "not a condition"),
    ("x ^+ 1", "x + 1 is an integer, not a condition"),
    ("b & ^x", "& needs a condition"),
    ("!(x ^+ 1)", "! needs a condition"),
    ("^b + 1 > 2", "+ needs a number"),
    ("-^b > 2", "- needs a number"),
    ("x < ^b", "< needs a number"),
    ("x ^= b", "both sides must be numbers or both truth values"),
    ("x ^< y < k", "< needs a number"),
    ("(b ^? x : b) = x", "branches"),
    ("(^x ? 1 : 2) = x", "? : needs a condition"),
    ("6^/x > 2", "division by zero in state 0"),
    ("6^/(k-3) > 2", "division by zero at"),
    ("x > 1 | 6^/x > 2", "division by zero in state 0"),
    ("^mod(x, y) = 1", "in state 1"),
    ("^mod(x, p) = 1", "two integers"),
    ("^log(x, 2) > 1", "log is not defined in state 0"),
    ("^log(x, 1) > 1", "b != 1"),
    ("^pow(2, y) > 1", "negative power in state 1"),
    ("^pow(10, 30) > 1", "too large"),
    ("^pow(-1.5, p) > 1", "not a finite number"),
    ("1e200 ^* 1e200 > 1", "not a finite number"),
    ("^floor(1e30) > 1", "too large"),
    ("^floor(x, y) > 1", "floor takes one argument"),
    ("^min(x) > 1", "at least two"),
    ("min(^b, x) > 1", "min needs a number"),
    ("x * 999999999999999999 ^* 9 > 1", "the integer is too large in state 2"),
]


@pytest.mark.parametrize(("marked", "fragment"), BAD)
def test_says_what_is_wrong_and_where(marked: str, fragment: str) -> None:
    column = marked.index("^") + 1
    with pytest.raises(SpecError) as caught:
        Expression.parse(marked.replace("^", "", 1)).evaluate(TOY)
    message, line, caret = str(caught.value).split("\n")
    assert fragment in message
    assert line == "  " + marked.replace("^", "", 1)
    assert caret == " " * (column + 1) + "^"


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("loop", "loop -> other -> loop"),
        ("broken", 'ends too early at column 4 of formula "broken"'),
        ("bad", 'unknown name z at column 1 of formula "bad"'),
    ],
)
def test_errors_inside_formulas_point_into_them(name: str, fragment: str) -> None:
    with pytest.raises(SpecError) as caught:
        Expression.parse(f"{name} > 1").evaluate(TOY)
    assert fragment in str(caught.value)


def test_many_labels_are_listed_in_part() -> None:
    toy = Toy(labels={f"l{i}": np.zeros(5, bool) for i in range(27)})
    with pytest.raises(SpecError, match=r'"l14" ... and 12 more'):
        Expression.parse('"zzz"').evaluate(toy)


def test_a_model_without_names_says_so() -> None:
    with pytest.raises(SpecError, match="has no variables"):
        Expression.parse("x > 1").evaluate(Toy())
    with pytest.raises(SpecError, match='only "init" and "deadlock"'):
        Expression.parse('"a"').evaluate(Toy())


def test_step_bounds_are_found_in_the_constants() -> None:
    assert Spec.parse('P=? [ F<=k+1 "goal" ]').steps(TOY) == 4
    assert Spec.parse('P=? [ F<k "goal" ]').steps(TOY) == 2
    assert Spec.parse('P=? [ G<=7 "goal" ]').steps(TOY) == 7
    assert Spec.parse('P=? [ X "goal" ]').steps(TOY) == 1
    assert Spec.parse('P=? [ F "goal" ]').steps(TOY) is None
    assert Spec.parse("R=? [ C<=floor(k/2) ]").steps(TOY) == 1


@pytest.mark.parametrize(
    ("bound", "fragment"),
    [
        ("x", "variable x"),
        ("p", "p, which is 0.5, is not an integer"),
        ("(k-9)", "negative"),
        ("n", "constants k, p, on"),
        ("on", "not an integer"),
    ],
)
def test_step_bounds_that_make_no_sense(bound: str, fragment: str) -> None:
    with pytest.raises(SpecError) as caught:
        Spec.parse(f'P=? [ F<={bound} "goal" ]').steps(TOY)
    assert fragment in str(caught.value)
