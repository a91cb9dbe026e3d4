"""Specifications: round trips, readings, thresholds, rewards and their words."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp.errors import SpecError
from umdp.spec import TRUE, Cumulative, Direction, Expression, Reach, Spec, Threshold, Until

from .generated import conditions, specs

MAX, MIN = Direction.MAX, Direction.MIN
GOAL = Expression.parse('"goal"')


def test_a_zero_has_no_sign() -> None:
    assert Threshold("<", -0.0).describe() == Threshold("<", 0.0).describe()


@given(specs())
def test_round_trip(spec: Spec) -> None:
    text = str(spec)
    again = Spec.parse(text)
    assert again == spec
    assert hash(again) == hash(spec)
    assert str(again) == text
    assert spec.describe() == again.describe()
    assert "\n" not in spec.describe()


@given(conditions())
def test_no_parenthesis_can_be_left_out(expression: Expression) -> None:
    text = str(expression)
    assert Expression.parse(text) == expression
    for start, end in _pairs(text):
        # The parentheses of a call belong to it.
        if start and text[start - 1].isalpha():
            continue
        shorter = text[:start] + text[start + 1 : end] + text[end + 1 :]
        with contextlib.suppress(SpecError):
            assert Expression.parse(shorter) != expression


def _pairs(text: str) -> list[tuple[int, int]]:
    found, open_ = [], []
    for position, character in enumerate(text):
        if character == "(":
            open_.append(position)
        elif character == ")":
            found.append((open_.pop(), position))
    return found


@pytest.mark.parametrize(("kind", "agent"), list(itertools.product("PR", (MAX, MIN))))
def test_readings(kind: str, agent: Direction) -> None:
    spec = Spec.parse(f'{kind}{agent.value}>=0.5 [ F "goal" ]')
    assert spec.robust() == Spec.parse(f'{kind}{agent.value}{agent.flipped.value}>=0.5 [ F "goal" ]')
    assert spec.optimistic() == Spec.parse(f'{kind}{agent.value}{agent.value}>=0.5 [ F "goal" ]')
    assert spec.robust().optimistic().robust() == spec.robust()


def test_the_reward_and_the_place_survive_a_reading() -> None:
    spec = Spec.parse('R{"time"}min=? [ C<=3 ]').robust()
    assert str(spec) == 'R{"time"}minmax=? [ C<=3 ]'
    assert spec.location is not None


@pytest.mark.parametrize("text", ['P>=0.3 [ F "goal" ]', 'P=? [ F "goal" ]', "R<=3 [ C<=3 ]"])
def test_no_reading_without_an_agent(text: str) -> None:
    for reading in (Spec.robust, Spec.optimistic):
        with pytest.raises(SpecError) as caught:
            reading(Spec.parse(text))
        assert f"write {text[0]}max or {text[0]}min" in str(caught.value)
        assert str(caught.value).endswith(f"\n  {text}\n  ^")


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("P>=0.3 [ X true ]", "Pminmin>=0.3 [ X true ]"),
        ("P>0.3 [ X true ]", "Pminmin>0.3 [ X true ]"),
        ("P<=0.3 [ X true ]", "Pmaxmax<=0.3 [ X true ]"),
        ("R<3 [ C<=2 ]", "Rmaxmax<3 [ C<=2 ]"),
        ("Pmaxmin>=0.3 [ X true ]", "Pmaxmin>=0.3 [ X true ]"),
        ("P=? [ X true ]", "P=? [ X true ]"),
    ],
)
def test_bare_thresholds_are_decided_by_the_worst_of_both(text: str, decided: str) -> None:
    assert str(Spec.parse(text).deciding()) == decided


@given(
    st.sampled_from(["<", "<=", ">", ">="]),
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])).map(sorted),
    st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
)
def test_thresholds_decide_what_every_value_between_decides(operator: str, bracket: list[float], value: float) -> None:
    lower, upper = bracket
    passes = {
        eval(f"{point} {operator} {value}")
        for point in (lower, (lower + upper) / 2, value, upper)
        if lower <= point <= upper
    }
    expected = passes.pop() if len(passes) == 1 else None
    assert Threshold(operator, value).holds(lower, upper) is expected


def test_infinity_is_an_answer() -> None:
    assert Threshold(">", 3).holds(float("inf"), float("inf")) is True
    assert Threshold("<=", 3).holds(2, float("inf")) is None


def test_rewards_are_resolved() -> None:
    named, plain = Spec.parse('R{"time"}min=? [ C<=3 ]'), Spec.parse("Rmin=? [ C<=3 ]")
    assert named.resolve_reward(["cost", "time"]) == "time"
    assert plain.resolve_reward(["cost"]) == "cost"
    assert plain.resolve_reward(["cost", ""]) == ""
    assert plain.resolve_reward(["cost", "default"]) == "default"
    assert plain.resolve_reward(["time", "cost"]) == "time"


@pytest.mark.parametrize(
    ("text", "names", "fragment", "column"),
    [
        ('R{"tmie"}min=? [ C<=3 ]', ["time", "cost"], 'the model has: "time", "cost". Did you mean "time"?', 3),
        ("Rmin=? [ C<=3 ]", [], "no rewards", 1),
    ],
)
def test_rewards_that_are_not_there(text: str, names: list[str], fragment: str, column: int) -> None:
    with pytest.raises(SpecError) as caught:
        Spec.parse(text).resolve_reward(names)
    message, line, caret = str(caught.value).split("\n")
    assert fragment in message
    assert (line, caret) == (f"  {text}", " " * (column + 1) + "^")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'Pmaxmin=? [ F "goal" ]',
            'the largest probability, over policies, of reaching "goal", '
            "nature choosing the least favourable probabilities",
        ),
        ('Pmin=? [ F<=1 "goal" ]', 'the smallest probability, over policies, of reaching "goal" within 1 step'),
        (
            'Pminmin<=0.1 [ a|b U<=k "goal" ]',
            'whether the smallest probability, over policies, of reaching "goal" within k steps '
            "while (a | b) holds until then, nature choosing the most favourable probabilities, is at most 0.1",
        ),
        (
            "P>0.9 [ G<=5 x>3 ]",
            "whether, for every policy and every choice of probabilities by nature, "
            "the probability of staying where x > 3 holds through the first 5 steps is more than 0.9",
        ),
        ("P=? [ X x>3 ]", "the probability of being where x > 3 holds after one step"),
        (
            'R{"time"}minmax=? [ F "goal" ]',
            'the smallest expected reward "time", over policies, accumulated until reaching "goal", '
            "nature choosing the least favourable probabilities",
        ),
        ("Rmax=? [ C<=9 ]", "the largest expected reward, over policies, accumulated over the first 9 steps"),
    ],
)
def test_describes_both_players(text: str, words: str) -> None:
    assert Spec.parse(text).describe() == words


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (("P", MAX, None, Reach(GOAL)), "P takes F, G, X or U"),
        (("R", MAX, None, Until(TRUE, GOAL)), "R takes F phi"),
        (("P", None, MAX, Until(TRUE, GOAL)), "as in Pmaxmin"),
        (("P", MAX, None, Until(TRUE, GOAL), None, "time"), 'R{"time"}'),
        (("P", MAX, None, Until(TRUE, GOAL), Threshold("<", 2)), "between 0 and 1"),
        (("R", MAX, None, Cumulative(2), Threshold("<", float("inf"))), "finite"),
    ],
)
def test_specifications_that_make_no_sense_cannot_be_made(arguments: tuple[object, ...], fragment: str) -> None:
    with pytest.raises(SpecError) as caught:
        Spec(*arguments)  # type: ignore[arg-type]
    assert fragment in str(caught.value)


def test_negative_bounds_cannot_be_made() -> None:
    with pytest.raises(SpecError, match="negative"):
        Until(TRUE, GOAL, -1)


def test_equality_ignores_where_it_was_written() -> None:
    assert Spec.parse('Pmax=?[F "goal"]') == Spec.parse('  Pmax =?  [ F   "goal" ] // here')
