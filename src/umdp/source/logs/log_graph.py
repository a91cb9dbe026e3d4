"""What a log shows: the graph of it, with the labels, rewards and initial state that somebody asks for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, ModelError
from umdp.model import REST, Graph, Rewards
from umdp.source.logs.decimals import check_decimal
from umdp.source.logs.extra_columns import LabelColumn, RewardColumn, RewardOf, Triple, per_state, read_reward
from umdp.source.logs.reader import Reader
from umdp.source.logs.rejected import Cause
from umdp.source.logs.row_decoding import Carry, Outcome, decode
from umdp.source.lookup import Lookup, Memo
from umdp.source.observed_graph import LabelOf, ObservedGraph, Transition, label_members
from umdp.statements import Code, DiagnosticCode, Statement, Unlisted, say

__all__ = ["BEGIN", "OBSERVED", "START", "GraphOptions", "LogGraph", "show"]

START, BEGIN = "the beginning", "begin"
OBSERVED = "observed"
FEW, MOST = 20, 10_000  # states that are compared, and with how many
COLUMN, NEXT = "column:", "next:"


@dataclass(frozen=True)
class GraphOptions:
    """What a graph made from a log is to have.

    Attributes
    ----------
    labels : functions of a state's name, or lists of names, patterns, ``column:NAME`` and ``next:NAME``
    rewards : see `umdp.source.Log`
    initial : the initial state, ``observed``, or None for that of the first row
    terminal : the states that end trajectories, though the log does not say so
    rest : whether choices have the outcome "anything else"
    strict : whether a value that cannot be read is an error
    decimal : what stands before decimals in columns of rewards, "," or "."; None where that is to be found out
    """

    labels: Mapping[str, LabelOf] = field(default_factory=dict)
    rewards: Mapping[str, RewardOf] = field(default_factory=dict)
    initial: str | int | None = None
    terminal: LabelOf | None = None
    rest: bool = True
    strict: bool = True
    decimal: str | None = None


@dataclass(frozen=True, eq=False)
class LogGraph:
    """A graph made from a log.

    Attributes
    ----------
    graph : what was seen, labelled
    starts : (S,) the transition by which a trajectory that begins in a state is counted; None where the initial state is given
    notes : what there is to say of it, a line each
    assumed : what must be true for any promise
    rewards : what must be true, or stands against it, where a reward is asked for; by its name
    left : (S,) which states were left by some row
    first : whether the initial state is that of the first row, for want of another
    named : whether rows say to which trajectory they belong
    decimal : what stands before decimals in all columns of rewards; None where they differ, or there are none
    """

    graph: Graph
    starts: NDArray[np.int64] | None
    notes: tuple[Statement, ...]
    assumed: tuple[Statement, ...]
    rewards: Mapping[str, tuple[Statement, ...]]
    left: NDArray[np.bool_]
    first: bool
    named: bool
    decimal: str | None


def show(reader: Reader, wanted: GraphOptions) -> LogGraph:
    """Return the graph of what a log shows; malformed rows are passed over, to be dealt with when the log is counted."""
    check_decimal(wanted.decimal)
    flags = {name: _flags(name, given) for name, given in wanted.labels.items()}
    meant = {name: read_reward(name, given, reader.header, wanted.decimal) for name, given in wanted.rewards.items()}
    paid = {name: given for name, given in meant.items() if isinstance(given, RewardColumn)}
    gathered: list[LabelColumn | RewardColumn] = [*(each for own in flags.values() for each in own), *paid.values()]
    seen = _seen(reader, gathered, strict=wanted.strict)
    said = []
    if reader.ends is not None:
        seen.believed = reader.ends.says_of_states
        said = [say(Code.ENDS, column=reader.ends.column)] if seen.terminal.any() else []
    if wanted.terminal is not None:
        seen.make_terminal(wanted.terminal)
        said.append(say(Code.TERMINAL))
    labels: dict[str, Any] = {name: _marked(given, flags[name]) for name, given in wanted.labels.items()}
    slips = _slips(seen, wanted.initial, labels) if wanted.rest else {}
    if slips:
        seen = seen.without(slips)
    first: Any = next(iter(seen.number)) if wanted.initial is None else str(wanted.initial)
    drawn = first == OBSERVED and OBSERVED not in seen.number
    if drawn:
        first = _begin(seen, reader, rest=wanted.rest)
    labels = {"end": seen.ending, "unexplored": seen.unexplored, **labels}
    rewards = {name: _reward(name, given, seen, rest=wanted.rest) for name, given in meant.items()}
    graph = seen.graph(first, labels=labels, rewards=rewards, rest=wanted.rest)
    origin = say(
        DiagnosticCode.LOG_GRAPH,
        name=reader.name,
        states=graph.states,
        transitions=graph.transitions,
        unlisted=Unlisted.COUNTED if wanted.rest else Unlisted.MISSING,
    )
    notes = [origin, *(note for each in gathered for note in each.notes())]
    if reader.ends is not None and (open_ends := seen.ending & ~seen.terminal).any():
        notes.append(
            say(
                DiagnosticCode.RECORDINGS_END,
                column=reader.ends.column,
                states=[str(s) for s, last in zip(seen.number, open_ends, strict=True) if last],
            )
        )
    notes += [say(DiagnosticCode.SLIP, name=name, near=near, unlisted=Unlisted.COUNTED) for name, near in slips.items()]
    if drawn:
        notes.append(say(DiagnosticCode.BEGINNINGS, start=START))
    known = {name: each.statements for name, each in paid.items()}
    order = () if reader.names_trajectories and not drawn else (say(Code.ORDER),)
    assumed = (*order, *said, *(each.assumed for own in flags.values() for each in own))
    left = np.zeros(graph.states, np.bool_)
    left[: len(seen.number)] = ~(seen.unexplored | seen.terminal)
    starts, signs = _starts(graph) if drawn else None, {each.decimal for each in paid.values()}
    return LogGraph(
        graph, starts, tuple(notes), assumed, known, left, wanted.initial is None, reader.names_trajectories,
        signs.pop() if len(signs) == 1 else None,
    )  # fmt: skip


def _seen(reader: Reader, gathered: Sequence[LabelColumn | RewardColumn], *, strict: bool) -> ObservedGraph:
    """Go through a log once: every transition, and what some columns say of it."""
    reader.begin()
    seen = ObservedGraph()
    known: dict[Outcome, Triple] = {}
    for outcome in reader.outcomes([each.column for each in gathered]):
        key = outcome[:4]
        triple = known.get(key)
        if triple is None:
            state, action, successor = (str(part).strip() for part in outcome[:3])
            triple = known[key] = (state, action, successor)
            if all(triple):
                seen.add(*triple, end=outcome[3])
        if not all(triple):
            continue
        for each, value in zip(gathered, outcome[4:], strict=True):
            each.take(triple, value)
    if not seen.number:
        raise _nothing(reader)
    for each in gathered:
        each.check(reader.name, strict=strict)
    return seen


def _nothing(reader: Reader) -> FormatError:
    """Return why not a single row could be used, as the first of them shows."""
    if reader.spoilt is None:
        return FormatError("there is no row from which a graph could be made; give a graph", path=reader.name)
    place, why = reader.spoilt
    remedy = "correct the rows"
    if why.cause is Cause.ENCODING:
        remedy = 'name the encoding of the file, such as encoding="cp1252" or --encoding cp1252, or save it as UTF-8'
    elif why.cause is Cause.JSON:
        remedy = "write one object on every line; a list is taken apart by jq -c '.[]'"
    return FormatError(f"{why}, and no other row can be read either; {remedy}", path=place)


def _slips(seen: ObservedGraph, initial: str | int | None, labels: Mapping[str, LabelOf]) -> dict[str, str]:
    """Return states that are slips of the pen, and what was meant: never left, of no label, and nearly named like one that was.

    Nothing is lost by not listing them: what follows them is not known, so that they are "anything else" in any case.
    """
    names = list(map(str, seen.number))
    left = [names[s] for s in np.flatnonzero(~(seen.unexplored | seen.terminal))[:MOST] if _plain(names[s])]
    found: dict[str, str] = {}
    for s in np.flatnonzero(seen.unexplored & ~seen.ending):
        close = difflib.get_close_matches(names[s], left, 1, 0.6) if _plain(names[s]) and len(found) < FEW else []
        if close and names[s] != str(initial):
            found[names[s]] = close[0]
    kept = [label_members(name, given, list(seen.number)) for name, given in labels.items()]
    return {name: near for name, near in found.items() if not any(each[seen.number[name]] for each in kept)}


def _plain(name: str) -> bool:
    return name.isprintable() and not any(
        sign.isdigit() for sign in name
    )  # numbers are near each other and mean another


def _flags(name: str, given: LabelOf) -> list[LabelColumn]:
    if callable(given) or isinstance(given, str):
        return []
    own = [each for each in given if isinstance(each, str)]
    return [
        *(LabelColumn(name, each.removeprefix(COLUMN), of=0) for each in own if each.startswith(COLUMN)),
        *(LabelColumn(name, each.removeprefix(NEXT), of=2) for each in own if each.startswith(NEXT)),
    ]


def _marked(given: LabelOf, flags: Sequence[LabelColumn]) -> Any:
    """Return a label without its columns, which have been read."""
    if callable(given) or isinstance(given, str) or not flags:
        return given
    rest = [each for each in given if not (isinstance(each, str) and each.startswith((COLUMN, NEXT)))]
    return [*rest, *(state for each in flags for state in each.members)]


def _reward(
    name: str, given: RewardColumn | float | Mapping[str, float], seen: ObservedGraph, *, rest: bool
) -> Rewards:
    """Return a reward structure; what a column says is paid on transitions.

    The way to "anything else" pays the least, and so does every step from then on; or nothing, if that is less: it may be over.
    """
    if isinstance(given, Mapping):
        states = list(seen.number)
        paid = per_state(name, given, states)
        return Rewards(state=np.append(paid, paid.min(initial=0.0)) if rest else paid)
    rows = seen.transitions(rest=rest)
    if not isinstance(given, RewardColumn):
        return Rewards(choice=np.array([_by_rule(given, row[0]) for row in rows]))
    return Rewards(transition=np.array([_by_column(given, each) for row in rows for each in row]))


def _by_rule(paid: float, first: Transition) -> float:
    """Return what a choice pays whose first transition this is: what every step does, unless nobody took it."""
    if first.action is not None and first.state != START:
        return paid
    return min(paid, 0.0) if first.successor is None else 0.0  # None is "anything else"


def _by_column(paid: RewardColumn, each: Transition) -> float:
    if paid.knows(each[:3]):
        return paid.value(each[:3])
    if each.successor is not None or each.state == START:
        return 0.0
    return paid.least if each.state is not None else min(paid.least, 0.0)


def _begin(seen: ObservedGraph, reader: Reader, *, rest: bool) -> str:
    """Add a state from which one choice leads to the states in which trajectories begin."""
    if START in seen.number:
        raise ModelError(f'a state is called "{START}", which is the name of where trajectories come from; rename it')
    memo, carry = Memo(Lookup(seen.graph(next(iter(seen.number)), rest=rest))), Carry()
    first: dict[int, None] = {}
    reader.begin()
    while (chunk := reader.read()) is not None:
        rows = decode(chunk, memo, carry)
        begun = rows.transition[rows.begins]
        first.update(dict.fromkeys(memo.lookup.start[begun[begun >= 0]].tolist()))
        carry = rows.carry(rows.transition.size)
    names = list(seen.number)
    for state in first:
        seen.add(START, BEGIN, names[state])
    return START


def _starts(graph: Graph) -> NDArray[np.int64]:
    choice = int(graph.state_ptr[graph.initial])
    own = np.arange(graph.choice_ptr[choice], graph.choice_ptr[choice + 1])
    beyond = graph.labels.get(REST)
    last = own[-1] if beyond is not None else own[0]
    starts = np.full(graph.states, last, dtype=np.int64)
    starts[graph.successor[own]] = own
    return starts
