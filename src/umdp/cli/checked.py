"""MODEL of `umdp check`: a file, a run, a benchmark, the table of an environment, or what somebody's function makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.errors import FormatError, ModelError

if TYPE_CHECKING:
    from umdp.cli.learned import Origin
    from umdp.model import MDP, IntervalMDP
    from umdp.run import Config

__all__ = ["Checked", "checked_model"]


@dataclass(frozen=True)
class Checked:
    """What is asked about.

    Attributes
    ----------
    model : the model
    origin : where it was learned, if it was
    notes : what there is to know about it, a line each
    """

    model: MDP | IntervalMDP
    origin: Origin | None = None
    notes: tuple[str, ...] = field(default=())


def checked_model(name: str, constants: str = "", parameters: dict[str, Any] | None = None) -> Checked:
    """Return the model of a name, as `umdp learn` takes it; or the one that a run has learned.

    A file comes before a benchmark of the same name.
    """
    from umdp.io.files import SUFFIXES
    from umdp.source.resolve import resolve

    known = Path(name).is_file()
    if known and not name.endswith(SUFFIXES):
        from umdp.cli.learned import read_run

        found = read_run(name)
        if found is not None:
            _refuse(name, "a run", constants, parameters)
            return Checked(*found)
    if not known and ((what := resolve(name)).called or what.played):
        _refuse(name, "not a program", constants)
        return _made(name, parameters or {})
    _refuse(name, "a file", "", parameters)
    from umdp.io import read

    try:
        return Checked(read(name, constants=constants))
    except FormatError as error:
        if Path(name).exists() or Path(name).suffix in SUFFIXES:
            raise
        raise FormatError(f"{error}; MODEL is a file with one of {', '.join(SUFFIXES)}, {_others()}") from None


def _others() -> str:
    from umdp.benchmark import BENCHMARKS

    return f"a run, a benchmark ({', '.join(BENCHMARKS)}), gym:ID or FILE.py:NAME"


def _refuse(name: str, kind: str, constants: str, parameters: dict[str, Any] | None = None) -> None:
    if constants:
        raise ModelError(f"--const gives values to the constants of a program, and this is {kind}; leave it out")
    if parameters:
        raise ModelError(f"--env-arg is for benchmarks, environments and functions, and {name} is {kind}; leave it out")


def _made(name: str, parameters: dict[str, Any]) -> Checked:
    """Return what a benchmark, an environment or a function makes, if it is a model or carries one."""
    from umdp.model import MDP, IntervalMDP
    from umdp.run import Config
    from umdp.source.resolve import resolve

    config = Config(model=name, parameters=parameters)
    made = resolve(name).make(parameters)
    if isinstance(made, MDP | IntervalMDP):
        return Checked(made)
    try:
        return _carried(made, name, config)
    finally:
        close = getattr(made, "close", None)
        if callable(close):
            close()


def _carried(made: Any, name: str, config: Config) -> Checked:
    """Return the model that an environment or a source carries: the table of an environment, the truth of a source."""
    from umdp.source import Gymnasium, Source
    from umdp.source.environments.gymnasium import environment_table

    if not isinstance(made, Source):
        if not (hasattr(made, "reset") and hasattr(made, "step")):
            kinds = "an umdp.MDP or umdp.IntervalMDP, an environment with a table, or a source that knows its model"
            raise ModelError(f"{name} returned {type(made).__name__}; it must return {kinds}")
        made = Gymnasium(made) if environment_table(made) is not None else None
    if made is None or made.truth is None:
        raise ModelError(
            f"{name} does not tell its probabilities, so there is no model to check; learn one with "
            f"umdp learn {name} PROPERTY --out FILE, and check that run"
        )
    return Checked(made.truth, None, tuple(made.report()))
