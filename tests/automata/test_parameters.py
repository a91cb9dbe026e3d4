"""Temporal formulas of programs with unknown constants: parameters are learned on the process, the product follows."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import umdp
from umdp import ConfidenceSequence, Parametric, ParametricMDP, anytime, solve
from umdp.cli import run
from umdp.parametric.function import Function, Polynomial
from umdp.source import Log
from umdp.statements import Code
from umdp.verify import verify

from .pairs import exact
from .safra import Choices
from .test_sources import of_process, record

COURIER = str(Path(__file__).parents[2] / "examples" / "courier.prism")
NEVER_LATE = 'Pmax=? [ (F "arrived") & (G (lost=1 => (X lost=0))) ]'
HEADS_AND_TAILS = ("&", ("F", ("p", 0), 0, None), ("F", ("p", 1), 0, None))
BOTH = 'Pmax=? [ (F "a") & (F "b") ]'


def coins() -> ParametricMDP:
    """Return two coins, of which the second shows heads half as often, tossed until they are gone, and a pit."""
    p, one = Polynomial.parameter(0, 1), Polynomial.constant(1, 1)
    half = p.scaled(Fraction(1, 2))
    graph = umdp.Graph(
        [0, 2, 3, 4, 5], [0, 3, 6, 7, 8, 9], [1, 2, 3, 1, 2, 3, 0, 0, 3], labels={"a": [1], "b": [2]},
        actions=["first", "second", "back", "back", "stay"],
    )  # fmt: skip
    tenth = one.scaled(Fraction(1, 10))
    rows = [p, one - p - tenth, tenth, half, one - half - tenth, tenth, one, one, one]
    return ParametricMDP.of(graph, ["p"], [Function.of(each) for each in rows], {"p": (0.1, 0.8)})


def test_bounds_are_those_of_the_process_whatever_is_remembered(tmp_path: Path) -> None:
    program, log = coins(), tmp_path / "log.csv"
    record(program.at(p=0.4), log, 300)
    for asked in (BOTH, BOTH.replace("max", "min"), 'Pmax=? [ (G F "a") | (F "b") ]'):
        *_, last = anytime(Log(log, program.graph), asked, ConfidenceSequence(0.05), tie=program)
        learner = last.learner
        assert isinstance(learner, Parametric)
        assert learner.parameters()["p"]["lower"] < 0.4 < learner.parameters()["p"]["upper"]
        lower, upper = of_process(last, last.model.lower, -1.0), of_process(last, last.model.upper, -1.0)
        over = program.within(learner.box_lower, learner.box_upper)
        seen = lower >= 0
        assert (lower[seen] >= over.lower[seen] - 1e-12).all()
        assert (upper[seen] <= over.upper[seen] + 1e-12).all()
        assert (lower[seen] <= program.at(p=0.4).probability[seen]).all()
        assert (program.at(p=0.4).probability[seen] <= upper[seen]).all()


def test_the_value_is_that_of_the_box_in_exact_rationals(tmp_path: Path) -> None:
    program, log = coins(), tmp_path / "log.csv"
    record(program.at(p=0.4), log, 200)
    *_, last = anytime(Log(log, program.graph), BOTH, ConfidenceSequence(0.05), tie=program)
    lower, upper = of_process(last, last.model.lower, 0.0), of_process(last, last.model.upper, 1.0)
    ends = list(zip(program.graph.successor.tolist(), map(Fraction, lower), map(Fraction, upper), strict=True))
    rows = [ends[a:b] for a, b in zip(program.graph.choice_ptr, program.graph.choice_ptr[1:], strict=False)]
    choices: Choices = [rows[a:b] for a, b in zip(program.graph.state_ptr, program.graph.state_ptr[1:], strict=False)]
    truth = exact(choices, [0, 1, 2, 0], HEADS_AND_TAILS, "max", "min")
    assert Fraction(last.bracket.lower) <= truth <= Fraction(last.bracket.upper)
    assert 0 < truth < 1


@pytest.mark.parametrize("source", ["log", pytest.param("simulated", marks=pytest.mark.slow)])
def test_promises_are_kept(source: str, tmp_path: Path) -> None:
    program, log, runs = coins(), tmp_path / "log.csv", 40
    truth = program.at(p=0.4)
    value, kept, widths = solve(truth, BOTH).value, 0, []
    for seed in range(runs):
        if source == "log":
            record(truth, log, 60, seed)
        made = Log(log, program.graph) if source == "log" else truth
        found = list(anytime(made, BOTH, ConfidenceSequence(0.2), tie=program, seed=seed, trajectories=60))
        boxes = [each.parameters["p"] for each in found if each.parameters is not None]
        assert len(boxes) == len(found)
        kept += all(each.bracket.lower <= value for each in found) and all(
            b["lower"] <= 0.4 <= b["upper"] for b in boxes
        )
        widths.append(boxes[-1]["upper"] - boxes[-1]["lower"])
    assert kept >= 24  # fewer, at a rate of 0.2, is less probable than 1 in 1000
    assert np.mean(widths) < 0.35


def test_data_that_contradict_the_program_are_noticed(tmp_path: Path) -> None:
    program, log = coins(), tmp_path / "log.csv"
    wrong = program.at(p=0.4).probability.copy()
    wrong[3:6] = [0.75, 0.15, 0.1]  # the second coin shows heads more often than the first
    record(program.graph.with_probability(wrong), log, 800)
    *_, last = anytime(Log(log, program.graph), BOTH, ConfidenceSequence(0.05), tie=program)
    assert not last.guarantee.holds
    assert last.guarantee.codes[0] in (Code.PROGRAM_WRONG, Code.PROGRAM_DIFFERS)


def test_programs_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("stormpy")
    out, proof, log = str(tmp_path / "a.run"), str(tmp_path / "proof.json"), tmp_path / "log.csv"
    learn = ["learn", COURIER, NEVER_LATE, "--unknown", "loss", "--confidence", "0.9"]
    more = ["--const", "N=3,loss=0.2", "--trajectories", "80"]
    assert run([*learn, *more, "--out", out, "--certificate", proof, "--quiet"]) == 0
    assert "loss in [0." in capsys.readouterr().out
    verdict = verify(proof)
    assert verdict.valid
    assert run(["show", out, "--json"]) == 0
    known = json.loads(capsys.readouterr().out)["last"]["parameters"]["loss"]
    assert known["lower"] < 0.2 < known["upper"]
    assert run(["explain", out]) == 0
    assert "loss" in capsys.readouterr().out
    program = umdp.read_parametric(COURIER, "loss", "N=3")
    record(program.at(loss=0.2), log, 100)
    assert run([*learn, "--const", "N=3", "--log", str(log), "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["parameters"]["loss"]["lower"] < 0.2 < last["parameters"]["loss"]["upper"]
    assert 0 < last["lower"] <= solve(program.at(loss=0.2), NEVER_LATE).value
