"""A trajectory that goes on and on counts while it does: its rows say as much as in many trajectories."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import umdp
from umdp import MDP, ConfidenceSequence, evaluate
from umdp.analysis.simulation import prepared
from umdp.source import Log

SPEC = 'Pmin=? [ F<=20 "failed" ]'
WEAR = MDP(
    [0, 1, 3, 4], [0, 2, 4, 6, 7], [0, 1, 0, 1, 1, 2, 0], [0.9, 0.1, 0.8, 0.2, 0.95, 0.05, 1.0],
    labels={"failed": [2]}, state_names=["new", "worn", "failed"], actions=["run", "service", "run", "repair"],
)  # fmt: skip


def days(seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield what happens to one machine for ever; it is served one day in four, if that makes sense."""
    rng, state = np.random.default_rng(seed), 0
    while True:
        choice = int(rng.choice([1, 2], p=[0.25, 0.75])) if state == 1 else int(WEAR.state_ptr[state])
        first, last = WEAR.choice_ptr[choice], WEAR.choice_ptr[choice + 1]
        following = int(rng.choice(WEAR.successor[first:last], p=WEAR.probability[first:last]))
        yield WEAR.state_name(state), WEAR.action_name(choice), WEAR.state_name(following)
        state = following


def write(path: Path, rows: list[tuple[str, str, str]], pieces: int) -> Path:
    if pieces == 1:
        lines = ["state,action,next", *(",".join(row) for row in rows)]
    else:
        lines = ["trajectory,state,action,next"]
        lines += [f"{i * pieces // len(rows)},{','.join(row)}" for i, row in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def looks(path: Path, error_rate: float = 0.05) -> list[umdp.Snapshot]:
    """Return what is known at every look."""
    log = Log(path, labels={"failed": ["failed"]}, initial="new")
    found = list(umdp.anytime(log, SPEC, ConfidenceSequence(error_rate)))
    log.close()
    assert found[-1].guarantee.kind == "any-time"
    return found


def worth(policy: umdp.Policy) -> float:
    """Return what a policy for the observed graph is worth on the machine itself."""
    fitted, *_ = prepared(policy, WEAR, SPEC)
    return evaluate(WEAR, SPEC, fitted.policy).value


def test_an_endless_recording_says_as_much_as_its_pieces(tmp_path: Path) -> None:
    rows = list(itertools.islice(days(1), 20_000))
    whole, cut = (looks(write(tmp_path / f"{n}.csv", rows, n))[-1].bound for n in (1, 100))
    assert cut < 0.5
    assert whole < 1.1 * cut


@pytest.mark.slow
def test_it_is_promised_no_more_often_than_it_is_true(tmp_path: Path) -> None:
    """At 20 %, at the worst of all looks at one endless recording."""
    runs, wrong = 1000, 0
    for seed in range(runs):
        path = write(tmp_path / "log.csv", list(itertools.islice(days(seed), 600)), 1)
        wrong += any(each.bound < worth(each.policy) for each in looks(path, 0.2))
    assert wrong <= binom.ppf(0.9999, runs, 0.2)
