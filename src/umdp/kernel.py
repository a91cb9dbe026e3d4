"""Just-in-time compilation: `kernel` compiles a function over arrays once, and again when anything it calls has changed.

Compiling takes seconds, and most models that people look at first are small. So a kernel runs as the Python function that it is
until that has taken longer than compiling (or loading compiled code) is worth, or an array is large. Both give the same numbers.
Another process may compile meanwhile (`umdp.cli.compiling`): what is found on disk is loaded soon.

Numba keeps compiled code on disk, but looks only at the file of the function itself: after a change in a kernel of another
file it would go on running the old code. Here the cache has a folder per module, named by a digest of everything that its
kernels are compiled from: the text of the module, the digests of the modules whose kernels it calls, and the values of the
constants it names. Compiled code of another state of the sources is therefore never looked at.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from enum import EnumMeta
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.registry import CPUDispatcher

__all__ = ["FLAGS", "cache_folder", "cache_roots", "compiles_elsewhere", "digest", "kernel", "on_compile"]

F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""What all kernels have in common: other threads may run meanwhile, x / 0 is inf or nan, as in NumPy, and nobody calls from C."""
LARGE = 5_000
"""Numbers in an array, or times, beyond which nothing is interpreted."""
SIZABLE = 1_000
"""Numbers in an array beyond which what is on disk is loaded at once, where many kernels come with one."""
COMPILED, DELEGATED, LOADED = 1.0, 20.0, 0.02
"""Seconds of interpreting a kernel that compiling it is worth; one that delegates; and loading it."""
ELSEWHERE = 10.0
"""How many times as long one waits for another process that compiles."""
SLOW = 0.25
"""Seconds of interpreting a kernel after which somebody is told that compiling would be worth it."""
SAMPLED = 16
"""Of so many calls from another interpreted kernel one is looked at."""
KEPT = 8
"""How many states of a module stay in the cache, so that going back and forth between two versions does not recompile."""

_VERSIONS = f"{sys.implementation.cache_tag} numba {numba.__version__} numpy {np.__version__}"
_digests: dict[str, str] = {}
_folders: dict[str, Path | None] = {}


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(*, allocates: bool = ..., delegates: bool = ..., **flags: Any) -> Callable[[F], F]: ...


def kernel(function: Any = None, /, *, allocates: bool = True, delegates: bool = False, **flags: Any) -> Any:
    """Compile a function on its first call, and keep the code on disk for later runs.

    Parameters
    ----------
    allocates : whether it makes arrays, or is given some that others made in it. One that does not counts no references to
        the arrays that it is given, which often takes longer than what is computed; its callers hold them. Numba refuses to
        compile it where it makes an array itself; it must not call kernels that return new ones (`tests/test_kernel.py`).
    delegates : whether it leaves what is done number by number to the kernels that it calls. Compiling it means compiling all of
        them once more, so that it is interpreted for longer, however large its arrays are.
    flags : options of `numba.njit`, in place of or beside `FLAGS`

    Examples
    --------
    >>> @kernel
    ... def twice(x: float) -> float:
    ...     return 2 * x
    >>> twice(1.5)
    3.0
    """
    given = {**FLAGS, **flags, "_nrt": allocates}
    if function is None:
        return lambda one: _compiled(one, given, delegates)
    return _compiled(function, given, delegates)


def _compiled(function: Any, flags: Mapping[str, Any], delegates: bool) -> Any:
    made: Any = numba.njit(**flags)(function)
    compiles = isinstance(made, CPUDispatcher)  # not where numba is switched off
    if compiles and cache_folder(function) is not None:
        cache: Any = _KernelCache
        made._cache = cache(function)
    if compiles and COMPILED > 0.0:
        made.__class__ = InterpretedKernel
        made.delegates = delegates
    return made


