"""The judge: the one place that says whether bounds are proved, from the model as given and the vectors alone.

- `question`: what is asked of the model as given, and what vectors that pass say of it; whether a bracket is narrow.
- `ambiguity`: which distributions a row of the model allows.
- `bellman`: what nature collects there, with every rounding bounded.
- `reachability`: reachability, expected rewards and totals.
- `digits`: reachability and expected rewards whose values agree in more digits than two numbers have.
- `horizons`: sums over steps, discounted sums and long-run averages.
- `lift`: products with automata, in which temporal formulas are a matter of reaching.
"""

__all__ = ["refuse", "refused"]

_refusals: list[None] = []


def refuse() -> None:
    """Take note that something the solver said was not confirmed."""
    _refusals.append(None)


def refused() -> int:
    """Return how often, in this process, something the solver said was not confirmed."""
    return len(_refusals)
