"""How often promises are false: `python -m bench.coverage [RUNS] [--spread] [--only WORD,...] [--jobs N]`, 50 runs by default.

Seeded runs at error rate 0.05 on every environment, looked at after every iteration. A promise is false if the policy is worth
less, on the process itself, than the bound that stood beside it, at any look; an interval misses if the true probability was ever
outside it. Runs differ in what is known of the process (`KNOWLEDGE`) and in how it is explored and how often it is looked at
(`EXPLORATION`). Learners that promise less stand beside them (`COMPARED`): there, "false" is what it would be if they did.
So many runs are made of each kind; with `--spread`, of each environment, spread over its kinds of runs that promise something.
What is done is kept in a file, and the same command goes on with more.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.adversary import Adversary, EveryTrajectory
from bench.problems import ERROR_RATE, PROBLEMS, Problem, problem
from umdp import LUI, ClopperPearson, Learner
from umdp.analysis.coverage import Frequency
from umdp.analysis.run_coverage import Judge
from umdp.explore import EXPLORERS, Explorer, Optimism
from umdp.learning.candidates import CandidateEvaluation
from umdp.learning.loop import LearningRun, StoppingCriteria, explore, proceed
from umdp.source.simulator import Simulator

__all__ = ["EXPLORATION", "KNOWLEDGE", "Case", "cases", "false_promises", "table"]

RUNS, TRAJECTORIES, PIECE = 50, 1000, 25
RESULTS = Path(__file__).parent / "results" / "coverage.jsonl"

Learns = Callable[[Problem], Learner | None]


class Knowledge(NamedTuple):
    """The learner that knows something of a process, None where there is nothing of the kind to know; and what is played."""

    learner: Learns
    share: float | None = None  # of the trajectories, that candidates play


def _if_playable(learner: Learns) -> Learns:
    return lambda given: learner(given) if given.playable else None


KNOWLEDGE: dict[str, Knowledge] = {
    "untied": Knowledge(Problem.by_sequence),
    "tied": Knowledge(Problem.by_ties),
    "parameters": Knowledge(Problem.by_parameters),
    "played": Knowledge(_if_playable(Problem.by_sequence), 0.5),
    "tied + played": Knowledge(_if_playable(Problem.by_ties), 0.5),
    "parameters + played": Knowledge(_if_playable(Problem.by_parameters), 0.5),
    "lui + played": Knowledge(_if_playable(lambda given: LUI()), 0.5),
}
# Learners that promise less or nothing, to see that the test can tell: bounds for one look, and none.
COMPARED = {
    "clopper-pearson": Knowledge(lambda given: ClopperPearson(ERROR_RATE)),
    "lui": Knowledge(lambda given: LUI()),
}
KNOWLEDGE |= COMPARED


class Exploration(NamedTuple):
    """How to move, and the kind of run: how often it is looked at."""

    explorer: Callable[[Problem], Explorer]
    kind: type[LearningRun] = LearningRun


EXPLORATION: dict[str, Exploration] = {
    "optimism": Exploration(lambda given: Optimism(0.9, given.environment or None)),
    "adversary": Exploration(lambda given: Adversary(given.truth), EveryTrajectory),
    "gap": Exploration(lambda given: EXPLORERS["gap"]()),
}


class Case(NamedTuple):
    """One kind of run."""

    environment: str
    knowledge: str
    exploration: str


def cases(only: str = "") -> list[Case]:
    """Return all kinds of runs, or those in which every given word occurs."""
    words = [word for word in only.split(",") if word]
    every = [
        Case(environment, knowledge, exploration)
        for environment in PROBLEMS
        for knowledge in KNOWLEDGE
        for exploration in EXPLORATION
        if all(word in (environment, knowledge, exploration) for word in words)
    ]
    return [case for case in every if _applies(case)]


def _applies(case: Case) -> bool:
    return KNOWLEDGE[case.knowledge].learner(problem(case.environment)) is not None


def _spread(runs: int, environment: str) -> int:
    """Return how many runs of each kind are at least so many of an environment."""
    kinds = [case for case in cases(environment) if case.knowledge not in COMPARED]
    return -(-runs // len(kinds))


def make(case: Case, seed: int) -> LearningRun:
    """Return a run at its beginning."""
    given, known = problem(case.environment), KNOWLEDGE[case.knowledge]
    learner, how = known.learner(given), EXPLORATION[case.exploration]
    assert learner is not None
    rate = None if learner.claim.holds else ERROR_RATE
    played = None if known.share is None else CandidateEvaluation(known.share, rate, given.most)
    explorer = how.explorer(given)
    return how.kind(Simulator(given.truth), given.spec, learner, explorer, seed, given.horizon, evidence=played)


def false_promises(run: LearningRun, trajectories: int) -> tuple[bool, bool, int]:
    """Go through a run; return whether a promise was ever false, whether an interval ever missed, and how many looks there were.

    Where all intervals hold the true probabilities, the bound of the worst case over them is proved: it is below what the policy
    is worth. So the worst case is solved only where something was missed, which saves most of the time.
    """
    if run.candidates is not None:
        return every_promise(run, trajectories)  # which do not rest on the intervals alone
    judge, limits = Judge.of(run), StoppingCriteria(trajectories=trajectories)
    compared = run.learner.claim.kind != "any-time"
    false = missed = False
    looks = 0
    while True:
        looks += 1
        now = not judge.inside(run.learner.lower, run.learner.upper)[judge.claimed].all()
        missed |= now
        if now and not false:
            snapshot = run.snapshot()
            false = (compared or snapshot.guarantee.holds) and not judge.keeps(snapshot)
        if limits.spent(run.trajectories, run.steps) or not run.can_learn():
            return false, missed, looks
        complete, _ = explore(run, limits, lambda: None)
        if not complete:  # the budget ended within an iteration, which is looked at, too
            snapshot = run.snapshot()
            inside = judge.inside(snapshot.model.lower, snapshot.model.upper)
            missed |= not inside[judge.claimed].all()
            now = (compared or snapshot.guarantee.holds) and not judge.keeps(snapshot)
            return false or now, missed, looks + 1
        run.update()


def every_promise(run: LearningRun, trajectories: int) -> tuple[bool, bool, int]:
    """Do the same with everything solved at every look."""
    judge = Judge.of(run)
    compared = run.learner.claim.kind != "any-time" and run.candidates is None
    false = missed = False
    looks = 0
    for snapshot in proceed(run, StoppingCriteria(trajectories=trajectories)):
        looks += 1
        missed |= not judge.inside(snapshot.model.lower, snapshot.model.upper)[judge.claimed].all()
        false |= (compared or snapshot.promise is not None) and not judge.keeps(snapshot)
    return false, missed, looks


def piece(asked: tuple[Case, int, int, int]) -> dict[str, Any]:
    """Do some runs of one kind, and return what came of them."""
    case, first, count, trajectories = asked
    begun = time.perf_counter()
    found = [false_promises(make(case, seed), trajectories) for seed in range(first, first + count)]
    false, missed, looks = (np.array(each) for each in zip(*found, strict=True))
    seeds = np.arange(first, first + count)
    return {
        **case._asdict(), "trajectories": trajectories, "first": first, "runs": count,
        "false": seeds[false].tolist(), "missed": seeds[missed].tolist(), "looks": int(looks.sum()),
        "seconds": round(time.perf_counter() - begun, 1),
    }  # fmt: skip


# -- what is kept, and shown --------------------------------------------------------------------------------------


def known(file: Path, trajectories: int) -> list[dict[str, Any]]:
    """Return the pieces that were done with this many trajectories, each once."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    each = {(_case(row), row["first"]): row for row in rows if row["trajectories"] == trajectories}
    return list(each.values())


