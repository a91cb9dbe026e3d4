"""Certified robust model checking and anytime learning of uncertain Markov decision processes."""

from umdp.errors import FormatError, InfeasibleChoice, MissingExtra, ModelError, SpecError, UmdpError
from umdp.model import MDP, Graph, IntervalMDP, Policy, Rewards
from umdp.solve import Bracket, Solution, Statistics, Status, evaluate, solve
from umdp.spec import Spec

__version__ = "0.1.0"

__all__ = [
    "MDP",
    "Bracket",
    "FormatError",
    "Graph",
    "InfeasibleChoice",
    "IntervalMDP",
    "MissingExtra",
    "ModelError",
    "Policy",
    "Rewards",
    "Solution",
    "Spec",
    "SpecError",
    "Statistics",
    "Status",
    "UmdpError",
    "evaluate",
    "solve",
]
