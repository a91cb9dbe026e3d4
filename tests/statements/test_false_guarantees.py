"""Labels that once were false: a promise over a graph, rows or looks that could not carry it. Each must come out right."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from umdp import MDP, ClopperPearson, ConfidenceSequence, Graph, Snapshot, anytime
from umdp.learn import LUI
from umdp.model import REST
from umdp.source import Environment, Gymnasium, Log
from umdp.spec import Spec
from umdp.statements import Code

REACH = 'Pmax=? [ F "goal" ]'
COIN = MDP(
    [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.6, 0.4, 1, 1], labels={"goal": [1]}, actions=["go", "stay", "stay"],
    state_names=["start", "goal", "lost"],
)  # fmt: skip


class Coin:
    """Reaches the goal in 60 % of episodes; the first ones always do."""

    def __init__(self, lucky: int = 0) -> None:
        self.lucky, self.random = lucky, random.Random(0)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        if seed is not None:
            self.random = random.Random(seed)
        return "start", {}

    def step(self, action: object) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.lucky -= 1
        won = self.lucky >= 0 or self.random.random() < 0.6
        return ("goal" if won else "lost"), float(won), True, False, {}


def write(path: Path, rows: Iterable[Iterable[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["trajectory", "state", "action", "next"], *rows])
    return path


def tosses(n: int, seed: int = 0) -> list[list[object]]:
    rng = random.Random(seed)
    return [[i, "start", "go", "goal" if rng.random() < 0.6 else "lost"] for i in range(n)]


def test_an_environment_without_a_table_does_not_promise_what_it_has_not_seen() -> None:
    source = Gymnasium(Coin(lucky=5), actions=["go"], episodes=5)
    assert "lost" not in (source.graph.state_names or ())
    looks = list(anytime(source, REACH, ConfidenceSequence(0.05), trajectories=1000))
    assert looks[0].bracket.lower == 0  # it was 1, "with probability 95 %"
    assert all(look.guarantee.kind == "any-time" for look in looks)
    assert 0.5 < looks[-1].bracket.lower <= 0.6
    assert looks[-1].policy is not None


def test_a_log_without_a_model_does_not_promise_what_it_has_not_seen(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", tosses(2000))
    looks = list(anytime(Log(path, labels={"goal": ["goal"]}), REACH, ConfidenceSequence(0.05)))
    assert looks[0].bracket.lower == 0
    assert looks[-1].guarantee.kind == "any-time"
    assert 0.5 < looks[-1].bracket.lower <= 0.6
    said = looks[-1].guarantee.codes
    assert {Code.SELECTED, Code.ONCE} <= set(said)
    # What the graph does not list is counted as anything else, and need not be assumed away.
    assert Code.LISTED not in said


def test_without_anything_else_an_observed_graph_promises_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", tosses(200))
    *_, last = anytime(Log(path, labels={"goal": ["goal"]}, rest=False), REACH, ConfidenceSequence(0.05))
    assert last.guarantee.kind == "none"
    assert Code.OBSERVED in last.guarantee.codes


def test_one_row_with_a_typo_costs_as_much_as_one_row(tmp_path: Path) -> None:
    rows = tosses(20_000)
    clean = write(tmp_path / "clean.csv", rows)
    rows[7000][3] = "gaol"
    typo = write(tmp_path / "typo.csv", rows)

    def value(path: Path) -> float:
        *_, last = anytime(Log(path, labels={"goal": ["goal"]}), REACH, ConfidenceSequence(0.05))
        assert last.guarantee.kind == "any-time"
        return last.bracket.lower

    assert value(clean) - 0.005 < value(typo) <= 0.6


def test_rejected_rows_withdraw_the_label(tmp_path: Path) -> None:
    rows = tosses(1000)
    for row in rows[:300]:
        del row[2:]
    path = write(tmp_path / "log.csv", rows)
    *_, last = anytime(Log(path, COIN.graph, on_error="skip"), REACH, ConfidenceSequence(0.05))
    assert last.guarantee.kind == "none"
    assert last.guarantee.codes == (Code.REJECTED,)
    assert last.guarantee.reasons[0].data == {"rejected": 300, "rows": 1000}  # type: ignore[attr-defined]


def test_dropped_steps_withdraw_the_label() -> None:
    # The graph leaves out that one can get lost.
    graph = Graph(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [1]}, actions=["go", "stay"], state_names=["start", "goal"]
    )
    source = Environment(Coin(), graph, on_error="skip")
    *_, last = anytime(source, 'Pmax=? [ F<=1 "goal" ]', ConfidenceSequence(0.05), trajectories=100)
    assert last.guarantee.kind == "none"
    assert last.guarantee.codes == (Code.DROPPED,)


def test_one_look_at_a_whole_log_is_one_look(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", tosses(500))
    looks = list(anytime(Log(path, COIN.graph), REACH, ClopperPearson(0.05)))
    assert [look.trajectories for look in looks] == [0, 500]
    assert looks[-1].guarantee.kind == "fixed-N"
    assert Code.FIXED in looks[-1].guarantee.codes
    *_, cut = anytime(Log(path, COIN.graph), REACH, ClopperPearson(0.05), trajectories=100)
    assert cut.guarantee.kind == "none"


@pytest.mark.parametrize("learner", [LUI(), ClopperPearson(0.05)])
def test_learners_without_a_claim_do_not_see_anything_else(learner: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", tosses(500))
    source = Log(path, labels={"goal": ["goal"]})
    *_, last = anytime(source, REACH, learner)
    assert last.guarantee.kind == "none"
    assert last.bracket.lower == pytest.approx(0.6, abs=0.1)
    assert REST not in last.model.labels
    assert last.model.transitions == source.graph.transitions - 1  # "start" has one outcome less


def test_a_smallest_cost_cannot_be_promised_of_an_observed_graph(tmp_path: Path) -> None:
    source = Gymnasium(Costly(), actions=["go"], episodes=50)
    *_, last = anytime(source, 'R{"cost"}min=? [ F "terminated" ]', ConfidenceSequence(0.05), trajectories=2000)
    assert last.guarantee.kind == "none"
    assert Code.COSTLY in last.guarantee.codes
    assert last.bracket.value == pytest.approx(2, abs=0.5)  # on the learned model


class Costly(Coin):
    """Costs 1 a step, and ends with every other."""

    def step(self, action: object) -> tuple[str, float, bool, bool, dict[str, Any]]:
        end = self.random.random() < 0.5
        return ("done" if end else "start"), -1.0, end, False, {}


def test_the_label_travels_with_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "log.csv", tosses(300))
    last: Snapshot
    *_, last = anytime(Log(path, labels={"goal": ["goal"]}), REACH, ConfidenceSequence(0.05))
    row = json.loads(json.dumps(last.row()))
    assert row["guarantee"]["kind"] == "any-time"
    assert row["guarantee"]["level"] == 0.95
    assert row["guarantee"]["reasons"] == list(last.guarantee.reasons)
    assert row["guarantee"]["text"] == str(last.guarantee)
    assert str(last.guarantee) in repr(last)


@pytest.mark.parametrize(
    ("text", "worst", "best"),
    [
        ('Pmax=? [ F "goal" ]', 0.0, 1.0),
        ('Pmin=? [ F "goal" ]', 1.0, 0.0),
        ('Pmax=? [ G "goal" ]', 0.0, 1.0),
        ('Pmin=? [ G "goal" ]', 1.0, 0.0),
        ('Pmax=? [ X "goal" ]', 0.0, 1.0),
        ('Pmin=? [ F<=3 "goal" ]', 1.0, 0.0),
        ('Pmax=? [ "goal" U<=3 "other" ]', 0.0, 1.0),
        ('Rmin=? [ F "goal" ]', np.inf, 5.0),
        ('Rmax=? [ F "goal" ]', 5.0, 5.0),
        ("Rmax=? [ C<=3 ]", 5.0, 5.0),
    ],
)
def test_anything_else_is_the_worst_that_can_happen(text: str, worst: float, best: float) -> None:
    from umdp import solve

    # One step, which costs 5, from a state with both labels to whatever was not listed.
    model = MDP(
        [0, 1, 2], [0, 1, 2], [1, 1], [1, 1], labels={"goal": [0] if "G" in text or "U" in text else [], "other": [], REST: [1]},
        rewards={"": {"choice": [5, 0]}},
    )  # fmt: skip
    spec = Spec.parse(text)
    assert solve(model, spec.pessimistic(REST)).value == pytest.approx(worst)
    assert solve(model, spec.hopeful(REST)).value == pytest.approx(best)


def test_a_run_is_checked_with_anything_else_as_the_worst(tmp_path: Path) -> None:
    from umdp.cli.checked import Origin

    path = write(tmp_path / "log.csv", tosses(200))
    *_, last = anytime(Log(path, labels={"goal": ["goal"]}), 'Pmin=? [ F<=1 "goal" ]', ConfidenceSequence(0.05))
    question = 'Pmin=? [ F<=1 "goal" ]'
    origin = Origin(question, 200, last.guarantee.as_dict())
    read = origin.reading(last.model, Spec.parse(question).robust())
    assert read == last.robust.spec
    assert origin.promised(last.model, read)["kind"] == "any-time"
    other = Spec.parse('Pminmax=? [ F<=2 "goal" ]').pessimistic(REST)
    assert origin.promised(last.model, other)["kind"] == "none"
    best = Spec.parse(question).optimistic()
    assert origin.reading(last.model, best) == best


def test_a_row_is_not_called_certified_where_nothing_is_promised() -> None:
    coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.6, 0.4, 1, 1], labels={"goal": [1]})
    *_, last = anytime(coin, REACH, LUI(), trajectories=10)
    assert last.row()["status"] == "solved"
    *_, last = anytime(coin, REACH, ConfidenceSequence(0.05), trajectories=10)
    assert last.row()["status"] == "certified"
