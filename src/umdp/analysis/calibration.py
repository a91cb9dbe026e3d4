"""Calibrate a learner: many runs where the truth is known, in this process or in several."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.coverage import Calibration
from umdp.analysis.run_coverage import COLUMNS, Judge, follow
from umdp.errors import ModelError, UmdpError
from umdp.explore import Explorer, as_explorer
from umdp.learn import Learner, as_learner
from umdp.learn.tied import as_tied
from umdp.learning.candidates import CandidateEvaluation, as_evidence
from umdp.learning.loop import LearningRun
from umdp.learning.validation import check_budgets
from umdp.model import MDP
from umdp.model.tying import Outcome, Tie, Tying
from umdp.source import Source, as_source
from umdp.source.simulator import Simulator
from umdp.spec import Spec
from umdp.statements.guarantee import Guarantee

__all__ = ["NOMINAL", "Plain", "calibrate", "calibration", "courses", "default_times", "simulated"]

Columns = dict[str, NDArray[Any]]
MakeRun = Callable[[int], LearningRun]
Progress = Callable[[int, int], None]

NOMINAL = 0.95  # where nobody says what to compare with
WITHIN = (1, 2, 3, 5, 7)  # times of every decade


def calibrate(
    learner: Learner | type[Learner] | str | Callable[[], Learner],
    source: MDP | Source | Any,
    spec: Spec | str,
    *,
    seeds: int = 200,
    trajectories: int = 1000,
    explorer: Explorer | type[Explorer] | str | None = None,
    horizon: int | None = None,
    seed: int = 0,
    times: Sequence[int] | None = None,
    level: float | None = None,
    precision: float = 1e-6,
    evidence: CandidateEvaluation | float | None = None,
    tie: Tying | Tie | None = None,
    outcome: Outcome | None = None,
    jobs: int = 1,
    name: str = "a model",
    progress: Progress | None = None,
) -> Calibration:
    """Measure how often what a learner says is true: its intervals, the whole model, and the value, over many seeds.

    Each run is looked at after every iteration. At fixed times, what was said last is compared with the truth; at the worst
    time, everything that was said until then. Ctrl-C gives what is there.

    Parameters
    ----------
    learner : Learner, or its class or name
        Or a function that makes one, called once per run.
    source : MDP, Source or environment with a table
        The process, whose probabilities must be known; or a function that makes it, called once per run.
    spec : Spec or str
        The property, without nature.
    seeds : int
        How many runs.
    trajectories : int
        How long each run is.
    explorer, horizon, precision, evidence, tie, outcome : optional
        As for `anytime`.
    seed : int
        Of the first run; the others have the numbers after it, so that each can be looked at with `anytime`.
    times : sequence of int, optional
        Numbers of trajectories at which to compare; by default 1, 2, 3, 5, 7, 10, 20, ... and the last.
    level : float, optional
        What to compare with, where the learner claims nothing; by default 1 minus its error rate, if it has one, else 0.95.
    jobs : int
        How many processes. With more than 1 everything given must be able to travel (`pickle`).
    name : str
        What the process is called in the table.
    progress : callable, optional
        Called with how many runs are done and how many there are.

    Examples
    --------
    >>> from umdp import MDP, calibrate
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> found = calibrate("confidence-sequence", coin, 'Pmax=? [ F "heads" ]', seeds=30, trajectories=100)
    >>> print(found.frequency("policy", "always"), found.verdict("policy"))
    100 % (88.4 .. 100) agrees
    """
    asked = Spec.parse(spec) if isinstance(spec, str) else spec
    check_budgets(trajectories=trajectories)
    given = (as_explorer(explorer), horizon, precision, as_evidence(evidence), tie, outcome)
    make = Plain(learner, source, _open_ended(asked), *given)
    at = default_times(trajectories) if times is None else _checked(times, trajectories)
    return calibration(make, seeds=seeds, seed=seed, times=at, level=level, jobs=jobs, name=name, progress=progress)


@dataclass(frozen=True)
class Plain:
    """Makes the run of a seed, with a learner and a source of its own."""

    learner: Any
    source: Any
    spec: Spec
    explorer: Explorer
    horizon: int | None = None
    precision: float = 1e-6
    evidence: CandidateEvaluation | None = None
    tie: Tying | Tie | None = None
    outcome: Outcome | None = None

    def __call__(self, seed: int) -> LearningRun:
        """Return the run at its beginning."""
        learner, origin = self.learner, self.source
        if callable(learner) and not isinstance(learner, type | Learner):
            learner = learner()
        if callable(origin) and not isinstance(origin, MDP | Source) and not hasattr(origin, "step"):
            origin = origin()
        source = simulated(as_source(origin))
        learns = as_tied(as_learner(learner), source.graph, self.tie, self.outcome)
        more = (seed, self.horizon, self.precision, None, self.evidence)
        return LearningRun(source, self.spec, learns, self.explorer, *more)


def calibration(
    make: MakeRun,
    *,
    seeds: int,
    seed: int = 0,
    times: NDArray[np.int64],
    level: float | None = None,
    jobs: int = 1,
    name: str = "a model",
    learner: str | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Calibrate the runs that a function makes of seeds; the rest is as for `calibrate`."""
    if seeds < 1:
        raise ModelError(f"seeds must be at least 1, not {seeds}")
    if jobs < 1:
        raise ModelError(f"jobs must be at least 1, not {jobs}")
    if level is not None and not 0 < level < 1:
        raise ModelError(f"level is {level}; give a probability between 0 and 1, such as 0.95")
    first = make(seed)
    claim, judge, played = first.learner.claim, Judge.of(first), None
    if first.candidates is not None:
        played = Guarantee("any-time", first.candidates.budget.level)
    chosen = claim.level if played is None else played.level
    if chosen is None:
        rate = getattr(first.learner, "error_rate", None)
        chosen = level if level is not None else NOMINAL if rate is None else 1 - rate
    done: dict[int, Columns] = {}
    wanted, interrupted = range(seed, seed + seeds), False
    try:
        for number, columns in courses(make, list(wanted), times, jobs):
            done[number] = columns
            if progress is not None:
                progress(len(done), seeds)
    except KeyboardInterrupt:
        if not done:
            raise
        interrupted = True
    numbers = sorted(done)
    return Calibration(
        learner or repr(first.learner).partition("):")[0] + ")", name, str(first.spec), claim, chosen,
        judge.optimum.value, judge.rises, times, np.array(numbers, np.int64),
        {column: np.array([done[each][column] for each in numbers]) for column in COLUMNS}, interrupted, played,
    )  # fmt: skip


