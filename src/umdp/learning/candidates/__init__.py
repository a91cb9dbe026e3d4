"""Direct evidence while learning goes on: policies are played, and what playing them shows is a promise of its own.

A share of the trajectories is played by a policy that was fixed before, the candidate. Of these the value is bounded by a
confidence sequence, whatever the learner promises or does not; and the learner learns from them like from any others.
"""

from umdp.learning.candidates.evaluation_settings import CandidateEvaluation, as_evidence
from umdp.learning.candidates.guaranteed import GuaranteedBound

__all__ = ["CandidateEvaluation", "GuaranteedBound", "as_evidence"]
