"""Which code from elsewhere going on with a run would execute: said before anything is, and done only if trusted."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from umdp.errors import UmdpError
from umdp.run.plugin import is_plugin, plugin_file
from umdp.source.environments import naming

if TYPE_CHECKING:
    from umdp.run.config import Config

__all__ = ["Untrusted", "foreign", "require"]


class Untrusted(UmdpError):
    """A run names code from elsewhere, and nobody has said that it may be executed."""


def foreign(config: Config) -> list[str]:
    """Return what code from elsewhere a run would execute, a line each; nothing is read but the files named.

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
        said.append(f"{_code(file, config.plugins.get(file))}, for {' and '.join(named)}")
    for name in (config.model, config.switch or ""):
        if naming.is_environment(name) and (module := naming.named(name).module) is not None:
            said.append(
                f"the module {module} is imported, for the environment {naming.named(name).id.partition(':')[2]}"
            )
    return said


def _code(file: str, stored: str | None) -> str:
    try:
        here = Path(file).read_bytes()
    except OSError:
        here = None
    if stored is None:
        digest = "which is not here" if here is None else f"sha256 {hashlib.sha256(here).hexdigest()}"
        return f"the file {file} is executed ({digest})"
    text = stored.encode()
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


def require(config: Config, path: object, *, trusted: bool) -> None:
    """Raise `Untrusted` if going on with a run would execute code from elsewhere and that is not trusted."""
    said = foreign(config)
    if said and not trusted:
        raise Untrusted(
            f"{path}: going on with this run executes code from elsewhere:\n"
            + "".join(f"  {line}\n" for line in said)
            + f"Nothing was executed. `umdp show {shlex.quote(str(path))} --json` prints what is stored; if you trust it, "
            "add --trust"
        )
