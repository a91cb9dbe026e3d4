"""Properties inside state formulas, and what is known of them once a model has answered them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.spec.expression import Expression

if TYPE_CHECKING:
    from umdp.spec.spec import Spec

__all__ = ["Known", "Nested", "mapped", "nested_in"]


@dataclass(frozen=True, repr=False)
class Nested(Expression):
    """The states in which a property with a threshold holds; a solver answers it before anything else is looked at.

    Examples
    --------
    >>> print(Expression.parse('"up" & P>=0.9 [ F "done" ]'))
    "up" & P>=0.9 [ F "done" ]
    """

    spec: Spec

    def __str__(self) -> str:
        return str(self.spec)


@dataclass(frozen=True, repr=False)
class Known(Expression):
    """The states that a property was found to hold in; printed as the property."""

    text: str
    members: bytes

    @staticmethod
    def of(nested: Nested, members: NDArray[np.bool_]) -> Known:
        """Return what is known of a nested property: the states (S,) in which it holds."""
        return Known(str(nested), np.asarray(members, dtype=np.bool_).tobytes(), location=nested.location)

    @property
    def holds(self) -> NDArray[np.bool_]:
        """The states, shape (S,)."""
        return np.frombuffer(self.members, dtype=np.bool_)

    def __str__(self) -> str:
        return self.text


def nested_in(part: Any) -> Iterator[Nested]:
    """Yield the properties directly inside a formula or an expression, not those inside these."""
    ahead = [part]  # not by recursion: formulas may be nested deeply
    while ahead:
        part = ahead.pop()
        if isinstance(part, Nested):
            yield part
        elif isinstance(part, tuple):
            ahead.extend(reversed(part))
        elif is_dataclass(part) and not isinstance(part, type):
            ahead.extend(getattr(part, each.name) for each in reversed(fields(part)) if each.name != "location")


def mapped(part: Any, change: Callable[[Expression], Expression]) -> Any:
    """Return a formula or an expression in which every expression without parts is what `change` makes of it."""
    if isinstance(part, tuple):
        return tuple(mapped(each, change) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    if isinstance(part, Expression) and not part.children:
        return change(part)
    inner = {
        each.name: mapped(getattr(part, each.name), change)
        for each in fields(part)
        if each.init and each.name != "location"
    }
    new = {name: value for name, value in inner.items() if value is not getattr(part, name)}
    return replace(part, **new) if new else part
