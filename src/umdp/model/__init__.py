"""Models as arrays: what is known (Graph), with probabilities (MDP), with intervals (IntervalMDP), and policies."""

from umdp.model.policy import Policy
from umdp.model.process import MDP, REST, Graph, IntervalMDP
from umdp.model.rewards import Rewards, Units

__all__ = ["MDP", "REST", "Graph", "IntervalMDP", "Policy", "Rewards", "Units"]
