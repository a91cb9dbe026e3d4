"""Reading a certificate: one JSON file, of which nothing is believed and nothing executed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError
from umdp.spec import Spec
from umdp.verify.distributions import Row, feasible, make_row
from umdp.verify.formulas import check_formulas
from umdp.verify.premise import plain
from umdp.verify.rationals import LARGEST as LARGEST_DOUBLE
from umdp.verify.rationals import Number, is_double, is_integer, number

__all__ = [
    "Bound",
    "Document",
    "Model",
    "check_header",
    "digest",
    "entries",
    "has_sign",
    "load",
    "make_model",
    "numbers_of",
    "parse",
    "shown",
    "text_of",
]

FORMAT, VERSION = "umdp certificate", 1
LARGEST = 256 << 20  # bytes of a file
LONGEST = 20_000  # characters of a property or formula
TRANSITIONS = 5 * 10**6
LABELLED = 2 * 10**8  # labels times states


@dataclass(frozen=True)
class Model:
    """The model of a certificate: rows in integers, and what a property may speak about."""

    state_ptr: list[int]
    choice_ptr: list[int]
    successor: list[int]
    rows: list[Row]
    initial: int
    uncertain: bool
    labels: dict[str, NDArray[np.bool_]]
    variables: dict[str, NDArray[Any]]
    constants: dict[str, bool | int | float]
    formulas: dict[str, str]
    reward_name: str | None = None
    reward: list[Fraction] = field(default_factory=list)  # per choice, the state's included
    paid: list[Fraction] | None = None  # per transition
    state_reward: list[Fraction] = field(default_factory=list)  # that of the states alone
    bounds: tuple[list[float], list[float]] = ([], [])

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.state_ptr) - 1

    @property
    def choices(self) -> int:
        """The number of choices."""
        return len(self.choice_ptr) - 1

    def of(self, state: int) -> range:
        """Return the choices of a state."""
        return range(self.state_ptr[state], self.state_ptr[state + 1])


@dataclass(frozen=True)
class Bound:
    """One side of the proof: a value, a rank and a trap level for every state (-1: none); for averages a gain, too."""

    value: list[Number]
    rank: list[int]
    trap: list[int]
    gain: list[Number] = field(default_factory=list)

    @classmethod
    def unranked(cls, value: Sequence[Number], *, trap: list[int] | None = None, gain: Sequence[Number] = ()) -> Bound:
        """Return values without ranks, and without trap levels unless they are given."""
        none = [-1] * len(value)
        return cls(list(value), none, trap or none, list(gain))


@dataclass(frozen=True)
class Document:
    """A certificate as read: well-formed, and not yet believed."""

    property: str
    model: Model
    lower: Number
    upper: Number
    policy_claimed: bool
    level: float | None
    policy: list[int] | list[list[int]] | None
    below: Bound | None
    above: Bound | None
    learning: dict[str, Any] | None
    intact: bool


def digest(content: dict[str, Any]) -> str:
    """Return the checksum over everything but itself: it tells accidents, not forgeries."""
    rest = {key: value for key, value in content.items() if key != "digest"}
    try:
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:  # an integer of 5000 digits, a list of lists of lists ...
        raise FormatError(f"is not the JSON of a certificate: {str(error)[:200]}") from None
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def load(path: str | Path) -> Any:
    """Return the JSON of a certificate, of which nothing is known yet; `FormatError` where a file holds none."""
    try:
        if Path(path).stat().st_size > LARGEST:
            raise FormatError(f"larger than {LARGEST >> 20} MiB; that is no certificate of ours", path=path)
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text; a certificate is a JSON file", path=path) from None
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not the JSON of a certificate: {str(error)[:200]}", path=path) from None


def check_header(content: Any) -> None:
    """Refuse what is not a certificate, or one of another version."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FormatError(f'is not a certificate: "format" must be "{FORMAT}"')
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise FormatError(f"is a certificate of version {shown(content.get('version'))}; this checker knows {VERSION}")


def parse(content: dict[str, Any]) -> Document:
    """Return the certificate that parsed JSON holds, once its header is checked."""
    asked = text_of(content, "property")
    signed = has_sign(Spec.parse(asked))
    model = make_model(_object(content, "model"), signed=signed)
    check_formulas(asked, model.formulas, model.states)
    claim = _object(content, "claim")
    level = claim.get("level")
    if level is not None and not (type(level) is float and 0 < level < 1):
        raise FormatError(f"claim: level is {shown(level)}, not a number between 0 and 1")
    learning = content.get("learning")
    if learning is not None and not isinstance(learning, dict):
        raise FormatError("learning: not an object")
    return Document(
        property=asked,
        model=model,
        lower=_claimed(claim, "lower", signed),
        upper=_claimed(claim, "upper", signed),
        policy_claimed=claim.get("policy") is True,
        level=level,
        policy=_policy(content.get("policy"), model),
        below=_bound(content, "lower", model, signed),
        above=_bound(content, "upper", model, signed),
        learning=learning,
        intact=content.get("digest") == digest(content),
    )


