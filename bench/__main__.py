"""The benchmark: `python -m bench` prints one table, this package and Storm side by side."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from itertools import groupby
from pathlib import Path

import umdp.io
from bench.compare import Row, compare, start_server
from bench.families import FAMILIES, build, cases
from bench.table import header, line, summary


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--sizes", help="only these numbers of transitions, such as 1e3,1e5")
    parser.add_argument("--only", help=f"only these families, of {', '.join(FAMILIES)}")
    parser.add_argument("--kind", choices=("plain", "interval"), help="only models without, or with intervals")
    parser.add_argument("--quick", action="store_true", help="1e3 and 1e5 transitions, one property per model")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs, for short cases")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each side of a case")
    parser.add_argument("--precision", type=float, default=1e-6, help="relative, for both sides")
    parser.add_argument("--no-storm", action="store_true", help="this package alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write one JSON object per case to FILE")
    return parser.parse_args()


def main() -> None:
    """Run the cases asked for and print the table."""
    given = _arguments()
    sizes = tuple(int(float(size)) for size in given.sizes.split(",")) if given.sizes else None
    if given.quick and sizes is None:
        sizes = (10**3, 10**5)
    only = tuple(given.only.split(",")) if given.only else ()
    if unknown := set(only) - set(FAMILIES):
        raise SystemExit(f"there is no family {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES)}")
    timeout = min(given.timeout, 10.0) if given.quick else given.timeout
    wanted = [case for case in cases(sizes, only) if given.kind in (None, case.kind)]
    start_server()
    begun = time.monotonic()
    print(header(given.precision, timeout, given.repeat), flush=True)
    rows: list[Row] = []
    lines = given.json.open("w") if given.json else None
    with tempfile.TemporaryDirectory(prefix="umdp-bench-") as folder:
        for (name, size, kind), asked in groupby(wanted, key=lambda case: (case.family, case.size, case.kind)):
            model = build(FAMILIES[name], size, kind)
            file = Path(folder, "model.umb")
            umdp.io.write(model, file)
            transitions = model.transitions
            del model
            for number, case in enumerate(asked):
                if given.quick and number:
                    continue
                row = compare(
                    case, str(file), transitions, precision=given.precision, timeout=timeout, repeat=given.repeat,
                    peer=not given.no_storm,
                )  # fmt: skip
                rows.append(row)
                print(line(row, given.precision), flush=True)
                if lines is not None:
                    lines.write(json.dumps(row.record(given.precision)) + "\n")
                    lines.flush()
    if lines is not None:
        lines.close()
    print(summary(rows, given.precision))
    print(f"{time.monotonic() - begun:.0f} s in all.")


if __name__ == "__main__":
    main()
