"""Hypothesis draws the same examples in every run of `make test`, and new ones in `make test-all`."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("new", print_blob=True)
settings.load_profile("same")
