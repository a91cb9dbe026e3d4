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
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from umdp import explore, io, learn, plot, source, verify
    from umdp.analysis.explanation import Explanation
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


def read_parametric(
    path: str | Path,
    unknown: str | Iterable[str] | Mapping[str, tuple[float, float]],
    constants: str | Mapping[str, int | float | bool] = "",
) -> ParametricMDP:
    """Return the model of a program some of whose constants are unknown; see `umdp.io.read_parametric`."""
    from umdp import io

    return io.read_parametric(path, unknown, constants)


def explain(
    what: IntervalMDP | Snapshot | OpenedRun | str | Path,
    spec: Spec | str | None = None,
    *,
    target: str | None = None,
    top: int = 10,
) -> Explanation:
    """Return what holds a promise back: transitions, choices and classes, ranked, and how much more a target would take.

    Parameters
    ----------
    what : IntervalMDP, Snapshot, run or path
        A model that was learned, or any other with intervals; a path is that of a run or of a model's file.
    spec : Spec or str, optional
        The property, for a model: with nature, such as ``Pmaxmin=? [ F "goal" ]``. A snapshot or a run has its own.
    target : str, optional
        Such as ``">=0.3"``: how much more would have to be seen for it is estimated. By default what a run was to reach.
    top : int
        How many of each are listed.
    """
    found: Explanation = import_module(f"{__name__}.analysis.explainer").explain(what, spec, target=target, top=top)
    return found


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

# Modules that are there after `import umdp`, and are imported when they are asked for: importing must stay cheap.
_MODULES = frozenset({"explore", "io", "learn", "plot", "source", "verify"})
# Names of before, which go on working for a while.
_RENAMED = {"DirectEvidence": "CandidateEvaluation", "Promise": "MonteCarloBound", "Promised": "GuaranteedBound"}


if not TYPE_CHECKING:  # so that a name that is not here is still an error for a type checker

    def __getattr__(name: str) -> Any:
        if name in _RENAMED:
            import warnings

            warnings.warn(f"umdp.{name} is now umdp.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
            return globals()[_RENAMED[name]]
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
