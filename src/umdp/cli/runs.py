"""`umdp show` and `umdp export`: look into a run, also while it is going on."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.cli.learn import configuration
from umdp.cli.live import plain
from umdp.errors import FormatError, MissingExtra

if TYPE_CHECKING:
    from umdp.run import Store
    from umdp.snapshot import Snapshot

__all__ = ["Export", "Show"]

WHAT = {
    ".csv": "snapshots",
    ".parquet": "snapshots",
    ".drn": "model",
    ".umb": "model",
    ".tra": "model",
    ".json": "policy",
}


@dataclass(frozen=True)
class Show:
    """One call of `umdp show`, as typed."""

    path: str
    json: bool = False

    def run(self) -> int:
        """Print what a run is, how far it has come and what it knows."""
        from umdp.run import Store

        with Store.open(self.path) as store:
            last = store.last()
            if self.json:
                shown = None if last is None else {k: plain(v) for k, v in last.items()}
                print(json.dumps({"config": store.config, "last": shown}))
                return 0
            config = configuration(store)
            print(f"{self.path}: {config.wording()} with {config.learner} on {config.model}")
            print(f"  seed {config.seed}, umdp {config.versions.get('umdp', 'unknown')}")
            if last is None:
                print("  nothing learned yet")
                return 0
            print(f"  {last['trajectories']:,} trajectories, {last['steps']:,} steps, {last['iteration']} iterations")
            print(f"  bracket  {last['lower']:.6g} .. {last['upper']:.6g} ({last['guarantee']['text']})")
            for line in last["guarantee"]["reasons"][1:]:
                print(f"           {line}")
            if last["performance"] is not None:
                print(f"  the policy is worth {last['performance']:.6g} on the process itself")
            print(f"  {'ended because ' + last['reason'] if last['reason'] else 'not ended: umdp resume ' + self.path}")
            picture = _picture(config.model, store)
            if picture is not None:
                print(f"\n{picture}")
        return 0


def _picture(name: str, store: Store) -> str | None:
    """Return the policy of a run as a picture, for the benchmarks that have one."""
    from umdp.benchmark import draw_chain, draw_grid

    draw = {"grid": draw_grid, "chain": draw_chain, "chain-switched": draw_chain}.get(name)
    if draw is None:
        return None
    snapshot = _snapshot(store)
    assert snapshot.truth is not None
    return draw(snapshot.truth, snapshot.policy)


@dataclass(frozen=True)
class Export:
    """One call of `umdp export`, as typed."""

    path: str
    file: str
    what: str | None = None

    def run(self) -> int:
        """Write snapshots, the learned model or the policy to a file, by its name or as told."""
        from umdp.run import Store

        target = Path(self.file)
        what = self.what or WHAT.get(target.suffix)
        if what is None:
            raise FormatError(f"say what to export with --what, or use one of {', '.join(WHAT)}", path=target)
        if not target.parent.is_dir():
            raise FormatError(f"the folder {target.parent} does not exist; create it first", path=target)
        with Store.open(self.path) as store:
            if what == "snapshots":
                _write_rows(target, store.snapshots())
            elif what == "model":
                from umdp.io import write

                write(_snapshot(store).model, target)
            else:
                from umdp.io import write_policy

                write_policy(_snapshot(store).policy, target)
        print(f"{what} written to {target}")
        return 0


def _snapshot(store: Store) -> Snapshot:
    """Return what a run knows now, worked out from its state."""
    run = configuration(store).build()
    state = store.state()
    if state is not None:
        run.restore(state)
    try:
        return run.snapshot()
    finally:
        run.source.close()


def _write_rows(target: Path, rows: list[dict[str, Any]]) -> None:
    from umdp.run.store import COLUMNS

    columns = [*COLUMNS, "level", "reasons"]
    rows = [row | _flat(row["guarantee"]) for row in rows]
    if target.suffix == ".parquet":
        try:
            import polars
        except ImportError:
            raise MissingExtra("data", "Parquet") from None
        polars.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None).write_parquet(target)
    elif target.suffix == ".csv":
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
    else:
        raise FormatError("snapshots are written as .csv or .parquet", path=target)


def _flat(guarantee: dict[str, Any]) -> dict[str, Any]:
    """Return a guarantee as columns: its kind, its level, and its reasons in one text."""
    return {
        "guarantee": guarantee["kind"],
        "level": guarantee["level"],
        "reasons": "; ".join(guarantee["reasons"]),
    }
