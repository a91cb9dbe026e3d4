"""Direct evidence: what playing a policy proves of it, and how often that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import binom

import umdp
from umdp import MDP, ModelError, Spec, certify, solve
from umdp.analysis import monte_carlo as evidence
from umdp.analysis.episode_account import Played, account_of
from umdp.benchmark import BENCHMARKS
from umdp.cli import run
from umdp.learn import ConfidenceSequence
from umdp.statements import Code

COIN = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.3, 0.7, 1, 1], labels={"heads": [1]})
HEADS = 'Pmax=? [ F "heads" ]'


def biased(p: float) -> MDP:
    return COIN.graph.with_probability([p, 1 - p, 1, 1])


def test_the_bound_is_that_of_the_beta_mixture() -> None:
    found = certify(solve(COIN, HEADS).policy, COIN, HEADS, episodes=100, error_rate=0.05)
    k, n = round(found.mean * 100), 100
    room = betaln(0.5 + k, 0.5 + n - k) - betaln(0.5, 0.5) + np.log(0.05)
    p = found.bound
    assert k * np.log(p) + (n - k) * np.log1p(-p) == pytest.approx(room, abs=1e-6)
    assert found.at_least
    assert p < k / n


@pytest.mark.parametrize(("head", "side"), [("Pmax", "at least"), ("Pmin", "at most")])
@pytest.mark.parametrize("p", [0.5, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.02, 0.9))])
def test_it_is_false_no_more_often_than_it_says_whenever_one_stops(head: str, side: str, p: float) -> None:
    """At 20 %, looked at after 100, 200, 400, ... episodes, at the worst of these times."""
    coin, question = biased(p), f'{head}=? [ F "heads" ]'
    policy = solve(coin, question).policy
    wrong = 0
    for seed in range(400):
        found = certify(policy, coin, question, error_rate=0.2, episodes=1600, seed=seed)
        assert found.as_dict()["side"] == side
        wrong += any(bound > p if found.at_least else bound < p for _, bound in found.looks)
    assert wrong <= binom.ppf(0.9999, 400, 0.2)
    assert wrong > 0 or p == 0.02  # and it is no looser than it needs to be


def test_rewards_between_nothing_and_the_most_are_bounded_by_the_same_sequence() -> None:
    """An episode earns 0, 1, 2 or 3: numbers in between, of which the coin with their mean is the worst."""
    lottery = MDP(
        [0, 1, 2, 3, 4, 5], [0, 4, 5, 6, 7, 8], [1, 2, 3, 4, 4, 4, 4, 4], [0.4, 0.3, 0.2, 0.1, 1, 1, 1, 1],
        labels={"end": [4]}, rewards={"won": umdp.Rewards(state=np.array([0.0, 3.0, 2.0, 1.0, 0.0]))},
    )  # fmt: skip
    question = 'Rmax=? [ F "end" ]'
    policy, value = solve(lottery, question).policy, 0.4 * 3 + 0.3 * 2 + 0.2
    wrong = 0
    for seed in range(300):
        found = certify(policy, lottery, question, error_rate=0.2, episodes=1600, most=3.0, seed=seed)
        wrong += any(bound > value for _, bound in found.looks)
        assert found.bound > 0.85 * value
    assert wrong <= binom.ppf(0.9999, 300, 0.2)
    at_most = certify(policy, lottery, 'Rmin=? [ F "end" ]', episodes=20_000, most=3.0)
    assert value < at_most.bound < 1.05 * value
    with pytest.raises(ModelError, match=r"an episode cost 3, more than the most that was said, 2\.5"):
        certify(policy, lottery, 'Rmin=? [ F "end" ]', most=2.5)
    with pytest.raises(
        ModelError, match=r"one that was never seen may cost anything. Say the most that an episode can"
    ):
        certify(policy, lottery, 'Rmin=? [ F "end" ]')
    with pytest.raises(ModelError, match="most is for an expected reward"):
        certify(solve(COIN, HEADS).policy, COIN, HEADS, most=1.0)


def test_fractions_are_worth_no_more_than_coins_of_the_same_mean() -> None:
    """The mean of a likelihood ratio, over numbers in [0, 1] with a mean of p: at most 1, whatever else they are."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        x, weight = rng.random(5), rng.dirichlet(np.ones(5))
        p, q = float(weight @ x), rng.random()
        assert weight @ ((q / p) ** x * ((1 - q) / (1 - p)) ** (1 - x)) <= 1 + 1e-12


