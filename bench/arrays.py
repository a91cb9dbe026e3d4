"""Benchmark models generated as arrays; each builder takes the number of transitions wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp import MDP, Rewards

__all__ = ["clusters", "grid", "layered", "random_sparse", "ruin", "wide"]

Array = NDArray[Any]


def _uniform(states: int, choices: int, width: int, successor: Array, probability: Array, **annotations: Any) -> MDP:
    """Return the MDP in which every state has `choices` choices and every choice `width` transitions."""
    return MDP(
        np.arange(states + 1) * choices,
        np.arange(states * choices + 1) * width,
        successor.reshape(-1),
        probability.reshape(-1),
        **annotations,
    )


def _shares(rng: np.random.Generator, rows: int, width: int) -> Array:
    """Return `rows` distributions, none of their entries below 0.05 / `width`."""
    p = rng.random((rows, width)) + 0.1
    p /= p.sum(axis=1, keepdims=True)
    return p


def grid(transitions: int) -> MDP:
    """Return a slippery grid: four moves, a side step on either side with probability 0.1, walls that stop.

    One large component. A fifth of the cells are traps; they may be crossed at ten times the cost.
    """
    n = max(round((transitions / 12) ** 0.5), 4)
    cells = n * n
    row, column = np.divmod(np.arange(cells), n)
    steps = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
    to = np.empty((cells, 4), dtype=np.int64)
    for move, (down, right) in enumerate(steps):
        to[:, move] = np.clip(row + down, 0, n - 1) * n + np.clip(column + right, 0, n - 1)
    turn = np.arange(4)
    successor = np.stack([to, to[:, (turn + 1) % 4], to[:, (turn + 3) % 4]], axis=2)
    probability = np.broadcast_to(np.array([0.8, 0.1, 0.1]), successor.shape)
    trap = np.random.default_rng(1).random(cells) < 0.2
    goal = np.zeros(cells, dtype=np.bool_)
    goal[cells - 1] = True
    trap[[0, cells - 1]] = False
    cost = np.where(trap, 10.0, 1.0)
    return _uniform(
        cells, 4, 3, successor, probability, labels={"goal": goal, "trap": trap}, rewards={"cost": Rewards(state=cost)}
    )


def random_sparse(transitions: int, successors: int = 5, seed: int = 2) -> MDP:
    """Return a random MDP: two or three choices of five successors each; one state in ten is absorbing."""
    rng = np.random.default_rng(seed)
    states = max(round(transitions / (0.9 * 2.5 * successors + 0.1)), 20)
    end = rng.random(states) < 0.1
    goal = end & (rng.random(states) < 0.5)
    end[0] = goal[0] = False
    end[-2:], goal[-2:] = True, [False, True]
    choices = np.where(end, 1, rng.integers(2, 4, states))
    state_ptr = np.concatenate([[0], np.cumsum(choices)])
    of = np.repeat(np.arange(states), choices)
    width = np.where(end[of], 1, successors)
    choice_ptr = np.concatenate([[0], np.cumsum(width)])
    successor = rng.integers(0, states, choice_ptr[-1])
    weight = rng.random(choice_ptr[-1]) + 0.1
    loops = choice_ptr[:-1][end[of]]
    successor[loops] = of[end[of]]
    probability = weight / np.repeat(np.add.reduceat(weight, choice_ptr[:-1]), width)
    cost = np.where(end[of], 0.0, rng.integers(1, 10, of.size))
    return MDP(
        state_ptr, choice_ptr, successor, probability,
        labels={"goal": goal, "end": end}, rewards={"cost": Rewards(choice=cost)},
    )  # fmt: skip


def wide(transitions: int) -> MDP:
    """Return a random MDP whose choices have fifty successors each."""
    return random_sparse(transitions, successors=50, seed=3)


def ruin(transitions: int, length: int = 300) -> MDP:
    """Return gambler's ruins: long lines with a bold and a timid game, both slightly favourable; they mix slowly.

    The line that is played, one of `transitions` / 1500, is drawn first.
    """
    lines = max(transitions // (5 * length), 1)
    length = min(length, max(transitions // 5, 50))
    place = np.arange(length)
    line = np.arange(lines)[:, None] * length
    up, down = np.minimum(place + 1, length - 1), np.maximum(place - 1, 0)
    successor = np.empty((lines, length, 2, 3), dtype=np.int64)
    successor[..., 0] = (line + up)[:, :, None]
    successor[..., 1] = (line + down)[:, :, None]
    successor[..., 2] = (line + place)[:, :, None]
    edge = np.linspace(0.01, 0.02, lines)[:, None]
    probability = np.empty((lines, length, 2, 3))
    probability[:, :, 0, :] = np.stack([0.5 + edge, 0.5 - edge, 0 * edge], axis=2)
    probability[:, :, 1, :] = np.stack([0.25 + edge, 0.25 - edge, 0 * edge + 0.5], axis=2)
    for end in (0, length - 1):
        successor[:, end] = (line + end)[:, :, None]
        probability[:, end] = [1, 0, 0]
    states = lines * length
    over = np.zeros((lines, length), dtype=np.bool_)
    over[:, [0, -1]] = True
    rich = over.copy()
    rich[:, 0] = False
    last = np.zeros(1, dtype=np.bool_)
    over, rich = np.concatenate([over.reshape(-1), last]), np.concatenate([rich.reshape(-1), last])
    # The draw is the last state.
    return MDP(
        np.concatenate([np.arange(states + 1) * 2, [2 * states + 1]]),
        np.concatenate([np.arange(2 * states + 1) * 3, [6 * states + lines]]),
        np.concatenate([successor.reshape(-1), line[:, 0] + 20]),
        np.concatenate([probability.reshape(-1), np.full(lines, 1 / lines)]),
        initial=states, labels={"rich": rich, "end": over},
        rewards={"games": Rewards(state=np.where(over, 0.0, 1.0))},
    )  # fmt: skip


def layered(transitions: int) -> MDP:
    """Return a betting game of many rounds: three stakes, each won or lost; acyclic."""
    rounds = max(round((transitions / 6) ** 0.5), 8)
    wealth = np.arange(rounds)
    layer = np.arange(rounds)[:, None] * rounds
    successor = np.empty((rounds, rounds, 3, 2), dtype=np.int64)
    following = np.minimum(layer + rounds, (rounds - 1) * rounds)
    for stake in range(3):
        successor[:, :, stake, 0] = following + np.minimum(wealth + stake, rounds - 1)
        successor[:, :, stake, 1] = following + np.maximum(wealth - stake, 0)
    last = (rounds - 1) * rounds
    successor[-1] = (last + wealth)[:, None, None]
    probability = np.broadcast_to(np.array([0.55, 0.45]), successor.shape)
    final = np.zeros(rounds * rounds, dtype=np.bool_)
    final[last:] = True
    rich = final.copy()
    rich[last : last + rounds * 3 // 5] = False
    # What is left at the end is paid on the step into the last layer.
    paid = np.zeros((rounds, rounds, 3))
    paid[-2] = wealth[:, None] + 1.0
    return _uniform(
        rounds * rounds, 3, 2, successor, probability, initial=rounds // 2,
        labels={"end": final, "rich": rich}, rewards={"wealth": Rewards(choice=paid.reshape(-1))},
    )  # fmt: skip


def clusters(transitions: int, size: int = 10) -> MDP:
    """Return a shortest-path problem of many small components: rings that are left, forwards only, by luck."""
    rng = np.random.default_rng(4)
    rings = max(transitions // (size * 2 * 3), 4)
    states = rings * size
    number = np.arange(states)
    ring, place = np.divmod(number, size)
    around = ring * size + (place + 1) % size
    back = ring * size + (place + size - 1) % size
    successor = np.empty((states, 2, 3), dtype=np.int64)
    for choice in range(2):
        ahead = np.minimum(ring + 1 + rng.integers(0, 3, states), rings - 1)
        successor[:, choice, 0] = around
        successor[:, choice, 1] = back
        successor[:, choice, 2] = ahead * size + rng.integers(0, size, states)
    probability = _shares(rng, states * 2, 3).reshape(states, 2, 3)
    last = ring == rings - 1
    successor[last] = number[last, None, None]
    broken = last & (place < 3)
    cost = np.where(last[:, None], 0.0, rng.integers(1, 6, (states, 2)))
    return _uniform(
        states, 2, 3, successor, probability, labels={"end": last, "goal": last & ~broken},
        rewards={"cost": Rewards(choice=cost.reshape(-1))},
    )  # fmt: skip
