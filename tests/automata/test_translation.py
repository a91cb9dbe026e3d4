"""Automata accept the words of which their formula holds: all words that end in a short cycle, against the definition."""

import random

import numpy as np
import pytest

from umdp import Graph, Spec
from umdp.automata import translation
from umdp.automata.automaton import Automaton
from umdp.automata.labelled_automaton import read_formula
from umdp.errors import SpecError
from umdp.spec import TemporalFormula

from .lassos import Formula, drawn, holds, text, words
from .safra import Rabin, accepts

ATOMS = ("a", "b")


def alphabet(atoms: int) -> Graph:
    """Return a graph with one state for each letter."""
    size = 2**atoms
    labels = {name: (np.arange(size) >> bit & 1).astype(bool) for bit, name in enumerate(ATOMS[:atoms])}
    return Graph(np.arange(size + 1), np.arange(size + 1), np.arange(size), labels=labels)


def automaton(formula: Formula, atoms: int, *, negated: bool = False) -> tuple[Automaton, list[int]]:
    """Return the automaton of a formula that was written out and read again, and the letter for each set of atoms."""
    graph = alphabet(atoms)
    # A formula without temporal operators is none of a property; X true does not change what it means.
    spec = Spec.parse(f"Pmax=? [ ({text(formula)}) & (X true) ]")
    assert isinstance(spec.formula, TemporalFormula)
    reading = read_formula(spec.formula, graph, negated=negated)
    return reading.automaton, [int(reading.automaton.letters[code]) for code in reading.code]


def mistakes(formula: Formula, atoms: int, chosen: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[str]:
    found = []
    for negated in (False, True):
        made, letter = automaton(formula, atoms, negated=negated)
        for prefix, cycle in chosen:
            said = made.accepts([letter[i] for i in prefix], [letter[i] for i in cycle])
            if said == (holds(formula, prefix, cycle) == negated):
                found.append(f"{'not ' if negated else ''}{text(formula)}: {prefix} {cycle} is {said}")
    return found


def small(depth: int) -> list[Formula]:
    """Return all formulas over one atom of a few operators."""
    if depth == 0:
        return [("p", 0)]
    inner = small(depth - 1)
    one = [(kind, f) for kind in "!X" for f in inner]
    one += [(kind, f, 0, bound) for kind in "FG" for f in inner for bound in (None, 1)]
    return (
        inner
        + one
        + [(kind, f, ("p", 0)) for kind in "WR&|" for f in inner]
        + [("U", f, ("p", 0), 0, None) for f in inner]
    )


def test_small_formulas_on_all_short_words() -> None:
    chosen = words(1, 3)
    for formula in list(dict.fromkeys(small(2)))[::3]:
        assert mistakes(formula, 1, chosen) == []


@pytest.mark.slow
def test_all_small_formulas_on_all_words() -> None:
    chosen = words(1, 5)
    for formula in dict.fromkeys(small(2)):
        assert mistakes(formula, 1, chosen) == []


def check(seed: int, count: int, size: int, sample: int) -> None:
    rng = random.Random(seed)
    every = {1: words(1, 6), 2: words(2, 4)}
    for _ in range(count):
        atoms = rng.choice([1, 2])
        formula = drawn(rng, rng.randrange(1, size + 1), atoms)
        assert mistakes(formula, atoms, rng.sample(every[atoms], sample)) == []


@pytest.mark.parametrize("seed", range(3))
def test_random_formulas(seed: int) -> None:
    check(seed, 40, 6, 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_random_formulas(seed: int) -> None:
    check(seed, 150, 8, 40)


def test_the_other_construction_agrees_with_the_definition() -> None:
    rng = random.Random(1)
    every = words(2, 4)
    for _ in range(60):
        formula = drawn(rng, rng.randrange(1, 5), 2)
        other = Rabin(formula)
        for prefix, cycle in rng.sample(every, 15):
            assert accepts(other.step, other.initial, prefix, cycle) == holds(formula, prefix, cycle), text(formula)


@pytest.mark.parametrize(
    ("formula", "states"),
    [
        ('(G !"a") & (F "b")', 3),
        ('F ("a" & (X F "b"))', 3),
        ('G F "a"', 3),
        ('F G "a"', 4),
        ('G F<=50 "a"', 53),
        ('F<=50 G<=50 "a"', 5000),
        ('("a" W "b") & (G (X "a" | "b"))', 8),
    ],
)
def test_automata_stay_small(formula: str, states: int) -> None:
    spec = Spec.parse(f"Pmax=? [ {formula} ]")
    assert isinstance(spec.formula, TemporalFormula)
    assert read_formula(spec.formula, alphabet(2)).automaton.states <= states


@pytest.mark.parametrize(
    "formula", ['(F "a") & (F "b")', '("a" U "b") | (X X "a")', 'F ("a" & (F<=3 "b"))', 'G ("a" => (X "b"))']
)
def test_safe_and_cosafe_formulas_need_no_guess(formula: str) -> None:
    spec = Spec.parse(f"Pmax=? [ {formula} ]")
    assert isinstance(spec.formula, TemporalFormula)
    for negated in (False, True):
        assert read_formula(spec.formula, alphabet(2), negated=negated).automaton.is_deterministic


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ('G ("a" => (F=40 "b"))', "more than 500 states"),
        (" & ".join(f"(G F (x = {k}))" for k in range(20)), "too many for one automaton"),
        ('(F "nobody") & (F "a")', 'unknown label "nobody"'),
        ("(F x) & (F x > 2)", "x is an integer, not a condition"),
        ('(F<=n "a") & (F "b")', "unknown name n"),
        ('(F<=x "a") & (F "b")', "depends on the variable x"),
        ('(F[3,m] "a") & (F "b")', "no step is both at least 3 and at most 2"),
    ],
)
def test_what_cannot_be_translated_is_refused(formula: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "MOST_STATES", 500)
    graph = Graph(
        np.arange(5), np.arange(5), np.arange(4), variables={"x": np.arange(4)}, constants={"m": 2},
        labels={"a": [1, 3], "b": [2, 3]},
    )  # fmt: skip
    with pytest.raises(SpecError) as caught:
        read_formula(Spec.parse(f"Pmax=? [ {formula} ]").formula, graph)  # type: ignore[arg-type]
    assert says in str(caught.value)
