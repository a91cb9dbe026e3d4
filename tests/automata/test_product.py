"""Products, and policies with memory: built as by a plain loop, played, written, simulated, and of proven value."""

import csv
import json
import math
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from oracles import exact
from oracles.exact import Choice, Model, Objective
from umdp import MDP, IntervalMDP, ModelError, Policy, Rewards, SpecError, evaluate, simulate, solve
from umdp.automata import MemoryPolicy, product
from umdp.automata.labelled_automaton import read_formula
from umdp.automata.product import multiply
from umdp.cli import run
from umdp.errors import FormatError
from umdp.io import read_policy, write, write_policy
from umdp.io.policy_files import read_remembered
from umdp.solver.temporal import recalled
from umdp.spec import Spec
from umdp.verify import verify_content

from .pairs import draw, to_model

TOUR = '(G F "a") & (G F "b")'


def office() -> MDP:
    """Return a corridor with a room at either end."""
    return MDP(
        [0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 0], [1, 1, 1, 1], labels={"a": [1], "b": [2]},
        actions=["left", "right", "back", "back"], state_names=["hall", "A", "B"],
    )  # fmt: skip


def risky() -> IntervalMDP:
    """Return the same where every way out of the hall may break something, for ever."""
    return IntervalMDP(
        [0, 2, 3, 4, 5], [0, 2, 4, 5, 6, 7], [1, 3, 2, 3, 0, 0, 3], [0.8, 0.1, 0.5, 0.2, 1, 1, 1], [0.9, 0.2, 0.8, 0.5, 1, 1, 1],
        labels={"a": [1], "b": [2], "broken": [3]}, actions=["left", "right", "back", "back", "stay"],
    )  # fmt: skip


@pytest.mark.parametrize("dense", [0, 2**26])
@pytest.mark.parametrize("formula", [TOUR, '(F "a") & (F "b")', '(F G !"a") | (G F "b")', 'G ("a" => (X X "b"))'])
def test_the_product_is_that_of_a_plain_loop(formula: str, dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "DENSE", dense)
    model = risky()
    reading = read_formula(Spec.parse(f"Pmax=? [ {formula} ]").formula, model)  # type: ignore[arg-type]
    automaton, code = reading.automaton, reading.code
    made = multiply(model, reading)
    start = (0, int(automaton.step[automaton.initial, code[0]]))
    queue, seen, rows = [start], {start: 0}, []

    def number(pair: tuple[int, int]) -> int:
        if pair not in seen:
            seen[pair] = len(queue)
            queue.append(pair)
        return seen[pair]

    for s, q in queue:
        if automaton.sinks[q]:
            rows.append([[(number((s, q)), 1.0, 1.0)]])
            continue
        own = []
        for c in range(model.state_ptr[s], model.state_ptr[s + 1]):
            row = []
            for t in range(model.choice_ptr[c], model.choice_ptr[c + 1]):
                j = int(model.successor[t])
                row.append((number((j, int(automaton.step[q, code[j]]))), model.lower[t], model.upper[t]))
            own.append(row)
        rows.append(own + [[(number((s, jump)), 1.0, 1.0)] for jump in automaton.jumps[q]])
    assert list(zip(made.state.tolist(), made.memory.tolist(), strict=True)) == queue
    assert np.diff(made.state_ptr).tolist() == [len(own) for own in rows]
    assert np.diff(made.choice_ptr).tolist() == [len(row) for own in rows for row in own]
    flat = [entry for own in rows for row in own for entry in row]
    assert list(zip(made.successor.tolist(), *(each.tolist() for each in made.numbers), strict=True)) == flat


def test_a_tour_goes_on_for_ever() -> None:
    policy = solve(office(), f"Pmax=? [ {TOUR} ]").policy
    assert isinstance(policy, MemoryPolicy)
    player, state, seen = policy.player(), 0, []
    for _ in range(40):
        choice = player.see(state)
        state = int(office().successor[choice])
        seen.append(state)
    assert seen.count(1) == seen.count(2) == 10
    with pytest.raises(ModelError, match="make a player of it"):
        policy.act("hall")
    again = policy.player()
    assert [again.act(name) for name in ("hall", "A", "hall", "B")] == ["left", "back", "right", "back"]
    with pytest.raises(ModelError, match="no such state"):
        again.act("roof")


