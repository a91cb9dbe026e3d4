"""What can go wrong with a user's input; every message names the place and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


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


_WORDS: dict[type, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", list: "a list", dict: "a table",
    type(None): "nothing",
}  # fmt: skip


def misfit(data: object, kind: Any, *, table: str = "a table") -> str:
    """Return what keeps plain data from being of a type, in plain words, the place first.

    Examples
    --------
    >>> import msgspec
    >>> Entry = msgspec.defstruct("Entry", [("label", str), ("seeds", int | None, None)])
    >>> misfit([{"label": {}}], list[Entry])
    'number 1, label: expected text, found a table'
    >>> misfit({"learners": [{"seeds": 3}]}, dict[str, list[Entry]])
    'number 1: the key "label" is missing'
    """
    from msgspec.inspect import type_info

    found = next(_misfits(data, type_info(kind), (), {**_WORDS, dict: table}), ((), "something in it does not fit"))
    return ": ".join(each for each in (", ".join(found[0]), found[1]) if each)


def _misfits(
    value: Any, info: Any, place: tuple[str, ...], words: dict[type, str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the place and the text of everything in a value that does not fit a type, in the order of the value."""
    from msgspec import inspect

    options = info.types if isinstance(info, inspect.UnionType) else (info,)
    fits = next((each for each in options if type(value) in _accepted(each)), None)
    if isinstance(fits, inspect.ListType):
        for number, each in enumerate(value, 1):
            yield from _misfits(each, fits.item_type, (*place, f"number {number}"), words)
    elif isinstance(fits, inspect.DictType):
        for each in value.values():
            yield from _misfits(each, fits.value_type, place, words)
    elif isinstance(fits, inspect.StructType):
        fields = {each.encode_name: each for each in fits.fields}
        for name, each in value.items():
            if name in fields:
                yield from _misfits(each, fields[name].type, (*place, name), words)
            elif fits.forbid_unknown_fields:
                yield place, f'there is no key "{name}"'
        missing = [name for name, each in fields.items() if each.required and name not in value]
        yield from ((place, f'the key "{name}" is missing') for name in missing)
    elif isinstance(fits, inspect.LiteralType) and value not in fits.values:
        yield place, f"there is no {value!r}"
    elif fits is None and not any(isinstance(each, inspect.AnyType) for each in options):
        first = {_accepted(each)[0] for each in options}
        *wanted, last = [word for each, word in words.items() if each in first and each is not type(None)]
        expected = f"{', '.join(wanted)} or {last}" if wanted else last
        yield place, f"expected {expected}, found {words.get(type(value), 'something else')}"


def _accepted(info: Any) -> tuple[type, ...]:
    """Return the types of plain values that a type may be given as, its own first; none for one that takes anything."""
    from msgspec import inspect

    plain: dict[type, tuple[type, ...]] = {
        inspect.IntType: (int,), inspect.FloatType: (float, int), inspect.StrType: (str,), inspect.BoolType: (bool,),
        inspect.ListType: (list,), inspect.DictType: (dict,), inspect.StructType: (dict,), inspect.LiteralType: (str,),
        inspect.NoneType: (type(None),),
    }  # fmt: skip
    return plain.get(type(info), ())


def in_a_sentence(error: Exception) -> str:
    """Return what another library says is wrong, such that it can follow a colon.

    Examples
    --------
    >>> in_a_sentence(ValueError("Number out of range")), in_a_sentence(ValueError("JSON is malformed"))
    ('number out of range', 'the JSON is malformed')
    """
    said = str(error)
    return f"the {said}" if said[:2].isupper() else said[:1].lower() + said[1:]
