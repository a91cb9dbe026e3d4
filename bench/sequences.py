"""Sequences of calls that share one graph, against exact rationals: other bounds, other rewards, warm starts, plans, threads.

What is kept with a graph, a solution or a prepared solver for one model must not be believed of another. A sequence draws a small
graph, several sets of bounds for it and several rewards, and asks one question after another of all of them, in one process.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bench.questions import KINDS, REWARDED, SIGNED, Exact, Question, crowded, largest_reward, may_cut, outside

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

__all__ = ["Outcome", "check", "run_sequence"]

PRECISIONS = (1e-3, 1e-6, 1e-6, 1e-6, 1e-9, 1e-12)
METHODS = ("auto", "auto", "policy", "value")
DISCOUNTS = (0.5, 0.9, 0.999, 2.0**-30)
WAYS = (
    "positive",
    "positive",
    "hard",
    "zero",
    "zero",
    "point",
    "no room",
    "nudged",
    "nudged",
    "narrow",
    "anything",
    "barely",
)
SIDES = [(agent, nature) for agent in ("max", "min") for nature in ("max", "min")]
PLAIN = ("positive", "positive", "zero", "zero", "point", "nudged", "anything", "barely")  # every edge can be used
COMMON = ("F", "F", "U", "G", "reach", "reach", "reach")
SIGNED_REWARD = "r3"
PATIENCE = 10.0  # seconds of processor time after which one call has taken too long


class TooLong(Exception):
    """A call did not come back in time."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise `TooLong` where what is done takes longer; compiled code is waited for."""

    def ring(_signal: int, _frame: object) -> None:
        raise TooLong(f"no answer after {seconds:g} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Outcome:
    """What came of one call: its kind, what is wrong with it (nothing, where it is right), and what stood behind it."""

    kind: str
    status: str = ""
    limited: bool = False
    checked: int = 0
    wrong: list[str] = field(default_factory=list)
    crash: str = ""
    call: str = ""
    why: str = ""

    @property
    def false(self) -> bool:
        """Whether something was said that is not so."""
        return bool(self.wrong)


class Sequence:
    """A graph with several bounds and rewards, and what was said of them so far."""

    def __init__(self, seed: int, number: int, states: tuple[int, int] = (2, 6)) -> None:
        from properties.generate import _reward, random_model
        from umdp import Graph, Rewards

        self.rng = rng = np.random.default_rng([seed, number, 11])
        small = rng.random() < 0.3
        sizes = {"states": (2, 3), "choices": (1, 2), "successors": (1, 3)} if small else {"states": states}
        drawn = random_model(rng, zero_lower=bool(rng.random() < 0.5), **sizes)  # type: ignore[arg-type]
        self.rows = [(s, [t for t, _, _ in c.row]) for s, cs in enumerate(drawn.model.choices) for c in cs]
        # Whether it is only about reaching, on a graph with many self-loops, and with bounds that leave every edge room.
        self.focus = bool(rng.random() < 0.4)
        if self.focus:
            self.rows = [
                (s, [*row, s] if len(row) > 1 and s not in row and rng.random() < 0.6 else row) for s, row in self.rows
            ]
        self.hard = bool(rng.random() < 0.3)
        state_ptr = np.concatenate([[0], np.cumsum([len(cs) for cs in drawn.model.choices])])
        choice_ptr = np.concatenate([[0], np.cumsum([len(row) for _, row in self.rows])])
        successor = [t for _, row in self.rows for t in row]
        rewards = {}
        for name in ("r0", "r1", "r2", SIGNED_REWARD):
            uses = rng.random(3) < (0.4, 0.6, 0.8, 0.6)[int(name[1])]
            parts = [
                np.array([_reward(rng, bool(use), self.hard and name == "r2") for _ in range(n)])
                for use, n in zip(uses, (len(drawn.goal), len(self.rows), len(successor)), strict=True)
            ]
            if name == SIGNED_REWARD:
                parts = [part - float(rng.choice([0.0, 1.0, 2.5])) for part in parts]
            rewards[name] = Rewards(state=parts[0], choice=parts[1], transition=parts[2])
        labels = {"goal": np.array(drawn.goal), "left": np.array(drawn.left), "safe": np.array(drawn.safe)}
        initial = int(rng.integers(len(drawn.goal))) if rng.random() < 0.3 else 0
        self.graph = Graph(state_ptr, choice_ptr, successor, labels=labels, rewards=rewards, initial=initial)
        self.few = bool(rng.random() < 0.5)  # whether bounds differ in one or two rows only
        self.models: list[Any] = []
        self.exact: list[Exact] = []
        self.solutions: list[Any] = []
        self.prepared: dict[str, Any] = {}
        for _ in range(int(rng.integers(3, 6))):
            self.add_bounds()

    def add_bounds(self) -> None:
        """Draw other bounds for the graph."""
        rng = self.rng
        way = str(rng.choice(PLAIN if self.focus else WAYS)) if self.models or not self.focus else "anything"
        old = self.models[int(rng.integers(len(self.models)))] if self.models else None
        if way == "nudged" and old is None:
            way = "positive"
        lower, upper = [], []
        free = [c for c, (_, row) in enumerate(self.rows) if len(row) > 1]
        changed = set(range(len(self.rows)))
        if self.few and old is not None and free:
            changed = {int(c) for c in rng.choice(free, size=min(len(free), int(rng.integers(1, 3))), replace=False)}
        for c, (s, row) in enumerate(self.rows):
            part = slice(int(self.graph.choice_ptr[c]), int(self.graph.choice_ptr[c + 1]))
            if c not in changed:
                entries = list(zip(old.lower[part].tolist(), old.upper[part].tolist(), strict=True))
            elif way == "nudged" or (old is not None and not self.few and rng.random() < 0.3):
                entries = _nudged(rng, old.lower[part], old.upper[part])
            else:
                entries = _entries(rng, s, row, way, self.hard)
            lower += [a for a, _ in entries]
            upper += [b for _, b in entries]
        model = self.graph.with_bounds(lower, upper)
        self.models.append(model)
        self.exact.append(Exact(model))

    def question(self) -> Question:
        """Draw a question."""
        rng = self.rng
        kind = str(rng.choice(COMMON)) if self.focus or rng.random() < 0.4 else str(rng.choice(list(KINDS)))
        if kind in ("total", "average", "share") and self.graph.states > 4:
            kind = "reach"
        agent, nature = SIDES[int(rng.integers(4))]
        names = ("r0", "r1", "r2", *((SIGNED_REWARD,) if kind in SIGNED else ()))
        reward = str(rng.choice(names)) if kind in REWARDED else "r0"
        return Question(kind, agent, nature, reward, int(rng.integers(1, 6)), float(rng.choice(DISCOUNTS)))  # type: ignore[arg-type]

    def again(self, question: Question) -> Question:
        """Return a question like one before: the same, with another reward, or for other players."""
        draw = self.rng.random()
        if draw < 0.6:
            return question
        agent, nature = SIDES[int(self.rng.integers(4))]
        reward = f"r{int(self.rng.integers(3))}" if question.kind in REWARDED else question.reward
        other = (question.agent, question.nature, reward) if draw < 0.8 else (agent, nature, question.reward)
        return Question(question.kind, *other, question.bound, question.discount)  # type: ignore[arg-type]

    def start(self, question: Question) -> Any:
        """Draw a place to start from: nothing, a solution of anything that fits, or a policy."""
        from umdp import Policy

        fits = [s for s in self.solutions if np.array_equal(s.model.state_ptr, self.graph.state_ptr)]
        if question.temporal:
            fits = [s for s in self.solutions if s.product is not None] or fits
        draw = self.rng.random()
        if draw < 0.35:
            return None
        if draw < 0.85 and fits:
            found = fits[-1] if self.rng.random() < 0.5 else fits[int(self.rng.integers(len(fits)))]
            return found if self.rng.random() < 0.8 else found.policy if found.policy.steps is None else None
        return None if question.temporal else Policy(self.graph, self.choices())

    def choices(self) -> Any:
        """Draw a choice for every state."""
        ptr = self.graph.state_ptr
        return ptr[:-1] + self.rng.integers(0, np.diff(ptr))


def _nudged(rng: np.random.Generator, lower: Any, upper: Any) -> list[tuple[float, float]]:
    """Return bounds inside or around others, as one more trajectory makes them; zeros come and go."""
    if len(lower) == 1:
        return [(1.0, 1.0)]
    kind = rng.random()
    middle = (lower + upper) / 2
    middle = middle / middle.sum()
    if kind < 0.4:  # narrower, around a distribution inside
        low, high = (
            np.maximum(lower, middle * (1 - 0.3 * rng.random())),
            np.minimum(upper, middle * (1 + 0.3 * rng.random())),
        )
    elif kind < 0.7:  # wider
        low, high = lower * rng.random(), np.minimum(1.0, upper * (1 + rng.random()))
    elif kind < 0.85:  # some of the zeros that there could be
        low, high = np.where(rng.random(len(lower)) < 0.5, 0.0, lower), np.minimum(1.0, upper + rng.random() * 0.1)
    else:
        low, high = np.where(lower <= 0, np.minimum(upper, middle) * 0.5, lower), upper
    high = np.maximum(high, 5e-324)
    low = np.minimum(low, high)
    good = sum(map(Fraction, low.tolist())) <= 1 <= sum(map(Fraction, high.tolist()))
    return (
        list(zip(low.tolist(), high.tolist(), strict=True))
        if good
        else list(zip(lower.tolist(), upper.tolist(), strict=True))
    )


def _entries(rng: np.random.Generator, state: int, row: list[int], way: str, hard: bool) -> list[tuple[float, float]]:
    """Return bounds for a row, in the order of its successors."""
    from properties.generate import _check, _cut, _plain, _row

    if len(row) == 1:
        return [(1.0, 1.0)]
    if way == "anything" and rng.random() < 0.7:
        return [(0.0, 1.0)] * len(row)
    if way == "barely":
        return _barely(rng, len(row))
    if way in ("no room", "narrow") and rng.random() < 0.6:
        return _crowded(rng, len(row), narrow=way == "narrow")
    entries = None
    while entries is None:
        if way == "point":
            entries = _plain(rng, row)
        else:
            entries = _row(rng, state, row, way == "zero", hard=way == "hard" or (hard and rng.random() < 0.3))
            if way == "zero" and rng.random() < 0.5:
                entries = _cut(rng, entries)
        if {t for t, _, _ in entries} != set(row):
            entries = None
    _check(entries)
    found = {t: (a, b) for t, a, b in entries}
    return [found[t] for t in row]


def _barely(rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
    """Return a row of entries of very different sizes whose upper (or lower) bounds sum to 1 up to a rounding."""
    p = rng.random(count) * rng.choice([1.0, 1.0, 1e-3, 1e-5, 1e-9, 1e-16], size=count)
    p[int(rng.integers(count))] = 1.0
    p = p / p.sum()
    shrink = np.where(rng.random(count) < 0.5, 0.97, rng.random(count))
    if rng.random() < 0.6:
        return list(zip((p * shrink).tolist(), p.tolist(), strict=True))
    return list(zip(p.tolist(), np.minimum(1.0, p / shrink).tolist(), strict=True))


def _crowded(rng: np.random.Generator, count: int, *, narrow: bool) -> list[tuple[float, float]]:
    """Return a row of which some entries fill everything: the others have room on paper only, or next to none."""
    full = rng.random(count) < 0.6
    full[int(rng.integers(count))] = True
    parts = rng.integers(1, 5, count) * full
    p = parts / 2.0 ** np.ceil(np.log2(parts.sum()))
    p[int(np.argmax(full))] += 1.0 - p.sum()  # sums of small dyadic numbers are exact
    if not narrow and rng.random() < 0.3:  # or up to rounding
        raw = rng.random(count) * full + full * 0.1
        p = raw / raw.sum()
    spare = 5e-324 if narrow else float(rng.choice([1e-5, 0.3, 2.5e-161, 1.0]))
    wide = narrow and rng.random() < 0.5
    return [
        ((float(q) * (0.5 if wide else 1.0), min(1.0, float(q) * (1.5 if wide else 1.0))) if f else (0.0, spare))
        for q, f in zip(p, full, strict=True)
    ]


def check(
    outcome: Outcome,
    exact: Exact,
    question: Question,
    found: Any,
    precision: float,
    *,
    solved: bool = True,
    values: Any = None,
) -> None:
    """Compare a solution with the exact values: those of every state, of the policy, and the width that was asked for."""
    outcome.status = found.status.name
    model = exact.model
    first = model.initial
    if values is None:
        values = exact.value(question)
    if values is not None:
        outcome.checked += 1
        if outside(found.bracket.lower, values[first], found.bracket.upper):
            outcome.wrong.append(f"bracket {_pair(found.bracket)} misses {_shown(values[first])}")
        lower, upper = found.lower, found.upper
        here = dict(enumerate(values))
        if question.temporal:  # in the product, a state with the memory with which it is begun in
            here = {} if found.product is None else _begun_in(found.product, values)
        for s, v in here.items():
            outcome.checked += 1
            if s >= lower.size:
                outcome.wrong.append(f"{lower.size} bounds, none for state {s}")
            elif outside(float(lower[s]), v, float(upper[s])):
                outcome.wrong.append(f"state {s}: [{float(lower[s])!r}, {float(upper[s])!r}] misses {_shown(v)}")
    if found.status.name == "CERTIFIED":
        low, high = found.bracket.lower, found.bracket.upper
        size = max(abs(low), abs(high), largest_reward(model, question))
        if low != high and not high - low <= precision * size * (1 + 1e-9):
            outcome.wrong.append(f"CERTIFIED, but {_pair(found.bracket)} is wider than {precision:g}")
    if solved:
        # Where nature decides in which sets one can stay, a policy's own average or total has no one meaning.
        earned = None if question.listed and may_cut(exact.oracle(None)) else _earned(exact, question, found)
        if earned is not None:
            outcome.checked += 1
            own = found.policy_bracket
            if outside(own.lower, earned, own.upper):
                outcome.wrong.append(f"the policy earns {_shown(earned)}, outside {_pair(own)}")


def _begun_in(made: Any, values: list[Any]) -> dict[int, Any]:
    """Return the values of the states of a product in which the memory is that with which a state of the model is begun in."""
    automaton, code = made.reading.automaton, made.reading.code
    pairs = enumerate(zip(made.state.tolist(), made.memory.tolist(), strict=True))
    return {p: values[s] for p, (s, q) in pairs if q == int(automaton.step[automaton.initial, code[s]])}


def _earned(exact: Exact, question: Question, found: Any) -> Any:
    """Return the exact value of the policy found, in the initial state."""
    policy, first = found.policy, exact.model.initial
    if question.temporal:
        return None if found.product is None else exact.remembering(question, found)[found.product.model.initial]
    if policy.choice is None:
        return None
    if policy.choice.ndim > 1:
        return exact.stepwise(question, policy.choice)[first]
    own = exact.value(question, tuple(int(c) for c in policy.choice))
    return None if own is None else own[first]


def _pair(bracket: Any) -> str:
    return f"[{bracket.lower!r}, {bracket.upper!r}]"


def _shown(value: Any) -> str:
    try:
        return repr(float(value))
    except OverflowError:
        return "a value above the largest number"


def run_sequence(seed: int, number: int, calls: int = 12, states: tuple[int, int] = (2, 6)) -> Iterator[Outcome]:
    """Make the calls of one sequence and yield what came of each."""
    series = Sequence(seed, number, states)
    rng = series.rng
    last = series.question()
    for turn in range(calls):
        draw = rng.random()
        keep = 0.7 if series.focus else 0.45  # what was kept shows where the same is asked of other bounds
        question = last if draw < keep else series.again(last) if draw < keep + 0.2 else series.question()
        last = question
        if rng.random() < 0.1:
            series.add_bounds()
        at = len(series.models) - 1 if rng.random() < 0.3 else int(rng.integers(len(series.models)))
        if rng.random() < 0.06 and not question.temporal:
            yield from _at_once(series, question, f"seed {seed} sequence {number} call {turn}")
            continue
        yield _patient(series, question, at, f"seed {seed} sequence {number} call {turn}")


def _patient(series: Sequence, question: Question, at: int, where: str) -> Outcome:
    try:
        with patience(PATIENCE):
            return _call(series, question, at, where)
    except TooLong as problem:
        return Outcome(question.kind, crash=str(problem), call=f"{where}: {question.text}, bounds {at}")


def _call(series: Sequence, question: Question, at: int, where: str) -> Outcome:
    import umdp

    rng, model, exact = series.rng, series.models[at], series.exact[at]
    outcome = Outcome(question.kind)
    precision, method = float(rng.choice(PRECISIONS)), str(rng.choice(METHODS))
    options: dict[str, Any] = {"precision": precision, "method": method}
    if rng.random() < 0.1:
        options["threads"] = 2
    draw = rng.random()
    way = "evaluate" if draw < 0.15 else "prepare" if draw < 0.35 else "solve_model" if draw < 0.42 else "solve"
    policy = weights = None
    if way == "evaluate":
        if rng.random() < 0.7:
            policy = umdp.Policy(series.graph, series.choices())
        elif question.kind in ("F", "U", "G", "X", "F<=", "U<=", "G<=", "reach", "C<=", "discount"):
            policy = umdp.Policy.uniform(series.graph)
            weights = policy.weight
        else:
            way = "solve"
    start = series.start(question) if way in ("solve", "prepare") else None
    if way in ("solve", "prepare"):
        if rng.random() < 0.1:
            options["time_limit"], outcome.limited = float(rng.choice([1e-9, 1e-4, 1e-3])), True
        if rng.random() < 0.1:
            options["cutoff"], outcome.limited = float(rng.choice([1.0, 10.0, 1e6])), True
    shown = "" if start is None else f", start={type(start).__name__} of {getattr(start, 'asked', '')}"
    outcome.call = f"{where}: {way} {question.text}, bounds {at}, {options}{shown}"
    values = None
    try:
        if policy is not None:
            picks = None if weights is not None else tuple(int(c) for c in policy.choice)  # type: ignore[union-attr]
            values = exact.randomised(question, weights) if picks is None else exact.value(question, picks)  # type: ignore[arg-type]
        else:
            exact.value(question)
    except TooLong:
        outcome.crash = "the oracle takes too long"
        return outcome
    except Exception as problem:  # the oracle's own; nothing can be compared
        outcome.crash = f"oracle: {type(problem).__name__}: {problem}"
        return outcome
    try:
        if policy is not None:
            found = umdp.evaluate(model, question.text, policy, **options)
        elif way == "solve":
            found = umdp.solve(model, question.text, start=start, **options)
        else:
            solver = series.prepared.setdefault(question.text, umdp.prepare(series.graph, question.text))
            if way == "prepare":
                found = solver.solve(model.lower, model.upper, start=start, **options)
            else:
                given = series.choices() if rng.random() < 0.5 and not question.temporal else None
                before = next((s.unknowns for s in reversed(series.solutions) if s.unknowns is not None), None)
                before = before if before is not None and rng.random() < 0.5 else None
                found = solver.solve_model(model, start=given, before=before, precision=precision, method=method)
        if policy is None or values is not None:
            check(outcome, exact, question, found, precision, solved=policy is None, values=values)
        series.solutions.append(found)
        if outcome.false:
            outcome.why = _why(model, exact, question, precision, method, policy, values)
    except Exception as problem:  # whatever it is, it is to be reported with its model
        outcome.crash = f"{type(problem).__name__}: {problem}"
    return outcome


def _why(model: Any, exact: Exact, question: Question, precision: float, method: str, policy: Any, values: Any) -> str:
    """Return where a false answer comes from: whether the model alone, on a graph of its own, is answered wrongly, too."""
    import umdp

    alone = umdp.Graph(
        model.state_ptr,
        model.choice_ptr,
        model.successor,
        labels=model.labels,
        rewards=model.rewards,
        initial=model.initial,
    ).with_bounds(model.lower, model.upper)
    trial = Outcome(question.kind)
    options: dict[str, Any] = {"precision": precision, "method": method}
    if policy is None:
        found = umdp.solve(alone, question.text, **options)
    else:
        found = umdp.evaluate(alone, question.text, umdp.Policy(alone, policy.choice, policy.weight), **options)
    check(trial, exact, question, found, precision, solved=policy is None, values=values)
    if not trial.false:
        return "what was kept"
    return "no room for an edge" if crowded(exact.oracle(None)) else "alone"


def _at_once(series: Sequence, question: Question, where: str) -> Iterator[Outcome]:
    """Ask one prepared solver for several bounds from several threads."""
    import umdp

    solver = series.prepared.setdefault(question.text, umdp.prepare(series.graph, question.text))
    jobs = [i % len(series.models) for i in range(6)]

    def one(at: int) -> Any:
        try:
            return solver.solve(series.models[at].lower, series.models[at].upper)
        except Exception as problem:
            return problem

    with ThreadPoolExecutor(3) as pool:
        every = list(pool.map(one, jobs))
    for at, found in zip(jobs, every, strict=True):
        outcome = Outcome(
            question.kind, call=f"{where}: prepared solver in three threads, {question.text}, bounds {at}"
        )
        if isinstance(found, Exception):
            outcome.crash = f"{type(found).__name__}: {found}"
        else:
            try:
                check(outcome, series.exact[at], question, found, 1e-6)
                if outcome.false:
                    outcome.why = _why(series.models[at], series.exact[at], question, 1e-6, "auto", None, None)
            except Exception as problem:
                outcome.crash = f"{type(problem).__name__}: {problem}"
        yield outcome
