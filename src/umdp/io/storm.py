"""Reading PRISM and JANI programs: Storm builds the model, its arrays come over in one piece."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from umdp.errors import FormatError, MissingExtra
from umdp.io.constants import Constant, format_constants, parse_constants
from umdp.io.files import Model, decode_text, load
from umdp.io.prism_items import command_places
from umdp.io.prism_program import Program, program_of
from umdp.io.umb_read import decode

__all__ = ["as_written", "everything", "formulas", "kind_of", "parsed_program", "read_program", "undefined_constants"]

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*')
_FORMULA = re.compile(r"\bformula\s+([A-Za-z_]\w*)\s*=\s*([^;]*);")
_PLACE = re.compile(r"(?:Parsing error at (\d+):(\d+):|Error in .*?, line (\d+)):?\s*(.*)", re.DOTALL)
_NEARLY_ONE = re.compile(r"actually sum to (?:\[1, 1\]|1|\[?0\.9999\d+|\[?1\.0000\d+)|negative value \[0, ")
_SUPPORTED = ("DTMC", "MDP")


def read_program(path: Path, constants: str | Mapping[str, Constant] = "", asked: Collection[str] = ()) -> Model:
    """Return the model a PRISM program or a JANI file describes, all of its reachable states built.

    Parameters
    ----------
    path : Path
        A file in the PRISM language, or a JANI file (named .jani).
    constants : str or mapping
        Values for the constants the program leaves undefined.
    asked : collection of str
        Names that a property uses: values of these need not be the program's, and are left out where they are not.
    """
    given = parse_constants(constants)
    with parsed_program(path) as (stormpy, program, written):
        own = {constant.name for constant in program.constants}
        given = {name: value for name, value in given.items() if name in own or name not in asked}
        _check_constants(program, given, path)
        program = stormpy.instantiate_constants(program, format_constants(given))[0]
        try:
            data = _build(stormpy, program)
        except RuntimeError as error:
            raise RuntimeError(_located(str(error), program, written)) from None
        order = [] if written is None else [each.name for each in program.reward_models]
        values = _jani_constants(path) | given if written is None else _constant_values(program, given)
    # Storm takes an interval whose ends are the wrong way round for the empty one, and writes that as [0,0].
    zero = "a command has the interval [0,0] or one whose lower bound is above its upper bound; correct or remove it"
    return decode(
        io.BytesIO(data),
        path,
        zero=zero,
        mended=as_written,
        constants=values,
        formulas={} if written is None else formulas(written.text),
        rewards=order,
    )


@contextmanager
def parsed_program(path: Path) -> Iterator[tuple[Any, Any, Program | None]]:
    """Give Storm and the program in a file, for PRISM also as it was written; what Storm finds wrong is the file's fault."""
    text = decode_text(load(path), path)
    written = None if path.suffix == ".jani" else program_of(text, path)
    try:
        import stormpy
    except ImportError:
        raise MissingExtra("storm", "reading PRISM programs") from None
    with _quiet(stormpy), _translated(path, written):
        program = stormpy.io.parse_jani_model(str(path))[0] if written is None else _parse(stormpy, written)
        kind = program.model_type.name
        if kind not in _SUPPORTED:
            raise FormatError(f"the model is a {kind.lower()}; supported are dtmc and mdp", path=path)
        yield stormpy, program, written


def formulas(text: str) -> dict[str, str]:
    r"""Return the formulas of a PRISM program by name.

    Examples
    --------
    >>> formulas("mdp // formula no = 1;\nformula done = x=3 &\n y=2; module m ...")
    {'done': 'x=3 & y=2'}
    """
    code = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return {name: " ".join(body.split()) for name, body in _FORMULA.findall(code)}


