"""`umdp check --certificate` and `umdp verify` as typed: status, output, and files that are not what they seem."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import umdp.io as umdp_io
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
    first, title, value, policy = printed.splitlines()
    assert (first, title) == ("valid", "proved:")
    assert value.startswith("  - the value of Pmaxmin")
    assert value.endswith(", for the model in the file")
    assert policy.endswith(", for the model in the file")
    assert policy.startswith("  - the policy in the file reaches at least")
    assert run(["verify", str(proof), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"valid", "claim", "property", "lower", "upper", "level", "assumed", "refused"}
    assert found["valid"] is True
    assert found["lower"] <= 0.7766836512 <= found["upper"]


def test_the_model_is_compared_with_a_file(proof: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(proof), "--model", ROVER]) == 0
    assert f"the model is that of {ROVER}" in capsys.readouterr().out
    model = umdp_io.read(ROVER)
    lower, upper = model.lower.copy(), model.upper.copy()
    at = int(np.flatnonzero(lower < upper)[5])
    lower[at] += (upper[at] - lower[at]) / 1024
    choice = int(np.searchsorted(model.choice_ptr, at, side="right")) - 1
    base = np.flatnonzero(model.labels["base"])
    others = {
        f"state {model.state_name(int(model.choice_state[choice]))}, action {model.action_name(choice)}: the lower bound of":
            replace(model, lower=lower),
        "the labels differ": replace(model, labels={**model.labels, "base": base[:-1]}),
        "the initial differs": replace(model, initial=1),
    }  # fmt: skip
    for said, other in others.items():
        file = str(tmp_path / "other.umb")
        umdp_io.write(other, file)
        assert run(["verify", str(proof), "--model", file]) == 1
        assert f"NOT the model of {file}: {said}" in capsys.readouterr().out
        assert run(["verify", str(proof), "--model", file, "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["difference"].startswith(said)
    unasked = replace(model, labels={**model.labels, "seen": [1]})
    umdp_io.write(unasked, file)
    assert run(["verify", str(proof), "--model", file]) == 0


def test_what_is_taken_on_trust_is_a_list_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "proof.json")
    assert run(["learn", "aircraft", "--confidence", "0.9", "--trajectories", "50", "-q", "--certificate", path]) == 0
    capsys.readouterr()
    assert run(["verify", path, "--json"]) == 0
    assumed = [each["text"] for each in json.loads(capsys.readouterr().out)["assumed"]]
    assert run(["verify", path]) == 0
    proved, trusted = capsys.readouterr().out.split("taken on trust:\n")
    assert trusted.splitlines() == [f"  - {each}" for each in assumed]
    assert "  - with probability at least 0.89999" in proved


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
