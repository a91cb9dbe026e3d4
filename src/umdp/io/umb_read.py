"""Reading UMB files: a tar archive of one JSON index and little-endian arrays, each taken straight from the file."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.io.files import Model, build, initial_state, load, opened, sentence
from umdp.io.valuations import record_bits, unpack
from umdp.model import Rewards

__all__ = ["decode", "read_umb"]

Mending = Callable[[NDArray[np.float64]], NDArray[np.float64]]

PIECE = 2**18  # entries of an array that are converted at a time
PARTS = {"states": "state", "choices": "choice", "branches": "transition"}


def read_umb(path: Path) -> Model:
    """Return the model in a UMB file, compressed or not."""
    with opened(path) as stream:
        head = stream.read(6)
        packed = head[:2] == b"\x1f\x8b" or head == b"\xfd7zXZ\x00"
        return decode(io.BytesIO(_decompress(load(path), path)) if packed else stream, path)


def decode(
    stream: BinaryIO,
    path: object,
    *,
    zero: str = "",
    mended: Mending | None = None,
    rewards: Sequence[str] = (),
    **more: Any,
) -> Model:
    """Return the model in a UMB file that is not compressed; `more` are annotations to add to it.

    With `zero`, an interval that ends at 0 raises `FormatError` with that message. Probabilities go through `mended`. Those in
    `rewards` stand in that order.
    """
    archive = _Archive(stream, path)
    with archive.reading_index():
        found = _model(archive, zero, more, mended)
    if list(found.rewards) == [name for name in rewards if name in found.rewards] or not rewards:
        return found
    place = {name: k for k, name in enumerate(rewards)}
    return replace(found, rewards=dict(sorted(found.rewards.items(), key=lambda each: place.get(each[0], len(place)))))


def _decompress(data: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else lzma.decompress(data)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        message = f"the compressed archive is damaged ({sentence(error)}); export it again"
        raise FormatError(message, path=path) from None


class _Archive:
    """The arrays of a UMB file, each read when it is asked for: the file is never in memory as a whole."""

    def __init__(self, stream: BinaryIO, path: object) -> None:
        self.path, self.stream = path, stream
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        self.members: dict[str, tuple[int, int]] = {}
        try:
            with tarfile.open(fileobj=stream, mode="r:") as tar:
                for member in tar:
                    if member.isfile():
                        self.members[member.name.removeprefix("./").lstrip("/")] = (member.offset_data, member.size)
        except (tarfile.TarError, EOFError, ValueError) as error:
            self.fail(f"this is not a whole UMB archive ({sentence(error)}); export it again")
        for name, (offset, length) in self.members.items():
            if offset + length > size:
                self.fail(f"the archive ends within {name}; it was cut off, export it again")
        if "index.json" not in self.members:
            self.fail("the archive has no index.json; this is not a UMB file")
        try:
            self.index: dict[str, Any] = msgspec.json.decode(self.raw("index.json"), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.fail(f"index.json cannot be read: {sentence(error)}")

    def fail(self, message: str) -> NoReturn:
        raise FormatError(message, path=self.path)

    @contextmanager
    def reading_index(self) -> Iterator[None]:
        try:
            yield
        except KeyError as error:
            self.fail(f"index.json lacks the entry {error.args[0]!r}")
        except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            self.fail(f"index.json has an entry of the wrong kind ({sentence(error)})")

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def place(self, name: str) -> tuple[int, int]:
        """Return where the bytes of a member begin, and how many there are."""
        if name not in self.members:
            self.fail(f"the array {name} is missing from the archive")
        return self.members[name]

    def raw(self, name: str) -> bytes:
        offset, size = self.place(name)
        self.stream.seek(offset)
        return self.stream.read(size)

    def check_size(self, name: str, dtype: str, count: int) -> int:
        """Return where an array begins, if it has that many entries: only then is there room to be made for them."""
        offset, size = self.place(name)
        if size != count * np.dtype(dtype).itemsize:
            self.fail(f"{name} has {size} bytes; {count} entries need {count * np.dtype(dtype).itemsize}")
        return offset

    def array(self, name: str, dtype: str, count: int) -> NDArray[Any]:
        self.stream.seek(self.check_size(name, dtype, count))
        found = np.empty(count, dtype=dtype)
        self._fill(found)
        return found

    def _fill(self, array: NDArray[Any]) -> None:
        stream: Any = self.stream
        if stream.readinto(array.view(np.uint8).data) != array.nbytes:
            self.fail("the archive was cut off while it was read")

    def pieces(self, name: str, dtype: str, count: int) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield an array in pieces of an even number of entries, each with its place; the next takes the room of the last."""
        at = self.check_size(name, dtype, count)
        room = np.empty(min(PIECE, count), dtype=dtype)
        for begin in range(0, count, PIECE):
            piece = room[: min(PIECE, count - begin)]
            self.stream.seek(at + begin * piece.itemsize)
            self._fill(piece)
            yield slice(begin, begin + piece.size), piece

    def targets(self, name: str, count: int, states: int) -> NDArray[np.int32]:
        """Return numbers of states."""
        found = np.empty(count, dtype=np.int32)
        for place, piece in self.pieces(name, "<u8", count):
            if piece.max() >= states:
                at = int(piece.argmax())
                self.fail(
                    f"branch {place.start + at} leads to state {piece[at]}; states are numbered 0 to {states - 1}"
                )
            found[place] = piece
        return found

    def pointer(self, name: str, count: int, end: int) -> NDArray[np.int64]:
        if name not in self:
            if count != end:
                self.fail(f"the array {name} is missing, although {count} entries do not match {end} one by one")
            return np.arange(count + 1, dtype=np.int64)
        ptr = self.array(name, "<u8", count + 1).view(np.int64)
        if ptr[0] != 0 or ptr[-1] != end or (ptr[1:] < ptr[:-1]).any():
            self.fail(f"{name} must rise from 0 to {end}; it goes from {ptr[0]} to {ptr[-1]}")
        return ptr

    def bits(self, name: str, count: int) -> NDArray[np.bool_]:
        raw = self.raw(name)
        if len(raw) != -(-count // 64) * 8:
            self.fail(f"{name} has {len(raw)} bytes; {count} bits take {-(-count // 64) * 8}")
        return np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=count, bitorder="little").view(np.bool_)

    def numbers(self, name: str, kind: dict[str, Any], count: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return values of a continuous type, and for intervals their upper ends."""
        of, size = kind["type"], kind.get("size")
        if of == "double":
            return self.array(name, "<f8", count), None
        if of == "double-interval":
            self.check_size(name, "<f8", 2 * count)
            lower, upper = np.empty(count), np.empty(count)
            for place, pairs in self.pieces(name, "<f8", 2 * count):
                half = slice(place.start // 2, place.stop // 2)
                lower[half], upper[half] = pairs[0::2], pairs[1::2]
            return lower, upper
        if of in ("rational", "rational-interval") and size in (None, 128 if of == "rational" else 256):
            per = 1 if of == "rational" else 2
            raw = self.array(name, "<u8", 2 * per * count)
            if not raw[1::2].all():
                self.fail(f"{name} has a fraction with denominator 0")
            values = raw[0::2].view(np.int64) / raw[1::2]
            return (values, None) if per == 1 else (values[0::2], values[1::2])
        return self.fail(f"{name} has numbers of type {of} ({size} bits); export with doubles instead")

    def strings(self, folder: str, count: int) -> list[str]:
        raw = self.raw(f"{folder}/strings.bin")
        ends = self.pointer(f"{folder}/string-mapping.bin", count, len(raw)).tolist()
        try:
            return [raw[i:j].decode() for i, j in pairwise(ends)]
        except UnicodeDecodeError:
            self.fail(f"{folder}/strings.bin is not UTF-8 text")


def _model(archive: _Archive, zero: str, more: dict[str, Any], mended: Mending | None) -> Model:
    index = archive.index
    system = index["transition-system"]
    if index["format-version"] != 1:
        archive.fail(f"the format version is {index['format-version']}; version 1 is supported")
    if system["time"] != "discrete" or system["#players"] > 1 or system.get("#observations", 0):
        archive.fail(
            f"the model has {system['time']} time, {system['#players']} players and {system.get('#observations', 0)} "
            "observations; supported are Markov chains and MDPs, with or without intervals"
        )
    states, choices, branches = (int(system[key]) for key in ("#states", "#choices", "#branches"))
    _check_counts(archive, states, choices, branches)
    successor = archive.targets("branch-to-target.bin", branches, states)
    if "branch-to-probability.bin" in archive:
        lower, upper = archive.numbers("branch-to-probability.bin", system["branch-probability-type"], branches)
    elif "branch-probability-type" in system:
        archive.fail("the array branch-to-probability.bin is missing from the archive")
    else:
        lower, upper = np.ones(branches), None
    if zero and upper is not None and not (upper > 0).all():
        archive.fail(zero)
    if mended is not None:
        lower, upper = mended(lower), None if upper is None else mended(upper)
    known = "state-is-initial.bin" in archive
    marked = archive.bits("state-is-initial.bin", states) if known else np.zeros(0, dtype=np.bool_)
    labels: dict[str, Any] = _labels(archive, states)
    annotations: dict[str, Any] = {
        "initial": initial_state(np.flatnonzero(marked), "initial", archive.path, labels),
        "labels": labels,
        "rewards": _rewards(archive, {"states": states, "choices": choices, "branches": branches}),
        "actions": _actions(archive, choices, int(system.get("#choice-actions", 0))),
        "variables": _variables(archive, states),
    }
    own = _extension(archive)
    annotations |= {key: own[key] for key in ("constants", "formulas", "state_names") if key in own}
    for name, table in own.get("strings", {}).items():
        codes = annotations["variables"][name]
        if codes.max() >= len(table):
            archive.fail(f"variable {name} refers to text {codes.max()} of {len(table)}")
        annotations["variables"][name] = np.array(table, dtype=np.str_)[codes]
    return build(
        archive.path,
        lower,
        upper,
        state_ptr=archive.pointer("state-to-choices.bin", states, choices),
        choice_ptr=archive.pointer("choice-to-branches.bin", choices, branches),
        successor=successor,
        **(annotations | more),
    )


def _check_counts(archive: _Archive, states: int, choices: int, branches: int) -> None:
    """Raise `FormatError` unless the numbers in the index can be right, given how long the file is."""
    archive.check_size("branch-to-target.bin", "<u8", branches)
    if not 0 < states <= choices <= branches:
        archive.fail(
            f"index.json declares {states} states, {choices} choices and {branches} branches; there must be a state, "
            "every state needs a choice and every choice a branch"
        )


def _extension(archive: _Archive) -> dict[str, Any]:
    """Return what this package stores beyond the format."""
    data = archive.index.get("file-data", {})
    parameters = data.get("parameters")
    return parameters if data.get("tool") == "umdp" and isinstance(parameters, dict) else {}


def _labels(archive: _Archive, states: int) -> dict[str, NDArray[np.bool_]]:
    described = archive.index.get("annotations", {}).get("aps", {})
    return {
        entry.get("alias", key): archive.bits(f"annotations/aps/{key}/states/values.bin", states)
        for key, entry in described.items()
    }


def _rewards(archive: _Archive, sizes: dict[str, int]) -> dict[str, Rewards]:
    rewards: dict[str, Rewards] = {}
    for key, entry in archive.index.get("annotations", {}).get("rewards", {}).items():
        parts: dict[str, NDArray[Any]] = {}
        for entity in entry["applies-to"]:
            if entity not in PARTS:
                archive.fail(f'reward "{key}" is on {entity}; supported are states, choices and branches')
            name = f"annotations/rewards/{key}/{entity}/values.bin"
            values, ends = archive.numbers(name, entry["type"], sizes[entity])
            if ends is not None and not np.array_equal(values, ends):
                archive.fail(f'reward "{key}" is uncertain: its intervals are not points, which is not supported')
            parts[PARTS[entity]] = values
        # An unnamed reward structure has the identifier default and no alias.
        rewards[entry.get("alias", "" if key == "default" else key)] = Rewards.of(parts)
    return rewards


def _actions(archive: _Archive, choices: int, count: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
    if not count:
        return None
    folder = "actions/choices"
    if f"{folder}/values.bin" in archive:
        codes = archive.array(f"{folder}/values.bin", "<u4", choices)
        if choices and codes.max() >= count:
            archive.fail(f"{folder}/values.bin names action {codes.max()} of {count}")
    else:
        codes = np.zeros(choices, dtype=np.uint32)
    if f"{folder}/strings.bin" in archive:
        names = archive.strings(folder, count)
    elif count > choices:
        archive.fail(f"index.json declares {count} actions without names for {choices} choices")
    else:
        names = [f"a{i}" for i in range(count)]
    return None if names == [""] else (codes.astype(np.int32), tuple(names))


def _variables(archive: _Archive, states: int) -> dict[str, NDArray[Any]]:
    described = archive.index.get("valuations", {}).get("states")
    if described is None:
        return {}
    folder = "valuations/states"
    classes = described["classes"]
    if len(classes) != 1:
        archive.fail(f"the states have {len(classes)} kinds of valuations; one is supported")
    variables = classes[0]["variables"]
    if not any("name" in entry for entry in variables):
        return {}
    bits = record_bits(variables)
    if bits % 8:
        archive.fail(f"a state's valuation takes {bits} bits, which is not a number of whole bytes")
    records = archive.array(f"{folder}/valuations.bin", "u1", states * (bits // 8)).reshape(states, bits // 8)
    found = unpack(records, variables, lambda: archive.strings(folder, int(described["#strings"])), archive.path)
    found.pop("_OutOfBoundsBit", None)  # Storm's own
    return found
