"""Breaking the solver on purpose: `python -m bench.mutations --mutants 500 --jobs 2`.

Each mutant is a copy of the package with one small change (`bench.mutants`) in a module of the solver, of the compiled loop or of
products; the judge, which alone may say "certified", is left as it is. It runs the corpus (`bench.corpus`) in a process of its
own, interpreted: compiling takes longer than all there is to compute. What it says is compared with exact values, and with what
the package says unchanged. No mutant may lead to a false answer that is called certified.

Changes are made in lines that the corpus runs, so that each of them has a chance to be noticed. Mutants that are done are in
the file of results, and not tried again: a run that was stopped goes on where it was.

With `--judge` the judge itself is changed, all of its lines, and its own tests must find it (`bench.breaking`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

from bench.breaking import break_judge
from bench.mutants import Mutant, apply, mutants

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "umdp"
JUDGE = "solver/judge"
ASKED = "solver/objective.py"  # what a property asks is taken as given: another question has another answer
OTHERS = ("automata/product.py", "automata/product_kernels.py")
OUTCOMES = ("false certified", "false", "crash", "slow", "imprecise", "right")
SLOWER = 6.0  # times the processor time of the unchanged package, after which a mutant counts as slow
LEAST = 20  # seconds of processor time that every mutant gets
WALL = 20.0  # times the processor time, in seconds of the clock: what waits for ever is stopped, too


def modules() -> list[str]:
    """Return the modules that are changed, relative to the package."""
    solver = [str(path.relative_to(PACKAGE)) for path in sorted((PACKAGE / "solver").rglob("*.py"))]
    kept = [
        name
        for name in solver
        if not name.startswith(f"{JUDGE}/") and name not in (f"{JUDGE}.py", ASKED) and not name.endswith("__init__.py")
    ]
    return [*kept, *(name for name in OTHERS if (PACKAGE / name).exists())]


class Overlay:
    """A copy of the package, in which one module at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(PACKAGE, folder / "umdp", ignore=shutil.ignore_patterns("__pycache__"))

    def run(self, out: Path, *, seconds: float, lines: Path | None = None, learn: bool = False) -> tuple[int, float]:
        """Run the corpus; return the exit status, -1 where it was stopped, and the processor time taken."""
        environment = {
            **os.environ, "PYTHONPATH": f"{self.folder}:{ROOT}", "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore",
            "NUMBA_CACHE_DIR": str(self.folder / "kernels"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
        }  # fmt: skip
        if not learn:  # compiled files of an earlier state must not be taken for those of a change
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [sys.executable, "-m", "bench.corpus", "--out", str(out), "--processor", str(int(seconds) + 1)]
        command += [] if lines is None else ["--lines", str(lines)]

        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        over = threading.Timer(seconds * WALL, lambda: os.killpg(process.pid, signal.SIGKILL))
        over.start()
        said = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        over.cancel()
        code = os.waitstatus_to_exitcode(status)
        process.returncode = code
        (out.parent / "stderr").write_bytes(said[-4000:])
        stopped = code in (-signal.SIGXCPU, -signal.SIGKILL)
        return -1 if stopped else code, usage.ru_utime + usage.ru_stime

    def mutated(self, module: str, mutant: Mutant, out: Path, seconds: float) -> tuple[int, float]:
        """Run the corpus with one change, and take it back."""
        path = self.folder / "umdp" / module
        text, times = path.read_text(), path.stat()
        compiled = list((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"))
        bytes_of = {each: each.read_bytes() for each in compiled}
        try:
            for each in compiled:
                each.unlink()
            path.write_text(apply(text, mutant))
            return self.run(out, seconds=seconds)
        finally:
            path.write_text(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for each, content in bytes_of.items():
                each.write_bytes(content)


def read(out: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Any] | None]:
    """Return what came of the calls, by what was asked, and what was said at the end; None where the end was not reached."""
    calls: dict[str, dict[str, Any]] = {}
    last = None
    for line in out.read_text().splitlines() if out.exists() else ():
        try:
            about = json.loads(line)
        except ValueError:  # cut off while it was written
            continue
        if "call" in about:
            calls[about["call"]] = about
        else:
            last = about
    return calls, last


def _same(known: dict[str, Any] | None, about: dict[str, Any], what: str) -> bool:
    return known is not None and bool(known[what]) == bool(about[what])


def outcome_of(base: dict[str, dict[str, Any]], out: Path, code: int) -> dict[str, Any]:
    """Return what became of a mutant, compared with the package unchanged: the worst of it first."""
    calls, last = read(out)
    false = [c for n, c in calls.items() if c["false"] and not _same(base.get(n), c, "false")]
    certified = [c for c in false if c["status"] == "CERTIFIED"]
    crashed = [c for n, c in calls.items() if c["crash"] and not _same(base.get(n), c, "crash")]
    late = [c for c in crashed if c["crash"].startswith(("TooLong", "no answer"))]
    wide = [
        c for n, c in calls.items()
        if not c["limited"] and n in base and base[n]["status"] == "CERTIFIED" and c["status"] not in ("CERTIFIED", "")
    ]  # fmt: skip
    if certified:
        outcome = "false certified"
    elif false:
        outcome = "false"
    elif len(crashed) > len(late) or (code not in (0, -1)):
        outcome = "crash"
    elif code == -1 or late or last is None:
        outcome = "slow"
    else:
        outcome = "imprecise" if wide else "right"
    shown = (certified or false or crashed or [None])[0]
    counted = [n for n in (each.get("refused") for each in (*calls.values(), last or {})) if n is not None]
    return {
        "outcome": outcome, "certified": len(certified), "false": len(false), "crashes": len(crashed), "wide": len(wide),
        "refused": max(counted, default=None), "finished": last is not None, "shown": shown,
    }  # fmt: skip


def chosen(lines: set[tuple[str, int]] | None, seed: int, only: tuple[str, ...] = ()) -> list[tuple[str, Mutant]]:
    """Return all changes in lines that are run, in an order that depends on the seed and takes all modules in turn.

    With `only`, these are the modules whose names begin with one of the texts.
    """
    by_module: dict[str, list[tuple[str, Mutant]]] = {}
    for module in modules():
        if only and not module.startswith(only):
            continue
        found = list(mutants((PACKAGE / module).read_text()))
        if lines is not None:
            found = [m for m in found if any((module, n) in lines for n in range(m.line, min(m.end, m.line + 3) + 1))]
        random.Random(f"{seed} {module}").shuffle(found)
        if found:
            by_module[module] = [(module, m) for m in found]
    # Large modules come up more often, but none is left out: turns are spread evenly over the length of the list.
    order = [((i + 0.5) / len(each) ** 0.5, pair) for each in by_module.values() for i, pair in enumerate(each)]
    order.sort(key=lambda entry: (entry[0], entry[1][0]))
    return [pair for _, pair in order]


def table(results: list[dict[str, Any]]) -> str:
    """Return the outcomes by module and by the kind of change."""
    lines = []
    for title, key in (("module", "module"), ("change", "change")):
        rows: dict[str, Counter[str]] = defaultdict(Counter)
        for each in results:
            rows[each[key]][each["outcome"]] += 1
        rows["all"] = sum(rows.values(), Counter())
        lines += [f"| {title} | mutants | " + " | ".join(OUTCOMES) + " |", "|---" * (len(OUTCOMES) + 2) + "|"]
        for name, row in sorted(rows.items(), key=lambda item: (item[0] == "all", item[0])):
            lines.append(f"| {name} | {sum(row.values())} | " + " | ".join(str(row[o]) for o in OUTCOMES) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Try mutants until there are enough, or the time is up."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutations", description=__doc__)
    parser.add_argument(
        "--mutants", type=int, help="how many in all, those in the file of results included; 60, all with --judge"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more after so many")
    parser.add_argument(
        "--results", help="a JSON object a mutant; those in it are not tried again; mutants.jsonl, judge-mutants.jsonl"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="PREFIX",
        help="change modules alone whose names begin so, such as automata/ or solver/temporal; may be repeated",
    )  # fmt: skip
    parser.add_argument("--everywhere", action="store_true", help="also change lines that the corpus does not run")
    parser.add_argument("--judge", action="store_true", help="change the judge, and see whether its own tests find it")
    given = parser.parse_args()
    if given.judge:
        results_path = Path(given.results or "judge-mutants.jsonl")
        break_judge(given.mutants, given.seed, given.jobs, given.seconds, results_path)
        return
    wanted_count = 60 if given.mutants is None else given.mutants
    begun = time.monotonic()
    results_path = Path(given.results or "mutants.jsonl")
    results = [json.loads(line) for line in results_path.read_text().splitlines()] if results_path.exists() else []
    results = [each for each in results if each["seed"] == given.seed]
    done = {(each["module"], each["mutant"]) for each in results}
    with tempfile.TemporaryDirectory(prefix="umdp-mutants-") as name:
        folder = Path(name)
        overlays: Queue[tuple[Overlay, Path]] = Queue()
        for job in range(given.jobs):
            overlay, place = Overlay(folder / f"job{job}" / "src"), folder / f"job{job}"
            code, cost = overlay.run(place / "base", seconds=600, learn=True)
            if code != 0:
                raise SystemExit(f"the package unchanged does not run the corpus:\n{(place / 'stderr').read_text()}")
            overlays.put((overlay, place))
        base, last = read(folder / "job0" / "base")
        assert last is not None
        traced = folder / "lines"
        first, place = overlays.queue[0]
        first.run(place / "out", seconds=3000, lines=traced)
        lines = None if given.everywhere else {(module, line) for module, line in json.loads(traced.read_text())}
        order = chosen(lines, given.seed, tuple(given.only))
        wanted = [(module, m) for module, m in order[:wanted_count] if (module, m.name) not in done]
        seconds = max(LEAST, SLOWER * cost)
        false = sum(c["false"] for c in base.values())
        print(
            f"{len(base)} calls, {false} false unchanged, refused {last['refused']}, {cost:.1f} s of processor time; "
            f"{len(order):,} changes in {len({m for m, _ in order})} modules are possible; {len(done)} done, {len(wanted)} to do",
            flush=True,
        )

        def one(pair: tuple[str, Mutant]) -> dict[str, Any] | None:
            if time.monotonic() - begun > given.seconds:
                return None
            overlay, place = overlays.get()
            out = place / "out"
            try:
                out.unlink(missing_ok=True)
                module, mutant = pair
                code, took = overlay.mutated(module, mutant, out, seconds)
                about = outcome_of(base, out, code)
            finally:
                overlays.put((overlay, place))
            if about["refused"] is not None and last["refused"] is not None:
                about["refused"] = max(about["refused"] - last["refused"], 0)
            known = {
                "seed": given.seed,
                "module": module,
                "mutant": mutant.name,
                "change": mutant.kind,
                "took": round(took, 2),
            }
            return known | about

        with ThreadPoolExecutor(given.jobs) as pool, results_path.open("a") as kept:
            for found in pool.map(one, wanted):
                if found is None:
                    continue
                results.append(found)
                kept.write(json.dumps(found) + "\n")
                kept.flush()
                if found["outcome"].startswith("false"):
                    print(json.dumps(found)[:600], flush=True)
    elapsed = time.monotonic() - begun
    print(table(results))
    counts = Counter(each["outcome"] for each in results)
    counted = [each["refused"] for each in results if each["refused"] is not None]
    refusals = (
        f"the judge refused something in {sum(n > 0 for n in counted)} of {len(counted)}"
        if counted
        else "no judge that counts"
    )
    print(f"{len(results)} mutants, {elapsed:.0f} s: {dict(counts)}; {refusals}")
    raise SystemExit(counts["false certified"] > 0)


if __name__ == "__main__":
    main()
