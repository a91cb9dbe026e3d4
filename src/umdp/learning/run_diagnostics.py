"""Diagnostics of a run: what there is to say besides its numbers, such as how little its policy may rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn.learner import in_lines
from umdp.learn.parametric_learner import Parametric
from umdp.learn.tied import Tied
from umdp.learning.snapshot import Snapshot
from umdp.model import Graph
from umdp.solver.objective import objective_of
from umdp.source.environments.environment import Environment
from umdp.source.environments.time_limit import cut_note
from umdp.source.observed_graph import STAY, UNKNOWN
from umdp.source.product_source import ProductSource
from umdp.source.source import ClosedWorldSource, Source, process_of
from umdp.spec import Spec
from umdp.statements import DiagnosticCode, Statement, say, stated
from umdp.statements.diagnostics import SHIFTS

__all__ = ["FEW", "diagnostics_of", "parameters_in_words"]

Mask = NDArray[np.bool_]

SHOWN = 5  # classes that are spoken of
FEW = 10  # times that a choice should be seen before what was seen of it is taken for all it can do


def diagnostics_of(source: Source, spec: Spec, snapshot: Snapshot) -> list[Statement]:
    """Return what the user should know about a run as it is shown by a snapshot, a statement each.

    Parameters
    ----------
    source : where the data come from
    spec : the property, as it was asked
    snapshot : what is known
    """
    process, learner = process_of(source), snapshot.learner
    own = spec.aim in ("discounted", "average")  # rewards are taken as the process pays them: no word on shifts
    report = [each for each in map(stated, source.report()) if not (own and each.code in SHIFTS)]
    notes = [*in_lines(snapshot.alarms), *report, *_reset_note(source.graph, spec)]
    if isinstance(process, Environment):
        entry = process.graph.interface is not None and process.graph.interface.entry
        cut = cut_note(process.env, process.name, spec, entry=entry, remembers=isinstance(source, ProductSource))
        notes += [] if cut is None else [cut]
    if isinstance(source, ClosedWorldSource) or (
        isinstance(source, ProductSource) and isinstance(source.inner, ClosedWorldSource)
    ):
        notes.append(_seldom_seen(source.graph, snapshot))
    if isinstance(learner, Parametric):
        return [*notes, *parameters_in_words(snapshot.parameters or {})]
    return notes + _class_notes(snapshot)


def parameters_in_words(given: Mapping[str, Mapping[str, Any]]) -> list[Statement]:
    """Return what is known of every parameter, a line each, rounded outwards.

    Examples
    --------
    >>> parameters_in_words({"p": {"lower": 0.89312, "upper": 0.90651, "samples": 12345}})
    ['p in [0.893, 0.907] after 12,345 samples']
    """
    kept = ("lower", "upper", "samples")
    return [say(DiagnosticCode.PARAMETER, name=name, **{k: each[k] for k in kept}) for name, each in given.items()]


def _class_notes(snapshot: Snapshot) -> list[Statement]:
    """Say what was learned of classes of choices, the largest first."""
    learner = snapshot.learner
    if not isinstance(learner, Tied) or snapshot.counts is None:
        return []
    tying, lower, upper = learner.tying, learner.own_lower, learner.own_upper
    visits = np.where(learner.feeds, learner.per_choice(snapshot.counts), 0)
    samples = np.bincount(tying.choice_class, visits, tying.classes)
    several = np.flatnonzero(tying.sizes > 1)
    notes = []
    for k in several[np.argsort(-tying.sizes[several], kind="stable")][:SHOWN]:
        own = range(tying.outcome_ptr[k], tying.outcome_ptr[k + 1])
        bounds = [(tying.outcome_names[o], float(lower[o]), float(upper[o])) for o in own]
        of = {"name": tying.names[k], "choices": int(tying.sizes[k]), "samples": int(samples[k])}
        notes.append(say(DiagnosticCode.TIED_CLASS, **of, bounds=bounds))
    if several.size > SHOWN:
        notes.append(say(DiagnosticCode.MORE_CLASSES, more=several.size - SHOWN))
    return notes


def _reset_note(graph: Graph, spec: Spec) -> list[Statement]:
    """Say that the reset is a step where a bound on steps counts it."""
    asked = spec.steps(graph)
    if not asked or graph.interface is None or not graph.interface.entry:
        return []
    return [say(DiagnosticCode.RESET_COUNTS, steps=asked)]


def _seldom_seen(graph: Graph, snapshot: Snapshot) -> Statement:
    """Say that what was never seen is taken for impossible, and how many choices of the policy were hardly tried."""
    assert snapshot.learner is not None
    learner = None if snapshot.learner.discovers else snapshot.learner.name
    if snapshot.counts is None or not snapshot.trajectories:  # exploration does not count how often it saw something
        return say(DiagnosticCode.SELDOM_SEEN, learner=learner, few=None, taken=0, often=FEW)
    taken = _taken(graph, snapshot, _final(graph, snapshot.robust.spec))
    few = int((taken & (np.add.reduceat(snapshot.counts, graph.choice_ptr[:-1]) < FEW)).sum())
    return say(DiagnosticCode.SELDOM_SEEN, learner=learner, few=few, taken=int(taken.sum()), often=FEW)


def _final(graph: Graph, spec: Spec) -> Mask:
    """Return the states (S,) after which nothing counts any more."""
    asked = objective_of(graph, spec)
    nowhere = np.zeros(graph.states, dtype=np.bool_)
    return nowhere if asked.absorbing is None else asked.absorbing


def _taken(graph: Graph, snapshot: Snapshot, final: Mask) -> Mask:
    """Return the choices (C,) that the policy takes, at whatever step, in states that it may reach."""
    choice, weight = snapshot.policy.choice, snapshot.policy.weight
    wanted = np.zeros(graph.choices, dtype=np.bool_)
    if choice is not None:
        wanted[choice.ravel()] = True
    elif weight is not None:
        wanted = weight > 0
    # Nobody took the one choice of a state that was never left.
    alone = np.flatnonzero(np.diff(graph.state_ptr) == 1)
    own = [c for c in graph.state_ptr[alone].tolist() if graph.action_name(c) in (STAY, UNKNOWN)]
    wanted[own] = False
    wanted &= ~final[graph.choice_state]
    reached = np.zeros(graph.states, dtype=np.bool_)
    reached[graph.initial] = True
    of_transition: NDArray[Any] = np.repeat(np.arange(graph.choices), np.diff(graph.choice_ptr))
    while True:
        taken = wanted & reached[graph.choice_state]
        before = int(reached.sum())
        reached[graph.successor[taken[of_transition]]] = True
        if int(reached.sum()) == before:
            return taken
