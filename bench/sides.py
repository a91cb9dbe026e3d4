"""The two sides of a comparison, each run in a process of its own that reads the model from a UMB file."""

from __future__ import annotations

import copy
import math
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from umdp import Spec

__all__ = ["AGAIN", "run_storm", "run_umdp", "storm_environment", "storm_question", "storm_value"]

AGAIN = 1.0  # seconds a case may have taken so far for it to be run once more


def _best(repeat: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest of up to `repeat` times, with the last answer; long runs are not repeated."""
    best, spent, answer = math.inf, 0.0, None
    for _ in range(max(repeat, 1)):
        begun = time.perf_counter()
        answer = run()
        seconds = time.perf_counter() - begun
        best, spent = min(best, seconds), spent + seconds
        if spent > AGAIN:
            break
    return best, answer


def _peak() -> float:
    """Return the most memory this process has held, in MB: interpreter, libraries, reading the model, solving."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def run_umdp(pipe: Connection, file: str, asked: str, precision: float, repeat: int) -> None:
    """Solve with this package; send "ready", then the result."""
    try:
        from umdp import kernel

        kernel.COMPILED = 0.0  # what is measured is compiled code, however seldom a kernel is called
        import umdp
        import umdp.io

        model = umdp.io.read(file)
        _warm_up(isinstance(model, umdp.IntervalMDP), asked)
        pipe.send({"ready": True})
        spec = Spec.parse(asked)
        # A copy of the model as it was read: nothing computed in one run helps the next.
        seconds, solution = _best(repeat, lambda: umdp.solve(copy.copy(model), spec, precision=precision))
        bracket = solution.bracket
        pipe.send(
            {
                "seconds": seconds, "lower": bracket.lower, "upper": bracket.upper, "status": solution.status.name,
                "memory": _peak(), "components": solution.statistics.components,
                "largest": solution.statistics.largest, "iterations": solution.statistics.iterations,
            }
        )  # fmt: skip
    except Exception as error:
        pipe.send({"error": f"{type(error).__name__}: {error}"})


def _warm_up(interval: bool, asked: str) -> None:
    """Load or compile the kernels on two small models: one component, and many."""
    import umdp
    from bench import arrays

    spec = Spec.parse(asked)
    head = asked[: asked.index("[")].replace(f'"{spec.reward}"', '"cost"')
    for model in (arrays.random_sparse(20_000), arrays.clusters(2_000)):
        question = f'{head}[ F "{"goal" if spec.kind == "P" else "end"}" ]'
        umdp.solve(model.with_intervals(0.02, floor=1e-3) if interval else model, question, time_limit=5.0)


def run_storm(pipe: Connection, file: str, asked: str, precision: float, repeat: int) -> None:
    """Check with Storm: by its plain methods, and on models without intervals by its sound ones too."""
    try:
        import stormpy

        level = stormpy.developer.LogLevel.OFF
        stormpy.developer.set_log_level(level)
        model = stormpy.build_model_from_umb(file)
        question, options = storm_question(asked)
        pipe.send({"ready": True})
        for sound in (False, True) if not options else (False,):
            environment = storm_environment(sound, precision)
            try:
                seconds, value = _best(repeat, partial(storm_value, model, question, environment, options))
                pipe.send({"seconds": seconds, "value": value, "memory": _peak()})
            except Exception as error:
                pipe.send({"error": f"{type(error).__name__}: {error}"})
    except Exception as error:
        pipe.send({"error": f"{type(error).__name__}: {error}"})


def storm_environment(sound: bool, precision: float) -> Any:
    """Return Storm's settings: its defaults (topological, value iteration inside), or its sound ones (optimistic).

    Both to a relative precision, for linear equations (chains) too. On interval models Storm runs the same value
    iteration with either.
    """
    import stormpy

    environment = stormpy.environments.sound() if sound else stormpy.Environment()
    for part in (environment.solver().min_max(), environment.solver().native()):
        part.precision = stormpy.Rational(repr(precision))
        part.relative_termination_criterion = True
    return environment


def storm_question(asked: str) -> tuple[Any, dict[str, Any]]:
    """Return Storm's form of a property, nature's direction as an option where there is one."""
    import stormpy

    spec = Spec.parse(asked)
    options: dict[str, Any] = {}
    text = asked
    if spec.nature is not None and spec.agent is not None:
        agent, nature = spec.agent.value, spec.nature.value
        text = asked.replace(agent + nature, agent, 1)
        mode = stormpy.UncertaintyResolutionMode
        options["uncertainty_resolution_mode"] = mode.MAXIMIZE if nature == "max" else mode.MINIMIZE
    return stormpy.parse_properties(text)[0], options


def storm_value(model: Any, question: Any, environment: Any, options: dict[str, Any]) -> float:
    """Return Storm's value in the initial state, the only one it is asked for."""
    import stormpy

    result = stormpy.model_checking(model, question, only_initial_states=True, environment=environment, **options)
    return float(result.get_value(model.initial_states[0]))
