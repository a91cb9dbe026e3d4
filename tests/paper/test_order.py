"""The order of actions: compared where both experiments were run, as far as the shorter one goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from umdp.paper.claims.order import orders
from umdp.paper.report.summary import summary
from umdp.paper.results import Cell

from .made import outcome, results


def test_medians_of_both_orders_and_what_lies_beyond_the_shorter_runs() -> None:
    def runs(name: str, reach: int, seeds: int, trajectories: int):
        made = [
            outcome(Cell("grid", learner), seed, [(0, 0.0, 0.0), (reach, 0.5 * (learner == "LUI"), 0.0)])
            for learner in ("LUI", "UCRL2")
            for seed in range(seeds)
        ]
        return results(name, made, trajectories)

    basic, ties = runs("basic", 40, 5, 1000), runs("ties", 8, 6, 100)
    first, second = orders([basic, ties], published=False)
    assert (first.learner, first.listed, first.shuffled) == ("LUI", 40, 8)
    assert first.significance < 0.01
    assert (second.listed, second.shuffled, second.significance) == (np.inf, np.inf, 1.0)
    late = orders([runs("basic", 200, 5, 1000), ties], published=False)
    assert late[0].listed == np.inf  # after 200, and the others were looked at up to 100 only
    assert orders([basic], published=False) == orders([basic, ties], published=True) == []
    page = summary([basic, ties, replace(ties, published=True)], [])
    assert "| by definition: environment | learner | as listed | random order | p |" in page
    assert "| Grid | LUI | 40 | 8 |" in page
    assert "### The price of a guarantee" in page
