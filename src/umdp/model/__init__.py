"""Models as arrays: what is known (Graph), with probabilities (MDP), with intervals (IntervalMDP), and policies."""

from umdp.model.graph import REST, Graph
from umdp.model.interval import IntervalMDP
from umdp.model.mdp import MDP
from umdp.model.policy import Policy
from umdp.model.rewards import Rewards, Units

__all__ = ["MDP", "REST", "Graph", "IntervalMDP", "Policy", "Rewards", "Units"]
