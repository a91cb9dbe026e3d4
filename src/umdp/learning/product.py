"""Learning for a temporal formula: in the product of the process with the formula's automaton."""

from __future__ import annotations

from dataclasses import replace

from umdp.learn import Learner
from umdp.learn.parametric_learner import Parametric
from umdp.learn.tied import Tied
from umdp.source import Source
from umdp.spec import Direction, Spec

__all__ = ["remembering"]


def remembering(source: Source, spec: Spec, learner: Learner) -> tuple[Source, Spec, Learner]:
    """Return source, property and learner for the product of a process with the automaton of a temporal formula.

    The product is of the graph alone. What is learned of a choice counts with every memory.
    """
    from umdp.automata.product_ties import product_ties
    from umdp.solver.confirm.lift import check_lift
    from umdp.solver.temporal import lift, probability_in
    from umdp.source.around import process_of
    from umdp.source.environments.environment import Environment
    from umdp.source.listed import without_rest
    from umdp.source.remembering import Remembering
    from umdp.source.simulator import Simulator

    agent = spec.deciding().agent
    if agent is None:
        raise spec.error("the property does not say which way the policy pulls", "write Pmax or Pmin")
    if not learner.discovers or (spec.kind == "R" and agent is Direction.MIN):
        source = without_rest(source)  # nothing would be known of it, or follow from what is
    if source.interactive and not isinstance(process_of(source), Simulator | Environment):
        raise spec.error(
            "a formula with several temporal operators needs to be told where trajectories went, one after another, and this "
            "source tells counts alone",
            "derive it from umdp.source.Environment, which plays an object with reset and step; or ask for one temporal operator",
        )
    graph, maximises = source.graph, agent is Direction.MAX
    anything = graph.with_any()
    product = lift(anything, spec, maximises, maximises, chained=True, rest=graph.rest)
    check_lift(product, anything, spec, (maximises, maximises), graph.rest)
    product = replace(product, witness=None).attached()
    made: Source
    if isinstance(source, Simulator):
        first, *later = (
            product.model.graph.with_probability(probability_in(product, stage)) for stage in source.stages
        )
        made = Simulator(first, later=later[0] if later else None, after=source.after, sampling=source.sampling)
    else:
        made = Remembering(source, product)
    lowered = replace(product.spec, nature=spec.nature)
    if isinstance(learner, Parametric):
        program = learner.program.along(product.model.graph, product.along)
        return made, lowered, Parametric(learner.inner, program, learner.false_alarms)
    tied = learner if isinstance(learner, Tied) else None
    inner, ties = (learner, product_ties(product)) if tied is None else (tied.inner, product_ties(product, tied.tying))
    return made, lowered, Tied(inner, ties, 0.01 if tied is None else tied.false_alarms, assumed=tied is not None)
