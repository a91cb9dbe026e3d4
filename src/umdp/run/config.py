"""A run in words: enough to build it again on another day."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from umdp.benchmark import load
from umdp.errors import FormatError, ModelError, SpecError, UmdpError, UnknownLabel
from umdp.explore import EXPLORERS, Explorer, Optimism
from umdp.learn import Learner, as_learner
from umdp.learn.learner_settings import make_learner, settings_of
from umdp.learn.parametric_learner import Parametric
from umdp.learn.tied import Tied
from umdp.learning.anytime_learning import remembering
from umdp.learning.candidates import CandidateEvaluation
from umdp.learning.loop import LearningRun, StoppingCriteria
from umdp.learning.validation import check_budgets, check_gap, check_numbers, check_spec, check_until, threshold
from umdp.model import MDP, Graph, IntervalMDP
from umdp.parametric.model import ParametricMDP
from umdp.run.format1 import graph_digest
from umdp.run.log_settings import LogSettings, check_settings
from umdp.run.named_ties import check_tie, tying_of
from umdp.run.unknown import check_unknown, process_of, program_of
from umdp.source import Source
from umdp.source.resolve import FileName, check_file, is_plugin, plugin, plugin_file, read_plugin, resolve, where
from umdp.source.simulator import Simulator
from umdp.source.simulator.simulator import check_sampling
from umdp.spec import Spec
from umdp.spec.evaluate import names_in
from umdp.spec.spec import needs_automaton
from umdp.statements import DiagnosticCode, Statement, say

__all__ = ["Config"]

MADE = "an umdp.MDP, an environment with reset and step, or a source of umdp.source"
CAREFUL, ERROR_RATE = "confidence-sequence", 0.05
LOGGED = "; a graph says what can happen in a log: give one with --log"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is made of, as typed on the command line.

    Attributes
    ----------
    model : a benchmark's name, a file, ``gym:ID,NAME=VALUE``, ``MODULE:ID``, or ``FILE.py:NAME``, a function or class that
        makes an `MDP`, an environment or a `Source`
    parameters : for a benchmark, an environment or a function
    constants : for programs
    unknown : the constants of a program that are learned, with the ends between which they lie
    question : the property; a benchmark has its own
    learner, settings : the learner's name, or ``FILE.py:NAME``, a class, and its settings
    tie : which choices share one distribution: what a benchmark has ``declared``, ``FILE.py:NAME``, a function, or
        ``CLASS,OUTCOME``, columns of a table of what can happen
    chosen : whether nobody asked for a learner, and this one was taken because the graph is only observed
    explore, xi : an explorer's name, or ``FILE.py:NAME``, a class; and the weight on the optimistic action
    seed, horizon, precision, per_solve : see `anytime`
    sampling : how a model is simulated, see `Simulator`
    evidence, evidence_rate, most : the share of trajectories that candidates play, its error rate, and the most that a
        trajectory is worth; see `CandidateEvaluation`
    explored : the steps of exploratory episodes, in a run of an environment without a table
    switch, after : what the process becomes, and after how many trajectories
    log, follow, on_error : a log or stream to learn from instead of simulating the model; - is standard input
    data : how a log is to be read
    until, trajectories, steps, seconds, gap : what ends the run
    behaviour : whether what doing as in the log is worth is bounded, too
    graph : a digest of the graph, in runs of format 1
    versions : what the run was made with
    plugins : the text of Python files named above; files that are not here are read when needed
    """

    model: str
    parameters: dict[str, Any] = {}
    constants: str = ""
    unknown: str = ""
    question: str | None = None
    learner: str = "lui"
    settings: dict[str, Any] = {}
    tie: str | None = None
    chosen: bool = False
    explore: str = "optimism"
    xi: float = 1.0
    seed: int = 0
    horizon: int | None = None
    precision: float = 1e-6
    per_solve: int | None = None
    sampling: str = "steps"
    evidence: float | None = None
    evidence_rate: float | None = None
    most: float | None = None
    explored: int | None = None
    switch: str | None = None
    after: int = 0
    log: str | None = None
    follow: bool = False
    on_error: str = "fail"
    data: LogSettings = msgspec.field(default_factory=LogSettings)
    until: str | None = None
    trajectories: int | None = None
    steps: int | None = None
    seconds: float | None = None
    gap: float | None = None
    behaviour: bool = False
    graph: str = ""
    versions: dict[str, str] = {}
    plugins: dict[str, str] = {}

    def build(self) -> LearningRun:
        """Return the run at its beginning.

        Raises
        ------
        UmdpError
            If something named is missing or does not fit; a model that has changed since is an error.
        """
        self.check()
        return self.assemble(*self.build_source())

    def check(self) -> None:
        """Raise what is wrong with numbers, learner and explorer, before a model is read."""
        numbers = {"seed": self.seed, "horizon": self.horizon, "precision": self.precision, "per_solve": self.per_solve}
        check_numbers(**numbers, prefix="--")
        check_sampling(self.sampling, "--")
        self.build_learner(), self.build_explorer(), self.build_evidence()
        if self.tie is not None:
            check_tie(self.tie, self.model, self._table)
        if self.unknown:
            check_unknown(self.model, self.unknown, self.constants, switch=self.switch, log=self.read_from)

    def assemble(self, source: Source, spec: Spec, horizon: int | None) -> LearningRun:
        """Return the run of a source, a property and a horizon that were built."""
        learner, explorer = self.build_learner(), self.build_explorer()
        if self.tie is not None:
            given = {"columns": self.data.columns, "texts": self.plugins}
            learner = Tied(learner, tying_of(self.tie, self.model, self._table, source.graph, **given))
        if self.unknown:
            learner = Parametric(learner, self._program())
        if self.graph and self.graph != graph_digest(source.graph):
            raise FormatError("the model has changed since this run began; start a new run", path=self.model)
        if needs_automaton(spec):
            source, spec, learner = remembering(source, spec, learner)
        try:
            how = (self.seed, horizon, self.precision, self.per_solve, self.build_evidence(), self.behaviour)
            return LearningRun(source, spec, learner, explorer, *how)
        except UnknownLabel as error:
            if self.read_from is None:
                raise
            raise SpecError(f"{error}\nsay which states it names: --label {error.label}=STATE") from None

    def wording(self) -> str:
        """Return the property, a benchmark's own where none is given."""
        if self.question is None and (bench := resolve(self.model).benchmark) is not None:
            return str(bench.spec)
        return self.question or ""

    @property
    def remembers(self) -> bool:
        """Whether the property needs an automaton, so that the run is one of a product."""
        return bool(self.question) and needs_automaton(Spec.parse(self.wording()))

    def limits(self) -> StoppingCriteria:
        """Return what ends the run."""
        check_budgets(trajectories=self.trajectories, steps=self.steps, seconds=self.seconds, prefix="--")
        check_gap(self.gap, "--")
        until = None if self.until is None else threshold(self.until)
        return StoppingCriteria(until, self.trajectories, self.steps, self.seconds, gap=self.gap)

    def signed(self) -> Self:
        """Return this configuration with what it is made with: versions, and the text of every Python file it names."""
        from umdp import __version__

        versions = {"umdp": __version__, "python": platform.python_version(), "numpy": np.__version__}
        uses = (self.model, self.switch, self.learner, self.explore, self.tie, self.data.graph)
        named = [name for name in uses if name and is_plugin(name)]
        texts = {path: self.plugins.get(path) or read_plugin(path) for path in map(plugin_file, named)}
        return msgspec.structs.replace(self, graph="", versions=versions, plugins=texts)

    def plain(self) -> dict[str, Any]:
        """Return this configuration as plain data."""
        return dict(msgspec.to_builtins(self))

    def with_limits(self, **limits: Any) -> Self:
        """Return this configuration with other limits; if any is given, they replace all there were."""
        if all(value is None for value in limits.values()):
            return self
        return msgspec.structs.replace(self, **limits)

    def build_learner(self) -> Learner:
        """Return the learner, not yet bound."""
        if is_plugin(self.learner):
            wanted = "a learner; it must be a class derived from umdp.Learner"
            kind: type[Learner] = self._own(self.learner, Learner, wanted)
        else:
            kind = type(as_learner(self.learner))
        try:
            return make_learner(kind, self.settings, self.learner)
        except UmdpError:
            raise
        except Exception as error:
            raise ModelError(f"the learner {self.learner} fails: {where(error)}") from error

    def _own(self, name: str, wanted: type, what: str) -> Any:
        kind = plugin(name, self.plugins)
        if not (isinstance(kind, type) and issubclass(kind, wanted)):
            raise ModelError(f"{name} is not {what}")
        return kind

    def for_observed(self) -> Self:
        """Return this configuration with the learner for a graph that is only observed, where nobody asks for one.

        It allows for what was never seen. Others take that for impossible, and an outcome that was seen once for certain.
        """
        known = settings_of(type(as_learner(CAREFUL)))
        for name in self.settings:
            if name not in known:
                raise ModelError(
                    f"--set {name}: where the graph is only observed and no learner is named, {CAREFUL} learns, which has no "
                    f"setting {name}; name the learner that has it with --learner"
                )
        settings = {"error_rate": ERROR_RATE, **self.settings}
        return msgspec.structs.replace(self, learner=CAREFUL, settings=settings, chosen=True)

    @property
    def notes(self) -> tuple[Statement, ...]:
        """What was decided for the user, a statement each."""
        if not self.chosen:
            return ()
        rate = self.settings.get("error_rate", ERROR_RATE)
        return (say(DiagnosticCode.LEARNER_CHOSEN, learner=self.learner, rate=rate),)

    def build_explorer(self) -> Explorer:
        """Return how to explore."""
        if is_plugin(self.explore):
            wanted = "an explorer; it must be a class derived from umdp.explore.Explorer"
            kind: type[Explorer] = self._own(self.explore, Explorer, wanted)
        elif self.explore in EXPLORERS:
            kind = EXPLORERS[self.explore]
        else:
            raise ModelError(f"there is no way to explore called {self.explore!r}; there are {', '.join(EXPLORERS)}")
        return Optimism(self.xi) if kind is Optimism else kind()

    def build_evidence(self) -> CandidateEvaluation | None:
        """Return what candidates play; None without."""
        return None if self.evidence is None else CandidateEvaluation(self.evidence, self.evidence_rate, self.most)

    def build_source(
        self, explore_seconds: float | None = None, tell: Callable[[str], None] | None = None
    ) -> tuple[Source, Spec, int | None]:
        """Return the source, the property and the horizon.

        An environment without a table is explored for as many steps as it was (`explored`), or for so long; `tell` is told.
        """
        asked = None if self.question is None else Spec.parse(self.question)
        horizon = self.horizon
        if (bench := resolve(self.model).benchmark) is not None:
            asked = asked or bench.spec
            horizon = bench.horizon if horizon is None else horizon
        if asked is None:
            if not (Path(self.model).suffix or ":" in self.model or Path(self.model).exists()):
                load(self.model)  # a name with a typo is the better thing to say
            raise ModelError("say what to learn for: a property such as 'Pmax=? [ F \"goal\" ]' after the model")
        check_spec(asked)
        until = self.limits().until
        if until is not None:
            check_until(asked, until, "--until")
        source = self._origin({"explore_steps": self.explored, "explore_seconds": explore_seconds, "tell": tell})
        if until is not None and asked.kind == "R":
            check_until(asked, until, "--until", source.graph)
        return source, asked, horizon

    def _origin(self, exploring: Mapping[str, Any]) -> Source:
        what = resolve(self.model)
        if self.read_from is None and not what.always_played:
            check_file(self.model)
        if self.data != LogSettings():
            check_settings(self.data, self.read_from, None if self.log is None else self.model)
        if self.read_from is not None:
            return self.opened(self.read_from)
        if self.follow:
            raise ModelError("--follow waits for more of a log; give one with --log")
        made: Any = None
        if what.played:
            made = self.environment()
            if self.sampling != "steps" and not isinstance(made, MDP):
                raise ModelError(f"--sampling is for models that are simulated, and {self.model} is none; leave it out")
            if isinstance(made, Source):
                return made
            if not isinstance(made, MDP):
                from umdp.source import Gymnasium

                return Gymnasium(made, **exploring)
        mdp = made if isinstance(made, MDP) else self.simulated(self.model)
        later = None if self.switch is None else self.simulated(self.switch)
        return Simulator(mdp, later=later, after=self.after, sampling=self.sampling)

    def opened(self, log: Any) -> Source:
        """Return a log, by name or as what reads it, as these settings say that it is read."""
        graph = None if self._table is None else self.known(self._table)
        return self.data.open(log, self._table, graph, follow=self.follow, on_error=self.on_error)

    @property
    def read_from(self) -> str | None:
        """The log or stream to learn from; None without."""
        return self.log if self.log is not None else self.model if resolve(self.model).recorded else None

    @property
    def shows_graph(self) -> bool:
        """Whether a log is all that says what can happen."""
        return self.log is None and self.data.graph is None and self.read_from is not None

    def known(self, name: str) -> Graph:
        """Return what somebody knows of a process: the graph of a model, or of a list of what can happen."""
        if resolve(name).recorded:
            from umdp.source.logs.log import allowed_graph

            return allowed_graph(name, self.data.columns, decimal=self.data.decimal, **self.data.wanted)
        if self.unknown and name == self.model:
            return self._program().graph
        if is_plugin(name):
            known: Graph = self._made(name, lambda made: isinstance(made, Graph), "an umdp.Graph or umdp.MDP")
            return known.graph
        return self._any(name).graph

    @property
    def _table(self) -> str | None:
        """What is said to say what can happen in a log."""
        return self.model if self.log is not None else self.data.graph

    def _program(self) -> ParametricMDP:
        return program_of(self.model, self.unknown, self.constants)

    def environment(self) -> Any:
        """Return the environment that `model` names; or an `MDP` or a `Source`, where a function makes one."""
        if not resolve(self.model).played:
            raise ModelError(f"{self.model} is no environment; write gym:ID, MODULE:ID or FILE.py:NAME")
        return self._made(self.model, _is_played, MADE)

    def simulated(self, name: str) -> MDP:
        """Return a model that can be simulated."""
        model = self._any(name)
        if not isinstance(model, MDP):
            raise FormatError(
                "this model has intervals, so it cannot be simulated; learn from a plain model, or give a log with --log",
                path=name,
            )
        return model

    def _any(self, name: str) -> MDP | IntervalMDP:
        """Return a model by name: a benchmark, or a file."""
        what = resolve(name)
        if what.called:
            made: MDP = self._made(name, lambda made: isinstance(made, MDP), "an umdp.MDP")
            return made
        if self.parameters:
            raise ModelError(f"{name} takes no parameters; only benchmarks and functions do")
        if self.unknown and name == self.model:
            return process_of(self.model, self.unknown, self.constants)
        return FileName(name).read(self.constants, names_in(Spec.parse(self.question)) if self.question else ())

    def _made(self, name: str, fits: Callable[[Any], bool], wanted: str) -> Any:
        """Return what a function makes, a benchmark's or a user's, if it is what is wanted."""
        made = resolve(name).make(self.parameters, self.plugins)
        if not fits(made):
            graph = LOGGED if isinstance(made, Graph) else ""
            raise ModelError(f"{name} returned {type(made).__name__}; it must return {wanted}{graph}")
        return made


def _is_played(made: Any) -> bool:
    return isinstance(made, MDP | Source) or (hasattr(made, "reset") and hasattr(made, "step"))
