"""Write the log of a machine that wears out: what it was like, what was done, what it was like then, and the hours lost.

    python examples/machine.py [FILE] [--rows 200000] [--defective 20] [--seed 0]

Now and then it is serviced, and some day it fails. Some rows are defective, as in any log: names mistyped, fields missing, lines
cut short, rows that do not follow from the one before.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

WEAR = {  # what comes of a day's work, and how often
    "new": {"new": 0.90, "good": 0.10},
    "good": {"good": 0.92, "worn": 0.079, "failed": 0.001},
    "worn": {"worn": 0.90, "bad": 0.08, "failed": 0.02},
    "bad": {"bad": 0.88, "failed": 0.12},
}
SERVICE = {  # what comes of a service, which may break it; what is new is not serviced
    "good": {"new": 0.947, "good": 0.05, "failed": 0.003},
    "worn": {"new": 0.70, "good": 0.245, "worn": 0.05, "failed": 0.005},
    "bad": {"good": 0.60, "worn": 0.30, "bad": 0.08, "failed": 0.02},
}
COLUMNS = ("trajectory", "state", "action", "next", "downtime")


def rows(count: int, draw: random.Random) -> Iterator[list[str]]:
    """Yield the rows of machine after machine, each until it fails or for a hundred days."""
    machine, day, state = 1, 0, "new"
    for _ in range(count):
        action = "service" if state in SERVICE and draw.random() < 0.2 else "run"
        outcomes = (SERVICE if action == "service" else WEAR)[state]
        following = draw.choices(list(outcomes), list(outcomes.values()))[0]
        downtime = 24 if following == "failed" else 4 if action == "service" else 0
        yield [f"machine {machine}", state, action, following, str(downtime)]
        state, day = following, day + 1
        if state == "failed" or day == 100:
            machine, day, state = machine + 1, 0, "new"


def spoil(row: list[str], how: int, draw: random.Random) -> str:
    """Return a row with a defect."""
    row = list(row)
    if how == 0:  # mistyped
        row[3] = row[3][:-2] + row[3][-1] + row[3][-2]
    elif how == 1:  # a field is missing
        row[draw.choice((1, 2, 3))] = ""
    elif how == 2:  # cut short
        return ",".join(row)[: draw.randint(10, 18)].rsplit(",", 1)[0]
    else:  # does not follow from the row before
        row[1] = draw.choice([state for state in WEAR if state != row[1]])
    return ",".join(row)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the log of a machine that wears out.")
    parser.add_argument("file", nargs="?", default="machine.csv")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--defective", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    bad = set(random.Random(given.seed + 1).sample(range(1, given.rows), given.defective))
    with open(given.file, "w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        spoilt = 0
        for number, row in enumerate(rows(given.rows, draw)):
            if number in bad:
                file.write(spoil(row, spoilt % 4, random.Random(number)) + "\n")
                spoilt += 1
            else:
                file.write(",".join(row) + "\n")
    print(f"{given.rows:,} rows, {spoilt} of them defective, written to {given.file}")


if __name__ == "__main__":
    main()
