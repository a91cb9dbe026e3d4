"""What a measurement was made on: the machine, the versions, and how fast memory is copied."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

__all__ = ["copy_bandwidth", "describe"]


def describe() -> str:
    """Return the machine and the versions, as lines of Markdown."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [
        f"- {_processor()}, {os.cpu_count()} cores, {memory:.0f} GB; {platform.system()} {platform.machine()}",
        f"- copies {copy_bandwidth() / 1e9:.1f} GB a second (read and written, one core)",
        f"- Python {platform.python_version()}, " + ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
    ]
    return "\n".join(lines)


PACKAGES = ("umdp", "numba", "numpy", "scipy", "stormpy")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "a processor"


def copy_bandwidth(size: int = 2**28, repeat: int = 5) -> float:
    """Return bytes read and written a second by a copy that fits in no cache, the best of a few."""
    here = np.full(size // 8, 1.5)  # written to: pages of zeros that nobody wrote to are one page
    there = np.ones_like(here)
    best = np.inf
    for _ in range(repeat):
        begun = time.perf_counter()
        np.copyto(there, here)
        best = min(best, time.perf_counter() - begun)
    return 2 * here.nbytes / best
