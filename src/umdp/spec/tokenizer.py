"""The words of texts in PRISM's language, programs and files of properties, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Word", "words_of"]

_WORD = re.compile(
    r"""(?:\s+|//[^\n]*)|(?P<text>"[^"\n]*")|(?P<name>[A-Za-z_]\w*'?)"""
    r"""|(?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<sign><=>|=>|<=|>=|!=|->|<-|\.\.|.)""",
    re.DOTALL,
)


class Word(NamedTuple):
    """A word: what it is (``name``, ``text``, ``number`` or ``sign``), and where it begins."""

    kind: str
    text: str
    at: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.at + len(self.text)


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a text, without space and comments.

    Examples
    --------
    >>> [word.text for word in words_of('x : [0..3]; // a range')]
    ['x', ':', '[', '0', '..', '3', ']', ';']
    """
    for found in _WORD.finditer(text):
        if found.lastgroup is not None:
            yield Word(found.lastgroup, found[0], found.start())
