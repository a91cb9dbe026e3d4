"""How often what each learner says is true: `python -m bench.calibration [--seeds 60] [--trajectories 300] [--only WORD,...]`.

One table over learners and environments, as `umdp calibrate` measures it, at 95 %: the learners with an error rate have 0.05.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.problems import Problem, problem
from umdp import LUI, MAP, PAC, UCRL2, Calibration, ClopperPearson, ConfidenceSequence, Learner, Tied, calibrate

ERROR_RATE = 0.05
RESULTS = Path(__file__).parent / "results" / "calibration.md"
ENVIRONMENTS = ("chain", "aircraft", "grid", "bandit", "betting-favourable")


def tied(learner: Learner) -> Callable[[Problem], Learner | None]:
    """Return what makes a learner of classes, where there are any."""
    return lambda given: None if given.tying is None else Tied(learner, given.tying)


LEARNERS: dict[str, Callable[[Problem], Learner | None]] = {
    "lui": lambda given: LUI(),
    "lui + tied": tied(LUI()),
    "map": lambda given: MAP(),
    "pac": lambda given: PAC(ERROR_RATE),
    "ucrl2": lambda given: UCRL2(ERROR_RATE),
    "clopper-pearson": lambda given: ClopperPearson(ERROR_RATE),
    "confidence-sequence": lambda given: ConfidenceSequence(ERROR_RATE),
    "confidence-sequence + tied": tied(ConfidenceSequence(ERROR_RATE)),
}
CLAIMS = {"none": "nothing", "fixed-N": "one look", "any-time": "all times"}
HEAD = (
    "| environment | learner | claims | an interval, then | always | the model, then | always | the value, then | always "
    "| bound | worth |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def line(environment: str, learner: str, found: Calibration) -> str:
    """Return a row of the table: shares in per cent, and medians."""
    cells = [
        f"{_percent(found.frequency(quantity, when).share)}{'' if found.verdict(quantity, when) != 'below' else ' ✗'}"  # type: ignore[arg-type]
        for quantity in ("interval", "model", "policy")
        for when in ("then", "always")
    ]
    medians = [f"{np.median(found.columns[name][:, -1]):.4g}" for name in ("bound", "worth")]
    return f"| {environment} | {learner} | {CLAIMS[found.claim.kind]} | {' | '.join([*cells, *medians])} |"


def _percent(share: float) -> str:
    if np.isnan(share):
        return ""  # nothing was tried
    return "100" if share == 1 else "0" if share == 0 else f"{min(max(100 * share, 0.1), 99.9):.1f}"


def main() -> None:
    """Measure, print the table, and write it down if all of it was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--trajectories", type=int, default=300)
    parser.add_argument("--only", default="", help="environments or learners: grid,lui")
    given = parser.parse_args()
    words = [word for word in given.only.split(",") if word]
    rows = [HEAD]
    for environment in [name for name in ENVIRONMENTS if name in words] or ENVIRONMENTS:
        for learner in [name for name in LEARNERS if name in words] or LEARNERS:
            process = problem(environment)
            made = LEARNERS[learner](process)
            if made is None:
                continue
            begun = time.perf_counter()
            found = calibrate(
                made, process.truth, process.spec, seeds=given.seeds, trajectories=given.trajectories,
                horizon=process.horizon, level=1 - ERROR_RATE, name=environment,
            )  # fmt: skip
            rows.append(line(environment, learner, found))
            print(f"{environment}, {learner}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    print("\n".join(rows))
    if not words:
        about = f"# How often what learners say is true\n\n`python -m bench.calibration {' '.join(sys.argv[1:])}`\n\n"
        RESULTS.write_text(about + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
