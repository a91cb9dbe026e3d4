"""Files of every format with wrong bytes: a sample of `bench.damaged_files`."""

from __future__ import annotations

import os

from bench.damaged_files import survey


def test_wrong_bytes_end_in_a_message(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    faults = [f"{name}: {wrong}" for name, wrong in survey(4, 2, tmp_path, slow=False) if wrong]
    os.chdir(tmp_path)
    assert faults == []
