"""A fast simulator of an MDP that is known: trajectories are drawn in compiled code, and only counts come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import ModelError
from umdp.model import MDP
from umdp.model.beginnings import check_one_initial
from umdp.model.structure import same_rows
from umdp.source.source import Batch, Provenance, SamplingRequest, Source
from umdp.spec.names import listed, suggestion

if TYPE_CHECKING:
    from umdp.automata.product import Product
    from umdp.source.simulator.trajectory_kernels import Process

__all__ = ["SAMPLING", "Simulator", "check_sampling", "switch"]

Array = NDArray[Any]
SAMPLING = ("steps", "counts", "auto")
"""How trajectories may be drawn; their numbers are those of `sampling.sample`."""
PATIENCE = 2**20  # steps of single trajectories after which a source that decides itself how much comes looks up


class Simulator(Source):
    """A simulator of an MDP, which plays the unknown process; it may change into another one on the way.

    Outcomes are drawn with numbers of 53 bits, so that a probability is right to about 1e-16, in models of any size. Outcomes
    rarer than that are either never drawn or with that probability.

    Parameters
    ----------
    mdp : MDP
        The process.
    later : MDP, optional
        What it becomes; on the same graph.
    after : int
        The number of trajectories after which it does.
    sampling : str
        How to draw: ``"steps"``, one trajectory after another; ``"counts"``, many at once as counts, with the same law (see
        `umdp.source.simulator.trajectory_flow`); ``"auto"``, as counts where that is cheaper. Equal seeds give
        equal runs of one kind, and others of another kind.

    Attributes
    ----------
    stages : the process, and what it becomes, if it does
    after : the number of trajectories after which it does
    sampling : how trajectories are drawn
    whole : whether it decides itself how much comes at once, as it does unless it draws step by step

    Examples
    --------
    >>> import numpy as np
    >>> from umdp import MDP
    >>> from umdp.source import SamplingRequest
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1])
    >>> source = Simulator(coin)
    >>> source.begin(seed=7)
    >>> order = SamplingRequest(np.ones(3), np.array([False, True, True]), 10, np.full(3, -1), 1000)
    >>> batch = source.collect(order)
    >>> batch.trajectories, batch.steps, int(batch.counts.sum())
    (1000, 1000, 1000)
    """

    simulates = True

    def __init__(self, mdp: MDP, *, later: MDP | None = None, after: int = 0, sampling: str = "steps") -> None:
        check_sampling(sampling)
        check_one_initial(mdp)
        if later is not None:
            if not (same_rows(mdp, later) and mdp.initial == later.initial):
                raise ModelError(
                    "a process can only change into one with the same graph: states, choices and successors"
                )
            if after < 0:
                raise ModelError(f"after must be a number of trajectories, not {after}")
        self.graph = mdp.graph
        self._stages = (mdp,) if later is None else (mdp, later)
        self.after = after
        self._processes: list[Process | None] = [None] * len(self.stages)
        self._random: Array = np.zeros(4, dtype=np.uint64)
        self._done = self._steps = 0
        self.sampling, self.whole = sampling, sampling != "steps"
        self._course: Array = np.zeros(5, dtype=np.int64)

    @property
    def truth(self) -> MDP:
        """The process as it is for the next trajectory."""
        return self.stages[self.stage]

    @property
    def stages(self) -> tuple[MDP, ...]:
        """The process, and what it becomes, if it does."""
        return self._stages

    @property
    def stage(self) -> int:
        """The number of the process, among `stages`, that the next trajectory is drawn from."""
        return int(len(self.stages) > 1 and self._done >= self.after)

    @property
    def until(self) -> int:
        """The number of trajectories after which the process changes next; beyond all numbers if it does not."""
        return self.after if self.stage < len(self.stages) - 1 else 2**62

    def begin(self, seed: int) -> None:
        """Start from the beginning."""
        self._random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self._done = self._steps = 0
        self._course = np.zeros(5, dtype=np.int64)

    def collect(self, order: SamplingRequest) -> Batch:
        """Draw trajectories until the order is met; as counts, until it is or a piece of it that depends on nothing else."""
        from umdp.source.simulator.trajectory_kernels import TrajectoryEnd, TransitionCounts

        graph, until = self.graph, TrajectoryEnd(order.halt, order.horizon, order.quota)
        tally = TransitionCounts(np.zeros(graph.transitions, dtype=np.int64), np.zeros(graph.choices, dtype=np.int64))
        draw, behaviour = self._drawing(order.weight)
        drawn = steps = 0
        full = False
        while drawn < order.trajectories and not full:
            most = min(order.trajectories - drawn, self.until - self._done)
            some, walked, full = draw(self._process(), behaviour, until, most, self._random, tally)
            drawn, steps, self._done = drawn + some, steps + walked, self._done + some
            if self.whole and steps >= PATIENCE and order.weight.ndim == 1:
                break  # somebody may want to look at the clock
        self._steps += steps
        return Batch(tally.counts, drawn, steps)

    def _drawing(self, weight: Array) -> tuple[Callable[..., tuple[int, int, bool]], Any]:
        """Return the kernel that draws, and how it is told to choose."""
        from umdp.source.simulator.trajectory_kernels import Behaviour, follow, simulate, simulate_by_step

        if weight.ndim == 2:
            return simulate_by_step, np.ascontiguousarray(weight, dtype=np.float64)
        behaviour = Behaviour(weight, np.empty(self.graph.choices), np.empty(self.graph.states, dtype=np.int64))
        follow(self.graph.state_ptr, *behaviour)
        return self._sample if self.whole else simulate, behaviour

    def _sample(self, process: Any, behaviour: Any, until: Any, most: int, random: Array, tally: Any) -> Any:
        """Draw up to `most` trajectories as counts, or where that is cheaper."""
        from umdp.source.simulator.batch_sampling import sample  # who goes step by step does not wait for it

        how = SAMPLING.index(self.sampling)
        return sample(how, process, behaviour, until, most, PATIENCE, random, self._course, tally)

    def _process(self) -> Process:
        """Return what the next trajectory is drawn from."""
        from umdp.source.simulator.trajectory_kernels import Process, cumulative

        stage, graph = self.stage, self.graph
        found = self._processes[stage]
        if found is None:
            probability, edges = self.stages[stage].probability, np.empty(graph.transitions)
            cumulative(graph.choice_ptr, probability, edges)
            found = Process(graph.state_ptr, graph.choice_ptr, graph.successor, probability, edges, graph.initial)
            self._processes[stage] = found
        return found

    def along(self, product: Product) -> Source:
        """Return a simulator of the product, which changes as the process does."""
        from umdp.solver.temporal import probability_in

        graph = product.model.graph
        first, *later = (graph.with_probability(probability_in(product, stage)) for stage in self.stages)
        return Simulator(first, later=later[0] if later else None, after=self.after, sampling=self.sampling)

    def provenance(self) -> Provenance:
        """Return how much was drawn, and whether the process changes on the way."""
        return Provenance(rows=self._steps, changes=len(self.stages) > 1)

    def state(self) -> dict[str, Any]:
        """Return the random state and the number of trajectories drawn."""
        state = {"random": self._random.copy(), "done": self._done, "steps": self._steps}
        return {**state, "course": self._course.copy()} if self.whole else state

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._random = np.array(state["random"], dtype=np.uint64)
        self._done, self._steps = int(state["done"]), int(state["steps"])
        self._course = np.array(state.get("course", np.zeros(5)), dtype=np.int64)


def check_sampling(name: str, prefix: str = "") -> None:
    """Raise an error where there is no such way to draw trajectories."""
    if name not in SAMPLING:
        known = f"there are {listed(SAMPLING)}{suggestion(name, SAMPLING)}"
        raise ModelError(f"{prefix}sampling {name!r} does not exist; {known}")


def switch(first: MDP, second: MDP, after: int) -> Simulator:
    """Return a process that is `first` for `after` trajectories and `second` from then on; nobody is told.

    Examples
    --------
    >>> from umdp import MDP
    >>> fair = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1])
    >>> loaded = fair.graph.with_probability([0.9, 0.1, 1, 1])
    >>> switch(fair, loaded, after=100).truth is fair
    True
    """
    return Simulator(first, later=second, after=after)
