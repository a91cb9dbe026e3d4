"""What speaks against an environment, judged by what was seen of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from umdp.model import Graph
from umdp.model.structure import mask_of
from umdp.source.lookup import Lookup
from umdp.source.markov import MarkovTest
from umdp.source.observed_graph import ObservedGraph
from umdp.statements import DiagnosticCode, PastFeature, say, stated

__all__ = [
    "Finding", "FindingKind", "Seen", "ambiguous", "dependence", "dependent", "endless", "masked", "remembering", "signs",
    "unlisted",
]  # fmt: skip

EXPECTED = 10.0  # fewest expected in a cell: the chi-square law is wrong in its tail for fewer


class FindingKind(StrEnum):
    """What something that speaks against an environment is about."""

    RULES = "rules"
    STATES = "states"
    START = "start"
    SUCCESSORS = "successors"
    TERMINATION = "termination"
    DRIFT = "drift"
    HISTORY = "history"
    CLOCK = "clock"
    ACTIONS = "actions"
    REWARDS = "rewards"
    SEED = "seed"
    ALIKE = "alike"
    UNSEEDED = "unseeded"
    GLOBAL = "global"
    TIME = "time"


@dataclass(frozen=True)
class Finding:
    """One reason: what kind it is, the place and the remedy, and whether it rules learning out.

    Examples
    --------
    >>> print(Finding(FindingKind.REWARDS, "rewards have both signs; shift them", fatal=False))
    note (rewards): rewards have both signs; shift them
    """

    kind: FindingKind
    text: str
    fatal: bool = True

    @property
    def code(self) -> str:
        """What was found, for programs."""
        return stated(self.text).code.value

    def __str__(self) -> str:
        return f"{'unfit' if self.fatal else 'note'} ({self.kind}): {self.text}"


@dataclass
class Seen:
    """What random episodes showed: visits of (state, action) with predecessor and successor, and whatever else is judged.

    `rows` are (state, action, successor) in order, and `begins` the rows with which episodes begin.
    """

    starts: dict[Hashable, int] = field(default_factory=lambda: defaultdict(int))
    rows: list[tuple[Hashable, Any, Hashable]] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    visits: dict[tuple[Hashable, Any], list[tuple[Hashable, Hashable]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    ended: dict[Hashable, None] = field(default_factory=dict)
    masks: dict[Hashable, set[tuple[bool, ...]]] = field(default_factory=lambda: defaultdict(set))
    rewards: dict[int, tuple[Hashable, Any, float]] = field(default_factory=dict)
    on_the_way: set[int] = field(default_factory=set)
    late: int = 0
    episodes: int = 0
    steps: int = 0

    @property
    def states(self) -> set[Hashable]:
        """All states that were met."""
        met = {state for state, _ in self.visits}
        return met.union(self.starts, *({target for _, target in visit} for visit in self.visits.values()))

    @cached_property
    def outcomes(self) -> dict[tuple[Hashable, Any], Counter[Hashable]]:
        """How often each successor came, by (state, action)."""
        return {pair: Counter(target for _, target in visits) for pair, visits in self.visits.items()}


def unlisted(seen: Seen, graph: Graph, entry: bool | None) -> Iterator[Finding]:
    """Yield starts and successors that a graph does not list; `entry`: whether its initial state stands for the reset."""
    lookup = Lookup(graph)
    first = graph.initial
    for start in seen.starts:
        number = lookup.state(start)
        through = entry is not False and number >= 0 and lookup.transition(int(graph.state_ptr[first]), number) >= 0
        if number != first and not through:
            yield Finding(
                FindingKind.START,
                say(DiagnosticCode.STARTS_ELSEWHERE, start=start, initial=graph.state_name(first)),
            )
    strangers: set[Hashable] = set()
    for (state, action), visits in seen.visits.items():
        for successor in dict.fromkeys(target for _, target in visits):
            place = lookup.place(state, action, successor)
            if place.transition >= 0 or state in strangers or successor in strangers:
                continue
            if place.successor < 0:
                strangers.add(successor)
            yield Finding(
                FindingKind.SUCCESSORS,
                say(DiagnosticCode.NOT_LISTED, why=place.reason, state=state, action=action),
            )


def ambiguous(seen: Seen) -> Iterator[Finding]:
    """Yield states in which some episodes terminate and others go on."""
    left = {state for state, _ in seen.visits}
    for state in seen.ended:
        if state in left:
            yield Finding(FindingKind.TERMINATION, say(DiagnosticCode.ENDS_AND_GOES_ON, state=state))


def dependent(seen: Seen, level: float) -> Iterator[Finding]:
    """Yield where successors drift or depend on history, with all tests together wrong with probability `level`."""
    tests: list[tuple[FindingKind, Hashable, Any, float]] = []
    for (state, action), visits in seen.visits.items():
        half = len(visits) // 2
        halves = dependence([(i >= half, target) for i, (_, target) in enumerate(visits)])
        tests += [(FindingKind.DRIFT, state, action, halves)] if halves is not None else []
        past = dependence(visits)
        tests += [(FindingKind.HISTORY, state, action, past)] if past is not None else []
    for kind, state, action, value in tests:
        if value * len(tests) >= level:
            continue
        code = DiagnosticCode.DRIFTS if kind is FindingKind.DRIFT else DiagnosticCode.STATE_BEFORE
        yield Finding(kind, say(code, state=state, action=action, visits=len(seen.visits[state, action]), p=value))


def remembering(seen: Seen, level: float) -> list[Finding]:
    """Return what of the past successors depend on, wrong with probability `level`; see `MarkovTest`."""
    observed = ObservedGraph()
    for state, action, successor in seen.rows:
        observed.add(state, action, successor)
    if not seen.rows:
        return []
    graph = observed.graph(seen.rows[0][0], names=repr, rest=False)
    listed = [each[:3] for own in observed.transitions(rest=False) for each in own]
    number = {row: transition for transition, row in enumerate(listed)}
    test = MarkovTest(graph, level)
    test.take(np.array([number[row] for row in seen.rows]), mask_of(seen.begins, len(seen.rows)))
    test.look()
    if test.finding is None:
        return []
    clock = test.finding.past in (PastFeature.CLOCK, PastFeature.PARITY)
    return [Finding(FindingKind.CLOCK if clock else FindingKind.HISTORY, test.finding.said)]


def masked(seen: Seen) -> Iterator[Finding]:
    """Yield states whose available actions differ from visit to visit."""
    for state, masks in seen.masks.items():
        if len(masks) > 1:
            yield Finding(FindingKind.ACTIONS, say(DiagnosticCode.MASK_VARIES, state=state, masks=len(masks)))


def signs(seen: Seen) -> list[Finding]:
    """Return whether rewards have both signs, and what can then be asked."""
    if len(seen.rewards) < 2:
        return []
    (up, by, gain), (down, at, loss) = seen.rewards[1], seen.rewards[-1]
    found = say(
        DiagnosticCode.BOTH_SIGNS,
        gain=(gain, up, by),
        loss=(loss, down, at),
        gains=1 in seen.on_the_way,
        losses=-1 in seen.on_the_way,
    )
    return [Finding(FindingKind.REWARDS, found, fatal=False)]


def endless(seen: Seen) -> list[Finding]:
    """Return whether states do not recur."""
    if seen.late <= seen.steps // 8:
        return []
    last = seen.steps - seen.steps // 2
    return [
        Finding(
            FindingKind.STATES,
            say(DiagnosticCode.NEVER_RECURS, late=seen.late, steps=last, states=len(seen.states)),
        )
    ]


def dependence(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return the p-value of the chi-square test of independence of (circumstance, outcome), None for too few of them.

    Circumstances and outcomes that are too rare to be expected 10 times together are thrown together first.

    Examples
    --------
    >>> dependence([(i % 2, i % 2) for i in range(100)])
    1.5...e-23
    >>> dependence([(i % 2, i // 2 % 2) for i in range(100)])
    1.0
    >>> dependence([(0, 0), (1, 1)]) is None
    True
    """
    if len(pairs) < 4 * EXPECTED:
        return None
    rows, columns = Counter(row for row, _ in pairs), Counter(column for _, column in pairs)
    if len(rows) < 2 or len(columns) < 2:
        return None
    row_of = _grouped(rows, len(pairs) * EXPECTED / columns.most_common(1)[0][1])
    fewest = min(sum(n for row, n in rows.items() if row_of[row] == group) for group in set(row_of.values()))
    column_of = _grouped(columns, len(pairs) * EXPECTED / fewest)
    table = np.zeros((max(row_of.values()) + 1, max(column_of.values()) + 1))
    for row, column in pairs:
        table[row_of[row], column_of[column]] += 1
    if min(table.shape) < 2:
        return None
    from scipy.stats import chi2_contingency

    found = chi2_contingency(table, correction=False)
    return float(found.pvalue) if found.expected_freq.min() >= EXPECTED else None


def _grouped(times: Counter[Hashable], fewest: float) -> dict[Hashable, int]:
    """Return a group for each value, so that every group has at least `fewest`, if possible; the rare share one."""
    groups: dict[Hashable, int] = {}
    rare = []
    for value, count in times.most_common():
        if count >= fewest:
            groups[value] = len(groups)
        else:
            rare.append(value)
    if rare:
        together = len(groups)
        if sum(times[value] for value in rare) < fewest and groups:
            together -= 1
        groups.update(dict.fromkeys(rare, together))
    return groups
