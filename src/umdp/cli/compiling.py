"""Compiling in the background: another process compiles what ordinary commands need, while the first of them goes on.

`python -m umdp.cli.compiling` does it at once, for an image of a machine, say. Nothing is started in the background where
UMDP_BACKGROUND is 0.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from umdp.model import IntervalMDP
    from umdp.spec import Spec

__all__ = ["compile_kernels", "compile_with_another_process"]

SWITCH = "UMDP_BACKGROUND"
LONGEST = 600.0  # seconds after which another process is taken to have failed
NICE = 10


def compile_with_another_process() -> bool:
    """Have kernels compiled in the background, where they have not been; return whether somebody is at it."""
    from umdp.kernel import compiles_elsewhere

    folder = _folder()
    if folder is None or os.environ.get(SWITCH) == "0" or _done(folder).exists():
        return False
    if not _is_busy(folder):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            subprocess.Popen([sys.executable, "-m", __name__], start_new_session=True, **quiet)  # type: ignore[call-overload]
        except OSError:
            return False
    compiles_elsewhere()
    return True


def compile_kernels() -> None:
    """Compile what learning and checking need, in this process; at once, however little there is to do."""
    from umdp import kernel

    kernel.COMPILED = 0.0
    import umdp
    from umdp.benchmark import BENCHMARKS

    grid = BENCHMARKS["grid"]
    process, cost = grid.build(), 'R{"cost"}minmax=? [ F "goal" ]'
    _compile_judge(process.with_intervals(0.02), grid.spec)
    for learner in ("lui", "confidence-sequence", "pac", "map", "ucrl2", "clopper-pearson"):
        for snapshot in umdp.anytime(process, grid.spec, learner, horizon=grid.horizon, trajectories=20):
            _ = snapshot.performance
    steps = umdp.MDP(
        process.state_ptr, process.choice_ptr, process.successor, process.probability, initial=process.initial,
        labels=process.labels, rewards={"cost": umdp.Rewards(np.ones(process.states))},
    )  # fmt: skip
    unsure = steps.with_intervals(0.02)
    for model, questions in (
        (unsure, (cost, 'Pmaxmin=? [ !"trap" U "goal" ]', 'Pminmax=? [ F "goal" ]', 'Pmaxmin=? [ F<=9 "goal" ]')),
        (steps, (cost.replace("minmax", "min"), 'Pmax=? [ F "goal" ]', 'Pmax=? [ F<=9 "goal" ]')),
    ):
        for question in questions:
            umdp.solve(model, question)


def _compile_judge(model: IntervalMDP, spec: Spec) -> None:
    """Compile the judge first: nothing takes longer to interpret."""
    from umdp.solver.judge.question import TwoPart, case_of
    from umdp.solver.judge.reachability import examine
    from umdp.solver.objective import objective_of

    case = case_of(model, objective_of(model, spec), True, False, complement=False)
    zero, missing = np.zeros(model.states), np.zeros((2, model.states), np.bool_)
    low, high = TwoPart(zero, zero.copy()), TwoPart(np.ones(model.states), zero.copy())
    first, trap = model.state_ptr[:-1].astype(np.int64), np.full(model.states, -1, np.int64)
    examine(case.rows, case.asked, low, high, first, trap, missing[0], missing[1])


def _folder() -> Path | None:
    from umdp.kernel import cache_roots

    return next((each for each in cache_roots() if each.is_dir() and os.access(each, os.W_OK)), None)


def _done(folder: Path) -> Path:
    """Return the file that says that these sources have been compiled."""
    import umdp

    made = hashlib.sha256()
    root = Path(umdp.__file__).parent
    for path in sorted(root.rglob("*.py")):
        made.update(path.read_bytes())
    return folder / f"compiled-{made.hexdigest()[:16]}"


def _is_busy(folder: Path) -> bool:
    try:
        return time.time() - (folder / "compiling").stat().st_mtime < LONGEST
    except OSError:
        return False


def main() -> None:
    """Compile, unless another process is at it."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICE)
    from umdp import kernel

    root = kernel.cache_roots()[0]
    with contextlib.suppress(OSError):
        root.mkdir(parents=True, exist_ok=True)
    folder = _folder()
    if folder is None:
        sys.exit("compiled kernels cannot be kept: no folder can be written to; set NUMBA_CACHE_DIR")
    busy = folder / "compiling"
    if _is_busy(folder):
        return
    busy.unlink(missing_ok=True)
    try:
        with busy.open("x"):
            pass
    except FileExistsError:  # somebody was quicker
        return
    try:
        compile_kernels()
        for old in folder.glob("compiled-*"):
            old.unlink(missing_ok=True)
        _done(folder).touch()
    finally:
        busy.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
