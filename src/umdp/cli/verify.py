"""`umdp verify`: check a certificate in exact arithmetic and say what is then known."""

from __future__ import annotations

import json
from dataclasses import dataclass

__all__ = ["Verify"]


@dataclass(frozen=True)
class Verify:
    """One call of `umdp verify`, as typed."""

    file: str
    json: bool = False

    def run(self) -> int:
        """Check the file; 0 if what it claims is proved, 1 if not."""
        from umdp.verify import verify

        verdict = verify(self.file)
        if self.json:
            print(json.dumps(verdict.as_dict()))
        else:
            claim = verdict.claim
            print(f"{'valid' if verdict.valid else 'NOT valid'}: {claim}")
        return 0 if verdict.valid else 1
