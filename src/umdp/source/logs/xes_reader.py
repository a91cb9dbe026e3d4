"""Reading event logs in XES, the XML of process mining: a case is a trajectory, and what happened last is its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from umdp.errors import FormatError
from umdp.source.logs.encodings import UTF_8, known_encoding
from umdp.source.logs.line_stream import FileFeed
from umdp.source.logs.prefix import Prefix
from umdp.source.logs.reader import TRIPLE, Reader, meant, missing
from umdp.source.logs.rejected import Fault
from umdp.source.logs.row_decoding import Chunk

__all__ = ["ACTION", "XesReader"]

ACTION = "continue"  # of steps, where no attribute of events says what was done
CASE, ACTIVITY = "case:", "concept:name"
ROLES = ("trajectory", "state", "action")
VALUES = ("string", "date", "int", "float", "boolean", "id")
SLICE, LOOKED_AT = 1 << 13, 100

Attributes = dict[str, str]


class _Step(NamedTuple):
    """What leads from an event to the next one of its case."""

    case: str
    number: int
    state: str | None
    action: str | None
    next: str | None
    last: bool
    attributes: Attributes


class XesReader(Reader):
    """Steps from event to event of the cases of an XES log, which is parsed as it is read.

    A step leads from the state after an event to that after the next one of the case. The state is the activity of the event
    (``concept:name``), unless another attribute is named. The action is an attribute of the event to which a step leads, if one
    is named; otherwise all steps have the action "continue". Other columns are attributes of that event, or of its case
    (``case:NAME``). Of what follows the last event of a case nothing is said. A document type, which may define entities that
    expand, is refused.

    Parameters
    ----------
    feed : FileFeed
    columns : mapping of str to str or None
        The attributes that say trajectory (of a case), state and action (of an event).
    block : int or None
        How many steps are read at a time.
    recoded : bool
        Whether what the feed gives is UTF-8, whatever the file declares.
    """

    def __init__(
        self, feed: FileFeed, columns: Mapping[str, str] | None, block: int | None, *, recoded: bool = False
    ) -> None:
        self.name, self._feed, self._block, self._recoded = feed.name, feed, block or SLICE, recoded
        given = dict(columns or {})
        for role in given:
            if role not in ROLES:
                raise FormatError(
                    f"the columns of an event log are {', '.join(ROLES)}; there is no role {role}{meant(role, ROLES)}",
                    path=self.name,
                )
        self.columns = {"trajectory": CASE + ACTIVITY, "state": ACTIVITY, **given}
        self.encoding = feed.encoding
        self.begin()

    @property
    def over(self) -> bool:
        """Whether all steps have been read."""
        return self._over

    def begin(self) -> dict[str, int]:
        """Go to the first step."""
        self._steps, self._over, self._row = self._read_steps(), False, 0
        self._prefix, self._summed = Prefix(), 0
        self._at_hand: list[_Step] = []  # those that were read last
        return {"row": 0}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go to a step; those before it must be what they were."""
        self.begin()
        for step in islice(self._steps, int(position["row"])):
            self._sum([step])
            self._row += 1
        self._prefix.compare(position, self.name)

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checksum of the steps before a position."""
        first = self._row - len(self._at_hand)
        self._sum(self._at_hand[self._summed - first : int(position["row"]) - first])
        return self._prefix.state()

    def _sum(self, steps: list[_Step]) -> None:
        for step in steps:
            self._prefix.extend(repr(step[:-1]).encode())
        self._summed += len(steps)

    def read(self) -> Chunk | None:
        """Return the next steps."""
        self.evidence({"row": self._row})
        first, steps = self._row, list(islice(self._steps, self._block))
        self._at_hand, self._row = steps, first + len(steps)
        self._over = len(steps) < self._block
        if not steps:
            return None
        malformed = _faults(steps)
        well = [row for row in range(len(steps)) if row not in malformed]
        good = [steps[row] for row in well]
        return Chunk(
            len(steps),
            np.array(well, np.int64),
            [(step.state, step.action, step.next) for step in good],
            [step.case for step in good],
            np.array([step.last for step in good], np.bool_),
            np.zeros(len(good), np.bool_),
            malformed,
            [[step.attributes.get(name) for step in good] for name in self._extra],
            lambda row: (f"case {steps[row].case}, event {steps[row].number + 1}", None),
            lambda row: dict(zip(("case", "event", *TRIPLE), steps[row][:5], strict=True)),
            lambda taken: {"row": first + taken},
        )

    def described(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the attributes that are read, by their roles, and others; as the first events have them."""
        self.begin()
        found = dict.fromkeys(name for step in islice(self._steps, LOOKED_AT) for name in step.attributes)
        return dict(self.columns), tuple(name for name in found if name not in self.columns.values())

    def cells(self, raw: Any) -> dict[str, str]:
        """Return what a step says."""
        return {role: raw[role] for role in TRIPLE if raw[role] is not None}

    def close(self) -> None:
        """Close the file."""
        self._steps.close()
        self._feed.close()

    # -- from bytes to steps -----------------------------------------------------------------------------------

    def _read_steps(self) -> Any:
        """Yield the steps of all cases, in order."""
        state, action = self.columns["state"], self.columns.get("action")
        for number, (about, events) in enumerate(self._cases(), 1):
            of_case = {CASE + name: value for name, value in about.items()}
            case = of_case.get(self.columns["trajectory"]) or f"number {number}"
            for place, (before, event) in enumerate(pairwise(events), 1):
                done = ACTION if action is None else event.get(action)
                last = place == len(events) - 1
                yield _Step(case, place, before.get(state), done, event.get(state), last, {**of_case, **event})

    def _cases(self) -> Iterator[tuple[Attributes, list[Attributes]]]:
        """Yield the attributes of every case, and those of its events."""
        parser, found = expat.ParserCreate(UTF_8 if self._recoded else None), _Handler(self.name)
        parser.StartElementHandler, parser.EndElementHandler = found.start, found.end
        parser.StartDoctypeDeclHandler, parser.XmlDeclHandler = found.doctype, found.declared
        try:
            for data in self._feed.everything():
                parser.Parse(data, False)
                if not self._recoded:
                    self.encoding = found.encoding
                yield from found.taken()
            parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            line = getattr(error, "lineno", None)
            raise FormatError(f"the XML cannot be read: {error}", path=self.name, line=line) from None
        yield from found.taken()


