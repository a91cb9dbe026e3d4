"""Labels, rewards and initial states of a graph that is made from a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.source.recordings import order

import umdp
from umdp.errors import FormatError, ModelError, UmdpError
from umdp.model import REST
from umdp.source import Log, graph_of_log
from umdp.statements import Code, DiagnosticCode, Unlisted, codes_of, say, stated

HEAD = "trajectory,state,action,next,end,cost,hot"
ROWS = """
1,new,run,worn,0,1,0
1,worn,run,worn,0,2,yes
1,worn,run,failed,1,9,yes
2,worn,fix,new,0,5,yes
2,new,run,failed,1,9,0
3,new,run,worn,0,1,no
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "machine.csv"
    path.write_text(HEAD + ROWS)
    return path


def names(graph: umdp.Graph, label: str) -> set[str]:
    return {graph.state_name(int(s)) for s in np.flatnonzero(graph.labels[label])}


def paid(graph: umdp.Graph, reward: str) -> dict[tuple[str, str, str], float]:
    values = graph.rewards[reward].transition
    assert values is not None
    found = {}
    for c in range(graph.choices):
        state = graph.state_name(int(graph.choice_state[c]))
        for t in range(graph.choice_ptr[c], graph.choice_ptr[c + 1]):
            found[state, graph.action_name(c), graph.state_name(int(graph.successor[t]))] = float(values[t])
    return found


@pytest.mark.parametrize(
    ("given", "states"),
    [
        (["failed"], {"failed"}),
        (["new", "fail*"], {"new", "failed"}),
        (["?????[dn]"], {"failed"}),
        (["column:hot"], {"worn"}),
        (["next:end"], {"failed"}),
        (["column:hot", "failed"], {"worn", "failed"}),
        (lambda state: "w" in state, {"new", "worn"}),
    ],
)
def test_labels(log: Path, given: Any, states: set[str]) -> None:
    assert names(graph_of_log(log, labels={"x": given}), "x") == states


def test_a_column_of_numbers_is_paid_on_transitions(log: Path) -> None:
    graph = graph_of_log(log, rewards={"cost": "cost"}, terminal=["failed"])
    found = paid(graph, "cost")
    assert found["new", "run", "worn"] == 1
    assert found["worn", "run", "worn"] == 2
    assert found["worn", "run", "failed"] == 9
    assert found["worn", "fix", "new"] == 5
    assert found["worn", "run", REST] == 0, "nobody knows what else is paid for what was never seen"
    assert found["failed", "stay", "failed"] == 0


def test_rewards_that_are_said_and_not_read(log: Path) -> None:
    graph = graph_of_log(log, rewards={"steps": "1", "cost": {"worn": 2, "fail*": 7}, "same": "worn:2,fail*:7"})
    assert graph.rewards["steps"].choice is not None
    assert graph.rewards["steps"].choice.tolist() == [1, 1, 1, 0, 0]
    for name in ("cost", "same"):
        state = graph.rewards[name].state
        assert state is not None
        assert {graph.state_name(s): float(state[s]) for s in range(graph.states) if state[s]} == {
            "worn": 2,
            "failed": 7,
        }


def test_the_value_of_a_learned_cost_is_that_of_its_closed_form(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    rows = [f"{n},on,run,{'on' if draw.random() < 0.75 else 'off'},3" for n in range(40_000)]
    (tmp_path / "log.csv").write_text("trajectory,state,action,next,pay\n" + "\n".join(rows) + "\n")
    log = Log(tmp_path / "log.csv", labels={"off": ["off"]}, rewards={"cost": "pay"}, terminal=["off"])
    *_, last = umdp.anytime(log, 'R{"cost"}min=? [ F "off" ]', umdp.MAP())
    assert last.bracket.value == pytest.approx(3 / 0.25, rel=0.03)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            "3,new,run,worn,0,4,0",
            {"rewards": {"c": "cost"}},
            'is 1 and 4 for the same transition, state new.*"mean:cost"',
        ),
        ("3,new,run,worn,0,x,0", {"rewards": {"c": "cost"}}, "holds 'x'; it must hold numbers"),
        ("3,new,run,worn,0,inf,0", {"rewards": {"c": "cost"}}, "holds 'inf'"),
        ("", {"rewards": {"c": "csot"}}, 'no column "csot".*did you mean .cost.'),
        ("", {"rewards": {"c": "wron:1"}}, 'reward "c": there is no state .wron.; the nearest is .worn.'),
        ("", {"rewards": {"c": "worn:1,w*:2"}}, "'worn' is given twice"),
        ("3,worn,run,worn,0,2,0", {"labels": {"hot": ["column:hot"]}}, "both yes and no of the state 'worn'"),
        (
            "3,worn,run,worn,0,2,perhaps",
            {"labels": {"hot": ["column:hot"]}},
            "holds 'perhaps'; it must say true or false",
        ),
        ("", {"labels": {"x": ["faild"]}}, "there is no state 'faild'; the nearest is 'failed'"),
        ("", {"labels": {"x": ["zzz*"]}}, "no state fits the pattern"),
        ("", {"initial": "nwe"}, "'nwe' was not observed; the nearest is 'new'"),
        ("", {"terminal": ["worn"]}, "'worn' was left, so it is not terminal"),
    ],
)
def test_what_a_log_does_not_say_is_one_error(log: Path, change: str, options: dict[str, Any], message: str) -> None:
    with log.open("a") as file:
        file.write(change + "\n")
    with pytest.raises((FormatError, ModelError), match=message):
        graph_of_log(log, **options)


