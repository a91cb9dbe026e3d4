"""Ties as columns of a table of what can happen, for a log."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from umdp import ConfidenceSequence, FormatError, ModelError, Tying, anytime
from umdp.cli import run
from umdp.source import Log
from umdp.source.logs.log import allowed_graph
from umdp.source.logs.table_ties import tie_of_table

TABLE = "state,action,next,kind,outcome\n" + "".join(
    f"{s},go,{max(s + d, 0)},step,{name}\n" for s in range(5) for d, name in ((1, "on"), (0, "stuck"), (-1, "back"))
)
DONE = 'Pmax=? [ F<=12 "done" ]'


def write(folder: Path, table: str = TABLE + "5,rest,5,,\n") -> tuple[str, str]:
    """Write a log of walks and the table; return their names."""
    rng = random.Random(1)
    rows = ["trajectory,state,action,next"]
    for n in range(200):
        state = 0
        while state < 5:
            draw = rng.random()
            after = max(state + (1 if draw < 0.6 else 0 if draw < 0.85 else -1), 0)
            rows.append(f"{n},{state},go,{after}")
            state = after
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "allowed.csv").write_text(table)
    return str(folder / "log.csv"), str(folder / "allowed.csv")


def test_columns_say_what_a_function_says(tmp_path: Path) -> None:
    log, table = write(tmp_path)
    graph = allowed_graph(table, labels={"done": ["5"]})
    tying = Tying.of(graph, tie_of_table(table, ("kind", "outcome")))

    def walks(state: str, action: str, successor: str) -> tuple[str, list[str]] | None:
        if action != "go":
            return None
        steps = {"on": 1, "stuck": 0, "back": -1}
        return "step", [name for name, step in steps.items() if max(int(state) + step, 0) == int(successor)]

    other = Tying.of(graph, walks)
    assert tying.choice_class.tolist() == other.choice_class.tolist()
    assert tying.feeds.tolist() == other.feeds.tolist() == [False, True, True, True, True, True]
    *_, tied = anytime(Log(log, graph), DONE, ConfidenceSequence(0.05), tie=tying)
    *_, apart = anytime(Log(log, graph), DONE, ConfidenceSequence(0.05))
    assert apart.bracket.lower + 0.05 < tied.bracket.lower < 0.75
    assert tied.guarantee.kind == "any-time"


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, table = write(tmp_path)
    asked = ("learn", log, DONE, "--label", "done=5", "--graph", table, "--confidence", "0.95", "--quiet")
    assert run((*asked, "--tie", "kind,outcome")) == 0
    assert "class step, 5 choices" in capsys.readouterr().out
    for tie, said in (("kind,outcom", 'there is no column "outcom"'), ("kind", "--tie kind: write FILE.py:NAME")):
        assert run((*asked, "--tie", tie)) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (TABLE.replace("0,go,1,step,on", "0,go,1,step,"), 'the column "outcome" is empty for state 0, action go, to 1'),
        (TABLE + "1,go,2,leap,on\n", "names two classes, step and leap"),
        (TABLE.replace("0,go,1,step,on", "0,go,1,leap,on"), "tie names the classes leap and step"),
        (TABLE.replace("2,go,2,step,stuck\n", "2,go,2,,\n"), "for each it must return a class and an outcome"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, table: str, said: str) -> None:
    _, path = write(tmp_path, table)
    with pytest.raises((FormatError, ModelError)) as caught:
        Tying.of(allowed_graph(path), tie_of_table(path, ("kind", "outcome")))
    assert said in str(caught.value)


def test_a_graph_that_was_only_observed_cannot_be_tied(tmp_path: Path) -> None:
    log, table = write(tmp_path)
    with pytest.raises(ModelError, match="this one was observed"):
        next(
            anytime(
                Log(log),
                DONE.replace("done", "end"),
                ConfidenceSequence(),
                tie=tie_of_table(table, ("kind", "outcome")),
            )
        )
