"""One run of an experiment: what its rows say, where the truth changes, and in what order actions are listed."""

from __future__ import annotations

import numpy as np
import pytest

import umdp
from umdp.paper.experiments.experiment import Experiment
from umdp.paper.experiments.trial import Trial, describe, work
from umdp.paper.results import COLUMNS, Cell
from umdp.run import Config


def trial(**config) -> Trial:
    return Trial(cell=Cell("x", "y"), number=0, config=Config(trajectories=300, seed=7, **config))


def test_rows_are_the_metrics_of_the_snapshots() -> None:
    found = work(trial(model="aircraft", learner="pac"))
    bench = umdp.benchmark.BENCHMARKS["aircraft"]
    snapshots = list(umdp.anytime(bench.build(), bench.spec, umdp.PAC(), seed=7, horizon=1000, trajectories=300))
    assert set(found) == {*COLUMNS, "guarantee"}
    assert found["guarantee"]["kind"] == "none"
    assert found["guarantee"]["reasons"]
    assert found["iterations"].tolist() == [s.iteration for s in snapshots]
    assert found["trajectories"].tolist() == [s.trajectories for s in snapshots]
    assert found["steps"].tolist() == [s.steps for s in snapshots]
    assert found["performance"].tolist() == [s.performance for s in snapshots]
    assert found["estimate"].tolist() == [s.bracket.value for s in snapshots]
    assert found["model_error"].tolist() == [s.model_error for s in snapshots]
    assert np.allclose(found["estimation_error"], found["estimate"] - found["performance"], rtol=1e-12)
    assert found["trajectories"][0] == 0
    assert found["trajectories"][-1] == 300
    assert found["partial"].tolist() == [s.partial for s in snapshots] == [0] * (len(snapshots) - 1) + [1]


def test_the_policy_in_force_is_judged_by_the_new_truth_from_the_change_on() -> None:
    found = work(trial(model="chain", learner="map", switch="chain-switched", after=100))
    plain = work(trial(model="chain", learner="map"))
    at = found["trajectories"]
    assert np.count_nonzero(at == 100) == 1
    change = int(np.flatnonzero(at == 100)[0])
    before = plain["trajectories"] < 100
    # Up to the change nobody can tell the difference, and what is in force there is what was in force before.
    for name in ("trajectories", "performance", "estimate", "model_error"):
        np.testing.assert_allclose(found[name][:change], plain[name][before], rtol=1e-6)
    if plain["trajectories"][before][-1] < 100 and not (plain["trajectories"] == 100).any():
        assert found["estimate"][change] == found["estimate"][change - 1]
        assert found["iterations"][change] == found["iterations"][change - 1]
    assert found["performance"][change] != found["performance"][change - 1]
    assert (np.diff(at) >= 0).all()


def test_a_change_in_the_middle_of_an_iteration_has_a_row_of_its_own() -> None:
    seen = 0
    for seed in range(6):
        given = Trial(
            cell=Cell("x", "y"), number=0,
            config=Config(model="chain", learner="lui", switch="chain-switched", after=150, trajectories=300, seed=seed),
        )  # fmt: skip
        found = work(given)
        (change,) = np.flatnonzero(found["trajectories"] == 150)
        seen += int(found["iterations"][change] == found["iterations"][change - 1])
    assert seen  # at least one of them


def test_the_same_task_gives_the_same_numbers() -> None:
    first, again = work(trial(model="grid", learner="lui")), work(trial(model="grid", learner="lui"))
    assert all(np.array_equal(first[name], again[name]) for name in COLUMNS)


def test_actions_in_random_order_change_ties_and_nothing_else() -> None:
    def run(seed: int, ties: str):
        config = Config(model="bandit", learner="map", seed=seed, trajectories=1)
        return work(Trial(cell=Cell("x", "y"), number=0, config=config, ties=ties))

    # Before any data all arms look alike: the first one listed is taken.
    assert {float(run(seed, "first")["performance"][0]) for seed in range(8)} == {0.01}
    drawn = {float(run(seed, "random")["performance"][0]) for seed in range(8)}
    assert len(drawn) > 4
    assert run(3, "random")["model_error"][0] == pytest.approx(run(3, "first")["model_error"][0])
    chain = Trial(
        cell=Cell("x", "y"), number=0, ties="random",
        config=Config(model="chain", learner="lui", switch="chain-switched", after=5, trajectories=20, seed=1),
    )  # fmt: skip
    assert work(chain)["trajectories"][-1] == 20


def test_what_is_known_of_environments() -> None:
    problems = {name: describe(config, name) for name, config in Experiment.load("change").problems().items()}
    assert problems["betting"].optimum == pytest.approx(39.36256)
    assert problems["betting"].later == pytest.approx(10)
    assert problems["chain"].minimise
    assert not problems["chain"].probability
    published = Experiment.load("basic").as_published().problems()
    assert describe(published["aircraft"], "").optimum == pytest.approx(0.2688)
    assert describe(published["bandit"], "").optimum == pytest.approx(0.99)
    assert describe(published["grid"], "").probability
