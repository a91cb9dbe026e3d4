"""The judge: the one place that says whether bounds are proved, from the model as given and the vectors alone.

- `rows`: what one row of the model allows, and what nature collects there, with every rounding bounded.
- `inductive`: reachability, expected rewards and totals.
"""

from umdp.solver.judge.inductive import Asked, TwoPart, examine
from umdp.solver.judge.rows import ModelRows

__all__ = ["Asked", "ModelRows", "TwoPart", "examine"]
