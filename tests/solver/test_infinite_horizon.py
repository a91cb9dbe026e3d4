"""Discounted sums, totals and averages: closed forms, one step against rationals, Storm, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import umdp
from oracles.exact import _row_optimum
from properties.bridge import PLAYERS, to_model
from properties.generate import random_model
from solver import reference
from umdp import MDP, IntervalMDP, Policy, Rewards, Status, evaluate, solve
from umdp.errors import ModelError, SpecError
from umdp.solver.graph.decided import Shape
from umdp.solver.methods.discounted import bracket
from umdp.solver.methods.signed import Signed


def chain(*rewards: float) -> MDP:
    """Return a ring that pays these in turn."""
    n = len(rewards)
    return MDP(
        range(n + 1), range(n + 1), [(s + 1) % n for s in range(n)], [1.0] * n, rewards={"r": Rewards(state=rewards)}
    )


@pytest.mark.parametrize("discount", [0.5, 0.95, 1 - 2.0**-30])
def test_a_ring_discounted_is_a_geometric_series(discount: float) -> None:
    g = Fraction(discount)
    exact = (3 - 5 * g + g**2) / (1 - g**3)
    found = solve(chain(3, -5, 1), f"R=? [ Cdiscount={discount!r} ]")
    assert Fraction(found.bracket.lower) <= exact <= Fraction(found.bracket.upper)
    assert found.status is Status.CERTIFIED


def test_a_ring_has_a_period_and_an_average() -> None:
    found = solve(chain(3, -5, 1, 9), "R=? [ S ]")
    assert 2 in found.bracket
    assert found.bracket.width < 1e-9
    assert found.lower.max() - found.upper.min() < 1e-9


def test_two_classes_are_mixed_by_how_often_they_are_reached() -> None:
    # 0 goes to a class that earns 4 a step with probability 1/4, to one that costs 2 otherwise.
    m = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.25, 0.75, 1, 1], rewards={"r": Rewards(state=[100, 4, -2])})
    assert -0.5 in solve(m, "R=? [ S ]").bracket
    assert 0.25 in solve(replace_labels(m, [1]), 'S=? [ "here" ]').bracket


def replace_labels(model: MDP, here: list[int]) -> MDP:
    return MDP(model.state_ptr, model.choice_ptr, model.successor, model.probability, labels={"here": here})


def test_rewards_at_one_time() -> None:
    found = solve(chain(3, -5, 1), "R=? [ I=4 ]")
    assert -5 in found.bracket
    assert found.bracket.width < 1e-12
    assert solve(chain(3, -5, 1), "R=? [ I=0 ]").bracket.lower == 3


def test_totals_by_the_graph() -> None:
    # 0 may wait for nothing, or go to 1, which pays 3 on the way to 2; there nothing is paid, or 1 for ever.
    def model(last: float) -> IntervalMDP:
        rewards = {"r": Rewards(choice=[0, 0, 3, last])}
        bounds = [1, 0.2, 0.3, 1, 1], [1, 0.7, 0.8, 1, 1]
        return IntervalMDP([0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 2, 2], *bounds, rewards=rewards)

    assert solve(model(0), "Rmaxmin=? [ C ]").at(0).lower == pytest.approx(0.6)
    assert solve(model(0), "Rmaxmax=? [ C ]").at(0).upper == pytest.approx(2.1)
    assert solve(model(1), "Rmaxmin=? [ C ]").bracket.lower == np.inf
    waiting = solve(model(1), "Rminmax=? [ C ]")
    assert waiting.bracket.upper == 0
    assert waiting.policy.choice is not None
    assert waiting.policy.choice[0] == 0
    assert waiting.lower[1:].tolist() == [np.inf, np.inf]


def test_one_step_is_within_its_error_of_the_exact_one() -> None:
    checked = 0
    for number in range(60):
        rng = np.random.default_rng([5, number])
        instance = random_model(rng, zero_lower=number % 2 == 0, hard=number % 3 == 0)
        model = to_model(instance)
        shape, given = Shape.of(model), model.rewards["r"]
        signs = [
            None if part is None else part * rng.choice([-1, 1], part.size) for part in (given.state, given.choice)
        ]
        large = max(float(np.abs(part).max(initial=0)) for part in signs if part is not None) > 1e300
        if large:
            continue
        rewards = Rewards(state=signs[0], choice=signs[1], transition=given.transition)
        x = rng.normal(size=model.states) * 10.0 ** rng.integers(-5, 12)
        discount = float(rng.choice([0.3, 0.9, 1.0]))
        for agent, nature in PLAYERS:
            sides = {"agent_max": agent == "max", "nature_max": nature == "max"}
            signed = Signed(shape, model.lower, model.upper, rewards, discount=discount, **sides)
            found = signed.step(x, signed.begin())
            plain, _ = reference.backward(
                shape, signed.low, signed.upper, discount * x, np.zeros(shape.states, dtype=bool),
                reward=signed.reward, paid=given.transition, **sides,
            )  # fmt: skip
            scale = np.abs(x).max() + np.abs(signed.size).max() + np.abs(given.transition).max()
            assert np.abs(found.change - (plain - x)).max() <= 1e-11 * scale
            for s, choices in enumerate(instance.model.choices):
                worth = []
                for c, choice in enumerate(choices, int(model.state_ptr[s])):
                    first = int(model.choice_ptr[c])
                    values = [
                        Fraction(given.transition[first + i]) + Fraction(discount) * Fraction(x[t])
                        for i, (t, _, _) in enumerate(choice.rows)
                    ]
                    base = Fraction(rewards.state[s]) + Fraction(rewards.choice[c])
                    worth.append(base + _row_optimum(choice.row, values, nature == "max"))
                if np.isinf(found.error[s]):  # numbers near the largest there are
                    continue
                exact = (max if agent == "max" else min)(worth) - Fraction(x[s])
                checked += 1
                assert abs(Fraction(found.change[s]) - exact) <= Fraction(found.error[s])
    assert checked > 500


def test_any_values_bracket_a_discounted_sum() -> None:
    model = chain(3, -5, 1)
    exact = Fraction(7, 1) / 7 * (3 - Fraction(5, 2) + Fraction(1, 4)) * 8 / 7
    signed = Signed(Shape.of(model), model.probability, model.probability, model.rewards["r"], agent_max=True,
                    nature_max=True, discount=0.5)  # fmt: skip
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=3) * 10.0**seed
        low, high = bracket(x, signed.step(x, signed.begin()), 0.5)
        assert Fraction(low[0]) <= exact <= Fraction(high[0])


def test_storm_has_the_same_averages_and_discounted_sums(tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    for number in range(8):
        drawn = to_model(random_model(np.random.default_rng([6, number]), states=(3, 6)))
        middle = 0.5 * (drawn.lower + drawn.upper)
        middle = middle / np.repeat(np.add.reduceat(middle, drawn.choice_ptr[:-1]), np.diff(drawn.choice_ptr))
        earned = np.random.default_rng([7, number]).integers(0, 4, drawn.choices).astype(float)
        earned[0] = 1.0
        rewards = {"r": Rewards(choice=earned)}
        model = MDP(drawn.state_ptr, drawn.choice_ptr, drawn.successor, middle, labels=drawn.labels, rewards=rewards)
        umdp.io.write(model, tmp_path / "m.drn")
        theirs = stormpy.build_model_from_drn(str(tmp_path / "m.drn"))
        for way in ("max", "min"):
            for ask, ours in (
                (f'LRA{way}=? [ "goal" ]', f'S{way}=? [ "goal" ]'),
                (f"R{way}=? [ LRA ]", f"R{way}=? [ S ]"),
                (f"R{way}=? [ Cdiscount=0.9 ]", f"R{way}=? [ Cdiscount=0.9 ]"),
                (f"R{way}=? [ C ]", f"R{way}=? [ C ]"),
            ):
                found = stormpy.model_checking(theirs, stormpy.parse_properties(ask)[0])
                value = found.get_value(theirs.initial_states[0])
                assert solve(model, ours).value == pytest.approx(value, rel=1e-4, abs=1e-4), (number, ask)


def test_policies_and_nature_attain_the_value() -> None:
    model = to_model(random_model(np.random.default_rng(8), states=(4, 4)))
    for path in ("Cdiscount=0.9", "S", "C<=4"):
        for agent, nature in PLAYERS:
            spec = f"R{agent}{nature}=? [ {path} ]"
            found = solve(model, spec)
            if path != "C<=4":
                played = evaluate(found.nature, f"R{agent}=? [ {path} ]", found.policy).bracket
                assert played.value == pytest.approx(found.value, rel=1e-6, abs=1e-6)
            assert found.satisfied is None


def test_an_average_of_a_randomised_policy() -> None:
    model = to_model(random_model(np.random.default_rng(12), states=(4, 4)))
    uniform = Policy.uniform(model)
    low, high = (evaluate(model, f"Rmax{n}=? [ S ]", uniform).bracket for n in ("min", "max"))
    plain = evaluate(solve(model, "Rmaxmin=? [ S ]").nature, "Rmax=? [ S ]", uniform).bracket
    assert low.lower - 1e-9 <= plain.value <= high.upper + 1e-9


def test_what_is_refused() -> None:
    cut = IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0, 0, 1], [1, 1, 1], rewards={"r": Rewards(state=[-1, 0])})
    with pytest.raises(SpecError, match="a sum without a last step need not have a value"):
        solve(cut, "Rmaxmin=? [ C ]")
    with pytest.raises(ModelError, match="step-dependent policy"):
        evaluate(cut, "Rmaxmin=? [ S ]", solve(cut, "Rmaxmin=? [ C<=3 ]").policy)


def test_shifted_rewards_are_taken_as_they_were_paid() -> None:
    table = {0: {0: [(0.5, 1, -4.0, True), (0.5, 0, 2.0, False)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    once = MDP.from_gymnasium(table)
    assert -1 / (1 - 0.45) in solve(once, 'R{"reward"}max=? [ Cdiscount=0.9 ]').bracket
    table[0][0] = [(0.5, 1, 4.0, True), (0.25, 0, 2.0, False), (0.25, 1, -1.0, True)]
    table[0][1] = [(1.0, 0, -3.0, False)]
    every = MDP.from_gymnasium(table)
    assert every.rewards["reward"].units.every == 3
    assert solve(every, 'R{"reward"}min=? [ Cdiscount=0.5 ]').value == pytest.approx(-6)


def test_a_discounted_sum_is_learned() -> None:
    shop = MDP([0, 2, 3], [0, 2, 4, 6], [0, 1, 0, 1, 0, 1], [0.5, 0.5, 0.1, 0.9, 0.7, 0.3],
               rewards={"profit": Rewards(choice=[-1, -3, 4])})  # fmt: skip
    ask = 'R{"profit"}max=? [ Cdiscount=0.9 ]'
    best = solve(shop, ask).value
    snapshots = list(umdp.anytime(shop, ask, "confidence-sequence", trajectories=400))
    assert all(each.bracket.lower <= best + 1e-6 for each in snapshots)
    assert snapshots[-1].bracket.lower > snapshots[0].bracket.lower
    assert snapshots[-1].performance == pytest.approx(best, abs=0.5)
    assert snapshots[-1].steps <= 400 * 66  # what comes later hardly counts
    *_, stopped = umdp.anytime(shop, ask, "lui", until=">=-5", trajectories=400)
    assert stopped.reason is not None
    assert stopped.reason.startswith(">= -5")


def test_averages_are_learned() -> None:
    shop = MDP([0, 2, 3], [0, 2, 4, 6], [0, 1, 0, 1, 0, 1], [0.5, 0.5, 0.1, 0.9, 0.7, 0.3], labels={"open": [1]},
               rewards={"profit": Rewards(choice=[-1, -3, 4])})  # fmt: skip
    for ask in ("Rmax=? [ S ]", 'Smax=? [ "open" ]'):
        *_, last = umdp.anytime(shop, ask, "lui", trajectories=300)
        assert last.performance == pytest.approx(solve(shop, ask).value, abs=1e-6)
        assert last.bracket.value == pytest.approx(last.performance, abs=0.1)
    for ask in ("Rmax=? [ S ]", "Rmin=? [ S ]", 'Smax=? [ "open" ]'):
        truth = solve(shop, ask).bracket
        snapshots = list(umdp.anytime(shop, ask, "confidence-sequence", trajectories=300, seed=2))
        for each in snapshots:  # the promise is a bound at any time, from the first on
            assert each.bracket.upper >= truth.lower if "min" in ask else each.bracket.lower <= truth.upper
        assert snapshots[-1].guarantee.kind == "any-time"
        assert snapshots[-1].bracket.value == pytest.approx(truth.value, abs=0.2)
        assert snapshots[-1].bracket.width < snapshots[0].bracket.width


@pytest.mark.parametrize("ask", ["Rmin=? [ C ]", "Rmax=? [ C ]"])
def test_a_total_is_learned(ask: str) -> None:
    """Two ways to the end, one of which costs 3 a step and ends with probability 0.3, the other 1 and 0.5."""
    job = MDP(
        [0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1], [0.7, 0.3, 0.5, 0.5, 1], rewards={"cost": Rewards(choice=[3, 1, 0])}
    )
    truth = 2.0 if "min" in ask else 10.0  # 1 / 0.5 and 3 / 0.3
    snapshots = list(umdp.anytime(job, ask, "confidence-sequence", trajectories=1000))
    for each in snapshots:
        assert each.bracket.upper >= truth if "min" in ask else each.bracket.lower <= truth
    assert snapshots[-1].bracket.value == pytest.approx(truth, rel=0.2)
    assert snapshots[-1].performance == pytest.approx(truth)
    until = "<=3" if "min" in ask else ">=8"
    *_, stopped = umdp.anytime(job, ask, "confidence-sequence", until=until, trajectories=1000)
    assert stopped.reason is not None
    assert stopped.trajectories < 1000
