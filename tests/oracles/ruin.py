"""Lines on which one stays, moves up or moves down: exact values of any size, from the ruin formula.

With ``r_s = down_s / up_s`` and ``w_i = r_0 ... r_{i-1}``, the chance to leave line ``0 .. n-1`` at the top, from s, is
``(w_0 + ... + w_s) / (w_0 + ... + w_n)``. It rises with s, so that nature serves the lower neighbour first to harm, and the upper
one first to help, and a choice is better than another exactly if its ``r`` is smaller: staying only takes time. Integers only.
"""

from collections.abc import Sequence
from fractions import Fraction

Bounds = tuple[float, float]
Row = tuple[Bounds, Bounds, Bounds]  # stay, up, down


def exact_row(row: Row, helps: bool) -> tuple[Fraction, Fraction]:
    """Return what nature gives to (up, down)."""
    low, high = [Fraction(b[0]) for b in row], [Fraction(b[1]) for b in row]
    if sum(low) >= 1:
        return low[1], low[2]
    if sum(high) <= 1:
        return high[1], high[2]
    rest = 1 - sum(low)
    for i in (1, 0, 2) if helps else (2, 0, 1):
        take = min(rest, high[i] - low[i])
        low[i] += take
        rest -= take
    return low[1], low[2]


def chances(line: Sequence[Sequence[Row]], agent_max: bool, nature_max: bool) -> list[Fraction]:
    """Return the exact chance to leave at the top, from every state; all of up and down are positive."""
    ups, downs = [], []
    for rows in line:
        best = (min if agent_max else max)((exact_row(row, nature_max) for row in rows), key=lambda p: p[1] / p[0])
        ups.append((best[0] / best[1]).numerator)
        downs.append((best[0] / best[1]).denominator)
    size = len(line)
    above = [1] * (size + 1)
    for i in range(size - 1, -1, -1):
        above[i] = above[i + 1] * ups[i]
    sums, below = [], 1
    for i in range(size + 1):
        sums.append(below * above[i] + (sums[-1] if sums else 0))
        if i < size:
            below *= downs[i]
    return [Fraction(sums[s], sums[size]) for s in range(size)]
