"""Building the equations: rows copied from the model, merged, normalised, freed of self-loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.rounding import EPS, excess, two_sum
from umdp.solver.kernels.structs import ChoiceRows, Quotient, SystemRows

__all__ = ["Span", "compress", "extent", "find_rows", "next_stale", "take_rows"]

Array = NDArray[Any]
NARROW = 4  # entries up to which a row is added up as it is: that loses three roundings at most


class Span(NamedTuple):
    """The unknowns from `first` to `last`, and the first row and entry that are written for them."""

    first: int
    last: int
    row: int
    entry: int


class Written(NamedTuple):
    """What `compress` writes.

    Attributes
    ----------
    rows : the system; its pointers of components are not touched
    origin : (rows,) the choice that each row stands for
    stamp : (n+2,) work space: the entry that led to a target last
    rest : (n+2,) zeros, work space: what rounding the sum of merged entries lost, by target
    """

    rows: SystemRows
    origin: Array
    stamp: Array
    rest: Array


@kernel(allocates=False)
def extent(first: int, last: int, quotient: Quotient, model: ChoiceRows) -> tuple[int, int]:
    """Return how many rows and entries the equations of some unknowns have at most."""
    state_ptr, choice_ptr, usable, stays = model.state_ptr, model.choice_ptr, quotient.usable, quotient.stays
    rows, entries = 0, 0
    for i in range(quotient.member_ptr[first], quotient.member_ptr[last]):
        s = quotient.members[i]
        for c in range(state_ptr[s], state_ptr[s + 1]):
            if usable[c]:
                size = choice_ptr[c + 1] - choice_ptr[c]
                rows += size + 1 if stays[c] else 1
                entries += size
    return rows, entries


@kernel
def compress(
    span: Span, quotient: Quotient, model: ChoiceRows, rows: SystemRows, origin: Array, lost: float
) -> tuple[int, int]:
    """Copy the usable rows of some unknowns; return the places behind the last row and entry written.

    An unknown that is left without a row never leaves: it goes to the second exit, at the price `lost`.

    What is rounded is off by a few roundings relative to itself, which `rounding.row_error` accounts for.

    A row without freedom is normalised and loses its self-loop. A row that may stay within its end component or
    leave it (nature may cut edges) becomes one row for each way out.
    """
    n = quotient.member_ptr.size - 1
    stamp = np.empty(n + 2, np.int64)
    stamp[:] = -1
    plain = rows.order.size == 0
    return _compress(span, quotient, model, Written(rows, origin, stamp, np.zeros(n + 2 if plain else 0)), lost)


@kernel(allocates=False)
def _compress(span: Span, quotient: Quotient, model: ChoiceRows, out: Written, lost: float) -> tuple[int, int]:
    """Do what `compress` does, with work space."""
    member_ptr, members, usable, stays = quotient.member_ptr, quotient.members, quotient.usable, quotient.stays
    state_ptr, row_ptr = model.state_ptr, out.rows.row_ptr
    plain, n = out.rows.order.size == 0, member_ptr.size - 1
    merged = members.size > n
    row, entry = span.row, span.entry
    for q in range(span.first, span.last):
        row_ptr[q] = row
        for i in range(member_ptr[q], member_ptr[q + 1]):
            s = members[i]
            for c in range(state_ptr[s], state_ptr[s + 1]):
                if not usable[c]:
                    continue
                if not plain:
                    row, entry = _copy_bounds(q, c, row, entry, stays[c], quotient.unknown, model, out)
                elif not stays[c]:
                    entries, earned = _copy_row(q, c, entry, merged, quotient.unknown, model, out)
                    if entries > entry:
                        _put_row(row, c, entry, earned, 0.0, out)
                        row, entry = row + 1, entries
        if row == row_ptr[q]:  # bounds let nobody leave, though edges are listed: the goal is never reached
            _put_sure(entry, n + 1, out.rows)
            _put_row(row, state_ptr[members[member_ptr[q]]], entry, lost, 0.0, out)
            row, entry = row + 1, entry + 1
    return row, entry


@kernel(forceinline=True, allocates=False)
def _put_row(row: int, choice: int, entry: int, earned: float, slack: float, out: Written) -> None:
    """Write what there is to a row besides its entries."""
    out.rows.slack[row], out.rows.reward[row], out.rows.entry_ptr[row] = slack, earned, entry
    out.origin[row] = choice


@kernel(forceinline=True, allocates=False)
def _put_sure(entry: int, target: int, rows: SystemRows) -> None:
    """Write the only entry of a row."""
    rows.target[entry], rows.lower[entry], rows.upper[entry] = target, 1.0, 1.0
    if rows.order.size > 0:
        rows.order[entry] = 0


@kernel(forceinline=True, allocates=False)
def _copy_bounds(
    q: int, c: int, row: int, base: int, stays: bool, index: Array, model: ChoiceRows, out: Written
) -> tuple[int, int]:
    """Write the rows of an unknown's choice between bounds; return the places behind them."""
    choice_ptr, rows, target = model.choice_ptr, out.rows, out.rows.target
    entries = _merge_bounds(c, base, index, model, out)
    earned = model.reward[c] if model.reward.size > 0 else 0.0
    if choice_ptr[c + 1] - choice_ptr[c] == 1 and not stays:  # one way on
        if target[base] == q:
            return row, base
        _put_sure(base, target[base], rows)
        _put_row(row, c, base, earned, 0.0, out)
        return row + 1, entries
    room, most = -excess(choice_ptr[c], choice_ptr[c + 1], model.lower), 0.0
    for t in range(choice_ptr[c], choice_ptr[c + 1]):
        most += model.upper[t]
    if stays:
        ways, entries = entries, base
        for t in range(base, ways if room > 0.0 else base):
            if target[t] != q:
                _put_sure(entries, target[t], rows)
                _put_row(row, c, entries, earned, 0.0, out)
                row, entries = row + 1, entries + 1
        return row, entries
    tight = room <= 0.0 or (most <= 1.0 + 1e-9 and excess(choice_ptr[c], choice_ptr[c + 1], model.upper) <= 0.0)
    if entries - base == 1:
        _put_sure(base, target[base], rows)
        room, tight = 0.0, True
    if tight:
        entries, growth = _normalise(q, base, entries, room <= 0.0, rows)
        if entries == base:
            return row, base
        room, earned = 0.0, earned * growth
    for t in range(base, entries):
        rows.order[t] = t - base
    _put_row(row, c, base, earned, room, out)
    return row + 1, entries


