"""`explain`: from a model, a snapshot or a run to what holds its promise back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from umdp.analysis.error_ledger import Ledger, ledger_of
from umdp.analysis.explanation import Explained, Explanation, explained
from umdp.errors import FormatError, ModelError, UmdpError
from umdp.learn import Learner
from umdp.learning.behaviour import SHARE, is_told
from umdp.learning.candidates.evaluation_settings import divide, set_aside
from umdp.learning.snapshot import Snapshot
from umdp.learning.validation import check_until, readings, threshold
from umdp.model import IntervalMDP
from umdp.run import OpenedRun, Store, format_of, open_run
from umdp.run.trust import foreign
from umdp.solver import relevant
from umdp.spec import Spec, Threshold
from umdp.statements.text import safe_bound

__all__ = ["explain", "ledger"]

DIGITS = 4  # shown of a bound
Explainable = IntervalMDP | Snapshot | OpenedRun | str | Path


def explain(
    what: Explainable, spec: Spec | str | None = None, *, target: Threshold | str | None = None, top: int = 10
) -> Explanation:
    """Return what holds a promise back: transitions, choices and classes, ranked, and how much more a target would take.

    Parameters
    ----------
    what : IntervalMDP, Snapshot, run or path
        A model that was learned, or any other with intervals; a path is that of a run or of a model's file.
    spec : Spec or str, optional
        The property, for a model: with nature, such as ``Pmaxmin=? [ F "goal" ]``. A snapshot or a run has its own.
    target : Threshold or str, optional
        Such as ``">=0.3"``: how much more would have to be seen for it is estimated. By default what a run was to reach.
    top : int
        How many of each are listed.
    """
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise ModelError(f"top must be a whole number, at least 1, not {top}")
    about = _subject(what, spec)
    wanted = threshold(target) if isinstance(target, str) else target
    if wanted is not None:
        if about.counts is None:
            raise ModelError(
                "how much more a target would take can be said of what was learned: give a run, or a snapshot"
            )
        check_until(about.spec, wanted, "target")
    return explained(about, wanted or about.until, top)


def ledger(what: Snapshot | OpenedRun | Learner | str | Path) -> Ledger:
    """Return how the error rate of a snapshot, a run or a learner is spent: on which bounds, and what they sum to."""
    played = None
    if isinstance(what, Learner):
        learner: Learner | None = what
    elif isinstance(what, Snapshot):
        learner = what.learner
        if what.evidence is not None and what.evidence.rate > 0:
            played = what.evidence.rate, what.evidence.spent
    else:
        run = open_run(what) if isinstance(what, str | Path) else what
        learner, played = _subject(run, None).learner, _played(run)
    if learner is None:
        raise ModelError(
            "the learner of this run is code from elsewhere, which is not executed here; ask it for its ledger() in Python"
        )
    tying = getattr(learner, "tying", None)
    return ledger_of(learner.ledger(), learner.graph, None if tying is None else tying.names, played)


def _subject(what: Explainable, spec: Spec | str | None) -> Explained:
    asked = Spec.parse(spec) if isinstance(spec, str) else spec
    if isinstance(what, str | Path):
        path = Path(what)
        if format_of(path) is not None:
            what = open_run(path)
        else:
            from umdp.io import read

            found = read(path)
            if not isinstance(found, IntervalMDP):
                raise FormatError("this model has no intervals, so that nothing holds its value back", path=path)
            what = found
    if isinstance(what, IntervalMDP):
        if asked is None:
            raise ModelError("say which promise: a property such as 'Pmaxmin=? [ F \"goal\" ]' after the model")
        return Explained(what, asked)
    if asked is not None:
        raise ModelError("a run has its own property; leave out this one, or give its model, run.model")
    if isinstance(what, Snapshot):
        return Explained(
            what.model, what.robust.spec, what.counts, what.trajectories, what.learner, what.robust, guarantee=what.guarantee,
            played=_said(None if what.promise is None else what.promise.as_dict()),
        )  # fmt: skip
    if not isinstance(what, OpenedRun):
        raise ModelError(f"{what!r} cannot be explained; give an interval MDP, a snapshot, a run or its path")
    return _run(what)


def _run(run: OpenedRun) -> Explained:
    reading = readings(run.spec, run.graph)[0]
    until = threshold(run.config.until) if run.config.until is not None else run.spec.threshold
    learner = _learner(run, reading)
    return Explained(
        run.model, reading.robust(), run.counts, run.trajectories, learner, until=until, guarantee=run.guarantee,
        played=_said(run.last.get("promise")),
    )  # fmt: skip


def _said(promise: Any) -> str | None:
    """Return what is promised by playing a policy, rounded to the safe side, where that is the answer of a run."""
    if not isinstance(promise, dict) or promise.get("by") != "evidence":
        return None
    safe = safe_bound(promise["bound"], DIGITS, at_least=promise["side"] == "at least")
    return f"{promise['side']} {safe:.6g} {promise['text']}"


def _played(run: OpenedRun) -> tuple[float, tuple[float, ...]] | None:
    """Return what bounds from playing policies may spend, and the level of each policy; None without evidence."""
    config = run.config
    evidence = config.build_evidence()
    if evidence is None or foreign(config):
        return None
    budget = divide(config.build_learner(), evidence)[1]
    with Store.open(run.path) as store:
        state = store.state() or {}
    found = (state.get("evidence") or {}).get("candidates", ())
    return budget.rate, tuple(float(each["level"]) for each in found)


def _learner(run: OpenedRun, reading: Spec) -> Learner | None:
    """Return the learner of a run as it was; None where it is code from elsewhere, which is not executed."""
    config = run.config
    if foreign(config):
        return None
    with Store.open(run.path) as store:
        state = store.state()
    if state is None:
        return None
    kept = dict(state["learner"])
    matters = relevant(run.graph, reading).choices
    made, evidence = None, config.build_evidence()
    for graph_known in (False, True) if config.tie is None else ():
        try:
            learner = config.build_learner()
            fresh = learner if evidence is None else divide(learner, evidence)[0]
            if config.behaviour and not config.remembers and is_told(reading) and fresh.claim.holds:
                less = set_aside(fresh, SHARE)
                fresh = fresh if less is None else less[0]
            made = fresh.bind(run.graph, matters, graph_known=graph_known).restore(kept)
            break
        except UmdpError:
            continue
    if made is None:
        try:  # choices that are tied are known where the run is made
            data = msgspec.structs.replace(config.data, aside=None)  # explaining writes nothing
            made = msgspec.structs.replace(config, data=data).build().learner.restore(kept)
        except UmdpError:
            return None
    pending = state.get("pending")
    if pending is not None:
        made.update(np.array(pending, dtype=np.int64))
    return made
