"""Gymnasium environments: the graph from the table they carry, from the user, or from what is observed."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import MissingExtra, ModelError, UmdpError
from umdp.model import MDP, Graph
from umdp.model.gymnasium_table import read_table
from umdp.model.interface import Interface
from umdp.source.environments.environment import Environment
from umdp.source.environments.exploration import RESET, Observed, observe
from umdp.source.environments.naming import importing_here, named
from umdp.source.environments.protocol import name_of
from umdp.source.logs.rejected import OnError
from umdp.source.observed_graph import LabelOf, label_members
from umdp.statements import DiagnosticCode, Statement, say

__all__ = ["Gymnasium", "environment_table", "make", "table_model"]
OUTSIDE = -1  # the value of every variable in a state that is added to the table
# Wrappers that leave observations, rewards and probabilities as they are.
HARMLESS = {
    "Autoreset",
    "HumanRendering",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RecordEpisodeStatistics",
    "RecordVideo",
    "RenderCollection",
    "TimeLimit",
}


class Gymnasium(Environment):
    """A Gymnasium environment, by its id or as it is.

    The graph is that of the environment's table ``P`` where it has one; the table is then also the `truth`. Otherwise it is
    the one given, or what is seen in exploratory episodes, which `report` says. Where an episode can start in several
    states, an initial state is added, whose one choice, ``reset``, leads to them.

    Labels: ``terminated``, ``goal`` (terminated with positive reward), ``fail`` (terminated without), and those given.
    Rewards that are never positive become the reward structure ``cost``, rewards that are never negative ``reward``. Those of
    both signs are shifted, at the end of an episode or in every step, which `report` says; snapshots and `umdp learn` show the
    return in the environment's own units.

    Parameters
    ----------
    env : str or object
        The id of an environment, such as ``FrozenLake-v1`` or ``gym:FrozenLake-v1,map_name=8x8``, or an environment.
    graph : Graph, optional
        Takes the place of the table.
    labels : mapping, optional
        Functions of a state (of an observation), or lists of states.
    reward_of : function, optional
        Turns rewards into others, such as ``lambda r: min(r, 0)`` to leave costs only.
    state_of : function, optional
        Turns an observation into a hashable state.
    actions, entry
        For a graph that is given: as for `Environment`.
    episodes : int, optional
        How many exploratory episodes to play if there is no other graph; otherwise until they show little that is new.
    explore_steps, explore_seconds : optional
        After how many steps, or how long, they end with what they have shown; see `observe`. `explored` is how many were taken.
    tell : function, optional
        Is told, in a line, that exploration begins.
    rest : bool
        Whether the choices of an observed graph have the outcome "anything else", on which steps that it does not list are
        counted; see `observe`.
    on_error : {"fail", "skip"}, optional
        Whether a step to where the graph has no transition, not even to "anything else", is an error, or ends its trajectory and
        is reported. By default an error, unless the graph is what was observed.
    **options
        For `gymnasium.make`, where an id is given.

    Examples
    --------
    >>> source = Gymnasium("gym:FrozenLake-v1", is_slippery=True)
    >>> source.graph
    Graph with 16 states, 64 choices, 148 transitions; initial state 0; labels "terminated", "goal", "fail"; rewards "reward"
    """

    def __init__(
        self,
        env: Any,
        graph: Graph | None = None,
        *,
        labels: Mapping[str, LabelOf] | None = None,
        reward_of: Callable[[float], float] | None = None,
        state_of: Callable[[Any], Hashable] | None = None,
        actions: Sequence[Any] | None = None,
        entry: bool = False,
        episodes: int | None = None,
        explore_steps: int | None = None,
        explore_seconds: float | None = None,
        tell: Callable[[str], None] | None = None,
        rest: bool = True,
        on_error: OnError | None = None,
        **options: Any,
    ) -> None:
        env, name = make(env, **options)
        self.explored: int | None = None
        self._notes: tuple[Statement, ...] = ()
        truth: MDP | None = None
        seen: Observed | None = None
        table = None if graph is not None else _table(env, state_of)
        if graph is not None:
            if labels:
                raise ModelError(
                    "labels are for a graph made from the environment; the graph that was given has its own"
                )
        elif table is not None:
            where = positions(env, len(table))
            truth, entry, note = table_model(table, _starts(env, len(table)), labels or {}, reward_of, where)
            graph, self._notes = truth.graph, () if note is None else (note,)
            own = [action for s in range(len(table)) for action in table[s]]
            actions = [*own, None] if entry else own
        else:
            seen = observe(
                env, episodes, actions=actions, state_of=state_of, labels=labels, rest=rest, reward_of=reward_of,
                most_steps=explore_steps, seconds=explore_seconds, tell=tell,
            )  # fmt: skip
            graph, actions, entry = seen.graph, seen.actions, seen.entry
            self.explored, self._graph_from, self._notes = seen.steps, "observed", seen.notes
            wrapper = changing_wrapper(env, state_of)
            if wrapper is not None and hasattr(env.unwrapped, "P"):
                self._notes += (say(DiagnosticCode.TABLE_CHANGED, wrapper=wrapper),)
            on_error = on_error or "skip"
        super().__init__(
            env, graph, state_of=state_of, actions=actions, entry=entry, truth=truth, on_error=on_error or "fail"
        )
        if truth is not None or seen is not None:  # rewards of a graph that was given are not the environment's
            number, ended = (None, None) if seen is None else (seen.number, seen.ended)
            self._attach(Interface(tuple(self._interface.actions), entry, state_of, number, ended, reward_of or float))
        if seen is not None and "reward" in seen.graph.rewards:
            self._expect(seen.paid, reward_of or float)
        self.name = name

    def report(self) -> list[str]:
        """Return where the graph is from, if it is a guess, and what is unusual about the data."""
        return [*(note.about(self.name) for note in self._notes), *super().report()]


def make(env: Any, **options: Any) -> tuple[Any, str]:
    """Return the environment with a name, such as ``gym:FrozenLake-v1,map_name=8x8``, and its id; or the one given, and its name.

    Modules in the current folder are found, as in ``my_module:Maze-v0``.
    """
    if not isinstance(env, str):
        if options:
            raise ModelError(f"options ({', '.join(options)}) are for an environment that is given by its id")
        spec = getattr(env, "spec", None)
        return env, str(getattr(spec, "id", None) or name_of(env))
    asked = named(env)
    twice = next((name for name in asked.options if name in options), None)
    if twice is not None:
        raise ModelError(f"gym:{asked.id}: {twice} is given twice")
    given = {**asked.options, **options}
    try:
        import gymnasium
    except ImportError:
        raise MissingExtra("gym", "playing Gymnasium environments") from None
    try:
        with warnings.catch_warnings(record=True) as warned, importing_here() if asked.module else nullcontext():
            warnings.simplefilter("always")
            registered, note = _registered(asked.id)
            env = gymnasium.make(registered, disable_env_checker=True, **given)
        for each in warned:
            said = " ".join(re.sub(r"\x1b\[\d*m|WARN: ", "", str(each.message)).split())
            warnings.warn(said, each.category, stacklevel=3)
        if note is not None:
            warnings.warn(note, UserWarning, stacklevel=3)
        return env, asked.id
    except gymnasium.error.Error as error:
        said = " ".join(str(error).split())
        raise ModelError(f"gym:{asked.id}: {said}") from None
    except TypeError as error:
        raise ModelError(f"gym:{asked.id}: the environment does not take these options: {error}") from None
    except UmdpError:
        raise
    except ModuleNotFoundError as error:
        raise ModelError(
            f"gym:{asked.id}: {error}; modules are looked for in this folder and among those that are installed"
        ) from None
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        shown = ", ".join(f"{name}={value}" for name, value in given.items())
        raise ModelError(
            f"gym:{asked.id}: the environment cannot be made{f' with {shown}' if shown else ''} ({said})"
        ) from error


def _registered(name: str) -> tuple[Any, str | None]:
    """Return what is registered by a name, and what there is to say of its version; the name, where nothing is."""
    from gymnasium.envs.registration import find_highest_version, get_env_id, parse_env_id, registry

    module, _, id = name.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError:
            return name, None  # Gymnasium says what is wrong
    namespace, plain, version = parse_env_id(id)
    latest = find_highest_version(namespace, plain)
    if version is None and latest is not None:
        taken = get_env_id(namespace, plain, latest)
        return registry[taken], f"gym:{name} names no version; {taken} is taken"
    newer = version is not None and latest is not None and latest > version
    return registry.get(id, name), f"gym:{name} is out of date; there is v{latest}" if newer else None


def environment_table(env: Any, state_of: Callable[[Any], Hashable] | None = None) -> tuple[Graph, bool] | None:
    """Return the graph of an environment's table, and whether an initial state was added to it; None without a table."""
    table = _table(env, state_of)
    if table is None:
        return None
    truth, entry, _ = table_model(table, _starts(env, len(table)), {})
    return truth.graph, entry


