"""Random models against exact rationals: `python -m bench.soundness --models 1000 --seed 1 --jobs 2`.

Every bracket of every state is compared with the exact value, for all objectives, methods and precisions, cold and started from
random policies. Prints what misses, and how much was tried.
"""

from __future__ import annotations

import argparse
import sys
import time
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def _one(asked: tuple[int, int, int, int, bool]) -> tuple[list[str], int, int, int]:
    from properties import lines, soundness

    seed, number, low, high, long = asked
    tally = soundness.Tally()
    found = list((lines if long else soundness).misses(seed, number, tally, states=(low, high)))
    return found, tally.brackets, tally.solved, tally.certified


def main() -> None:
    """Try as many models as asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.soundness", description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first model of the series")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--states", default="", help="smallest and largest number of states: 3,12, or 40,400 for lines")
    parser.add_argument("--lines", action="store_true", help="lines, of which exact values are known at any length")
    given = parser.parse_args()
    low, high = (int(n) for n in (given.states or ("40,400" if given.lines else "3,12")).split(","))
    asked = [(given.seed, n, low, high, given.lines) for n in range(given.first, given.first + given.models)]
    begun = time.monotonic()
    models = brackets = solved = certified = wrong = 0
    with get_context("spawn").Pool(given.jobs) as pool:
        for found, compared, runs, precise in pool.imap_unordered(_one, asked, chunksize=1):
            models, brackets, solved, certified = models + 1, brackets + compared, solved + runs, certified + precise
            wrong += len(found)
            for each in found:
                print(each, flush=True)
            if models % 100 == 0:
                print(
                    f"# {models} models, {brackets} brackets, {wrong} wrong, {time.monotonic() - begun:.0f} s",
                    flush=True,
                )
    print(
        f"{models} models tried, {solved} solves ({certified} to the precision asked for), {brackets} brackets compared, "
        f"{wrong} misses, {time.monotonic() - begun:.0f} s"
    )
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
