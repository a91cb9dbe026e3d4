"""The loop: what it yields, what ends it, what it must never depend on."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import umdp
from umdp import LUI, MDP, PAC, Snapshot, anytime, benchmark, solve
from umdp.anytime import Anytime, Limits, proceed
from umdp.explore import Follow, Optimism, Uniform
from umdp.learn import LEARNERS
from umdp.source.simulator import Simulator

COIN = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
HEADS = 'Pmax=? [ F "heads" ]'


def run(name: str, learner: umdp.Learner, trajectories: int, *, seed: int = 0, **options: object) -> list[Snapshot]:
    bench = benchmark.BENCHMARKS[name]
    return list(
        anytime(
            bench.build(), bench.spec, learner, horizon=bench.horizon, trajectories=trajectories, seed=seed, **options
        )  # type: ignore[arg-type]
    )


def numbers(snapshots: list[Snapshot]) -> list[tuple[float, ...]]:
    return [(s.trajectories, s.steps, s.bracket.lower, s.bracket.upper, s.optimistic or 0.0) for s in snapshots]


def test_iteration_0_is_the_prior() -> None:
    first = run("chain", LUI(), 1)[0]
    assert (first.iteration, first.trajectories, first.steps) == (0, 0, 0)
    assert first.bracket.upper == pytest.approx(1.0001000100009987e120, rel=1e-6)


def test_an_iteration_ends_when_some_choice_has_been_taken_as_often_as_before() -> None:
    snapshots = run("grid", LUI(), 500)
    for before, after in itertools.pairwise(snapshots[:-1]):
        assert after.iteration == before.iteration + 1
        assert after.trajectories > before.trajectories
    # The coin has one choice: totals double.
    totals = [s.steps for s in anytime(COIN, HEADS, LUI(), trajectories=100)]
    assert totals == [0, 1, 2, 4, 8, 16, 32, 64, 100]


def test_a_snapshot_does_not_depend_on_what_happens_later() -> None:
    short, long = run("grid", LUI(), 300), run("grid", LUI(), 2000)
    common = min(len(short), len(long)) - 1  # the last one may have been cut by the budget
    assert numbers(short[:common]) == numbers(long[:common])


def test_equal_seeds_give_equal_runs_and_others_do_not() -> None:
    assert numbers(run("aircraft", LUI(), 500, seed=3)) == numbers(run("aircraft", LUI(), 500, seed=3))
    assert numbers(run("aircraft", LUI(), 500, seed=3)) != numbers(run("aircraft", LUI(), 500, seed=4))


@pytest.mark.parametrize("name", ["chain", "aircraft"])
@pytest.mark.parametrize("learner", [LUI(), PAC()])
def test_optimism_finds_an_optimal_policy(name: str, learner: umdp.Learner) -> None:
    last = run(name, learner, 10_000)[-1]
    assert last.performance == pytest.approx(benchmark.BENCHMARKS[name].optimum, rel=1e-9)


@pytest.mark.parametrize("name", [n for n in benchmark.BENCHMARKS if n != "chain-switched"])
@pytest.mark.parametrize("learner", list(LEARNERS))
def test_with_uniform_exploration_the_model_error_falls(name: str, learner: str) -> None:
    # UCRL2 has intervals below 1 only after some ten thousand samples of a choice.
    slow = {"chain": 100_000, "grid": 300_000}.get(name, 1_000_000)
    snapshots = run(name, LEARNERS[learner](), slow if learner == "ucrl2" else 20_000, explorer=Uniform())
    errors = [s.model_error for s in (snapshots[0], snapshots[-1])]
    assert errors[1] < errors[0]  # type: ignore[operator]
    if learner != "ucrl2":
        assert errors[1] < 0.8 * errors[0]  # type: ignore[operator]


def test_the_bracket_is_that_of_the_learned_model() -> None:
    last = run("grid", LUI(), 1000)[-1]
    again = solve(last.model, benchmark.BENCHMARKS["grid"].spec.robust(), method="value")
    assert last.bracket.lower <= again.bracket.upper
    assert again.bracket.lower <= last.bracket.upper
    assert last.bracket.relative_width <= 1e-6


def test_metrics_are_what_they_say() -> None:
    last = run("betting-favourable", LUI(), 300)[-1]
    truth = benchmark.BENCHMARKS["betting-favourable"].build()
    spec = benchmark.BENCHMARKS["betting-favourable"].spec
    assert last.performance == pytest.approx(umdp.evaluate(truth, spec, last.policy).value)
    assert last.estimation_error == pytest.approx(last.bracket.value - last.performance)  # type: ignore[operator]
    p = truth.probability
    far = np.maximum(p - last.model.lower, last.model.upper - p)[(p > 0) & (p < 1)]
    assert last.model_error == pytest.approx(far.mean())


def test_costs_turn_the_sign_of_the_estimation_error() -> None:
    last = run("chain", LUI(), 50)[-1]
    assert last.bracket.value > last.performance  # type: ignore[operator]
    assert last.estimation_error < 0  # type: ignore[operator]


def test_the_caller_leaves() -> None:
    loop = anytime(COIN, HEADS, LUI())
    seen = [next(loop).trajectories for _ in range(5)]
    loop.close()  # type: ignore[attr-defined]
    assert seen == [0, 1, 2, 4, 8]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"until": ">=0.2"}, "certified"),
        ({"trajectories": 33}, "33 trajectories"),
        ({"steps": 50}, "50 steps"),
        ({"seconds": 0.05}, "time is up"),
        ({"stop": lambda: True}, "stopped"),
    ],
)
def test_what_ends_a_run_is_said(limits: dict[str, object], words: str) -> None:
    last = list(anytime(COIN, HEADS, LUI(), **limits))[-1]  # type: ignore[arg-type]
    assert last.reason is not None
    assert words in last.reason


def test_a_threshold_in_the_property_ends_a_run() -> None:
    last = list(anytime(COIN, 'Pmax>=0.3 [ F "heads" ]', LUI(), trajectories=10_000))[-1]
    assert last.trajectories < 10_000
    assert last.robust.satisfied


def test_where_the_graph_decides_there_is_nothing_to_learn() -> None:
    (only,) = anytime(COIN, "Pmax=? [ F true ]", LUI())
    assert only.reason is not None
    assert "nothing to learn" in only.reason


def test_trajectories_end_where_the_value_is_known() -> None:
    last = list(anytime(COIN, HEADS, LUI(), trajectories=100, horizon=50))[-1]
    assert last.steps == 100


def test_exploration_follows_a_given_policy() -> None:
    bench = benchmark.BENCHMARKS["bandit"]
    mdp = bench.build()
    policy = umdp.Policy(mdp, mdp.state_ptr[:-1] + np.array([7, 0, 0, 0]))
    last = list(anytime(mdp, bench.spec, LUI(), explorer=Follow(policy), trajectories=100, horizon=100))[-1]
    moved = np.flatnonzero(last.model.upper < 1 - 1e-4 - 1e-12)
    assert set(np.searchsorted(mdp.choice_ptr, moved, side="right") - 1) >= {7}
    start = mdp.choice_ptr[: mdp.state_ptr[1]]
    others = [t for c, t in enumerate(start) if c != 7]
    assert (last.model.upper[others] == 1 - 1e-4).all()


def test_a_run_continued_from_its_state_is_the_run_itself() -> None:
    bench = benchmark.BENCHMARKS["grid"]

    def fresh() -> Anytime:
        return Anytime(Simulator(bench.build()), bench.spec, LUI(), Optimism(0.9), 5, bench.horizon)

    whole = fresh()
    expected = numbers(list(proceed(whole, Limits(trajectories=400))))
    state, got = fresh().state(), []
    while len(got) < len(expected):  # a new process for every snapshot
        part = fresh()
        part.restore(state)
        loop = proceed(part, Limits(trajectories=400))
        got += numbers([next(loop)])
        if len(got) < len(expected):
            next(loop)
            state = part.state()
    assert got == expected


def test_lui_with_bounded_strength_comes_back_after_a_switch() -> None:
    first, second = benchmark.chain(), benchmark.chain_switched()
    spec, best = benchmark.BENCHMARKS["chain"].spec, benchmark.BENCHMARKS["chain-switched"].optimum

    def back(learner: LUI, seed: int) -> float:
        source = umdp.switch(first, second, after=1000)
        for s in anytime(source, spec, learner, explorer=Optimism(0.8), trajectories=30_000, horizon=100, seed=seed):
            if s.trajectories > 1000 and s.performance == pytest.approx(best, rel=1e-6):
                return s.trajectories
        return math.inf

    bounded = [back(LUI(strength_bound=(20, 30)), seed) for seed in range(3)]
    unbounded = [back(LUI(), seed) for seed in range(3)]
    assert all(math.isfinite(b) for b in bounded)
    assert sorted(bounded)[1] < sorted(unbounded)[1]


def test_the_change_is_not_told() -> None:
    source = umdp.switch(COIN, COIN.graph.with_probability([0.9, 0.1, 1, 1]), after=64)
    last = list(anytime(source, HEADS, LUI(), trajectories=20_000))[-1]
    assert last.truth is not None
    assert last.truth.probability[0] == 0.9
    assert last.bracket.lower == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"spec": 'P>=0.5 [ F "heads" ]', "horizon": 0}, "horizon"),
        ({"until": "0.3"}, ">=0.3"),
        ({"explorer": "greedy"}, "greedy|str"),
    ],
)
def test_bad_settings_are_refused(arguments: dict[str, object], words: str) -> None:
    spec = arguments.pop("spec", HEADS)
    with pytest.raises((umdp.UmdpError, AttributeError), match=words):
        list(anytime(COIN, spec, LUI(), **arguments))  # type: ignore[arg-type]


def test_a_gymnasium_environment_is_a_source() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("FrozenLake-v1")
    last = list(anytime(env, 'Pmax=? [ F "goal" ]', LUI(), trajectories=50, horizon=100))[-1]
    assert last.trajectories == 50
    assert last.performance is not None
