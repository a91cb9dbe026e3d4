"""A running checksum of what was read, so that a run goes on with the data it began with or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from umdp.errors import FormatError

__all__ = ["Prefix"]

POINTS = 32  # places at which the checksum is kept, so that it can be said where data differ
FIRST = 1 << 12


class Prefix:
    r"""The checksum (SHA-256) of the first `offset` bytes, extended as they are read.

    On the way it is kept at some points, few and ever farther apart, to tell where other data begin to differ.

    Examples
    --------
    >>> prefix = Prefix()
    >>> prefix.extend(b"a,b\n" * 3000)
    >>> prefix.offset
    12000
    >>> Prefix.of([b"a,b\n" * 2000, b"x,y\n" * 1000]).compare(prefix.state(), "log.csv")
    Traceback (most recent call last):
    ...
    umdp.errors.FormatError: log.csv: this is not the data the run began with: ... differ ...
    """

    def __init__(self) -> None:
        self.offset = 0
        self._sum = sha256()
        self._points: list[tuple[int, str]] = []
        self._step = FIRST

    @classmethod
    def of(cls, blocks: Iterable[bytes]) -> Prefix:
        """Return the checksum of all of some blocks."""
        prefix = cls()
        for block in blocks:
            prefix.extend(block)
        return prefix

    def extend(self, data: bytes | memoryview) -> None:
        """Take in the bytes that follow."""
        view = memoryview(data)
        while view:  # points lie at multiples of the step, however the bytes come
            size = min(self._step - self.offset % self._step, len(view))
            self._sum.update(view[:size])
            self.offset += size
            view = view[size:]
            if self.offset % self._step == 0:
                self._points.append((self.offset, self._sum.hexdigest()[:16]))
                if len(self._points) > POINTS:
                    self._step *= 2
                    self._points = [point for point in self._points if point[0] % self._step == 0]

    @property
    def digest(self) -> str:
        """The checksum, as text."""
        return self._sum.hexdigest()

    def state(self) -> dict[str, object]:
        """Return what `compare` needs."""
        return {"prefix": self.digest, "points": [f"{offset} {digest}" for offset, digest in self._points]}

    def compare(self, state: object, name: str) -> None:
        """Raise `FormatError`, saying where the data differ, if a state has another checksum."""
        assert isinstance(state, dict)
        if self.digest == state["prefix"]:
            return
        there = {int(offset): digest for offset, digest in (point.split() for point in state["points"])}
        last = 0
        for offset, digest in self._points:
            if offset not in there:
                continue
            if there[offset] != digest:
                break
            last = offset
        else:
            offset = self.offset
        raise FormatError(
            f"this is not the data the run began with: bytes {last:,} to {offset:,} differ from what was read then; give the "
            "file as it was, or start anew",
            path=name,
        )
