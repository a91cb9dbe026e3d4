"""Models and policies in files: PRISM programs and JANI (through Storm), PRISM explicit, DRN, UMB and others; JSON and CSV.

What each format holds:

- ``.umb`` everything a model has, in binary; the fastest.
- ``.drn`` everything but rewards on transitions.
- ``.tra`` everything but state names, constants and formulas (left out), and rewards of one structure on both choices
  and transitions (refused).
- ``.nc`` (IntervalMDP.jl, with the extra ``netcdf``) bounds, labels, action names, and rewards but on transitions.
- ``.txt`` (bmdp-tool) bounds and one label, for terminal states; state 0 is initial.

The label ``init`` stands for the initial state in all of them and is not among the labels of a model that was read.
An unnamed reward structure has the name ``""``, an unnamed action of a model with action names the name ``""``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.errors import FormatError

if TYPE_CHECKING:
    from umdp.io.properties import PropertyFile
    from umdp.model import MDP, Graph, IntervalMDP, Policy
    from umdp.parametric.model import ParametricMDP

__all__ = [
    "parse_constants", "read", "read_parametric", "read_policy", "read_properties", "write", "write_policy",
]  # fmt: skip

PathLike = str | os.PathLike[str]

# Modules of this package, which are imported when they are needed, and functions in them.
_READERS = {
    ".umb": "umb_read.read_umb", ".drn": "drn_read.read_drn", ".tra": "explicit_read.read_explicit",
    ".nc": "netcdf.read_netcdf", ".txt": "bmdp.read_bmdp",
}  # fmt: skip
_WRITERS = {
    ".umb": "umb_write.write_umb", ".drn": "drn_write.write_drn", ".tra": "explicit_write.write_explicit",
    ".nc": "netcdf.write_netcdf", ".txt": "bmdp.write_bmdp",
}  # fmt: skip


def read(
    path: PathLike, *, constants: str | Mapping[str, int | float | bool] = "", asked: Collection[str] = ()
) -> MDP | IntervalMDP:
    """Return the model in a file; what it is goes by the name's ending.

    Parameters
    ----------
    path : str or path
        PRISM language (.prism, .nm, .pm) and JANI (.jani), both with the extra ``storm``; PRISM explicit (.tra, with
        .lab, .sta, .srew and .trew beside it); DRN (.drn); UMB (.umb); IntervalMDP.jl (.nc, with a specification in .json
        beside it); bmdp-tool (.txt).
    constants : str or mapping
        Values for a program's undefined constants, such as ``"K=2,err=.2"``.
    asked : collection of str
        Names that a property uses: constants of these names need not be the program's, and the model knows them all the same.

    Raises
    ------
    FormatError
        If the file is missing, of an unknown kind or malformed; the message names the place and the remedy.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    from umdp.io.files import PROGRAMS, SUFFIXES, load

    if suffix not in SUFFIXES:
        if path.is_dir() or not path.exists():
            load(path)  # says what is wrong with it
        raise FormatError(f"{_shown(suffix)}; a model has one of {', '.join(SUFFIXES)}", path=path)
    given = parse_constants(constants)
    if suffix in PROGRAMS:
        from umdp.io.storm import read_program

        return with_constants(read_program(path, given, asked), given)
    if own := [name for name in given if name not in asked]:
        raise FormatError(
            f"constants ({', '.join(own)}) can only be given to programs ({', '.join(PROGRAMS)})", path=path
        )
    model: MDP | IntervalMDP = _function(_READERS[suffix])(path)
    return with_constants(model, given)


def with_constants(model: MDP | IntervalMDP, given: Mapping[str, int | float | bool]) -> MDP | IntervalMDP:
    """Return a model that knows constants of which only a property speaks, too.

    Examples
    --------
    >>> from umdp import MDP
    >>> dict(with_constants(MDP([0, 1], [0, 1], [0], [1.0]), {"k": 3}).constants)
    {'k': 3}
    """
    more = {name: value for name, value in given.items() if name not in model.constants}
    taken = next((name for name in more if name in model.variables or name in model.formulas), None)
    if taken is not None:
        raise FormatError(
            f"{taken} is a name of the model already, and no constant; leave its value out", path="constants"
        )
    return replace(model, constants={**model.constants, **more}) if more else model


