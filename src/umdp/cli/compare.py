"""`umdp compare`: several runs side by side, in one table. Nothing in them is executed or changed."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from umdp.cli.session import answer, returned, short
from umdp.cli.terminal import aligned, say, say_json
from umdp.run import OpenedRun, open_run
from umdp.statements.guarantee import Guarantee

__all__ = ["Compare"]

HEAD = (
    "run", "model", "property", "learner", "trajectories", "value", "return", "optimistic", "true value", "promise",
    "ended because",
)  # fmt: skip
NUMBERS = ("trajectories", "value", "return", "optimistic", "true value")


@dataclass(frozen=True)
class Compare:
    """Put runs side by side in one table: what each is worth, what is promised, why it ended.

    Also while they are going on. Nothing in them is executed. Runs on another property are marked.

    Options
    -------
    json
        Print one JSON object per run and line.

    Examples
    --------
    # one row per run
    umdp compare grid.run
    # for programs
    umdp compare grid.run --json
    """

    runs: list[str]
    json: bool = False

    def run(self) -> int:
        """Print one line per run."""
        runs = [open_run(path) for path in self.runs]
        if self.json:
            for path, run in zip(self.runs, runs, strict=True):
                say_json(_record(path, run, runs[0]))
            return 0
        asked = list(dict.fromkeys(run.question for run in runs))
        marks = {question: f"({number})" for number, question in enumerate(asked, 1)} if len(asked) > 1 else {}
        _print([_row(path, run, marks.get(run.question, "")) for path, run in zip(self.runs, runs, strict=True)])
        if len(asked) == 1:
            say(f"property: {asked[0]}")
        else:
            say("these runs have different properties, so that their values do not compare:")
            for question, mark in marks.items():
                say(f"  {mark} {question}")
        return 0


def _record(path: str, run: OpenedRun, first: OpenedRun) -> dict[str, Any]:
    """Return a run as what `--json` prints; infinity is the string "inf"."""
    last = run.rows[-1] if run.rows else {}
    names: tuple[str, ...] = (
        "trajectories", "steps", "iterations", "lower", "upper", "optimistic", "guarantee", "status", "performance",
        "estimation_error", "model_error", "reason", "partial",
    )  # fmt: skip
    names += tuple(name for name in ("return_lower", "return_upper", "promised", "promise") if name in last)
    return {
        "run": path, "model": run.name, "property": run.question, "same_property": run.question == first.question,
        "learner": run.config.learner, "settings": run.config.settings, "seed": run.config.seed,
        "running": None if run.writer is None else vars(run.writer), **{name: last.get(name) for name in names},
    }  # fmt: skip


def _row(path: str, run: OpenedRun, mark: str) -> tuple[str, ...]:
    settings = ", ".join(f"{name}={_setting(value)}" for name, value in run.config.settings.items())
    learner = run.config.learner + (f" ({settings})" if settings else "")
    if not run.rows:
        return (path, run.name, mark, learner, "0", "", "", "", "", "", "nothing learned yet")
    ended = "running now" if run.writer is not None else run.reason or "not ended"
    ends, label = answer(run.last)
    guarantee = run.guarantee if label is None else Guarantee.from_dict(label)
    bound = ends[0] if run.rises else ends[1]
    played = run.promise is not None and run.promise["by"] == "evidence"
    promise = guarantee.short + (", by playing" if played else "")
    sign = "≥" if run.rises else "≤"
    shown = f"{sign} {short(bound, down=run.rises)}" if math.isfinite(bound) else "none yet"
    more = [
        returned(run.last["return_lower"], run.last["return_upper"]) if "return_lower" in run.last else "",
        _number(run.optimistic),
        _number(run.performance),
    ]
    return (path, run.name, mark, learner, f"{run.trajectories:,}", shown, *more, promise, ended)


def _setting(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    """Print aligned columns, or a paragraph per run on a terminal that is too narrow for them."""
    kept = [i for i, name in enumerate(HEAD) if name in ("run", "value") or any(row[i] for row in rows)]
    head, *shown = ([line[i] for i in kept] for line in (HEAD, *rows))
    table = aligned(head, shown, NUMBERS)
    if not sys.stdout.isatty() or max(map(len, table)) <= shutil.get_terminal_size().columns:
        say(*table)
        return
    for row in shown:
        say(row[0], *(f"  {name:<14}{text}" for name, text in zip(head[1:], row[1:], strict=True) if text))
