"""Logs that tempt to promise too much, one for every row of `tests/statements/condition_rows.py`; for `python -m bench.promises`.

Each case plays a process that is known, writes a log of it that says less, or something else, than it seems to, and returns for
one seed whether something was promised and whether that was false at any look (of a process that changes, or rows that are
sorted: in the end).
"""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from umdp import ConfidenceSequence, anytime
from umdp.source import Log

ERROR_RATE = 0.2
FAILED = {"failed": lambda name: name == "failed"}
TINY = 1e-9


class Outcome(NamedTuple):
    """What came of a run: whether something was promised, and whether a promise was false."""

    promised: bool
    false: bool


def play(
    header: str, rows: Iterable[Sequence[object]], text: str, truth: float, *, encoding: str = "utf-8", last: bool = False,
    **options: Any,
) -> Outcome:  # fmt: skip
    """Return what came of learning from a log: with a property to be made large the lower end promises, else the upper."""
    promised = false = False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.csv")
        with path.open("w", newline="", encoding=encoding) as file:
            csv.writer(file).writerows([header.split(","), *rows])
        source = Log(path, **options)
        rises = "max" in text.split("=", maxsplit=1)[0]
        for look in anytime(source, text, ConfidenceSequence(ERROR_RATE)):
            wrong = look.bracket.lower > truth + TINY if rises else look.bracket.upper < truth - TINY
            promised = look.guarantee.holds
            false = (promised and wrong) or (false and not last)
        source.close()
    return Outcome(promised, false)


def reach(chain: dict[str, dict[str, float]], start: str, steps: int) -> float:
    """Return the probability that a chain reaches "failed" within some steps."""
    value = dict.fromkeys(chain, 0.0) | {"failed": 1.0}
    for _ in range(steps):
        value = {s: sum(p * value[t] for t, p in row.items()) for s, row in chain.items()} | {"failed": 1.0}
    return value[start]


def draw(rng: random.Random, row: dict[str, float]) -> str:
    """Return where a step leads."""
    return rng.choices(list(row), list(row.values()))[0]


# -- ends -----------------------------------------------------------------------------------------------------


def windows(seed: int, *, told: bool = False) -> Outcome:
    """Recordings of three days of machines that all fail on the fourth; a column is true with the last row of each.

    Where the columns tell apart what ended and what was cut (`told`), a third of the machines is scrapped for good.
    """
    rng, rows = random.Random(seed), []
    fails = [0.02, 0.02, 0.1]
    for name in range(40 + seed % 60):
        for day in range(3):
            state, drawn = f"d{day}", rng.random()
            target = "failed" if drawn < fails[day] else "scrap" if told and drawn > 0.7 else f"d{day + 1}"
            over, last = target in ("failed", "scrap"), day == 2
            flags = (int(over), int(last and not over)) if told else (int(over or last),)
            rows.append((name, state, "run", target, *flags))
            if over:
                break
    header = "trajectory,state,action,next," + ("terminated,truncated" if told else "end")
    truth = 1.0
    if told:
        alive, lost = 1.0, 0.0  # what is not scrapped fails
        for share in fails:
            lost += alive * share
            alive *= 0.7 - share
        truth = lost + alive
    return play(header, rows, 'Pmin=? [ F "failed" ]', truth, labels=FAILED)


# -- rewards --------------------------------------------------------------------------------------------------


def losses(seed: int, least: str = "") -> Outcome:
    """Steps that pay between -2 and 3, and one in a thousand that loses 1000."""
    rng, rows = random.Random(seed), []
    for name in range(40 + seed % 60):
        state = "s"
        for _ in range(30):
            drawn = rng.random()
            if state == "s":
                target, pay = ("s", -1) if drawn < 0.499 else ("t", 1) if drawn < 0.999 else ("x", -1000)
            else:
                target, pay = ("s", -2) if drawn < 0.5 else ("u", 3)
            rows.append((name, state, "go", target, pay))
            state = target
            if state in "ux":
                break
    a = np.array([[1 - 0.9 * 0.499, -0.9 * 0.5], [-0.9 * 0.5, 1]])
    truth = float(np.linalg.solve(a, [-0.499 + 0.5 - 1, -1 + 1.5])[0])
    text = 'R{"pay"}max=? [ Cdiscount=0.9 ]'
    known = ["u", "x"] if any(row[3] == "x" for row in rows) else ["u"]
    header = "trajectory,state,action,next,pay"
    return play(header, rows, text, truth, rewards={"pay": f"pay{least}"}, terminal=known)


# -- where it begins, and in which order ------------------------------------------------------------------------

WEAR = {"new": {"new": 0.5, "worn": 0.47, "failed": 0.03}, "worn": {"worn": 0.6, "failed": 0.3, "new": 0.1}}


