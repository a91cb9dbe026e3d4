"""From a property and a model to an automaton over the letters that the model's states spell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import numpy as np
from numpy.typing import NDArray

from umdp.automata.counter import counter, letters, paid_steps
from umdp.automata.ltl import FALSE, TRUE, Formulas
from umdp.automata.translation import translate
from umdp.errors import SpecError
from umdp.model import REST, Graph
from umdp.spec.expression import Binary, Expression, Junction, Label, Literal, StateSpace, Unary
from umdp.spec.temporal_formula import AutomatonFile, RewardBounded, Temporal, TemporalFormula, is_state_formula

if TYPE_CHECKING:
    from umdp.automata.automaton import Automaton

__all__ = ["LabelledAutomaton", "read_formula"]

MOST_ATOMS = 62
MOST_BITS = 10  # conditions on states, where all letters they can spell are looked at


@dataclass(frozen=True, eq=False)
class LabelledAutomaton:
    """An automaton and what it reads in each state of a model, or with each transition to one.

    Attributes
    ----------
    automaton : over the letters that occur
    atoms : the state formulas its letters are made of
    code : (S,) the column of the automaton's table for the letter of each state
    rest : the state that stands for what nobody has listed, where all is lost in it; None without
    formula, negated : what it was read from, None where that is not known, and whether it accepts what does not satisfy it
    every : whether it is over all letters, and not only over those that occur
    arrival : (T,) the column for the letter read with each transition; None where that is the letter of the state it leads to
    """

    automaton: Automaton
    atoms: tuple[Expression, ...]
    code: NDArray[np.int32]
    rest: int | None = None
    formula: TemporalFormula | AutomatonFile | RewardBounded | None = None
    negated: bool = False
    every: bool = False
    arrival: NDArray[np.int32] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What each state of the automaton stands for, with the atoms in it as they were written."""
        return tuple(_spelled(name, self.atoms) for name in self.automaton.names)

    @property
    def columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The columns for the letters of states, and for those that come with transitions; nothing where none do."""
        return self.code, np.empty(0, dtype=np.int32) if self.arrival is None else self.arrival

    def along(self, successor: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the column for the letter that is read with each transition (T,) of the model, given where these lead."""
        return self.code[successor] if self.arrival is None else self.arrival

    def reads(self, model: Graph) -> bool:
        """Whether this was made for the letters that a model's states spell, with the last one for what nobody has listed."""
        if isinstance(self.formula, RewardBounded):
            again = _counting(self.formula, model, negated=self.negated)
            same = np.array_equal(again.automaton.letters, self.automaton.letters)
            return same and all(np.array_equal(*pair) for pair in zip(again.columns, self.columns, strict=True))
        try:
            code = self.automaton.codes(_letters(list(self.atoms if self.rest is None else self.atoms[:-1]), model))
        except SpecError:
            return False
        if self.rest is not None:
            code[self.rest] = self.automaton.letters.size - 1
        return np.array_equal(code, self.code)

    def losing(self, rest: int) -> LabelledAutomaton:
        """Return this with one more memory, in which nothing is accepted: that after the state for what nobody has listed.

        What was settled before stays settled. So a product has one such state, as a graph has.
        """
        letter = 1 << len(self.atoms)
        automaton = self.automaton.with_loss(letter)
        code = self.code.copy()
        code[rest] = automaton.letters.size - 1
        return replace(self, automaton=automaton, atoms=(*self.atoms, Label(REST)), code=code, rest=rest)


def read_formula(
    formula: TemporalFormula | AutomatonFile | RewardBounded,
    model: Graph,
    *,
    negated: bool = False,
    every: bool = False,
    late: Callable[[], bool] = lambda: False,
) -> LabelledAutomaton:
    """Return the automaton for a formula on a model, or for its negation.

    With `every`, it is over all letters and not only over those that occur: then what it accepts in a state does not depend on
    what the model can do. Raises `OutOfTime` once `late` says that time is up.

    Examples
    --------
    >>> from umdp import Graph, Spec
    >>> graph = Graph([0, 1, 2], [0, 1, 2], [1, 0], labels={"a": [0], "b": [1]})
    >>> reading = read_formula(Spec.parse('Pmax=? [ (G F "a") & (G F "b") ]').formula, graph)
    >>> reading.automaton, reading.names[0]
    (Deterministic automaton with 3 states over 2 letters, 'F "a", 1 of 2')
    """
    if isinstance(formula, AutomatonFile):
        return _from_file(formula, model, negated=negated)
    if isinstance(formula, RewardBounded):
        return _counting(formula, model, negated=negated)
    lowering = _Lowering(model, late)
    try:
        root = lowering.lower(formula.formula, negated)
    except RecursionError:
        raise formula.formula.error("the formula is nested too deeply", "write X X X a as F[3,3] a") from None
    letters = _letters(lowering.atoms, model)
    count = len(lowering.atoms)
    if every and count > MOST_BITS:
        raise SpecError(
            f"a reward is settled by at most {MOST_BITS} different conditions on states; the formula has {count}"
        )
    automaton = translate(lowering.formulas, root, range(2**count) if every else np.unique(letters).tolist())
    return LabelledAutomaton(
        automaton, tuple(lowering.atoms), automaton.codes(letters), formula=formula, negated=negated, every=every
    )


