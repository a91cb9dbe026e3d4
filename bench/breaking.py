"""Breaking the judge on purpose, for `python -m bench.mutations --judge`: every change must be found by the judge's own tests.

Each mutant is one small change (`bench.mutants`) of a module of the judge. The tests run interpreted, in a copy of a process that
has imported everything but the judge, so that a mutant takes as long as its tests do. They stop at the first that fails.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from bench.mutants import Mutant, apply, mutants

__all__ = ["break_judge", "judge_mutants"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src" / "umdp" / "solver" / "judge"
PACKAGE = "umdp.solver.judge"
TESTS = "test_judge_*.py"  # functions without arguments, quick where nothing is compiled
OUTCOMES = ("found", "slow", "survived")
SECONDS = 6  # of processor time, after which a mutant counts as found: it does not end


def judge_mutants(seed: int) -> list[tuple[str, Mutant]]:
    """Return all changes of the judge, in an order that depends on the seed."""
    found = [(path.name, m) for path in sorted(FOLDER.glob("*.py")) for m in mutants(path.read_text())]
    random.Random(seed).shuffle(found)
    return found


class _Changed(SourceFileLoader):
    """Loads a module from another text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text."""
        return compile(self.text, self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds one module of the judge changed."""

    def __init__(self, path: Path, text: str) -> None:
        self.name = PACKAGE if path.stem == "__init__" else f"{PACKAGE}.{path.stem}"
        self.path, self.text = path, text

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find it."""
        if fullname != self.name:
            return None
        inside = [str(self.path.parent)] if fullname == PACKAGE else None
        loader = _Changed(fullname, str(self.path), self.text)
        return spec_from_file_location(fullname, self.path, loader=loader, submodule_search_locations=inside)


def _tests() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the judge's tests, by name; they are imported here, with the judge."""
    for path in sorted((ROOT / "tests" / "solver").glob(TESTS)):
        for name, test in vars(import_module(f"solver.{path.stem}")).items():
            if name.startswith("test_"):
                yield f"{path.stem}::{name}", test


def _called() -> dict[str, list[tuple[str, int, int]]]:
    """Run all tests on the judge unchanged; return the functions of the judge that each calls: module, first and last line."""
    out: dict[str, list[tuple[str, int, int]]] = {}
    for name, test in _tests():
        seen: set[CodeType] = set()

        def note(frame: FrameType, event: str, _: Any, seen: set[CodeType] = seen) -> None:
            if event == "call":
                seen.add(frame.f_code)

        sys.setprofile(note)
        try:
            test()
        finally:
            sys.setprofile(None)
        own = [code for code in seen if Path(code.co_filename).parent == FOLDER]
        ends = [max((line for *_, line in code.co_lines() if line), default=0) for code in own]
        out[name] = [
            (Path(code.co_filename).name, code.co_firstlineno, end) for code, end in zip(own, ends, strict=True)
        ]
    return out


def _is_reached(functions: list[tuple[str, int, int]], module: str, line: int) -> bool:
    return any(name == module and first <= line <= last for name, first, last in functions)


def _survives(module: str, mutant: Mutant, called: dict[str, list[tuple[str, int, int]]], out: Path) -> int:
    """Run the tests that call what is changed, until one fails, and write down which; return how many failed.

    What belongs to no function is run by all of them.
    """
    everywhere = not any(_is_reached(functions, module, mutant.line) for functions in called.values())
    path = FOLDER / module
    sys.meta_path.insert(0, _Finder(path, apply(path.read_text(), mutant)))
    name = "import"
    try:
        for name, test in _tests():
            if everywhere or _is_reached(called[name], module, mutant.line):
                test()
    except Exception as problem:
        out.write_text(f"{name} {type(problem).__name__}")
        return 1
    return 0


def _in_a_copy(work: Callable[[], int], seconds: float) -> int:
    """Do something in a copy of this process, which ends after so much processor time; return the id of the copy."""
    child = os.fork()
    if child:
        return child
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        os._exit(work())
    except BaseException:
        os._exit(1)