def test_a_mean_is_a_reward_of_which_nothing_is_promised(log: Path) -> None:
    with log.open("a") as file:
        file.write("4,new,run,worn,0,4,0\n")
    source = Log(log, rewards={"cost": "mean:cost"})
    assert paid(source.graph, "cost")["new", "run", "worn"] == pytest.approx((1 + 1 + 4) / 3)
    *_, last = umdp.anytime(source, 'R{"cost"}max=? [ C<=2 ]', umdp.ConfidenceSequence())
    assert last.guarantee.kind == "none"
    assert last.guarantee.codes == (Code.MEAN,)


def test_what_columns_say_is_a_condition_of_the_promise(log: Path) -> None:
    source = Log(log, rewards={"cost": "cost"}, labels={"hot": ["column:hot"]})
    assert [stated(each).code for each in source.provenance().rewards["cost"]] == [Code.REWARD, Code.LEAST]
    *_, last = umdp.anytime(source, 'R{"cost"}max=? [ C<=2 ]', umdp.ConfidenceSequence())
    assert say(Code.REWARD, reward="cost") in last.guarantee.reasons
    assert say(Code.LEAST, reward="cost", least=0.0) in last.guarantee.reasons
    *_, last = umdp.anytime(Log(log, rewards={"cost": "cost"}), 'Pmax=? [ F "end" ]', umdp.ConfidenceSequence())
    assert Code.REWARD not in last.guarantee.codes  # nobody asked for it
    assert say(Code.LABEL, label="hot") in source.provenance().assumptions


