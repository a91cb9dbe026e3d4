"""What was learned, drawn: cells are where states are, arrows lead where actions lead, bars are the bounds."""

from __future__ import annotations

import numpy as np
import pytest

import umdp
from umdp import plot
from umdp.cli import run as command
from umdp.model.coordinates import directions, places
from umdp.model.sketch import sketch
from umdp.source import Gymnasium

pytest.importorskip("matplotlib")
GOAL = 'Pmax=? [ F "goal" ]'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name in ("grid", "bandit", "chain", "betting-favourable"):
        assert command(["learn", name, "--trajectories", "60", "--out", str(folder / f"{name}.run"), "-q"]) == 0
    return folder


def arrows(ax):
    from matplotlib.quiver import Quiver

    (found,) = [each for each in ax.collections if isinstance(each, Quiver)]
    return {
        (x, y): (round(u), round(v))
        for (x, y), u, v in zip(found.XY.tolist(), np.sign(found.U), np.sign(found.V), strict=True)
    }


def words(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_the_arrows_of_the_grid_are_the_policy(folder):
    run = umdp.open(folder / "grid.run")
    drawn = arrows(plot.policy(run))
    way = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
    plain = ~run.graph.labels["trap"] & ~run.graph.labels["goal"]
    wanted = {
        (x + 0.5, -(y + 0.5)): way[run.policy[f"({x},{y})"]]
        for x in range(10)
        for y in range(10)
        if plain[run.graph.state_index(f"({x},{y})")]
    }
    assert drawn == wanted
    assert {"start", "goal", "to be avoided"} <= set(words(plot.policy(run)))


def test_places_of_gymnasium(folder):
    gymnasium = pytest.importorskip("gymnasium")
    names = {"FrozenLake-v1": "←↓→↑", "CliffWalking-v1": "↑→↓←"}
    from umdp.model.coordinates import ARROWS

    for name, signs in names.items():
        graph = Gymnasium(name).graph
        found = places(graph)
        ways = dict(zip(graph.action_names, directions(graph, found), strict=True))
        assert [ARROWS[ways[str(action)]] for action in range(4)] == list(signs)
        assert graph.state_name(5) == "5"  # names are as they were
    lake = gymnasium.make("FrozenLake-v1", map_name="8x8").unwrapped
    graph = Gymnasium("FrozenLake-v1", map_name="8x8").graph
    cells = {(int(y), int(x)) for x, y in zip(graph.variables["x"], graph.variables["y"], strict=True)}
    assert cells == {(row, column) for row in range(8) for column in range(8)}
    holes = {divmod(s, 8) for s in np.flatnonzero(graph.labels["fail"])}
    assert holes == {tuple(at) for at in np.argwhere(lake.desc == b"H").tolist()}


def test_the_taxi_has_a_map_for_each_passenger_and_destination():
    pytest.importorskip("gymnasium")
    graph = Gymnasium("Taxi-v4").graph
    found = places(graph)
    assert len(found.sheets) == 20
    assert (len(found.columns), len(found.rows)) == (5, 5)
    assert not found.placed[graph.initial]  # before the episode


def test_y_goes_up_where_up_makes_it_larger():
    found = places(umdp.benchmark.aircraft())
    assert found.rows == ("2", "1", "0")
    assert found.sheets == ("other = 0", "other = 1", "other = 2")
    assert places(umdp.benchmark.grid()).rows[0] == "0"
    assert places(umdp.benchmark.bandit()) is None


def test_the_text_is_that_of_the_benchmark(folder):
    run = umdp.open(folder / "grid.run")
    assert sketch(run.policy) == umdp.benchmark.draw_grid(run.graph, run.policy)
    assert sketch(umdp.open(folder / "bandit.run").policy) == ""
    assert len(sketch(umdp.open(folder / "chain.run").policy, width=40).splitlines()) == 3


def test_a_policy_without_places_is_a_graph(folder):
    run = umdp.open(folder / "bandit.run")
    ax = plot.policy(run)
    texts = {text.get_text() for text in ax.texts}
    assert f"start\n▸ {run.policy['start']}" in texts
    assert {"success", "failure", "goal"} <= texts


def test_a_graph_ends_where_the_property_does():
    rules = {"up": {"go": {"bad": 0.2, "up": 0.8}}, "bad": {"stay": {"later": 1}}, "later": {"stay": {"later": 1}}}
    mdp = umdp.MDP.from_function("up", rules.__getitem__, labels={"bad": ["bad"]})
    texts = {text.get_text() for text in plot.policy(umdp.solve(mdp, 'Pmin=? [ F "bad" ]')).texts}
    assert {"up", "bad"} <= texts
    assert "later" not in texts


def network(ax):
    """Return the boxes of a graph, by their text, and the arrows, as (first, last) point, all as they lie on the picture."""
    from matplotlib.patches import FancyArrowPatch

    figure = ax.figure
    figure.draw_without_rendering()
    canvas = figure.canvas.get_renderer() if hasattr(figure.canvas, "get_renderer") else None
    boxes = {t.get_text(): t.get_bbox_patch().get_window_extent(canvas) for t in ax.texts if t.get_zorder() == 4}
    found = []
    for patch in ax.patches:
        assert isinstance(patch, FancyArrowPatch)
        path = patch._get_path_in_displaycoord()[0]
        line = path[0] if isinstance(path, (list, tuple)) else path
        found.append((line.vertices[0], line.vertices[-1]))
    return boxes, found


def test_arrows_begin_at_the_box_of_a_state_whatever_its_size():
    rules = {
        "a": {"go": {"a state with a long name": 0.5, "b": 0.5}, "wait": {"a": 1}},
        "a state with a long name": {"go": {"b": 0.4, "a": 0.6}, "wait": {"a": 1}},
        "b": {"stay": {"b": 1}},
    }
    mdp = umdp.MDP.from_function("a", rules.__getitem__, labels={"goal": ["b"]})
    boxes, found = network(plot.policy(umdp.solve(mdp, GOAL)))
    assert len(boxes) == 3
    assert len(found) == 4
    for first, _ in found:
        away = min(
            np.hypot(max(box.x0 - first[0], 0, first[0] - box.x1), max(box.y0 - first[1], 0, first[1] - box.y1))
            for box in boxes.values()
        )
        assert away < 3  # dots


def test_no_state_of_a_graph_hangs_loose():
    """A state to which only faint ways lead has one arrow; the title says how many are never reached."""
    rules = {
        "on": {"run": {"on": 0.998, "failed": 0.002}, "break": {"failed": 1}},
        "failed": {"stay": {"failed": 1}},
        "away": {"stay": {"away": 1}},
    }
    rules["on"]["break"] = {"failed": 0.5, "away": 0.5}
    mdp = umdp.MDP.from_function("on", rules.__getitem__, labels={"failed": ["failed"]})
    ax = plot.policy(umdp.solve(mdp, 'Pmin=? [ F<=9 "failed" ]'))
    boxes, found = network(ax)
    assert {name.split("\n")[0] for name in boxes} == {"on", "failed"}
    into = boxes[next(name for name in boxes if name.startswith("failed"))]
    assert any(into.x0 - 9 <= last[0] <= into.x1 + 9 and into.y0 - 9 <= last[1] <= into.y1 + 9 for _, last in found)
    assert "1 state not reached" in ax.get_title()


def test_an_end_that_is_no_goal_is_not_drawn_as_one():
    """A sum goes until any end: a hole ends an episode, and is none of the goals."""
    pytest.importorskip("gymnasium")
    from umdp.plot.subject import subject

    lake = Gymnasium("gym:FrozenLake-v1").truth
    one = subject(umdp.solve(lake, 'R{"reward"}max=? [ C<=20 ]'))
    two = subject(umdp.solve(lake, 'R{"reward"}min=? [ F "terminated" ]'))
    for each in (one, two):
        assert np.flatnonzero(each.marks.bad).tolist() == [5, 7, 11, 12]
    assert np.flatnonzero(two.marks.good).tolist() == [15]
    cliff = subject(umdp.solve(Gymnasium("gym:CliffWalking-v1").truth, 'R{"cost"}min=? [ F "terminated" ]'))
    assert np.flatnonzero(cliff.marks.good).tolist() == [47]  # the only end there is, though it pays nothing


def test_cards_have_no_goals_on_the_map(tmp_path):
    """Ends of Blackjack lie on no map: no hand is a goal."""
    pytest.importorskip("gymnasium")
    source = Gymnasium("gym:Blackjack-v1", episodes=3000)
    *_, last = umdp.anytime(source, 'R{"reward"}max=? [ F "terminated" ]', umdp.LUI(), trajectories=200)
    ax = plot.policy(last)
    assert not {"goal", "to be avoided"} & set(words(ax))


def test_the_reset_is_no_choice_of_which_intervals_are_drawn(tmp_path):
    pytest.importorskip("gymnasium")
    ask = 'R{"cost"}min=? [ F "terminated" ]'
    *_, rainy = umdp.anytime(Gymnasium("gym:Taxi-v4", is_rainy=True), ask, umdp.LUI(), trajectories=40)
    ax = plot.intervals(rainy)
    assert "start, reset" not in {text.get_text() for text in ax.texts}
    assert ax.get_title().startswith("the 8 choices taken most")
    *_, dry = umdp.anytime(Gymnasium("gym:Taxi-v4"), ask, umdp.LUI(), trajectories=1000)
    ax = plot.intervals(dry)  # nothing else is uncertain
    assert [text.get_text() for text in ax.texts] == ["start, reset (24 of 300 outcomes)"]
    assert ax.get_title() == "the choice taken most"
    assert ax.get_xlim()[1] < 0.2


def test_solutions_snapshots_and_policies_can_be_drawn():
    mdp = umdp.benchmark.grid(4, 3, traps=[(1, 1)])
    solution = umdp.solve(mdp, 'Pmax=? [ !"trap" U "goal" ]')
    *_, last = umdp.anytime(mdp, solution.spec, umdp.LUI(), trajectories=20)
    for given in (solution, solution.policy, last, [last]):
        assert len(arrows(plot.policy(given))) == 10
    assert last.counts.sum() == last.steps
    assert plot.visits(last).texts
    with pytest.raises(umdp.ModelError, match="no policy"):
        plot.policy(mdp)
    with pytest.raises(umdp.ModelError, match="how often"):
        plot.visits(solution)


def test_a_bounded_property_shows_its_first_step():
    solution = umdp.solve(umdp.benchmark.grid(3, 3, traps=[]), 'Pmax=? [ F<=4 "goal" ]')
    assert plot.policy(solution).get_title() == 'policy for Pmax=? [ F<=4 "goal" ], step 1 of 4'


@pytest.mark.parametrize("name", ["grid", "chain", "betting-favourable", "bandit"])
def test_visits_add_up(folder, name):
    run = umdp.open(folder / f"{name}.run")
    ax = plot.visits(run)
    if name == "bandit":
        assert sum(bar.get_width() for bar in ax.patches) <= run.steps
        assert (
            max(bar.get_width() for bar in ax.patches) == np.add.reduceat(run.counts, run.graph.choice_ptr[:-1]).max()
        )
    elif name != "betting-favourable":
        marked = run.graph.labels["goal"] | run.graph.labels.get("trap", False)
        own = np.add.reduceat(run.counts, run.graph.choice_ptr[run.graph.state_ptr[:-1]])
        assert len([text for text in ax.texts if text.get_text()]) == ((own > 0) & ~marked).sum()


def test_bars_are_the_bounds_and_lines_the_truth(folder):
    run = umdp.open(folder / "bandit.run")
    for by in ("visits", "width"):
        ax = plot.intervals(run, by=by)
        drawn = {(round(bar.get_x(), 9), round(bar.get_x() + bar.get_width(), 9)) for bar in ax.patches}
        bounds = {(round(lo, 9), round(up, 9)) for lo, up in zip(run.model.lower, run.model.upper, strict=True)}
        assert drawn <= bounds
        assert len(ax.patches) == (16 if by == "visits" else 2)  # the policy pulls one arm, and then nothing is open
    assert "learned interval (no guarantee)" in words(ax)
    assert "true probability" in words(ax)


def test_intervals_that_cannot_be_drawn(folder):
    with pytest.raises(umdp.ModelError, match="all its probabilities are known"):
        plot.intervals(umdp.benchmark.grid())
    with pytest.raises(umdp.ModelError, match="another graph"):
        plot.intervals([folder / "grid.run", folder / "bandit.run"])
    with pytest.raises(umdp.ModelError, match="by is"):
        plot.intervals(folder / "grid.run", by="taste")


def test_names_are_drawn_as_they_are(tmp_path):
    names = ["$x^2$", "<b>", "a\\b_c", "goal" * 20]
    graph = umdp.MDP(
        [0, 1, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 3, 3, 3], [0.5, 0.5, 1, 1, 1], labels={"goal": [3]}, state_names=names
    )
    ax = plot.policy(umdp.solve(graph, GOAL))
    texts = {text.get_text() for text in ax.texts}
    assert {"$x^2$", "<b>", "a\\b_c"} <= texts
    for ending in ("png", "pdf", "svg"):
        assert plot.save_as(ax.figure, tmp_path / f"x.{ending}").stat().st_size > 1000
