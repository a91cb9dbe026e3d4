"""What a promise costs: `python -m bench.price [--seeds 3] [--cap 1e6] [--only WORD,...]`, one table.

Trajectories until the promised value is within 5 % and within 1 % of the optimum, on every environment: with the confidence
sequence alone, and with what helps it (`WAYS`), at error rate 0.05. LUI stands beside them: when it *says* so, which promises
nothing, and in how many of its runs something that it said on the way was false. Medians over seeds; a run that did not get
there counts as more than the cap.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.problems import ERROR_RATE, PROBLEMS, Problem, problem
from umdp import LUI, Learner
from umdp.analysis.run_coverage import Judge
from umdp.explore import EXPLORERS, Explorer, Optimism
from umdp.learning.candidates import CandidateEvaluation
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.source.simulator import Simulator

__all__ = ["WAYS", "Way", "measure", "table"]

WITHIN = (0.05, 0.01)  # of the optimum
SEEDS, CAP, SECONDS = 5, 10_000_000, 60.0
RESULTS = Path(__file__).parent / "results" / "price.md"


def _best(given: Problem) -> Learner:
    """Return the learner that uses all that is known of the process."""
    return given.by_parameters() or given.by_ties() or given.by_sequence()


def _optimism(given: Problem) -> Explorer:
    return Optimism(spread=given.environment or None)


def _gap(given: Problem) -> Explorer:
    return EXPLORERS["gap"]()


class Way(NamedTuple):
    """One column: the learner, None where it does not apply; how to move; and the share of trajectories that candidates play."""

    learner: Callable[[Problem], Learner | None]
    explorer: Callable[[Problem], Explorer] = _optimism
    share: float | None = None


WAYS: dict[str, Way] = {
    "confidence sequence": Way(Problem.by_sequence),
    "tied": Way(Problem.by_ties),
    "parameters": Way(Problem.by_parameters),
    "played": Way(Problem.by_sequence, share=0.5),
    "LUI + played": Way(lambda given: LUI(), share=0.5),
    "gap": Way(Problem.by_sequence, _gap),
    "all known + gap": Way(_best, _gap),
    "all together": Way(_best, _gap, 0.5),
    "LUI without a promise": Way(lambda given: LUI()),
}
"""Columns by name. What is played is left out where nothing can be proved by it: `Problem.playable`."""


def run_of(given: Problem, way: str, seed: int) -> LearningRun | None:
    """Return a run at its beginning; None where the way does not apply."""
    how = WAYS[way]
    learner = how.learner(given)
    if learner is None or (how.share is not None and not given.playable and way != "all together"):
        return None
    source = Simulator(given.truth, sampling="auto")
    rate = None if learner.claim.holds else ERROR_RATE
    played = None if how.share is None or not given.playable else CandidateEvaluation(how.share, rate, given.most)
    return LearningRun(source, given.spec, learner, how.explorer(given), seed, given.horizon, evidence=played)


@cache
def warm(environment: str, way: str) -> None:
    """Compile what a run needs, which is not time spent on it."""
    run = run_of(problem(environment), way, 0)
    for _ in () if run is None else proceed(run, StoppingCriteria(trajectories=20)):
        pass


Asked = tuple[str, str, int, int, float]  # environment, way, seed, the most trajectories and seconds


def measure(asked: Asked) -> dict[str, Any]:
    """Return what `needed` does; or that a run failed, which is said in the table and does not end it."""
    try:
        return needed(asked)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return {"environment": asked[0], "way": asked[1], "seed": asked[2], "applies": True, "failed": said}


def needed(asked: Asked) -> dict[str, Any]:
    """Return how many trajectories a run needed, for every part of `WITHIN`; None where it did not get there."""
    environment, way, seed, cap, seconds = asked
    given = problem(environment)
    warm(environment, way)
    run = run_of(given, way, seed)
    if run is None:
        return {"environment": environment, "way": way, "seed": seed, "applies": False}
    found: dict[str, int | None] = {f"{part:g}": None for part in WITHIN}
    judge, begun, false, last = Judge.of(run), time.monotonic(), False, None
    for last in proceed(run, StoppingCriteria(trajectories=cap)):
        bound = judge.bound(last)
        for part in WITHIN:
            if found[f"{part:g}"] is None and close(bound, given, part):
                found[f"{part:g}"] = last.trajectories
        false = false or not judge.keeps(last)
        if all(each is not None for each in found.values()) or time.monotonic() - begun > seconds:
            break
    assert last is not None
    return {
        "environment": environment, "way": way, "seed": seed, "applies": True, "found": found, "false": false,
        "trajectories": last.trajectories, "iterations": last.iteration, "bound": judge.bound(last),
        "promises": last.promise is not None or run.candidates is not None, "seconds": round(time.monotonic() - begun, 1),
    }  # fmt: skip


def close(bound: float, given: Problem, part: float) -> bool:
    """Whether a bound is within a part of the optimum."""
    return bound >= (1 - part) * given.optimum if given.rises else bound <= (1 + part) * given.optimum


# -- the table ----------------------------------------------------------------------------------------------------


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a table in Markdown, a line each: environments down, ways across."""
    ways = [way for way in WAYS if any(row["way"] == way and row["applies"] for row in rows)]
    yield f"| environment | optimum | within | {' | '.join(ways)} |"
    yield f"|---|--:|--:|{'--:|' * len(ways)}"
    for environment in PROBLEMS:
        some = [row for row in rows if row["environment"] == environment]
        if not some:
            continue
        for part in WITHIN:
            cells = [cell([row for row in some if row["way"] == way and row["applies"]], f"{part:g}") for way in ways]
            yield f"| {environment} | {problem(environment).optimum:.4g} | {part:.0%} | {' | '.join(cells)} |"


