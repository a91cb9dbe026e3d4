"""Settings as text that people read: plain data in the manner of TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["toml"]


def toml(settings: Mapping[str, Any], path: str = "") -> str:
    """Return plain data as text in the manner of TOML.

    Examples
    --------
    >>> print(toml({"seeds": 2, "learner": {"name": "LUI", "bound": None}, "change": [{"after": 100}]}))
    seeds = 2
    <BLANKLINE>
    [learner]
    name = "LUI"
    bound = "none"
    <BLANKLINE>
    [[change]]
    after = 100
    """
    lines, blocks = [], []
    for key, value in settings.items():
        place = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            blocks.append(f"[{place}]\n{toml(value, place)}".rstrip())
        elif isinstance(value, Sequence) and value and all(isinstance(each, Mapping) for each in value):
            blocks += [f"[[{place}]]\n{toml(each, place)}".rstrip() for each in value]
        else:
            lines.append(f"{key} = {_scalar(value)}")
    return "\n\n".join((["\n".join(lines)] if lines else []) + blocks)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_scalar, value))}]"
    return json.dumps("none" if value is None else str(value), ensure_ascii=False)
