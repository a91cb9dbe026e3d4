"""Programs with unknown constants, as runs name them: what is learned, and what plays the process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from umdp.errors import FormatError, ModelError
from umdp.model import MDP
from umdp.parametric.model import ParametricMDP

__all__ = ["check_unknown", "process_of", "program_of"]


def check_unknown(model: str, unknown: str, constants: str, *, switch: str | None, log: str | None) -> None:
    """Raise what is wrong with the unknown constants of a run, before the program is read.

    Examples
    --------
    >>> check_unknown("grid", "p", "", switch=None, log=None)
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --unknown names undefined constants of a program (.prism .nm .pm .jani), and grid is none; ...
    """
    from umdp.io.constants import parse_constants, parse_unknown
    from umdp.io.files import PROGRAMS

    if Path(model).suffix.lower() not in PROGRAMS:
        raise ModelError(
            f"--unknown names undefined constants of a program ({' '.join(PROGRAMS)}), and {model} is none; leave it out"
        )
    if switch is not None:
        raise ModelError("--unknown is for a process that does not change; leave out --switch")
    names, given = parse_unknown(unknown), parse_constants(constants)
    if log is not None:
        for name in names:
            if name in given:
                raise ModelError(f"{name} is unknown, and a log is learned from; leave its value out of --const")
        return
    missing = [name for name in names if name not in given]
    if missing:
        shown = ",".join(f"{name}=VALUE" for name in missing)
        raise ModelError(
            f"to play the process it needs values for what is unknown, which the learner is not told: --const {shown}; or learn "
            "from a log: --log FILE"
        )


def program_of(model: str, unknown: str, constants: str) -> ParametricMDP:
    """Return the program of a run, its unknown constants as parameters."""
    from umdp.io.constants import format_constants, parse_constants, parse_unknown

    names = parse_unknown(unknown)
    known = {name: value for name, value in parse_constants(constants).items() if name not in names}
    path = Path(model)
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        stamp = 0  # what is wrong with it is said when it is read
    return _read(str(path), stamp, unknown, format_constants(known))


def process_of(model: str, unknown: str, constants: str) -> MDP:
    """Return what plays the process: the program with the values of its unknown constants."""
    from umdp.io.constants import parse_constants

    program = program_of(model, unknown, constants)
    given = parse_constants(constants)
    try:
        return program.at({name: float(given[name]) for name in program.names})
    except ModelError as error:
        raise FormatError(str(error), path=model) from None


@lru_cache(maxsize=2)
def _read(path: str, stamp: int, unknown: str, constants: str) -> ParametricMDP:
    """Read a program once for each of its versions."""
    from umdp.io import read_parametric

    return read_parametric(path, unknown, constants)
