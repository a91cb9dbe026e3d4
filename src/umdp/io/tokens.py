"""Tokenising text formats: numbers a column at a time; only a column with an error is walked to find the line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError

__all__ = ["check_below", "check_order", "decode_text", "floats", "intervals", "ints", "show"]


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


def check_order(
    lower: NDArray[np.float64], upper: NDArray[np.float64], line: Callable[[int], int], what: str, path: object
) -> None:
    """Raise `FormatError`, which names the line, unless the ends of all intervals are in order."""
    wrong = np.flatnonzero(lower > upper)
    if wrong.size:
        at = int(wrong[0])
        message = f"{what} [{lower[at]},{upper[at]}] has its lower bound above its upper bound"
        raise FormatError(message, path=path, line=int(line(at)))
