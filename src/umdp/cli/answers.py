"""How answers appear: a table on a terminal, plain lines elsewhere, JSON lines for programs; with the digits that matter."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from umdp.automata import Product
from umdp.cli.check import Check
from umdp.cli.checked import AskedProperty, Checked
from umdp.cli.terminal import as_text, console, drawn, say, say_json
from umdp.model import MDP, IntervalMDP
from umdp.solver import Bracket, Solution
from umdp.solver.objective import assumed
from umdp.statements import with_codes
from umdp.statements.text import nouns, one_line

if TYPE_CHECKING:
    from rich.table import Table


__all__ = ["Report", "numbers"]

FEW = 4  # significant digits of a bracket too wide to have many in common
MOST = 17  # significant digits that tell any two floats apart
MANY = 50  # states of a filter that are listed
NARROW = 56  # columns below which a table is no help


@dataclass(frozen=True)
class Answer:
    """One property's answer and where its policy was written."""

    solution: Solution
    policy: str | None = None


class Report:
    """Collects answers; JSON lines appear at once, the table when it is closed."""

    def __init__(self, request: Check, checked: Checked) -> None:
        self.answers: list[Answer] = []
        self._about = tuple(checked.notes)
        self._request, self._origin, self._model = request, checked.origin, checked.model
        self._title = f"{request.model}: {_kind(checked.model)} with {_sizes(checked.model)}"
        if self._origin is not None:
            seen = self._origin.trajectories
            self._title += f", learned from {seen:,} {nouns(seen, 'trajectory')}"

    def add(self, question: AskedProperty, solution: Solution, policy: str | None) -> None:
        """Take in the answer to a property, and where its policy was written."""
        self.answers.append(Answer(solution, policy))
        if self._request.json:
            row = _record(question, solution, self._request.model)
            if self._origin is not None:
                row["guarantee"] = self._origin.promised(solution.model, solution.asked)
            notes = (*self._about, *assumed(solution.model, solution.spec))
            if notes:
                row["notes"] = list(notes)
                row["diagnostics"] = [*row["diagnostics"], *with_codes(notes)]
            say_json(row, flush=True)

    def close(self) -> None:
        """Print what is left to print."""
        if self._request.json or not self.answers:
            return
        terminal = sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))
        text = self._table() if terminal else None
        if text is None:
            say(*self._lines())
        else:
            drawn(text)
        sys.stdout.flush()

    def _lines(self) -> Iterator[str]:
        yield self._title
        yield from (f"  {note}" for note in self._about)
        for answer in self.answers:
            yield ""
            yield str(answer.solution.asked)
            yield f"  {_describe(answer.solution, self._model, self._request.evaluate)}"
            value, lower, upper, width = numbers(answer.solution.bracket)
            yield f"  value    {value}"
            yield f"  bracket  {lower} .. {upper}"
            yield f"  width    {width} relative"
            if holds := _verdict(answer.solution):
                yield f"  holds    {holds}"
            yield from (f"  {note}" for note in self._notes(answer))
            if answer.policy is not None:
                yield f"  {_written(answer.policy)}"

    def _notes(self, answer: Answer) -> Iterator[str]:
        """Yield what else there is to say, one sentence each."""
        if self._origin is not None:
            promised = self._origin.promised(answer.solution.model, answer.solution.asked)
            yield f"of the learned model; of the process, {promised['text']}"
        solution = answer.solution
        if solution.product is not None:
            yield _remembering(solution.product)
        if not solution.status.is_precise:
            own = numbers(solution.policy_bracket)
            yield solution.status.value
            yield f"the policy found is worth {own.lower} .. {own.upper}"
        yield from assumed(solution.model, solution.spec)
        yield from (diagnostic.text for diagnostic in solution.diagnostics)
        if _verdict(solution) == "undecided":
            yield "the bracket contains the threshold; a smaller --precision may decide it"
        yield from _shown(solution)

    def _table(self) -> str | None:
        """Return the table for this terminal, or nothing where it is too narrow for one."""
        from rich import box
        from rich.table import Table

        screen = console()
        if screen.width < NARROW:
            return None
        table = Table(box=box.ROUNDED, show_lines=True, header_style="", border_style="dim")
        table.add_column("property", overflow="fold")
        table.add_column("answer", no_wrap=True)
        for answer in self.answers:
            cell = as_text(answer.solution.asked, style="bold")
            cell.append(
                f"\n{one_line(_describe(answer.solution, self._model, self._request.evaluate))}", style="not bold dim"
            )
            for note in self._notes(answer):
                cell.append(f"\n{one_line(note)}", style="not bold yellow")
            if answer.policy is not None:
                cell.append(f"\n{one_line(_written(answer.policy))}", style="not bold green")
            table.add_row(cell, _answer(answer.solution))
        with screen.capture() as capture:
            screen.print(as_text(self._title))
            for note in self._about:
                screen.print(as_text(note, style="yellow"))
            screen.print(table)
        return capture.get()


