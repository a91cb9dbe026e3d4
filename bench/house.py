"""How the package is built, in numbers: `python -m bench.house [BEFORE]`, with another checkout as the column before.

Counted is what stands in src/umdp:

- parameters: those of a function but `self` and `cls`; what a public one takes by keyword only is an option and not counted. A
  kernel has the decorator `kernel`. Commands, whose parameters are the options of the command line, are counted apart.
- code lines: lines with a token on them that is neither a comment nor part of a docstring (a statement that is only a text).
- length of a function: its code lines from `def` to its end, so that neither its docstring nor its decorators count.
- cycles: groups of modules that import each other, by what is imported at the top of a module (what functions import is not
  looked at); and the imports for type checking alone that lead back to the module they stand in.
- names in two packages: names of files, `__init__` aside.
- branches on text: see `bench.sentences`; the way of a command: see `bench.way`.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.sentences import branches_on_text, constant_sentences
from bench.way import way

__all__ = ["Found", "House", "survey"]

HERE = Path(__file__).resolve().parents[1]
PARAMETERS, KERNEL_PARAMETERS, LINES = 8, 10, 60
WAYS = {
    "umdp learn grid": ("learn", "grid", "--trajectories", "1000"),
    "umdp check rover": ("check", "examples/rover.tra", 'Pmaxmin=? [ !"crater" U "base" ]'),
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Found:
    """A function: where it stands, and what is counted of it."""

    place: str
    parameters: int
    lines: int
    kernel: bool
    command: bool

    @property
    def crowded(self) -> bool:
        """Whether it has too many parameters."""
        return self.parameters > (KERNEL_PARAMETERS if self.kernel else PARAMETERS)


@dataclass
class House:
    """All that is counted of one checkout, each number with the places it comes from."""

    modules: int = 0
    lines: int = 0
    functions: list[Found] = field(default_factory=list)
    stems: dict[str, list[str]] = field(default_factory=dict)
    cycles: list[list[str]] = field(default_factory=list)
    typed_cycles: list[list[str]] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    ways: dict[str, list[str]] = field(default_factory=dict)

    def crowded(self, *, kernel: bool = False, command: bool = False) -> list[str]:
        """Return the functions, kernels or commands with too many parameters, the most first."""
        found = [each for each in self.functions if each.crowded and (each.kernel, each.command) == (kernel, command)]
        return [f"{each.place} {each.parameters}" for each in sorted(found, key=lambda each: -each.parameters)]

    def most(self, *, kernel: bool) -> int:
        """Return the largest number of parameters."""
        kind = [each.parameters for each in self.functions if each.kernel == kernel and not each.command]
        return max(kind, default=0)

    def long(self) -> list[str]:
        """Return the functions that are too long, the longest first."""
        found = [each for each in self.functions if each.lines > LINES]
        return [f"{each.place} {each.lines}" for each in sorted(found, key=lambda each: -each.lines)]

    def rows(self) -> dict[str, int | list[Any]]:
        """Return what is counted: a number, or a list whose length is the number."""
        ways: dict[str, int | list[Any]] = {}
        for name, found in self.ways.items():
            ways[f"modules on the way of `{name}`"] = sorted({each.split(":")[0] for each in found})
            ways[f"functions on the way of `{name}`"] = found
        return {
            f"functions with more than {PARAMETERS} parameters": self.crowded(),
            "most parameters of a function": self.most(kernel=False),
            f"kernels with more than {KERNEL_PARAMETERS} parameters": self.crowded(kernel=True),
            "most parameters of a kernel": self.most(kernel=True),
            f"commands with more than {PARAMETERS} parameters": self.crowded(command=True),
            f"functions over {LINES} lines": self.long(),
            "modules": self.modules,
            "code lines": self.lines,
            "cycles of imports": self.cycles,
            "cycles with imports for type checking": self.typed_cycles,
            "imports for type checking that lead back": self.closing,
            "names in two packages": [f"{stem}: {', '.join(found)}" for stem, found in self.stems.items()],
            "branches on text": self.sentences,
            "branches on text of other packages": self.foreign,
            **ways,
        }  # fmt: skip


def survey(checkout: Path, package: str = "umdp") -> House:
    """Count what stands in the files of a checkout; `ways` is left empty."""
    root, house = checkout / "src" / package, House()
    paths = {}
    for path in sorted(root.rglob("*.py")):
        parts = (package, *path.relative_to(root).with_suffix("").parts)
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    constants = constant_sentences(trees)
    stems = defaultdict(list)
    for name, path in paths.items():
        place, lines = str(path.relative_to(root)), _code_lines(texts[name], trees[name])
        house.modules, house.lines = house.modules + 1, house.lines + len(lines)
        house.functions += _functions(trees[name], place, lines)
        written = texts[name].splitlines()
        for line, what in branches_on_text(trees[name], constants[name]):
            kind = house.foreign if written[line - 1].endswith("# foreign") else house.sentences
            kind.append(f"{place}:{line} {what}")
        if path.stem not in ("__init__", "__main__"):
            stems[path.stem].append(name.rpartition(".")[0])
    house.stems = {stem: found for stem, found in sorted(stems.items()) if len(found) > 1}
    plain, typed = ({name: _imported(name, trees, typing=typing) for name in trees} for typing in (False, True))
    ahead = {name: _reached(plain, name) for name in trees}
    house.cycles, house.typed_cycles = _cycles(plain), _cycles(typed)
    house.closing = [f"{a} -> {b}" for a in trees for b in sorted(typed[a] - plain[a]) if a in ahead[b]]
    return house


def _code_lines(text: str, tree: ast.Module) -> set[int]:
    """Return the numbers of lines with code on them."""
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in empty:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _functions(tree: ast.Module, place: str, lines: set[int]) -> Iterator[Found]:
    """Yield every function, those inside others too."""
    todo: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while todo:
        above, prefix, in_class = todo.pop()
        for node in ast.iter_child_nodes(above):
            if not isinstance(node, Function | ast.ClassDef):
                todo.append((node, prefix, in_class))
                continue
            name = f"{prefix}{node.name}"
            todo.append((node, f"{name}.", isinstance(node, ast.ClassDef)))
            if isinstance(node, Function):
                made = [ast.unparse(each).split("(")[0].split(".")[-1] for each in node.decorator_list]
                own = sum(line in lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))
                count = _parameters(node, name, bound=in_class and "staticmethod" not in made)
                if "overload" not in made:
                    command = "command" in made or "typer." in ast.unparse(node.args)
                    yield Found(f"{place}:{name}", count, own, "kernel" in made, command)


def _parameters(node: Function, name: str, *, bound: bool) -> int:
    given = node.args
    public = all(not part.startswith("_") or part.endswith("__") for part in name.split("."))
    count = len(given.posonlyargs) + len(given.args) + (given.vararg is not None) - bound
    return count if public else count + len(given.kwonlyargs) + (given.kwarg is not None)


def _imported(name: str, names: dict[str, ast.Module], *, typing: bool) -> set[str]:
    """Return the modules of the package that a module imports at its top; with `typing` also those for type checking alone."""
    found: set[str] = set()
    todo: list[ast.AST] = [names[name]]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            inner = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {whole if whole in names else node.module for whole in inner.values()}
        elif not isinstance(node, Function | ast.Lambda):
            unseen = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING") and not typing
            todo += node.orelse if unseen else ast.iter_child_nodes(node)  # type: ignore[attr-defined]
    return (found & names.keys()) - {name}


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen, todo = {start}, [start]
    while todo:
        new = graph[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def _cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other."""
    ahead = {name: _reached(graph, name) for name in graph}
    groups = {tuple(sorted(other for other in ahead[name] if name in ahead[other])) for name in graph}
    return sorted(list(group) for group in groups if len(group) > 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.house", description=__doc__)
    parser.add_argument("before", type=Path, nargs="?", help="another checkout")
    parser.add_argument("--places", action="store_true", help="print where all of it stands in this checkout")
    given = parser.parse_args()
    columns = []
    for checkout in [HERE] if given.before is None else [given.before.resolve(), HERE]:
        house = survey(checkout)
        house.ways = {name: way(checkout, words) for name, words in WAYS.items()}
        columns.append(house.rows())
    print("|  | " + ("here" if given.before is None else "before | here") + " |")
    print("|---|" + "---|" * len(columns))
    for name in columns[-1]:
        print(f"| {name} | " + " | ".join(f"{_size(each[name]):,}" for each in columns) + " |")
    for name, found in columns[-1].items():
        if isinstance(found, list) and found and (given.places or name == "branches on text"):
            print(f"\n{name}:")
            print("\n".join(f"  {', '.join(each) if isinstance(each, list) else each}" for each in found))


def _size(found: int | list[Any]) -> int:
    return found if isinstance(found, int) else len(found)


if __name__ == "__main__":
    main()
