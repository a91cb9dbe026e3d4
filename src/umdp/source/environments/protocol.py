"""The protocol of environments, `reset` and `step` as in Gymnasium, with errors that say which rule was broken, and where."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from umdp.errors import ModelError, UmdpError
from umdp.model.interface import brief, freeze

__all__ = ["Move", "Protocol", "Step", "allowed", "freeze", "name_of", "random_episode"]


class Step(NamedTuple):
    """What a step gave."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]

    @property
    def last(self) -> bool:
        """Whether the episode is over with it."""
        return self.terminated or self.truncated


class Move(NamedTuple):
    """A step between states, and the info before it; the beginning of an episode has only the state that it led to."""

    state: Hashable
    action: Any
    successor: Hashable
    step: Step | None
    info: Mapping[str, Any]


class Protocol:
    """The protocol of an environment: its `reset` and `step`, held to what Gymnasium promises of them.

    Whatever they raise becomes a `ModelError` that says in which episode, and with which step of it.

    Every trajectory starts with `reset`, so that the step with which `gymnasium.wrappers.Autoreset` starts a new episode is
    never taken for a transition. Where the environment resets within the last step of an episode, that step's own last
    observation (``info["final_obs"]``) is used.

    Attributes
    ----------
    seeded : whether `reset` takes a seed
    episode, steps : the number of the episode, from 1, and the steps taken in it
    """

    def __init__(self, env: Any) -> None:
        for method in ("reset", "step"):
            if not callable(getattr(env, method, None)):
                raise ModelError(
                    f"{name_of(env)} has no method {method}; an environment has reset and step, as in Gymnasium"
                )
        if hasattr(env, "num_envs"):
            raise ModelError(
                f"{name_of(env)} steps {env.num_envs} environments at once; give a single one, such as gymnasium.make(...)"
            )
        self.env = env
        self.seeded = _takes_seed(env.reset)
        self.episode = self.steps = 0

    def reset(self, seed: int | None = None) -> tuple[Any, Mapping[str, Any]]:
        """Start an episode; return the first observation and the info."""
        self.episode, self.steps = self.episode + 1, 0
        given = self._call("reset", seed=seed) if self.seeded and seed is not None else self._call("reset")
        if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], Mapping):
            raise ModelError(
                f"reset of {name_of(self.env)} returned {brief(given)}; it must return (observation, info), info being a dict"
            )
        return given

    def step(self, action: Any) -> Step:
        """Take an action."""
        self.steps += 1
        given = self._call("step", action)
        if not isinstance(given, tuple) or len(given) != 5 or not isinstance(given[4], Mapping):
            four = isinstance(given, tuple) and len(given) == 4
            old = "; four values are the rules of Gym before Gymnasium" if four else ""
            raise ModelError(
                f"step of {name_of(self.env)} returned {brief(given)}; it must return "
                f"(observation, reward, terminated, truncated, info){old}"
            )
        observation, reward, terminated, truncated, info = given
        if terminated or truncated:
            for key in ("final_obs", "final_observation"):
                observation = info.get(key, observation)
        try:
            paid = float(reward)
        except (TypeError, ValueError):
            paid = math.nan
        if not math.isfinite(paid):
            raise ModelError(
                f"step of {name_of(self.env)} returned the reward {brief(reward)}; a reward is a finite number ({self.place})"
            )
        return Step(observation, paid, bool(terminated), bool(truncated), info)

    @property
    def place(self) -> str:
        """Where the environment is, in words."""
        return f"episode {self.episode}, " + (f"step {self.steps}" if self.steps else "reset")

    def _call(self, method: str, *given: Any, **named: Any) -> Any:
        """Return what a method of the environment returns; whatever it raises is said with its name and place."""
        try:
            return getattr(self.env, method)(*given, **named)
        except UmdpError:
            raise
        except Exception as error:
            call = f"{method}({brief(given[0])})" if given else method
            said = " ".join(str(error).split())
            raise ModelError(
                f"{call} of {name_of(self.env)} raised {type(error).__name__}{': ' if said else ''}{said} ({self.place})"
            ) from error

    def actions(self) -> list[Any]:
        """Return the actions of a discrete action space."""
        space = getattr(self.env, "action_space", None)
        if space is None or not hasattr(space, "n") or np.ndim(space.n):
            raise ModelError(
                f"the action space of {name_of(self.env)} is {brief(space)}, not discrete; give actions, a list"
            )
        first = int(getattr(space, "start", 0))
        return list(range(first, first + int(space.n)))

    def close(self) -> None:
        """Close the environment, if it can be closed."""
        if callable(getattr(self.env, "close", None)):
            self._call("close")


def name_of(env: Any) -> str:
    """Return what kind of environment it is, whatever it is wrapped in."""
    return type(getattr(env, "unwrapped", env)).__name__


def allowed(actions: Sequence[Any], info: Mapping[str, Any]) -> list[Any]:
    """Return the actions that ``info["action_mask"]`` does not forbid; all of them where there is no mask."""
    mask = info.get("action_mask")
    if mask is None or len(mask) != len(actions) or not np.any(mask):
        return list(actions)
    return [action for action, open_to in zip(actions, mask, strict=True) if open_to]


def random_episode(
    protocol: Protocol,
    actions: Sequence[Any],
    rng: np.random.Generator,
    seed: int | None,
    state_of: Callable[[Any], Hashable] | None,
    *,
    masked: bool = True,
) -> Iterator[Move]:
    """Yield the beginning of an episode, and its steps with actions chosen at random, until it is over.

    Parameters
    ----------
    protocol, actions : the environment, and what may be tried
    rng, seed : what actions are drawn from, and the seed of the reset; None without one
    state_of : turns an observation into a hashable state
    masked : whether actions that ``info["action_mask"]`` forbids are not tried
    """
    where = f"observations of {name_of(protocol.env)}"
    observation, info = protocol.reset(seed)
    move = Move(None, None, freeze(observation, state_of, where), None, {})
    yield move
    while move.step is None or not move.step.last:
        possible = allowed(actions, info) if masked else actions
        action = possible[int(rng.integers(len(possible)))]
        step = protocol.step(action)
        move = Move(move.successor, action, freeze(step.observation, state_of, where), step, info)
        yield move
        info = step.info


def _takes_seed(reset: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(reset).parameters
    except (TypeError, ValueError):
        return True
    return "seed" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
