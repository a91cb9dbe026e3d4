"""Solving again from a solution for other bounds: what is kept still holds, and the rest is found anew.

The oracle is value iteration in NumPy, to the last digits.
"""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import umdp
from umdp import MDP, IntervalMDP
from umdp.solver.methods.resumption import renewed
from umdp.solver.reduction.layout import build_problem, state_quotient_of

P, R = 'Pmax=? [ F "goal" ]', 'Rmin=? [ F "goal" ]'


def blocks(rng: np.random.Generator, count: int = 12, size: int = 25, lonely: int = 60) -> MDP:
    """A model of strongly connected blocks, one behind the other, and single states between them; goal and trap at the end."""
    total = count * size + lonely
    place = np.concatenate([np.repeat(np.arange(count), size), rng.integers(0, count, lonely)])
    single = np.arange(total) >= count * size
    rank = np.argsort(np.argsort(place + 0.5 * single, kind="stable"))
    goal, trap = total, total + 1
    state_ptr, choice_ptr, successor, probability = [0], [0], [], []
    for s in range(total):
        ahead = np.flatnonzero(rank > rank[s])
        ahead = ahead[place[ahead] + 0.5 * single[ahead] > place[s] + 0.5 * single[s]]
        own = np.flatnonzero((place == place[s]) & ~single) if not single[s] else np.empty(0, np.int64)
        for _ in range(int(rng.integers(1, 4))):
            found = set(rng.choice(own, 3).tolist()) if own.size else set()
            if ahead.size:
                found |= set(rng.choice(ahead, 2).tolist())
            found |= {goal if rng.random() < 0.7 else trap, goal}
            successor += sorted(found)
            weights = rng.uniform(0.1, 1.0, len(found))
            probability += (weights / weights.sum()).tolist()
            choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    for end in (goal, trap):
        successor.append(end)
        probability.append(1.0)
        choice_ptr.append(len(successor))
        state_ptr.append(len(choice_ptr) - 1)
    reward = rng.uniform(0.0, 2.0, len(choice_ptr) - 1)
    return MDP(
        state_ptr, choice_ptr, successor, probability, labels={"goal": [goal], "over": [goal, trap]},
        rewards={"cost": umdp.Rewards(choice=reward)},
    )  # fmt: skip


def changed(model: MDP, rng: np.random.Generator, share: float) -> MDP:
    """The same with other probabilities on some rows."""
    width = np.diff(model.choice_ptr)
    rows = (rng.random(model.choices) < share) & (width > 1)
    weights = np.where(
        np.repeat(rows, width), model.probability * rng.uniform(0.5, 1.5, model.transitions), model.probability
    )
    sums = np.repeat(np.add.reduceat(weights, model.choice_ptr[:-1]), width)
    probability = np.where(np.repeat(rows, width), weights / sums, model.probability)
    return MDP(
        model.state_ptr, model.choice_ptr, model.successor, probability, labels=model.labels, rewards=model.rewards
    )


def oracle(model: MDP | IntervalMDP, question: str) -> np.ndarray:
    """Values by iteration; on intervals nature is against the agent."""
    reach = question.startswith("P")
    goal = model.labels["goal"] if reach else model.labels["over"]
    x = np.where(goal, 1.0 if reach else 0.0, 0.0)
    plain = isinstance(model, MDP)
    for _ in range(20_000):
        if plain:
            rows = np.add.reduceat(model.probability * x[model.successor], model.choice_ptr[:-1])
        else:
            rows = np.array([worst(model, c, x, largest=not reach) for c in range(model.choices)])
        if not reach:
            rows = rows + model.rewards["cost"].choice
        best = (np.maximum if reach else np.minimum).reduceat(rows, model.state_ptr[:-1])
        best = np.where(goal, x, best)
        best[-1] = 0.0
        if np.abs(best - x).max() <= 1e-15 * max(1.0, x.max()):
            break
        x = best
    return x


