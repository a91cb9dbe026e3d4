"""How to explore: optimism, uniform or a fixed policy; when an iteration ends."""

from collections.abc import Mapping
from types import MappingProxyType

from umdp.explore.policies import Explorer, Follow, Optimism, Uniform
from umdp.explore.reach import reaches
from umdp.explore.schedule import doubling, least_trajectories
from umdp.explore.view import View

__all__ = [
    "EXPLORERS",
    "Explorer",
    "Follow",
    "Optimism",
    "Uniform",
    "View",
    "doubling",
    "least_trajectories",
    "reaches",
]

EXPLORERS: Mapping[str, type[Explorer]] = MappingProxyType({"optimism": Optimism, "uniform": Uniform})
"""Explorers by the name they have on the command line."""
