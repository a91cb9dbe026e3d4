"""What all formats share: files with helpful errors, columns of numbers in text, and the model that is made of what was read."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, ModelError
from umdp.model import MDP, IntervalMDP
from umdp.model.structure import held

__all__ = [
    "PROGRAMS", "SUFFIXES", "Model", "build", "certain", "check_below", "check_count", "check_folder", "check_init_label",
    "check_order", "decode_text", "floats", "initial_state", "intervals", "ints", "is_large", "is_property_file", "load",
    "opened", "sentence", "show", "store",
]  # fmt: skip

Model = MDP | IntervalMDP

PROGRAMS = (".prism", ".nm", ".pm", ".jani")
SUFFIXES = (*PROGRAMS, ".tra", ".drn", ".umb", ".nc", ".txt")
PROPERTIES = (".props", ".prop", ".pctl", ".csl", ".props.txt")
LARGE, SMALL = 2**22, 2**16  # bytes from which compiled code is worth loading, and worth calling once it is loaded


def is_property_file(text: str) -> bool:
    """Return whether what was given for a property is the name of a file of properties."""
    return text.endswith(PROPERTIES) and "[" not in text


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
    """Raise `FormatError` if a label "init" does not mark the initial state: formats reserve that name."""
    marked = model.labels.get("init")
    if marked is not None and not marked[model.initial]:
        raise FormatError(
            'the label "init" stands for the initial state in this format, but the model\'s label marks other states; '
            "rename it",
            path=path,
        )


def initial_state(marked: Sequence[int] | NDArray[np.int64], how: str, path: object, labels: dict[str, Any]) -> int:
    """Return the first state that is marked as initial, `how` in messages; where there are more, `labels` has them as "init"."""
    if len(marked) == 0:
        raise FormatError(f"no state is {how}; a model needs an initial state", path=path)
    if len(marked) > 1:
        labels["init"] = np.array(marked, dtype=np.int64)
    return int(min(marked))


def sentence(error: BaseException) -> str:
    """Return the first line of an exception's message without its final stop, for use inside a message."""
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__


# -- text --------------------------------------------------------------------------------------------------


def show(token: bytes) -> str:
    """Return a token as it should appear in a message."""
    text = token.decode("utf-8", "replace")
    return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'


def decode_text(data: bytes, path: object) -> str:
    """Return UTF-8 text; anything else raises `FormatError`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("this is not UTF-8 text", path=path, line=line) from None


def ints(tokens: Sequence[bytes], lines: Sequence[int], what: str, path: object, below: int) -> NDArray[np.int64]:
    """Return numbers from 0 to `below` - 1; `lines` are the line numbers of the tokens, `what` names them."""
    try:
        values = np.fromiter(map(int, tokens), dtype=np.int64, count=len(tokens))
    except (ValueError, OverflowError):
        for token, line in zip(tokens, lines, strict=True):
            if not token.isdigit() or len(token) > 18:
                raise FormatError(f"{what} {show(token)} is not a number", path=path, line=line) from None
        raise
    check_below(values, lines.__getitem__, what, path, below)
    return values


def check_below(
    values: NDArray[np.int64] | NDArray[np.int32], line: Callable[[int], int], what: str, path: object, below: int
) -> None:
    """Raise `FormatError`, which names the line, unless all values are numbers from 0 to `below` - 1."""
    if values.size == 0 or (values.min() >= 0 and values.max() < below):
        return
    at = int(np.flatnonzero((values < 0) | (values >= below))[0])
    message = f"{what} {values[at]} does not exist; they are numbered 0 to {below - 1}"
    raise FormatError(message, path=path, line=int(line(at)))


def floats(tokens: Sequence[bytes], lines: Sequence[int], what: str, path: object) -> NDArray[np.float64]:
    """Return finite numbers; quotients such as ``1/3`` are allowed."""
    try:
        values = np.fromiter(map(float, tokens), dtype=np.float64, count=len(tokens))
    except ValueError:
        values = np.empty(len(tokens))
        for i, (token, line) in enumerate(zip(tokens, lines, strict=True)):
            try:
                values[i] = float(Fraction(token.decode())) if b"/" in token else float(token)
            except (ValueError, ZeroDivisionError, OverflowError):
                raise FormatError(f"{what} {show(token)} is not a number", path=path, line=line) from None
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise FormatError(f"{what} is {values[wrong[0]]}; it must be finite", path=path, line=int(lines[int(wrong[0])]))
    return values


def intervals(
    tokens: Sequence[bytes], lines: Sequence[int], what: str, path: object
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the values, or the lower and upper ends where some token is an interval such as ``[0.1,0.2]``."""
    if not any(token[:1] in (b"[", b"(") for token in tokens):
        return floats(tokens, lines, what, path), None
    low: list[bytes] = []
    high: list[bytes] = []
    for token, line in zip(tokens, lines, strict=True):
        if token[:1] != b"[":
            low.append(token)
            high.append(token)
            continue
        first, comma, second = token[1:-1].partition(b",")
        if not comma or not token.endswith(b"]"):
            raise FormatError(f"{what} {show(token)} is not an interval; write [lower,upper]", path=path, line=line)
        low.append(first.strip())
        high.append(second.strip())
    lower, upper = floats(low, lines, what, path), floats(high, lines, what, path)
    check_order(lower, upper, lines.__getitem__, what, path)
    return lower, upper


def check_count(what: str, declared: int, found: int, path: object) -> None:
    """Raise `FormatError` unless a file has as many of something as its header says."""
    if found != declared:
        raise FormatError(f"the header declares {declared} {what}, but the file has {found}", path=path)


def check_order(
    lower: NDArray[np.float64], upper: NDArray[np.float64], line: Callable[[int], int], what: str, path: object
) -> None:
    """Raise `FormatError`, which names the line, unless the ends of all intervals are in order."""
    wrong = np.flatnonzero(lower > upper)
    if wrong.size:
        at = int(wrong[0])
        message = f"{what} [{lower[at]},{upper[at]}] has its lower bound above its upper bound"
        raise FormatError(message, path=path, line=int(line(at)))
