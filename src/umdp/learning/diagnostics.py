"""Diagnostics of a run: what there is to say besides its numbers, such as how little its policy may rest on."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.learn.alarm import in_lines
from umdp.learn.parametric import Parametric
from umdp.learn.tied import Tied
from umdp.learning.snapshot import Snapshot
from umdp.model import Graph
from umdp.model.units import RANGE
from umdp.plural import nouns
from umdp.solver.objective import objective_of
from umdp.source.around import process_of
from umdp.source.base import Source
from umdp.source.environments.environment import Environment
from umdp.source.environments.time_limit import cut_note
from umdp.source.listed import Listed
from umdp.source.observed_graph import STAY, UNKNOWN
from umdp.source.remembering import Remembering
from umdp.spec import Spec

__all__ = ["FEW", "diagnostics_of", "parameters_in_words"]

Mask = NDArray[np.bool_]

SHOWN = 5  # classes that are spoken of
FEW = 10  # times that a choice should be seen before what was seen of it is taken for all it can do


def diagnostics_of(source: Source, spec: Spec, snapshot: Snapshot) -> list[str]:
    """Return what the user should know about a run as it is shown by a snapshot, a line each.

    Parameters
    ----------
    source : where the data come from
    spec : the property, as it was asked
    snapshot : what is known
    """
    process, learner = process_of(source), snapshot.learner
    own = spec.aim in ("discounted", "average")  # rewards are taken as the process pays them: no word on shifts
    report = [str(line) for line in source.report() if not (own and RANGE in line)]
    lines = [*in_lines(snapshot.alarms), *report, *_reset_note(source.graph, spec)]
    if isinstance(process, Environment):
        entry = process.graph.interface is not None and process.graph.interface.entry
        cut = cut_note(process.env, process.name, spec, entry=entry, remembers=isinstance(source, Remembering))
        lines += [] if cut is None else [cut]
    if isinstance(source, Listed) or (isinstance(source, Remembering) and isinstance(source.inner, Listed)):
        lines.append(_seldom_seen(source.graph, snapshot))
    if isinstance(learner, Parametric):
        return [*lines, *parameters_in_words(snapshot.parameters or {})]
    return lines + _class_notes(snapshot)


def parameters_in_words(given: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what is known of every parameter, a line each, rounded outwards.

    Examples
    --------
    >>> parameters_in_words({"p": {"lower": 0.89312, "upper": 0.90651, "samples": 12345}})
    ['p in [0.893, 0.907] after 12,345 samples']
    """
    return [
        f"{name} in {_interval(each['lower'], each['upper'])} after {each['samples']:,} {nouns(each['samples'], 'sample')}"
        for name, each in given.items()
    ]


def _interval(lower: float, upper: float) -> str:
    """Return an interval with as many digits as show its width, rounded outwards."""
    width = Decimal(repr(upper)) - Decimal(repr(lower))
    unit = Decimal(1).scaleb(max(min(width.adjusted() - 1, -3), -12) if width > 0 else -12)
    ends = (
        Decimal(repr(lower)).quantize(unit, rounding=ROUND_FLOOR),
        Decimal(repr(upper)).quantize(unit, rounding=ROUND_CEILING),
    )
    return "[" + ", ".join(f"{end.normalize():f}" for end in ends) + "]"


def _class_notes(snapshot: Snapshot) -> list[str]:
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
        bounds = ", ".join(f"{tying.outcome_names[o]} in [{lower[o]:.4f}, {upper[o]:.4f}]" for o in own)
        seen = f"{int(samples[k]):,} samples"
        notes.append(f"class {tying.names[k]}, {tying.sizes[k]:,} choices, after {seen}: {bounds}")
    if several.size > SHOWN:
        notes.append(f"{several.size - SHOWN:,} more classes of several choices")
    return notes


def _reset_note(graph: Graph, spec: Spec) -> list[str]:
    """Say that the reset is a step where a bound on steps counts it."""
    asked = spec.steps(graph)
    if not asked or graph.interface is None or not graph.interface.entry:
        return []
    left = f"the other {asked - 1:,} are" if asked > 2 else "the other is" if asked == 2 else "none is"
    of = f"the first of the {asked:,} steps" if asked > 1 else "the one step"
    return [f"the reset is {of} that the property counts; {left} the environment's own"]


def _seldom_seen(graph: Graph, snapshot: Snapshot) -> str:
    """Say that what was never seen is taken for impossible, and how many choices of the policy were hardly tried."""
    learner = snapshot.learner
    assert learner is not None
    said = (
        "what was never seen is taken for impossible, since it may cost anything"
        if learner.discovers
        else f"the learner {learner.name} takes what was never seen for impossible"
    )
    if snapshot.counts is None or not snapshot.trajectories:
        return said  # exploration does not count how often it saw something
    taken = _taken(graph, snapshot, _final(graph, snapshot.robust.spec))
    few = int((taken & (np.add.reduceat(snapshot.counts, graph.choice_ptr[:-1]) < FEW)).sum())
    of = f"{few:,} of the {int(taken.sum()):,} choices that the policy takes"
    return f"{said}: {of} {'was' if few == 1 else 'were'} seen fewer than {FEW} times"


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
