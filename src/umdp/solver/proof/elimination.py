"""Elimination without subtraction (Grassmann, Taksar, Heyman) on sparse rows, in decimal numbers of any length.

The diagonal of a row is taken as the sum of everything else in it, exits included: no digits are lost, whatever the conditioning.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

__all__ = ["Elimination"]

RANGE = 10**15


class Elimination:
    """The system ``(exit[i] + sum of row i) x[i] = sum of row[i][j] x[j] + right[i]``, ready to be solved.

    Parameters
    ----------
    rows : the off-diagonal entries of each row, positive integers
    exits : what leaves the system from each row, an integer
    digits : decimal digits carried
    """

    def __init__(self, rows: list[dict[int, int]], exits: list[int], digits: int = 80) -> None:
        self.context = Context(prec=digits, Emax=RANGE, Emin=-RANGE)
        with localcontext(self.context):
            self.steps = self._eliminate([{j: Decimal(p) for j, p in row.items()} for row in rows], exits)

    @staticmethod
    def _eliminate(
        rows: list[dict[int, Decimal]], exits: list[int]
    ) -> list[tuple[int, Decimal, list[tuple[int, Decimal]], list[tuple[int, Decimal]]]]:
        out = [Decimal(e) for e in exits]
        entering: list[set[int]] = [set() for _ in rows]
        for i, row in enumerate(rows):
            for j in row:
                entering[j].add(i)
        left = set(range(len(rows)))
        steps = []
        while left:
            k = min(left, key=lambda i: len(rows[i]) * len(entering[i]))  # fewest new entries
            left.remove(k)
            row = rows[k]
            diagonal = out[k] + sum(row.values(), Decimal(0))
            if not diagonal:
                raise ArithmeticError("the chain can stay for ever among the states to be solved")
            factors = []
            for i in entering[k]:
                other = rows[i]
                factor = other.pop(k) / diagonal
                factors.append((i, factor))
                out[i] += factor * out[k]
                for j, p in row.items():
                    if j == i:
                        continue
                    if j in other:
                        other[j] += factor * p
                    else:
                        other[j] = factor * p
                        entering[j].add(i)
            for j in row:
                entering[j].discard(k)
            steps.append((k, diagonal, factors, list(row.items())))
        return steps

    def solve(self, right: list[int]) -> list[int]:
        """Return the solution, rounded to integers."""
        with localcontext(self.context):
            b = [Decimal(r) for r in right]
            for k, _, factors, _ in self.steps:
                if b[k]:
                    for i, factor in factors:
                        b[i] += factor * b[k]
            x = [Decimal(0)] * len(b)
            for k, diagonal, _, row in reversed(self.steps):
                x[k] = (b[k] + sum((p * x[j] for j, p in row), Decimal(0))) / diagonal
            return [int(v) for v in x]
