"""How many examples a test that draws them gets: in `make test` a quarter of those in `make test-all`."""

from __future__ import annotations

from hypothesis import settings

__all__ = ["examples"]


def examples(thorough: int) -> int:
    """Return how many to draw, given how many `make test-all` does."""
    return thorough if settings.default is not None and settings.default.max_examples >= 100 else max(thorough // 4, 20)
