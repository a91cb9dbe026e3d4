"""A plugin of pytest that takes the words away: every statement says "x" (`WORDLESS=1 pytest -p without_words`).

It is loaded before anything of the package is, so that statements which are made when a module is imported have no words either.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from umdp.statements import text

__all__: list[str] = []

original = text.worded


def _wordless(given: text.Sentence, data: Mapping[str, Any]) -> str:
    original(given, data)  # the data fit the sentence all the same
    return "x"


if "WORDLESS" in os.environ:  # whoever looks for doctests imports this, too
    text.worded = _wordless
