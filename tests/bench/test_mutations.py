"""Mutants: each change is one change of valid code, and what became of one is judged by exact values alone."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from bench.breaking import judge_mutants
from bench.mutants import apply, mutants
from bench.mutations import JUDGE, PACKAGE, chosen, modules, outcome_of

TEXT = """
def f(x, memo, *, of=(1, 2)):
    key = (x, of)
    if key not in memo and x < 3:
        memo[key] = max(x, -1.5) + nextafter(x, 0)
    for i in range(2):
        x += of[i]
    return x if not x else min(x, 2)
"""


def test_every_change_changes_valid_code_and_has_a_name_of_its_own() -> None:
    found = list(mutants(TEXT))
    texts = {apply(TEXT, mutant) for mutant in found}
    assert len({mutant.name for mutant in found}) == len(found)
    plain = ast.unparse(ast.parse(TEXT))
    assert all(ast.parse(text) and text != plain for text in texts)
    kinds = {mutant.kind for mutant in found}
    assert {"compare", "constant", "operator", "swap name", "negate condition", "always", "never", "index"} <= kinds
    assert {"drop key", "no rounding", "delete statement", "and or", "drop unary"} <= kinds


def test_the_judge_is_not_changed() -> None:
    assert not [name for name in modules() if name.startswith(JUDGE)]
    assert {"automata/product.py", "solver/unbounded.py", "solver/system.py", "solver/system_kernels.py"} <= set(
        modules()
    )


def test_some_modules_alone() -> None:
    names = {module for module, _ in chosen(None, 1, ("automata/", "solver/temporal"))}
    assert names == {"automata/product.py", "automata/product_kernels.py", "solver/temporal.py"}


def test_every_function_of_the_judge_is_changed() -> None:
    found = judge_mutants(1)
    assert judge_mutants(1) == found
    assert sorted(map(repr, judge_mutants(2))) == sorted(map(repr, found))
    for path in (PACKAGE / JUDGE).glob("*.py"):
        changed = {mutant.line for module, mutant in found if module == path.name}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name not in ("refused", "of"):  # nothing in it can be changed
                assert changed & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)), node.name


def call(number: int, **more: Any) -> dict[str, Any]:
    plain = {"kind": "F", "status": "CERTIFIED", "false": False, "checked": 1, "crash": "", "limited": False}
    return {"call": f"call {number}", **plain, **more}


END = {"seconds": 1.0, "refused": 3}


@pytest.mark.parametrize(
    ("lines", "code", "outcome"),
    [
        ([call(0), call(1, false=True), END], 0, "right"),  # as wrong as before
        ([call(0, false=True), call(1, crash="Error"), END], 0, "false certified"),
        ([call(0, false=True, status="IMPRECISE"), END], 0, "false"),
        ([call(0, crash="Error"), END], 0, "crash"),
        ([call(0)], 1, "crash"),
        ([call(0)], -1, "slow"),
        ([call(0, crash="TooLong: no answer"), END], 0, "slow"),
        ([call(0, status="IMPRECISE"), END], 0, "imprecise"),
        ([call(0, false=True)], -1, "false certified"),  # said before the time was up
    ],
)
def test_the_worst_that_was_said_counts(tmp_path: Path, lines: list[dict[str, Any]], code: int, outcome: str) -> None:
    base = {each["call"]: each for each in (call(0), call(1, false=True))}
    out = tmp_path / "out"
    out.write_text("\n".join(map(json.dumps, lines)))
    found = outcome_of(base, out, code)
    assert found["outcome"] == outcome
    assert found["refused"] == (3 if END in lines else None)


def test_what_was_refused_before_a_time_out_counts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("\n".join(json.dumps(call(n, refused=n)) for n in range(3)))
    assert outcome_of({}, out, -1)["refused"] == 2
