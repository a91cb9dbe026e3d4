"""Nature's choice in one row, in integers: the exact optimum, and how much of it must or can go somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Row", "feasible", "make_row"]


class Row:
    """The distributions of one choice: ``low[i] <= p[i] <= high[i]`` with sum `whole`, all integers.

    Attributes
    ----------
    target : the successors, one may be listed twice
    low, high : bounds of each entry
    whole : what stands for probability 1
    slack : what the lower bounds leave of it
    possible : whether some distribution uses each entry; one that none can use is no edge
    """

    __slots__ = ("high", "low", "possible", "slack", "target", "whole")

    def __init__(self, target: Sequence[int], low: list[int], high: list[int], whole: int) -> None:
        self.target, self.low, self.high, self.whole = target, low, high, whole
        self.slack = whole - sum(low)
        self.possible = [min(most, least + self.slack) > 0 for least, most in zip(low, high, strict=True)]

    @property
    def edges(self) -> list[int]:
        """The successors that some distribution leads to."""
        return [t for t, each in zip(self.target, self.possible, strict=True) if each]

    def cut(self, given: Sequence[int]) -> bool:
        """Whether a distribution leaves out an edge, although a listed transition has a positive probability."""
        return any(each and not share for each, share in zip(self.possible, given, strict=True))

    def fill(self, order: Sequence[int]) -> list[int]:
        """Return the distribution that gives everyone the lower bound and hands out the rest in the order given."""
        given = list(self.low)
        rest = self.slack
        for i in order:
            if rest <= 0:
                break
            share = min(self.high[i] - self.low[i], rest)
            given[i] += share
            rest -= share
        return given

    def optimum(self, worth: Sequence[int], largest: bool, tie: Sequence[bool] | None = None) -> list[int]:
        """Return the distribution of largest (or smallest) expected worth; of equal entries those with `tie` come first."""
        if self.slack == 0:
            return self.low
        sign = -1 if largest else 1
        if tie is None:
            order = sorted(range(len(worth)), key=lambda i: sign * worth[i])
        else:
            order = sorted(range(len(worth)), key=lambda i: (sign * worth[i], not tie[i]))
        return self.fill(order)

    def most(self, chosen: Sequence[bool]) -> int:
        """Return the largest share that can go to the chosen entries."""
        taken = sum(high for high, each in zip(self.high, chosen, strict=True) if each)
        others = sum(low for low, each in zip(self.low, chosen, strict=True) if not each)
        return min(taken, self.whole - others)

    def least(self, chosen: Sequence[bool]) -> int:
        """Return the smallest share that can go to the chosen entries."""
        return self.whole - self.most([not each for each in chosen])


def make_row(target: Sequence[int], lower: Sequence[float], upper: Sequence[float]) -> Row:
    """Return a row of doubles as the exact numbers they are.

    Where the lower bounds sum to 1 or more it is ``lower / sum(lower)``, where the upper bounds sum to 1 or less
    ``upper / sum(upper)``; elsewhere every distribution between the bounds.

    Examples
    --------
    >>> row = make_row([0, 1], [0.25, 0.25], [0.5, 1.0])
    >>> row.whole, row.low, row.high, row.optimum([1, 0], largest=True)
    (4, [1, 1], [2, 4], [2, 2])
    >>> make_row([0, 1], [1.0, 0.0], [1.0, 0.5]).edges  # the other has no room
    [0]
    """
    pairs = [bound.as_integer_ratio() for bound in (*lower, *upper)]
    one = max(below for _, below in pairs)
    scaled = [top * (one // below) for top, below in pairs]
    low, high = scaled[: len(target)], scaled[len(target) :]
    if (total := sum(low)) >= one:
        return Row(target, low, low, total)
    if (total := sum(high)) <= one:
        return Row(target, high, high, total)
    return Row(target, low, high, one)


def feasible(lower: Sequence[float], upper: Sequence[float]) -> bool:
    """Whether some distribution lies within the bounds, up to 1e-9."""
    if not all(0 <= a <= b <= 1 and b > 0 for a, b in zip(lower, upper, strict=True)):
        return False
    slip = Fraction(1, 10**9)
    return sum(map(Fraction, lower)) <= 1 + slip and sum(map(Fraction, upper)) >= 1 - slip
