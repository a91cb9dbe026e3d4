"""Settings of learners as they are typed: ``--set NAME=VALUE``."""

from __future__ import annotations

from typing import Any

import typer

__all__ = ["setting"]


def setting(text: str) -> tuple[str, Any]:
    """Return the name and value of a learner's setting: a number, a pair of numbers, or a word.

    Examples
    --------
    >>> setting("strength=5,10"), setting("around=mean"), setting("strength_bound=none")
    (('strength', (5, 10)), ('around', 'mean'), ('strength_bound', None))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f'--set "{text}": write NAME=VALUE, such as strength=5,10 or error_rate=0.01')
    parts = [_plain_value(part) for part in value.split(",")]
    return name.strip(), parts[0] if len(parts) == 1 else tuple(parts)


def _plain_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text.strip() == "none" else text.strip()
