"""Certified robust model checking and anytime learning of uncertain Markov decision processes."""

from umdp import benchmark
from umdp.anytime import anytime
from umdp.errors import FormatError, InfeasibleChoice, MissingExtra, ModelError, SpecError, UmdpError
from umdp.learn import LUI, MAP, PAC, UCRL2, ClopperPearson, ConfidenceSequence, Guarantee, Learner
from umdp.model import MDP, Graph, IntervalMDP, Policy, Rewards
from umdp.snapshot import Snapshot
from umdp.solver import Bracket, Solution, Statistics, Status, evaluate, solve
from umdp.source.simulator import switch
from umdp.spec import Spec

__version__ = "0.1.0"

__all__ = [
    "LUI",
    "MAP",
    "MDP",
    "PAC",
    "UCRL2",
    "Bracket",
    "ClopperPearson",
    "ConfidenceSequence",
    "FormatError",
    "Graph",
    "Guarantee",
    "InfeasibleChoice",
    "IntervalMDP",
    "Learner",
    "MissingExtra",
    "ModelError",
    "Policy",
    "Rewards",
    "Snapshot",
    "Solution",
    "Spec",
    "SpecError",
    "Statistics",
    "Status",
    "UmdpError",
    "anytime",
    "benchmark",
    "evaluate",
    "solve",
    "switch",
]
