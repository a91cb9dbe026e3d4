"""What happens to runs: kills, two writers, a full disk, flipped bits, hostile files, failing code.

    python -m bench.durability [--trials N] [--seed N] [--only NAME]

prints a table of what was tried, how often, and what came of it. Every trial is a process of its own, forked from this one so
that thousands are possible. "Lost" is a run that could neither be continued nor replaced, or that differs in a digit from the
run nobody disturbed; "executed" is code that was run without trust; "silent" is an answer that is not the true one and came
without a message.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from umdp.cli import run as command
from umdp.run import Store
from umdp.run.codec import pack
from umdp.run.store import _digest

LEARN = ("learn", "betting-favourable", "--trajectories", "40", "--xi", "0.9", "--seed", "5", "--quiet")
MARK = "executed"


@dataclass
class Outcome:
    """What came of a number of trials."""

    tried: str
    trials: int = 0
    lost: int = 0
    executed: int = 0
    silent: int = 0
    tracebacks: int = 0
    said: Counter[str] = field(default_factory=Counter)

    def row(self) -> str:
        most = "; ".join(f"{text} ({times})" for text, times in self.said.most_common(4))
        return f"| {self.tried} | {self.trials} | {self.lost} | {self.executed} | {self.silent} | {self.tracebacks} | {most} |"


# -- processes -----------------------------------------------------------------------------------------------


class Child:
    """The command line in a forked process."""

    def __init__(self, folder: Path, *arguments: str, before: Callable[[], None] | None = None) -> None:
        self.out, self.err = folder / "child.out", folder / "child.err"
        sys.stdout.flush(), sys.stderr.flush()
        self.process = os.fork()
        if self.process == 0:
            code = 99
            try:
                for path, number in ((self.out, 1), (self.err, 2)):
                    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), number)
                sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
                os.chdir(folder)
                if before is not None:
                    before()
                code = command(arguments)
            except BaseException as error:  # a traceback is what must not be
                print(f"Traceback: {error!r}", file=sys.stderr)
            finally:
                with contextlib.suppress(OSError):
                    sys.stdout.flush(), sys.stderr.flush()
                os._exit(code)

    def wait(self) -> tuple[int, str, str]:
        """Return the exit status (negative: the signal), and what was printed."""
        _, status = os.waitpid(self.process, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return code, self.out.read_text(errors="replace"), self.err.read_text(errors="replace")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        self.wait()


def call(folder: Path, *arguments: str, before: Callable[[], None] | None = None) -> tuple[int, str, str]:
    return Child(folder, *arguments, before=before).wait()


def shape(text: str, folder: Path) -> str:
    """Return a message without what differs from trial to trial."""
    import re

    line = next((each for each in text.splitlines() if each.startswith("error:")), text.splitlines()[0] if text else "")
    return re.sub(r"\d+(\.\d+)?", "N", line.replace(str(folder) + "/", "").removeprefix("error: "))[:76]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return bool(one == other)


def contents(path: Path) -> tuple[Any, Any]:
    with Store.open(path) as store:
        return store.snapshots(), store.state()


def equal(one: Path, other: Path, *, labels: bool = True) -> bool:
    """Whether two runs are the same; without `labels`, but for what was promised where one of them failed."""
    first, second = contents(one), contents(other)
    if not labels:
        first, second = (([_unlabelled(each) for each in rows], state) for rows, state in (first, second))
    return first[0] == second[0] and same(first[1], second[1])


def _unlabelled(row: Any) -> Any:
    return {name: value for name, value in row.items() if name not in ("guarantee", "reason")}


# -- what is tried -------------------------------------------------------------------------------------------


def kills(folder: Path, trials: int, luck: random.Random, *, early: bool) -> Outcome:
    """Kill learning again and again, go on (or begin again where there is nothing yet), and compare with the whole run."""
    outcome = Outcome("killed (SIGKILL) while a run is created" if early else "killed (SIGKILL) at any moment")
    whole = folder / "whole.run"
    begun = time.monotonic()
    assert call(folder, *LEARN, "--out", str(whole))[0] == 0
    takes = time.monotonic() - begun
    number = 0
    while outcome.trials < trials:
        number += 1
        path = folder / f"{number}.run"
        for _ in range(200):
            child = Child(
                folder, *(("resume", str(path), "--quiet") if path.exists() else (*LEARN, "--out", str(path)))
            )
            if early:
                limit = time.monotonic() + 10
                while (
                    not (path.with_name(f"{path.name}-lock")).exists()
                    and not path.exists()
                    and time.monotonic() < limit
                ):
                    pass
                time.sleep(luck.random() * luck.choice((0.01, 0.1)))
            else:
                time.sleep(luck.random() * takes * 1.1)
            done, status = os.waitpid(child.process, os.WNOHANG)
            if done:
                code = os.WEXITSTATUS(status)
                outcome.said["went on to the end" if code == 0 else shape(child.err.read_text(), folder)] += 1
                outcome.lost += code != 0
                break
            child.kill()
            outcome.trials += 1
            left = sorted(each.name.removeprefix(path.name) for each in folder.glob(f"{path.name}*"))
            outcome.said["nothing there yet" if "" not in left else "a run to go on with"] += 1
            if outcome.trials >= trials or early:
                code, _, err = call(
                    folder, *(("resume", str(path), "--quiet") if path.exists() else (*LEARN, "--out", str(path)))
                )
                outcome.tracebacks += "Traceback" in err
                outcome.lost += code != 0
                break
        outcome.lost += not path.exists() or not equal(whole, path)
        for each in folder.glob(f"{path.name}*"):
            each.unlink()
    return outcome


def writers(folder: Path, trials: int, luck: random.Random) -> Outcome:
    """Several processes write one run at the same time: one does, the others are told who."""
    outcome = Outcome("two to four writers at once")
    whole = folder / "one.run"
    assert call(folder, *LEARN, "--out", str(whole))[0] == 0
    for number in range(trials):
        path = folder / f"{number}.run"
        if number % 2:
            shutil.copy(whole, path)
        others = []
        for n in range(luck.randint(2, 4)):
            own = folder / str(n)
            own.mkdir(exist_ok=True)
            goes_on = ("resume", str(path), "--quiet", "--trajectories", "90")
            others.append(Child(own, *(goes_on if number % 2 else (*LEARN, "--out", str(path)))))
        results = [child.wait() for child in others]
        outcome.trials += 1
        for code, _, err in results:
            outcome.tracebacks += "Traceback" in err
            if code:
                outcome.said["told who is writing" if "being written by process" in err else shape(err, folder)] += 1
        outcome.lost += sum(code == 0 for code, _, _ in results) < 1
        with Store.open(path) as store:
            last = store.last()
        outcome.silent += last is None or last["trajectories"] != (90 if number % 2 else 40)
        for each in folder.glob(f"{path.name}*"):
            each.unlink()
    return outcome


def full_disk(folder: Path, trials: int, luck: random.Random) -> Outcome:
    """Files may grow to a random size only; afterwards, with room, the run goes on."""
    outcome = Outcome("disk full at a random moment")
    whole = folder / "whole.run"
    assert call(folder, *LEARN, "--out", str(whole))[0] == 0
    for number in range(trials):
        path = folder / f"{number}.run"
        most = int(2 ** luck.uniform(14, 18))

        def limit(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

        code, out, err = call(folder, *LEARN, "--out", str(path), before=limit)
        outcome.trials += 1
        outcome.tracebacks += "Traceback" in err
        outcome.said[
            "there was room" if code == 0 else shape(err, folder).split(":")[-1].split("(")[0].strip() or str(code)
        ] += 1
        outcome.lost += code not in (0, 2)
        if path.exists():
            outcome.silent += code == 2 and "at least" not in out and contents(path)[0] != []
            code, _, err = call(folder, "resume", str(path), "--quiet")
        else:
            code, _, err = call(folder, *LEARN, "--out", str(path))
        outcome.lost += code != 0 or not equal(whole, path)
        for each in folder.glob(f"{path.name}*"):
            each.unlink()
    return outcome


def flips(folder: Path, trials: int, luck: random.Random) -> Outcome:
    """Flip one bit somewhere in the file; whatever is then said must be a message, or the truth."""
    outcome = Outcome("one bit of the file flipped")
    whole = folder / "whole.run"
    assert call(folder, *LEARN, "--out", str(whole))[0] == 0
    asks = (
        ("show", "{}", "--json"),
        ("export", "{}", "policy.json"),
        ("export", "{}", "a.csv"),
        ("resume", "{}", "--json"),
    )
    data, path = whole.read_bytes(), folder / "flipped.run"
    answers = {}
    for ask in asks:
        shutil.copy(whole, path)
        answers[ask] = _answer(folder, path, ask)
    for _ in range(trials):
        damaged = bytearray(data)
        damaged[luck.randrange(len(data))] ^= 1 << luck.randrange(8)
        path.write_bytes(damaged)
        ask = luck.choice(asks)
        code, found, err = _answer(folder, path, ask)
        outcome.trials += 1
        outcome.tracebacks += "Traceback" in err
        if code == 2:
            outcome.said["noticed: " + shape(err, folder).removeprefix("flipped.run: ").split(":")[0]] += 1
        else:
            outcome.said["harmless: the same answer"] += found == answers[ask][1]
            outcome.silent += found != answers[ask][1] or code != 0
        for each in folder.glob("flipped.run-*"):
            each.unlink()
    return outcome


def _answer(folder: Path, path: Path, ask: tuple[str, ...]) -> tuple[int, str, str]:
    for name in ("policy.json", "a.csv"):
        (folder / name).unlink(missing_ok=True)
    code, out, err = call(folder, *(part.format(path) for part in ask))
    written = "".join(p.read_text() for p in (folder / "policy.json", folder / "a.csv") if p.exists())
    return code, out + written, err


def hostile(folder: Path, trials: int, luck: random.Random) -> Outcome:
    """Files made to do harm: code, absurd sizes, objects, deep nesting, views and triggers, other databases."""
    outcome = Outcome("hostile and foreign files")
    good = folder / "good.run"
    assert call(folder, *LEARN, "--out", str(good))[0] == 0
    path, made = folder / "bad.run", list(makers(folder))
    for _ in range(trials):
        make = luck.choice(made)
        for each in folder.glob("bad.run*"):
            each.unlink()
        shutil.copy(good, path)
        make(path, luck)
        before = {each.name: each.read_bytes() for each in folder.glob("bad.run*")}
        ask = luck.choice(
            (("show", str(path)), ("show", str(path), "--json"), ("export", str(path), "p.json"), ("resume", str(path)),
             ("check", str(path), 'Pmaxmin=? [ F "rich" ]'))
        )  # fmt: skip
        code, _, err = call(folder, *ask, before=_little_memory)
        outcome.trials += 1
        outcome.tracebacks += "Traceback" in err
        outcome.said["opened as data" if code == 0 else "refused" if code == 2 else f"exit {code}"] += 1
        outcome.lost += code not in (0, 2)
        if ask[0] != "resume":
            outcome.silent += {each.name: each.read_bytes() for each in folder.glob("bad.run*")} != before
        outcome.executed += (folder / MARK).exists()
        (folder / MARK).unlink(missing_ok=True)
    return outcome


def _little_memory() -> None:
    """Let nothing be allocated that is not in the file."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


