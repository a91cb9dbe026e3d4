"""Runs of format 1, as umdp 0.1 first wrote them: read as they are, and brought up to date when they go on."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

import msgspec
import numpy as np

from umdp.errors import FormatError
from umdp.model import Graph
from umdp.run.codec import unpack

__all__ = ["config", "graph_digest", "rows", "state"]

COLUMNS = (
    "iteration", "trajectories", "steps", "lower", "upper", "optimistic", "status", "guarantee", "performance",
    "estimation_error", "model_error", "reason",
)  # fmt: skip


def config(db: sqlite3.Connection) -> dict[str, Any]:
    """Return what was asked for."""
    row = _read(db, "SELECT value FROM meta WHERE key = 'config'")
    try:
        found: dict[str, Any] = msgspec.json.decode(row[0][0])
    except (IndexError, TypeError, msgspec.MsgspecError, RecursionError) as error:
        raise FormatError(f"the configuration of this run cannot be read ({error})") from None
    return found


def rows(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return all snapshots as rows, oldest first, as this version has them.

    What was promised is a sentence in them, which is shown as it is; nothing is concluded from it.
    """
    found = _read(db, f"SELECT {', '.join(COLUMNS)} FROM snapshots ORDER BY iteration")
    named = [dict(zip(COLUMNS, row, strict=True)) for row in found]
    untold: dict[str, Any] = {"kind": "none", "level": None, "reasons": []}
    return [
        {
            "iterations": row.pop("iteration"),
            **row,
            "guarantee": {**untold, "text": str(row["guarantee"])},
            "partial": False,
        }
        for row in named
    ]


def state(db: sqlite3.Connection) -> dict[str, Any] | None:
    """Return the state to go on from."""
    found = _read(db, "SELECT value FROM state")
    return unpack(found[0][0]) if found else None


def _read(db: sqlite3.Connection, statement: str) -> list[tuple[Any, ...]]:
    try:
        return db.execute(statement).fetchall()
    except sqlite3.Error as error:
        raise FormatError(f"this run is damaged: {error}") from None


def graph_digest(graph: Graph) -> str:
    """Return the digest of a graph as runs of format 1 had it."""
    digest = hashlib.sha256(str(graph.initial).encode())
    for array in (graph.state_ptr, graph.choice_ptr, graph.successor):
        digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
    return digest.hexdigest()
