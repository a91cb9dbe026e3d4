"""Paths with a bound on a reward: exact rationals from the definition, Storm, closed forms, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import umdp
import umdp.io
from umdp import MDP, IntervalMDP, Rewards, Spec, SpecError, evaluate, solve
from umdp.automata.product import Product, multiply
from umdp.cli import run
from umdp.solver.confirm.products import examine_product
from umdp.solver.result import Status
from umdp.solver.temporal import accepting, lift
from umdp.verify import verify_content


def drawn(rng: np.random.Generator) -> IntervalMDP:
    """Return a model of a few states, whose every step pays 1, 2 or 3, on all of the three parts."""
    states = int(rng.integers(3, 6))
    sizes = rng.integers(1, 3, states)
    rows = rng.integers(1, 4, int(sizes.sum()))
    rows = np.minimum(rows, states)
    successor = np.concatenate([rng.choice(states, k, replace=False) for k in rows])
    middle = np.concatenate([rng.multinomial(8, np.ones(k) / k) / 8 for k in rows])
    lower, upper = np.maximum(middle - 1 / 16, 0), np.minimum(middle + 1 / 16, 1)
    return IntervalMDP(
        np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(rows)), successor, lower, upper,
        labels={"goal": rng.random(states) < 0.4, "safe": rng.random(states) < 0.7},
        rewards={"time": Rewards(
            state=rng.integers(0, 2, states) / 2, choice=rng.integers(1, 3, rows.size) / 2,
            transition=rng.integers(0, 2, successor.size) / 2,
        )},
    )  # fmt: skip


def by_definition(model: IntervalMDP, least: Fraction, most: Fraction, agent_max: bool, nature_max: bool) -> Fraction:
    """Return the value of reaching the goal through safe states with so much paid: by recursion, all in rationals."""
    paid = model.rewards["time"]

    @cache
    def value(s: int, spent: Fraction) -> Fraction:
        if spent > most:
            return Fraction(0)
        if model.labels["goal"][s] and spent >= least:
            return Fraction(1)
        if not model.labels["safe"][s]:
            return Fraction(0)
        found = []
        for c in range(model.state_ptr[s], model.state_ptr[s + 1]):
            ways = []
            for t in range(model.choice_ptr[c], model.choice_ptr[c + 1]):
                cost = Fraction(paid.state[s]) + Fraction(paid.choice[c]) + Fraction(paid.transition[t])
                ends = Fraction(model.lower[t]), Fraction(model.upper[t])
                ways.append((value(int(model.successor[t]), spent + cost), *ends))
            ways.sort(reverse=nature_max)
            rest = 1 - sum(low for _, low, _ in ways)
            total = Fraction(0)
            for worth, low, high in ways:
                more = min(high - low, rest)
                total, rest = total + worth * (low + more), rest - more
            found.append(total)
        return max(found) if agent_max else min(found)

    return value(model.initial, Fraction(0))


@pytest.mark.parametrize("number", range(40))
def test_values_are_those_of_the_definition(number: int) -> None:
    rng = np.random.default_rng([5, number])
    model = drawn(rng)
    least, most = sorted(Fraction(int(each), 2) for each in rng.integers(0, 9, 2))
    bounds = (f"<={float(most)}", Fraction(0), most), (f"[{float(least)},{float(most)}]", least, most)
    for bound, low, high in (*bounds, (f"={float(most)}", most, most)):
        for agent, nature in product(("max", "min"), repeat=2):
            exact = by_definition(model, low, high, agent == "max", nature == "max")
            found = solve(model, f'P{agent}{nature}=? [ "safe" U{{"time"}}{bound} "goal" ]')
            assert Fraction(found.bracket.lower) <= exact <= Fraction(found.bracket.upper), (bound, agent, nature)
            assert found.status is Status.CERTIFIED
            assert found.diagnostics == ()


PROGRAM = """mdp
module job
  x : [0..4];
  [fast] x<4 -> 0.6 : (x'=x+1) + 0.3 : (x'=0) + 0.1 : true;
  [slow] x<4 -> 0.9 : (x'=x+1) + 0.1 : true;
  [free] x=1 | x=4 -> 0.5 : (x'=0) + 0.5 : (x'=2);
endmodule
rewards "time" [fast] true : 1; [slow] true : 2; x=3 : 1; endrewards
label "done" = x=4;
label "start" = x=0;
"""
# Storm answers one bound a path, and none of more than 0.
ASKED = [
    'F{"time"}<=5 "done"', 'F{rew{"time"}<6} "done"', 'F^{rew{"time"}>7} "done"', 'F{"time"}>=8 "start"',
    '(x<3) U{"time"}<=3 x=3', 'F{"time"}<=0 x=2', 'F{"time"}>=1 "start"', 'Fsteps<=4 "done"',
]  # fmt: skip


@pytest.mark.parametrize("path", ASKED)
def test_storm_agrees(path: str, tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    (tmp_path / "job.prism").write_text(PROGRAM)
    program = stormpy.parse_prism_program(str(tmp_path / "job.prism"))
    model = umdp.io.read(tmp_path / "job.prism")
    for agent in ("max", "min"):
        formula = stormpy.parse_properties(f"P{agent}=? [ {path} ]", program)
        theirs = stormpy.build_model(program, formula)
        value = stormpy.model_checking(theirs, formula[0], only_initial_states=True).get_value(theirs.initial_states[0])
        found = solve(model, f"P{agent}=? [ {path} ]")
        assert found.value == pytest.approx(value, abs=1e-5), agent
        assert found.status is Status.CERTIFIED


def test_decimals_add_up_as_they_are_written() -> None:
    chain = MDP(
        range(5),
        range(5),
        [1, 2, 3, 3],
        np.ones(4),
        labels={"end": [3]},
        rewards={"c": Rewards(state=[0.1, 0.1, 0.1, 0])},
    )
    assert solve(chain, 'P=? [ F{"c"}<=0.3 "end" ]').value == 1
    assert solve(chain, 'P=? [ F{"c"}<0.3 "end" ]').value == 0
    assert solve(chain, 'P=? [ F{"c"}>=3/10 "end" ]').value == 1


def test_large_units_are_few_levels() -> None:
    chain = MDP(
        range(3), [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels={"end": [1]}, rewards={"c": Rewards(state=[1e6, 0])}
    )
    found = solve(chain, 'P=? [ F{"c"}<=3.5e6 "end" ]')
    assert found.value == pytest.approx(1 - 0.5**3)
    assert found.model.states < 10


def test_transitions_to_one_state_that_pay_differently() -> None:
    rows = [0, 1, 2], [0, 2, 3], [1, 1, 1]
    more = {"labels": {"end": [1]}, "rewards": {"c": Rewards(transition=[1, 2, 0]), "d": Rewards(transition=[0, 5, 0])}}
    two = IntervalMDP(*rows, [0.25, 0.75, 1], [0.25, 0.75, 1], **more)
    for bound, value in (("<=0", 0), ("<=1", 0.25), ("<=2", 1), (">1", 0.75), (">=3", 0), (">=1", 1)):
        found = solve(two, f'P=? [ F{{"c"}}{bound} "end" ]')
        assert found.value == pytest.approx(value)
        assert found.diagnostics == ()
    with pytest.raises(SpecError, match="known on average alone"):  # which is what an MDP keeps
        solve(MDP(*rows, [0.25, 0.75, 1], **more), 'P=? [ F{"c"}<=1 "end" ]')


def test_the_judge_refuses_products_that_count_otherwise() -> None:
    refused = 0
    for number in range(40):
        model = drawn(np.random.default_rng([9, number]))
        spec = Spec.parse('Pmaxmin=? [ "safe" U{"time"}<=3 "goal" ]')
        product = lift(model, spec, True, False)
        assert all(examine_product(product, model, spec, (True, False)))
        reading = product.reading
        assert reading.arrival is not None
        other = replace(reading, arrival=(reading.arrival + 1) % reading.automaton.letters.size)
        assert not any(examine_product(replace(product, reading=other), model, spec, (True, False)))
        made = multiply(model, other)  # counted wrongly, and said to be counted right
        found = accepting(made)
        wrong = Product.of(
            made, spec, product.spec, found.goal, found.stay, None, (found.pair, found.rank, found.level)
        )
        wrong = replace(wrong, reading=reading)
        same = np.array_equal(wrong.memory, product.memory) and np.array_equal(wrong.state, product.state)
        assert same or not any(examine_product(wrong, model, spec, (True, False)))
        refused += not same
    assert refused > 5  # the others are settled at once


def test_answers_are_proved_kept_and_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    model = drawn(rng)
    asked = 'Pmaxmin=? [ F{"time"}<=4 "goal" ]'
    found = solve(model, asked)
    assert verify_content(found.certificate().content).valid
    again = evaluate(model, asked, found.policy)
    assert again.bracket.lower == pytest.approx(found.bracket.lower)
    umdp.io.write(model.graph.with_bounds(model.lower, model.upper), tmp_path / "m.umb")
    best = str(tmp_path / "best.json")
    assert run(["check", str(tmp_path / "m.umb"), asked, "--policy", best]) == 0
    assert run(["check", str(tmp_path / "m.umb"), asked, "--evaluate", best, "--json"]) == 0
    import msgspec

    row = msgspec.json.decode(capsys.readouterr().out.splitlines()[-1])
    assert row["value"] == pytest.approx(found.value)
    truth = MDP(
        model.state_ptr, model.choice_ptr, model.successor, found.nature.probability[: model.transitions] * 0 + 1
        / np.repeat(np.diff(model.choice_ptr), np.diff(model.choice_ptr)), labels=model.labels, rewards=model.rewards,
    )  # fmt: skip
    best_of_truth = solve(truth, 'Pmax=? [ F{"time"}<=4 "goal" ]')
    played = umdp.simulate(best_of_truth.policy, truth, 'Pmax=? [ F{"time"}<=4 "goal" ]', episodes=3000)
    assert played.lower <= best_of_truth.value <= played.upper


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('Pmax=? [ F{"tme"}<=3 "goal" ]', 'unknown reward "tme".*Did you mean "time"'),
        ('Pmax=? [ F{"odd"}<=3 "goal" ]', "multiples of .* too many"),
        ('Pmax=? [ F{"loss"}<=3 "goal" ]', 'a step pays -1 of the reward "loss" .* at least 0'),
        ('Pmax=? [ F{"time"}<0 "goal" ]', "no accumulated reward is less than 0"),
        ('Pmax=? [ F{"time"}[3,2] "goal" ]', "no reward is both at least 3 and at most 2"),
        ('Pmax=? [ F{"time"}<=true "goal" ]', "the reward bound is a truth value"),
        ('Pmax=? [ G{"time"}<=3 "goal" ]', "G takes no reward bound"),
        ('Pmax=? [ (F{"time"}<=3 "goal") & (G "goal") ]', "a bound on a reward stands alone"),
        ('Pmax=? [ F{rew{"time"}<=3, rew{"loss"}<=3} "goal" ]', "several bounds on one path are not supported"),
        ('Pmax=? [ F{time}<=3 "goal" ]', r'the reward name time stands without quotes .*; write F\{"time"\}'),
        ('Rmax=? [ F{"time"}<=3 "goal" ]', "the reward of F is not supported"),
    ],
)
def test_what_is_refused(asked: str, said: str) -> None:
    rewards = {"time": Rewards(choice=[1, 0]), "odd": Rewards(choice=[1 / 3, 1]), "loss": Rewards(choice=[-1, 0])}
    model = MDP(range(3), range(3), [1, 1], [1.0, 1.0], labels={"goal": [1]}, rewards=rewards)
    with pytest.raises(SpecError, match=said):
        solve(model, asked)


def test_learning_says_that_it_does_not_count() -> None:
    model = MDP(range(3), range(3), [1, 1], [1.0, 1.0], labels={"goal": [1]}, rewards={"time": Rewards(choice=[1, 0])})
    with pytest.raises(SpecError, match="learning does not count rewards up to a bound"):
        next(iter(umdp.anytime(model, 'Pmax=? [ F{"time"}<=3 "goal" ]', "lui", trajectories=10)))


@pytest.mark.parametrize("path", [*ASKED, 'F{"time"}<=(-1 + k) (-x = 3)', '"a" U{"time"}>2*k "b"'])
def test_what_is_printed_reads_back(path: str) -> None:
    spec = Spec.parse(f"Pmaxmin>=0.5 [ {path} ]")
    assert Spec.parse(str(spec)) == spec
    assert spec.describe()
