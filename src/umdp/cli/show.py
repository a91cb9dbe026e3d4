"""How answers appear: a table on a terminal, plain lines elsewhere, JSON lines for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umdp.cli.report import describe, kind, numbers, record, remembering, sizes, verdict
from umdp.cli.terminal import as_text, console, drawn, say
from umdp.statements import with_codes
from umdp.statements.text import nouns, one_line

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from umdp.cli.check import Check
    from umdp.cli.learned import Origin
    from umdp.model import MDP, IntervalMDP
    from umdp.solver import Solution

__all__ = ["Answer", "Report"]

MANY = 50  # states of a filter that are listed
NARROW = 56  # columns below which a table is no help


@dataclass(frozen=True)
class Answer:
    """One property's answer and where its policy was written."""

    text: str
    solution: Solution
    policy: str | None = None


class Report:
    """Collects answers; JSON lines appear at once, the table when it is closed."""

    def __init__(
        self, request: Check, model: MDP | IntervalMDP, origin: Origin | None = None, notes: Sequence[str] = ()
    ) -> None:
        self.answers: list[Answer] = []
        self._about = tuple(notes)
        self._request, self._origin = request, origin
        self._title = f"{request.model}: {kind(model)} with {sizes(model)}"
        if origin is not None:
            self._title += f", learned from {origin.trajectories:,} {nouns(origin.trajectories, 'trajectory')}"

    def add(self, text: str, solution: Solution, policy: str | None) -> None:
        """Take in the answer to a property, and where its policy was written."""
        self.answers.append(Answer(text, solution, policy))
        if self._request.json:
            row = record(text, solution, self._request.model)
            if self._origin is not None:
                row["guarantee"] = self._origin.promised(solution.model, solution.asked)
            if self._about:
                row["notes"] = list(self._about)
                row["diagnostics"] = [*row["diagnostics"], *with_codes(self._about)]
            say(json.dumps(row, ensure_ascii=False), flush=True)

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
            yield f"  {describe(answer.solution, self._request.evaluate)}"
            shown = numbers(answer.solution.bracket)
            facts = [("value", shown.value), ("bracket", f"{shown.lower} .. {shown.upper}"), ("width", shown.width)]
            if (holds := verdict(answer.solution)) != "":
                facts.append(("holds", holds))
            for name, fact in facts:
                yield f"  {name:<9}{fact}{' relative' if name == 'width' else ''}"
            for note in self._notes(answer):
                yield f"  {note}"
            if answer.policy is not None:
                yield f"  {_written(answer.policy)}"

    def _notes(self, answer: Answer) -> Iterator[str]:
        if self._origin is not None:
            promised = self._origin.promised(answer.solution.model, answer.solution.asked)
            yield f"of the learned model; of the process, {promised['text']}"
        yield from _notes(answer)

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
            cell.append(f"\n{one_line(describe(answer.solution, self._request.evaluate))}", style="not bold dim")
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

    def row(name: str, text: Text | str) -> None:
        grid.add_row(name, text)

    row("value", Text(shown.value, style="bold cyan"))
    row("lower", shown.lower)
    row("upper", shown.upper)
    row("width", f"{shown.width} relative" if shown.width != "infinity" else shown.width)
    if (holds := verdict(solution)) != "":
        colour = {"yes": "bold green", "no": "bold red", "undecided": "bold yellow"}[holds]
        row("holds", Text(holds, style=colour))
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


def _notes(answer: Answer) -> Iterator[str]:
    """Yield what else there is to say, one sentence each."""
    solution = answer.solution
    if solution.product is not None:
        yield remembering(solution.product)
    if not solution.status.is_precise:
        own = numbers(solution.policy_bracket)
        yield solution.status.value
        yield f"the policy found is worth {own.lower} .. {own.upper}"
    for diagnostic in solution.diagnostics:
        yield diagnostic.text
    if verdict(solution) == "undecided":
        yield "the bracket contains the threshold; a smaller --precision may decide it"
    yield from _shown(solution)
