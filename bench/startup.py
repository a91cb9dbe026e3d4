"""How long it takes to begin: `python -m bench.startup` starts processes, with and without compiled kernels on disk.

Before a command is started again, everything is compiled that commands have compiled in the background.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAIN = (("import umdp", ("-c", "import umdp")), ("umdp --version", ("-m", "umdp", "--version")))
COMMANDS = (
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


def compiled(cache: str) -> float:
    """Wait until what commands need is compiled, by this call or by whoever is at it; return how long that took."""
    begun = time.perf_counter()
    while not any(Path(cache, "umdp").glob("compiled-*")):
        seconds(("-m", "umdp.cli.compiling"), cache)
        time.sleep(0.2)
    return time.perf_counter() - begun


def main() -> None:
    """Print the table."""
    print("| command | nothing compiled | compiled afterwards | compiled before |")
    print("|---|---|---|---|")
    for name, arguments in PLAIN:
        taken = min(seconds(arguments, None) for _ in range(3))
        print(f"| `{name}` | {taken:.2f} s | | {taken:.2f} s |", flush=True)
    for name, arguments in COMMANDS:
        with tempfile.TemporaryDirectory() as cache:
            cold, later = seconds(arguments, cache), compiled(cache)
            warm = min(seconds(arguments, cache) for _ in range(3))
        print(f"| `{name}` | {cold:.2f} s | {later:.0f} s | {warm:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
