"""Diagnosis of syntax errors: say in human words what is wrong with a property that cannot be read."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umdp.errors import SpecError
from umdp.spec.expression import FUNCTIONS, SourceLocation
from umdp.spec.names import listed, suggestion

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput

_EXAMPLE = 'for example Pmaxmin=? [ F "goal" ]'
_HEADS = [kind + a + n for kind in "PRS" for a in ("max", "min", "") for n in (("max", "min", "") if a else ("",))]

_UNSUPPORTED = {
    "A": ("the operator A is not supported", "write P>=1 [ ... ] for almost surely"),
    "E": ("the operator E is not supported", "write Pmax>0 [ ... ] for with positive probability"),
    "func": ("func(...) is the old way to call functions", "write mod(x, 2) in place of func(mod, x, 2)"),
    "multi": ("multi-objective properties are not supported", "ask one property at a time"),
}
_CHARACTERS = {
    "'": ("labels stand in double quotes", 'write "goal"'),
    '"': ("a quote that is never closed", 'labels stand between two quotes: "goal"'),
    "^": ("powers are not written with ^", "write pow(x, 2)"),
    "%": ("remainders are not written with %", "write mod(x, 2)"),
    "~": ("negation is not written with ~", "write !"),
}
_TYPOGRAPHIC = {
    **dict.fromkeys("“”„«»‘’", '"'),
    **{"≤": "<=", "≥": ">=", "≠": "!=", "¬": "!", "∧": "&", "∨": "|", "→": "=>", "⇒": "=>", "↔": "<=>", "⇔": "<=>"},
    **{"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "◇": "F", "♢": "F", "◊": "F", "□": "G", "○": "X"},
    **{"\u200b": "nothing", "∞": "no bound at all"},
}
_DOUBLED = {"&&": "&", "||": "|", "==": "="}

_ENDS = {"LABEL", "NAME", "INTEGER", "DECIMAL", "TRUE", "FALSE", "RPAR"}
_COMPARISONS = {"EQ", "NE", "LT", "LE", "GT", "GE"}
_OPERATORS = _COMPARISONS | {"PLUS", "TIMES", "DIVIDE", "AND", "OR", "IMPLIES", "IFF", "QUESTION"}
_PREFIX = {"EVENTUALLY", "GLOBALLY", "NEXT"}
_INFIX = {"UNTIL", "WEAK"}
_BOUNDED = [
    [path, relation] for path in ("EVENTUALLY", "GLOBALLY", "UNTIL") for relation in ("LE", "LT", "GE", "GT", "EQ")
]
_WORDS = {
    "LSQB": "[",
    "RSQB": "]",
    "RPAR": ")",
    "RBRACE": "}",
    "COMMA": "a comma",
    "COLON": "a colon",
    "ASK": "=?",
    "UNTIL": "U",
    "KIND": "P or R",
    "$END": "the end",
}


@dataclass(frozen=True)
class _Unexpected:
    """An unexpected token: its kind and text, the token before it, and what could have stood there."""

    kind: str
    text: str
    before: str
    previous: str
    expected: frozenset[str]
    location: SourceLocation


def diagnose(error: UnexpectedInput, location: SourceLocation, start: str, before: list[Token]) -> SpecError:
    """Return the error that names what was found, what was expected, and what was probably meant.

    Parameters
    ----------
    error : UnexpectedInput
        What lark says.
    location : SourceLocation
        A location in the text.
    start : {"property", "expression"}
        What was to be read.
    before : list of Token
        The tokens to the left of the place of the error.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    what = "property" if start == "property" else "expression"
    if not re.sub(r"//[^\n]*", "", location.text).strip():
        return location.error(f"the {what} is empty", f"write one, {_EXAMPLE}" if start == "property" else "write one")
    if isinstance(error, UnexpectedCharacters):
        return _character(location.moved(error.pos_in_stream or 0))
    if not isinstance(error, UnexpectedToken):
        return location.error(f"the {what} cannot be read", _EXAMPLE)
    token = error.token
    ended = token.type == "$END"
    found = _Unexpected(
        kind=token.type,
        text=str(token),
        before=before[-1].type if before else "",
        previous=str(before[-1]) if before else "",
        expected=frozenset(error.accepts or ()),
        location=location.moved(len(location.text.rstrip()) if ended else token.start_pos or 0),
    )
    if not before and not ended and start == "property":
        return _beginning(found)
    if ended:
        return _unfinished(found, what)
    if found.kind == "RSQB" and [token.type for token in before[-3:-1]] in _BOUNDED:
        return location.moved(before[-1].start_pos or 0).error("the step bound lacks its number", "write F<=10 phi")
    return _known(found) or found.location.error(f"unexpected {_shown(found)}", f"expected {_expected(found)}")


