"""Playing a policy, and what came of it: in an environment, or on a model."""

from umdp.simulation.api import simulate
from umdp.simulation.evidence import Promise, certify
from umdp.simulation.measured import Simulation

__all__ = ["Promise", "Simulation", "certify", "simulate"]
