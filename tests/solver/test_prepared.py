"""Solving again on the same graph: the same answers as from scratch, wherever a solve starts."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from oracles.exact import Choice, Model
from properties.bridge import OBJECTIVES, exact_policy, exact_value, outside, to_model, to_spec, too_wide
from properties.generate import Instance, random_model
from umdp import Graph, IntervalMDP, Policy, Solution, anytime, prepare, solve
from umdp.benchmark import BENCHMARKS
from umdp.errors import InfeasibleChoice, ModelError
from umdp.learn import LEARNERS
from umdp.solver.objective import Request, SolveOptions, players
from umdp.solver.system import cached_system
from umdp.solver.task import analyse

COIN = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"goal": [1]})


def narrowed(drawn: Instance, share: float) -> Instance:
    """Return the instance with bounds that are closer to a distribution inside of them; no transition pays by itself."""

    def row(choice: Choice) -> Choice:
        low = np.array([float(lower) for _, lower, _ in choice.row])
        high = np.array([float(upper) for _, _, upper in choice.row])
        room = (high - low).sum()
        inside = low + (high - low) * (min(max(1 - low.sum(), 0.0) / room, 1.0) if room > 0 else 0.0)
        low, high = low + share * (inside - low), high - share * (high - inside)
        bounds = [(t, float(a), float(b)) for (t, _, _), a, b in zip(choice.row, low, high, strict=True)]
        return Choice(bounds, choice.reward, [0] * len(bounds))

    table = [[row(choice) for choice in choices] for choices in drawn.model.choices]
    return Instance(Model(table, drawn.model.state_rewards), drawn.goal, drawn.left, drawn.safe)


@pytest.mark.parametrize("number", range(80))
def test_best_cases_without_a_proof_are_right_where_nature_may_cut_edges(number: int) -> None:
    drawn = random_model(np.random.default_rng([29, number]), zero_lower=True, states=(3, 8))
    for objective in (each for each in OBJECTIVES if each.kind == "P" and each.agent == each.nature):
        for share in (0.0, 0.4, 0.8):
            case = narrowed(drawn, share)
            model = to_model(case)
            solver = prepare(model, to_spec(objective))
            found = solver.solve_uncertified(model, precision=1e-6, method="auto")
            exact = exact_value(case, objective)[model.initial]
            assert found.value == pytest.approx(float(exact), rel=1e-9, abs=1e-12), objective
            assert float(exact_policy(case, objective, found.policy)[model.initial]) == pytest.approx(
                float(exact), rel=1e-9, abs=1e-12
            )


def test_rows_of_other_bounds_are_not_taken_for_those_asked_about() -> None:
    grid = BENCHMARKS["grid"]
    process, spec, how = grid.build(), grid.spec, {"precision": 1e-6, "method": "auto"}
    one, other = process.with_intervals(0.02), process.with_intervals(0.05)
    worst, best = prepare(process, spec.robust()), prepare(process, spec.optimistic())
    values = {id(m): prepare(m.graph, spec.optimistic()).solve_model(m, **how).value for m in (one, other)}
    for judged, asked in ((one, one), (one, other), (other, one), (other, other), (one, one)):
        worst.solve_model(judged, **how)
        for _ in range(2):
            assert best.solve_uncertified(asked, **how).value == pytest.approx(values[id(asked)], rel=1e-6)


@pytest.mark.parametrize("number", range(60))
def test_bounds_that_come_one_after_another_are_solved_right(number: int) -> None:
    rng = np.random.default_rng([9, number])
    drawn = random_model(rng, zero_lower=number % 4 == 3, states=(3, 8))
    cases = [narrowed(drawn, share) for share in (0.0, 0.4, 0.41, 0.8)]
    models = [to_model(case) for case in cases]
    objective = OBJECTIVES[number % len(OBJECTIVES)]
    solver = prepare(models[0], to_spec(objective))
    last: Solution | None = None
    for case, model in zip(cases, models, strict=True):
        last = solver.solve(model.lower, model.upper, start=last)
        exact = exact_value(case, objective)
        for s, (low, high) in enumerate(zip(last.lower, last.upper, strict=True)):
            assert not outside(low, exact[s], high), (number, objective, s)
            assert not too_wide(low, high) or number % 4 == 3
        earned = exact_policy(case, objective, last.policy)[model.initial]
        assert not outside(last.policy_bracket.lower, earned, last.policy_bracket.upper)
        assert not last.bracket.lower > last.at(model.initial).upper


@pytest.mark.parametrize(("name", "learner"), [("grid", "pac"), ("grid", "lui"), ("chain", "pac"), ("bandit", "ucrl2")])
def test_where_a_solve_starts_does_not_decide_its_policy(name: str, learner: str) -> None:
    """In early iterations of PAC on the grid most choices differ by 1e-12: the first is to be taken, whatever was before."""
    bench = BENCHMARKS[name]
    run = anytime(bench.build(), bench.spec, LEARNERS[learner](), horizon=bench.horizon, trajectories=600, seed=2)
    models = [snapshot.model for snapshot in run]
    graph, rng = models[0].graph, np.random.default_rng(0)
    options = {"precision": 1e-6, "method": "policy"}
    pessimist, optimist = prepare(graph, bench.spec.robust()), prepare(graph, bench.spec.optimistic())
    for before, model in list(pairwise(models))[:: max(len(models) // 40, 1)]:
        anywhere = rng.integers(graph.state_ptr[:-1], graph.state_ptr[1:])
        robust, best = pessimist.solve_model(before, **options), optimist.solve_uncertified(before, **options)
        ways = [
            (robust.policy.choice, robust.unknowns, best.policy.choice, best.unknowns),
            (anywhere, None, anywhere, None),
            (None, None, None, None),
        ]
        found = [
            (
                pessimist.solve_model(model, start=a, before=b, **options),
                optimist.solve_uncertified(model, start=c, before=d, **options),
            )
            for a, b, c, d in ways
        ]
        for other in found[1:]:
            for one, two in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(one.policy.choice, two.policy.choice)
                assert one.value == pytest.approx(two.value, rel=1e-6)


def test_an_answer_stays_what_it_was_when_the_next_one_is_found() -> None:
    solver = prepare(COIN, 'Pmaxmin=? [ F "goal" ]')
    first = solver.solve([0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1])
    second = solver.solve([0.4, 0.3, 1, 1], [0.6, 0.6, 1, 1], start=first)
    assert (first.value, second.value) == (pytest.approx(0.2), pytest.approx(0.4))
    assert (first.lower[0], second.lower[0]) == (pytest.approx(0.2), pytest.approx(0.4))
    np.testing.assert_allclose(first.nature.probability[:2], [0.2, 0.8])
    np.testing.assert_allclose(second.nature.probability[:2], [0.4, 0.6])


def test_threads_that_solve_on_one_graph_do_not_meet() -> None:
    """There is one work space for a graph, and kernels run without the interpreter's lock."""
    bench = BENCHMARKS["grid"]
    run = anytime(bench.build(), bench.spec, LEARNERS["lui"](), horizon=bench.horizon, trajectories=400, seed=1)
    models, spec = [snapshot.model for snapshot in run][::6], bench.spec.robust()
    alone = [solve(model, spec).bracket for model in models]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            for one, other in zip(alone, pool.map(lambda model: solve(model, spec).bracket, models), strict=True):
                assert one.lower <= other.upper
                assert other.lower <= one.upper


