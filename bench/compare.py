"""Runs one case on both sides, each in a fresh process; a failure or a timeout is an outcome, not an error."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from bench.families import Case
from bench.sides import run_storm, run_umdp

__all__ = ["Outcome", "Row", "compare", "off", "start_server"]

START = 300.0  # seconds a side may take to read its model and warm up


@dataclass(frozen=True)
class Outcome:
    """What one side did: it answered, failed with a message, or ran out of time."""

    seconds: float = math.inf
    lower: float = math.nan
    upper: float = math.nan
    status: str = ""
    memory: float = math.nan
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return math.isfinite(self.seconds)


@dataclass(frozen=True)
class Row:
    """A case with what came of it; `sound` is None where Storm has no sound method."""

    case: Case
    transitions: int
    umdp: Outcome
    storm: Outcome
    sound: Outcome | None

    @property
    def certified(self) -> bool:
        """Whether this package's bracket is certified to the precision."""
        return self.umdp.status == "CERTIFIED"

    def error(self, outcome: Outcome | None) -> float | None:
        """Return how far an answer of Storm is from the certified bracket, relatively; None if nobody can tell."""
        if outcome is None or not outcome.answered or not self.certified:
            return None
        return off(outcome.lower, self.umdp.lower, self.umdp.upper)

    def ratio(self, outcome: Outcome | None) -> float | None:
        """Return Storm's time over this package's."""
        if outcome is None or not outcome.answered or not self.umdp.answered:
            return None
        return outcome.seconds / self.umdp.seconds

    def record(self, precision: float) -> dict[str, Any]:
        """Return the row for a line of JSON; infinite and missing numbers as text and null."""
        sides = {"umdp": self.umdp, "storm": self.storm, "storm_sound": self.sound}
        row: dict[str, Any] = {**asdict(self.case), "transitions": self.transitions, "precision": precision}
        for name, side in sides.items():
            row[name] = None if side is None else {k: _plain(v) for k, v in asdict(side).items()}
        row["certified"] = self.certified
        row["ratio"], row["ratio_sound"] = self.ratio(self.storm), self.ratio(self.sound)
        row["storm_error"], row["storm_sound_error"] = _plain(self.error(self.storm)), _plain(self.error(self.sound))
        return row


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def off(value: float, lower: float, upper: float) -> float:
    """Return the relative distance of a value from a bracket.

    Examples
    --------
    >>> off(0.5, 0.4, 0.6), off(0.3, 0.4, 0.6), off(float("inf"), 1.0, 2.0)
    (0.0, 0.25, inf)
    """
    if lower <= value <= upper:
        return 0.0
    bound = lower if value < lower else upper
    if math.isinf(bound) or math.isinf(value) or bound == 0:
        return math.inf
    return abs(value - bound) / abs(bound)


def start_server() -> None:
    """Let the processes of the cases start from one that has imported this package and nothing else."""
    multiprocessing.set_start_method("forkserver", force=True)
    multiprocessing.set_forkserver_preload(["bench.warm"])


def compare(
    case: Case, file: str, transitions: int, *, precision: float, timeout: float, repeat: int, peer: bool
) -> Row:
    """Return the row of one case whose model is in `file`."""
    mine = _collect(run_umdp, (file, case.property, precision, repeat), 1, timeout)[0]
    theirs: list[Outcome] = []
    if peer:
        wanted = 2 if case.kind == "plain" else 1
        theirs = _collect(run_storm, (file, case.property, precision, repeat), wanted, timeout)
    storm = theirs[0] if theirs else Outcome(status="not run")
    return Row(case, transitions, mine, storm, theirs[1] if len(theirs) > 1 else None)


def _collect(target: Callable[..., None], arguments: tuple[Any, ...], wanted: int, timeout: float) -> list[Outcome]:
    """Run a side and return as many outcomes as wanted; what stops it early stands for all that are missing."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("forkserver").Process(target=target, args=(there, *arguments), daemon=True)
    process.start()
    there.close()
    outcomes: list[Outcome] = []
    missing = Outcome(status="failed")
    try:
        first = _receive(here, START)
        if first is None or "ready" not in first:
            missing = _outcome(first, "no model in time")
        else:
            while len(outcomes) < wanted:
                message = _receive(here, timeout)
                if message is None:
                    missing = Outcome(status=f">{timeout:g}")
                    break
                outcomes.append(_outcome(message, "failed"))
    except EOFError:
        process.join(5)
        missing = Outcome(status=f"died ({process.exitcode})")
    finally:
        process.kill()
        process.join()
        process.close()
        here.close()
    return outcomes + [missing] * (wanted - len(outcomes))


def _receive(pipe: Any, timeout: float) -> dict[str, Any] | None:
    end = time.monotonic() + timeout
    return pipe.recv() if pipe.poll(max(end - time.monotonic(), 0)) else None


def _outcome(message: dict[str, Any] | None, otherwise: str) -> Outcome:
    if message is None:
        return Outcome(status=otherwise)
    if "error" in message:
        return Outcome(status="failed", detail={"error": message["error"]})
    if "value" in message:
        return Outcome(message["seconds"], message["value"], message["value"], "answered", message["memory"])
    known = {k: message[k] for k in ("seconds", "lower", "upper", "status", "memory")}
    return Outcome(**known, detail={k: v for k, v in message.items() if k not in known})
