"""What no certificate can show, and a verdict takes on trust: the checker's own premises, and those that a file names."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from umdp.errors import FormatError
from umdp.statements import Premise, Statement, say

__all__ = ["Assumption", "assume", "file_sentences", "plain"]

SENTENCES, LENGTH, CODE = 50, 1000, 100  # at most, and characters of each and of its code


@dataclass(frozen=True)
class Assumption:
    """One thing that a verdict takes on trust.

    Attributes
    ----------
    premise : which it is
    said : the same with its data, as a statement
    named : for a condition of the file: the code that the file has for it; empty where it has none
    """

    premise: Premise
    said: Statement
    named: str = ""

    @property
    def text(self) -> str:
        """What is taken on trust, in a sentence."""
        return str(self.said)

    def as_dict(self) -> dict[str, str]:
        """Return code and text, for JSON, and the file's own code of a condition that it names."""
        return self.said.as_dict() | ({"named": self.named} if self.named else {})


def assume(premise: Premise, named: str = "", **data: Any) -> Assumption:
    """Return a premise as an assumption of one certificate."""
    return Assumption(premise, say(premise, **data), named)


def plain(text: str) -> str:
    r"""Return a text of a file as it may be shown: everything that is not a visible character or a space is replaced.

    Examples
    --------
    >>> plain("a\x1b[2Jb\n c"), plain("\u202e\ud800x")
    ('a?[2Jb? c', '??x')
    """
    return "".join("?" if unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" else c for c in text)


def file_sentences(given: dict[str, Any], place: str) -> tuple[Assumption, ...]:
    """Return the conditions that a part of a file names, as its own words: quoted, so that none passes for one of the checker.

    A condition has a code if it was written by a program that knows one. No code takes anything away: a condition without one, or
    with one that nobody knows, is named and taken on trust like all others.
    """
    said = _texts(given.get("assumptions"), f"{place}, assumptions", "sentences", LENGTH)
    codes = _texts(given.get("assumption_codes"), f"{place}, assumption_codes", "codes", CODE)
    if codes and len(codes) != len(said):
        raise FormatError(f"{place}, assumption_codes: not a code for each of {len(said)} assumptions")
    return tuple(
        assume(Premise.FILE, plain(code), sentence=plain(each).replace('"', "'"))
        for each, code in zip(said, codes or [""] * len(said), strict=True)
    )


def _texts(given: Any, place: str, what: str, longest: int) -> list[str]:
    if given is None:
        return []
    fits = isinstance(given, list) and len(given) <= SENTENCES
    if not fits or any(not isinstance(each, str) or len(each) > longest for each in given):
        raise FormatError(f"{place}: not a list of at most {SENTENCES} {what} of at most {longest} characters")
    return list(given)
