"""How fast logs and streams are counted, and in how much memory.

    python -m bench.logs [--records N]

writes a log of random moves of the chain, has `umdp learn` count it as a file and as a stream, and prints a table. Every row of
it is a process of its own, whose peak memory is that of the process and not of the data.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import umdp

MEASURE = (
    "import resource, sys; from umdp.cli import run; code = run(sys.argv[1:]); "
    "used = resource.getrusage(resource.RUSAGE_SELF); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr); sys.exit(code)"
)


def steps(records: int, seed: int = 0) -> Iterator[tuple[int, str, str, str]]:
    """Yield trajectory, state, action and next state of random moves of 100 steps each."""
    chain, draw = umdp.benchmark.chain(), random.Random(seed)
    moves: list[list[tuple[str, list[int], list[float]]]] = []
    for s in range(chain.states):
        own = []
        for c in range(chain.state_ptr[s], chain.state_ptr[s + 1]):
            row = slice(chain.choice_ptr[c], chain.choice_ptr[c + 1])
            own.append((chain.action_name(c), chain.successor[row].tolist(), chain.probability[row].tolist()))
        moves.append(own)
    state = chain.initial
    for n in range(records):
        if n % 100 == 0:
            state = chain.initial
        action, successors, weights = draw.choice(moves[state])
        following = draw.choices(successors, weights)[0]
        yield n // 100, chain.state_name(state), action, chain.state_name(following)
        state = following


def write(path: Path, records: int) -> None:
    """Write a log as CSV or JSON lines, by its ending."""
    with path.open("w") as file:
        if path.suffix == ".csv":
            file.write("trajectory,state,action,next\n")
            file.writelines(f"{t},{s},{a},{n}\n" for t, s, a, n in steps(records))
        else:
            file.writelines(
                f'{{"trajectory": {t}, "state": "{s}", "action": "{a}", "next": "{n}"}}\n'
                for t, s, a, n in steps(records)
            )


def measure(arguments: list[str], source: Path | None) -> tuple[float, float, float, str]:
    """Return seconds, seconds of the processor, megabytes, and how much was counted."""
    begun = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open(os.devnull if source is None else source, "rb") as given:
        sender = subprocess.Popen(["cat"], stdin=given, stdout=subprocess.PIPE)
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *arguments],
            stdin=sender.stdout, capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        sender.wait()
    if done.returncode:
        sys.exit(done.stderr)
    processor, memory = map(float, done.stderr.split()[-2:])
    return time.perf_counter() - begun, processor, memory / 1024, done.stdout.splitlines()[1].strip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--only", choices=("csv", "jsonl"))
    given = parser.parse_args()
    print(f"{'what':<22}{'seconds':>9}{'CPU s':>8}{'MB':>8}   said")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("jsonl", "csv"):
            if given.only in (None, kind):
                log = Path(folder, f"moves.{kind}")
                write(log, given.records)
                for what, name, source in ((f"{kind}, a file", str(log), None), (f"{kind}, a stream", "-", log)):
                    seconds, used, memory, said = measure(["learn", "chain", "--log", name, "--quiet"], source)
                    print(f"{what:<22}{seconds:>9.1f}{used:>8.1f}{memory:>8.0f}   {said}", flush=True)
                log.unlink()


if __name__ == "__main__":
    main()
