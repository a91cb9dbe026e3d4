"""Branches on text: tests that look into a sentence made for people, found by their form in the code.

A sentence is a text of three words or more. A branch on text is

- a comparison (`==`, `!=`, `in`, `not in`) with a sentence, or with a constant of the package that is one; a case of a `match`;
- `startswith`, `endswith`, `removeprefix`, `find`, `index`, `count` of a text with a space between two words, or a search by a
  regular expression for one;
- any of these with a shorter text, if what is looked into is called a message, a reason, a note or the like, or is an exception
  turned into text; and `split` and `partition` of such a thing at something.

A test of whether a text is one of several words, of a member of an enum, or of a key of a table is none of these. Where another
package says nothing but sentences, the line may end with the comment ``# foreign``: such branches are counted apart.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Set

__all__ = ["branches_on_text", "constant_sentences"]

TEXTS = {"message", "messages", "reason", "reasons", "sentence", "sentences", "said", "note", "notes", "why", "warning"}
LOOKS = {"startswith", "endswith", "removeprefix", "removesuffix", "find", "index", "count"}
PARTS = {"split", "rsplit", "partition", "rpartition"}
SEARCHES = {"search", "match", "fullmatch", "findall"}
WORD = re.compile(r"[A-Za-z]{2,}")


def _words(text: str) -> int:
    """Return how many words a text has, signs of regular expressions aside; one, if none of them stand apart."""
    plain = re.sub(r"\\.|\[[^]]*\]", "", text)
    return len(re.findall(r"[A-Za-z'-]+", plain)) if " " in plain.strip() else min(len(WORD.findall(plain)), 1)


def constant_sentences(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return the names in each module that stand for a sentence: constants at its top, and those it imports from others."""
    own = {module: set(_assigned(tree)) for module, tree in trees.items()}
    found = {module: set(names) for module, names in own.items()}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                there = own.get(node.module or "", set())
                found[module] |= {alias.asname or alias.name for alias in node.names if alias.name in there}
    return found


def _assigned(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_sentence(_literals(node.value), 3):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id != "__all__")


def branches_on_text(tree: ast.Module, constants: Set[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """Yield the line and the code of every branch on text; `constants` are names that stand for sentences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            sides = [node.left, *node.comparators]
            texts = [text for side in sides for text in _literals(side)]
            named = any(_name(side) in constants for side in sides)
            if named or _is_sentence(texts, 3) or (any(map(_is_text, sides)) and _is_sentence(texts, 1)):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            inside = node.func.value
            if node.func.attr in SEARCHES and _name(inside) == "re":
                inside = node.args[-1]
            elif node.func.attr not in LOOKS | PARTS:
                continue
            texts = _literals(node.args[0])
            named = _name(node.args[0]) in constants or (
                node.func.attr in PARTS and texts != ["\n"] and _is_text(inside)
            )
            if named or _is_sentence(texts, 2) or (_is_text(inside) and _is_sentence(texts, 1)):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.MatchValue) and _is_sentence(_literals(node.value), 3):
            yield node.lineno, f"case {ast.unparse(node)}"


def _literals(node: ast.AST | None) -> list[str]:
    """Return the texts that stand in a literal, or in a tuple, list or set of them."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    inner = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    return [text for each in inner for text in _literals(each)]


def _is_sentence(texts: list[str], words: int) -> bool:
    return any(_words(text) >= words for text in texts)


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.AST) -> bool:
    """Whether this is something that people read: by its name, or an exception turned into text."""
    if isinstance(node, ast.Call):
        inner = node.args[0] if node.args else None
        turned = _name(node.func) == "str" and inner is not None and _name(inner) in ("error", "problem", "exception")
        return turned or (isinstance(node.func, ast.Attribute) and _is_text(node.func.value))
    if isinstance(node, ast.Subscript):
        return _is_text(node.value)
    return _name(node) in TEXTS