def has_sign(spec: Spec) -> bool:
    """Whether the value of a property may be negative, and its rewards may be: sums and averages that are always defined."""
    return spec.kind != "P" and spec.aim in ("bounded", "discounted", "average")


def _claimed(claim: dict[str, Any], side: str, signed: bool) -> Number:
    found = claim.get(side)
    if isinstance(found, str) and found not in (("inf", "-inf") if signed else ("inf",)):
        raise FormatError(f'claim, {side}: must be a number or "inf"')
    return number(found, f"claim, {side}", signed=signed)


def _refuse(word: str) -> None:
    raise ValueError(f'{word} is not JSON; infinity is written "inf"')


def shown(value: Any) -> str:
    """Return something read from a file as a message shows it: short, and without control characters."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        return "an integer of more than 40 digits"
    text = value if isinstance(value, str) else repr(value) if isinstance(value, int | float) else type(value).__name__
    return repr(plain(text[:40]))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name is given twice in one object")
    return made


def _object(content: dict[str, Any], name: str) -> dict[str, Any]:
    found = content.get(name)
    if not isinstance(found, dict):
        raise FormatError(f'"{name}" is missing or not an object')
    return found


def text_of(content: dict[str, Any], name: str) -> str:
    """Return a text of a certificate."""
    found = content.get(name)
    if not isinstance(found, str) or len(found) > LONGEST:
        raise FormatError(f'"{name}" is missing or not a text of at most {LONGEST} characters')
    return found


def _integers(given: Any, place: str, low: int, high: int, length: int | None = None) -> list[int]:
    if not isinstance(given, list) or (length is not None and len(given) != length):
        raise FormatError(f"{place}: not a list{'' if length is None else f' of {length} integers'}")
    for index, value in enumerate(given):
        if not is_integer(value, low, high):
            raise FormatError(f"{place}, entry {index}: {shown(value)} is not an integer from {low} to {high}")
    return given


def _doubles(given: Any, place: str, length: int, *, signed: bool = False) -> list[float]:
    if not isinstance(given, list) or len(given) != length:
        raise FormatError(f"{place}: not a list of {length} numbers")
    least = -LARGEST_DOUBLE if signed else 0
    for index, value in enumerate(given):
        if not is_double(value, least):
            wanted = "number" if signed else "number at least 0"
            raise FormatError(f"{place}, entry {index}: {shown(value)} is not a {wanted}")
    return list(map(float, given))


def _pointers(given: Any, place: str, end: int | None) -> list[int]:
    found = _integers(given, place, 0, 1 << 40)
    if len(found) < 2 or found[0] != 0 or (end is not None and found[-1] != end):
        raise FormatError(f"{place}: must lead from 0 to {'the number of choices' if end is None else end}")
    for index in range(1, len(found)):
        if found[index] <= found[index - 1]:
            raise FormatError(f"{place}, entry {index}: must be larger than the entry before")
    return found


def make_model(given: dict[str, Any], *, signed: bool = False) -> Model:
    """Return the model of a certificate, or raise `FormatError` naming the entry that is wrong; rewards may be `signed`."""
    successor = given.get("successor")
    count = len(successor) if isinstance(successor, list) else 0
    if count > TRANSITIONS:
        raise FormatError(f"model: more than {TRANSITIONS:,} transitions are too many to check")
    choice_ptr = _pointers(given.get("choice_ptr"), "model, choice_ptr", count)
    state_ptr = _pointers(given.get("state_ptr"), "model, state_ptr", len(choice_ptr) - 1)
    states = len(state_ptr) - 1
    successor = _integers(successor, "model, successor", 0, states - 1)
    if "probability" in given:
        lower = upper = _doubles(given["probability"], "model, probability", count)
    else:
        lower = _doubles(given.get("lower"), "model, lower", count)
        upper = _doubles(given.get("upper"), "model, upper", count)
    rows = []
    for choice in range(len(choice_ptr) - 1):
        own = slice(choice_ptr[choice], choice_ptr[choice + 1])
        if not feasible(lower[own], upper[own]):
            raise FormatError(f"model, choice {choice}: its bounds admit no distribution")
        rows.append(make_row(successor[own], lower[own], upper[own]))
    (initial,) = _integers([given.get("initial")], "model, initial", 0, states - 1)
    labels: dict[str, NDArray[np.bool_]] = {}
    if len(_object(given, "labels")) * states > LABELLED:
        raise FormatError(f"model, labels: {len(given['labels'])} labels of {states} states are too many to check")
    for name, members in _object(given, "labels").items():
        mask = np.zeros(states, dtype=np.bool_)
        mask[_integers(members, f"model, label {shown(name)}", 0, states - 1)] = True
        labels[name] = mask
    reward_name, reward, paid, by_state = _reward(given.get("reward"), state_ptr, len(rows), count, signed)
    return Model(
        state_ptr, choice_ptr, successor, rows, initial, any(a != b for a, b in zip(lower, upper, strict=True)), labels,
        _variables(given.get("variables", {}), states), _scalars(given.get("constants", {})),
        _texts(given.get("formulas", {})), reward_name, reward, paid, by_state, (lower, upper),
    )  # fmt: skip


def _reward(
    given: Any, state_ptr: list[int], choices: int, transitions: int, signed: bool
) -> tuple[str | None, list[Fraction], list[Fraction] | None, list[Fraction]]:
    states = len(state_ptr) - 1
    if given is None:
        return None, [], None, [Fraction(0)] * states
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise FormatError("model, reward: not an object with a name")

    def part(name: str, size: int) -> list[Fraction]:
        if name not in given:
            return [Fraction(0)] * size
        return list(map(Fraction, _doubles(given[name], f"model, reward, {name}", size, signed=signed)))

    own, total = part("state", states), part("choice", choices)
    for state, value in enumerate(own):
        for choice in range(state_ptr[state], state_ptr[state + 1]):
            total[choice] += value
    return given["name"], total, part("transition", transitions) if "transition" in given else None, own


def _is_scalar(value: Any) -> bool:
    return isinstance(value, bool) or is_double(value, -(2.0**62), 2.0**62)


def _variables(given: Any, states: int) -> dict[str, NDArray[Any]]:
    if not isinstance(given, dict):
        raise FormatError("model, variables: not an object")
    for name, values in given.items():
        kinds = {type(value) for value in values} if isinstance(values, list) and len(values) == states else set()
        if not kinds or not (kinds <= {bool} or kinds <= {int, float}) or not all(map(_is_scalar, values)):
            raise FormatError(f"model, variable {shown(name)}: not a list of {states} values of one kind")
    return {name: np.array(values) for name, values in given.items()}


def _scalars(given: Any) -> dict[str, bool | int | float]:
    if not isinstance(given, dict) or not all(map(_is_scalar, given.values())):
        raise FormatError("model, constants: not an object of numbers and truth values")
    return given


def _texts(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or any(not isinstance(v, str) or len(v) > LONGEST for v in given.values()):
        raise FormatError(f"model, formulas: not an object of texts of at most {LONGEST} characters")
    return given


def _policy(given: Any, model: Model) -> list[int] | list[list[int]] | None:
    if given is None:
        return None
    nested = isinstance(given, list) and bool(given) and isinstance(given[0], list)
    for step, row in enumerate(given if nested else [given]):
        place = f"policy, step {step}" if nested else "policy"
        for state, choice in enumerate(_integers(row, place, 0, model.choices - 1, model.states)):
            if choice not in model.of(state):
                raise FormatError(f"{place}, state {state}: choice {choice} is not one of its own")
    policy: list[int] | list[list[int]] = given
    return policy


def _bound(content: dict[str, Any], side: str, model: Model, signed: bool) -> Bound | None:
    given = content.get(side)
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("value"), list) or len(given["value"]) != model.states:
        raise FormatError(f"{side}: not an object with a value for each of the {model.states} states")
    values = _numbers(given["value"], f"{side}, value", signed)
    gains = given.get("gain", [])
    if not isinstance(gains, list) or len(gains) not in (0, model.states):
        raise FormatError(f"{side}: a gain is a list of a number for each of the {model.states} states")

    def ranks(name: str) -> list[int]:
        if name not in given:
            return [-1] * model.states
        return _integers(given[name], f"{side}, {name}", -1, 1 << 40, model.states)

    return Bound(values, ranks("rank"), ranks("trap"), _numbers(gains, f"{side}, gain", signed))


def _numbers(given: list[Any], place: str, signed: bool) -> list[Number]:
    return [number(value, f"{place} of state {state}", signed=signed) for state, value in enumerate(given)]


def entries(
    given: dict[str, Any],
    name: str,
    refusal: str,
    fits: Callable[[Any], bool] = lambda _: True,
    size: int | None = None,
) -> list[Any]:
    """Return a list of what was learned, of so many entries that all fit; `FormatError` with the `refusal` where it is none."""
    found = given.get(name)
    if not isinstance(found, list) or size not in (None, len(found)) or not all(map(fits, found)):
        raise FormatError(f"learning, {name}: {refusal}")
    return found


def numbers_of(given: dict[str, Any], name: str, size: int) -> list[float]:
    """Return a list of so many numbers of what was learned."""
    entries(given, name, "not a list")
    return list(map(float, entries(given, name, f"not a list of {size} numbers", is_double, size)))
