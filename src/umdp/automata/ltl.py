"""Formulas of linear temporal logic in negation normal form, each kept once, and what is left of them after a letter.

There are literals, `&`, `|`, the next operator with a number of steps, until and release with or without an upper step bound;
everything else is written with these (`a W b` is `b R (a | b)`, ``F[2,9] a`` is ``X^2 F<=7 a``). A formula is a number; equal
formulas have equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from umdp.errors import OutOfTime, SpecError

__all__ = ["FALSE", "FF", "TRUE", "TT", "Clauses", "FormulaNode", "Formulas"]

Clauses: TypeAlias = frozenset[frozenset[int]]
"""A disjunction of conjunctions of formulas that are neither: no clause follows from another."""

TRUE, FALSE = 0, 1
TT: Clauses = frozenset([frozenset()])
FF: Clauses = frozenset()
MOST_CLAUSES = 20_000


class FormulaNode(NamedTuple):
    """A formula: an operator, the formulas it applies to, and a number of steps; of a literal, the atom and whether it holds."""

    operator: str
    parts: tuple[int, ...] = ()
    steps: int | None = None
    atom: int = -1
    holds: bool = True


class Formulas:
    """A table of formulas over numbered atoms; the methods that make one simplify what is obvious.

    `late` is asked now and then whether time is up.

    Examples
    --------
    >>> table = Formulas()
    >>> again = table.release(FALSE, table.until(TRUE, table.literal(0, True)))
    >>> table.text(again)
    'G F p0'
    >>> table.shown(table.after(table.clauses(again), 0))  # the letter in which p0 does not hold
    'G F p0'
    """

    def __init__(self, late: Callable[[], bool] = lambda: False) -> None:
        self._late = late
        self.nodes = [FormulaNode("true"), FormulaNode("false")]
        self._numbers: dict[FormulaNode, int] = {node: number for number, node in enumerate(self.nodes)}
        self._after: dict[tuple[int, int], Clauses] = {}
        self._clauses: dict[int, Clauses] = {}

    def _make(self, node: FormulaNode) -> int:
        number = self._numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    # Making formulas

    def literal(self, atom: int, holds: bool) -> int:
        """Return the formula that an atom holds, or does not, in the first letter."""
        return self._make(FormulaNode("literal", atom=atom, holds=holds))

    def conjunction(self, parts: Iterable[int]) -> int:
        """Return the conjunction of formulas."""
        return self._junction("&", parts, TRUE, FALSE)

    def disjunction(self, parts: Iterable[int]) -> int:
        """Return the disjunction of formulas."""
        return self._junction("|", parts, FALSE, TRUE)

    def _junction(self, operator: str, parts: Iterable[int], neutral: int, absorbing: int) -> int:
        flat: set[int] = set()
        for part in parts:
            flat.update(self._several(part, operator))
        flat.discard(neutral)
        if absorbing in flat:
            return absorbing
        if len(flat) < 2:
            return flat.pop() if flat else neutral
        return self._make(FormulaNode(operator, tuple(sorted(flat))))

    def _several(self, formula: int, operator: str) -> tuple[int, ...]:
        return self.nodes[formula].parts if self.nodes[formula].operator == operator else (formula,)

    def next(self, formula: int, steps: int = 1) -> int:
        """Return that a formula holds after a number of steps."""
        if steps == 0 or formula in (TRUE, FALSE):
            return formula
        node = self.nodes[formula]
        if node.operator == "X":
            return self.next(node.parts[0], steps + (node.steps or 0))
        return self._make(FormulaNode("X", (formula,), steps))

    def until(self, left: int, right: int, steps: int | None = None) -> int:
        """Return that `right` holds, after `steps` at most where given, and `left` before."""
        if right in (TRUE, FALSE) or left == FALSE or steps == 0:
            return right
        if steps is None and left == TRUE and self._is("U", right, TRUE):
            return right  # F F a
        return self._make(FormulaNode("U", (left, right), steps))

    def release(self, left: int, right: int, steps: int | None = None) -> int:
        """Return that `right` holds, through `steps` where given, up to and with the moment where `left` does."""
        if right in (TRUE, FALSE) or left == TRUE or steps == 0:
            return right
        if steps is None and left == FALSE and self._is("R", right, FALSE):
            return right  # G G a
        return self._make(FormulaNode("R", (left, right), steps))

    def _is(self, operator: str, formula: int, left: int) -> bool:
        return self.unbounded(formula, operator) and self.nodes[formula].parts[0] == left

    def eventually(self, formula: int, steps: int | None = None) -> int:
        """Return that a formula holds at some time."""
        return self.until(TRUE, formula, steps)

    def always(self, formula: int, steps: int | None = None) -> int:
        """Return that a formula holds at all times."""
        return self.release(FALSE, formula, steps)

    # Looking into formulas

    def unbounded(self, formula: int, operator: str) -> bool:
        """Whether a formula is an until (``"U"``) or release (``"R"``) without step bound."""
        node = self.nodes[formula]
        return node.operator == operator and node.steps is None

    def is_always(self, formula: int) -> bool:
        """Whether a formula is ``G`` of another, without step bound."""
        return self._is("R", formula, FALSE)

    def children(self, formula: int) -> tuple[int, ...]:
        """Return the formulas directly inside one."""
        return self.nodes[formula].parts

    def walk(self, formulas: Iterable[int]) -> Iterator[int]:
        """Iterate over formulas and all inside them, each once."""
        seen: set[int] = set()
        stack = list(formulas)
        while stack:
            formula = stack.pop()
            if formula not in seen:
                seen.add(formula)
                yield formula
                stack.extend(self.children(formula))

    def replaced(self, formula: int, replace: Callable[[int], int | None], memo: dict[int, int]) -> int:
        """Return a formula in which every part is replaced for which `replace` returns another, outermost first."""
        if formula not in memo:
            found = replace(formula)
            if found is None:
                node = self.nodes[formula]
                found = self._rebuilt(formula, [self.replaced(child, replace, memo) for child in node.parts])
            memo[formula] = found
        return memo[formula]

    def _rebuilt(self, formula: int, inner: list[int]) -> int:
        node = self.nodes[formula]
        match node.operator:
            case "&":
                return self.conjunction(inner)
            case "|":
                return self.disjunction(inner)
            case "X":
                return self.next(inner[0], node.steps or 0)
            case "U":
                return self.until(inner[0], inner[1], node.steps)
            case "R":
                return self.release(inner[0], inner[1], node.steps)
        return formula

    # Clauses, and what is left after a letter

    def clauses(self, formula: int) -> Clauses:
        """Return a formula as a disjunction of conjunctions; equal for formulas that are equal as such."""
        if formula not in self._clauses:
            node = self.nodes[formula]
            if node.operator in ("true", "false"):
                made = TT if node.operator == "true" else FF
            elif node.operator == "&":
                made = self.both(*map(self.clauses, node.parts))
            elif node.operator == "|":
                made = self.either(*map(self.clauses, node.parts))
            else:
                made = frozenset([frozenset([formula])])
            self._clauses[formula] = made
        return self._clauses[formula]

    def either(self, *parts: Clauses) -> Clauses:
        """Return the disjunction of clauses, without those that others follow from."""
        every = {clause for part in parts for clause in part}
        kept: list[frozenset[int]] = []
        for clause in sorted(every, key=len):
            self.look()
            if not any(self.follows(clause, other) for other in kept):
                kept = [other for other in kept if not self.follows(other, clause)]
                kept.append(clause)
        return frozenset(kept)

    def look(self) -> None:
        """Raise `OutOfTime` where time is up: formulas may have very many clauses, and automata very many states."""
        if self._late():
            raise OutOfTime("there was no time left to translate the formula")

    def both(self, *parts: Clauses) -> Clauses:
        """Return the conjunction of clauses."""
        found = TT
        for part in parts:
            if len(found) * len(part) > MOST_CLAUSES:
                raise SpecError("the formula is too large for an automaton; ask for less at a time")
            found = self.either(frozenset(self._lean(one | other) for one in found for other in part))
        return found

    def follows(self, clause: frozenset[int], other: frozenset[int]) -> bool:
        """Whether a conjunction implies another: it says the same and more, or the same within narrower step bounds."""
        if other <= clause:
            return True
        return all(part in clause or any(self._implies(one, part) for one in clause) for part in other)

    def _implies(self, one: int, other: int) -> bool:
        a, b = self.nodes[one], self.nodes[other]
        if a.operator != b.operator or a.operator not in ("U", "R") or a.parts != b.parts:
            return False
        if a.operator == "U":  # what is to be reached without a bound is told apart, since guesses are made about it
            return a.steps is not None and b.steps is not None and a.steps <= b.steps
        return b.steps is not None and (a.steps is None or b.steps <= a.steps)

    def _lean(self, clause: frozenset[int]) -> frozenset[int]:
        """Return a conjunction without the parts that others imply: by narrower step bounds, or because they hold always."""
        if len(clause) < 2:
            return clause
        bounded = [part for part in clause if self.nodes[part].operator in ("U", "R")]
        weak = {b for b in bounded if any(a != b and self._implies(a, b) for a in bounded)}
        for part in bounded:
            if self.is_always(part):
                weak.update(self._several(self.children(part)[1], "&"))
        return clause - weak if weak else clause

    def after(self, state: Clauses, letter: int) -> Clauses:
        """Return what must hold of the rest of a word if clauses are to hold of all of it; bit `i` of the letter is atom `i`."""
        return self.either(*(self.both(*(self._rest(part, letter) for part in clause)) for clause in state))

    def _rest(self, formula: int, letter: int) -> Clauses:
        key = (formula, letter)
        if key not in self._after:
            self._after[key] = self._progress(formula, letter)
        return self._after[key]

    def _progress(self, formula: int, letter: int) -> Clauses:
        node = self.nodes[formula]
        steps = None if node.steps is None else node.steps - 1
        match node.operator, node.parts:
            case "literal", _:
                return TT if (letter >> node.atom & 1) == node.holds else FF
            case "X", (inner,):
                return self.clauses(self.next(inner, steps or 0))
            case "U", (left, right):
                later = self.clauses(self.until(left, right, steps))
                on = self.both(self.after(self.clauses(left), letter), later)
                return self.either(self.after(self.clauses(right), letter), on)
            case "R", (left, right):
                later = self.clauses(self.release(left, right, steps))
                on = self.either(self.after(self.clauses(left), letter), later)
                return self.both(self.after(self.clauses(right), letter), on)
        raise AssertionError(f"clauses have no {node.operator}")

    # Showing formulas

    def text(self, formula: int) -> str:
        """Return a formula as text, with atoms ``p0``, ``p1``."""
        node = self.nodes[formula]
        inner = [self._operand(child) for child in node.parts]
        match node.operator:
            case "literal":
                return f"{'' if node.holds else '!'}p{node.atom}"
            case "&" | "|":
                return f" {node.operator} ".join(inner)
            case "X":
                return f"X{'' if node.steps == 1 else f'^{node.steps}'} {inner[0]}"
            case "U" | "R":
                bound = "" if node.steps is None else f"<={node.steps}"
                short = {("U", TRUE): "F", ("R", FALSE): "G"}.get((node.operator, node.parts[0]))
                return f"{short}{bound} {inner[1]}" if short else f"{inner[0]} {node.operator}{bound} {inner[1]}"
        return node.operator

    def _operand(self, formula: int) -> str:
        text, operator = self.text(formula), self.nodes[formula].operator
        return f"({text})" if operator in ("&", "|") or (operator in ("U", "R") and text[0] not in "FG") else text

    def shown(self, state: Clauses) -> str:
        """Return clauses as text."""
        if state == TT:
            return "true"
        every = [" & ".join(sorted(self._operand(part) for part in clause)) for clause in state]
        return (
            " | ".join(sorted(f"({each})" if len(every) > 1 and " & " in each else each for each in every)) or "false"
        )
