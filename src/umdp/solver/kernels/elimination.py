"""Compiled elimination without subtraction (Grassmann, Taksar, Heyman): the value of one Markov chain, and of more loads on it.

Values are relative to a reference state, which stands at position 0: `c` is what is collected before the reference state or an
exit is reached, `e` the probability that an exit comes first, `h` that the reference state does. What a step by a row gains is
a difference of such values, accurate even where all values agree in every digit.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.best_response import hand_out
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.rounding import row_error
from umdp.solver.kernels.structs import (
    Block,
    ChainRows,
    Eliminated,
    EliminationTask,
    RowSpace,
    SystemRows,
    position,
)

__all__ = ["best_response", "best_response_apart", "evaluate", "evaluate_again", "reaching", "row_gains", "terms"]

Array = NDArray[Any]


@kernel(allocates=False)
def _eliminate(n: int, made: Eliminated, watch: Array) -> bool:
    """Eliminate states n-1 .. 1; multipliers stay in the upper part of the matrix. False if some cannot leave, or time is up.

    Rows are empty before the column `first` says: neighbours have near numbers, and most of the matrix is never touched.
    """
    a, out, ex, b, first = made.matrix, made.out, made.gone, made.load, made.first
    for k in range(n - 1, 0, -1):
        total = ex[k]
        begin = int(first[k])
        for j in range(begin, k):
            total += a[k, j]
        if total <= 0.0 or is_up(watch):
            return False
        out[k] = total
        for i in range(k):
            if a[i, k] > 0.0:
                f = a[i, k] / total
                a[i, k] = f
                first[i] = min(first[i], first[k])
                for j in range(begin, k):
                    a[i, j] += f * a[k, j]
                ex[i] += f * ex[k]
                b[i] += f * b[k]
    out[0] = ex[0]
    return bool(ex[0] > 0.0)


@kernel(allocates=False)
def evaluate(block: Block, chain: ChainRows, x: Array, made: Eliminated, watch: Array) -> bool:
    """Evaluate the chain of a component; `made` receives its values.

    False where it cannot leave the component, or time is up by `watch` (`clock.is_up`).
    """
    entry_ptr, target, reward, prob, choice = chain.entry_ptr, chain.target, chain.reward, chain.prob, chain.row
    a, out, ex, b, first = made.matrix, made.out, made.gone, made.load, made.first
    c, e, h, value = made.c, made.e, made.h, made.value
    begin, n, ref = block.begin, block.n, block.ref
    for i in range(n):
        ex[i] = 0.0
        first[i] = i
        b[i] = 0.0
        for j in range(n):
            a[i, j] = 0.0
    for i in range(n):
        pos = position(i, ref)
        row = choice[begin + i]
        b[pos] += reward[row]
        for t in range(entry_ptr[row], entry_ptr[row + 1]):
            p = prob[t]
            j = target[t] - begin
            if 0 <= j < n:
                at = position(j, ref)
                a[pos, at] += p
                first[pos] = min(first[pos], at)
            else:
                ex[pos] += p
                b[pos] += p * x[target[t]]
    if not _eliminate(n, made, watch):
        return False
    c[0], e[0], h[0] = 0.0, 0.0, 1.0
    value[0] = b[0] / out[0]
    for k in range(1, n):
        cost, gone, hit = b[k], ex[k], a[k, 0]
        for j in range(max(1, int(first[k])), k):
            cost += a[k, j] * c[j]
            gone += a[k, j] * e[j]
            hit += a[k, j] * h[j]
        c[k], e[k], h[k] = cost / out[k], gone / out[k], hit / out[k]
        value[k] = c[k] + h[k] * value[0]
    return True


@kernel(allocates=False)
def evaluate_again(n: int, made: Eliminated, load: Array) -> float:
    """Solve for another load with the multipliers of an elimination: `made.part`; return its total at the reference state."""
    a, out, first, again, part = made.matrix, made.out, made.first, made.again, made.part
    for s in range(n):
        again[s] = load[s]
    for k in range(n - 1, 0, -1):
        for i in range(k):
            if a[i, k] > 0.0:
                again[i] += a[i, k] * again[k]
    part[0] = 0.0
    for k in range(1, n):
        total = again[k]
        for j in range(max(1, int(first[k])), k):
            total += a[k, j] * part[j]
        part[k] = total / out[k]
    return float(again[0] / out[0])


@kernel(forceinline=True, allocates=False)
def _leads_on(row: int, begin: int, n: int, rows: SystemRows, reached: Array) -> bool:
    """Whether a row may lead out of a component, or to a state of it that was reached."""
    target, upper = rows.target, rows.upper
    for t in range(rows.entry_ptr[row], rows.entry_ptr[row + 1]):
        j = target[t] - begin
        if upper[t] > 0.0 and not (0 <= j < n and not reached[j]):
            return True
    return False


@kernel(allocates=False)
def reaching(begin: int, n: int, rows: SystemRows, allowed: Array, choice: Array, reached: Array, keep: bool) -> bool:
    """Make every state's row lead towards an exit, the first allowed row that does; with `keep`, only where needed."""
    row_ptr = rows.row_ptr
    for i in range(n):
        reached[i] = False
    grown = keep
    while grown:
        grown = False
        for i in range(n):
            if not reached[i] and _leads_on(choice[begin + i], begin, n, rows, reached):
                reached[i] = True
                grown = True
    count = 0
    for i in range(n):
        if reached[i]:
            count += 1
    grown = True
    while grown and count < n:
        grown = False
        for i in range(n):
            if reached[i]:
                continue
            for row in range(row_ptr[begin + i], row_ptr[begin + i + 1]):
                if allowed[row] and _leads_on(row, begin, n, rows, reached):
                    choice[begin + i] = row
                    reached[i] = True
                    count += 1
                    grown = True
                    break
    return count == n


