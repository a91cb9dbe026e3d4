"""The layout of the package: one name for one thing, no cycles, modules one can read in a sitting.

Exceptions stand at the top, each with what is to become of it; nothing may be added to them without a reason.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "umdp"
LONGEST = 400

SAME_NAME: set[str] = set()
"""Classes that exist twice."""
SHADOWS: set[str] = set()
"""Names of a package that hide a module of it."""
CYCLES: set[str] = set()
"""Modules that import each other, as "a, b"."""
LONG: set[str] = set()
"""Modules longer than that."""


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module, by its name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("umdp", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


def typing_only(node: ast.AST) -> bool:
    """Whether this is ``if TYPE_CHECKING:``, whose imports do not happen."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what happens when a module is imported: everything but the bodies of functions."""
    for child in ast.iter_child_nodes(node):
        if not typing_only(child) and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from statements(child)


def imported(name: str) -> set[str]:
    """Return the modules of the package that a module imports when it is imported itself."""
    found = set()
    for node in statements(tree(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {
                f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in modules() else node.module
                for alias in node.names
            }
    return (found & modules().keys()) - {name}


def test_no_two_classes_have_the_same_name() -> None:
    places = defaultdict(list)
    for name in modules():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {each: where for each, where in places.items() if len(where) > 1 and each not in SAME_NAME} == {}


def test_no_name_of_a_package_hides_a_module_of_it() -> None:
    hidden = set()
    for package, path in modules().items():
        if path.name != "__init__.py":
            continue
        for node in tree(package).body:
            names = []
            if isinstance(node, ast.ImportFrom) and node.module != package:
                names = [alias.asname or alias.name for alias in node.names]
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = [node.name]
            hidden |= {f"{package}.{each}" for each in names if f"{package}.{each}" in modules()}
    assert hidden - SHADOWS == set()


def test_no_modules_import_each_other() -> None:
    graph = {name: imported(name) for name in modules()}
    found = {", ".join(sorted(group)) for group in components(graph) if len(group) > 1}
    assert found - CYCLES == set()


def components(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components: modules that reach each other."""

    def reached(start: str) -> set[str]:
        seen, todo = {start}, [start]
        while todo:
            new = graph[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    ahead = {name: reached(name) for name in graph}
    return [{other for other in ahead[name] if name in ahead[other]} for name in graph]


@pytest.mark.parametrize("name", sorted(modules()))
def test_a_module_can_be_read_in_a_sitting(name: str) -> None:
    assert name in LONG or len(modules()[name].read_text(encoding="utf-8").splitlines()) <= LONGEST
