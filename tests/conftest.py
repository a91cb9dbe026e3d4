"""The benchmarks can be imported; Hypothesis draws the same examples in every run of `make test`, new ones in `make test-all`."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

settings.register_profile("same", derandomize=True)
settings.register_profile("new", print_blob=True)
settings.load_profile("same")
