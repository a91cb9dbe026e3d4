"""What `umdp check` is asked where no property is typed: what comes with the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from umdp.errors import ModelError

if TYPE_CHECKING:
    from umdp.cli.checked import Checked

__all__ = ["beside", "own_question", "properties_beside"]


def properties_beside(model: str) -> str:
    """Return the file of properties beside a model, an empty text if there is none.

    It is found as PRISM names it: ``model.prism.props`` or ``model.props`` beside ``model.prism``. Where there is neither, but
    several such as ``model.prism.more.props``, the message lists them.
    """
    found = beside(model)
    plain = [each for each in found if each.stem in (Path(model).name, Path(model).stem)]
    if len(plain or found) > 1:
        names = ", ".join(map(str, plain or found))
        raise ModelError(f"say what to ask of {model}: a property, or one of the files beside it ({names})")
    return str((plain or found)[0]) if found else ""


def beside(model: str) -> list[Path]:
    """Return the files of properties that lie beside a model and have its name.

    Examples
    --------
    >>> beside("nowhere/model.prism")
    []
    """
    from umdp.io.files import is_property_file

    path = Path(model)
    if not path.is_file():
        return []
    known = [each for each in path.parent.iterdir() if is_property_file(each.name) and each.is_file()]
    return sorted(each for each in known if each.name.startswith(f"{path.name}.") or each.stem == path.stem)


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
