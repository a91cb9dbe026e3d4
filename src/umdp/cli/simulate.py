"""`umdp simulate`: play a policy, and see what it earns beside what was promised; the policy is found as `umdp certify` does."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from umdp.analysis.simulation import fitted, in_product, known, play, playable
from umdp.automata import MemoryPolicy
from umdp.cli.run_options import arguments_of
from umdp.cli.session import answer
from umdp.cli.terminal import say, say_json
from umdp.errors import FormatError, ModelError
from umdp.io import policy_about
from umdp.io.decisions import Fitted
from umdp.io.policy_files import Remembered, read_policy_file, read_remembered
from umdp.model import MDP
from umdp.run import Config, Store, format_of
from umdp.run.opened import configuration
from umdp.run.trust import require
from umdp.solver.temporal import recalled
from umdp.source import Source
from umdp.source.resolve import resolve
from umdp.spec import Spec

__all__ = ["PlayedPolicy", "Playing", "Simulate"]


def _shown(model: str, parameters: dict[str, Any]) -> str:
    """Return a model's name with its arguments, as they are typed."""
    return ",".join([model, *(f"{name}={value}" for name, value in parameters.items())])


def _with_graph(process: Any) -> Any:
    """Return a model as it is, and an environment with the graph that it tells, or that is seen when it is explored."""
    from umdp.source import Gymnasium

    return playable(process if isinstance(process, MDP | Source) else Gymnasium(process))


Promise: TypeAlias = tuple[tuple[float, float] | None, dict[str, Any] | None, str | None]


def _promise(about: Mapping[str, Any] | None, elsewhere: str | None) -> Promise:
    """Return the bounds that were promised and how sure they are; or, of a policy from elsewhere, only where it is from."""
    if about is None or elsewhere is not None:
        return None, None, None if about is None else elsewhere
    return *answer(about), None


@dataclass(frozen=True)
class PlayedPolicy:
    """What is played, where, for what, and what was promised of it."""

    policy: Fitted
    process: Any
    question: str
    name: str
    promised: tuple[float, float] | None = None
    guarantee: dict[str, Any] | None = None
    elsewhere: str | None = None  # where it was promised, if not here
    counted: str = ""  # the property, or what it comes to in a product

    def close(self) -> None:
        """Let go of the environment."""
        close = getattr(self.process, "close", None)
        if callable(close):
            close()


