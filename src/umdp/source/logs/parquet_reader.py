"""Reading rows from Parquet, a slice at a time, so that a file of any length needs the same memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.errors import FormatError, MissingExtra
from umdp.source.logs.faults import Cause, Fault
from umdp.source.logs.line_stream import blocks, opened
from umdp.source.logs.prefix import Prefix
from umdp.source.logs.reader import Outcome, Reader, choose_columns, extra_columns
from umdp.source.logs.row_decoding import Chunk
from umdp.source.logs.trajectory_ends import FINAL, RecordingEnds, over_and_final
from umdp.source.lookup import Memo

if TYPE_CHECKING:
    import polars

__all__ = ["ParquetReader"]

SLICE = 1 << 17
TRIPLE = ["state", "action", "next"]


class ParquetReader(Reader):
    """Rows of a Parquet file; rows with a missing value are malformed.

    Parameters
    ----------
    path : path
    columns : mapping of str to str, optional
        The names of the columns trajectory, state, action, next and end, where they have others.
    block : int
        How many rows are read at a time.
    """

    def __init__(self, path: Path, columns: Mapping[str, str] | None = None, *, block: int = SLICE) -> None:
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("data", "reading Parquet files") from None
        self.name, self._path, self._block = str(path), path, block
        opened(path).close()
        try:
            scan = pl.scan_parquet(path, glob=False)
            schema = scan.collect_schema()
            chosen = choose_columns(columns, schema.names(), path)
            self._scan, self._chosen = scan, chosen
            self.header: Sequence[str] = schema.names()
            self._frame = scan.select(pl.col(column).alias(role) for role, column in chosen.items())
            self._rows = int(scan.select(pl.len()).collect().item())
        except pl.exceptions.PolarsError as error:
            raise FormatError(f"the file is not Parquet: {str(error).splitlines()[0]}", path=path) from None
        said = {role: schema[chosen[role]] for role in FINAL if role in chosen}
        self._final = [role for role, kind in said.items() if kind.is_integer() or kind == pl.Boolean]
        for role, column in chosen.items():
            if role in FINAL and role not in self._final and (role == "end" or role in (columns or {})):
                raise FormatError(f'the column "{column}" must hold true and false, or 1 and 0', path=path)
            if (role not in FINAL and schema[column].is_nested()) or schema[column] in (pl.Binary, pl.Object, pl.Null):
                raise FormatError(
                    f'the column "{column}", the {role}, must hold text or numbers, not {schema[column]}', path=path
                )
        self.names_trajectories = self._named = "trajectory" in chosen
        if self._final:
            role = next(role for role in ("terminated", *FINAL) if role in self._final)
            self.ends = RecordingEnds(chosen[role], told_apart="truncated" in self._final)
        self._row = 0

    @property
    def over(self) -> bool:
        """Whether all rows have been read."""
        return self._row >= self._rows

    def begin(self) -> dict[str, int]:
        """Go to the first row."""
        self._row = 0
        return {"row": 0}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go to a row."""
        self._prefix.compare(position, self.name)
        self._row = int(position["row"])

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checksum of the whole file."""
        return self._prefix.state()

    @cached_property
    def _prefix(self) -> Prefix:
        prefix = Prefix()
        with opened(self._path) as file:
            for block in blocks(file, os.fstat(file.fileno()).st_size):
                prefix.extend(block)
        return prefix

    def read(self, memo: Memo) -> Chunk | None:
        """Return the next slice of rows."""
        frame = self._slice()
        if frame is None:
            return None
        import polars as pl

        first, size = self._row, frame.height
        self._row += size
        missing = frame.select(pl.any_horizontal(pl.col(TRIPLE).is_null()).alias("missing"))["missing"].to_numpy()
        whole = frame.filter(~pl.Series(missing)) if missing.any() else frame
        codes = _codes(whole, memo)
        if self._named:
            names = whole["trajectory"]
            named = names.is_not_null().to_numpy()
            changes = names[1:].ne_missing(names[:-1]).to_numpy()
        else:
            named, changes = np.zeros(whole.height, np.bool_), np.zeros(max(whole.height - 1, 0), np.bool_)
        return Chunk(
            size,
            np.flatnonzero(~missing),
            codes,
            changes,
            named,
            self._over(whole)[0],
            {row: _missing(frame.row(row, named=True)) for row in np.flatnonzero(missing).tolist()},
            lambda rows: _plain(whole["trajectory"], rows) if self._named else [None] * len(rows),
            lambda row: (f"row {first + row + 1}", None),
            lambda row: frame.row(row, named=True),
            lambda taken: {"row": first + taken},
        )

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a row says."""
        return {role: str(raw[role]) for role in TRIPLE if raw[role] is not None}

    def outcomes(self, extra: Sequence[str] = ()) -> Iterable[Outcome]:
        """Return the outcomes of the rows that follow, those of one slice once if nothing else is asked for."""
        import polars as pl

        roles = [pl.col(column).alias(role) for role, column in self._chosen.items()]
        more = [
            pl.col(column).alias(f"extra{n}") for n, column in enumerate(extra_columns(extra, self.header, self.name))
        ]
        while (frame := self._slice(self._scan.select(*roles, *more))) is not None:
            missing = np.flatnonzero(frame.select(pl.any_horizontal(pl.col(TRIPLE).is_null())).to_series().to_numpy())
            if missing.size and self.spoilt is None:
                first = int(missing[0])
                self.spoilt = f"{self.name}, row {self._row + first + 1}", _missing(frame.row(first, named=True))
            self._row += frame.height
            whole = frame.drop_nulls(TRIPLE)
            final = pl.Series("final", self._over(whole)[1])
            if self.ends is not None:
                names = whole["trajectory"].to_list() if self._named else None
                torn = set((missing - np.arange(missing.size) - 1).tolist())
                self.ends.take(names, list(whole.select("state", "next").iter_rows()), final.to_list(), torn)
            found = whole.select(TRIPLE).with_columns(final, *(whole[f"extra{n}"] for n in range(len(more))))
            yield from (found if more else found.unique(maintain_order=True)).iter_rows()
        if self.ends is not None:
            self.ends.finish()

    def _over(self, frame: polars.DataFrame) -> tuple[Any, Any]:
        """Return with which rows recordings are over, and with which for good; a missing value says no."""
        flags = {role: frame[role].fill_null(0).cast(bool).to_numpy() for role in self._final}
        return over_and_final(flags, frame.height)

    def _slice(self, frame: polars.LazyFrame | None = None) -> polars.DataFrame | None:
        import polars as pl

        if self.over:
            return None
        try:
            return (self._frame if frame is None else frame).slice(self._row, self._block).collect()
        except pl.exceptions.PolarsError as error:
            raise FormatError(
                f"rows from {self._row + 1} on cannot be read: {str(error).splitlines()[0]}", path=self.name
            ) from None


def _codes(frame: polars.DataFrame, memo: Memo) -> Any:
    """Return the code of every row, each different triple looked up once."""
    import polars as pl

    triples = frame.select(TRIPLE).unique(maintain_order=True)
    looked_up = pl.Series("code", [memo[triple] for triple in triples.iter_rows()], dtype=pl.Int64)
    return frame.join(triples.with_columns(looked_up), on=TRIPLE, how="left", maintain_order="left")["code"].to_numpy()


def _plain(names: polars.Series, rows: Any) -> list[Any]:
    return [name if isinstance(name, str | int) or name is None else str(name) for name in names.gather(rows).to_list()]


def _missing(row: Mapping[str, Any]) -> Fault:
    return Fault(f"the row has no {' and no '.join(role for role in TRIPLE if row[role] is None)}", Cause.EMPTY)
