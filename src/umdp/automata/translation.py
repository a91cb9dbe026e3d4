"""Translation of formulas into automata: by progression, and where that is not enough by guesses about what goes on for ever.

A state says what must hold of the rest of the word (`Formulas.after`). Where that is a safe formula, with no until that has no
step bound, a run is accepted as long as it is not contradicted. Elsewhere the automaton may jump, once: with a guess X of the
untils that hold again and again, and Y of the releases that hold for ever from some time on. From then on it checks the guess:

- what must hold holds if every until of X is read as a weak one, and every other as false: a safe formula;
- every release of Y holds always, read in the same way: a safe formula, too;
- every until of X holds again and again if every release of Y is read as true, and every other one as a strong one: what
  is to be reached, over and over, is a co-safe formula, and one is watched at a time.

That these three hold for some guess, at some time, is equivalent to the formula (the Master Theorem of Esparza, Kretinsky and
Sickert, 2018). The guess is made once and all else is deterministic, so that in a Markov decision process the agent can make it:
see docs/temporal-logic.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from umdp.automata.automaton import Automaton, Pair, cycles, trimmed
from umdp.automata.ltl import FALSE, FF, TRUE, TT, Clauses, Formulas
from umdp.errors import SpecError

__all__ = ["MOST_STATES", "translate"]

MOST_STATES = 20_000
MOST_GUESSES = 14  # parts of a formula about which a guess may be needed: 2 to that power of them


class _Checking(NamedTuple):
    """A state after a guess: what must hold, what is to be reached in turn, whose turn it is, what is left of it, if all were."""

    safe: Clauses
    aims: tuple[Clauses, ...]
    turn: int
    left: Clauses
    done: bool


def translate(formulas: Formulas, formula: int, letters: Sequence[int]) -> Automaton:
    """Return an automaton for a formula, over the letters that occur.

    Examples
    --------
    >>> table = Formulas()
    >>> p, q = table.literal(0, True), table.literal(1, True)
    >>> translate(table, table.until(p, q), range(4))
    Deterministic automaton with 3 states over 4 letters
    >>> automaton = translate(table, table.always(table.eventually(p)), range(2))
    >>> automaton.accepts([0, 0], [1, 0]), automaton.accepts([1, 1], [0])
    (True, False)
    """
    known = sorted(set(letters))
    states: dict[Clauses | _Checking, int] = {}
    step: list[list[int]] = []
    first = _explored(formulas, [formulas.clauses(formula)], known, states, step)
    guessed = _candidates(formulas, formula)
    # A run stays in no other state for ever, so that a guess can wait until then.
    source = np.repeat(np.arange(len(step)), [len(row) for row in step])
    recurrent = cycles(source, np.array([each for row in step for each in row], dtype=np.int64), len(step))[1]
    targets: dict[int, list[_Checking]] = {}
    for state in first:
        number = states[state]
        if recurrent[number] and not _is_safe(formulas, state):
            targets[number] = _guesses(formulas, state, guessed)
    at_once = {number: made[0] for number, made in targets.items() if _loses_nothing(formulas, first[number], made)}
    _explored(formulas, [each for made in targets.values() for each in made], known, states, step)
    jumps = [tuple(states[each] for each in targets.get(number, ())) for number in range(len(step))]
    into = np.arange(len(step), dtype=np.int32)
    for number, target in at_once.items():
        into[number] = states[target]
    every = list(states)
    good = np.array([_is_good(formulas, state) for state in every], dtype=np.bool_)
    bad = np.array([(state.safe if isinstance(state, _Checking) else state) == FF for state in every], dtype=np.bool_)
    names = tuple(_name(formulas, state) for state in every)
    table = into[np.array(step, dtype=np.int32).reshape(len(step), len(known))]
    pair = Pair(bad, good & ~bad)
    return trimmed(Automaton(int(into[0]), np.array(known, dtype=np.int64), table, tuple(jumps), (pair,), names))


def _explored(
    formulas: Formulas,
    starts: Sequence[Clauses | _Checking],
    letters: Sequence[int],
    states: dict[Clauses | _Checking, int],
    step: list[list[int]],
) -> list[Clauses]:
    """Add the states that can be reached without a jump, and return those that have made no guess yet."""
    queue: list[Clauses | _Checking] = []

    def numbered(state: Clauses | _Checking) -> int:
        if state not in states:
            if len(states) >= MOST_STATES:
                raise SpecError(
                    f"the formula needs an automaton of more than {MOST_STATES:,} states; use smaller step bounds, or ask for "
                    "its parts one at a time"
                )
            states[state] = len(states)
            queue.append(state)
        return states[state]

    for start in starts:
        numbered(start)
    for state in queue:
        formulas.look()
        if isinstance(state, _Checking):
            step.append([numbered(_checked(formulas, state, letter)) for letter in letters])
        else:
            step.append([numbered(formulas.after(state, letter)) for letter in letters])
    return [state for state in queue if not isinstance(state, _Checking)]


def _checked(formulas: Formulas, state: _Checking, letter: int) -> _Checking:
    """Return the state after a letter: the aim whose turn it is goes on, and the next one's turn comes where it is reached."""
    safe = formulas.after(state.safe, letter)
    if safe == FF:
        return _Checking(FF, (), 0, TT, False)
    if not state.aims:
        return _Checking(safe, (), 0, TT, True)
    left = formulas.after(state.left, letter)
    if left != TT:
        return _Checking(safe, state.aims, state.turn, left, False)
    turn = (state.turn + 1) % len(state.aims)
    return _Checking(safe, state.aims, turn, state.aims[turn], turn == 0)


