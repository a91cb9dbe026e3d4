"""How to explore: optimism, uniform or a fixed policy; when an iteration ends."""

from umdp.explore.policies import Explorer, Follow, Optimism, Uniform
from umdp.explore.schedule import doubling

__all__ = ["Explorer", "Follow", "Optimism", "Uniform", "doubling"]