@kernel(forceinline=True, allocates=False)
def terms(block: Block, s: int, row: int, work: EliminationTask, c: Array, top: float) -> None:
    """Write by what the targets of a row differ from the state at position `s`, and what the rounding of that is relative to.

    `c` and `top` take the place of what the eliminated chain collects, and of the value of its reference state.
    Where the state is close to the reference (e below a half) differences are those of ``c - e top``, elsewhere
    those of the values themselves.
    """
    entry_ptr, target, x, e, h = (
        work.rows.entry_ptr,
        work.rows.target,
        work.found.x,
        work.space.made.e,
        work.space.made.h,
    )
    key, size_of = work.space.row.key, work.space.row.size
    begin, n, ref = block.begin, block.n, block.ref
    near = e[s] < 0.5
    if near:
        own = c[s] - e[s] * top
        own_size = abs(c[s]) + e[s] * top
    else:
        own = c[s] + h[s] * top
        own_size = abs(c[s]) + h[s] * top
    for t in range(entry_ptr[row], entry_ptr[row + 1]):
        i = t - entry_ptr[row]
        j = target[t] - begin
        if 0 <= j < n:
            j = position(j, ref)
            if j == s:
                key[i] = 0.0
                size_of[i] = 0.0
                continue
            if near:
                if e[j] < 0.5:
                    key[i] = (c[j] - e[j] * top) - own
                    size_of[i] = abs(c[j]) + e[j] * top + own_size
                else:
                    key[i] = (c[j] + h[j] * top - top) - own
                    size_of[i] = abs(c[j]) + h[j] * top + top + own_size
            else:
                other = top - e[j] * top if e[j] < 0.5 else h[j] * top
                key[i] = (c[j] + other) - own
                size_of[i] = abs(c[j]) + other + own_size
        else:
            v = x[target[t]]
            if near:
                key[i] = (v - top) - own
                size_of[i] = v + top + own_size
            else:
                key[i] = v - own
                size_of[i] = v + own_size


@kernel(forceinline=True, allocates=False)
def best_response(row: int, rows: SystemRows, space: RowSpace, nature_max: bool) -> tuple[float, float]:
    """Return (reward + sum p key at nature's best p, what its rounding is relative to); `space.share` receives p.

    Shares of which only an absolute error is known count as much as it takes for `row_error` to cover that.
    """
    key, size_of, probe, lo = space.key, space.size, space.share, rows.entry_ptr[row]
    size = rows.entry_ptr[row + 1] - lo
    total, scale = rows.reward[row], abs(rows.reward[row])
    perturbation = hand_out(lo, size, rows.lower, rows.upper, rows.slack[row], rows.order, space, nature_max)
    if perturbation > 0.0:
        for i in range(size):
            scale += perturbation * size_of[i] / row_error(size)
    for i in range(size):
        total += probe[i] * key[i]
        scale += probe[i] * size_of[i]
    return total, scale


@kernel(allocates=False)
def best_response_apart(row: int, rows: SystemRows, space: RowSpace, nature_max: bool) -> tuple[float, float]:
    """Do what `best_response` does, as a call: where it is hardly ever needed, it must not burden the loop around it."""
    return best_response(row, rows, space, nature_max)


@kernel(allocates=False)
def row_gains(block: Block, work: EliminationTask, whole: bool, noise: float) -> bool:
    """Let nature answer on the rows taken (with `whole`, on all); return whether it changed its mind on a row taken.

    It does so for gains of more than `noise`, relative to the terms compared.

    `space.gains` receives what a step by the row gains over the state's own value, `space.sizes` what it is rounded relative to.
    """
    rows, made, one, nature_max = work.rows, work.space.made, work.space.row, work.players.nature_max
    row_ptr, entry_ptr, slack, reward = rows.row_ptr, rows.entry_ptr, rows.slack, rows.reward
    choice, prob, gain, size = work.found.row, work.found.prob, work.space.gains, work.space.sizes
    key, size_of, probe = one.key, one.size, one.share
    begin, changed = block.begin, False
    for i in range(block.n):
        s = position(i, block.ref)
        taken = choice[begin + i]
        first, last = row_ptr[begin + i], row_ptr[begin + i + 1]
        if not whole:
            first, last = taken, taken + 1
        for row in range(first, last):
            lo, count = entry_ptr[row], entry_ptr[row + 1] - entry_ptr[row]
            if not whole and (slack[row] <= 0.0 or count == 1):
                continue
            terms(block, s, row, work, made.c, made.value[0])
            new, scale = best_response(row, rows, one, nature_max)
            gain[row], size[row] = new, scale
            if row == taken:
                old, spread = reward[row], abs(reward[row])
                for j in range(count):
                    old += prob[lo + j] * key[j]
                    spread += prob[lo + j] * size_of[j]
                if not (new - old if nature_max else old - new) > noise * (scale + spread):
                    size[row] = max(scale, spread)  # what is kept may be rounded more than what is better
                    continue
                changed = True
            for j in range(count):
                prob[lo + j] = probe[j]
    return changed
