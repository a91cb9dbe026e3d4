"""The six environments of the paper, and the switched chain; each plays the unknown truth.

Examples
--------
>>> from umdp.benchmark import BENCHMARKS, grid, load
>>> grid()
MDP with 100 states, 374 choices, 1,450 transitions; initial state (0,0); labels "trap", "goal"
>>> print(load("grid").spec)
Pmax=? [ !"trap" U "goal" ]
>>> ", ".join(BENCHMARKS)
'chain, chain-switched, aircraft, grid, bandit, betting-favourable, betting-unfavourable'
"""

from umdp.benchmark.betting_game import betting, betting_favourable, betting_unfavourable
from umdp.benchmark.chain_problem import chain, chain_switched
from umdp.benchmark.collision_avoidance import aircraft
from umdp.benchmark.grid_world import grid
from umdp.benchmark.many_armed_bandit import bandit
from umdp.benchmark.registry import BENCHMARKS, Benchmark, load
from umdp.benchmark.text_drawing import draw_chain, draw_grid

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "aircraft",
    "bandit",
    "betting",
    "betting_favourable",
    "betting_unfavourable",
    "chain",
    "chain_switched",
    "draw_chain",
    "draw_grid",
    "grid",
    "load",
]