def _case(row: Mapping[str, Any]) -> Case:
    return Case(row["environment"], row["knowledge"], row["exploration"])


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the table, a line each: how many runs were false, with exact 95 % intervals."""
    yield f"| environment | known | explored | {HEADS} | missed intervals | at most |"
    yield "|---|---|---|--:|--:|--:|--:|--:|--:|"
    for case, pieces in sorted(_grouped(rows, _case).items(), key=lambda item: _place(item[0])):
        yield f"| {' | '.join(case)} | {_summary(pieces, 'false', 'missed')} |"


def totals(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the same by environment, and by what is known and how it is explored, of the runs that promise something."""
    promising = [row for row in rows if row["knowledge"] not in COMPARED]
    yield f"| | {HEADS} |"
    yield "|---|--:|--:|--:|--:|"
    for name in Case._fields:
        for each, pieces in _grouped(promising, lambda row, name=name: row[name]).items():
            yield f"| {each} | {_summary(pieces, 'false')} |"
    if promising:
        yield f"| all | {_summary(promising, 'false')} |"


HEADS = "runs | looks a run | false promises | at most"


def _grouped(rows: list[dict[str, Any]], by: Callable[[dict[str, Any]], Any]) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: _place(_case(row))):
        found[by(row)].append(row)
    return found


