"""Checkpoints: the state of a run and of its source as plain data, from which it goes on as if it had not been interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from umdp.learning.state import LearningState
from umdp.source import Source

__all__ = ["checkpoint", "restored"]


def checkpoint(state: LearningState, source: Source) -> dict[str, Any]:
    """Return everything a continued run needs: numbers, lists, arrays and dictionaries of them."""
    return {**state.as_data(), "source": source.state()}


def restored(state: LearningState, source: Source, saved: Mapping[str, Any]) -> LearningState:
    """Return the state that a checkpoint holds, and bring the source to where it was; `state` is one of the same run."""
    trajectories, steps = int(saved["trajectories"]), int(saved["steps"])
    since = saved.get("since", (trajectories, steps))
    counts = np.array(saved["counts"], dtype=np.int64)
    pending = saved.get("pending")
    state = state.copy()
    state.learner.restore(saved["learner"])
    source.restore(saved["source"])
    if state.candidates is not None:
        state.candidates.restore(saved["evidence"])
    return LearningState(
        state.learner, counts, np.zeros_like(counts) if pending is None else np.array(pending, dtype=np.int64),
        int(saved["iteration"]), trajectories, steps, (int(since[0]), int(since[1])), bool(saved["ended"]),
        {name: np.array(found) for name, found in saved["starts"].items()}, state.candidates,
    )  # fmt: skip
