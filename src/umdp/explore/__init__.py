"""How to explore: optimism, towards the gap, posterior sampling, uniform or a fixed policy; when an iteration ends."""

from collections.abc import Mapping
from types import MappingProxyType

from umdp.errors import ModelError
from umdp.explore.gap import Gap
from umdp.explore.policies import Explorer, Follow, Optimism, Uniform, doubling, least_trajectories, reaches
from umdp.explore.posterior import Posterior
from umdp.explore.view import ValueEstimate, ValueEstimates, View
from umdp.spec.names import listed, suggestion

__all__ = [
    "EXPLORERS",
    "Explorer",
    "Follow",
    "Gap",
    "Optimism",
    "Posterior",
    "Uniform",
    "ValueEstimate",
    "ValueEstimates",
    "View",
    "as_explorer",
    "doubling",
    "least_trajectories",
    "reaches",
]

EXPLORERS: Mapping[str, type[Explorer]] = MappingProxyType(
    {"optimism": Optimism, "uniform": Uniform, "gap": Gap, "posterior": Posterior}
)
"""Explorers by the name they have on the command line."""


def as_explorer(given: Explorer | type[Explorer] | str | None) -> Explorer:
    """Return an explorer; a class or a name stands for the one with its default settings, None for optimism.

    Examples
    --------
    >>> as_explorer("uniform"), as_explorer(None)
    (Uniform(), Optimism(xi=1.0, spread=None))
    """
    if given is None:
        return Optimism()
    if isinstance(given, Explorer):
        return given
    if isinstance(given, str) and given not in EXPLORERS:
        known = list(EXPLORERS)
        raise ModelError(
            f"there is no way to explore called {given!r}; there are {listed(known)}{suggestion(given, known)}"
        )
    kind = EXPLORERS[given] if isinstance(given, str) else given
    if not (isinstance(kind, type) and issubclass(kind, Explorer)):
        raise ModelError(f"{given!r} is not an explorer; give one such as umdp.explore.Uniform(), or its name")
    try:
        return kind()
    except TypeError as error:
        raise ModelError(
            f"{kind.__name__} cannot be made without arguments ({error}); make one and give that"
        ) from None
