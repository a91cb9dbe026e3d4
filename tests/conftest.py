"""The benchmarks can be imported; Hypothesis draws the same examples in every `make test`, more and new ones in `test-all`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from hypothesis import settings

os.environ["UMDP_BACKGROUND"] = "0"  # nothing is compiled beside the tests

ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # as in a job in the background, whose children would ignore it, too
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("same", derandomize=True, max_examples=25, deadline=None)
settings.register_profile("new", max_examples=100, print_blob=True, deadline=None)
settings.load_profile("same")
