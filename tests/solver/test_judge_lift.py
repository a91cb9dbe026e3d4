"""The judge of products: right ones pass, wrong ones are refused, and nothing that it can be shown makes a false goal true."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from itertools import product as tuples
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata.lassos import drawn, text
from automata.pairs import chain, draw, exact, to_model
from automata.safra import TooLargeError
from thoroughness import examples
from umdp import LUI, MDP, IntervalMDP, ModelError, Policy, Rewards, anytime, evaluate, solve
from umdp.automata import MemoryPolicy
from umdp.automata.automaton import Pair
from umdp.automata.product import ACCEPTING, Product
from umdp.learning import anytime_learning
from umdp.solver import answer, temporal
from umdp.solver.confirm.products import ConfirmedSides, examine_product
from umdp.solver.judge import refused
from umdp.solver.judge.lift import RabinTable, is_accepted, is_missed
from umdp.solver.judge.question import ModelRows, is_narrow
from umdp.solver.result import Bracket, Diagnostic, Status
from umdp.spec import Direction, Spec

BOTH, NEITHER = ConfirmedSides(True, True), ConfirmedSides(False, False)
TOUR = 'Pmaxmin=? [ (G F "a") & (G F "b") ]'
COSAFE = 'Rmaxmax=? [ F ("a" & (X X "b")) ]'
JUMPING = 'Pmaxmin=? [ (F G !"a") | (G F "b") ]'


def halls() -> IntervalMDP:
    """Return two rooms by a hall, and a way to break something, for ever."""
    return IntervalMDP(
        [0, 2, 3, 5, 6], [0, 2, 4, 5, 6, 8, 9], [1, 3, 2, 3, 0, 0, 0, 3, 3], [0.8, 0.1, 0.5, 0.2, 1, 1, 0.5, 0.1, 1],
        [0.9, 0.2, 0.8, 0.5, 1, 1, 0.9, 0.5, 1], labels={"a": [1], "b": [2], "broken": [3]},
        rewards={"cost": Rewards(state=[1, 2, 3, 0], choice=[1, 0, 0, 2, 0, 0], transition=[1, 0, 0, 0, 0, 2, 0, 0, 0])},
    )  # fmt: skip


def lifted(asked: str, model: MDP | IntervalMDP | None = None) -> tuple[Product, MDP | IntervalMDP, Spec]:
    model, spec = model or halls(), Spec.parse(asked)
    return temporal.lift(model, spec, *_players(spec)), model, spec


def _players(spec: Spec) -> tuple[bool, bool]:
    return spec.agent is Direction.MAX, spec.nature is Direction.MAX


def judged(product: Product, model: MDP | IntervalMDP, spec: Spec) -> ConfirmedSides:
    return examine_product(product, model, spec, _players(spec))


def remade(product: Product, **changes: Any) -> Product:
    """Return the product with other arrays of its model."""
    made = product.model
    assert isinstance(made, IntervalMDP)
    names = ("state_ptr", "choice_ptr", "successor", "lower", "upper", "labels", "rewards", "initial")
    return replace(product, model=IntervalMDP(**{name: changes.get(name, getattr(made, name)) for name in names}))


def first_free(product: Product) -> int:
    """Return the first choice with several successors."""
    return int(np.flatnonzero(np.diff(product.model.choice_ptr) > 1)[0])


def lost_row(product: Product) -> Product:
    made, gone = product.model, first_free(product)
    assert isinstance(made, IntervalMDP)
    kept = np.repeat(np.arange(made.choices) != gone, np.diff(made.choice_ptr))
    sizes = np.delete(np.diff(made.choice_ptr), gone)
    return replace(
        remade(
            product, state_ptr=made.state_ptr - (made.state_ptr > gone), choice_ptr=np.concatenate([[0], np.cumsum(sizes)]),
            successor=made.successor[kept], lower=made.lower[kept], upper=made.upper[kept],
        ),
        origin=np.delete(product.origin, gone), stay=product.stay - (product.stay > gone),
    )  # fmt: skip


def swapped_successors(product: Product) -> Product:
    begin = int(product.model.choice_ptr[first_free(product)])
    successor = product.model.successor.copy()
    successor[[begin, begin + 1]] = successor[[begin + 1, begin]]
    return remade(product, successor=successor)


def changed_bound(name: str, towards: float) -> Callable[[Product], Product]:
    def change(product: Product) -> Product:
        begin = int(product.model.choice_ptr[first_free(product)])
        bound = getattr(product.model, name).copy()
        bound[begin] = np.nextafter(bound[begin], towards)
        return remade(product, **{name: bound})

    return change


def other_memory(product: Product) -> Product:
    """Send a transition to the right state with another memory."""
    made = product.model
    for t in range(made.transitions):
        j = made.successor[t]
        others = np.flatnonzero((product.state == product.state[j]) & (product.memory != product.memory[j]))
        if others.size:
            successor = made.successor.copy()
            successor[t] = others[0]
            return remade(product, successor=successor)
    raise AssertionError("no state has two memories")


def other_table(product: Product) -> Product:
    automaton = product.reading.automaton
    step = (automaton.step + 1) % automaton.states
    return replace(product, reading=replace(product.reading, automaton=replace(automaton, step=step)))


def other_letters(product: Product) -> Product:
    return replace(product, reading=replace(product.reading, code=product.reading.code[::-1].copy()))


def all_lost(product: Product) -> Product:
    """Return a right product of the wrong letters: as if nothing of the model were listed."""
    lost = product.reading.losing(0)
    code = np.full_like(lost.code, lost.code[0])
    made = temporal.multiply(halls(), replace(lost, rest=None, code=code))
    found = temporal.accepting(made)
    return Product.of(
        made, product.asked, product.spec, found.goal, found.stay, witness=(found.pair, found.rank, found.level)
    )


def other_start(product: Product) -> Product:
    return remade(product, initial=1)


def other_origin(product: Product) -> Product:
    return replace(product, origin=np.roll(product.origin, 1))


def other_formula(product: Product) -> Product:
    return replace(product, reading=replace(product.reading, negated=not product.reading.negated))


def other_nature(product: Product) -> Product:
    turned = {Direction.MAX: Direction.MIN, Direction.MIN: Direction.MAX}
    assert product.spec.nature is not None
    return replace(product, spec=replace(product.spec, nature=turned[product.spec.nature]))


WRONG = [
    lost_row, swapped_successors, changed_bound("lower", 0.0), changed_bound("upper", 1.0), other_memory, other_table,
    other_letters, all_lost, other_start, other_origin, other_formula, other_nature,
]  # fmt: skip


@pytest.mark.parametrize("asked", [TOUR, JUMPING, 'Pminmax=? [ (F "a") & (F "b") ]', COSAFE])
def test_right_products_pass(asked: str) -> None:
    assert judged(*lifted(asked)) == BOTH


@pytest.mark.parametrize("asked", [TOUR, JUMPING])
@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.__qualname__.split(".")[0])
def test_wrong_products_are_refused(change: Callable[[Product], Product], asked: str) -> None:
    product, model, spec = lifted(asked)
    assert judged(change(product), model, spec) == NEITHER


def test_a_lost_jump_is_refused() -> None:
    product, model, spec = lifted(JUMPING)
    assert not product.reading.automaton.is_deterministic
    tame = replace(product.reading.automaton, jumps=((),) * product.reading.automaton.states)
    assert judged(replace(product, reading=replace(product.reading, automaton=tame)), model, spec) == NEITHER


@pytest.mark.parametrize("part", ["state", "choice", "transition"])
def test_other_rewards_are_refused(part: str) -> None:
    product, model, spec = lifted(COSAFE)
    cost = product.model.rewards["cost"]
    paid = getattr(cost, part).copy()
    paid[np.flatnonzero(paid)[0]] += 1.0
    parts = {name: getattr(cost, name) for name in ("state", "choice", "transition")} | {part: paid}
    assert judged(remade(product, rewards={"cost": Rewards(**parts)}), model, spec) == NEITHER
    goal = product.model.labels[ACCEPTING].copy()
    goal[0] = not goal[0]
    assert judged(remade(product, labels={ACCEPTING: goal}), model, spec) == NEITHER


@pytest.mark.parametrize("agent", ["max", "min"])
def test_a_goal_too_large_or_too_small_costs_its_side(agent: str) -> None:
    plain = MDP([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 2], [1, 1, 1, 1], labels={"a": [1], "b": [0], "c": [2]})
    model = plain.graph.with_bounds(plain.probability, plain.probability)
    product, _, spec = lifted(f'P{agent}min=? [ (G F "a") & (G F "b") ]', model)
    goal = product.model.labels[ACCEPTING]
    assert goal.any()
    assert not goal.all()
    assert judged(product, model, spec) == BOTH
    high, low = ConfirmedSides(False, True), ConfirmedSides(True, False)
    large, small = (high, low) if agent == "max" else (low, high)
    assert product.witness is not None
    for pair, rank, level in (product.witness, tuple(np.zeros_like(each) for each in product.witness)):
        shown = replace(product, witness=(pair, rank, level), stay=product.model.state_ptr[:-1])
        every = remade(shown, labels={ACCEPTING: np.ones_like(goal)})
        assert judged(every, model, spec) in (large, NEITHER)
        none = remade(shown, labels={ACCEPTING: np.zeros_like(goal)})
        assert judged(none, model, spec) == small


def test_what_is_not_confirmed_is_not_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    right = solve(halls(), 'Pmaxmin=? [ (F "a") & (F "b") ]')
    assert (right.status, right.diagnostics) == (Status.CERTIFIED, ())

    def wrong(*given: Any, **more: Any) -> Product:
        return changed_bound("lower", 0.0)(temporal.lift(*given, **more))

    before = refused()
    monkeypatch.setattr(answer, "lift", wrong)
    found = solve(halls(), 'Pmaxmin=? [ (F "a") & (F "b") ]')
    assert (found.bracket.lower, found.bracket.upper) == (0.0, 1.0)
    assert (found.status, found.diagnostics) == (Status.IMPRECISE, (Diagnostic.UNCONFIRMED,))
    assert (found.lower == 0.0).all()
    assert (found.upper == 1.0).all()
    assert refused() == before + 1


def test_nothing_is_learned_in_a_product_that_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    process = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 0, 2], [0.5, 0.5, 1, 1], labels={"a": [1], "b": [2]})
    asked = 'Pmax=? [ (F "a") & (F "b") ]'
    assert next(iter(anytime(process, asked, LUI(), trajectories=10))) is not None
    lift = anytime_learning.lift
    monkeypatch.setattr(anytime_learning, "lift", lambda *given, **more: other_memory(lift(*given, **more)))
    with pytest.raises(ModelError, match="was not confirmed"):
        next(iter(anytime(process, asked, LUI(), trajectories=10)))


def test_a_policy_is_worth_what_it_does_itself() -> None:
    # It may come back to a again and again, or stay where it is; what the solver would do there does not matter.
    model = MDP([0, 2, 3], [0, 1, 2, 3], [0, 1, 0], [1, 1, 1], labels={"a": [1]})
    asked = 'Pmax=? [ (G F "a") & (X true) ]'
    product = solve(model, asked).product
    assert product is not None
    graph = product.model
    stays = MemoryPolicy(graph, graph.state_ptr[:-1], product=product)
    either = MemoryPolicy(graph, weight=Policy.uniform(graph).weight, product=product)
    for policy, value in ((stays, 0.0), (either, 1.0), (solve(model, asked).policy, 1.0)):
        found = evaluate(model, asked, policy)
        assert found.bracket.lower == found.bracket.upper == value
        assert found.status is Status.CERTIFIED


@pytest.mark.parametrize("seed", range(40))
def test_random_policies_are_worth_what_they_do(seed: int) -> None:
    rng = random.Random(seed)
    choices, letters = draw(rng, zero=False, plain=rng.random() < 0.2)
    formula, nature = drawn(rng, rng.randint(1, 4), 2), rng.choice(["max", "min"])
    asked = f"P{rng.choice(['max', 'min'])}{nature}=? [ ({text(formula)}) & (X true) ]"
    product = solve(to_model(choices, letters), asked).product
    assert product is not None
    first, last = product.model.state_ptr[:-1], product.model.state_ptr[1:]
    own = [rng.randrange(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    policy = MemoryPolicy(product.model, np.array(own), product=product)
    try:
        played = exact(*chain(choices, letters, policy), formula, nature, nature)
    except TooLargeError:
        return
    bracket = evaluate(to_model(choices, letters), asked, policy).bracket
    guesses, negated = not product.reading.automaton.is_deterministic, product.reading.negated
    assert Fraction(bracket.lower) <= played or (guesses and negated)
    assert played <= Fraction(bracket.upper) or (guesses and not negated)


def test_transitions_that_nothing_uses_are_not_there() -> None:
    model = IntervalMDP(
        [0, 1, 2], [0, 2, 3], [0, 1, 1], [1.0, 0.0, 1], [1.0, 1e-5, 1], labels={"a": [0], "b": [1]}
    )  # fmt: skip
    asked = 'Pmaxmin=? [ (G F "a") & (X true) ]'
    found = solve(model, asked)
    assert found.bracket.lower == 1.0
    assert evaluate(model, asked, found.policy).bracket.lower == 1.0
    # In the product of the model as it stands, where the transition is listed, the goal would be too small.
    product, _, spec = lifted(asked, model)
    assert not product.model.labels[ACCEPTING].any()
    assert judged(product, model, spec) == ConfirmedSides(True, False)


def test_equal_successors_that_a_reward_keeps_apart() -> None:
    paid = {"x": Rewards(transition=[1, 2, 3, 4.0]), "y": Rewards(state=[1, 2.0])}
    model = IntervalMDP(
        [0, 2, 3], [0, 1, 3, 4], [0, 1, 1, 0], [1, 0.5, 0.5, 1], [1, 0.5, 0.5, 1], labels={"a": [1], "b": [0]}, rewards=paid
    )  # fmt: skip
    for asked, value in (('R{"x"}minmin', 6.5), ('R{"y"}minmin', 3.0), ("Pmaxmin", 1.0)):
        found = solve(model, f'{asked}=? [ F ("a" & (X "b")) ]')
        assert found.diagnostics == ()
        assert found.bracket.lower <= value <= found.bracket.upper


@settings(max_examples=examples(400))
@given(st.integers(0, 2**32), st.booleans())
def test_right_products_of_random_models_pass(seed: int, zero: bool) -> None:
    rng = random.Random(seed)
    choices, letters = draw(rng, zero=zero, plain=rng.random() < 0.2)
    model = to_model(choices, letters)
    agent, nature = rng.choice(["max", "min"]), rng.choice(["max", "min"])
    asked = f"P{agent}{nature}=? [ ({text(drawn(rng, rng.randint(1, 5), 2))}) & (X true) ]"
    product, _, spec = lifted(asked, model)
    assert judged(product, model, spec) == BOTH
    made = product.model
    if not isinstance(made, IntervalMDP):
        return
    successor = made.successor.copy()
    t = rng.randrange(made.transitions)
    successor[t] = (successor[t] + 1) % made.states
    if made.states > 1:
        own = slice(*made.choice_ptr[np.searchsorted(made.choice_ptr, t, side="right") - 1 :][:2])
        if np.unique(successor[own]).size == successor[own].size:  # else it is merged, and another row
            assert judged(remade(product, successor=successor), model, spec) == NEITHER


def test_what_is_shown_is_what_was_judged() -> None:
    model = IntervalMDP(
        [0, 1, 2, 3, 4], [0, 2, 4, 5, 6], [1, 3, 2, 3, 2, 3], [0.5, 0.3, 0.4, 0.5, 1, 1], [0.7, 0.5, 0.5, 0.6, 1, 1],
        labels={"a": [2]}, initial=1,
    )  # fmt: skip
    for asked in ('Pmaxmin=? [ F "a" ]', 'Pmaxmin=? [ G !"a" ]', 'Pmaxmin=? [ F<=3 "a" ]'):
        found = solve(model, asked)
        assert found.at(1) == found.bracket
        for solution in (found, pickle.loads(pickle.dumps(found))):
            assert [solution.at(s) for s in range(4)] == list(
                map(Bracket, solution.lower.tolist(), solution.upper.tolist())
            )
            assert np.array_equal(solution.lower, found.lower)
            assert np.array_equal(solution.upper, found.upper)
            assert (solution.lower <= solution.upper).all()
            assert np.unique(solution.upper).size > 2


@pytest.mark.parametrize(
    ("lower", "upper", "precision", "unit", "narrow"),
    [
        (0.5, 0.5, 1e-6, 0.0, True),
        (np.inf, np.inf, 1e-6, 0.0, True),
        (1.0, 1.5, 0.5, 0.0, True),
        (1.0, 1.5, 0.3, 0.0, False),
        (0.0, 1e-9, 1e-6, 0.0, False),
        (0.0, 1e-9, 1e-6, 1.0, True),
        (0.0, np.inf, 0.5, 0.0, False),
        (1.0, np.nan, 0.5, 0.0, False),
        (1.0, 0.9, 0.5, 0.0, False),  # no bracket at all
    ],
)
def test_how_narrow_certified_is(lower: float, upper: float, precision: float, unit: float, narrow: bool) -> None:
    assert is_narrow(lower, upper, precision, unit) is narrow


Rows = list[list[list[int]]]


def _ends(rows: Rows) -> list[frozenset[int]]:
    """Return all end components, by trying all sets of states."""
    found = []
    for size in range(1, len(rows) + 1):
        for chosen in combinations(range(len(rows)), size):
            inside = frozenset(chosen)
            ahead = {s: {j for row in rows[s] if inside.issuperset(row) for j in row} for s in inside}
            if all(_reached(ahead, s) == inside for s in inside):
                found.append(inside)
    return found


def _reached(ahead: dict[int, set[int]], start: int) -> frozenset[int]:
    """Return what can be reached by at least one step."""
    seen: set[int] = set()
    stack = [start]
    while stack:
        for j in ahead[stack.pop()]:
            if j not in seen:
                seen.add(j)
                stack.append(j)
    return frozenset(seen)


@st.composite
def arenas(draw: st.DrawFn) -> tuple[Rows, list[bool], list[bool], list[Pair]]:
    """Draw rows of a few states, which of the rows are used, a goal, and pairs over the states themselves."""
    size = draw(st.integers(1, 3))
    masks = st.lists(st.booleans(), min_size=size, max_size=size)
    some = st.lists(st.integers(0, size - 1), min_size=1, max_size=2, unique=True)
    rows: Rows = [draw(st.lists(some, min_size=1, max_size=2)) for _ in range(size)]
    used = [draw(st.booleans()) for own in rows for _ in own]
    pairs = [Pair(np.array(draw(masks)), np.array(draw(masks))) for _ in range(draw(st.integers(1, 2)))]
    return rows, used, draw(masks), pairs


def _arrays(rows: Rows, pairs: list[Pair]) -> tuple[ModelRows, RabinTable]:
    """Return the rows with even probabilities, and an automaton whose states are those of the rows."""
    flat = [row for own in rows for row in own]
    state_ptr, choice_ptr = (np.cumsum([0, *map(len, each)]) for each in (rows, flat))
    successor = np.array([j for row in flat for j in row], dtype=np.int32)
    prob = np.repeat(1.0 / np.diff(choice_ptr), np.diff(choice_ptr))
    none, size = np.empty(0), len(rows)
    return ModelRows.of(state_ptr, choice_ptr, successor, prob, prob, none, none, none), RabinTable(
        0, np.zeros((size, 1), np.int32), np.zeros(size + 1, np.int64), np.zeros(0, np.int32),
        np.array([each.avoid for each in pairs]), np.array([each.repeat for each in pairs]),
    )  # fmt: skip


def _accepted(states: frozenset[int], pairs: list[Pair]) -> bool:
    return any(not any(each.avoid[s] for s in states) and any(each.repeat[s] for s in states) for each in pairs)


def _taken(rows: Rows, used: list[bool]) -> Rows:
    """Return the rows that are used, of each state."""
    which = iter(used)
    return [[row for row in own if next(which)] for own in rows]


def _as_one(rows: Rows) -> Rows:
    """Return the rows of each state as one."""
    return [[sorted({j for row in own for j in row})] if own else [] for own in rows]


@settings(max_examples=examples(400))
@given(arenas())
def test_no_numbers_and_ranks_make_a_goal_larger(drawn_: tuple[Rows, list[bool], list[bool], list[Pair]]) -> None:
    rows, used, goal, pairs = drawn_
    size, inside = len(rows), {s for s, good in enumerate(goal) if good}
    arrays, table = _arrays(rows, pairs)
    memory = np.arange(size, dtype=np.int32)
    confirmed = any(
        is_accepted(arrays, memory, table, np.array(goal), np.array(used), np.array(pair), np.array(rank))
        for pair in tuples(range(len(pairs)), repeat=size)
        for rank in tuples(range(size), repeat=size)
    )
    chain = _as_one(_taken(rows, used))
    ahead = {s: {j for row in chain[s] for j in row} for s in range(size)}
    wins = all(
        ahead[s]
        and _reached(ahead, s) <= inside
        and all(_accepted(end, pairs) for end in _ends(chain) if end <= _reached(ahead, s))
        for s in inside
    )
    assert wins or not confirmed
    if all(any(not each.avoid[s] for each in pairs) for s in inside) and len(pairs) == 1:
        assert confirmed == wins


@settings(max_examples=examples(400))
@given(arenas(), st.booleans())
def test_levels_are_there_just_where_nothing_else_accepts(
    drawn_: tuple[Rows, list[bool], list[bool], list[Pair]], together: bool
) -> None:
    rows, used, goal, pairs = drawn_
    size, outside = len(rows), {s for s, good in enumerate(goal) if not good}
    arrays, table = _arrays(rows, pairs[:1])
    memory = np.arange(size, dtype=np.int32)
    confirmed = any(
        is_missed(arrays, memory, table, np.array(goal), np.array(used), together, np.array([level]))
        for level in tuples(range(size), repeat=size)
    )
    decided = _taken(rows, used)
    ends = _ends(_as_one(decided) if together else decided)
    stuck = {s for s in outside if together and not decided[s]}  # a policy takes something everywhere
    if not stuck:
        assert confirmed == (not any(_accepted(end, pairs[:1]) for end in ends if end <= outside))