def worst(model: IntervalMDP, c: int, x: np.ndarray, *, largest: bool) -> float:
    """What nature makes of a row."""
    own = slice(model.choice_ptr[c], model.choice_ptr[c + 1])
    low, high, value = model.lower[own], model.upper[own], x[model.successor[own]]
    order = np.argsort(-value if largest else value, kind="stable")
    rest, taken = 1.0 - low.sum(), low.copy()
    for i in order:
        give = min(rest, high[i] - low[i])
        taken[i] += give
        rest -= give
    return float(taken @ value)


def check(model: MDP | IntervalMDP, question: str, solution: umdp.Solution) -> None:
    """Every state's value lies in its bracket, up to what iteration leaves, and the policy is worth what is said."""
    value = oracle(model, question)
    slack = 1e-11 * np.maximum(value, 1.0)
    assert (solution.lower <= value + slack).all()
    assert (value <= solution.upper + slack).all()
    assert solution.status is umdp.Status.CERTIFIED
    own = umdp.evaluate(model, solution.spec, solution.policy)
    assert own.bracket.lower <= solution.bracket.upper
    assert solution.bracket.lower <= own.bracket.upper


@pytest.mark.parametrize("question", [P, 'R{"cost"}min=? [ F "over" ]'])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.002, 0.05, 0.6])
def test_other_probabilities(question: str, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    model = blocks(rng)
    found = umdp.solve(model, question)
    for _ in range(3):
        model = changed(model, rng, share)
        found = umdp.solve(model, question, start=found)
        check(model, question, found)


@pytest.mark.parametrize("question", ['Pmaxmin=? [ F "goal" ]', 'R{"cost"}minmax=? [ F "over" ]'])
@pytest.mark.parametrize("method", ["auto", "value"])
def test_other_bounds(question: str, method: str) -> None:
    rng = np.random.default_rng(3)
    truth = blocks(rng, 6, 20, 20)
    model = truth.with_intervals(0.05, floor=1e-3)
    found = umdp.solve(model, question, method=method)
    for share in (0.01, 0.5):
        truth = changed(truth, rng, share)
        model = truth.with_intervals(0.05, floor=1e-3)
        found = umdp.solve(model, question, start=found, method=method)
        check(model, question, found)


def test_nothing_changed_and_nothing_is_done() -> None:
    rng = np.random.default_rng(1)
    model = blocks(rng)
    found = umdp.solve(model, P)
    assert found.statistics.iterations > 0
    again = umdp.solve(model, P, start=found)
    assert again.statistics.iterations == 0
    assert (again.lower == found.lower).all()
    assert (again.upper == found.upper).all()
    assert (again.policy.choice == found.policy.choice).all()


def test_what_a_change_does_not_reach_is_not_solved_again() -> None:
    model = blocks(np.random.default_rng(2))
    found = umdp.solve(model, P)
    first = model.probability.copy()
    own = slice(model.choice_ptr[0], model.choice_ptr[1])  # of the first block, which no other leads to
    first[own] = first[own][::-1]
    other = MDP(model.state_ptr, model.choice_ptr, model.successor, first, labels=model.labels, rewards=model.rewards)
    again = umdp.solve(other, P, start=found)
    check(other, P, again)
    last = slice(model.states - 20, model.states)
    assert (again.lower[last] == found.lower[last]).all()
    assert 0 < again.statistics.iterations < found.statistics.iterations / 4


def test_other_rewards_count_as_changes() -> None:
    rng = np.random.default_rng(4)
    model = blocks(rng)
    question = 'R{"cost"}min=? [ F "over" ]'
    found = umdp.solve(model, question)
    reward = model.rewards["cost"].choice.copy()
    reward[rng.integers(0, model.choices, 5)] += 1.0
    other = MDP(
        model.state_ptr, model.choice_ptr, model.successor, model.probability, labels=model.labels,
        rewards={"cost": umdp.Rewards(choice=reward)},
    )  # fmt: skip
    check(other, question, umdp.solve(other, question, start=found))


def tangle(rng: np.random.Generator, n: int) -> MDP:
    """A model at random, with end components, of which some cost nothing; goal and trap at the end."""
    state_ptr, choice_ptr, successor, probability, price = [0], [0], [], [], []
    near = rng.random() < 0.5
    for s in range(n):
        for _ in range(int(rng.integers(1, 4))):
            count = int(rng.integers(1, 4))
            found = set(((s + rng.integers(-4, 6, count)) % n if near else rng.integers(0, n, count)).tolist())
            found |= {n} if rng.random() < 0.15 else {n + 1} if rng.random() < 0.05 else set()
            weights = rng.uniform(0.1, 1.0, len(found))
            successor += sorted(found)
            probability += (weights / weights.sum()).tolist()
            choice_ptr.append(len(successor))
            price.append(float(rng.choice([0.0, 0.0, 1.0, 2.5])))
        state_ptr.append(len(price))
    for end in (n, n + 1):
        successor.append(end)
        probability.append(1.0)
        choice_ptr.append(len(successor))
        price.append(0.0)
        state_ptr.append(len(price))
    return MDP(
        state_ptr, choice_ptr, successor, probability, labels={"goal": [n], "over": [n, n + 1]},
        rewards={"cost": umdp.Rewards(choice=np.array(price))},
    )  # fmt: skip


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 60))])
def test_with_end_components_it_is_what_a_solve_from_scratch_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = tangle(rng, int(rng.choice([90, 150, 300, 1500])))
    method = str(rng.choice(["auto", "value"]))
    for head in ("Pmax", "Pmin", "Pmaxmin", "Pminmax", "Rmin", "Rmax", "Rminmax", "Rmaxmin"):
        question = f'{head}=? [ F "goal" ]' if head[0] == "P" else f'R{{"cost"}}{head[1:]}=? [ F "over" ]'
        now, found = truth, None
        for share in (0.0, *rng.choice([0.005, 0.05, 0.5], 2)):
            now = changed(now, rng, share)
            price = now.rewards["cost"].choice.copy()
            some = rng.integers(0, price.size - 2, 3)
            price[some] = rng.choice([0.0, 1.0], 3) if rng.random() < 0.3 else 1.5 * price[some]
            now = MDP(
                now.state_ptr, now.choice_ptr, now.successor, now.probability, labels=now.labels,
                rewards={"cost": umdp.Rewards(choice=price)},
            )  # fmt: skip
            model = now.with_intervals(0.05, floor=1e-3) if len(head) > 4 else now
            found = umdp.solve(model, question, start=found, method=method)
            cold = umdp.solve(model, question, method=method)
            assert (found.lower <= cold.upper * (1 + 1e-12)).all(), (head, share)
            assert (cold.lower <= found.upper * (1 + 1e-12)).all(), (head, share)


