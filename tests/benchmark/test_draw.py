"""Grid and chain as text, and what cannot be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from umdp import MDP, ModelError, Policy, solve
from umdp.benchmark import aircraft, bandit, chain, chain_switched, draw_chain, draw_grid, grid, load


def test_a_small_grid() -> None:
    mdp = grid(4, 3, traps=[(2, 0), (2, 1)])
    path = {"(0,0)": "south", "(0,1)": "south", "(0,2)": "east", "(1,2)": "east", "(2,2)": "east", "(1,0)": "west"}
    expected = ["[↓] ←  ×  ◎", " ↓  ↑  ×  ↑", " →  →  →  ↑"]
    assert draw_grid(mdp, Policy.from_actions(mdp, path)).split("\n") == expected


def test_traps_and_the_goal_are_drawn_whatever_is_done_there() -> None:
    mdp = grid(3, 1, traps=[(1, 0)])
    for trap in ("reset", "free"):
        for goal in ("north", "west"):
            assert draw_grid(mdp, Policy.from_actions(mdp, {"(1,0)": trap, "(2,0)": goal})) == "[↑] ×  ◎"


def test_the_optimal_policy_of_the_grid() -> None:
    mdp, spec = grid(), load("grid").spec
    policy = solve(mdp, spec).policy
    assert policy is not None
    lines = draw_grid(mdp, policy).split("\n")
    assert [len(line) for line in lines] == [29] * 10
    drawn = [[line[3 * x + 1] for x in range(10)] for line in lines]
    assert sum(row.count("×") for row in drawn) == 13
    assert drawn[0][9] == "◎"
    assert drawn[2][4] == "→"  # the one gap in the wall that has to be passed
    assert lines[0][0] == "["
    assert "".join(lines).count("[") == 1


def test_a_learned_model_of_the_grid_is_drawn_too() -> None:
    mdp = grid(3, 2, traps=[])
    policy = Policy(mdp, mdp.state_ptr[:-1])
    expected = draw_grid(mdp, policy)
    assert draw_grid(mdp.with_intervals(0.1), policy) == expected
    assert draw_grid(mdp.graph, policy) == expected == "[↑] ↑  ◎\n ↑  ↑  ↑"


def test_the_chain() -> None:
    mdp = chain(length=5)
    assert draw_chain(mdp, Policy.from_actions(mdp, {"0": "c", "2": "b"})) == "[c] a  b  a  a  ◎"
    policy = solve(chain_switched(), load("chain").spec).policy
    assert policy is not None
    assert draw_chain(chain_switched(), policy) == "[b]" + " b " * 29 + " ◎"


# -- refused -------------------------------------------------------------------------------------------------


def first(mdp: MDP) -> Policy:
    return Policy(mdp, mdp.state_ptr[:-1])


def renamed(names: list[str], actions: list[str] | None = None, **labels: list[int]) -> MDP:
    """Return a chain whose states and actions have other names."""
    states = len(names)
    return MDP(
        np.arange(states + 1), np.arange(states + 1), np.arange(states), np.ones(states),
        state_names=names, actions=actions or ["north"] * states, labels=labels,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mdp", "reason"),
    [
        (chain(), "state 0 is not a cell"),
        (bandit(), "state start is not a cell"),
        (aircraft(), r"state \(0,1,1\) is not a cell"),
        (renamed(["(0,0)", "(1,0)"], trap=[]), 'no label "goal"'),
        (renamed(["(0,0)", "(1,0)"], goal=[1]), 'no label "trap"'),
        (renamed(["(0,0)", "(1,1)"], trap=[], goal=[1]), "2 states do not fill 2 x 2 cells"),
        (renamed(["(0,0)", "(1,0)", "(1,0)", "(3,0)"], trap=[], goal=[1]), "do not fill 4 x 1 cells once"),
        (renamed(["(0,0)", "(1,0)"], ["jump", "jump"], trap=[], goal=[1]), r"action jump of state \(0,0\)"),
    ],
)
def test_what_is_not_a_grid(mdp: MDP, reason: str) -> None:
    with pytest.raises(ModelError, match=f"not made by umdp.benchmark.grid: .*{reason}"):
        draw_grid(mdp, first(mdp))


@pytest.mark.parametrize("mdp", [grid(), bandit(), renamed(["0", "1"])])
def test_what_is_not_a_chain(mdp: MDP) -> None:
    with pytest.raises(ModelError, match=r"not made by umdp\.benchmark\.chain"):
        draw_chain(mdp, first(mdp))


def test_policies_that_cannot_be_drawn() -> None:
    mdp = grid()
    with pytest.raises(ModelError, match="for a model with other states"):
        draw_grid(mdp, first(grid(3, 3)))
    with pytest.raises(ModelError, match="one action in each state"):
        draw_grid(mdp, Policy.uniform(mdp))
    with pytest.raises(ModelError, match="one action in each state"):
        draw_grid(mdp, Policy(mdp, np.array([mdp.state_ptr[:-1]] * 2)))
