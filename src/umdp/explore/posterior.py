"""Posterior sampling: act as if a process that is drawn from what is believed were the true one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.explore.policies import Explorer, reaches
from umdp.explore.view import View

__all__ = ["Posterior"]

DRAWS = 100  # of a process whose best policy learns something: one that does not bet learns nothing of the bets


@dataclass(frozen=True)
class Posterior(Explorer):
    r"""Posterior (Thompson) sampling: before every iteration draw a process, and follow the policy that is best for it.

    The probabilities of a choice are drawn from a Dirichlet distribution with the parameters `prior` plus counts. What is drawn
    depends on the seed and on the number of the iteration alone, so that a run that is continued explores as it would have.

    Examples
    --------
    >>> from umdp import benchmark
    >>> from umdp.learning import anytime
    >>> spec = benchmark.BENCHMARKS["bandit"].spec
    >>> *_, last = anytime(benchmark.bandit(), spec, "lui", explorer=Posterior(), trajectories=2000)
    >>> last.performance > 0.9
    True
    """

    prior: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.prior < np.inf:
            raise ModelError(
                f"prior is the parameter of a Dirichlet distribution and must be above 0, not {self.prior}"
            )

    def weight(self, view: View) -> NDArray[np.float64]:
        """Put all weight on the choices that are best for what was drawn."""
        estimates, graph = view.estimates, view.graph
        if estimates is None:
            raise ModelError("posterior sampling needs a run, which knows what is asked for; use it with anytime")
        random = np.random.default_rng(np.random.SeedSequence((estimates.seed, estimates.iteration)))
        for _ in range(DRAWS):
            drawn = np.maximum(random.standard_gamma(self.prior + estimates.seen), np.finfo(np.float64).tiny)
            total = np.add.reduceat(drawn, graph.choice_ptr[:-1])
            weight = np.zeros(graph.choices)
            weight[estimates.plan(drawn / np.repeat(total, np.diff(graph.choice_ptr)))] = 1.0
            if reaches(graph, weight, view.matters, estimates.halt, estimates.horizon):
                break
        return weight