def simulated(source: Source) -> Source:
    """Return a simulator of a process that is known and stays as it is; `ModelError` where it is not or does not."""
    truth = source.truth
    if truth is None or not source.interactive:
        source.close()
        raise ModelError(
            "the true probabilities are not known here, and coverage is measured against them: calibrate on a benchmark, a model "
            "file, or an environment with a table"
        )
    if source.provenance().changes:
        raise ModelError(
            "the process changes, and bounds from before say nothing of it after: calibrate on each of its stages"
        )
    if source.simulates:
        return source
    source.close()
    return Simulator(truth)


def default_times(trajectories: int) -> NDArray[np.int64]:
    """Return numbers of trajectories to look at: five in every decade, and the last.

    Examples
    --------
    >>> default_times(30).tolist()
    [1, 2, 3, 5, 7, 10, 20, 30]
    """
    found = {factor * 10**power for power in range(len(str(trajectories))) for factor in WITHIN}
    return np.array(sorted({each for each in found if each < trajectories} | {trajectories}), np.int64)


def _checked(times: Sequence[int], trajectories: int) -> NDArray[np.int64]:
    at = np.unique(np.asarray(times, dtype=np.int64))
    if not at.size or at[0] < 1 or at[-1] > trajectories:
        raise ModelError(f"times must be numbers of trajectories from 1 to {trajectories}, not {list(times)}")
    return at


def _open_ended(spec: Spec) -> Spec:
    """Return a property without its threshold, which would end runs."""
    return spec if spec.agent is None else replace(spec, threshold=None)


AHEAD = 4  # runs handed out to every process


def courses(make: MakeRun, seeds: Sequence[int], times: NDArray[np.int64], jobs: int) -> Iterator[tuple[int, Columns]]:
    """Yield the runs as they are done."""
    if jobs == 1 or len(seeds) == 1:
        for seed in seeds:
            yield _course(make, seed, times)
        return
    try:
        sent = pickle.dumps((make, times))
    except Exception as error:
        raise ModelError(
            f"this cannot travel to other processes ({error}): give a learner or a function of a module, or jobs=1"
        ) from None
    pool = ProcessPoolExecutor(
        min(jobs, len(seeds)), mp_context=get_context("spawn"), initializer=_receive, initargs=(sent,)
    )
    waiting, running = iter(seeds), set[Future[tuple[int, Columns]]]()
    try:
        while True:
            running |= {pool.submit(_work, each) for each in islice(waiting, AHEAD * jobs - len(running))}
            if not running:
                return
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                yield future.result()
    except BrokenProcessPool:
        raise ModelError("a worker process died, perhaps for want of memory; try with fewer jobs") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_SENT: list[Any] = []  # what a worker process was given


def _receive(sent: bytes) -> None:
    """Take over what is to be run; Ctrl-C is left to the process that hands out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _SENT[:] = pickle.loads(sent)


def _work(seed: int) -> tuple[int, Columns]:
    make, times = _SENT
    return _course(make, seed, times)


def _course(make: MakeRun, seed: int, times: NDArray[np.int64]) -> tuple[int, Columns]:
    try:
        run = make(seed)
        return seed, follow(run, Judge.of(run), times)
    except UmdpError as error:
        raise ModelError(f"seed {seed}: {error}") from error
