"""The state of a run: everything that what it does next depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from umdp.learning.run import LearningRun

__all__ = ["restore", "state_of"]


def state_of(run: LearningRun) -> dict[str, Any]:
    """Return everything a continued run needs."""
    state = {
        "iteration": run.iteration, "trajectories": run.trajectories, "steps": run.steps, "ended": run.ended,
        "since": list(run.since),
        "counts": run.counts.copy(), "pending": run.pending.copy() if run.pending.any() else None,
        "learner": run.learner.state(), "source": run.source.state(),
        "starts": {name: found.copy() for name, found in run._starts.items()},
    }  # fmt: skip
    return state if run.playing is None else {**state, "evidence": run.playing.state()}


def restore(run: LearningRun, state: Mapping[str, Any]) -> None:
    """Go on from a saved state."""
    run.iteration, run.trajectories = int(state["iteration"]), int(state["trajectories"])
    run.steps, run.ended = int(state["steps"]), bool(state["ended"])
    seen, steps = state.get("since", (run.trajectories, run.steps))
    run.since = int(seen), int(steps)
    run.counts = np.array(state["counts"], dtype=np.int64)
    pending = state.get("pending")
    run.pending = np.zeros_like(run.counts) if pending is None else np.array(pending, dtype=np.int64)
    run.learner.restore(state["learner"])
    run.source.restore(state["source"])
    run._starts = {name: np.array(found) for name, found in state["starts"].items()}
    if run.playing is not None:
        run.playing.restore(state["evidence"])
