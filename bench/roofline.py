"""How close a sweep comes to what memory allows: `python -m bench.roofline [SIZE]`.

A sweep over all rows reads every entry once: its target, its bounds, the kept order of the row, and the value it leads to. The
first three are read in order, so that no sweep can be faster than a copy of as many bytes. Values are read out of order; where
they do not fit in a cache, that is what costs time.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from bench.families import FAMILIES, build
from bench.machine import copy_bandwidth
from umdp import Spec
from umdp.solver.kernels.structs import Players, Section, row_space
from umdp.solver.kernels.sweeps import sweep
from umdp.solver.objective import players
from umdp.solver.reduction.layout import build_problem, state_quotient_of
from umdp.solver.task import analyse, task_of

SHOWN = ("layered", "random", "grid", "wide", "brp")


def measure(family: str, size: int, kind: str) -> tuple[int, float, float]:
    """Return entries, bytes read in order and the seconds of one sweep, the best of a few."""
    model = build(FAMILIES[family], size, kind)
    asked = (FAMILIES[family].plain if kind == "plain" else FAMILIES[family].interval)[0]
    spec = Spec.parse(asked)
    task = task_of(analyse(model, spec), spec.kind, *players(model, spec))
    p = build_problem(task, state_quotient_of(task))
    arrays = p.rows._replace(comp_ptr=p.rows.row_ptr[:0], upper=p.rows.upper[: 0 if p.plain else None])
    read = sum(array.nbytes for array in arrays)
    x, choice = np.zeros(p.n + 2), np.array(p.rows.row_ptr[:-1])
    whole = Section(0, p.n, p.rows, row_space(p.widest), Players(task.agent_max, task.nature_max))
    x[p.n :] = p.exits
    best = np.inf
    for _ in range(12):
        begun = time.perf_counter()
        sweep(whole, x, choice)
        best = min(best, time.perf_counter() - begun)
    return p.rows.target.size, read + x.nbytes + choice.nbytes, best


def main() -> None:
    """Print the table."""
    size = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    bandwidth = copy_bandwidth()
    print(f"copy: {bandwidth / 1e9:.1f} GB a second\n")
    print("| model | kind | entries | bytes an entry | ms a sweep | million entries a second | of copying |")
    print("|---|---|---|---|---|---|---|")
    for family in SHOWN:
        for kind in ("plain", "interval"):
            entries, read, seconds = measure(family, size, kind)
            print(
                f"| {family} | {kind} | {entries:,} | {read / entries:.0f} | {1e3 * seconds:.2f} | "
                f"{entries / seconds / 1e6:.0f} | {100 * read / seconds / bandwidth:.0f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
