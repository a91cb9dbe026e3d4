"""What MODEL means, decided in one place for every command: a benchmark, a function, an environment, a log or a file.

And what users have written: functions and classes in Python files, named by file and name.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import types
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, ClassVar

from umdp.errors import FormatError, ModelError, UmdpError

if TYPE_CHECKING:
    from umdp.benchmark import Benchmark
    from umdp.model import MDP, IntervalMDP

__all__ = [
    "GYM", "BenchmarkName", "EnvironmentName", "FileName", "FunctionName", "LogName", "ModelName", "check_file", "is_plugin",
    "plugin", "plugin_file", "read_plugin", "resolve", "where",
]  # fmt: skip

GYM, MINARI, STANDARD_INPUT = "gym:", "minari:", "-"
MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[\w./-]+")  # module:ID


@dataclass(frozen=True)
class ModelName:
    """What a name means where a model is asked for; a class for each kind.

    Attributes
    ----------
    text : as it was typed
    called : whether something is called with arguments that makes a model: a benchmark or a function
    played : whether what it makes may be an environment
    recorded : whether it is data that others recorded
    always_played : whether it is an environment in any case
    benchmark : what comes with it, where it is a benchmark
    module : what is imported for it
    """

    text: str
    called: ClassVar[bool] = False
    played: ClassVar[bool] = False
    always_played: ClassVar[bool] = False
    recorded: ClassVar[bool] = False

    @property
    def benchmark(self) -> Benchmark | None:
        """The benchmark of that name."""
        return None

    @property
    def module(self) -> str | None:
        """The module that registers an environment."""
        return None

    def make(self, parameters: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Any:
        """Return what is made with arguments; `texts` are those of files that need not be read."""
        raise ModelError(f"{self.text} is no environment; write gym:ID, MODULE:ID or FILE.py:NAME")

    def identity(self, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return what the name and arguments mean, the same however they were typed."""
        return str(Path(self.text).resolve() if Path(self.text).exists() else self.text), dict(parameters)


class BenchmarkName(ModelName):
    """The name of a benchmark."""

    called = True

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark."""
        from umdp.benchmark import BENCHMARKS

        return BENCHMARKS[self.text]

    def make(self, parameters: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Any:
        """Return its model."""
        return _called(self.text, self.benchmark.build, parameters)


class FunctionName(ModelName):
    """``FILE.py:NAME``, a function or class that makes a model, an environment or a source."""

    called = played = True

    def make(self, parameters: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Any:
        """Return what it returns."""
        return _called(self.text, plugin(self.text, texts), parameters)


class EnvironmentName(ModelName):
    """``gym:ID`` or ``MODULE:ID``, with arguments."""

    played = always_played = True

    @property
    def module(self) -> str | None:
        """The module that registers it."""
        from umdp.source.environments.naming import named

        return named(self.text).module

    def make(self, parameters: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Any:
        """Return the environment."""
        from umdp.source.environments.gymnasium import make

        return make(self.text, **parameters)[0]

    def identity(self, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return its id and its arguments."""
        from umdp.source.environments.naming import named

        asked = named(self.text)
        return asked.id, {**asked.options, **parameters}


class LogName(ModelName):
    """A log: a file, a folder, a pattern of files, ``minari:NAME``, or ``-`` for standard input."""

    recorded = True


class FileName(ModelName):
    """A model's file, or a name that means nothing else."""

    def read(self, constants: str, asked: Collection[str] = ()) -> MDP | IntervalMDP:
        """Return the model in the file; constants of names that are `asked` for need not be its own."""
        if Path(self.text).suffix or Path(self.text).exists():
            from umdp.io import read

            return read(self.text, constants=constants, asked=asked)
        from umdp.benchmark import load

        return load(self.text).build()  # says which names there are


def resolve(name: str) -> ModelName:
    """Return what a name means.

    Examples
    --------
    >>> [type(resolve(name)).__name__ for name in ("grid", "mine.py:maze", "gym:Taxi-v4", "mine:Maze-v0,size=3")]
    ['BenchmarkName', 'FunctionName', 'EnvironmentName', 'EnvironmentName']
    >>> [type(resolve(name)).__name__ for name in ("machine.csv.gz", "logs/*.jsonl", "-", "model.tra")]
    ['LogName', 'LogName', 'LogName', 'FileName']
    """
    from umdp.benchmark import BENCHMARKS

    if name in BENCHMARKS:
        return BenchmarkName(name)
    if name.startswith(GYM):
        return EnvironmentName(name)
    if not is_plugin(name) and _is_log(name):
        return LogName(name)
    first = name.partition(",")[0]
    if MODULE.fullmatch(first) is not None and not first.partition(":")[0].endswith(".py"):
        return EnvironmentName(name)
    return FunctionName(name) if is_plugin(name) else FileName(name)


