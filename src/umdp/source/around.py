"""Sources around others: what is seen of a process, in other terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from umdp.source.source import Knowledge, Source

__all__ = ["Around", "process_of"]


class Around(Source):
    """Passes on what another source is, knows and keeps; its own are the graph and what is collected.

    Attributes
    ----------
    inner : the other source
    """

    def __init__(self, source: Source) -> None:
        self.inner = source
        self.interactive = source.interactive  # type: ignore[misc]
        self.eager, self.pace, self.whole = source.eager, source.pace, source.whole
        self.settled, self.stepwise = source.settled, source.stepwise

    def begin(self, seed: int) -> None:
        """Start from the beginning."""
        self.inner.begin(seed)

    def knowledge(self) -> Knowledge:
        """Return what the source knows."""
        return self.inner.knowledge()

    def state(self) -> dict[str, Any]:
        """Return the state of the source."""
        return self.inner.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.inner.restore(state)

    def report(self) -> list[str]:
        """Return what the source reports."""
        return self.inner.report()

    def close(self) -> None:
        """Let go of what the source holds."""
        self.inner.close()


def process_of(source: Source) -> Source:
    """Return the source itself, without what was put around it."""
    while isinstance(source, Around):
        source = source.inner
    return source
