"""One player against chance, solved exactly in integers.

An arena gives every undecided state a list of *components*; the player picks one option in each component and the
step taken from the state is the sum of the picked options. (One component is an ordinary decision; several are
nature answering every choice of a randomised policy separately.) Options carry integer numerators over one
denominator per state. Sets of states are bit masks. States without an entry in the arena are absorbing.

The four problems, and why policy iteration with exact evaluation is right for each:

P max
    States that cannot reach the target have value 0. Elsewhere start from a policy that moves towards the target,
    so that no class of undecided states is recurrent, and switch only on strict improvement. A recurrent class
    under the new policy would, weighing v <= P'v by its stationary distribution, contain no switched state, hence be
    recurrent under the old policy: so there is none. At the end v = Tv and v is attained; the value is the least
    fixed point of T, hence v is the value.
P min
    States from which the target can be avoided for ever have value 0. No policy has a recurrent class in the
    rest, so T has one fixed point there.
R max
    Infinite where a state from which the target can be avoided for ever can be reached. In the rest every policy
    reaches the target almost surely, so T has one fixed point.
R min
    Infinite where no policy reaches the target almost surely; options that may leave the rest are never used.
    Start from a policy that reaches it almost surely and switch only on strict improvement: a recurrent class under
    the new policy would have cost 0 and contain no switched state, hence exists under the old one. At the end
    v <= c + Pv for every option, so v is at most the cost of every policy that reaches the target almost surely.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, inf
from typing import Literal, NamedTuple

Kind = Literal["P", "R"]


class Option(NamedTuple):
    """One step: successors with numerators > 0, their bit mask, and the numerator of the expected reward."""

    support: int
    edges: tuple[tuple[int, int], ...]
    reward: int


Arena = dict[int, list[list[Option]]]


class Stage(NamedTuple):
    """What every problem on a model shares.

    Parameters
    ----------
    kind : {"P", "R"}
        The probability of reaching the target, or the reward accumulated until it is reached: infinite where it is
        missed with positive probability.
    scale : dict
        Denominator of each undecided state.
    target : int
        Mask of the target.
    size : int
        Number of states.
    """

    kind: Kind
    scale: dict[int, int]
    target: int
    size: int


class Values(NamedTuple):
    """Values ``numerators[s] / denominator``, infinite for the states in the mask ``infinite``."""

    numerators: list[int]
    denominator: int
    infinite: int

    def fractions(self) -> list[Fraction | float]:
        """Give the values as reduced fractions, infinite ones as ``math.inf``."""
        pairs = enumerate(self.numerators)
        return [inf if self.infinite >> s & 1 else Fraction(n, self.denominator) for s, n in pairs]


def mask(states: Sequence[bool]) -> int:
    """Give the bit mask of the true entries."""
    return sum(1 << s for s, member in enumerate(states) if member)


def score(option: Option, values: Values) -> int:
    """Give the value of an option, times the state's denominator and the values' denominator."""
    numerators = values.numerators
    return option.reward * values.denominator + sum(n * numerators[t] for t, n in option.edges)


def restrict(arena: Arena, allowed: int) -> Arena:
    """Keep the options that stay in ``allowed``, and the states where every component keeps one."""
    kept = {}
    for s, components in arena.items():
        if allowed >> s & 1:
            filtered = [[o for o in options if not o.support & ~allowed] for options in components]
            if all(filtered):
                kept[s] = filtered
    return kept


def attract(arena: Arena, target: int) -> tuple[int, dict[int, list[Option]]]:
    """Find the states that can reach the target, and picks that move towards it with positive probability."""
    reached, picks = target, {}
    growing = True
    while growing:
        growing = False
        for s, components in arena.items():
            if reached >> s & 1:
                continue
            towards = [next((o for o in options if o.support & reached), None) for options in components]
            if any(o is not None for o in towards):
                pairs = zip(towards, components, strict=True)
                picks[s] = [options[0] if o is None else o for o, options in pairs]
                reached |= 1 << s
                growing = True
    return reached, picks


def avoidable(arena: Arena, target: int, everything: int) -> int:
    """Find the states from which some policy never reaches the target; absorbing non-targets are among them."""
    safe = everything & ~target
    shrinking = True
    while shrinking:
        shrinking = False
        for s, components in arena.items():
            if safe >> s & 1 and not all(any(not o.support & ~safe for o in options) for options in components):
                safe &= ~(1 << s)
                shrinking = True
    return safe


def almost_sure(arena: Arena, target: int) -> tuple[int, Arena, dict[int, list[Option]]]:
    """Find the states from which some policy reaches the target almost surely.

    Returns
    -------
    region : int
        These states, the target included.
    inside : dict
        The arena restricted to options that stay in the region.
    picks : dict
        A policy that reaches the target almost surely.
    """
    region = target | sum(1 << s for s in arena)
    while True:
        inside = restrict(arena, region)
        reached, picks = attract(inside, target)
        if reached == region:
            return region, inside, picks
        region = reached


def solve_chain(picks: dict[int, list[Option]], scale: dict[int, int], boundary: list[int]) -> tuple[list[int], int]:
    """Solve a Markov chain by fraction-free Gauss-Jordan elimination.

    ``boundary[s]`` is the (integer) value of the states outside ``picks``. Every state in ``picks`` must be
    transient. Then scaled I - P is a nonsingular M-matrix: its leading minors are positive, no pivoting is needed.
    """
    states = list(picks)
    column = {s: i for i, s in enumerate(states)}
    size = len(states)
    rows = []
    for i, s in enumerate(states):
        row = [0] * (size + 1)
        row[i] = scale[s]
        for option in picks[s]:
            row[size] += option.reward
            for t, n in option.edges:
                if t in column:
                    row[column[t]] -= n
                else:
                    row[size] += n * boundary[t]
        rows.append(row)
    previous = 1
    for k in range(size):
        pivot_row = rows[k]
        pivot = pivot_row[k]
        if pivot <= 0:
            raise ArithmeticError("the chain has a recurrent class among the states to be solved")
        for i, row in enumerate(rows):
            if i == k:
                continue
            factor = row[k]
            # The columns before k are zero in the pivot row, and in this row but for its own diagonal.
            if i < k:
                row[i] = pivot
            for j in range(k, size + 1):
                row[j] = (pivot * row[j] - factor * pivot_row[j]) // previous
        previous = pivot
    numerators = [b * previous for b in boundary]
    for i, s in enumerate(states):
        numerators[s] = rows[i][size]
    divisor = gcd(previous, *numerators)
    return [n // divisor for n in numerators], previous // divisor


def improve(
    arena: Arena, picks: dict[int, list[Option]], scale: dict[int, int], boundary: list[int], *, maximise: bool
) -> tuple[list[int], int]:
    """Run policy iteration from ``picks``, switching on strict improvement only."""
    sign = 1 if maximise else -1
    while True:
        numerators, denominator = solve_chain(picks, scale, boundary)
        values = Values(numerators, denominator, 0)
        switched = False
        for s, current in picks.items():
            for i, options in enumerate(arena[s]):
                if len(options) == 1:
                    continue
                best, best_score = current[i], sign * score(current[i], values)
                for option in options:
                    candidate = sign * score(option, values)
                    if candidate > best_score:
                        best, best_score = option, candidate
                        switched = True
                current[i] = best
        if not switched:
            return numerators, denominator


def best_response(stage: Stage, maximise: bool, arena: Arena) -> Values:
    """Solve the one-player problem on the undecided states of ``arena`` exactly."""
    kind, scale, target, size = stage
    everything = (1 << size) - 1
    boundary = [int(kind == "P" and bool(target >> s & 1)) for s in range(size)]
    infinite = 0
    if kind == "P" and maximise:
        _, picks = attract(arena, target)
        inside = {s: arena[s] for s in picks}
    elif kind == "R" and not maximise:
        region, inside, picks = almost_sure(arena, target)
        infinite = everything & ~region
    else:
        decided = avoidable(arena, target, everything)
        if kind == "R":
            infinite, _ = attract(arena, decided)
            decided = infinite
        inside = {s: components for s, components in arena.items() if not decided >> s & 1}
        picks = {s: [options[0] for options in components] for s, components in inside.items()}
    numerators, denominator = improve(inside, picks, scale, boundary, maximise=maximise)
    return Values(numerators, denominator, infinite)
