"""What can go wrong with a user's input; every message names the place and the remedy."""

from __future__ import annotations

import re


class UmdpError(Exception):
    """Base of every error this package raises on purpose."""


class ModelError(UmdpError):
    """A model's arrays do not fit together."""


class InfeasibleChoice(ModelError):
    """No probability distribution lies within the bounds of a choice.

    Examples
    --------
    >>> print(InfeasibleChoice(state="(3,4)", action="east", lower_sum=1.02, upper_sum=1.4))
    state (3,4), action east: no distribution fits the bounds (lower bounds sum to 1.02, upper bounds to 1.4); \
lower bounds must sum to at most 1 and upper bounds to at least 1
    """

    def __init__(self, *, state: str, action: str, lower_sum: float, upper_sum: float) -> None:
        self.state, self.action = state, action
        self.lower_sum, self.upper_sum = lower_sum, upper_sum
        super().__init__(
            f"state {state}, action {action}: no distribution fits the bounds (lower bounds sum to {lower_sum:.12g}, "
            f"upper bounds to {upper_sum:.12g}); lower bounds must sum to at most 1 and upper bounds to at least 1"
        )


class UnhashableState(ModelError):
    """An observation cannot be a state, since it is not hashable."""


class SpecError(UmdpError):
    """A property cannot be read, or does not fit the model."""


class UnknownLabel(SpecError):
    """A property speaks of a label that the model does not have; `label` is its name."""

    def __init__(self, message: str, label: str = "") -> None:
        self.label = label
        super().__init__(message)


class OutOfTime(UmdpError):
    """Time was up before there was anything to return."""


class FormatError(UmdpError):
    """A file is not what its format promises.

    Examples
    --------
    >>> print(FormatError("expected 3 numbers", path="model.tra", line=7))
    model.tra, line 7: expected 3 numbers
    """

    def __init__(self, message: str, *, path: object = None, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = "" if path is None else f"{path}" + ("" if line is None else f", line {line}")
        super().__init__(f"{place}: {message}" if place else message)


class MissingExtra(UmdpError):
    """An optional dependency is needed and not installed.

    Examples
    --------
    >>> print(MissingExtra("storm", "reading PRISM programs"))
    reading PRISM programs needs the extra "storm"; install it with: pip install 'umdp[storm]'
    """

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs the extra \"{extra}\"; install it with: pip install 'umdp[{extra}]'")


_KINDS = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false", "object": "a table", "array": "a list",
    "null": "nothing",
}  # fmt: skip


def misfit(said: str) -> str:
    """Return what a decoder says of data that do not fit, in plain words, the place first.

    Examples
    --------
    >>> misfit("Expected `str | null`, got `object` - at `$.initial`")
    'initial: expected text, found a table'
    >>> misfit("Object missing required field `label` - at `$.learners[0]`")
    'learners, number 1: the key "label" is missing'
    >>> misfit("JSON is malformed: invalid character (byte 0)")
    'the JSON is malformed: invalid character (byte 0)'
    """
    what, _, path = said.partition(" - at ")
    place = re.sub(r"\[(\d+)\]", lambda at: f", number {int(at[1]) + 1}", path.strip("`").removeprefix("$").strip("."))
    place = place.replace("[...]", "").replace(".", ", ").removeprefix(", ")
    expected = re.fullmatch(r"Expected `([^`]*)`, got `([^`]*)`", what)
    field = re.fullmatch(r"Object (missing required|contains unknown) field `([^`]*)`", what)
    if expected is not None:
        kinds = [_KINDS.get(kind, kind) for kind in expected[1].split(" | ") if kind != "null"]
        wanted = kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}"
        what = f"expected {wanted}, found {_KINDS.get(expected[2], expected[2])}"
    elif field is not None:
        what = f'the key "{field[2]}" is missing' if field[1].startswith("m") else f'there is no key "{field[2]}"'
    elif what.startswith("Invalid enum value"):
        what = f"there is no {what.removeprefix('Invalid enum value ')}"
    elif what.startswith("JSON is malformed"):
        what = f"the {what}"
    else:
        what = what[:1].lower() + what[1:]
    return f"{place}: {what}" if place else what
