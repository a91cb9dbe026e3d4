"""Files that commands write, and files that they read: what is read is never written over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from umdp.errors import FormatError
from umdp.run import Config
from umdp.run.store import RUN_IS_THERE
from umdp.source.resolve import is_plugin, plugin_file

__all__ = ["check_folder", "check_outputs", "check_policy_file", "files_behind", "files_read"]

STANDARD_INPUT = "-"


def check_outputs(
    outputs: Iterable[tuple[str, str | Path]], read: Iterable[str | Path] = (), *, force: bool = False
) -> None:
    """Raise `FormatError` for the first file that must not be written, before anything runs.

    Parameters
    ----------
    outputs : iterable of (str, path)
        The option that names the file, nothing for an argument, and the file.
    read : iterable of path
        What the command reads; ``-`` is standard input.
    force : bool
        Whether files that are there may be written over. What is read may not, under whichever name.
    """
    reads = {known for known in map(_identity, read) if known is not None}
    taken: dict[Path, str] = {}
    for option, path in outputs:
        file = Path(path)
        place = f"{option} {file}" if option else str(file)
        if _identity(file) in reads:
            raise FormatError(
                "this file is read, and what is read is never written over; choose another name", path=place
            )
        if file.exists():
            if file.is_dir():
                raise FormatError("this is a folder; name a file in it", path=place)
            if not file.is_file():
                raise FormatError("this is no ordinary file; choose another name", path=place)
            if not force:
                there = "this file is there already; choose another name, or say --force"
                raise FormatError(RUN_IS_THERE if option == "--out" else there, path=place)
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
    from umdp.io.policy_files import POLICIES

    if path.suffix not in POLICIES:
        raise FormatError(f"a policy is written as {' or '.join(POLICIES)}", path=place)
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
