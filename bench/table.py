"""The table: one line per case, printed as it comes."""

from __future__ import annotations

import math
import statistics

from bench.compare import Outcome, Row

__all__ = ["header", "line", "summary"]

COLUMNS = (
    ("model", 10),
    ("kind", 8),
    ("property", 36),
    ("transitions", 11),
    ("umdp s", 9),
    ("Storm s", 9),
    ("ratio", 7),
    ("sound s", 9),
    ("ratio", 7),
    ("MB", 6),
    ("certified", 13),
    ("Storm right?", 14),
    ("sound right?", 14),
)
LEFT = {"model", "kind", "property", "certified", "Storm right?", "sound right?"}


def header(precision: float, timeout: float, repeat: int) -> str:
    """Return what stands above the rows: what is measured, and the names of the columns."""
    told = f"""\
Relative precision {precision:g} on both sides; seconds of solving only, the best of up to {repeat} runs of short cases.
More than {timeout:g} s is shown as >{timeout:g}. Storm: its default methods; sound: its sound methods, which it has
for models without intervals only. ratio: the time on its left over umdp's, above 1 where umdp is faster. MB: the most
memory umdp's process held, with the interpreter and the kernels (about 100 MB), reading the model and solving.
right: inside umdp's certified bracket widened by the precision; if not, how far off, relatively.
"""
    return "\n".join([told, _row([name for name, _ in COLUMNS]), "  ".join("-" * width for _, width in COLUMNS)])


def _row(cells: list[str]) -> str:
    aligned = [
        cell.ljust(width) if name in LEFT else cell.rjust(width)
        for cell, (name, width) in zip(cells, COLUMNS, strict=True)
    ]
    return "  ".join(aligned).rstrip()


def line(row: Row, precision: float) -> str:
    """Return a row of the table."""
    return _row(
        [
            row.case.family,
            row.case.kind,
            row.case.property,
            f"{row.transitions:,}",
            _seconds(row.umdp),
            _seconds(row.storm),
            _times(row.ratio(row.storm)),
            _seconds(row.sound),
            _times(row.ratio(row.sound)),
            "" if math.isnan(row.umdp.memory) else f"{row.umdp.memory:.0f}",
            "yes" if row.certified else f"no: {row.umdp.status.lower()}",
            _right(row, row.storm, precision),
            _right(row, row.sound, precision),
        ]
    )


def _seconds(outcome: Outcome | None) -> str:
    if outcome is None:
        return "-"
    return f"{outcome.seconds:.4f}" if outcome.answered else outcome.status


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def _right(row: Row, outcome: Outcome | None, precision: float) -> str:
    if outcome is None or not outcome.answered:
        return "-"
    error = row.error(outcome)
    if error is None:
        return "unknown"
    return "yes" if error <= precision else f"no: {error:.1e}"


def _is_large(row: Row, kind: str, least: int) -> bool:
    return row.case.kind == kind and row.case.size >= least


def summary(rows: list[Row], precision: float, least: int = 90_000) -> str:
    """Return what the table shows, in a few lines; speed is judged from about 1e5 transitions on."""
    told = ["", f"{sum(row.certified for row in rows)} of {len(rows)} cases certified by umdp."]
    for name, sides in (("Storm", [r.storm for r in rows]), ("Storm, sound", [r.sound for r in rows])):
        judged = [(row, side) for row, side in zip(rows, sides, strict=True) if row.error(side) is not None]
        right = [(row, side) for row, side in judged if (row.error(side) or 0.0) <= precision]
        if not judged:
            continue
        told.append(f"{name}: {len(right)} of {len(judged)} answers that can be judged are right.")
        large = [(row.ratio(side) or 0.0, row) for row, side in right if row.case.size >= least]
        if large:
            ratios = [ratio for ratio, _ in large]
            worst, row = min(large, key=lambda each: each[0])
            told.append(
                f"  Where right, from 1e5 transitions on: umdp at least as fast in {sum(r >= 1 for r in ratios)} of "
                f"{len(ratios)}; ratio median {statistics.median(ratios):.2f}, worst {worst:.2f} "
                f"({row.case.family} {row.case.kind} {row.case.property} {row.transitions:,})."
            )
    for name, ratios in (
        (
            "plain models against Storm's sound methods",
            [r.ratio(r.sound) for r in rows if _is_large(r, "plain", least)],
        ),
        ("models with intervals against Storm", [r.ratio(r.storm) for r in rows if _is_large(r, "interval", least)]),
    ):
        answered = [ratio for ratio in ratios if ratio is not None]
        if answered:
            mean = math.exp(sum(map(math.log, answered)) / len(answered))
            told.append(
                f"From 1e5 transitions on, {name}, right or not: {mean:.2f} times as fast in the geometric mean of "
                f"{len(answered)} cases, slower in {sum(ratio < 1 for ratio in answered)}; "
                f"{len(ratios) - len(answered)} more without an answer in time."
            )
    failed = [row for row in rows if "error" in row.umdp.detail or "error" in row.storm.detail]
    for row in failed:
        for name, side in (("umdp", row.umdp), ("Storm", row.storm)):
            if "error" in side.detail:
                told.append(f"{name} on {row.case.family} {row.case.kind} {row.case.property}: {side.detail['error']}")
    return "\n".join(told)
