"""A statement: a code, its data, and the sentence that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from umdp.statements import text as texts
from umdp.statements.diagnostics import DiagnosticCode
from umdp.statements.provisos import Code

__all__ = ["Statement", "codes_of", "say", "stated", "with_codes"]


class Statement(str):
    """A sentence that knows what it says: decide by its `code`, show it as the text it is.

    Two statements are equal if they say the same of the same: code and text.

    Attributes
    ----------
    code : what is said
    data : the numbers and names in the sentence

    Examples
    --------
    >>> one = say(Code.LEAST, reward="pay", least=-2.0)
    >>> print(one, one.code, sep=" | ")
    no step pays a reward "pay" of less than -2 | reward-at-least
    >>> stated("nobody knows").code
    <Code.OTHER: 'other'>
    """

    __slots__ = ("code", "data")
    code: texts.WordedCode
    data: Mapping[str, Any]

    def __new__(
        cls, text: str, code: texts.WordedCode = Code.OTHER, data: Mapping[str, Any] | None = None
    ) -> Statement:
        """Return a sentence with its code; `say` makes the sentence itself."""
        made = super().__new__(cls, text)
        made.code, made.data = code, dict(data or {})
        return made

    def __eq__(self, other: object) -> bool:
        same = not isinstance(other, Statement) or self.code is other.code
        return same and str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Statement, (str(self), self.code, dict(self.data))

    def about(self, name: str) -> Statement:
        """Return the same, said of something by its name.

        Examples
        --------
        >>> print(say(Code.ONCE).about("log.csv"))
        log.csv: no row was recorded twice
        """
        return Statement(f"{name}: {self}", self.code, {**self.data, "about": name})

    def as_dict(self) -> dict[str, str]:
        """Return code and text, for JSON.

        Examples
        --------
        >>> say(Code.ONCE).as_dict()
        {'code': 'rows-once', 'text': 'no row was recorded twice'}
        """
        return {"code": self.code.value, "text": str(self)}


def say(code: texts.WordedCode, **data: Any) -> Statement:
    """Return the statement for a code and its data."""
    return Statement(texts.worded(code.words, data), code, data)


def stated(given: str, code: str | None = None) -> Statement:
    """Return a sentence as a statement; one without a code of this version is somebody else's."""
    if isinstance(given, Statement):
        return given
    found = (each for kind in (Code, DiagnosticCode) for each in kind if each == code)
    return Statement(given, next(found, Code.OTHER))


def codes_of(given: Iterable[str]) -> tuple[texts.WordedCode, ...]:
    """Return the codes of statements."""
    return tuple(stated(each).code for each in given)


def with_codes(given: Iterable[str]) -> list[dict[str, str]]:
    """Return statements as objects with code and text, for JSON."""
    return [stated(each).as_dict() for each in given]
