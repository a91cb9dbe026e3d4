"""Strategies that draw expressions and specifications."""

from hypothesis import strategies as st

from umdp.spec import (
    Cumulative,
    Direction,
    Expression,
    Globally,
    Next,
    Reach,
    RewardBounded,
    Spec,
    Threshold,
    Until,
    Window,
    Windowed,
)  # fmt: skip
from umdp.spec.expression import Binary, Call, Conditional, Junction, Label, Literal, Name, Unary
from umdp.spec.temporal_formula import RewardBound


def numbers(names: tuple[str, ...], arithmetic: tuple[str, ...], depth: int = 3) -> st.SearchStrategy[Expression]:
    """Draw expressions whose value is a number."""
    leaves = st.one_of(st.builds(Literal, st.integers(0, 9)), st.builds(Name, st.sampled_from(names)))
    if depth == 0:
        return leaves
    inner = numbers(names, arithmetic, depth - 1)
    return st.one_of(
        leaves,
        st.builds(Unary, st.just("-"), inner),
        st.builds(Binary, st.sampled_from(arithmetic), inner, inner),
        st.builds(Call, st.sampled_from(["min", "max"]), st.tuples(inner, inner)),
    )


def conditions(
    names: tuple[str, ...] = ("x", "y"),
    flags: tuple[str, ...] = ("on",),
    labels: tuple[str, ...] = ("goal", "odd name"),
    arithmetic: tuple[str, ...] = ("+", "-", "*", "/"),
    depth: int = 3,
) -> st.SearchStrategy[Expression]:
    """Draw expressions whose value is true or false."""
    number = numbers(names, arithmetic, min(depth, 2))
    leaves = st.one_of(
        st.builds(Literal, st.booleans()),
        st.builds(Label, st.sampled_from(labels)),
        st.builds(Name, st.sampled_from(flags)),
        st.builds(Binary, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), number, number),
    )
    if depth == 0:
        return leaves
    inner = conditions(names, flags, labels, arithmetic, depth - 1)
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        leaves,
        st.builds(Unary, st.just("!"), inner),
        st.builds(Junction, st.sampled_from(["&", "|"]), several),
        st.builds(Binary, st.sampled_from(["=>", "<=>", "=", "!="]), inner, inner),
        st.builds(Conditional, inner, inner, inner),
    )


def specs() -> st.SearchStrategy[Spec]:
    """Draw specifications of every shape."""
    condition = conditions(depth=2)
    step = st.one_of(
        st.integers(0, 10**6), st.builds(Name, st.just("k")), numbers(("k", "n"), ("+", "*"), 1).filter(_open)
    )
    bound = st.one_of(st.none(), step)
    window = st.one_of(
        st.tuples(st.integers(1, 99), st.integers(0, 99)).map(lambda pair: Window(pair[0], sum(pair))),
        st.builds(Window, st.builds(Name, st.just("k")), st.builds(Name, st.just("n"))),
    )
    probability = st.one_of(
        st.builds(Until, condition, condition, bound),
        st.builds(Until, st.just(Literal(True)), condition, bound),
        st.builds(Globally, condition, bound),
        st.builds(Next, condition),
        st.builds(Windowed, condition, condition, window),
        st.builds(Windowed, st.just(Literal(True)), condition, window, st.booleans()).filter(_not_next),
        st.builds(RewardBounded, condition | st.just(Literal(True)), condition, rewards_bounds()),
    )
    reward = st.one_of(st.builds(Reach, condition), st.builds(Cumulative, step))
    direction = st.sampled_from(Direction)
    players = st.one_of(st.just((None, None)), st.tuples(direction, st.none()), st.tuples(direction, direction))
    operator = st.sampled_from(["<", "<=", ">", ">="])
    unit = st.none() | st.builds(Threshold, operator, st.floats(0, 1))
    finite = st.none() | st.builds(Threshold, operator, st.floats(allow_nan=False, allow_infinity=False))
    name = st.none() | st.sampled_from(["time", "", "cost per step"])
    return st.one_of(
        st.builds(lambda p, f, t: Spec("P", *p, f, t), players, probability, unit),
        st.builds(lambda p, f, t, n: Spec("R", *p, f, t, n), players, reward, finite, name),
        st.builds(lambda p, f, t: Spec("T", *p, f, t), players, st.builds(Reach, condition), finite),
    )


def rewards_bounds() -> st.SearchStrategy[RewardBound]:
    """Draw bounds on rewards."""
    amount = numbers(("k", "n"), ("+", "*", "/"), 1)
    name = st.sampled_from(["time", "cost per step"])
    return st.one_of(
        st.builds(RewardBound, name, amount, st.none(), above=st.booleans()),
        st.builds(RewardBound, name, st.none(), amount, below=st.booleans()),
        st.builds(RewardBound, name, amount, amount),
        st.builds(lambda name, both: RewardBound(name, both, both), name, amount),
    )


def _not_next(formula: Windowed) -> bool:
    """Tell whether a window is more than one step, which would be read as `Next`."""
    return not formula.window.is_exact


def _open(expression: Expression) -> bool:
    """Tell whether a constant is named, so that the bound is known only with the model."""
    return any(isinstance(node, Name) for node in expression.walk())
