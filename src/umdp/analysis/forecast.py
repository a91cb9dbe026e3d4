"""How much more has to be seen for a target: what the learner would say if the same were seen again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.worst_case import WorstCase
from umdp.errors import ModelError
from umdp.learn import Learner
from umdp.model import IntervalMDP
from umdp.solver import prepare, solve
from umdp.spec import Spec, Threshold

__all__ = ["Forecast", "forecast", "law_of"]

Array = NDArray[Any]
Law = Callable[[Array], IntervalMDP]
MOST = 2.0**50  # samples: beyond it nobody waits
FINE = 1.02  # an estimate is not better than that


@dataclass(frozen=True)
class Forecast:
    """An estimate of how much more has to be seen for a target. It rests on what counts suggest and promises nothing.

    Attributes
    ----------
    target : the threshold
    reached : whether it is reached as it is
    trajectories : how many more, if the choices are taken in the same proportions as so far; None where no number is enough
    samples : how many more, if they could be taken where they count; None likewise
    limit : the best value there is if things are as counts suggest: no number of samples leads beyond it
    law : how intervals are taken to shrink: "learner", as they would with such counts, or "root", like one over the square root
    """

    target: Threshold
    reached: bool
    trajectories: int | None
    samples: int | None
    limit: float
    law: str


def law_of(model: IntervalMDP, guess: Array, counts: Array, learner: Learner | None) -> Law:
    """Return the model that would be learned after so many more samples of every choice (C,), as counts suggest them.

    Without the learner, intervals shrink towards the guess like one over the square root of the samples.
    """
    sizes, ptr = np.diff(model.choice_ptr), model.choice_ptr[:-1]
    seen = np.add.reduceat(counts, ptr).astype(np.float64)

    def asked(more: Array) -> IntervalMDP:
        assert learner is not None
        later = learner.clone()
        later.update(np.rint(np.repeat(more, sizes) * guess).astype(np.int64))
        return later.model

    def root(more: Array) -> IntervalMDP:
        shrunk = np.repeat(np.sqrt(np.maximum(seen, 1.0) / (np.maximum(seen, 1.0) + more)), sizes)
        lower, upper = guess - shrunk * (guess - model.lower), guess + shrunk * (model.upper - guess)
        return model.graph.with_bounds(np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0))

    return root if learner is None else asked


def forecast(
    worst: WorstCase, target: Threshold, counts: Array, trajectories: int, learner: Learner | None = None
) -> Forecast:
    """Return an estimate of how much more has to be seen for a target.

    Parameters
    ----------
    worst : the worst case of what is learned
    target : such as ``>=0.3``
    counts : (T,) how often each transition was seen
    trajectories : in so many
    learner : as it is now; None if it is not known
    """
    solution = worst.solution
    model = solution.model
    assert isinstance(model, IntervalMDP)
    law = law_of(model, worst.guess, counts, learner)
    name = "root" if learner is None else "learner"
    solver = prepare(model.graph, solution.spec)
    spec = solution.spec
    plain = Spec(spec.kind, spec.agent, None, spec.formula, None, spec.reward)
    limit = solve(model.graph.with_probability(worst.guess), plain).value
    if target.holds(solution.bracket.lower, solution.bracket.upper):
        return Forecast(target, True, 0, 0, limit, name)
    if not target.holds(limit, limit):
        return Forecast(target, False, None, None, limit, name)

    def enough(more: Array) -> bool:
        try:
            learned = law(more)
            found = solver.solve_model(learned, start=solution.policy.choice, precision=1e-4, method="auto", cutoff=1e9)
        except ModelError:  # so many samples that rounding leaves no distribution
            return False
        return bool(target.holds(found.bracket.value, found.bracket.value))

    seen = np.add.reduceat(counts, model.choice_ptr[:-1]).astype(np.float64)
    each = None if not trajectories else least(lambda many: enough(seen / trajectories * many))
    return Forecast(target, False, each, _samples(worst, seen, learner, enough), limit, name)


def _samples(worst: WorstCase, seen: Array, learner: Learner | None, enough: Callable[[Array], bool]) -> int | None:
    r"""Return how many samples are enough if they are taken where they count.

    A sum of :math:`a_c/\sqrt{n_c}` is least, for a given number of samples, where :math:`n_c` goes with :math:`a_c^{2/3}`.
    """
    tying = getattr(learner, "tying", None)
    loss, kept = np.maximum(worst.loss, 0.0), seen
    if tying is not None:  # a class is sampled at the first of its choices that feeds it
        feeding = np.flatnonzero(tying.feeds)[::-1]
        place = np.zeros(tying.classes, np.int64)
        place[tying.choice_class[feeding]] = feeding
        total = np.bincount(tying.choice_class, loss, tying.classes)
        pooled = np.bincount(tying.choice_class, np.where(tying.feeds, seen, 0.0), tying.classes)
        loss, kept = np.zeros_like(loss), np.zeros_like(seen)
        np.add.at(loss, place, total)
        np.add.at(kept, place, pooled)
    wanted = (loss * np.sqrt(np.maximum(kept, 1.0))) ** (2 / 3)
    if not wanted.any():
        return None
    wanted /= wanted.sum()

    def more(total: float) -> Array:
        added: Array = np.maximum(wanted * (total + kept[wanted > 0].sum()) - kept, 0.0)
        return added

    found = least(lambda total: enough(more(total)))
    return None if found is None else round(float(more(found).sum()))


def least(enough: Callable[[float], bool]) -> int | None:
    """Return about the least number that is enough; None if none is. More is never worse.

    Examples
    --------
    >>> 1000 <= least(lambda many: many >= 1000) <= 1020, least(lambda many: False)
    (True, None)
    """
    high = 1.0
    while not enough(high):
        if high >= MOST:
            return None
        high *= 4.0
    low = high / 4.0
    while high > FINE * low and high - low > 1:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return int(np.ceil(high))
