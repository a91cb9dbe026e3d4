"""Say in human words what is wrong with a property that cannot be read."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umdp.errors import SpecError
from umdp.spec.expression import FUNCTIONS
from umdp.spec.mark import Mark, listed, suggestion

if TYPE_CHECKING:
    from lark import Token
    from lark.exceptions import UnexpectedInput

_EXAMPLE = 'for example Pmaxmin=? [ F "goal" ]'
_HEADS = [kind + a + n for kind in "PR" for a in ("max", "min", "") for n in (("max", "min", "") if a else ("",))]

_UNSUPPORTED = {
    "W": ("weak until W is not supported", "use U, or G where the right side need not be reached"),
    "S": ("steady-state properties S are not supported", "use P or R"),
    "I": ("instantaneous rewards I=k are not supported", "R takes F phi or C<=k"),
    "A": ("the operator A is not supported", "write P>=1 [ ... ] for almost surely"),
    "E": ("the operator E is not supported", "write Pmax>0 [ ... ] for with positive probability"),
    "filter": ("filters are not supported", "the value is that of the initial state; write the property alone"),
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

_OPERANDS = {"LABEL", "NAME", "INTEGER", "DECIMAL", "TRUE", "FALSE", "FUNCTION", "MINUS", "LPAR"}
_ENDS = {"LABEL", "NAME", "INTEGER", "DECIMAL", "TRUE", "FALSE", "RPAR"}
_COMPARISONS = {"EQ", "NE", "LT", "LE", "GT", "GE"}
_OPERATORS = _COMPARISONS | {"PLUS", "TIMES", "DIVIDE", "AND", "OR", "IMPLIES", "IFF", "QUESTION"}
_PATHS = {"EVENTUALLY", "GLOBALLY", "NEXT", "UNTIL", "CUMULATIVE"}
_BOUNDED = [[path, relation] for path in ("EVENTUALLY", "GLOBALLY", "UNTIL") for relation in ("LE", "LT")]
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
class _Slip:
    """An unexpected token: its kind and text, the token before it, and what could have stood there."""

    kind: str
    text: str
    before: str
    previous: str
    expected: frozenset[str]
    mark: Mark


def explain(error: UnexpectedInput, mark: Mark, start: str, before: list[Token]) -> SpecError:
    """Return the error that names what was found, what was expected, and what was probably meant.

    Parameters
    ----------
    error : UnexpectedInput
        What lark says.
    mark : Mark
        A mark in the text.
    start : {"property", "expression"}
        What was to be read.
    before : list of Token
        The tokens to the left of the place of the error.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    what = "property" if start == "property" else "expression"
    if not re.sub(r"//[^\n]*", "", mark.text).strip():
        return mark.error(f"the {what} is empty", f"write one, {_EXAMPLE}" if start == "property" else "write one")
    if isinstance(error, UnexpectedCharacters):
        return _character(mark.moved(error.pos_in_stream or 0))
    if not isinstance(error, UnexpectedToken):
        return mark.error(f"the {what} cannot be read", _EXAMPLE)
    token = error.token
    ended = token.type == "$END"
    slip = _Slip(
        kind=token.type,
        text=str(token),
        before=before[-1].type if before else "",
        previous=str(before[-1]) if before else "",
        expected=frozenset(error.accepts or ()),
        mark=mark.moved(len(mark.text.rstrip()) if ended else token.start_pos or 0),
    )
    if not before and not ended and start == "property":
        return _beginning(slip)
    if ended:
        return _unfinished(slip, what)
    if slip.kind == "RSQB" and [token.type for token in before[-3:-1]] in _BOUNDED:
        return mark.moved(before[-1].start_pos or 0).error("the step bound lacks its number", "write F<=10 phi")
    return _known(slip) or _generic(slip)


def _character(mark: Mark) -> SpecError:
    character = mark.text[mark.position]
    if character in _CHARACTERS:
        return mark.error(*_CHARACTERS[character])
    if character in _TYPOGRAPHIC:
        return mark.error(f"unexpected character {character}", f"write {_TYPOGRAPHIC[character]}")
    code = f"U+{ord(character):04X}"
    if character.isprintable():
        code = character if character.isascii() else f"{character} ({code})"
    return mark.error(f"unexpected character {code}", "names are letters, digits and _; labels stand in quotes")


def _beginning(slip: _Slip) -> SpecError:
    text = slip.text
    if text in _UNSUPPORTED:
        return slip.mark.error(*_UNSUPPORTED[text])
    if slip.kind == "LT":
        return slip.mark.error("coalitions <<...>> of games are not supported", f"name both players, {_EXAMPLE}")
    if text[0] in "PRpr" and slip.kind == "NAME":
        folded = {head.casefold(): head for head in _HEADS}
        close = difflib.get_close_matches(text.casefold(), folded, n=1, cutoff=0.7)
        meant = f"; did you mean {folded[close[0]]}?" if close else ""
        return slip.mark.error(
            f"unknown operator {text}", f"there are {', '.join(_HEADS[:7])} and the same with R{meant}"
        )
    return slip.mark.error(f"unexpected {_shown(slip)}", f"a property starts with P or R, {_EXAMPLE}")


def _unfinished(slip: _Slip, what: str) -> SpecError:
    if slip.before in _ENDS and "RPAR" in slip.expected:
        return slip.mark.error("a parenthesis is not closed", "add )")
    if slip.before in _ENDS and "RSQB" in slip.expected:
        return slip.mark.error("the bracket is not closed", "add ]")
    return slip.mark.error(f"the {what} ends too early", f"expected {_expected(slip)}")


