"""How much memory reading and solving take, and how time grows with the size.

    python -m bench.memory [--size N ...] [--family NAME] [--kind KIND] [--only read|P|R]

writes models as UMB files and has each read, or read and solved, by a process of its own, with compiled kernels. The peak is
that of the whole process: interpreter, libraries, kernels, the file, the model, the solver. The column "arrays" is what the
model's own arrays weigh, "ns" the nanoseconds of the processor per transition, reading and solving.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.families import FAMILIES
from umdp import MDP, IntervalMDP

MAKE = """
import sys, umdp.io
from bench.families import FAMILIES, build
from bench.memory import weight
path, family, size, kind = sys.argv[1:]
model = build(FAMILIES[family], int(size), kind)
umdp.io.write(model, path)
print(model.transitions, weight(model))
"""
MEASURE = """
import resource, sys, time
import umdp, umdp.io
from bench.sides import _warm_up
path, kind, asked = sys.argv[1:]
if asked:
    _warm_up(kind == "interval", asked)
begun = time.process_time()
model = umdp.io.read(path)
read = time.process_time()
said = umdp.solve(model, asked).status.name if asked else ""
done = time.process_time()
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10), read - begun, done - read, said)
"""
HEAD = ("family", "kind", "what", "transitions", "arrays MB", "peak MB", "read s", "solve s", "ns", "")
WIDTHS = "{:<10}{:<10}{:<6}{:>12}{:>11}{:>9}{:>8}{:>9}{:>7}  {}"


def weight(model: MDP | IntervalMDP) -> float:
    """Return what the arrays of a model weigh, in MB."""
    arrays = [model.state_ptr, model.choice_ptr, model.successor, *model.labels.values()]
    arrays += [model.lower, model.upper] if isinstance(model, IntervalMDP) else [model.probability]
    for reward in model.rewards.values():
        arrays += [part for part in (reward.state, reward.choice, reward.transition) if part is not None]
    return float(sum(each.nbytes for each in arrays)) / 2**20


def answer(program: str, *arguments: str) -> list[str]:
    """Return what a program prints; a process starts with its parent's peak, so that this one must stay small."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.split()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--family", choices=sorted(FAMILIES), action="append")
    parser.add_argument("--kind", choices=("plain", "interval"), action="append")
    parser.add_argument("--only", choices=("read", "P", "R"), action="append")
    given = parser.parse_args()
    print(WIDTHS.format(*HEAD))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.umb"))
        for name in given.family or ("layered", "clusters"):
            for kind in given.kind or ("plain", "interval"):
                for size in given.size or (100_000, 1_000_000, 10_000_000):
                    count, arrays = map(float, answer(MAKE, path, name, str(size), kind))
                    properties = FAMILIES[name].plain if kind == "plain" else FAMILIES[name].interval
                    for what in given.only or ("read", "P", "R"):
                        asked = next((each for each in properties if each.startswith(what)), "")
                        peak, read, solved, *said = answer(MEASURE, path, kind, asked)
                        each = 1e9 * (float(read) + float(solved)) / count
                        shown = (f"{count:.0f}", f"{arrays:.0f}", f"{float(peak):.0f}", f"{float(read):.2f}")
                        more = (f"{float(solved):.2f}", f"{each:.0f}", " ".join(said))
                        print(WIDTHS.format(name, kind, what, *shown, *more), flush=True)


if __name__ == "__main__":
    main()