Maker = Callable[[Path, random.Random], None]


def makers(folder: Path) -> list[Maker]:
    """Return what turns a run into a hostile file."""
    code = f"open({str(folder / MARK)!r}, 'w').close()\n"

    def change(path: Path, table: str, key: str | int, value: bytes) -> None:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", (key, value, _digest(table, key, value)))
            db.commit()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def config(path: Path, **changes: Any) -> None:
        with Store.open(path) as store:
            now = store.config
        change(path, "meta", "config", pack(now | changes))

    def statement(path: Path, *texts: str) -> None:
        with contextlib.closing(sqlite3.connect(path)) as db:
            for text in texts:
                db.execute(text)
            db.commit()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def stored_code(path: Path, luck: random.Random) -> None:
        config(
            path, **{luck.choice(("model", "learner", "explore", "switch")): "x.py:x"}, plugins={"x.py": code + "x = 1"}
        )

    def code_beside(path: Path, luck: random.Random) -> None:
        (folder / "x.py").write_text(code)
        config(path, **{luck.choice(("model", "learner", "explore")): "x.py:x"}, plugins={})

    def module(path: Path, luck: random.Random) -> None:
        (folder / "umdp_hostile.py").write_text(code)
        config(path, model="gym:umdp_hostile:X-v0")

    def kinds(path: Path, luck: random.Random) -> None:
        config(
            path,
            **{
                luck.choice(("seed", "xi", "parameters", "plugins", "model")): luck.choice(
                    (None, [], "x", 1.5, {"a": {}})
                )
            },
        )

    def absurd(path: Path, luck: random.Random) -> None:
        import msgspec

        head = msgspec.msgpack.encode(
            [luck.choice(("<f8", "|O", "O", "V8", "<U4", "<i8,O")), [luck.choice((2**62, 10**9, -1))]]
        )
        array = msgspec.msgpack.Ext(luck.choice((1, 2, 127)), len(head).to_bytes(4, "little") + head + bytes(8))
        value = luck.choice(
            (b"\xdd\xff\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x91" * 200_000 + b"\x01", b"",
             msgspec.msgpack.encode({"lower": array, "counts": array, "state_ptr": array}), luck.randbytes(64))
        )  # fmt: skip
        change(
            path,
            *luck.choice((("latest", "state"), ("latest", "learned"), ("meta", "graph"), ("meta", "config"))),
            value,
        )

    def structure(path: Path, luck: random.Random) -> None:
        with Store.open(path) as store:
            graph = store._get("meta", "graph")
        name = luck.choice(("state_ptr", "choice_ptr", "successor", "initial", "labels", "state_names", "action_codes"))
        graph[name] = luck.choice((None, -1, 2**40, np.array([0, 2**40]), np.array([5, 3]), {"a": np.array([True])}))
        change(path, "meta", "graph", pack(graph))

    def schema(path: Path, luck: random.Random) -> None:
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'a', max(x), 'b' FROM c"
        chosen = luck.choice(
            (("DROP TABLE meta", f"CREATE VIEW meta(key, value, digest) AS {endless}"),
             ("CREATE TRIGGER t AFTER INSERT ON latest BEGIN DELETE FROM snapshots; END",),
             ("DROP TABLE snapshots",), ("CREATE TABLE more (x)",), ("PRAGMA user_version = 3",), ("DELETE FROM latest",),
             ("PRAGMA application_id = 7",), ("DELETE FROM snapshots WHERE key = 3",),
             ("UPDATE snapshots SET key = key + 100000",))
        )  # fmt: skip
        statement(path, *chosen)

    def foreign(path: Path, luck: random.Random) -> None:
        path.unlink()
        kind = luck.randrange(4)
        if kind == 0:
            path.write_text("a text\n" * luck.randrange(1000))
        elif kind == 1:
            path.write_bytes(luck.randbytes(luck.randrange(5000)))
        elif kind == 2:  # somebody else's database
            with contextlib.closing(sqlite3.connect(path)) as db:
                if luck.random() < 0.5:
                    db.execute("PRAGMA journal_mode = WAL")
                db.execute("CREATE TABLE meta (key, value)")
                db.commit()
        else:
            path.write_bytes(b"SQLite format 3\x00" + luck.randbytes(4080))

    def cut(path: Path, luck: random.Random) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: luck.randrange(len(data))])

    return [stored_code, code_beside, module, kinds, absurd, structure, schema, foreign, cut]


