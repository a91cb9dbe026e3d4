"""`umdp check-env`: why an environment is unfit to be learned, if it is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CheckEnv"]


@dataclass(frozen=True)
class CheckEnv:
    """One call of `umdp check-env`, as typed."""

    environment: str
    steps: int = 20_000
    seed: int = 0

    def run(self) -> int:
        """Play the environment for a while and print what was found; 1 if it is unfit."""
        from umdp.source import check_environment

        found = check_environment(self.environment, steps=self.steps, seed=self.seed)
        print(found)
        return 0 if found.fit else 1
