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