class _Folder(_CacheLocator):
    """Where the compiled code of a kernel is: the folder of its module, whose name stands for all that it is compiled from."""

    def __init__(self, function: Any, folder: Path) -> None:
        self.line, self.folder = function.__code__.co_firstlineno, folder

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self.folder)

    def get_source_stamp(self) -> str:
        """Return what changes with the sources; not the time of a file, which is another one in every checkout."""
        return self.folder.name

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name in a module apart."""
        return str(self.line)

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """Return the place of a function; None where there is none."""
        folder = cache_folder(function)
        return None if folder is None else cls(function, folder)


class _KernelFiles(CompileResultCacheImpl):
    _locator_classes = [_Folder]  # noqa: RUF012


class _KernelCache(FunctionCache):
    _impl_class = _KernelFiles


class InterpretedKernel(CPUDispatcher):
    """A kernel that has not been worth compiling so far; once it is, it is an ordinary one of numba's."""

    delegates: bool = False
    spent: float = 0.0
    due: float = 0.0
    passed: int = 0

    def __call__(self, *given: Any) -> Any:
        """Run it, compiled from when that is due.

        What an interpreted kernel hands on is no larger than what it was given, so that most of these calls go through unseen.
        """
        state = _interpreting
        inside = state.inside
        if inside and self.passed < SAMPLED:
            self.passed += 1
            return self.py_func(*given)
        weight, self.passed = (SAMPLED + 1 if inside else 1), 0
        if (self.spent >= self.due and self._is_due(given)) or (not self.delegates and _is_large(given, LARGE)):
            object.__setattr__(self, "__class__", CPUDispatcher)
        begun, outer = time.perf_counter(), state.called
        state.called = 0.0
        try:
            if type(self) is CPUDispatcher:
                return self(*given)
            state.inside = not self.delegates
            if outer is None:
                with np.errstate(all="ignore"):
                    return self.py_func(*given)
            return self.py_func(*given)
        finally:
            state.inside = inside
            took = time.perf_counter() - begun
            if type(self) is InterpretedKernel:
                self.spent += took if self.delegates else weight * (took - state.called)
            state.called = None if outer is None else outer + took

    def _is_due(self, given: tuple[Any, ...]) -> bool:
        """Whether interpreting it has taken long enough; if not, when to look again."""
        if _is_on_disk(self):
            self.due = LOADED
            if self.delegates and _is_large(given, SIZABLE):
                return True
        else:
            if self.spent > SLOW:
                _compiling.tell_once()
            limit = (DELEGATED if self.delegates else COMPILED) * (ELSEWHERE if _compiling.elsewhere else 1.0)
            self.due = min(limit, max(2.0 * self.spent, LOADED))
            return self.spent > limit
        return self.spent > LOADED


class _Interpreting(threading.local):
    """What a thread is at.

    Attributes
    ----------
    called : the seconds that its interpreted kernel has spent in kernels it calls; None outside of all
    inside : whether that is one that does not delegate, so that what it calls is given nothing large
    """

    called: float | None = None
    inside: bool = False


_interpreting = _Interpreting()


def _is_large(value: Any, most: int) -> bool:
    """Whether an argument may mean much work: an array with more than so many numbers, or a number of times.

    Bytes count as such, too: NumPy adds them up as bytes, numba as whole numbers.
    """
    if isinstance(value, np.ndarray):
        return value.size > most or value.dtype == np.uint8
    if isinstance(value, int | np.integer):
        return bool(value > most)
    return isinstance(value, tuple) and any(_is_large(each, most) for each in value)


def _is_on_disk(made: Any) -> bool:
    """Whether something of a kernel has been compiled before."""
    file = getattr(getattr(made, "_cache", None), "_cache_file", None)
    return file is not None and Path(file._index_path).exists()


class _Compiling(event.Listener):
    """Tells somebody, once, that a kernel is compiled and not taken from the cache, or that this would be worth it."""

    tell: Callable[[], None] | None = None
    elsewhere = False
    registered = False

    def tell_once(self) -> None:
        """Tell whoever wants to know."""
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()

    def on_start(self, found: event.Event) -> None:
        """Take note that something is about to be compiled."""
        kernel = getattr((found.data or {}).get("dispatcher"), "py_func", None)
        if getattr(kernel, "__module__", "").startswith("umdp."):
            self.tell_once()

    def on_end(self, found: event.Event) -> None:
        """Do nothing."""


