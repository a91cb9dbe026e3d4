"""Certified robust model checking and anytime learning of uncertain Markov decision processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umdp import benchmark
from umdp.anytime import anytime
from umdp.errors import FormatError, InfeasibleChoice, MissingExtra, ModelError, SpecError, UmdpError
from umdp.learn import LUI, MAP, PAC, UCRL2, ClopperPearson, ConfidenceSequence, Guarantee, Learner
from umdp.model import MDP, Graph, IntervalMDP, Policy, Rewards
from umdp.simulation import Simulation, simulate
from umdp.snapshot import Snapshot
from umdp.solver import Bracket, Solution, Statistics, Status, evaluate, solve
from umdp.source.simulator import switch
from umdp.spec import Spec

if TYPE_CHECKING:
    from pathlib import Path

    from umdp.run import OpenedRun

__version__ = "0.1.0"


def open(path: str | Path) -> OpenedRun:
    """Open a run to look at it, also while it is going on: its rows, model, policy and promise. Nothing in it is executed.

    Parameters
    ----------
    path : str or path
        A file written by ``umdp learn --out``.
    """
    from umdp.run import open_run

    return open_run(path)


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
    "Simulation",
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
    "open",
    "simulate",
    "solve",
    "switch",
]
