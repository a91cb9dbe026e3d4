"""Read properties and state formulas: the lark parser, and the nodes made from what it finds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from umdp.spec.diagnosis import diagnose, tokens_before
from umdp.spec.evaluate import Nested, nested_in
from umdp.spec.expression import (
    TRUE,
    Binary,
    Expression,
    Label,
    Literal,
    Name,
    SourceLocation,
)
from umdp.spec.expression_builder import ExpressionBuilder
from umdp.spec.formula import Globally, LongRun, Next, PathFormula, Until, Windowed
from umdp.spec.names import listed
from umdp.spec.rewarded import Average, Cumulative, Discounted, Instantaneous, Reach, Rewarding, Total
from umdp.spec.spec import FILTERS, TRUTHS, Direction, Filter, Spec, Threshold
from umdp.spec.step_bounds import StepBound, Window, check_order, normal_bound, number_of
from umdp.spec.temporal_formula import (
    OPERATORS,
    AutomatonFile,
    Operator,
    RewardBound,
    RewardBounded,
    Temporal,
    TemporalFormula,
    is_state_formula,
    lasting,
)

if TYPE_CHECKING:
    from lark import Lark, Token

    from umdp.errors import SpecError


INFIX = [name for name, known in OPERATORS.items() if known.infix]


def parse_property(text: str) -> Spec:
    """Return the specification that a property states.

    Examples
    --------
    >>> parse_property('R{"time"}minmax=? [ C<=10 ]').formula
    Cumulative(bound=10)
    """
    return cast("Spec", _read(text, "property", ""))


@lru_cache(maxsize=1024)
def parse_expression(text: str, origin: str = "") -> Expression:
    """Return the state formula that a text states; ``origin`` says in errors what the text is."""
    return cast("Expression", _read(text, "expression", origin))


@cache
def _parser() -> Lark:
    # Importing lark and building the tables takes some 50 ms: only when the first property is read.
    from lark import Lark

    grammar = files("umdp.spec").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="basic", start=["property", "expression", "reserved"])


def _operator(token: Token) -> Operator:
    """Return the temporal operator that a word of the grammar stands for."""
    found = next((each for each in OPERATORS if each == token), None)
    assert found is not None, f"OPERATORS says nothing of {token}"
    return found


def _shifted(value: Expression, by: int) -> int | Expression:
    """Return the number of steps that is one more, or one less, than a bound."""
    if isinstance(value, Literal) and type(value.value) is int:
        if value.value + by < 0:
            raise value.error("no number of steps is less than 0", "write <=0 for no step at all")
        return value.value + by
    return Binary("+" if by > 0 else "-", value, Literal(1), location=value.location)


def _read(text: str, start: str, origin: str) -> object:
    from lark.exceptions import UnexpectedInput

    location = SourceLocation(text, 0, origin)
    try:
        builder = _Builder(location)
        found = builder.build(_parser().parse(text, start=start))
        if isinstance(found, Expression):
            builder.stateful(found, "a state formula")
    except UnexpectedInput as error:
        raise diagnose(error, location, start, tokens_before(_parser(), text, error)) from None
    except RecursionError:
        raise location.error("the expression is nested too deeply", "split it into formulas of the model") from None
    for inner in nested_in(found):
        if inner.spec.threshold is None:
            raise inner.error(
                f"{inner.spec.kind} inside a formula needs a threshold", f"write {inner.spec.kind}>=0.3 [ ... ]"
            )
    return cast("object", found)


class _Builder(ExpressionBuilder):
    """Turns the tree of one text into a specification or an expression, node by node."""

    # Path formulas; those of R are told apart in `property`, which knows the kind

    def bound(self, token: Token, value: Expression) -> StepBound:
        return value if token == "<=" else _shifted(value, -1)

    def limit(self, token: Token, value: Expression) -> tuple[Expression | None, Expression | None, str]:
        return (None if token in ("<=", "<") else value, None if token in (">=", ">") else value, str(token))

    def limits(self, lower: Expression, upper: Expression) -> tuple[Expression, Expression, str]:
        return lower, upper, ""

    def earned(self, *parts: Any) -> RewardBound:
        label, (lower, upper, relation) = parts[-2:]
        for each in (lower, upper):
            if each is not None:
                self.stateful(each, "a reward bound")
        return RewardBound(str(label[1:-1]), lower, upper, above=relation == ">", below=relation == "<")

    def amounts(self, *parts: Any) -> Window | RewardBound:
        found: list[Window | RewardBound] = [each for each in parts if isinstance(each, Window | RewardBound)]
        if len(found) > 1:
            raise self.location.error("several bounds on one path are not supported", "ask with one of them")
        return found[0]

    def window(self, *parts: Any) -> Window:
        token, value = parts[-2:]
        match str(token):
            case "<=" | "<":
                return self.made(token, 0, self.bound(token, value))
            case ">=":
                return self.made(token, value, None)
            case ">":
                return self.made(token, _shifted(value, 1), None)
        return self.made(token, value, value)

    def between(self, *parts: Any) -> Window:
        lower, upper = parts[-2:]
        return self.made(lower, lower, upper)

    def made(self, place: Token | Expression, lower: int | Expression, upper: StepBound) -> Window:
        for each in (lower, upper):
            if isinstance(each, Expression):
                self.stateful(each, "a step bound")
        where = place if isinstance(place, Expression) else Literal(0, location=self.at(place))
        check_order(normal_bound(lower), normal_bound(upper), where)
        return Window(lower, upper)

    def prefix(self, token: Token, *parts: Any) -> Expression:
        window, earned = self.bounds(token, parts)
        if token == "X" and len(parts) == 2:
            after = self.location.text
            place = len(after) - len(after[token.end_pos or 0 :].lstrip())
            raise self.location.moved(place).error("X takes no step bound", "it looks exactly one step ahead")
        return Temporal(_operator(token), (parts[-1],), window, earned, location=self.at(token))

    def bounds(self, token: Token, parts: Any) -> tuple[Window, RewardBound | None]:
        """Return the steps and the reward that bound an operator, open and None where they do not."""
        bound = parts[0] if len(parts) == 2 else Window()
        if isinstance(bound, Window):
            return bound, None
        if token not in ("F", "U"):
            raise self.at(token).error(f"{token} takes no reward bound", 'F and U do, as in F{"time"}<=5 phi')
        return Window(), bound

    def infix(self, left: Expression, token: Token, *parts: Any) -> Expression:
        if token not in INFIX:
            known = f"{', '.join(INFIX[:-1])} and {INFIX[-1]}"
            raise self.at(token).error(f"unexpected '{token}'", f"the operators between two formulas are {known}")
        window, earned = self.bounds(token, parts)
        if len(parts) == 2 and not OPERATORS[_operator(token)].bounded:
            raise self.at(token).error(
                f"{token} takes no step bound", "F, G and U do; a W<=k b is (a U<=k b) | (G<=k a)"
            )
        return Temporal(_operator(token), (left, parts[-1]), window, earned, location=self.at(token))

    def proposition(self, name: Token, *parts: Any) -> tuple[str, Expression]:
        self.stateful(parts[-1], "a proposition of an automaton")
        return str(name[1:-1]), parts[-1]

    def automaton(self, token: Token, path: Token, *propositions: tuple[str, Expression]) -> tuple[Token, PathFormula]:
        names = [name for name, _ in propositions]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self.at(token).error(f'the proposition "{twice}" is given twice', "give each a single meaning")
        return token, AutomatonFile(str(path[1:-1]), propositions, location=self.at(path))

    def path(self, formula: Expression) -> tuple[Token, PathFormula]:
        """Return what stands in the brackets: one operator over state formulas as such, anything else as a temporal formula."""
        if is_state_formula(formula):
            raise self.no_path()
        single = isinstance(formula, Temporal) and all(map(is_state_formula, formula.operands))
        found = self.single(formula) if isinstance(formula, Temporal) and single else None
        counts = next((each for each in formula.walk() if isinstance(each, Temporal) and each.earned is not None), None)
        if counts is not None and found is None:
            raise counts.error(
                "a bound on a reward stands alone", 'write one operator over conditions, F{"time"}<=5 phi'
            )
        return self.word(formula), found or TemporalFormula(formula)

    def single(self, formula: Temporal) -> PathFormula | None:
        """Return one operator over state formulas as a formula of its own; None where it has none."""
        operator, window, last = formula.operator, formula.window, formula.operands[-1]
        left = formula.operands[0] if operator == "U" else TRUE
        if formula.earned is not None:
            return RewardBounded(left, last, formula.earned, location=formula.location)
        if operator == "X":
            return Next(last)
        if operator in ("F", "G") and window.is_exact:
            return Next(last, window.lower)
        if operator in ("F", "U", "G") and window.lower == 0:
            return Globally(last, window.upper) if operator == "G" else Until(left, last, window.upper)
        windowed = operator in ("F", "U", "G") and window.upper is not None
        return Windowed(left, last, window, operator == "G") if windowed else None

    def no_path(self) -> SpecError:
        end = self.location.moved(max(self.location.text.rfind("]"), 0))
        return end.error(
            "a path formula is needed, not only a condition", "write F phi to reach it, or G phi to stay in it"
        )

    def word(self, formula: Expression) -> Token:
        from lark import Token

        place = formula.location.position if formula.location is not None else 0
        return Token("WORD", getattr(formula, "operator", "this formula"), start_pos=place)

    def cumulative(self, token: Token, *bound: Any) -> tuple[Token, PathFormula]:
        return token, Cumulative(bound[-1])

    def total(self, token: Token) -> tuple[Token, PathFormula]:
        return token, Total()

    def discounted(self, token: Token, equals: Token, value: Expression) -> tuple[Token, PathFormula]:
        return token, Discounted(value)

    def instantaneous(self, token: Token, equals: Token, value: Expression) -> tuple[Token, PathFormula]:
        return token, Instantaneous(value)

    def average(self, token: Token) -> tuple[Token, PathFormula]:
        if token != "S":
            raise self.at(token).error("P and R inside a formula need a threshold", "write P>=0.3 [ ... ]")
        return token, Average()

    def title(self, token: Token) -> None:
        return None

    def reward(self, token: Token) -> Token:
        return token

    def head(self, kind: Token, *parts: Token) -> tuple[Token, Token | None, list[Direction]]:
        reward = next((part for part in parts if part.type == "LABEL"), None)
        players = next((part for part in parts if part.type == "DIRECTION"), None)
        if players is not None and len(kind) > 1:
            raise self.at(players).error(f"{kind} already says who pulls where", f"write {kind[0]}{players} or {kind}")
        if reward is not None and (kind[0] != "R" or len(kind) > 1):
            remedy = f"write R{{{reward}}}{kind[1:]}" if kind[0] == "R" else "only R takes one"
            raise self.at(reward).error(f"a reward name after {kind}", remedy)
        said = players if players is not None else kind[1:]
        return kind, reward, [Direction(said[i : i + 3]) for i in range(0, len(said), 3)]

    def query(self, token: Token, value: Expression | None = None) -> Threshold | None:
        if value is None:
            return None
        self.stateful(value, "a threshold")
        label = value.first(Label)
        if label is not None:
            raise label.error(f"the threshold depends on {label}", "a threshold is a number, such as 0.3")
        operator = cast("Any", str(token))
        if value.first(Name) is not None:
            return Threshold(operator, math.nan, said=value, location=value.location)
        number = number_of(value, "threshold")
        if isinstance(number, bool):
            raise value.error("the threshold is a truth value", "a threshold is a number, such as 0.3")
        return Threshold(operator, float(number), location=value.location)

    def property(self, *parts: Any) -> Spec:
        found: Spec = parts[-1]
        return found

    def filter(self, *parts: Any) -> Spec:
        _, operator, inner, *rest = [part for part in parts if part is not None]
        if operator not in FILTERS:
            raise self.at(operator).error(f"unknown filter {operator}", f"there are {listed(FILTERS)}")
        if not isinstance(inner, Nested):
            raise inner.error("a filter takes one property", 'as in filter(max, Pmin=? [ F "goal" ], x > 2)')
        truth = operator in TRUTHS
        if truth != (inner.spec.threshold is not None):
            remedy = "write P>=0.3 [ ... ]" if truth else f"write =? to have {FILTERS[str(operator)]}"
            raise inner.error(f"{operator} {'needs a threshold' if truth else 'takes no threshold'}", remedy)
        return replace(inner.spec, filter=Filter(str(operator), *rest))

    def nested(self, spec: Spec) -> Expression:
        return Nested(spec, location=spec.location)

    def asked(self, *parts: Any) -> Spec:
        (kind, reward, players), threshold, inside = parts
        if kind[0] == "S" and isinstance(inside, Expression) and is_state_formula(inside):
            token, formula = self.word(inside), cast("PathFormula", LongRun(inside))
        else:
            token, formula = self.path(inside) if isinstance(inside, Expression) else inside
        if isinstance(formula, LongRun) != (kind[0] == "S"):
            raise self.misplaced(token, kind)
        if kind[0] == "T" and (isinstance(formula, Rewarding) or token == "G"):
            raise self.at(token).error(
                f"the time of {token} is not supported", "T takes F phi, the steps until phi holds"
            )
        if kind[0] in ("R", "T"):
            formula = self.rewarded(token, formula, inside)
        elif isinstance(formula, Rewarding):
            raise self.at(token).error(
                f"{formula} is a reward" if not isinstance(formula, Cumulative) else "C<=k is a reward",
                "for a probability ask F, G, X or U, or write R for P",
            )
        agent, nature = (*players, None, None)[:2]
        name = None if reward is None else str(reward[1:-1])
        return Spec(cast("Any", kind[0]), agent, nature, formula, threshold, name, location=self.at(kind))

    def misplaced(self, token: Any, kind: Token) -> SpecError:
        if kind[0] == "S":
            return self.at(token).error(
                "S takes a state formula", 'write S=? [ "up" ] for the share of time in which "up" holds'
            )
        return self.no_path()

    def rewarded(self, token: Token, formula: PathFormula, inside: object) -> PathFormula:
        if isinstance(formula, Rewarding):
            return formula
        if isinstance(inside, Temporal) and (token in ("U", "X") or isinstance(formula, Windowed)):
            return TemporalFormula(inside)
        if isinstance(formula, TemporalFormula):
            part = lasting(formula.formula)
            if part is None:
                return formula
            raise part.error(
                f"the reward of {part} is not supported",
                "R takes formulas that are settled at some time, such as F phi, and C<=k (the first k steps)",
            )
        if token == "F" and isinstance(formula, Until):
            if formula.bound is None:
                return Reach(formula.right)
            raise self.at(token).error(
                "the reward until a target with a step bound is not supported",
                "write F phi without a bound, or C<=k for the reward of the first k steps",
            )
        raise self.at(token).error(
            f"the reward of {token} is not supported",
            "R takes F phi (until phi is reached), C<=k (the first k steps), C (all of them), I=k (at step k), S (in the "
            "long run) or Cdiscount=0.95",
        )
