"""A folder with the examples in it, and the command line run inside this process."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from umdp.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


def without_note(text: str) -> str:
    """What was printed but for the line about compiling, which depends on what ran before."""
    return re.sub(r"^compiling kernels .*\n", "", text, flags=re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of one's own to work in, with the examples where the help expects them."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def umdp(folder, capsys) -> Cli:
    """Run `umdp` with these arguments in `folder`."""

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Outcome(code, out, without_note(err))

    return call