def _summary(pieces: list[dict[str, Any]], *names: str) -> str:
    runs, looks = (sum(each[name] for each in pieces) for name in ("runs", "looks"))
    cells = [f"{runs:,}", f"{looks / runs:,.0f}"]
    for name in names:
        count = sum(len(each[name]) for each in pieces)
        most = Frequency.of(np.arange(runs) < count).upper
        cells += [f"{count:,} ({count / runs:.2%})", f"{most:.2%}"]
    return " | ".join(cells)


def _place(case: Case) -> tuple[int, ...]:
    tables: tuple[Mapping[str, Any], ...] = (PROBLEMS, KNOWLEDGE, EXPLORATION)
    return tuple(list(names).index(name) for name, names in zip(case, tables, strict=True))


def main() -> None:
    """Do what is missing, keep it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "runs", nargs="?", type=int, default=RUNS, help="of every kind; 2000 for the statement in the docs"
    )
    parser.add_argument(
        "--spread", action="store_true", help="so many runs of each environment, over all kinds that promise"
    )
    parser.add_argument("--only", default="", help="words that must all occur: grid,tied,adversary")
    parser.add_argument("--trajectories", type=int, default=TRAJECTORIES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--file", type=Path, default=RESULTS, help="where what is done is kept")
    parser.add_argument("--table", action="store_true", help="print the table of what is done, and nothing else")
    given = parser.parse_args()
    asked = [case for case in cases(given.only) if not (given.spread and case.knowledge in COMPARED)]
    runs = {case: _spread(given.runs, case.environment) if given.spread else given.runs for case in asked}
    rows = known(given.file, given.trajectories)
    done = {(_case(row), row["first"]) for row in rows}
    todo = [
        (case, first, min(PIECE, runs[case] - first), given.trajectories)
        for first in range(0, given.runs, PIECE)
        for case in asked
        if first < runs[case] and (case, first) not in done
    ]
    if todo and not given.table:
        with get_context("spawn").Pool(given.jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
            try:
                for number, row in enumerate(pool.imap_unordered(piece, todo), 1):
                    rows.append(row)
                    with given.file.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
                    print(f"{number} of {len(todo)}: {', '.join(_case(row))}, {row['seconds']} s", file=sys.stderr)
            except KeyboardInterrupt:
                pool.terminate()
    print(f"{given.trajectories:,} trajectories a run, error rate {ERROR_RATE:.0%}\n")
    shown = [row for row in rows if _case(row) in runs]
    print("\n".join([*table(shown), "", *totals(shown)]))


if __name__ == "__main__":
    main()
