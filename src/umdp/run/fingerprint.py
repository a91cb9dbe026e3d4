"""What the answer of a run depends on, part by part, so that a change can be named."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from umdp.errors import FormatError
from umdp.learning.loop import LearningRun
from umdp.run.codec import pack
from umdp.run.config import Config
from umdp.run.graph_data import graph_to_data

__all__ = ["compare", "fingerprint"]

PARTS = {
    "structure": "the states, choices and transitions of the model",
    "labels": "the labels of the model",
    "rewards": "the rewards of the model",
    "names": "the names, variables, constants or formulas of the model",
    "process": "the probabilities of the simulated process",
    "property": "the property",
    "learner": "the learner or its settings",
    "exploration": "the exploration",
    "horizon": "the length of trajectories",
    "precision": "the precision",
    "seed": "the seed",
    "code": "the code that is run",
    "log": "how the log is read",
    "per_solve": "the number of trajectories per solve",
    "ends": "where trajectories end",
    "ties": "which choices are tied",
    "evidence": "what candidates play",
}
LATER = ("log", "per_solve", "ends", "ties", "evidence")  # which runs of this format did not have from the beginning
# How the answer reads and is used, not what it is: runs from before they were kept go on.
SHOWN = ("units", "interface", "product")
PLURAL = ("the states", "the labels", "the rewards", "the names", "the probabilities")


def fingerprint(config: Config, run: LearningRun) -> dict[str, str]:
    """Return a digest of every part that the answer of a run depends on.

    Data that is read while the run goes on is not among them: a source keeps a checksum of what it has read in its state.
    """
    graph = graph_to_data(run.source.graph)
    structure = ("state_ptr", "choice_ptr", "successor", "initial")
    stages = getattr(run.source, "stages", ())
    truth = [run.source.truth.probability] if not stages and run.source.truth is not None else []
    parts: dict[str, Any] = {
        "structure": [graph[name] for name in structure],
        "labels": _sorted(graph["labels"]),
        "rewards": _sorted(graph["rewards"]),
        "names": [graph[name] for name in graph if name not in (*structure, "labels", "rewards", *SHOWN)],
        "process": [*(mdp.probability for mdp in stages), *truth, getattr(run.source, "after", 0)],
        "property": str(run.spec),
        "learner": [config.learner, _settings(config.build_learner())],
        "exploration": [config.explore, _settings(run.explorer)],
        "horizon": run.horizon,
        "precision": run.precision,
        "seed": run.seed,
        "per_solve": run.per_solve,
        "ends": run.halt,
        "ties": run.learner.structure(),
        "evidence": None if run.evidence is None else _settings(run.evidence),
        "code": _sorted(config.plugins),
        "log": [
            config.read_from, config.on_error, config.data.graph, config.data.initial, config.data.terminal,
            _sorted(config.data.columns), _sorted(config.data.labels),
            _sorted({name: str(given) for name, given in config.data.rewards.items()}),
        ],
    }  # fmt: skip
    return {name: hashlib.sha256(pack(value)).hexdigest()[:32] for name, value in parts.items()}


def compare(found: Mapping[str, str], now: Mapping[str, str], path: object) -> None:
    """Raise `FormatError` that says what has changed since a run began, if anything has."""
    asked = (name for name in now if name in found or name not in LATER)
    changed = [PARTS.get(name, name) for name in asked if found.get(name) != now[name]]
    if changed:
        verb = "have" if len(changed) > 1 or changed[0].startswith(PLURAL) else "has"
        said = ", ".join(changed[:-1]) + (" and " if len(changed) > 1 else "") + changed[-1]
        raise FormatError(
            f"what this run depends on has changed since it began: {said} {verb} changed; bring back what was there, or start "
            "a new run",
            path=path,
        )


def _sorted(mapping: Mapping[str, Any]) -> list[Any]:
    return [[name, mapping[name]] for name in sorted(mapping)]


def _settings(thing: Any) -> list[Any]:
    """Return the settings of a learner or explorer: numbers and texts among its attributes."""
    return [type(thing).__name__, *([name, _plain(value)] for name, value in sorted(vars(thing).items()))]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return type(value).__name__