def pairs(count: int, staying: float) -> MDP:
    """A line of states, two of which can change places at a price; where that is nothing, each pair is one unknown."""
    first, second = np.arange(count), np.arange(count) ^ 1
    successor = np.append(np.column_stack([first + 1, second]).ravel(), count)
    price = np.append(np.tile([1.0, staying], count), 0.0)
    return MDP(
        np.append(np.arange(0, 2 * count + 1, 2), 2 * count + 1), np.arange(successor.size + 1), successor,
        np.ones(successor.size), labels={"over": [count]}, rewards={"cost": umdp.Rewards(choice=price)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now", "least"), [(0.0, 7.0, 400), (0.0, 0.25, 250), (7.0, 0.0, 200), (7.0, 0.25, 250)]
)
def test_what_is_free_of_charge_decides_which_states_are_one(before: float, now: float, least: float) -> None:
    question = 'R{"cost"}min=? [ F "over" ]'
    found = umdp.solve(pairs(400, before), question)
    again = umdp.solve(pairs(400, now), question, start=found)
    assert again.bracket.lower <= least <= again.bracket.upper
    assert again.status is umdp.Status.CERTIFIED


def test_what_was_left_open_is_not_kept() -> None:
    model = blocks(np.random.default_rng(9))
    found = umdp.solve(model, P)
    assert found.values is not None
    given_up = replace(found, values=replace(found.values, error=np.full_like(found.values.error, np.inf)))
    check(model, P, umdp.solve(model, P, start=given_up))


def test_a_change_where_the_graph_decides_changes_nothing() -> None:
    """The first state and the next go to the goal for sure, by turns of their own."""
    model = blocks(np.random.default_rng(10))
    goal, n = model.states - 2, model.states

    def with_lead(share: float) -> MDP:
        return MDP(
            np.append(model.state_ptr, model.choices + np.arange(1, 3)),
            np.append(model.choice_ptr, model.transitions + np.array([2, 3])),
            np.append(model.successor, [goal, n + 1, goal]),
            np.append(model.probability, [share, 1 - share, 1.0]), labels={"goal": [goal]},
        )  # fmt: skip

    found = umdp.solve(with_lead(0.5), P)
    again = umdp.solve(with_lead(0.25), P, start=found)
    assert again.statistics.iterations == 0
    assert again.bracket == found.bracket
    assert again.lower[n] == again.upper[n] == 1.0


def test_another_goal_precision_or_graph_starts_over() -> None:
    rng = np.random.default_rng(5)
    model = blocks(rng)
    found = umdp.solve(model, P, precision=1e-3)
    finer = umdp.solve(model, P, start=found)
    assert finer.bracket.relative_width <= 1e-6
    check(model, P, finer)
    goal = np.flatnonzero(model.labels["goal"])
    other = MDP(
        model.state_ptr, model.choice_ptr, model.successor, model.probability, rewards=model.rewards,
        labels={"goal": [0, *goal.tolist()], "over": [0, *goal.tolist(), model.states - 1]},
    )  # fmt: skip
    assert umdp.solve(other, P, start=found).value == 1.0
    least = umdp.solve(model, 'Pmin=? [ F "goal" ]', start=found)
    assert least.value == pytest.approx(umdp.solve(model, 'Pmin=? [ F "goal" ]').value, rel=1e-5)


def test_where_nature_may_cut_edges_it_starts_over() -> None:
    truth = blocks(np.random.default_rng(6), 6, 20, 20)
    model = truth.with_intervals(0.05, floor=1e-3)
    question = 'Pmaxmin=? [ F "goal" ]'
    found = umdp.solve(model, question, method="value")
    lower = model.lower.copy()
    lower[: model.choice_ptr[3]] = 0.0
    open_model = IntervalMDP(
        model.state_ptr, model.choice_ptr, model.successor, lower, np.maximum(model.upper, 0.5), labels=model.labels
    )
    again = umdp.solve(open_model, question, start=found, method="value")
    cold = umdp.solve(open_model, question, method="value")
    assert again.bracket.lower <= cold.bracket.upper
    assert cold.bracket.lower <= again.bracket.upper


def test_a_solution_from_a_file_is_a_start_as_well() -> None:
    model = blocks(np.random.default_rng(7))
    found = pickle.loads(pickle.dumps(umdp.solve(model, P)))
    check(model, P, umdp.solve(model, P, start=found))


@pytest.mark.parametrize("interval", [False, True])
def test_rows_written_anew_are_those_of_a_new_problem(interval: bool) -> None:
    rng = np.random.default_rng(8)
    truth = blocks(rng)
    question = 'Pmaxmin=? [ F "goal" ]' if interval else P

    def dressed(mdp: MDP) -> MDP | IntervalMDP:
        return mdp.with_intervals(0.05, floor=1e-3) if interval else mdp

    def task(model: MDP | IntervalMDP) -> object:
        from umdp.solver.objective import players
        from umdp.solver.task import analyse, task_of

        spec = umdp.Spec.parse(question)
        return task_of(analyse(model, spec), spec.kind, *players(model, spec))

    old = task(dressed(truth))
    other = changed(truth, rng, 0.03)
    new = task(dressed(other))
    rows = np.logical_or.reduceat(truth.probability != other.probability, truth.choice_ptr[:-1])
    before = build_problem(old, state_quotient_of(old))  # type: ignore[arg-type]
    patched = renewed(before, replace(old, lower=new.lower, upper=new.upper), rows)  # type: ignore
    whole = build_problem(new, state_quotient_of(new))  # type: ignore[arg-type]
    assert patched is not None
    for name in ("row_ptr", "entry_ptr", "target", "lower", "upper", "slack", "reward"):
        assert np.array_equal(getattr(patched.rows, name), getattr(whole.rows, name)), name
    assert np.array_equal(patched.origin, whole.origin)
    assert patched.plain == whole.plain
