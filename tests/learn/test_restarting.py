"""Alarms: as seldom false as the user wants, raised where a choice changes, and a new start for that choice alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from learn.small import fan
from umdp import MDP, ConfidenceSequence, Graph, ModelError, RestartingSequence, anytime, switch
from umdp.learn.restarting_sequence import SLOTS, _weight
from umdp.statements import Code, say, stated

TRUTHS = [[0.5, 0.5], [0.03, 0.97], [0.6, 0.25, 0.1, 0.05]]
RATE = 0.2


class Runs(RestartingSequence):
    """Spends both rates on every choice anew: each choice of one graph is a run of its own."""

    @property
    def bounds(self) -> int:
        successors = int(self.sizes[0])
        return successors if successors > 2 else 1


def followed(
    learner: RestartingSequence, truth: list[float], batches: list[int], runs: int, seed: int = 0
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which runs of an unchanged choice ever raised an alarm, and in which the truth was ever outside."""
    rng = np.random.default_rng(seed)
    graph = fan(len(truth), runs)
    bound, edge = learner.bind(graph), runs * len(truth)
    counts = np.zeros(graph.transitions, np.int64)
    missed = np.zeros(runs, np.bool_)
    for samples in batches:
        counts[:edge] = rng.multinomial(samples, truth, size=runs).ravel()
        bound.learn(counts)
        low, high = (x[:edge].reshape(runs, -1) for x in (bound.lower, bound.upper))
        missed |= ((low > truth) | (truth > high)).any(axis=1)
    return bound.raised[:runs] > 0, missed


ONE_BY_ONE = [1] * 150 + [10] * 40 + [300] * 20


@pytest.mark.parametrize("truth", TRUTHS, ids=str)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_false_alarms_and_false_bounds_are_as_rare_as_promised(truth: list[float], seed: int) -> None:
    raised, missed = followed(Runs(RATE, RATE), truth, ONE_BY_ONE, 400 if seed == 0 else 2000, seed)
    assert raised.mean() <= RATE
    assert missed.mean() <= RATE


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_the_claim_of_a_process_that_changes_twice_is_as_seldom_false_as_promised(seed: int) -> None:
    """It is false where the choice has not changed since its last alarm, and the truth is outside its bounds."""
    rng, runs = np.random.default_rng(seed), 200 if seed == 0 else 2000
    bound = Runs(RATE, RATE).bind(fan(2, runs))
    counts = np.zeros(bound.graph.transitions, np.int64)
    false = np.zeros(runs, np.bool_)
    same = np.ones(runs, np.bool_)  # whether there was no change since the last alarm
    for stage, p in enumerate((0.5, 0.9, 0.1)):
        same &= stage == 0
        for samples in [1] * 60 + [5] * 40:
            before = bound.raised[:runs].copy()
            hits = rng.binomial(samples, p, runs)
            counts[: 2 * runs] = np.stack([hits, samples - hits], axis=1).ravel()
            bound.learn(counts)
            same |= bound.raised[:runs] > before
            false |= same & ((bound.lower[: 2 * runs : 2] > p) | (p > bound.upper[: 2 * runs : 2]))
    assert (bound.raised[:runs] >= 2).mean() > 0.9
    assert same.mean() > 0.9
    assert false.mean() <= RATE


def test_the_shares_of_all_starts_sum_to_one() -> None:
    shares = _weight(np.arange(1, 2**20))
    assert shares[: 2**16].sum() < 1
    assert shares.sum() == pytest.approx(1 - 1 / 21)  # what is left for those to come
    assert (np.diff(shares) <= 0).all()


