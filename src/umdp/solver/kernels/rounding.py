"""Rounding errors: every bound on what floating-point arithmetic may lose, with its derivation, in one place.

Notation: ``eps = 2**-53``; ``fl(a o b) = (a o b)(1 + d)``, ``|d| <= eps``, as long as the result is neither above the largest
number nor below the smallest normal one. Below that the error is at most `LEAST`, absolutely.

Row error
    What a step by a row collects, ``reward + sum_j p_j key_j``, is off by at most `row_error` times
    ``|reward| + sum_j p_j |key_j|``:

    - A row without freedom is divided by its sum, and loses its self-loop; equal targets are added up. Sums of more than four
      numbers are done in twice the working precision, others lose three roundings at most. Each probability (and the reward) is
      then off by at most 12 eps, relative to itself.
    - Where nature serves k successors in full and the next one in part, that one's share is what is left of the slack. The slack
      is accurate to 2 eps. Each ``upper - lower`` and each subtraction loses eps of at most the slack; `fill` repeats the sums
      in twice the working precision unless at least half of the slack is left, so that the share is off by 4 n + 4 eps.
    - Products and their sum add n + 1 eps, the keys themselves 8 eps where they are rounded.

    Together at most (5 n + 28) eps, n being the number of entries; `row_error` is (8 n + 96) eps, which leaves room for products
    of these terms and for the rounding of the bound itself.

    A test "the computed sum plus `row_error` times the computed scale is at most 0" therefore speaks about the *exact* row of the
    model, whose probabilities sum to 1 exactly, and not only about the rounded one handed to the kernels.

Shares in twice the working precision
    When `fill` repeats its sums, what is left for the last successor served is off by at most `share_error`, absolutely:
    n additions, each off by 2**-105 of at most 1. (It may also decide wrongly whom that is, but then by no more than this.)
    It counts times the largest key.

Underflow
    A product or a quotient below the smallest normal number is off by at most `LEAST`. A row of n entries is then off by at
    most (n + 2) `LEAST` (times the keys, where a probability itself is that small), which is added wherever the terms are not
    all exactly 0. Nothing that is positive is ever rounded to 0. A value passes such an error on undiminished at most (values
    are expectations of values reached), so over a whole problem it stays far below `TINY`, by which all positive values are
    widened in the end: brackets of values below 1e-285 become wide, others do not notice.

Inherited errors
    Given exits of value ``x_j``, a component was found to have the value ``v'`` in ``[low, high]``. The true exits lie in
    ``x_j [1 - a, 1 + a]``. Rewards are at least 0, so the value is monotone in the exits and scaling them by t >= 1 scales it by
    at most t (by t <= 1: at least t). Hence it lies in ``[low (1 - a), high (1 + a)]``. With ``low >= x (1 - b)`` and
    ``high <= x (1 + b)`` that is inside ``x [1 - c, 1 + c]`` for ``1 + c = (1 + a)(1 + b)``: `compose`; and
    ``(1 - a)(1 - b) >= 1 - c``.

Perturbed rows
    Values are ratios of sums of products (one probability a state at most: the matrix-tree theorem), so that changing every
    probability by a factor in ``[1 - d, 1 + d]`` changes values by a factor of at most
    ``((1 + d)/(1 - d))**n <= (1 + 3 d)**n`` in a component of n states. It is needed only where no certificate is made on
    rounded rows: see `exact`.

Eliminated rows
    Let nobody have a choice. The equations of a chain, ``(sum_j a_ij + e_i) v_i = b_i + sum_j a_ij v_j`` with numbers of at
    least 0, have the solution ``N / D``, where D is the sum over all forests that lead every state to an exit, N the same with
    the state asked about led to some state whose b is collected: each product has *one* factor of every row, an a, the e or the
    b of it. So if the numbers of one row change by factors in ``[1 - d, 1 + d]``, all values change by at most
    ``(1 + d)/(1 - d) <= exp(3 d)``, and what is done to several rows adds up in the exponent.

    Eliminating a state k with m neighbours left is exact but for rounding, and changes only the rows i with ``a_ik > 0``: each
    gets ``a_ik fl(a_kj / fl(sum))`` added to its numbers, m roundings in the sum, and one each in the quotient, the product and
    the addition, of numbers that are at least 0. That changes each such row by m + 3 eps at most (`sparse_elimination` counts
    m + 4), after which the reduced chain goes on as if it had been given. The rows given are off as above (64 eps are more than
    enough, and `Task.perturbation`), what they collect by one rounding an entry.

    Finding the values then takes ``v_k = b_k + sum_j (a_kj / sum) v_j``, in which errors are averaged and 2 m + 4 eps added: a
    number of roundings for each state on the longest way through the order. No step subtracts, so nothing of that depends on
    how close to each other values are. It holds while no number of a row comes near the smallest ones; products with *values*
    may underflow, which is passed on undiminished at most, as everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.judge.ambiguity import EPS, LEAST, excess, two_sum

__all__ = [
    "EPS",
    "FAINT",
    "LEAST",
    "MOST",
    "TINY",
    "all_ends",
    "around",
    "compose",
    "ends",
    "excess",
    "excess_within",
    "repeated",
    "row_error",
    "share_error",
    "spread_ends",
    "spread_parts",
    "two_sum",
    "underflow",
]

Array = NDArray[Any]
MOST = float(np.finfo(np.float64).max)
FAINT = 1e-280  # below this a probability may lose digits by a division
TINY = 1e-301  # what underflow may add up to over a whole problem, and to spare


@kernel(allocates=False)
def row_error(size: int) -> float:
    """Return the relative rounding error of a step by a row of `size` entries."""
    return (8.0 * size + 96.0) * EPS


@kernel(allocates=False)
def share_error(size: int) -> float:
    """Return the absolute error of a share that was found in twice the working precision."""
    return size * 2.0**-104


@kernel(allocates=False)
def underflow(size: int) -> float:
    """Return the absolute error of a sum of `size` products that are not all 0 but may underflow."""
    return (2.0 * size + 8.0) * LEAST


@kernel(allocates=False)
def compose(first: float, second: float) -> float:
    """Return ``(1 + first)(1 + second) - 1``, rounded up.

    Three roundings of numbers at least 0 lose 3 eps, relatively.
    """
    if not (first < np.inf and second < np.inf):
        return np.inf
    return (first + second + first * second) * (1.0 + 8.0 * EPS)


@kernel(allocates=False)
def around(low: float, high: float) -> tuple[float, float]:
    """Return (x, rel) with ``x (1 - rel) <= low`` and ``high <= x (1 + rel)``: the middle of two bounds, at least 0 both.

    The distances are taken from the rounded middle itself, so only their own rounding (one subtraction, one division)
    has to be made good. Below the normal numbers the error is left to `TINY`, which has room for 1e7 of these on a path.
    """
    if not (low >= 0.0 and high < np.inf):
        return 1.0, np.inf
    if not low <= high:  # both cannot hold, or one is no number: nothing is known
        return 1.0, np.inf
    if high == low:
        return low, 0.0
    if high < 1e-308:
        return high, 0.0
    x = low + 0.5 * (high - low)
    if x <= 0.0:
        x = high
    return x, max(high - x, x - low) / x * (1.0 + 8.0 * EPS)


def repeated(error: float, times: int) -> float:
    """Return ``(1 + error)**times - 1``, rounded up; `expm1` and `log1p` are accurate to a few eps."""
    with np.errstate(over="ignore"):
        return float(np.expm1(times * np.log1p(error)) * (1.0 + 2.0**-40))


@kernel(allocates=False)
def ends(x: float, relative_error: float) -> tuple[float, float]:
    """Return bounds of a value in ``x [1 - relative_error, 1 + relative_error]``, widened by `TINY`.

    They are 0 and infinity where nothing is known.

    ``1 - relative_error`` and the product lose eps each, which eight more make good; without an error, the value is exact.
    """
    if relative_error == 0.0:
        return x, x
    low, high = x * (1.0 - relative_error), x * (1.0 + relative_error)
    low, high = low - 8.0 * EPS * low - TINY, high + 8.0 * EPS * high + TINY
    if not (x > 0.0 and relative_error < 1.0 and low > 0.0):
        low = 0.0
    if not (x >= 0.0 and high >= 0.0):
        high = np.inf
    elif x == 0.0 and relative_error < np.inf:
        high = 0.0
    return low, high


@kernel(allocates=False)
def spread_ends(
    index: Array,
    found: Array,
    error: Array,
    maybe: Array,
    infinite: Array,
    more: float,
    most: float,
    low: Array,
    high: Array,
) -> bool:
    """Write the bounds of states, of which `index` says which value is theirs; return whether there are faint ones.

    Errors are composed with `more`. What is decided is exact. No value exceeds `most`.
    """
    faint = False
    for s in range(index.size):
        x, relative_error = found[index[s]], error[index[s]]
        if infinite[s]:
            x = np.inf
        low[s] = high[s] = x
        if maybe[s]:
            if more > 0.0:
                relative_error = (relative_error + more + relative_error * more) * (1.0 + 8.0 * EPS)
            below, above = ends(x, relative_error)
            low[s], high[s] = below, min(above, most)
            faint = faint or 0.0 < above < 1e-300
    return faint


@kernel(allocates=False)
def spread_parts(index: Array, maybe: Array, parts: Array, scale: float, base: Array, offset: Array) -> None:
    """Write the bounds of undecided states in two parts, (3, n+2) as `Workspace.parts`, where these are known."""
    for s in range(index.size):
        if maybe[s] and parts[1, index[s]] == parts[1, index[s]]:
            base[s], offset[s] = parts[1, index[s]] * scale, parts[2, index[s]] * scale


@kernel
def all_ends(x: Array, relative_error: Array) -> tuple[Array, Array]:
    """Return the bounds of some values; see `ends`."""
    low, high = np.empty(x.size), np.empty(x.size)
    for i in range(x.size):
        low[i], high[i] = ends(x[i], relative_error[i])
    return low, high


@kernel
def excess_within(begin: int, end: int, values: Array, successor: Array, group: Array, wanted: int) -> float:
    """Return `excess` over the entries `t` with ``group[successor[t]] == wanted``."""
    kept, count = np.empty(end - begin), 0
    for t in range(begin, end):
        if group[successor[t]] == wanted:
            kept[count] = values[t]
            count += 1
    return excess(0, count, kept)
