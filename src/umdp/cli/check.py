"""`umdp check`: certified answers to properties of a model in a file."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from umdp.errors import FormatError, ModelError, SpecError, UmdpError

if TYPE_CHECKING:
    from umdp.cli.learned import Origin
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

    def run(self) -> int:
        """Answer every property and return the exit status: 1 if a threshold does not hold, otherwise 0.

        All that can be wrong with the input is found before anything is solved.
        """
        from umdp.cli.property_files import expanded

        asked, files, constants = expanded(self.properties, self.constants)
        if files:
            whole = replace(self, properties=tuple(text for text, _ in asked), constants=constants)
            return whole._answered([spec for _, spec in asked], files)
        specs = [_parse(number, text, len(self.properties)) for number, text in enumerate(self.properties, 1)]
        return self._answered(specs, ())

    def _answered(self, specs: list[Spec], files: Sequence[PropertyFile]) -> int:
        from umdp.cli.progress import Progress

        self._check_options()
        self._check_outputs()
        self._check_order()
        with Progress(f"reading {self.model}"):
            model, origin = self._read()
        for file in files:
            model = file.applied(model)
        if origin is not None:
            specs = [origin.reading(model, spec) for spec in specs]
        policy = self._read_policy(model)
        for number, spec in enumerate(specs, 1):
            with _numbered(number, len(specs)):
                validate(model, spec, policy)

        from umdp.cli.show import Report

        report = Report(self, model, origin)
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
                    solution = evaluate(model, spec, policy, precision=self.precision, method=self.method)
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

    def _read(self) -> tuple[MDP | IntervalMDP, Origin | None]:
        """Return the model in a file, or what a run has learned and where that is from."""
        from umdp.io import read
        from umdp.io.files import SUFFIXES

        if Path(self.model).is_file() and not self.model.endswith(SUFFIXES):
            from umdp.cli.learned import read_run

            found = read_run(self.model)
            if found is not None:
                if self.constants:
                    raise ModelError(
                        "--const gives values to the constants of a program, and this is a run; leave it out"
                    )
                return found
        try:
            return read(self.model, constants=self.constants), None
        except FormatError as error:
            if Path(self.model).exists() or Path(self.model).suffix in SUFFIXES:
                raise
            raise FormatError(f"{error}; MODEL is a file with one of {', '.join(SUFFIXES)}") from None

    def _read_policy(self, model: MDP | IntervalMDP) -> Policy | None:
        if self.evaluate is None:
            return None
        from umdp.io import read_policy
        from umdp.io.policy import read_remembered

        remembered = read_remembered(Path(self.evaluate)) if Path(self.evaluate).is_file() else None
        if remembered is None:
            return read_policy(self.evaluate, model)
        from umdp.solver.temporal import recalled
        from umdp.spec import Direction, Spec

        asked = Spec.parse(remembered[0])
        return recalled(model, asked, remembered[1], maximises=asked.deciding().agent is not Direction.MIN)

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
    from umdp.solver.nested import outermost
    from umdp.solver.objective import objective_of, players
    from umdp.solver.temporal import check_temporal, needs_automaton

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


@contextmanager
def _numbered(number: int, count: int) -> Iterator[None]:
    """Say which of several properties an error is about."""
    try:
        yield
    except UmdpError as error:
        if count == 1:
            raise
        raise SpecError(f"property {number}: {error}") from None


def _parse(number: int, text: str, count: int) -> Spec:
    from umdp.spec import Spec

    with _numbered(number, count):
        return Spec.parse(text)
