"""What several commands are told: how it is typed, what it stands for, and which files it names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import typer

from umdp.errors import FormatError
from umdp.learning.validation import LARGEST
from umdp.run import Config
from umdp.source.resolve import is_plugin, plugin_file

__all__ = [
    "SHARED", "arguments_of", "check_folder", "check_outputs", "check_policy_file", "files_behind", "files_read", "integer",
    "number", "share",
]  # fmt: skip

STANDARD_INPUT = "-"


# -- numbers -------------------------------------------------------------------------------------------------


def number(text: str) -> float:
    """Return the number that a text stands for."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number') from None


def integer(text: str) -> int:
    """Return the whole number that a text stands for; ``1e6`` is one.

    Examples
    --------
    >>> integer("1e6"), integer("-3")
    (1000000, -3)
    """
    shown = text if len(str(text)) <= 30 else f"{text[:27]}..."
    try:
        value = Decimal(str(text).strip())  # a default comes as the number it is
        if not value.is_finite():
            raise ValueError
        if abs(value) > LARGEST:
            raise typer.BadParameter(f'"{shown}" is more than 64 bits hold; give at most {LARGEST}')
        if value != int(value):
            raise ValueError
    except (InvalidOperation, ValueError):
        raise typer.BadParameter(f'"{shown}" is not a whole number') from None
    return int(value)


def share(text: str) -> Decimal:
    """Return the probability that a text stands for, with its digits: ``0.95`` or ``95%``.

    Examples
    --------
    >>> share("0.95"), share("95 %")
    (Decimal('0.95'), Decimal('0.95'))
    """
    given = text.strip()
    try:
        value = Decimal(given.removesuffix("%").strip()) / (100 if given.endswith("%") else 1)
        fits = 0 < value < 1
    except InvalidOperation:
        raise typer.BadParameter(f'"{text}" is not a number') from None
    if not fits:
        raise typer.BadParameter(f"{text} is not between 0 and 1; give a probability such as 0.95")
    if 1 - value < Decimal("1e-9"):
        raise typer.BadParameter(f"{text} is more than any data would show; give at most 0.999999999")
    return value


# -- what several commands are told --------------------------------------------------------------------------

SHARED = {
    "path": ("Arguments", "RUN", "A file written by umdp learn --out."),
    "runs": ("Arguments", "RUN...", "Files written by umdp learn --out."),
    "quiet": ("Options", "", "Print the result only."),
    "force": ("Options", "", "Write over files that are there already; what is read is never written over."),
    "json": ("Options", "", "As one JSON object."),
    "env_arg": (
        "Options",
        "NAME=VALUE",
        "An argument of the environment, benchmark or function: true, false, a number, a list or a word; may be repeated.",
    ),
}
"""The part of a docstring in which a field would stand, the word for its value, and what it means."""


def arguments_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the arguments of an environment or a model, by name.

    Examples
    --------
    >>> arguments_of(["map_name=8x8", "is_slippery=false"])
    {'map_name': '8x8', 'is_slippery': False}
    """
    from umdp.source.environments.naming import argument

    found: dict[str, Any] = {}
    for text in texts or ():
        name, value = argument(text)
        if name in found:
            raise typer.BadParameter(f"--env-arg {name} is given twice")
        found[name] = value
    return found


# -- files that are written, and files that are read ---------------------------------------------------------


def check_outputs(
    outputs: Iterable[tuple[str, str | Path | None]], read: Iterable[str | Path] = (), *, force: bool = False
) -> None:
    """Raise `FormatError` for the first file that must not be written, before anything runs.

    Parameters
    ----------
    outputs : iterable of (str, path)
        The option that names the file, nothing for an argument, and the file; None where it was not given.
    read : iterable of path
        What the command reads; ``-`` is standard input.
    force : bool
        Whether files that are there may be written over. What is read may not, under whichever name.
    """
    given = [(option, Path(path)) for option, path in outputs if path is not None]
    reads = {known for known in map(_identity, read if given else ()) if known is not None}
    taken: dict[Path, str] = {}
    for option, file in given:
        place = f"{option} {file}" if option else str(file)
        if _identity(file) in reads:
            raise FormatError(
                "this file is read, and what is read is never written over; choose another name", path=place
            )
        if file.exists() and option != "--out":  # a run that is there is refused where runs are made
            if file.is_dir():
                raise FormatError("this is a folder; name a file in it", path=place)
            if not file.is_file():
                raise FormatError("this is no ordinary file; choose another name", path=place)
            if not force:
                raise FormatError("this file is there already; choose another name, or say --force", path=place)
        other = taken.setdefault(file.resolve(), option)
        if other != option:
            raise FormatError(f"{other} is to be written to the same file; choose another name", path=place)


def check_folder(file: Path, place: str | Path, *, folder: str = "this is a folder; name a file in it") -> None:
    """Raise `FormatError` where a file cannot be written because of its folder, or is one; `place` is what the error is about."""
    if not file.parent.is_dir():
        raise FormatError(f"the folder {file.parent} does not exist; create it first", path=place)
    if file.is_dir():
        raise FormatError(folder, path=place)


def check_policy_file(file: str) -> None:
    """Raise `FormatError` where a policy cannot be written to the file of ``--policy``."""
    path, place = Path(file), f"--policy {file}"
    if path.suffix not in (".json", ".csv"):
        raise FormatError("a policy is written as .json or .csv", path=place)
    check_folder(path, place)


def files_read(config: Config) -> Iterator[str | Path]:
    """Yield the files that learning reads, ``-`` for standard input: models, logs, descriptions, graphs, programs."""
    named = (config.model, config.switch, config.log, config.data.graph, config.learner, config.explore, config.tie)
    for name in named:
        if name:
            yield from files_behind(name)
    if config.data.described:
        yield config.data.described


def files_behind(name: str) -> Iterator[str | Path]:
    """Yield the files that are read for a model or a log of this name; none where the name is not one of files."""
    from umdp.io.explicit_read import companions
    from umdp.source.logs.opening import files_of

    if name == STANDARD_INPUT:
        yield name
        return
    file = Path(plugin_file(name) if is_plugin(name) else name)
    try:
        several = files_of(str(file))
    except (FormatError, OSError, ValueError):  # what is wrong with it is said when it is read
        return
    yield from [file] if several is None else several
    if file.suffix == ".tra" and file.parent.is_dir():
        yield from (each for files in companions(file).values() for each in files)
    if file.suffix == ".nc":
        yield file.with_suffix(".json")


def _identity(file: str | Path) -> tuple[int, int] | None:
    """Return what tells a file from others, whatever it is called; None where there is none."""
    try:
        found = os.fstat(0) if file == STANDARD_INPUT else os.stat(file)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
