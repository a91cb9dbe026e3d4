"""File access for all formats: opening with helpful errors, atomic writing, and building a model out of what was read."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, ModelError
from umdp.model import MDP, IntervalMDP
from umdp.model.structure import held

__all__ = [
    "PROGRAMS",
    "SUFFIXES",
    "Model",
    "build",
    "certain",
    "check_folder",
    "check_init_label",
    "is_large",
    "load",
    "sentence",
    "store",
]

Model = MDP | IntervalMDP

PROGRAMS = (".prism", ".nm", ".pm", ".jani")
SUFFIXES = (*PROGRAMS, ".tra", ".drn", ".umb", ".nc", ".txt")
LARGE, SMALL = 2**22, 2**16  # bytes from which compiled code is worth loading, and worth calling once it is loaded


def load(path: str | os.PathLike[str]) -> bytes:
    """Return the contents of a file; a missing, unreadable or empty one raises `FormatError`."""
    with opened(path) as stream:
        data = stream.read()
    if data.isspace():
        raise FormatError("the file is empty", path=path)
    return data


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading; a missing, unreadable or empty one raises `FormatError`."""
    path = Path(path)
    if not path.exists():
        raise FormatError(f"there is no such file{_near_miss(path)}", path=path)
    if path.is_dir():
        raise FormatError(f"this is a folder; name a file in it with one of {', '.join(SUFFIXES)}", path=path)
    try:
        with path.open("rb") as stream:
            if not stream.peek(1):
                raise FormatError("the file is empty", path=path)
            yield stream
    except OSError as error:
        raise FormatError(f"the file cannot be read: {error.strerror}", path=path) from None


def is_large(data: bytes) -> bool:
    """Whether a text is so long that compiled code, which takes most of a second to load, reads it faster."""
    return len(data) >= (SMALL if "umdp.kernel" in sys.modules else LARGE)


def store(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it, so that no reader ever sees half of it."""
    if path.is_dir():
        raise FormatError("this is a folder; name a file in it", path=path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FormatError(f"the file cannot be written: {error.strerror}", path=path) from None


def check_folder(path: Path) -> None:
    """Raise `FormatError` unless the folder a file should be written to exists."""
    if not path.parent.is_dir():
        raise FormatError(f"the folder {path.parent} does not exist; create it first", path=path)


def _near_miss(path: Path) -> str:
    try:
        siblings = [each.name for each in path.parent.iterdir() if each.is_file()]
    except OSError:
        return f"; the folder {path.parent} does not exist"
    close = difflib.get_close_matches(path.name, siblings, n=1, cutoff=0.7)
    close = close or [
        name for name in sorted(siblings) if Path(name).stem == path.stem and Path(name).suffix in SUFFIXES
    ]
    return f"; did you mean {path.with_name(close[0])}?" if close else "; check its name and folder"


def build(
    path: object,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64] | None,
    *,
    state_ptr: NDArray[Any],
    choice_ptr: NDArray[Any],
    successor: NDArray[Any],
    **annotations: Any,
) -> Model:
    """Return the MDP (or with `upper` the interval MDP); what is wrong with it is reported as the file's fault.

    The arrays are those of a reader, which nobody else has: they are handed over and not copied.
    """
    rows = held(np.asarray(state_ptr)), held(np.asarray(choice_ptr)), held(np.asarray(successor))
    try:
        if upper is None:
            return MDP(*rows, held(lower), **annotations)
        return IntervalMDP(*rows, held(lower), held(upper), **annotations)
    except ModelError as error:
        raise FormatError(str(error), path=path) from None


def certain(model: Model) -> Model:
    """Return an interval model whose bounds coincide everywhere as the MDP that it is, others as they are.

    For formats that have nothing but intervals: an MDP can be simulated, and needs no nature.

    Examples
    --------
    >>> certain(IntervalMDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1], [0.5, 0.5, 1]))
    MDP with 2 states, 2 choices, 3 transitions; initial state 0
    """
    if not isinstance(model, IntervalMDP) or not np.array_equal(model.lower, model.upper):
        return model
    try:
        return model.graph.with_probability(model.lower)
    except ModelError:  # sums that are off by more than an MDP allows
        return model


def check_init_label(model: Model, path: Path) -> None:
    """Raise `FormatError` if a label "init" marks anything but the initial state: formats reserve that name."""
    marked = model.labels.get("init")
    if marked is not None and np.flatnonzero(marked).tolist() != [model.initial]:
        raise FormatError(
            'the label "init" stands for the initial state in this format, but the model\'s label marks other states; '
            "rename it",
            path=path,
        )


def sentence(error: BaseException) -> str:
    """Return the first line of an exception's message without its final stop, for use inside a message."""
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__