def table_model(
    table: Mapping[int, Mapping[int, Sequence[Any]]],
    starts: np.ndarray[Any, np.dtype[np.float64]],
    labels: Mapping[str, LabelOf],
    reward_of: Callable[[float], float] | None = None,
    variables: Mapping[str, np.ndarray[Any, np.dtype[np.int64]]] | None = None,
) -> tuple[MDP, bool, Statement | None]:
    """Return the MDP of a table, whether an initial state was added, and what was done to rewards of both signs, if so.

    `starts` is the probability of each state to be the first of an episode, shape (S,). If there is more than one, the last
    state of the MDP is an additional one, before the episode.
    """
    members = {name: label_members(name, given, range(len(table))) for name, given in labels.items()}
    arguments, note = read_table(table, int(np.argmax(starts)), {"labels": members}, reward_of)
    arguments["variables"] = dict(variables or {})
    arguments["state_names"] = [*map(str, range(len(table)))] if variables else None
    entry = np.count_nonzero(starts) > 1
    if entry:
        arguments = _with_entry(arguments, starts)
    return MDP(**arguments), bool(entry), note


def _with_entry(arguments: dict[str, Any], starts: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Return the arguments of an MDP with one more state, the initial one, from which `starts` are reached."""
    first = np.flatnonzero(starts)
    states, choices = arguments["state_ptr"].size - 1, arguments["choice_ptr"].size - 1
    # What is added to every step is added to the reset, too, so that it comes off the sum of k steps k times.
    rewards = {
        name: each.with_transition(
            np.append(each.transition, np.full(first.size, each.units.every if each.units else 0.0))
        )
        for name, each in arguments["rewards"].items()
    }
    return {
        **arguments,
        "state_ptr": np.append(arguments["state_ptr"], choices + 1),
        "choice_ptr": np.append(arguments["choice_ptr"], arguments["choice_ptr"][-1] + first.size),
        "successor": np.append(arguments["successor"], first).astype(np.int32),
        "probability": np.append(arguments["probability"], starts[first] / starts.sum()),
        "initial": states,
        "actions": [*arguments["actions"], RESET],
        "labels": {name: np.append(members, False) for name, members in arguments["labels"].items()},
        "rewards": rewards,
        "variables": {name: np.append(values, OUTSIDE) for name, values in arguments["variables"].items()},
        "state_names": [*map(str, range(states)), "start"],
    }


def _table(env: Any, state_of: Callable[[Any], Hashable] | None) -> Mapping[int, Mapping[int, Sequence[Any]]] | None:
    """Return the environment's table, if its observations are the states of the table."""
    table = getattr(getattr(env, "unwrapped", env), "P", None)
    if not isinstance(table, Mapping) or changing_wrapper(env, state_of) is not None:
        return None
    space = getattr(env, "observation_space", None)
    seen = state_of is not None or space is None or getattr(space, "n", None) == len(table)
    return table if seen else None


def changing_wrapper(env: Any, state_of: Callable[[Any], Hashable] | None = None) -> str | None:
    """Return the name of a wrapper that may change what happens, so that a table inside does not tell it; None without."""
    inner = getattr(env, "unwrapped", env)
    while env is not inner and hasattr(env, "env"):
        kinds = [kind.__name__ for kind in type(env).__mro__]
        # Observations may be anything where the user says which states they stand for.
        if kinds[0] not in HARMLESS and not (state_of is not None and "ObservationWrapper" in kinds):
            return kinds[0]
        env = env.env
    return None


def _starts(env: Any, states: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the probability of each state to be the first; that of a single reset where the environment does not tell."""
    given = getattr(getattr(env, "unwrapped", env), "initial_state_distrib", None)
    if given is not None:
        return np.asarray(given, dtype=np.float64)
    starts = np.zeros(states)
    starts[int(env.reset()[0])] = 1.0
    return starts


def positions(env: Any, states: int) -> Mapping[str, NDArray[np.int64]]:
    """Return variables x and y, rows counted from the top, for an environment whose states are cells; others have none.

    FrozenLake has `nrow` and `ncol`, CliffWalking `shape`, and Taxi decodes a state into row, column, passenger, destination.

    Examples
    --------
    >>> class Lake:
    ...     nrow, ncol = 2, 2
    >>> positions(Lake(), 4)
    {'x': array([0, 1, 0, 1]), 'y': array([0, 0, 1, 1])}
    """
    bare = getattr(env, "unwrapped", env)
    shape = getattr(bare, "shape", (getattr(bare, "nrow", 0), getattr(bare, "ncol", 0)))
    decode = getattr(bare, "decode", None)
    try:
        if callable(decode):
            rows = [[int(part) for part in decode(state)] for state in range(states)]
            if {len(row) for row in rows} != {4}:
                return {}
            y, x, passenger, destination = np.array(rows, dtype=np.int64).T
            return {"x": x, "y": y, "passenger": passenger, "destination": destination}
        height, width = (int(side) for side in shape)
    except Exception:  # whatever an environment by these names means by them, it is no map
        return {}
    if height < 1 or width < 1 or height * width != states:
        return {}
    return {"x": np.arange(states) % width, "y": np.arange(states) // width}