@kernel(forceinline=True, allocates=False)
def _merge_bounds(c: int, base: int, index: Array, model: ChoiceRows, out: Written) -> int:
    """Copy the entries of a choice, those with the same target as one where that is exact; return the place behind them."""
    lower, upper, successor = model.lower, model.upper, model.successor
    target, low, high, stamp = out.rows.target, out.rows.lower, out.rows.upper, out.stamp
    entries = base
    for t in range(model.choice_ptr[c], model.choice_ptr[c + 1]):
        j = index[successor[t]]
        at = stamp[j]
        known, new_low, new_high = base <= at < entries and target[at] == j, 0.0, 0.0
        if known:  # only sums that are exact may be merged: nature's last share is one minus the others
            new_low, new_high = low[at] + lower[t], high[at] + upper[t]
            known = (
                new_low - low[at] == lower[t]
                and new_low - lower[t] == low[at]
                and new_high - high[at] == upper[t]
                and new_high - upper[t] == high[at]
            )
        if known:
            low[at], high[at] = new_low, min(1.0, new_high)
        else:
            stamp[j] = entries
            target[entries], low[entries], high[entries] = j, lower[t], upper[t]
            entries += 1
    return entries


@kernel(forceinline=True, allocates=False)
def _normalise(q: int, base: int, end: int, use_low: bool, rows: SystemRows) -> tuple[int, float]:
    """Make a distribution of a row without freedom, self-loop aside; return the place behind it, and what rewards grow by.

    The lower (or upper) bounds are the distribution, up to rounding.
    """
    target, low, high = rows.target, rows.lower, rows.upper
    out, stay, out_rest, stay_rest = 0.0, 0.0, 0.0, 0.0
    entries = base
    for t in range(base, end):
        p = low[t] if use_low else high[t]
        if target[t] == q:
            stay, lost = two_sum(stay, p)
            stay_rest += lost
        elif p > 0.0:
            out, lost = two_sum(out, p)
            out_rest += lost
            target[entries], low[entries] = target[t], p
            entries += 1
    if out <= 0.0:
        return base, 1.0
    out, stay = out + out_rest, stay + stay_rest
    if stay > 0.0 or abs(out - 1.0) > 4.0 * EPS:
        for t in range(base, entries):
            low[t] /= out
    for t in range(base, entries):
        high[t] = low[t]
    return entries, (out + stay) / out if stay > 0.0 else 1.0


