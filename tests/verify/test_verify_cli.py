"""`umdp check --certificate` and `umdp verify` as typed: status, output, and files that are not what they seem."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from umdp import IntervalMDP, Rewards, solve
from umdp.cli import run
from umdp.statements import Refusal
from umdp.verify.document import digest

ROVER = str(Path(__file__).parents[2] / "examples" / "rover.tra")


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("proof") / "proof.json"
    assert run(["check", ROVER, 'Pmaxmin=? [ !"crater" U "base" ]', "--certificate", str(path)]) == 0
    return path


def test_a_certificate_says_what_it_proves(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(proof)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("valid: the value of Pmaxmin")
    assert "the policy in the file reaches at least" in printed
    assert run(["verify", str(proof), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"valid", "claim", "property", "lower", "upper", "level", "assumed", "refused"}
    assert found["valid"] is True
    assert found["lower"] <= 0.7766836512 <= found["upper"]


def test_a_changed_certificate_is_refused_with_the_part_that_fails(
    proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(proof.read_text())
    content["claim"]["lower"] = 0.77668365125
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(content))
    assert run(["verify", str(changed), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["refused"]["code"] == Refusal.CHANGED
    content["digest"] = digest(content)
    changed.write_text(json.dumps(content))
    assert run(["verify", str(changed), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["refused"]["code"] == Refusal.UNPROVED
    assert run(["verify", str(changed)]) == 1
    assert capsys.readouterr().out.startswith("NOT valid: not proved: ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "not JSON",
        "{}",
        '{"format": "umdp certificate", "version": 2}',
        '{"format": "umdp certificate", "version": 1}',
        '{"format": "umdp certificate", "version": 1, "model": NaN}',
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        '{"format": "umdp certificate", "version": 1, "model": {"successor": [1e400]}}',
        '{"x": ' + "9" * 10_000 + "}",
    ],
)
def test_files_that_are_no_certificate(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert run(["verify", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("model", "successor", 0), 10**9),
        (("model", "successor", 0), -1),
        (("model", "successor", 0), True),
        (("model", "state_ptr", 1), 0),
        (("model", "choice_ptr", 1), 10**12),
        (("model", "lower", 0), 2.0),
        (("model", "lower", 0), "0.5"),
        (("model", "initial"), 10**6),
        (("model", "labels", "base"), [10**9]),
        (("lower", "value", 0), "1p-99999999"),
        (("lower", "value", 0), "-1"),
        (("lower", "value", 0), "1/0"),
        (("lower", "value", 0), {}),
        (("lower", "value"), [0]),
        (("policy", 0), 10**6),
        (("policy",), "abc"),
        (("claim", "lower"), "1p4000"),
        (("claim", "level"), 2),
        (("property",), "Pmaxmin=? ["),
        (("property",), "(" * 20_000),
        (("property",), 'Pmaxmin=? [ F "nowhere" ]'),
        (("property",), 'Pmaxmin=? [ F<=99999999999999 "base" ]'),
        (("property",), "Pmaxmin=? [ F __import__ ]"),
    ],
)
def test_hostile_entries_get_one_message(
    proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], place: tuple, value: object
) -> None:
    content = json.loads(proof.read_text())
    inside = content
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    content["digest"] = digest(content)
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(content))
    assert run(["verify", str(path)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_several_properties_need_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ['Pmaxmin=? [ F "base" ]', 'Rminmax=? [ F "base" ]']
    assert run(["check", ROVER, *asked, "--certificate", str(tmp_path / "one.json")]) == 2
    assert "{n}" in capsys.readouterr().err
    assert run(["check", ROVER, *asked, "--certificate", str(tmp_path / "p{n}.json")]) == 0
    assert all(run(["verify", str(tmp_path / f"p{n}.json")]) == 0 for n in (1, 2))


def test_enormous_values_are_proved(tmp_path: Path) -> None:
    """An expected reward of about 2 to the 800."""
    size = 20
    tiny = 2.0**-40
    ptr, successor, lower = [0], [], []
    for s in range(size):
        successor += [0, s + 1]
        lower += [1 - tiny, tiny]
        ptr.append(len(successor))
    successor.append(size)
    lower.append(1.0)
    ptr.append(len(successor))
    model = IntervalMDP(
        range(size + 2),
        ptr,
        successor,
        lower,
        lower,
        labels={"goal": [size]},
        rewards={"steps": Rewards(state=[1.0] * (size + 1))},
    )
    certificate = solve(model, 'Rminmax=? [ F "goal" ]').certificate()
    certificate.write(tmp_path / "huge.json")
    assert run(["verify", str(tmp_path / "huge.json")]) == 0
