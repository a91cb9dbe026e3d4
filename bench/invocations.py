"""Random command lines with hostile names: `python -m bench.invocations --calls 3000 --processes 300 --seed 1`.

Every call must end with a status of the command line, without a traceback and without a character that controls a terminal; it
executes nothing whose name was not typed, and writes no file that was not named as one to be written.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.hostile import GOAL, NAMES, Outcome, World, called, controls

OUTPUTS = ("--out", "--policy", "--plot", "--certificate", "--aside")
LIMIT = 60  # seconds of one call
TRAPS = ("--follow", "--scheduler")  # waits for ever, by its meaning; talks to other machines


class Hang(BaseException):
    """A call took longer than any should."""


def commands() -> dict[str, Any]:
    """Return every command by its name."""
    import typer

    from umdp.cli.app import app

    group: Any = typer.main.get_command(app)
    return dict(group.commands)


class Drawer:
    """Draws command lines."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.rng, self.known = world, random.Random(seed), commands()

    def draw(self) -> list[str]:
        """Return the arguments of one call."""
        rng = self.rng
        name = rng.choice([*self.known, "check", "learn", "learn", "show", "explain"])
        command = self.known[name]
        words = [name]
        for each in command.params:
            if each.param_type_name == "argument":
                if each.nargs == 1:
                    words += [self.value(each.name)] if each.required or rng.random() < 0.7 else []
                else:  # without any, all of the paper is run
                    words += [self.value(each.name) for _ in range(rng.randint(each.name == "experiments", 2))]
        options = [each for each in command.params if each.param_type_name == "option" and each.opts[0] not in TRAPS]
        chosen = rng.sample(options, min(rng.choice((0, 0, 0, 1, 1, 2, 5)), len(options)))
        for each in chosen:
            flag = rng.choice(each.opts)
            if each.is_flag:
                words.append(flag)
            else:
                value = self.value(each.name, each.metavar or "")
                words += [f"{flag}={value}"] if flag.startswith("--") and rng.random() < 0.3 else [flag, value]
            if rng.random() < 0.03:
                words.append(flag)
        if rng.random() < 0.05:
            words.insert(rng.randrange(len(words) + 1), rng.choice(NAMES))
        return self._bounded(name, words, {each.name for each in chosen})

    def _bounded(self, name: str, words: list[str], chosen: set[str]) -> list[str]:
        """Return a call that is over soon, if it is one at all."""
        for option, value in {
            "learn": [("trajectories", "20"), ("seconds", "5")], "resume": [("seconds", "1")],
            "certify": [("trajectories", "20")],
            "simulate": [("episodes", "5")], "calibrate": [("seeds", "2"), ("trajectories", "20"), ("jobs", "1")],
            "reproduce": [("seeds", "1"), ("trajectories", "10"), ("jobs", "1"), ("out", "made")],
            "check-env": [("steps", "50"), ("seconds", "1")], "check": [("time_limit", "2")],
        }.get(name, []):  # fmt: skip
            if option not in chosen:
                words += [f"--{option.replace('_', '-')}", value]
        return [word.replace("\x00", "\\0") for word in words]  # no shell passes those

    def value(self, name: str, metavar: str = "") -> str:
        """Return a value for an argument or option, one that fits more often than not."""
        rng, world = self.rng, self.world
        numbers = ("0", "1", "2", "7", "0.5", "-1", "nan", "inf", "1e400", "", "0x10", "٣", "1_0")
        hostile = rng.choice(NAMES)
        pools: dict[str, list[str]] = {
            "model": [*world.models, *world.logs, *world.runs, "gym:FrozenLake-v1", f"gym:{hostile}", "evil.py:fails", hostile],
            "subject": [*world.runs, *world.models, hostile],
            "environment": ["gym:FrozenLake-v1", f"gym:{hostile}", f"{hostile}:x", "none.py:x", hostile],
            "properties": [GOAL, f'Pmax=? [ F "{hostile}" ]', 'Rmin=? [ F "goal" ]', "list.props", hostile],
            "run": [*world.runs, *world.rest, hostile], "policy": [*world.runs, *world.policies, *world.rest, hostile],
            "file": [*world.rest, *world.policies, hostile], "learner": ["lui", "pac", "clopper-pearson", "none", hostile],
            "experiments": ["named.toml", "evil.toml", hostile], "label": [f"b={hostile}", f"{hostile}=b", hostile],
            "reward": ["cost=cost", f"{hostile}=cost", f"cost={hostile}"], "columns": [f"state={hostile}", f"{hostile}=state"],
            "const": ["K=2", f"{hostile}=1", hostile], "env_arg": ["is_slippery=false", f"x={hostile}", hostile],
            "set": ["strength=10", f"{hostile}=1", hostile], "until": [">=0.3", "<=5", hostile], "target": [">=0.3", hostile],
            "describe": ["plugged.toml", "writing.toml", "named.toml", hostile], "initial": [hostile], "terminal": [hostile],
            "graph": [*world.models[:6], "log.csv", hostile], "log": [*world.logs, hostile], "tie": ["declared", hostile],
            "switch": [*world.models[:6], hostile], "what": ["model", "policy", "snapshots", "value", "intervals", hostile],
            "evaluate": [*world.policies, hostile], "explore": ["uniform", "gap", hostile], "unknown": ["p", hostile],
        }  # fmt: skip
        pools |= {"runs": pools["run"], "property": pools["properties"], "model ": pools["model"]}
        if metavar in ("FILE", "RUN", "FOLDER") and name not in ("describe", "evaluate", "log"):
            clean = hostile.replace("/", "").replace("\x00", "")
            ending = rng.choice((".json", ".csv", ".png", ".svg", ".run", ".drn", ""))
            return rng.choice([f"new{ending}", f"{clean}{ending}", rng.choice(world.rest), "none/x.json", "."])
        if name == "file" and self.rng.random() < 0.5:
            return rng.choice(["new.csv", "new.drn", "new.json", "new.tra", "new.umb"])
        pool = pools.get(name) or ["1", "2", "7", "0.5", *metavar.split("|")]
        fits = {
            "model": [each for each in world.models if each.startswith(("chain", "grid", "hostile"))], "properties": [GOAL],
            "property": [GOAL], "run": world.runs, "runs": world.runs, "subject": world.runs,
            "file": ["proof.json", "policy.json"],
            "policy": [*world.runs, *world.policies], "learner": ["lui", "pac"],
        }  # fmt: skip
        if name in fits and rng.random() < 0.6:
            return rng.choice(fits[name])
        if rng.random() < 0.6:
            return rng.choice([each for each in pool if hostile not in each] or pool)
        return rng.choice([hostile, *numbers, *pool])