def test_a_run_leaves_no_rows_behind_for_others() -> None:
    bench = BENCHMARKS["grid"]
    truth, spec = bench.build(), bench.spec.robust()
    *_, last = anytime(truth, bench.spec, LEARNERS["lui"](), horizon=bench.horizon, trajectories=200)
    own = solve(last.model, spec).bracket
    ahead = anytime(truth, bench.spec, LEARNERS["pac"](), horizon=bench.horizon, trajectories=200)
    next(ahead)  # on the same graph
    assert last.model.graph is truth.graph
    assert solve(last.model, spec).bracket == own


def test_bounds_that_are_changed_in_place_are_new_bounds() -> None:
    solver = prepare(COIN, 'Pmaxmin=? [ F "goal" ]')
    lower, upper = np.array([0.2, 0.5, 1, 1]), np.array([0.5, 0.8, 1, 1])
    first = solver.solve(lower, upper)
    lower[0] = 0.3
    assert solver.solve(lower, upper).value == pytest.approx(0.3)
    assert first.model.lower[0] == 0.2  # type: ignore[union-attr]


def test_bounds_that_admit_nothing_are_refused_as_in_a_model() -> None:
    solver = prepare(COIN, 'Pmaxmin=? [ F "goal" ]')
    with pytest.raises(InfeasibleChoice):
        solver.solve([0.7, 0.5, 1, 1], [0.8, 0.8, 1, 1])
    with pytest.raises(ModelError, match="not an interval"):
        solver.solve([0.7, np.nan, 1, 1], [0.8, 0.8, 1, 1])
    with pytest.raises(ModelError, match="transitions"):
        solver.solve([0.7], [0.8])