@dataclass(frozen=True, kw_only=True)
class Playing:
    """Which policy is played, and where.

    Arguments
    ---------
    policy : RUN|POLICY
        A run, or a policy as .json or .csv (umdp export, check --policy).
    model : [MODEL]
        Where to play: as for learn, an environment, a file or a benchmark. A run has its own.

    Options
    -------
    seed : N
        Equal seeds give equal episodes.
    horizon : N
        The most steps of an episode.
    property : PROPERTY
        What to measure, if not what the policy was found for; then nothing is promised.
    trust
        Execute the code that the run names.
    json
        As one JSON object.
    """

    policy: str
    model: str | None = None
    seed: int = 0
    horizon: int | None = None
    property: str | None = None
    env_arg: list[str] | None = None
    trust: bool = False
    json: bool = False

    def __post_init__(self) -> None:
        """Refuse at once arguments that cannot be read."""
        _ = self.parameters

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the environment or model to play in."""
        return arguments_of(self.env_arg)

    @cached_property
    def command(self) -> str:
        """The name of the command."""
        return type(self).__name__.lower()

    def environment(self, config: Config) -> Any:
        """Return the environment to play in."""
        return config.environment()

    def subject(self) -> PlayedPolicy:
        """Return the policy and where it is played, with what was promised of it."""
        return self._of_run() if format_of(Path(self.policy)) is not None else self._of_file()

    def _of_run(self) -> PlayedPolicy:
        """Return the policy of a run, where it was learned or where it is told to, and what was promised."""
        with Store.open(self.policy) as store:
            learned, last, question = store.learned(), store.last(), store.question or ""
            config = configuration(store)
        if learned.policy is None:
            raise FormatError("the policy depends on the step and was too large to be kept", path=self.policy)
        remembers = MemoryPolicy.knows(learned.policy)
        if remembers:
            question = config.wording()
            if self.property not in (None, question):
                raise ModelError(f"the policy remembers what matters for {question}; leave out --property")
        origin, home = config.read_from or config.model, True
        about = _shown(origin, config.parameters)
        if self.model is None:
            if self.parameters:
                raise ModelError("--env-arg is for the MODEL to play in; the run has its own arguments")
            require(config, self.policy, trusted=self.trust)
        else:
            home = self._is_home(origin, config.parameters)
            config = self._config(self.model, config.constants if home else "")
        process = self._process(config, recorded=self.model is None and config.log is not None)
        # At home states are known by the graph of the run; elsewhere by what the environment tells of its own.
        process = playable(process) if home else _with_graph(process)
        found, counted = learned.policy, None
        if remembers:
            found, process, spec = in_product(MemoryPolicy.of(learned.policy), process)
            counted = str(spec)
        policy = fitted(found, process)
        asked = self.property or question
        promise = _promise(last if asked == question else None, None if home else about)
        return PlayedPolicy(policy, process, asked, _shown(config.model, config.parameters), *promise, counted or asked)

    def _of_file(self) -> PlayedPolicy:
        """Return the policy of a file, which says what it was found for, and where it is played."""
        if not Path(self.policy).is_file():
            raise FormatError("there is no such file; give a run, or a policy as .json or .csv", path=self.policy)
        if self.model is None:
            raise ModelError(f"say where to play {self.policy}: umdp {self.command} {self.policy} MODEL")
        about = policy_about(self.policy)
        question = self.property or about.get("property")
        if not isinstance(question, str):
            raise ModelError(
                f"{self.policy} does not say what it is for; add --property, such as 'Pmax=? [ F \"goal\" ]'"
            )
        process = _with_graph(self._process(self._config(self.model)))
        counted = question
        if (remembered := read_remembered(Path(self.policy))) is not None:
            policy, process, counted = self._recalled(remembered, process)
            question = remembered.asked
        elif isinstance(process, MDP):
            policy = read_policy_file(Path(self.policy), process)
        else:
            policy = known(read_policy_file(Path(self.policy), process.graph, partly=True))
        origin, parameters = about.get("model"), about.get("parameters")
        arguments, elsewhere = parameters if isinstance(parameters, dict) else {}, "where it was learned"
        if isinstance(origin, str):
            elsewhere = "" if self._is_home(origin, arguments) else _shown(origin, arguments)
        same = self.property is None or self.property == about.get("property")
        bounded = all(isinstance(about.get(name), int | float | str) for name in ("lower", "upper"))
        promise = _promise(about if same and bounded else None, elsewhere or None)
        return PlayedPolicy(policy, process, question, _shown(self.model, self.parameters), *promise, counted)

    def _recalled(self, remembered: Remembered, process: Any) -> tuple[Fitted, Any, str]:
        """Return a policy with memory, where it is played, and what is counted there, in terms of a product."""
        if self.property not in (None, remembered.asked):
            raise ModelError(f"the policy remembers what matters for {remembered.asked}; leave out --property")
        graph = process.graph
        remembered.check(graph, Path(self.policy))
        asked, after = Spec.parse(remembered.asked), remembered.after
        found = recalled(graph.with_any(), asked, remembered.decisions, after=after, rest=graph.rest)
        policy, process, spec = in_product(found, process)
        return fitted(policy, process), process, str(spec)

    def _is_home(self, origin: str, parameters: dict[str, Any]) -> bool:
        """Whether MODEL is where a policy was learned."""
        if self.model is None:
            return False
        return resolve(self.model).identity(self.parameters) == resolve(origin).identity(parameters)

    def _config(self, model: str, constants: str = "") -> Config:
        return Config(model=model, parameters=self.parameters, constants=constants)

    def _process(self, config: Config, *, recorded: bool = False) -> Any:
        """Return the environment or model to play in."""
        what = resolve(config.model)
        if recorded or what.recorded:
            raise ModelError(
                f"what was recorded cannot be played again; say where to play: umdp {self.command} {self.policy} MODEL"
            )
        return self.environment(config) if what.played else config.simulated(config.model)


@dataclass(frozen=True, kw_only=True)
class Simulate(Playing):
    """Play a policy and show what it earns, or how often the property holds, with a 95 % interval beside the promise.

    The policy of a run is played in the environment or model it was learned in, or in MODEL. A run with code of somebody's own
    executes it: what that is is said, and done with --trust.

    Exit status: 0 played, 2 bad input or usage, 130 interrupted.

    Options
    -------
    episodes : N
        How many episodes.
    render
        Show the first episode, drawn where the environment can draw itself as text.

    Examples
    --------
    # what the policy of a run earns
    umdp simulate grid.run --episodes 200
    # a policy that was exported, on a model
    umdp simulate policy.json grid --property 'Pmax=? [ F "goal" ]'
    """

    episodes: int = 1000
    render: bool = False

    def run(self) -> int:
        """Play the policy and print what was measured; 0."""
        if self.render and self.json:
            raise ModelError("--render draws for people and --json prints for programs; leave out one of them")
        subject = self.subject()
        asked, watch = Spec.parse(subject.counted), self._watch(subject.process)
        try:
            played = play(
                subject.policy, subject.process, asked, self.episodes, self.seed, self.horizon, subject.promised, watch
            )
        finally:
            subject.close()
        if self.json:
            about = {"property": subject.question, "model": subject.name, "seed": self.seed}
            say_json({**about, **played.as_dict(), "guarantee": subject.guarantee})
            return 0
        say(f"{subject.question} with the policy of {self.policy}, in {subject.name}")
        behind, holds = "", True
        if subject.guarantee is not None:
            behind, holds = str(subject.guarantee.get("text", "")), subject.guarantee.get("kind") != "none"
        for line in [*played.lines(behind, holds=holds), *_cut_short(subject)]:
            say(f"  {line}")
        if subject.elsewhere is not None:
            say(f"  what {self.policy} promises is about {subject.elsewhere}, and says nothing of {subject.name}")
        return 0

    def environment(self, config: Config) -> Any:
        """Return the environment to play in; one that draws itself as text, where that is wanted and can be."""
        env = config.environment()
        if not self.render or "ansi" not in _modes(env) or getattr(env, "render_mode", None) == "ansi":
            return env
        more = {**config.parameters, "render_mode": "ansi"}
        try:
            drawn = msgspec.structs.replace(config, parameters=more).environment()
        except ModelError:  # a function of somebody's own need not take it
            return env
        env.close()
        return drawn

    def _watch(self, process: Any) -> Callable[[str], None] | None:
        """Return what prints the first episode, after saying how it is shown."""
        if not self.render or self.json:
            return None
        env = getattr(process, "env", process)
        if hasattr(env, "reset") and getattr(env, "render_mode", None) != "ansi":
            shown = f"does not draw itself as text but as {', '.join(_modes(env)) or 'nothing'}"
            if "ansi" in _modes(env):
                shown = 'draws itself as text where it is made with render_mode="ansi"'
            say(f"(this environment {shown}; its steps are listed)")
        return _show_frame


def _modes(env: Any) -> list[str]:
    """Return the ways in which an environment says that it can be shown."""
    metadata = getattr(env, "metadata", None)
    return list((metadata.get("render_modes") if isinstance(metadata, dict) else None) or ())


def _show_frame(text: str) -> None:
    """Print what an environment draws, without its colours."""
    say(*re.sub(r"\x1b\[[0-9;]*m", "", text).split("\n"))


def _cut_short(subject: PlayedPolicy) -> list[str]:
    """Return that the environment ends episodes that the property lets go on, if it does."""
    from umdp.source.environments.time_limit import cut_note

    interface = subject.policy.policy.graph.interface
    entry = interface is not None and interface.entry
    env = getattr(subject.process, "env", subject.process) if hasattr(subject.process, "graph") else subject.process
    remembers = subject.counted != subject.question
    note = cut_note(env, subject.name, Spec.parse(subject.counted), entry=entry, remembers=remembers)
    return [] if note is None else [note]
