"""What may be asked of a run, from Python: everything else is refused with what to write instead, before anything is done."""

from __future__ import annotations

import math
from typing import Any

import pytest

import umdp
from umdp.explore import Follow, Uniform

COIN = umdp.MDP(
    [0, 1, 2, 3],
    [0, 2, 3, 4],
    [1, 2, 1, 2],
    [0.5, 0.5, 1, 1],
    labels={"heads": [1]},
    rewards={"cost": {"state": [1, 0, 0]}},
)
MOST, LEAST, COST = 'Pmax=? [ F "heads" ]', 'Pmin=? [ F "heads" ]', "Rmin=? [ C<=3 ]"


def learned(spec: str = MOST, learner: Any = umdp.LUI, **options: Any) -> list[umdp.Snapshot]:
    return list(umdp.anytime(COIN, spec, learner, **{"trajectories": 20, **options}))


@pytest.mark.parametrize("learner", [umdp.LUI, "lui", umdp.LUI()])
def test_a_learner_its_class_and_its_name_are_the_same(learner: Any) -> None:
    assert [each.row() for each in learned(learner=learner)] == [each.row() for each in learned(learner=umdp.LUI())]


@pytest.mark.parametrize("explorer", [Uniform, "uniform", Uniform()])
def test_an_explorer_its_class_and_its_name_are_the_same(explorer: Any) -> None:
    wanted = [each.row() for each in learned(explorer=Uniform())]
    assert [each.row() for each in learned(explorer=explorer)] == wanted


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learner": "liu"}, "there is no learner 'liu'; there are lui, .* Did you mean lui?"),
        ({"learner": umdp.MDP}, "is not a learner; give one such as umdp.LUI()"),
        ({"learner": 3}, "3 is not a learner"),
        ({"learner": None}, "None is not a learner"),
        ({"explorer": "unifrom"}, "there is no way to explore called 'unifrom'; .* Did you mean uniform?"),
        ({"explorer": umdp.LUI}, "is not an explorer"),
        ({"explorer": Follow}, "Follow cannot be made without arguments"),
        ({"spec": 'Pmaxmin=? [ F "heads" ]'}, r'takes no nature in the property .*; write Pmax=\? \[ F "heads" \]'),
        ({"spec": 'Rminmin<=3 [ F "heads" ]'}, r'write Rmin<=3 \[ F "heads" \]'),
        ({"spec": 'P>=0.3 [ F "heads" ]'}, "does not say what the policy should do .*; write Pmax"),
        ({"spec": 'P=? [ F "heads" ]'}, "does not say what the policy should do .*; write Pmax"),
        ({"spec": 'Pmax<=0.3 [ F "heads" ]'}, "which never proves <=0.3 .*; write >=0.3, or ="),
        ({"spec": 'Pmin>0.3 [ F "heads" ]'}, "which never proves >0.3 .*; write <0.3, or ="),
        ({"until": "<=0.3"}, "until <=0.3: what is learned is how large .*; write >=0.3"),
        ({"until": ">=0.3", "spec": LEAST}, "until >=0.3: what is learned is how small .*; write <=0.3"),
        ({"until": ">=0.3", "spec": COST}, "until >=0.3: what is learned is how small .*; write <=0.3"),
        ({"until": ">=2"}, "until >=2: a probability is never that large, .*; give a number between 0 and 1"),
        ({"until": ">1"}, "until >1: a probability is never that large"),
        ({"until": ">=-1"}, "until >=-1: every probability passes that"),
        ({"until": ">-1"}, "until >-1: every probability passes that"),
        ({"until": "<=-1", "spec": LEAST}, "until <=-1: a probability is never that small"),
        ({"until": "<0", "spec": LEAST}, "until <0: a probability is never that small"),
        ({"until": "<=7", "spec": LEAST}, "until <=7: every probability passes that"),
        ({"until": "<7", "spec": LEAST}, "until <7: every probability passes that"),
        ({"until": ">=nan"}, "'>=nan' is not a threshold"),
        ({"until": ">=inf"}, "'>=inf' is not a threshold"),
        ({"until": "0.3"}, "'0.3' is not a threshold; write one such as >=0.3"),
        ({"seed": -1}, "seed must be a whole number, at least 0, not -1"),
        ({"seed": 0.5}, "seed must be a whole number, at least 0, not 0.5"),
        ({"seed": 2**63}, "seed is more than 64 bits hold"),
        ({"seed": 10**400}, "seed is more than 64 bits hold"),
        ({"seed": "7"}, "seed must be a whole number, at least 0, not 7"),
        ({"horizon": 0}, "horizon must be a whole number of steps, at least 1, not 0"),
        ({"horizon": -5}, "horizon must be a whole number of steps, at least 1, not -5"),
        ({"trajectories": 0}, "trajectories must be a whole number, more than 0, not 0"),
        ({"trajectories": math.nan}, "trajectories must be a whole number, more than 0, not nan"),
        ({"trajectories": 2.5}, "trajectories must be a whole number, more than 0, not 2.5"),
        ({"steps": -1}, "steps must be a whole number, more than 0, not -1"),
        ({"seconds": 0}, "seconds must be a finite number, more than 0, not 0"),
        ({"seconds": math.inf}, "seconds must be a finite number, more than 0, not inf"),
        ({"seconds": math.nan}, "seconds must be a finite number, more than 0, not nan"),
        ({"precision": 0}, "precision must lie strictly between 0 and 1, not 0"),
        ({"precision": math.nan}, "precision must lie strictly between 0 and 1, not nan"),
    ],
)
def test_what_means_nothing_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(umdp.UmdpError, match=f"(?s){words}"):
        learned(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"until": ">=1"},
        {"until": ">0"},
        {"until": "<=0", "spec": LEAST},
        {"until": "<=2", "spec": COST},
        {"spec": 'Pmax>=0.3 [ F "heads" ]'},
        {"trajectories": 1e1},
        {"seed": 2**63 - 1},
    ],
)
def test_what_can_be_reached_is_asked(options: dict[str, Any]) -> None:
    assert learned(**options)[-1].reason is not None
