"""Automata over letters: deterministic but for jumps, with acceptance by Rabin pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import SpecError
from umdp.model.structure import mask_of

__all__ = ["Automaton", "Pair", "cycles", "trimmed"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """A Rabin pair: a run is accepted if it leaves `avoid` for good and visits `repeat` again and again.

    Attributes
    ----------
    avoid, repeat : (Q,) sets of states
    """

    avoid: NDArray[np.bool_]
    repeat: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Automaton:
    """An automaton that reads one letter a step, and may jump between two of them where `jumps` lists somewhere to go.

    A word is accepted if some run is: by one of the pairs. Without jumps there is one run, and the automaton is deterministic.

    Attributes
    ----------
    initial : the state before the first letter
    letters : (L,) the letters that are known, rising; bit `i` says whether atom `i` holds
    step : (Q, L) the state after each letter
    jumps : for each state where one may jump to
    pairs : acceptance
    names : what each state stands for, or an empty tuple

    Examples
    --------
    >>> import numpy as np
    >>> again = Automaton(0, np.array([0, 1]), np.array([[0, 1], [0, 1]]), ((), ()),
    ...                   (Pair(np.array([False, False]), np.array([False, True])),))
    >>> again
    Deterministic automaton with 2 states over 2 letters
    >>> again.accepts([], [0, 1]), again.accepts([1], [0])
    (True, False)
    """

    initial: int
    letters: NDArray[np.int64]
    step: NDArray[np.int32]
    jumps: tuple[tuple[int, ...], ...]
    pairs: tuple[Pair, ...]
    names: tuple[str, ...] = field(default=())

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.step)

    @property
    def is_deterministic(self) -> bool:
        """Whether there is one run for every word."""
        return not any(self.jumps)

    @cached_property
    def sinks(self) -> NDArray[np.bool_]:
        """The states that are never left, shape (Q,)."""
        still = (self.step == np.arange(self.states)[:, None]).all(axis=1)
        found: NDArray[np.bool_] = still & np.array([not each for each in self.jumps], dtype=np.bool_)
        return found

    @property
    def settled(self) -> NDArray[np.bool_]:
        """The states from which every run ends in a sink that accepts, shape (Q,); of an automaton without jumps."""
        good = self.sinks & np.any([pair.repeat & ~pair.avoid for pair in self.pairs], axis=0)
        while True:
            more: NDArray[np.bool_] = good | good[self.step].all(axis=1)
            if (more == good).all():
                return more
            good = more

    def with_loss(self, letter: int) -> Automaton:
        """Return this with one more letter, larger than all others, after which nothing is accepted that was not before."""
        lost = self.states
        after = np.where(self.sinks, np.arange(lost), lost)[:, None]
        step = np.vstack([np.hstack([self.step, after]), np.full((1, self.letters.size + 1), lost)]).astype(np.int32)
        pairs = tuple(Pair(np.append(pair.avoid, True), np.append(pair.repeat, False)) for pair in self.pairs)
        names = (*self.names, "lost") if self.names else ()
        return Automaton(self.initial, np.append(self.letters, letter), step, (*self.jumps, ()), pairs, names)

    def codes(self, letters: Array) -> NDArray[np.int32]:
        """Return the column of `step` for each letter, or raise `SpecError` where one is not known."""
        place = np.minimum(np.searchsorted(self.letters, letters), self.letters.size - 1)
        wrong = np.flatnonzero(self.letters[place] != letters)
        if wrong.size:
            raise SpecError(f"the automaton does not know the letter {int(np.asarray(letters)[wrong[0]])}")
        return place.astype(np.int32)

    def accepts(self, prefix: Sequence[int], cycle: Sequence[int]) -> bool:
        """Whether the word is accepted that starts with letters `prefix` and then repeats those of `cycle` for ever."""
        from scipy.sparse.csgraph import breadth_first_order

        word = self.codes(np.array([*prefix, *cycle], dtype=np.int64))
        size, place = word.size, np.arange(word.size)
        ahead = np.append(place[1:], len(prefix))  # a state with a place in the word is one number
        read = (self.step[:, word] * size + ahead).ravel()
        jumps = [(q * size + place, jump * size + place) for q, each in enumerate(self.jumps) for jump in each]
        source = np.concatenate([np.arange(read.size), *(begin for begin, _ in jumps)])
        target = np.concatenate([read, *(end for _, end in jumps)])
        seen = mask_of(breadth_first_order(_edges(source, target, read.size), self.initial * size)[0], read.size)
        for pair in self.pairs:
            inside = seen & ~np.repeat(pair.avoid, size)
            stays = inside[source] & inside[target]
            if (cycles(source[stays], target[stays], read.size)[1] & inside & np.repeat(pair.repeat, size)).any():
                return True
        return False

    def __repr__(self) -> str:
        kind = "Deterministic" if self.is_deterministic else "Limit-deterministic"
        return f"{kind} automaton with {self.states} states over {self.letters.size} letters"


def trimmed(automaton: Automaton) -> Automaton:
    """Return the automaton without states that cannot be reached, and with those that accept nothing made one.

    What is not on a cycle that a pair accepts need not be looked at for it, and is added to what it avoids.
    """
    live, hopeful = _live(automaton)
    order: list[int] = []
    number: dict[int, int] = {}

    def numbered(q: int) -> int:
        key = q if live[q] else -1
        if key not in number:
            number[key] = len(order)
            order.append(key)
        return number[key]

    initial = numbered(automaton.initial)
    step: list[list[int]] = []
    jumps: list[tuple[int, ...]] = []
    for key in order:
        if key < 0:
            step.append([number[-1]] * automaton.letters.size)
            jumps.append(())
            continue
        step.append([numbered(int(each)) for each in automaton.step[key]])
        jumps.append(tuple(dict.fromkeys(numbered(each) for each in automaton.jumps[key] if live[each])))
    kept = np.array(order)
    dead = kept < 0
    pairs = tuple(
        Pair(~good[kept] | dead, pair.repeat[kept] & good[kept] & ~dead)
        for pair, good in zip(automaton.pairs, hopeful, strict=True)
    )
    names = tuple("rejected" if key < 0 else automaton.names[key] for key in order) if automaton.names else ()
    return Automaton(initial, automaton.letters, np.array(step, dtype=np.int32), tuple(jumps), pairs, names)


def _live(automaton: Automaton) -> tuple[NDArray[np.bool_], list[NDArray[np.bool_]]]:
    """Return the states (Q,) from which some word is accepted, and for each pair those on cycles that it accepts."""
    size = automaton.states
    read = np.repeat(np.arange(size), automaton.letters.size)
    source = np.concatenate([read, np.repeat(np.arange(size), [len(jumps) for jumps in automaton.jumps])])
    target = np.concatenate([automaton.step.ravel(), *(np.array(j, dtype=np.int64) for j in automaton.jumps)])
    source, target = source.astype(np.int64), target.astype(np.int64)
    live, hopeful = np.zeros(size, dtype=np.bool_), []
    for pair in automaton.pairs:
        stays = ~pair.avoid[source] & ~pair.avoid[target]
        component, cyclic = cycles(source[stays], target[stays], size)
        good = np.unique(component[pair.repeat & ~pair.avoid])
        hopeful.append(cyclic & np.isin(component, good) & ~pair.avoid)
        live |= hopeful[-1]
    while True:
        more = live.copy()
        more[source[live[target]]] = True
        if (more == live).all():
            return live, hopeful
        live = more


def cycles(source: Array, target: Array, size: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return the strongly connected component of each state (Q,), and which states lie on a cycle, of a graph by its edges."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(_edges(source, target, size), connection="strong")
    on_cycle = mask_of(component[source[component[source] == component[target]]], size)
    return component, on_cycle[component]


def _edges(source: Array, target: Array, size: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(source.size), (source, target)), shape=(size, size))
