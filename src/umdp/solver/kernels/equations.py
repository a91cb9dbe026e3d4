"""Building the equations: rows copied from the model, merged, normalised, freed of self-loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import EPS, excess

__all__ = ["compress", "compress_plain", "extent", "find_rows", "splice", "take_rows"]

Array = NDArray[Any]
NARROW = 4  # entries up to which a row is added up as it is: that loses three roundings at most


@kernel(allocates=False)
def extent(members: Array, state_ptr: Array, choice_ptr: Array, usable: Array, stays: Array) -> tuple[int, int]:
    """Return how many rows and entries the equations of some states have at most."""
    rows, entries = 0, 0
    for s in members:
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if usable[c]:
                size = choice_ptr[c + 1] - choice_ptr[c]
                rows += size + 1 if stays[c] else 1
                entries += size
    return rows, entries


@kernel
def compress(
    first: int,
    last: int,
    rows: int,
    entries: int,
    n: int,
    member_ptr: Array,
    members: Array,
    index: Array,
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    lower: Array,
    upper: Array,
    reward: Array,
    usable: Array,
    stays: Array,
    target: Array,
    low: Array,
    high: Array,
    entry_ptr: Array,
    slack: Array,
    row_reward: Array,
    origin: Array,
    order: Array,
    lost: float,
    row_ptr: Array,
) -> tuple[int, int]:
    """Copy the usable rows of the unknowns `first` to `last`, merging entries with the same target where that is exact.

    They are written from place `rows` and `entries` on; returns the places behind them. `row_ptr` receives where each begins.

    An unknown that is left without a row never leaves: it goes to the second exit, at the price `lost`.

    What is rounded is off by a few roundings relative to itself, which `rounding.row_error` accounts for.

    A row without freedom is normalised and loses its self-loop. A row that may stay within its end component or
    leave it (nature may cut edges) becomes one row for each way out.
    """
    stamp = np.empty(n + 2, np.int64)
    stamp[:] = -1
    for q in range(first, last):
        row_ptr[q] = rows
        for i in range(member_ptr[q], member_ptr[q + 1]):
            s = members[i]
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if not usable[c]:
                    continue
                base = entries
                for t in range(choice_ptr[c], choice_ptr[c + 1]):
                    j = index[successor[t]]
                    known = base <= stamp[j] < entries and target[stamp[j]] == j
                    if known:  # only sums that are exact may be merged: nature's last share is one minus the others
                        old_low, old_high = low[stamp[j]], high[stamp[j]]
                        new_low, new_high = old_low + lower[t], old_high + upper[t]
                        known = (
                            new_low - old_low == lower[t]
                            and new_low - lower[t] == old_low
                            and new_high - old_high == upper[t]
                            and new_high - upper[t] == old_high
                        )
                    if not known:
                        stamp[j] = entries
                        target[entries] = j
                        low[entries] = lower[t]
                        high[entries] = upper[t]
                        entries += 1
                    else:
                        low[stamp[j]] = new_low
                        high[stamp[j]] = min(1.0, new_high)
                earned = reward[c] if reward.size > 0 else 0.0
                if choice_ptr[c + 1] - choice_ptr[c] == 1 and not stays[c]:  # one way on
                    if target[base] == q:
                        entries = base
                        continue
                    low[base] = high[base] = 1.0
                    order[base] = 0
                    slack[rows], row_reward[rows], origin[rows], entry_ptr[rows] = 0.0, earned, c, base
                    rows += 1
                    continue
                room, most = -excess(choice_ptr[c], choice_ptr[c + 1], lower), 0.0
                for t in range(choice_ptr[c], choice_ptr[c + 1]):
                    most += upper[t]
                tight = room <= 0.0 or (most <= 1.0 + 1e-9 and excess(choice_ptr[c], choice_ptr[c + 1], upper) <= 0.0)
                if stays[c]:
                    ways, entries = entries, base
                    if room <= 0.0:
                        continue
                    for t in range(base, ways):
                        if target[t] != q:
                            target[entries] = target[t]
                            low[entries] = high[entries] = 1.0
                            order[entries] = 0
                            slack[rows] = 0.0
                            row_reward[rows] = earned
                            origin[rows] = c
                            entry_ptr[rows] = entries
                            rows += 1
                            entries += 1
                    continue
                if entries - base == 1:
                    low[base] = high[base] = 1.0
                    room, tight = 0.0, True
                if tight:
                    # No freedom: the lower (or upper) bounds are the distribution, up to rounding.
                    use_low = room <= 0.0
                    room = 0.0
                    out, stay, out_rest, stay_rest = 0.0, 0.0, 0.0, 0.0
                    kept = base
                    for t in range(base, entries):
                        p = low[t] if use_low else high[t]
                        if target[t] == q:
                            total = stay + p
                            shift = total - stay
                            stay_rest += (stay - (total - shift)) + (p - shift)
                            stay = total
                        elif p > 0.0:
                            total = out + p
                            shift = total - out
                            out_rest += (out - (total - shift)) + (p - shift)
                            out = total
                            target[kept] = target[t]
                            low[kept] = p
                            kept += 1
                    entries = kept
                    if out <= 0.0:
                        entries = base
                        continue
                    out += out_rest
                    stay += stay_rest
                    if stay > 0.0:
                        earned *= (out + stay) / out
                    if stay > 0.0 or abs(out - 1.0) > 4.0 * EPS:
                        for t in range(base, entries):
                            low[t] /= out
                    for t in range(base, entries):
                        high[t] = low[t]
                for t in range(base, entries):
                    order[t] = t - base
                slack[rows] = room
                row_reward[rows] = earned
                origin[rows] = c
                entry_ptr[rows] = base
                rows += 1
        if rows == row_ptr[q]:  # bounds let nobody leave, though edges are listed: the goal is never reached
            target[entries], low[entries], high[entries], order[entries] = n + 1, 1.0, 1.0, 0
            slack[rows], row_reward[rows] = 0.0, lost
            origin[rows] = state_ptr[members[member_ptr[q]]]
            entry_ptr[rows] = entries
            rows += 1
            entries += 1
    return rows, entries


@kernel
def compress_plain(
    first: int,
    last: int,
    rows: int,
    entries: int,
    n: int,
    member_ptr: Array,
    members: Array,
    index: Array,
    state_ptr: Array,
    choice_ptr: Array,
    successor: Array,
    probability: Array,
    reward: Array,
    usable: Array,
    stays: Array,
    target: Array,
    low: Array,
    entry_ptr: Array,
    row_reward: Array,
    origin: Array,
    lost: float,
    row_ptr: Array,
) -> tuple[int, int]:
    """Do what `compress` does where nature has no choice at all; rows that stay in their end component are dropped."""
    merged = members.size > n
    stamp = np.empty(n if merged else 0, np.int64)
    stamp[:] = -1
    rest = np.zeros(n + 2 if merged else 2)  # what rounding the sum of merged entries lost, by target
    shifted = 0 if merged else n
    for q in range(first, last):
        row_ptr[q] = rows
        for i in range(member_ptr[q], member_ptr[q + 1]):
            s = members[i]
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if not usable[c] or stays[c]:
                    continue
                base = entries
                if choice_ptr[c + 1] - choice_ptr[c] == 1:  # one way on
                    target[base], low[base] = index[successor[choice_ptr[c]]], 1.0
                    if target[base] != q:
                        row_reward[rows] = reward[c] if reward.size > 0 else 0.0
                        origin[rows], entry_ptr[rows] = c, base
                        rows += 1
                        entries += 1
                    continue
                out, stay, out_rest, stay_rest = 0.0, 0.0, 0.0, 0.0
                met = False
                wide = choice_ptr[c + 1] - choice_ptr[c] > NARROW
                first_exit = second_exit = -1
                for t in range(choice_ptr[c], choice_ptr[c + 1]):
                    j, p = index[successor[t]], probability[t]
                    if j == q:
                        total = stay + p
                        if wide:
                            shift = total - stay
                            stay_rest += (stay - (total - shift)) + (p - shift)
                        stay = total
                        continue
                    if p <= 0.0:
                        continue
                    total = out + p
                    if wide:
                        shift = total - out
                        out_rest += (out - (total - shift)) + (p - shift)
                    out = total
                    # Exits meet often, other targets only where states were merged.
                    known = -1
                    if j == n:
                        known, first_exit = first_exit, entries if first_exit < 0 else first_exit
                    elif j > n:
                        known, second_exit = second_exit, entries if second_exit < 0 else second_exit
                    elif merged:
                        known = stamp[j] if base <= stamp[j] < entries and target[stamp[j]] == j else -1
                        stamp[j] = entries if known < 0 else known
                    if known >= 0:
                        total = low[known] + p
                        if wide:
                            shift = total - low[known]
                            rest[j - shifted] += (low[known] - (total - shift)) + (p - shift)
                            met = True
                        low[known] = total
                    else:
                        target[entries] = j
                        low[entries] = p
                        entries += 1
                if out <= 0.0:
                    continue
                out += out_rest
                stay += stay_rest
                if met:
                    for t in range(base, entries):
                        if target[t] >= shifted:
                            low[t] += rest[target[t] - shifted]
                            rest[target[t] - shifted] = 0.0
                scale = abs(out - 1.0) > 4.0 * EPS
                if scale:
                    for t in range(base, entries):
                        low[t] /= out
                earned = reward[c] if reward.size > 0 else 0.0
                row_reward[rows] = earned * (out + stay) / out if stay > 0.0 else earned
                origin[rows] = c
                entry_ptr[rows] = base
                rows += 1
        if rows == row_ptr[q]:
            target[entries], low[entries], row_reward[rows] = n + 1, 1.0, lost
            origin[rows] = state_ptr[members[member_ptr[q]]]
            entry_ptr[rows] = entries
            rows += 1
            entries += 1
    return rows, entries


@kernel(allocates=False)
def take_rows(
    row: Array, origin: Array, choice_state: Array, maybe: Array, decided: Array, via: Array, choice: Array
) -> None:
    """Write choices (S,): those of the rows taken, ways to these where there are any, and what was `decided`, -1 where not."""
    for s in range(choice.size):
        if not maybe[s]:
            if decided[s] >= 0:
                choice[s] = decided[s]
        elif via.size > 0 and via[s] >= 0:
            choice[s] = via[s]
    for i in range(row.size):
        c = origin[row[i]]
        if maybe[choice_state[c]]:
            choice[choice_state[c]] = c


@kernel(allocates=False)
def find_rows(row_ptr: Array, origin: Array, choice_state: Array, choice: Array, row: Array) -> None:
    """Write the first row of every unknown that stands for one of these choices (S,), the first of all where there is none."""
    for q in range(row.size):
        row[q] = row_ptr[q]
        for r in range(row_ptr[q], row_ptr[q + 1]):
            if choice[choice_state[origin[r]]] == origin[r]:
                row[q] = r
                break


@kernel(allocates=False)
def splice(
    unknowns: Array,
    new_rows: Array,
    new_ptr: Array,
    new_target: Array,
    new_low: Array,
    new_high: Array,
    new_slack: Array,
    new_reward: Array,
    row_ptr: Array,
    entry_ptr: Array,
    target: Array,
    low: Array,
    high: Array,
    slack: Array,
    reward: Array,
) -> bool:
    """Write new rows of some unknowns in the place of the old ones; False where they do not lead where those did."""
    for q in unknowns:
        here, there = row_ptr[q], new_rows[q]
        count = row_ptr[q + 1] - here
        if new_rows[q + 1] - there != count:
            return False
        for i in range(count):
            lo, at = entry_ptr[here + i], new_ptr[there + i]
            size = entry_ptr[here + i + 1] - lo
            if new_ptr[there + i + 1] - at != size:
                return False
            slack[here + i], reward[here + i] = new_slack[there + i], new_reward[there + i]
            for k in range(size):
                if new_target[at + k] != target[lo + k]:
                    return False
                low[lo + k], high[lo + k] = new_low[at + k], new_high[at + k]
    return True
