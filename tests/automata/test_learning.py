"""Learning for temporal formulas: in the product, where a choice is one choice with every memory."""

from pathlib import Path

import numpy as np
import pytest

from umdp import MDP, ConfidenceSequence, ModelError, SpecError, anytime, benchmark, solve
from umdp.automata import MemoryPolicy
from umdp.automata.product import product_ties
from umdp.benchmark.known_ties import tie_grid
from umdp.cli import run

BOTH = 'Pmax=? [ (F "a") & (F "b") ]'


def rooms() -> MDP:
    """Return a hall with two doors, each of which may lead to a pit, and never back."""
    return MDP(
        [0, 2, 3, 4, 5], [0, 2, 4, 5, 6, 7], [1, 3, 2, 3, 0, 0, 3], [0.85, 0.15, 0.6, 0.4, 1, 1, 1],
        labels={"a": [1], "b": [2]}, actions=["left", "right", "back", "back", "stay"],
    )  # fmt: skip


@pytest.mark.parametrize("declared", [False, True])
def test_a_choice_is_learned_with_every_memory(declared: bool) -> None:
    grid = benchmark.grid()
    product = solve(grid, 'Pmax=? [ !"trap" U (x=4 & y=2 & (!"trap" U "goal")) ]').product
    assert product is not None
    ties = product_ties(product, tie_grid(grid) if declared else None)
    counts = np.random.default_rng(0).integers(0, 9, product.model.transitions)
    pooled = ties.pool(counts)
    fed = ties.fed
    assert pooled.sum() == counts[fed].sum()
    # Along a transition of the model the same is known, whatever is remembered.
    seen: dict[tuple[int, int], int] = {}
    spread = ties.along(pooled)
    graph = product.model
    for choice in range(graph.choices):
        begin, end = int(graph.choice_ptr[choice]), int(graph.choice_ptr[choice + 1])
        if end - begin > 1:
            for place in range(end - begin):
                key = (int(product.origin[choice]), place)
                assert seen.setdefault(key, int(spread[begin + place])) == spread[begin + place]


def test_bounds_hold_and_are_worth_something() -> None:
    below = 0
    for seed in range(12):
        *_, last = anytime(rooms(), BOTH, ConfidenceSequence(0.05), seed=seed, trajectories=2000)
        below += last.bracket.lower <= 0.51
        assert last.bracket.lower > 0.35
        assert last.guarantee.holds
        assert "class" not in str(last.guarantee)
    assert below >= 10
    policy = MemoryPolicy.of(last.policy)
    assert policy.product.asked.formula == solve(rooms(), BOTH).asked.formula
    begun = policy.product.first(0)
    after = [policy.decide(0, memory)[0] for memory in (begun, policy.product.next(policy.product.next(begun, 1), 0))]
    assert len(set(after)) == 2 or after[0] == 1


def test_what_is_to_be_avoided_is_learned_too() -> None:
    *_, last = anytime(rooms(), 'Pmin=? [ F ("a" & (F "b")) ]', ConfidenceSequence(0.05), trajectories=100)
    assert last.bracket.upper <= 0.51


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(SpecError, match="which way the policy pulls"):
        next(iter(anytime(rooms(), BOTH.replace("Pmax", "P"), ConfidenceSequence(0.05))))
    with pytest.raises(ModelError, match="no memory"):
        MemoryPolicy.of(solve(rooms(), 'Pmax=? [ F "a" ]').policy)


def test_a_run_is_kept_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked, out = 'Pmax=? [ !"trap" U (x=4 & y=2 & (!"trap" U "goal")) ]', str(tmp_path / "grid.run")
    assert run(["learn", "grid", asked, "--trajectories", "30", "--out", out, "--quiet"]) == 0
    assert run(["resume", out, "--trajectories", "60", "--quiet"]) == 0
    both = capsys.readouterr().out
    assert run(["learn", "grid", asked, "--trajectories", "60", "--quiet"]) == 0
    again = capsys.readouterr().out
    assert "after 60 trajectories" in both
    assert run(["show", out]) == 0
    assert asked in capsys.readouterr().out
    assert run(["simulate", out, "--episodes", "200"]) == 0
    assert "played" in capsys.readouterr().out
    assert again.splitlines()[0] in both
