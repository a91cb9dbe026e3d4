"""Run the reproduction that the documents show, and write its tables and figures there.

    python -m bench.reproduction [FOLDER]     # goes on where it was; hours on two cores

The folder also gets everything that `umdp reproduce` writes.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

from bench.agreement import LEVEL, compare, experiment, table
from umdp.paper import Archive, Experiment, processes, reproduce
from umdp.paper.report.summary import summary

PLAN = (
    ("basic", False, 100, 1_000_000),
    ("change", False, 60, 1_000_000),
    ("strength", False, 100, 1_000_000),
    ("ties", False, 30, 100_000),
    ("basic", True, 12, 100_000),
    ("strength", True, 12, 100_000),
)
SHOWN = (
    "basic-performance", "basic-estimation-error", "basic-paper-performance", "basic-paper-estimation-error",
    "change-paper-chain-xi-0.8",
)  # fmt: skip
DOCUMENT = Path(__file__).parents[1] / "docs" / "reproduction.md"


def planned() -> list[Experiment]:
    found = []
    for name, published, seeds, trajectories in PLAN:
        given = Experiment.load(name).cut(seeds=seeds, trajectories=trajectories)
        found.append(given.as_published() if published else given)
    return found


def agreement(archive: Archive) -> str:
    """Return the comparison with the published code, as Markdown."""
    ours: dict[tuple[str, str], list[dict[str, object]]] = {}
    for trial in experiment().trials():
        ours.setdefault((trial.cell.environment, trial.cell.learner), []).append(archive.get(trial.key))
    compared = compare(ours)
    tested = [each for each in compared if each.p is not None]
    worst = min(tested, key=lambda each: each.p or 0.0)
    bound = LEVEL / len(tested)
    differ = [each for each in tested if each.p is not None and each.p < bound]
    words = (
        f"{len(tested)} comparisons; the smallest p-value is {worst.p:.2g} ({worst.learner} on {worst.environment}, "
        f"{worst.metric.replace('_', ' ')} after {worst.at}). At a level of {LEVEL:g} for all of them together the bound is "
        f"{bound:.1g}: {len(differ)} differ. {len(compared) - len(tested)} published values are cut."
    )
    return words + "\n\n" + table(compared)


def insert(text: str, name: str, content: str) -> str:
    """Return the text with what stands between the marks of that name replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)"
    assert re.search(pattern, text, re.DOTALL), name
    return re.sub(pattern, lambda found: found[1] + "\n" + content.strip() + "\n\n" + found[2], text, flags=re.DOTALL)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()

    def run(trials, archive) -> int:
        trials = [*trials, *experiment().trials()]
        return processes(
            trials, archive, progress=lambda done, of: print(f"\r{done} of {of} runs", end="", file=sys.stderr)
        )

    made = reproduce(planned(), folder, run, say=lambda text: print(text, file=sys.stderr))
    text = insert(DOCUMENT.read_text(), "results", summary(made.results, made.judged))
    with Archive.open(folder / "runs.db") as archive:
        text = insert(text, "agreement", agreement(archive))
    DOCUMENT.write_text(text)
    for name in SHOWN:
        shutil.copy(folder / "figures" / f"{name}.png", DOCUMENT.parent / "figures" / f"{name}.png")
    print(f"{made.report}, {made.done} runs done now, {time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "reproduction"))