def _is_safe(formulas: Formulas, state: Clauses) -> bool:
    return not any(formulas.unbounded(part, "U") for part in formulas.walk(chain.from_iterable(state)))


def _is_good(formulas: Formulas, state: Clauses | _Checking) -> bool:
    return state.done if isinstance(state, _Checking) else _is_safe(formulas, state)


def _name(formulas: Formulas, state: Clauses | _Checking) -> str:
    if not isinstance(state, _Checking):
        return formulas.shown(state)
    always = "" if state.safe == TT else f"{formulas.shown(state.safe)}; "
    if not state.aims:
        return always.removesuffix("; ") or "true"
    return (
        f"{always}{formulas.shown(state.left)}, {state.turn + 1} of {len(state.aims)}{', done' if state.done else ''}"
    )


def _candidates(formulas: Formulas, formula: int) -> frozenset[int]:
    """Return the untils without bound that stand inside a release without bound: others are settled by waiting."""
    found: set[int] = set()
    for part in formulas.walk([formula]):
        if formulas.unbounded(part, "R"):
            found.update(inner for inner in formulas.walk([part]) if formulas.unbounded(inner, "U"))
    return frozenset(found)


def _guesses(formulas: Formulas, state: Clauses, candidates: frozenset[int]) -> list[_Checking]:
    """Return the states to which a guess may lead from here, without those that accept less than others."""
    parts = list(chain.from_iterable(state))
    untils = sorted(part for part in formulas.walk(parts) if part in candidates)
    found: dict[tuple[Clauses, frozenset[Clauses]], None] = {}
    for again in _subsets(untils):
        formulas.look()
        weak: dict[int, int] = {}
        safe = formulas.either(
            *(
                formulas.both(*(formulas.clauses(_under_guess(formulas, part, "U", again, weak)) for part in clause))
                for clause in state
            )
        )
        if safe == FF:
            continue
        inside = sorted(part for part in formulas.walk(again) if formulas.unbounded(part, "R"))
        for held in _subsets(inside):
            always = [
                formulas.always(_under_guess(formulas, formulas.children(each)[1], "U", again, weak)) for each in held
            ]
            whole = formulas.both(safe, *map(formulas.clauses, always))
            strong: dict[int, int] = {}
            aims = frozenset(
                formulas.clauses(
                    formulas.eventually(_under_guess(formulas, formulas.children(each)[1], "R", held, strong))
                )
                for each in again
            ) - {TT}
            settled = not again and not any(formulas.unbounded(part, "R") for part in formulas.walk(chain(*whole)))
            if whole != FF and FF not in aims and not settled:  # what has an end is settled by waiting for it
                found[whole, aims] = None
    kept: list[tuple[Clauses, frozenset[Clauses]]] = []
    for guess in found:
        formulas.look()
        if not any(_accepts_more(formulas, other, guess) for other in kept):
            kept = [other for other in kept if not _accepts_more(formulas, guess, other)] + [guess]
    return [_begin(safe, tuple(sorted(aims, key=formulas.shown))) for safe, aims in kept]


def _loses_nothing(formulas: Formulas, state: Clauses, made: list[_Checking]) -> bool:
    """Whether the one guess there is may be made at once: it takes as safe what is, and all else must hold always.

    Where ``G psi`` holds it holds of every rest of the word, for which a guess is right that has no more to check than this one.
    """
    if len(made) != 1 or len(state) != 1:
        return False
    (clause,) = state
    safe = frozenset(
        part for part in clause if not any(formulas.unbounded(each, "U") for each in formulas.walk([part]))
    )
    return made[0].safe == frozenset([safe]) and all(formulas.is_always(part) for part in clause - safe)


def _begin(safe: Clauses, aims: tuple[Clauses, ...]) -> _Checking:
    return _Checking(safe, aims, 0, aims[0], False) if aims else _Checking(safe, (), 0, TT, True)


def _accepts_more(
    formulas: Formulas, one: tuple[Clauses, frozenset[Clauses]], other: tuple[Clauses, frozenset[Clauses]]
) -> bool:
    """Whether it can be seen that a guess accepts all that another does."""
    weaker = all(any(formulas.follows(clause, each) for each in one[0]) for clause in other[0])
    return weaker and one[1] <= other[1]


def _subsets(parts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if len(parts) > MOST_GUESSES:
        raise SpecError(
            f"{len(parts)} parts of the formula may hold again and again, which are too many for one automaton (at most "
            f"{MOST_GUESSES}); ask for them in several properties"
        )
    return chain.from_iterable(combinations(parts, size) for size in range(len(parts) + 1))


def _under_guess(formulas: Formulas, formula: int, operator: str, guess: tuple[int, ...], memo: dict[int, int]) -> int:
    """Return a formula as a guess reads it: untils in it as weak ones and others as false (U), or releases as true (R).

    Releases that are not in it are read as strong ones.
    """

    def replace(part: int) -> int | None:
        if not formulas.unbounded(part, operator):
            return None
        if (part in guess) != (operator == "U"):
            return FALSE if operator == "U" else TRUE
        left, right = (_under_guess(formulas, child, operator, guess, memo) for child in formulas.children(part))
        if operator == "U":
            return formulas.release(right, formulas.disjunction([left, right]))
        return formulas.until(right, formulas.conjunction([left, right]))

    return formulas.replaced(formula, replace, memo)
