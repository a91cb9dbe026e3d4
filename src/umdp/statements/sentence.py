"""A sentence as a table has it: a text with places for data, or a function that makes one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Sentence", "worded"]

Sentence = str | Callable[..., str]


def worded(sentence: Sentence, data: Mapping[str, Any]) -> str:
    """Return a sentence with its data: the one place where the words of a statement are made.

    Nothing that decides may look at what it returns; `tests/test_sentences.py` replaces it by one that returns "x".

    Examples
    --------
    >>> worded("{rows:,} rows", {"rows": 1200})
    '1,200 rows'
    """
    return sentence(**data) if callable(sentence) else sentence.format(**data)
