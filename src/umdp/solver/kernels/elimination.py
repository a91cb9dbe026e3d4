"""Compiled elimination without subtraction (Grassmann, Taksar, Heyman): the value of one Markov chain, and of more loads on it.

Values are relative to a reference state, which stands at position 0: `c` is what is collected before the reference state or an
exit is reached, `e` the probability that an exit comes first, `h` that the reference state does.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.clock import is_up

__all__ = ["evaluate", "evaluate_again", "reaching"]

Array = NDArray[Any]


@kernel
def _eliminate(n: int, a: Array, out: Array, ex: Array, b: Array, first: Array, watch: Array) -> bool:
    """Eliminate states n-1 .. 1; multipliers stay in the upper part of `a`. False if some state cannot leave, or time is up.

    Rows are empty before the column `first` says: neighbours have near numbers, and most of the matrix is never touched.
    """
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


@kernel
def evaluate(
    begin: int,
    n: int,
    ref: int,
    entry_ptr: Array,
    target: Array,
    reward: Array,
    prob: Array,
    choice: Array,
    x: Array,
    a: Array,
    work: Array,
    watch: Array,
) -> bool:
    """Evaluate the chain of `choice` and `prob`; rows of `work`: out, exit, b, c, e, h, value (by position), ..., first.

    False where it cannot leave the component, or time is up by `watch` (`clock.is_up`).
    """
    out, ex, b, c, e, h, value, first = work[0], work[1], work[2], work[3], work[4], work[5], work[6], work[10]
    for i in range(n):
        ex[i] = 0.0
        first[i] = i
        b[i] = 0.0
        for j in range(n):
            a[i, j] = 0.0
    for i in range(n):
        pos = 0 if i == ref else (ref if i == 0 else i)
        row = choice[begin + i]
        b[pos] += reward[row]
        for t in range(entry_ptr[row], entry_ptr[row + 1]):
            p = prob[t]
            j = target[t] - begin
            if 0 <= j < n:
                at = 0 if j == ref else (ref if j == 0 else j)
                a[pos, at] += p
                first[pos] = min(first[pos], at)
            else:
                ex[pos] += p
                b[pos] += p * x[target[t]]
    if not _eliminate(n, a, out, ex, b, first, watch):
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


@kernel
def evaluate_again(n: int, a: Array, out: Array, first: Array, load: Array, part: Array) -> float:
    """Solve for another load with the multipliers of `_eliminate`; return its total at the reference state."""
    for k in range(n - 1, 0, -1):
        for i in range(k):
            if a[i, k] > 0.0:
                load[i] += a[i, k] * load[k]
    part[0] = 0.0
    for k in range(1, n):
        total = load[k]
        for j in range(max(1, int(first[k])), k):
            total += a[k, j] * part[j]
        part[k] = total / out[k]
    return float(load[0] / out[0])


@kernel
def reaching(
    begin: int,
    n: int,
    row_ptr: Array,
    entry_ptr: Array,
    target: Array,
    upper: Array,
    allowed: Array,
    choice: Array,
    reached: Array,
    keep: bool,
) -> bool:
    """Make every state's row lead towards an exit, the first allowed row that does; with `keep`, only where needed."""
    for i in range(n):
        reached[i] = False
    if keep:
        grown = True
        while grown:
            grown = False
            for i in range(n):
                if not reached[i]:
                    row = choice[begin + i]
                    for t in range(entry_ptr[row], entry_ptr[row + 1]):
                        j = target[t] - begin
                        if upper[t] > 0.0 and not (0 <= j < n and not reached[j]):
                            reached[i] = True
                            grown = True
                            break
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
                if not allowed[row]:
                    continue
                hit = False
                for t in range(entry_ptr[row], entry_ptr[row + 1]):
                    j = target[t] - begin
                    if upper[t] > 0.0 and not (0 <= j < n and not reached[j]):
                        hit = True
                        break
                if hit:
                    choice[begin + i] = row
                    reached[i] = True
                    count += 1
                    grown = True
                    break
    return count == n
