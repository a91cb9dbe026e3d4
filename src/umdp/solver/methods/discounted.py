"""Discounted sums: strategies are improved in turn, and one step backwards from any values brackets the truth.

Let T be a step backwards with discount g, and D = T x - x. T is monotone, and adding a constant k to all values adds g k to all
that come of it. Hence from ``x + min D / (1 - g)`` a step does not lead down and from ``x + max D / (1 - g)`` not up, so

    T x + g/(1 - g) min D  <=  v  <=  T x + g/(1 - g) max D .

`bracket` adds the rounding of D, which `signed` bounds. The choices taken in that step keep their side of the bracket, because
they are the ones that D was computed of.

That takes what D is off anywhere for what it is off everywhere and always. Where it is not enough, `|v - x|` is bounded by a
discounted sum again: that of `|D|`, maximised by both players, since ``|v - x| <= |T v - T x| + |D|`` and the first is at most
g times an average of ``|v - x|`` by some choice and some distribution. Its values are small, and so is its rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from umdp.model import Rewards
from umdp.solver.kernels.backward import Steps
from umdp.solver.kernels.rounding import EPS
from umdp.solver.methods.pair import chain_of, solver_of
from umdp.solver.methods.signed import Signed

if TYPE_CHECKING:
    from umdp.solver.objective import SolveOptions

__all__ = ["Discounting", "bracket", "solve_discounted"]

Array = NDArray[Any]
SWEEPS = 12  # between looks at the bracket
PATIENCE = 60  # steps that are cheaper than a linear system
ROUNDS = 12  # improvements that hardly help, after which sweeps go on alone
FEW = 4  # of these, where rounding leaves no room for the precision


@dataclass(frozen=True, eq=False)
class Discounting:
    """Values of a discounted sum.

    Attributes
    ----------
    lower, upper : (S,) certified bounds
    x : (S,) the values that a step was taken from
    steps : the step: choices and nature's answer
    """

    lower: Array
    upper: Array
    x: Array
    steps: Steps


def bracket(x: Array, steps: Steps, discount: float) -> tuple[Array, Array]:
    """Return bounds (S,) that a step from values `x` proves."""
    least = float((steps.change - steps.error).min())
    most = float((steps.change + steps.error).max())
    rate = discount / (1.0 - discount)
    after = x + steps.change
    # Sums and products of these few numbers lose a few roundings of the largest of them.
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(x) + np.abs(steps.change) + np.abs(steps.error) + rate * max(abs(least), abs(most))
        room = steps.error + 16.0 * EPS * size
        low, high = after + rate * least - room, after + rate * most + room
    finite = bool(np.isfinite(size).all())
    none = np.full(x.size, np.inf)
    return (low, high) if finite else (-none, none)


def solve_discounted(
    signed: Signed,
    options: SolveOptions,
    initial: int,
    start: Array | None = None,
    *,
    fixed: bool = False,
    looks: float = np.inf,
    spread: bool = True,
) -> Discounting:
    """Return bounds on a discounted sum, to the precision asked for in the initial state or as good as rounding allows.

    Values are kept to the working precision, so that a step changes them by some roundings of the largest of them for ever. The
    bracket has ``1 / (1 - g)`` times that: where it is more than what is asked for, what stalls is not tried again.

    Parameters
    ----------
    signed : Signed
        The model; with a `weight` its policy is evaluated.
    options : SolveOptions
    initial : int
        The state whose bracket counts.
    start : (S,), optional
        Choices to begin with.
    fixed : bool
        Whether there is no agent to improve.
    looks : float
        How many brackets to look at, at most.
    spread : bool
        Whether to sum up what a step is off, where the bracket stays too wide.
    """
    game = not fixed and signed.agent_max != signed.nature_max
    into, x = signed.begin(start), np.zeros(signed.shape.states)
    unit, nested, stalled = signed.largest_reward, False, 0
    best: Discounting | None = None
    while looks > 0:
        signed.step(x, into)
        options.statistics.iterations += 1
        looks -= 1
        low, high = bracket(x, into, signed.discount)
        width = float(high[initial] - low[initial])
        before = np.inf if best is None else float(best.upper[initial] - best.lower[initial])
        if best is None or width < before:
            kept = Steps(into.change.copy(), into.error.copy(), into.choice.copy(), into.prob.copy())
            best = Discounting(low, high, x, kept)
        size = max(abs(float(low[initial])), abs(float(high[initial])), unit)
        options.tell("discounted sum", width / size if size > 0 else 0.0)
        done = not width > options.precision * size
        least = float(into.error.max()) + EPS * float(np.abs(x).max())  # what a step changes by rounding alone
        noise = float(np.abs(into.change).max()) <= 4.0 * least
        within = (
            least <= (1.0 - signed.discount) * options.precision * size
        )  # whether rounding leaves room for what is asked
        if not width > 0.01 * options.precision * size or noise or options.is_late():
            break
        if (done and width > 0.5 * before) or options.statistics.iterations > _most(signed.discount):
            break
        stalled = stalled + 1 if width > 0.5 * before else 0
        if not within and stalled > FEW:
            break
        x = x + into.change
        if _sweeps(width, options.precision * size, signed.discount) <= PATIENCE or stalled > ROUNDS:
            for _ in range(SWEEPS):
                signed.step(x, into)
                x = x + into.change
                if options.is_late():
                    break
        else:
            nested = nested or (game and stalled > 2)
            x = _improved(signed, x, into, options, nested=nested)
    assert best is not None
    size = max(abs(float(best.lower[initial])), abs(float(best.upper[initial])), unit)
    if (
        spread
        and float(best.upper[initial] - best.lower[initial]) > options.precision * size
        and not options.statistics.stopped
    ):
        return _spread(signed, best, options, initial)
    return best


def _spread(signed: Signed, found: Discounting, options: SolveOptions, initial: int) -> Discounting:
    """Return bounds by the discounted sum of what a step from the values found changes, and may be off."""
    if unknown(found):
        return found
    absolute_error = (np.abs(found.steps.change) + found.steps.error) * (1.0 + 4.0 * EPS)
    if (
        not float(absolute_error.max()) < float(signed.largest_reward) * 1e-6
    ):  # nothing small to sum up, and no end of it
        return found
    errors = signed.about(Rewards(state=absolute_error))
    own = replace(options, precision=0.01, progress=None, statistics=replace(options.statistics))
    summed = solve_discounted(errors, own, initial, fixed=True, spread=False)
    room = summed.upper * (1.0 + 4.0 * EPS)
    low, high = np.nextafter(found.x - room, -np.inf), np.nextafter(found.x + room, np.inf)
    return replace(found, lower=np.maximum(low, found.lower), upper=np.minimum(high, found.upper))


def unknown(found: Discounting) -> bool:
    """Whether nothing is known at all."""
    return bool(np.isinf(found.lower).any() or np.isinf(found.upper).any())


def _sweeps(width: float, goal: float, discount: float) -> float:
    """Return how many steps it takes at most until a bracket of some width is as narrow as asked for."""
    return float(np.log(max(goal, 1e-300) / width) / np.log(discount)) if width > goal else 0.0


def _most(discount: float) -> float:
    """Return how many steps are worth it: as many as sweeps alone would need, and to spare."""
    return 1000.0 + 60.0 / (1.0 - discount)


def _improved(signed: Signed, x: Array, into: Steps, options: SolveOptions, *, nested: bool) -> Array:
    """Return the values of the strategies taken by a linear system; `x` where it cannot be solved.

    Improving both players at once mostly settles, and quickly. Where it does not, nature answers one policy (`nested`) until it
    can do no better.
    """
    from scipy.sparse import identity

    states = np.arange(signed.shape.states)
    weight = None
    if nested and not signed.weight.size:
        weight = np.zeros(signed.shape.choices)
        weight[into.choice] = 1.0
    size = float(np.abs(into.change).max())
    for _ in range(12 if nested else 1):
        signed.step(x, into, weight=weight)
        before = float(np.abs(into.change).max())
        if before <= 4.0 * float(into.error.max()) or (nested and before < 1e-2 * size) or options.is_late():
            break
        matrix = identity(states.size, format="csr") - signed.discount * chain_of(signed, into, states)
        found = solver_of(matrix, options.watch.left)(into.change)
        if found is None:
            break
        x = x + found
    return x
