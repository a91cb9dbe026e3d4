"""Settings of learners: checked when given, with messages that say what to give instead; learners made from them by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umdp.errors import ModelError
from umdp.model import Graph
from umdp.model.structure import owned
from umdp.spec.names import suggestion

__all__ = [
    "Setting",
    "as_pair",
    "as_rate",
    "as_setting",
    "check",
    "describe",
    "make_learner",
    "place",
    "settings_of",
    "shown",
    "spread",
]

T = TypeVar("T")

Setting = float | NDArray[np.float64]


def as_rate(given: float, name: str = "error_rate") -> float:
    """Return a probability strictly between 0 and 1."""
    rate = as_setting(given, name)
    check(
        isinstance(rate, float) and 0 < rate < 1, f"{name} is {given}; give a probability between 0 and 1, such as 0.01"
    )
    return float(rate)


def as_setting(given: ArrayLike, name: str) -> Setting:
    """Return one number for all transitions, or a read-only array with one number for each."""
    try:
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is {given!r}; give a number, or an array with one per transition") from None
    check(array.ndim <= 1, f"{name} has shape {array.shape}; give a number, or an array with one per transition")
    return float(array) if array.ndim == 0 else owned(array)


def as_pair(given: Any, name: str) -> tuple[Setting, Setting]:
    """Return a pair (lower, upper) of settings that do not cross."""
    try:
        lower, upper = given
    except (TypeError, ValueError):
        raise ModelError(f"{name} is {given!r}; give a pair (lower, upper) of numbers or of arrays") from None
    low, high = as_setting(lower, f"the lower {name}"), as_setting(upper, f"the upper {name}")
    sizes = {np.size(each) for each in (low, high) if isinstance(each, np.ndarray)}
    check(
        len(sizes) <= 1, f"the arrays of {name} have different lengths {sorted(sizes)}; give one entry per transition"
    )
    check(np.less_equal(low, high), f"{name} has a lower end above the upper one; give (lower, upper)")
    return low, high


def check(holds: Any, message: str) -> None:
    """Raise `ModelError` with the message unless something holds everywhere."""
    if not np.all(holds):
        raise ModelError(message)


def spread(setting: Setting, name: str, graph: Graph) -> NDArray[np.float64]:
    """Return a setting as a fresh array over the transitions of a graph, shape (T,)."""
    array = np.array(setting, dtype=np.float64)
    check(
        array.ndim == 0 or array.shape == (graph.transitions,),
        f"{name} has {array.size} entries, but the graph has {graph.transitions} transitions; give one entry for each, "
        "or one number for all",
    )
    return np.full(graph.transitions, setting) if array.ndim == 0 else array


def place(graph: Graph, choice: int) -> str:
    """Return where a choice is, in the words of error messages."""
    return f"state {graph.state_name(int(graph.choice_state[choice]))}, action {graph.action_name(choice)}"


def describe(learner: Any) -> str:
    """Return a learner's settings, which it has as attributes, and what it promises, on one line."""
    kind = type(learner)
    shown = ", ".join(
        f"{name}={_shown(getattr(learner, name))}" for name in settings_of(kind) if hasattr(learner, name)
    )
    return f"{kind.__name__}({shown}): {learner.claim}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if isinstance(value, np.ndarray):
        return f"<{value.size} values>"
    return f"{value:.10g}" if isinstance(value, float) else repr(value)


def settings_of(kind: type) -> dict[str, Any]:
    """Return the settings of a class of learners with their defaults; those without one have `inspect.Parameter.empty`.

    Examples
    --------
    >>> from umdp import ConfidenceSequence
    >>> settings_of(ConfidenceSequence)
    {'error_rate': 0.01, 'prior': 0.5}
    """
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {each.name: each.default for each in inspect.signature(kind).parameters.values() if each.kind in named}


def make_learner(kind: type[T], settings: Mapping[str, Any] | None = None, name: str | None = None) -> T:
    """Return a learner with these settings.

    Parameters
    ----------
    kind : type
    settings : mapping, optional
    name : str, optional
        What it is called in messages; by default, its name on the command line.

    Examples
    --------
    >>> from umdp import MAP
    >>> make_learner(MAP, {"prier": 1})
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: the learner map does not take these settings: there is no prier; it has prior=10 and ...
    """
    given, called = dict(settings or {}), name or getattr(kind, "name", kind.__name__)
    known = settings_of(kind)
    for each in given:
        if each not in known:
            raise ModelError(
                f"the learner {called} does not take these settings: there is no {each}; it has {_listed(known)}"
                f"{suggestion(each, list(known))}"
            )
    missing = [each for each, default in known.items() if default is inspect.Parameter.empty and each not in given]
    if missing:
        raise ModelError(f"the learner {called} has no default for {missing[0]}; give it one: it has {_listed(known)}")
    try:
        return kind(**given)
    except TypeError as error:
        raise ModelError(f"the learner {called} does not take these settings: {error}") from None


def _listed(known: Mapping[str, Any]) -> str:
    """Return settings and their defaults in words."""
    parts = [each if value is inspect.Parameter.empty else f"{each}={shown(value)}" for each, value in known.items()]
    if not parts:
        return "none"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def shown(value: Any) -> str:
    """Return a setting as it is typed.

    Examples
    --------
    >>> shown((5.0, 10.0)), shown(None), shown("mean")
    ('5,10', 'none', 'mean')
    """
    if isinstance(value, tuple | list):
        return ",".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)
