"""Logs for tests, in every format, and a plain loop that counts them."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from umdp import Graph
from umdp.source import Log, SamplingRequest
from umdp.source.logs.recorded_data import Recorded
from umdp.source.source import Batch

Row = tuple[Any, str, str, str] | None  # trajectory, state, action, next; None cannot be read

FORMATS = (".csv", ".jsonl", ".parquet")


def small_graph() -> Graph:
    """Return four named states in a ring, with one, two or three choices, not all of which can go everywhere."""
    successors = {
        "a": {"on": ["b"], "back": ["a", "d"]},
        "b": {"on": ["c", "a"], "wait": ["b"], "back": ["a", "b", "c"]},
        "c": {"on": ["d", "c"]},
        "d": {"on": ["a"], "back": ["c", "b"]},
    }
    names = list(successors)
    state_ptr, choice_ptr, successor, actions = [0], [0], [], []
    for row in successors.values():
        for action, targets in row.items():
            actions.append(action)
            successor += [names.index(target) for target in targets]
            choice_ptr.append(len(successor))
        state_ptr.append(len(actions))
    return Graph(state_ptr, choice_ptr, successor, state_names=names, actions=actions)


def order(graph: Graph, trajectories: int = 10**9, quota: Any = -1) -> SamplingRequest:
    weight = np.ones(graph.choices)
    limits = np.broadcast_to(np.asarray(quota, dtype=np.int64), (graph.choices,))
    return SamplingRequest(weight, np.zeros(graph.states, dtype=np.bool_), 1000, limits, trajectories)


@st.composite
def logs(draw: st.DrawFn, *, named: bool = True, most: int = 40) -> list[Row]:
    """Return rows that mostly walk through the small graph, and now and then make a mistake."""
    graph = small_graph()
    rows: list[Row] = []
    name, state = 0, draw(st.integers(0, graph.states - 1))
    for _ in range(draw(st.integers(0, most))):
        what = draw(st.sampled_from(["walk"] * 12 + ["jump", "new", "state", "action", "next", "unreadable", "stray"]))
        if what == "unreadable":
            rows.append(None)
            continue
        if what == "new":
            name += 1
        if what in ("jump", "new"):
            state = draw(st.integers(0, graph.states - 1))
        choice = draw(st.integers(int(graph.state_ptr[state]), int(graph.state_ptr[state + 1]) - 1))
        transition = draw(st.integers(int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1]) - 1))
        target = int(graph.successor[transition])
        if what == "stray":
            target = draw(st.integers(0, graph.states - 1))
        row = [str(name), graph.state_name(state), graph.action_name(choice), graph.state_name(target)]
        for position, kind in enumerate(("state", "action", "next"), start=1):
            if what == kind:
                row[position] = draw(st.sampled_from(["zz", "9", "on", "wait"]))
        rows.append((row[0] if named else None, row[1], row[2], row[3]))
        state = target
    return rows


@dataclass
class Naive:
    """What a plain loop over rows makes of them."""

    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    trajectories: int = 0
    steps: int = 0
    bad: list[int] = field(default_factory=list)
    lengths: list[list[tuple[str, str]]] = field(default_factory=list)  # per trajectory, the choices counted in it

    def array(self, graph: Graph) -> Any:
        counts = np.zeros(graph.transitions, dtype=np.int64)
        for c in range(graph.choices):
            for t in range(graph.choice_ptr[c], graph.choice_ptr[c + 1]):
                key = (
                    graph.state_name(int(graph.choice_state[c])),
                    graph.action_name(c),
                    graph.state_name(int(graph.successor[t])),
                )
                counts[t] = self.counts.get(key, 0)
        return counts


def count_plainly(rows: list[Row], graph: Graph) -> Naive:
    listed: dict[str, dict[str, set[str]]] = {}
    for c in range(graph.choices):
        targets = {graph.state_name(int(t)) for t in graph.successor[graph.choice_ptr[c] : graph.choice_ptr[c + 1]]}
        listed.setdefault(graph.state_name(int(graph.choice_state[c])), {})[graph.action_name(c)] = targets
    found = Naive()
    name: Any = None
    ended: str | None = None
    first = True
    for number, row in enumerate(rows):
        if row is None:
            found.bad.append(number)
            ended = None
            continue
        apart = ended is not None and row[1] in listed and row[1] != ended
        begins = first or row[0] != name or (row[0] is None and apart)
        if begins:
            found.trajectories += 1
            found.lengths.append([])
        fine = row[3] in listed.get(row[1], {}).get(row[2], set())
        if fine and (begins or not apart):
            found.counts[row[1:]] = found.counts.get(row[1:], 0) + 1
            found.steps += 1
            found.lengths[-1].append(row[1:3])
        else:
            found.bad.append(number)
        name, first = row[0], False
        # The end of a row is known if both its states are known, or at least its last.
        ended = row[3] if row[3] in listed else None
    return found


def write(rows: list[Row], path: Path, *, named: bool = True) -> Path:
    """Write rows in the format of the path's ending."""
    if path.suffix == ".parquet":
        import polars as pl

        table = {
            role: pl.Series(role, [None if row is None else row[k] for row in rows], dtype=pl.String)
            for k, role in enumerate(("trajectory", "state", "action", "next"))
            if named or k
        }
        # A row that cannot be read has no state; its trajectory is that of whatever came before, or none.
        pl.DataFrame(table).write_parquet(path)
    elif path.suffix == ".jsonl":
        lines = []
        for row in rows:
            if row is None:
                lines.append("{not json")
            else:
                record = dict(zip(("trajectory", "state", "action", "next"), row, strict=True))
                lines.append(json.dumps({k: v for k, v in record.items() if v is not None}))
        path.write_text("".join(line + "\n" for line in lines))
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            header = ["trajectory", "state", "action", "next"]
            writer.writerow(header if named else header[1:])
            for row in rows:
                writer.writerow(["only", "two"] if row is None else row if named else row[1:])
    return path


def exhaust(source: Recorded, each: SamplingRequest) -> tuple[Any, int, int, list[Batch]]:
    """Collect until nothing more comes; return counts, trajectories, steps and the batches."""
    batches = []
    while not batches or not batches[-1].ended:
        batches.append(source.collect(each))
    counts = np.sum([batch.counts for batch in batches], axis=0)
    return counts, sum(b.trajectories for b in batches), sum(b.steps for b in batches), batches


def open_skipping(path: Path, graph: Graph, **options: Any) -> Log:
    log = Log(path, graph, on_error="skip", **options)
    log.begin()
    return log
