"""Promises where nobody gave a graph: false no more often than they say, at all looks together.

`python -m bench.promises` does the same with 2000 runs each.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench.promised_logs import LOGS
from bench.promises import ERROR_RATE, batches, environment, kept, log
from scipy.stats import binom

from umdp.statements import Code


def most(runs: int) -> int:
    """Return how many false runs there may be where the rate is kept, but for one test in a thousand."""
    return int(binom.ppf(0.999, runs, ERROR_RATE))


@pytest.mark.parametrize(
    ("holds", "runs"),
    [
        (lambda seed: kept(environment(seed)), 40),
        (lambda seed: kept(log(seed)), 40),
        (batches, 150),
    ],
    ids=["environment", "log", "batches"],
)
def test_a_promise_is_false_no_more_often_than_it_says(holds: Callable[[int], bool], runs: int) -> None:
    assert sum(not holds(seed) for seed in range(runs)) <= most(runs)


def test_every_look_carries_the_promise_and_some_promise_something() -> None:
    for looks in (environment(1), log(1)):
        labels, lowers = zip(*((s.guarantee, s.bracket.lower) for s, _ in looks), strict=True)
        assert {label.kind for label in labels} == {"any-time"}
        assert {label.level for label in labels} == {1 - ERROR_RATE}
        assert lowers[0] == 0
        assert lowers[-1] > 0.1


@pytest.mark.parametrize("looks", [environment, log])
def test_what_was_observed_is_not_the_whole_truth(looks: Callable[..., object]) -> None:
    assert sum(not kept(looks(seed, rest=False)) for seed in range(10)) == 10  # type: ignore[arg-type]
    label = list(looks(0, rest=False))[-1][0].guarantee  # type: ignore[call-overload]
    assert label.kind == "none"
    assert label.codes == (Code.NOT_FOUND,)


NONE = {  # what must not be promised in the end, however the rows fall
    "reward below any seen", "initial observed, shuffled, no names", "a change half-way", "rows sorted by outcome",
    "rows of one name in another encoding", "rows with a decimal comma", "rows that the graph does not list",
}  # fmt: skip


@pytest.mark.parametrize("name", list(LOGS))
def test_a_log_that_says_less_than_it_seems_has_no_promise_or_one_that_is_kept(name: str) -> None:
    found = [LOGS[name](seed) for seed in range(15)]
    assert sum(each.false for each in found) <= most(15)
    assert {each.promised for each in found} == {name not in NONE}


@pytest.mark.parametrize("name", ["end with every last row", "terminated and truncated"])
def test_ends_of_recordings_are_never_taken_for_more(name: str) -> None:
    assert not any(LOGS[name](seed).false for seed in range(30))