def _is_log(name: str) -> bool:
    from umdp.source.logs.opening import ENDINGS

    named = name == STANDARD_INPUT or name.startswith(MINARI) or name.lower().endswith(ENDINGS)
    return named or Path(name).is_dir()


def _called(name: str, make: Any, parameters: Mapping[str, Any]) -> Any:
    """Return what a function or class makes; what goes wrong in it is said with its name."""
    try:
        return make(**parameters)
    except TypeError as error:
        raise ModelError(f"{name} cannot be called with {dict(parameters)}: {where(error)}") from error
    except UmdpError as error:
        raise ModelError(f"{name}: {error}") from error
    except Exception as error:
        raise ModelError(f"{name} fails: {where(error)}") from error


def is_plugin(name: str) -> bool:
    """Whether a name is of the form ``FILE.py:NAME``.

    Examples
    --------
    >>> is_plugin("mine.py:maze"), is_plugin("grid")
    (True, False)
    """
    return ".py:" in name


def plugin_file(name: str) -> str:
    """Return the file of ``FILE.py:NAME``."""
    return name.rpartition(":")[0]


def plugin(name: str, texts: Mapping[str, str] | None = None) -> Any:
    """Return what ``FILE.py:NAME`` names.

    Parameters
    ----------
    name : str
    texts : mapping of str to str, optional
        The text of files that need not be read: a worker on another machine does not have them.

    Examples
    --------
    >>> plugin("mine.py:answer", {"mine.py": "answer = 42"})
    42
    """
    path, _, wanted = name.rpartition(":")
    text = (texts or {}).get(path)
    if text is None:
        text = read_plugin(path)
    module = _module(path, text)
    if not hasattr(module, wanted):
        raise FormatError(f"there is no {wanted!r} in this file", path=path)
    return getattr(module, wanted)


def read_plugin(path: str) -> str:
    """Return the text of a Python file."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"this file cannot be read ({error})", path=path) from None


def check_file(name: str) -> None:
    """Raise `FormatError` if a name is that of a file that is neither a model nor a log, with what it should be.

    Examples
    --------
    >>> check_file("machine.drn"), check_file("grid")
    (None, None)
    >>> check_file("book.xlsx")
    Traceback (most recent call last):
    ...
    umdp.errors.FormatError: book.xlsx: files ending in .xlsx are not known; a model has one of .prism, .nm, ...
    """
    from umdp.io.files import SUFFIXES
    from umdp.source.logs.opening import ENDINGS

    ending = Path(name).suffix
    if (
        is_plugin(name)
        or not ending
        or ending.lower() in SUFFIXES
        or name.lower().endswith(ENDINGS)
        or Path(name).is_dir()
    ):
        return
    if ending == ".py":
        made = _made_in(name)
        raise FormatError(
            f"this is Python; say what in it makes the model or environment: {name}:{made or 'NAME'}", path=name
        )
    hint = {
        ".xlsx": "; save the sheet as CSV", ".xls": "; save the sheet as CSV", ".ods": "; save the sheet as CSV",
        ".json": "; a log in JSON has one object on every line, and ends in .jsonl",
    }.get(ending, "")  # fmt: skip
    raise FormatError(
        f"files ending in {ending} are not known; a model has one of {', '.join(SUFFIXES)}, a log one of "
        f"{', '.join(ENDINGS)}{hint}",
        path=name,
    )


def _made_in(path: str) -> str | None:
    """Return the name of a class or function in a Python file, the first that others may use; nothing in it is executed."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    made = [each.name for each in tree.body if isinstance(each, ast.ClassDef | ast.FunctionDef)]
    return next((name for name in made if not name.startswith("_")), None)


def where(error: BaseException) -> str:
    """Return an exception in one line, with the last line outside of this package that led to it.

    Examples
    --------
    >>> try:
    ...     exec(compile("x = 1 / 0", "mine.py", "exec"))
    ... except ZeroDivisionError as error:
    ...     print(where(error))
    ZeroDivisionError: division by zero (mine.py, line 1)
    """
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    said = " ".join(said.split())
    own = str(Path(__file__).parents[1])
    outside = [each for each in extract_tb(error.__traceback__) if not each.filename.startswith(own)]
    return said + (f" ({outside[-1].filename}, line {outside[-1].lineno})" if outside else "")


def _module(path: str, text: str) -> types.ModuleType:
    """Run the text of a file, once per process and content."""
    name = "umdp_plugin_" + hashlib.sha256(f"{path}\n{text}".encode()).hexdigest()[:16]
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        lines = [each.lineno for each in extract_tb(error.__traceback__) if each.filename == path]
        line = error.lineno if isinstance(error, SyntaxError) else next(reversed(lines), None)
        raise FormatError(f"this file fails: {type(error).__name__}: {error}", path=path, line=line) from error
    return module