@kernel(forceinline=True, allocates=False)
def _copy_row(
    q: int, c: int, base: int, merged: bool, index: Array, model: ChoiceRows, out: Written
) -> tuple[int, float]:
    """Write the distribution of a choice where nature has none, its self-loop aside; return the place behind it, and its reward.

    The place is `base` where all that is left is the self-loop. Entries with the same target become one; without `merged` states
    only the exits are met twice.
    """
    choice_ptr, successor, probability = model.choice_ptr, model.successor, model.lower
    target, low, stamp, rest = out.rows.target, out.rows.lower, out.stamp, out.rest
    exits = stamp.size - 2
    earned = model.reward[c] if model.reward.size > 0 else 0.0
    first, last = choice_ptr[c], choice_ptr[c + 1]
    if last - first == 1:  # one way on
        _put_sure(base, index[successor[first]], out.rows)
        return (base if target[base] == q else base + 1), earned
    entries, whole, stay, whole_rest, stay_rest = base, 0.0, 0.0, 0.0, 0.0
    wide, met = last - first > NARROW, False
    for t in range(first, last):
        j, p = index[successor[t]], probability[t]
        if j == q:
            total, lost = two_sum(stay, p)
            stay, stay_rest = total, stay_rest + (lost if wide else 0.0)
            continue
        if p <= 0.0:
            continue
        total, lost = two_sum(whole, p)
        whole, whole_rest = total, whole_rest + (lost if wide else 0.0)
        known = -1
        if merged or j >= exits:
            known = stamp[j] if base <= stamp[j] < entries and target[stamp[j]] == j else -1
            stamp[j] = entries if known < 0 else known
        if known < 0:
            target[entries], low[entries] = j, p
            entries += 1
            continue
        low[known], lost = two_sum(low[known], p)
        if wide:
            rest[j] += lost
            met = True
    if whole <= 0.0:
        return base, earned
    whole, stay = whole + whole_rest, stay + stay_rest
    if met:
        for t in range(base, entries):
            low[t] += rest[target[t]]
            rest[target[t]] = 0.0
    if abs(whole - 1.0) > 4.0 * EPS:
        for t in range(base, entries):
            low[t] /= whole
    return entries, earned * (whole + stay) / whole if stay > 0.0 else earned


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
def next_stale(
    first: int,
    rows: SystemRows,
    origin: Array,
    changed: Array,
    x: Array,
    relative_error: Array,
    old_x: Array,
    old_rel: Array,
) -> int:
    """Return the first component from `first` on with a changed row, or an exit whose value or error is not what it was."""
    comp_ptr, row_ptr, entry_ptr, target = rows.comp_ptr, rows.row_ptr, rows.entry_ptr, rows.target
    for k in range(first, comp_ptr.size - 1):
        begin, end = comp_ptr[k], comp_ptr[k + 1]
        for r in range(row_ptr[begin], row_ptr[end]):
            if changed[origin[r]]:
                return k
        for t in range(entry_ptr[row_ptr[begin]], entry_ptr[row_ptr[end]]):
            j = target[t]
            if (x[j] != old_x[j] or relative_error[j] != old_rel[j]) and not begin <= j < end:
                return k
    return comp_ptr.size - 1
