"""Going on with a run: beyond its end, after an interruption, from an older format; and not where something has changed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from run.test_kill import same
from umdp import MDP, io
from umdp.cli import run as command
from umdp.run import Config, Store
from umdp.run.codec import pack
from umdp.run.fingerprint import PARTS, compare, fingerprint
from umdp.run.format1 import graph_digest

COIN = MDP(
    [0, 1, 2, 3],
    [0, 2, 3, 4],
    [1, 2, 1, 2],
    [0.5, 0.5, 1, 1],
    labels={"heads": [1]},
    rewards={"cost": {"choice": [1, 0, 0]}},
)
HEADS = 'Pmax=? [ F "heads" ]'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path: str) -> tuple[list[dict[str, object]], object]:
    with Store.open(path) as store:
        return store.snapshots(), store.state()


LEARN = ("learn", "betting-favourable", "--seed", "3", "--xi", "0.9", "-q")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (("--trajectories", "25"), ("--trajectories", "60")),
        (("--steps", "90"), ("--trajectories", "60")),
        (("--seconds", "0.001"), ("--trajectories", "60")),
        (("--until", ">=1"), ("--trajectories", "60")),
    ],
)
def test_beyond_the_end_is_as_if_it_had_not_ended(first, then, capsys) -> None:
    assert command([*LEARN, "--trajectories", "60", "--out", "whole.run"]) == 0
    assert command([*LEARN, *first, "--out", "a.run"]) == 0
    assert rows("a.run")[0] != rows("whole.run")[0]
    assert command(["resume", "a.run", *then, "-q"]) == 0
    assert rows("a.run")[0] == rows("whole.run")[0]
    assert same(rows("a.run")[1], rows("whole.run")[1])
    capsys.readouterr()
    assert command(["resume", "a.run", "-q"]) == 0  # the limits are those given last
    assert "60 trajectories have been seen" in capsys.readouterr().out


def test_what_came_in_when_the_time_was_up_is_shown(capsys) -> None:
    io.write(COIN, "coin.umb")
    assert command(["learn", "coin.umb", HEADS, "--trajectories", "100", "--out", "a.run", "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["partial"], last["trajectories"]) == (True, 100)
    command(["show", "a.run"])
    assert "the last one incomplete" in capsys.readouterr().out


def test_a_log_that_has_grown(capsys) -> None:
    io.write(COIN, "coin.umb")
    head, lines = "state,action,next\n", ["0,0,1\n", "0,0,2\n", "0,0,1\n", "0,0,1\n", "0,0,2\n"]
    for name, text in (("long.csv", head + "".join(lines)), ("log.csv", head + "".join(lines[:3]))):
        Path(name).write_text(text)
    ask = ("learn", "coin.umb", HEADS, "-q", "--log")
    assert command([*ask, "long.csv", "--out", "whole.run"]) == 0
    assert command([*ask, "log.csv", "--out", "a.run"]) == 0
    Path("log.csv").write_text(head + "".join(lines))
    assert command(["resume", "a.run", "-q"]) == 0
    assert rows("a.run")[0][-1]["trajectories"] == 3
    assert command(["resume", "a.run", "-q", "--trajectories", "100"]) == 0
    assert [row["lower"] for row in rows("a.run")[0]] == [row["lower"] for row in rows("whole.run")[0]]
    Path("log.csv").write_text(head + "".join(reversed(lines)) * 3)
    capsys.readouterr()
    assert command(["resume", "a.run", "-q", "--trajectories", "200"]) == 2
    assert "log.csv" in capsys.readouterr().err


def coin(**changes: object) -> MDP:
    given = {"labels": COIN.labels, "rewards": COIN.rewards} | changes
    return MDP(COIN.state_ptr, COIN.choice_ptr, COIN.successor, COIN.probability, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mdp", "words"),
    [
        (COIN.graph.with_probability([0.6, 0.4, 1, 1]), "the probabilities of the simulated process have changed"),
        (coin(rewards={"cost": {"choice": [2, 0, 0]}}), "the rewards of the model have changed"),
        (coin(labels={"heads": [1], "x": [2]}), "the labels of the model have changed"),
        (coin(state_names="abc"), "the names, variables, constants or formulas of the model have changed"),
    ],
)
def test_what_has_changed_is_said(mdp: MDP, words: str, capsys) -> None:
    io.write(COIN, "m.umb")
    command(["learn", "m.umb", HEADS, "--trajectories", "5", "--out", "m.run", "-q"])
    io.write(mdp, "m.umb")
    capsys.readouterr()
    assert command(["resume", "m.run"]) == 2
    said = capsys.readouterr().err
    assert "has changed since it began" in said
    assert words in said


def test_every_part_is_in_the_fingerprint() -> None:
    io.write(COIN, "m.umb")
    io.write(COIN.graph.with_probability([0.7, 0.3, 1, 1]), "later.umb")
    base = Config(model="m.umb", question=HEADS)
    parts = fingerprint(base, base.build())
    assert parts.keys() == PARTS.keys()
    others = {
        "property": {"question": 'Pmin=? [ F "heads" ]'}, "learner": {"settings": {"strength": [6, 12]}},
        "exploration": {"xi": 0.5}, "horizon": {"horizon": 7}, "precision": {"precision": 1e-4}, "seed": {"seed": 1},
        "process": {"switch": "later.umb", "after": 5}, "code": {"plugins": {"x.py": "1"}},
        "log": {"on_error": "skip"},
    }  # fmt: skip
    for part, changes in others.items():
        other = msgspec.structs.replace(base, **changes)
        found = fingerprint(other, other.build())
        assert {name for name in parts if parts[name] != found[name]} == {part}
        with pytest.raises(Exception, match=PARTS[part]):
            compare(parts, found, "a.run")
    compare({name: part for name, part in parts.items() if name != "log"}, parts, "from before there was such a part")


def first_format(path: str) -> None:
    """Turn a run into one of format 1, as it was written then."""
    with Store.open(path) as store:
        config, snapshots, state, graph = store.config, store.snapshots(), store.state(), store.graph()
    Path(path).unlink()
    config |= {"graph": graph_digest(graph), "plugins": {}}
    assert state is not None
    state.pop("pending")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
        db.execute(
            "CREATE TABLE snapshots (iteration INTEGER PRIMARY KEY, trajectories INTEGER, steps INTEGER, lower REAL, "
            "upper REAL, optimistic REAL, status TEXT, guarantee TEXT, performance REAL, estimation_error REAL, "
            "model_error REAL, reason TEXT, seconds REAL)"
        )
        db.execute("CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL)")
        for key, value in (("format", 1), ("config", config)):
            db.execute("INSERT INTO meta VALUES (?, ?)", (key, msgspec.json.encode(value)))
        for row in snapshots:
            names = ("iterations", "trajectories", "steps", "lower", "upper", "optimistic", "status")
            more = ("performance", "estimation_error", "model_error", "reason")
            values = (*(row[n] for n in names), "no guarantee", *(row[n] for n in more), 0.0)
            db.execute(f"INSERT INTO snapshots VALUES ({', '.join('?' * 13)})", values)
        db.execute("INSERT INTO state VALUES (1, ?)", (pack(state),))
        db.commit()


def test_a_run_of_format_1_is_read_and_brought_up_to_date(capsys) -> None:
    ask = ("learn", "bandit", "--seed", "3", "-q")
    assert command([*ask, "--trajectories", "32", "--out", "a.run"]) == 0
    first_format("a.run")
    before = Path("a.run").read_bytes()
    capsys.readouterr()
    assert command(["show", "a.run"]) == 0
    assert "32 trajectories" in capsys.readouterr().out
    assert command(["export", "a.run", "a.csv"]) == 0
    assert command(["export", "a.run", "a.umb"]) == 2
    assert "format 1, which does not hold its model" in capsys.readouterr().err
    assert Path("a.run").read_bytes() == before
    assert command(["resume", "a.run", "-q"]) == 0
    with Store.open("a.run") as store:
        assert store.version == 2
    assert command(["export", "a.run", "a.umb"]) == 0
    assert command(["resume", "a.run", "-q", "--trajectories", "80"]) == 0
    assert rows("a.run")[0][-1]["trajectories"] == 80


def test_a_learner_that_fails_costs_nothing(capsys) -> None:
    Path("own.py").write_text(
        "import umdp\n"
        "class Mine(umdp.LUI):\n"
        "    name = 'mine'\n"
        "    def update(self, counts):\n"
        "        super().update(counts)\n"
        "        if umdp.fails and self.strength_lower.max() > 100: raise RuntimeError('out of\\nluck')\n"
    )
    import umdp

    learn = ("learn", "grid", "--learner", "own.py:Mine", "--trajectories", "60", "-q", "--out")
    umdp.fails = False  # type: ignore[attr-defined]
    try:
        assert command([*learn, "whole.run"]) == 0
        umdp.fails = True  # type: ignore[attr-defined]
        capsys.readouterr()
        assert command([*learn, "a.run"]) == 2
        said = capsys.readouterr()
        assert "at least" in said.out
        assert "ended because something failed" in said.out
        assert said.err.count("\n") == 1
        assert "RuntimeError: out of luck (own.py, line 6)" in said.err
        umdp.fails = False  # type: ignore[attr-defined]
        assert command(["resume", "a.run", "-q", "--trust"]) == 0
    finally:
        del umdp.fails  # type: ignore[attr-defined]
    # What was known when it failed keeps its label and its reason: nothing was promised then.
    assert _unlabelled(rows("a.run")[0]) == _unlabelled(rows("whole.run")[0])


def _unlabelled(kept: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name not in ("guarantee", "reason")} for row in kept]


def test_an_environment_that_fails_costs_nothing(capsys) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

    class Brittle(FrozenLakeEnv):
        left = 10**9

        def step(self, action):
            Brittle.left -= 1
            if Brittle.left < 0:
                raise OSError("the robot fell over")
            return super().step(action)

    gymnasium.register("Brittle-v0", entry_point=Brittle, max_episode_steps=100)
    try:
        learn = ("learn", "gym:Brittle-v0", 'Pmax=? [ F "goal" ]', "--trajectories", "40", "-q", "--out")
        assert command([*learn, "whole.run"]) == 0
        Brittle.left = 150
        capsys.readouterr()
        assert command([*learn, "a.run"]) == 2
        said = capsys.readouterr()
        assert "at least" in said.out
        assert "OSError: the robot fell over" in said.err
        assert said.err.count("\n") == 1
        Brittle.left = 10**9
        assert command(["resume", "a.run", "-q"]) == 0
    finally:
        gymnasium.registry.pop("Brittle-v0")
    assert rows("a.run")[0] == rows("whole.run")[0]
