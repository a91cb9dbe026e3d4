"""Compiled code is kept between runs, and never outlives what it was compiled from."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import umdp
from umdp import kernel as subject

CALLED = """
from umdp.kernel import kernel
from umdp.scratch.constants import FACTOR

@kernel
def called(x):
    return {body}
"""
CALLER = """
from umdp.kernel import kernel
from umdp.scratch.called import called

@kernel
def outer(x):  # defined before what it calls
    return inner(x)

@kernel
def inner(x):
    return called(x) + 1
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package named umdp with nothing but the module under test and a few kernels."""
    root = tmp_path / "there" / "umdp"
    (root / "scratch").mkdir(parents=True)
    shutil.copy(Path(umdp.__file__).parent / "kernel.py", root)
    for folder in (root, root / "scratch"):
        (folder / "__init__.py").write_text("")
    (root / "scratch" / "constants.py").write_text("FACTOR = 2\n")
    (root / "scratch" / "called.py").write_text(CALLED.format(body="FACTOR * x"))
    (root / "scratch" / "caller.py").write_text(CALLER)
    return root


def run(package: Path, **environment: str) -> tuple[int, int]:
    """Call the kernel in a process of its own; return its result, and how many compilations came from the cache."""
    code = (
        "from umdp import kernel; from umdp.scratch.caller import outer; kernel.LARGE = 0; "
        "print(outer(10), sum(outer.stats.cache_hits.values()), outer.stats.cache_path)"
    )
    away = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    found = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={**away, "PYTHONPATH": str(package.parent), **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    value, hits, _ = found.stdout.split()
    return int(value), int(hits)


def test_a_second_run_compiles_nothing(package: Path) -> None:
    assert run(package) == (21, 0)
    assert run(package) == (21, 1)


def test_a_change_in_a_kernel_of_another_file_is_seen(package: Path) -> None:
    assert run(package) == (21, 0)
    (package / "scratch" / "called.py").write_text(CALLED.format(body="FACTOR * x + 5"))
    assert run(package) == (26, 0)


def test_a_change_of_a_constant_of_a_called_kernel_is_seen(package: Path) -> None:
    assert run(package) == (21, 0)
    (package / "scratch" / "constants.py").write_text("FACTOR = 3\n")
    assert run(package) == (31, 0)
    (package / "scratch" / "constants.py").write_text("FACTOR = 2\n")
    assert run(package) == (21, 1)


@pytest.mark.slow
def test_the_cache_of_old_sources_is_removed(package: Path) -> None:
    for factor in range(subject.KEPT + 3):
        (package / "scratch" / "constants.py").write_text(f"FACTOR = {factor}\n")
        assert run(package) == (10 * factor + 1, 0)
    assert len(list((package / "__pycache__" / "kernels").glob("umdp.scratch.caller-*"))) == subject.KEPT


@pytest.mark.skipif(sys.platform == "win32", reason="folders are made read-only by their mode")
def test_a_read_only_package_is_cached_for_its_user(package: Path, tmp_path: Path) -> None:
    (package / "__pycache__").write_text("")  # a file: no folder can be made, whoever runs this
    cache = tmp_path / "cache"
    assert run(package, XDG_CACHE_HOME=str(cache)) == (21, 0)
    if sys.platform == "linux":
        assert run(package, XDG_CACHE_HOME=str(cache)) == (21, 1)
        assert list(cache.glob("umdp/kernels/umdp.scratch.caller-*"))


@pytest.mark.skipif(sys.platform != "linux", reason="the user's folder is somewhere else")
def test_where_nothing_can_be_written_kernels_still_run(package: Path, tmp_path: Path) -> None:
    for nowhere in (package / "__pycache__", tmp_path / "nowhere"):
        nowhere.write_text("")
    code = "from umdp.scratch.caller import outer; print(outer(10))"
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(tmp_path / "nowhere")}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "21\n"


def test_the_folder_that_numba_was_told_is_used(package: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    assert run(package, NUMBA_CACHE_DIR=str(chosen)) == (21, 0)
    assert run(package, NUMBA_CACHE_DIR=str(chosen)) == (21, 1)
    assert list(chosen.glob("umdp/umdp.scratch.caller-*"))


BOTH = """
import numpy as np, umdp, umdp.kernel
umdp.kernel.LARGE = 10**9
umdp.kernel.COMPILED = umdp.kernel.DELEGATED = umdp.kernel.LOADED = {patience}
specs = (
    'Pmaxmin=? [ !"lost" U "goal" ]', 'Pminmax=? [ F "goal" ]', 'R{{"cost"}}minmax=? [ F "goal"|"lost" ]',
    'Pmaxmin=? [ F<=9 "goal" ]', 'R{{"cost"}}maxmin=? [ Cdiscount=0.9 ]', 'R{{"cost"}}maxmin=? [ S ]',
)
for seed in range(4):
    rng = np.random.default_rng(seed)
    states, per = 9, 3
    rows = [rng.choice(states, per, replace=False) for _ in range(2 * (states - 2))]
    p = [rng.dirichlet(np.ones(per)) for _ in rows]
    model = umdp.MDP(
        [*range(0, 2 * (states - 2), 2), 2 * (states - 2), 2 * (states - 2) + 1, 2 * (states - 2) + 2],
        np.cumsum([0, *(per for _ in rows), 1, 1]), [*np.concatenate(rows), states - 2, states - 1],
        [*np.concatenate(p), 1.0, 1.0], labels={{"goal": [states - 2], "lost": [states - 1]}},
        rewards={{"cost": umdp.Rewards(rng.random(states))}},
    ).with_intervals(0.05)
    for spec in specs:
        found = umdp.solve(model, spec)
        print(found.status.name, found.lower.tolist(), found.upper.tolist(), found.policy.choice.tolist())
