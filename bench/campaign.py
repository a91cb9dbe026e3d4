"""Many random models against exact rationals: `python -m bench.campaign --models 20000 --seed 1 --jobs 2`.

The value of every state at 1e-6, 1e-12 and 1e-15, by one method or another, cold and from random policies, must contain the exact
one; the certificate of each solution must be accepted by the checker, and changed ones refused unless what they then claim is
true. Where `bench.soundness` asks everything of few models, this asks little of many.

`python -m bench.campaign --shared --solves 50000 --seed 1 --jobs 2` makes sequences of calls that share graphs, starts, plans and
threads (`bench.sequences`), for every kind of property. `--seconds` stops in time, `--first` goes on where a run stopped, and
`--failures FILE` keeps a line for each answer that is not right.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

PRECISIONS = (1e-6, 1e-12, 1e-15)
REPORT = 60.0  # seconds between two lines that say how far it is
ORACLE = 40  # states up to which the oracle is asked; beyond, the checker alone proves the brackets, in rationals
STUCK = (
    900.0  # seconds after which a sequence is given up, with its process; the first one may have to compile all kernels
)


def _one(asked: tuple[int, int, int, int]) -> tuple[list[str], Counter[str]]:
    """Return what is wrong about one model, and what was tried."""
    from properties.bridge import BOUNDED, OBJECTIVES, exact_value, outside, to_model, to_spec
    from properties.soundness import METHODS, draw, shown
    from umdp import Policy, solve
    from umdp.statements import DiagnosticCode
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
            done["weaker claims"] += any(note.code is DiagnosticCode.CLAIMED_LESS for note in certificate.notes)
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


class Found(NamedTuple):
    """What came of the calls of one sequence: a count per kind and outcome, and what is to be looked at."""

    number: int
    count: Counter[tuple[str, str]]
    failures: list[dict[str, Any]]


def one_sequence(seed: int, number: int, states: tuple[int, int] = (2, 6)) -> Found:
    """Make the calls of one sequence."""
    from bench.sequences import run_sequence

    count: Counter[tuple[str, str]] = Counter()
    failures = []
    for outcome in run_sequence(seed, number, states=states):
        kind = outcome.kind
        count[kind, "solves"] += 1
        count[kind, "checked"] += outcome.checked
        if outcome.crash:
            count[kind, "crashes"] += 1
        if outcome.false:
            count[kind, "false"] += 1
            count[kind, "false certified"] += outcome.status == "CERTIFIED"
        elif not outcome.crash and outcome.status != "CERTIFIED":
            count[kind, "cut off" if outcome.limited else "imprecise"] += 1
        if outcome.crash or outcome.false:
            about = {"seed": seed, "sequence": number, "kind": kind, "status": outcome.status, "call": outcome.call}
            failures.append(about | {"wrong": outcome.wrong, "crash": outcome.crash, "why": outcome.why})
    return Found(number, count, failures)


def _serve(link: Connection, seed: int, states: tuple[int, int]) -> None:
    """Do one sequence after another, as asked for, until nobody asks."""
    with suppress(EOFError, OSError):
        while (number := link.recv()) is not None:
            try:
                found = one_sequence(seed, number, states)
            except Exception as problem:
                found = _lost(seed, number, f"the campaign itself: {type(problem).__name__}: {problem}")
            link.send(found)


def _lost(seed: int, number: int, why: str) -> Found:
    about = {"seed": seed, "sequence": number, "kind": "", "crash": why, "wrong": []}
    return Found(number, Counter({("", "crashes"): 1}), [about])


def sequences(seed: int, first: int, jobs: int, states: tuple[int, int], more: Callable[[], bool]) -> Iterator[Found]:
    """Yield what came of one sequence after another while more are wanted; a process that is stuck or dies costs its sequence."""
    context = get_context("spawn")
    number = first

    def begin() -> tuple[Any, Connection]:
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, seed, states), daemon=True)
        process.start()
        there.close()
        return process, here

    busy: dict[Connection, tuple[Any, int, float]] = {}
    for _ in range(jobs):
        process, link = begin()
        link.send(number)
        busy[link] = (process, number, time.monotonic())
        number += 1
    while busy:
        ready = set(wait(list(busy), timeout=5.0))
        for link, (process, asked, since) in list(busy.items()):
            if link in ready:
                try:
                    yield link.recv()
                except EOFError:
                    yield _lost(seed, asked, f"not back after {STUCK:g} s, or gone")
                    process, link = _replaced(busy, link, process, begin)
            elif time.monotonic() - since > STUCK:
                yield _lost(seed, asked, f"not back after {STUCK:g} s, or gone")
                process, link = _replaced(busy, link, process, begin)
            else:
                continue
            if more():
                link.send(number)
                busy[link] = (process, number, time.monotonic())
                number += 1
            else:
                busy.pop(link, None)
                link.send(None)
                process.join(10)


def _replaced(
    busy: dict[Connection, Any], link: Connection, process: Any, begin: Callable[[], tuple[Any, Connection]]
) -> tuple[Any, Connection]:
    busy.pop(link)
    process.kill()
    process.join()
    return begin()


def _table(total: Counter[tuple[str, str]]) -> str:
    columns = ("solves", "checked", "false", "false certified", "crashes", "imprecise", "cut off")
    rows: dict[str, list[int]] = defaultdict(lambda: [0] * len(columns))
    for (kind, what), n in total.items():
        rows[kind or "(no answer)"][columns.index(what)] += n
    rows["all"] = [sum(row[i] for row in rows.values()) for i in range(len(columns))]
    lines = [f"| {'kind':12} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for kind, row in rows.items():
        lines.append(
            f"| {kind:12} | " + " | ".join(f"{n:>{len(c)},}" for n, c in zip(row, columns, strict=True)) + " |"
        )
    return "\n".join(lines)


def shared(given: argparse.Namespace, states: tuple[int, int]) -> int:
    """Make sequences until enough was solved; return how many answers were false or missing."""
    begun = said = time.monotonic()
    total: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    last = given.first - 1
    count = lambda what: sum(n for (_, each), n in total.items() if each == what)  # noqa: E731
    more = lambda: count("solves") < given.solves and time.monotonic() - begun < given.seconds  # noqa: E731
    kept = Path(given.failures).open("a") if given.failures else None  # noqa: SIM115 - open as long as it runs
    for found in sequences(given.seed, given.first, given.jobs, states, more):
        total += found.count
        last = max(last, found.number)
        for each in found.failures:
            reasons[each["why"] if each.get("why") else "crash"] += 1
            if kept is not None:
                kept.write(json.dumps(each) + "\n")
                kept.flush()
            if not given.quiet:
                print(json.dumps(each)[:500], flush=True)
        if time.monotonic() - said > REPORT:
            said = time.monotonic()
            print(
                f"# {count('solves'):,} solves, {count('false')} false, {said - begun:.0f} s, next --first {last + 1}",
                flush=True,
            )
    seconds = time.monotonic() - begun
    print(_table(total))
    print(
        f"{count('solves'):,} solves in {seconds:.0f} s, {count('solves') / seconds:.0f} a second; {dict(reasons)}; "
        f"go on with --first {last + 1}"
    )
    return count("false") + count("crashes")


def main() -> None:
    """Try as many models as asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.campaign", description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first model (or sequence) of the series")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--states", help="smallest and largest number of states: 3,12, or 2,6 with --shared")
    parser.add_argument(
        "--shared", action="store_true", help="sequences of calls that share graphs, starts, plans and threads"
    )
    parser.add_argument("--solves", type=int, default=1000, help="with --shared: how many solves")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="with --shared: stop after so many")
    parser.add_argument("--failures", help="with --shared: a file to which failures are added, a JSON object a line")
    parser.add_argument("--quiet", action="store_true", help="with --shared: print no failures, only the table")
    given = parser.parse_args()
    low, high = (int(n) for n in (given.states or ("2,6" if given.shared else "3,12")).split(","))
    if given.shared:
        raise SystemExit(shared(given, (low, high)) > 0)
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