def _character(location: SourceLocation) -> SpecError:
    character = location.text[location.position]
    if character in _CHARACTERS:
        return location.error(*_CHARACTERS[character])
    if character in _TYPOGRAPHIC:
        return location.error(f"unexpected character {character}", f"write {_TYPOGRAPHIC[character]}")
    code = f"U+{ord(character):04X}"
    if character.isprintable():
        code = character if character.isascii() else f"{character} ({code})"
    return location.error(f"unexpected character {code}", "names are letters, digits and _; labels stand in quotes")


def _beginning(found: _Unexpected) -> SpecError:
    text = found.text
    if text in _UNSUPPORTED:
        return found.location.error(*_UNSUPPORTED[text])
    if found.kind == "LT":
        return found.location.error("coalitions <<...>> of games are not supported", f"name both players, {_EXAMPLE}")
    if text[0] in "PRpr" and found.kind == "NAME":
        folded = {head.casefold(): head for head in _HEADS}
        close = difflib.get_close_matches(text.casefold(), folded, n=1, cutoff=0.7)
        meant = f"; did you mean {folded[close[0]]}?" if close else ""
        return found.location.error(
            f"unknown operator {text}", f"there are {', '.join(_HEADS[:7])} and the same with R{meant}"
        )
    return found.location.error(f"unexpected {_shown(found)}", f"a property starts with P or R, {_EXAMPLE}")


def _unfinished(found: _Unexpected, what: str) -> SpecError:
    if found.before in _ENDS and "RPAR" in found.expected:
        return found.location.error("a parenthesis is not closed", "add )")
    if found.before in _ENDS and "RSQB" in found.expected:
        return found.location.error("the bracket is not closed", "add ]")
    return found.location.error(f"the {what} ends too early", f"expected {_expected(found)}")


def _known(found: _Unexpected) -> SpecError | None:
    """Return the error for a slip that people often make, or for a part of PRISM that is not supported."""
    kind, before, location, text = found.kind, found.before, found.location, found.text
    pair = location.text[max(0, location.position - 1) : location.position + 1]
    if pair in _DOUBLED:
        return location.moved(location.position - 1).error(f"{pair} is no operator here", f"write {_DOUBLED[pair]}")
    if text in _UNSUPPORTED and kind in ("RESERVED", "NAME"):
        return location.error(*_UNSUPPORTED[text])
    if before in ("RSQB", "SEMICOLON"):
        return location.error(f"unexpected {_shown(found)} after the property", "give one property at a time")
    if before in ("KIND", "DIRECTION", "RBRACE") and "ASK" in found.expected:
        return _after_head(found)
    if kind == "ASK" and before in _ENDS:
        return location.error("a threshold and =? together", "write =? for the value, or the threshold alone")
    windows = before in ("EVENTUALLY", "GLOBALLY", "UNTIL")
    if "LSQB" in found.expected and "UNTIL" not in found.expected and kind != "QUESTION" and not windows:
        return location.error(f"unexpected {_shown(found)}", f"the path formula stands in square brackets, {_EXAMPLE}")
    if kind == "QUESTION" and before in _COMPARISONS:
        return location.error("a threshold needs a number", "write >=0.3, or =? to ask for the value")
    if before == "LBRACE" and "HOA" in location.text[: location.position]:
        return location.error("the file of an automaton stands in quotes", 'write HOA: {"file.hoa"}')
    if before == "LBRACE" and text == "discount":
        return location.moved(location.text.rfind("{", 0, location.position)).error(
            "a discount is for sums without an end", "write C{discount=0.9}, with no reward from where it is to end"
        )
    if before == "LBRACE" and kind in ("NAME", "INTEGER"):
        operator = "F" if "[" in location.text[: location.position] else "R"
        return location.error(f"the reward name {text} stands without quotes", f'write {operator}{{"{text}"}}')
    if kind == "KIND":
        return location.error(f"unexpected {_shown(found)}", "put a property inside a formula into parentheses")
    if kind == "RSQB" and before == "LSQB":
        return location.error("the brackets are empty", "write a path formula: F phi, G phi, X phi or phi U psi")
    if kind == "RSQB" and "UNTIL" in found.expected:
        return location.error(
            "a path formula is needed, not only a condition", "write F phi to reach it, or G phi to stay in it"
        )
    return _in_path(found)