def _answer(solution: Solution) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = numbers(solution.bracket)
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_row("value", Text(shown.value, style="bold cyan"))
    grid.add_row("lower", shown.lower)
    grid.add_row("upper", shown.upper)
    grid.add_row("width", f"{shown.width} relative" if shown.width != "infinity" else shown.width)
    if holds := _verdict(solution):
        colour = {"yes": "bold green", "no": "bold red", "undecided": "bold yellow"}[holds]
        grid.add_row("holds", Text(holds, style=colour))
    return grid


def _shown(solution: Solution) -> Iterator[str]:
    """Yield the states that a filter is about, with their brackets."""
    states = () if solution.shown is None else solution.shown.tolist()
    for state in states[:MANY]:
        own = numbers(solution.at(state))
        yield f"{solution.model.state_name(state)}: {own.lower} .. {own.upper}"
    if len(states) > MANY:
        yield f"and {len(states) - MANY:,} more states"


def _written(policy: str) -> str:
    return f"policy written to {policy}"


class Numbers(NamedTuple):
    """A bracket as text: the value, the bounds (rounded outwards) and the relative width."""

    value: str
    lower: str
    upper: str
    width: str


def numbers(bracket: Bracket) -> Numbers:
    """Return a bracket as text with just enough digits to see it, its bounds rounded outwards.

    Examples
    --------
    >>> from umdp import Bracket
    >>> numbers(Bracket(0.49999987, 0.50000012))
    Numbers(value='0.499999995', lower='0.499999870', upper='0.500000120', width='5e-07')
    >>> numbers(Bracket(1.0001e120, 1.0001001e120)).lower
    '1.000100000e+120'
    >>> numbers(Bracket(0.25, 0.25))
    Numbers(value='0.25', lower='0.25', upper='0.25', width='0')
    >>> numbers(Bracket(2.0, float("inf")))
    Numbers(value='at least 2', lower='2', upper='infinity', width='infinity')
    """
    value, lower, upper = bracket.value, bracket.lower, bracket.upper
    if lower == upper:
        text = _plain(lower)
        return Numbers(text, text, text, "0")
    if math.isinf(lower):
        most = "unknown" if math.isinf(upper) else f"at most {_plain(upper)}"
        return Numbers(most, "-infinity", "infinity" if math.isinf(upper) else _plain(upper), "infinity")
    if math.isinf(upper):
        return Numbers(f"at least {_plain(lower)}", _plain(lower), "infinity", "infinity")
    width = bracket.relative_width

    def place(x: float, digits: int) -> int:
        return Decimal(repr(x)).adjusted() - digits + 1

    if width > 0.1:
        units = (place(value, FEW), place(lower, FEW), place(upper, FEW))
    else:
        digits = MOST if width == 0 else min(MOST, max(FEW, math.ceil(-math.log10(width)) + 2))
        units = (place(upper, digits),) * 3
    return Numbers(
        _rounded(value, units[0], ROUND_HALF_EVEN),
        _rounded(lower, units[1], ROUND_FLOOR),
        _rounded(upper, units[2], ROUND_CEILING),
        f"{width:.2g}",
    )


