"""This checkout and another one side by side: `python -m bench.versus ../before --sizes 1e5,1e6`.

Both run the same cases in turn, family by family, so that a busy machine slows both. Printed is the time there over the time
here: above 1 where this checkout is faster.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.families import FAMILIES

HERE = Path(__file__).resolve().parent.parent


def _run(checkout: Path, *arguments: str) -> str:
    """Return what `python -m ...` prints in a checkout."""
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"}
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def _solving(checkout: Path, family: str, given: argparse.Namespace) -> dict[tuple[str, str, int], float]:
    """Return the seconds of every case of a family; what ran out of time is left out."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.jsonl")
        _run(
            checkout, "bench", "--no-storm", "--only", family, "--sizes", given.sizes, "--timeout", str(given.timeout),
            "--repeat", str(given.repeat), "--json", str(file),
        )  # fmt: skip
        rows = [json.loads(line) for line in file.read_text().splitlines()]
    return {
        (row["kind"], row["property"], row["transitions"]): row["umdp"]["seconds"]
        for row in rows
        if math.isfinite(float(row["umdp"]["seconds"] or math.inf))
    }


def _learning(checkout: Path) -> dict[str, float]:
    """Return milliseconds per iteration, by environment."""
    found = {}
    for line in _run(checkout, "bench.learning").splitlines():
        words = line.split()
        if len(words) > 4 and words[1].replace(".", "").isdigit() and words[2].isdigit():
            found[words[0]] = float(words[3])
    return found


def _mean(ratios: list[float]) -> str:
    return f"{statistics.geometric_mean(ratios):.2f}" if ratios else "-"


def main() -> None:
    """Print one line per case, and the geometric means."""
    parser = argparse.ArgumentParser(prog="python -m bench.versus", description=__doc__)
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("--sizes", default="1e5,1e6")
    parser.add_argument("--only", help="only these families")
    parser.add_argument("--timeout", type=float, default=20.0)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    other = given.other.resolve()
    ratios: dict[str, list[float]] = {"plain": [], "interval": []}
    print(
        f"{'model':10s}  {'kind':8s}  {'property':36s}  {'transitions':>11s}  {'there s':>9s}  {'here s':>9s}  {'ratio':>6s}"
    )
    for family in given.only.split(",") if given.only else FAMILIES:
        there, here = _solving(other, family, given), _solving(HERE, family, given)
        for case in sorted(there.keys() | here.keys(), key=lambda each: (each[2], each[0], each[1])):
            kind, asked, transitions = case
            old, new = there.get(case, math.inf), here.get(case, math.inf)
            known = math.isfinite(old) and math.isfinite(new)
            if known:
                ratios[kind].append(old / new)
            shown = f"{old / new:6.2f}" if known else "     -"
            print(
                f"{family:10s}  {kind:8s}  {asked:36s}  {transitions:11,d}  {old:9.4f}  {new:9.4f}  {shown}", flush=True
            )
    print(f"\ngeometric mean of ratios: plain {_mean(ratios['plain'])}, interval {_mean(ratios['interval'])}\n")
    there_each, here_each = _learning(other), _learning(HERE)
    print(f"{'environment':22s}{'there ms':>10s}{'here ms':>10s}{'ratio':>8s}   per iteration of learning")
    for name in here_each:
        if name in there_each:
            print(f"{name:22s}{there_each[name]:10.2f}{here_each[name]:10.2f}{there_each[name] / here_each[name]:8.2f}")


if __name__ == "__main__":
    main()
