"""The way of a command through the package: `python -m bench.way learn grid --trajectories 1000` lists the functions it calls.

A function counts if it has a name, stands in src/umdp and is called while the command runs in one process, with its kernels
compiled; a kernel if Python calls it, since what compiled code calls nobody sees (with ``interpreted`` it is seen). What happens
while a module is imported (its body, those of its classes, decorators) does not count.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

__all__ = ["way"]

HERE = Path(__file__).resolve().parents[1]


def way(checkout: Path, words: tuple[str, ...], *, interpreted: bool = False) -> list[str]:
    """Return the functions that a command of a checkout calls, as ``module.py:name``; it runs twice, to compile first."""
    how = "--interpret" if interpreted else "--follow"
    environment = {name: value for name, value in os.environ.items() if name not in ("NUMBA_DISABLE_JIT", "PYTHONPATH")}
    environment["PYTHONPATH"] = str(checkout / "src")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "called.json")
        for _ in range(1 if interpreted else 2):
            done = subprocess.run(
                [sys.executable, __file__, how, str(out), *words], cwd=checkout, env=environment, check=False,
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if done.returncode:
                raise SystemExit(f"{checkout}: umdp {' '.join(words)}: {done.stderr.strip()[-500:]}")
        found: list[str] = json.loads(out.read_text())
    return found


def _follow(out: Path, words: list[str], *, interpreted: bool) -> None:
    """Run a command in this process, and write down the functions that it calls."""
    from numba.core.registry import CPUDispatcher

    if importlib.util.find_spec("umdp.kernel") is not None:
        from umdp import kernel

        if interpreted:
            kernel.COMPILED = kernel.DELEGATED = kernel.LOADED = math.inf
            kernel.LARGE, kernel.SAMPLED = sys.maxsize, 0
        else:
            kernel.COMPILED = 0.0
    root = str(Path(os.environ["PYTHONPATH"], "umdp")) + os.sep
    called: set[Any] = set()
    importing: dict[int, int] = defaultdict(int)  # by thread: how many modules are being imported

    def look(frame: Any, event: str, _: Any) -> None:
        code, thread = frame.f_code, threading.get_ident()
        if event not in ("call", "return") or not code.co_filename.startswith(root):
            return
        if code.co_name == "<module>":
            importing[thread] += 1 if event == "call" else -1
        elif event == "call" and not importing[thread] and code.co_flags & inspect.CO_OPTIMIZED:
            called.add(code)  # bodies of classes are not optimised

    def run_kernel(kernel: Any, *arguments: Any, **options: Any) -> Any:
        code = kernel.py_func.__code__
        if code.co_filename.startswith(root) and not importing[threading.get_ident()]:
            called.add(code)
        return compiled(kernel, *arguments, **options)

    compiled = CPUDispatcher.__call__
    CPUDispatcher.__call__ = run_kernel  # a profiler is not told of calls of compiled code
    sys.argv = ["umdp", *words]
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        from umdp.cli import main

        main()
    except SystemExit as end:
        if end.code not in (0, None):
            raise
    finally:
        sys.setprofile(None)
    named = {
        f"{code.co_filename.removeprefix(root)}:{code.co_qualname}"
        for code in called
        if not code.co_name.startswith("<")
    }
    out.write_text(json.dumps(sorted(named)))


def main() -> None:
    """Print the functions, and how many there are."""
    if sys.argv[1:2] in (["--follow"], ["--interpret"]):
        _follow(Path(sys.argv[2]), sys.argv[3:], interpreted=sys.argv[1] == "--interpret")
        return
    found = way(HERE, tuple(sys.argv[1:]))
    print("\n".join(found))
    print(f"{len({each.split(':')[0] for each in found})} modules, {len(found)} functions")


if __name__ == "__main__":
    main()
