"""Temporal formulas from logs, streams and environments: what is counted, what it is worth, and that promises are kept."""

from __future__ import annotations

import csv
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from umdp import LUI, MDP, ConfidenceSequence, Graph, IntervalMDP, ModelError, SpecError, anytime, io, solve
from umdp.automata import MemoryPolicy
from umdp.automata.product import Product, product_of
from umdp.cli import run
from umdp.learning.snapshot import Snapshot
from umdp.model import REST
from umdp.source import Batch, Environment, Gymnasium, Log, SamplingRequest, Source, open_log
from umdp.statements import Code, say

from .lassos import drawn, text
from .pairs import draw, exact, to_model
from .safra import TooLargeError
from .test_learning import BOTH, rooms

OBSERVED = {"a": ["1"], "b": ["2"]}


def record(mdp: MDP, path: Path, trajectories: int, seed: int = 0, longest: int = 6) -> Counter[tuple[int, int]]:
    """Write what somebody who acts at random sees of a process; return how often each choice led where."""
    rng, seen = np.random.default_rng(seed), Counter[tuple[int, int]]()
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["trajectory", "state", "action", "next"])
        for number in range(trajectories):
            state = mdp.initial
            for _ in range(longest):
                choice = int(rng.integers(mdp.state_ptr[state], mdp.state_ptr[state + 1]))
                own = slice(mdp.choice_ptr[choice], mdp.choice_ptr[choice + 1])
                after = int(rng.choice(mdp.successor[own], p=mdp.probability[own]))
                table.writerow([number, mdp.state_name(state), mdp.action_name(choice), mdp.state_name(after)])
                seen[choice, after] += 1
                state = after
    return seen


class Rooms:
    """The rooms as an environment: an episode goes on until the pit, or for ever."""

    def __init__(self, mdp: MDP | None = None) -> None:
        self.mdp = mdp or rooms()

    def reset(self, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        self.random = random.Random(seed)
        self.state = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        choice = int(self.mdp.state_ptr[self.state]) + action
        own = slice(self.mdp.choice_ptr[choice], self.mdp.choice_ptr[choice + 1])
        (self.state,) = self.random.choices(self.mdp.successor[own].tolist(), self.mdp.probability[own].tolist())
        return self.state, 0.0, self.state == 3, False, {}


def played(mdp: MDP | None = None) -> Environment:
    graph = (mdp or rooms()).graph
    within = np.arange(graph.choices) - np.repeat(graph.state_ptr[:-1], np.diff(graph.state_ptr))
    return Environment(Rooms(mdp), graph, actions=within.tolist())


def product_in(snapshot: Snapshot) -> Product:
    product = product_of(snapshot.model.graph)
    assert product is not None
    return product


def of_process(snapshot: Snapshot, values: np.ndarray[Any, Any], start: float) -> np.ndarray[Any, Any]:
    """Return values of the product's transitions as those of the process's, which must agree with every memory."""
    along = product_in(snapshot).along
    found = np.full(product_in(snapshot).base.transitions, start)
    for t in np.flatnonzero(along >= 0):
        assert found[along[t]] in (start, values[t])
        found[along[t]] = values[t]
    return found


def test_every_row_of_a_log_is_counted_once_whatever_was_remembered(tmp_path: Path) -> None:
    mdp, log = rooms(), tmp_path / "log.csv"
    seen = record(mdp, log, 300)
    *_, last = anytime(Log(log, mdp.graph), BOTH, ConfidenceSequence(0.05))
    choice_of = np.repeat(np.arange(mdp.choices), np.diff(mdp.choice_ptr))
    expected = [seen[int(c), int(s)] for c, s in zip(choice_of, mdp.successor, strict=True)]
    product = product_in(last)
    counted = np.zeros(mdp.transitions, dtype=int)
    np.add.at(counted, product.along[product.along >= 0], last.counts[product.along >= 0])  # type: ignore[index]
    assert counted.tolist() == expected
    assert last.steps == sum(expected)
    assert last.guarantee.holds


@pytest.mark.parametrize("source", ["log", "environment"])
def test_the_value_is_that_of_the_learned_process_in_exact_rationals(source: str, tmp_path: Path) -> None:
    compared = 0
    for seed in range(12):
        rng = random.Random(seed)
        choices, letters = draw(rng, zero=False, plain=True)
        formula, agent = drawn(rng, rng.randint(2, 4), 2), rng.choice(["max", "min"])
        mdp, log = to_model(choices, letters), tmp_path / "log.csv"
        assert isinstance(mdp, MDP)
        asked = f"P{agent}=? [ ({text(formula)}) & (X true) ]"
        if source == "log":
            record(mdp, log, 50, seed)
        *_, last = anytime(
            Log(log, mdp.graph) if source == "log" else played(mdp), asked, ConfidenceSequence(0.05), seed=seed,
            trajectories=50, horizon=20,
        )  # fmt: skip
        lower, upper = of_process(last, last.model.lower, 0.0), of_process(last, last.model.upper, 1.0)
        ends = iter(zip(mdp.successor.tolist(), map(Fraction, lower), map(Fraction, upper), strict=True))
        learned = [[[next(ends) for _ in row] for row in own] for own in choices]
        try:
            truth = exact(learned, letters, formula, agent, "min" if agent == "max" else "max")
        except TooLargeError:
            continue
        compared += 1
        assert Fraction(last.bracket.lower) <= truth <= Fraction(last.bracket.upper), asked
    assert compared >= 8


@pytest.mark.parametrize(
    "source",
    [
        "observed log",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("log", "environment", "observed environment")),
    ],
)
def test_promises_are_kept(source: str, tmp_path: Path) -> None:
    truth, rate, runs = 0.51, 0.2, 40
    kept, worth = 0, 0.0
    for seed in range(runs):
        log = tmp_path / "log.csv"
        if "log" in source:
            record(rooms(), log, 150, seed)
        made: Source
        if source == "log":
            made = Log(log, rooms().graph)
        elif source == "observed log":
            made = Log(log, labels=OBSERVED)
        elif source == "environment":
            made = played()
        else:
            given = {"a": lambda s: s == 1, "b": lambda s: s == 2}
            made = Gymnasium(Rooms(), episodes=40, actions=[0, 1], labels=given)
        snapshots = list(anytime(made, BOTH, ConfidenceSequence(rate), seed=seed, trajectories=150, horizon=8))
        kept += all(each.bracket.lower <= truth for each in snapshots if each.guarantee.holds)
        assert snapshots[-1].guarantee.holds, snapshots[-1].guarantee
        worth += snapshots[-1].bracket.lower
    # Were promises kept with probability 0.8 only, this few would be kept less than once in a thousand times.
    assert kept >= 24
    assert worth / runs > 0.1


