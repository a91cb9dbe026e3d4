"""Compiled elimination without subtraction (Grassmann, Taksar, Heyman): the value of one Markov chain, and of more loads on it.

Values are relative to a reference state, which stands at position 0: `c` is what is collected before the reference state or an
exit is reached, `e` the probability that an exit comes first, `h` that the reference state does.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.structs import Block, ChainRows, Eliminated, SystemRows, position

__all__ = ["evaluate", "evaluate_again", "reaching"]

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
