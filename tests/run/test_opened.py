"""A run that was opened: what it says is what was learned, and nothing in it is executed or changed."""

from __future__ import annotations

import numpy as np
import pytest

import umdp
from umdp.cli import run as command
from umdp.run import Store


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("opened") / "aircraft.run"
    arguments = ["learn", "aircraft", "--learner", "confidence-sequence", "--trajectories", "300", "--out", str(path)]
    assert command([*arguments, "--quiet"]) == 0
    return path


def test_it_says_what_the_loop_said(path):
    opened = umdp.open(path)
    *_, last = umdp.anytime(
        umdp.benchmark.aircraft(),
        opened.spec,
        umdp.ConfidenceSequence(),
        horizon=umdp.benchmark.load("aircraft").horizon,
        trajectories=300,
    )
    assert opened.bracket == last.bracket
    assert opened.guarantee == last.guarantee
    assert opened.performance == last.performance
    assert (opened.trajectories, opened.steps, opened.reason) == (last.trajectories, last.steps, last.reason)
    np.testing.assert_array_equal(opened.model.lower, last.model.lower)
    np.testing.assert_array_equal(opened.policy.choice, last.policy.choice)
    assert opened["lower"][-1] == last.bracket.lower
    assert len(opened["trajectories"]) == len(opened.rows) == len(opened)
    assert opened.counts.sum() == opened.steps
    assert opened.rises


def test_the_truth_is_that_of_the_process(path):
    opened = umdp.open(path)
    np.testing.assert_array_equal(opened.truth.probability, umdp.benchmark.aircraft().probability)
    assert opened.model.contains(opened.truth)


def test_a_column_that_is_not_there_is_named(path):
    with pytest.raises(umdp.ModelError, match="no column 'value'; there are trajectories"):
        umdp.open(path)["value"]
    with pytest.raises(umdp.ModelError, match="does not hold numbers"):
        umdp.open(path)["guarantee"]


def test_opening_changes_no_byte(path):
    before = path.read_bytes()
    opened = umdp.open(path)
    assert "aircraft" in repr(opened)
    assert opened.model.states == 46
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["aircraft.run"]


def test_code_in_a_run_is_not_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = (
        "import pathlib, umdp\npathlib.Path('ran').touch()\ndef make():\n    return umdp.benchmark.chain(length=4)\n"
    )
    (tmp_path / "mine.py").write_text(source)
    asked = ["learn", "mine.py:make", 'Rmin=? [ F "goal" ]', "--trajectories", "20", "--out", "mine.run", "-q"]
    assert command(asked) == 0
    (tmp_path / "ran").unlink()
    opened = umdp.open("mine.run")
    assert opened.policy["0"] in "abc"
    assert opened.truth is not None  # its numbers are kept with the run
    assert not (tmp_path / "ran").exists()


def test_a_process_that_changes_has_no_one_truth(tmp_path):
    path = tmp_path / "changes.run"
    asked = ["learn", "chain", "--switch", "chain-switched", "--after", "10", "--trajectories", "30", "-q"]
    assert command([*asked, "--out", str(path)]) == 0
    assert umdp.open(path).truth is None


def test_a_run_that_has_not_begun(tmp_path):
    path = tmp_path / "new.run"
    config = {"model": "chain", "question": 'Rmin=? [ F "goal" ]'}
    Store.create(path, config, umdp.benchmark.chain().graph, property=config["question"]).close()
    opened = umdp.open(path)
    assert opened.rows == ()
    assert "empty" in repr(opened)
    for name in ("bracket", "model", "policy", "counts"):
        with pytest.raises(umdp.FormatError, match="nothing has been learned in this run yet"):
            getattr(opened, name)


def test_no_run_is_an_error(tmp_path):
    with pytest.raises(umdp.FormatError, match="there is no such run"):
        umdp.open(tmp_path / "none.run")
    (tmp_path / "text.run").write_text("hello")
    with pytest.raises(umdp.FormatError, match="this is not a run of umdp"):
        umdp.open(tmp_path / "text.run")
