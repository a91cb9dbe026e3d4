"""The judge: the one place that says whether bounds are proved, from the model as given and the vectors alone.

- `rows`: what one row of the model allows, and what nature collects there, with every rounding bounded.
- `quick`: what is seen of rows at once, of both vectors; others are read with care.
- `graph`: whether the goal may be missed, is reached surely, or payments go on for ever.
- `question`: what is asked of the model as given, and what vectors that pass say of it.
- `inductive`: reachability, expected rewards and totals.
- `digits`: reachability and expected rewards whose values agree in more digits than two numbers have.
- `sums`: discounted sums and long-run averages.
- `steps`: step-bounded properties.
- `width`: whether a bracket is as narrow as was asked for.
- `lift`: products with automata, in which temporal formulas are a matter of reaching.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from umdp.solver.judge.graph import JudgedQuestion
    from umdp.solver.judge.inductive import examine
    from umdp.solver.judge.rows import ModelRows, TwoPart

__all__ = ["JudgedQuestion", "ModelRows", "TwoPart", "examine", "refused"]

_COMPILED = {"JudgedQuestion": "graph", "examine": "inductive", "ModelRows": "rows", "TwoPart": "rows"}
_refusals: list[str] = []


def __getattr__(name: str) -> Any:
    """Load compiled code when it is asked for: what stands behind a bracket (`width`) is read without it."""
    if name not in _COMPILED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_COMPILED[name]}"), name)


def refuse(what: str) -> None:
    """Take note that something the solver said was not confirmed."""
    _refusals.append(what)


def refused() -> int:
    """Return how often, in this process, something the solver said was not confirmed."""
    return len(_refusals)
