"""Where the graph is only observed: which learner is taken, and what is said of choices that were hardly tried."""

from __future__ import annotations

import json
import time

import pytest

GOAL = 'Pmax=? [ F "goal" ]'
COIN = """
import random

class Coin:
    class action_space:
        n = 2

    def reset(self, seed=None):
        if seed is not None:
            self.random = random.Random(seed)
        return "toss", {}

    def step(self, action):
        heads = self.random.random() < 0.5
        return ("heads" if heads else "tails"), float(heads), True, False, {}
"""


def last(out: str) -> dict:
    return json.loads(out.splitlines()[-1])


@pytest.fixture
def gamble(folder):
    """A log in which one action was tried once, and led to the goal."""
    rows = [f"{n},a,go,b\n{n},b,go,c" for n in range(200)]
    (folder / "log.csv").write_text(
        "\n".join(["trajectory,state,action,next", *rows, "x,a,gamble,d", "x,d,go,goal", ""])
    )


@pytest.mark.usefixtures("gamble")
def test_what_was_tried_once_is_not_certain(umdp):
    done = umdp("learn", "log.csv", GOAL, "--label", "goal=goal", "--quiet")
    assert done.code == 0, done.err
    assert "at least 0 with probability 95 %, whenever you stop" in done.out
    assert "the learner is confidence-sequence, error rate 0.05, because the graph is only observed" in done.out
    assert "counts as anything else" in done.out


@pytest.mark.usefixtures("gamble")
@pytest.mark.parametrize("learner", ["lui", "pac", "map", "ucrl2", "clopper-pearson"])
def test_a_learner_that_is_asked_for_comes_with_a_note(umdp, learner):
    asked = ("learn", "log.csv", GOAL, "--label", "goal=goal", "--learner", learner, "--out", "a.run", "--json")
    note = (
        f"the learner {learner} takes what was never seen for impossible: 2 of the 2 choices that the policy takes were seen "
        "fewer than 10 times"
    )
    done = umdp(*asked)
    assert done.code == 0, done.err
    said = last(done.out)
    assert said["lower"] == 1
    assert note in said["notes"]
    assert not any("anything else" in line for line in said["notes"])
    assert note in json.loads(umdp("show", "a.run", "--json").out)["notes"]


@pytest.mark.usefixtures("gamble")
def test_choices_that_were_tried_often_are_not_counted(umdp):
    done = umdp("learn", "log.csv", 'Pmax=? [ F "there" ]', "--label", "there=c", "--learner", "lui", "--json")
    assert any("0 of the 2 choices" in line for line in last(done.out)["notes"])


@pytest.mark.usefixtures("gamble")
def test_a_smallest_cost_says_so_with_any_learner(umdp):
    asked = (
        "learn",
        "log.csv",
        'R{"steps"}min=? [ F "goal" ]',
        "--label",
        "goal=goal",
        "--reward",
        "steps=1",
        "--json",
    )
    said = last(umdp(*asked).out)
    assert said["guarantee"]["kind"] == "none"
    note = "what was never seen is taken for impossible, since it may cost anything: 2 of the 2 choices"
    assert any(line.startswith(note) for line in said["notes"])


def test_a_log_that_decides_the_value_is_read(umdp, folder):
    """Whatever happens leads to the label or to anything else; what is wrong with the rows is said all the same."""
    (folder / "log.csv").write_text("trajectory,state,action,next\n1,new,run,worn\n1,worn,run\n2,new,run,failed\n")
    given = ("learn", "log.csv", 'Pmin=? [ F "failed" ]', "--label", "failed=failed", "--quiet")
    code, out, err = umdp(*given)
    assert code == 0, err
    assert "after 2 trajectories, 2 steps" in out
    assert "no guarantee: 1 of 3 rows was rejected" in out
    assert "ended because the graph decides the value" in out
    code, _, err = umdp(*given, "--on-error", "fail")
    assert code == 2
    assert "log.csv, line 3: the line has 3 fields" in err


@pytest.mark.usefixtures("gamble")
def test_settings_of_another_learner_need_its_name(umdp):
    asked = ("learn", "log.csv", GOAL, "--label", "goal=goal", "--set")
    refused = umdp(*asked, "strength=5,10")
    assert refused.code == 2
    assert "has no setting strength; name the learner that has it with --learner" in refused.err
    assert "with probability 90 %" in umdp(*asked, "error_rate=0.1", "--quiet").out


def test_an_environment_without_a_table(umdp, folder):
    (folder / "coin.py").write_text(COIN)
    asked = ("learn", "coin.py:Coin", GOAL, "--trajectories", "200", "--out", "coin.run", "--json", "--quiet")
    said = last(umdp(*asked).out)
    assert (said["guarantee"]["kind"], said["guarantee"]["level"]) == ("any-time", 0.95)
    assert said["notes"][0].startswith("the learner is confidence-sequence, error rate 0.05")
    more = umdp("resume", "coin.run", "--trajectories", "300", "--trust", "--json", "--quiet")
    assert more.code == 0, more.err
    assert last(more.out)["guarantee"]["level"] == 0.95


def test_a_graph_that_is_known_is_learned_as_before(umdp):
    assert last(umdp("learn", "grid", "--trajectories", "20", "--json").out)["guarantee"]["kind"] == "none"


SLOW = """
import random
import time

class Slow:
    class action_space:
        n = 2

    def reset(self, seed=None):
        if seed is not None:
            self.random = random.Random(seed)
        self.at = 0
        return 0, {}

    def step(self, action):
        time.sleep(0.02)
        self.at = self.at + 1 if self.random.random() < 0.7 else 0
        return self.at, float(self.at == 4), self.at == 4, False, {}
"""


def test_exploration_keeps_to_the_time_and_can_be_repeated(umdp, folder):
    (folder / "slow.py").write_text(SLOW)
    begun = time.monotonic()
    done = umdp("learn", "slow.py:Slow", 'Pmax=? [ F<=9 "goal" ]', "--seconds", "2", "--out", "slow.run")
    assert (
        time.monotonic() - begun < 60
    )  # 20,000 steps and more would take longer than this, and some time is for compiling
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1].startswith("exploring Slow with random actions")
    assert "for at most 0.4 s" in done.err
    assert "exploration was cut short after" in done.out
    more = umdp("resume", "slow.run", "--seconds", "0.1", "--trust", "--quiet")
    assert more.code == 0, more.err
    assert "exploration was cut short after" in more.out


def test_a_check_keeps_to_the_time_and_says_what_it_is_doing(umdp, folder):
    (folder / "slow.py").write_text(SLOW)
    begun = time.monotonic()
    done = umdp("check-env", "slow.py:Slow", "--seconds", "2")
    assert time.monotonic() - begun < 20
    assert done.code == 0, done.out
    assert done.err.startswith("playing slow.py:Slow with random actions, for at most 2 s")
    assert "note (time): " in done.out
    assert "of 20,000 steps were looked at in the time given" in done.out
