"""`verify`: whether what a certificate claims is proved by what is in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from umdp.errors import FormatError, SpecError
from umdp.spec import Spec
from umdp.statements import Refusal, Statement
from umdp.verify.document import Bound, Document, check_header, load, parse
from umdp.verify.induction import Arena, Refused
from umdp.verify.one_step import OneStep
from umdp.verify.premise import Assumption, plain
from umdp.verify.property import Question, objective
from umdp.verify.qualitative import SearchGraph, decide
from umdp.verify.rationals import Number, double
from umdp.verify.step_bounded import induct

__all__ = ["Verdict", "judge", "possible", "verify", "verify_content"]


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves, or why it proves nothing.

    Attributes
    ----------
    valid : whether everything claimed is proved
    asked : the property, as written in the file
    lower, upper : the claimed bounds on the value of the initial state
    policy : whether the policy in the file is proved to keep its side of the bracket
    level : the probability with which the model holds the truth, None where the model is taken as given
    refused : the line of the file that fails, by its code and data; None if none does
    said : what is proved, in a sentence, where it is not about the model in the file
    assumed : what nobody can prove from the file and must be true for what is said: a code and a sentence each
    """

    valid: bool
    asked: str
    lower: float
    upper: float
    policy: bool = False
    level: float | None = None
    refused: Statement | None = None
    agent_max: bool = True
    said: str = ""
    assumed: tuple[Assumption, ...] = ()

    @property
    def reason(self) -> str:
        """The line of the file that fails, in a sentence; empty if none does."""
        return str(self.refused or "")

    @property
    def claim(self) -> str:
        """What is proved, in a sentence; or what is not."""
        if not self.valid:
            return f"not proved: {self.reason}"
        text = self.said or self._about_the_model()
        return f"{text}; taken on trust: {'; '.join(each.text for each in self.assumed)}" if self.assumed else text

    @property
    def proved(self) -> tuple[str, ...]:
        """What is proved, a line each; nothing where the file proves nothing."""
        if not self.valid:
            return ()
        if self.said:
            return (self.said,)
        parts = [f"{part}, for the model in the file" for part in self._parts()]
        if self.level is None:
            return tuple(parts)
        return (
            f"with probability at least {self.level!r} over the data, the process lies in the model of the file",
            *parts,
        )

    def _parts(self) -> list[str]:
        """Return what is proved of the model in the file."""
        parts = [f"the value of {self.asked} lies between {self.lower!r} and {self.upper!r}"]
        if self.policy:
            side = f"at least {self.lower!r}" if self.agent_max else f"at most {self.upper!r}"
            parts.append(f"the policy in the file reaches {side}")
        return parts

    def _about_the_model(self) -> str:
        text = ", and ".join(self._parts())
        if self.level is None:
            return f"{text}, for the model in the file"
        return (
            f"with probability at least {self.level!r} over the data, the process lies in the model of the file; {text}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the keys of `umdp verify --json`; infinite bounds are the text "inf"."""
        shown = {"lower": self.lower, "upper": self.upper}
        return {
            "valid": self.valid,
            "claim": self.claim,
            "property": self.asked,
            **{name: str(value) if math.isinf(value) else value for name, value in shown.items()},
            "level": self.level,
            "assumed": [each.as_dict() for each in self.assumed],
            "refused": None if self.refused is None else self.refused.as_dict(),
        }


def verify(path: str | Path) -> Verdict:
    """Check a certificate in exact arithmetic; `FormatError` where the file is not one."""
    try:
        return verify_content(load(path))
    except (FormatError, SpecError) as error:
        if isinstance(error, FormatError) and error.path is not None:
            raise
        raise FormatError(str(error), path=path) from None


def verify_content(content: dict[str, Any]) -> Verdict:
    """Check the parsed JSON of a certificate."""
    check_header(content)
    if "evidence" in content:
        from umdp.verify.played import judge_played

        return judge_played(content)
    return judge(parse(content))


def judge(document: Document) -> Verdict:
    """Return whether what a certificate claims is proved."""
    spec = Spec.parse(document.property)
    asked = objective(document.model, spec)
    agent_max = asked.agent_max != asked.complement
    assumed: tuple[Assumption, ...] = ()
    if document.learning is not None:
        from umdp.verify.learning import assumed_of

        assumed = assumed_of(document.learning)

    refused: Statement | None = None
    try:
        _check(document, asked)
    except Refused as refusal:
        refused = refusal.said
    return Verdict(
        refused is None, plain(document.property), double(document.lower, up=False), double(document.upper, up=True),
        document.policy_claimed, document.level, refused, agent_max, assumed=assumed,
    )  # fmt: skip


def _check(document: Document, asked: Question) -> None:
    """Refuse a certificate with a line that does not hold."""
    if not document.intact:
        raise Refused(Refusal.CHANGED)
    if document.lower > document.upper:
        raise Refused(Refusal.CROSSED)
    if document.level is not None or document.learning is not None:
        from umdp.verify.learning import check_learning

        check_learning(document)
    if asked.steps is not None:
        _bounded(document, asked)
    elif asked.aim == "reach":
        _unbounded(document, asked)
    else:
        _endless(document, asked)


def _claimed(document: Document, asked: Question) -> tuple[Number, Number]:
    """Return the claimed bounds on what is computed: for G phi, on the probability of !phi."""
    if not asked.complement:
        return document.lower, document.upper
    return (1 - document.upper if document.upper < 1 else Fraction(0)), 1 - document.lower


def _unbounded(document: Document, asked: Question) -> None:
    """Check what must be reached without a step bound."""
    model, choice = document.model, _choices(document)
    arena = Arena.of(model, asked, choice)
    _check_sides(document, asked, lambda bound, upper: arena.check(bound, upper=upper)[model.initial])
    if document.policy_claimed:
        _check_policy(document, arena)


def _check_sides(document: Document, asked: Question, prove: Callable[[Bound, bool], Number]) -> None:
    """Refuse a claim beyond what the vectors of its sides are shown to `prove` of the initial state."""
    vectors, claims = (document.below, document.above), _claimed(document, asked)
    for upper, bound, claimed, known in zip((False, True), vectors, claims, possible(asked), strict=True):
        found = known if bound is None else prove(bound, upper)
        if claimed < min(found, known) if upper else claimed > max(found, known):
            raise Refused(Refusal.UNPROVED, side=asked.side(upper=upper))


def _choices(document: Document) -> list[int] | None:
    """Return the choice of every state, of a policy that does not depend on the step."""
    policy = document.policy
    if policy is not None and policy and isinstance(policy[0], list):
        raise Refused(Refusal.POLICY_BY_STEP)
    return [int(c) for c in policy if isinstance(c, int)] if policy is not None else None


def _endless(document: Document, asked: Question) -> None:
    """Check totals, discounted sums and averages: the inequalities for the policy's rows are its proof in every state."""
    choice = _choices(document)
    if document.policy_claimed and choice is None:
        raise Refused(Refusal.NO_POLICY)
    _check_sides(document, asked, lambda bound, upper: OneStep(document.model, asked, choice, upper=upper).prove(bound))


def possible(asked: Question) -> tuple[Number, Number]:
    """Return what a value is at least, and at most, whatever the model."""
    if asked.kind == "P":
        return Fraction(0), Fraction(1)
    return (Fraction(0) if asked.aim in ("reach", "total") else -math.inf), math.inf


def _check_policy(document: Document, arena: Arena) -> None:
    """Refuse the claim about the policy where its own graph decides otherwise than the graph of all policies.

    In undecided states the inequalities for the policy's rows are its proof; in decided ones its graph has to show it.
    """
    model, asked, decided, choice = arena.model, arena.asked, arena.decided, arena.policy
    if choice is None:
        raise Refused(Refusal.NO_POLICY)
    graph = SearchGraph(model, choice)
    own = decide(graph, asked)
    above = document.above.value if document.above is not None else [math.inf] * model.states
    below = document.below.value if document.below is not None else [Fraction(0)] * model.states
    if asked.kind == "P" and not asked.agent_max and _claimed(document, asked)[1] >= 1:
        return
    for s, reached in enumerate(graph.reachable(model.initial)):
        if not reached:
            continue
        if asked.kind == "P" and asked.agent_max:
            wrong = decided.one[s] and not own.one[s] and not asked.goal[s]
        elif asked.kind == "P":
            wrong = (decided.zero[s] and not own.zero[s]) or (own.one[s] and not decided.one[s] and above[s] < 1)
        elif asked.agent_max:
            wrong = decided.infinite[s] and not own.infinite[s] and below[s] > 0
        else:
            wrong = own.infinite[s] and above[s] < math.inf
        if wrong:
            raise Refused(Refusal.POLICY_VALUE, state=s, choice=choice[s])


def _bounded(document: Document, asked: Question) -> None:
    model = document.model
    policy = document.policy if document.policy_claimed else None
    if document.policy_claimed and policy is None:
        raise Refused(Refusal.NO_POLICY)
    if policy and isinstance(policy[0], list) and len(policy) != asked.steps:
        raise Refused(Refusal.POLICY_LENGTH, steps=len(policy), asked=asked.steps)
    for upper, claimed, known in zip((False, True), _claimed(document, asked), possible(asked), strict=True):
        if claimed >= known if upper else claimed <= known:
            continue
        own = policy if asked.agent_max != upper else None
        for bits in (256, 1300):
            found = induct(model, asked, up=upper, policy=own, bits=bits)
            if claimed >= found if upper else claimed <= found:
                break
        else:
            raise Refused(Refusal.NOT_INDUCED, side=asked.side(upper=upper), found=double(found, up=upper))
