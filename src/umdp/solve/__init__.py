"""Solving: certified brackets for interval MDPs, MDPs and Markov chains."""

from umdp.solve.relevant import Relevant, relevant
from umdp.solve.result import Bracket, Solution, Statistics, Status
from umdp.solve.solver import evaluate, propose, solve

__all__ = ["Bracket", "Relevant", "Solution", "Statistics", "Status", "evaluate", "propose", "relevant", "solve"]