def test_step_bounds_and_rewards_on_transitions_are_solved_as_ever() -> None:
    model = IntervalMDP(
        COIN.state_ptr, COIN.choice_ptr, COIN.successor, [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1], labels={"goal": [1]}
    )
    for asked in ('Pmaxmin=? [ F<=3 "goal" ]', 'Pminmax=? [ G !"goal" ]'):
        again = prepare(model, asked).solve(model.lower, model.upper)
        assert again.bracket == solve(model, asked).bracket


def test_learned_models_are_solved_by_what_is_kept() -> None:
    """The short way is taken, not only right: otherwise nothing above tests it."""
    bench = BENCHMARKS["grid"]
    *_, last = anytime(bench.build(), bench.spec, LEARNERS["lui"](), horizon=bench.horizon, trajectories=300)
    assert last.robust.unknowns is not None
    spec = bench.spec.robust()
    about = analyse(last.model, spec)
    request = Request(last.model, spec, *players(last.model, spec), SolveOptions(1e-6))
    system = cached_system(about, request)
    assert about.kept
    assert system is not None
    assert system is cached_system(analyse(last.model, spec), request)
    assert system.solve(request, lambda: solve(last.model, spec)) is not None
    cold = solve(
        IntervalMDP(
            *(getattr(last.model, n) for n in ("state_ptr", "choice_ptr", "successor", "lower", "upper")),
            labels=last.model.labels,
            rewards=last.model.rewards,
        ),
        spec,
    )
    assert cold.bracket.lower <= last.bracket.upper
    assert last.bracket.lower <= cold.bracket.upper
    np.testing.assert_array_equal(cold.policy.choice, last.policy.choice)
    assert isinstance(last.policy, Policy)


def test_no_work_space_for_elimination_where_a_component_is_too_large_for_it() -> None:
    """A ring of 60 000 states would take 29 GB."""
    n = 60_000
    state = np.arange(n)
    successor = np.stack([(state + 1) % n, np.full(n, n)], axis=1).ravel()
    model = IntervalMDP(
        np.arange(n + 2), np.append(np.arange(0, 2 * n + 1, 2), 2 * n + 1), np.append(successor, n),
        np.append(np.tile([0.4, 0.5], n), 1.0), np.append(np.tile([0.5, 0.6], n), 1.0), labels={"goal": [n]},
    )  # fmt: skip
    tracemalloc.start()
    try:
        found = solve(model, 'Pmaxmin=? [ F "goal" ]')
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.value == pytest.approx(1.0)
    assert peak < 200e6
