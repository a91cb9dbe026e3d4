"""How a log is to be read, as typed or as written in a small file beside it."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from umdp.errors import FormatError, ModelError, misfit
from umdp.model import Graph
from umdp.source import Source
from umdp.source.resolve import resolve

__all__ = ["LogSettings", "beside", "check_settings", "read_description"]

ON_ERROR = ("fail", "skip", "chance")


class LogSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a log is to be read.

    Attributes
    ----------
    columns : the names of the columns trajectory, state, action, next and end, where they have others
    labels : by name, a list of states, patterns, ``column:NAME`` and ``next:NAME``
    rewards : by name, ``COLUMN``, ``mean:COLUMN``, a number, or numbers by states
    initial : the initial state, or ``observed``
    terminal : states that end trajectories, though the log does not say so
    aside : a file for rows that are rejected
    graph : where the graph is from, if not from the log: a model, ``FILE.py:NAME``, or a CSV of state, action and next
    encoding : of its text; None where that is to be found out
    decimal : what stands before decimals, "," or "."; None where that is to be found out
    described : the file in which some of this was written
    """

    columns: dict[str, str] = {}
    labels: dict[str, list[str]] = {}
    rewards: dict[str, str | float | dict[str, float]] = {}
    initial: str | None = None
    terminal: list[str] = []
    aside: str | None = None
    graph: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    described: str | None = None

    @property
    def given(self) -> list[str]:
        """The options that were given, as they are typed."""
        typed = {"labels": "label", "rewards": "reward", "described": "describe"}
        return [f"--{typed.get(name, name)}" for name in self.__struct_fields__ if getattr(self, name)]

    @property
    def wanted(self) -> dict[str, Any]:
        """What a graph made from a log is to have; nothing that was not given."""
        found = {name: getattr(self, name) for name in ("labels", "rewards", "initial", "terminal")}
        return {name: value for name, value in found.items() if value}

    def over(self, other: LogSettings) -> Self:
        """Return these settings, completed by others where they say nothing."""
        merged: dict[str, Any] = {}
        for name in self.__struct_fields__:
            own, more = getattr(self, name), getattr(other, name)
            merged[name] = {**more, **own} if isinstance(own, dict) else own or more
        return type(self)(**merged)

    def open(self, log: Any, name: str | None, graph: Graph | None, *, follow: bool, on_error: str) -> Source:
        """Return a log or stream that is read so, with the graph of a name, or its own without one."""
        from umdp.source import open_log

        wanted = {} if name is not None and resolve(name).recorded else self.wanted
        return open_log(
            log, graph, follow=follow, on_error=on_error, columns=self.columns, rejected=self.aside, encoding=self.encoding,
            decimal=self.decimal, **wanted,
        )  # fmt: skip

    def as_read(self, source: Source) -> Self:
        """Return these settings with what was found out of how a log is written, so that a run goes on reading it so."""
        from umdp.source import Log

        if not isinstance(source, Log):
            return self
        found = {"encoding": source.encoding, "decimal": source.decimal}
        unusual = {name: sign for name, sign in found.items() if sign not in (None, "utf-8", ".")}
        return msgspec.structs.replace(self, **unusual)

    def unlabelled(self) -> Self:
        """Return these settings without what only a graph made from a log is given."""
        return msgspec.structs.replace(self, labels={}, rewards={}, initial=None, terminal=[])

    def words(self) -> list[str]:
        """Return these settings in words, a line each.

        Examples
        --------
        >>> LogSettings(columns={"next": "after"}, labels={"failed": ["fail*"]}).words()
        ['columns: next is after', 'label "failed": fail*']
        """
        said = []
        if self.described:
            said.append(f"described by {self.described}")
        if self.columns:
            said.append("columns: " + ", ".join(f"{role} is {name}" for role, name in self.columns.items()))
        said += [f'label "{name}": {", ".join(states)}' for name, states in self.labels.items()]
        said += [f'reward "{name}": {_shown(given)}' for name, given in self.rewards.items()]
        for name in ("initial", "graph", "aside", "encoding", "decimal"):
            if getattr(self, name):
                said.append(f"{name}: {getattr(self, name)}")
        return [*said, f"terminal: {', '.join(self.terminal)}"] if self.terminal else said


