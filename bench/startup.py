"""How long it takes to begin: `python -m bench.startup` starts processes, with and without compiled kernels on disk.

A command that has kernels compiled in the background is waited for before it is started again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = (
    ("import umdp", ("-c", "import umdp")),
    ("umdp --version", ("-m", "umdp", "--version")),
    (
        "umdp check examples/rover.tra",
        ("-m", "umdp", "check", "examples/rover.tra", 'Pmaxmin=? [ !"crater" U "base" ]'),
    ),
    ("umdp learn bandit --trajectories 100", ("-m", "umdp", "learn", "bandit", "--trajectories", "100")),
    ("umdp learn grid --trajectories 1000", ("-m", "umdp", "learn", "grid", "--trajectories", "1000")),
)


def seconds(arguments: tuple[str, ...], cache: str | None) -> float:
    """Return the wall-clock time of a process; `cache` is where it finds or leaves compiled kernels."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, env=environment, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    """Print the table."""
    print("| command | nothing compiled | compiled before |")
    print("|---|---|---|")
    for name, arguments in COMMANDS:
        with tempfile.TemporaryDirectory() as cache:
            Path(cache, "umdp").mkdir()
            cold = seconds(arguments, cache)
            time.sleep(1.0)
            while Path(cache, "umdp", "compiling").exists():
                time.sleep(0.5)
            warm = min(seconds(arguments, cache) for _ in range(3))
        print(f"| `{name}` | {cold:.2f} s | {warm:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
