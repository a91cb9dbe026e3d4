"""Returns of environments whose rewards have any sign, against backward induction on the rewards as they are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from umdp import LUI, MDP, ConfidenceSequence, SpecError, anytime, solve
from umdp.learning.validation import check_learnable, return_of, units_of
from umdp.model import Units
from umdp.model.reward_units import in_units, reward_structures
from umdp.run import Config
from umdp.source import Gymnasium
from umdp.spec import Spec
from umdp.statements import Code, DiagnosticCode, codes_of

pytest.importorskip("gymnasium")

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]


def plain_return(table: Table, steps: int, starts: np.ndarray[Any, Any]) -> float:
    """The largest expected sum of rewards, as they are, of so many steps: nothing is paid after an end."""
    value = np.zeros(len(table))
    for _ in range(steps):
        value = np.array(
            [
                max(sum(p * (r + (0.0 if end else value[t])) for p, t, r, end in row) for row in table[s].values())
                for s in range(len(table))
            ]
        )
    return float(starts @ value)


def random_table(seed: int, states: int = 6) -> Table:
    """Gains and losses on every step; the last state is an end."""
    rng = np.random.default_rng(seed)
    table: Table = {}
    for s in range(states):
        table[s] = {}
        for a in range(2):
            targets = rng.choice(states, 3, replace=False)
            shares = rng.dirichlet(np.ones(3))
            table[s][a] = [
                (float(p), int(t), float(np.round(rng.normal(), 2)), bool(t == states - 1))
                for p, t in zip(shares, targets, strict=True)
            ]
    return table


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("steps", [1, 4, 15])
def test_a_shift_in_every_step_is_taken_off_again(seed: int, steps: int) -> None:
    table = random_table(seed)
    mdp = MDP.from_gymnasium(table)
    spec = Spec.parse(f'R{{"reward"}}max=? [ C<={steps} ]')
    units = mdp.rewards["reward"].units
    assert units is not None
    assert units.every > 0
    found = solve(mdp, spec)
    lower, upper = return_of(mdp, spec, found.bracket.lower, found.bracket.upper) or (np.nan, np.nan)
    expected = plain_return(table, steps, np.eye(6)[0])
    assert lower - 1e-9 <= expected <= upper + 1e-9
    assert upper - lower < 1e-4


class Drift:
    """An environment that starts in one of three states, with gains and losses on every step, and an end."""

    def __init__(self, table: Table) -> None:
        self.P = table
        self.initial_state_distrib = np.array([0.5, 0.25, 0.25, 0, 0, 0])

    def reset(self, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        if seed is not None:
            self.random = np.random.default_rng(seed)
        self.s = int(self.random.choice(6, p=self.initial_state_distrib))
        return self.s, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        row = self.P[self.s][action]
        _, self.s, reward, end = row[int(self.random.choice(3, p=[p for p, *_ in row]))]
        return self.s, reward, end, False, {}


@pytest.mark.parametrize("seed", range(3))
def test_the_reset_is_a_step_that_carries_the_shift_too(seed: int) -> None:
    env = Drift(random_table(seed))
    source = Gymnasium(env)
    assert source.truth is not None
    spec = Spec.parse('R{"reward"}max=? [ C<=8 ]')
    bracket = solve(source.truth, spec).bracket
    lower, upper = return_of(source.graph, spec, bracket.lower, bracket.upper) or (np.nan, np.nan)
    expected = plain_return(env.P, 7, env.initial_state_distrib)  # the first of 8 is the reset
    assert lower - 1e-9 <= expected <= upper + 1e-9


def test_what_was_observed_promises_no_more_than_the_process_keeps() -> None:
    table = random_table(1)
    env = Drift(table)

    class Hidden:  # the same, without the table
        reset, step = env.reset, env.step

    source = Gymnasium(Hidden(), actions=[0, 1], episodes=300)
    assert source.truth is None
    *_, last = anytime(source, 'R{"reward"}max=? [ C<=8 ]', ConfidenceSequence(0.05), trajectories=3000)
    assert last.returns is not None
    assert last.guarantee.holds
    assert last.guarantee.codes[-1] is Code.LEAST_SEEN
    expected = plain_return(table, 7, env.initial_state_distrib)
    assert expected - 4 < last.returns[0] <= expected


def test_taxi_until_its_end_against_its_own_rewards() -> None:
    source = Gymnasium("gym:Taxi-v4")
    assert source.truth is not None
    spec = Spec.parse('R{"cost"}min=? [ F "terminated" ]')
    bracket = solve(source.truth, spec).bracket
    lower, upper = return_of(source.graph, spec, bracket.lower, bracket.upper) or (np.nan, np.nan)
    unwrapped = source._protocol.env.unwrapped
    # By 200 steps the best policy has long arrived, so that the bounded optimum is the unbounded one.
    value = np.zeros(500)
    for _ in range(200):
        value = np.array(
            [
                max(
                    sum(p * (r + (0.0 if end else value[t])) for p, t, r, end in row) for row in unwrapped.P[s].values()
                )
                for s in range(500)
            ]
        )
    expected = float(unwrapped.initial_state_distrib @ value)
    assert lower - 1e-9 <= expected <= upper + 1e-9
    assert 7.9 < expected < 8.0


def test_blackjack_ends_are_told_apart_by_what_they_pay() -> None:
    source = Gymnasium("gym:Blackjack-v1", episodes=2000)
    graph = source.graph
    assert graph.rewards["reward"].units == Units(once=-1.0)
    paid = graph.rewards["reward"].transition
    assert paid is not None
    assert set(paid.tolist()) == {0.0, 1.0, 2.0}
    names = {graph.state_name(s) for s in np.flatnonzero(graph.labels["terminated"])}
    assert names == {"end goal", "end fail -1", "end fail 0"}
    *_, last = anytime(source, 'R{"reward"}max=? [ F "terminated" ]', LUI(), trajectories=500)
    assert last.returns is not None
    assert -1 <= last.returns[0] <= 1
    assert last.row()["return_lower"] == last.returns[0]


class Lottery:
    """Pays 1 or 3 for the same step, and later less than ever before."""

    def __init__(self, surprise: int = 10**9) -> None:
        self.surprise, self.steps = surprise, 0

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.random = np.random.default_rng(seed) if seed is not None else self.random
        return "shop", {}

    def step(self, action: int) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.steps > self.surprise:
            return "shop", 0.5, False, False, {}
        return "shop", float(self.random.choice([1.0, 3.0])), False, self.steps % 20 == 0, {}


def test_the_lowest_reward_counts_where_it_varies_and_a_lower_one_takes_the_promise_away() -> None:
    source = Gymnasium(Lottery(), actions=[0], episodes=50)
    assert DiagnosticCode.REWARDS_VARY in codes_of(source.report())
    assert sorted(set(source.graph.rewards["reward"].transition.tolist())) == [0.0, 1.0]
    ask = 'R{"reward"}max=? [ C<=5 ]'
    *_, last = anytime(source, ask, ConfidenceSequence(0.05), trajectories=200)
    assert last.guarantee.holds
    surprised = Gymnasium(Lottery(surprise=1200), actions=[0], episodes=50)
    *_, last = anytime(surprised, ask, ConfidenceSequence(0.05), trajectories=200)
    assert not last.guarantee.holds
    assert Code.PAID_LESS in last.guarantee.codes


def test_which_questions_have_a_return() -> None:
    paid, ending = np.array([-1.0, 20.0, 0.0]), np.array([False, True, False])
    labels = {"terminated": [1], "goal": [1], "far": [0]}
    graph = MDP(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], labels=labels, rewards=reward_structures(paid, ending)[0]
    )
    asked = {
        text: units_of(graph, Spec.parse(text))
        for text in ('Rmin=? [ F "goal" ]', 'Rmin=? [ F "far" ]', "Rmin=? [ C<=3 ]")
    }
    assert list(asked.values()) == [Units(sign=-1, once=20.0), None, None]
    assert units_of(graph, Spec.parse('Pmax=? [ F "goal" ]')) is None


def test_a_sum_until_a_state_of_shifted_steps_is_refused() -> None:
    mdp = MDP.from_gymnasium(random_table(0))
    check_learnable(mdp, Spec.parse("Rmax=? [ C<=3 ]"))
    with pytest.raises(SpecError, match=r"is added to every step.*C<=100"):
        check_learnable(mdp, Spec.parse('Rmax=? [ F "terminated" ]'))


def test_units_travel_with_a_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from umdp.cli import run
    from umdp.run import Store

    monkeypatch.chdir(tmp_path)
    ask = 'R{"cost"}min=? [ F "terminated" ]'
    assert run(["learn", "gym:CliffWalking-v1", ask, "--trajectories", "20", "--quiet", "--out", "a.run"]) == 0
    with Store.open("a.run") as store:
        last = store.last()
        assert last is not None
        assert store.graph().rewards["cost"].units == Units(sign=-1)
        assert (last["return_lower"], last["return_upper"]) == pytest.approx((-last["upper"], -last["lower"]))
    assert run(["resume", "a.run", "--trajectories", "25", "--quiet"]) == 0
    assert Config(model="gym:CliffWalking-v1", question=ask).build().source.graph.rewards["cost"].units is not None


def test_returns_are_rounded_outwards_also_where_shifts_cancel() -> None:
    """0.1 is left of a million: what adding and subtracting it loses is a million times the last digit of the answer."""
    units = Units(every=0.3, reward_error=0.0)
    value, steps = 3_000_000.1, 10_000_000
    low, high = in_units(units, value, value, steps)
    exact = Fraction(value) - Fraction(0.3) * steps
    assert Fraction(low) <= exact <= Fraction(high)
    assert high <= math.nextafter(low, math.inf)


def test_what_a_shift_of_the_rewards_rounds_is_part_of_the_bracket() -> None:
    paid = np.array([0.1, -0.7, 1e-17, 5.3])
    made, _ = reward_structures(paid, np.zeros(4, dtype=bool))
    shifted, units = made["reward"].transition, made["reward"].units
    assert shifted is not None
    assert units is not None
    true = sum((Fraction(float(r)) for r in paid), Fraction())
    collected = sum((Fraction(float(r)) for r in shifted), Fraction())
    low, high = in_units(units, float(collected), float(collected), 4)
    assert Fraction(low) <= true <= Fraction(high)
