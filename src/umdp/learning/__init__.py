"""Anytime learning: a robust policy and its guarantee after every iteration, whenever it is stopped."""

from umdp.learning.anytime_learning import anytime

__all__ = ["anytime"]
