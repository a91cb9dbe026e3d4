"""The one call that learns: from a source and a property to what is known after every iteration.

For a temporal formula it learns in the product of the process with the formula's automaton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from umdp.explore import Explorer, as_explorer
from umdp.learn import Learner, as_learner
from umdp.learn.tied import as_tied
from umdp.learning.candidates import CandidateEvaluation, as_evidence
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
from umdp.learning.snapshot import Snapshot
from umdp.learning.validation import check_budgets, check_gap, check_until, threshold
from umdp.model import MDP
from umdp.model.tying import Outcome, Tie, Tying
from umdp.parametric.model import ParametricMDP
from umdp.solver.confirm.products import check_lift
from umdp.solver.temporal import lift
from umdp.source import Source, as_source
from umdp.source.source import without_rest
from umdp.spec import Direction, RewardBounded, Spec, Threshold
from umdp.spec.spec import needs_automaton

__all__ = ["anytime", "remembering"]


def anytime(
    source: Source | MDP | Any,
    spec: Spec | str,
    learner: Learner | type[Learner] | str,
    *,
    explorer: Explorer | type[Explorer] | str | None = None,
    seed: int = 0,
    horizon: int | None = None,
    until: Threshold | str | None = None,
    trajectories: int | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    gap: float | None = None,
    precision: float = 1e-6,
    per_solve: int | None = None,
    evidence: CandidateEvaluation | float | None = None,
    tie: Tying | ParametricMDP | Tie | None = None,
    outcome: Outcome | None = None,
    behaviour: bool = False,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Snapshot]:
    """Learn from a source and yield what is known after every iteration; leave the loop whenever it is good enough.

    Parameters
    ----------
    source : Source, MDP or environment
        Where trajectories come from; an MDP plays the unknown process; anything else is taken for a Gymnasium environment.
    spec : Spec or str
        The property, without nature: what is asked for is its worst case on what has been learned.
    learner : Learner, or its class or name
        A class, or a name such as ``"lui"``, stands for the learner with its default settings.
    explorer : Explorer, or its class or name
        How to move; optimism without randomisation unless told otherwise.
    seed : int
    horizon : int, optional
        The longest a trajectory may be.
    until : Threshold or str, optional
        Stop when this is certified on the learned model, such as ``">=0.3"``.
    trajectories, steps, seconds : optional
        Budgets.
    gap : float, optional
        Stop when no policy can be better than what is promised by more than this, as far as is known.
    precision : float
        The relative width of brackets.
    per_solve : int, optional
        The fewest trajectories of an iteration. By default one is enough, except with environments: there an iteration takes so
        many that collecting and solving share the time.
    evidence : CandidateEvaluation or float, optional
        The share of trajectories in which a candidate policy is played, such as 0.5: what that proves is a promise of its own,
        with any learner; see `Snapshot.promise`.
    tie, outcome : Tying, or functions as for `Tying.of`, or ParametricMDP, optional
        Which choices share one distribution over outcomes, so that what is seen of one is learned of all; with a parametric
        model, which functions of unknown parameters their probabilities are.
    behaviour : bool
        With a log: whether to bound what doing as in the log is worth, too (`Snapshot.behaviour`). It takes a tenth of the error
        rate.
    stop : callable, optional
        Asked now and then; a true answer ends the run with what is known.

    Examples
    --------
    >>> from umdp import LUI, MDP
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> for snapshot in anytime(coin, 'Pmax=? [ F "heads" ]', LUI(), trajectories=1000):
    ...     pass
    >>> 0.4 < snapshot.bracket.lower < 0.6, snapshot.trajectories, snapshot.guarantee.kind
    (True, 1000, 'none')
    """
    asked = Spec.parse(spec) if isinstance(spec, str) else spec
    criteria = StoppingCriteria(
        threshold(until) if isinstance(until, str) else until, trajectories, steps, seconds, gap=gap
    )
    check_budgets(trajectories=trajectories, steps=steps, seconds=seconds)
    check_gap(gap)
    made = as_source(source)
    learns = as_tied(as_learner(learner), made.graph, tie, outcome)
    if needs_automaton(asked):
        made, asked, learns = remembering(made, asked, learns)
    run = LearningRun(
        made,
        asked,
        learns,
        as_explorer(explorer),
        seed,
        horizon,
        precision,
        per_solve,
        as_evidence(evidence),
        behaviour,
    )
    if criteria.until is not None:
        check_until(asked, criteria.until, graph=made.graph)
    yield from proceed(run, criteria, stop)


def remembering(source: Source, spec: Spec, learner: Learner) -> tuple[Source, Spec, Learner]:
    """Return source, property and learner for the product of a process with the automaton of a temporal formula.

    The product is of the graph alone. What is learned of a choice counts with every memory.
    """
    agent = spec.deciding().agent
    if agent is None:
        raise spec.error("the property does not say which way the policy pulls", "write Pmax or Pmin")
    if isinstance(spec.formula, RewardBounded):
        raise spec.error(
            "learning does not count rewards up to a bound", "ask with a bound on steps, or learn without one and check"
        )
    if not learner.discovers or (spec.kind == "R" and agent is Direction.MIN):
        source = without_rest(source)  # nothing would be known of it, or follow from what is
    graph, maximises = source.graph, agent is Direction.MAX
    anything = graph.with_any()
    product = lift(anything, spec, maximises, maximises, chained=True, rest=graph.rest)
    check_lift(product, anything, spec, (maximises, maximises), graph.rest)
    product = replace(product, witness=None).attached()
    made = source.along(product)
    if made is None:
        raise spec.error(
            "a formula with several temporal operators needs to be told where trajectories went, one after another, and this "
            "source tells counts alone",
            "derive it from umdp.source.Environment, which plays an object with reset and step; or ask for one temporal operator",
        )
    return made, replace(product.spec, nature=spec.nature), learner.along(product)
