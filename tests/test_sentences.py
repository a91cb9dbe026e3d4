"""What statements say: every code has a sentence, nothing is decided by the words, and the words are tested here alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from umdp.statements import (
    Cause,
    Code,
    DiagnosticCode,
    PastCase,
    PastFeature,
    Premise,
    Refusal,
    Statement,
    Unlisted,
    say,
    stated,
    with_codes,
)  # fmt: skip
from umdp.statements.provisos import PAST
from umdp.statements.text import WordedCode

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "umdp"
MEANING = [
    "statements/test_conditions.py", "statements/test_false_guarantees.py", "statements/test_withdrawn_guarantees.py", *(
        f"statements/test_guarantee.py::test_{name}"
        for name in (
            "what_is_known_of_the_data_withdraws_a_promise", "a_learner_without_a_claim_says_why_and_so_do_the_data",
            "a_found_graph_with_anything_else_keeps_the_promise_of_a_learner_that_discovers", "one_look_is_one_look",
            "a_listed_transition_that_never_happens_is_a_condition", "a_change_is_told",
        )
    ),
    "verify/test_forger.py::test_row", "verify/test_forger.py::test_what_is_taken_on_trust_is_for_programs_too",
    "verify/test_weaker_claims.py",
    "verify/test_verify_cli.py::test_a_changed_certificate_is_refused_with_the_part_that_fails",
    "learning/candidates/test_scheduler.py::test_a_certificate_by_evidence_is_checked_and_a_changed_one_refused",
    "source/test_initial_states.py", "source/test_ends.py", "source/test_faults.py", "source/test_knowledge.py",
    "source/test_check.py", "source/test_observed_graph.py", "source/test_several_files.py",
]  # fmt: skip


def test_no_meaning_is_lost_without_the_words() -> None:
    """The tests of what is promised, refused and reported pass where every sentence is "x"."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    given = [str(TESTS / name) for name in MEANING]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "without_words", "-p", "no:cacheprovider", *given]
    wording = "not sentence_and_almost_every_code and not statements_can_be_sent"
    done = subprocess.run(
        [*command, "-k", wording],
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "WORDLESS": "1"},
        capture_output=True,
        text=True,
        cwd=TESTS.parent,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


@pytest.mark.parametrize("kind", [Code, DiagnosticCode, Premise, Refusal])
def test_every_code_has_words_and_a_value_of_its_own(kind: type[WordedCode]) -> None:
    assert all(each.words for each in kind)
    assert len({each.value for each in kind}) == len(kind)
    assert all(each.value == each.value.lower() and " " not in each.value for each in kind)


def test_codes_that_are_kept_are_told_apart() -> None:
    assert not {each.value for each in Code} & {each.value for each in DiagnosticCode}
    for code in (*Code, *DiagnosticCode):
        assert stated("x", code.value).code is code


def test_all_parts_have_words() -> None:
    assert all(each.words for each in (*Cause, *Unlisted))
    assert set(PAST) == set(PastFeature)


def test_sentences_are_made_in_one_place() -> None:
    """Nothing but `say` calls the maker, and statements with words of their own are those that were kept in a file."""
    kept = {"source/markov.py", "source/logs/data_tests.py", "source/logs/rejected.py", "statements/statement.py"}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                assert called != "worded" or name == "statements/statement.py", name
                assert called != "Statement" or name in kept, name


def test_statements_are_equal_if_they_say_the_same_of_the_same() -> None:
    one, other = Statement("x", Code.ONCE), Statement("x", Code.MARKOV)
    assert one == Statement("x", Code.ONCE) == "x"
    assert one != other
    assert len({one, other}) == 2
    assert with_codes([one, "y"]) == [{"code": "rows-once", "text": "x"}, {"code": "other", "text": "y"}]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            say(Code.INITIAL, state="a", elsewhere=1, trajectories=3),
            "it starts in state a, as the first row does: 1 of 3 trajectories begins elsewhere",
        ),
        (
            say(Code.DROPPED, unlisted=2, rows=12),
            "2 of 12 steps that the graph does not list were dropped: what is left was selected by outcome",
        ),
        (
            say(
                Code.PAST_MATTERS, past=PastFeature.STAY, case=PastCase(least=4, most=7), state="a", action="go",
                successor="b", inside=(1, 10), outside=(9, 10), evidence=2e4,
            ),
            "what happens next depends on how long the state has not changed, and not on the state and the action alone: state "
            "a, action go led to b in 1 of 10 rows after 4 to 7 steps without change, and in 9 of 10 others (evidence 2e+04 to 1)"
            "; add to the state what it depends on",
        ),
        (
            say(Refusal.VALUE, side="lower", state=3, choice=7),
            "lower, state 3: the value exceeds that of choice 7",
        ),
        (
            say(Refusal.VALUE, side="upper", state=3, choice=7),
            "upper, state 3: the value is below that of choice 7",
        ),
        (say(Premise.FILE, sentence="the walls are as drawn"), 'the file says: "the walls are as drawn"'),
        (
            say(DiagnosticCode.LOG_GRAPH, name="x.csv", states=1, transitions=2, unlisted=Unlisted.LEFT_OUT),
            "the graph is what x.csv shows: 1 state, 2 transitions; whatever can happen but is not in it is taken for impossible",
        ),
        (
            say(DiagnosticCode.REJECTED_ROWS, rejected=1, rows=3000, path="bad.jsonl"),
            "1 of 3,000 rows was rejected and not counted; it is in bad.jsonl",
        ),
        (
            say(DiagnosticCode.PARAMETER, name="p", lower=0.89312, upper=0.90651, samples=12345),
            "p in [0.893, 0.907] after 12,345 samples",
        ),
        (
            say(DiagnosticCode.TIME_LIMIT, name="Walk", limit=100, ask='Pmax=? [ F<=101 "goal" ]', entry=True),
            'Walk cuts its episodes after 100 steps, and the property does not: for what can be played, ask for Pmax=? [ F<=101 '
            '"goal" ] (the reset is a step, too)',
        ),
        (
            say(DiagnosticCode.RECORDINGS_END, column="end", states=list("abcdefg")),
            'the column "end" is true with the last row of every recording: it marks where recordings end, and nobody knows what '
            "follows a, b, c, d, e and 2 more; where trajectories really end there, say so (--terminal STATES)",
        ),
    ],
)  # fmt: skip
def test_words(said: Statement, words: str) -> None:
    assert str(said) == words