@pytest.mark.parametrize(
    ("question", "worst"),
    [
        ('Pmax=? [ F "heads" ]', 0.0), ('Pmin=? [ F "heads" ]', 1.0), ('Pmax=? [ G !"heads" ]', 0.0),
        ('Pmin=? [ G !"heads" ]', 1.0),
    ],
)  # fmt: skip
def test_what_was_cut_short_counts_as_the_worst(question: str, worst: float) -> None:
    """A walk of a hundred steps to either end, cut after three: nothing is known of it."""
    n = 101
    line = MDP(
        np.arange(n + 1), np.concatenate([[0], 1 + 2 * np.arange(n - 1), [2 * (n - 1)]]),
        np.concatenate([[0], np.stack([np.arange(n - 2), np.arange(2, n)], 1).ravel(), [n - 1]]),
        np.concatenate([[1.0], np.full(2 * (n - 2), 0.5), [1.0]]), initial=50, labels={"heads": [0]},
    )  # fmt: skip
    found = certify(solve(line, question).policy, line, question, episodes=200, horizon=3)
    assert (found.mean, found.cut, found.bound) == (worst, 200, worst)


def test_rewards_below_nothing_and_episodes_of_which_the_policy_knows_nothing() -> None:
    """Below nothing the sequence proves nothing; where the policy has nothing to say, what was done is not its own."""
    account = account_of(COIN, Spec.parse(HEADS))
    none, some = np.zeros(2, dtype=np.bool_), np.array([False, True])
    with pytest.raises(ModelError, match="an episode earns -1, less than nothing"):
        evidence._shares(Played("reward", np.array([2.0, -1.0]), 2, none, none), account, 4.0)
    assert evidence._shares(Played("reward", np.array([2.0, 3.0]), 2, none, some), account, 4.0).tolist() == [0.5, 0.0]
    assert evidence._shares(Played("reward", np.array([2.0, 9.0]), 2, none, none), account, 4.0).tolist() == [0.5, 1.0]


def test_it_stops_when_enough_is_promised() -> None:
    bench = BENCHMARKS["aircraft"]
    model = bench.build()
    policy = solve(model, bench.spec).policy
    found = certify(policy, model, bench.spec, until=">=0.25", episodes=10**6)
    assert 0.25 <= found.bound < 0.3024
    assert found.episodes < 20_000
    assert found.looks[-2][1] < 0.25
    assert certify(policy, model, bench.spec, seconds=1e-9).episodes == 100


def test_an_environment_is_played_as_it_is() -> None:
    pytest.importorskip("gymnasium")
    bench = 'Pmax=? [ F "goal" ]'
    source = umdp.source.Gymnasium("gym:FrozenLake-v1")
    policy = solve(source.truth, bench).policy
    found = certify(policy, source, bench, episodes=400)
    assert found.guarantee.codes == (Code.ALIKE,)
    assert 0.5 < found.bound < solve(source.truth, bench).value


def test_the_policy_of_a_run_on_the_command_line(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["learn", "aircraft", "--trajectories", "2000", "--out", "a.run", "--quiet"]) == 0
    capsys.readouterr()
    assert run(["certify", "a.run", "--trajectories", "5000"]) == 0
    said = capsys.readouterr().out
    assert 'Pmax=? [ !"collision" U "goal" ] with the policy of a.run, in aircraft' in said
    assert "promised  at least 0.2" in said
    assert "with probability 95 %, whenever you stop\n" in said
    assert "learned   at least 0." in said
    assert run(["certify", "a.run", "--trajectories", "5000", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["episodes"], row["side"], row["guarantee"]["kind"]) == (5000, "at least", "any-time")
    assert row["bound"] < 0.3024
    assert run(["certify", "a.run", "--until", ">=0.9", "--trajectories", "300"]) == 1
    assert ">=0.9 was not reached" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--until", "<=0.3"], "--until"),
        (["--trajectories", "0"], "--trajectories must be a whole number, more than 0, not 0"),
        (["--most", "3"], "most is for an expected reward"),
        (["--confidence", "1.5"], "is not between 0 and 1"),
        (["--horizon", "0"], "horizon must be a whole number of steps, at least 1, not 0"),
        (["--seed", "-1"], "seed must be a whole number, at least 0, not -1"),
    ],
)
def test_what_makes_no_sense_is_refused(options: list[str], said: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["learn", "bandit", 'Pmax=? [ F "goal" ]', "--trajectories", "5", "--out", "b.run", "--quiet"]) in (0, 1)
    capsys.readouterr()
    assert run(["certify", "b.run", *options]) == 2
    assert said in capsys.readouterr().err


def test_the_sequence_is_the_learners() -> None:
    coin = umdp.Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])
    learner = ConfidenceSequence(0.05).bind(coin).learn([30, 70, 0])
    played = ConfidenceSequence(0.05).ends(np.array([30.0]), np.array([70.0]), 0.05)
    assert learner.lower[0] == pytest.approx(played[0], rel=1e-9)