class Judge:
    """Looks at what a call has done, and puts the folder back as it was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = {path: path.read_bytes() for path in self._files()}

    def _files(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def faults(self, words: list[str], done: Outcome) -> list[str]:
        """Return what is wrong with a call."""
        found = []
        text = done.out + done.err
        if "Traceback" in text or "this is a bug" in text:
            found.append("traceback")
        if (sign := controls(text)) is not None:
            found.append(f"control character {sign}")
        if done.code not in (0, 1, 2):
            found.append(f"status {done.code}")
        if done.code == 2 and not re.search(r"^error: ", done.err, re.MULTILINE):
            found.append("no message")
        if re.search(r"^(error: )?forged", text, re.MULTILINE):
            found.append("a line that a name forged")
        typed = any("evil.py" in word for word in words) or "--trust" in words
        for path in self._files():
            now = path.read_bytes()
            if self.before.get(path) == now:
                continue
            name = str(path.relative_to(self.folder))
            if not ((name == "executed" and typed) or self._named(name, words)):
                found.append(f"wrote {name!r}")
            if path in self.before:
                path.write_bytes(self.before[path])
            else:
                path.unlink()
        for path, content in self.before.items():
            if not path.exists():
                found.append(f"removed {path.name!r}")
                path.write_bytes(content)
        sys.modules.pop("evil", None)
        for module in [name for name in sys.modules if name.startswith("umdp_plugin_")]:
            del sys.modules[module]
        return found

    def _named(self, name: str, words: list[str]) -> bool:
        """Whether a file is one that the call was told to write."""
        if "__pycache__" in name:
            return True
        told = [words[i + 1] for i, word in enumerate(words[:-1]) if word in OUTPUTS]
        told += [word.partition("=")[2] for word in words if word.startswith(tuple(f"{each}=" for each in OUTPUTS))]
        if words[0] == "export":
            told += words[1:]
        if words[0] == "resume":
            told += words[1:2]
        if words[0] == "plot" and name.endswith((".png", ".svg", ".pdf")):
            return True
        if "--trust" in words and name == "aside.jsonl":
            return True
        for each in told:
            stem = each.rpartition(".")[0] or each
            if name == each or name.startswith((f"{each}-", f"{each}/", f"{stem}.")) or each in (".", "made"):
                return True
            if "{n}" in each and re.fullmatch(re.escape(each).replace(re.escape("{n}"), r"\d+"), name):
                return True
        return False


def in_time(words: list[str]) -> Outcome:
    """Run a call in this process; one that takes too long is an error."""

    def ring(number: int, frame: Any) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(LIMIT)
    try:
        return called(words)
    except SystemExit as error:
        return Outcome(99, "", f"Traceback: SystemExit({error.code})")
    except Hang:
        return Outcome(98, "", "Traceback: took too long")
    except BaseException as error:
        return Outcome(97, "", f"Traceback: {type(error).__name__}: {error}")
    finally:
        signal.alarm(0)


def apart(words: list[str]) -> Outcome:
    """Run a call in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", "import umdp.cli; umdp.cli.main()", *(os.fsencode(word) for word in words)],
            capture_output=True, timeout=2 * LIMIT, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (UnicodeEncodeError, ValueError):  # what no shell can pass on
        return Outcome(2, "", "error: ")
    except subprocess.TimeoutExpired:
        return Outcome(98, "", "Traceback: took too long")
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def survey(calls: int, processes: int, seed: int, folder: Path) -> tuple[list[str], collections.Counter[str]]:
    """Return what is wrong, a line each, and how often each command ended with which status."""
    world = World(folder)
    judge, drawer = Judge(folder), Drawer(world, seed)
    faults: list[str] = []
    ends: collections.Counter[str] = collections.Counter()
    for number in range(calls):
        words = drawer.draw()
        done = apart(words) if number >= calls - processes else in_time(words)
        ends[f"{words[0] if words[0] in drawer.known else 'none'} {done.code}"] += 1
        faults += [f"{each}: {words!r}: {(done.err or done.out)[-300:]!r}" for each in judge.faults(words, done)]
    return faults, ends


def main() -> None:
    """Make as many calls as asked for, and print what is wrong with them."""
    parser = argparse.ArgumentParser(prog="python -m bench.invocations", description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--processes", type=int, default=0, help="how many of them in processes of their own")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        faults, ends = survey(given.calls, given.processes, given.seed, Path(name).resolve())
        os.chdir("/")
    for each in faults:
        print(each)
    for what, count in sorted(ends.items()):
        print(f"{what:<16}{count:>6}")
    print(
        f"{given.calls} calls, {given.processes} of them processes, {len(NAMES)} hostile names, seed {given.seed}: "
        f"{len(faults)} faults, {time.monotonic() - begun:.0f} s"
    )
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