@pytest.mark.parametrize("batch", [5, 100])
@pytest.mark.parametrize(("before", "after", "enough"), [(0.95, 0.05, 30), (0.8, 0.2, 70), (0.5, 0.7, 2000)])
def test_a_change_is_found(before: float, after: float, enough: int, batch: int) -> None:
    """It is found within so many samples and a batch, wherever it happens, and about when it happened."""
    rng, runs, calm = np.random.default_rng(1), 50, 1000 // batch
    graph = fan(2, runs)
    bound = RestartingSequence().bind(graph)
    counts = np.zeros(graph.transitions, np.int64)
    for number in range(calm + enough // batch + 1):
        hits = rng.binomial(batch, before if number < calm else after, runs)
        counts[: 2 * runs] = np.stack([hits, batch - hits], axis=1).ravel()
        bound.learn(counts)
        if number < calm:
            assert not bound.raised.any()
    found = bound.raised[:runs] > 0
    assert found.mean() > 0.9
    when = bound.alarm_after[:runs][found]
    assert np.abs(np.median(when) - calm * batch) <= max(enough, batch)
    assert (bound.alarm_samples[:runs][found] <= calm * batch + enough + batch).all()


def test_only_the_choice_that_changed_forgets() -> None:
    graph = fan(3, 4)
    bound = RestartingSequence().bind(graph)
    for _ in range(6):
        bound.learn([60, 30, 10] * 4 + [0] * 3)
    before = bound.clone()
    bound.learn([60, 30, 10, 0, 10, 90, 60, 30, 10, 0, 0, 0, 0, 0, 0])
    assert bound.raised.tolist() == [0, 1, 0, 0, 0, 0, 0]
    assert (bound.lower[3:6] == 0).all()
    assert (bound.upper[3:6] == 1).all()
    assert (bound.counts[3:6] == 0).all()
    assert (bound.counts[:3] == 7 * np.array([60, 30, 10])).all()
    assert (bound.lower[:3] >= before.lower[:3]).all()
    assert np.array_equal(bound.lower[9:], before.lower[9:])
    assert np.array_equal(bound.upper[9:], before.upper[9:])
    (alarm,) = bound.alarms()
    assert (alarm.place, alarm.samples, alarm.steps, alarm.fresh) == ("state 0, action 1", 700, 2700, True)
    assert alarm.as_dict()["after"] == 600
    assert alarm.as_dict()["code"] == "alarm-changed"
    since = stated(bound.claim.reasons[0])
    assert (since.code, since.data["places"]) == (Code.UNCHANGED_SINCE, 1)
    bound.learn([1] + [0] * 14)
    assert not bound.alarms()[0].fresh


def test_all_choices_forget_where_that_is_wanted() -> None:
    bound = RestartingSequence(forget="all").bind(fan(2, 3))
    for _ in range(5):
        bound.learn([90, 10] * 3 + [0] * 2)
    bound.learn([0, 0, 5, 95, 0, 0, 0, 0])
    assert bound.raised.tolist() == [0, 1, 0, 0, 0]
    assert (bound.lower[:6] == 0).all()
    assert (bound.upper[:6] == 1).all()
    assert bound.epoch.tolist() == [2, 2, 2, 1, 1]
    assert bound.claim.reasons == (say(Code.UNCHANGED_SINCE, steps=1600),)


def test_all_choices_of_the_state_forget_where_that_is_wanted() -> None:
    graph = Graph([0, 2, 4, 5], [0, 2, 4, 6, 8, 9], [1, 2, 1, 2, 0, 2, 0, 2, 2])
    bound = RestartingSequence(forget="state").bind(graph)
    for _ in range(5):
        bound.learn([90, 10] * 4 + [0])
    bound.learn([5, 95] + [0] * 7)
    assert bound.raised.tolist() == [1, 0, 0, 0, 0]
    assert bound.epoch.tolist() == [2, 2, 1, 1, 1]
    assert (bound.lower[:4] == 0).all()
    assert (bound.lower[4:8:2] > 0.7).all()
    assert stated(bound.claim.reasons[0]).data["since"] == "the last alarm in its state"


def test_after_an_alarm_bounds_are_those_of_what_came_since() -> None:
    """They are a confidence sequence's, at the level of the second epoch."""
    graph = fan(3)
    bound = RestartingSequence(0.05, 0.2).bind(graph)
    bound.learn([300, 100, 100, 0, 0, 0]).learn([100, 300, 100, 0, 0, 0])
    assert bound.raised[0] == 1
    other = ConfidenceSequence(0.05 * 0.6079 / 4).bind(graph)
    for batch in ([20, 70, 10, 0, 0, 0], [200, 700, 100, 0, 0, 0]):
        bound.learn(batch), other.learn(batch)
        assert np.allclose(bound.lower, other.lower, atol=1e-12)
        assert np.allclose(bound.upper, other.upper, atol=1e-12)


def test_starts_are_kept_at_geometric_ages() -> None:
    """Of any number of updates since a change, some start lies after it and leaves a quarter of them behind it."""
    bound = RestartingSequence().bind(fan(2))
    for number in range(1, 300):
        bound.learn([1, 1, 0, 0])
        kept = bound.started[0][bound.started[0] > 0]
        for since in range(2, number):
            age = number - kept[kept >= number - since]
            assert age.max() >= since // 4
    assert kept.size <= SLOTS


@pytest.mark.parametrize(
    ("forget", "since"),
    [("choice", "its last alarm"), ("state", "the last alarm in its state"), ("all", None)],
)
def test_the_label_says_since_when(forget: str, since: str | None) -> None:
    fair = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.9, 0.1, 1, 1], labels={"heads": [1]})
    source = switch(fair, fair.graph.with_probability([0.1, 0.9, 1, 1]), after=100)
    learner = RestartingSequence(forget=forget)  # type: ignore[arg-type]
    first, *_, last = anytime(source, 'Pmax=? [ F "heads" ]', learner, trajectories=300)
    assert (first.guarantee.kind, last.guarantee.kind) == ("any-time", "any-time")
    assert first.guarantee.codes == (Code.UNCHANGED,)
    assert last.guarantee.codes == (Code.UNCHANGED_SINCE,)
    assert stated(last.guarantee.reasons[0]).data.get("since") == since


