"""A run as MODEL: the interval model it has learned, and what is promised of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from umdp.model import Graph, IntervalMDP
    from umdp.spec import Spec

__all__ = ["Origin", "read_run"]

OTHER = "the bounds were learned for another property, and promise something for that one only"


@dataclass(frozen=True)
class Origin:
    """Where a learned model is from.

    Attributes
    ----------
    question : the property it was learned for
    trajectories : from how many
    guarantee : what is promised for that property
    """

    question: str
    trajectories: int
    guarantee: dict[str, Any]

    def reading(self, model: Graph, spec: Spec) -> Spec:
        """Return a property as learning reads it: in the worst case, what the graph does not list is the worst, too."""
        from umdp.model import REST

        worst = spec.agent is not None and spec.nature is spec.agent.flipped
        return spec.pessimistic(REST) if worst and model.rest is not None else spec

    def promised(self, spec: Spec) -> dict[str, Any]:
        """Return what is promised for a property of the learned model, as it is read."""
        from umdp.model import REST
        from umdp.spec import Spec

        asked = Spec.parse(self.question).robust()
        if self.guarantee["kind"] == "none" or spec in (asked, asked.pessimistic(REST)):
            return self.guarantee
        return {"kind": "none", "level": None, "reasons": [OTHER], "text": f"no guarantee: {OTHER}"}


def read_run(path: str) -> tuple[IntervalMDP, Origin] | None:
    """Return the learned model of a run; None if the file is no run. Nothing in it is executed or changed."""
    from umdp.automata.product import product_of
    from umdp.run import Store, format_of

    if format_of(Path(path)) is None:
        return None
    with Store.open(path) as store:
        learned, last = store.learned(), store.last()
        assert last is not None
        model, question, product = learned.model, store.question or "", product_of(learned.model.graph)
        if product is not None:  # what was learned is about the process, whatever was remembered
            model, question = product.of_process(model), str(product.asked)
        return model, Origin(question, last["trajectories"], last["guarantee"])
