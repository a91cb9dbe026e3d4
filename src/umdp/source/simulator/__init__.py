"""The simulator: trajectories of an MDP that is known, drawn in compiled code."""

from umdp.source.simulator.simulator import Simulator, switch

__all__ = ["Simulator", "switch"]
