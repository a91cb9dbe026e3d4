"""Opening a run executes nothing and changes nothing; it is read also where nothing may be written, and while it is written."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from umdp import FormatError, Graph, ModelError, benchmark
from umdp.cli import run as command
from umdp.run import Store, format_of
from umdp.run.codec import pack, unpack
from umdp.run.graph_data import graph_from_data, graph_to_data
from umdp.run.lock import Lock
from umdp.run.store import VERSION

MODEL = """
from umdp import MDP, LUI
print("MODEL EXECUTED")
def coin(heads=0.5):
    return MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [heads, 1 - heads, 1, 1], labels={"heads": [1]})
class Mine(LUI):
    name = "mine"
"""
HEADS = 'Pmax=? [ F "heads" ]'


@pytest.fixture
def coin(tmp_path, monkeypatch, capsys) -> Path:
    """A run of a model of one's own, whose file is gone."""
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(MODEL)
    arguments = (
        "learn",
        "own.py:coin",
        HEADS,
        "--learner",
        "own.py:Mine",
        "--trajectories",
        "20",
        "--out",
        "coin.run",
        "-q",
    )
    assert command(arguments) == 0
    Path("own.py").unlink()
    for name in [name for name in sys.modules if name.startswith("umdp_plugin_")]:
        monkeypatch.delitem(sys.modules, name)
    capsys.readouterr()
    return Path("coin.run")


def test_everything_but_going_on_works_from_data_alone(coin, capsys) -> None:
    before = coin.read_bytes()
    assert command(["show", "coin.run"]) == 0
    assert command(["export", "coin.run", "a.csv"]) == 0
    assert command(["export", "coin.run", "a.umb"]) == 0
    assert command(["export", "coin.run", "a.json"]) == 0
    assert command(["check", "coin.run", 'Pmaxmin=? [ F "heads" ]', "--json"]) == 0
    out = capsys.readouterr().out
    assert "EXECUTED" not in out
    answer = json.loads(out.splitlines()[-1])
    with Store.open(coin) as store:
        last = store.last()
    assert answer["guarantee"]["kind"] == "none"
    assert answer["lower"] == pytest.approx(last["lower"])
    assert coin.read_bytes() == before
    assert sorted(each.name for each in Path().glob("coin.run*")) == ["coin.run"]


def test_going_on_says_what_it_would_execute(coin, capsys) -> None:
    assert command(["resume", "coin.run", "--quiet"]) == 2
    said = capsys.readouterr()
    assert "EXECUTED" not in said.out
    assert "the text of own.py that is stored in the run is executed (sha256 " in said.err
    assert "no such file is here), for the model coin and the learner Mine" in said.err
    Path("own.py").write_text("print('ANOTHER')")
    assert command(["resume", "coin.run", "--quiet"]) == 2
    assert "the file here DIFFERS" in capsys.readouterr().err
    assert command(["resume", "coin.run", "--quiet", "--trust"]) == 0
    said = capsys.readouterr()
    assert "MODEL EXECUTED" in said.out
    assert "after 20 trajectories" in said.out
    assert "ANOTHER" not in said.out


