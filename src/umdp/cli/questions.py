"""What `umdp check` is asked: properties as typed, those of files, or, where none is typed, those that come with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from umdp.errors import FormatError, ModelError, SpecError

if TYPE_CHECKING:
    from umdp.cli.checked import Checked

__all__ = ["ENDINGS", "Questions", "beside", "own_question", "questions"]

ENDINGS = (".props", ".pctl", ".csl", ".prop")


@dataclass(frozen=True)
class Questions:
    """What is asked.

    Attributes
    ----------
    texts : the properties
    places : for each, the file and line it is from; empty where it was typed
    names : for each, what its file calls it
    own : constants given on the command line that belong to files of properties
    found : the file beside the model that they are from, if nobody named it
    """

    texts: tuple[str, ...]
    places: tuple[str, ...]
    names: tuple[str, ...]
    own: frozenset[str] = frozenset()
    found: str = ""


def questions(model: str, typed: Sequence[str], constants: str) -> Questions:
    """Return the properties that were typed, those of a file for its name; if there are none, those beside the model.

    Files are found as PRISM names them: ``model.prism.props`` or ``model.props`` beside ``model.prism`` is taken. Where there
    is none of these, but others such as ``model.prism.more.props``, the message lists them.
    """
    taken = ""
    if not typed and (found := beside(model)):
        plain = [each for each in found if each.stem in (Path(model).name, Path(model).stem)]
        if len(plain or found) > 1:
            names = ", ".join(map(str, plain or found))
            raise ModelError(f"say what to ask of {model}: a property, or one of the files beside it ({names})")
        taken = str((plain or found)[0])
        typed = [taken]
    texts: list[str] = []
    places: list[str] = []
    names_of: list[str] = []
    own: frozenset[str] = frozenset()
    for each in typed:
        if not each.endswith(ENDINGS) or "[" in each:
            texts.append(each)
            places.append("")
            names_of.append("")
            continue
        listed, used = _listed(Path(each), constants)
        texts += [one[1] for one in listed]
        places += [one[0] for one in listed]
        names_of += [one[2] for one in listed]
        own |= used
    return Questions(tuple(texts), tuple(places), tuple(names_of), own, taken)


def beside(model: str) -> list[Path]:
    """Return the files of properties that lie beside a model and have its name.

    Examples
    --------
    >>> beside("nowhere/model.prism")
    []
    """
    path = Path(model)
    if not path.is_file():
        return []
    known = [each for each in path.parent.iterdir() if each.suffix in ENDINGS and each.is_file()]
    close = [each for each in known if each.name.startswith(f"{path.name}.") or each.stem == path.stem]
    return sorted(close)


def own_question(model: str, checked: Checked) -> str:
    """Return the property that belongs to a model: what a run was learned for, a benchmark's, or IntervalMDP.jl's beside it."""
    from umdp.benchmark import BENCHMARKS
    from umdp.spec import Spec

    if checked.origin is not None:
        return str(Spec.parse(checked.origin.question).robust())
    if model in BENCHMARKS and not Path(model).is_file():
        return str(BENCHMARKS[model].spec)
    reason = ""
    if Path(model).suffix == ".nc":
        from umdp.io.intervalmdp_spec import read_specification

        asked = read_specification(Path(model).with_suffix(".json"), checked.model.states)
        if asked is not None and asked.property is not None:
            return asked.property
        reason = "" if asked is None else f"; {Path(model).with_suffix('.json')}: {asked.reason}"
    label = next((name for name in checked.model.labels if name != "deadlock"), "goal")
    players = "maxmin" if hasattr(checked.model, "lower") and not checked.model.is_chain else "max"
    raise ModelError(
        f"say what to ask of {model}: a property such as 'P{players}=? [ F \"{label}\" ]' after it{reason}"
    )


def _listed(path: Path, constants: str) -> tuple[list[tuple[str, str, str]], frozenset[str]]:
    """Return the properties of a file, each with its place and name, and which constants are its own."""
    from umdp.io.constants import parse_constants
    from umdp.io.files import load
    from umdp.io.tokens import decode_text
    from umdp.spec.properties_file import properties_of

    text = decode_text(load(path), path)
    try:
        listed, used = properties_of(text, parse_constants(constants))
    except SpecError as error:
        raise FormatError(str(error), path=path) from None
    if not listed:
        raise FormatError("there is no property in this file", path=path)
    return [(f"{path}, line {each.line}", each.text, each.name) for each in listed], used
