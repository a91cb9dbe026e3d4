"""Solving: certified brackets for interval MDPs, MDPs and Markov chains.

The rooms stand in the order in which a property passes through them:

- `objective` is a request, its formula lowered to sets of states, a number of steps and rewards; nothing later asks for it.
- `graph` finds what the graph alone decides: attractors, end components, values 0, 1 and infinity.
- `reduction` turns the rest into equations: decided states become exits, end components one state, components in order.
- `methods` solve them: value iteration, policy iteration by elimination, Newton's method, exact rationals; backward induction
  where steps are bounded, strategy iteration where nature may cut edges. `methods.method` says which is used when.
- `kernels` are all compiled functions that these rooms drive, with every rounding error (`kernels.rounding`).
- `result` is what comes out, and `proof` makes a certificate of it for a stranger to check with `umdp.verify`.

`task` is what is handed from room to room, and `answer` leads through them.
"""

from umdp.solver.answer import evaluate, solve, solve_uncertified
from umdp.solver.graph.decided import Relevant, relevant
from umdp.solver.prepared import Prepared, prepare
from umdp.solver.result import Bracket, Solution, Statistics, Status, UncertifiedSolution

__all__ = [
    "Bracket",
    "Prepared",
    "Relevant",
    "Solution",
    "Statistics",
    "Status",
    "UncertifiedSolution",
    "evaluate",
    "prepare",
    "relevant",
    "solve",
    "solve_uncertified",
]
