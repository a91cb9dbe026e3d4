"""Properties from the command line, where some of what is given are files of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umdp.errors import SpecError

if TYPE_CHECKING:
    from umdp.io.properties import PropertyFile
    from umdp.spec import Spec

__all__ = ["expanded"]


def expanded(
    given: Sequence[str], constants: str, refused: list[str]
) -> tuple[list[tuple[str, Spec]], list[PropertyFile], str]:
    """Return properties with their text, the files they are from, and the constants that are left for the model.

    Where no file is given nothing is read, and nothing returned. What is wrong with properties of files that cannot be read is
    added to `refused`: it does not cost the answers to the others.
    """
    from umdp.io import parse_constants
    from umdp.io.constants import format_constants
    from umdp.io.files import is_property_file
    from umdp.io.properties import read_properties
    from umdp.spec import Spec

    asked: list[tuple[str, Spec]] = []
    files: list[PropertyFile] = []
    if not any(is_property_file(text) for text in given):
        return asked, files, constants
    values = parse_constants(constants)
    used: set[str] = set()
    for text in given:
        if not is_property_file(text):
            asked.append((text, Spec.parse(text)))
            continue
        lacking = read_properties(text, refused=[]).undefined
        used.update(lacking)
        file = read_properties(text, {name: values[name] for name in lacking if name in values}, refused)
        if file.undefined:
            names = ", ".join(file.undefined)
            raise SpecError(f"{text}: {names} has no value; give it one: --const {file.undefined[0]}=VALUE")
        files.append(file)
        asked += [(str(spec), spec) for spec in file.specs]
    return asked, files, format_constants({name: value for name, value in values.items() if name not in used})
