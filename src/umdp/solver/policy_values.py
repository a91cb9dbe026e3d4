"""What policies are worth on a process that is known, one after another: by equations that are set up once, without a proof."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import MDP, Policy
from umdp.solver.objective import players
from umdp.solver.reduction.analysis import analyse
from umdp.solver.unbounded import task_of
from umdp.spec import Spec

if TYPE_CHECKING:
    from umdp.solver.methods.repetition import Repetition

__all__ = ["PolicyValues"]

SMALL = 400  # states of a component up to which elimination is cheap


class PolicyValues:
    """Evaluates policies of one property on a process: to measure by, never to promise.

    Examples
    --------
    >>> from umdp import MDP, Policy, Spec
    >>> coin = MDP([0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], [0.5, 0.5, 0.25, 0.75, 1, 1], labels={"heads": [1]})
    >>> values = PolicyValues(Spec.parse('Pmaxmin=? [ F "heads" ]'))
    >>> values.of(coin, Policy(coin, [1, 2, 3]))
    0.25
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._process: MDP | None = None
        self._known: Repetition | None = None
        self._last: tuple[NDArray[np.int64], float] | None = None

    def __reduce__(self) -> Any:
        return PolicyValues, (self.spec,)

    def of(self, process: MDP, policy: Policy) -> float | None:
        """Return the value of a policy in the initial state of a process; None where that takes more than elimination."""
        from umdp.solver.cached_kernels import evaluate_policy

        if process is not self._process:
            self._process, self._known, self._last = process, self._set_up(process), None
        known, choice = self._known, policy.choice
        if known is None or choice is None or choice.ndim != 1:
            return None
        if self._last is not None and not (self._last[0] != choice).any():
            return self._last[1]
        found = evaluate_policy(int(known.index[process.initial]), known.arrays(), choice)
        if math.isnan(found):
            return None
        self._last = choice, found
        return found

    def _set_up(self, process: MDP) -> Repetition | None:
        """Return the equations of a process; None where the graph decides the value, or elimination is not enough."""
        from umdp.solver.methods.repetition import Repetition

        if self.spec.aim != "reach" or self.spec.filter is not None:
            return None
        about = analyse(process, self.spec)
        task = task_of(about, self.spec, *players(process, self.spec))
        if not about.kept or task.complement or not task.decided.maybe[process.initial]:
            return None
        known = Repetition(task)
        if not known.suits or known.largest > SMALL or known.index[process.initial] >= known.n:
            return None
        return known if known.renew(process.probability, process.probability) else None
