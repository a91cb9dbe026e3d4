"""Where trajectories come from: simulators, environments, logs, streams."""

from umdp.source.base import Batch, Order, Source

__all__ = ["Batch", "Order", "Source"]
