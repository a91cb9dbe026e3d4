"""Representations of a model: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from umdp.model.rewards import Rewards
from umdp.statements.text import facts_html, nouns, one_line

__all__ = ["as_html", "as_text"]

Facts = list[tuple[str, str]]


def as_text(kind: str, facts: Facts, initial: str, labels: Iterable[str], rewards: Iterable[str]) -> str:
    """Return one line: kind, sizes, initial state, labels, rewards."""
    sizes = ", ".join(f"{value} {name[:-1] if value == '1' and name.endswith('s') else name}" for name, value in facts)
    parts = [f"{kind} with {sizes}", f"initial state {one_line(initial)}"]
    for what, names in (("labels", list(labels)), ("rewards", list(rewards))):
        if names:
            shown = ", ".join(f'"{one_line(name)}"' for name in names[:8])
            parts.append(f"{what} {shown}" + (f" and {len(names) - 8} more" if len(names) > 8 else ""))
    return "; ".join(parts)


def as_html(
    kind: str, facts: Facts, initial: str, labels: Mapping[str, NDArray[np.bool_]], rewards: Mapping[str, Rewards]
) -> str:
    """Return a small table of the same facts, for notebooks."""
    rows = [*facts, ("initial state", initial)]
    rows += [
        (f'label "{name}"', f"{int(members.sum()):,} {nouns(int(members.sum()), 'state')}")
        for name, members in labels.items()
    ]
    for name, reward in rewards.items():
        parts = [part for part in ("state", "choice", "transition") if getattr(reward, part) is not None]
        rows.append((f'reward "{name}"', "on " + " and ".join(f"{part}s" for part in parts)))
    return facts_html(kind, rows)
