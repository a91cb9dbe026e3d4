"""What is known of a source and a property, as far as a promise depends on it; and which codes are conditions of one.

`tests/statements/condition_rows.py` has a row for every source, graph, property, learner and column of a log, with the conditions
and the reasons that it brings; `umdp.statements.guarantee` puts together those that arise.
"""

from __future__ import annotations

from enum import StrEnum

from umdp.statements.provisos import Code

__all__ = ["CONDITIONS", "COSTLY", "FLOORS", "OF_LOGS", "Asked", "GraphKind"]


class GraphKind(StrEnum):
    """Who says what can happen."""

    GIVEN = "given"
    OBSERVED = "observed, with anything else"
    CLOSED = "observed, taken for all there is"


class Asked(StrEnum):
    """What is asked for."""

    PROBABILITY = "probability"
    EARNED = "largest sum, nothing below 0"
    SIGNED = "largest sum, something below 0"
    SPENT = "smallest sum"
    DISCOUNTED = "largest discounted sum"
    DISCOUNTED_SPENT = "smallest discounted sum"
    AVERAGE = "long-run average"


COSTLY = frozenset({Asked.SIGNED, Asked.SPENT, Asked.DISCOUNTED_SPENT, Asked.AVERAGE})
"""What is asked for where an outcome that was never seen, which only an observed graph leaves open, may cost anything."""
OF_LOGS = (Code.SELECTED, Code.ONCE, Code.STEADY, Code.MARKOV)
"""The conditions of every promise from a log."""
FLOORS = frozenset({Code.LEAST, Code.NO_LEAST})
"""Of rewards, where the most is wanted: what was never seen may pay less."""
CONDITIONS = frozenset(list(Code)[: list(Code).index(Code.OBSERVED)])
"""All other codes are reasons why nothing is promised."""
