"""The documents do what they show: Python blocks run, commands print what stands below them, links lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib.util
import io
import math
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import umdp
from umdp.cli import run

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = {"netcdf": "h5py", "storm": "stormpy", "gym": "gymnasium", "plot": "matplotlib"}

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)"
# What is measured, and how much narrower than asked for a bracket is, differ from run to run.
MEASURED = re.compile(r"(?:width|seconds|iterations)[\"=: ]*$")


class Block(NamedTuple):
    line: int
    language: str
    needs: list[str]
    text: str


def blocks(path: Path) -> Iterator[Block]:
    """Yield the fenced blocks; words after the language name the extras a block needs."""
    source = path.read_text(encoding="utf-8")
    for found in FENCE.finditer(source):
        language, needs, text = found.groups()
        yield Block(source.count("\n", 0, found.start()) + 2, language, needs.split(), text)


def agree(expected: str, got: str) -> bool:
    """Whether a text is as shown: white space and last digits may differ, ``...`` stands for anything."""
    expected, got = " ".join(expected.split()), " ".join(got.split())
    pattern, last, numbers = "", 0, []
    for found in re.finditer(NUMBER, expected):
        before = expected[last : found.start()]
        pattern += re.escape(before).replace(r"\.\.\.", ".*?") + f"({NUMBER})"
        numbers.append(math.nan if MEASURED.search(before) else float(found[0]))
        last = found.end()
    matched = re.fullmatch(pattern + re.escape(expected[last:]).replace(r"\.\.\.", ".*?"), got)
    return matched is not None and all(
        math.isnan(number) or math.isclose(number, float(other), rel_tol=2e-6, abs_tol=1e-300)
        for number, other in zip(numbers, matched.groups(), strict=True)
    )


def check(expected: str, got: str, place: str) -> None:
    assert agree(expected, got), f"{place}\nshown:\n{expected}\ngot:\n{got}"


def execute(code: Any, namespace: dict[str, Any]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, namespace)
    return output.getvalue()


def run_session(block: Block, namespace: dict[str, Any], name: str) -> None:
    for example in doctest.DocTestParser().get_examples(block.text):
        place = f"{name}:{block.line + example.lineno}: {example.source.strip()}"
        code = compile(example.source, name, "single")
        if example.exc_msg is None:
            check(example.want, execute(code, namespace), place)
            continue
        with pytest.raises(umdp.UmdpError) as raised:
            execute(code, namespace)
        kind = type(raised.value)
        check(example.exc_msg, f"{kind.__module__}.{kind.__qualname__}: {raised.value}", place)


def run_python(block: Block, namespace: dict[str, Any], name: str) -> None:
    """Run a block; a comment behind an expression is what the expression prints, or its value."""
    lines = block.text.splitlines()
    for statement in ast.parse("\n" * (block.line - 1) + block.text, name).body:
        output = execute(compile(ast.Interactive([statement]), name, "single"), namespace)
        assert statement.end_lineno is not None
        rest = lines[statement.end_lineno - block.line][statement.end_col_offset :].strip()
        if isinstance(statement, ast.Expr) and rest.startswith("#"):
            check(rest[1:], output, f"{name}:{statement.end_lineno}")


def commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """Yield (line, command, output shown); a line that starts with ``> `` continues the command."""
    for found in re.finditer(r"^\$ ([^\n]*(?:\n> [^\n]*)*)\n((?:(?!\$ )[^\n]*\n)*)", block.text, re.MULTILINE):
        line = block.line + block.text.count("\n", 0, found.start())
        yield line, re.sub(r"\\?\n> ", " ", found[1]), found[2]


def run_console(block: Block, name: str) -> None:
    code = 0
    for line, command, shown in commands(block):
        program, *arguments = shlex.split(command)
        if command == "echo $?":
            check(shown, str(code), f"{name}:{line}")
            continue
        assert program == "umdp", f"{name}:{line}: only umdp and echo $? can be run here, not {program}"
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = run(arguments)
        check(shown, re.sub(r"^compiling kernels .*\n", "", output.getvalue()), f"{name}:{line}: {command}")


def check_shell(block: Block, name: str) -> None:
    """Set-up is not run here; the targets and extras it names exist."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"^make ([a-z-]+)", block.text, re.MULTILINE):
        assert target in targets, f"{name}:{block.line}: there is no make {target}"
    for listed in re.findall(r"umdp\[([\w,]+)\]", block.text):
        assert set(listed.split(",")) <= set(extras), f"{name}:{block.line}: {listed}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_shown_happens(path, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    name = path.relative_to(ROOT).as_posix()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(path):
        unknown = set(block.needs) - set(NEEDS)
        assert not unknown, f"{name}:{block.line}: unknown extras {unknown}"
        if any(importlib.util.find_spec(NEEDS[each]) is None for each in block.needs):
            continue
        if block.language == "python":
            (run_session if block.text.startswith(">>>") else run_python)(block, namespace, name)
        elif block.language == "console":
            run_console(block, name)
        elif block.language == "sh":
            check_shell(block, name)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", path.read_text(encoding="utf-8")):
        linked = path.parent / target if target else path
        assert linked.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}, anchor


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("value 0.5", "value  0.50000000001", True),
        ("value 0.5", "value 0.51", False),
        ("width 1e-9 relative", "width 3e-12 relative", True),
        ("[1, 2]", "[1.0000001, 2]", True),
        ("status CERTIFIED", "status STOPPED", False),
        ("a ... c", "a b b c", True),
        ("state_1", "state_2", False),
    ],
)
def test_agreement(expected, got, same):
    assert agree(expected, got) is same
