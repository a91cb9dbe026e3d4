"""How fast models are read, by format: transitions a second of processor time, once everything is compiled.

    python -m bench.reading [--size N] [--family NAME] [--repeat K]

writes a model of a family, plain and with intervals, in every format, reads each file a few times in one process and prints the
best time of each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import umdp.io
from bench.families import FAMILIES, build

FORMATS = ("umb", "tra", "drn")


def measure(path: Path, repeat: int) -> tuple[float, int]:
    """Return the least seconds of the processor that reading a file takes, and how many transitions it has."""
    best, transitions = float("inf"), 0
    for _ in range(repeat):
        begun = time.process_time()
        transitions = umdp.io.read(path).transitions
        best = min(best, time.process_time() - begun)
    return best, transitions


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--family", choices=sorted(FAMILIES), action="append")
    parser.add_argument("--format", choices=FORMATS, action="append")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print(f"{'family':<10}{'kind':<10}{'format':<8}{'MB':>8}{'CPU s':>9}{'million/s':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for family in given.family or ("random", "layered"):
            for kind in ("plain", "interval"):
                model = build(FAMILIES[family], given.size, kind)
                for suffix in given.format or FORMATS:
                    path = Path(folder, f"model.{suffix}")
                    umdp.io.write(model, path)
                    size = sum(each.stat().st_size for each in Path(folder).iterdir()) / 1e6
                    seconds, transitions = measure(path, given.repeat)
                    for each in Path(folder).iterdir():
                        each.unlink()
                    if transitions != model.transitions:
                        sys.exit(f"{path.name} was read with {transitions} transitions instead of {model.transitions}")
                    rate = transitions / seconds / 1e6
                    print(f"{family:<10}{kind:<10}{suffix:<8}{size:>8.0f}{seconds:>9.2f}{rate:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