def failing(folder: Path, trials: int, luck: random.Random) -> Outcome:
    """A learner, a model or an environment of the user's own fails in the middle."""
    outcome = Outcome("an exception in a user's model, learner or explorer")
    (folder / "own.py").write_text(
        "import os\n"
        "import umdp\n"
        "from umdp.explore import Explorer, Uniform\n"
        "def fail():\n"
        "    left = int(os.environ.get('LEFT', '999999'))\n"
        "    os.environ['LEFT'] = str(left - 1)\n"
        "    if left <= 0:\n"
        "        raise [ValueError('no\\nsuch'), KeyError('x'), MemoryError(), ZeroDivisionError('a')][left % 4]\n"
        "def game(x=1):\n"
        "    if os.environ.get('WHAT') == 'model': fail()\n"
        "    return umdp.benchmark.betting_favourable()\n"
        "class Mine(umdp.LUI):\n"
        "    name = 'mine'\n"
        "    def update(self, counts):\n"
        "        self.lower = self.lower * 0.999\n"
        "        if os.environ.get('WHAT') == 'learner': fail()\n"
        "        super().update(counts)\n"
        "class Moves(Explorer):\n"
        "    def weight(self, view):\n"
        "        if os.environ.get('WHAT') == 'explorer': fail()\n"
        "        return Uniform().weight(view)\n"
    )
    learn = ("learn", "own.py:game", 'Rmax=? [ F "done" ]', "--learner", "own.py:Mine", "--explore", "own.py:Moves",
             "--trajectories", "60", "--quiet")  # fmt: skip
    code, _, err = call(folder, *learn, "--out", "whole.run")
    if code:
        raise RuntimeError(err)
    for number in range(trials):
        path = folder / f"{number}.run"
        what = luck.choice(("learner", "learner", "explorer", "explorer", "model"))

        def break_it(what: str = what, after: int = luck.randrange(40)) -> None:
            os.environ |= {"WHAT": what, "LEFT": str(0 if what == "model" else after)}

        code, out, err = call(folder, *learn, "--out", path.name, before=break_it)
        outcome.trials += 1
        outcome.tracebacks += "Traceback" in err or err.strip().count("\n") > 0
        outcome.said[
            "one message, the result so far"
            if "at least" in out
            else "one message, nothing learned yet"
            if code == 2
            else "ended before"
        ] += 1
        outcome.lost += code not in (0, 2)
        if path.exists():
            code, _, err = call(folder, "resume", path.name, "--quiet", "--trust")
            outcome.lost += code != 0 or not equal(folder / "whole.run", path, labels=False)
        for each in folder.glob(f"{path.name}*"):
            each.unlink()
    return outcome


SCENARIOS: dict[str, tuple[Callable[..., Outcome], dict[str, Any]]] = {
    "create": (kills, {"early": True}),
    "kill": (kills, {"early": False}),
    "writers": (writers, {}),
    "disk": (full_disk, {}),
    "bits": (flips, {}),
    "hostile": (hostile, {}),
    "failing": (failing, {}),
}


def warm() -> None:
    """Load all compiled code into this process, so that no forked one has to."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        command(LEARN)


def attempt(scenario: Callable[..., Outcome], trials: int, seed: int, **options: Any) -> Outcome:
    """Try something a number of times, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="umdp-") as name:
        folder = Path(name)
        warm()
        return scenario(folder, trials, random.Random(seed), **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=SCENARIOS, action="append")
    given = parser.parse_args()
    if not given.json:
        print("| what was tried | trials | lost | executed | silent | tracebacks | what came of it |")
        print("|---|---:|---:|---:|---:|---:|---|")
    for name in given.only or SCENARIOS:
        scenario, options = SCENARIOS[name]
        outcome = attempt(scenario, given.trials, given.seed, **options)
        print(json.dumps(vars(outcome)) if given.json else outcome.row(), flush=True)


if __name__ == "__main__":
    main()
