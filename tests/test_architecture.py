"""The page on architecture: its links lead to definitions, and the commands that it follows go through what it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from bench.way import way

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
LINK = re.compile(r"\[`([\w.]+)`\]\(\.\./src/umdp/([\w/]+\.py)\)")
WAYS = {  # on a process that is quickly solved without compiling anything; the way is that of any other
    "The way of a trajectory": ("learn", "aircraft", "--trajectories", "20"),
    "The way of a question": ("check", "examples/rover.tra", 'Pmaxmin=? [ !"crater" U "base" ]'),
}


def links(section: str) -> list[tuple[str, str]]:
    """Return the names in a section of the page, with the files they link to."""
    return LINK.findall(PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0])


def defined(path: Path) -> set[str]:
    """Return the functions of a module, those of its classes as ``Class.name``."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("section", WAYS)
def test_every_name_is_defined_where_its_link_leads(section: str) -> None:
    assert len(links(section)) > 10
    assert [link for link in links(section) if link[0] not in defined(ROOT / "src/umdp" / link[1])] == []


@pytest.mark.parametrize("section", WAYS)
def test_the_command_calls_every_function_that_its_way_names(section: str) -> None:
    called = way(ROOT, WAYS[section], interpreted=True)
    assert [name for name, file in links(section) if f"{file}:{name}" not in called] == []


def test_every_link_of_the_page_leads_somewhere() -> None:
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", PAGE.read_text())]
    assert [target for target in targets if not (PAGE.parent / target).exists()] == []