def _known(slip: _Slip) -> SpecError | None:
    """Return the error for a slip that people often make, or for a part of PRISM that is not supported."""
    kind, before, mark, text = slip.kind, slip.before, slip.mark, slip.text
    pair = mark.text[max(0, mark.position - 1) : mark.position + 1]
    if pair in _DOUBLED:
        return mark.moved(mark.position - 1).error(f"{pair} is no operator here", f"write {_DOUBLED[pair]}")
    if text in _UNSUPPORTED and kind in ("RESERVED", "NAME"):
        return mark.error(*_UNSUPPORTED[text])
    if before in ("RSQB", "SEMICOLON"):
        return mark.error(f"unexpected {_shown(slip)} after the property", "give one property at a time")
    if before in ("KIND", "DIRECTION", "RBRACE") and "ASK" in slip.expected:
        return _after_head(slip)
    if kind == "ASK" and before in _ENDS:
        return mark.error("a threshold and =? together", "write =? for the value, or the threshold alone")
    if "LSQB" in slip.expected and "UNTIL" not in slip.expected and kind != "QUESTION":
        return mark.error(f"unexpected {_shown(slip)}", f"the path formula stands in square brackets, {_EXAMPLE}")
    if kind == "QUESTION" and before in _COMPARISONS:
        return mark.error("a threshold needs a number", "write >=0.3, or =? to ask for the value")
    if before == "LBRACE" and kind in ("NAME", "INTEGER"):
        return mark.error(f"the reward name {text} stands without quotes", f'write R{{"{text}"}}')
    if kind == "KIND":
        if text == "R" and before in _ENDS:
            return mark.error("release R is not supported", "use U or G")
        return mark.error("P and R inside a formula are not supported", "use labels and conditions on variables")
    if kind == "RSQB" and before == "LSQB":
        return mark.error("the brackets are empty", "write a path formula: F phi, G phi, X phi or phi U psi")
    if kind == "RSQB" and "UNTIL" in slip.expected:
        return mark.error(
            "a path formula is needed, not only a condition", "write F phi to reach it, or G phi to stay in it"
        )
    return _in_path(slip)


def _after_head(slip: _Slip) -> SpecError:
    kind, mark = slip.kind, slip.mark
    head = mark.text[: mark.position].rsplit(":", 1)[-1].strip()
    if kind == "EQ":
        return mark.error(
            f"{head}= lacks its question mark", f"write {head}=? for the value, or a threshold, {head}>=0.3"
        )
    if kind == "LSQB":
        return mark.error(f"{head} asks nothing", f"write {head}=? for the value, or a threshold, {head}>=0.3")
    if kind == "LBRACE" or slip.before == "RBRACE":
        return mark.error(f"unexpected {_shown(slip)}", 'a reward is named as in R{"time"}min=?')
    return mark.error(f"unexpected {_shown(slip)}", f"expected =? or a threshold after {head}, {_EXAMPLE}")


def _in_path(slip: _Slip) -> SpecError | None:
    kind, before, mark = slip.kind, slip.before, slip.mark
    if before in ("EVENTUALLY", "GLOBALLY", "UNTIL") and kind in ("GE", "GT", "EQ", "LSQB"):
        return mark.error("only upper step bounds are supported", f"write {slip.previous}<=k or {slip.previous}<k")
    if before == "NEXT" and kind in ("LE", "LT"):
        return mark.error("X takes no step bound", "it looks exactly one step ahead")
    if before == "CUMULATIVE":
        return mark.error("C needs a step bound", "write C<=k; for the reward until a target write F phi")
    if kind == "RSQB" and before in _ENDS and "RPAR" in slip.expected:
        return mark.error("a parenthesis is not closed", "add )")
    if kind == "UNTIL" and before == "LSQB":
        return mark.error("U needs a condition on its left", "write phi U psi, or F psi to reach psi")
    if kind in ("AND", "OR", "IMPLIES", "IFF") and slip.expected == {"RSQB"}:
        return mark.error("combining path formulas is not supported", "a property has one temporal operator")
    if kind in _PATHS:
        return mark.error(
            f"{slip.text} inside a formula is not supported",
            "a property has one temporal operator: F phi, G phi, X phi, phi U psi or, for rewards, C<=k",
        )
    if kind == "LPAR" and before == "NAME":
        meant = suggestion(slip.previous, FUNCTIONS)
        start = mark.text.rfind(slip.previous, 0, mark.position)
        return mark.moved(start).error(f"unknown function {slip.previous}", f"there are {listed(FUNCTIONS)}{meant}")
    if kind == "LBRACE":
        return mark.error("filters {...} are not supported", "the value is that of the initial state")
    if kind == "NOT" and before in _OPERATORS:
        return mark.error(f"! cannot follow {slip.previous} directly", "put it in parentheses: (!a)")
    return None


def _generic(slip: _Slip) -> SpecError:
    return slip.mark.error(f"unexpected {_shown(slip)}", f"expected {_expected(slip)}")


def _shown(slip: _Slip) -> str:
    return slip.text if slip.kind == "LABEL" else f"'{slip.text}'"


def _expected(slip: _Slip) -> str:
    """Return what could have stood there, in words."""
    names, words = slip.expected, []
    if _PATHS & names - {"UNTIL"}:
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
