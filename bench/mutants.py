"""Small changes of a module, each of which may make it wrong: what `bench.mutations` tries one at a time."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "apply", "mutants"]

FLIPS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
SWAPS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
}
ROUNDING = (
    "nextafter",
    "below",
    "above",
    "up",
    "down",
    "outward",
)  # calls whose first argument is what they move outwards


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, which node of the module's tree (in the order of `ast.walk`), and what is done to it."""

    line: int
    end: int
    node: int
    operator: str

    @property
    def name(self) -> str:
        """What it is known by, as long as the module does not change."""
        return f"{self.line}:{self.node}:{self.operator}"

    @property
    def kind(self) -> str:
        """What is done, without the particulars."""
        word = self.operator.split()[0]
        return word if word in ("compare", "constant", "operator", "index") else self.operator.rstrip("0123456789 ")


def _skipped(tree: ast.Module) -> set[int]:
    """Return the nodes that are no code: annotations, decorators, and what is said of the module itself."""
    out: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += node.decorator_list
            parts += [a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg) and a.annotation is not None]
            parts += [node.returns] if node.returns is not None else []
        elif isinstance(node, ast.ClassDef):
            parts += [*node.decorator_list, *node.bases]
        elif isinstance(node, ast.AnnAssign):
            parts += [node.annotation]
        elif (
            isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert)
            or (
                isinstance(node, ast.Assign)
                and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
            )
            or (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
        ):
            parts += [node]
        for part in parts:
            out.update(id(each) for each in ast.walk(part))
    return out


def mutants(text: str) -> Iterator[Mutant]:
    """Yield every change that is known of a module."""
    tree = ast.parse(text)
    skipped = _skipped(tree)
    keys = _keys(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in skipped or not hasattr(node, "lineno"):
            continue
        for operator in _operators(node, id(node) in keys):
            yield Mutant(node.lineno, node.end_lineno or node.lineno, number, operator)


def _keys(tree: ast.Module) -> set[int]:
    """Return the tuples by which something is kept: what is assigned to a name with "key" in it, and indices of tables."""
    out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            if any(isinstance(t, ast.Name) and "key" in t.id.lower() for t in node.targets):
                out.add(id(node.value))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            named = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            if any(word in named for word in ("memo", "cache", "known", "kept")):
                out.add(id(node.slice))
    return out


def _operators(node: ast.AST, is_key: bool) -> Iterator[str]:
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in FLIPS.get(type(op), ()):
                yield f"compare {i} {other.__name__}"
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant not"
        elif isinstance(node.value, int | float):
            yield "constant +1"
            yield "constant -1"
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SWAPS:
        yield f"operator {SWAPS[type(node.op)].__name__}"
    elif isinstance(node, ast.BoolOp):
        yield "and or"
        yield "drop last condition"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "drop unary"
    elif isinstance(node, ast.Name | ast.Attribute):
        if NAMES.get(node.id if isinstance(node, ast.Name) else node.attr) and isinstance(node.ctx, ast.Load):
            yield "swap name"
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "negate condition"
        if not isinstance(node, ast.While):
            yield "always"
            yield "never"
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ROUNDING and node.args:
            yield "no rounding"
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if isinstance(node.slice, ast.Name | ast.BinOp):
            yield "index +1"
            yield "index -1"
    elif isinstance(node, ast.Tuple) and is_key and len(node.elts) > 1:
        for i in range(len(node.elts)):
            yield f"drop key {i}"
    if isinstance(node, ast.Assign | ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "delete statement"
    if isinstance(node, ast.Continue | ast.Break):
        yield "delete statement"


def _shifted(index: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(index, ast.Add() if by > 0 else ast.Sub(), ast.Constant(1))


def apply(text: str, mutant: Mutant) -> str:
    """Return the text of the changed module."""
    tree = ast.parse(text)
    node = next(each for number, each in enumerate(ast.walk(tree)) if number == mutant.node)
    word, *rest = mutant.operator.split()
    new: ast.AST = node
    if word == "compare":
        assert isinstance(node, ast.Compare)
        node.ops[int(rest[0])] = getattr(ast, rest[1])()
    elif word == "constant":
        assert isinstance(node, ast.Constant)
        value = node.value
        new = ast.Constant(not value if rest[0] == "not" else value + 1 if rest[0] == "+1" else value - 1)  # type: ignore[operator]
    elif word == "operator":
        assert isinstance(node, ast.BinOp | ast.AugAssign)
        node.op = getattr(ast, rest[0])()
    elif mutant.operator == "and or":
        assert isinstance(node, ast.BoolOp)
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif mutant.operator == "drop last condition":
        assert isinstance(node, ast.BoolOp)
        new = copy.copy(node)
        new.values = node.values[:-1]
        new = new.values[0] if len(new.values) == 1 else new
    elif mutant.operator == "drop unary":
        assert isinstance(node, ast.UnaryOp)
        new = node.operand
    elif mutant.operator == "swap name":
        if isinstance(node, ast.Name):
            node.id = NAMES[node.id]
        elif isinstance(node, ast.Attribute):
            node.attr = NAMES[node.attr]
    elif word in ("negate", "always", "never"):
        assert isinstance(node, ast.If | ast.IfExp | ast.While)
        node.test = ast.UnaryOp(ast.Not(), node.test) if word == "negate" else ast.Constant(word == "always")
    elif mutant.operator == "no rounding":
        assert isinstance(node, ast.Call)
        new = node.args[0]
    elif word == "index":
        assert isinstance(node, ast.Subscript)
        node.slice = _shifted(node.slice, 1 if rest[0] == "+1" else -1)
    elif mutant.operator.startswith("drop key"):
        assert isinstance(node, ast.Tuple)
        del node.elts[int(rest[1])]
    elif mutant.operator == "delete statement":
        new = ast.Pass()
    else:
        raise ValueError(f"there is no operator {mutant.operator!r}")
    if new is not node:
        _Replace(node, new).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


class _Replace(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Visit a node."""
        return self.new if node is self.old else super().generic_visit(node)
