"""What is promised: each reason against it, on its own and where the numbers are shown."""

from __future__ import annotations

import json

import numpy as np
import pytest

from umdp import MDP, ClopperPearson, ConfidenceSequence, Graph, Guarantee, Policy, Spec, anytime, switch
from umdp.learn import LEARNERS
from umdp.solver.graph.unseen import unseen_support
from umdp.source import Provenance
from umdp.statements import Code
from umdp.statements.conditions import Asked
from umdp.statements.guarantee import guarantee_of

CLAIM = Guarantee("any-time", 0.95)
FIXED = Guarantee("fixed-N", 0.95)
COIN = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
HEADS = 'Pmax=? [ F "heads" ]'


def test_a_clean_source_takes_nothing_away() -> None:
    assert guarantee_of(CLAIM, Provenance(rows=100)) == CLAIM


@pytest.mark.parametrize(
    ("known", "code"),
    [
        (Provenance(graph="observed"), Code.OBSERVED),
        (Provenance(unlisted=2, rows=12), Code.DROPPED),
        (Provenance(rejected=60_000, rows=200_000, passive=True), Code.REJECTED),
        (Provenance(changes=True), Code.CHANGES),
        (Provenance(findings=("trajectory 7 is there twice",)), Code.OTHER),
        (Provenance(graph="observed", rest=True), Code.NOT_FOUND),
    ],
)
def test_what_is_known_of_the_data_withdraws_a_promise(known: Provenance, code: Code) -> None:
    label = guarantee_of(CLAIM, known)
    assert (label.kind, label.level, label.codes) == ("none", None, (code,))
    assert label.text == f"no guarantee: {label.reasons[0]}"


def test_every_reason_is_told_and_the_label_counts_them() -> None:
    label = guarantee_of(CLAIM, Provenance(graph="observed", unlisted=1, changes=True, findings=("drift",)))
    assert len(label.reasons) == 4
    assert label.text.endswith("(and 3 more reasons)")


def test_a_learner_without_a_claim_says_why_and_so_do_the_data() -> None:
    for kind in ("lui", "map", "ucrl2", "pac"):
        claim = LEARNERS[kind]().claim
        assert len(claim.reasons) == 1
        assert guarantee_of(claim, Provenance(changes=True)).reasons == (
            *claim.reasons,
            *guarantee_of(CLAIM, Provenance(changes=True)).reasons,
        )
    assert guarantee_of(Guarantee("none"), Provenance()).codes == (Code.NO_CLAIM,)


def test_assumptions_are_conditions_of_the_promise() -> None:
    label = guarantee_of(
        CLAIM, Provenance(passive=True, assumptions=("no row was recorded twice", "no row is missing"))
    )
    assert (label.kind, label.level) == ("any-time", 0.95)
    assert label.reasons == ("no row was recorded twice", "no row is missing")
    assert "provided that no row was recorded twice (and 1 more condition)" in str(label)


def test_a_found_graph_with_anything_else_keeps_the_promise_of_a_learner_that_discovers() -> None:
    assert guarantee_of(CLAIM, Provenance(graph="observed", rest=True), discovers=True) == CLAIM
    costly = guarantee_of(CLAIM, Provenance(graph="observed", rest=True), discovers=True, asked=Asked.SPENT)
    assert costly.codes == (Code.COSTLY,)
    assert costly.kind == "none"
    assert guarantee_of(CLAIM, Provenance(), asked=Asked.SPENT) == CLAIM


@pytest.mark.parametrize(
    ("looks", "whole", "kind"),
    [(0, False, "fixed-N"), (1, True, "fixed-N"), (1, False, "none"), (2, True, "none")],
)
def test_one_look_is_one_look(looks: int, whole: bool, kind: str) -> None:
    label = guarantee_of(FIXED, Provenance(), looks=looks, whole=whole)
    assert label.kind == kind
    against = Code.LOOKED_AGAIN if looks > 1 else Code.FOLLOWED
    assert label.codes == (against if kind == "none" else Code.FIXED,)
    assert guarantee_of(CLAIM, Provenance(), looks=looks, whole=whole) == CLAIM


def test_it_goes_through_json() -> None:
    for label in (CLAIM, FIXED, guarantee_of(CLAIM, Provenance(changes=True))):
        given = json.loads(json.dumps(label.as_dict()))
        assert set(given) == {"kind", "level", "reasons", "codes", "text"}
        assert Guarantee.from_dict(given) == label


# -- listed transitions that nobody has seen -----------------------------------------------------------------

# "try" stays in 0 or reaches the goal 1; "give up" goes to 2 for ever.
PAID = {"": {"state": [1, 0, 0]}}
TRY = MDP([0, 2, 3, 4], [0, 2, 3, 4, 5], [0, 1, 2, 1, 2], [0.5, 0.5, 1, 1, 1], labels={"goal": [1]}, rewards=PAID)


