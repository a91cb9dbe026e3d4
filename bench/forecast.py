"""What a target takes: `python -m bench.forecast` compares estimates of `umdp explain` with what then happened.

Every run is asked, when it has reached a first threshold, how many more trajectories some targets take; then it goes on.
"""

from __future__ import annotations

import math
import time

from umdp import LUI, ConfidenceSequence, Learner, explain
from umdp.benchmark import BENCHMARKS
from umdp.learn.tied import Tied
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.learning.validation import threshold
from umdp.source.simulator import Simulator

CASES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("bandit", "confidence sequence", ">=0.6", (">=0.8", ">=0.9")),
    ("bandit", "confidence sequence", ">=0.9", (">=0.95",)),
    ("chain", "confidence sequence", "<=300", ("<=100",)),
    ("chain", "confidence sequence", "<=100", ("<=80", "<=76")),
    ("betting-favourable", "confidence sequence", ">=20", (">=30", ">=35")),
    ("betting-favourable", "confidence sequence", ">=30", (">=36",)),
    ("grid", "confidence sequence", ">=0.05", (">=0.15", ">=0.2")),
    ("grid", "confidence sequence", ">=0.2", (">=0.25", ">=0.3")),
    ("grid", "LUI", ">=0.05", (">=0.25", ">=0.3")),
    ("grid", "tied", ">=0.2", (">=0.3",)),
)


def learner_of(kind: str, name: str) -> Learner:
    """Return a learner for an environment."""
    bench = BENCHMARKS[name]
    if kind == "LUI":
        return LUI()
    learner = ConfidenceSequence(0.05)
    if kind != "tied":
        return learner
    assert bench.tie is not None
    return Tied(learner, bench.tie(bench.build().graph))


def main() -> None:
    """Print the table."""
    begun, near = time.perf_counter(), []
    print("| environment | learner | after | promise | target | estimated | it took | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name, kind, first, targets in CASES:
        bench = BENCHMARKS[name]
        source = Simulator(bench.build(), sampling="auto")
        run = LearningRun(source, bench.spec, learner_of(kind, name), seed=0, horizon=bench.horizon)
        *_, now = proceed(run, StoppingCriteria(until=threshold(first)))
        estimates = [explain(now, target=target) for target in targets]
        for target, found in zip(targets, estimates, strict=True):
            *_, later = proceed(run, StoppingCriteria(until=threshold(target)))
            took = later.trajectories - now.trajectories
            assert found.forecast is not None
            guess = found.forecast.trajectories
            ratio = math.nan if guess is None else guess / took
            near.append(0.5 <= ratio <= 2)
            print(
                f"| {name} | {kind} | {now.trajectories:,} | {found.promise:.4g} | {target} | "
                f"{'no number is enough' if guess is None else f'{guess:,}'} | {took:,} | {ratio:.2f} |",
                flush=True,
            )
    print(f"\n{sum(near)} of {len(near)} within a factor of two; {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
