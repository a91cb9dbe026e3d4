"""Ways to build a model: sparse matrices, a Python function, a Gymnasium table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model.rewards import Rewards
from umdp.model.structure import owner

if TYPE_CHECKING:
    from scipy.sparse import spmatrix

__all__ = ["Builders", "IntervalBuilders"]

Outcomes = Mapping[Hashable, Any] | Iterable[tuple[Hashable, Any]]
Actions = Mapping[Any, Outcomes] | Iterable[tuple[Any, Outcomes]]


class Builders:
    """Constructors of `MDP` besides the one from arrays."""

    @classmethod
    def from_matrix(cls, probability: spmatrix, state_ptr: Sequence[int] | None = None, **annotations: Any) -> Self:
        """Build from a sparse matrix with one row per choice and one column per state.

        Without `state_ptr` every state has one choice (a Markov chain).
        """
        (matrix,), pointers = _csr([probability], state_ptr)
        return cls(*pointers, matrix.indices, matrix.data, **annotations)  # type: ignore[call-arg]

    @classmethod
    def from_function(cls, initial: Hashable, actions: Callable[[Any], Actions], **annotations: Any) -> Self:
        """Explore breadth-first from `initial`; `actions(state)` maps each action to {successor: probability}.

        `labels` may map names to functions of a state, and `rewards` names to functions of a state (on states) or of a
        state and an action (on choices).

        Examples
        --------
        >>> from umdp import MDP
        >>> step = lambda x: {"go": {min(x + 1, 3): 0.5, 0: 0.5}}
        >>> walk = MDP.from_function(0, step, labels={"end": lambda x: x == 3})
        >>> walk
        MDP with 4 states, 4 choices, 8 transitions; initial state 0; labels "end"
        """
        arrays, extra = _explore(initial, actions, annotations)
        probability = np.array([float(p) for p in arrays.pop("outcome")])
        return cls(**arrays, **extra, **{"probability": probability})

    @classmethod
    def from_gymnasium(cls, table: Mapping[int, Mapping[int, Sequence[Any]]], *, initial: int = 0, **more: Any) -> Self:
        """Build from a Gymnasium table ``P[state][action] = [(probability, successor, reward, terminated), ...]``.

        Labels: `terminated`, `goal` (terminated with positive reward) and `fail` (terminated without). Rewards that
        are never negative become the structure `reward`, rewards that are never positive the structure `cost` (with
        its sign turned); those of both signs are shifted, and `units` of the structure says by what. Terminated states
        stay where they are.
        """
        from umdp.model.gymnasium_table import read_table

        return cls(**read_table(table, initial, more)[0])


class IntervalBuilders:
    """Constructors of `IntervalMDP` besides the one from arrays."""

    @classmethod
    def from_matrices(
        cls, lower: spmatrix, upper: spmatrix, state_ptr: Sequence[int] | None = None, **annotations: Any
    ) -> Self:
        """Build from two sparse matrices with one row per choice and one column per state.

        A transition is listed wherever `upper` is positive; where `lower` has no entry its bound is 0. Without
        `state_ptr` every state has one choice.
        """
        (high, low), pointers = _csr([upper, lower], state_ptr)
        keys, low_keys = (owner(each.indptr) * each.shape[1] + each.indices for each in (high, low))
        place = np.minimum(np.searchsorted(keys, low_keys), max(keys.size - 1, 0))
        missing = np.flatnonzero((keys[place] != low_keys) & (low.data > 0)) if keys.size else np.arange(low_keys.size)
        if missing.size:
            row, column = divmod(int(low_keys[missing[0]]), low.shape[1])
            raise ModelError(f"row {row}, column {column}: a lower bound is given but no upper bound")
        bounds = np.zeros(high.data.size)
        matched = keys[place] == low_keys
        bounds[place[matched]] = low.data[matched]
        return cls(*pointers, high.indices, bounds, high.data, **annotations)  # type: ignore[call-arg]

    @classmethod
    def from_function(cls, initial: Hashable, actions: Callable[[Any], Actions], **annotations: Any) -> Self:
        """Explore breadth-first; `actions(state)` maps each action to {successor: (lower, upper)} or a probability."""
        arrays, extra = _explore(initial, actions, annotations)
        bounds = [p if isinstance(p, tuple) else (p, p) for p in arrays.pop("outcome")]
        lower, upper = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        return cls(**arrays, **extra, **{"lower": lower, "upper": upper})


def _csr(matrices: list[Any], state_ptr: Sequence[int] | None) -> tuple[list[Any], tuple[Any, Any]]:
    from scipy.sparse import csr_array

    converted = []
    for matrix in matrices:
        csr = csr_array(matrix)
        csr.sum_duplicates()
        converted.append(csr)
    first = converted[0]
    if any(m.shape != first.shape for m in converted):
        raise ModelError(f"the matrices have different shapes: {', '.join(str(m.shape) for m in converted)}")
    ptr = np.arange(first.shape[0] + 1) if state_ptr is None else np.asarray(state_ptr)
    if ptr.size - 1 != first.shape[1]:
        raise ModelError(f"{first.shape[1]} columns but {ptr.size - 1} states; state_ptr says which rows a state owns")
    return converted, (ptr, first.indptr.astype(np.int64))


def _explore(
    initial: Hashable, actions: Callable[[Any], Actions], annotations: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    index: dict[Hashable, int] = {initial: 0}
    queue: deque[Hashable] = deque([initial])
    state_ptr, choice_ptr = [0], [0]
    successor: list[int] = []
    outcome: list[Any] = []
    names: list[Any] = []
    while queue:
        state = queue.popleft()
        listed = actions(state)
        pairs = list(listed.items() if isinstance(listed, Mapping) else listed)
        if not pairs:
            raise ModelError(f"state {state!r} has no actions; give it one that stays there")
        for action, outcomes in pairs:
            names.append(action)
            for target, value in outcomes.items() if isinstance(outcomes, Mapping) else outcomes:
                if target not in index:
                    index[target] = len(index)
                    queue.append(target)
                successor.append(index[target])
                outcome.append(value)
            choice_ptr.append(len(successor))
        state_ptr.append(len(names))
    reached = list(index)
    arrays: dict[str, Any] = {
        "state_ptr": np.array(state_ptr),
        "choice_ptr": np.array(choice_ptr),
        "successor": np.array(successor, dtype=np.int32),
        "outcome": outcome,
    }
    extra = dict(annotations)
    extra.setdefault("state_names", [str(state) for state in reached])
    extra.setdefault("actions", [str(name) for name in names])
    owners = np.repeat(np.arange(len(reached)), np.diff(state_ptr))
    extra["labels"] = {n: _members(f, reached) for n, f in extra.get("labels", {}).items()}
    extra["rewards"] = {n: _reward(f, reached, names, owners) for n, f in extra.get("rewards", {}).items()}
    return arrays, extra


def _members(given: Any, reached: list[Hashable]) -> NDArray[np.bool_]:
    if callable(given):
        return np.array([bool(given(state)) for state in reached], dtype=np.bool_)
    wanted = set(given)
    return np.array([state in wanted for state in reached], dtype=np.bool_)


def _reward(given: Any, reached: list[Hashable], names: list[Any], owners: NDArray[np.int64]) -> Any:
    if not callable(given):
        return given
    if getattr(getattr(given, "__code__", None), "co_argcount", 1) >= 2:
        return Rewards(
            choice=np.array([float(given(reached[s], a)) for s, a in zip(owners, names, strict=True)], dtype=np.float64)
        )
    return Rewards(state=np.array([float(given(state)) for state in reached], dtype=np.float64))
