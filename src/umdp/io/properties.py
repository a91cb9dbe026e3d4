"""Files of properties (.props, .pctl): several of them, with constants and labels of their own, that may name each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from umdp.errors import FormatError, SpecError, UmdpError
from umdp.model import MDP, IntervalMDP
from umdp.spec import Spec
from umdp.spec.evaluate import Nested, constant, mapped
from umdp.spec.expression import Expression, Label

__all__ = ["PropertyFile", "name_of", "read_properties"]

Scalar = bool | int | float
_CONSTANT = re.compile(r"const\s+(?:(int|double|bool)\s+)?([A-Za-z_]\w*)\s*(?:=\s*(.*))?$", re.DOTALL)
_LABEL = re.compile(r'label\s+"([^"]*)"\s*=\s*(.*)$', re.DOTALL)
_TITLE = re.compile(r'(?:\s|//[^\n]*\n)*"([^"\n]*)"\s*:')


@dataclass(frozen=True)
class PropertyFile:
    """Properties as a file gives them.

    Attributes
    ----------
    path : the file
    properties : each with its line and its name, where it has one
    labels : named state formulas
    constants : those with a value
    undefined : names of constants that still need one
    """

    path: str
    properties: tuple[tuple[int, str | None, Spec], ...]
    labels: Mapping[str, Expression]
    constants: Mapping[str, Scalar]
    undefined: tuple[str, ...] = ()

    @property
    def declared(self) -> set[str]:
        """The names of its constants."""
        return {*self.constants, *self.undefined}

    @property
    def specs(self) -> list[Spec]:
        """The properties alone."""
        return [spec for _, _, spec in self.properties]

    def applied(self, model: MDP | IntervalMDP) -> MDP | IntervalMDP:
        """Return a model that knows the file's constants and labels beside its own; both may have one constant."""
        lacking = [name for name in self.undefined if name not in model.constants]
        if lacking:
            names = ", ".join(lacking)
            raise SpecError(f"{self.path}: {names} has no value; give it one: --const {lacking[0]}=VALUE")
        for name, value in self.constants.items():
            if name in model.variables:
                raise FormatError(f"{self.path}: the constant {name} is a name of the model already; rename it")
            if model.constants.get(name, value) != value:
                raise FormatError(
                    f"{self.path}: the constant {name} is {value} here, and {model.constants[name]} in the model; rename it, or "
                    "give both one value"
                )
        if not self.labels and not self.constants:
            return model
        known = replace(model, constants={**self.constants, **model.constants})
        for name, expression in self.labels.items():
            if name in model.labels:
                raise FormatError(f'{self.path}: the model has a label "{name}" already; rename it')
            known = replace(known, labels={**known.labels, name: expression.evaluate(known)})
        return known


def read_properties(
    path: str | PathLike[str], constants: Mapping[str, Scalar] | None = None, refused: list[str] | None = None
) -> PropertyFile:
    r"""Return the properties of a file; `constants` are values for those that have none in it.

    A property that cannot be read raises `SpecError`; where there is a list `refused`, what is wrong with it goes there, and the
    others are returned.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.props")
    ...     _ = path.write_text('const int k = 3; "soon": Pmax=? [ F<=k "goal" ]; Rmin=? [ C<=2*k ]')
    ...     [str(spec) for spec in read_properties(path).specs]
    ['Pmax=? [ F<=k "goal" ]', 'Rmin=? [ C<=(2 * k) ]']
    """
    place, given = str(path), dict(constants or {})
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise FormatError(f"{place}: cannot be read: {reason}") from None
    known: dict[str, Scalar] = {}
    undefined: list[str] = []
    labels: dict[str, Expression] = {}
    found: list[tuple[int, str | None, Spec]] = []
    for line, statement in _statements(text):
        try:
            if match := _CONSTANT.match(statement):
                _define(match, known, undefined, given)
            elif match := _LABEL.match(statement):
                labels[match[1]] = Expression.parse(match[2])
            elif re.match(r"(const|label|formula|rewards|module)\b", statement):
                raise SpecError(f"{statement.split()[0]} is not read here; there are const, label and properties")
            else:
                found.append((line, name_of(statement), Spec.parse(statement)))
        except UmdpError as error:
            said = f"{place}, line {line}: {error}"
            if refused is None or re.match(r"(const|label|formula|rewards|module)\b", statement):
                raise SpecError(said) from None
            refused.append(said)
    if not found and not refused:
        raise FormatError(f"{place}: there is no property in it")
    return PropertyFile(place, tuple(_linked(found)), labels, known, tuple(undefined))


def name_of(text: str) -> str | None:
    """Return the name that stands before a property; None where it has none.

    Examples
    --------
    >>> name_of('"soon": Pmax=? [ F<=3 "goal" ]'), name_of('Pmax=? [ F "goal" ]')
    ('soon', None)
    """
    title = _TITLE.match(text)
    return None if title is None else title[1]


def _define(match: re.Match[str], known: dict[str, Scalar], undefined: list[str], given: dict[str, Scalar]) -> None:
    kind, name, value = match[1] or "int", match[2], match[3]
    if name in known or name in undefined:
        raise SpecError(f"the constant {name} is defined twice")
    if value is None and name not in given:
        undefined.append(name)
        return
    number = given[name] if value is None else constant(Expression.parse(value), known, {})
    if (kind == "bool") != isinstance(number, bool) or (kind == "int" and not isinstance(number, int)):
        raise SpecError(f"the constant {name} is {str(number).lower()}, which is no {kind}")
    known[name] = float(number) if kind == "double" else number


def _linked(found: list[tuple[int, str | None, Spec]]) -> Iterator[tuple[int, str | None, Spec]]:
    """Yield the properties with the names of earlier ones replaced by what they say."""
    named: dict[str, Spec] = {}
    for line, name, spec in found:

        def meant(part: Expression) -> Expression:
            if isinstance(part, Label) and part.name in named and named[part.name].threshold is not None:
                return Nested(named[part.name], location=part.location)
            return part

        linked = replace(spec, formula=mapped(spec.formula, meant))
        if name is not None:
            named[name] = linked
        yield line, name, linked


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, statement); a statement ends with a semicolon, a property also at the end of its line."""
    plain = re.sub(r'("[^"\n]*")|//[^\n]*', lambda match: match[1] or "", text)
    begun, depth, quoted, now = 1, 0, False, ""
    line = 1
    for character in plain + "\n":
        if not now.strip():
            begun, now = line, ""
        quoted = quoted != (character == '"')
        if not quoted:
            depth += (character in "[({") - (character in "])}")
        closes = character == "\n" and depth <= 0 and now.rstrip()[-1:] in ("]", ")")
        declares = re.match(r"\s*(const|label|formula)\b", now) is not None
        if (character == ";" and not quoted) or (closes and not declares):
            if now.strip():
                yield begun, now.strip()
            now, depth = "", 0
        else:
            now += character
        line += character == "\n"
    if now.strip():
        yield begun, now.strip()
