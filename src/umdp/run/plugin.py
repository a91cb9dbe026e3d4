"""What a user has written: functions and classes in Python files, named by file and name."""

from __future__ import annotations

import ast
import hashlib
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from umdp.errors import FormatError

__all__ = ["check_file", "is_plugin", "plugin", "plugin_file", "read_plugin", "where"]


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
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(own):
            found = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return said + found


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
        line = error.lineno if isinstance(error, SyntaxError) else _line(error, path)
        raise FormatError(f"this file fails: {type(error).__name__}: {error}", path=path, line=line) from error
    return module


def _line(error: BaseException, path: str) -> int | None:
    """Return the last line of a file that led to an error."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