def test_values_by_hand() -> None:
    # Each way out is survived with the lower bound at worst: first left (0.8), then right (0.5).
    worst = solve(risky(), 'Pmaxmin=? [ (F "a") & (F "b") ]').bracket
    best = solve(risky(), 'Pmaxmax=? [ (F "a") & (F "b") ]').bracket
    assert worst.lower <= 0.4 <= worst.upper
    assert best.lower <= 0.72 <= best.upper
    for players, value in (("maxmin", 0.0), ("minmin", 0.0), ("minmax", 0.0), ("maxmax", 0.0)):
        bracket = solve(risky(), f'P{players}=? [ {TOUR} & (G !"broken") ]').bracket
        assert bracket.lower <= value <= bracket.upper
    twice = solve(risky(), 'Pmaxmin=? [ F ("a" & (X (X "a"))) ]').bracket
    assert twice.lower <= 0.64 <= twice.upper
    exactly = solve(risky(), 'Pmaxmin=? [ F=3 "b" ]').bracket
    assert exactly.lower <= 0.4 <= exactly.upper
    late = solve(risky(), 'Pmaxmin=? [ F[2,5] "b" ]').bracket
    assert late.lower <= 0.4 <= late.upper


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ('Pmaxmin>=0.39 [ (F "a") & (F "b") ]', True),
        ('Pmaxmin>0.41 [ (F "a") & (F "b") ]', False),
        ('P<0.9 [ (F "a") & (F "b") ]', True),
        ('P>=0.1 [ (F "a") & (F "b") ]', False),
    ],
)
def test_thresholds(asked: str, holds: bool) -> None:
    assert solve(risky(), asked).satisfied is holds


def test_a_given_policy_is_evaluated_on_the_model() -> None:
    model = risky()
    left = Policy(model, [0, 2, 3, 4])
    for asked, value in (('Pmaxmin=? [ (F "a") & (F "b") ]', 0.0), ('Pmaxmin=? [ (F "a") & (X X X "a") ]', 0.64)):
        bracket = evaluate(model, asked, left).bracket
        assert bracket.lower <= value <= bracket.upper
    with pytest.raises(ModelError, match="randomised policy of an interval MDP"):
        evaluate(model, 'Pmaxmin=? [ (F "a") & (F "b") ]', Policy.uniform(model))
    plain = MDP(model.state_ptr, model.choice_ptr, model.successor, [0.8, 0.2, 0.5, 0.5, 1, 1, 1], labels=model.labels)
    bracket = evaluate(plain, 'Pmax=? [ "a" | (X "a") ]', Policy.uniform(plain)).bracket
    assert bracket.lower <= 0.4 <= bracket.upper


