"""PRISM programs as their authors write them: parts in any order, places that stay known, decimals that sum to 1 or nearly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import umdp
import umdp.io
from umdp import FormatError, IntervalMDP
from umdp.io.prism_items import items_of
from umdp.io.prism_program import program_of
from umdp.solver import solve
from umdp.spec import Spec

pytest.importorskip("stormpy")

PARTS = [
    "mdp",
    "const int top = half + half;",
    "const int half = 2;  // used before it is there",
    "const double low = 0.5 - gap;\n",
    "const double gap = tenth * 2;",
    "formula tenth = 1 / ten;",
    "const int ten = 10;",
    "formula over = at_top | gone;",
    "formula at_top = x = top;",
    "global gone : bool init false;",
    "module walk\n  x : [0..top];\n  [step] !over -> [low, 1 - low] : (x' = x + 1) + [low, 1 - low] : (gone' = true);\n"
    "  [wait] over -> true;\nendmodule",
    "module other = twin[y = z, wait = idle] endmodule",
    "module twin\n  y : bool;\n  [wait] !y -> (y' = true);\nendmodule",
    'label "end" = "top" & y;',
    'label "top" = at_top;',
    'rewards "steps"\n  [step] true : 1;\nendrewards',
]


def model_of(tmp_path: Path, text: str, name: str = "model.prism", **more: str) -> umdp.MDP | IntervalMDP:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return umdp.io.read(path, **more)


def meaning(model: IntervalMDP) -> set[object]:
    """Return a model as a set of what can happen, whatever its numbering."""
    names = sorted(model.variables)
    states = [tuple(model.variables[name][s].item() for name in names) for s in range(model.states)]
    labels = {(label, states[s]) for label in model.labels for s in np.flatnonzero(model.labels[label])}
    rows = []
    for c in range(model.choices):
        row = range(model.choice_ptr[c], model.choice_ptr[c + 1])
        ends = frozenset((states[model.successor[t]], model.lower[t], model.upper[t]) for t in row)
        rows.append((states[model.choice_state[c]], model.action_name(c), ends, model.rewards["steps"].choice[c]))
    return labels | set(rows) | {("initial", states[model.initial]), tuple(sorted(model.constants.items()))}


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> set[object]:
    """The program as Storm likes it."""
    text = """mdp
    const int half = 2; const int top = 4; const int ten = 10; const double gap = 0.2; const double low = 0.3;
    formula at_top = x = top;
    formula over = at_top | gone;
    formula tenth = 1 / 10;
    global gone : bool init false;
    module walk
      x : [0..top];
      [step] !over -> [low, 1 - low] : (x' = x + 1) + [low, 1 - low] : (gone' = true);
      [wait] over -> true;
    endmodule
    module twin y : bool; [wait] !y -> (y' = true); endmodule
    module other z : bool; [idle] !z -> (z' = true); endmodule
    label "top" = at_top;
    label "end" = at_top & y;
    rewards "steps" [step] true : 1; endrewards
    """
    return meaning(model_of(tmp_path_factory.mktemp("ordered"), text))


@settings(max_examples=10)
@given(st.permutations(PARTS))
def test_the_order_of_the_parts_does_not_matter(tmp_path_factory, in_order, parts):
    folder = tmp_path_factory.mktemp("shuffled")
    assert meaning(model_of(folder, "\n".join(parts))) == in_order


@settings(max_examples=10)
@given(st.permutations(PARTS), st.data())
def test_errors_are_reported_where_the_author_made_them(tmp_path_factory, parts, data):
    breakable = [
        ("half + half;", "half + nothing;"),
        ("y : bool;", "y : boolean;"),
        ("x' = x + 1", "x' = x + "),
        ("(y' = true)", "(y' = maybe)"),
        ("[step] true : 1;", "[step] true 1;"),
    ]
    before, after = data.draw(st.sampled_from(breakable))
    text = "\n".join(parts).replace(before, after)
    line = text[: text.index(after) + len(after)].count("\n") + 1
    with pytest.raises(FormatError) as caught:
        model_of(tmp_path_factory.mktemp("broken"), text)
    assert caught.value.line == line


@given(st.permutations(PARTS))
def test_every_place_is_where_it_was(parts):
    source = "\n".join(parts)
    program = program_of(source, Path("m.prism"))
    lines, written = source.splitlines(), program.text.splitlines()
    for word in ("half = 2", "x : [0..top]", "[wait] over", "formula over", "global gone", "module other", "y : bool"):
        there = next(number for number, line in enumerate(written) if word in line)
        line, column = program.place(there + 1, written[there].index(word) + 1)
        assert lines[line - 1][column - 1 :].startswith(word)


def test_what_storm_reads_is_left_as_it_is():
    text = 'mdp\n\nconst int N = 2;\nmodule m\n  x : [0..N];\nendmodule\nlabel "end" = x = N; // done\n'
    assert program_of(text, Path("m.prism")).text is text
    assert [item.kind for item in items_of(text)] == ["type", "constant", "module", "label"]


STEP = "module m\n  x : [0..2];\n  [] x < 2 -> {0} : (x' = x + 1) + {0} : (x' = x);\n  [] x = 2 -> true;\nendmodule\n"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (STEP.format("0.5"), umdp.MDP, 1),
        (STEP.format("[0.4,0.6]"), IntervalMDP, 1),
        ("nondeterministic\n" + STEP.format("0.5"), umdp.MDP, 1),
        ("probabilistic\n" + STEP.format("0.5"), umdp.MDP, 1),
        (STEP.format("0.5") + "dtmc", umdp.MDP, 1),
        ("\ufeff" + STEP.format("0.5"), umdp.MDP, 1),
        (STEP.format("p") + "prob p = 0.5;", umdp.MDP, 1),
        (STEP.format("p") + "const rate p = 0.5;", umdp.MDP, 1),
        (STEP.format("0.5").replace("x + 1", "func(min, x + 1, 2)"), umdp.MDP, 1),
        (STEP.format("0.5") + "system m endsystem", umdp.MDP, 1),
        (
            STEP.format("0.5") + "module n = m[x=y] endmodule module k = m[x=z] endmodule system (m || k) || n endsystem",
            umdp.MDP,
            0,  # where only the others move
        ),
        (STEP.format("0.5").replace("x < 2 ->", "x < 2 <=> true ->"), umdp.MDP, 1),
        (STEP.format("0.5").replace("x < 2 ->", "(x = 0 <=> x = 1 <=> false) & x < 2 ->"), umdp.MDP, 1),
        (STEP.format("[0,0.5]").replace("+ [0,0.5]", "+ [0.5,1]"), IntervalMDP, 1),
    ],
)  # fmt: skip
def test_what_prism_takes(tmp_path, text, kind, value):
    model = model_of(tmp_path, text)
    assert isinstance(model, kind)
    nature = "min" if kind is IntervalMDP and not model.is_chain else ""
    bracket = solve(model, Spec.parse(f"Pmin{nature}=? [ F x=2 ]")).bracket
    assert bracket.lower == pytest.approx(value)


def test_equivalence_is_what_prism_says_it_is(tmp_path):
    """PRISM: ``=>`` binds less than ``<=>``, that less than ``|``; both from the left."""
    names = ["a", "b", "c"]
    cases = {
        "a <=> b | c": lambda a, b, c: a == (b or c),
        "a & b <=> c": lambda a, b, c: (a and b) == c,
        "a <=> b <=> c": lambda a, b, c: (a == b) == c,
        "a => b <=> c": lambda a, b, c: (not a) or (b == c),
        "!a <=> (b <=> c)": lambda a, b, c: (not a) == (b == c),
        "(a <=> b) ? c : (b <=> c)": lambda a, b, c: c if a == b else b == c,
        "max(a <=> b ? 1 : 0, 0) = 1 <=> c": lambda a, b, c: (a == b) == c,
    }
    labels = "".join(f'label "l{number}" = {text};\n' for number, text in enumerate(cases))
    body = "".join(f"  {name} : bool; [] true -> ({name}' = !{name} <=> true);\n" for name in names)
    body = "\n".join(sorted(body.replace("; [", ";\n  [").splitlines(), key=lambda line: "->" in line))
    model = model_of(tmp_path, f"{labels}module m\n{body}\nendmodule\n")
    assert model.states == 8
    for number, rule in enumerate(cases.values()):
        expected = [rule(*(bool(model.variables[name][s]) for name in names)) for s in range(8)]
        np.testing.assert_array_equal(model.labels[f"l{number}"], expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mdp\n" + STEP.format("0.5") + "dtmc", r"line 7: the type of the model is given twice, as mdp and dtmc"),
        ("\nstochastic\n" + STEP.format("0.5"), r"line 2: the model is a stochastic; supported are dtmc and mdp"),
        ("pta\n" + STEP.format("0.5"), r"line 1: the model is a pta; supported"),
        (STEP.format("0.5").replace("[0..2]", "clock"), r"line 1: the model has clocks, so it is a pta"),
        (
            "const int a = b;\nconst int b = c;\nconst int c = a;\n" + STEP.format("0.5"),
            r"line 3: the constants c and a are",
        ),
        ("const int a = a;\n" + STEP.format("0.5"), r"line 1: the constant a is defined by itself"),
        (
            STEP.format("0.5") + "formula f = g;\nformula g = f;",
            r"line 7: the formulas g and f are defined by each other",
        ),
        (STEP.format("0.5") + 'label "a" = "b";\nlabel "b" = "a";', r'line 7: the label "b" is defined by itself'),
        (
            STEP.format("0.5") + 'label "a" = "b";',
            r'line 6: there is no label "b" to use here; labels of the program: "a"',
        ),
        (
            STEP.format("0.5").replace("x = 2", '"end"') + 'label "end" = x = 2;\nmodule n = m[x = y] endmodule',
            r'line 4: the label "end" is used in a module that is renamed',
        ),
        (
            STEP.format("0.5")
            + STEP.format("0.5").replace("x", "y").replace("m\n", "n\n", 1)
            + "system m ||| n endsystem",
            r"line 11: this composition of modules is not supported",
        ),
        ("const int a = K;\n" + STEP.format("0.5"), r"line 1: column"),
        (STEP.format("0.5") + "const int K;", r"no value: K; give --const K=VALUE"),
        ("what is this\n", r"line 1"),
    ],
)
def test_mistakes(tmp_path, capfd, text, said):
    with pytest.raises(FormatError, match=said):
        model_of(tmp_path, text)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("0.5 : (x' = 1) + p : (x' = 2)", "true", r"line 6: .* sum to 0.9"),
        ("(x' = 1)", "(x' = x + 1)", r"line 7: .* out-of-bounds value"),
        ("[0.1,1.2] : (x' = 1) + [0.1,0.3] : (x' = 2)", "true", r"line 6: .* >1"),
    ],
)
def test_errors_found_when_the_model_is_built(tmp_path, first, second, said):
    text = (
        "const double q = p;\nconst double p = 0.4;\nmodule other = m[x = y] endmodule\n"
        f"module m\n  x : [0..2];\n  [] x = 0 -> {first};\n  [] x > 0 -> {second};\nendmodule\nmdp\n"
    )
    with pytest.raises(FormatError, match=said):
        model_of(tmp_path, text)


@pytest.mark.parametrize("parts", [3, 7, 9])
@pytest.mark.parametrize("digits", [10, 12, 16])
@pytest.mark.parametrize("shape", ["{0}", "[{0},{0}]", "[0.01,{0}]", "[{0},0.9]"])
def test_decimals_that_sum_to_one_up_to_the_last_digit(tmp_path, parts, digits, shape):
    share = f"{1 / parts:.{digits}f}"
    updates = " + ".join(f"{shape.format(share)} : (x' = {k + 1})" for k in range(parts))
    text = f"mdp\nmodule m x : [0..{parts}]; [] x = 0 -> {updates}; [] x > 0 -> true; endmodule\n"
    model = model_of(tmp_path, text)
    written = (
        model.probability if isinstance(model, umdp.MDP) else np.where(model.lower < 0.02, model.upper, model.lower)
    )
    first = written[:parts]
    assert set(first.tolist()) == {float(share)} or digits > 14  # to the last bit what the author wrote
    assert all(abs(Fraction(value) - Fraction(share)) < Fraction(1, 10**16) for value in first.tolist())


def test_decimals_that_do_not_sum_to_one(tmp_path):
    for share, said in (
        ("0.3333", "sum to 0.9999"),
        ("[0.3333,0.3333]", "sum to 0.9999"),
        ("0.33333333", "0.99999999"),
    ):
        updates = " + ".join(f"{share} : (x' = {k})" for k in range(3))
        with pytest.raises(FormatError, match=said):
            model_of(tmp_path, f"module m x : [0..3]; [] x = 0 -> {updates}; [] x > 0 -> true; endmodule\n")