def test_alarms_are_reported_when_they_are_raised_and_kept() -> None:
    fair = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.9, 0.1, 1, 1], labels={"heads": [1]})
    loaded = fair.graph.with_probability([0.1, 0.9, 1, 1])
    learner = RestartingSequence(0.05, 0.05)
    seen = list(anytime(switch(fair, loaded, after=500), 'Pmax=? [ F "heads" ]', learner, trajectories=3000))
    fresh = [s for s in seen if "alarms" in s.row()]
    assert len(fresh) == 1
    assert fresh[0].row()["alarms"][0]["text"] == str(fresh[0].alarms[0])
    assert 500 < fresh[0].trajectories <= 1100
    assert len(seen[-1].alarms) == 1
    assert seen[-1].bracket.lower <= 0.1 <= seen[-1].model.upper[0]
    assert seen[-1].bracket.lower > 0.07


def test_certificates_cover_bounds_after_an_alarm() -> None:
    fair = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.9, 0.1, 1, 1], labels={"heads": [1]})
    loaded = fair.graph.with_probability([0.4, 0.6, 1, 1])
    *_, last = anytime(
        switch(fair, loaded, after=500), 'Pmax=? [ F "heads" ]', RestartingSequence(0.05), trajectories=3000
    )
    content = last.certificate().content
    assert content["claim"]["level"] == pytest.approx(0.95)
    assert "since its last alarm" in content["learning"]["assumptions"][0]


@pytest.mark.parametrize("settings", [{"false_alarms": 0}, {"forget": "some"}, {"error_rate": 2}])
def test_settings_are_checked(settings: dict[str, object]) -> None:
    with pytest.raises(ModelError, match=next(iter(settings))):
        RestartingSequence(**settings)  # type: ignore[arg-type]