def cell(rows: list[dict[str, Any]], part: str) -> str:
    """Return the median of how many trajectories it took; where that is not known, what it is more than.

    Examples
    --------
    >>> cell([{"found": {"0.05": 70}, "false": 0, "promises": True, "trajectories": 70}], "0.05")
    '70'
    """
    if not rows:
        return ""
    if any("failed" in row for row in rows):
        return "fails"
    found = [math.inf if row["found"][part] is None else row["found"][part] for row in rows]
    median = float(np.median(found))
    beyond = [row["trajectories"] for row in rows if row["found"][part] is None]
    text = f"{median:,.0f}" if math.isfinite(median) else f"> {min(beyond):,}"
    false = sum(row["false"] for row in rows if not row["promises"])
    return f"{text} (false in {false} of {len(rows)})" if false else text


def main() -> None:
    """Measure, print the table, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--cap", type=float, default=CAP, help="trajectories of a run at most")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a run at most")
    parser.add_argument("--only", default="", help="environments or ways: grid,tied")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--out", type=Path, help="where to write the table; by default bench/results/price.md, if all is asked"
    )
    given = parser.parse_args()
    words = [word for word in given.only.split(",") if word]
    environments = [name for name in PROBLEMS if name in words] or list(PROBLEMS)
    ways = [name for name in WAYS if name in words] or list(WAYS)
    todo = [
        (environment, way, seed, int(given.cap), given.seconds)
        for environment in environments
        for way in ways
        for seed in range(given.seeds)
    ]
    out = given.out or (None if words else RESULTS)
    rows: list[dict[str, Any]] = []
    with get_context("spawn").Pool(given.jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for number, row in enumerate(pool.imap_unordered(measure, todo), 1):
                rows.append(row)
                print(f"{number} of {len(todo)}: {json.dumps(row)}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()
    told = " ".join(sys.argv[1:])
    about = (
        f"Trajectories until the promised value is within 5 % and 1 % of the optimum; medians over {given.seeds} seeds, at most "
        f"{int(given.cap):,} trajectories and {given.seconds:g} s a run; error rate {ERROR_RATE:g}.\n"
    )
    text = "\n".join([about, *table(rows), ""])
    print(text)
    if out is not None:
        out.write_text(f"# What a promise costs\n\n`python -m bench.price {told}`\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
