"""Files of properties: constants, labels, names, and where something is wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from umdp import IntervalMDP, solve
from umdp.cli import run
from umdp.errors import UmdpError
from umdp.io import read_properties, write

TEXT = """// what is asked of the coin
const int k = 2 * 3; const double t;
const bool never = false;
label "far" = !"goal" & !"init";  // and not; this
"soon": Pmaxmin=? [ F<=k "goal" ];
"safe": P>=0.1 [ F "goal" ]

Pmaxmin=? [ G !"far" ]
filter(count, P>=0.5
   [ F "goal" ]);
Pmaxmin=? [ X "safe" ]
Rmaxmin=? [ Cdiscount=t ]"""


@pytest.fixture
def coin(tmp_path: Path) -> Path:
    model = IntervalMDP(
        [0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1], labels={"goal": [1]},
        rewards={"": {"state": [-3, 0, 0]}},
    )  # fmt: skip
    write(model, tmp_path / "coin.drn")
    (tmp_path / "coin.props").write_text(TEXT)
    return tmp_path


def test_a_file_has_several(coin: Path) -> None:
    file = read_properties(coin / "coin.props", {"t": 0.5})
    assert [line for line, _, _ in file.properties] == [5, 6, 8, 9, 11, 12]
    assert [name for _, name, _ in file.properties] == ["soon", "safe", None, None, None, None]
    assert file.constants == {"k": 6, "t": 0.5, "never": False}
    assert str(file.specs[4]) == 'Pmaxmin=? [ X P>=0.1 [ F "goal" ] ]'
    from umdp.io import read

    model = file.applied(read(coin / "coin.drn"))
    assert model.labels["far"].tolist() == [False, False, True]
    assert [round(solve(model, spec).value, 6) for spec in file.specs] == [0.2, 0.2, 0.2, 1, 0.2, -3]


def test_the_command_line_takes_it(
    coin: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(coin)
    assert run(["check", "coin.drn", "coin.props", 'Pmaxmax=? [ F "far" ]', "--const", "t=0.9"]) == 0
    out = capsys.readouterr().out
    assert out.count("bracket") == 7
    assert "  1: 1 .. 1" in out
    assert run(["check", "coin.drn", "coin.props"]) == 2
    assert "coin.props: t has no value; give it one: --const t=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no property in it"),
        ("const int k = 2;", "there is no property in it"),
        ("\n\nPmax=? [ F goal", "line 3: .*not closed"),
        ("const int k = 1; const int k = 2; P=? [ X true ]", "line 1: the constant k is defined twice"),
        ("const int k = 1.5; P=? [ X true ]", "k is 1.5, which is no int"),
        ("formula f = x; P=? [ X true ]", "line 1: formula is not read here"),
        ('label "goal" = true; P=? [ X true ]', 'the model has a label "goal" already'),
    ],
)
def test_what_is_wrong_is_said_with_its_line(coin: Path, text: str, message: str) -> None:
    (coin / "bad.props").write_text(text)
    from umdp.io import read

    with pytest.raises(UmdpError, match=message):
        read_properties(coin / "bad.props").applied(read(coin / "coin.drn"))
    with pytest.raises(UmdpError, match="cannot be read"):
        read_properties(coin / "none.props")


def test_a_constant_may_be_of_the_property_alone(coin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, asked = str(coin / "coin.drn"), 'Pmaxmin=? [ F<=n "goal" ]'
    assert run(["check", model, asked, "--const", "n=3", "--json"]) == 0
    assert '"value":0.2' in capsys.readouterr().out.replace(" ", "")
    assert run(["check", model, asked]) == 2
    assert "unknown name n" in capsys.readouterr().err
    assert run(["check", model, asked, "--const", "n=3,m=2"]) == 2
    assert "(m) can only be given to programs" in capsys.readouterr().err
    assert run(["check", "grid", 'Pmax=? [ F<=n "goal" ]', "--const", "n=20"]) == 0
    assert run(["check", "grid", 'Pmax=? [ F<=20 "goal" ]', "--const", "n=20"]) == 2


def test_a_constant_may_be_of_the_program_and_of_the_properties(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("stormpy")
    program, properties = tmp_path / "walk.prism", tmp_path / "walk.props"
    program.write_text(
        "mdp const int n; const int k; const int three = 3;\n"
        'module m x : [0..n]; [] x<n -> 0.5 : (x\'=x+1) + 0.5 : true; endmodule label "end" = x=n;'
    )
    properties.write_text(
        'const int k; const int n; const int three;\n"soon": Pmax=? [ F<=k x=n ]; Pmax=? [ F<=three x=n ]'
    )
    assert run(["check", str(program), str(properties), "--const", "k=2,n=2", "--json"]) == 0
    values = [line.split('"value":')[1].split(",")[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert [float(value) for value in values] == [0.25, 0.5]
    assert run(["check", str(program), 'Pmax=? [ F<=k+m "end" ]', "--const", "k=1,n=2,m=1"]) == 0
    assert "0.25" in capsys.readouterr().out
    for given, said in (
        ("n=2", "no value: k; give --const k=VALUE"),
        ("k=2,n=2,three=4", "three has a value in the file"),
    ):
        assert run(["check", str(program), str(properties), "--const", given]) == 2
        assert said in capsys.readouterr().err
    properties.write_text("const int three = 4; Pmax=? [ F<=three x=n ]")
    assert run(["check", str(program), str(properties), "--const", "k=2,n=2"]) == 2
    assert "the constant three is 4 here, and 3 in the model" in capsys.readouterr().err


def test_names_are_told_and_chosen_by(coin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import msgspec

    model, own = str(coin / "coin.drn"), [str(coin / "coin.props"), "--const", "t=0.9", "--json"]

    def names(*given: str) -> list[str | None]:
        assert run(["check", model, *given]) == 0
        return [msgspec.json.decode(line)["name"] for line in capsys.readouterr().out.splitlines()]

    assert names(*own) == ["soon", "safe", None, None, None, None]
    assert names(*own, '// first\n"best" : Pmaxmax=? [ F "goal" ]')[-1] == "best"
    assert names(*own, "--property", "safe") == ["safe"]
    assert names('"a": Pmaxmin=? [ F "goal" ]', 'Pmaxmin=? [ X "goal" ]', "--json") == ["a", None]
    assert run(["check", model, *own, "--property", "sofe"]) == 2
    assert 'no property "sofe" to ask; there are "soon", "safe". Did you mean' in capsys.readouterr().err
    (coin / "bad.props").write_text('"one": Pmaxmin=? [ F "goal" ];\n"two": Pmaxmin=? [ F "goal" ')
    assert names(str(coin / "bad.props"), "--json", "--property", "one") == ["one"]
    assert run(["check", model, str(coin / "bad.props"), "--property", "two"]) == 2
    assert "the bracket is not closed" in capsys.readouterr().err


def test_the_first_of_several_rewards_is_meant_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("stormpy")
    import msgspec

    from umdp import anytime
    from umdp.io import read

    program = tmp_path / "walk.prism"
    program.write_text(
        "mdp module m x : [0..2]; [go] x<2 -> 0.5 : (x'=x+1) + 0.5 : true; endmodule\n"
        'rewards "z" true : 3; endrewards rewards "a" [go] true : 1; endrewards label "end" = x=2;'
    )
    assert run(["check", str(program), 'Rmax=? [ F "end" ]', 'R{"z"}max=? [ F "end" ]', "--json"]) == 0
    first, named = (msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines())
    assert first["value"] == named["value"] == pytest.approx(12)
    assert [each["code"] for each in first["diagnostics"]] == ["first-reward"]
    assert named["diagnostics"] == []
    assert run(["check", str(program), 'Rmax=? [ F "end" ]']) == 0
    assert 'the first of the model counts, "z" (others: "a")' in capsys.readouterr().out
    from umdp.learning.snapshot import diagnostics_of
    from umdp.source import Simulator
    from umdp.spec import Spec

    model = read(program)
    asked = 'Rmax=? [ F "end" ]'
    *_, last = anytime(model, asked, "lui", trajectories=10)
    assert [each.code.value for each in diagnostics_of(Simulator(model), Spec.parse(asked), last)] == ["first-reward"]
