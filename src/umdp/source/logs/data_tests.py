"""Tests of a log's assumptions: no row twice, one process, whatever the position in the file, and the Markov property."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.source.logs.duplicate_names import SameName
from umdp.source.lookup import Lookup
from umdp.source.markov import MarkovTest
from umdp.statements import Code, Statement, say

__all__ = ["DataTests", "drift"]

Array = NDArray[Any]

LEVEL = 1e-6  # probability that a log which is as it should be is said not to be
FIRST = 32  # rows before the first look for drift; each look comes after twice as many rows as the one before
LOOKS = 64  # so many looks share the level
KEPT = 2048  # fingerprints kept: a sample of all, in which what is alike is either kept or left out together
SUSPECT = 12.0  # chi-square statistic below which no exact p-value is worth computing
MOST = 100  # exact p-values computed at a time


class DataTests:
    r"""Tests of drift and of repetition, in one pass and in memory that does not grow with the log.

    Drift: when a log has become twice as long, and at its end, the outcomes of every choice before and after are compared by
    Fisher's exact test.

    Repetition: fingerprints of whole trajectories, and of pieces of about 256 rows cut where their contents say so, are
    compared. Two that are alike are a finding only if chance would hardly have made them so: if the outcomes in one of them have
    a probability of at most :math:`\alpha / n^2`, with :math:`n` stretches so far, estimated from counts on the safe side. Short
    or nearly deterministic trajectories repeat by chance and are no finding, unless under the same name. Of a long log a sample
    is compared, so that copies of less than about a thousandth of it may stay unnoticed.

    These are wrong about a log without copies and drift with a probability of about 1e-6. Whether outcomes depend on the past is
    left to `MarkovTest`, which is wrong about a Markov process with a probability of at most 0.001.

    Examples
    --------
    >>> from umdp import Graph
    >>> tests = DataTests(Lookup(Graph([0, 1, 2], [0, 2, 3], [0, 1, 1])))
    >>> rows, begins = np.random.default_rng(1).integers(0, 2, 1000), np.arange(1000) % 100 == 0
    >>> tests.take(rows, begins); tests.findings
    ()
    >>> tests.take(rows, begins); tests.findings
    ('rows occur more than once: at least ... rows stand in copies of other rows, too long to be chance; ...',)
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup, self._markov = lookup, MarkovTest(lookup.graph)
        self.begin()

    def begin(self) -> None:
        """Start with no rows."""
        graph = self._lookup.graph
        self._counts: Array = np.zeros((2, graph.transitions), dtype=np.int64)
        self._choices: Array = np.zeros(graph.choices, dtype=np.int64)
        self._words: Array = np.zeros(20, dtype=np.uint64)
        self._numbers: Array = np.zeros(4, dtype=np.int64)
        self._surprise: Array = np.zeros(2)
        self._known: Array = np.zeros(0, dtype=np.uint64)
        self._limit = np.uint64(2**64 - 1)  # fingerprints above it are not kept
        self._rows, self._next, self._looks = 0, FIRST, 0
        self._stretches = self._copied = 0
        self._drift: Statement | None = None
        self._over = False
        self.names = SameName()
        self._markov.begin()

    @property
    def findings(self) -> tuple[Statement, ...]:
        """What speaks against the assumptions, a statement each."""
        copied = say(Code.COPIES, copied=self._copied) if self._copied else None
        found = self._markov.finding
        past = None if found is None else found.said
        return tuple(each for each in (copied, self.names.finding, self._drift, past) if each is not None)

    def take(self, transition: Array, begins: Array, names: Array | None = None) -> None:
        """Take in rows, in order.

        Parameters
        ----------
        transition, begins : (n,) the transition of each row (-1: none), and whether a trajectory begins with it
        names : a number (uint64) for the name of each trajectory that begins; None without names
        """
        self._markov.take(transition, begins)
        at, begun = 0, 0
        names = np.zeros(0, np.uint64) if names is None else names
        while at < transition.size:
            end = min(at + self._next - self._rows, transition.size)
            self._pass(transition[at:end], begins[at:end], names[begun:])
            begun += int(np.count_nonzero(begins[at:end]))
            self._rows += end - at
            at = end
            if self._rows == self._next:
                self._look()
                self._counts[0] += self._counts[1]
                self._counts[1] = 0
                self._next *= 2

    def end(self) -> None:
        """Look once more, at the end of the log."""
        if self._over:
            return
        self._over = True
        self._look()
        self._markov.look()
        # An imagined row completes what goes on.
        self._numbers[3] = 1
        self._pass(np.array([-1]), np.array([True]), np.zeros(0, np.uint64))

    def _pass(self, transition: Array, begins: Array, names: Array) -> None:
        from umdp.source.logs.fingerprint_kernels import Counts, Going, Stretches, fingerprints

        most = 2 * transition.size
        out = Stretches(np.empty(most, np.uint64), np.empty(most, np.int64), np.empty(most), np.empty(most, np.uint64))
        counted = Counts(self._lookup.choice_of, self._counts[0], self._counts[1], self._choices)
        transition, begins = np.ascontiguousarray(transition, dtype=np.int64), np.ascontiguousarray(begins)
        going = Going(self._words, self._numbers, self._surprise)
        found = fingerprints(transition, begins, names, counted, going, out)
        prints, sizes, unlikely, named = (each[:found] for each in out)
        self._stretches += found
        if names.size or self.names:
            self.names.take(named, prints, unlikely)
        enough = 2 * np.log(max(self._stretches, 2)) - np.log(LEVEL / 3)
        chosen = np.flatnonzero((unlikely > enough) & (prints <= self._limit))
        if not chosen.size:
            return
        fresh, index, times = np.unique(prints[chosen], return_index=True, return_counts=True)
        copies = times - 1 + np.isin(fresh, self._known, assume_unique=True)
        # Trajectories and pieces cover the same rows, so that each copied row is counted up to twice.
        self._copied += -int(-(copies * sizes[chosen][index]).sum() // 2)
        self._known = np.union1d(self._known, fresh)
        if self._known.size > KEPT:
            self._known = self._known[: KEPT // 2]
            self._limit = self._known[-1]

    def _look(self) -> None:
        """Compare the outcomes before the last look with those since."""
        self._looks += 1
        if self._drift or self._looks > LOOKS:
            return
        first, second = self._counts
        found = drift(self._lookup, first, second)
        if found is None or found[1] >= LEVEL / 3 / LOOKS:
            return
        transition, graph = found[0], self._lookup.graph
        choice = int(self._lookup.choice_of[transition])
        own = slice(graph.choice_ptr[choice], graph.choice_ptr[choice + 1])
        self._drift = say(
            Code.DRIFT,
            state=graph.state_name(int(graph.choice_state[choice])),
            action=graph.action_name(choice),
            successor=graph.state_name(int(graph.successor[transition])),
            before=(int(first[transition]), int(first[own].sum())),
            after=(int(second[transition]), int(second[own].sum())),
            row=self._next // 2,
            p=found[1],
        )

    def said(self) -> tuple[dict[str, Callable[[str], int]], int]:
        """Return how many of the rows so far name a state, an action or a next state, as functions; and how many there are."""
        lookup, counts = self._lookup, self._counts.sum(axis=0)
        graph, taken = lookup.graph, np.add.reduceat(counts, lookup.graph.choice_ptr[:-1])

        def at(states: Array) -> Callable[[str], int]:
            return lambda name: int(counts[states == number].sum()) if (number := lookup.state(name)) >= 0 else 0

        def acted(name: str) -> int:
            return sum(int(taken[c]) for c in np.flatnonzero(taken) if graph.action_name(int(c)) == name)

        return {"state": at(lookup.start), "action": acted, "next": at(graph.successor)}, int(counts.sum())

    # -- going on --------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs."""
        return {
            "tests_counts": self._counts.copy(),
            "tests_choices": self._choices.copy(),
            "tests_words": np.concatenate([self._words, self._known]),
            "tests_numbers": [
                *self._numbers.tolist(),
                self._rows,
                self._next,
                self._looks,
                self._stretches,
                self._copied,
            ],
            "tests_surprise": self._surprise.tolist(),
            "tests_limit": str(self._limit),
            "tests_drift": str(self._drift or ""),
            "tests_over": int(self._over),
            **self.names.state(),
            **self._markov.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state."""
        self._counts = np.array(state["tests_counts"], dtype=np.int64)
        self._choices = np.array(state["tests_choices"], dtype=np.int64)
        words = np.array(state["tests_words"], dtype=np.uint64)
        self._words, self._known = words[:20].copy(), words[20:].copy()
        numbers = [int(number) for number in state["tests_numbers"]]
        self._numbers = np.array(numbers[:4])
        self._rows, self._next, self._looks, self._stretches, self._copied = numbers[4:]
        self._surprise = np.array(state["tests_surprise"], dtype=np.float64)
        self._limit = np.uint64(int(state["tests_limit"]))
        drift = str(state["tests_drift"])
        self._drift, self._over = Statement(drift, Code.DRIFT) if drift else None, bool(state["tests_over"])
        self.names.restore(state)
        self._markov.restore(state)


def drift(lookup: Lookup, first: Array, second: Array) -> tuple[int, float] | None:
    """Return the transition whose share changed most from the first to the second stretch of a log, and its p-value.

    The p-value is that of Fisher's exact test of the outcome against all others of its choice, times the number of outcomes
    tested (Bonferroni). None if there is nothing to suspect.

    Examples
    --------
    >>> from umdp import Graph
    >>> lookup = Lookup(Graph([0, 1, 2], [0, 2, 3], [0, 1, 1]))
    >>> drift(lookup, np.array([50, 0, 0]), np.array([0, 50, 0]))
    (0, 3.9...e-29)
    >>> drift(lookup, np.array([25, 25, 0]), np.array([26, 24, 0])) is None
    True
    """
    pointers, choice_of = lookup.graph.choice_ptr[:-1], lookup.choice_of
    early_all, late_all = np.add.reduceat(first, pointers), np.add.reduceat(second, pointers)
    total, both = first + second, (early_all > 0) & (late_all > 0)
    tested = np.flatnonzero(both[choice_of] & (total > 0) & (total < (early_all + late_all)[choice_of]))
    if not tested.size:
        return None
    early, late = first[tested], second[tested]
    rows_early, rows_late = early_all[choice_of[tested]], late_all[choice_of[tested]]
    share = (early + late) / (rows_early + rows_late)
    spread = share * (1 - share) * rows_early * rows_late / (rows_early + rows_late)
    statistic = (early - share * rows_early) ** 2 / spread
    suspects = np.flatnonzero(statistic > SUSPECT)
    if not suspects.size:
        return None
    from scipy.stats import fisher_exact

    suspects = suspects[np.argsort(-statistic[suspects])[:MOST]]
    p_values = [
        float(fisher_exact(np.array([[early[i], rows_early[i] - early[i]], [late[i], rows_late[i] - late[i]]])).pvalue)
        for i in suspects
    ]
    best = int(np.argmin(p_values))
    return int(tested[suspects[best]]), min(p_values[best] * tested.size, 1.0)
