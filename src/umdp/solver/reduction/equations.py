"""Building the equations: rows copied from the model, merged, normalised, freed of self-loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.certification.rounding import EPS, excess
from umdp.solver.reduction.problem import Given, Problem

__all__ = ["build", "compress"]

Array = NDArray[Any]
NARROW = 4  # entries up to which a row is added up as it is: that loses three roundings at most


@kernel
def compress(
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
) -> None:
    """Copy the usable rows, merging entries with the same target where that is exact; `row_ptr` receives the rows of unknowns.

    An unknown that is left without a row never leaves: it goes to the second exit, at the price `lost`.

    What is rounded is off by a few roundings relative to itself, which `rounding.row_error` accounts for.

    A row without freedom is normalised and loses its self-loop. A row that may stay within its end component or
    leave it (nature may cut edges) becomes one row for each way out.
    """
    stamp = np.empty(n + 2, np.int64)
    stamp[:] = -1
    rows, entries = 0, 0
    for q in range(n):
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
                room = -excess(choice_ptr[c], choice_ptr[c + 1], lower)
                tight = room <= 0.0 or excess(choice_ptr[c], choice_ptr[c + 1], upper) <= 0.0
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
    row_ptr[n] = rows
    entry_ptr[rows] = entries


@kernel
def _copy(
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
) -> Array:
    """Do what `compress` does where nature has no choice at all; rows that stay in their end component are dropped."""
    row_ptr = np.empty(n + 1, np.int64)
    merged = members.size > n
    stamp = np.empty(n if merged else 0, np.int64)
    stamp[:] = -1
    rest = np.zeros(n + 2 if merged else 2)  # what rounding the sum of merged entries lost, by target
    shifted = 0 if merged else n
    rows, entries = 0, 0
    for q in range(n):
        row_ptr[q] = rows
        for i in range(member_ptr[q], member_ptr[q + 1]):
            s = members[i]
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if not usable[c] or stays[c]:
                    continue
                base = entries
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
    row_ptr[n] = rows
    entry_ptr[rows] = entries
    return row_ptr


def build(
    model: Any,
    lower: Array,
    upper: Array,
    reward: Array,
    index: Array,
    order: Array,
    comp_size: Array,
    usable: Array,
    stays: Array,
    exits: tuple[float, float],
    unknowns: int | None = None,
) -> Problem:
    """Lay out the problem over the undecided states.

    Parameters
    ----------
    model : Graph
    lower, upper : (T,)
    reward : (C,) or empty
    index : (S,) the unknown or exit each state becomes
    order : the undecided states sorted by unknown
    comp_size : (components,) unknowns per component
    usable, stays : (C,) the choices left, and those among them that may stay within a collapsed end component
    exits : values of targets n and n+1
    unknowns : how many there are, where `order` has the states of some of them only; the others get a row that is not meant
    """
    owners = index[order]
    n = unknowns if unknowns is not None else int(owners[-1]) + 1 if order.size else 0
    alone = unknowns is None and n == order.size
    member_ptr = np.arange(n + 1) if alone else np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    sizes = np.diff(model.choice_ptr)
    taken = np.zeros(model.states, dtype=np.bool_)
    taken[order] = True
    rows = usable & taken[model.choice_state]
    spare = 0 if unknowns is None else n
    entries = int(sizes[rows].sum()) + spare
    count = int(np.count_nonzero(rows)) + int(sizes[rows & stays].sum()) + spare
    target = np.empty(entries, np.int32)
    plain = lower is upper
    low = np.empty(entries)
    entry_ptr = np.empty(count + 1, np.int64)
    row_reward, origin = np.empty(count), np.empty(count, np.int32)
    lost = (
        0.0 if exits != (0.0, 0.0) else np.inf
    )  # what never reaches the goal: the exit's value, or an infinite reward
    members = order if unknowns is None else np.append(order, 0)  # some state, where an unknown has none
    where = (n, member_ptr, members, index, model.state_ptr, model.choice_ptr, model.successor)
    if plain:
        slack, slots, high = np.zeros(count), np.empty(0, np.int32), low
        row_ptr = _copy(*where, lower, reward, usable, stays, target, low, entry_ptr, row_reward, origin, lost)
    else:
        slack, slots, high = np.empty(count), np.empty(entries, np.int32), np.empty(entries)
        row_ptr = np.empty(n + 1, np.int64)
        compress(
            *where,
            lower,
            upper,
            reward,
            usable,
            stays,
            target,
            low,
            high,
            entry_ptr,
            slack,
            row_reward,
            origin,
            slots,
            lost,
            row_ptr,
        )
    made = int(row_ptr[-1])
    used = int(entry_ptr[made])
    low = low[:used]
    high = low if plain else high[:used]
    return Problem(
        n, row_ptr, entry_ptr[: made + 1], target[:used], low, high, slack[:made], row_reward[:made],
        origin[:made], index, np.concatenate([[0], np.cumsum(comp_size)]).astype(np.int64), slots[:used], exits,
        Given(model.choice_ptr, model.successor, lower, upper, reward, stays),
    )  # fmt: skip
