"""`umdp verify`: check a certificate in exact arithmetic and say what is then known."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from umdp.cli.terminal import say, say_json
from umdp.errors import FormatError
from umdp.solver.proof.certificate import Certificate
from umdp.verify import verify

__all__ = ["Verify", "write_certificate"]


@dataclass(frozen=True)
class Verify:
    """Check a certificate in exact rational arithmetic, without the solver, and say what it proves.

    Exit status: 0 proved, 1 not proved, and which part fails, 2 not a certificate.

    Arguments
    ---------
    file : FILE
        Written by umdp check or learn --certificate.

    Options
    -------
    json
        As one JSON object.

    Examples
    --------
    # write a certificate
    umdp check examples/rover.tra 'Pmaxmin=? [ F<=9 "base" ]' --certificate p.json
    # check it: without the solver, in exact arithmetic
    umdp verify p.json
    """

    file: str
    json: bool = False

    def run(self) -> int:
        """Check the file; 0 if what it claims is proved, 1 if not."""
        verdict = verify(self.file)
        if self.json:
            say_json(verdict.as_dict())
        else:
            say(f"{'valid' if verdict.valid else 'NOT valid'}: {verdict.claim}")
        return 0 if verdict.valid else 1


def write_certificate(certificate: Certificate, path: str) -> None:
    """Write a certificate, and say on standard error where it is, and where it claims less than was found."""
    try:
        certificate.write(path)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", path=f"--certificate {path}") from None
    for note in (*certificate.notes, f"certificate written; umdp verify {shlex.quote(path)} checks it"):
        say(f"{path}: {note}", err=True)
