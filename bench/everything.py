"""All that is measured, in one run: `python -m bench.everything [--quick] [--only TITLE] [--out FILE]`.

Each part is a program of its own, which can be run alone; here they run one after another, and what they print becomes a section
of one file, under a description of the machine. The documents quote from that file (tests/bench/test_results.py).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.machine import describe

__all__ = ["PARTS", "RESULTS", "Part"]

RESULTS = Path(__file__).parent / "results"


class Part(NamedTuple):
    """One section: its heading, the program, its arguments, and those for a quick look (None leaves it out)."""

    title: str
    module: str
    full: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = ()


PARTS = (
    Part("Starting", "bench.startup", quick=None),
    Part("Learning, 10,000 trajectories", "bench.learning", ("1e4",), ("1e3",)),
    Part("Learning, 1,000,000 trajectories", "bench.learning", ("1e6",), None),
    Part("Sweeps and memory bandwidth", "bench.roofline", ("1e6",), ("1e5",)),
    Part("Solving again", "bench.again", ("--sizes", "1e5,1e6"), ("--sizes", "1e4", "--only", "brp,grid,clusters")),
    Part("Reading", "bench.reading", ("--size", "1000000"), ("--size", "100000", "--family", "random")),
    Part("Memory", "bench.memory", ("--size", "1000000", "--size", "10000000"), None),
    Part(
        "Solving", "bench", ("--sizes", "1e5,1e6", "--timeout", "20", "--json", str(RESULTS / "solving.jsonl")),
        ("--quick", "--sizes", "1e5", "--only", "brp,grid,random,wide", "--timeout", "5"),
    ),
)  # fmt: skip


def run(part: Part, arguments: tuple[str, ...]) -> str:
    """Return what a part prints, and show it meanwhile."""
    process = subprocess.Popen(
        [sys.executable, "-m", part.module, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    if process.wait() != 0:
        lines.append(f"\n(ended with status {process.returncode})\n")
    return "".join(lines).strip("\n")


def section(part: Part, arguments: tuple[str, ...], printed: str) -> str:
    """Return a section of Markdown: tables as they are, anything else as it was printed."""
    told = " ".join(("python -m", part.module, *arguments)).replace(f"{RESULTS}/", "bench/results/")
    body = printed if "\n|---" in printed else f"```\n{printed}\n```"
    return f"## {part.title}\n\n`{told}`\n\n{body}\n"


def main() -> None:
    """Run all parts and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small cases: two minutes")
    parser.add_argument("--out", type=Path, help="where to write; default bench/results/all.md, nothing with --quick")
    parser.add_argument(
        "--only", help="the beginning of a heading: do these parts again, and leave the others as they are"
    )
    given = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    out = given.out or (None if given.quick else RESULTS / "all.md")
    begun = time.monotonic()
    about = f"# What was measured\n\n{describe()}\n- {time.strftime('%Y-%m-%d')}\n"
    print(about)
    known = {}
    if out is not None and given.only:
        parts = re.split(r"^## (.*)\n", out.read_text(), flags=re.MULTILINE)
        known = dict(zip(parts[1::2], parts[2::2], strict=True))
    sections = [about]
    for part in PARTS:
        arguments = part.quick if given.quick else part.full
        if arguments is None:
            continue
        if given.only and not part.title.startswith(given.only):
            if part.title in known:
                sections.append(f"## {part.title}\n{known[part.title].rstrip()}\n")
            continue
        print(f"## {part.title}\n", flush=True)
        sections.append(section(part, arguments, run(part, arguments)))
        print(flush=True)
    if out is not None:
        out.write_text("\n".join(sections))
    print(f"{time.monotonic() - begun:.0f} s in all" + (f"; written to {out}" if out else ""))


if __name__ == "__main__":
    main()
