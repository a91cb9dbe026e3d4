"""A short corpus for mutants: calls by every road, each compared with an exact value; `python -m bench.corpus --out FILE`.

Sequences that share a graph (`bench.sequences`), three models on which certified answers were wrong, random temporal formulas,
and short runs of learning whose snapshots are compared with the exact worst case of what was learned. A line of JSON for every
call, so that what was said before a crash or a time-out counts as well.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bench.questions import Exact, Question
from bench.sequences import Outcome, check, run_sequence

__all__ = ["SEED", "SEQUENCES", "corpus", "refused"]

SEED = 77
SEQUENCES = tuple(n for n in range(96) if n not in (38, 48))  # these two take as long as twenty others
CALLS = 10
MEMORY = 6 * 2**30  # bytes of address space that a run with a limit gets
SNAPSHOTS = 8
FORMULAS = 60  # random models with random formulas


def _known_cases() -> Iterator[Outcome]:
    """Yield what comes of models on which what was kept, a start, or an edge without room had led to false answers."""
    import umdp

    every = {"left": range(5), "safe": [0, 1, 2, 4]}
    graph = umdp.Graph(
        [0, 2, 4, 6, 7, 8], [0, 3, 5, 6, 8, 9, 11, 12, 13], [0, 1, 2, 3, 4, 1, 3, 4, 2, 3, 4, 3, 4],
        labels={"goal": [3], **every},
    )  # fmt: skip
    rest = [0.1, 0.9, 1, 0.3, 0.7, 1, 0.6, 0.4, 1, 1]
    wide, tight = ([0, 0, 0, *rest], [1, 1, 1, *rest]), ([0.5, 0.4, 0.1, *rest],) * 2
    for kind, agent, nature in (("F", "max", "min"), ("F", "max", "max"), ("G", "min", "max")):
        question = Question(kind, agent, nature)  # type: ignore[arg-type]
        for number, bounds in enumerate((wide, tight, wide)):
            model = graph.with_bounds(*bounds)
            yield _solved(f"kept plan {kind} {number}", model, question)
    graph = umdp.Graph(
        [0, 1, 2, 3], [0, 2, 5, 6], [1, 0, 2, 0, 1, 2], initial=1, labels={"goal": [2], "left": [0, 1, 2], "safe": [0, 1]},
        rewards={"r0": umdp.Rewards(choice=[1, 0, 0])},
    )  # fmt: skip
    first = graph.with_bounds(
        [
            0.028803536612100444,
            0.14272950495036996,
            0.30483467011745513,
            1.7949357578930784e-17,
            7.321195752802634e-06,
            1,
        ],
        [0.12842992447245236, 1, 1, 1.59924247348873e-16, 5.43583391639539e-05, 1],
    )
    second = graph.with_bounds(
        [0.09165437285388882, 0.4541728135730556, 0.97, 5.711580262459751e-17, 2.3296431070265954e-05, 1],
        [0.09173566033746597, 0.9083456271461112, 0.9999611726148828, 1.1423160524919501e-16, 3.882738511710993e-05, 1],
    )
    question = Question("reach", "max", "min")
    yield _solved("warm start", second, question, start=umdp.solve(first, question.text))
    for upper in (1e-5, 2.5e-161):
        model = umdp.IntervalMDP(
            [0, 1, 2], [0, 2, 3], [0, 1, 1], [1.0, 0.0, 1], [1.0, upper, 1],
            labels={"goal": [1], "left": [0, 1], "safe": [0]},
        )  # fmt: skip
        for nature in ("max", "min"):
            yield _solved(f"no room {upper} {nature}", model, Question("F", "max", nature))  # type: ignore[arg-type]


def _solved(name: str, model: Any, question: Question, **options: Any) -> Outcome:
    import umdp

    outcome = Outcome(question.kind, call=name)
    try:
        check(outcome, Exact(model), question, umdp.solve(model, question.text, **options), 1e-6)
    except Exception as problem:
        outcome.crash = f"{type(problem).__name__}: {problem}"
    return outcome


def _process() -> Any:
    import umdp

    return umdp.MDP(
        [0, 2, 4, 5, 6, 7], [0, 2, 5, 7, 8, 10, 11, 12], [1, 2, 0, 1, 3, 2, 4, 0, 0, 3, 3, 4],
        [0.5, 0.5, 0.25, 0.5, 0.25, 0.8, 0.2, 1.0, 0.375, 0.625, 1.0, 1.0],
        labels={"goal": [3], "left": [0, 1, 2, 3], "safe": [0, 1, 2, 3]},
        rewards={"r0": umdp.Rewards(choice=[1, 0, 2, 1, 1, 0, 0])},
    )  # fmt: skip


def _sure_process() -> Any:
    """Return a process in which every policy comes to the goal, so that costs are finite."""
    import umdp

    return umdp.MDP(
        [0, 2, 4, 5], [0, 2, 4, 6, 8, 9], [0, 1, 1, 2, 0, 2, 1, 2, 2],
        [0.5, 0.5, 0.75, 0.25, 0.4, 0.6, 0.3, 0.7, 1.0], labels={"goal": [2], "left": [0, 1, 2], "safe": [0, 1]},
        rewards={"r0": umdp.Rewards(state=[1, 2, 0])},
    )  # fmt: skip


def _learned() -> Iterator[Outcome]:
    """Yield what snapshots of short runs say of the model learned: in the compiled loop, and iteration by iteration."""
    import umdp

    runs = [
        ("compiled loop", _process(), "F", "max", umdp.LUI(), {}),
        ("compiled loop", _sure_process(), "reach", "min", umdp.LUI(), {}),
        ("compiled loop", _process(), "U", "min", umdp.LUI(), {"explorer": "uniform"}),
        ("loop", _process(), "G", "max", umdp.ConfidenceSequence(0.05), {}),
        ("loop", _sure_process(), "reach", "max", umdp.ConfidenceSequence(0.05), {}),
        ("loop", _process(), "discount", "max", umdp.LUI(), {}),
        ("loop", _process(), "then", "max", umdp.LUI(), {}),
    ]
    for road, process, kind, agent, learner, more in runs:
        nature = "min" if agent == "max" else "max"
        question = Question(kind, agent, nature)  # type: ignore[arg-type]
        named = '{"r0"}' if kind in ("reach", "discount") else ""
        letter = "R" if named else "P"
        spec = question.text.replace(f"{letter}{named}{agent}{nature}", f"{letter}{named}{agent}", 1)
        outcome = Outcome(kind, call=f"{road}: {spec}")
        try:
            snapshots = umdp.anytime(process, spec, learner, trajectories=60, horizon=20, seed=3, **more)
            for snapshot in itertools.islice(snapshots, SNAPSHOTS):
                outcome = Outcome(kind, call=f"{road}: {spec}, {snapshot.iteration}")
                asked, goal = (question, "goal") if kind != "then" else (Question("F", agent, nature), "accepting")  # type: ignore[arg-type]
                check(outcome, Exact(snapshot.model, goal), asked, snapshot.robust, 1e-6)
                yield outcome
        except Exception as problem:
            outcome.crash = f"{type(problem).__name__}: {problem}"
            yield outcome


def _temporal() -> Iterator[Outcome]:
    """Yield what comes of random formulas on random models, and of policies with memory, some of them drawn at random.

    Exact values come by a deterministic automaton that is built another way.
    """
    from automata.lassos import drawn, text
    from automata.pairs import chain, draw, exact, to_model
    from automata.safra import TooLargeError
    from umdp import evaluate, solve
    from umdp.automata import MemoryPolicy

    for seed in range(FORMULAS):
        rng = random.Random(seed)
        zero = seed % 3 == 0
        choices, letters = draw(rng, zero=zero, plain=rng.random() < 0.2)
        formula, agent, nature = (
            drawn(rng, rng.randint(1, 5), 2),
            rng.choice(["max", "min"]),
            rng.choice(["max", "min"]),
        )
        asked = f"P{agent}{nature}=? [ ({text(formula)}) & (X true) ]"
        outcome = Outcome("formula", call=f"formula {seed}: {asked}")
        try:
            model = to_model(choices, letters)
            found = solve(model, asked)
            product, policy = found.product, found.policy
            first, last = (found.model.state_ptr[part].tolist() for part in (slice(0, -1), slice(1, None)))
            own = [rng.randrange(a, b) for a, b in zip(first, last, strict=True)]
            _enclose(outcome, found.bracket, exact(choices, letters, formula, agent, nature), found)
            _enclose(outcome, found.at(found.model.initial), exact(choices, letters, formula, agent, nature), found)
            yield outcome
            if zero:  # the graph of one policy may decide more than that of all
                continue
            outcome = Outcome("formula", call=f"policy {seed}: {asked}")
            played = exact(*chain(choices, letters, policy), formula, nature, nature)
            _enclose(outcome, found.policy_bracket, played, found)
            if product is not None and product.reading.automaton.is_deterministic:
                any_ = MemoryPolicy(found.model, np.array(own), product=product)
                again, worth = (
                    evaluate(model, asked, any_),
                    exact(*chain(choices, letters, any_), formula, nature, nature),
                )
                _enclose(outcome, again.bracket, worth, again)
        except TooLargeError:
            continue
        except Exception as problem:
            outcome.crash = f"{type(problem).__name__}: {problem}"
        yield outcome


def _enclose(outcome: Outcome, bracket: Any, truth: Fraction, found: Any) -> None:
    """Take note of a bracket that does not contain the exact value."""
    outcome.checked += 1
    if outcome.status in ("", "CERTIFIED"):
        outcome.status = found.status.name
    if not Fraction(bracket.lower) <= truth <= Fraction(bracket.upper):
        outcome.wrong.append(f"{bracket} does not contain {truth}")
        outcome.status = found.status.name


def corpus() -> Iterator[Outcome]:
    """Yield what came of every call."""
    yield from _known_cases()
    yield from _learned()
    yield from _temporal()
    for number in SEQUENCES:
        try:
            yield from run_sequence(SEED, number, calls=CALLS, states=(2, 5))
        except Exception as problem:
            yield Outcome("", crash=f"{type(problem).__name__}: {problem}", call=f"sequence {number}")


def refused() -> int | None:
    """Return how often the judge refused what the solver said; None where there is no judge that counts."""
    try:
        judge = import_module("umdp.solver.judge")
    except ImportError:
        return None
    found = getattr(judge, "refused", None)
    if callable(found):
        found = found()
    return None if found is None else int(found)


class Lines:
    """Which lines of the package were run."""

    def __init__(self, root: Path) -> None:
        self.root = f"{root}/"
        self.seen: set[tuple[str, int]] = set()

    def begin(self) -> None:
        """Look from now on, in every thread."""
        sys.settrace(self._call)
        threading.settrace(self._call)

    def _call(self, frame: Any, _event: str, _argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self.root):
            return None
        return self._line

    def _line(self, frame: Any, event: str, _argument: Any) -> Any:
        if event == "line":
            self.seen.add((frame.f_code.co_filename[len(self.root) :], frame.f_lineno))
        return self._line


def main() -> None:
    """Run the corpus and write what came of it."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("--out", required=True, help="a file for a JSON object a call")
    parser.add_argument("--lines", help="a file for the lines of the package that were run")
    parser.add_argument("--processor", type=int, help="stop after so many seconds of processor time")
    given = parser.parse_args()
    if given.processor is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (given.processor, given.processor + 4))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    lines = None
    if given.lines:
        from importlib.util import find_spec

        found = find_spec("umdp")
        assert found is not None
        assert found.origin is not None
        lines = Lines(Path(found.origin).parent)
        lines.begin()
    np.seterr(all="ignore")
    begun = time.monotonic()
    with Path(given.out).open("w") as out:
        met: Counter[str] = Counter()
        for outcome in corpus():
            met[outcome.call] += 1  # threads ask the same of several bounds
            about: dict[str, Any] = {
                "call": f"{outcome.call} #{met[outcome.call]}",
                "kind": outcome.kind,
                "status": outcome.status,
            }
            about |= {"false": outcome.false, "checked": outcome.checked, "limited": outcome.limited}
            about |= {"crash": outcome.crash[:300], "wrong": outcome.wrong[:2], "refused": refused()}
            out.write(json.dumps(about) + "\n")
            out.flush()
        out.write(json.dumps({"seconds": time.monotonic() - begun, "refused": refused()}) + "\n")
    if lines is not None:
        sys.settrace(None)
        Path(given.lines).write_text(json.dumps(sorted(lines.seen)))


if __name__ == "__main__":
    main()
