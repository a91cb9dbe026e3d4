"""The exact checker of certificates: it believes nothing, imports nothing of the solver, and says what is proved."""

from umdp.verify.checker import Verdict, verify, verify_content

__all__ = ["Verdict", "verify", "verify_content"]