arms = umdp.benchmark.BENCHMARKS["bandit"]
for each in umdp.anytime(arms.build(), arms.spec, umdp.LUI(), seed=3, trajectories=60):
    print(each.trajectories, each.bracket, each.optimistic)
"""


def test_interpreted_and_compiled_kernels_give_the_same_digits() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", BOTH.format(patience=patience)], capture_output=True, text=True, check=True
        ).stdout
        for patience in ("1e9", "-1.0")
    ]
    assert said[0] == said[1]
    assert said[0].count("CERTIFIED") >= 20


def test_what_is_small_is_not_compiled_until_it_has_taken_long(monkeypatch: pytest.MonkeyPatch) -> None:
    @subject.kernel
    def added(x: np.ndarray) -> float:
        total = 0.0
        for each in x:
            total += each
        return total

    assert added(np.arange(10.0)) == 45.0
    assert not added.signatures
    monkeypatch.setattr(subject, "COMPILED", 0.0)
    added.due = 0.0
    assert added(np.arange(10.0)) == 45.0
    assert len(added.signatures) == 1


def test_what_is_large_is_compiled_at_once() -> None:
    @subject.kernel
    def counted(x: np.ndarray, times: int) -> int:
        return x.size * times

    assert counted(np.zeros(3), 2) == 6
    assert not counted.signatures
    assert counted(np.zeros(subject.LARGE + 1), 2) == 2 * subject.LARGE + 2
    assert len(counted.signatures) == 1


def test_what_delegates_is_interpreted_however_large_and_charged_for_all_that_it_calls() -> None:
    @subject.kernel
    def slow(x: np.ndarray) -> float:
        total = 0.0
        for each in x:
            total += each
        return total

    @subject.kernel(delegates=True)
    def leads(x: np.ndarray) -> float:
        return slow(x)

    slow.due = 1e9
    few = np.ones(subject.LARGE)
    assert sum(leads(few) for _ in range(20)) == 20.0 * subject.LARGE
    assert 0.0 < slow.spent < leads.spent
    assert leads(np.ones(subject.LARGE + 1)) == subject.LARGE + 1
    assert not leads.signatures
    assert len(slow.signatures) == 1


def test_what_interpreted_kernels_call_is_looked_at_now_and_then() -> None:
    @subject.kernel
    def inner(x: float) -> float:
        return x + 1.0

    @subject.kernel
    def outer(times: int) -> float:
        x = 0.0
        for _ in range(times):
            x = inner(x)
        return x

    assert outer(subject.SAMPLED) == subject.SAMPLED
    assert inner.spent == 0.0
    assert outer(1) == 1.0
    assert inner.spent > 0.0
    assert inner(1.0) == 2.0  # outside of all kernels it is looked at every time
    assert inner.passed == 0


def test_numbers_that_overflow_are_no_warning() -> None:
    @subject.kernel
    def grown(x: float) -> float:
        return np.float64(x) * np.float64(1e300)

    assert grown(1e300) == np.inf


def _flat(made: Any, annotation: str) -> str:
    """Return an annotation with the fields of named tuples in place of their names."""
    for name in re.findall(r"[A-Z]\w+", annotation):
        kind = made.py_func.__globals__.get(name)
        fields = kind.__annotations__ if hasattr(kind, "_fields") else None
        annotation = (
            annotation
            if fields is None
            else annotation.replace(name, f"[{', '.join(each.__forward_arg__ for each in fields.values())}]")
        )
    return annotation


def test_kernels_that_count_no_references_hand_no_arrays_on():
    """What such a kernel returned would be freed too early by one that counts, and what it is given never."""

    for each in pkgutil.walk_packages(umdp.__path__, "umdp."):
        if not each.name.endswith("__main__"):
            importlib.import_module(each.name)
    found = {
        made for name, module in list(sys.modules.items()) if name.startswith("umdp.")
        for made in vars(module).values() if hasattr(made, "py_func") and "inline" not in made.targetoptions
    }  # fmt: skip
    numbers = re.compile(r"(tuple|float|int|bool|None|Word|[\[\], ])+")
    arrays = {made for made in found if not numbers.fullmatch(_flat(made, str(made.py_func.__annotations__["return"])))}
    without = {made for made in found if not made.targetoptions.get("_nrt", True)}
    assert len(without) > 50
    assert not arrays & without
    for made in without:
        called = [made.py_func.__globals__.get(name) for name in made.py_func.__code__.co_names]
        assert not [other for other in called if any(other is each for each in arrays)], made


def test_kernels_leave_no_digit_to_numpy():
    """NumPy adds in pairs and has logarithms of its own: what is interpreted would have other digits than what is compiled."""
    reductions = {"sum", "mean", "prod", "cumsum", "dot", "vdot", "std", "var", "nansum"}
    functions = {"log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "power", "sin", "cos", "tan", "tanh"}
    flags = {"open_below.sum()", "open_above.sum()"}  # of integers, whose sums are exact
    found = []
    for path in sorted(Path(umdp.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for made in ast.parse(text).body if "@kernel" in text else ():
            if isinstance(made, ast.FunctionDef) and any("kernel" in ast.unparse(each) for each in made.decorator_list):
                for node in ast.walk(made):
                    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
                    numpys = name in functions and ast.unparse(node).startswith("np.")
                    if (
                        name in reductions
                        or numpys
                        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
                    ):
                        found.append(f"{path.name}:{node.lineno} {ast.unparse(node)}")
    assert not [each for each in found if each.split(" ", 1)[1] not in flags]