def _plain(x: float) -> str:
    """Return a float exactly, whole numbers without a point."""
    if math.isinf(x):
        return "infinity"
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def _rounded(x: float, unit: int, way: str) -> str:
    """Return a float rounded to a multiple of ten to the `unit`, in scientific form where it is long otherwise."""
    if x == 0:
        return "0"
    number = Decimal(repr(x)).quantize(Decimal(1).scaleb(unit), rounding=way)
    return f"{number:f}" if -5 <= number.adjusted() < 12 or number == 0 else f"{number:e}"


def _verdict(solution: Solution) -> str:
    """Return whether the threshold holds, in a word; nothing without a threshold."""
    if solution.spec.threshold is None or (
        solution.spec.filter is not None and solution.spec.filter.operator == "count"
    ):
        return ""
    return {True: "yes", False: "no", None: "undecided"}[solution.satisfied]


def _kind(model: MDP | IntervalMDP) -> str:
    """Return what a model is, in words."""
    plain = "Markov chain" if model.is_chain else "MDP"
    return f"interval {plain}" if isinstance(model, IntervalMDP) else plain


def _sizes(model: MDP | IntervalMDP) -> str:
    """Return the sizes of a model, in words."""
    counts = (("state", model.states), ("choice", model.choices), ("transition", model.transitions))
    text = ", ".join(f"{count:,} {nouns(count, noun)}" for noun, count in counts)
    if isinstance(model, IntervalMDP):
        text += f" ({int(np.count_nonzero(model.lower < model.upper)):,} uncertain)"
    return text


def _remembering(product: Product) -> str:
    """Return in words how large the product is in which a temporal formula was answered."""
    memories = product.reading.automaton.states
    return f"in the product with an automaton of {memories:,} {nouns(memories, 'state')}: {_sizes(product.model)}"


def _describe(solution: Solution, model: MDP | IntervalMDP, evaluated: str | None = None) -> str:
    """Return the question in words that name both players, as they are in this model.

    Parameters
    ----------
    solution : Solution
    model : the model that was asked about; a temporal formula is answered in a product, which may hold a part of it only
    evaluated : str, optional
        The file of the policy whose value was asked for instead of the best one.
    """
    spec = solution.asked
    text = spec.describe()
    uncertain = isinstance(model, IntervalMDP) and bool((model.lower < model.upper).any())
    if evaluated is not None:
        for old in ("largest", "smallest"):
            text = text.replace(f"the {old} ", "the ", 1)
        text = text.replace(", over policies,", f", under the policy in {evaluated},", 1)
        text = text.replace(
            "for every policy and every choice", f"under the policy in {evaluated} and for every choice"
        )
    elif model.is_chain and uncertain and spec.nature is None:
        text = text.replace("over policies", "over nature's choices of probabilities", 1)
    if spec.nature is not None and not uncertain:
        text += " (of which this model leaves none: it has no intervals)"
    return text


def _record(question: AskedProperty, solution: Solution, model: str) -> dict[str, Any]:
    """Return the answer to a property as what `--json` prints."""
    bracket, own = solution.bracket, solution.policy_bracket
    return {
        "property": question.text,
        "name": question.name,
        "value": bracket.value,
        "lower": bracket.lower,
        "upper": bracket.upper,
        "relative_width": bracket.relative_width,
        "satisfied": solution.satisfied,
        "status": solution.status.name.lower(),
        "message": solution.status.value,
        "diagnostics": [{"code": each.code, "text": each.text} for each in solution.diagnostics],
        "policy_lower": own.lower,
        "policy_upper": own.upper,
        "model": model,
        "kind": _kind(solution.model),
        "states": solution.model.states,
        "choices": solution.model.choices,
        "transitions": solution.model.transitions,
        "iterations": solution.statistics.iterations,
        "seconds": solution.statistics.seconds,
    }
