"""Files with wrong bytes, of every format: `python -m bench.damaged_files --count 200 --seed 1`.

Each file is flipped, cut, filled and shuffled, and given to the commands that read it. Every call must end with a status of the
command line: no traceback, no hang, no memory beyond what a small file can be worth.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.hostile import called
from bench.invocations import in_time

GOAL = 'Pmaxmin=? [ F "goal" ]'
READ: dict[str, list[list[str]]] = {
    "m.umb": [["check", "FILE", GOAL]], "m.drn": [["check", "FILE", GOAL]], "m.tra": [["check", "FILE", GOAL]],
    "m.lab": [["check", "m.tra", GOAL]], "m.nc": [["check", "FILE", GOAL]], "m.txt": [["check", "FILE", GOAL]],
    "p.json": [["check", "chain.drn", 'Pmax=? [ F "goal" ]', "--evaluate", "FILE"],
               ["simulate", "FILE", "chain", "--episodes", "2"]],
    "p.csv": [["check", "chain.drn", 'Pmax=? [ F "goal" ]', "--evaluate", "FILE"]],
    "q.props": [["check", "chain.drn", "FILE"]], "c.json": [["verify", "FILE"]],
    "a.run": [["show", "FILE", "--json"], ["explain", "FILE"], ["check", "FILE"],
              ["resume", "FILE", "-q", "--trajectories", "35"]],
    "l.csv": [["learn", "FILE", 'Pmax=? [ F "b" ]', "--label", "b=s3", "-q", "--json"]],
    "l.jsonl": [["learn", "FILE", 'Pmax=? [ F "b" ]', "--label", "b=s3", "-q", "--json"]],
    "l.parquet": [["learn", "FILE", 'Pmax=? [ F "b" ]', "--label", "b=s3", "-q", "--json"]],
    "d.toml": [["learn", "l0.csv", 'Pmax=? [ F "b" ]', "--describe", "FILE", "-q"]],
    "e.toml": [["reproduce", "FILE", "--seeds", "1", "--trajectories", "5", "--jobs", "1", "--out", "made", "-q"]],
}  # fmt: skip
SLOW = ("e.toml",)
WORDS = (b"-1", b"nan", b"1e999", b"9" * 30, b"{", b"]", b'"', b"\n", b"99999999999", b"inf", b"\xc3")


def made(folder: Path) -> dict[str, bytes]:
    """Write one good file of every format, and return them."""
    import numpy as np

    from umdp import IntervalMDP, Rewards
    from umdp.benchmark import chain
    from umdp.io import write

    os.chdir(folder)
    model = chain().with_intervals(0.1)
    plain = IntervalMDP(
        model.state_ptr, model.choice_ptr, model.successor, model.lower, model.upper, labels=dict(model.labels)
    )
    model = IntervalMDP(
        model.state_ptr, model.choice_ptr, model.successor, model.lower, model.upper, labels=dict(model.labels),
        rewards={"cost": Rewards(state=np.ones(model.states))},
    )  # fmt: skip
    for ending in ("umb", "drn", "tra", "nc", "txt"):
        try:
            write(plain if ending == "txt" else model, f"m.{ending}")
        except Exception as error:  # an extra that is not there
            print(f"no .{ending}: {error}", file=sys.stderr)
    write(chain(), "chain.drn")
    rows = [(i // 5, f"s{i % 5}", "ab"[i % 2], f"s{(i + 1) % 5}") for i in range(60)]
    Path("l.csv").write_text("trajectory,state,action,next\n" + "".join(f"{t},{s},{a},{n}\n" for t, s, a, n in rows))
    Path("l0.csv").write_bytes(Path("l.csv").read_bytes())
    Path("l.jsonl").write_text(
        "".join(f'{{"trajectory": {t}, "state": "{s}", "action": "{a}", "next": "{n}"}}\n' for t, s, a, n in rows)
    )
    try:
        import polars

        polars.DataFrame(rows, schema=["trajectory", "state", "action", "next"], orient="row").write_parquet(
            "l.parquet"
        )
    except ImportError:
        pass
    Path("d.toml").write_text(
        "initial = 's0'\n[columns]\nstate = 'state'\n[labels]\nb = ['s3', 's4']\n[rewards]\nsteps = 1\n"
    )
    Path("e.toml").write_text(
        'trajectories = 5\nenvironments = ["chain"]\n[[learners]]\nlabel = "L"\nlearner = "lui"\n'
    )
    Path("q.props").write_text(
        'const int K;\n"one": Pmax=? [ F "goal" ];\nPmin>=0.5 [ F<=9 "goal" ]; // two\nRmin=? [ F "goal" ];\n'
    )
    called(
        [
            "learn",
            "chain",
            "--trajectories",
            "30",
            "--confidence",
            "0.95",
            "--out",
            "a.run",
            "--certificate",
            "c.json",
            "-q",
        ]
    )
    called(["export", "a.run", "p.json"])
    called(["export", "a.run", "p.csv", "--what", "policy"])
    return {name: Path(name).read_bytes() for name in READ if Path(name).exists()}


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return some bytes with a few of them wrong."""
    new = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        at = rng.randrange(len(new) + 1)
        size = rng.choice((1, 1, 2, 4, 8, 64))
        piece = rng.choice((rng.randbytes(size), b"\xff" * size, b"\x00" * size, rng.choice(WORDS)))
        change = rng.random()
        if change < 0.6:
            new[at : at + len(piece)] = piece
        elif change < 0.75:
            new[at:at] = piece
        elif change < 0.9:
            del new[at : at + size]
        else:
            del new[at:]
    return bytes(new)


def survey(count: int, seed: int, folder: Path, slow: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the name of a file and what is wrong with a call about it, "" where nothing is."""
    files = made(folder)
    rng = random.Random(seed)
    for number in range(count):
        for name, data in files.items():
            if name in SLOW and (not slow or number % 10):
                continue
            asked = [name if word == "FILE" else word for word in READ[name][number % len(READ[name])]]
            Path(name).write_bytes(mutated(data, rng))
            done = in_time(asked)
            bad = "Traceback" in done.err or "this is a bug" in done.err or done.code not in (0, 1, 2)
            if bad:
                Path(f"{name}.{number}.bad").write_bytes(Path(name).read_bytes())
            yield name, f"{asked}: {done.code} {done.err[-300:]}" if bad else ""
            for each in folder.glob(f"{name}*"):
                if each.suffix != ".bad":
                    each.unlink()
            Path(name).write_bytes(data)


def main() -> None:
    """Try as many as asked for, and print what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.damaged_files", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="how often each file")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    begun, faults = time.monotonic(), 0
    tried: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, wrong in survey(given.count, given.seed, Path(folder).resolve()):
            tried[name] += 1
            if wrong:
                faults += 1
                print(f"{name}: {wrong}", flush=True)
        os.chdir("/")
    print(", ".join(f"{name} {count}" for name, count in tried.items()))
    print(f"{tried.total()} files, seed {given.seed}: {faults} faults, {time.monotonic() - begun:.0f} s")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
