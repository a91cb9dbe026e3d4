"""Deterministic automata in the Hanoi omega-automata (HOA) format, version 1, with any acceptance condition of Inf and Fin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from umdp.automata.acceptance import Condition, alternatives, rabin
from umdp.errors import FormatError

if TYPE_CHECKING:
    from umdp.automata.automaton import Automaton

__all__ = ["AutomatonInFile", "parse_hoa", "read_hoa"]

Guard: TypeAlias = tuple[object, ...]
"""``("p", i)``, ``("!", g)``, ``("&", g, h)``, ``("|", g, h)``, ``("t",)`` or ``("f",)``."""
_TOKEN = re.compile(
    r"\s*(?:(?P<comment>/\*.*?\*/)|(?P<text>\"(?:[^\"\\]|\\.)*\")|(?P<section>--[A-Z]+--)|(?P<header>[A-Za-z_][\w-]*:)"
    r"|(?P<alias>@[\w-]+)|(?P<word>[A-Za-z_][\w-]*)|(?P<number>\d+)|(?P<sign>[!&|(){}\[\]]))",
    re.DOTALL,
)


@dataclass
class AutomatonInFile:
    """A deterministic automaton as it stands in a file.

    Attributes
    ----------
    propositions : their names, in order
    condition : acceptance
    initial : the initial state
    marks : of each state
    edges : of each state, (guard, target, marks)

    Examples
    --------
    >>> found = parse_hoa('HOA: v1 States: 1 Start: 0 AP: 1 "p" Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 0 {0} [!0] 0 --END--')
    >>> found.automaton([0, 1]).accepts([], [0, 1])
    True
    """

    propositions: tuple[str, ...] = ()
    condition: Condition = ("t",)
    initial: int = 0
    marks: dict[int, frozenset[int]] = field(default_factory=dict)
    edges: dict[int, list[tuple[Guard, int, frozenset[int]]]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    origin: str = "the automaton"

    def automaton(self, letters: Sequence[int], *, negated: bool = False) -> Automaton:
        """Return the automaton over some letters, or the one that accepts exactly the other words."""
        found: dict[tuple[int, int], tuple[int, frozenset[int]]] = {}

        def step(state: int, letter: int) -> tuple[int, frozenset[int]]:
            if (state, letter) not in found:
                found[state, letter] = self._step(state, letter)
            return found[state, letter]

        # A word without a run is not accepted: it falls into a state that is marked as no other is.
        condition: Condition = ("&", self.condition, ("Fin", -1))
        return rabin(self.initial, letters, step, alternatives(condition, negated=negated), self._name)

    def _name(self, state: int) -> str:
        return "no run" if state < 0 else self.names.get(state, str(state))

    def _step(self, state: int, letter: int) -> tuple[int, frozenset[int]]:
        taken = [edge for edge in self.edges.get(state, []) if _holds(edge[0], letter)]
        if not taken:
            return -1, frozenset([-1])
        if len({(target, marks) for _, target, marks in taken}) > 1:
            word = " & ".join(f"{'' if letter >> i & 1 else '!'}{name}" for i, name in enumerate(self.propositions))
            raise FormatError(
                f"state {state} has several transitions for {word or 'a letter'}, and only deterministic ones are right here; "
                "translate the property to a deterministic one",
                path=self.origin,
            )
        return taken[0][1], self.marks.get(state, frozenset()) | taken[0][2]


def read_hoa(path: Path) -> AutomatonInFile:
    """Return the automaton in a file, or raise `FormatError` with the line where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FormatError("there is no such file", path=path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"the automaton cannot be read: {error}", path=path) from None
    return parse_hoa(text, str(path))


def parse_hoa(text: str, origin: str = "the automaton") -> AutomatonInFile:
    """Return the automaton that a text in HOA format holds."""
    return _Reader(text, origin).read()


def _holds(guard: Guard, letter: int) -> bool:
    match guard:
        case ("t",):
            return True
        case ("f",):
            return False
        case ("p", int(bit)):
            return bool(letter >> bit & 1)
        case ("!", tuple(inner)):
            return not _holds(inner, letter)
        case ("&", tuple(left), tuple(right)):
            return _holds(left, letter) and _holds(right, letter)
        case (_, tuple(left), tuple(right)):
            return _holds(left, letter) or _holds(right, letter)
    raise AssertionError(guard)


