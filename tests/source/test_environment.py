"""Plain objects with reset and step: what is counted, what ends a trajectory, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from umdp import Graph, ModelError, UmdpError
from umdp.run.codec import pack
from umdp.source import Environment, SamplingRequest, observe
from umdp.source.environments.protocol import freeze
from umdp.statements import DiagnosticCode, Unlisted, codes_of, say, stated

from .recordings import order


class Walk:
    """A walk over the numbers 0 to 4: `right` is a step up, or with probability 0.3 none; 4 is the end."""

    limit: int | None = None

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self.random = random.Random(seed)
        self.at = self.steps = 0
        return self.at, {}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.at == 4:
            raise AssertionError("stepped on after the end")
        if action == "right":
            self.at += self.random.random() >= 0.3
        else:
            self.at = max(self.at - 1, 0)
        self.steps += 1
        return self.at, -1.0, self.at == 4, self.steps == self.limit, {}


def walk_graph() -> Graph:
    successors = [[(s, s + 1), (max(s - 1, 0),)] for s in range(4)]
    flat = [t for rows in successors for row in rows for t in row] + [4]
    sizes = [len(row) for rows in successors for row in rows] + [1]
    return Graph(
        [0, 2, 4, 6, 8, 9], np.concatenate([[0], np.cumsum(sizes)]), flat, actions=["right", "left"] * 4 + ["stay"]
    )


GRAPH = walk_graph()


def only_right(trajectories: int, **changes: Any) -> SamplingRequest:
    weight = np.array([1.0, 0.0] * 4 + [1.0])
    given = {"halt": np.zeros(5, np.bool_), "horizon": 1000, "quota": np.full(9, -1), **changes}
    return SamplingRequest(weight, given["halt"], given["horizon"], given["quota"], trajectories)


def begun(env: Any, graph: Graph = GRAPH, seed: int = 1, **options: Any) -> Environment:
    source = Environment(env, graph, **options)
    source.begin(seed)
    return source


# -- what is counted -----------------------------------------------------------------------------------------


def test_counts_are_transitions_of_the_graph_in_the_right_proportion() -> None:
    batch = begun(Walk()).collect(only_right(3000))
    assert (batch.trajectories, batch.ended) == (3000, False)
    assert batch.steps == batch.counts.sum()
    for c in (0, 2, 4, 6):
        stayed, moved = batch.counts[GRAPH.choice_ptr[c] : GRAPH.choice_ptr[c + 1]]
        assert moved == 3000
        assert stayed / (stayed + moved) == pytest.approx(0.3, abs=0.04)
    assert batch.counts[-1] == 0  # nobody steps on after the end


def test_weights_are_followed() -> None:
    weight = np.array([0.8, 0.2] * 4 + [1.0])
    some = SamplingRequest(weight, np.zeros(5, np.bool_), 1000, np.full(9, -1), 500)
    batch = begun(Walk()).collect(some)
    per_choice = np.add.reduceat(batch.counts, GRAPH.choice_ptr[:-1])
    share = per_choice[:8:2].sum() / per_choice[:8].sum()
    assert share == pytest.approx(0.8, abs=0.02)


def test_weights_may_depend_on_the_step_and_the_last_are_for_all_that_follow() -> None:
    left, right = np.array([0.0, 1.0] * 4 + [1.0]), np.array([1.0, 0.0] * 4 + [1.0])
    some = SamplingRequest(np.array([right, right, left]), np.zeros(5, np.bool_), 6, np.full(9, -1), 500)
    batch = begun(Walk()).collect(some)
    taken = np.add.reduceat(batch.counts, GRAPH.choice_ptr[:-1])
    assert (taken[:8:2].sum(), taken[1:8:2].sum()) == (1000, 2000)
    assert taken[4] == 0  # nobody goes right from 2, where nobody is before two steps are over


def test_a_trajectory_ends_at_the_horizon_and_where_the_value_is_known() -> None:
    batch = begun(Walk()).collect(only_right(50, horizon=2))
    assert batch.steps == 100
    batch = begun(Walk()).collect(only_right(50, halt=np.array([False, True, False, False, False])))
    assert batch.counts[1] == 50
    assert batch.counts[2:].sum() == 0
    batch = begun(Walk()).collect(only_right(50, halt=np.ones(5, np.bool_)))
    assert (batch.trajectories, batch.steps) == (50, 0)


def test_a_batch_ends_with_the_trajectory_in_which_a_quota_is_reached() -> None:
    quota = np.full(9, -1)
    quota[4] = 7
    batch = begun(Walk()).collect(only_right(1000, quota=quota))
    taken = batch.counts[GRAPH.choice_ptr[4] : GRAPH.choice_ptr[5]]
    assert taken.sum() >= 7
    assert batch.trajectories < 8
    assert batch.counts[GRAPH.choice_ptr[6] + 1] == batch.trajectories  # each was whole


def test_truncation_ends_a_trajectory_and_is_not_a_transition() -> None:
    env = Walk()
    env.limit = 3
    source = begun(env)
    batch = source.collect(only_right(100))
    assert batch.steps == 300
    reached = int(batch.counts[GRAPH.choice_ptr[6] : GRAPH.choice_ptr[7]].sum())
    assert reached == 0  # three steps never reach 3 and go on
    assert source.report() == [say(DiagnosticCode.TRUNCATED, truncated=100, trajectories=100)]


class Resetting(Walk):
    """Resets by itself, within the last step (as old wrappers and vector environments do) or with the step after it."""

    def __init__(self, mode: str) -> None:
        self.mode, self.over = mode, False

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.over = False
        return super().reset(seed)

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.over:
            return (self.reset()[0], 0.0, False, False, {})
        at, reward, terminated, truncated, info = super().step(action)
        if terminated and self.mode != "next":
            return (self.reset()[0], reward, terminated, truncated, {self.mode: at})
        self.over = terminated
        return at, reward, terminated, truncated, info


@pytest.mark.parametrize("mode", ["final_obs", "final_observation", "next"])
def test_an_environment_that_resets_by_itself_gives_the_same_counts(mode: str) -> None:
    expected = begun(Walk()).collect(only_right(200))
    found = begun(Resetting(mode)).collect(only_right(200))
    assert found.counts.tolist() == expected.counts.tolist()


def test_an_initial_state_before_the_episode_counts_where_it_starts() -> None:
    class Anywhere(Walk):
        def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed)
            self.at = self.random.choice([1, 3])
            return self.at, {}

    graph = Graph(
        [*GRAPH.state_ptr, 10],
        [*GRAPH.choice_ptr, GRAPH.transitions + 2],
        [*GRAPH.successor, 1, 3],
        initial=5,
        actions=["right", "left"] * 4 + ["stay", "reset"],
    )
    source = begun(Anywhere(), graph, entry=True, actions=["right", "left"] * 4 + [None, None])
    uniform = SamplingRequest(np.ones(10), np.zeros(6, np.bool_), 5, np.full(10, -1), 400)
    batch = source.collect(uniform)
    assert batch.counts[-2:].sum() == 400
    assert batch.counts[-1] == pytest.approx(200, abs=60)
    assert batch.steps <= 400 * 5  # the start is a step
    with pytest.raises(
        ModelError, match=r"reset led to [13], but the initial state of the graph is 0; where an episode can"
    ):
        begun(Anywhere(), seed=2).collect(only_right(100, halt=np.ones(5, np.bool_)))
    with pytest.raises(ModelError, match="the initial state must have one choice, the reset, but has 2"):
        Environment(Anywhere(), GRAPH, entry=True)


# -- states and actions --------------------------------------------------------------------------------------


def test_observations_become_states_and_choices_become_actions() -> None:
    class Grid(Walk):
        def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed)
            return np.array([self.at, 0]), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            at, *rest = super().step({1: "right", -1: "left"}[action])
            return np.array([at, 0]), *rest

    expected = begun(Walk()).collect(only_right(100))
    named = Graph(GRAPH.state_ptr, GRAPH.choice_ptr, GRAPH.successor, state_names=[str((s, 0)) for s in range(5)])
    source = begun(Grid(), named, state_of=lambda o: tuple(o.tolist()), actions=[1, -1] * 4 + [None])
    assert source.collect(only_right(100)).counts.tolist() == expected.counts.tolist()
    with pytest.raises(ModelError, match=r"observations of Grid: array\(\[0, 0\]\) is not hashable.*give state_of"):
        begun(Grid(), named, actions=[1, -1] * 4 + [None]).collect(only_right(1))
    with pytest.raises(ModelError, match="state_of must return a number, text or tuple"):
        begun(Grid(), named, state_of=lambda o: o.tolist(), actions=[1, -1] * 4 + [None]).collect(only_right(1))


def test_scalars_of_numpy_are_plain_values() -> None:
    assert freeze((np.int32(1), np.float64(0.5), np.True_, np.array(3)), None, "") == (1, 0.5, True, 3)
    assert all(type(part) in (int, float, bool) for part in freeze((np.int32(1), np.True_), None, ""))  # type: ignore[attr-defined]


def test_a_choice_that_cannot_be_taken_is_not() -> None:
    source = begun(Walk(), actions=["right", None] * 4 + [None])
    batch = source.collect(SamplingRequest(np.full(9, 0.5), np.zeros(5, np.bool_), 1000, np.full(9, -1), 50))
    assert batch.counts[GRAPH.choice_ptr[1] : GRAPH.choice_ptr[2]].sum() == 0
    assert batch.trajectories == 50
    weight = np.array([0.0, 1.0] * 4 + [1.0])
    with pytest.raises(ModelError, match="state 0: no choice that can be taken has a positive weight"):
        source.collect(SamplingRequest(weight, np.zeros(5, np.bool_), 1000, np.full(9, -1), 50))


# -- what is refused -----------------------------------------------------------------------------------------


class Stray(Walk):
    """Once in a while leads where the graph has no transition."""

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        at, *rest = super().step(action)
        draw = self.random.random()
        return ("nowhere" if draw < 0.02 else 0 if draw < 0.04 and at == 3 else at), *rest


def test_a_step_out_of_the_graph_is_an_error_or_ends_its_trajectory_uncounted() -> None:
    with pytest.raises(
        ModelError, match=r"state \d, action right: the .*; add it to the graph, or end such trajectories"
    ):
        begun(Stray()).collect(only_right(1000))
    source = begun(Stray(), on_error="skip")
    batch = source.collect(only_right(1000))
    assert batch.trajectories == 1000
    head, *shown = source.report()
    assert codes_of([head]) == (DiagnosticCode.NOT_COUNTED,)
    assert codes_of(shown) == (DiagnosticCode.STEP_NOT_COUNTED,) * 5
    why = [stated(each).data["why"] for each in shown]
    assert any("the step led to 'nowhere', which is no state of the graph" in each for each in why)
    assert batch.counts[GRAPH.choice_ptr[6] + 1] < 1000
    with pytest.raises(UmdpError, match='on_error is "fail" or "skip"'):
        Environment(Walk(), GRAPH, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="2 actions were given for 9 choices"):
        Environment(Walk(), GRAPH, actions=["right", "left"])


@pytest.mark.parametrize(
    ("reset", "step", "message"),
    [
        (lambda: 0, None, r"reset of Odd returned 0; it must return \(observation, info\)"),
        (
            lambda: (0, 1),
            None,
            r"reset of Odd returned \(0, 1\); it must return \(observation, info\), info being a dict",
        ),
        (lambda: (0, {}), lambda a: (0, 0.0, False, {}), "four values are the rules of Gym before Gymnasium"),
        (lambda: (0, {}), lambda a: None, r"step of Odd returned None; it must return \(observation, reward"),
    ],
)
def test_rules_that_are_broken(reset: Callable[..., Any], step: Callable[..., Any], message: str) -> None:
    class Odd:
        def reset(self) -> Any:
            return reset()

        def step(self, action: Any) -> Any:
            return step(action)

    with pytest.raises(ModelError, match=message):
        begun(Odd()).collect(only_right(1))


def test_what_is_no_environment() -> None:
    with pytest.raises(ModelError, match="object has no method reset; an environment has reset and step"):
        Environment(object(), GRAPH)

    class Many(Walk):
        num_envs = 4

    with pytest.raises(ModelError, match="Many steps 4 environments at once; give a single one"):
        Environment(Many(), GRAPH)


# -- going on ------------------------------------------------------------------------------------------------


def test_equal_seeds_give_equal_batches_however_they_are_cut() -> None:
    uniform = order(GRAPH, 60)
    whole = begun(Walk()).collect(uniform)
    parts = begun(Walk())
    pieces = [parts.collect(order(GRAPH, n)).counts for n in (1, 2, 4, 53)]
    assert np.sum(pieces, axis=0).tolist() == whole.counts.tolist()
    assert begun(Walk(), seed=2).collect(uniform).counts.tolist() != whole.counts.tolist()


def test_a_run_goes_on_from_a_state_in_another_process_and_after_an_interruption() -> None:
    source = begun(Walk())
    source.collect(order(GRAPH, 10))
    state = source.state()
    expected = source.collect(order(GRAPH, 25)).counts.tolist()
    other = begun(Walk(), seed=99)
    other.collect(order(GRAPH, 3))
    other.restore(state)
    assert pack(other.state()) == pack(state)
    assert other.collect(order(GRAPH, 25)).counts.tolist() == expected

    class Interrupted(Walk):
        left = 20

        def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return super().step(action)

    third = begun(Interrupted())
    third.restore(state)
    with pytest.raises(KeyboardInterrupt):
        third.collect(order(GRAPH, 25))
    assert pack(third.state()) == pack(state)
    assert third.collect(order(GRAPH, 25)).counts.tolist() == expected


def test_an_environment_without_a_seed_is_played_and_said_not_to_repeat_itself() -> None:
    class Unseeded(Walk):
        def reset(self) -> tuple[Any, dict[str, Any]]:  # type: ignore[override]
            return super().reset(random.getrandbits(30))

    source = begun(Unseeded())
    assert source.collect(order(GRAPH, 5)).trajectories == 5
    assert codes_of(source.report()) == (DiagnosticCode.NO_SEED,)


# -- what is observed ----------------------------------------------------------------------------------------


def test_observed_episodes_show_the_graph() -> None:
    labels = {"middle": lambda s: s == 2, "low": [0, 1]}
    seen = observe(Walk(), 500, actions=["right", "left"], labels=labels, rest=False)
    graph = seen.graph
    assert graph.rest is None
    assert (graph.states, graph.choices, graph.transitions) == (GRAPH.states, GRAPH.choices, GRAPH.transitions)
    assert graph.state_name(graph.initial) == "0"
    names = {name: {graph.state_name(int(s)) for s in np.flatnonzero(m)} for name, m in graph.labels.items()}
    assert names == {
        "terminated": {"4"}, "goal": set(), "fail": {"4"}, "unexplored": set(), "middle": {"2"}, "low": {"0", "1"},
    }  # fmt: skip
    assert not seen.entry
    assert np.unique(graph.rewards["cost"].transition).tolist() == [0, 1]
    assert seen.actions.count(None) == 1
    assert (seen.notes[0].code, seen.notes[0].data["unlisted"]) == (DiagnosticCode.EPISODES_GRAPH, Unlisted.MISSING)
    again = observe(Walk(), 500, actions=["right", "left"], rest=False)
    assert again.graph.successor.tolist() == graph.successor.tolist()


def test_whatever_was_not_observed_is_anything_else() -> None:
    seen = observe(Walk(), 500, actions=["right", "left"])
    plain = observe(Walk(), 500, actions=["right", "left"], rest=False)
    graph = seen.graph
    rest = graph.rest
    assert rest == graph.states - 1
    assert graph.state_name(rest) == "anything else"
    assert graph.states == plain.graph.states + 2  # the state before the episode, too: it may start elsewhere
    assert seen.entry
    assert graph.state_name(graph.initial) == "start"
    for c in range(graph.choices):
        successors = graph.successor[graph.choice_ptr[c] : graph.choice_ptr[c + 1]].tolist()
        taken = seen.actions[c] is not None or graph.action_name(c) == "reset"
        assert (rest in successors) == (taken or graph.choice_state[c] == rest)
    paid = graph.rewards["cost"].transition
    assert paid is not None
    assert not paid[graph.successor == rest].any()
    assert (seen.notes[0].code, seen.notes[0].data["unlisted"]) == (DiagnosticCode.EPISODES_GRAPH, Unlisted.COUNTED)


def test_steps_that_were_never_observed_are_counted_as_anything_else() -> None:
    seen = observe(Walk(), 500, actions=["right", "left"])
    source = begun(Stray(), seen.graph, actions=seen.actions, entry=True)
    batch = source.collect(order(seen.graph, 2000))
    beyond = int(batch.counts[seen.graph.successor == seen.graph.rest].sum())
    assert beyond > 50
    assert batch.counts.sum() == batch.steps == source.provenance().rows
    assert (source.provenance().rest, source.provenance().unlisted) == (True, 0)
    led = stated(source.report()[0])
    assert (led.code, led.data["beyond"], led.data["steps"]) == (DiagnosticCode.BEYOND_GRAPH, beyond, batch.steps)
    again = begun(Stray(), seen.graph, actions=seen.actions, entry=True)
    again.restore(source.state())
    assert again.report() == source.report()


def test_an_episode_that_starts_where_none_did_is_anything_else() -> None:
    class Shifting(Walk):
        begun = 0

        def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
            super().reset(seed)
            self.begun += 1
            self.at = 0 if self.begun <= 500 else 2
            return self.at, {}

    env = Shifting()
    seen = observe(env, 500, actions=["right", "left"])
    source = begun(env, seen.graph, actions=seen.actions, entry=True)
    batch = source.collect(order(seen.graph, 10))
    assert (batch.trajectories, batch.steps) == (10, 10)
    assert batch.counts[seen.graph.successor == seen.graph.rest].sum() == 10


def test_labels_name_states_that_exist() -> None:
    with pytest.raises(ModelError, match='label "far": there is no state 44; the nearest is 4'):
        observe(Walk(), 50, actions=["right", "left"], labels={"far": [44]})
    with pytest.raises(ModelError, match=r'label "far": there is no state .*; some of the states are 0, 1'):
        observe(Walk(), 50, actions=["right", "left"], labels={"far": ["zzz"]})


def test_a_state_that_was_reached_but_never_left_is_unexplored() -> None:
    seen = observe(Walk(), 1, actions=["right"], horizon=1, seed=1)
    graph = seen.graph
    unexplored = np.flatnonzero(graph.labels["unexplored"])
    assert [graph.state_name(int(s)) for s in unexplored] in (["1"], [])
    for s in unexplored:  # nobody knows what follows
        assert graph.successor[graph.choice_ptr[graph.state_ptr[s]]] == graph.rest
        assert graph.action_name(int(graph.state_ptr[s])) == "unknown"
    with pytest.raises(ModelError, match="no step was observed"):
        observe(Walk(), 0, actions=["right"])
    with pytest.raises(ModelError, match="the action space of Walk is None, not discrete; give actions, a list"):
        observe(Walk(), 5)


# -- environments that fail ----------------------------------------------------------------------------------


class Breaking(Walk):
    """Raises in the 30th step, or the 5th reset, if it is told to."""

    steps_left, resets_left = 30, 10**9

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        self.resets_left -= 1
        if self.resets_left == 0:
            raise RuntimeError("no\nmore")
        return super().reset(seed)

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps_left -= 1
        if self.steps_left == 0:
            raise ZeroDivisionError
        return super().step(action)


def test_an_exception_in_an_environment_is_one_error_with_its_place_and_nothing_is_lost() -> None:
    source = begun(Breaking())
    first = source.collect(only_right(2))
    state = source.state()
    with pytest.raises(
        ModelError, match=r"^step\('right'\) of Breaking raised ZeroDivisionError \(episode \d, step \d+\)$"
    ) as caught:
        source.collect(only_right(1000))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert pack(source.state()) == pack(state)  # as after the batch before, so that the run goes on from there
    assert source.provenance().rows == first.steps
    expected = begun(Walk())
    expected.restore(state)
    assert source.collect(only_right(10)).counts.tolist() == expected.collect(only_right(10)).counts.tolist()

    class Tired(Breaking):
        resets_left = 5

    with pytest.raises(ModelError, match=r"reset of Tired raised RuntimeError: no more \(episode 5, reset\)"):
        begun(Tired()).collect(only_right(1000, horizon=1))
    with pytest.raises(ModelError, match=r"raised ZeroDivisionError \(episode \d+, step \d+\)"):
        observe(Breaking(), 100, actions=["right"])


@pytest.mark.parametrize(
    ("observation", "reward", "message"),
    [
        (float("nan"), 0.0, r"observations of Odd: nan is not a number and cannot be a state"),
        (np.float64("nan"), 0.0, r"observations of Odd: nan is not a number"),
        ((1, float("nan")), 0.0, r"observations of Odd: \(1, nan\) is not a number"),
        (0, float("nan"), r"step of Odd returned the reward nan; a reward is a finite number \(episode 1, step 1\)"),
        (0, float("inf"), r"returned the reward inf; a reward is a finite number"),
        (0, "ten", r"returned the reward 'ten'; a reward is a finite number"),
        (0, None, r"returned the reward None; a reward is a finite number"),
    ],
)
def test_what_is_not_a_number_is_refused(observation: Any, reward: Any, message: str) -> None:
    class Odd(Walk):
        def step(self, action: str) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
            return observation, reward, False, False, {}

    with pytest.raises(ModelError, match=message):
        begun(Odd()).collect(only_right(10))
    with pytest.raises(ModelError, match=message):
        observe(Odd(), 10, actions=["right"])


def test_a_state_of_that_fails_is_named() -> None:
    source = begun(Walk(), state_of=lambda o: o["place"])
    with pytest.raises(ModelError, match=r"observations of Walk: state_of raised TypeError: .*, for 0"):
        source.collect(only_right(1))