class _Handler:
    """Gathers cases from the elements of a document; what stands outside cases, or within attributes, is passed over."""

    def __init__(self, name: str) -> None:
        self.encoding = UTF_8
        self._name, self._path = name, list[str]()
        self._cases: list[tuple[Attributes, list[Attributes]]] = []
        self._about, self._events = Attributes(), list[Attributes]()

    def start(self, tag: str, attributes: Attributes) -> None:
        """Take in the beginning of an element."""
        tag = tag.rpartition(":")[2]
        if not self._path and tag != "log":
            raise FormatError(f"this is no event log: XES begins with <log>, and this with <{tag}>", path=self._name)
        self._path.append(tag)
        place = self._path[1:]
        if place == ["trace"]:
            self._about, self._events = {}, []
        elif place == ["trace", "event"]:
            self._events.append({})
        elif tag in VALUES and place[:-1] in (["trace"], ["trace", "event"]):
            value = attributes.get("value", "").strip()
            if value:
                (self._about if len(place) == 2 else self._events[-1])[attributes.get("key", "")] = value

    def end(self, tag: str) -> None:
        """Take in the end of an element."""
        if self._path[1:] == ["trace"]:
            self._cases.append((self._about, self._events))
        self._path.pop()

    def doctype(self, *declared: Any) -> None:
        """Refuse a document type."""
        raise FormatError("the file declares a document type, and XES has none; remove <!DOCTYPE ...>", path=self._name)

    def declared(self, version: str, encoding: str | None, standalone: int) -> None:
        """Take note of the encoding."""
        self.encoding = known_encoding(encoding or self.encoding)

    def taken(self) -> list[tuple[Attributes, list[Attributes]]]:
        """Return the cases that are whole, once."""
        found, self._cases = self._cases, []
        return found


def _faults(steps: list[_Step]) -> dict[int, Fault]:
    """Return what is missing in which steps."""
    return {
        row: missing(step._asdict()) for row, step in enumerate(steps) if not (step.state and step.action and step.next)
    }
