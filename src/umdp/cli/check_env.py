"""`umdp check-env`: why an environment is unfit to be learned, if it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from umdp.cli.terminal import say
from umdp.errors import ModelError

__all__ = ["SECONDS", "CheckEnv"]

SECONDS = 60.0


@dataclass(frozen=True)
class CheckEnv:
    """One call of `umdp check-env`, as typed."""

    environment: str
    steps: int = 20_000
    seed: int = 0
    seconds: float = SECONDS
    parameters: dict[str, Any] = field(default_factory=dict)

    def run(self) -> int:
        """Play the environment for a while and print what was found; 1 if it is unfit."""
        from umdp.learning.validation import check_budgets, check_numbers
        from umdp.model import MDP
        from umdp.run import Config
        from umdp.source import Environment, check_environment
        from umdp.source.resolve import GYM, resolve

        check_budgets(steps=self.steps, seconds=self.seconds, prefix="--")
        check_numbers(seed=self.seed, prefix="--")
        name = self.environment
        if not resolve(name).played:
            name = GYM + name
        made = Config(model=name, parameters=self.parameters).environment()
        how: dict[str, Any] = {"steps": self.steps, "seed": self.seed, "seconds": self.seconds}
        if not isinstance(made, MDP):
            say(f"playing {name} with random actions, for at most {self.seconds:g} s", err=True, flush=True)
        if isinstance(made, Environment):
            given = made.graph if made.truth is None and made.knowledge().graph == "given" else None
            found = check_environment(made.env, given, state_of=made.state_of, **how)
        elif isinstance(made, MDP):
            raise ModelError(f"{name} returned an MDP, which is always fit; check-env plays environments")
        else:
            found = check_environment(made, **how)
        say(*str(found).split("\n"))
        return 0 if found.fit else 1
