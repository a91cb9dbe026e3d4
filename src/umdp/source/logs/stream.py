"""A stream of records, read as they come: standard input, or a file that grows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from umdp.errors import FormatError
from umdp.model import Graph
from umdp.source.logs.counting import RowCounter
from umdp.source.logs.format_detection import SniffingReader
from umdp.source.logs.json_reader import JsonReader
from umdp.source.logs.line_stream import BLOCK, Feed, FileFeed, PipeFeed
from umdp.source.logs.opening import OBJECTS
from umdp.source.logs.reader import Reader
from umdp.source.logs.recorded_data import Recorded
from umdp.source.logs.rejected import OnError
from umdp.source.resolve import STANDARD_INPUT
from umdp.statements import DiagnosticCode, say

__all__ = ["Stream"]


class Stream(Recorded):
    r"""A stream of records, one a line, each counted exactly once as it comes in, also after a kill.

    A record is ``{"state": ..., "action": ..., "next": ...}``, and may have ``"trajectory"``, a name, and ``"end"``, true
    with the last record of a trajectory; or it is a line of CSV, if the first line names these columns. A new trajectory
    begins after such an end, where the name changes and, without names, with every record that does not start where the one
    before it ended.

    With `follow`, a batch holds what has come within `patience` seconds, even if the last trajectory in it goes on; it is
    empty if nothing has come. A line counts once its newline is there.

    `state` holds the position in a file. Standard input cannot be read twice: `restore` then passes over as many lines as had
    been read, so that whoever sends must send the same lines again from the beginning.

    Parameters
    ----------
    path : str or path or binary file
        A file; ``"-"`` for standard input; or an open binary file that is read like it.
    graph : Graph
        The graph, or an MDP or interval MDP with it.
    follow : bool
        Whether to wait for more at the end of the file, for ever, and to give what there is meanwhile.
    columns : mapping of str to str, optional
        The keys trajectory, state, action, next and end, where they have other names.
    on_error : {"fail", "skip", "chance"}
        Whether a record that is malformed or contradicts the graph is an error, or is rejected and reported (see `Log`).
    rejected : str or path, optional
        A file to which records that are rejected are written.
    patience : float
        With `follow`: how many seconds a batch waits for its order to be met.
    poll : float
        With `follow`: how many seconds pass between looks at a file.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from umdp import Graph
    >>> from umdp.source import SamplingRequest
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], actions=["try", "stay"])
    >>> records = b'{"state": 0, "action": "try", "next": 0}\n{"state": 0, "action": "try", "next": 1, "end": true}\n'
    >>> stream = Stream(io.BytesIO(records), graph)
    >>> stream.begin()
    >>> batch = stream.collect(SamplingRequest(np.ones(2), np.zeros(2, bool), 100, np.full(2, -1), 1000))
    >>> batch.counts, batch.trajectories, batch.ended
    (array([1, 1, 0]), 1, True)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        graph: Graph,
        *,
        follow: bool = False,
        columns: Mapping[str, str] | None = None,
        on_error: OnError = "fail",
        rejected: str | os.PathLike[str] | None = None,
        patience: float = 0.5,
        poll: float = 0.05,
        block: int = BLOCK,
    ) -> None:
        feed: Feed
        if path == STANDARD_INPUT:
            if sys.stdin is None or sys.stdin.closed:
                raise FormatError("standard input is closed; give a file, or let something be read there")
            feed = PipeFeed(sys.stdin.buffer, follow=follow)
        elif isinstance(path, str | os.PathLike):
            feed = FileFeed(Path(path), follow=follow)
        else:
            feed = PipeFeed(path, follow=follow, name=str(getattr(path, "name", "stream")))
        reader: Reader
        if isinstance(feed, FileFeed) and str(path).lower().endswith(OBJECTS):
            reader = JsonReader(feed, columns, block=block)
        else:
            reader = SniffingReader(feed, columns, block)
        super().__init__(reader, graph, on_error=on_error, rejected=rejected)
        self._follow, self._patience, self._poll = follow, patience, poll
        self.eager = follow

    def _fill(self, counter: RowCounter) -> bool:
        deadline = time.monotonic() + self._patience
        while not self._take(counter):
            while not self._next():
                if self._reader.over:
                    return True
                left = deadline - time.monotonic()
                if self._follow and left <= 0:
                    return False
                self._reader.wait(min(self._poll, left) if self._follow else self._poll)
            if self._follow and time.monotonic() > deadline and counter.rows:
                return False
        return False

    def report(self) -> list[str]:
        """Return how much has been read, what was rejected, and what is unusual about the data."""
        return [say(DiagnosticCode.RECORDS, records=self._read, name=self._reader.name), *super().report()]