def _warm() -> None:
    """Import everything but the judge, and work out what its tests compare with."""
    import numpy

    import_module("umdp.kernel")
    numpy.seterr(all="ignore")
    sys.path.insert(0, str(ROOT / "tests"))
    for path in sorted((ROOT / "tests" / "solver").glob("judged*.py")):
        for prepared in getattr(import_module(f"solver.{path.stem}"), "PREPARED", ()):
            prepared()
    gc.collect()
    gc.freeze()  # so that copies of this process share what it has
    if any(name.startswith(PACKAGE) for name in sys.modules):
        raise SystemExit("the judge is imported already: what its tests compare with must not depend on it")


def _outcomes(todo: list[tuple[str, Mutant]], jobs: int, until: float) -> Iterator[tuple[str, Mutant, dict[str, Any]]]:
    """Yield what became of mutants, as they come."""
    running: dict[int, tuple[str, Mutant, Path]] = {}
    waiting = list(reversed(todo))
    with tempfile.TemporaryDirectory(prefix="umdp-judge-") as folder:
        known = Path(folder) / "called"
        _, status = os.waitpid(_in_a_copy(lambda: known.write_text(json.dumps(_called())) and 0, 600), 0)
        if status:
            raise SystemExit(f"the judge unchanged does not pass its tests, tests/solver/{TESTS}")
        called = json.loads(known.read_text())
        while waiting or running:
            while waiting and len(running) < jobs and time.monotonic() < until:
                module, mutant = waiting.pop()
                out = Path(folder) / f"{module} {mutant.name}"
                work = partial(_survives, module, mutant, called, out)
                running[_in_a_copy(work, SECONDS)] = module, mutant, out
            if not running:
                return
            child, status, usage = os.wait3(0)
            module, mutant, out = running.pop(child)
            code = os.waitstatus_to_exitcode(status)
            stopped = code in (-signal.SIGXCPU, -signal.SIGKILL)
            by = out.read_text() if out.exists() else ""
            yield module, mutant, {
                "outcome": "survived" if code == 0 else "slow" if stopped else "found",
                "by": by, "took": round(usage.ru_utime + usage.ru_stime, 2),
            }  # fmt: skip


def _table(results: list[dict[str, Any]]) -> str:
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for each in results:
        rows[each["module"]][each["outcome"]] += 1
    rows["all"] = sum(rows.values(), Counter())
    lines = ["| module | mutants | " + " | ".join(OUTCOMES) + " |", "|---" * (len(OUTCOMES) + 2) + "|"]
    for name, row in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
        lines.append(f"| {name} | {sum(row.values())} | " + " | ".join(str(row[o]) for o in OUTCOMES) + " |")
    return "\n".join(lines)


def break_judge(count: int | None, seed: int, jobs: int, seconds: float, results_path: Path) -> list[dict[str, Any]]:
    """Try mutants of the judge, all or so many; print a table and the survivors, and return what became of each.

    What is in the file of results, of the same text of the module, is not tried again.
    """
    os.environ.update(NUMBA_DISABLE_JIT="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
    until = time.monotonic() + seconds
    _warm()
    order = judge_mutants(seed)[:count]
    texts = {path.name: path.read_text() for path in FOLDER.glob("*.py")}
    lines = {name: text.splitlines() for name, text in texts.items()}
    known = [json.loads(line) for line in results_path.read_text().splitlines()] if results_path.exists() else []

    def key(module: str, mutant: Mutant) -> str:
        return f"{module} {mutant.name} {lines[module][mutant.line - 1].strip()}"

    wanted = {key(*pair) for pair in order}
    results = list({each["mutant"]: each for each in known if each["mutant"] in wanted}.values())
    done = {each["mutant"] for each in results}
    todo = [pair for pair in order if key(*pair) not in done]
    print(f"{len(order)} changes of the judge; {len(done)} done, {len(todo)} to do", flush=True)
    with results_path.open("a") as kept:
        for module, mutant, found in _outcomes(todo, jobs, until):
            about = {"mutant": key(module, mutant), "module": module, "change": mutant.kind, **found}
            results.append(about)
            kept.write(json.dumps(about) + "\n")
            kept.flush()
    print(_table(results))
    for each in sorted(results, key=lambda r: (r["module"], int(r["mutant"].split()[1].split(":")[0]))):
        if each["outcome"] == "survived":
            print(f"survived: {each['mutant']}")
    return results