@pytest.mark.parametrize(("counts", "unseen"), [([0, 0], 2), ([9, 0], 1), ([9, 1], 0), ([0, 1], 0)])
def test_value_one_rests_on_what_was_not_seen(counts: list[int], unseen: int) -> None:
    spec, policy = Spec.parse('Pmax=? [ F "goal" ]'), Policy(TRY.graph, [0, 2, 3])
    assert unseen_support(TRY.graph, spec, policy, np.array([*counts, 0, 0, 0])) == unseen


@pytest.mark.parametrize(
    ("text", "unseen"),
    [
        ('Pmax=? [ F<=3 "goal" ]', 0),
        ('Pmin=? [ F "goal" ]', 0),
        ('Pmin=? [ G !"goal" ]', 2),
        ('Pmax=? [ G !"goal" ]', 0),
        ('Rmin=? [ F "goal" ]', 0),
        ('Rmax=? [ F "goal" ]', 0),
    ],
)
def test_only_what_the_graph_decides_for_the_agent_rests_on_the_list(text: str, unseen: int) -> None:
    policy = Policy(TRY.graph, [0, 2, 3])
    assert unseen_support(TRY.graph, Spec.parse(text), policy, np.zeros(5, int)) == unseen


def test_an_infinite_reward_rests_on_the_way_to_where_the_goal_is_missed() -> None:
    graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], labels={"goal": [1]}, rewards=PAID)
    spec, policy = Spec.parse('Rmax=? [ F "goal" ]'), Policy(graph, [0, 1, 2])
    assert unseen_support(graph, spec, policy, np.array([5, 0, 0, 0])) == 1
    assert unseen_support(graph, spec, policy, np.array([5, 1, 0, 0])) == 0


def test_a_choice_never_taken_may_do_any_one_of_what_is_listed() -> None:
    # 0 leads to 1 or 2, both of which lead to the goal 3: whichever of the two happens.
    graph = MDP([0, 1, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 3, 3, 3], [0.5, 0.5, 1, 1, 1], labels={"goal": [3]}).graph
    policy = Policy(graph, [0, 1, 2, 3])
    assert unseen_support(graph, Spec.parse('Pmax=? [ F "goal" ]'), policy, np.zeros(5, int)) == 0


# -- in the loop ---------------------------------------------------------------------------------------------


def test_a_listed_transition_that_never_happens_is_a_condition() -> None:
    *_, last = anytime(TRY, 'Pmax=? [ F "goal" ]', ConfidenceSequence(0.05), trajectories=10)
    assert last.bracket.lower == 1
    assert last.guarantee.kind == "any-time"
    assert last.guarantee.codes == (Code.POSSIBLE,)
    assert last.guarantee.reasons[0].data == {"unseen": 2}  # type: ignore[attr-defined]
    assert last.row()["guarantee"]["codes"] == ["listed-can-happen"]


def test_a_change_is_told() -> None:
    later = COIN.graph.with_probability([0.9, 0.1, 1, 1])
    for source in (switch(COIN, later, after=10),):
        *_, last = anytime(source, HEADS, ConfidenceSequence(), trajectories=30)
        assert last.guarantee.kind == "none"
        assert last.guarantee.codes == (Code.CHANGES,)


def test_clopper_pearson_promises_nothing_in_the_loop() -> None:
    looks = [s.guarantee for s in anytime(COIN, HEADS, ClopperPearson(0.2), trajectories=30)]
    assert looks[0].kind == "fixed-N"  # nothing has been looked at
    assert all(label.kind == "none" for label in looks[1:])
    assert looks[-1].codes == (Code.LOOKED_AGAIN,)


def test_certified_is_said_only_where_something_is_promised() -> None:
    *_, last = anytime(COIN, HEADS, ConfidenceSequence(), until=">=0.2", trajectories=10_000)
    assert last.reason == ">= 0.2 is certified"
    source = switch(COIN, COIN, after=10**6)
    *_, last = anytime(source, HEADS, ConfidenceSequence(), until=">=0.2", trajectories=10_000)
    assert last.reason == ">= 0.2 is reached on the learned model"


def test_a_guarantee_shows_itself_in_a_notebook():
    label = Guarantee("any-time", 0.95, ("no row was <twice>", "no row was left out"))
    html = label._repr_html_()
    assert "with probability 95 %, whenever you stop" in html
    assert html.count("provided that") == 1
    assert "no row was &lt;twice&gt;" in html
    assert "no row was left out" in html
    assert "because" in Guarantee("none", reasons=("nobody knows",))._repr_html_()
