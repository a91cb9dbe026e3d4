"""Experiment files: what they stand for, and what is said about those that make no sense."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from umdp.errors import FormatError
from umdp.paper.experiments.experiment import EXPERIMENTS, Experiment
from umdp.paper.experiments.trial import work
from umdp.paper.results import Cell
from umdp.solver import relevant

OWN = Path(__file__).parents[2] / "examples" / "own" / "ferry.toml"


@pytest.mark.parametrize(
    ("name", "cells", "published"), [("basic", 40, 24), ("strength", 6, 6), ("change", 240, 168), ("ties", 30, 24)]
)
def test_the_papers_experiments_have_the_papers_cells(name, cells, published) -> None:
    experiment = Experiment.load(name)
    assert len(experiment.cells()) == len(set(experiment.cells())) == cells
    # As published MAP explores uniformly, so that it has one curve for the three weights.
    assert len(experiment.as_published().cells()) == published
    assert experiment.name in EXPERIMENTS


def test_settings_of_the_basic_experiment_by_definition_and_as_published() -> None:
    basic = Experiment.load("basic").cut(seeds=1)
    assert (basic.trajectories, Experiment.load("basic").seeds) == (1_000_000, 100)
    by_definition = {(t.cell.environment, t.cell.learner): t.config for t in basic.trials()}
    published = {(t.cell.environment, t.cell.learner): t.config for t in basic.as_published().trials()}
    assert all(config.xi == 1.0 and not config.parameters for config in by_definition.values())
    assert {config.explore for (_, learner), config in by_definition.items() if learner == "MAP"} == {"optimism"}
    assert by_definition["grid", "LUI"].settings == {"prior": [1e-4, 0.9999], "strength": [5, 10]}
    assert published["grid", "LUI"].settings == {"prior": [1e-4, 0.9999], "strength": [20, 30]}
    assert published["chain", "LUI"].settings["strength"] == [5, 10]
    weights = {environment: config.xi for (environment, learner), config in published.items() if learner == "PAC"}
    assert weights == {
        "chain": 1.0, "aircraft": 1.0, "grid": 1.0, "bandit": 0.9, "betting-favourable": 0.9, "betting-unfavourable": 1.0,
    }  # fmt: skip
    assert published["bandit", "LUI"].parameters == published["aircraft", "LUI"].parameters == {"as_published": True}
    assert {config.explore for (_, learner), config in published.items() if learner == "MAP"} == {"uniform"}


def test_changes_that_come_too_late_are_left_out() -> None:
    change = Experiment.load("change").cut(trajectories=1000)
    assert {cell.after for cell in change.cells()} == {100}
    assert change.left_out() == [1000, 10_000, 100_000]
    config = next(iter(change.cut(seeds=1).trials())).config
    assert (config.model, config.switch, config.after) == ("chain", "chain-switched", 100)


def test_seeds_are_spawned_and_do_not_depend_on_how_many_there_are() -> None:
    few = [trial.config.seed for trial in Experiment.load("strength").cut(seeds=2).trials()][:2]
    many = [trial.config.seed for trial in Experiment.load("strength").cut(seeds=9).trials()][:9]
    assert many[:2] == few
    assert len(set(many)) == 9
    spawned = np.random.SeedSequence(0).spawn(9)
    assert many == [int(each.generate_state(1, np.uint64)[0] >> 1) for each in spawned]
    assert [t.config.seed for t in Experiment.load("strength").cut(seeds=2, seed=1).trials()][:2] != few


def test_a_digest_tells_runs_apart_and_nothing_else() -> None:
    trials = list(Experiment.load("basic").cut(seeds=2, trajectories=100).trials())
    assert len({trial.key for trial in trials}) == len(trials)
    again = list(Experiment.load("basic").cut(seeds=3, trajectories=100).trials())
    assert {trial.key for trial in trials} <= {trial.key for trial in again}
    longer = next(iter(Experiment.load("basic").cut(seeds=2, trajectories=101).trials()))
    assert longer.key not in {trial.key for trial in trials}


def test_an_experiment_of_ones_own() -> None:
    own = Experiment.load(OWN)
    assert [cell.environment for cell in own.cells()] == ["chain", "chain", "ferry", "ferry"]
    assert own.cells()[3] == Cell("ferry", "Wilson")
    assert list(own.plugins) == ["ferry.py"]
    assert "class Wilson" in own.plugins["ferry.py"]


HEAD = 'environments = ["chain"]\n'
LUI = '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("environments = [", "this is not TOML"),
        (HEAD, 'the key "learners" is missing'),
        (HEAD + "colour = 1\n" + LUI, 'there is no key "colour"'),
        (HEAD + LUI + "stength = 3\n", 'learners, number 1: there is no key "stength"'),
        (HEAD + LUI + LUI, "two learners are called 'LUI'; give one of them another label or panel"),
        ('environments = ["chain", "chain"]\n' + LUI, "two environments are called 'chain'"),
        ("environments = []\n" + LUI, "there are no environments or no learners"),
        (HEAD + "seeds = 0\n" + LUI, "seeds and trajectories must be at least 1"),
        ('environments = [{ name = "chain", after = 3 }]\n' + LUI, "give both becomes and after, or neither"),
        (
            HEAD + LUI + 'environments = ["grid"]\n',
            "learner 'LUI': there is no environment 'grid' here; there are chain",
        ),
        (HEAD + LUI + '[[learners]]\nlabel = "x"\nlearner = "none.py:x"\n', "the file none.py cannot be read"),
        (HEAD + 'ties = "last"\n' + LUI, "ties: there is no 'last'"),
    ],
)
def test_files_that_make_no_sense(tmp_path, text, said) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        Experiment.load(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_names_that_are_unknown() -> None:
    with pytest.raises(
        FormatError, match=r"there is no experiment 'basik'; .*or give a \.toml file\. Did you mean basic\?"
    ):
        Experiment.load("basik")
    with pytest.raises(FormatError, match=r"nowhere\.toml: this file cannot be read"):
        Experiment.load("nowhere.toml")
    with pytest.raises(FormatError, match="--seeds must be at least 1, not 0"):
        Experiment.load("basic").cut(seeds=0)
    with pytest.raises(FormatError, match="the learner Wilson has no published variant, as lui, pac, map, ucrl2 have"):
        Experiment.load(OWN).as_published()


def test_clopper_pearson_takes_part_where_no_trajectory_visits_a_state_twice() -> None:
    """There the number of samples of a choice does not depend on what they showed, which is what its promise needs."""
    basic = Experiment.load("basic")
    fit = {cell.environment for cell in basic.cells() if cell.learner == "Clopper-Pearson"}
    for name, config in basic.problems().items():
        source, spec, _ = config.build_source()
        graph = source.graph
        states = np.repeat(graph.choice_state, np.diff(graph.choice_ptr))
        alive = ~relevant(graph, spec).decided
        inside = alive[states] & alive[graph.successor]
        edges = csr_matrix((np.ones(inside.sum()), (states[inside], graph.successor[inside])), (graph.states,) * 2)
        components, _ = connected_components(edges, directed=True, connection="strong")
        acyclic = components == graph.states and not edges.diagonal().any()
        assert acyclic == (name in fit), name
    assert all(cell.xi is None for cell in basic.cells() if cell.learner == "Clopper-Pearson")


def test_sampling_is_step_by_step_unless_a_file_asks_for_more(tmp_path) -> None:
    assert {trial.config.sampling for trial in Experiment.load("basic").cut(seeds=1).trials()} == {"steps"}
    text = 'sampling = "auto"\ntrajectories = 5000\nseeds = 1\nenvironments = ["chain"]\n'
    (tmp_path / "own.toml").write_text(text + '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n')
    (trial,) = Experiment.load(tmp_path / "own.toml").trials()
    assert trial.config.sampling == "auto"
    assert (
        trial.key != msgspec.structs.replace(trial, config=msgspec.structs.replace(trial.config, sampling="steps")).key
    )
    once, again = work(trial), work(trial)
    np.testing.assert_array_equal(once["steps"], again["steps"])
    assert once["trajectories"][-1] == 5_000
