"""Sentences with their data, and text as it may be shown: names are whatever somebody wrote, and control nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from html import escape
from numbers import Integral
from typing import Any, Self

__all__ = [
    "Sentence", "WordedCode", "as_markdown", "as_markup", "facts_html", "nouns", "one_line", "printable", "safe_bound",
    "shortened", "were", "worded",
]  # fmt: skip

# Control characters but the end of a line (Cc), characters that are not seen and change what is (Cf: directions, joiners, tags),
# separators of lines and paragraphs (Zl, Zp), halves of pairs (Cs) and what is no character at all.
_UNSEEN = (
    "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\xad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff0-\\ufffb\\ufffe\\uffff\\ud800-\\udfff\\U000110bd\\U000110cd"
    "\\U00013430-\\U0001343f\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
)
_CONTROL = re.compile(f"[{_UNSEEN}]")
_CONTROL_OR_END = re.compile(f"[{_UNSEEN}\\n]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~&!$])")


def printable(text: str) -> str:
    r"""Return text, of one line or several, with what would control a terminal written out as ``\uXXXX``, as JSON has it.

    Examples
    --------
    >>> print(printable("a\x1b[31mb\u202ec"))
    a\u001b[31mb\u202ec
    """
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_written, text)


def one_line(text: str) -> str:
    r"""Return text as `printable` does, in one line.

    Examples
    --------
    >>> print(one_line("a\nb"))
    a\u000ab
    """
    return text if text.isascii() and text.isprintable() else _CONTROL_OR_END.sub(_written, text)


def shortened(text: str, letters: int) -> str:
    """Return text as `one_line` does, of so many letters at most.

    Examples
    --------
    >>> shortened("a long name", 8)
    'a long …'
    """
    text = one_line(text)
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def as_markup(text: str) -> str:
    """Return text as it may stand in HTML, XML and SVG, between tags or within quotes.

    Examples
    --------
    >>> as_markup('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(printable(text))


def as_markdown(text: str) -> str:
    r"""Return text as it may stand in a line or a table of Markdown.

    Examples
    --------
    >>> print(as_markdown("a|b [x](http://c)"))
    a\|b \[x\](http://c)
    """
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def _written(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


# Colours are those of the page, so that it is readable on dark and on light; nothing is loaded from elsewhere.
_CAPTION = "text-align:left;font-weight:600;color:inherit"
_NAME = "text-align:left;font-weight:400;opacity:.7;vertical-align:top;white-space:nowrap"
_FACT = "text-align:left;white-space:pre-wrap;overflow-wrap:anywhere"


def facts_html(title: str, facts: Sequence[tuple[str, str]], *, drawing: str = "") -> str:
    """Return a small table for notebooks: a name and a fact per row, and below them a drawing made of characters.

    Everything is escaped: names in models are whatever somebody wrote.

    Examples
    --------
    >>> "&lt;b&gt;" in facts_html("Model", [("state", "<b>")])
    True
    """
    rows = "".join(
        f'<tr><th style="{_NAME}">{as_markup(name)}</th><td style="{_FACT}">{as_markup(fact)}</td></tr>'
        for name, fact in facts
    )
    picture = (
        f'<pre style="line-height:1.25;background:none;color:inherit">{as_markup(drawing)}</pre>' if drawing else ""
    )
    return f'<table><caption style="{_CAPTION}">{as_markup(title)}</caption>{rows}</table>{picture}'


def nouns(count: float, noun: str) -> str:
    """Return a noun in the singular for one, otherwise in the plural.

    Examples
    --------
    >>> [f"{count} {nouns(count, 'trajectory')}" for count in (0, 1, 2)], nouns(3, "step"), nouns(3, "class")
    (['0 trajectories', '1 trajectory', '2 trajectories'], 'steps', 'classes')
    """
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("s") else f"{noun}s"


def safe_bound(bound: float, digits: int, *, at_least: bool) -> float:
    """Return a bound with so many decimals, rounded to the side on which less is promised.

    Examples
    --------
    >>> safe_bound(0.12345, 2, at_least=True), safe_bound(0.12345, 2, at_least=False), safe_bound(math.inf, 2, at_least=True)
    (0.12, 0.13, inf)
    """
    scale = 10**digits
    return (math.floor if at_least else math.ceil)(bound * scale) / scale if math.isfinite(bound) else bound


def were(count: float) -> str:
    """Return the verb behind a number."""
    return "was" if count == 1 else "were"


Sentence = str | Callable[..., str]


class WordedCode(StrEnum):
    """Stable codes with their words; a member is defined by both, as in ``ONCE = "rows-once", "no row was recorded twice"``.

    Attributes
    ----------
    words : a sentence with places for data, as `worded` fills them; or a function of the data that returns one
    """

    words: Sentence

    def __new__(cls, code: str, words: Sentence) -> Self:
        """Return the member for a code."""
        made = str.__new__(cls, code)
        made._value_, made.words = code, words
        return made


class _Count(int):
    """A number that chooses words: ``{n:~step}`` is a noun in the singular or plural, ``{n:~its|their}`` one of two words."""

    def __format__(self, form: str) -> str:
        if not form.startswith("~"):
            return super().__format__(form)
        one, _, several = form[1:].partition("|")
        return one if self == 1 else several or nouns(self, one)


def worded(sentence: Sentence, data: Mapping[str, Any]) -> str:
    """Return a sentence with its data: the one place where the words of a statement are made.

    Nothing that decides may look at what it returns; `tests/test_sentences.py` replaces it by one that returns "x".

    Examples
    --------
    >>> worded("{rows:,} {rows:~row} {rows:~was|were} read", {"rows": 1200})
    '1,200 rows were read'
    """
    if callable(sentence):
        return sentence(**data)
    return sentence.format(
        **{name: _Count(each) if isinstance(each, Integral) else each for name, each in data.items()}
    )
