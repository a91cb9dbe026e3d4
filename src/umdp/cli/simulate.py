"""`umdp simulate`: play a policy, and see what it earns beside what was promised."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from umdp.errors import FormatError, ModelError

if TYPE_CHECKING:
    from umdp.model import Policy
    from umdp.run import Config

__all__ = ["Simulate"]

LOGS = (".csv", ".jsonl", ".parquet", ".gz")


@dataclass(frozen=True)
class Simulate:
    """One call of `umdp simulate`, as typed."""

    policy: str
    model: str | None = None
    property: str | None = None
    episodes: int = 1000
    seed: int = 0
    horizon: int | None = None
    render: bool = False
    json: bool = False
    trust: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)

    def run(self) -> int:
        """Play the policy and print what was measured; 0."""
        from umdp.cli.live import plain
        from umdp.run import format_of
        from umdp.simulation import simulate

        if self.render and self.json:
            raise ModelError("--render draws for people and --json prints for programs; leave out one of them")
        subject = self._of_run() if format_of(Path(self.policy)) is not None else self._of_file()
        try:
            played = simulate(
                subject.policy,
                subject.process,
                subject.question,
                episodes=self.episodes,
                seed=self.seed,
                horizon=self.horizon,
                promised=subject.promised,
                watch=self._watch(subject.process),
            )
        finally:
            _close(subject.process)
        if self.json:
            row = {name: plain(value) for name, value in played.as_dict().items()}
            print(json.dumps({"property": subject.question, "model": subject.name, "seed": self.seed, **row,
                              "guarantee": subject.guarantee}))  # fmt: skip
            return 0
        print(f"{subject.question} with the policy of {self.policy}, in {subject.name}")
        behind, holds = "", True
        if subject.guarantee is not None:
            behind, holds = str(subject.guarantee.get("text", "")), subject.guarantee.get("kind") != "none"
        for line in [*played.lines(behind, holds=holds), *_cut_short(subject)]:
            print(f"  {line}")
        return 0

    def _watch(self, process: Any) -> Callable[[str], None] | None:
        """Return what prints the first episode, after saying how it is shown."""
        if not self.render or self.json:
            return None
        env = getattr(process, "env", process)
        if hasattr(env, "reset") and getattr(env, "render_mode", None) != "ansi":
            shown = f"does not draw itself as text but as {', '.join(_modes(env)) or 'nothing'}"
            if "ansi" in _modes(env):
                shown = 'draws itself as text where it is made with render_mode="ansi"'
            print(f"(this environment {shown}; its steps are listed)")
        return print

    # -- what is to be played --------------------------------------------------------------------------------

    def _of_run(self) -> _Subject:
        """Return the policy of a run, where it was learned or where it is told to, and what was promised."""
        from umdp.cli.learn import configuration
        from umdp.run import Store
        from umdp.run.trust import require

        with Store.open(self.policy) as store:
            learned, last, question = store.learned(), store.last(), store.question or ""
            config = configuration(store)
        if learned.policy is None:
            raise FormatError("the policy depends on the step and was too large to be kept", path=self.policy)
        if self.model is None:
            if self.parameters:
                raise ModelError("--env-arg is for the MODEL to play in; the run has its own arguments")
            require(config, self.policy, trusted=self.trust)
        else:
            config = self._config(self.model)
        process = self._process(config, recorded=self.model is None and config.log is not None)
        same = self.property is None or self.property == question
        promised, guarantee = None, None
        if same and last is not None:
            promised, guarantee = (last["lower"], last["upper"]), last["guarantee"]
        return _Subject(learned.policy, process, self.property or question, config.model, promised, guarantee)

    def _of_file(self) -> _Subject:
        """Return the policy of a file, which says what it was found for, and where it is played."""
        from umdp.io import policy_about, read_policy
        from umdp.source import Environment

        if not Path(self.policy).is_file():
            raise FormatError("there is no such file; give a run, or a policy as .json or .csv", path=self.policy)
        if self.model is None:
            raise ModelError(f"say where to play {self.policy}: umdp simulate {self.policy} MODEL")
        about = policy_about(self.policy)
        question = self.property or about.get("property")
        if not isinstance(question, str):
            raise ModelError(
                f"{self.policy} does not say what it is for; add --property, such as 'Pmax=? [ F \"goal\" ]'"
            )
        process = self._process(self._config(self.model))
        if not hasattr(process, "states"):
            from umdp.source import Gymnasium

            process = process if isinstance(process, Environment) else Gymnasium(process)
        policy = read_policy(self.policy, process if hasattr(process, "states") else process.graph)
        same = self.property is None or self.property == about.get("property")
        bounds = [float(about[name]) for name in ("lower", "upper") if isinstance(about.get(name), int | float | str)]
        promised = (bounds[0], bounds[1]) if same and len(bounds) == 2 else None
        guarantee = about.get("guarantee") if promised is not None else None
        return _Subject(policy, process, question, self.model, promised, guarantee)

    def _config(self, model: str) -> Config:
        from umdp.run import Config

        return Config(model=model, parameters=self.parameters)

    def _process(self, config: Config, *, recorded: bool = False) -> Any:
        """Return the environment or model to play in; one that draws itself as text, where that is wanted and can be."""
        from umdp.run.plugin import is_plugin
        from umdp.source.environments.naming import is_environment

        if recorded or config.model.endswith(LOGS):
            raise ModelError(
                f"what was recorded cannot be played again; say where to play: umdp simulate {self.policy} MODEL"
            )
        if not is_environment(config.model) and not is_plugin(config.model):
            return config.simulated()
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


def _modes(env: Any) -> list[str]:
    """Return the ways in which an environment says that it can be shown."""
    metadata = getattr(env, "metadata", None)
    return list((metadata.get("render_modes") if isinstance(metadata, dict) else None) or ())


@dataclass(frozen=True)
class _Subject:
    """What is played, where, for what, and what was promised of it."""

    policy: Policy
    process: Any
    question: str
    name: str
    promised: tuple[float, float] | None = None
    guarantee: dict[str, Any] | None = None


def _cut_short(subject: _Subject) -> list[str]:
    """Return that the environment ends episodes that the property lets go on, if it does."""
    from umdp.source.environments.time_limit import cut_note
    from umdp.spec import Spec

    interface = subject.policy.graph.interface
    entry = interface is not None and interface.entry
    env = getattr(subject.process, "env", subject.process) if hasattr(subject.process, "graph") else subject.process
    note = cut_note(env, subject.name, Spec.parse(subject.question), entry=entry)
    return [] if note is None else [note]


def _close(process: Any) -> None:
    close = getattr(process, "close", None)
    if callable(close):
        close()
