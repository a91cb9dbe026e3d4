"""Properties inside properties, and filters, against the same done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from properties.bridge import PLAYERS, to_model
from properties.generate import random_model
from umdp import MDP, IntervalMDP, Policy, Spec, evaluate, solve
from umdp.errors import SpecError


def labelled(model: IntervalMDP, members: np.ndarray) -> IntervalMDP:
    return IntervalMDP(
        model.state_ptr, model.choice_ptr, model.successor, model.lower, model.upper,
        labels={**model.labels, "found": members}, rewards=model.rewards,
    )  # fmt: skip


def test_a_property_inside_is_the_states_in_which_it_holds() -> None:
    sizes = set()
    for number in range(25):
        model = to_model(random_model(np.random.default_rng([21, number]), states=(4, 7)))
        agent, nature = PLAYERS[number % 4]
        inner = f'P{agent}{nature}>=0.3719 [ F "goal" ]'
        found = solve(model, inner)
        members = found.lower >= 0.3719
        sizes.add(int(members.sum()))
        by_hand = labelled(model, members)
        for ask in ("Pmaxmin=? [ G {} ]", 'Pminmax=? [ "left" U<=3 !{} ]', "Smaxmin=? [ {} ]", "Rminmax=? [ F {} ]"):
            nested = solve(model, ask.format(f"({inner})"))
            plain = solve(by_hand, ask.format('"found"'))
            assert nested.bracket == plain.bracket, (number, ask)
            own = evaluate(model, ask.format(f"({inner})"), nested.policy).bracket
            assert own == evaluate(by_hand, ask.format('"found"'), Policy(by_hand, nested.policy.choice)).bracket
    assert len(sizes) > 2


def test_models_that_share_a_graph_do_not_share_what_holds_inside() -> None:
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1], labels={"goal": [1]}
    )
    other = model.graph.with_bounds([0.6, 0.1, 1, 1], [0.9, 0.4, 1, 1])
    ask = 'Pmaxmin=? [ F (P>=0.5 [ F "goal" ] & !"goal") ]'
    assert [solve(each, ask).value for each in (model, other, model)] == [0, 1, 0]


def test_a_bracket_that_has_the_threshold_inside_is_refused() -> None:
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1], labels={"goal": [1]}
    )
    with pytest.raises(SpecError, match=r"holds in state 0 is not decided: its value there lies between 0\.1999"):
        solve(model, 'Pmaxmin=? [ F P>=0.2 [ X "goal" ] ]')
    with pytest.raises(SpecError, match="must say what nature does"):
        solve(to_model(random_model(np.random.default_rng(3))), 'Pmaxmin=? [ F Pmax>=0.2 [ X "goal" ] ]')


def test_filters_look_at_the_values_of_states() -> None:
    for number in range(15):
        model = to_model(random_model(np.random.default_rng([22, number]), states=(4, 7)))
        ask = 'Pmaxmin=? [ "left" U "goal" ]'
        plain = solve(model, ask)
        some = model.labels["left"]
        low, high = plain.lower[some], plain.upper[some]
        answers = {
            "min": (low.min(), high.min()),
            "max": (low.max(), high.max()),
            "range": (low.min(), high.max()),
            "first": (low[0], high[0]),
            "print": (low.min(), high.max()),
        }
        for operator, (below, above) in answers.items():
            found = solve(model, f'filter({operator}, {ask}, "left")')
            assert (found.bracket.lower, found.bracket.upper) == (below, above), operator
        average = solve(model, f'filter(avg, {ask}, "left")').bracket
        assert average.lower <= low.mean() + 1e-15
        assert average.upper >= high.mean() - 1e-15
        assert average.width < 1e-6
        best = solve(model, f'filter(argmax, {ask}, "left")').shown
        assert best is not None
        assert int(np.flatnonzero(some)[low.argmax()]) in best.tolist()
        bare = ask.replace("=?", ">=0.4177")
        count = solve(model, f'filter(count, {bare}, "left")')
        assert count.bracket.lower == (low >= 0.4177).sum()
        assert count.bracket.upper == (high >= 0.4177).sum()
        assert solve(model, f'filter(forall, {bare}, "left")').satisfied == bool((low >= 0.4177).all())
        assert solve(model, f'filter(exists, {bare}, "left")').satisfied == bool((low >= 0.4177).any())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('filter(least, P=? [ F "a" ])', "unknown filter least"),
        ('filter(count, P=? [ F "a" ])', "count needs a threshold"),
        ('filter(min, P>=0.1 [ F "a" ])', "min takes no threshold"),
        ("filter(min, x>2)", "a filter takes one property"),
        ('Pmax=? [ F P=? [ F "a" ] ]', "P inside a formula needs a threshold"),
        ('Pmax=? [ F Pmax=? [ F "a" ] > 0.5 ]', "needs a threshold"),
    ],
)
def test_what_filters_and_inner_properties_must_be(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Spec.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        'filter(min, Pmaxmin=? [ F "a" ])',
        'filter(count, P>=0.5 [ G x > 2 ], !"b")',
        'Pmin=? [ "a" & P>=0.5 [ F "b" ] U Rmax<=3 [ C<=4 ] ]',
        'Smax>=0.5 [ P<0.1 [ X "a" ] ]',
    ],
)
def test_they_are_printed_as_they_are_read(text: str) -> None:
    assert Spec.parse(str(Spec.parse(text))) == Spec.parse(text)
    assert Spec.parse(text).describe()


def test_a_threshold_may_be_written_with_constants() -> None:
    """Of the model, in a property and in those inside; the answer names the number."""
    coin = MDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"goal": [1]}, constants={"least": 0.25}
    )
    assert solve(coin, 'Pmax>=least [ F "goal" ]').satisfied is True
    above = solve(coin, 'Pmax>3*least [ F "goal" ]')
    assert above.satisfied is False
    assert str(above.spec) == 'Pmax>0.75 [ F "goal" ]'
    inside = solve(coin, 'Pmax=? [ F Pmax>=3*least [ X "goal" ] ]')
    assert 0.5 in inside.bracket
    asked = Spec.parse('Pmax>=least+0.1 [ F "goal" ]')
    assert Spec.parse(str(asked)) == asked
    for wrong, said in (("most", "unknown name most"), ("5*least", "threshold 1.25 is not between 0 and 1")):
        with pytest.raises(SpecError, match=said):
            solve(coin, f'Pmax>={wrong} [ F "goal" ]')


@pytest.mark.parametrize("formula", ['X "goal"', 'F<=2 "goal"', 'G<=3 "goal"', '"goal" U<=2 "goal"'])
def test_what_is_sure_within_some_steps_is_exactly_sure(formula: str) -> None:
    """Thirds do not sum to 1 in floating-point numbers; that all three lead to the goal is known without rounding."""
    thirds = IntervalMDP(
        [0, 1, 2, 3, 4, 5], [0, 3, 4, 5, 6, 8], [1, 2, 3, 1, 2, 3, 0, 4], [1 / 3, 1 / 3, 1 / 3, 1, 1, 1, 0.1, 0.8],
        [1 / 3, 1 / 3, 1 / 3, 1, 1, 1, 0.2, 0.9], labels={"goal": [0, 1, 2, 3]},
    )  # fmt: skip
    for players in PLAYERS:
        found = solve(thirds, f"P{players[0]}{players[1]}=? [ {formula} ]")
        assert found.lower[:4].tolist() == found.upper[:4].tolist() == [1.0] * 4
        assert found.upper[4] < 1.0
        inside = solve(thirds, f"Pmaxmin=? [ F P{players[0]}{players[1]}>=1 [ {formula} ] ]")
        assert inside.bracket.lower == 1.0
