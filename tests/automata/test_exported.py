"""Policies with memory of a run: kept, shown, exported for others to play, and played again, on models and in environments."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import umdp
from umdp import MDP, Policy, io, simulate, solve
from umdp.analysis.monte_carlo import certify
from umdp.automata import MemoryPolicy
from umdp.automata.product import product_of
from umdp.cli import run
from umdp.io import policy_about, read_policy
from umdp.run.codec import pack, unpack
from umdp.run.graph_data import graph_from_data, graph_to_data

from .test_learning import BOTH, rooms
from .test_sources import Rooms, record

LAKE = 'Pmax=? [ (F "left") & (F "right") & (F "goal") ]'
ENVIRONMENT = """
import random
import gymnasium
from umdp.source import Gymnasium

def lake():
    return Gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=True), labels={"left": [8], "right": [6]})
"""


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("rooms")
    io.write(rooms(), folder / "rooms.drn")
    asked = ["learn", str(folder / "rooms.drn"), BOTH, "--trajectories", "300", "--confidence", "0.9"]
    assert run([*asked, "--out", str(folder / "rooms.run"), "--quiet"]) == 0
    return folder / "rooms.run", folder / "rooms.drn"


class Stranger:
    """Plays a policy from the file alone, as the documentation says; nothing of the package is used."""

    def __init__(self, file: Path) -> None:
        content = json.loads(file.read_text())
        self.memory = content["memory"]
        self.table = {(d["number"], d["memory"]): d for d in content["decisions"]}

    def play(self, mdp: MDP, rng: random.Random, steps: int) -> list[int]:
        """Return the states of an episode."""
        state, path = mdp.initial, [mdp.initial]
        now = self.memory["after"][self.memory["initial"]][self.memory["reads"][state]]
        for _ in range(steps):
            decision = self.table.get((state, now))
            if decision is None:  # all is settled
                break
            choice = int(mdp.state_ptr[state]) + decision["choice"]
            assert mdp.action_name(choice) == decision["action"]
            own = slice(mdp.choice_ptr[choice], mdp.choice_ptr[choice + 1])
            (state,) = rng.choices(mdp.successor[own].tolist(), mdp.probability[own].tolist())
            now = self.memory["after"][decision["becomes"]][self.memory["reads"][state]]
            path.append(state)
        return path


def test_what_is_kept_is_what_was_there() -> None:
    for asked in (BOTH, 'Pmax=? [ (G F "a") | (F G "b") ]', 'Pmin=? [ F ("a" & (X "b")) ]'):
        *_, last = umdp.anytime(rooms(), asked, umdp.LUI(), trajectories=20)
        graph = last.model.graph
        again = graph_from_data(unpack(pack(graph_to_data(graph))))
        before, after = product_of(graph), product_of(again)
        assert before is not None
        assert after is not None
        assert after.asked == before.asked == umdp.Spec.parse(asked)
        assert after.reading.names == before.reading.names
        for name in ("state", "memory", "origin", "stay", "along"):
            assert np.array_equal(getattr(after, name), getattr(before, name))
        policies = [MemoryPolicy.of(Policy(each, last.policy.choice)) for each in (graph, again)]
        assert list(policies[0].decisions()) == list(policies[1].decisions())


def test_damaged_automata_are_named() -> None:
    *_, last = umdp.anytime(rooms(), BOTH, umdp.LUI(), trajectories=5)
    for name, value in (("memory", np.array([7])), ("step", np.array([[9]])), ("rest", 99), ("jumps", [[5]])):
        data = graph_to_data(last.model.graph)
        data["product"][name] = value
        with pytest.raises(umdp.FormatError, match="does not fit"):
            graph_from_data(data)


def test_a_stranger_plays_what_was_exported(learned: tuple[Path, Path], tmp_path: Path) -> None:
    file, _ = learned
    assert run(["export", str(file), str(tmp_path / "policy.json")]) == 0
    stranger, rng, hits, episodes = Stranger(tmp_path / "policy.json"), random.Random(0), 0, 4000
    for _ in range(episodes):
        path = stranger.play(rooms(), rng, 12)
        hits += 1 in path and 2 in path
    best = solve(rooms(), BOTH).value
    assert abs(hits / episodes - best) < 4 * (best * (1 - best) / episodes) ** 0.5
    assert policy_about(tmp_path / "policy.json")["property"] == BOTH
    assert stranger.memory["asked"] == BOTH
    assert len(stranger.memory["remaining"]) == len(stranger.memory["after"])
    with pytest.raises(umdp.FormatError, match="umdp check --evaluate and umdp simulate read it"):
        read_policy(tmp_path / "policy.json", rooms())


def test_a_run_and_its_export_are_played(
    learned: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, model = map(str, learned)
    exported, best = str(tmp_path / "policy.json"), solve(rooms(), BOTH).value
    assert run(["export", file, exported]) == 0
    capsys.readouterr()
    for arguments in ([file], [file, model], [exported, model]):
        assert run(["simulate", *arguments, "--episodes", "3000", "--json"]) == 0
        row = json.loads(capsys.readouterr().out)
        assert row["property"] == BOTH
        assert row["lower"] <= best <= row["upper"]
        assert row["promised"] is not None
    assert run(["check", model, BOTH, "--evaluate", exported, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(best)
    assert run(["certify", file, "--trajectories", "3000", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert 0.4 < row["bound"] <= best
    assert run(["show", file]) == 0
    said = capsys.readouterr().out
    assert "the policy has 4 memories for 4 states" in said
    assert 'F "a"' in said
    opened = MemoryPolicy.of(umdp.open(file).policy)
    assert simulate(opened, rooms(), BOTH, episodes=3000).lower <= best
    assert certify(opened, rooms(), BOTH).bound <= best


def test_what_does_not_fit_is_refused(
    learned: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, exported = str(learned[0]), str(tmp_path / "policy.json")
    assert run(["export", file, exported]) == 0
    other = MDP([0, 1, 2], [0, 1, 2], [1, 0], [1, 1], labels={"a": [0], "b": [1]}, actions=["x", "y"])
    io.write(other, tmp_path / "other.drn")
    for arguments, message in (
        (["simulate", file, str(tmp_path / "other.drn")], "for a model with other states"),
        (["simulate", exported, str(tmp_path / "other.drn")], "in the model there is no such state"),
        (["simulate", file, "--property", 'Pmax=? [ F "a" ]'], "leave out --property"),
        (["simulate", exported, str(learned[1]), "--property", 'Pmax=? [ F "a" ]'], "leave out --property"),
        (["simulate", file, "gym:FrozenLake-v1"], "for an environment with other states"),
    ):
        capsys.readouterr()
        assert run(arguments) == 2
        assert message in capsys.readouterr().err


def test_a_run_is_asked_about_the_process(learned: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    file = str(learned[0])
    opened = umdp.open(file)
    assert run(["check", file, BOTH.replace("Pmax", "Pmaxmin"), 'Pmaxmin=? [ F "a" ]', "--json"]) == 0
    same, other = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert same["lower"] == pytest.approx(opened.bracket.lower, abs=1e-6)
    assert same["guarantee"]["kind"] == "any-time"
    assert opened.bracket.lower <= other["lower"] <= 0.85
    assert other["guarantee"]["kind"] == "any-time"  # the intervals hold, whatever is asked of them in the worst case


def test_an_environment_is_played_with_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(ENVIRONMENT)
    monkeypatch.chdir(tmp_path)
    assert run(["learn", "mine.py:lake", LAKE, "--trajectories", "1500", "--out", "lake.run", "--quiet"]) == 0
    assert run(["export", "lake.run", "policy.json"]) == 0
    source: Any = umdp.source.Gymnasium("gym:FrozenLake-v1", labels={"left": [8], "right": [6]})
    policy = MemoryPolicy.of(umdp.open("lake.run").policy)
    worth = umdp.evaluate(source.truth, LAKE, policy).value
    assert worth > 0.1
    capsys.readouterr()
    for arguments in (["lake.run", "--trust"], ["policy.json", "mine.py:lake"]):
        assert run(["simulate", *arguments, "--episodes", "600", "--json"]) == 0
        row = json.loads(capsys.readouterr().out)
        # Episodes are cut after 100 steps, which the property does not say.
        assert row["lower"] <= worth
        assert row["mean"] + row["cut"] / 600 >= worth - 0.1
        assert row["unseen"] == 0
    player, state, rng = policy.player(), 0, random.Random(1)
    for _ in range(5):
        assert player.act(state) in range(4)
        state = rng.choice([0, 4])


def test_the_end_of_an_episode_is_read_on() -> None:
    mdp, nowhere = rooms(), '!"a" & !"b"'
    asked = f'Pmax=? [ F ("a" & (F ({nowhere} & (X ({nowhere} & (X ({nowhere} & (X ({nowhere}))))))))) ]'
    within = np.arange(mdp.choices) - np.repeat(mdp.state_ptr[:-1], np.diff(mdp.state_ptr))
    source = umdp.source.Environment(Rooms(), mdp.graph, actions=within.tolist())
    *_, last = umdp.anytime(source, asked, umdp.LUI(), trajectories=300)
    played, best = simulate(last.policy, source, asked, episodes=4000), solve(mdp, asked).value
    assert abs(played.mean - best) < 4 * (best * (1 - best) / 4000) ** 0.5
    assert played.cut == played.unseen == 0


def test_what_was_recorded_is_exported_and_played_on_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, model, file = tmp_path / "log.csv", str(tmp_path / "rooms.drn"), str(tmp_path / "log.run")
    record(rooms(), log, 400)
    io.write(rooms(), model)
    assert run(["learn", str(log), BOTH, "--graph", model, "--confidence", "0.9", "--out", file, "--quiet"]) == 0
    capsys.readouterr()
    assert run(["simulate", file, "--episodes", "10"]) == 2
    assert "cannot be played again" in capsys.readouterr().err
    assert run(["simulate", file, model, "--episodes", "3000", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["lower"] <= 0.51 <= row["upper"]
