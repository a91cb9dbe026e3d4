"""What is read, what it prints back as, and what is said about what cannot be read."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umdp.errors import SpecError
from umdp.spec import TRUE, Cumulative, Direction, Expression, Globally, Next, Reach, Spec, Threshold, Until

MAX, MIN = Direction.MAX, Direction.MIN
GOAL = Expression.parse('"goal"')
SAFE = Expression.parse('!"trap"')

GOOD = [
    ('Pmax=? [ F "goal" ]', Spec("P", MAX, None, Until(TRUE, GOAL))),
    ('P max = ? [ (F "goal") ] ;  // the goal', Spec("P", MAX, None, Until(TRUE, GOAL))),
    ('"reach": Pmaxmin=?[F "goal"]', Spec("P", MAX, MIN, Until(TRUE, GOAL))),
    ('Pminmax>=0.3 [ !"trap" U "goal" ]', Spec("P", MIN, MAX, Until(SAFE, GOAL), Threshold(">=", 0.3))),
    ('Pmaxmax<1e-3 [ true U<=7 "goal" ]', Spec("P", MAX, MAX, Until(TRUE, GOAL, 7), Threshold("<", 0.001))),
    ('Pminmin>1/4 [ F<8 "goal" ]', Spec("P", MIN, MIN, Until(TRUE, GOAL, 7), Threshold(">", 0.25))),
    ('P<=1 [ G !"trap" ]', Spec("P", None, None, Globally(SAFE), Threshold("<=", 1))),
    ('P=? [ G<=0 !"trap" ]', Spec("P", None, None, Globally(SAFE, 0))),
    ('Pmin=? [ X ("goal") ]', Spec("P", MIN, None, Next(GOAL))),
    ('Pmin=? [ F=1 "goal" ]', Spec("P", MIN, None, Next(GOAL))),
    ('Pmin=? [ G=4 "goal" ]', Spec("P", MIN, None, Next(GOAL, 4))),
    ('Pmin=? [ F[k,k] "goal" ]', Spec("P", MIN, None, Next(GOAL, Expression.parse("k")))),
    ('Rmax=? [ F "goal" ]', Spec("R", MAX, None, Reach(GOAL))),
    ('R{"time"}minmax<=-2.5 [ C<=10 ]', Spec("R", MIN, MAX, Cumulative(10), Threshold("<=", -2.5), "time")),
    ('R{"time"}=? [ C<3*4 ]', Spec("R", None, None, Cumulative(11), None, "time")),
    ('Pmax=? [ F<=k ("goal") ]', Spec("P", MAX, None, Until(TRUE, GOAL, Expression.parse("k")))),
    ('Pmax=? [ F<k+2 "goal" ]', Spec("P", MAX, None, Until(TRUE, GOAL, Expression.parse("k+2-1")))),
]


@pytest.mark.parametrize(("text", "spec"), GOOD)
def test_reads(text: str, spec: Spec) -> None:
    assert Spec.parse(text) == spec
    assert Spec.parse(str(spec)) == spec
    assert hash(Spec.parse(text)) == hash(spec)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("!x=3", "!x = 3"),
        ("(!x)=3", "(!x) = 3"),
        ("a&(b&c)|d", "a & (b & c) | d"),
        ("(a&b)&c", "a & b & c"),
        ("a=>b=>c", "a => b => c"),
        ("a=>(b=>c)", "a => (b => c)"),
        ("a=>b<=>c|d&e", "a => b <=> c | d & e"),
        ("(a=>b)<=>c", "(a => b) <=> c"),
        ("x-(y-z)-1", "x - (y - z) - 1"),
        ("x/(y*2)*3", "x / (y * 2) * 3"),
        ("-(x+1)*-y", "-(x + 1) * -y"),
        ("a?b:c?d:e", "a ? b : c ? d : e"),
        ("(a?b:c)?d:e", "(a ? b : c) ? d : e"),
        ("a?(b?c:d):e", "a ? (b ? c : d) : e"),
        ("(x<y)=(y<z)", "x < y = y < z"),
        ("min(x,y+1, .5)>=1e-3", "min(x, y + 1, 0.5) >= 0.001"),
        ("1.0=1", "1.0 = 1"),
        ("Foo|Understood|Pmaximum|minimum|trueish", "Foo | Understood | Pmaximum | minimum | trueish"),
        ('"a // b" & x // comment', '"a // b" & x'),
    ],
)
def test_prints_with_the_fewest_parentheses(text: str, printed: str) -> None:
    expression = Expression.parse(text)
    assert str(expression) == printed
    assert Expression.parse(printed) == expression


def test_a_minus_behind_a_step_bound_is_not_taken_into_it() -> None:
    spec = Spec("P", MAX, None, Until(TRUE, Expression.parse("-x > 3"), Expression.parse("k")))
    assert str(spec) == "Pmax=? [ F<=k (-x > 3) ]"
    assert Spec.parse(str(spec)) == spec


def test_literals_of_different_types_differ() -> None:
    assert len({Expression.parse(text) for text in ("1", "1.0", "true", "1", "1e0")}) == 3


def test_long_disjunctions_are_no_deep_trees() -> None:
    text = " | ".join(f"x = {i}" for i in range(3000))
    expression = Expression.parse(text)
    assert str(expression) == text
    assert expression == Expression.parse(f"({text})")


# The caret stands under the character that follows `^` in the text; it is removed before parsing.
BAD = [
    ("^", "the property is empty"),
    ("^  // nothing", "the property is empty"),
    ('Pmax^= [ F "g" ]', "write Pmax=?"),
    ('R{"t"}^= [ F "g" ]', 'write R{"t"}=?'),
    ('P^=0.5 [ F "g" ]', "P>=0.3"),
    ('Pmax ^[ F "g" ]', "Pmax asks nothing"),
    ('^Pmaxmi=? [ F "g" ]', "did you mean Pmaxmin?"),
    ('^PMax=? [ F "g" ]', "did you mean Pmax?"),
    ('^goal=? [ F "g" ]', "a property starts with P or R"),
    ('^F "g"', "a property starts with P or R"),
    ('P=?^{ F "g" }', "square brackets"),
    ('Pmax=? ^F "g"', "square brackets"),
    ('Pmax=? ^( F "g" )', "square brackets"),
    ('Pmax=? [ F "g"^', "add ]"),
    ('Pmax=? [ F ("g" ^]', "add )"),
    ('Pmax=? [ F ("g"^', "add )"),
    ('Pmax=? [ F "g"^) ]', "expected ]"),
    ("Pmax=? [ F ^'g' ]", "double quotes"),
    ('Pmax=? [ F ^"g ]', "never closed"),
    ("Pmax=? [ F x ^== 3 ]", "write ="),
    ('Pmax=? [ F "a" ^&& "b" ]', "write &"),
    ('Pmax=? [ F "a" ^|| "b" ]', "write |"),
    ("Pmax=? [ F x ^≤ 3 ]", "write <="),
    ("Pmax=? [ F ^“g” ]", 'write "'),
    ("Pmax=? [ F ^é ]", "U+00E9"),
    ("^\x00", "U+0000"),
    ('P>=^1.5 [ F "g" ]', "not between 0 and 1"),
    ('P>=^-0.5 [ F "g" ]', "not between 0 and 1"),
    ('P>=^"p" [ F "g" ]', "a threshold is a number"),
    ('R{"r"}min=? [ F^{discount=0.9} "g" ]', "write C{discount=0.9}"),
    ('P>=^true [ F "g" ]', "a threshold is a number"),
    ('P>=1^/0 [ F "g" ]', "division by zero"),
    ('P>=^? [ F "g" ]', "needs a number"),
    ('P>=0.3^=? [ F "g" ]', "together"),
    ('R>=^1e999 [ F "g" ]', "too large"),
    ('Pmax=? [ F<=^-1 "g" ]', "negative"),
    ('Pmax=? [ F<=^2.5 "g" ]', "not an integer"),
    ('Pmax=? [ F<=2^-3 "g" ]', "2 - 3, which is -1, is negative"),
    ('Pmax=? [ F<^0 "g" ]', "write <=0"),
    ('Pmax=? [ F[^3,1] "g" ]', "no step is both at least 3 and at most 1"),
    ('Pmax=? [ F[2^] "g" ]', "expected"),
    ('Pmax=? [ F>=^-1 "g" ]', "negative"),
    ('Pmax=? [ F[0,^1.5] "g" ]', "not an integer"),
    ('Pmax=? [ F=^true "g" ]', "not an integer"),
    ('Pmax=? [ F<=(^G "a") "g" ]', "G inside a step bound"),
    ('Pmax=? [ X^<=3 "g" ]', "X takes no step bound"),
    ('Pmax=? [ F<= ^"g" ]', "lacks its number"),
    ('Pmax=? [ F<=^"g" "g" ]', "a label in a step bound"),
    ('Pmax=? [ "g" ^]', "a path formula is needed"),
    ("Pmax=? [ ^]", "the brackets are empty"),
    ("Pmax=? [ F ^]", 'such as "goal" or x > 3'),
    ('Pmax=? [ ^U "g" ]', "condition on its left"),
    ('Pmax=? [ "a" ^W<=3 "b" ]', "W takes no step bound"),
    ('Pmax=? [ "a" ^R>=3 "b" ]', "R takes no step bound"),
    ('Pmax=? [ "a" ^P "b" ]', "are U, W and R"),
    ('Pmax=? [ "a" ^Pmax "b" ]', "are U, W and R"),
    ('Pmax=? [ G ^W "b" ]', "W needs a condition on its left"),
    ('Pmax=? [ (^U "b") ]', "U needs a condition on its left"),
    ('Pmax=? [ !^F "b" ]', "write ! (F ...)"),
    ('Pmax=? [ (G "a") & ^F "b" ]', "F as an operand of & needs parentheses"),
    ('Pmax=? [ "a" U "b" ^U "c" ]', "a second U without parentheses"),
    ('Pmax=? [ (F "a") & (F ^) ]', 'such as "goal" or x > 3'),
    ('Pmax=? [ (F "a") & (G "b" ^]', "add )"),
    ('Pmax=? [ F x > (^G "a") ]', "G inside an operand of >"),
    ("Pmax=? [ F (^X x) + 1 > 2 ]", "X inside an operand of +"),
    ("Pmax=? [ F max(^G x, 2) > 2 ]", "needs parentheses"),
    ("Pmax=? [ F max((^G x), 2) > 2 ]", "G inside max(...)"),
    ('Pmax=? [ ("a" ? (^F "b") : "c") ]', "F inside ? :"),
    ("Pmax=? [ F -(^F x) > 2 ]", "F inside a number"),
    ('P>=(^F "a") [ F "b" ]', "F inside a threshold"),
    ('Pmax=? [ ("a" & "b") ^]', "a path formula is needed"),
    ('Rmin=? [ (F "a") & (^G "b") ]', "R takes formulas that are settled at some time"),
    ('Rmin=? [ !(^F "a") ]', "R takes formulas that are settled at some time"),
    ('Rmin=? [ "a" ^W "b" ]', "R takes formulas that are settled at some time"),
    ("Pmax=? [ F ^C<=3 ]", "C<=k stands alone"),
    ('Pmax=? [ F ^HOA: {"m.hoa"} ]', "HOA stands alone"),
    ("Pmax=? [ HOA: {^m.hoa} ]", "stands in quotes"),
    ('Pmax=? [ HOA: {"m.hoa", "p0" ^= "goal"} ]', "unexpected '='"),
    ('Pmax=? [ ^HOA: {"m.hoa", "p" <- "a", "p" <- "b"} ]', "given twice"),
    ('Pmax=? [ HOA: {"m.hoa", "p" <- (^F "a")} ]', "F inside a proposition"),
    ('S=? [ ^F "a" ]', "S takes a state formula"),
    ("P=? [ ^S ]", "S is a reward"),
    ("Rmin=? [ Cdiscount=^1 ]", "strictly between 0 and 1"),
    ("Rmin=? [ Cdiscount ^]", "lacks its number"),
    ('Rmin=? [ Cdiscount=^"a" ]', "a label in a discount"),
    ("Rmin=? [ Cdiscount=1 ^- 2 ]", "strictly between"),
    ('Pmax=? [ F "a" ^{"init"} ]', "filters {...} are the old way"),
    ('^multi(Pmax=? [ F "a" ])', "multi-objective"),
    ('^A [ F "a" ]', "write P>=1"),
    ('^<<1>> Pmax=? [ F "a" ]', "coalitions"),
    ("Rmin=? [ I ^<=3 ]", "I lacks its number"),
    ("Pmin=? [ ^I=3 ]", "I=3 is a reward"),
    ("Rmin=? [ I=^2.5 ]", "is not an integer"),
    ("Rmin=? [ ^P ]", "need a threshold"),
    ('^S{"a"}=? [ "a" ]'.replace("^S{", "S{^"), "a reward name after S"),
    ("Rmin=? [ C ^F ]", "after C"),
    ('Rmin=? [ ^G "a" ]', "R takes F phi"),
    ('Rmin=? [ ^F<=3 "a" ]', "without a bound"),
    ("Pmax=? [ ^C<=3 ]", "C<=k is a reward"),
    ('Rmin{^"t"}=? [ F "a" ]', 'write R{"t"}min'),
    ('R{^t}min=? [ F "a" ]', 'write R{"t"}'),
    ('R{"t"}^mn=? [ F "a" ]', 'R{"time"}min=?'),
    ('P{^"t"}max=? [ F "a" ]', "only R takes one"),
    ('Pmax ^min=? [ F "a" ]', "already says"),
    ("Pmax=? [ F ^sqrt(x)>2 ]", "unknown function sqrt"),
    ("Pmax=? [ F ^flor(x)>2 ]", "Did you mean floor?"),
    ("Pmax=? [ F ^maxmin(x,2)>2 ]", "unknown function maxmin"),
    ("Pmax=? [ F ^func(mod,x,2)=1 ]", "write mod(x, 2)"),
    ("Pmax=? [ F x=^!y ]", "parentheses"),
    ('Pmax=? [ F "a" ] ^Pmin=? [ F "b" ]', "one property at a time"),
    ('Pmax=? [ F "a" ^"b" ]', "expected an operator or ]"),
    ("Pmax=? [ F x?1 ^]", "a colon"),
    ("Pmax=? [ F ^99999999999999999999=x ]", "64 bits"),
    ("^Pmax=? [ F " + "-" * 3000 + "1>0 ]", "nested too deeply"),
    ("Pmax^", "=?"),
    ("Pmax=?^", "expected ["),
    ('"name":^', "expected P or R"),
]


@pytest.mark.parametrize(("marked", "fragment"), BAD)
def test_says_what_is_wrong_and_where(marked: str, fragment: str) -> None:
    column = marked.index("^") + 1
    with pytest.raises(SpecError) as caught:
        Spec.parse(marked.replace("^", "", 1))
    message, line, caret = str(caught.value).split("\n")
    assert fragment in message
    assert f" at column {column}" in message
    assert line.startswith("  ")
    assert caret == " " * (column + 1) + "^"


PIECES = [
    *(
        "Pmax",
        "P",
        "R",
        "Rminmax",
        '{"t"}',
        "max",
        "=?",
        "=",
        ">=",
        "<=",
        "0.5",
        "7",
        "-",
        "[",
        "]",
        "(",
        ")",
        "F",
        "G",
        "X",
        "U",
    ),
    *(
        "C",
        "W",
        "S",
        "I",
        '"a"',
        "x",
        "k",
        "!",
        "&",
        "|",
        "=>",
        "<=>",
        "?",
        ":",
        ";",
        ",",
        "min",
        "floor",
        "true",
        "//",
        "\n",
        "'",
    ),
    *('"', "{", "}", "+", "/", "é", "\t", ".", "1e", "filter"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join) | st.text(max_size=20))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        spec = Spec.parse(text)
    except SpecError as error:
        message, _, caret = str(error).split("\n")
        assert " column " in message
        assert caret.endswith("^")
    else:
        assert Spec.parse(str(spec)) == spec


@given(st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join))
def test_any_formula_is_read_or_refused(text: str) -> None:
    try:
        spec = Spec.parse(f"Pmax=? [ F {text} ]")
    except SpecError:
        return
    assert Spec.parse(str(spec)) == spec


def test_the_line_and_its_tabs_are_shown() -> None:
    with pytest.raises(SpecError) as caught:
        Spec.parse('Pmax=? [\n\tF "a" && "b"\n]')
    message, line, caret = str(caught.value).split("\n")
    assert "at line 2, column 8" in message
    assert (line, caret) == ('  \tF "a" && "b"', "  \t      ^")


def test_a_long_line_is_cut_around_the_place() -> None:
    with pytest.raises(SpecError) as caught:
        Spec.parse("Pmax=? [ F " + "x=1|" * 100 + "==3|" + "x=2|" * 100 + "true ]")
    _, line, caret = str(caught.value).split("\n")
    assert len(line) < 160
    assert line[caret.index("^") :].startswith("==3|")


def test_lark_is_imported_only_to_parse() -> None:
    code = "import sys, umdp.spec; assert 'lark' not in sys.modules; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["C{discount=0.9}", "C {discount = 0.9}", "C{discount=9/10}"])
def test_discounting_as_prism_writes_it(text):
    spec, storm = (Spec.parse(f'R{{"r"}}maxmin=? [ {each} ]') for each in (text, "Cdiscount=0.9"))
    assert str(spec).replace("9 / 10", "0.9") == str(storm)