def as_written(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers as their decimals read: Storm's can be a double or two beside the nearest one.

    Examples
    --------
    >>> as_written(np.array([np.nextafter(0.3, 0), 1 / 3])).tolist() == [0.3, 1 / 3]
    True
    """
    known, place = np.unique(numbers, return_inverse=True)
    short = np.array([float(f"{number:.14g}") for number in known.tolist()])
    return np.where(np.abs(short - known) <= 2 * np.spacing(known), short, known)[place]


@contextmanager
def _quiet(stormpy: Any) -> Iterator[None]:
    """Keep Storm's log off the terminal; its errors arrive as exceptions."""
    developer = stormpy.developer
    level = developer.get_log_level()
    developer.set_log_level(developer.LogLevel.OFF)
    try:
        yield
    finally:
        developer.set_log_level(level)


def _parse(stormpy: Any, written: Program) -> Any:
    with tempfile.TemporaryDirectory(prefix="umdp-") as folder:
        file = Path(folder, "model.prism")
        file.write_text(written.text, encoding="utf-8", newline="")
        return stormpy.parse_prism_program(str(file), prism_compatibility=True)


def _located(said: str, program: Any, written: Program | None) -> str:
    """Return an error about a command or an update with its line, where the message quotes one and there is no other like it."""
    if written is None:
        return said
    places = command_places(written.text)
    found = set()
    for module in program.modules:
        for command, place in zip(module.commands, places.get(module.name, ()), strict=False):
            quoted = [str(command), *(f"update {mark}{update}" for update in command.updates for mark in ("", "'"))]
            if any(each in said for each in quoted):
                found.add(written.text.count("\n", 0, place) + 1)
    text = re.sub(r"^\w*Exception: ", "", said.strip())
    return f"Error in model, line {found.pop()}: {text}" if len(found) == 1 else said


@contextmanager
def _translated(path: Path, written: Program | None) -> Iterator[None]:
    """Turn an error of Storm into one of this package, with the line where Storm names it: the author's line."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError) as error:
        text = re.sub(r"^\w*Exception: ", "", str(error).strip())
        text = re.sub(r"^[A-Za-z]+: (?=Parsing error)", "", text)
        line = None
        place = _PLACE.match(text)
        if place:
            line, column = int(place[1] or place[3]), int(place[2] or 1)
            if written is not None:
                line, column = written.place(line, column)
            text = (f"column {column}: " if place[2] else "") + place[4]
        said = " ".join(text.replace("^", " ").split()).rstrip(".,")
        hint = "; check the syntax, and that every name is declared" if place and place[1] else ""
        raise FormatError(f"{said}{hint}", path=path, line=line) from None


def undefined_constants(program: Any, names: Iterable[str], what: str, remedy: str, path: Path) -> dict[str, Any]:
    """Return all constants of a program, of which those of some names must be undefined: `what` is to be done with them."""
    declared = {constant.name: constant for constant in program.constants}
    for name in names:
        if name not in declared:
            known = ", ".join(n for n, c in declared.items() if not c.defined) or "none"
            raise FormatError(f"there is no constant {name} to {what}; undefined constants: {known}", path=path)
        if declared[name].defined:
            raise FormatError(f"constant {name} has a value in the file; remove it there to {remedy}", path=path)
    return declared


def _check_constants(program: Any, given: Mapping[str, Constant], path: Path) -> None:
    declared = undefined_constants(program, given, "define", "give another on the command line", path)
    for name in given:
        kind, value = declared[name].type, given[name]
        wanted = kind_of(kind)
        fits = {"bool": isinstance(value, bool), "int": isinstance(value, int) and not isinstance(value, bool)}
        if not fits.get(wanted, not isinstance(value, bool)):
            raise FormatError(f"constant {name} is of type {wanted}, but {value!r} was given", path=path)
    missing = [name for name, constant in declared.items() if not constant.defined and name not in given]
    if missing:
        shown = ",".join(f"{name}=VALUE" for name in missing)
        noun = "constant has" if len(missing) == 1 else "constants have"
        raise FormatError(
            f"{'these' if len(missing) > 1 else 'this'} {noun} no value: {', '.join(missing)}; give --const {shown}",
            path=path,
        )


def kind_of(kind: Any) -> str:
    """Return the type of a constant: bool, int or double."""
    for name, word in (("boolean", "bool"), ("integer", "int")):
        flag = getattr(kind, f"is_{name}", False)
        if flag() if callable(flag) else flag:
            return word
    return "double"


def everything(stormpy: Any) -> Any:
    """Return options to build all that there is to a program."""
    options = stormpy.BuilderOptions(build_full=True)
    options.set_build_all_labels(True)
    options.set_build_all_reward_models(True)
    options.set_build_state_valuations(True)
    options.set_build_choice_labels(True)
    return options


def _build(stormpy: Any, program: Any) -> bytes:
    model, builder, strict = None, stormpy.build_model, True
    while model is None:
        options = everything(stormpy)
        options.set_exploration_checks(strict)
        options.set_add_out_of_bounds_state(not strict)
        try:
            model = builder(program, options=options)
        except RuntimeError as error:
            text = str(error)
            if "interval" in text and "not supported" in text and builder is stormpy.build_model:
                builder = stormpy.build_model[stormpy.Interval]
            elif strict and _NEARLY_ONE.search(text):
                strict = False  # Storm's check does not allow for rounding; a wrong sum is found later
            else:
                raise
    if "out_of_bounds" in model.labeling.get_labels() and not strict:
        raise RuntimeError("a command gives a variable a value outside its range; widen the range or add a guard")
    export = stormpy.io.UmbExportOptions()
    export.compression = stormpy.io.CompressionMode.NO_COMPRESSION
    with tempfile.TemporaryDirectory(prefix="umdp-") as folder:
        file = Path(folder, "model.umb")
        stormpy.io.export_to_umb(model, str(file), options=export)
        return file.read_bytes()


def _jani_constants(path: Path) -> dict[str, Constant]:
    """Return the constants a JANI file gives as plain values; Storm does not tell them."""
    constants = msgspec.json.decode(decode_text(load(path), path), type=dict[str, Any]).get("constants", [])
    return {each["name"]: each["value"] for each in constants if isinstance(each.get("value"), bool | int | float)}


def _constant_values(program: Any, given: Mapping[str, Constant]) -> dict[str, Constant]:
    values: dict[str, Constant] = {}
    substituted = program.substitute_constants()
    for constant in substituted.constants:
        if constant.name in given:
            values[constant.name] = given[constant.name]
            continue
        expression = constant.definition
        kind = kind_of(constant.type)
        if kind == "bool":
            values[constant.name] = bool(expression.evaluate_as_bool())
        elif kind == "int":
            values[constant.name] = int(expression.evaluate_as_int())
        else:
            values[constant.name] = float(Fraction(str(expression.evaluate_as_rational())))
    return values
