"""Tables in the documents, from what was measured: `python -m bench.quote` writes them anew.

A document has ``<!-- bench: TITLE -->`` and ``<!-- /bench -->`` around what is taken from the section TITLE of
bench/results/all.md: its tables, or with ``TITLE, in short`` the lines below them, with ``TITLE, together`` the last row.
The table of single cases against Storm comes from bench/results/solving.jsonl. tests/bench/test_results.py sees to it that
nothing else stands there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from bench.everything import RESULTS

__all__ = ["DOCUMENTS", "quoted", "sections"]

ROOT = Path(__file__).parent.parent
DOCUMENTS = (ROOT / "docs" / "performance.md",)
BLOCK = re.compile(r"(<!-- bench: (?P<title>[^>]*?) -->\n).*?(<!-- /bench -->)", re.DOTALL)
CASES = "cases"


def sections(text: str) -> dict[str, str]:
    """Return the sections of the results by heading; what stands before the first is the machine."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    machine = "\n".join(line for line in parts[0].splitlines() if line.startswith("- "))
    return {"Machine": machine, **dict(zip(parts[1::2], parts[2::2], strict=True))}


def quoted(document: str) -> str:
    """Return a document with its blocks as the results have them."""
    known = sections((RESULTS / "all.md").read_text())
    return BLOCK.sub(lambda found: f"{found[1]}{_block(found['title'], known)}\n{found[3]}", document)


def _block(title: str, known: dict[str, str]) -> str:
    if title == CASES:
        return _cases()
    lines = known[title.removesuffix(", in short").removesuffix(", together")].splitlines()
    table = [line for line in lines if line.startswith("|")]
    if title.endswith(", in short"):
        told = lines[max((i for i, line in enumerate(lines) if line.startswith(("|", "----"))), default=0) + 1 :]
        if any("cases certified" in line for line in told):
            told = told[next(i for i, line in enumerate(told) if "cases certified" in line) :]
        return "\n".join(f"- {line.strip()}" for line in told if line.strip(" `"))
    if title.endswith(", together"):
        return "\n".join([*table[:2], table[-1]])
    return "\n".join(table) if table else "\n".join(line for line in lines if not line.startswith("`python"))


def _cases() -> str:
    rows = [json.loads(line) for line in (RESULTS / "solving.jsonl").read_text().splitlines()]
    told = ["| model | property | transitions | umdp | Storm | Storm, sound | |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        if row["size"] != 10**6:
            continue
        name = row["family"] + (", intervals" if row["kind"] == "interval" else "")
        times = [_seconds(row[side]) for side in ("umdp", "storm", "storm_sound")]
        told.append(f"| {name} | `{row['property']}` | {row['transitions']:,} | {' | '.join(times)} | {_remark(row)} |")
    return "\n".join(told)


def _seconds(side: dict[str, Any] | None) -> str:
    if side is None:
        return ""
    return (
        f"{side['seconds']:.2f} s" if isinstance(side["seconds"], float) else f"{side['status'].replace('>', '> ')} s"
    )


def _remark(row: dict[str, Any]) -> str:
    error = row["storm_error"]
    if isinstance(error, float) and error > row["precision"]:
        return f"Storm off by {error:.0e}"
    if row["ratio"] is None:
        return "Storm does not answer in time"
    return f"{row['ratio']:.1f} times Storm's speed"


def main() -> None:
    """Write the documents anew."""
    for path in DOCUMENTS:
        path.write_text(quoted(path.read_text()))
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
