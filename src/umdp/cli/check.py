"""`umdp check`: certified answers to properties of a model."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umdp.cli.terminal import complain
from umdp.errors import FormatError, ModelError, SpecError, UmdpError

if TYPE_CHECKING:
    from umdp.cli.checked import Checked
    from umdp.io.properties import PropertyFile
    from umdp.model import MDP, IntervalMDP, Policy
    from umdp.solver import Solution
    from umdp.spec import Spec

__all__ = ["Check"]


@dataclass(frozen=True)
class Check:
    """One call of `umdp check`, as typed."""

    model: str
    properties: tuple[str, ...]
    constants: str = ""
    precision: float = 1e-6
    policy: str | None = None
    certificate: str | None = None
    evaluate: str | None = None
    json: bool = False
    method: str = "auto"
    threads: int = 1
    time_limit: float | None = None
    force: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)
    places: tuple[str, ...] = ()  # of properties in files
    found: str = ""  # the file beside the model that they are from

    def run(self) -> int:
        """Answer every property and return the exit status: 1 if a threshold does not hold, otherwise 0.

        All that can be wrong with the input is found before anything is solved. A property of a file that is not supported
        does not cost the answers to the others; the status is then 2.
        """
        from umdp.cli.progress import Progress
        from umdp.cli.property_files import expanded
        from umdp.cli.questions import own_question, properties_beside

        self._check_order()
        found = "" if self.properties else properties_beside(self.model)
        given = (found,) if found else self.properties
        refused: list[str] = []
        asked, files, constants = expanded(given, self.constants, refused)
        if files:
            this = replace(self, constants=constants, found=found, places=_places(given, files))
            this = replace(this, properties=tuple(text for text, _ in asked))
            status = this._answered([spec for _, spec in asked], files, None, refused)
            for said in refused:
                complain(said)
            return 2 if refused else status
        checked = None
        if not given:
            with Progress(f"reading {self.model}"):
                checked = self._read()
            given = (own_question(self.model, checked),)
        this = replace(self, properties=given)
        return this._answered([this._parsed(number) for number in range(1, len(given) + 1)], (), checked, [])

    def _answered(
        self, specs: list[Spec], files: Sequence[PropertyFile], checked: Checked | None, refused: list[str]
    ) -> int:
        from umdp.cli.progress import Progress

        self._check_options()
        self._check_outputs()
        if checked is None:
            with Progress(f"reading {self.model}"):
                checked = self._read()
        model: Any = checked.model
        origin = checked.origin
        for file in files:
            model = file.applied(model)
        if origin is not None:
            specs = [origin.reading(model, spec) for spec in specs]
        policy = self._read_policy(model)
        kept: list[int] = []
        for number, spec in enumerate(specs, 1):
            try:
                with self._numbered(number):
                    validate(model, spec, policy)
                kept.append(number - 1)
            except UmdpError as error:
                if not self.places or not self.places[number - 1]:
                    raise
                refused.append(str(error))
        if not kept:
            raise SpecError(refused.pop(0))
        specs = [specs[place] for place in kept]
        this = replace(self, properties=tuple(self.properties[place] for place in kept), places=())
        return this._solved(model, specs, policy, checked)

    def _solved(self, model: Any, specs: list[Spec], policy: Policy | None, checked: Checked) -> int:

        from umdp.cli.show import Report
        from umdp.statements import DiagnosticCode
        from umdp.statements import say as statement

        found = [statement(DiagnosticCode.PROPERTIES, path=self.found)] if self.found else []
        notes = (*checked.notes, *found)
        report = Report(self, model, checked.origin, notes)
        try:
            for number, solution in enumerate(self._answers(model, specs, policy), 1):
                written = None
                try:
                    written = self._write_policy(solution, number)
                    self._write_certificate(solution, number)
                finally:  # a policy that cannot be written does not cost the answer
                    report.add(self.properties[number - 1], solution, written)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{len(report.answers)} of {len(specs)} properties answered") from None
        finally:
            report.close()
        return int(any(answer.solution.satisfied is False for answer in report.answers))

    def _answers(self, model: MDP | IntervalMDP, specs: list[Spec], policy: Policy | None) -> Iterator[Solution]:
        from umdp.cli.kernels import announce
        from umdp.cli.progress import Progress
        from umdp.solver import evaluate, solve

        announce()
        limit = math.inf if self.time_limit is None else self.time_limit
        for number, spec in enumerate(specs, 1):
            with Progress(f"property {number} of {len(specs)}" if len(specs) > 1 else "solving") as progress:
                if policy is not None:
                    solution = evaluate(
                        model,
                        spec,
                        policy,
                        precision=self.precision,
                        method=self.method,
                        threads=self.threads,
                        time_limit=limit,
                        progress=progress.tell,
                    )
                else:
                    solution = solve(
                        model,
                        spec,
                        precision=self.precision,
                        method=self.method,
                        threads=self.threads,
                        time_limit=limit,
                        progress=progress.tell,
                    )
            yield solution

    def _check_options(self) -> None:
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
        if self.policy is not None:
            several = len(self.properties) > 1
            if several and "{n}" not in self.policy:
                raise ModelError(
                    f"--policy {self.policy}: one file for {len(self.properties)} properties; ask one property, or "
                    "write {n} in the name for the property's number, as in policy{n}.json"
                )
            path = Path(self._policy_path(1))
            if path.suffix not in (".json", ".csv"):
                raise FormatError("a policy is written as .json or .csv", path=f"--policy {path}")
            if not path.parent.is_dir():
                raise FormatError(f"the folder {path.parent} does not exist; create it first", path=f"--policy {path}")

        if self.certificate is not None:
            if len(self.properties) > 1 and "{n}" not in self.certificate:
                raise ModelError(
                    f"--certificate {self.certificate}: one file for {len(self.properties)} properties; ask one property, "
                    "or write {n} in the name for the property's number, as in proof{n}.json"
                )
            folder = Path(self.certificate).parent
            if not folder.is_dir():
                raise FormatError(
                    f"the folder {folder} does not exist; create it first", path=f"--certificate {self.certificate}"
                )

    def _check_outputs(self) -> None:
        from umdp.cli.outputs import check_outputs, files_behind

        numbers = range(1, len(self.properties) + 1)
        files = [("--policy", self._policy_path(number)) for number in numbers if self.policy is not None]
        files += [
            ("--certificate", self._certificate_path(number)) for number in numbers if self.certificate is not None
        ]
        read = [*files_behind(self.model), *(() if self.evaluate is None else (self.evaluate,))]
        check_outputs(files, read, force=self.force)

    def _check_order(self) -> None:
        from umdp.io.files import SUFFIXES

        for text in () if Path(self.model).exists() else self.properties:
            if text.endswith(SUFFIXES) and Path(text).is_file():
                quoted = f"{shlex.quote(text)} {shlex.quote(self.model)}"
                raise FormatError(f"MODEL comes first, then the properties: umdp check {quoted}")

    def _read(self) -> Checked:
        from umdp.cli.checked import checked_model

        return checked_model(self.model, self.constants, self.parameters)

    def _parsed(self, number: int) -> Spec:
        from umdp.spec import Spec

        with self._numbered(number):
            return Spec.parse(self.properties[number - 1])

    @contextmanager
    def _numbered(self, number: int) -> Iterator[None]:
        """Say which of several properties an error is about, and where in a file it is."""
        try:
            yield
        except UmdpError as error:
            place = self.places[number - 1] if self.places else ""
            if place:
                raise SpecError(f"{place}: {error}") from None
            if len(self.properties) == 1:
                raise
            raise SpecError(f"property {number}: {error}") from None

    def _read_policy(self, model: MDP | IntervalMDP) -> Policy | None:
        if self.evaluate is None:
            return None
        from umdp.io import read_policy
        from umdp.io.policy_files import read_remembered

        remembered = read_remembered(Path(self.evaluate)) if Path(self.evaluate).is_file() else None
        if remembered is None:
            return read_policy(self.evaluate, model)
        from umdp.solver.temporal import recalled
        from umdp.spec import Spec

        return recalled(model, Spec.parse(remembered.asked), remembered.decisions, after=remembered.after)

    def _policy_path(self, number: int) -> str:
        return (self.policy or "").replace("{n}", str(number))

    def _certificate_path(self, number: int) -> str:
        return (self.certificate or "").replace("{n}", str(number))

    def _write_policy(self, solution: Solution, number: int) -> str | None:
        if self.policy is None:
            return None
        from umdp.io import write_policy

        path = self._policy_path(number)
        steps = solution.spec.steps(solution.model)
        if steps is not None and steps > 0 and solution.policy.steps is None:
            raise ModelError(f"--policy {path}: a policy for {steps} steps was not kept; ask for fewer steps")
        write_policy(solution.policy, path)
        return path

    def _write_certificate(self, solution: Solution, number: int) -> None:
        if self.certificate is None:
            return
        from umdp.cli.verify import write_certificate

        write_certificate(solution.certificate(), self._certificate_path(number))


def validate(model: MDP | IntervalMDP, spec: Spec, policy: Policy | None = None) -> None:
    """Raise `UmdpError` if a property does not fit the model, or the policy to evaluate does not fit the property."""
    from umdp.model import MDP
    from umdp.solver.answer import outermost
    from umdp.solver.objective import objective_of, players
    from umdp.solver.temporal import check_temporal
    from umdp.spec.spec import needs_automaton

    spec = outermost(spec, lambda inner: validate(model, inner))
    players(model, spec, policy_given=policy is not None and (spec.nature is not None or isinstance(model, MDP)))
    if needs_automaton(spec):
        check_temporal(model, spec)
        if policy is not None and policy.steps is not None:
            raise ModelError(
                "the policy depends on the step, which a temporal formula does not; evaluate another policy"
            )
        return
    steps = objective_of(model, spec).steps
    if policy is not None and policy.steps is not None:
        if steps is None:
            raise ModelError(
                "the policy depends on the step, so the property needs a step bound, as in F<=k; "
                "write one, or evaluate another policy"
            )
        if policy.steps < steps:
            raise ModelError(f"the policy is for {policy.steps} steps, the property for {steps}; lower the step bound")


def _places(given: Sequence[str], files: Sequence[PropertyFile]) -> tuple[str, ...]:
    """Return, for each property, the file and line it is from; nothing for those that were typed."""
    from umdp.io.files import is_property_file

    places: list[str] = []
    of_file = iter(files)
    for text in given:
        if is_property_file(text):
            places += [f"{text}, line {line}" for line, _, _ in next(of_file).properties]
        else:
            places.append("")
    return tuple(places)
