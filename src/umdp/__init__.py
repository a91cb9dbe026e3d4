"""Certified robust model checking and anytime learning of uncertain Markov decision processes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from umdp import benchmark
from umdp.analysis.calibration import calibrate
from umdp.analysis.coverage import Calibration
from umdp.analysis.monte_carlo import MonteCarloBound, certify
from umdp.analysis.simulation import Simulation, simulate
from umdp.errors import FormatError, InfeasibleChoice, MissingExtra, ModelError, SpecError, UmdpError
from umdp.learn import LUI, MAP, PAC, UCRL2, ClopperPearson, ConfidenceSequence, Guarantee, Learner, RestartingSequence
from umdp.learn.parametric_learner import Parametric
from umdp.learn.tied import Tied
from umdp.learning import anytime
from umdp.learning.candidates import CandidateEvaluation, GuaranteedBound
from umdp.learning.snapshot import Snapshot
from umdp.model import MDP, Graph, IntervalMDP, Policy, Rewards
from umdp.model.tying import Tying
from umdp.parametric.model import ParametricMDP
from umdp.solver import Bracket, Prepared, Solution, Statistics, Status, evaluate, prepare, solve
from umdp.source.simulator import switch
from umdp.spec import Spec

if TYPE_CHECKING:
    from umdp import explore, io, learn, plot, source, verify
    from umdp.analysis.explainer import explain
    from umdp.io import read_parametric
    from umdp.run import open_run as open

__version__ = "0.1.0"


__all__ = [
    "LUI",
    "MAP",
    "MDP",
    "PAC",
    "UCRL2",
    "Bracket",
    "Calibration",
    "CandidateEvaluation",
    "ClopperPearson",
    "ConfidenceSequence",
    "FormatError",
    "Graph",
    "Guarantee",
    "GuaranteedBound",
    "InfeasibleChoice",
    "IntervalMDP",
    "Learner",
    "MissingExtra",
    "ModelError",
    "MonteCarloBound",
    "Parametric",
    "ParametricMDP",
    "Policy",
    "Prepared",
    "RestartingSequence",
    "Rewards",
    "Simulation",
    "Snapshot",
    "Solution",
    "Spec",
    "SpecError",
    "Statistics",
    "Status",
    "Tied",
    "Tying",
    "UmdpError",
    "anytime",
    "benchmark",
    "calibrate",
    "certify",
    "evaluate",
    "explain",
    "explore",
    "io",
    "learn",
    "open",
    "plot",
    "prepare",
    "read_parametric",
    "simulate",
    "solve",
    "source",
    "switch",
    "verify",
]

# What is there after `import umdp`, and is imported when it is asked for: importing must stay cheap.
_MODULES = frozenset({"explore", "io", "learn", "plot", "source", "verify"})
_FUNCTIONS = {
    "explain": ("analysis.explainer", "explain"),
    "open": ("run", "open_run"),
    "read_parametric": ("io", "read_parametric"),
}
# Names of before, which go on working for a while.
_RENAMED = {"DirectEvidence": "CandidateEvaluation", "Promise": "MonteCarloBound", "Promised": "GuaranteedBound"}


if not TYPE_CHECKING:  # so that a name that is not here is still an error for a type checker

    def __getattr__(name: str) -> Any:
        if name in _RENAMED:
            import warnings

            warnings.warn(f"umdp.{name} is now umdp.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
            return globals()[_RENAMED[name]]
        if name in _FUNCTIONS:
            module, function = _FUNCTIONS[name]
            return getattr(import_module(f"{__name__}.{module}"), function)
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
