"""`umdp check`: certified answers to properties of a model."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from umdp.cli.checked import (
    AskedProperty,
    Checked,
    about,
    checked_model,
    chosen,
    own_question,
    properties_beside,
    questions_of,
    validate,
)
from umdp.cli.outputs import check_folder, check_outputs, check_policy_file, files_behind
from umdp.cli.progress import Progress
from umdp.cli.run_options import arguments_of
from umdp.cli.terminal import announce, complain
from umdp.cli.verify import write_certificate
from umdp.errors import FormatError, ModelError, SpecError, UmdpError
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver import Solution
from umdp.solver.methods.method import METHODS
from umdp.solver.temporal import recalled
from umdp.spec import Spec
from umdp.spec.evaluate import names_in
from umdp.statements import DiagnosticCode
from umdp.statements import say as statement

__all__ = ["Check"]


def _method(text: str) -> str:
    """Return the name of a method, or raise what the command line shows."""
    if text not in METHODS:
        raise typer.BadParameter(f"there is no method {text!r}; there are {', '.join(METHODS)}")
    return text


@dataclass(frozen=True)
class Check:
    """Answer properties of a model with certified brackets.

    The value lies between the two bounds printed, rounding included. For an interval model the property names both
    players, the policy first: Pmaxmin is the best policy against the worst probabilities.

    Exit status: 0 answered, 1 a threshold does not hold, 2 bad input or usage, 130 interrupted.

    Arguments
    ---------
    model : MODEL
        A file: PRISM language (.prism .nm .pm) or JANI (.jani), both with the extra storm; PRISM explicit (.tra, with
        .lab .sta .srew .trew beside it); DRN (.drn); UMB (.umb); IntervalMDP.jl (.nc, with the extra netcdf); bmdp-tool
        (.txt). Or a run, for the model it has learned; a benchmark; gym:ID, for the table it has; FILE.py:NAME.
    properties : [PROPERTY...]
        Properties in PRISM's syntax, the policy's direction first and nature's second: Pmaxmin=? [ F "goal" ],
        Pmaxmin>=0.3 [ F<=9 "goal" ], R{"cost"}minmax=? [ F "goal" ]; or files of them (.props). Without any: those of
        the file beside the model, a benchmark's own, or the one of a run.

    Options
    -------
    const : K=2,err=.2
        Values for constants that the program, or the property, leaves undefined; may be repeated.
    property : NAME
        Ask the property of this name alone, "name": before it; may be repeated.
    precision : NUMBER
        The relative width the bracket should have.
    policy : FILE
        Write the policy found, as .json, .csv or .py (a Python function); with several properties put {n} in the name.
    certificate : FILE
        Write a proof of the bracket, for umdp verify; with several properties put {n} in the name.
    evaluate : FILE
        Give the value of the policy in this .json or .csv file instead of the best one.
    json
        Print one JSON object per property and line.
    method : {method names}
        {methods}.
    threads : N
        Threads for large models.
    time_limit : SECONDS
        Give the bracket reached after this time, for each property.

    Examples
    --------
    # the worst case over the intervals
    umdp check examples/rover.tra 'Pmaxmin=? [ !"crater" U "base" ]'
    # the best case, and a reward
    umdp check examples/rover.tra 'Pmaxmax=? [ F<=9 "base" ]' 'Rminmin=? [ C<=9 ]'
    # yes or no, also as exit status
    umdp check examples/rover.tra 'Pmaxmin>=0.7 [ F<=12 "base" ]'
    # for programs
    umdp check examples/rover.tra 'Pmaxmin=? [ G<=9 !"crater" ]' --json
    # keep the policy
    umdp check examples/rover.tra 'Rminmax=? [ F "base" ]' --policy best.json
    # and see what it is worth when all goes well
    umdp check examples/rover.tra 'Rminmin=? [ F "base" ]' --evaluate best.json
    # a program with undefined constants (needs the extra storm)
    umdp check examples/courier.prism 'Pmax=? [ F "arrived" ]' --const N=3,loss=.1
    """

    model: str
    properties: list[str] | None = None
    const: list[str] | None = None
    property: list[str] | None = None
    env_arg: list[str] | None = None
    precision: float = 1e-06
    policy: str | None = None
    certificate: str | None = None
    evaluate: str | None = None
    json: bool = False
    method: str = field(default="auto", metadata={"parser": _method})
    threads: int = 1
    time_limit: float | None = None
    force: bool = False

    def __post_init__(self) -> None:
        """Refuse at once arguments that cannot be read."""
        _ = self._parameters

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return arguments_of(self.env_arg)

    def run(self) -> int:
        """Answer every property and return the exit status: 1 if a threshold does not hold, otherwise 0.

        All that can be wrong with the input is found before anything is solved. A property of a file that is not supported
        does not cost the answers to the others; the status is then 2.
        """
        constants = ",".join(self.const or ())
        self._check_order()
        beside = "" if self.properties else properties_beside(self.model)
        given = [beside] if beside else self.properties or []
        refused: list[str] = []
        checked = None
        if not given:
            checked = self._read(constants, ())
            given = [own_question(self.model, checked)]
        asked, files = questions_of(given, constants, refused)
        asked = chosen(asked, self.property or (), refused)
        self._check_options(len(asked))
        self._check_outputs(len(asked))
        if checked is None:
            names = names_in(tuple(question.spec for question in asked))
            checked = self._read(constants, names.union(*(file.declared for file in files)))
        for file in files:
            checked = replace(checked, model=file.applied(checked.model))
        if beside:
            checked = replace(checked, notes=(*checked.notes, statement(DiagnosticCode.PROPERTIES, path=beside)))
        policy = self._read_policy(checked.model)
        status = self._solved(checked, self._valid(checked, asked, policy, refused), policy)
        for said in refused:
            complain(said)
        return 2 if refused else status

    def _valid(
        self, checked: Checked, asked: list[AskedProperty], policy: Policy | None, refused: list[str]
    ) -> list[AskedProperty]:
        """Return the properties that fit the model, read as it is to be read."""
        kept: list[AskedProperty] = []
        for number, question in enumerate(asked, 1):
            spec = question.spec if checked.origin is None else checked.origin.reading(checked.model, question.spec)
            try:
                with about(question.place or (f"property {number}" if len(asked) > 1 else "")):
                    validate(checked.model, spec, policy)
                kept.append(question._replace(spec=spec))
            except UmdpError as error:
                if not question.place:
                    raise
                refused.append(str(error))
        if not kept:
            raise SpecError(refused.pop(0))
        return kept

    def _solved(self, checked: Checked, asked: list[AskedProperty], policy: Policy | None) -> int:
        """Answer the properties, and return 1 if a threshold does not hold."""
        from umdp.cli.answers import Report

        report = Report(self, checked)
        announce()
        try:
            for number, question in enumerate(asked, 1):
                title = f"property {number} of {len(asked)}" if len(asked) > 1 else "solving"
                solution = self._solution(checked.model, question.spec, policy, title)
                written = None
                try:
                    written = self._write_policy(solution, number)
                    self._write_certificate(solution, number)
                finally:  # a policy that cannot be written does not cost the answer
                    report.add(question, solution, written)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{len(report.answers)} of {len(asked)} properties answered") from None
        finally:
            report.close()
        return int(any(answer.solution.satisfied is False for answer in report.answers))

    def _solution(self, model: MDP | IntervalMDP, spec: Spec, policy: Policy | None, title: str) -> Solution:
        from umdp.solver import evaluate, solve

        with Progress(title) as progress:
            how: dict[str, Any] = {
                "precision": self.precision, "method": self.method, "threads": self.threads,
                "time_limit": math.inf if self.time_limit is None else self.time_limit, "progress": progress.tell,
            }  # fmt: skip
            return solve(model, spec, **how) if policy is None else evaluate(model, spec, policy, **how)

    def _check_options(self, count: int) -> None:
        if not 0 < self.precision < 1:
            raise ModelError(f"--precision must lie strictly between 0 and 1, not {self.precision}")
        if self.threads < 1:
            raise ModelError(f"--threads must be at least 1, not {self.threads}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ModelError(f"--time-limit must be more than 0 seconds, not {self.time_limit}")
        if self.evaluate is not None and self.certificate is not None:
            raise ModelError("--evaluate and --certificate do not go together; leave out one of them")
        if self.evaluate is not None and self.threads != 1:
            raise ModelError(
                "--threads does nothing with --evaluate: one policy is evaluated by one thread; leave it out"
            )
        if self.evaluate is not None and (self.policy is not None or self.time_limit is not None):
            other = "--policy" if self.policy is not None else "--time-limit"
            raise ModelError(f"--evaluate and {other} do not go together: the policy is given; leave out one of them")
        for name, file in self._written():
            if count > 1 and "{n}" not in file:
                example = "policy{n}.json" if name == "--policy" else "proof{n}.json"
                raise ModelError(
                    f"{name} {file}: one file for {count} properties; ask one property, or write {{n}} in the name for the "
                    f"property's number, as in {example}"
                )
            if name == "--policy":
                check_policy_file(_numbered(file, 1))
            else:
                check_folder(Path(file), f"{name} {file}")

    def _written(self) -> Iterator[tuple[str, str]]:
        """Yield the options that name files to be written, and these."""
        if self.policy is not None:
            yield "--policy", self.policy
        if self.certificate is not None:
            yield "--certificate", self.certificate

    def _check_outputs(self, count: int) -> None:
        files = [(name, _numbered(file, n)) for name, file in self._written() for n in range(1, count + 1)]
        if files:
            evaluated = () if self.evaluate is None else (self.evaluate,)
            check_outputs(files, chain(files_behind(self.model), evaluated), force=self.force)

    def _check_order(self) -> None:
        from umdp.io.files import SUFFIXES

        for text in () if Path(self.model).exists() else self.properties or ():
            if text.endswith(SUFFIXES) and Path(text).is_file():
                quoted = f"{shlex.quote(text)} {shlex.quote(self.model)}"
                raise FormatError(f"MODEL comes first, then the properties: umdp check {quoted}")

    def _read(self, constants: str, asked: Collection[str]) -> Checked:
        with Progress(f"reading {self.model}"):
            return checked_model(self.model, constants, self._parameters, asked)

    def _read_policy(self, model: MDP | IntervalMDP) -> Policy | None:
        if self.evaluate is None:
            return None
        from umdp.io import read_policy
        from umdp.io.policy_files import read_remembered

        remembered = read_remembered(Path(self.evaluate)) if Path(self.evaluate).is_file() else None
        if remembered is None:
            return read_policy(self.evaluate, model)

        return recalled(model, Spec.parse(remembered.asked), remembered.decisions, after=remembered.after)

    def _write_policy(self, solution: Solution, number: int) -> str | None:
        if self.policy is None:
            return None
        from umdp.io import write_policy

        path = _numbered(self.policy, number)
        steps = solution.spec.steps(solution.model)
        if steps is not None and steps > 0 and solution.policy.steps is None:
            raise ModelError(f"--policy {path}: a policy for {steps} steps was not kept; ask for fewer steps")
        write_policy(solution.policy, path)
        return path

    def _write_certificate(self, solution: Solution, number: int) -> None:
        if self.certificate is None:
            return

        write_certificate(solution.certificate(), _numbered(self.certificate, number))


def _numbered(file: str, number: int) -> str:
    return file.replace("{n}", str(number))
