"""A PRISM program as its author wrote it, made such that Storm reads it; every place in it stays known.

PRISM takes the parts of a program in any order, and some things that Storm does not. Here parts are moved and words replaced:
what was moved or replaced remembers where it was, so that errors point at the author's line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from umdp.errors import FormatError
from umdp.io.prism_items import PARTS, TYPES, Item, Word, items_of

__all__ = ["Program", "program_of"]

SUPPORTED = ("dtmc", "mdp")
_ENDS = (",", ";", "?", ":", "=>", "->", "[", "]", "..")  # what no operand of <=> goes beyond


@dataclass(frozen=True)
class Program:
    """A program for Storm.

    Attributes
    ----------
    text : the program
    source : what its author wrote
    """

    text: str
    source: str
    _begins: list[int] = field(default_factory=lambda: [0], repr=False)
    _origins: list[tuple[int, bool]] = field(default_factory=lambda: [(0, True)], repr=False)

    def place(self, line: int, column: int = 1) -> tuple[int, int]:
        """Return the line and column of the source that a line and column of the text are from."""
        starts = [0]
        for row in self.text.splitlines(keepends=True)[: line - 1]:
            starts.append(starts[-1] + len(row))
        at = min(starts[-1] + column - 1, len(self.text))
        if column == 1:  # a line as a whole: what is first written in it
            while at < len(self.text) - 1 and self.text[at] in " \t":
                at += 1
        piece = bisect_right(self._begins, at) - 1
        origin, copied = self._origins[piece]
        where = min(origin + (at - self._begins[piece] if copied else 0), len(self.source))
        return self.source.count("\n", 0, where) + 1, where - self.source.rfind("\n", 0, where)


def program_of(text: str, path: Path) -> Program:
    r"""Return the program that Storm reads as PRISM reads `text`.

    Raises
    ------
    FormatError
        If the type of the model is not supported or given twice, if constants or formulas are defined by each other, or for
        parts of PRISM's language that Storm cannot do.

    Examples
    --------
    >>> program = program_of("const int A = B + 1;\nconst int B = 2;\nmodule m x:[0..A]; endmodule", Path("m.prism"))
    >>> print(program.text)
    mdp
    const int B = 2;
    const int A = B + 1;
    <BLANKLINE>
    <BLANKLINE>
    module m x:[0..A]; endmodule
    >>> program.place(3)
    (1, 1)
    """
    items = items_of(text)
    return _Rewriting(text, path, items).program()


class _Rewriting:
    """What is moved, and what is replaced."""

    def __init__(self, text: str, path: Path, items: list[Item]) -> None:
        self.text, self.path, self.items = text, path, items
        self.formulas = {item.name: item for item in items if item.kind == "formula"}
        self.labels = {item.name: item for item in items if item.kind == "label"}
        self.edits: list[tuple[int, int, str]] = []  # begin, end, what stands there instead

    def program(self) -> Program:
        for item in self.items:
            if item.is_unknown:
                self._fail(item.begin, f'"{item.tokens[0].text}" begins no part of a program; parts begin with {PARTS}')
        kind = self._type()
        constants = self._constants()
        for item in self.items:
            self._old_functions(item.tokens)
            self._equivalences(item.tokens)
            self._label_references(item)
        self._check_cycles(self.formulas, "formulas", self.formulas)
        self._system()
        moved = self._moved(constants)
        first = next((item for item in self.items), None)
        if not moved and not self.edits and first is not None and first.tokens[0].text == kind:
            return Program(self.text, self.text)
        return self._assembled(kind, constants if moved else [], moved)

    # -- what is moved -----------------------------------------------------------------------------------------

    def _type(self) -> str:
        given = [item for item in self.items if item.kind == "type"]
        if len(given) > 1:
            words = " and ".join(item.tokens[0].text for item in given[:2])
            self._fail(given[1].begin, f"the type of the model is given twice, as {words}; leave one of them out")
        kind = TYPES[given[0].tokens[0].text] if given else "mdp"
        if kind not in SUPPORTED:
            self._fail(given[0].begin, f"the model is a {given[0].tokens[0].text}; supported are dtmc and mdp")
        for item in self.items:
            if any(token.text == "clock" for token in item.tokens) and item.kind == "module":
                self._fail(item.begin, "the model has clocks, so it is a pta; supported are dtmc and mdp")
        return kind

    def _constants(self) -> list[Item]:
        """Return the constants such that each is after those that define it."""
        known = {item.name: item for item in self.items if item.kind == "constant"}
        for item in known.values():
            if item.tokens[0].text in ("rate", "prob"):
                self.edits.append((item.tokens[0].at, item.tokens[0].end, "const double"))
            elif len(item.tokens) > 1 and item.tokens[1].text in ("rate", "prob"):
                self.edits.append((item.tokens[1].at, item.tokens[1].end, "double"))
            for token in item.body:
                if token.text in self.formulas:
                    self.edits.append((token.at, token.end, self._inlined(token.text, self.formulas, known)))
        return self._check_cycles(known, "constants", {**self.formulas, **known})

    def _check_cycles(self, items: Mapping[str, Item], what: str, through: Mapping[str, Item]) -> list[Item]:
        """Return items in an order in which each is after those it uses; a circle raises `FormatError`."""
        order: list[Item] = []
        state: dict[str, int] = {}
        for root in items:
            stack: list[tuple[str, bool]] = [(root, False)]
            while stack:
                name, done = stack.pop()
                if done:
                    state[name] = 2
                    if name in items:
                        order.append(items[name])
                    continue
                if name in state:
                    continue
                state[name] = 1
                stack.append((name, True))
                used = [token.text for token in through[name].body if token.text in through]
                circle = next((each for each in used if state.get(each) == 1), None)
                if circle is not None:
                    names = f"{what} {name} and {circle} are" if name != circle else f"{what[:-1]} {name} is"
                    other = "each other" if name != circle else "itself"
                    self._fail(through[name].begin, f"the {names} defined by {other}; give one of them a value")
                stack.extend((each, False) for each in reversed(used) if each not in state)
        return order

    def _moved(self, constants: list[Item]) -> list[Item]:
        """Return what has to stand elsewhere: all constants if one is used too early, modules renamed too early."""
        written = [item for item in self.items if item.kind == "constant"]
        moved = list(constants) if written != constants else []
        known: set[str] = set()
        early = False
        for item in self.items:
            if item.kind in ("module", "renamed"):
                early |= item.kind == "renamed" and item.tokens[3].text not in known
                known.add(item.name)
        return moved + [item for item in self.items if early and item.kind == "renamed"]

    def _system(self) -> None:
        for item in [item for item in self.items if item.kind == "system"]:
            words = [token.text for token in item.tokens[1:-1] if token.text not in "()"]
            modules = sorted(each.name for each in self.items if each.kind in ("module", "renamed"))
            bars = words[1::3] + words[2::3]
            if sorted(words[::3]) != modules or any(bar != "|" for bar in bars) or len(words) % 3 != 1:
                self._fail(
                    item.begin,
                    "this composition of modules is not supported; what is, is all modules in parallel, which needs no system",
                )
            self.edits.append((item.begin, item.end, ""))

    # -- what is replaced --------------------------------------------------------------------------------------

    def _old_functions(self, tokens: Sequence[Word]) -> None:
        """Replace ``func(min, ...)`` by ``min(...)``."""
        for place, token in enumerate(tokens[:-3]):
            if token.text == "func" and tokens[place + 1].text == "(" and tokens[place + 3].text == ",":
                self.edits.append((token.at, tokens[place + 3].end, f"{tokens[place + 2].text}("))

    def _equivalences(self, tokens: Sequence[Word]) -> None:
        """Replace ``a <=> b`` by ``(a)=(b)``, which is the same for truth values."""
        done: set[int] = set()
        for found in [place for place, token in enumerate(tokens) if token.text == "<=>"]:
            if found in done:
                continue
            left, right = _reach(tokens, found, -1), _reach(tokens, found, 1)
            inside, depth = [], 0
            for place in range(left, right + 1):
                depth += {"(": 1, ")": -1}.get(tokens[place].text, 0)
                if depth == 0 and tokens[place].text == "<=>":
                    inside.append(place)
            self.edits.append((tokens[left].at, tokens[left].at, "(" * len(inside)))
            for number, place in enumerate(inside):
                self.edits.append((tokens[place].at, tokens[place].end, ")=(" if number == 0 else "))=("))
            self.edits.append((tokens[right].end, tokens[right].end, ")"))
            done.update(inside)

    def _label_references(self, item: Item) -> None:
        """Replace labels inside labels, formulas, guards and rewards by what they stand for."""
        bases = {each.tokens[3].text for each in self.items if each.kind == "renamed" and len(each.tokens) > 3}
        for before, token in pairwise(item.tokens):
            if token.kind != "text" or before.text in ("label", "rewards"):
                continue
            name = token.text[1:-1]
            if name not in self.labels:
                known = ", ".join(f'"{each}"' for each in self.labels) or "none"
                self._fail(token.at, f'there is no label "{name}" to use here; labels of the program: {known}')
            if item.kind == "module" and item.name in bases:
                self._fail(
                    token.at, f'the label "{name}" is used in a module that is renamed; write out what it stands for'
                )
            self.edits.append((token.at, token.end, self._label(name, ())))

    def _label(self, name: str, within: tuple[str, ...]) -> str:
        if name in within:
            self._fail(
                self.labels[name].begin, f'the label "{name}" is defined by itself; write out what it stands for'
            )
        inside = []
        for token in self.labels[name].body:
            known = token.kind == "text" and token.text[1:-1] in self.labels
            inside.append(self._label(token.text[1:-1], (*within, name)) if known else token.text)
        return f"({' '.join(inside)})"

    def _inlined(self, name: str, formulas: Mapping[str, Item], known: Mapping[str, Item]) -> str:
        self._check_cycles({name: formulas[name]}, "formulas", {**known, **formulas})
        inside = [
            self._inlined(token.text, formulas, known) if token.text in formulas else token.text
            for token in formulas[name].body
        ]
        return f"({' '.join(inside)})"

    # -- the text ----------------------------------------------------------------------------------------------

    def _assembled(self, kind: str, constants: list[Item], moved: list[Item]) -> Program:
        pieces: list[tuple[str, int, bool]] = [(f"{kind}\n", 0, False)]
        edits = sorted(self.edits, key=lambda edit: edit[:2])
        starts = [edit[0] for edit in edits]
        gone = set(map(id, moved))

        def copy(begin: int, end: int) -> None:
            at = begin
            for first, last, instead in edits[bisect_left(starts, begin) : bisect_right(starts, end)]:
                if last <= end and first >= at:
                    pieces.extend([(self.text[at:first], at, True), (instead, first, False)])
                    lost = self.text.count("\n", first, last) - instead.count("\n")
                    pieces.append(("\n" * max(lost, 0), first, False))
                    at = last
            pieces.append((self.text[at:end], at, True))

        for item in constants:
            if id(item) in gone:
                copy(item.begin, item.end)
                pieces.append(("\n", item.end, False))
        at = 0
        for item in self.items:
            copy(at, item.begin)
            if item.kind == "type" or id(item) in gone:
                blank = ("\n" if each == "\n" else " " for each in self.text[item.begin : item.end])
                pieces.append(("".join(blank), item.begin, True))
            else:
                copy(item.begin, item.end)
            at = item.end
        copy(at, len(self.text))
        for item in moved:
            if item.kind == "renamed":
                pieces.append(("\n", item.begin, False))
                copy(item.begin, item.end)
        return _joined(pieces, self.text)

    def _fail(self, at: int, message: str) -> NoReturn:
        raise FormatError(message, path=self.path, line=self.text.count("\n", 0, at) + 1)


def _joined(pieces: Iterable[tuple[str, int, bool]], source: str) -> Program:
    begins, origins, texts, size = [], [], [], 0
    for text, origin, copied in pieces:
        if text:
            begins.append(size)
            origins.append((origin, copied))
            texts.append(text)
            size += len(text)
    return Program("".join(texts), source, begins, origins)


def _reach(tokens: Sequence[Word], place: int, step: int) -> int:
    """Return the last token on one side that belongs to the operands of a ``<=>``."""
    depth, last = 0, place
    opening, closing = ("(", ")") if step > 0 else (")", "(")
    while 0 <= place + step < len(tokens):
        place += step
        word = tokens[place].text
        if depth == 0 and (
            word == closing or word in _ENDS or (step < 0 and _defines(tokens, place)) or word.startswith("end")
        ):
            break
        depth += {opening: 1, closing: -1}.get(word, 0)
        last = place
    return last


def _defines(tokens: Sequence[Word], place: int) -> bool:
    """Whether a token is the ``=`` of a definition or an update, or a word before an expression."""
    if tokens[place].text in ("init", "rewards", "invariant"):
        return True
    if tokens[place].text != "=" or place == 0:
        return False
    before = tokens[place - 1]
    first = place >= 2 and tokens[place - 2].text in ("formula", "label", "const", "bool", "int", "double")
    return before.text.endswith("'") or first