def read_parametric(
    path: PathLike,
    unknown: str | Iterable[str] | Mapping[str, tuple[float, float]],
    constants: str | Mapping[str, int | float | bool] = "",
) -> ParametricMDP:
    """Return the model of a program some of whose constants are unknown: its probabilities are functions of them.

    Parameters
    ----------
    path : str or path
        PRISM language (.prism, .nm, .pm) or JANI (.jani), with the extra ``storm``.
    unknown : str, names or mapping
        The unknown constants, and the ends between which each lies: ``"p=0.5:1,q"``. Without ends they are 0 and 1.
    constants : str or mapping
        Values for the other constants that the program leaves undefined, such as ``"N=16,MAX=2"``.

    Raises
    ------
    FormatError
        If an unknown constant is anything but part of a probability; the message names the place and the remedy.
    """
    from umdp.io.files import PROGRAMS
    from umdp.io.parametric import read_parametric_program

    if Path(path).suffix.lower() not in PROGRAMS:
        raise FormatError(f"only programs ({', '.join(PROGRAMS)}) have constants that can be unknown", path=path)
    return read_parametric_program(Path(path), unknown, constants)


def write(model: MDP | IntervalMDP, path: PathLike, note: str = "") -> None:
    """Write a model to a .umb, .drn, .tra, .nc or .txt file; what the format cannot hold raises `FormatError`.

    A note, such as what is promised of a learned model, is kept in .umb and .drn files; others have no place for one.

    Examples
    --------
    >>> import tempfile
    >>> from umdp import MDP
    >>> model = MDP([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.25, 0.75, 1], labels={"goal": [1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(model, Path(folder, "walk.drn"))
    ...     read(Path(folder, "walk.drn"))
    MDP with 2 states, 2 choices, 3 transitions; initial state 0; labels "goal"
    """
    path = Path(path)
    suffix = path.suffix.lower()
    from umdp.io.files import check_folder

    if not hasattr(model, "probability") and not hasattr(model, "lower"):
        raise FormatError("a graph has no probabilities; write an MDP or an IntervalMDP", path=path)
    check_folder(path)
    if suffix not in _WRITERS:
        raise FormatError(f"{_shown(suffix)}; a model is written as .umb, .drn, .tra, .nc or .txt", path=path)
    _function(_WRITERS[suffix])(model, path, *([note] if suffix in (".umb", ".drn") else []))


def write_policy(policy: Policy, path: PathLike, about: Mapping[str, Any] | None = None) -> None:
    """Write a policy as .json, .csv or .py: one decision per state (and step), with state and action names.

    What there is to know `about` it, such as its value and what is promised of that, is kept in .json and .py files. A
    .py file is a program with a function ``act(state, step=0)``; it is not read back.

    Examples
    --------
    >>> import tempfile
    >>> from umdp import Graph, Policy
    >>> graph = Graph([0, 2, 3], [0, 2, 3, 4], [0, 1, 1, 1], actions=["try", "go", "stay"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_policy(Policy(graph, [1, 2]), Path(folder, "policy.csv"))
    ...     print(Path(folder, "policy.csv").read_text())
    state,action,number,choice
    0,go,0,1
    1,stay,1,0
    """
    from umdp.io.policy_files import write_policy_file

    write_policy_file(policy, Path(path), about)


def read_policy(path: PathLike, graph: Graph) -> Policy:
    """Return the policy for `graph` in a .json or .csv file.

    States and actions are found by name; where names are missing or shared, by the state's number and the choice's
    number within its state. States of data ("anything else", the one before an episode) need no counterpart in the graph, and
    states with one choice no decision.
    """
    from umdp.io.policy_files import read_policy_file

    return read_policy_file(Path(path), graph).policy


def policy_about(path: PathLike) -> dict[str, Any]:
    """Return what a .json file says about its policy, such as the property it was found for; nothing for other files."""
    from umdp.io.policy_files import read_about

    return read_about(Path(path))


def parse_constants(given: str | Mapping[str, int | float | bool]) -> dict[str, int | float | bool]:
    """Return the constants named in a text such as ``K=2,err=.2,flag=true``.

    Examples
    --------
    >>> parse_constants("K=2,err=.2")
    {'K': 2, 'err': 0.2}
    """
    from umdp.io import constants

    return constants.parse_constants(given)


def read_properties(path: PathLike, constants: Mapping[str, int | float | bool] | None = None) -> PropertyFile:
    """Return the properties of a .props file, with its labels and constants; `constants` are values for undefined ones."""
    from umdp.io import properties

    return properties.read_properties(path, constants)


def _function(place: str) -> Callable[..., Any]:
    module, name = place.split(".")
    function: Callable[..., Any] = getattr(import_module(f"umdp.io.{module}"), name)
    return function


def _shown(suffix: str) -> str:
    return f"files ending in {suffix} are not known" if suffix else "the name has no ending"