def test_a_module_of_an_environment_needs_trust_too(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.create("a.run", {"model": "gym:hostile:X-v0", "question": HEADS}, fingerprint={}):
        pass
    assert command(["resume", "a.run"]) == 2
    assert "the module hostile is imported, for the environment X-v0" in capsys.readouterr().err


def test_what_is_no_run_is_not_touched(tmp_path, capsys) -> None:
    text, other, empty = tmp_path / "text", tmp_path / "other.db", tmp_path / "empty"
    text.write_text("not a run\n")
    empty.touch()
    with closing(sqlite3.connect(other)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE meta (key, value)")
        db.commit()
    before = {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in tmp_path.iterdir()}
    for path in (text, other, empty):
        for ask in (["show"], ["resume"], ["export"]):
            assert command([*ask, str(path), *(["a.csv"] if ask == ["export"] else [])]) == 2
            assert "not a run" in capsys.readouterr().err
    assert {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in tmp_path.iterdir()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
@pytest.mark.parametrize("killed", [False, True])
def test_a_run_is_read_in_a_folder_where_nothing_may_be_written(tmp_path, coin, killed) -> None:
    folder = tmp_path / "shelf"
    folder.mkdir()
    if killed:  # what was committed is not in the file itself yet
        store = Store.resume(coin)
        state = store.state()
        store.amend(store.config | {"seed": 77})
        for side in ("", "-wal"):
            shutil.copy(f"coin.run{side}", folder)
        assert state is not None
        store.close()
    else:
        shutil.copy("coin.run", folder)
    for each in (*folder.iterdir(), folder):
        each.chmod(0o555 if each.is_dir() else 0o444)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.owner() != "root" or os.getuid() == 0:
            parent.chmod(parent.stat().st_mode | 0o055)
        if parent.name.startswith("pytest-of"):
            break
    code = (
        "import os, sys\n"
        "from umdp.run import Store\n"
        "import umdp.learning.snapshot, umdp.solver, encodings.idna\n"
        "with Store.open(sys.argv[2]) as store:\n"  # imports and compiles what another user may not be able to read
        "    store.learned()\n"
        "os.setuid(65534) if os.getuid() == 0 else None\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    print(store.config['seed'], store.last()['trajectories'], store.learned().model.states)\n"
        "try:\n"
        "    Store.resume(sys.argv[1])\n"
        "except Exception as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "coin.run"), str(coin)], capture_output=True, text=True, check=False
    )
    folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{77 if killed else 0} 20 3"
    assert "cannot be written here" in done.stdout.splitlines()[1]


def test_a_second_writer_is_told_who_has_it(coin, capsys) -> None:
    with Store.resume(coin):
        assert command(["resume", "coin.run", "--trust"]) == 2
        assert f"is being written by process {os.getpid()} on " in capsys.readouterr().err
        assert command(["show", "coin.run"]) == 0
        assert f"running now: process {os.getpid()} on " in capsys.readouterr().out
        assert command(["show", "coin.run", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["running"]["process"] == os.getpid()
    assert Lock.holder(coin) is None
    assert not Path("coin.run-lock").exists()


def test_a_newer_format_is_refused(coin, capsys) -> None:
    with closing(sqlite3.connect(coin)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    assert format_of(coin) == VERSION + 1
    assert command(["show", "coin.run"]) == 2
    assert f"this run has format {VERSION + 1}, made by a newer version of umdp" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "key"), [("snapshots", 2), ("latest", "state"), ("latest", "learned"), ("meta", "graph")]
)
def test_damage_is_named(coin, table, key) -> None:
    with closing(sqlite3.connect(coin)) as db:
        (value,) = db.execute(f"SELECT value FROM {table} WHERE key = ?", (key,)).fetchone()
        changed = bytearray(value)
        changed[len(changed) // 2] ^= 4
        db.execute(f"UPDATE {table} SET value = ? WHERE key = ?", (bytes(changed), key))
        db.commit()
    with (
        Store.open(coin) as store,
        pytest.raises(FormatError, match=f"{key!r} in the table {table} does not have its checksum"),
    ):
        (store.snapshots() if table == "snapshots" else store.state() if key == "state" else store.learned())


def test_another_version_says_so(coin, capsys) -> None:
    with Store.resume(coin) as store:
        store.amend(store.config | {"versions": {"umdp": "0.0.7"}})
    command(["show", "coin.run"])
    assert "umdp 0.0.7 (this is " in capsys.readouterr().out
    command(["resume", "coin.run", "--trust", "-q"])
    assert "this run was made by umdp 0.0.7; this is " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xdd\xff\xff\xff\xff", "hold no value"),
        (b"\x91" * 100_000 + b"\x01", "hold no value"),
        (msgspec.msgpack.encode(msgspec.msgpack.Ext(9, b"abcd")), "kind that is not known"),
        (b"", "hold no value"),
    ],
)
def test_bytes_that_hold_nothing_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        unpack(data)


@pytest.mark.parametrize("kind", ["|O", "O", "|V8", "<U4", "<i4,O", "<M8[s]", "<f16", "(2,)<i4", "<c16"])
@pytest.mark.parametrize("shape", [[2], [2**62], [2**31, 2**31], [-1], [1, 1, 1, 1, 1], ["2"]])
def test_arrays_hold_numbers_and_no_more_than_there_is(kind: str, shape: list[object]) -> None:
    for given in (kind, "<f8") if shape != [2] else (kind,):
        head = msgspec.msgpack.encode([given, shape])
        data = msgspec.msgpack.encode(msgspec.msgpack.Ext(1, len(head).to_bytes(4, "little") + head + bytes(8)))
        with pytest.raises(FormatError):
            unpack(data)


def test_arrays_of_objects_are_not_kept() -> None:
    with pytest.raises(ModelError, match="array of object cannot be kept"):
        pack({"a": np.array([object()])})


@pytest.mark.parametrize("name", list(benchmark.BENCHMARKS))
def test_graphs_come_back_as_they_were(name: str) -> None:
    graph = benchmark.BENCHMARKS[name].build().graph
    again = graph_from_data(unpack(pack(graph_to_data(graph))))
    assert repr(again) == repr(graph)
    assert [again.state_name(s) for s in range(again.states)] == [graph.state_name(s) for s in range(graph.states)]
    assert [again.action_name(c) for c in range(again.choices)] == [graph.action_name(c) for c in range(graph.choices)]
    assert pack(graph_to_data(again)) == pack(graph_to_data(graph))


def test_variables_and_odd_names_come_back() -> None:
    graph = Graph(
        [0, 1, 2], [0, 1, 2], [1, 1], state_names=["", "größe\n"], actions=["", "a"], variables={"x": [1, 2], "b": [True, False]},
        constants={"n": 3}, formulas={"f": "x > 1"}, rewards={"": {"state": [1, 2]}}, labels={"l": [0]},
    )  # fmt: skip
    again = graph_from_data(unpack(pack(graph_to_data(graph))))
    assert again.state_names == ("", "größe\n")
    assert (again.action_name(0), again.action_name(1)) == ("", "a")
    assert again.variables["b"].tolist() == [True, False]
    assert (dict(again.constants), dict(again.formulas)) == ({"n": 3}, {"f": "x > 1"})
