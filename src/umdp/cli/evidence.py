"""What can be typed about direct evidence, and how what it shows is said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from umdp.cli.numbers import number
from umdp.cli.used import promises
from umdp.errors import ModelError

if TYPE_CHECKING:
    from umdp.run import Config

__all__ = ["EVIDENCE", "MOST", "answer", "check_evidence", "evidence_rate"]

EVIDENCE = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="SHARE",
        help="Play this share of the trajectories, such as 0.5, with a candidate policy: what it shows is a promise of its own, "
        "whenever you stop, with any learner. It has half of the learner's error rate, or all of it where the learner promises "
        "nothing (--confidence, otherwise 0.99).",
        show_default=False,
    ),
]
MOST = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="NUMBER",
        help="The most that a trajectory can earn or cost, for --evidence on an expected reward.",
        show_default=False,
    ),
]


def evidence_rate(learner: str, confidence: Decimal | None, given: Set[str]) -> float | None:
    """Return the error rate of evidence, where a confidence is asked for and the learner that was chosen keeps none.

    Examples
    --------
    >>> evidence_rate("lui", Decimal("0.95"), {"evidence", "learner"}), evidence_rate("lui", Decimal("0.95"), {"evidence"})
    (0.05, None)
    """
    if confidence is None or "evidence" not in given or "learner" not in given or promises(learner):
        return None
    return float(1 - confidence)


def check_evidence(config: Config, given: Set[str]) -> None:
    """Raise `ModelError` where options about evidence would do nothing."""
    if "most" in given and "evidence" not in given:
        raise ModelError("--most is what a trajectory is worth at most, for --evidence; give a share, or leave it out")
    if "evidence" in given and config.switch is not None:
        raise ModelError(
            "--evidence promises something of a process that stays as it is, and --switch changes it; leave one of them out"
        )


def answer(about: Mapping[str, Any]) -> tuple[tuple[float, float], dict[str, Any] | None]:
    """Return the bounds that a row, or what a file says, promises of its policy, and how sure they are.

    Examples
    --------
    >>> played = {"by": "evidence", "bound": 0.3, "side": "at least", "guarantee": {"kind": "any-time"}, "text": "by playing"}
    >>> answer({"lower": 0.1, "upper": 0.2, "guarantee": {}, "promise": played})
    ((0.3, inf), {'kind': 'any-time', 'text': 'by playing'})
    """
    promise = about.get("promise")
    if isinstance(promise, dict) and promise.get("by") == "evidence" and isinstance(promise.get("guarantee"), dict):
        bound = promise.get("bound")
        if isinstance(bound, int | float):
            ends = (float(bound), math.inf) if promise.get("side") == "at least" else (-math.inf, float(bound))
            return ends, {**promise["guarantee"], "text": str(promise.get("text", ""))}
    return (float(about["lower"]), float(about["upper"])), about.get("guarantee")
