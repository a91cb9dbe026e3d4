"""State valuations of UMB files: one bit-packed record per state, read and written for all states at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError

__all__ = ["pack", "record_bits", "unpack"]

SIZES = {"bool": 1, "int": 64, "uint": 64, "double": 64, "string": 64}


def unpack(
    records: NDArray[np.uint8], variables: Sequence[Mapping[str, Any]], strings: Callable[[], list[str]], path: object
) -> dict[str, NDArray[Any]]:
    """Return the value of every variable in every state.

    Parameters
    ----------
    records : array of uint8, shape (S, B)
        The record of each state; the first variable occupies the least significant bits.
    variables : sequence of mapping
        The entries of a valuation class: either a padding or a name, a type and an offset.
    strings : callable
        Returns the table that string values point into.
    """
    values: dict[str, NDArray[Any]] = {}
    position = 0
    for entry in variables:
        if "padding" in entry:
            position += int(entry["padding"])
            continue
        name, kind, size = str(entry["name"]), str(entry["type"]["type"]), _size(entry)
        if kind not in SIZES or not 1 <= size <= 64:
            raise FormatError(
                f"variable {name} has type {kind} of {size} bits; supported are {', '.join(SIZES)} of at most 64",
                path=path,
            )
        if entry.get("is-optional"):
            if not _bits(records, position, 1).all():
                raise FormatError(f"variable {name} has no value in some states, which is not supported", path=path)
            position += 1
        values[name] = _decode(_bits(records, position, size), kind, size, int(entry.get("offset", 0)), strings)
        position += size
    return values


def record_bits(variables: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of bits of a record."""
    return sum(
        int(entry["padding"]) if "padding" in entry else _size(entry) + bool(entry.get("is-optional"))
        for entry in variables
    )


def _size(entry: Mapping[str, Any]) -> int:
    return int(entry["type"].get("size", SIZES.get(entry["type"]["type"], 64)))


def _bits(records: NDArray[np.uint8], position: int, size: int) -> NDArray[np.uint64]:
    first, shift = divmod(position, 8)
    last = (position + size + 7) // 8
    word = records[:, first].astype(np.uint64) >> np.uint64(shift)
    for byte in range(first + 1, last):
        word |= records[:, byte].astype(np.uint64) << np.uint64(8 * (byte - first) - shift)
    return word if size == 64 else word & np.uint64((1 << size) - 1)


def _decode(
    word: NDArray[np.uint64], kind: str, size: int, offset: int, strings: Callable[[], list[str]]
) -> NDArray[Any]:
    if kind == "bool":
        return np.not_equal(word, 0)
    if kind == "double":
        return word.view(np.float64)
    if kind == "string":
        return np.array(strings(), dtype=np.str_)[word.astype(np.int64)]
    signed = word.view(np.int64)
    if kind == "int" and size < 64:
        signed = (signed << (64 - size)) >> (64 - size)
    return signed + offset


def pack(
    variables: Mapping[str, NDArray[Any]], path: object
) -> tuple[list[dict[str, Any]], NDArray[Any], dict[str, list[str]]]:
    """Return the description of the variables, the records (S,) and the table of texts of each variable of texts.

    Every variable starts at a byte, so that the records are one structured array. Texts are written as numbers.
    """
    described: list[dict[str, Any]] = []
    columns: list[tuple[str, str, NDArray[Any]]] = []
    tables: dict[str, list[str]] = {}
    for place, (name, values) in enumerate(variables.items()):
        if values.dtype.kind in "UO" and all(isinstance(value, str) for value in values.tolist()):
            index: dict[str, int] = {}
            values = np.array([index.setdefault(text, len(index)) for text in values.tolist()], dtype=np.int64)
            tables[name] = list(index)
        kind = values.dtype.kind
        entry: dict[str, Any] = {"name": name}
        padding = 0
        if kind == "b":
            entry["type"], code, padding = {"type": "bool", "size": 1}, "u1", 7
            column: NDArray[Any] = values
        elif kind in "iu":
            low, high = int(values.min()), int(values.max())
            if not -(2**63) <= low <= high < 2**63:
                raise FormatError(f"variable {name} has values beyond 64 bits", path=path)
            width = next(bits for bits in (8, 16, 32, 64) if high - low < 2**bits)
            entry |= {"type": {"type": "uint", "size": width}, "offset": low, "lower": low, "upper": high}
            code = f"<u{width // 8}"
            column = values.astype(np.int64).view(np.uint64) - np.int64(low).view(np.uint64)
        elif kind == "f":
            entry["type"], code, column = {"type": "double", "size": 64}, "<f8", values
        else:
            raise FormatError(f"variable {name} has values of type {values.dtype}, which no format holds", path=path)
        described.append(entry)
        if padding:
            described.append({"padding": padding})
        columns.append((f"v{place}", code, column))
    records = np.zeros(columns[0][2].size, dtype=[(key, code) for key, code, _ in columns])
    for key, _, column in columns:
        records[key] = column
    return described, records, tables
