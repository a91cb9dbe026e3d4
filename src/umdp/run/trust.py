"""What files name and nobody has typed: code that would be executed, files that would be written. Done only if trusted."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from umdp.errors import UmdpError
from umdp.run.config import Config
from umdp.run.log_settings import LogSettings
from umdp.source.resolve import is_plugin, plugin_file, resolve

__all__ = ["Untrusted", "foreign", "require", "require_description", "require_experiment"]


class Untrusted(UmdpError):
    """A file names code from elsewhere, or a file to be written, and nobody has said that this may be done."""


def foreign(config: Config, holder: str = "run") -> list[str]:
    """Return what code from elsewhere a run would execute, a line each; nothing is read but the files named.

    `holder` is the word for what the configuration was read from.

    Examples
    --------
    >>> from umdp.run import Config
    >>> foreign(Config(model="grid")), foreign(Config(model="gym:FrozenLake-v1"))
    ([], [])
    >>> foreign(Config(model="gym:my_module:Maze-v0"))
    ['the module my_module is imported, for the environment Maze-v0']
    """
    said = []
    uses = {
        "model": config.model,
        "later process": config.switch,
        "learner": config.learner,
        "explorer": config.explore,
        "ties": config.tie,
        "graph": config.data.graph,
    }
    for file in dict.fromkeys(plugin_file(name) for name in uses.values() if name is not None and is_plugin(name)):
        named = [
            f"the {what} {name.rpartition(':')[2]}"
            for what, name in uses.items()
            if name is not None and is_plugin(name) and plugin_file(name) == file
        ]
        said.append(f"{_code(file, config.plugins.get(file), holder)}, for {' and '.join(named)}")
    for name in (config.model, config.switch or ""):
        if (module := resolve(name).module) is not None:
            id = resolve(name).identity({})[0]
            said.append(f"the module {module} is imported, for the environment {id.partition(':')[2]}")
    return said


def _code(file: str, stored: str | None, holder: str) -> str:
    try:
        here = Path(file).read_bytes()
    except OSError:
        here = None
    if stored is None:
        digest = "which is not here" if here is None else f"sha256 {hashlib.sha256(here).hexdigest()}"
        return f"the file {file} is executed ({digest})"
    text = stored.encode()
    if holder != "run":
        return f"the file {file} is executed (sha256 {hashlib.sha256(text).hexdigest()})"
    same = (
        "no such file is here"
        if here is None
        else "the file here is the same"
        if here == text
        else "the file here DIFFERS"
    )
    return (
        f"the text of {file} that is stored in the run is executed (sha256 {hashlib.sha256(text).hexdigest()}; {same})"
    )


def require(config: Config, path: object, *, trusted: bool, writes: bool = False) -> None:
    """Raise `Untrusted` if going on with a run would execute code from elsewhere, and that is not trusted.

    `writes` says whether it would also write the file for rejected rows that the run names.
    """
    said = foreign(config)
    if writes and config.data.aside is not None:
        said.append(f"the file {config.data.aside} is written, with rows that are rejected")
    show = f"`umdp show {shlex.quote(str(path))} --json` prints what is stored; if you trust it, add --trust"
    _refuse(
        said,
        f"{path}: going on with this run does what it names, and nobody has typed",
        f"Nothing was done. {show}",
        trusted,
    )


def require_experiment(configs: Iterable[Config], path: object, *, trusted: bool) -> None:
    """Raise `Untrusted` if an experiment file names code, and that is not trusted."""
    said = list(dict.fromkeys(line for config in configs for line in foreign(config, "experiment")))
    head = f"{path}: this experiment executes code that nobody has typed"
    _refuse(said, head, "Nothing was executed. If you trust it, add --trust", trusted)


def require_description(typed: LogSettings, described: LogSettings, path: Path, *, trusted: bool) -> None:
    """Raise `Untrusted` if the description of a log names code, or files that are not its own, and that is not trusted.

    It may name columns, labels and rewards, and a file with what can happen that lies beside it. What is typed is typed.
    """
    said, remedy = [], []
    if described.aside is not None and typed.aside is None:
        said.append(f"the file {described.aside} is written, with rows that are rejected")
        remedy.append("--aside FILE")
    graph = described.graph
    if graph is not None and typed.graph is None:
        if is_plugin(graph):
            said.append(f"{_code(plugin_file(graph), None, 'description')}, for the graph {graph.rpartition(':')[2]}")
            remedy.append("--graph FILE.py:NAME")
        elif not _is_beside(Path(graph), path):
            said.append(f"the file {graph} is read, for the graph; it does not lie in the folder of the description")
            remedy.append("--graph FILE")
    head = f"{path}: the description of a log may name columns, and this one names what nobody has typed"
    tail = f"Nothing was done. Type it yourself ({', '.join(remedy)}), or, if you trust the file, add --trust"
    _refuse(said, head, tail, trusted)


def _refuse(said: Sequence[str], head: str, tail: str, trusted: bool) -> None:
    """Raise `Untrusted` with what would be done, a line each, if that is anything and not trusted."""
    if said and not trusted:
        raise Untrusted("\n".join([f"{head}:", *(f"  {line}" for line in said), tail]))


def _is_beside(file: Path, description: Path) -> bool:
    """Whether a file lies in the folder of a description, or below it; a name of something else does."""
    if not file.suffix:
        return True
    try:
        return file.resolve().is_relative_to(description.parent.resolve())
    except (OSError, RuntimeError, ValueError):
        return False
