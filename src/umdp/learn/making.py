"""Learners from their class and settings by name, as they are typed: what they take, and what is wrong with what was given."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from umdp.errors import ModelError
from umdp.learn.learner import Learner
from umdp.spec.names import suggestion

__all__ = ["make_learner", "settings_of", "shown"]


def settings_of(kind: type[Learner]) -> dict[str, Any]:
    """Return the settings of a class of learners with their defaults; those without one have `inspect.Parameter.empty`.

    Examples
    --------
    >>> from umdp import ConfidenceSequence
    >>> settings_of(ConfidenceSequence)
    {'error_rate': 0.01, 'prior': 0.5}
    """
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {each.name: each.default for each in inspect.signature(kind).parameters.values() if each.kind in named}


def make_learner(kind: type[Learner], settings: Mapping[str, Any] | None = None, name: str | None = None) -> Learner:
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
