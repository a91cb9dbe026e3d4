"""Reading rows from Parquet, a slice at a time, so that a file of any length needs the same memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from umdp.errors import FormatError, MissingExtra
from umdp.source.logs.line_stream import blocks, opened
from umdp.source.logs.prefix import Prefix
from umdp.source.logs.reader import SLICE, TRIPLE, SlicedReader, choose_columns, missing
from umdp.source.logs.row_decoding import Chunk, Outcome, Triple
from umdp.source.logs.trajectory_ends import FINAL, RecordingEnds, over_and_final
from umdp.source.lookup import Memo

if TYPE_CHECKING:
    import polars

__all__ = ["ParquetReader"]


class ParquetReader(SlicedReader):
    """Rows of a Parquet file; rows with a missing value are malformed.

    Parameters
    ----------
    path : path
    columns : mapping of str to str or None
        The names of the columns trajectory, state, action, next and end, where they have others.
    block : int or None
        How many rows are read at a time.
    """

    def __init__(self, path: Path, columns: Mapping[str, str] | None, block: int | None) -> None:
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("data", "reading Parquet files") from None
        self.name, self._path, self._block = str(path), path, block or SLICE
        opened(path).close()
        try:
            scan = pl.scan_parquet(path, glob=False)
            schema = scan.collect_schema()
            chosen = choose_columns(columns, schema.names(), path)
            self._scan, self.columns = scan, chosen
            self.header: Sequence[str] = schema.names()
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
        self.names_trajectories = "trajectory" in chosen
        self.ends = RecordingEnds.of({role: chosen[role] for role in self._final})
        self._row = 0

    @cached_property
    def _prefix(self) -> Prefix:
        with opened(self._path) as file:
            return Prefix.of(blocks(file, os.fstat(file.fileno()).st_size))

    def read(self) -> Chunk | None:
        """Return the next slice of rows."""
        import polars as pl

        if self.over:
            return None
        columns = {**self.columns, **{f"extra{n}": column for n, column in enumerate(self._extra)}}
        try:
            rows = self._scan.select(pl.col(column).alias(name) for name, column in columns.items())
            frame = rows.slice(self._row, self._block).collect()
        except pl.exceptions.PolarsError as error:
            raise FormatError(
                f"rows from {self._row + 1} on cannot be read: {str(error).splitlines()[0]}", path=self.name
            ) from None
        first = self._row
        self._row += frame.height
        lacking = frame.select(pl.any_horizontal(pl.col(TRIPLE).is_null())).to_series().to_numpy()
        whole = frame.drop_nulls(TRIPLE) if lacking.any() else frame
        # A missing value of a flag says no.
        over, final = over_and_final(
            {role: whole[role].fill_null(0).cast(bool).to_numpy() for role in self._final}, whole.height
        )
        return _Slice(
            frame.height,
            np.flatnonzero(~lacking),
            whole.select(TRIPLE),  # type: ignore[arg-type]
            _names(whole["trajectory"]) if self.names_trajectories else None,
            over,
            final,
            {row: missing(frame.row(row, named=True)) for row in np.flatnonzero(lacking).tolist()},
            [whole[f"extra{n}"].to_list() for n in range(len(self._extra))],
            lambda row: (f"row {first + row + 1}", None),
            lambda row: frame.row(row, named=True),
            lambda taken: {"row": first + taken},
        )

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a row says."""
        return {role: str(raw[role]) for role in TRIPLE if raw[role] is not None}


class _Slice(Chunk):
    """Rows of Parquet; their triples are a frame, in which each different one is looked up once."""

    triples: polars.DataFrame  # type: ignore[assignment]

    def codes(self, memo: Memo) -> Any:
        """Return what `Memo` says of each row."""
        import polars as pl

        different = self.triples.unique(maintain_order=True)
        codes = pl.Series("code", [memo[triple] for triple in different.iter_rows()], dtype=pl.Int64)
        coded = different.with_columns(codes)
        return self.triples.join(coded, on=TRIPLE, how="left", maintain_order="left")["code"].to_numpy()

    def steps(self) -> list[Triple]:
        """Return state, action and next state of each row."""
        return list(self.triples.iter_rows())

    def outcomes(self, steps: Sequence[Triple]) -> Iterable[Outcome]:
        """Return the outcomes, each once if nothing else is asked for."""
        import polars as pl

        if self.extra:
            return super().outcomes(steps)
        return self.triples.with_columns(pl.Series("final", self.final)).unique(maintain_order=True).iter_rows()


def _names(names: polars.Series) -> list[Any]:
    """Return the names of trajectories, as text where they are neither text nor whole numbers."""
    import polars as pl

    found = names.to_list()
    if names.dtype == pl.String or names.dtype.is_integer():
        return found
    return [name if isinstance(name, str | int) or name is None else str(name) for name in found]