def _after_head(found: _Unexpected) -> SpecError:
    kind, location = found.kind, found.location
    head = location.text[: location.position].rsplit(":", 1)[-1].strip()
    if kind == "EQ":
        return location.error(
            f"{head}= lacks its question location", f"write {head}=? for the value, or a threshold, {head}>=0.3"
        )
    if kind == "LSQB":
        return location.error(f"{head} asks nothing", f"write {head}=? for the value, or a threshold, {head}>=0.3")
    if kind == "LBRACE" or found.before == "RBRACE":
        return location.error(f"unexpected {_shown(found)}", 'a reward is named as in R{"time"}min=?')
    return location.error(f"unexpected {_shown(found)}", f"expected =? or a threshold after {head}, {_EXAMPLE}")


def _in_path(found: _Unexpected) -> SpecError | None:
    kind, before, location = found.kind, found.before, found.location
    if before == "CUMULATIVE":
        return location.error(
            f"unexpected {_shown(found)} after C", "write C<=k for the first k steps, C for the whole run"
        )
    if before in ("DISCOUNTED", "INSTANTANEOUS"):
        example = "Cdiscount=0.95" if before == "DISCOUNTED" else "I=10"
        return location.error(f"{found.previous} lacks its number", f"write {example}")
    if kind == "RSQB" and before in _ENDS and "RPAR" in found.expected:
        return location.error("a parenthesis is not closed", "add )")
    if kind in _INFIX and before in ("LSQB", "LPAR", *_OPERATORS, *_PREFIX, *_INFIX, "NOT"):
        return location.error(
            f"{found.text} needs a condition on its left", f"write phi {found.text} psi, or F psi to reach psi"
        )
    if kind in _INFIX:
        return location.error(f"a second {found.text} without parentheses", 'say which comes first: "a" U ("b" U "c")')
    if kind in _PREFIX:
        return location.error(
            f"{found.text} as an operand of {found.previous} needs parentheses",
            f"write {found.previous} ({found.text} ...): temporal operators bind weaker than all others",
        )
    if kind == "CUMULATIVE":
        return location.error("C<=k stands alone", "it is a reward, and no part of a formula")
    if kind == "HOA" or before == "HOA":
        return location.error("HOA stands alone in the brackets", 'write HOA: {"file.hoa", "p0" <- "goal"}')
    if kind == "LPAR" and before == "NAME":
        meant = suggestion(found.previous, FUNCTIONS)
        start = location.text.rfind(found.previous, 0, location.position)
        return location.moved(start).error(
            f"unknown function {found.previous}", f"there are {listed(FUNCTIONS)}{meant}"
        )
    if kind == "LBRACE":
        return location.error("filters {...} are the old way", "write filter(max, ..., states)")
    if kind == "NOT" and before in _OPERATORS:
        return location.error(f"! cannot follow {found.previous} directly", "put it in parentheses: (!a)")
    return None


def _shown(found: _Unexpected) -> str:
    return found.text if found.kind == "LABEL" else f"'{found.text}'"


def _expected(found: _Unexpected) -> str:
    """Return what could have stood there, in words."""
    names, words = found.expected, []
    if "CUMULATIVE" in names:
        words.append("a path formula (F, G, X, U or C<=k)")
    elif {"NAME", "LPAR"} <= names:
        words.append('a condition or value such as "goal" or x > 3')
    elif "INTEGER" in names:
        words.append("a number")
    elif "LABEL" in names:
        words.append("a name in quotes")
    elif "ASK" not in names and names & _OPERATORS:
        words.append("an operator")
    if "ASK" in names:
        words.append("a threshold such as >=0.3")
    words += [word for name, word in _WORDS.items() if name in names]
    return " or ".join(words) or "something else"


def tokens_before(parser: Lark, text: str, error: UnexpectedInput) -> list[Token]:
    """Return the tokens to the left of an error, which the parser does not keep."""
    from lark.exceptions import LexError

    ended = getattr(getattr(error, "token", None), "type", "") == "$END"
    position: int = len(text) if ended else getattr(error, "pos_in_stream", None) or 0
    tokens: list[Token] = []
    try:
        for token in parser.lex(text):
            if (token.start_pos or 0) >= position:
                break
            tokens.append(token)
    except LexError:
        pass
    return tokens
