"""Reading rows from several files, one after the other, as one data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from umdp.errors import FormatError
from umdp.source.logs.reader import Reader
from umdp.source.logs.row_decoding import Chunk, Outcome
from umdp.statements import Statement

__all__ = ["SeveralReader"]


class SeveralReader(Reader):
    """Rows of several files in order; a trajectory does not go on from one file to the next.

    Parameters
    ----------
    name : str
        What was given: a folder or a pattern.
    paths : sequence of path
    opened : function
        Returns the reader of a file.
    """

    def __init__(self, name: str, paths: Sequence[Path], opened: Callable[[Path], Reader]) -> None:
        self.name, self._paths, self._opened = f"{name} ({len(paths)} files)", list(paths), opened
        self._file = 0
        self._reader = opened(self._paths[0])
        self.header = self._reader.header
        self._notes = {each.code: each for each in self._reader.notes()}
        self._done: list[str] = []  # of files that were read to their end: name, position and checksum
        self._last: dict[str, int] = {}

    @property
    def over(self) -> bool:
        """Whether the last file is over."""
        return self._file + 1 >= len(self._paths) and self._reader.over

    def begin(self) -> dict[str, int]:
        """Go to the first row of the first file."""
        self._open(0)
        self._done = []
        self._last = {"file": 0, **self._reader.begin()}
        return dict(self._last)

    def _open(self, file: int) -> None:
        if file != self._file:
            self._reader.close()
            self._reader, self._file = self._opened(self._paths[file]), file
            self._notes.update({each.code: each for each in self._reader.notes() if each.code not in self._notes})

    def described(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the names of the columns that are read, by their roles, and those of others; those of the first file."""
        self.begin()
        return self._reader.described()

    def notes(self) -> list[Statement]:
        """Return what was found out of how the files are written, for the first of which there is something to say."""
        return list(self._notes.values())

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go to a position; files that were read to their end must be as they were."""
        file, done = int(position["file"]), [str(each) for each in position["files"]]
        names = [json.loads(each)["name"] for each in done]
        present = [str(path) for path in self._paths]
        if file >= len(present) or names != present[:file] or position["at"] != present[file]:
            raise FormatError(
                "files were added or removed before the one that was read last; bring back what was there, or start anew",
                path=self.name,
            )
        for number, each in enumerate(done):
            self._open(number)
            self._reader.begin()
            self._reader.seek(json.loads(each) | {"points": []})
        self._open(file)
        parts = self._reader.begin()
        self._reader.seek(position)
        self._done, self._last = done, {"file": file, **{part: int(position[part]) for part in parts}}

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checksum of what was read of the file at hand, and of every file before it."""
        file = int(position["file"])
        if file == self._file:
            found = self._reader.evidence(position)
        else:  # nothing followed in the files after it
            found = {"points": [], **{k: v for k, v in json.loads(self._done[file]).items() if k not in position}}
            del found["name"]
        return {**found, "at": str(self._paths[file]), "files": self._done[:file]}

    def read(self) -> Chunk | None:
        """Return the next rows, if need be of the next file."""
        while True:
            chunk = self._reader.read()
            if chunk is not None:
                return self._placed(chunk)
            if self._file + 1 >= len(self._paths):
                return None
            self._finish()

    def _finish(self) -> None:
        """Take note of how a file ended, and open the next."""
        end = {name: self._last[name] for name in self._last if name != "file"}
        evidence = self._reader.evidence(end)
        self._done.append(
            json.dumps(
                {"name": str(self._paths[self._file]), **end, **{k: v for k, v in evidence.items() if k != "points"}}
            )
        )
        self._open(self._file + 1)
        self._last = {"file": self._file, **self._reader.begin()}

    def _placed(self, chunk: Chunk) -> Chunk:
        """Return rows that know their file."""
        file, path = self._file, self._paths[self._file]
        self._last = {"file": file, **chunk.position(chunk.size)}
        return replace(
            chunk,
            within=f"{file}/",
            where=lambda row: (f"{path.name}, {chunk.where(row)[0]}", None),
            position=lambda taken: {"file": file, **chunk.position(taken)},
        )

    def outcomes(self, extra: Sequence[str] = ()) -> Iterable[Outcome]:
        """Return the outcomes of all files."""
        for file in range(self._file, len(self._paths)):
            if file != self._file:
                self._open(file)
                self._reader.begin()
            ends = self._reader.ends
            if self.ends is None:
                self.ends = ends
            elif ends is not None:  # one data set: a column is judged by all files
                self.ends.told_apart |= ends.told_apart
                self._reader.ends = self.ends
            yield from self._reader.outcomes(extra)
            self.spoilt = self.spoilt or self._reader.spoilt
            self.names_trajectories &= self._reader.names_trajectories

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a row of the file at hand says as far as it can be read."""
        return self._reader.cells(raw)

    def close(self) -> None:
        """Close the file at hand."""
        self._reader.close()