def signed(path: Path, seed: int, *, loss: float = 0.001) -> Path:
    """Write a log in which the first step earns or loses 1, and very rarely loses 1000."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(300):
        drawn = rng.random()
        target, pay = ("x", -1000) if drawn < loss else ("t", 1) if drawn < 0.5 else ("u", -1)
        rows.append(f"{n},s,go,{target},{pay}")
    path.write_text("trajectory,state,action,next,pay\n" + "\n".join(rows) + "\n")
    return path


DISCOUNTED = 'R{"pay"}max=? [ Cdiscount=0.9 ]'


def test_what_was_never_seen_may_pay_less_than_anything_that_was(tmp_path: Path) -> None:
    path = signed(tmp_path / "log.csv", 1, loss=0)
    *_, last = umdp.anytime(Log(path, rewards={"pay": "pay"}), DISCOUNTED, umdp.ConfidenceSequence(0.05))
    assert last.guarantee.codes == (Code.NO_LEAST,)
    said = Log(path, rewards={"pay": "pay>=-1000"}, terminal=["t", "u"])
    assert paid(said.graph, "pay")["s", "go", REST] == -1000
    assert paid(said.graph, "pay")[REST, "stay", REST] == -1000
    *_, last = umdp.anytime(said, DISCOUNTED, umdp.ConfidenceSequence(0.05))
    assert last.guarantee.kind == "any-time"
    assert say(Code.LEAST, reward="pay", least=-1000.0) in last.guarantee.reasons
    assert last.bracket.lower < -1
    with pytest.raises(FormatError, match="holds -1, though no step is said to pay less than 0; say what a step pays"):
        Log(path, rewards={"pay": "pay>=0"})


def test_a_rule_holds_for_what_was_never_seen_too(tmp_path: Path) -> None:
    log = Log(signed(tmp_path / "log.csv", 1, loss=0), rewards={"pay": -1, "by state": {"s": -2}}, terminal=["t", "u"])
    choice, state = log.graph.rewards["pay"].choice, log.graph.rewards["by state"].state
    assert choice is not None
    assert choice.tolist() == [-1, 0, 0, -1]
    assert state is not None
    assert state.tolist() == [-2, 0, 0, -2]
    *_, last = umdp.anytime(log, DISCOUNTED, umdp.ConfidenceSequence(0.05))
    assert last.guarantee.kind == "any-time"
    assert last.bracket.lower < -1


def test_values_that_cannot_be_read_take_the_promise_about_their_reward_away(log: Path) -> None:
    with log.open("a") as file:
        file.write("4,new,run,worn,0,1.5 h,0\n")
    source = Log(log, rewards={"cost": "cost"}, on_error="chance")
    *_, last = umdp.anytime(source, 'R{"cost"}max=? [ C<=2 ]', umdp.ConfidenceSequence())
    assert last.guarantee.codes == (Code.UNREAD,)


def test_a_value_that_cannot_be_read_is_passed_over_where_others_say_it(log: Path) -> None:
    with log.open("a") as file:
        file.write("4,new,run,worn,0,l,0\n")
    source = Log(log, rewards={"cost": "cost"}, on_error="skip")
    assert paid(source.graph, "cost")["new", "run", "worn"] == 1
    assert say(DiagnosticCode.UNREADABLE, values=1, column="cost", first="l") in source.report()
    with log.open("a") as file:
        file.write("4,new,fix,worn,0,l,0\n")
    with pytest.raises(FormatError, match="it must hold numbers"):
        Log(log, rewards={"cost": "cost"}, on_error="skip")


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_where_trajectories_begin_is_learned_too(tmp_path: Path, suffix: str) -> None:
    import polars

    rows = [{"trajectory": n, "state": "ab"[n % 4 == 0], "action": "go", "next": "c"} for n in range(4000)]
    frame, path = polars.DataFrame(rows), tmp_path / f"log{suffix}"
    {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}[suffix](path)
    source = Log(path, labels={"b": ["b"]}, terminal=["c"], initial="observed")
    graph = source.graph
    assert graph.state_name(graph.initial) == "the beginning"
    source.begin()
    batch = source.collect(order(graph))
    own = graph.choice_ptr[graph.state_ptr[graph.initial]] + np.arange(3)
    assert dict(
        zip((graph.state_name(int(s)) for s in graph.successor[own]), batch.counts[own].tolist(), strict=True)
    ) == {
        "b": 1000,
        "a": 3000,
        REST: 0,
    }
    assert batch.steps == 4000
    *_, last = umdp.anytime(source, 'Pmax=? [ F "b" ]', umdp.ConfidenceSequence(0.05))
    assert 0.2 < last.bracket.lower < 0.25
    assert last.guarantee.kind == "any-time"
    assert DiagnosticCode.BEGINNINGS in codes_of(source.report())


def test_the_beginning_is_no_state_of_a_log(log: Path) -> None:
    with log.open("a") as file:
        file.write("4,the beginning,run,worn,0,4,0\n")
    with pytest.raises(UmdpError, match="rename it"):
        graph_of_log(log, initial="observed")


SLIPS = (
    "trajectory,state,action,next\n1,new,run,good\n1,good,run,godo\n1,good,run,failed\n2,new,run,good\n2,good,run,x1\n"
)


def test_a_slip_of_the_pen_is_anything_else(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(SLIPS + "3,x2,run,good\n")
    source = Log(tmp_path / "log.csv", labels={"failed": ["failed"]})
    graph = source.graph
    assert [graph.state_name(s) for s in range(graph.states)] == ["new", "good", "failed", "x1", "x2", REST]
    assert say(DiagnosticCode.SLIP, name="godo", near="good", unlisted=Unlisted.COUNTED) in source.report()
    source.begin()
    batch = source.collect(order(graph))
    assert batch.steps == 6, "the row after the slip is not at fault"
    assert batch.counts[graph.successor == graph.rest].sum() == 1
    assert source.provenance().rejected == 0


@pytest.mark.parametrize("options", [{"labels": {"x": ["godo"]}}, {"terminal": ["godo"]}, {"rest": False}])
def test_a_state_that_somebody_names_is_no_slip(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "log.csv").write_text(SLIPS)
    assert "godo" in (graph_of_log(tmp_path / "log.csv", **options).state_names or ())


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_columns_of_other_formats(tmp_path: Path, suffix: str) -> None:
    import polars

    rows = [
        {"state": "a", "action": "go", "next": "b", "hot": True, "pay": 2.5, "one": 1.0},
        {"state": "b", "action": "go", "next": "a", "hot": False, "pay": 0.0, "one": None},
    ]
    path = tmp_path / f"log{suffix}"
    frame = polars.DataFrame(rows)
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ndjson(path)
    graph = graph_of_log(path, labels={"hot": ["column:hot"], "one": ["next:one"]}, rewards={"pay": "pay"}, rest=False)
    assert (names(graph, "hot"), names(graph, "one")) == ({"a"}, {"b"})
    assert paid(graph, "pay") == {("a", "go", "b"): 2.5, ("b", "go", "a"): 0.0}


def test_rewards_of_a_data_set_of_episodes() -> None:
    class Episode:
        observations, actions, rewards, terminations = np.array([0, 1, 2]), np.array([0, 0]), np.array([0.5, 2.0]), True

    class Episodes:
        total_episodes = 1

        def iterate_episodes(self, numbers: list[int]) -> list[Episode]:
            return [Episode() for _ in numbers]

    graph = graph_of_log(Episodes(), rewards={"gain": "reward"})
    assert paid(graph, "gain")["1", "0", "2"] == 2.0
    assert names(graph, "end") == {"2"}
    with pytest.raises(FormatError, match=r'no column "rewards".*did you mean'):
        graph_of_log(Episodes(), rewards={"gain": "rewards"})