@pytest.mark.parametrize(
    "asked",
    ['Pmaxmin=? [ (F "a") & (F "b") ]', 'Pminmax=? [ F ("a" & (F "b")) ]', 'Pmaxmin=? [ (F G "a") | (F "b") ]'],
)
def test_a_policy_with_memory_is_evaluated(asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution = solve(risky(), asked)
    again = evaluate(risky(), asked, solution.policy).bracket
    assert again.lower <= solution.policy_bracket.upper
    assert solution.policy_bracket.lower <= again.upper
    with pytest.raises(ModelError, match="what matters for"):
        evaluate(risky(), 'Pmaxmin=? [ (G "a") & (G "b") ]', solution.policy)
    with pytest.raises(ModelError, match="other states, choices or labels"):
        evaluate(office(), asked, solution.policy)
    model, file = str(tmp_path / "risky.tra"), str(tmp_path / "policy.json")
    write(risky(), model)
    assert run(["check", model, asked, "--policy", file]) == 0
    assert run(["check", model, asked, "--evaluate", file, "--json"]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["lower"] <= again.upper
    assert again.lower <= said["upper"]


def test_a_chain_asks_nature_alone() -> None:
    chain = Policy(risky(), [0, 2, 3, 4]).induced(risky())
    for asked, value in (("Pmin", 0.64), ("Pmax", 0.81), ("Pminmax", 0.81), ("Pmaxmin", 0.64)):
        bracket = solve(chain, f'{asked}=? [ (F "a") & (X X X "a") ]').bracket
        assert bracket.lower <= value <= bracket.upper, asked


def test_simulation_finds_what_was_promised() -> None:
    asked = 'Pmaxmin=? [ (F "a") & (F "b") ]'
    solution = solve(risky(), asked)
    truth = MDP(*(getattr(risky(), n) for n in ("state_ptr", "choice_ptr", "successor")), [0.85, 0.15, 0.6, 0.4, 1, 1, 1],
                labels=risky().labels, actions=risky().actions)  # fmt: skip
    played = simulate(solution.policy, truth, asked, episodes=4000)
    assert played.lower <= 0.51 <= played.upper
    with pytest.raises(ModelError, match="does not remember"):
        simulate(Policy(truth, [0, 2, 3, 4]), truth, asked)
    with pytest.raises(ModelError, match="does not remember"):
        simulate(solution.policy, truth, 'Pmaxmin=? [ (F "a") & (G F "b") ]')


def test_certificate_and_nature_are_about_the_product() -> None:
    for asked in ('Pmaxmin=? [ (F "a") & (F "b") ]', 'Pminmax=? [ (F "a") | (F G "b") ]'):
        solution = solve(risky(), asked)
        assert str(solution.asked) == asked
        assert asked in repr(solution)
        assert solution.product is not None
        assert solution.nature.states == solution.model.states
        assert verify_content(solution.certificate().content).valid
        copy = pickle.loads(pickle.dumps(solution))
        assert copy.bracket == solution.bracket
        assert copy.policy.decide(0, copy.product.first(0)) == solution.policy.decide(0, solution.product.first(0))  # type: ignore[attr-defined]


def test_a_policy_with_memory_is_written_for_others_to_play(tmp_path: Path) -> None:
    policy = solve(office(), f"Pmax=? [ {TOUR} ]").policy
    write_policy(policy, tmp_path / "tour.json")
    written = json.loads((tmp_path / "tour.json").read_text())
    memory, table = written["memory"], {(d["memory"], d["state"]): d for d in written["decisions"]}
    labels = {"hall": set(), "A": {'"a"'}, "B": {'"b"'}}

    def read(memory_now: int, state: str) -> int:
        letter = sum(1 << i for i, c in enumerate(memory["conditions"]) if c in labels[state])
        after: int = memory["after"][memory_now][memory["letters"].index(letter)]
        return after

    state, seen = "hall", []
    now = read(memory["initial"], state)
    for _ in range(20):
        decision = table[now, state]
        state = {"left": "A", "right": "B", "back": "hall"}[decision["action"]]
        now = read(decision["becomes"], state)
        seen.append(state)
    assert seen.count("A") == seen.count("B") == 5
    write_policy(policy, tmp_path / "tour.csv")
    rows = list(csv.DictReader((tmp_path / "tour.csv").open()))
    assert {row["action"] for row in rows if row["state"] == "hall"} == {"left", "right"}
    found = read_remembered(tmp_path / "tour.json")
    assert found is not None
    again = recalled(office(), Spec.parse(found.asked), found.decisions, after=found.after)
    assert list(again.decisions()) == list(policy.decisions())
    for wrong in (found.decisions[1:], [(9, 0, 0, 0)], [(0, 0, 7, 0)]):
        with pytest.raises(ModelError, match="the policy"):
            recalled(office(), Spec.parse(found.asked), wrong)
    with pytest.raises(ModelError, match="by another automaton"):
        recalled(office(), Spec.parse(found.asked), found.decisions, after=[row[::-1] for row in found.after])
    for name in ("tour.json", "tour.csv"):
        with pytest.raises(FormatError, match="policy with memory"):
            read_policy(tmp_path / name, office())


@pytest.mark.parametrize(
    "formula", ['(F "a") & (G "b")', '!(F "a")', '("a" W "b") | (F "b")', '(F "a") <=> (F "b")', 'F G "a"']
)
def test_rewards_of_what_is_never_settled_are_refused(formula: str) -> None:
    with pytest.raises(SpecError, match="settled at some time"):
        Spec.parse(f"Rmax=? [ {formula} ]")


SEEN = {
    '(F "a") & (F "b")': lambda memory, letter: memory | letter,
    'F ("a" & (F "b"))': lambda memory, letter: memory | (letter & 1) | (letter & 2 if (memory | letter) & 1 else 0),
    'X F ("a" & (X F "b"))': lambda memory, letter: (
        4 if memory < 0 else memory | (letter & 1) | (letter & 2 if memory & 1 else 0)
    ),
}


@pytest.mark.parametrize("formula", SEEN)
@pytest.mark.parametrize("seed", range(8))
def test_rewards_until_a_cosafe_formula_is_settled(formula: str, seed: int) -> None:
    rng = random.Random(seed)
    choices, letters = draw(rng, zero=False)
    paid = [[rng.randint(0, 3) for _ in own] for own in choices]
    along = [[[rng.choice([0, 0, 2]) for _ in row] for row in own] for own in choices]
    after = SEEN[formula]
    start = (0, after(-1 if "X F (" in formula else 0, letters[0]))
    index, queue, rows = {start: 0}, [start], []
    for state, memory in queue:
        own = []
        for number, row in enumerate(choices[state]):
            made = []
            for target, low, high in row:
                ahead = (target, after(memory, letters[target]))
                if ahead not in index:
                    index[ahead] = len(queue)
                    queue.append(ahead)
                made.append((index[ahead], low, high))
            own.append(Choice(made, paid[state][number], along[state][number]))
        rows.append(own)
    goal = [memory & 3 == 3 for _, memory in queue]
    plain = to_model(choices, letters)
    rewards = {
        "r": Rewards(
            choice=[p for own in paid for p in own], transition=[p for own in along for row in own for p in row]
        )
    }
    bounds = (plain.probability,) if isinstance(plain, MDP) else (plain.lower, plain.upper)
    model = type(plain)(
        plain.state_ptr, plain.choice_ptr, plain.successor, *bounds, labels=plain.labels, rewards=rewards
    )
    for agent, nature in (("min", "max"), ("max", "min"), ("min", "min"), ("max", "max")):
        truth = exact.value(Model(rows), Objective("R", agent, nature, "F"), goal=goal)[0]  # type: ignore[arg-type]
        bracket = solve(model, f"R{agent}{nature}=? [ {formula} ]").bracket
        assert bracket.lower <= float(truth) * (1 + 1e-9)
        assert float(truth) <= bracket.upper * (1 + 1e-9)
        assert bracket.relative_width < 1e-5 or truth == math.inf