_compiling = _Compiling()


def on_compile(tell: Callable[[], None] | None) -> None:
    """Call a function, once, as soon as a kernel of this package is compiled, or would be worth it; never, where all are cached.

    It takes the place of the one before; None leaves nobody to be told.
    """
    if not _compiling.registered:
        register: Any = event.register
        register("numba:compile", _compiling)
        _compiling.registered = True
    _compiling.tell = tell


def compiles_elsewhere() -> None:
    """Have this process leave compiling, as far as it can wait, to another one, and load what that has done."""
    _compiling.elsewhere = True


def cache_folder(function: Any) -> Path | None:
    """Return the folder for the compiled code of a function's module; None where nothing can be written or there is no file.

    It is made below ``NUMBA_CACHE_DIR`` if that is set, else beside the package, else in the user's folder for caches.
    """
    name, source = function.__module__, function.__globals__.get("__file__")
    if function.__code__.co_filename != source:
        return None
    if name not in _folders:
        _folders[name] = _made(name, function.__globals__)
    return _folders[name]


def _made(name: str, names: Mapping[str, Any]) -> Path | None:
    try:
        folder = f"{name}-{digest(name, names)}"
    except OSError:  # a package in a zip file
        return None
    for root in cache_roots():
        path = root / folder
        try:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
        except OSError:
            continue
        _tidy(root, name, path)
        return path
    return None


def cache_roots() -> list[Path]:
    """Return where the cache may be, the best place first."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return [Path(given) / "umdp"]
    if sys.platform == "win32":
        own = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        own = Path.home() / "Library" / "Caches"
    else:
        own = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    return [Path(__file__).parent / "__pycache__" / "kernels", own / "umdp" / "kernels"]


def _tidy(root: Path, name: str, used: Path) -> None:
    """Note that a folder is in use, and remove those of the same module that were not for longest."""
    try:
        os.utime(used)
        others = [each for each in root.glob(f"{name}-*") if each != used]
        for old in sorted(others, key=lambda each: each.stat().st_mtime, reverse=True)[KEPT - 1 :]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:  # another process tidies too
        pass


def digest(name: str, names: Mapping[str, Any]) -> str:
    """Return a digest of all that the kernels of a module are compiled from.

    Parameters
    ----------
    name : of the module
    names : its globals; what is imported must be there when the first kernel is defined, as is usual
    """
    if name not in _digests:
        _digests[name] = ""  # for modules that import each other
        made = hashlib.sha256(f"{_VERSIONS}\n{sorted(FLAGS.items())}\n".encode())
        made.update(Path(names["__file__"]).read_bytes())
        for word in sorted(names):
            if not word.startswith("__"):
                made.update(f"\n{word} = {_value(names[word], name)}".encode())
        _digests[name] = made.hexdigest()[:16]
    return _digests[name]


def _value(value: Any, home: str) -> str:
    """Return a text that changes when what a kernel sees in a global variable changes; "" for what no kernel can use."""
    called = getattr(value, "py_func", None)
    if called is not None:
        elsewhere: str = called.__module__
        return "" if elsewhere == home else f"kernel {elsewhere} {digest(elsewhere, called.__globals__)}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"({', '.join(_value(each, home) for each in value)})"
    if isinstance(value, dict):  # flags of kernels
        return f"{{{', '.join(f'{key!r}: {_value(each, home)}' for key, each in value.items())}}}"
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return f"fields {value._fields}"
    if isinstance(value, EnumMeta):
        members: Mapping[str, Any] = value.__members__
        return repr([(key, member.value) for key, member in members.items()])
    if isinstance(value, ModuleType) and value.__name__.startswith("umdp."):
        return f"module {value.__name__} {digest(value.__name__, vars(value))}"
    return ""
