"""`umdp verify`: check a certificate in exact arithmetic and say what is then known."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from umdp.cli.options import JSON, argument
from umdp.cli.terminal import say
from umdp.errors import FormatError

if TYPE_CHECKING:
    from umdp.solver.proof.certificate import Certificate

__all__ = ["Verify", "write_certificate"]


@dataclass(frozen=True)
class Verify:
    """Check a certificate in exact rational arithmetic, without the solver, and say what it proves.

    Exit status: 0 proved, 1 not proved, and which part fails, 2 not a certificate.
    """

    file: Annotated[str, argument("FILE", "Written by umdp check or learn --certificate.")]
    json: JSON = False

    def run(self) -> int:
        """Check the file; 0 if what it claims is proved, 1 if not."""
        from umdp.verify import verify

        verdict = verify(self.file)
        if self.json:
            say(json.dumps(verdict.as_dict()))
        else:
            claim = verdict.claim
            say(f"{'valid' if verdict.valid else 'NOT valid'}: {claim}")
        return 0 if verdict.valid else 1


def write_certificate(certificate: Certificate, path: str) -> None:
    """Write a certificate, and say on standard error where it is, and where it claims less than was found."""
    try:
        certificate.write(path)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", path=f"--certificate {path}") from None
    for note in (*certificate.notes, f"certificate written; umdp verify {shlex.quote(path)} checks it"):
        say(f"{path}: {note}", err=True)
