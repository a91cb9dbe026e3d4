"""Environments: objects with `reset` and `step`, among them those of Gymnasium, and whether they are fit to be learned."""

from umdp.source.environments.environment import Environment
from umdp.source.environments.environment_check import EnvironmentCheck, check_environment
from umdp.source.environments.exploration import Observed, observe
from umdp.source.environments.findings import Finding
from umdp.source.environments.gymnasium import Gymnasium

__all__ = ["Environment", "EnvironmentCheck", "Finding", "Gymnasium", "Observed", "check_environment", "observe"]
