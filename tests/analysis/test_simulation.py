"""Policies that are played: in environments and on models, against closed forms and against plain loops."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import umdp
from umdp import LUI, MDP, ModelError, Policy, Rewards, anytime, evaluate, simulate, solve
from umdp.analysis.coverage import clopper_pearson
from umdp.analysis.simulation import student
from umdp.cli import run
from umdp.run import Store
from umdp.source import Environment, Gymnasium

gymnasium = pytest.importorskip("gymnasium")

COST = 'R{"cost"}min=? [ F "terminated" ]'


def covers(played: umdp.Simulation, truth: float) -> bool:
    """Whether the truth is within twice the interval: at a fixed seed that is a test, not a matter of luck."""
    slack = played.upper - played.lower
    return played.lower - slack / 2 <= truth <= played.upper + slack / 2


# -- on models -----------------------------------------------------------------------------------------------


def walk(loss: float = 0.1) -> MDP:
    """Three steps to the goal, each of which may be the last; or a detour without danger, which is twice as long."""
    names = ["a", "b", "c", "goal", "trap"]
    moves = {"a": "b", "b": "c", "c": "goal"}
    return MDP.from_function(
        "a",
        lambda s: (
            {"stay": {s: 1}}
            if s in ("goal", "trap")
            else {"go": {moves[s]: 1 - loss, "trap": loss}, "wait": {s: 0.5, moves[s]: 0.5}}
        ),
        labels={"goal": lambda s: s == "goal", "trap": lambda s: s == "trap"},
        rewards={"time": lambda s, a: 0 if s in names[3:] else 1},
    )


QUESTIONS = [
    'Pmax=? [ F "goal" ]',
    'Pmin=? [ F "trap" ]',
    'Pmax=? [ F<=4 "goal" ]',
    'Pmax=? [ !"trap" U<=4 "goal" ]',
    'Pmax=? [ G !"trap" ]',
    'Pmin=? [ G<=2 !"goal" ]',
    'Pmax=? [ X !"trap" ]',
    'Rmin=? [ F "goal" ]',
    'R{"time"}max=? [ C<=3 ]',
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_model_gives_what_the_solver_says(question: str) -> None:
    mdp = walk()
    found = solve(mdp, question)
    played = simulate(found.policy, mdp, question, episodes=20_000, promised=(found.bracket.lower, found.bracket.upper))
    assert covers(played, found.value)
    assert played.kept is not False
    assert played.cut == 0
    assert played.quantity == ("probability" if question.startswith("P") else "return")


def test_a_randomised_policy_on_a_model() -> None:
    mdp, question = walk(), 'Pmax=? [ F "goal" ]'
    policy = Policy.uniform(mdp)
    assert covers(simulate(policy, mdp, question, episodes=20_000), evaluate(mdp, question, policy).value)


def test_what_is_never_reached_is_said() -> None:
    mdp = walk(loss=0.5)
    always = Policy.from_actions(mdp.graph, {"a": "go", "b": "go", "c": "go"})
    played = simulate(always, mdp, 'Rmin=? [ F "goal" ]', episodes=2000)
    assert 0.8 < played.cut / 2000 < 0.95  # one in eight arrives
    assert "ended or were cut off before the property was decided" in str(played)


def test_what_cannot_be_played() -> None:
    mdp = walk()
    policy = solve(mdp, QUESTIONS[0]).policy
    with pytest.raises(ModelError, match="a model with intervals cannot be played"):
        simulate(policy, mdp.with_intervals(0.1), QUESTIONS[0])
    with pytest.raises(ModelError, match=r'there is no state "a"; one of the names is "\(0,0\)"'):
        simulate(policy, umdp.benchmark.grid(), 'Pmax=? [ F "goal" ]')
    for wrong in ({"episodes": 0}, {"seed": -1}, {"horizon": 0}):
        with pytest.raises(ModelError):
            simulate(policy, mdp, QUESTIONS[0], **wrong)


# -- intervals -----------------------------------------------------------------------------------------------


def test_intervals_against_their_definitions() -> None:
    from scipy.stats import binom, t

    lower, upper = clopper_pearson(7, 50)
    assert binom.sf(6, 50, lower) == pytest.approx(0.025)
    assert binom.cdf(7, 50, upper) == pytest.approx(0.025)
    assert clopper_pearson(50, 50)[1] == 1.0
    values = np.array([1.0, 4.0, 2.0, 8.0])
    expected = t.interval(0.95, 3, values.mean(), values.std(ddof=1) / 2)
    assert student(values) == pytest.approx(expected)
    assert student(np.array([3.0])) == (-math.inf, math.inf)


# -- in environments -----------------------------------------------------------------------------------------


def own_loop(env: Any, policy: Policy, episodes: int, seed: int = 0) -> float:
    """The mean return by the loop that a user would write."""
    total = 0.0
    for number in range(episodes):
        observation, _ = env.reset(seed=seed + number)
        done = False
        while not done:
            observation, reward, terminated, truncated, _ = env.step(policy.act(observation))
            total += reward
            done = terminated or truncated
    return total / episodes


@pytest.mark.parametrize("name", ["gym:Taxi-v4", "gym:CliffWalking-v1"])
def test_act_and_simulate_reach_the_optimum(name: str) -> None:
    source = Gymnasium(name)
    assert source.truth is not None
    best = solve(source.truth, COST)
    policy = Policy(source.graph, best.policy.choice)
    units = source.graph.rewards["cost"].units
    assert units is not None
    optimum = units.once - best.value
    played = simulate(policy, source, COST, episodes=400, promised=(best.bracket.lower, best.bracket.upper))
    assert (played.quantity, played.unseen, played.cut, played.at_least) == ("return", 0, 0, True)
    assert covers(played, optimum) or played.mean == pytest.approx(optimum)
    assert played.promised == pytest.approx(optimum, abs=1e-3)
    assert own_loop(source.env, policy, 300) == pytest.approx(optimum, abs=0.6)


def test_a_bounded_question_counts_the_steps_of_the_environment() -> None:
    source = Gymnasium("gym:FrozenLake-v1", is_slippery=True)
    assert source.truth is not None
    question = 'Pmax=? [ F<=12 "goal" ]'
    best = solve(source.truth, question)
    policy = Policy(source.graph, best.policy.choice)
    played = simulate(policy, source, question, episodes=4000)
    assert covers(played, best.value)
    assert simulate(policy, source, question, episodes=50, seed=3) == simulate(
        policy, source, question, episodes=50, seed=3
    )
    with pytest.raises(ModelError, match="the policy depends on the step; give step, from 0 to 11"):
        policy.act(0)
    assert policy.act(0, 11) in range(4)
    with pytest.raises(ModelError, match="for the steps 0 to 11"):
        policy.act(0, 12)


def test_an_environment_without_a_table() -> None:
    source = Gymnasium("gym:Blackjack-v1", episodes=3000)
    *_, last = anytime(source, 'R{"reward"}max=? [ F "terminated" ]', LUI(), trajectories=20_000)
    policy = last.policy
    assert policy.act((np.int64(20), np.int64(10), np.int64(0))) == 0  # stick with 20
    assert policy.act((8, 10, 0)) == 1  # hit with 8
    with pytest.raises(ModelError, match=r"the policy has nothing for \(40, 1, 0\): no such state was seen"):
        policy.act((40, 1, 0))
    played = simulate(policy, source, 'R{"reward"}max=? [ F "terminated" ]', episodes=3000)
    assert played.quantity == "return"
    assert -0.25 < played.mean < 0.1
    won = simulate(policy, gymnasium.make("Blackjack-v1"), 'Pmax=? [ F "goal" ]', episodes=3000)
    assert 0.3 < won.mean < 0.5


class Corridor:
    """Cells in a row; observations are lists, actions are words; every tenth start is where nobody has been."""

    def __init__(self, strange: bool = False) -> None:
        self.strange, self.episodes = strange, 0

    def reset(self, seed: int | None = None) -> tuple[list[int], dict[str, Any]]:
        self.episodes += 1
        self.at = 7 if self.strange and self.episodes % 10 == 0 else 0
        return [self.at], {}

    def step(self, action: str) -> tuple[list[int], float, bool, bool, dict[str, Any]]:
        assert action in ("left", "right")
        self.at = max(self.at + (1 if action == "right" else -1), 0)
        over = self.at in (3, 8) or self.at > 8
        return [self.at], 1.0 if over else -1.0, over, False, {}


def test_states_from_lists_actions_in_words_and_states_never_seen() -> None:
    source = Gymnasium(Corridor(), state_of=lambda o: o[0], actions=["left", "right"], episodes=200)
    *_, last = anytime(source, COST, LUI(), trajectories=500)
    assert last.policy.act([1]) == "right"
    played = simulate(last.policy, source, COST, episodes=20)
    assert (played.mean, played.unseen) == (-1.0, 0)
    assert played.lower < -1.0 < played.upper  # rounded outwards
    assert played.upper - played.lower < 1e-12
    assert source.graph.interface is not None
    actions = source.graph.interface.actions
    strange = Environment(Corridor(strange=True), source.graph, state_of=lambda o: o[0], actions=actions, entry=True)
    met = simulate(last.policy, strange, 'Pmax=? [ F "goal" ]', episodes=100)
    assert (met.unseen, met.mean) == (10, 0.9)  # what nobody knows counts as the worst
    earned = simulate(last.policy, strange, COST, episodes=100)
    assert earned.unseen == 10
    assert "10 met a state the policy knows nothing of" in str(earned)


def test_rewards_of_a_graph_that_was_given_are_its_own() -> None:
    graph = Gymnasium("gym:FrozenLake-v1", is_slippery=False).graph
    sizes = np.diff(graph.choice_ptr)
    timed = umdp.Graph(
        graph.state_ptr, graph.choice_ptr, graph.successor, labels=graph.labels, actions=graph.actions,
        rewards={"time": Rewards(choice=np.ones(sizes.size))},
    )  # fmt: skip
    source = Gymnasium("gym:FrozenLake-v1", timed, is_slippery=False)
    *_, last = anytime(source, 'Rmin=? [ F "goal" ]', LUI(), trajectories=50)
    played = simulate(last.policy, source, 'Rmin=? [ F "goal" ]', episodes=5)
    assert (played.quantity, played.mean) == ("reward", 6.0)


# -- on the command line -------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learned(*more: str, name: str = "a.run") -> None:
    assert run(["learn", *more, "-q", "--out", name]) == 0


def test_a_run_is_played_where_it_was_learned(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learned("gym:CliffWalking-v1", COST, "--trajectories", "150")
    capsys.readouterr()
    assert run(["simulate", "a.run", "--episodes", "20"]) == 0
    said = capsys.readouterr().out
    assert "return    -13.000, 95 % interval -13.000 .. -13.000 (Student's t, approximate)" in said
    assert "learned   at least -13.00" in said  # LUI promises nothing
    assert run(["simulate", "a.run", "--episodes", "20", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["episodes"], row["mean"], row["quantity"], row["unseen"]) == (20, -13.0, "return", 0)
    assert row["promised"] == pytest.approx(-13.0, abs=0.1)
    assert run(["simulate", "a.run", "--episodes", "2", "--render"]) == 0
    drawn = capsys.readouterr().out
    assert "o  o  o  o" in drawn
    assert "o  x" in drawn or "x  o" in drawn
    with Store.open("a.run") as store:
        policy = store.learned().policy
        assert policy is not None
        assert policy.act(np.int64(36)) == 0  # up: what the file holds is enough


def test_a_policy_in_a_file_is_played_in_a_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learned("gym:FrozenLake-v1,is_slippery=false", 'Pmax=? [ F<=9 "goal" ]', "--trajectories", "200")
    assert run(["export", "a.run", "policy.json"]) == 0
    capsys.readouterr()
    assert run(["simulate", "policy.json", "gym:FrozenLake-v1,is_slippery=false", "--episodes", "50", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["mean"], row["upper"], row["lower"]) == (1.0, 1.0, pytest.approx(0.025 ** (1 / 50)))
    assert run(["simulate", "policy.json", "gym:FrozenLake-v1", "--episodes", "300", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean"] < 0.7
    learned("grid", "--trajectories", "300", name="grid.run")
    capsys.readouterr()
    assert run(["simulate", "grid.run", "--episodes", "3000", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    with Store.open("grid.run") as store:
        last = store.last()
        assert last is not None
        assert row["lower"] - 0.01 <= last["performance"] <= row["upper"] + 0.01


def test_code_of_ones_own_takes_trust(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mine.py").write_text(
        "import gymnasium\ndef lake():\n    return gymnasium.make('FrozenLake-v1', is_slippery=False)\n"
    )
    learned("mine.py:lake", 'Pmax=? [ F "goal" ]', "--trajectories", "100")
    capsys.readouterr()
    assert run(["simulate", "a.run"]) == 2
    assert "if you trust it, add --trust" in capsys.readouterr().err
    assert run(["simulate", "a.run", "--trust", "--episodes", "5", "--render"]) == 0
    said = capsys.readouterr().out
    assert "probability  1.0000" in said
    assert 'draws itself as text where it is made with render_mode="ansi"; its steps are listed' in said
    (here / "drawn.py").write_text(
        "import gymnasium\ndef lake(render_mode=None):\n"
        "    return gymnasium.make('FrozenLake-v1', is_slippery=False, render_mode=render_mode)\n"
    )
    learned("drawn.py:lake", 'Pmax=? [ F "goal" ]', "--trajectories", "100", name="drawn.run")
    capsys.readouterr()
    assert run(["simulate", "drawn.run", "--trust", "--episodes", "1", "--render"]) == 0
    assert "FHFH" in capsys.readouterr().out
    learned("gym:Blackjack-v1", 'Pmax=? [ F "goal" ]', "--trajectories", "50", name="cards.run")
    capsys.readouterr()
    assert run(["simulate", "cards.run", "--episodes", "1", "--render"]) == 0
    assert "does not draw itself as text but as human, rgb_array; its steps are listed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.run"], "there is no such file; give a run, or a policy"),
        (["policy.json"], "say where to play policy.json: umdp simulate policy.json MODEL"),
        (["policy.json", "gym:Nothing-v0"], "Nothing"),
        (
            ["policy.json", "gym:Taxi-v4"],
            "the policy is for another environment: it knows 16 of the 500 states of this one in which there is a choice",
        ),
        (["a.run", "--episodes", "0"], "at least 1 episode"),
        (["a.run", "--episodes", "many"], "not a whole number"),
        (["a.run", "--seed", "-1"], "a seed is a number of at least 0"),
        (["a.run", "--env-arg", "map_name=8x8"], "the run has its own arguments"),
        (["a.run", "--property", "Pmax=? [ F"], "Pmax=? [ F"),
        (["a.run", "log.csv"], "what was recorded cannot be played again"),
    ],
)
def test_what_cannot_be_simulated_is_said(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    learned("gym:FrozenLake-v1", 'Pmax=? [ F "goal" ]', "--trajectories", "20")
    assert run(["export", "a.run", "policy.json"]) == 0
    capsys.readouterr()
    assert run(["simulate", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_the_steps_of_a_policy_are_those_of_the_environment(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The reset is the first of four steps where the graph is only observed: three are left, and messages count these."""
    (here / "mine.py").write_text(
        "class Coin:\n"
        "    @property\n"
        "    def action_space(self):\n"
        "        return type('Discrete', (), {'n': 2})()\n"
        "    def reset(self, seed=None, options=None):\n"
        "        self.at = 0\n"
        "        return 0, {}\n"
        "    def step(self, action):\n"
        "        self.at += action\n"
        "        return self.at, float(action), self.at > 4, False, {}\n"
    )
    note = "the reset is the first of the 4 steps that the property counts; the other 3 are the environment's own"
    bounded, every = 'R{"reward"}max=? [ C<=4 ]', 'R{"reward"}max=? [ F "terminated" ]'
    capsys.readouterr()
    assert run(["learn", "mine.py:Coin", bounded, "--trajectories", "20", "-q", "--out", "c.run"]) == 0
    assert note in capsys.readouterr().out
    assert run(["show", "c.run", "--json"]) == 0
    assert note in json.loads(capsys.readouterr().out)["notes"]
    assert run(["learn", "mine.py:Coin", bounded, "--trajectories", "20", "-q", "--json"]) == 0
    assert note in json.loads(capsys.readouterr().out)["notes"]
    assert run(["learn", "mine.py:Coin", every, "--trajectories", "20", "-q"]) == 0
    assert "the reset is" not in capsys.readouterr().out
    assert run(["learn", "gym:FrozenLake-v1", 'Pmax=? [ F<=4 "goal" ]', "--trajectories", "20", "-q"]) == 0
    assert "the reset is" not in capsys.readouterr().out  # its table says that it starts in one state
    policy = umdp.open("c.run").policy
    assert policy is not None
    assert (policy.act(0, 0), policy.act(2, 2)) == (1, 1)
    with pytest.raises(ModelError, match="the policy depends on the step; give step, from 0 to 2"):
        policy.act(0)
    for wrong in (-1, 3):
        with pytest.raises(ModelError, match=f"for the steps 0 to 2 of the environment, not for step {wrong}"):
            policy.act(0, wrong)


GUESS = """
import gymnasium

class Guess(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Discrete(10**6), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        lucky = self.np_random.random() < 0.75
        return int(self.np_random.integers(1, 10**6)), 1.0 if lucky == bool(action) else -1.0, True, False, {}
"""  # one guess, after which the observation is another each time: where episodes end is told by the reward alone


def test_ends_that_are_alike_are_known_by_a_run_as_well(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mean of ±1 with 3 in 4 is 1/2; every episode ends in a state that the policy knows."""
    (here / "guess.py").write_text(GUESS)
    learned("guess.py:Guess", 'Rmax=? [ F "terminated" ]', "--trajectories", "200")
    assert run(["show", "a.run", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out.splitlines()[-1])["last"]
    assert shown["return_lower"] == pytest.approx(shown["lower"] - 1)  # in the units of the environment, -1 to 1
    assert -1 <= shown["return_lower"] < 0.5
    assert run(["simulate", "a.run", "--trust", "--episodes", "400", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["quantity"], row["unseen"], row["cut"]) == ("return", 0, 0)
    assert row["lower"] < 0.5 < row["upper"]
    assert run(["simulate", "a.run", "--trust", "--episodes", "50"]) == 0
    assert "knows nothing of" not in capsys.readouterr().out
