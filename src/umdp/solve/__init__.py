"""Solving: certified brackets for interval MDPs, MDPs and Markov chains."""

from umdp.solve.result import Bracket, Solution, Statistics, Status
from umdp.solve.solver import evaluate, solve

__all__ = ["Bracket", "Solution", "Statistics", "Status", "evaluate", "solve"]
