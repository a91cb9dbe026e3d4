"""The loop: what it yields, what ends it, what it must never depend on."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import umdp
from umdp import LUI, MDP, PAC, Snapshot, Spec, anytime, benchmark, solve
from umdp.explore import Follow, Optimism, Uniform
from umdp.learn import LEARNERS
from umdp.learning.loop import LearningRun, StoppingCriteria, proceed
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


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        pytest.param(learner, name, marks=[] if name == "grid" or learner == "lui" else [pytest.mark.slow])
        for learner in LEARNERS
        for name in benchmark.BENCHMARKS
        if name != "chain-switched"
    ],
)
def test_with_uniform_exploration_the_model_error_falls(learner: str, name: str) -> None:
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
        ({"until": ">=0.2"}, ">= 0.2 is reached on the learned model"),
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


@pytest.mark.parametrize("name", ["bandit", "betting-favourable", "betting-unfavourable"])
def test_trajectories_end_where_no_reward_is_left(name: str) -> None:
    """The bandit that lost, and the player without money: steps taken there would set UCRL2's clock."""
    bench = benchmark.BENCHMARKS[name]
    model = bench.build()
    state = LearningRun(Simulator(model), bench.spec, LUI())
    value = solve(model, bench.spec).upper
    goal = np.isin(np.arange(model.states), model.labels["goal" if name == "bandit" else "done"])
    assert (state.halt[value == 0]).all()
    assert (value[state.halt] == 0).all()
    assert (state.halt & ~goal).any()


def test_trajectories_go_on_where_bounds_leave_open_whether_the_goal_is_reached() -> None:
    """What comes after the price is free, and reaches the goal surely: but bounds of 0 do not know that yet."""
    model = MDP(
        [0, 1, 2, 3], [0, 2, 4, 5], [0, 1, 1, 2, 2], [0.5, 0.5, 0.9, 0.1, 1.0], labels={"goal": [2]},
        rewards={"cost": umdp.Rewards(choice=np.array([1.0, 0.0, 0.0]))},
    )  # fmt: skip
    assert LearningRun(Simulator(model), Spec.parse('Rmin=? [ F "goal" ]'), LUI()).halt.tolist() == [False, True, True]
    sound = umdp.ConfidenceSequence()
    assert LearningRun(Simulator(model), Spec.parse('Rmin=? [ F "goal" ]'), sound).halt.tolist() == [False, False, True]
    assert list(anytime(model, 'Rmin=? [ F "goal" ]', sound, trajectories=3000))[-1].bracket.upper < 3


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

    def fresh() -> LearningRun:
        return LearningRun(Simulator(bench.build()), bench.spec, LUI(), Optimism(0.9), 5, bench.horizon)

    whole = fresh()
    expected = numbers(list(proceed(whole, StoppingCriteria(trajectories=400))))
    state, got = fresh().checkpoint(), []
    while len(got) < len(expected):  # a new process for every snapshot
        part = fresh()
        part.restore(state)
        loop = proceed(part, StoppingCriteria(trajectories=400))
        got += numbers([next(loop)])
        if len(got) < len(expected):
            next(loop)
            state = part.checkpoint()
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
        ({"horizon": 0}, "horizon"),
        ({"until": "0.3"}, ">=0.3"),
        ({"explorer": "greedy"}, "there is no way to explore called 'greedy'"),
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


def test_it_ends_where_exploration_avoids_everything_uncertain() -> None:
    gamble = MDP(
        [0, 2, 3, 4, 5], [0, 2, 3, 4, 5, 6], [2, 0, 1, 2, 2, 3], [0.02, 0.98, 1, 1, 1, 1],
        labels={"home": [2]}, rewards={"cost": {"choice": [1, 1, 5, 0, 0]}},
    )  # fmt: skip
    *_, last = anytime(gamble, 'R{"cost"}min=? [ F "home" ]', LUI(), horizon=1000)
    assert last.reason == "exploration reaches nothing from which more could be learned"
    assert last.performance == pytest.approx(6)
    limits = StoppingCriteria(trajectories=last.trajectories + 100, exhaust=True)
    spec = umdp.Spec.parse('R{"cost"}min=? [ F "home" ]')
    *_, all_of_it = proceed(LearningRun(Simulator(gamble), spec, LUI(), horizon=1000), limits)
    assert all_of_it.trajectories == limits.trajectories


def test_what_is_collected_when_it_is_stopped_is_used_and_not_lost() -> None:
    whole = numbers(list(anytime(COIN, HEADS, LUI(), trajectories=1000)))
    spec = umdp.Spec.parse(HEADS)
    run, asked = LearningRun(Simulator(COIN), spec, LUI()), 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked % 7 == 0

    state, found = run.checkpoint(), {}
    for _ in range(100):
        again = LearningRun(Simulator(COIN), spec, LUI())
        again.restore(state)
        for snapshot in proceed(again, StoppingCriteria(trajectories=1000), stop):
            found[snapshot.iteration] = snapshot
        state = again.checkpoint()
        if "trajectories" in str(snapshot.reason):
            break
        assert snapshot.reason == "stopped"
        assert snapshot.trajectories == again.trajectories
        assert snapshot.partial == bool(again.state.pending.any())
    assert numbers(list(found.values())) == whole
    assert found[max(found)].partial  # the budget ended within an iteration


@pytest.mark.parametrize("budget", [37, 1000])
def test_a_longer_budget_goes_on_as_if_it_had_been_given_at_once(budget: int) -> None:
    bench = benchmark.BENCHMARKS["grid"]
    run = LearningRun(Simulator(bench.build()), bench.spec, LUI(), Optimism(0.9), 5, bench.horizon)
    cut = {s.iteration: s for s in proceed(run, StoppingCriteria(steps=budget))}
    assert 0 <= cut[max(cut)].steps - budget < bench.horizon  # the last trajectory is not cut
    cut |= {s.iteration: s for s in proceed(run, StoppingCriteria(trajectories=300))}
    assert numbers(list(cut.values())) == numbers(run_with(Optimism(0.9), 300))


def run_with(explorer: Optimism, trajectories: int) -> list[Snapshot]:
    return run("grid", LUI(), trajectories, seed=5, explorer=explorer)


def test_nothing_optimistic_is_computed_for_a_log(tmp_path) -> None:
    from umdp.source import Log

    (tmp_path / "a.csv").write_text("state,action,next\n0,0,1\n0,0,2\n0,0,2\n")
    *_, last = anytime(Log(tmp_path / "a.csv", COIN.graph), HEADS, LUI())
    assert (last.trajectories, last.optimistic, last.reason) == (3, None, "there is no more data")
