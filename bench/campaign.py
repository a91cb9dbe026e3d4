"""Many random models, one property each: `python -m bench.campaign --models 20000 --seed 1 --jobs 2`.

The value of every state at 1e-6, 1e-12 and 1e-15, by one method or another, cold and from random policies, must contain the exact
one; the certificate of each solution must be accepted by the checker, and changed ones refused unless what they then claim is
true. Where `bench.soundness` asks everything of few models, this asks little of many.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

PRECISIONS = (1e-6, 1e-12, 1e-15)
REPORT = 60.0  # seconds between two lines that say how far it is
ORACLE = 40  # states up to which the oracle is asked; beyond, the checker alone proves the brackets, in rationals


def _one(asked: tuple[int, int, int, int]) -> tuple[list[str], Counter[str]]:
    """Return what is wrong about one model, and what was tried."""
    from properties.bridge import BOUNDED, OBJECTIVES, exact_value, outside, to_model, to_spec
    from properties.soundness import METHODS, draw, shown
    from umdp import Policy, solve
    from umdp.verify import verify_content
    from verify.tamper import attack

    seed, number, low, high = asked
    drawn = draw(seed, number, (low, high))
    model = to_model(drawn)
    rng = np.random.default_rng([seed, number, 2])
    objectives = [*OBJECTIVES, *BOUNDED]
    objective = objectives[int(rng.integers(len(objectives)))]
    small = model.states <= ORACLE
    spec, exact = to_spec(objective), exact_value(drawn, objective) if small else []
    done: Counter[str] = Counter(models=1)
    wrong: list[str] = []
    for turn, precision in enumerate(PRECISIONS):
        method = METHODS[(number + turn) % len(METHODS)]
        start = model.state_ptr[:-1] + rng.integers(0, np.diff(model.state_ptr)) if rng.random() < 0.5 else None
        where = f"seed {seed} model {number}: {spec}, {method}, {precision:g}, start {None if start is None else start.tolist()}"
        try:
            found = solve(
                model, spec, precision=precision, method=method, start=None if start is None else Policy(model, start)
            )
            done["solutions"] += 1
            for s in range(len(exact)):
                done["brackets"] += 1
                if outside(found.lower[s], exact[s], found.upper[s]):
                    wrong.append(
                        f"{where}: state {s}: [{found.lower[s]!r}, {found.upper[s]!r}] misses {shown(exact[s])}"
                    )
            certificate = found.certificate()
            content = json.loads(certificate.to_json())
            done["certificates"] += 1
            done["weaker claims"] += any("bound" in note for note in certificate.notes)
            if not verify_content(content).valid:
                wrong.append(f"{where}: the checker refuses the certificate")
            if small and turn == number % len(PRECISIONS):
                changed: Counter[tuple[str, str]] = Counter()
                if attack(content, rng, changed):
                    wrong.append(f"{where}: the checker accepts a changed certificate whose claim is false")
                done["changed and refused"] += sum(n for (_, what), n in changed.items() if what == "refused")
        except Exception as problem:  # whatever it is, it is to be reported with its model
            wrong.append(f"{where}: {type(problem).__name__}: {problem}")
    return wrong, done


def main() -> None:
    """Try as many models as asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.campaign", description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first model of the series")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--states", default="3,12", help="smallest and largest number of states")
    given = parser.parse_args()
    low, high = (int(n) for n in given.states.split(","))
    asked = [(given.seed, n, low, high) for n in range(given.first, given.first + given.models)]
    begun = said = time.monotonic()
    total: Counter[str] = Counter()
    wrong = 0
    with get_context("spawn").Pool(given.jobs) as pool:
        for found, done in pool.imap_unordered(_one, asked, chunksize=4):
            total += done
            wrong += len(found)
            for each in found:
                print(each, flush=True)
            if time.monotonic() - said > REPORT:
                said = time.monotonic()
                print(f"# {dict(total)}, {wrong} wrong, {said - begun:.0f} s", flush=True)
    print(f"{dict(total)}, {wrong} wrong, {time.monotonic() - begun:.0f} s")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
