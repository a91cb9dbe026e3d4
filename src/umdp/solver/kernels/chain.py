"""The linear system of one Markov chain, solved by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel
from umdp.solver.kernels.clock import is_up
from umdp.solver.kernels.structs import ChainRows

__all__ = ["apply", "bicgstab", "substitute"]

Array = NDArray[Any]


@kernel(allocates=False)
def apply(begin: int, end: int, chain: ChainRows, v: Array, out: Array) -> None:
    """Write (I - P) v into `out`; vectors are numbered from `begin`."""
    entry_ptr, target, prob, row = chain.entry_ptr, chain.target, chain.prob, chain.row
    for s in range(begin, end):
        total = v[s - begin]
        for t in range(entry_ptr[row[s]], entry_ptr[row[s] + 1]):
            j = target[t]
            if begin <= j < end:
                total -= prob[t] * v[j - begin]
        out[s - begin] = total


@kernel(allocates=False)
def substitute(begin: int, end: int, chain: ChainRows, v: Array, out: Array) -> None:
    """Solve with the part of I - P on and below the diagonal: successors come first, so most of P is there."""
    entry_ptr, target, prob, row = chain.entry_ptr, chain.target, chain.prob, chain.row
    for s in range(begin, end):
        total, stay = v[s - begin], 0.0
        for t in range(entry_ptr[row[s]], entry_ptr[row[s] + 1]):
            j = target[t]
            if j == s:
                stay += prob[t]
            elif begin <= j < s:
                total += prob[t] * out[j - begin]
        out[s - begin] = total / (1.0 - stay) if stay < 1.0 else total


@kernel(allocates=False)
def _dot(a: Array, b: Array) -> float:
    """Sum a * b from the first entry to the last; NumPy's own order of additions would not be that of compiled code."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def bicgstab(
    begin: int,
    end: int,
    chain: ChainRows,
    load: Array,
    scale: Array,
    tolerance: float,
    rounds: int,
    watch: Array,
) -> tuple[Array, float]:
    """Preconditioned BiCGSTAB for (I - P) v = load in units of `scale`; (v, what is left of the load).

    The tolerance may be out of reach of rounding: where the residual stalls, or time is up, the best v so far is returned.
    """
    n = end - begin
    v = np.zeros(n)
    r = load / scale
    whole = np.sqrt(_dot(r, r))
    goal = tolerance * whole
    best, best_size, stalled = v.copy(), whole, 0
    shadow = r.copy()
    direction, image = np.zeros(n), np.zeros(n)
    helped, second, product = np.empty(n), np.empty(n), np.empty(n)
    rho = alpha = omega = 1.0
    for _ in range(rounds):
        before, rho = rho, _dot(shadow, r)
        if rho == 0.0 or omega == 0.0 or is_up(watch):
            break
        beta = (rho / before) * (alpha / omega)
        direction = r + beta * (direction - omega * image)
        substitute(begin, end, chain, direction * scale, helped)
        apply(begin, end, chain, helped, image)
        image /= scale
        helped /= scale
        bottom = _dot(shadow, image)
        if bottom == 0.0:
            break
        alpha = rho / bottom
        r = r - alpha * image
        v += alpha * helped
        if np.sqrt(_dot(r, r)) <= goal:
            return v * scale, tolerance
        substitute(begin, end, chain, r * scale, second)
        apply(begin, end, chain, second, product)
        product /= scale
        second /= scale
        bottom = _dot(product, product)
        if bottom == 0.0:
            break
        omega = _dot(product, r) / bottom
        v += omega * second
        r = r - omega * product
        size = np.sqrt(_dot(r, r))
        if size <= goal:
            return v * scale, tolerance
        if size < 0.9 * best_size:
            for i in range(n):
                best[i] = v[i]
            best_size, stalled = size, 0
        else:
            stalled += 1
        if stalled > 40 or not size < 1e300:
            break
    return best * scale, best_size / whole