class _Reader:
    """Reads the tokens of one file from first to last."""

    def __init__(self, text: str, origin: str) -> None:
        self.text, self.origin = text, origin
        self.tokens: list[tuple[str, str, int]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                space = len(text[at:]) - len(text[at:].lstrip())
                self.fail(f"unexpected character {text[at + space]!r}", at + space)
            kind = str(found.lastgroup)
            if kind != "comment":
                self.tokens.append((kind, found[kind], found.start(kind)))
            at = found.end()
        self.at = 0
        self.sets = 0
        self.states: int | None = None
        self.aliases: dict[str, Guard] = {}
        self.made = AutomatonInFile(origin=origin)

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        if position is None:
            position = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        line = self.text.count("\n", 0, position) + 1
        column = position - (self.text.rfind("\n", 0, position) + 1) + 1
        raise FormatError(f"column {column}: {problem}", path=self.origin, line=line)

    def fail_before(self, problem: str) -> NoReturn:
        """Fail at the token that was taken last."""
        self.at -= 1
        self.fail(problem)

    # Tokens

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at][:2] if self.at < len(self.tokens) else ("end", "the end of the file")

    def take(self) -> str:
        value = self.peek()[1]
        self.at += 1
        return value

    def expect(self, kind: str, what: str) -> str:
        if self.peek()[0] != kind:
            self.fail(f"expected {what}, not {self.peek()[1]}")
        return self.take()

    def sign(self, sign: str) -> bool:
        if self.peek() != ("sign", sign):
            return False
        self.at += 1
        return True

    def need(self, sign: str) -> None:
        if not self.sign(sign):
            self.fail(f"expected {sign}, not {self.peek()[1]}")

    def number(self, what: str) -> int:
        return int(self.expect("number", what))

    def state(self, what: str) -> int:
        found = self.number(what)
        if self.peek() == ("sign", "&"):
            self.fail("alternating automata are not supported; translate to a deterministic one")
        return found

    # The file

    def read(self) -> AutomatonInFile:
        if self.peek() != ("header", "HOA:"):
            self.fail("a file in HOA format starts with HOA: v1")
        self.take()
        if self.expect("word", "the version v1") != "v1":
            self.fail_before("only version v1 is known")
        seen: set[str] = set()
        while self.peek()[0] == "header":
            self.header(seen)
        if self.peek() != ("section", "--BODY--"):
            self.fail(f"expected a header or --BODY--, not {self.peek()[1]}")
        for needed in ("Start:", "Acceptance:"):
            if needed not in seen:
                self.fail(f"the header {needed} is missing")
        self.take()
        self.body()
        if self.states is not None:
            for state in [self.made.initial, *(edge[1] for each in self.made.edges.values() for edge in each)]:
                if state >= self.states:
                    self.fail(f"state {state} does not exist; there are {self.states}")
        return self.made

    def header(self, seen: set[str]) -> None:
        place = self.at
        name = self.take()
        if name in seen and name in ("States:", "AP:", "Acceptance:", "Start:"):
            self.at = place
            self.fail("several initial states are not deterministic" if name == "Start:" else f"{name} stands twice")
        seen.add(name)
        match name:
            case "States:":
                self.states = self.number("the number of states")
            case "Start:":
                self.made.initial = self.state("the initial state")
            case "AP:":
                count = self.number("the number of propositions")
                names = [self.expect("text", "the name of a proposition, in quotes")[1:-1] for _ in range(count)]
                self.made.propositions = tuple(names)
            case "Acceptance:":
                self.sets = self.number("the number of acceptance sets")
                self.made.condition = self.either(self.marked)
            case "Alias:":
                alias = self.expect("alias", "the name of an alias")
                self.aliases[alias] = self.either(self.literal)
            case _:
                while self.peek()[0] not in ("header", "section", "end"):
                    self.take()

    def either(self, basic: Callable[[], Condition]) -> Condition:
        """Read a disjunction of conjunctions of what `basic` reads."""
        found = self.both(basic)
        while self.sign("|"):
            found = ("|", found, self.both(basic))
        return found

    def both(self, basic: Callable[[], Condition]) -> Condition:
        found = self.bracketed(basic)
        while self.sign("&"):
            found = ("&", found, self.bracketed(basic))
        return found

    def bracketed(self, basic: Callable[[], Condition]) -> Condition:
        if not self.sign("("):
            return basic()
        found = self.either(basic)
        self.need(")")
        return found

    def marked(self) -> Condition:
        word = self.expect("word", "Inf, Fin, t or f")
        if word in ("t", "f"):
            return (word,)
        if word not in ("Inf", "Fin"):
            self.fail_before(f"expected Inf, Fin, t or f, not {word}")
        self.need("(")
        if self.sign("!"):
            self.fail_before("complemented sets are not supported; give the set itself")
        mark = self.number("the number of an acceptance set")
        if mark >= self.sets:
            self.fail_before(f"there is no acceptance set {mark}; they are numbered 0 to {self.sets - 1}")
        self.need(")")
        return (word, mark)

    def literal(self) -> Guard:
        if self.sign("!"):
            return ("!", self.bracketed(self.literal))
        kind, text = self.peek()
        if kind == "alias":
            if text not in self.aliases:
                self.fail(f"unknown alias {text}")
            return self.aliases[self.take()]
        if kind == "word" and text in ("t", "f"):
            return (self.take(),)
        bit = self.number("a proposition's number, t, f or an alias")
        if bit >= len(self.made.propositions):
            self.fail_before(f"there is no proposition {bit}; there are {len(self.made.propositions)}")
        return ("p", bit)

    def body(self) -> None:
        while self.peek() == ("header", "State:"):
            self.take()
            common = self.label()
            place = self.at
            state = self.number("the number of a state")
            if state in self.made.edges or (self.states is not None and state >= self.states):
                self.at = place
                again = state in self.made.edges
                self.fail(
                    f"state {state} stands twice" if again else f"state {state} does not exist; there are {self.states}"
                )
            if self.peek()[0] == "text":
                self.made.names[state] = self.take()[1:-1]
            self.made.marks[state] = self.signature()
            self.made.edges[state] = self.outgoing(common)
        if self.peek() != ("section", "--END--"):
            self.fail(f"expected State: or --END--, not {self.peek()[1]}")

    def outgoing(self, common: Guard | None) -> list[tuple[Guard, int, frozenset[int]]]:
        edges: list[tuple[Guard | None, int, frozenset[int]]] = []
        begun = self.at
        while self.peek()[0] == "number" or self.peek() == ("sign", "["):
            guard = self.label()
            target = self.state("the state a transition leads to")
            edges.append((common if guard is None else guard, target, self.signature()))
        bare = [edge for edge in edges if edge[0] is None]
        if not bare:
            return [(guard, target, marks) for guard, target, marks in edges if guard is not None]
        count = len(self.made.propositions)
        if len(bare) != len(edges) or len(edges) != 2**count:
            self.at = begun
            self.fail(
                f"transitions without labels must be {2**count}, one for each letter in order; there are {len(edges)}"
            )
        return [(_letter(letter, count), target, marks) for letter, (_, target, marks) in enumerate(edges)]

    def label(self) -> Guard | None:
        if not self.sign("["):
            return None
        found = self.either(self.literal)
        self.need("]")
        return found

    def signature(self) -> frozenset[int]:
        marks: set[int] = set()
        if self.sign("{"):
            while not self.sign("}"):
                mark = self.number("the number of an acceptance set, or }")
                if mark >= self.sets:
                    self.fail_before(f"there is no acceptance set {mark}; there are {self.sets}")
                marks.add(mark)
        return frozenset(marks)


def _letter(letter: int, count: int) -> Guard:
    found: Guard = ("t",)
    for bit in range(count):
        found = ("&", found, ("p", bit) if letter >> bit & 1 else ("!", ("p", bit)))
    return found
