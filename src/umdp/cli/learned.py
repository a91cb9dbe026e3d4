"""A run as MODEL: the interval model it has learned, and what is promised of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from umdp.model import Graph, IntervalMDP
    from umdp.spec import Spec

__all__ = ["Origin", "read_run"]

SURE = (
    "confidence-sequence",
)  # learners whose intervals hold for all choices at once, those that were never tried included


@dataclass(frozen=True)
class Origin:
    """Where a learned model is from.

    Attributes
    ----------
    question : the property it was learned for
    trajectories : from how many
    guarantee : what is promised for that property
    sure : whether the intervals are what is promised, whatever is asked of them
    """

    question: str
    trajectories: int
    guarantee: dict[str, Any]
    sure: bool = False

    def reading(self, model: Graph, spec: Spec) -> Spec:
        """Return a property as learning reads it: in the worst case, what the graph does not list is the worst, too."""
        from umdp.model import REST

        worst = spec.agent is not None and spec.nature is spec.agent.flipped
        return spec.pessimistic(REST) if worst and model.rest is not None else spec

    def promised(self, model: Graph, spec: Spec) -> dict[str, Any]:
        """Return what is promised for a property of the learned model, as it is read."""
        from umdp.model import REST
        from umdp.spec import Spec
        from umdp.statements import Code, say
        from umdp.statements.guarantee import Guarantee

        asked = Spec.parse(self.question).robust()
        if self.guarantee["kind"] == "none" or spec in (asked, asked.pessimistic(REST)):
            return self.guarantee
        if self.sure and self._carries_over(model, spec):
            return self.guarantee
        return Guarantee("none", reasons=(say(Code.OTHER_PROPERTY),)).as_dict()

    def _carries_over(self, model: Graph, spec: Spec) -> bool:
        """Whether the worst case of another property follows from the intervals alone.

        It does not where the graph decides something in the agent's favour that need not have been seen, or where what the graph
        does not list may cost anything.
        """
        from umdp.learning.validation import is_costly
        from umdp.solver import relevant
        from umdp.spec.spec import needs_automaton
        from umdp.statements import Code

        worst = spec.agent is not None and spec.nature is spec.agent.flipped and spec.filter is None
        codes = self.guarantee.get(
            "codes"
        )  # a run of an older version has none: nothing is concluded from its sentences
        if not worst or needs_automaton(spec) or codes is None or Code.POSSIBLE in codes:
            return False
        if model.rest is not None and (spec.kind == "R" or is_costly(model, spec)):
            return False  # what is known of a reward was asked for only where the property asked for it
        return not relevant(model, spec).favoured


def read_run(path: str) -> tuple[IntervalMDP, Origin] | None:
    """Return the learned model of a run; None if the file is no run. Nothing in it is executed or changed."""
    from umdp.automata.product import product_of
    from umdp.cli.learn import configuration
    from umdp.run import Store, format_of

    if format_of(Path(path)) is None:
        return None
    with Store.open(path) as store:
        learned, last = store.learned(), store.last()
        assert last is not None
        model, question, product = learned.model, store.question or "", product_of(learned.model.graph)
        if product is not None:  # what was learned is about the process, whatever was remembered
            model, question = product.of_process(model), str(product.asked)
        sure = configuration(store).learner in SURE
        return model, Origin(question, last["trajectories"], last["guarantee"], sure)
