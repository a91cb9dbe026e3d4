"""Results as one table on disk, with what is needed to get them again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from umdp.errors import MissingExtra
from umdp.paper.results import COLUMNS, Results

__all__ = ["AXES", "table_stem", "write_table"]

AXES = ("environment", "learner", "panel", "xi", "after", "seed", "guarantee", "level", "reasons")
"""What comes before the metrics in every row."""


def table_stem(name: str, *, published: bool) -> str:
    """Return what the files of an experiment are called, without their ending."""
    return name + ("-as-published" if published else "")


def write_table(results: Results, folder: Path, kind: str) -> list[Path]:
    """Write all rows of all runs, and beside them the settings; equal results give equal files.

    Parameters
    ----------
    results : Results
    folder : Path
    kind : {"parquet", "csv"}

    Returns
    -------
    list of Path
        ``NAME.parquet`` or ``NAME.csv``, and ``NAME.json`` with the experiment, the versions and the root seed.
    """
    stem = table_stem(results.name, published=results.published)
    path, beside = folder / f"{stem}.{kind}", folder / f"{stem}.json"
    settings = json.dumps(dict(results.settings), indent=1, sort_keys=True)
    columns = _columns(results)
    if kind == "parquet":
        _parquet(columns, path, settings)
    else:
        # By the standard library: CSV is what there is without polars, and its numbers are read back unchanged.
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(columns)
            rows.writerows(zip(*(_plain(values) for values in columns.values()), strict=True))
    beside.write_text(settings + "\n", encoding="utf-8")
    return [path, beside]


def _columns(results: Results) -> dict[str, Any]:
    """Return all columns; those of `AXES` as lists, the metrics as arrays."""
    columns: dict[str, Any] = {name: [] for name in AXES}
    for outcome in results.outcomes:
        cell, rows = outcome.cell, len(outcome.columns["iterations"])
        promised = outcome.guarantee
        values = (
            cell.environment, cell.learner, cell.panel, cell.xi, cell.after, outcome.seed,
            promised.kind, promised.level, "; ".join(promised.reasons),
        )  # fmt: skip
        for name, value in zip(AXES, values, strict=True):
            columns[name] += [value] * rows
    for name in COLUMNS:
        columns[name] = np.concatenate([outcome.columns[name] for outcome in results.outcomes] or [np.empty(0)])
    return columns


def _plain(values: Any) -> list[Any]:
    """Return values as CSV has them: nothing for what does not apply, numbers so that they are read back unchanged."""
    if isinstance(values, np.ndarray):
        return list(values.tolist())
    return ["" if value is None else value for value in values]


def _parquet(columns: dict[str, Any], path: Path, settings: str) -> None:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("data", "writing Parquet") from None
    kinds = {"xi": pl.Float64, "after": pl.Int64, "seed": pl.Int64, "level": pl.Float64}
    words = dict.fromkeys(("environment", "learner", "panel", "guarantee", "reasons"), pl.Categorical)
    frame = pl.DataFrame(columns, schema_overrides=kinds).with_columns(pl.col(n).cast(k) for n, k in words.items())
    frame.write_parquet(path, compression="zstd", metadata={"umdp": settings})
