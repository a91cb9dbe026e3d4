"""`umdp learn --unknown`: what is printed, kept, continued, drawn, learned from a log, and refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import umdp
from umdp.cli import run

pytest.importorskip("stormpy")

COURIER = str(Path(__file__).parents[2] / "examples" / "courier.prism")
REACH = 'Pmax=? [ F "arrived" ]'
LEARN = ["learn", COURIER, REACH, "--unknown", "loss"]
TRUTH = ["--const", "N=3,loss=0.2"]


def objects(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert run(arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_parameters_are_shown_kept_and_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, parts = str(tmp_path / "whole.run"), str(tmp_path / "parts.run")
    more = [*TRUTH, "--confidence", "0.95"]
    rows = objects(capsys, *LEARN, *more, "--trajectories", "120", "--out", whole, "--json")
    known = rows[-1]["parameters"]
    assert isinstance(known, dict)
    assert known["loss"]["lower"] < 0.2 < known["loss"]["upper"]
    widths = [row["parameters"]["loss"]["upper"] - row["parameters"]["loss"]["lower"] for row in rows]  # type: ignore[index]
    assert widths == sorted(widths, reverse=True)
    assert objects(capsys, *LEARN, *more, "--trajectories", "50", "--out", parts, "--json")
    rest = objects(capsys, "resume", parts, "--trajectories", "120", "--json")
    assert rest[-1]["parameters"] == known
    assert (rest[-1]["lower"], rest[-1]["upper"]) == (rows[-1]["lower"], rows[-1]["upper"])
    (shown,) = objects(capsys, "show", whole, "--json")
    assert shown["last"]["parameters"] == known  # type: ignore[index]
    assert run(["show", whole]) == 0
    said = capsys.readouterr().out
    assert "loss in [0." in said
    assert f"after {known['loss']['samples']} samples" in said
    assert "provided that courier.prism describes the process, with loss in [0, 1]" in said
    table = tmp_path / "rows.csv"
    assert run(["export", whole, str(table)]) == 0
    last = list(csv.DictReader(table.open()))[-1]
    assert float(last["loss lower"]) == known["loss"]["lower"]
    assert int(last["loss samples"]) == known["loss"]["samples"]


def test_what_is_promised_of_parameters_is_certified_and_accounted_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, proof = str(tmp_path / "a.run"), str(tmp_path / "proof.json")
    more = [*TRUTH, "--confidence", "0.9", "--trajectories", "60", "--out", file, "--certificate", proof, "-q"]
    assert run([*LEARN, *more]) == 0
    (verdict,) = objects(capsys, "verify", proof, "--json")
    assert verdict["valid"]
    assert verdict["level"] == pytest.approx(0.9)
    (ledger,) = objects(capsys, "explain", file, "--ledger", "--json")
    assert ledger["bounds"] == 2  # loss and a quarter of it, however many choices there are
    assert float(ledger["spent"]) <= 0.1  # type: ignore[arg-type]


def test_parameters_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    file = str(tmp_path / "a.run")
    assert run([*LEARN, *TRUTH, "--trajectories", "50", "--out", file, "-q"]) == 0
    assert run(["plot", file, "--what", "parameters", "--out", str(tmp_path / "a.svg")]) == 0
    ax = umdp.plot.parameters(file)
    lower = next(line for line in ax.get_lines() if line.get_label() == "loss")
    opened = umdp.open(file)
    assert np.asarray(lower.get_ydata()).tolist() == [row["parameters"]["loss"]["lower"] for row in opened.rows]
    assert any(set(line.get_ydata()) == {0.2} for line in ax.get_lines())
    assert run(["learn", "grid", "--trajectories", "5", "--out", str(tmp_path / "b.run"), "-q"]) == 0
    capsys.readouterr()
    assert run(["plot", str(tmp_path / "b.run"), "--what", "parameters"]) == 2
    assert "has no parameters" in capsys.readouterr().err


def test_a_log_needs_no_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = umdp.read_parametric(COURIER, "loss", "N=3")
    truth, rng = program.at(loss=0.2), np.random.default_rng(0)
    log = tmp_path / "log.csv"
    with log.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["trajectory", "state", "action", "next"])
        for number in range(200):
            state = truth.initial
            while not (truth.labels["arrived"][state] or truth.labels["dismissed"][state]):
                choice = int(rng.integers(truth.state_ptr[state], truth.state_ptr[state + 1]))
                own = slice(truth.choice_ptr[choice], truth.choice_ptr[choice + 1])
                after = int(rng.choice(truth.successor[own], p=truth.probability[own]))
                table.writerow([number, truth.state_name(state), truth.action_name(choice), truth.state_name(after)])
                state = after
    rows = objects(
        capsys, "learn", COURIER, REACH, "--unknown", "loss", "--const", "N=3", "--log", str(log), "--confidence", "0.95",
        "--json", "-q",
    )  # fmt: skip
    known = rows[-1]["parameters"]
    assert isinstance(known, dict)
    assert known["loss"]["lower"] < 0.2 < known["loss"]["upper"]
    assert known["loss"]["upper"] - known["loss"]["lower"] < 0.25
    assert rows[-1]["guarantee"]["kind"] == "any-time"  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "grid", "--unknown", "p"], "grid is none; leave it out"),
        ([*LEARN, "--const", "N=3"], "--const loss=VALUE; or learn from a log: --log FILE"),
        ([*LEARN, "--const", "N=3,loss=1.5"], "loss = 1.5 lies outside of its box, 0 to 1"),
        ([*LEARN, "--const", "N=3,loss=1"], "has the probability 0 (1 - loss)"),
        ([*LEARN, "--const", "N=3,loss=0.2", "--tie", "mine.py:ties"], "leave out --tie"),
        ([*LEARN, "--const", "N=3,loss=0.2", "--switch", COURIER, "--after", "3"], "leave out --switch"),
        ([*LEARN, "--const", "N=3,loss=0.2", "--log", "x.csv"], "leave its value out of --const"),
        (["learn", COURIER, REACH, "--unknown", "loss=0.2", *TRUTH], "write loss=LOWER:UPPER"),
        (["learn", COURIER, REACH, "--unknown", "", *TRUTH], "--unknown is empty"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "--trajectories", "5"]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out
