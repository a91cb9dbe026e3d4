"""Named rewards: what is earned or paid in a state, for a choice, on a transition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model.structure import Compaction, frozen, owned

__all__ = ["TERMINATED", "Rewards", "Units"]

TERMINATED = "terminated"  # the label of the states in which episodes end


@dataclass(frozen=True)
class Units:
    """How the value of a reward structure reads in the units of the process: rewards may have been turned or shifted.

    The return is ``sign * value + once - every * steps``.

    Attributes
    ----------
    sign : -1 where costs are rewards turned around
    once : what is paid once, at the end of an episode, besides
    every : what was added to every step
    reward_error : by how much rounding may have changed what a step (with `once`: the last one) is shifted by

    Examples
    --------
    >>> Units(sign=-1, once=20.0)
    Units(sign=-1, once=20.0, every=0.0, reward_error=0.0)
    """

    sign: int = 1
    once: float = 0.0
    every: float = 0.0
    reward_error: float = 0.0


@dataclass(frozen=True, eq=False)
class Rewards:
    """One reward structure; its parts add up.

    A state's reward is collected on every step that leaves the state, a choice's when it is chosen, a
    transition's when it is taken. Transition rewards take part in nature's choice of probabilities.

    Parameters
    ----------
    state : array_like of float, shape (S,), optional
    choice : array_like of float, shape (C,), optional
    transition : array_like of float, shape (T,), optional
    units : Units, optional
        How a value reads in the units of the process, where these are not its rewards as they are.
    averaged : bool
        Whether transitions that paid differently were merged, so that what a single step pays is not known, but on average.

    Examples
    --------
    >>> Rewards(choice=[1, 0, 2]).choice
    array([1., 0., 2.])
    """

    state: NDArray[np.float64] | None = None
    choice: NDArray[np.float64] | None = None
    transition: NDArray[np.float64] | None = None
    units: Units | None = field(default=None, kw_only=True)
    averaged: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for part in ("state", "choice", "transition"):
            given = getattr(self, part)
            if given is not None:
                object.__setattr__(self, part, owned(np.asarray(given, dtype=np.float64)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"units": None, "averaged": False})  # pickles from before there were any
        self.__dict__.update({part: frozen(values) for part, values in state.items()})

    @classmethod
    def of(cls, given: Rewards | Mapping[str, ArrayLike]) -> Rewards:
        """Return `given` as `Rewards`; a mapping has some of the keys state, choice, transition."""
        if isinstance(given, Rewards):
            return given
        unknown = set(given) - {"state", "choice", "transition"}
        if unknown:
            raise ModelError(
                f"rewards are on state, choice or transition, not on {', '.join(sorted(map(str, unknown)))}"
            )
        parts: Mapping[str, Any] = given
        return cls(**parts)

    def check(self, name: str, states: int, choices: int, transitions: int) -> None:
        """Raise `ModelError` unless every part has the right length and holds numbers."""
        for part, size in (("state", states), ("choice", choices), ("transition", transitions)):
            array = getattr(self, part)
            if array is None:
                continue
            if array.shape != (size,):
                raise ModelError(
                    f'reward "{name}" on {part}s has shape {array.shape}, but the model has {size} {part}s'
                )
            if not np.isfinite(array).all():
                where = int(np.flatnonzero(~np.isfinite(array))[0])
                raise ModelError(f'reward "{name}" of {part} {where} is {array[where]}; rewards must be finite')

    def with_transition(self, transition: NDArray[np.float64] | None) -> Rewards:
        """Return the same structure with other rewards on transitions."""
        return replace(self, transition=transition)

    def merged(self, change: Compaction, weights: NDArray[np.float64]) -> Rewards:
        """Return the same structure where transitions were merged: what they pay, on average by their weights."""
        paid, kept = self.transition, change.group >= 0
        if paid is None:
            return self
        differ = (paid[change.first][change.group] != paid)[kept].any()
        return replace(self, transition=change.means(paid, weights), averaged=self.averaged or bool(differ))

    def with_units(self, units: Units | None) -> Rewards:
        """Return the same structure with other units.

        Examples
        --------
        >>> Rewards(choice=[1, 0]).with_units(Units(sign=-1)).units
        Units(sign=-1, once=0.0, every=0.0, reward_error=0.0)
        """
        return replace(self, units=units)
