"""The items of a PRISM program in the order of its text: the type, constants, formulas, labels, modules and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["PARTS", "TYPES", "Item", "Word", "command_places", "items_of", "words_of"]

TYPES = {
    "dtmc": "dtmc", "probabilistic": "dtmc", "idtmc": "dtmc",
    "mdp": "mdp", "nondeterministic": "mdp", "imdp": "mdp",
    "ctmc": "ctmc", "stochastic": "ctmc", "pta": "pta", "pomdp": "pomdp", "popta": "popta",
    "smg": "smg", "ma": "ma", "csg": "csg", "tsg": "tsg",
}  # fmt: skip

PARTS = "dtmc, mdp, const, formula, label, global, module, rewards, init"

_LINES = {"const": "constant", "rate": "constant", "prob": "constant", "formula": "formula", "label": "label"}
_LINES |= {"global": "global"}
_BLOCKS = ("module", "rewards", "init", "system", "observables", "player")
_KINDS = ("bool", "int", "double", "rate", "prob")


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


@dataclass(frozen=True)
class Item:
    """A part of a program that can stand anywhere among the others.

    Attributes
    ----------
    kind : ``type``, ``constant``, ``formula``, ``label``, ``global``, ``module``, ``renamed``, ``rewards``, ``init``,
        ``system`` or another block; ``rest`` for what is none of these, to the end of the text
    tokens : its words
    """

    kind: str
    tokens: Sequence[Word]

    @property
    def begin(self) -> int:
        """Where it begins."""
        return self.tokens[0].at

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.tokens[-1].end

    @property
    def is_unknown(self) -> bool:
        """Whether its first word begins no part of a program."""
        return self.kind == "rest" and self.tokens[0].text not in (*_LINES, *_BLOCKS)

    @property
    def name(self) -> str:
        """What a constant, formula, label or module is called; empty where it has no name."""
        for token in self.tokens[1:3]:
            if token.kind == "text":
                return token.text[1:-1]
            if token.kind == "name" and token.text not in _KINDS:
                return token.text
        return ""

    @property
    def body(self) -> Sequence[Word]:
        """The words that define a constant, formula or label; none where it is undefined."""
        for place, token in enumerate(self.tokens):
            if token.text == "=":
                return self.tokens[place + 1 : -1]
        return ()


def items_of(text: str) -> list[Item]:
    """Return the items of a program; nothing is said about what is inside them.

    Examples
    --------
    >>> [(item.kind, item.name) for item in items_of('const int N; label "end" = x=N; module m x:[0..N]; endmodule')]
    [('constant', 'N'), ('label', 'end'), ('module', 'm')]
    """
    tokens = list(words_of(text))
    items, place = [], 0
    while place < len(tokens):
        word = tokens[place].text
        end: int | None = place
        kind = "rest"
        if word in TYPES:
            kind = "type"
        elif word in _LINES:
            kind, end = _LINES[word], _find(tokens, place, ";")
        elif word in _BLOCKS:
            kind, end = word, _find(tokens, place, f"end{word}")
            if word == "module" and place + 2 < len(tokens) and tokens[place + 2].text == "=":
                kind = "renamed"
        else:
            end = None
        if end is None:  # for somebody else to say what is wrong with it
            kind, end = "rest", len(tokens) - 1
        items.append(Item(kind, tokens[place : end + 1]))
        place = end + 1
    return items


def command_places(text: str) -> dict[str, list[int]]:
    """Return where the commands of each module begin, those of a renamed module where those of its base do.

    Examples
    --------
    >>> command_places("module m x:[0..1]; [] x=0 -> (x'=1); endmodule module n = m[x=y] endmodule")
    {'m': [19], 'n': [19]}
    """
    places: dict[str, list[int]] = {}
    for item in items_of(text):
        words = item.tokens
        if item.kind == "module":
            begins = [k for k, word in enumerate(words) if word.text == "[" and (k == 2 or words[k - 1].text == ";")]
            places[item.name] = [words[k].at for k in begins]
        elif item.kind == "renamed":
            places[item.name] = places.get(words[3].text, [])
    return places


def _find(tokens: Sequence[Word], begin: int, word: str) -> int | None:
    for place in range(begin + 1, len(tokens)):
        if tokens[place].text == word:
            return place
    return None
