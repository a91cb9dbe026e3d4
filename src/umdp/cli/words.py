"""What the shell completes: models, learners, explorers and their settings."""

from __future__ import annotations

from umdp.benchmark import BENCHMARKS
from umdp.explore import EXPLORERS
from umdp.learn import LEARNERS
from umdp.learn.settings import settings_of, shown

__all__ = ["explorers", "learners", "models", "settings", "settings_in_words"]


def models(incomplete: str) -> list[tuple[str, str]]:
    """Return the benchmarks that a word may become; files are completed by the shell."""
    return [(name, each.description) for name, each in BENCHMARKS.items() if name.startswith(incomplete)]


def learners(incomplete: str) -> list[str]:
    """Return the learners that a word may become."""
    return [name for name in LEARNERS if name.startswith(incomplete)]


def explorers(incomplete: str) -> list[str]:
    """Return the ways to explore that a word may become."""
    return [name for name in EXPLORERS if name.startswith(incomplete)]


def settings(incomplete: str) -> list[str]:
    """Return the settings of learners that a word may become.

    Examples
    --------
    >>> settings("str")
    ['strength=', 'strength_bound=']
    """
    names = dict.fromkeys(name for kind in LEARNERS.values() for name in settings_of(kind))
    return [f"{name}=" for name in names if name.startswith(incomplete)]


def settings_in_words() -> str:
    """Return which learner has which settings, with their defaults."""
    return "; ".join(
        f"{name}: {' '.join(f'{key}={shown(value)}' for key, value in settings_of(kind).items())}"
        for name, kind in LEARNERS.items()
    )
