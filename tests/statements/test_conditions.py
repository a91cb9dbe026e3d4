"""The table of what follows from where data come from: no source, graph, property, learner or column of a log without a row."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from umdp import Guarantee, Spec
from umdp.learn import LEARNERS as KNOWN
from umdp.learn import Learner
from umdp.learn.parametric_learner import Parametric
from umdp.learn.tied import Tied
from umdp.learning.validation import asked_of
from umdp.model import Graph, Rewards
from umdp.source import Provenance
from umdp.source.logs.reader import COLUMNS as ROLES
from umdp.source.logs.trajectory_ends import FINAL
from umdp.statements import Cause, Code, PastCase, PastFeature, Statement, codes_of, say, stated
from umdp.statements.conditions import CONDITIONS, COSTLY, OF_LOGS, Asked, GraphKind
from umdp.statements.guarantee import guarantee_of

from .condition_rows import (
    COLUMNS,
    GRAPHS,
    LEARNERS,
    ON_OBSERVED,
    SOURCES,
    TESTS,
    Column,
    DataTest,
    Effect,
    SourceKind,
)

TABLES: list[tuple[Any, Any]] = [
    (SOURCES, SourceKind), (GRAPHS, GraphKind), (ON_OBSERVED, Asked), (COLUMNS, Column), (TESTS, DataTest),
]  # fmt: skip

# What a sentence may need, whichever it is.
DATA: dict[Code, dict[str, Any]] = {
    Code.POSSIBLE: {"unseen": 2},
    Code.INITIAL: {"state": "a", "elsewhere": 1, "trajectories": 3},
    Code.ENDS: {"column": "end"},
    Code.LABEL: {"label": "hot"},
    Code.REWARD: {"reward": "pay"},
    Code.LEAST: {"reward": "pay", "least": 0.0},
    Code.SPOILT: {"rejected": 1, "rows": 3},
    Code.PROGRAM: {"origin": "die.prism", "box": "p in [0, 1]"},
    Code.UNCHANGED_SINCE: {"steps": 5},
    Code.UNSEEN: {"unseen": 2},
    Code.DROPPED: {"unlisted": 1, "rows": 3},
    Code.STRAY: {"why": "there is no state x"},
    Code.REJECTED: {"rejected": 1, "rows": 3},
    Code.ONE_CAUSE: {"rejected": 9, "cause": Cause.OTHER, "piece": "x"},
    Code.UNEVEN: {"rejected": 9, "cause": Cause.OTHER, "role": "state", "name": "x", "times": 8, "share": 0.1},
    Code.DRIFT: {
        "state": "a", "action": "go", "successor": "b", "before": (1, 9), "after": (8, 9), "row": 10, "p": 1e-9,
    },
    Code.PAST_MATTERS: {
        "past": PastFeature.STATE, "case": PastCase("b"), "state": "a", "action": "go", "successor": "c", "inside": (1, 9),
        "outside": (8, 9), "evidence": 1e4,
    },
    Code.COPIES: {"copied": 7},
    Code.SAME_NAME: {"same": 7},
    Code.DISORDER: {"rows": 50, "followed": 3},
    Code.PAID_LESS: {"steps": 2},
    Code.MEAN: {"reward": "pay"},
    Code.NO_LEAST: {"reward": "pay", "column": "pay"},
    Code.UNREAD: {"reward": "pay", "column": "pay", "values": 3, "first": "x"},
    Code.LOOKED_AGAIN: {"looks": 2},
    Code.BROKEN: {"choices": 1},
    Code.MISFIT: {"kind": "east", "choice": "b"},
    Code.CONTRADICTED: {"kind": "east"},
    Code.PROGRAM_DIFFERS: {"origin": "die.prism", "why": "so"},
    Code.PROGRAM_WRONG: {"origin": "die.prism", "names": "p", "kind": "east"},
    Code.BEYOND_MOST: {"most": 3.0},
    Code.LED_OUT: {"unlisted": 2},
    Code.OTHER: {"text": "something"},
}  # fmt: skip


def made(code: Code) -> Statement:
    return say(code, **DATA.get(code, {}))


def effects() -> list[Effect]:
    return [each for table in (*(table for table, _ in TABLES), LEARNERS) for each in table.values()]


@pytest.mark.parametrize(("table", "kinds"), TABLES)
def test_every_kind_has_a_row_that_says_something(table: Any, kinds: Any) -> None:
    assert set(table) == set(kinds)
    for kind, row in table.items():
        assert row.adds or row.against or row.why, f"{kind} has no effect, and nothing says why"


def test_every_learner_has_a_row_and_its_claim_keeps_to_it() -> None:
    kinds: list[type[Learner]] = [*KNOWN.values(), Tied, Parametric]
    assert set(KNOWN) <= set(LEARNERS)
    assert {kind.name for kind in kinds} <= set(LEARNERS) | {"tied"}
    for name, kind in KNOWN.items():
        claim, row = kind().claim, LEARNERS[name]
        if claim.holds:
            assert set(claim.codes) <= set(row.adds)
            assert row.adds or row.why
        else:
            assert claim.codes
            assert set(claim.codes) <= set(row.against)


def test_logs_and_costs_are_those_of_the_rows() -> None:
    assert set(OF_LOGS) == set(SOURCES[SourceKind.LOG].adds)
    assert {asked for asked, row in ON_OBSERVED.items() if row.against} == COSTLY


def test_every_column_of_a_log_has_a_row() -> None:
    assert {*ROLES, *FINAL} <= {column.value for column in Column}


def test_conditions_are_added_and_reasons_stand_against() -> None:
    for row in effects():
        assert set(row.adds) <= CONDITIONS
        assert not set(row.against) & CONDITIONS


def test_every_code_has_a_sentence_and_almost_every_code_a_row() -> None:
    used = {code for row in effects() for code in (*row.adds, *row.against)}
    # What the loop, playing and other commands say by themselves.
    own = {Code.ALIKE, Code.BEYOND_MOST, Code.LED_OUT, Code.COST_OBSERVED, Code.OTHER_PROPERTY, Code.OTHER, Code.FAILED}
    own |= {Code.NO_CLAIM, Code.CHANGES, Code.PAID_LESS, Code.LEAST_SEEN, Code.SPOILT}
    assert set(Code) - used == own
    for code in Code:
        assert made(code).code is code
        assert len(made(code)) > 5
    assert len({code.value for code in Code}) == len(Code)


def knowledge(source: SourceKind, graph: GraphKind, column: Column | None, test: DataTest | None) -> Provenance:
    """Return what a source of a kind would know."""
    adds = [*SOURCES[source].adds]
    rewards: dict[str, tuple[Statement, ...]] = {}
    if column is not None:
        row = COLUMNS[column]
        if column.value.startswith("--reward"):
            paid = [made(code) for code in (*row.adds, *row.against) if code is not Code.UNREAD]
            rewards = {"pay": tuple(paid)}
        else:
            adds += row.adds
    return Provenance(
        graph="given" if graph is GraphKind.GIVEN else "observed",
        rest=graph is GraphKind.OBSERVED,
        assumptions=tuple(map(made, adds)),
        findings=() if test is None else tuple(map(made, TESTS[test].against)),
        rewards=rewards,
    )


def test_all_combinations_have_conditions_or_reasons_and_nothing_in_between() -> None:
    promised = none = 0
    columns: list[Column | None] = [None, *Column]
    tests: list[DataTest | None] = [None, *DataTest]
    for (name, kind), source, graph, asked in product(KNOWN.items(), SourceKind, GraphKind, Asked):
        claim = kind().claim
        for column, test in product(columns if source is SourceKind.LOG else [None], tests):
            known = knowledge(source, graph, column, test)
            label = guarantee_of(claim, known, discovers=kind.discovers, asked=asked, reward="pay")
            place = f"{name}, {source}, {graph}, {asked}, {column}, {test}: {label.codes}"
            if label.holds:
                promised += 1
                assert set(label.codes) <= CONDITIONS, place
                assert set(SOURCES[source].adds) <= set(label.codes), place
                assert set(codes_of(known.assumptions)) <= set(label.codes), place
                assert claim.holds, place
                assert graph is not GraphKind.CLOSED, place
                assert test is None, place
                assert graph is GraphKind.GIVEN or not ON_OBSERVED[asked].against, place
            else:
                none += 1
                assert label.reasons, place
                assert not set(label.codes) & CONDITIONS, place
                assert label.level is None
    assert promised > 500
    assert none > promised


PAID = {"": Rewards(choice=[1.0, 0.0])}
LOSS = {"": Rewards(choice=[-1.0, 0.0])}


@pytest.mark.parametrize(
    ("text", "rewards", "asked"),
    [
        ('Pmax=? [ F "goal" ]', PAID, Asked.PROBABILITY),
        ('Pmin=? [ G F "goal" ]', PAID, Asked.PROBABILITY),
        ("Rmax=? [ C<=9 ]", PAID, Asked.EARNED),
        ("Rmax=? [ C<=9 ]", LOSS, Asked.SIGNED),
        ('Rmin=? [ F "goal" ]', PAID, Asked.SPENT),
        ("Rmax=? [ Cdiscount=0.9 ]", LOSS, Asked.DISCOUNTED),
        ("Rmin=? [ Cdiscount=0.9 ]", LOSS, Asked.DISCOUNTED_SPENT),
        ("Rmax=? [ S ]", PAID, Asked.AVERAGE),
    ],
)
def test_every_property_is_of_a_kind(text: str, rewards: Any, asked: Asked) -> None:
    graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [1]}, rewards=rewards)
    assert asked_of(graph, Spec.parse(text)) is asked


def test_a_sentence_of_somebody_else_stays_what_it_is() -> None:
    label = Guarantee("none", reasons=("the moon was full", say(Code.CHANGES)))
    assert label.codes == (Code.OTHER, Code.CHANGES)
    again = Guarantee.from_dict(label.as_dict())
    assert again == label
    assert again.codes == label.codes
    old = {name: value for name, value in label.as_dict().items() if name != "codes"}
    assert Guarantee.from_dict(old).codes == (Code.OTHER, Code.OTHER)
    assert stated("x", "a-code-of-a-later-version").code is Code.OTHER


def test_statements_can_be_sent() -> None:
    import copy
    import pickle

    one = say(Code.LEAST, reward="pay", least=2.0)
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (other, other.code, other.data) == (one, one.code, one.data)


def test_the_documents_have_every_row() -> None:
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
    missing = [code.value for code in Code if code is not Code.OTHER and f"`{code.value}`" not in text]
    assert missing == []