def beside(log: str) -> Path | None:
    """Return the file that describes a log because it has its name: ``machine.toml`` for ``machine.csv``; None without."""
    from umdp.source.logs.opening import ENDINGS

    path = Path(log)
    name = path.name
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            break
    if not name or not path.exists():
        return None
    found = path.absolute().parent / f"{name}.toml" if path.name in ("", ".", "..") else path.parent / f"{name}.toml"
    return found if found.is_file() else None


def read_description(path: str | Path) -> tuple[LogSettings, dict[str, str]]:
    """Return the settings in a file, and the property and what to do on errors, if they are in it, too.

    Files that it names are where it is.
    """
    path = Path(path)
    try:
        found = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise FormatError(f"the description cannot be read: {error.strerror}", path=path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"this is not TOML: {error}", path=path) from None
    known = (
        "property", "initial", "terminal", "on-error", "aside", "graph", "encoding", "decimal", "columns", "labels", "rewards"
    )  # fmt: skip
    for key in found:
        if key not in known:
            close = difflib.get_close_matches(key, known, 1)
            near = f"; did you mean {close[0]!r}?" if close else "."
            raise FormatError(
                f"there is no key {key!r} in the description of a log{near} It has {', '.join(known)}", path=path
            )
    more: dict[str, str] = {key: _text(key, found.pop(key), path) for key in ("property", "on-error") if key in found}
    if more.get("on-error", "fail") not in ON_ERROR:
        raise FormatError(
            f"on-error is {', '.join(ON_ERROR[:-1])} or {ON_ERROR[-1]}, not {more['on-error']!r}", path=path
        )
    labels = {name: _listed(given) for name, given in _table("labels", found.get("labels", {}), path).items()}
    plain = {**found, "labels": labels, "described": str(path)}
    if "terminal" in found:
        plain["terminal"] = _listed(found["terminal"])
    if isinstance(found.get("initial"), dict):
        raise FormatError(
            'initial is one state, or "observed": weights cannot be given, but how often trajectories begin in which state is '
            "learned from the log then",
            path=path,
        )
    for key in ("aside", "graph"):
        if key in found:
            text = _text(key, found[key], path)
            plain[key] = str(path.parent / text) if "." in text else text
    try:
        return msgspec.convert(plain, LogSettings), more
    except msgspec.ValidationError:
        raise FormatError(f"the description does not fit: {misfit(plain, LogSettings)}", path=path) from None


def check_settings(settings: LogSettings, log: str | None, model: str | None = None) -> None:
    """Raise `ModelError` if something is said about a log and there is none; or of its graph, which is that of `model`."""
    if model is not None and settings.graph is not None:
        raise ModelError(f"with --log the graph is that of MODEL, {model}; leave out --graph, or give the log as MODEL")
    if log is None and settings.given:
        named = f"--describe {settings.described}" if settings.described else settings.given[0]
        raise ModelError(
            f"{named} is about a log, and there is none: give one as MODEL, such as machine.csv, or with --log"
        )


def _listed(given: Any) -> Any:
    from umdp.source.logs.extra_columns import split

    return split(given) if isinstance(given, str) else given


def _text(key: str, given: Any, path: Path) -> str:
    if not isinstance(given, str):
        raise FormatError(f"{key} must be text, not {given!r}", path=path)
    return given


def _table(key: str, given: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise FormatError(f"{key} must be a table, [{key}], with a line for each", path=path)
    return given


def _shown(given: str | float | Mapping[str, float]) -> str:
    if isinstance(given, Mapping):
        return ", ".join(f"{state}:{value:g}" for state, value in given.items())
    return str(given)
