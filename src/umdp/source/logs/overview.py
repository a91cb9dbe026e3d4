"""A first look at a log: what is in it and what it was taken for, before anything is learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umdp.model import REST, Graph
from umdp.source.logs.log_graph import START
from umdp.source.logs.recorded_data import Recorded
from umdp.source.source import SamplingRequest
from umdp.statements import Statement, stated
from umdp.statements.guarantee import Guarantee, guarantee_of

__all__ = ["Overview", "StateOverview", "overview"]

LONGEST = 2**62


@dataclass(frozen=True)
class StateOverview:
    """What a log has of a state.

    Attributes
    ----------
    rows, reached : how many rows start there, and how many lead there
    actions : the names of the actions that were taken there
    labels : those of the graph that hold there
    """

    rows: int
    reached: int
    actions: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What is in a log, and what it was taken for.

    Attributes
    ----------
    rows, trajectories, steps, rejected : how many rows there are, of how many trajectories; how many were counted, how many not
    states : the states by name, in order of appearance
    actions : how often each action was taken, by its name
    initial : the state in which it starts
    elsewhere : trajectories that begin in another state; None where nobody looked
    columns : the names of the columns that are read, by their roles
    others : the names of columns that are not looked at, unless they are named
    encoding, decimal : how text and its numbers are written; None where there is nothing of the kind, or files differ
    notes : what there is to say of it, a statement each
    conditions : what must be true for any promise
    against : why nothing would be promised; empty where something would
    """

    rows: int
    trajectories: int
    steps: int
    rejected: int
    states: Mapping[str, StateOverview]
    actions: Mapping[str, int]
    initial: str
    elsewhere: int | None
    columns: Mapping[str, str]
    others: tuple[str, ...]
    encoding: str | None
    decimal: str | None
    notes: tuple[Statement, ...]
    conditions: tuple[Statement, ...]
    against: tuple[Statement, ...]


def overview(log: Recorded) -> Overview:
    """Return a first look at a log or stream: it is read to its end by what learning reads it with, and counted as there."""
    log.begin()
    graph, trajectories, steps, done = log.graph, 0, 0, False
    counts: NDArray[np.int64] = np.zeros(graph.transitions, np.int64)
    order = SamplingRequest(
        np.ones(graph.choices), np.zeros(graph.states, np.bool_), LONGEST, np.full(graph.choices, -1), LONGEST
    )
    while not done:
        batch = log.collect(order)
        counts += batch.counts
        trajectories, steps, done = trajectories + batch.trajectories, steps + batch.steps, batch.ended
    known, notes = log.provenance(), log.report()
    promised = guarantee_of(Guarantee("any-time", 0.95), known, discovers=True)
    return Overview(
        rows=known.rows,
        trajectories=trajectories,
        steps=steps,
        rejected=log.rejected,
        states=_states(graph, counts),
        actions=_actions(graph, counts),
        initial=graph.state_name(graph.initial),
        elsewhere=log.elsewhere,
        **log.written(),
        notes=tuple(map(stated, notes)),
        conditions=tuple(map(stated, (*known.assumptions, *(each for own in known.rewards.values() for each in own)))),
        against=() if promised.holds else tuple(map(stated, promised.reasons)),
    )


def _states(graph: Graph, counts: NDArray[np.int64]) -> dict[str, StateOverview]:
    """Return what the log has of every state but those that stand for something else."""
    taken = np.add.reduceat(counts, graph.choice_ptr[:-1])
    left = np.bincount(graph.choice_state, weights=taken, minlength=graph.states).astype(np.int64)
    reached = np.bincount(graph.successor, weights=counts, minlength=graph.states).astype(np.int64)
    found = {}
    for s in range(graph.states):
        name = graph.state_name(s)
        if s == graph.rest or name == START:
            continue
        choices = range(int(graph.state_ptr[s]), int(graph.state_ptr[s + 1]))
        labels = tuple(label for label, members in graph.labels.items() if members[s] and label != REST)
        own = tuple(graph.action_name(c) for c in choices if taken[c])
        found[name] = StateOverview(int(left[s]), int(reached[s]), own, labels)
    return found


def _actions(graph: Graph, counts: NDArray[np.int64]) -> dict[str, int]:
    """Return how often each action was taken, the most frequent first."""
    found: dict[str, int] = {}
    for c, times in enumerate(np.add.reduceat(counts, graph.choice_ptr[:-1]).tolist()):
        if times and graph.state_name(int(graph.choice_state[c])) != START:
            found[graph.action_name(c)] = found.get(graph.action_name(c), 0) + times
    return dict(sorted(found.items(), key=lambda each: -each[1]))
