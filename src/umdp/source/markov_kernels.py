"""The compiled pass over rows that forecasts the outcome of each from the past of its trajectory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from umdp.kernel import kernel

__all__ = ["Choices", "Followed", "forecast"]

Array = NDArray[Any]

NOBODY, STATE, ACTION, STEP, STAY = 0, 1, 2, 3, 4  # places in `now`: what is remembered between rows


@kernel(allocates=False)
def _numbered(ids: Array, value: int) -> int:
    """Return the bucket of a value: buckets are given away in order of appearance, and the last is for all that come late."""
    for bucket in range(ids.size - 1):
        if ids[bucket] == value:
            return bucket
        if ids[bucket] == -2:
            ids[bucket] = value
            return bucket
    return ids.size - 1


@kernel(allocates=False)
def _doublings(number: int, buckets: int) -> int:
    """Return how often a number can be halved, as a bucket."""
    bucket = 0
    while number > 0 and bucket < buckets - 1:
        number >>= 1
        bucket += 1
    return bucket


class Choices(NamedTuple):
    """The graph: of every transition (T,) its choice and successor, of every choice (C,) its state, action and outcomes."""

    choice_of: Array
    successor: Array
    state_of: Array
    action_of: Array
    width: Array


class Followed(NamedTuple):
    """What is remembered of choices that are followed: M of them with R outcomes, in B buckets of P pasts, J strengths.

    visits, slot_of : (C,) visits, and the slot of choices that are followed, otherwise -1
    begin, owner, last : (M,) of every slot its first place among outcomes, its choice, and the rank of its last outcome
    rank_of : (T,) the rank of every outcome by order of appearance, otherwise -1
    ids : (2, M, B) states and actions before, by bucket
    known : (M, 2) outcomes seen of every slot, and rows
    total, base, member : (R,) of every outcome seen, in order of appearance: how often, how many rows came before its first, and
        its transition
    counts, sums : (P, R, B), (P, M, B) how often outcomes, and any outcome, came in each bucket of each past
    gains : (P, M, J) the logarithms of what forecasts gave to outcomes, added up
    now : (5,) the state, the action, the steps and the steps without change before the next row
    used : (2,) slots and places given away
    """

    visits: Array
    slot_of: Array
    begin: Array
    rank_of: Array
    owner: Array
    ids: Array
    last: Array
    known: Array
    total: Array
    base: Array
    member: Array
    counts: Array
    sums: Array
    gains: Array
    now: Array
    used: Array


@kernel
def forecast(transition: Array, begins: Array, choices: Choices, wait: int, strengths: Array, kept: Followed) -> None:
    """Take in rows, and add up the logarithms of what forecasts gave to their outcomes.

    Of each row (n,) the transition (-1: none), and whether a trajectory begins with it. A choice is followed from the visit
    `wait` on. `strengths` (J,) are how many rows of a bucket weigh as much as all rows of the choice.
    """
    now, used, known, total, counts, sums = kept.now, kept.used, kept.known, kept.total, kept.counts, kept.sums
    pasts, _, buckets = sums.shape
    z = np.empty(pasts, np.int64)
    for i in range(transition.size):
        if begins[i]:
            now[STATE] = now[ACTION] = -1
            now[STEP] = now[STAY] = 0
        t = transition[i]
        if t < 0:
            now[STATE] = now[ACTION] = -1
            now[STEP] += 1
            now[STAY] = 0
            continue
        c = choices.choice_of[t]
        kept.visits[c] += 1
        slot, width = kept.slot_of[c], choices.width[c]
        if slot < 0 and kept.visits[c] > wait and used[0] < kept.owner.size and used[1] + width <= total.size:
            slot = used[0]
            kept.slot_of[c], kept.begin[slot], kept.owner[slot] = slot, used[1], c
            used[0] += 1
            used[1] += width
        if slot >= 0:
            first, seen, rows = kept.begin[slot], known[slot, 0], known[slot, 1]
            z[0], z[1] = _numbered(kept.ids[0, slot], now[STATE]), _numbered(kept.ids[1, slot], now[ACTION])
            z[2], z[3], z[4] = _doublings(now[STEP], buckets), now[STEP] & 1, _doublings(now[STAY], buckets)
            z[5] = min(kept.last[slot], buckets - 1)
            rank = kept.rank_of[t]
            if rank < 0:  # an outcome never seen before says nothing here: nobody knew that it was there
                rank = kept.rank_of[t] = seen
                kept.base[first + rank], kept.member[first + rank] = rows, t
                known[slot, 0] += 1
            elif seen > 1:
                share = (total[first + rank] - 0.5) / (rows - 0.5 * seen)
                for k in range(pasts):
                    own, all_rows = counts[k, first + rank, z[k]], sums[k, slot, z[k]]
                    for j in range(strengths.size):
                        kept.gains[k, slot, j] += math.log((own + strengths[j] * share) / (all_rows + strengths[j]))
            total[first + rank] += 1
            known[slot, 1] += 1
            kept.last[slot] = rank
            for k in range(pasts):
                counts[k, first + rank, z[k]] += 1
                sums[k, slot, z[k]] += 1
        now[STAY] = now[STAY] + 1 if choices.successor[t] == choices.state_of[c] else 0
        now[STATE], now[ACTION] = choices.state_of[c], choices.action_of[c]
        now[STEP] += 1
