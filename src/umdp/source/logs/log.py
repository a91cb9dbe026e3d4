"""Logs of what happened: CSV, JSON lines, Parquet, Minari data sets; counted in one streaming pass."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from umdp.errors import FormatError, ModelError
from umdp.model import Graph
from umdp.source.logs.extra_columns import RewardOf
from umdp.source.logs.line_stream import Feed, FileFeed, PipeFeed
from umdp.source.logs.log_graph import GraphOptions, LogGraph, show
from umdp.source.logs.opening import SniffingReader, files_of, open_reader
from umdp.source.logs.recorded_data import Recorded
from umdp.source.logs.rejected import OnError
from umdp.source.observed_graph import LabelOf
from umdp.source.resolve import STANDARD_INPUT
from umdp.statements import DiagnosticCode, say

__all__ = ["Log", "Stream", "allowed_graph", "graph_of_log", "open_log", "table_of"]

Table = TypeVar("Table")
GIVEN = "labels, rewards, initial and terminal are for a graph made from the log; the graph that was given has its own"


class Log(Recorded):
    r"""A log of (trajectory, state, action, next state), of any length, counted in constant memory.

    Rows of one trajectory stand together and in order. States are given by name or number, actions by name or by
    number within their state. Where there is no column of trajectories, a new one begins with every row that does not start
    where the row before it ended. A column of ends, if there is one, says with which row a trajectory is over.

    Without a graph, it is what the log shows, and for every choice one more outcome, to the state "anything else" (see
    `graph_of_log`).

    Parameters
    ----------
    path : str, path, or data frame
        A file named .csv, .tsv, .jsonl, .ndjson, .xes, any of these with .gz, or .parquet (with the extra ``data``); a folder or
        pattern of such files, which are one data set, in order of their names; or ``minari:NAME`` (with the extra ``gym``), or
        a Minari data set. A data frame of polars or pandas, a table of Arrow or a mapping of columns is a log, too.
    graph : Graph, optional
        The graph, or an MDP or interval MDP with it. Without one, the graph is what the log shows (`graph_of_log`), and
        `report` says so.
    columns : mapping of str to str, optional
        The names of the columns trajectory, state, action, next, end, terminated and truncated, where they have others.
    on_error : {"fail", "skip", "chance"}
        Whether a row that is malformed or contradicts the graph is an error, or is rejected and reported. Nothing is promised
        once malformed rows were rejected, unless ``"chance"`` says that they were spoilt by chance, whatever they would have
        said: the promise then names that condition.
    rejected : str or path, optional
        A file to which rows that are rejected are written.
    labels : mapping, optional
        For a graph made from the log: functions of a state's name, or lists of names, patterns (``"fail*"``), ``"column:NAME"``
        (the column says yes of the state in which a row starts) and ``"next:NAME"`` (of the state to which it leads).
    rewards : mapping, optional
        For a graph made from the log: ``"COLUMN"``, which must say the same whenever a transition is taken;
        ``"COLUMN>=NUMBER"``, where no step pays less, seen or not; ``"mean:COLUMN"``, the mean of what was seen, about which
        nothing is promised; a number, paid with every step; or numbers by states, paid when they are left.
    initial : str or int, optional
        For a graph made from the log: the initial state, that of the first row unless it is given; or ``"observed"``, a state of
        its own whose one choice leads to the states in which trajectories begin, as often as they do.
    terminal : function or list, optional
        For a graph made from the log: the states that end trajectories. A column that is true with the last row of every
        recording does not say so: it marks where recordings end.
    rest : bool
        For a graph made from the log: whether choices have the outcome "anything else".
    state_of : function, optional
        For Minari: turns an observation into a state.
    block : int, optional
        How much is read at a time: bytes, or rows of Parquet.
    encoding : str, optional
        Of text, such as ``"cp1252"``. Without it UTF-8, UTF-16 with a byte order mark and cp1252 are told apart, and `report`
        says what was found out.
    decimal : "," or ".", optional
        For a graph made from the log: what stands before decimals in columns of rewards. Without it the numbers tell, or it is
        an error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from umdp.source import SamplingRequest
    >>> text = "trajectory,state,action,next\n1,a,go,a\n1,a,go,b\n2,a,go,b\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     _ = path.write_text(text)
    ...     log = Log(path, labels={"goal": ["b"]})
    ...     log.begin()
    ...     batch = log.collect(SamplingRequest(np.ones(3), np.zeros(3, bool), 100, np.full(3, -1), 1000))
    ...     log.close()
    >>> batch.counts, batch.trajectories, batch.ended
    (array([1, 2, 0, 0, 0]), 2, True)
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Any,
        graph: Graph | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        on_error: OnError = "fail",
        rejected: str | os.PathLike[str] | None = None,
        labels: Mapping[str, LabelOf] | None = None,
        rewards: Mapping[str, RewardOf] | None = None,
        initial: str | int | None = None,
        terminal: LabelOf | None = None,
        rest: bool = True,
        state_of: Callable[[Any], Hashable] | None = None,
        block: int | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
    ) -> None:
        reader = open_reader(path, columns, state_of, block, encoding)
        if rejected is not None:
            _check_apart(path, rejected)
        shown: LogGraph | None = None
        if graph is None:
            strict = on_error == "fail"
            shown = show(reader, GraphOptions(labels or {}, rewards or {}, initial, terminal, rest, strict, decimal))
            graph = shown.graph
        elif labels or rewards or initial is not None or terminal is not None:
            raise ModelError(GIVEN)
        super().__init__(reader, graph, on_error=on_error, rejected=rejected, shown=shown)
        self.encoding, self.decimal = reader.encoding, decimal if shown is None else shown.decimal

    def report(self) -> list[str]:
        """Return where the graph is from, what was rejected, and what is unusual about the data."""
        return [*(() if self._shown is None else self._shown.notes), *super().report()]


