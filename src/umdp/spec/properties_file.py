"""Files of properties, as PRISM has them: several, with names, constants and labels of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from umdp.errors import SpecError
from umdp.spec.words import Word, words_of

__all__ = ["PropertyInFile", "properties_of"]

_OPENING, _CLOSING = "([{", ")]}"
_STARTS = ("name", "number", "text")


@dataclass(frozen=True)
class PropertyInFile:
    """A property of a file.

    Attributes
    ----------
    text : the property alone, the constants and labels of the file put in
    line : where it begins
    name : what it is called; empty where it has no name
    """

    text: str
    line: int
    name: str = ""


def properties_of(
    text: str, constants: Mapping[str, object] | None = None
) -> tuple[list[PropertyInFile], frozenset[str]]:
    r"""Return the properties of a file, and which of the constants that were given are its own.

    A property ends with a semicolon, or where the next one begins. What the file's constants and labels stand for takes their
    place; a constant without a value must be given.

    Examples
    --------
    >>> found, used = properties_of('const int k;\n"soon": P=? [ F<=k "goal" ]\n// and\nP>=0.9 [ F x=2 ];', {"k": 9, "N": 3})
    >>> found
    [PropertyInFile(text='P=? [ F<=(9) "goal" ]', line=2, name='soon'), PropertyInFile(text='P>=0.9 [ F x=2 ]', line=4, name='')]
    >>> used
    frozenset({'k'})
    """
    known: dict[str, str] = {}
    used: set[str] = set()
    found: list[tuple[PropertyInFile, Sequence[Word]]] = []
    for words in _statements(list(words_of(text))):
        line = text.count("\n", 0, words[0].at) + 1
        if words[0].text in ("const", "label"):
            name, body = _definition(words, line)
            if not body:
                if constants is None or name not in constants:
                    raise SpecError(f"line {line}: the constant {name} has no value; give --const {name}=VALUE")
                value = constants[name]
                used.add(name)
                known[name] = f"({str(value).lower() if isinstance(value, bool) else value})"
            else:
                known[name] = f"({text[body[0].at : body[-1].end]})"
            continue
        name = ""
        if len(words) > 2 and words[0].kind == "text" and words[1].text == ":":
            name, words = words[0].text[1:-1], words[2:]
            line = text.count("\n", 0, words[0].at) + 1
        found.append((PropertyInFile("", line, name), words))
    whole = {name: _filled(body, list(words_of(body)), known, depth=len(known)) for name, body in known.items()}
    return [replace(each, text=_filled(text, words, whole)) for each, words in found], frozenset(used)


def _statements(words: Sequence[Word]) -> list[Sequence[Word]]:
    """Return constants, labels and properties, each without its semicolon."""
    statements, begin, depth = [], 0, 0
    for place, word in enumerate(words):
        if depth == 0 and place > begin and _begins(words[place - 1], word):
            statements.append(words[begin:place])
            begin = place
        depth += (word.text in _OPENING) - (word.text in _CLOSING)
        if word.text == ";" and depth <= 0:
            statements.append(words[begin:place])
            begin, depth = place + 1, 0
    statements.append(words[begin:])
    return [each for each in statements if each]


def _begins(before: Word, word: Word) -> bool:
    """Whether a property can end with one word and another begin with the next, outside of brackets."""
    if before.text in ("]", ")"):
        return word.kind in _STARTS or word.text in ("(", "!")
    return False


def _definition(words: Sequence[Word], line: int) -> tuple[str, Sequence[Word]]:
    """Return what a constant or label is called, labels in quotes, and what it stands for."""
    place = next((k for k, word in enumerate(words) if word.text == "="), len(words))
    name = words[place - 1].text
    if (
        place < 2
        or name in ("int", "double", "bool")
        or (words[0].text == "label") != name.startswith('"')
        or place == len(words) - 1
    ):
        raise SpecError(f'line {line}: a definition reads const int NAME = VALUE; or label "NAME" = CONDITION;')
    return name, words[place + 1 :]


def _filled(text: str, words: Sequence[Word], known: Mapping[str, str], depth: int = 0) -> str:
    """Return words as they stand in a text, comments left out, with what is known in its place."""
    parts, at, before = [], words[0].at, ""
    for word in words:
        gap = text[at : word.at]
        parts.append(" " if "//" in gap or "\n" in gap else gap)
        instead = known.get(word.text) if before != "{" else None  # in braces it is the name of a reward
        before = word.text
        if instead is not None and depth:
            instead = _filled(instead, list(words_of(instead)), known, depth - 1)
        parts.append(word.text if instead is None else instead)
        at = word.end
    return "".join(parts)
