"""Following the trajectories of a log, and counting those that satisfied a property."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["COUNT", "HELD", "UNDECIDED", "Flow", "account"]

Array = NDArray[Any]
OPEN, STEP, COUNT, HELD, UNDECIDED = range(5)
UNKNOWN = 2


class Flow(NamedTuple):
    """What is asked of trajectories, and where transitions lead.

    Attributes
    ----------
    source, successor : (T,) the states in which a transition begins and ends
    goal, through : (S,) what is to be reached, through which states
    stays : (S,) states that are never left, of which that is known
    lost : (S,) where a step leads of which nobody knows where it led
    initial : where a trajectory must begin
    steps, wait : steps after which nothing counts any more, and before which nothing does
    exact : whether only the last step counts
    safety : whether the goal is to be avoided
    anywhere : whether trajectories begin in different states, to each of which a first step leads
    """

    source: Array
    successor: Array
    goal: Array
    through: Array
    stays: Array
    lost: Array
    initial: int
    steps: int
    wait: int
    exact: bool
    safety: bool
    anywhere: bool


@kernel(allocates=False)
def verdict(s: int, step: int, flow: Flow) -> int:
    """Return whether a trajectory that is in a state after so many steps satisfies what is asked; -1 while that is open."""
    over, at = step >= flow.steps, step
    if flow.stays[s] and not over:
        over, at = True, max(step, flow.wait) if flow.through[s] else step
    if not (over or flow.exact):
        over = not flow.through[s] or (step >= flow.wait and flow.goal[s])
    return int((flow.goal[s] and at >= flow.wait) != flow.safety) if over else -1


@kernel(allocates=False)
def account(transition: Array, begins: Array, flow: Flow, alone: bool, seen: Array) -> None:
    """Count what rows decide, in order; `seen` has whether a trajectory is open, its steps, and what came of those before.

    With `alone`, a trajectory counts once, where it begins; otherwise also its pieces from later visits of the initial state.
    """
    for i in range(transition.size):
        t, found = transition[i], -1
        if seen[OPEN] and (begins[i] or t < 0):  # nobody will know how it went on
            close(UNKNOWN, seen)
        if t < 0:
            continue
        if not seen[OPEN]:
            if not (begins[i] or not alone) or not (flow.anywhere or flow.source[t] == flow.initial):
                continue
            seen[OPEN], seen[STEP] = 1, int(flow.anywhere)
            found = verdict(flow.source[t], seen[STEP], flow)
        if found < 0:
            seen[STEP] += 1
            found = UNKNOWN if flow.lost[flow.successor[t]] else verdict(flow.successor[t], seen[STEP], flow)
        if found >= 0:
            close(found, seen)


@kernel(allocates=False)
def close(found: int, seen: Array) -> None:
    """Count a trajectory that satisfied what is asked (1), did not (0), or of which nobody knows (2)."""
    seen[OPEN] = 0
    seen[COUNT] += 1
    seen[HELD] += found == 1
    seen[UNDECIDED] += found == UNKNOWN