def wearing(seed: int, *, worn: float) -> list[tuple[int, str, str, str]]:
    """Return rows of machines of which some are worn when they begin, the first of them is not."""
    rng, rows = random.Random(seed), []
    for name in range(40 + seed % 60):
        state = "worn" if name and rng.random() < worn else "new"
        for _ in range(4):
            target = draw(rng, WEAR[state])
            rows.append((name, state, "run", target))
            state = target
            if state == "failed":
                break
    return rows


def beginnings(seed: int, *, named: bool = True, initial: str | None = "observed", shuffled: bool = False) -> Outcome:
    """Machines of which seven in ten are worn when they begin: what is asked for is of all of them, or of the first row's."""
    rows = wearing(seed, worn=0.7)
    new, worn = (reach(WEAR, state, 3) for state in WEAR)
    truth = new if initial is None else 0.3 * new + 0.7 * worn
    if shuffled:
        random.Random(seed).shuffle(rows)
    shown: list[Any] = [row if named else row[1:] for row in rows]
    header = "trajectory,state,action,next" if named else "state,action,next"
    steps = 3 if initial is None else 4  # one more, from the beginning
    options = {} if initial is None else {"initial": initial}
    return play(header, shown, f'Pmin=? [ F<={steps} "failed" ]', truth, labels=FAILED, **options)


# -- a process that changes, rows that are sorted, left out or spoilt -----------------------------------------


def position(seed: int, how: str) -> Outcome:
    """A machine that fails in 30 % of its days from the middle of the log on; or in 30 %, rows sorted by that."""
    rng, size = random.Random(seed), 300 + seed % 700
    rows = [
        ("on", "run", "failed" if (how == "sorted" or i >= size // 2) and rng.random() < 0.3 else "ok")
        for i in range(size)
    ]
    if how == "sorted":
        rows.sort(key=lambda row: row[2], reverse=seed % 2 == 0)
    return play("state,action,next", rows, 'Pmin=? [ F<=1 "failed" ]', 0.3, labels=FAILED, last=True)


def rejected(seed: int, how: str) -> Outcome:
    """Rows that cannot be read: by chance; or those with a state in another encoding than the rest, or a decimal comma."""
    rng, rows = random.Random(seed), []
    for _ in range(300 + seed % 700):
        failed = rng.random() < 0.1
        spoilt = rng.random() < 0.05 if how == "chance" else failed and rng.random() < 0.8
        action = "révisé".encode().decode("latin1") if how == "encoding" else "run"
        row = ["on", action, "failed" if failed else "ok", "1.5" if failed else "0"]
        if spoilt and how == "chance":
            row = row[:2]
        elif spoilt and how == "encoding":
            row[2] = "défaut"
        elif spoilt:
            row[3:] = ["1", "5"]
        rows.append(row)
    header = "state,action,next,hours"
    text = 'Pmin=? [ F<=1 "failed" ]'
    return play(header, rows, text, 0.1, encoding="latin1", labels=FAILED, on_error="chance")


def unlisted(seed: int) -> Outcome:
    """A graph that leaves out that it may fail, and a log in which it does; such rows are passed over."""
    from umdp import Graph

    rng = random.Random(seed)
    rows = [("on", "run", draw(rng, {"ok": 0.6, "off": 0.3, "failed": 0.1})) for _ in range(200 + seed % 300)]
    graph = Graph(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"ok": [1]}, actions=["run", "stay", "stay"],
        state_names=["on", "ok", "off"],
    )  # fmt: skip
    return play("state,action,next", rows, 'Pmax=? [ F<=1 "ok" ]', 0.6, graph=graph, on_error="chance")


LOGS: dict[str, Callable[[int], Outcome]] = {
    "end with every last row": windows,
    "terminated and truncated": lambda seed: windows(seed, told=True),
    "reward below any seen": losses,
    "reward below any seen, pay>=-1000": lambda seed: losses(seed, ">=-1000"),
    "begins elsewhere, of the first row's state": lambda seed: beginnings(seed, initial=None),
    "initial observed": beginnings,
    "initial observed, no names": lambda seed: beginnings(seed, named=False),
    "initial observed, shuffled, no names": lambda seed: beginnings(seed, named=False, shuffled=True),
    "a change half-way": lambda seed: position(seed, "change"),
    "rows sorted by outcome": lambda seed: position(seed, "sorted"),
    "rows spoilt by chance": lambda seed: rejected(seed, "chance"),
    "rows of one name in another encoding": lambda seed: rejected(seed, "encoding"),
    "rows with a decimal comma": lambda seed: rejected(seed, "comma"),
    "rows that the graph does not list": unlisted,
}
