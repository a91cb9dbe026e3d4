"""Values of one pair of strategies by a sparse linear system: a proposal, which a step backwards judges afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model.structure import entries_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from umdp.solver.kernels.backward import Steps
    from umdp.solver.methods.signed import Signed

__all__ = ["chain_of", "solver_of", "stabilised"]

Array = NDArray[Any]
DIRECT = 1500  # states up to which elimination is quickest
ROOM = 20_000_000  # numbers that a factorised band may have
SPEED = 1e9  # operations a second that a factorisation is sure to manage: nothing ends it before it is done
SWEEPS = 100  # iterations of a linear solver worth waiting for


def chain_of(signed: Signed, steps: Steps, states: Array) -> csr_matrix:
    """Return the transition matrix of the choices taken and nature's answer, over some states (n, n)."""
    from scipy.sparse import csr_matrix

    shape = signed.shape
    if signed.weight.size:
        share = signed.weight / np.repeat(
            np.add.reduceat(signed.weight, shape.state_ptr[:-1]), np.diff(shape.state_ptr)
        )
        rows = np.flatnonzero((share > 0) & np.isin(shape.choice_state, states))
    else:
        share = np.ones(shape.choices)
        rows = steps.choice[states]
    sizes = np.diff(shape.choice_ptr)[rows]
    entries = entries_of(shape.choice_ptr, rows)
    place = np.full(shape.states, -1, dtype=np.int64)
    place[states] = np.arange(states.size)
    source = np.repeat(place[shape.choice_state[rows]], sizes)
    target = place[shape.successor[entries]]
    inside = target >= 0
    data = steps.prob[entries] * np.repeat(share[rows], sizes)
    return csr_matrix((data[inside], (source[inside], target[inside])), shape=(states.size, states.size))


def solver_of(matrix: Any, seconds: float = np.inf) -> Callable[[Array], Array | None]:
    """Return a function that solves a sparse linear system as well as it can be done quickly; None where it cannot.

    Small systems, and those whose states have neighbours nearby once they are put in order, are factorised. Others mix fast, so
    that iterations settle; so are those that cannot be factorised in the `seconds` left.
    """
    from scipy.sparse import diags
    from scipy.sparse.csgraph import reverse_cuthill_mckee
    from scipy.sparse.linalg import splu

    size = matrix.shape[0]
    order = np.arange(size)
    if size > DIRECT:
        order = reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=False).astype(np.int64)
        place = np.empty(size, dtype=np.int64)
        place[order] = np.arange(size)
        entries = matrix.tocoo()
        band = int(np.abs(place[entries.row] - place[entries.col]).max(initial=0))
    if size <= DIRECT or (size * band <= ROOM and float(size) * band * band <= SPEED * seconds):
        try:
            factor = splu(matrix[order][:, order].tocsc(), permc_spec="COLAMD" if size <= DIRECT else "NATURAL")
        except RuntimeError:  # exactly singular
            return lambda right: None

        def direct(right: Array) -> Array | None:
            found = np.empty(size)
            with np.errstate(all="ignore"):
                found[order] = factor.solve(right[order])
            return found if bool(np.isfinite(found).all()) else None

        return direct
    diagonal = matrix.diagonal()
    scale = diags(1.0 / np.where(diagonal != 0, diagonal, 1.0))
    scaled = (scale @ matrix).tocsr()

    def iterative(right: Array) -> Array | None:
        found = stabilised(scaled, scale @ right)
        return found if bool(np.isfinite(found).all()) else None

    return iterative


def stabilised(matrix: Any, right: Array) -> Array:
    """Return an approximate solution by BiCGSTAB, to four digits or as far as `SWEEPS` iterations lead.

    Products are summed by NumPy itself: the threads of a linear algebra library cost more than they help with a vector, where
    others are at work too.
    """
    x, residual = np.zeros(right.size), right.copy()
    shadow, direction = residual.copy(), residual.copy()
    goal = 1e-4 * float(np.abs(right).max(initial=0.0))
    rho = float((shadow * residual).sum())
    with np.errstate(all="ignore"):
        for _ in range(SWEEPS):
            if not float(np.abs(residual).max()) > goal or rho == 0.0:
                break
            image = matrix @ direction
            along = float((shadow * image).sum())
            if along == 0.0:
                break
            alpha = rho / along
            half = residual - alpha * image
            turned = matrix @ half
            size = float((turned * turned).sum())
            omega = float((turned * half).sum()) / size if size > 0.0 else 0.0
            x += alpha * direction + omega * half
            residual = half - omega * turned
            before, rho = rho, float((shadow * residual).sum())
            if omega == 0.0:
                break
            direction = residual + (rho / before) * (alpha / omega) * (direction - omega * image)
    return x
