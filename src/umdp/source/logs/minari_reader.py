"""Reading rows from a Minari data set, an episode at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from umdp.errors import FormatError, MissingExtra
from umdp.source.environments.protocol import freeze
from umdp.source.logs.prefix import Prefix
from umdp.source.logs.reader import Reader
from umdp.source.logs.row_decoding import Chunk, Triple
from umdp.source.logs.trajectory_ends import RecordingEnds

__all__ = ["MinariReader"]


class MinariReader(Reader):
    """Steps of the episodes of a Minari data set; an episode is a trajectory.

    Parameters
    ----------
    dataset : str or object
        The name of a local data set, or the data set itself: what has `total_episodes` and `iterate_episodes`.
    state_of : function, optional
        Turns an observation into the name or number of a state.
    """

    header = ("reward",)

    def __init__(self, dataset: Any, state_of: Callable[[Any], Hashable] | None = None) -> None:
        if isinstance(dataset, str):
            dataset = _load(dataset)
        self._dataset, self._state_of = dataset, state_of
        self.name = str(getattr(getattr(dataset, "spec", None), "dataset_id", "data set"))
        self._episodes = int(dataset.total_episodes)
        self.begin()
        self.ends = RecordingEnds("terminations", told_apart=True)

    @property
    def over(self) -> bool:
        """Whether all episodes have been read."""
        return self._episode >= self._episodes

    def begin(self) -> dict[str, int]:
        """Go to the first episode."""
        self._episode = self._step = 0
        self._ahead: Iterator[Any] | None = None
        self._prefix, self._summed = Prefix(), 0
        return {"episode": 0, "step": 0}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go to a step of an episode."""
        if int(position["episodes"]) != self._episodes:
            raise FormatError(
                f"the data set has {self._episodes} episodes; it had {position['episodes']} when the run began",
                path=self.name,
            )
        episode, step = int(position["episode"]), int(position["step"])
        self.begin()
        while self._episode < episode + (step > 0):
            self._next()
        self._prefix.compare(position, self.name)
        self._episode, self._step, self._ahead = episode, step, None

    def evidence(self, position: Mapping[str, Any]) -> dict[str, Any]:
        """Return the number of episodes, and the checksum of those that were read."""
        return {"episodes": self._episodes, **self._prefix.state()}

    def read(self) -> Chunk | None:
        """Return the steps of the next episode; the last of an episode that terminated is an end."""
        if self.over:
            return None
        number, first = self._episode, self._step
        rows, terminated, rewards = self._next()
        rows, rewards, self._step = rows[first:], rewards[first:], 0
        size = len(rows)
        over = np.zeros(size, np.bool_)
        over[-1:] = True
        return Chunk(
            size,
            np.arange(size),
            rows,
            [number] * size,
            over,
            over & terminated,
            {},
            [rewards for _ in self._extra],
            lambda step: (f"episode {number}, step {first + step}", None),
            lambda step: rows[step],
            lambda taken: (
                {"episode": number, "step": first + taken} if taken < size else {"episode": number + 1, "step": 0}
            ),
        )

    def _next(self) -> tuple[list[Triple], bool, list[Any]]:
        """Return the steps of the next episode, whether it terminated, and the rewards of the steps."""
        if self._ahead is None:
            self._ahead = iter(self._dataset.iterate_episodes(list(range(self._episode, self._episodes))))
        episode = next(self._ahead)
        where = f"{self.name}, episode {self._episode}"
        states = [freeze(each, self._state_of, where) for each in episode.observations]
        actions = [freeze(each, None, where) for each in episode.actions]
        if len(states) != len(actions) + 1:
            raise FormatError(
                f"episode {self._episode} has {len(actions)} actions and {len(states)} observations; there must be one more "
                "observation than actions",
                path=self.name,
            )
        rows = list(zip(states, actions, states[1:], strict=False))
        self._episode += 1
        if self._episode > self._summed:
            self._prefix.extend(repr(rows).encode())
            self._summed = self._episode
        rewards = getattr(episode, "rewards", None)
        paid = [None] * len(rows) if rewards is None or len(rewards) != len(rows) else np.asarray(rewards).tolist()
        return rows, bool(np.any(getattr(episode, "terminations", False))), paid


def _load(name: str) -> Any:
    try:
        import minari
    except ImportError:
        raise MissingExtra("gym", "reading Minari data sets") from None
    try:
        return minari.load_dataset(name)
    except ImportError as error:
        raise FormatError(f"Minari needs more to read this data set: {error}", path=name) from None
    except (FileNotFoundError, ValueError) as error:
        raise FormatError(
            f"there is no such data set on this machine; download it with: minari download {name} ({error})", path=name
        ) from None