def open_log(
    path: str | os.PathLike[str],
    graph: Graph | None = None,
    *,
    follow: bool = False,
    on_error: str = "fail",
    columns: Mapping[str, str] | None = None,
    rejected: str | os.PathLike[str] | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    **wanted: Any,
) -> Recorded:
    """Return the source for a log, or for a stream: standard input (``"-"``), or a file to follow.

    What else a graph made from a log may be given (labels, rewards, initial, terminal) is as for `Log`.
    """
    options: dict[str, Any] = {"columns": columns, "on_error": on_error, "rejected": rejected, "encoding": encoding}
    if not (isinstance(path, str) and path == STANDARD_INPUT) and not follow:
        return Log(path, graph, **options, decimal=decimal, **wanted)
    if graph is None:
        raise ModelError(
            "a stream needs a graph, since nobody knows yet what it will show: give one with --graph (a model, FILE.py:NAME, or "
            "a CSV of state,action,next), or keep the stream in a file and learn from that"
        )
    if wanted:
        raise ModelError(GIVEN)
    from umdp.source.logs.log import Stream

    return Stream(path, graph, follow=follow, **options)


def _check_apart(path: Any, rejected: str | os.PathLike[str]) -> None:
    """Raise `FormatError` if rejected rows would be written over what is read."""
    if isinstance(path, str | os.PathLike) and os.path.exists(rejected):
        files = files_of(str(path)) or [Path(path)]
        if any(each.exists() and each.samefile(rejected) for each in files):
            raise FormatError("the log is read from this file; write rejected rows to another", path=rejected)


def table_of(read: Callable[[Mapping[str, str] | None], Table], columns: Mapping[str, str] | None) -> Table:
    """Return what is read of a table of state, action and next state, whose columns may have the names they have in a log."""
    try:
        return read(None)
    except FormatError:
        if not columns:
            raise
    return read({role: column for role, column in columns.items() if role in ("state", "action", "next")})


def allowed_graph(path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, **wanted: Any) -> Graph:
    """Return the graph that a table of state, action and next state lists: all of what can happen, and nothing else.

    Columns may have the names they have in a log. Labels, rewards, initial and terminal are as for `Log`.
    """
    return table_of(lambda named: graph_of_log(path, columns=named, rest=False, **wanted), columns)


def graph_of_log(
    path: str | os.PathLike[str] | Any,
    *,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, LabelOf] | None = None,
    rewards: Mapping[str, RewardOf] | None = None,
    initial: str | int | None = None,
    terminal: LabelOf | None = None,
    rest: bool = True,
    state_of: Callable[[Any], Hashable] | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Graph:
    """Return the observed graph of a log: what it shows, and for every choice the outcome "anything else".

    The initial state is that of the first row unless it is given. The label ``end`` marks states that are never left and of
    which the log (every row that leads there has a true ``end``) or `terminal` says that trajectories end there; their one
    choice is ``stay``. The label ``unexplored`` marks all others that are never left. Nobody knows what follows them: their one
    choice, ``unknown``, leads to "anything else". With ``rest=False`` there is no such state, what was not seen is missing, and
    a state that is never left is taken to be absorbing.

    Malformed rows are passed over here, to be dealt with when the log is counted.
    """
    reader = open_reader(path, columns, state_of, encoding=encoding)
    try:
        return show(reader, GraphOptions(labels or {}, rewards or {}, initial, terminal, rest, decimal=decimal)).graph
    finally:
        reader.close()


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
    encoding : str, optional
        Of the text; without it, what the lines that come first tell.

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
        block: int | None = None,
        encoding: str | None = None,
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
        super().__init__(SniffingReader(feed, columns, block, encoding), graph, on_error=on_error, rejected=rejected)
        self._follow, self._patience, self._poll = follow, patience, poll
        self.eager = follow

    def report(self) -> list[str]:
        """Return how much has been read, what was rejected, and what is unusual about the data."""
        return [say(DiagnosticCode.RECORDS, records=self._read, name=self._reader.name), *super().report()]
