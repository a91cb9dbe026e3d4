"""`umdp verify`: check a certificate in exact arithmetic and say what is then known."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from umdp.cli.terminal import say, say_json
from umdp.errors import FormatError
from umdp.model import MDP, IntervalMDP
from umdp.solver.proof.certificate import Certificate, model_part
from umdp.spec import Spec
from umdp.statements.text import one_line
from umdp.verify import Verdict, verify
from umdp.verify.document import load

__all__ = ["Verify", "write_certificate"]


@dataclass(frozen=True)
class Verify:
    """Check a certificate in exact rational arithmetic, without the solver, and say what it proves.

    Exit status: 0 proved, 1 not proved, and which part fails, or proved of another model, 2 not a certificate.

    Arguments
    ---------
    file : FILE
        Written by umdp check or learn --certificate.

    Options
    -------
    model : FILE
        Compare the model in the certificate with the one in this file, in what the property speaks of.
    json
        As one JSON object.

    Examples
    --------
    # write a certificate
    umdp check examples/rover.tra 'Pmaxmin=? [ F<=9 "base" ]' --certificate p.json
    # check it: without the solver, in exact arithmetic
    umdp verify p.json
    # and that it is about this model
    umdp verify p.json --model examples/rover.tra
    """

    file: str
    model: str | None = None
    json: bool = False

    def run(self) -> int:
        """Check the file; 0 if what it claims is proved, of the model that is given, 1 if not."""
        verdict = verify(self.file)
        other = None if self.model is None else difference(load(self.file), self.model)
        if self.json:
            say_json(verdict.as_dict() | ({} if self.model is None else {"difference": other}))
        else:
            say(*_lines(verdict))
            if self.model is not None:
                say(
                    f"the model is that of {self.model}" if other is None else f"NOT the model of {self.model}: {other}"
                )
        return 0 if verdict.valid and other is None else 1


def difference(content: dict[str, Any], file: str) -> str | None:
    """Return where the model of a certificate, whose form was checked, and that of a file first differ; None if they are one.

    What is compared is what the property speaks of: rows and bounds, the initial state, labels, rewards, variables.
    """
    from umdp.io import read

    model, own = read(file), content["model"]
    there = model_part(model, Spec.parse(content["property"]))
    for part in (own, there):
        if "probability" in part:
            part["lower"] = part["upper"] = part.pop("probability")
    for name in ("state_ptr", "choice_ptr", "successor", "lower", "upper"):
        if name in own and own[name] != there[name]:  # a proof by playing has no bounds
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(own[name], there[name], strict=False)))
            return _place(model, name, same, own[name], there[name])
    for name in dict.fromkeys([*own, *there]):
        if own.get(name) != there.get(name) and name not in ("lower", "upper"):
            return f"the {name.rstrip('s')} differs" if name in ("initial", "reward") else f"the {name} differ"
    return None


def _place(model: MDP | IntervalMDP, name: str, at: int, own: list[Any], there: list[Any]) -> str:
    """Return where rows differ, in the names of the file's model."""
    if name == "state_ptr":
        return f"state {model.state_name(min(max(at - 1, 0), model.states - 1))} has other choices, or there are other states"
    choice = min(max(at - 1, 0), model.choices - 1) if name == "choice_ptr" else -1
    if choice < 0:
        transition = min(at, model.transitions - 1)
        choice = int(np.searchsorted(model.choice_ptr, transition, side="right")) - 1
    state, action = model.state_name(int(model.choice_state[choice])), model.action_name(choice)
    place = f"state {state}, action {action}"
    if name in ("choice_ptr", "successor"):
        return f"{place}: other successors"
    target = model.state_name(int(model.successor[at]))
    return f"{place}: the {name} bound of {target} is {own[at]!r} in the certificate, {there[at]!r} in the file"


def _lines(verdict: Verdict) -> Iterator[str]:
    """Yield what is proved and what is taken on trust, a line each; or what fails."""
    if not verdict.valid:
        yield f"NOT valid: {verdict.claim}"
        return
    yield "valid"
    for title, said in ("proved", verdict.proved), ("taken on trust", tuple(each.text for each in verdict.assumed)):
        if said:
            yield f"{title}:"
            yield from (f"  - {one_line(each)}" for each in said)


def write_certificate(certificate: Certificate, path: str) -> None:
    """Write a certificate, and say on standard error where it is, and where it claims less than was found."""
    try:
        certificate.write(path)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", path=f"--certificate {path}") from None
    for note in (*certificate.notes, f"certificate written; umdp verify {shlex.quote(path)} checks it"):
        say(f"{path}: {note}", err=True)
