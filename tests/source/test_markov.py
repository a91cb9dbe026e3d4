"""The test of the Markov property: it keeps its false-alarm rate whatever explores, and finds what the state leaves out."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.markov import HIDDEN, found, markov

from umdp import ConfidenceSequence, FormatError, Graph, anytime
from umdp.run.codec import pack, unpack
from umdp.source import Gymnasium, Log, check_environment
from umdp.source.markov import BUCKETS, PARTS, STRENGTHS, MarkovTest, PastFeature
from umdp.statements import Code, codes_of

gym = pytest.importorskip("gymnasium")

QUESTION = 'Pmax=? [ F<=30 "broken" ]'


def plain(graph: Graph, transition: Any, begins: Any) -> list[float]:
    """Return the evidence by each past, in the words of the definition: dictionaries, and no kernel."""
    choice_of = np.repeat(np.arange(graph.choices), np.diff(graph.choice_ptr)).tolist()
    order: dict[int, list[int]] = defaultdict(list)  # outcomes of a choice, in order of appearance
    total: Counter[int] = Counter()
    counts: Counter[Any] = Counter()
    sums: Counter[Any] = Counter()
    gains: Counter[Any] = Counter()
    buckets: dict[Any, dict[Any, int]] = defaultdict(dict)
    coins: dict[int, list[list[int]]] = defaultdict(list)  # of each outcome: it or a lower one, since it was seen
    state = action = last_state = -1
    step = stay = 0
    last: dict[int, int] = {}
    for t, start in zip(transition.tolist(), begins.tolist(), strict=True):
        if start:
            state, action, step, stay = -1, -1, 0, 0
        c, seen = choice_of[t], order[choice_of[t]]
        past = [state, action, min(step.bit_length(), BUCKETS - 1), step % 2, min(stay.bit_length(), BUCKETS - 1), -1]
        past[5] = min(seen.index(last[c]), BUCKETS - 1) if seen else 0
        for k in (0, 1):
            own = buckets[k, c]
            past[k] = own.setdefault(past[k], len(own)) if past[k] in own or len(own) < BUCKETS - 1 else BUCKETS - 1
        if t in seen:
            rank = seen.index(t)
            if len(seen) > 1:
                share = (total[t] - 0.5) / (sum(total[each] for each in seen) - 0.5 * len(seen))
                for k, z in enumerate(past):
                    for weight in STRENGTHS:
                        gains[k, c, weight] += math.log((counts[k, t, z] + weight * share) / (sums[k, c, z] + weight))
            coins[c][rank][0] += 1
            for later in coins[c][rank + 1 :]:
                later[1] += 1
        else:
            seen.append(t)
            coins[c].append([0, 0])
        total[t] += 1
        last[c] = t
        for k, z in enumerate(past):
            counts[k, t, z] += 1
            sums[k, c, z] += 1
        state, last_state = int(graph.choice_state[c]), int(graph.successor[t])
        action = c - int(graph.state_ptr[state])
        step, stay = step + 1, stay + 1 if last_state == state else 0
    evidence = []
    for k in PastFeature:
        each = []
        for c in order:
            best = sum(n * math.log(n / sum(coin)) for coin in coins[c][1:] for n in coin if n)
            each.append(np.mean([math.exp(gains[k, c, weight] - best) for weight in STRENGTHS]))
        evidence.append(math.log(np.mean([math.prod(1 - part + part * one for one in each) for part in PARTS])))
    return evidence


@pytest.mark.parametrize("seed", range(6))
def test_evidence_is_what_the_definition_says(seed: int) -> None:
    graph, transition, begins = markov(np.random.default_rng(seed), 700)
    test = MarkovTest(graph)
    test.take(transition, begins)
    assert test.evidence() == pytest.approx(plain(graph, transition, begins), abs=1e-9)


def test_evidence_is_on_average_at_most_one_at_every_time() -> None:
    rows, runs = 120, 400
    highest = np.zeros((runs, len(PastFeature)))
    for run in range(runs):
        graph, transition, begins = markov(np.random.default_rng([3, run]), rows)
        test = MarkovTest(graph)
        test.take(transition, begins)
        highest[run] = np.exp(test.evidence())
    assert (highest.mean(axis=0) <= 1.0).all()


def test_false_alarms_are_as_rare_as_stated() -> None:
    alarms = 0
    for run in range(150):
        graph, transition, begins = markov(np.random.default_rng([4, run]), 1500)
        test = MarkovTest(graph, level=0.05)  # a level that so few runs can contradict
        test.take(transition, begins)
        alarms += test.finding is not None
    assert alarms <= 150 * 0.05 + 4 * math.sqrt(150 * 0.05 * 0.95)


@pytest.mark.slow
def test_false_alarms_over_a_thousand_processes() -> None:
    alarms = 0
    for run in range(1000):
        graph, transition, begins = markov(np.random.default_rng([5, run]), 3000)
        test = MarkovTest(graph)
        test.take(transition, begins)
        alarms += test.finding is not None
    assert alarms <= 5  # 1 is expected at most; 6 or more have probability 6e-4


@pytest.mark.parametrize("name", list(HIDDEN))
def test_what_the_state_leaves_out_is_found(name: str) -> None:
    shares = np.mean([found(HIDDEN[name], np.random.default_rng([6, run]), (30_000,)) for run in range(3)])
    assert shares == 1.0


def test_a_test_goes_on_from_its_state_and_does_not_care_how_rows_come() -> None:
    graph, transition, begins = markov(np.random.default_rng(2), 5000)
    whole, pieces = MarkovTest(graph), MarkovTest(graph)
    whole.take(transition, begins)
    for at in range(0, 5000, 313):
        pieces.take(transition[at : at + 313], begins[at : at + 313])
        kept = unpack(pack(pieces.state()))
        pieces = MarkovTest(graph)
        pieces.restore(kept)
    assert pieces.rows == whole.rows
    assert pack(pieces.state()) == pack(whole.state())
    old = MarkovTest(graph)
    old.restore({})  # of a run that knew nothing of this test
    assert old.rows == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("used", [10**9, 3]),
        ("owner", [-5]),
        ("begin", [7]),
        ("member", [10**9]),
        ("known", [[99, 1]]),
        ("last", [99]),
        ("ids", [[[10**9]]]),
        ("counts", np.zeros((6, 10**5, 8), np.int32)),
    ],
)
def test_a_state_that_does_not_fit_is_refused(name: str, value: Any) -> None:
    graph, transition, begins = markov(np.random.default_rng(2), 500)
    test = MarkovTest(graph)
    test.take(transition, begins)
    state = test.state()
    state[f"markov_{name}"] = np.array(value)
    with pytest.raises(FormatError, match="does not fit the graph"):
        MarkovTest(graph).restore(state)


def test_a_finding_is_kept() -> None:
    graph, rows = HIDDEN["velocity left out of the state (0.7 against 0.3)"](np.random.default_rng(0))
    taken = [next(rows) for _ in range(3000)]
    test = MarkovTest(graph)
    test.take(np.array([t for t, _ in taken]), np.array([begins for _, begins in taken]))
    again = MarkovTest(graph)
    again.restore(unpack(pack(test.state())))
    assert again.finding == test.finding
    assert test.finding is not None
    assert test.finding.past is PastFeature.STATE
    assert test.finding.said.code is Code.PAST_MATTERS


def test_of_large_graphs_what_is_often_taken_is_followed() -> None:
    states = 20_000  # two outcomes each: more than there is room for
    ahead = (np.arange(states) + 1) % states
    targets = np.stack([ahead, (ahead + 1) % states], 1).ravel()
    graph = Graph(np.arange(states + 1), 2 * np.arange(states + 1), targets)
    rng, rows, way = np.random.default_rng(0), [], 0
    for _ in range(3000):  # at state 0 alone, one outcome follows the other
        way ^= int(rng.random() < 0.2)
        rows.append(way)
    test = MarkovTest(graph)
    test.take(np.array(rows), np.ones(3000, bool))
    assert test.finding is not None
    assert test.finding.past is PastFeature.OUTCOME
    assert len(pack(test.state())) < 10_000


# -- in environments and logs -------------------------------------------------------------------------------


class Machine(gym.Env):
    """Breaks the more often the longer it has run, which an observer of `works` and `broken` does not see."""

    observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(2)
    hidden = True

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.age = self.made = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.made += 1
        self.age = 0 if action == 1 else self.age + 1
        rate = (0.05 if self.age < 2 else 0.4) if self.hidden else 0.1
        broken = action == 0 and self.np_random.random() < rate
        if broken:
            self.age = 0
        return int(broken), 0.0, False, self.made == 40, {}


class Honest(Machine):
    hidden = False


def guarantees(env: Any, trajectories: int = 1000) -> Any:
    source = Gymnasium(env, labels={"broken": [1]}, episodes=50)
    *_, last = anytime(source, QUESTION, ConfidenceSequence(0.05), trajectories=trajectories, seed=1)
    return last.guarantee, source


def test_nothing_is_promised_of_an_environment_with_hidden_wear() -> None:
    guarantee, source = guarantees(Machine())
    assert guarantee.kind == "none"
    assert Code.PAST_MATTERS in guarantee.codes
    assert Code.PAST_MATTERS in codes_of(source.report())


def test_the_promise_of_one_without_stands() -> None:
    guarantee, source = guarantees(Honest())
    assert guarantee.kind == "any-time"
    assert source.provenance().findings == ()


def test_an_environment_goes_on_with_its_test() -> None:
    _, source = guarantees(Machine(), 20)
    state = unpack(pack(source.state()))
    assert state["markov_rows"][0] == source.provenance().rows > 0
    other = Gymnasium(Machine(), labels={"broken": [1]}, episodes=50)
    other.begin(5)
    other.restore(state)
    assert pack(other.state()) == pack(source.state())


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Blackjack-v1", "Taxi-v4", "CliffWalking-v1"])
def test_environments_of_gymnasium_are_markov(name: str) -> None:
    source = Gymnasium(f"gym:{name}", episodes=300)
    asked = 'Pmax=? [ F<=30 "terminated" ]'
    *_, last = anytime(source, asked, ConfidenceSequence(0.05), trajectories=1500, seed=2)
    assert source.provenance().findings == ()
    assert last.guarantee.kind == "any-time"


def test_the_clock_is_found_by_the_check() -> None:
    class Tiring(Honest):
        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            self.made += 1
            return int(self.np_random.random() < (0.1 if self.made <= 20 else 0.4)), 0.0, False, self.made == 40, {}

    report = check_environment(Tiring(), steps=8000)
    assert not report.fit
    assert "clock" in [finding.kind for finding in report.findings]
    assert check_environment(Honest(), steps=8000).findings == ()


def write(path: Path, env: Any, episodes: int) -> None:
    rng = np.random.default_rng(0)
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("trajectory", "state", "action", "next"))
        for number in range(episodes):
            state, over = env.reset(seed=number)[0], False
            while not over:
                action = int(rng.integers(2))
                reached, _, _, over, _ = env.step(action)
                rows.writerow((number, f"s{state}", action, f"s{reached}"))
                state = reached


@pytest.mark.parametrize(("kind", "promised"), [(Machine, "none"), (Honest, "any-time")])
def test_logs_are_tested_too(kind: type[Machine], promised: str, tmp_path: Path) -> None:
    write(tmp_path / "log.csv", kind(), 600)
    log = Log(tmp_path / "log.csv", labels={"broken": ["s1"]})
    *_, last = anytime(log, QUESTION, ConfidenceSequence(0.05))
    assert last.guarantee.kind == promised
    assert (Code.PAST_MATTERS in codes_of(log.report())) == (promised == "none")
