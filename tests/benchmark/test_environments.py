"""The environments: sizes, names, labels, rewards, probabilities picked by hand, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from umdp import MDP, ModelError
from umdp.benchmark import (
    aircraft,
    bandit,
    betting,
    betting_favourable,
    betting_unfavourable,
    chain,
    chain_switched,
    grid,
)

SIZES: list[tuple[Callable[[], MDP], tuple[int, int, int, int]]] = [
    (chain, (31, 93, 186, 186)),
    (chain_switched, (31, 93, 186, 186)),
    (aircraft, (46, 138, 406, 379)),
    (lambda: aircraft(as_published=True), (46, 138, 406, 379)),
    (grid, (100, 374, 1450, 1437)),
    (bandit, (4, 102, 201, 198)),
    (lambda: bandit(as_published=True), (4, 102, 201, 198)),
    (betting_favourable, (300, 901, 1502, 1202)),
    (betting_unfavourable, (300, 901, 1502, 1202)),
]


def row(mdp: MDP, state: str, action: str) -> dict[str, float]:
    """Return the successors of an action with their probabilities."""
    number = mdp.state_index(state)
    for choice in range(mdp.state_ptr[number], mdp.state_ptr[number + 1]):
        if mdp.action_name(choice) == action:
            span = slice(mdp.choice_ptr[choice], mdp.choice_ptr[choice + 1])
            names = [mdp.state_name(int(s)) for s in mdp.successor[span]]
            return dict(zip(names, mdp.probability[span].tolist(), strict=True))
    raise KeyError(action)


def offered(mdp: MDP, state: str) -> list[str]:
    number = mdp.state_index(state)
    return [mdp.action_name(c) for c in range(mdp.state_ptr[number], mdp.state_ptr[number + 1])]


def labelled(mdp: MDP, label: str) -> list[str]:
    return [mdp.state_name(int(s)) for s in np.flatnonzero(mdp.labels[label])]


@pytest.mark.parametrize(("build", "sizes"), SIZES)
def test_sizes(build: Callable[[], MDP], sizes: tuple[int, int, int, int]) -> None:
    mdp = build()
    uncertain = np.count_nonzero((mdp.probability > 0) & (mdp.probability < 1))
    assert (mdp.states, mdp.choices, mdp.transitions, uncertain) == sizes


@pytest.mark.parametrize(("build", "sizes"), SIZES)
def test_states_are_named_apart_and_all_are_reachable(
    build: Callable[[], MDP], sizes: tuple[int, int, int, int]
) -> None:
    mdp = build()
    assert mdp.state_names is not None
    assert len(set(mdp.state_names)) == sizes[0]
    reached, frontier = {mdp.initial}, [mdp.initial]
    while frontier:
        state = frontier.pop()
        span = slice(mdp.choice_ptr[mdp.state_ptr[state]], mdp.choice_ptr[mdp.state_ptr[state + 1]])
        frontier += (new := set(mdp.successor[span].tolist()) - reached)
        reached |= new
    assert reached == set(range(sizes[0]))


# -- chain ---------------------------------------------------------------------------------------------------


def test_chain() -> None:
    mdp = chain()
    assert mdp.state_names == tuple(map(str, range(31)))
    assert mdp.state_name(mdp.initial) == "0"
    assert labelled(mdp, "goal") == ["30"]
    assert mdp.variables["position"].tolist() == list(range(31))
    assert offered(mdp, "0") == offered(mdp, "30") == ["a", "b", "c"]
    assert row(mdp, "0", "a") == {"1": 0.5, "0": 0.5}
    assert row(mdp, "12", "b") == {"13": 0.05, "0": 0.95}
    assert row(mdp, "29", "c") == {"30": 0.95, "0": 0.05}
    assert row(mdp, "30", "c") == {"30": 0.95, "0": 0.05}
    assert mdp.rewards["steps"].choice is not None
    assert (mdp.rewards["steps"].choice == 1).all()


def test_the_switched_chain_has_the_same_graph() -> None:
    mdp, switched = chain(), chain_switched()
    assert row(switched, "12", "a") == row(mdp, "12", "a")
    assert row(switched, "12", "b") == row(mdp, "12", "c")
    assert row(switched, "12", "c") == row(mdp, "12", "b")
    for array in ("state_ptr", "choice_ptr", "successor"):
        assert np.array_equal(getattr(mdp, array), getattr(switched, array))
    assert mdp.action_names == switched.action_names
    assert mdp.graph.with_probability(switched.probability).choices == 93


def test_chains_of_other_lengths() -> None:
    mdp = chain(length=2, forward=(0.25, 1.0))
    assert (mdp.states, mdp.choices, mdp.transitions) == (3, 6, 9)
    assert row(mdp, "1", "b") == {"2": 1.0}
    with pytest.raises(ModelError, match="length of a chain is at least 1, not 0"):
        chain(length=0)
    with pytest.raises(ModelError, match="between 1 and 26 actions, not 0"):
        chain(forward=())
    with pytest.raises(ModelError, match=r"forward must be a probability between 0 and 1, not 1\.5"):
        chain(forward=(0.5, 1.5))
    with pytest.raises(ModelError, match="exchanged, but the chain has 2"):
        chain_switched(forward=(0.5, 0.5))


# -- aircraft ------------------------------------------------------------------------------------------------


def test_aircraft() -> None:
    mdp = aircraft()
    assert mdp.state_name(mdp.initial) == "(0,1,1)"
    assert offered(mdp, "(0,1,1)") == offered(mdp, "(5,2,0)") == ["up", "down", "stay"]
    assert row(mdp, "(0,1,1)", "stay") == {"(1,1,2)": 0.3, "(1,1,0)": 0.3, "(1,1,1)": 0.4}
    assert row(mdp, "(0,1,1)", "up") == {
        "(1,2,2)": 0.24, "(1,2,0)": 0.24, "(1,2,1)": 0.32, "(1,1,2)": 0.06, "(1,1,0)": 0.06, "(1,1,1)": 0.08,
    }  # fmt: skip
    # At the lowest and the highest altitude a move out of the airspace keeps the altitude.
    assert row(mdp, "(1,0,2)", "down") == {"(2,0,2)": 0.7, "(2,0,1)": 0.3}
    assert row(mdp, "(1,0,0)", "stay") == {"(2,0,1)": 0.3, "(2,0,0)": 0.7}
    assert row(mdp, "(5,2,0)", "down") == {"(5,2,0)": 1.0}
    assert row(mdp, "(2,1,1)", "stay")["(3,1,1)"] == 0.4  # a collision does not end the flight


def test_where_aircraft_collide_and_pass() -> None:
    mdp = aircraft()
    near = [(y, other) for y in range(3) for other in range(3) if (y, other) not in ((0, 2), (2, 0))]
    assert labelled(mdp, "collision") == [f"({x},{y},{other})" for x in (2, 3) for y, other in near]
    assert labelled(mdp, "goal") == [f"(5,{y},{other})" for y in range(3) for other in range(3)]


def test_aircraft_as_published() -> None:
    mdp = aircraft(as_published=True)
    assert row(mdp, "(0,1,1)", "stay") == {"(1,1,2)": 0.4, "(1,1,0)": 0.4, "(1,1,1)": 0.2}
    assert row(mdp, "(1,0,2)", "down") == {"(2,0,2)": 0.6, "(2,0,1)": 0.4}
    assert mdp.state_names == aircraft().state_names
    assert np.array_equal(mdp.successor, aircraft().successor)


def test_aircraft_with_other_probabilities() -> None:
    assert row(aircraft(1.0, (0.5, 0.5, 0)), "(0,1,1)", "up") == {"(1,2,2)": 0.5, "(1,2,0)": 0.5}
    for other in ((0.5, 0.5), (0.5, 0.5, 0.1)):
        with pytest.raises(ModelError, match="three probabilities that sum to 1"):
            aircraft(other=other)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="not both"):
        aircraft(other=(0.5, 0.5, 0), as_published=True)
    with pytest.raises(ModelError, match="success must be a probability"):
        aircraft(-0.1)


# -- grid ----------------------------------------------------------------------------------------------------

TRAPS = "(4,0) (4,1) (4,3) (0,4) (1,4) (3,4) (4,4) (5,4) (8,4) (9,4) (4,5) (4,8) (4,9)"


def test_grid() -> None:
    mdp = grid()
    assert mdp.state_names is not None
    assert mdp.state_names[:3] == ("(0,0)", "(1,0)", "(2,0)")
    assert mdp.state_names[10] == "(0,1)"
    assert mdp.state_name(mdp.initial) == "(0,0)"
    assert labelled(mdp, "goal") == ["(9,0)"]
    assert labelled(mdp, "trap") == TRAPS.split()
    assert (mdp.variables["x"][13], mdp.variables["y"][13]) == (3, 1)
    assert offered(mdp, "(0,0)") == offered(mdp, "(9,0)") == ["north", "east", "south", "west"]
    assert offered(mdp, "(4,4)") == ["reset", "free"]


def test_moves_on_the_grid() -> None:
    mdp = grid()
    assert row(mdp, "(6,6)", "east") == {"(6,5)": 0.15, "(7,6)": 0.55, "(6,7)": 0.15, "(5,6)": 0.15}
    assert row(mdp, "(6,6)", "south") == {"(6,5)": 0.15, "(7,6)": 0.15, "(6,7)": 0.55, "(5,6)": 0.15}
    # Moves off the grid stay, and add up.
    assert row(mdp, "(0,0)", "north") == {"(0,0)": 0.7, "(1,0)": 0.15, "(0,1)": 0.15}
    assert row(mdp, "(0,0)", "east") == {"(0,0)": 0.3, "(1,0)": 0.55, "(0,1)": 0.15}
    assert row(mdp, "(9,0)", "west") == {"(9,0)": 0.3, "(9,1)": 0.15, "(8,0)": 0.55}
    assert row(mdp, "(9,6)", "east") == {"(9,5)": 0.15, "(9,6)": 0.55, "(9,7)": 0.15, "(8,6)": 0.15}


def test_traps_of_the_grid() -> None:
    mdp = grid()
    assert row(mdp, "(4,4)", "reset") == {"(0,0)": 1.0}
    assert row(mdp, "(4,4)", "free") == {"(4,4)": 0.6, "(4,3)": 0.1, "(5,4)": 0.1, "(4,5)": 0.1, "(3,4)": 0.1}
    assert row(mdp, "(9,4)", "free") == {"(9,4)": 0.7, "(9,3)": 0.1, "(9,5)": 0.1, "(8,4)": 0.1}


def test_grids_of_other_sizes() -> None:
    mdp = grid(3, 2, success=0.7, traps=[(1, 0)])
    assert mdp.states == 6
    assert labelled(mdp, "goal") == ["(2,0)"]
    assert labelled(mdp, "trap") == ["(1,0)"]
    assert row(mdp, "(1,1)", "north") == {"(1,0)": 0.7, "(2,1)": 0.1, "(1,1)": 0.1, "(0,1)": 0.1}
    # Of the traps of the paper those are left out that lie elsewhere, or on the goal of a narrow grid.
    assert labelled(grid(5, 4), "trap") == ["(4,1)", "(4,3)"]
    assert not labelled(grid(2, 1), "trap")


def test_grids_that_are_refused() -> None:
    with pytest.raises(ModelError, match="at least two columns and one row, not 1 x 5"):
        grid(1, 5)
    with pytest.raises(ModelError, match=r"trap \(10,4\) lies outside the grid of 10 x 10"):
        grid(traps=[(10, 4)])
    for cell in ((0, 0), (9, 0)):
        with pytest.raises(ModelError, match="on the start or on the goal"):
            grid(traps=[cell])
    with pytest.raises(ModelError, match="success must be a probability"):
        grid(success=55)


# -- bandit --------------------------------------------------------------------------------------------------


def test_bandit() -> None:
    mdp = bandit()
    assert mdp.state_names == ("start", "success", "failure", "goal")
    assert mdp.state_name(mdp.initial) == "start"
    assert labelled(mdp, "goal") == ["goal"]
    assert labelled(mdp, "success") == ["success"]
    assert offered(mdp, "start") == [str(arm) for arm in range(1, 100)]
    for arm in range(1, 100):
        assert row(mdp, "start", str(arm)) == {"success": arm / 100, "failure": (100 - arm) / 100}
    assert row(mdp, "success", "end") == row(mdp, "failure", "end") == row(mdp, "goal", "stay") == {"goal": 1.0}
    assert mdp.rewards["success"].choice is not None
    assert mdp.rewards["success"].choice.tolist() == [0] * 99 + [1, 0, 0]


def test_bandit_as_published() -> None:
    mdp = bandit(as_published=True)
    chances = [row(mdp, "start", str(arm))["success"] for arm in range(1, 100)]
    assert chances[:9] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert chances[9:] == [arm / 100 for arm in range(10, 100)]


def test_bandits_with_other_numbers_of_arms() -> None:
    assert row(bandit(4), "start", "3") == {"success": 0.6, "failure": 0.4}
    with pytest.raises(ModelError, match="at least one arm, not 0"):
        bandit(0)
    with pytest.raises(ModelError, match="the published bandit has 99 arms, not 4"):
        bandit(4, as_published=True)


# -- betting -------------------------------------------------------------------------------------------------


def test_betting() -> None:
    mdp = betting()
    assert mdp.state_name(mdp.initial) == "(0,10)"
    assert (mdp.variables["step"][0], mdp.variables["money"][0]) == (0, 10)
    assert mdp.variables["money"].min() == 0
    assert mdp.variables["money"].max() == 70
    assert row(mdp, "(0,10)", "0") == {"(1,10)": 1.0}
    assert row(mdp, "(0,10)", "5") == {"(1,15)": 0.8, "(1,5)": 0.2}
    assert row(mdp, "(6,40)", "end") == {"(7,40)": 1.0}
    assert row(mdp, "(7,40)", "stay") == {"(7,40)": 1.0}
    assert row(betting_unfavourable(), "(0,10)", "5") == {"(1,15)": 0.2, "(1,5)": 0.8}


def test_which_bets_are_offered() -> None:
    mdp = betting()
    assert offered(mdp, "(0,10)") == ["0", "1", "2", "5", "10"]
    assert offered(mdp, "(1,5)") == ["0", "1", "2", "5"]
    assert offered(mdp, "(2,4)") == ["0", "1", "2"]
    assert offered(mdp, "(1,0)") == ["0"]
    assert offered(mdp, "(5,60)") == ["0", "1", "2", "5", "10"]
    # With six bets nobody has more than 60 while bets are still to come, so that the limit shows in longer games only.
    assert offered(betting(bets=8), "(6,61)") == ["0"]
    assert betting(bets=12).variables["money"].max() == 70


def test_betting_pays_the_money_that_is_left() -> None:
    mdp = betting()
    assert labelled(mdp, "done") == [name for name in mdp.state_names or () if name.startswith("(7,")]
    assert len(labelled(mdp, "done")) == 65
    earned = mdp.rewards["money"].choice
    assert earned is not None
    for choice in range(mdp.choices):
        money = mdp.variables["money"][mdp.choice_state[choice]]
        assert earned[choice] == (money if mdp.action_name(choice) == "end" else 0)


def test_betting_games_that_are_refused() -> None:
    with pytest.raises(ModelError, match="at least one bet, not 0"):
        betting(bets=0)
    with pytest.raises(ModelError, match="between 0 and 70, not 71"):
        betting(money=71)
    with pytest.raises(ModelError, match="win must be a probability between 0 and 1, not nan"):
        betting(float("nan"))