def test_a_stream_is_worth_what_its_log_is(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    record(rooms(), log, 200)
    *_, whole = anytime(Log(log, rooms().graph), BOTH, ConfidenceSequence(0.05))
    *_, followed = anytime(open_log(log, rooms().graph, follow=True), BOTH, ConfidenceSequence(0.05), trajectories=200)
    assert followed.steps == whole.steps == 1200
    assert np.array_equal(followed.counts, whole.counts)  # type: ignore[arg-type]
    assert 0 < followed.bracket.lower <= 0.51


def test_one_operator_is_worth_the_same_with_and_without_an_automaton(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    record(rooms(), log, 400)
    for source in (lambda: Log(log, rooms().graph), lambda: Log(log, labels=OBSERVED)):
        for learner in (ConfidenceSequence(0.05), LUI()):
            plain, twice = (
                list(anytime(source(), asked, learner))[-1].bracket.lower
                for asked in ('Pmax=? [ F "a" ]', 'Pmax=? [ (F "a") & (F "a") ]')
            )
            assert plain == pytest.approx(twice, abs=1e-9)


def test_what_was_never_listed_is_one_state_of_the_product(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    record(rooms(), log, 400)
    *_, last = anytime(Log(log, labels=OBSERVED), BOTH, ConfidenceSequence(0.05))
    graph = last.model.graph
    assert graph.rest is not None
    assert graph.labels[REST].sum() == 1
    assert 0 < last.bracket.lower <= 0.51
    *_, endless = anytime(Log(log, labels=OBSERVED), 'Pmax=? [ G (F "a") ]', ConfidenceSequence(0.05))
    assert endless.bracket.lower == 0  # what may always happen, happens some time


def test_a_table_of_gymnasium_is_learned_by_playing() -> None:
    source = Gymnasium("gym:FrozenLake-v1", labels={"left": [8], "right": [6]}, is_slippery=True)
    asked = 'Pmax=? [ (F "left") & (F "right") & (F "goal") ]'
    *_, last = anytime(source, asked, LUI(), trajectories=1500, seed=1)
    assert source.truth is not None
    best = solve(source.truth, asked)
    assert last.truth is not None
    assert last.performance == pytest.approx(best.value, abs=0.1)
    policy = MemoryPolicy.of(last.policy)
    ways: dict[int, set[int]] = {}
    for state, _, choice, _ in policy.decisions():
        ways.setdefault(state, set()).add(choice)
    assert max(map(len, ways.values())) > 1


def test_what_is_seen_of_the_end_goes_on() -> None:
    # The pit is the end of an episode: what is asked for afterwards is settled by nothing happening any more.
    nowhere = '!"a" & !"b"'
    asked = f'Pmax=? [ F ("a" & (F ({nowhere} & (X ({nowhere} & (X ({nowhere} & (X ({nowhere}))))))))) ]'
    *_, last = anytime(played(), asked, ConfidenceSequence(0.1), trajectories=1500, evidence=0.5, seed=3)
    assert last.evidence is not None
    assert last.evidence.holds
    assert 0.6 < last.evidence.bound <= solve(rooms(), asked).value == pytest.approx(0.85)


def test_who_is_played_needs_a_memory() -> None:
    *_, last = anytime(played(), BOTH, LUI(), trajectories=3000, evidence=0.5, seed=1)
    assert last.evidence is not None
    assert 0.4 < last.evidence.bound <= 0.51


def test_a_source_that_only_counts_is_refused() -> None:
    class Counts(Source):
        graph: Graph = rooms().graph

        def begin(self, seed: int) -> None: ...

        def collect(self, order: SamplingRequest) -> Batch:
            return Batch(np.zeros(self.graph.transitions, dtype=np.int64), 1, 0)

    with pytest.raises(SpecError, match=r"tells counts alone .*; derive it from umdp.source.Environment"):
        next(iter(anytime(Counts(), BOTH, ConfidenceSequence(0.05))))


def test_a_reward_that_alone_tells_transitions_apart_is_refused() -> None:
    model = IntervalMDP(
        [0, 1, 2], [0, 3, 4], [0, 1, 1, 1], [0.5, 0.1, 0.1, 1], [0.6, 0.3, 0.3, 1], labels={"a": [1]},
        rewards={"r": {"transition": [0.0, 1.0, 2.0, 0.0]}},
    )  # fmt: skip
    product = solve(model, 'Pmaxmin=? [ (F "a") & (X "a") ]').product
    assert product is not None
    with pytest.raises(ModelError, match="give the model without that reward"):
        _ = product.along


def test_what_goes_on_for_ever_rests_on_what_was_seen(tmp_path: Path) -> None:
    graph = Graph(
        [0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [1, 3, 1, 2, 1, 3], labels={"b": [2]}, actions=["go", "try", "back", "stay"]
    )
    log = tmp_path / "log.csv"
    rows = "0,go,1\n1,try,1\n" * 20
    for more, missing in (("", True), ("1,try,2\n", False)):
        log.write_text("state,action,next\n" + rows + more)
        *_, last = anytime(Log(log, graph), 'Pmax=? [ G (F "b") ]', ConfidenceSequence(0.05))
        assert last.bracket.lower > 0.5
        assert (say(Code.POSSIBLE, unseen=1) in last.guarantee.reasons) == missing


def test_rewards_until_a_formula_is_settled_are_learned_from_a_log(tmp_path: Path) -> None:
    mdp = MDP(
        [0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 0], [0.5, 0.5, 0.25, 0.75, 1], labels={"a": [1]}, actions=["x", "y", "z"],
        rewards={"cost": {"choice": [1, 2, 1]}},
    )  # fmt: skip
    log, asked = tmp_path / "log.csv", 'R{"cost"}min=? [ F ("a" & (X (F "a"))) ]'
    record(mdp, log, 800)
    *_, last = anytime(Log(log, mdp.graph), asked, ConfidenceSequence(0.05))
    assert solve(mdp, asked).value <= last.bracket.upper < 8


def test_logs_and_environments_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, model, out = tmp_path / "log.csv", tmp_path / "rooms.tra", str(tmp_path / "a.run")
    record(rooms(), log, 300)
    io.write(rooms(), model)
    more = ["--graph", str(model), "--confidence", "0.9", "--quiet"]
    assert run(["learn", str(log), BOTH, *more, "--trajectories", "100", "--out", out]) == 0
    assert run(["resume", out, "--trajectories", "1000", "--quiet"]) == 0
    parts = capsys.readouterr().out
    assert run(["learn", str(log), BOTH, *more]) == 0
    assert capsys.readouterr().out.splitlines()[0] in parts
    assert run(["learn", str(log), BOTH, "--label", "a=1", "--label", "b=2", "--quiet"]) == 0
    assert "whenever you stop" in capsys.readouterr().out
    asked, lake = 'Pmax=? [ !"fail" U ("goal" & (X "goal")) ]', str(tmp_path / "b.run")
    assert run(["learn", "gym:FrozenLake-v1", asked, "--trajectories", "60", "--out", lake, "--quiet"]) == 0
    assert "cuts its episodes after 100 steps" in capsys.readouterr().out
    assert run(["resume", lake, "--trajectories", "120", "--quiet"]) == 0
    capsys.readouterr()
    assert run(["show", lake]) == 0
    assert asked in capsys.readouterr().out
