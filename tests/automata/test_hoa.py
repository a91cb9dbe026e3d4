"""Automata in files: what they accept with every kind of acceptance, and what is said about those that cannot be read."""

from pathlib import Path

import numpy as np
import pytest

from umdp import MDP, Spec, solve
from umdp.automata.hoa import parse_hoa
from umdp.errors import FormatError, SpecError

from .lassos import Formula, holds, words

HEAD = 'HOA: v1 States: 1 Start: 0 AP: 2 "a" "b"'
SEEN = "State: 0 [0 & 1] 0 {0 1} [0&!1] 0 {0} [!0&1] 0 {1} [!0&!1] 0"


def again(atom: int) -> Formula:
    return ("G", ("F", ("p", atom), 0, None), 0, None)


KINDS = [
    ("Inf(0)", "Buchi", again(0)),
    ("Fin(0)", "co-Buchi", ("!", again(0))),
    ("Inf(0)&Inf(1)", "generalized-Buchi 2", ("&", again(0), again(1))),
    ("Fin(0)&Inf(1)", "Rabin 1", ("&", ("!", again(0)), again(1))),
    ("Fin(0)|Inf(1)", "Streett 1", ("|", ("!", again(0)), again(1))),
    ("(Fin(0)|Inf(1)) & (Fin(1)|Inf(0))", "Streett 2", ("<=>", again(0), again(1))),
    ("Inf(1) | (Fin(1) & Inf(0))", "parity max even 2", ("|", again(1), ("&", ("!", again(1)), again(0)))),
    ("t", "all", ("true",)),
    ("f", "none", ("false",)),
]


@pytest.mark.parametrize(("condition", "name", "formula"), KINDS)
def test_every_kind_of_acceptance(condition: str, name: str, formula: Formula) -> None:
    file = parse_hoa(f"{HEAD} acc-name: {name} Acceptance: 2 {condition} --BODY-- {SEEN} --END--")
    for negated in (False, True):
        made = file.automaton(range(4), negated=negated)
        for prefix, cycle in words(2, 4)[::3]:
            assert made.accepts(prefix, cycle) == (holds(formula, prefix, cycle) != negated)


def test_marks_on_states_implicit_labels_aliases_and_missing_transitions() -> None:
    text = """HOA: v1 name: "a at once, then b for ever" States: 3 Start: 0 AP: 2 "a" "b" Alias: @now 0 & !1
      tool: "by hand" properties: state-acc Acceptance: 1 Inf(0)
      --BODY-- State: 0 [@now | 0] 1 State: 1 "b from here" {0} /* in order */ 2 2 1 1 State: [t] 2 2 --END--"""
    made = parse_hoa(text).automaton(range(4))
    for prefix, cycle in words(2, 4):
        formula = ("&", ("p", 0), ("X", ("G", ("p", 1), 0, None)))
        assert made.accepts(prefix, cycle) == holds(formula, prefix, cycle)


MALFORMED = [
    ("", "starts with HOA: v1"),
    ("HOA: v2 --BODY-- --END--", "only version v1"),
    ('HOA: v1 AP: 1 "a" Acceptance: 0 t --BODY-- --END--', "Start: is missing"),
    ('HOA: v1 Start: 0 AP: 1 "a" --BODY-- --END--', "Acceptance: is missing"),
    ("HOA: v1 Start: 0 Start: 1 Acceptance: 0 t --BODY-- --END--", "several initial states"),
    ("HOA: v1 Start: 0&1 Acceptance: 0 t --BODY-- --END--", "alternating"),
    ("HOA: v1 Start: x", "expected the initial state, not x"),
    ('HOA: v1 Start: 0 AP: 2 "a" Acceptance: 0 t --BODY-- --END--', "name of a proposition"),
    ("HOA: v1 Start: 0 Acceptance: 1 Inf(1) --BODY-- --END--", "no acceptance set 1"),
    ("HOA: v1 Start: 0 Acceptance: 1 Inf(!0) --BODY-- --END--", "complemented"),
    ("HOA: v1 Start: 0 Acceptance: 1 Foo(0) --BODY-- --END--", "expected Inf, Fin, t or f"),
    ("HOA: v1 Start: 0 Acceptance: 1 (Inf(0) --BODY-- --END--", "expected ), not --BODY--"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [0] 0 --END--", "no proposition 0"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [@x] 0 --END--", "unknown alias @x"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [t 0 --END--", "expected ]"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0 {0} --END--", "no acceptance set 0"),
    ("HOA: v1 States: 1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [t] 1 --END--", "state 1 does not exist"),
    ("HOA: v1 States: 1 Start: 0 Acceptance: 0 t --BODY-- State: 1 [t] 0 --END--", "state 1 does not exist"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0 State: 0 [t] 0 --END--", "stands twice"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0&0 --END--", "alternating"),
    ('HOA: v1 Start: 0 AP: 1 "a" Acceptance: 0 t --BODY-- State: 0 0 --END--', "must be 2"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0", "expected State: or --END--"),
    ("HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 ? --END--", "unexpected character '?'"),
]


@pytest.mark.parametrize(("text", "says"), MALFORMED)
def test_says_what_is_wrong_with_an_automaton(text: str, says: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_hoa(text, "mission.hoa")
    assert says in str(caught.value)
    assert "mission.hoa" in str(caught.value)
    assert "column " in str(caught.value)


def test_an_automaton_that_is_not_deterministic_is_refused() -> None:
    file = parse_hoa(f"{HEAD} Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 0 [t] 0 {{0}} --END--")
    with pytest.raises(FormatError, match="several transitions for a & !b"):
        file.automaton(range(4))


def walk() -> MDP:
    return MDP(
        [0, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 2, 0, 2], [0.5, 0.5, 1, 1, 1], labels={"there": [1]},
        variables={"x": np.arange(3)},
    )  # fmt: skip


def test_a_property_names_the_file_and_what_its_propositions_mean(tmp_path: Path) -> None:
    path = tmp_path / "mission.hoa"
    path.write_text(
        'HOA: v1 States: 1 Start: 0 AP: 1 "p0" Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 0 {0} [!0] 0 --END--'
    )
    for meaning, value in (('"there"', 0.0), ("x = 2", 1.0)):
        solution = solve(walk(), f'Pmax=? [ HOA: {{"{path}", "p0" <- {meaning}}} ]')
        assert solution.bracket.lower <= value <= solution.bracket.upper
    with pytest.raises(SpecError, match='unknown label "p0"'):
        solve(walk(), f'Pmax=? [ HOA: {{"{path}"}} ]')
    with pytest.raises(SpecError, match='no proposition "p1"'):
        solve(walk(), f'Pmax=? [ HOA: {{"{path}", "p1" <- "there"}} ]')
    with pytest.raises(FormatError, match="no such file"):
        solve(walk(), 'Pmax=? [ HOA: {"nowhere.hoa"} ]')


@pytest.mark.parametrize("kind", ["max", "min"])
def test_a_file_and_a_formula_agree(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "reach.hoa"
    path.write_text(
        'HOA: v1 States: 2 Start: 0 AP: 1 "there" Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 1 [!0] 0 State: 1 [t] 1 {0} --END--'
    )
    file, formula = (solve(walk(), f"P{kind}=? [ {path} ]") for path in (f'HOA: {{"{path}"}}', 'F "there"'))
    assert file.bracket.lower <= formula.bracket.upper
    assert formula.bracket.lower <= file.bracket.upper
    assert isinstance(Spec.parse(str(file.asked)), Spec)
