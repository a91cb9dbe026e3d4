"""Values of one pair of strategies by a sparse linear system: a proposal, which a step backwards judges afterwards."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from umdp.solver.methods.signed import Signed, Steps

__all__ = ["chain_of", "solved"]

Array = NDArray[Any]
DIRECT = 1500  # states up to which elimination is quickest
SWEEPS = 300  # iterations of a linear solver worth waiting for


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
    ends = np.cumsum(sizes)
    entries = np.arange(int(ends[-1])) - np.repeat(ends - sizes - shape.choice_ptr[rows], sizes)
    place = np.full(shape.states, -1, dtype=np.int64)
    place[states] = np.arange(states.size)
    source = np.repeat(place[shape.choice_state[rows]], sizes)
    target = place[shape.successor[entries]]
    inside = target >= 0
    data = steps.prob[entries] * np.repeat(share[rows], sizes)
    return csr_matrix((data[inside], (source[inside], target[inside])), shape=(states.size, states.size))


def solved(matrix: Any, right: Array) -> Array | None:
    """Return a solution of a sparse linear system as good as it could be found; None where none was."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import bicgstab, spsolve

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if right.size <= DIRECT:
            found = np.atleast_1d(spsolve(matrix.tocsc(), right))
        else:
            diagonal = matrix.diagonal()
            scale = diags(1.0 / np.where(diagonal != 0, diagonal, 1.0))
            found, _ = bicgstab(scale @ matrix, scale @ right, rtol=1e-10, maxiter=SWEEPS)
    return found if bool(np.isfinite(found).all()) else None