def _from_file(formula: AutomatonFile, model: StateSpace, *, negated: bool) -> LabelledAutomaton:
    from umdp.automata.hoa import read_hoa

    file = read_hoa(Path(formula.path))
    given = dict(formula.propositions)
    place = Literal(True, location=formula.location)
    unknown = next((name for name in given if name not in file.propositions), None)
    if unknown is not None:
        has = ", ".join(f'"{name}"' for name in file.propositions)
        raise place.error(f'the automaton has no proposition "{unknown}"', f"it has: {has}" if has else "it has none")
    atoms: list[Expression] = []
    for name in file.propositions:
        atoms.append(given.get(name) or Label(name, location=formula.location))
    letters = _letters(atoms, model)
    automaton = file.automaton(np.unique(letters).tolist(), negated=negated)
    return LabelledAutomaton(automaton, tuple(atoms), automaton.codes(letters), formula=formula, negated=negated)


def _counting(formula: RewardBounded, model: Graph, *, negated: bool) -> LabelledAutomaton:
    steps = paid_steps(formula, model)
    begins, along = letters(formula, model, steps)
    automaton = counter(steps, np.unique(np.concatenate([begins, along])), negated=negated)
    atoms = (formula.right, formula.left)
    arrival = automaton.codes(along)
    return LabelledAutomaton(
        automaton, atoms, automaton.codes(begins), formula=formula, negated=negated, arrival=arrival
    )


def _letters(atoms: list[Expression], model: StateSpace) -> NDArray[np.int64]:
    """Return the letter of each state, shape (S,)."""
    if len(atoms) > MOST_ATOMS:
        raise SpecError(
            f"the formula has {len(atoms)} different conditions on states; at most {MOST_ATOMS} are supported"
        )
    letters = np.zeros(model.states, dtype=np.int64)
    for bit, atom in enumerate(atoms):
        letters |= atom.evaluate(model).astype(np.int64) << bit
    return letters


class _Lowering:
    """Turns a formula as it was written into one in negation normal form, and collects the conditions on states."""

    def __init__(self, model: StateSpace, late: Callable[[], bool]) -> None:
        self.model = model
        self.formulas = Formulas(late)
        self.atoms: list[Expression] = []

    def lower(self, node: Expression, negated: bool) -> int:
        formulas = self.formulas
        if isinstance(node, Unary) and node.operator == "!":
            return self.lower(node.operand, not negated)
        if isinstance(node, Literal) and isinstance(node.value, bool):
            return TRUE if node.value != negated else FALSE
        if is_state_formula(node):
            if node not in self.atoms:
                self.atoms.append(node)
            return formulas.literal(self.atoms.index(node), not negated)
        if isinstance(node, Junction):
            plain = tuple(each for each in node.operands if is_state_formula(each))
            several = (Junction(node.operator, plain),) if len(plain) > 1 else plain  # one condition, not several
            mixed = (each for each in node.operands if not is_state_formula(each))
            parts = [self.lower(each, negated) for each in (*several, *mixed)]
            return formulas.conjunction(parts) if (node.operator == "&") != negated else formulas.disjunction(parts)
        if isinstance(node, Binary) and node.operator == "=>":
            both = self.lower(node.left, not negated), self.lower(node.right, negated)
            return formulas.conjunction(both) if negated else formulas.disjunction(both)
        if isinstance(node, Binary) and node.operator == "<=>":
            yes = formulas.conjunction([self.lower(node.left, False), self.lower(node.right, negated)])
            no = formulas.conjunction([self.lower(node.left, True), self.lower(node.right, not negated)])
            return formulas.disjunction([yes, no])
        if isinstance(node, Temporal):
            return self.temporal(node, negated)
        raise node.error(f"{node} has a temporal operator where none can be", "combine formulas by ! & | => <=>")

    def temporal(self, node: Temporal, negated: bool) -> int:
        formulas = self.formulas
        first = self.lower(node.operands[0], negated)
        last = first if len(node.operands) == 1 else self.lower(node.operands[-1], negated)
        lower, upper = node.window.steps(self.model)
        span = None if upper is None else upper - lower
        match node.operator:
            case "X":
                return formulas.next(first)
            case "F" | "G":
                strong = (node.operator == "F") != negated
                inner = formulas.eventually(first, span) if strong else formulas.always(first, span)
                return formulas.next(inner, lower)
            case "W":  # a W b is b R (a | b), and its negation (!b) U (!a & !b)
                if negated:
                    return formulas.until(last, formulas.conjunction([first, last]))
                return formulas.release(last, formulas.disjunction([first, last]))
            case "R":
                return formulas.until(first, last) if negated else formulas.release(first, last)
            case "U":
                if negated:
                    rest = formulas.next(formulas.release(first, last, span), lower)
                    return formulas.disjunction([formulas.eventually(first, lower - 1), rest]) if lower else rest
                rest = formulas.next(formulas.until(first, last, span), lower)
                return formulas.conjunction([formulas.always(first, lower - 1), rest]) if lower else rest
        assert_never(node.operator)


def _spelled(name: str, atoms: tuple[Expression, ...]) -> str:
    return re.sub(r"\bp(\d+)\b", lambda found: atoms[int(found[1])].at_level(11), name)
