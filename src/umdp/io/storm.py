"""Reading PRISM and JANI programs: Storm builds the model, its arrays come over in one piece."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from umdp.errors import FormatError, MissingExtra
from umdp.io.constants import Constant, format_constants, parse_constants
from umdp.io.files import Model, load
from umdp.io.tokens import decode_text
from umdp.io.umb_read import decode

__all__ = ["everything", "formulas", "kind_of", "parsed_program", "read_program"]

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*')
_FORMULA = re.compile(r"\bformula\s+([A-Za-z_]\w*)\s*=\s*([^;]*);")
_PLACE = re.compile(r"(?:Parsing error at (\d+):(\d+):|Error in .*?, line (\d+)):?\s*(.*)", re.DOTALL)
_SUPPORTED = ("DTMC", "MDP")


def read_program(path: Path, constants: str | Mapping[str, Constant] = "") -> Model:
    """Return the model a PRISM program or a JANI file describes, all of its reachable states built.

    Parameters
    ----------
    path : Path
        A file in the PRISM language, or a JANI file (named .jani).
    constants : str or mapping
        Values for the constants the program leaves undefined.
    """
    given = parse_constants(constants)
    text = decode_text(load(path), path)
    jani = path.suffix == ".jani"
    with parsed_program(path) as (stormpy, program):
        _check_constants(program, given, path)
        program = stormpy.instantiate_constants(program, format_constants(given))[0]
        data = _build(stormpy, program)
        values = _jani_constants(text) | given if jani else _constant_values(program, given)
    # Storm takes an interval whose ends are the wrong way round for the empty one, and writes that as [0,0].
    zero = "a command has the interval [0,0] or one whose lower bound is above its upper bound; correct or remove it"
    return decode(data, path, zero=zero, constants=values, formulas={} if jani else formulas(text))


@contextmanager
def parsed_program(path: Path) -> Iterator[tuple[Any, Any]]:
    """Give Storm and the program in a file; while it is used, what Storm finds wrong with it is said as the file's fault."""
    try:
        import stormpy
    except ImportError:
        raise MissingExtra("storm", "reading PRISM programs") from None
    with _quiet(stormpy), _translated(path):
        if path.suffix == ".jani":
            program = stormpy.io.parse_jani_model(str(path))[0]
        else:
            program = stormpy.parse_prism_program(str(path), prism_compatibility=True)
        kind = program.model_type.name
        if kind not in _SUPPORTED:
            raise FormatError(f"the model is a {kind.lower()}; supported are dtmc and mdp", path=path)
        yield stormpy, program


def formulas(text: str) -> dict[str, str]:
    r"""Return the formulas of a PRISM program by name.

    Examples
    --------
    >>> formulas("mdp // formula no = 1;\nformula done = x=3 &\n y=2; module m ...")
    {'done': 'x=3 & y=2'}
    """
    code = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return {name: " ".join(body.split()) for name, body in _FORMULA.findall(code)}


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


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn an error of Storm into one of this package, with the line where Storm names it."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError) as error:
        text = re.sub(r"^\w*Exception: ", "", str(error).strip())
        text = re.sub(r"^[A-Za-z]+: (?=Parsing error)", "", text)
        line = None
        place = _PLACE.match(text)
        if place:
            line = int(place[1] or place[3])
            text = (f"column {place[2]}: " if place[2] else "") + place[4]
        said = " ".join(text.replace("^", " ").split()).rstrip(".,")
        hint = ""
        if "expecting <model type>" in said:
            hint = "; the program must start with the type of the model, dtmc or mdp"
        elif "expecting" in said:
            hint = "; check the syntax, and that names are declared before they are used"
        raise FormatError(f"{said}{hint}", path=path, line=line) from None


def _check_constants(program: Any, given: Mapping[str, Constant], path: Path) -> None:
    declared = {constant.name: constant for constant in program.constants}
    for name in given:
        if name not in declared:
            known = ", ".join(n for n, c in declared.items() if not c.defined) or "none"
            raise FormatError(f"there is no constant {name} to define; undefined constants: {known}", path=path)
        if declared[name].defined:
            raise FormatError(
                f"constant {name} has a value in the file; remove it there to give another on the command line",
                path=path,
            )
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
            elif "actually sum to 1)" in text and strict:
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


def _jani_constants(text: str) -> dict[str, Constant]:
    """Return the constants a JANI file gives as plain values; Storm does not tell them."""
    constants = msgspec.json.decode(text, type=dict[str, Any]).get("constants", [])
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
