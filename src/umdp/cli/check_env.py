"""`umdp check-env`: why an environment is unfit to be learned, if it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from umdp.cli.run_options import arguments_of
from umdp.cli.terminal import say
from umdp.errors import ModelError
from umdp.learning.validation import check_budgets, check_numbers
from umdp.model import MDP
from umdp.run import Config
from umdp.source import Source
from umdp.source.resolve import GYM, resolve

__all__ = ["CheckEnv"]


@dataclass(frozen=True)
class CheckEnv:
    """Say why a Gymnasium environment is unfit to be learned, if it is. Exit status: 0 fit, 1 unfit.

    Arguments
    ---------
    environment : ENVIRONMENT
        gym:ID, also with arguments (gym:FrozenLake-v1,map_name=8x8), MODULE:ID, or FILE.py:NAME.

    Options
    -------
    steps : N
        How long to play.
    seed : N
        Equal seeds give equal findings.
    seconds : SECONDS
        How long to play at most.

    Examples
    --------
    # needs the extra gym
    umdp check-env gym:FrozenLake-v1
    """

    environment: str
    env_arg: list[str] | None = None
    steps: int = 20000
    seed: int = 0
    seconds: float = 60.0

    def __post_init__(self) -> None:
        """Refuse at once arguments that cannot be read."""
        _ = self.parameters

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the environment."""
        return arguments_of(self.env_arg)

    def run(self) -> int:
        """Play the environment for a while and print what was found; 1 if it is unfit."""
        from umdp.source import check_environment

        check_budgets(steps=self.steps, seconds=self.seconds, prefix="--")
        check_numbers(seed=self.seed, prefix="--")
        name = self.environment
        if not resolve(name).played:
            name = GYM + name
        made = Config(model=name, parameters=self.parameters).environment()
        how: dict[str, Any] = {"steps": self.steps, "seed": self.seed, "seconds": self.seconds}
        if not isinstance(made, MDP):
            say(f"playing {name} with random actions, for at most {self.seconds:g} s", err=True, flush=True)
        if isinstance(made, Source) and made.env is not None:
            given = made.graph if made.truth is None and made.provenance().graph == "given" else None
            known = made.graph.interface
            found = check_environment(made.env, given, state_of=None if known is None else known.state_of, **how)
        elif isinstance(made, MDP):
            raise ModelError(f"{name} returned an MDP, which is always fit; check-env plays environments")
        else:
            found = check_environment(made, **how)
        say(*str(found).split("\n"))
        return 0 if found.fit else 1
