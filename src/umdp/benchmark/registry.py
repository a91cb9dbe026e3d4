"""The environments by name, each with its property, horizon and optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from umdp.benchmark.betting_game import betting_favourable, betting_unfavourable
from umdp.benchmark.chain_problem import chain, chain_switched
from umdp.benchmark.collision_avoidance import aircraft
from umdp.benchmark.grid_world import grid
from umdp.benchmark.known_ties import tie_aircraft, tie_betting, tie_chain, tie_grid
from umdp.benchmark.many_armed_bandit import bandit
from umdp.errors import ModelError
from umdp.model import MDP, Graph
from umdp.model.tying import Tying
from umdp.spec import Direction, Reach, Spec, Until
from umdp.spec.expression import Label, Unary
from umdp.spec.names import listed, suggestion

__all__ = ["BENCHMARKS", "Benchmark", "load"]


@dataclass(frozen=True)
class Benchmark:
    """An environment with what is asked of it.

    Parameters
    ----------
    name : str
        Its name on the command line.
    build : function
        Returns the true MDP; without arguments, the one of the paper.
    spec : Spec
        The default property.
    horizon : int
        The number of steps after which a trajectory ends.
    optimum : float
        The optimal value of `spec` in the initial state.
    description : str
        One line for people.
    tie : function, optional
        Returns which choices of its graph are known to share one distribution over outcomes; None where none do.

    Examples
    --------
    >>> benchmark = BENCHMARKS["bandit"]
    >>> print(benchmark.spec, benchmark.horizon, benchmark.optimum)
    Rmax=? [ F "goal" ] 100 0.99
    >>> benchmark.build().states
    4
    """

    name: str
    build: Callable[..., MDP]
    spec: Spec
    horizon: int
    optimum: float
    description: str
    tie: Callable[[Graph], Tying] | None = None


def load(name: str) -> Benchmark:
    """Return the benchmark of that name.

    Examples
    --------
    >>> load("grid").optimum
    0.348955...
    """
    if name not in BENCHMARKS:
        raise ModelError(
            f"there is no benchmark {name!r}; there are {listed(BENCHMARKS)}{suggestion(name, BENCHMARKS)}"
        )
    return BENCHMARKS[name]


# Properties are put together by hand: to parse one would import the parser, and importing the package must stay cheap.
def _reach_avoiding(bad: str) -> Spec:
    return Spec("P", Direction.MAX, None, Until(Unary("!", Label(bad)), Label("goal")))


def _reward(agent: Direction, target: str) -> Spec:
    return Spec("R", agent, None, Reach(Label(target)))


_CHAIN = Benchmark(
    "chain",
    chain,
    _reward(Direction.MIN, "goal"),
    horizon=100,
    optimum=73.17981352761176,
    description="reach the end of a chain in few steps, where every action may lead back to the start",
    tie=tie_chain,
)
_BETTING = Benchmark(
    "betting-favourable",
    betting_favourable,
    _reward(Direction.MAX, "done"),
    horizon=7,
    optimum=39.36256,
    description="end with much money after six bets, each of which is won with probability 0.8",
    tie=tie_betting,
)
_ALL = (
    _CHAIN,
    replace(
        _CHAIN,
        name="chain-switched",
        build=chain_switched,
        description="the chain after its best and its worst action have changed places",
    ),
    Benchmark(
        "aircraft",
        aircraft,
        _reach_avoiding("collision"),
        horizon=1000,
        optimum=0.3024,
        description="pass an oncoming aircraft, which changes its altitude at random, without a collision",
        tie=tie_aircraft,
    ),
    Benchmark(
        "grid",
        grid,
        _reach_avoiding("trap"),
        horizon=200,
        optimum=0.3489550346730155,
        description="cross a slippery 10 x 10 grid from one corner to the next without entering a trap",
        tie=tie_grid,
    ),
    Benchmark(
        "bandit",
        bandit,
        _reward(Direction.MAX, "goal"),
        horizon=100,
        optimum=0.99,
        description="pull the best of 99 arms",
    ),
    _BETTING,
    replace(
        _BETTING,
        name="betting-unfavourable",
        build=betting_unfavourable,
        optimum=10.0,
        description=_BETTING.description.replace("0.8", "0.2"),
    ),
)

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType({each.name: each for each in _ALL})
