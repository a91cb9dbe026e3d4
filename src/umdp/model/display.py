"""Representations of a model: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from umdp.statements.text import facts_html, nouns, one_line

if TYPE_CHECKING:
    from umdp.model.graph import Graph

__all__ = ["as_html", "as_text"]


def _facts(model: Graph) -> list[tuple[str, str]]:
    facts = [
        ("states", f"{model.states:,}"),
        ("choices", f"{model.choices:,}"),
        ("transitions", f"{model.transitions:,}"),
    ]
    lower, upper = getattr(model, "lower", None), getattr(model, "upper", None)
    if lower is not None and upper is not None:
        facts.append(("uncertain", f"{int(np.count_nonzero(lower < upper)):,}"))
    return facts


def _names(names: object, quote: str) -> str:
    listed = [f"{quote}{one_line(name)}{quote}" for name in names]  # type: ignore[attr-defined]
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")


def as_text(model: Graph) -> str:
    """Return one line: kind, sizes, initial state, labels, rewards."""
    sizes = ", ".join(
        f"{value} {name[:-1] if value == '1' and name.endswith('s') else name}" for name, value in _facts(model)
    )
    parts = [f"{type(model).__name__} with {sizes}", f"initial state {one_line(model.state_name(model.initial))}"]
    if model.labels:
        parts.append(f"labels {_names(model.labels, chr(34))}")
    if model.rewards:
        parts.append(f"rewards {_names(model.rewards, chr(34))}")
    return "; ".join(parts)


def as_html(model: Graph) -> str:
    """Return a small table of the same facts, for notebooks."""
    rows = [*_facts(model), ("initial state", model.state_name(model.initial))]
    rows += [
        (f'label "{name}"', f"{int(members.sum()):,} {nouns(int(members.sum()), 'state')}")
        for name, members in model.labels.items()
    ]
    for name, reward in model.rewards.items():
        parts = [part for part in ("state", "choice", "transition") if getattr(reward, part) is not None]
        rows.append((f'reward "{name}"', "on " + " and ".join(f"{part}s" for part in parts)))
    return facts_html(type(model).__name__, rows)
