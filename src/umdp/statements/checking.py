"""What the checker of certificates says: what it takes on trust, and why it refuses; a code and a sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from umdp.statements.text import Sentence

__all__ = ["OF_CLAIM", "OF_POLICY", "PREMISES", "REFUSALS", "Premise", "Refusal"]


class Premise(StrEnum):
    """What must be true besides what the checker proves."""

    PROCESS = "process"
    SAMPLES = "samples"
    FIXED_BEFORE = "fixed-before"
    FIXED_SIZE = "fixed-size"
    CLASSES = "classes"
    FUNCTIONS = "functions"
    PRIOR_BOX = "prior-box"
    PLAYS = "plays"
    COUNTED = "counted"
    CANDIDATES = "candidates"
    RANGE = "range"
    FILE = "file"


PREMISES: Mapping[Premise, Sentence] = {
    Premise.PROCESS: (
        "the process has the states, choices, labels and rewards of the file, and of each choice the listed transitions, all of "
        "which can happen, and no others"
    ),
    Premise.SAMPLES: (
        "the counts are those of independent samples of the process, of all samples of a choice since a moment that was not "
        "chosen by what they show"
    ),
    Premise.FIXED_BEFORE: "the levels, the method and the parameter of its mixture were fixed before the data",
    Premise.FIXED_SIZE: ("the number of samples of every choice was fixed before the data, which were looked at once"),
    Premise.CLASSES: "the choices of every class share one distribution over outcomes",
    Premise.FUNCTIONS: "the functions of the parameters describe the process",
    Premise.PRIOR_BOX: "the parameters lie in the box believed beforehand: {box}",
    Premise.PLAYS: (
        "these are the counts of this policy, of all its trajectories since it was fixed, each of which began alike and did not "
        "depend on the others"
    ),
    Premise.COUNTED: (
        "each trajectory was counted for what the property says of it; the file holds no trajectory, and no probability"
    ),
    Premise.CANDIDATES: (
        "the mixture, the parts of the error rate and the number of candidates were fixed before the trajectories that they "
        "judge"
    ),
    Premise.RANGE: "no trajectory is worth less than 0 or more than {most}",
    Premise.FILE: 'the file says: "{sentence}"',
}


class Refusal(StrEnum):
    """Why a certificate is refused: the line of it that does not hold."""

    # -- the file, and what it claims
    CHANGED = "file-changed"
    CROSSED = "claim-crossed"
    UNPROVED = "claim-unproved"
    NOT_INDUCED = "claim-not-induced"
    # -- the policy
    POLICY_BY_STEP = "policy-by-step"
    NO_POLICY = "policy-missing"
    POLICY_LENGTH = "policy-length"
    POLICY_VALUE = "policy-value"
    POLICY_STATES = "policy-states"
    POLICY_CHOICE = "policy-choice"
    # -- the vectors of one side
    NEEDS_POLICY = "needs-policy"
    ABOVE_ONE = "above-one"
    DECIDED = "graph-decides"
    LEADS_TO_INFINITE = "leads-to-infinite"
    VALUE = "value"
    RANK = "rank"
    MAY_BE_INFINITE = "may-be-infinite"
    INFINITE = "infinite"
    NO_TRAP = "no-trap"
    LEAVES_TRAP = "leaves-trap"
    NEED_NOT_PAY = "need-not-pay"
    STOPS_PAYING = "stops-paying"
    CUT = "cut-transition"
    NO_GAIN = "no-gain"
    GAIN = "gain"
    GAIN_AND_VALUE = "gain-and-value"
    # -- counts and levels
    NO_LEVEL = "level-missing"
    NO_COUNTS = "counts-missing"
    OVERSPENT = "levels-overspent"
    UNSPENT = "level-unspent"
    SEVERAL_SIZES = "several-sizes"
    HITS = "hits-exceed-samples"
    NO_SEQUENCE = "no-sequence"
    NOT_CARRIED = "counts-do-not-carry"
    NO_DISTRIBUTION = "no-distribution"
    NOT_DERIVED = "bounds-not-derived"
    # -- classes, events and parameters
    MIXED_CLASSES = "mixed-classes"
    NOT_ITS_CLASS = "not-its-class"
    NO_OUTCOME = "no-outcome"
    UNUSED_CLASS = "unused-class"
    NO_EVENT = "no-event"
    SURE_EVENT = "sure-event"
    SURE_OUTCOME = "sure-outcome"
    BOX = "box-too-small"
    NOT_FROM_BOX = "bounds-not-from-box"
    NOT_A_SUM = "functions-do-not-sum"
    # -- plays of a policy
    MOST = "worth-at-most-1"
    PLAYED_HITS = "hits-exceed-plays"
    PLAYED_RATE = "rate-overspent"
    PLAYED_LEVEL = "level-overclaimed"
    MIXTURE = "no-mixture"
    PLAYED_BOUND = "plays-do-not-carry"


OF_POLICY = frozenset({Refusal.POLICY_BY_STEP, Refusal.NO_POLICY, Refusal.POLICY_LENGTH, Refusal.POLICY_VALUE})
"""What is said of the policy cannot be proved."""
OF_CLAIM = frozenset({Refusal.UNPROVED, Refusal.NOT_INDUCED})
"""One side (`side`) claims more than its proof gives."""


def _value(side: str, state: int, choice: int) -> str:
    return f"{side}, state {state}: the value {'is below' if side == 'upper' else 'exceeds'} that of choice {choice}"


def _gain(side: str, state: int, choice: int) -> str:
    return f"{side}, state {state}: the gain is {_beside(side)} that of choice {choice}"


def _gain_and_value(side: str, state: int, choice: int) -> str:
    return f"{side}, state {state}: gain and value are {_beside(side)} what choice {choice} earns"


def _beside(side: str) -> str:
    return "below" if side == "upper" else "above"


def _infinite(side: str, state: int | None) -> str:
    return f"{side}{'' if state is None else f', state {state}'}: the value is infinite"


REFUSALS: Mapping[Refusal, Sentence] = {
    Refusal.CHANGED: "digest: the file has been changed since it was written",
    Refusal.CROSSED: "claim: the lower bound exceeds the upper bound",
    Refusal.UNPROVED: "{side} bound: more is claimed than is proved",
    Refusal.NOT_INDUCED: "{side} bound: the backward induction gives {found!r} for it",
    Refusal.POLICY_BY_STEP: "policy: depends on the step, but the property has no step bound",
    Refusal.NO_POLICY: "policy: something is claimed of it, but there is none",
    Refusal.POLICY_LENGTH: "policy: {steps} steps, but the property has {asked}",
    Refusal.POLICY_VALUE: "policy, state {state}: the value claimed is not that of its choice {choice}",
    Refusal.POLICY_STATES: "policy: not a choice for every state",
    Refusal.POLICY_CHOICE: "policy, state {state}: choice {choice} is not one of its own",
    Refusal.NEEDS_POLICY: "{side}: needs a policy that does not depend on the step",
    Refusal.ABOVE_ONE: "{side}, state {state}: a probability is at most 1",
    Refusal.DECIDED: "{side}, state {state}: the graph decides its value, and it is {known}",
    Refusal.LEADS_TO_INFINITE: "{side}, state {state}: the policy's choice {choice} leads to an infinite reward",
    Refusal.VALUE: _value,
    Refusal.RANK: "{side}, state {state}: choice {choice} does not lead to a smaller rank",
    Refusal.MAY_BE_INFINITE: "{side}, state {state}: choice {choice} may lead to an infinite value",
    Refusal.INFINITE: _infinite,
    Refusal.NO_TRAP: "{side}, state {state}: infinite, and no trap level",
    Refusal.LEAVES_TRAP: "{side}, state {state}: choice {choice} need not stay away from the goal",
    Refusal.NEED_NOT_PAY: "{side}, state {state}: choice {choice} need not pay, nor lead to a smaller rank",
    Refusal.STOPS_PAYING: "{side}, state {state}: choice {choice} need not go on paying",
    Refusal.CUT: "{side}, state {state}: choice {choice} is worth that only where nature cuts a transition",
    Refusal.NO_GAIN: "{side}: there are no gains",
    Refusal.GAIN: _gain,
    Refusal.GAIN_AND_VALUE: _gain_and_value,
    Refusal.NO_LEVEL: "claim, level: counts are given, and no level is claimed",
    Refusal.NO_COUNTS: "claim, level: there are no counts to prove it",
    Refusal.OVERSPENT: "learning, levels: they add up to {spent!r}, more than a level of {level!r} leaves",
    Refusal.UNSPENT: "learning, transitions {first} to {last}: bounded, and no level is spent on them",
    Refusal.SEVERAL_SIZES: "learning, transitions {first} to {last}: one number of samples is fixed, not several",
    Refusal.HITS: "learning, transitions {first} to {last}: seen more often than their choice",
    Refusal.NO_SEQUENCE: "learning, transitions {first} to {last}: no sequence of samples has these counts",
    Refusal.NOT_CARRIED: "learning, transition {transition}: the counts do not carry the {end} bound {bound!r}",
    Refusal.NO_DISTRIBUTION: "learning, {place}: no distribution lies within the bounds that its counts prove",
    Refusal.NOT_DERIVED: "learning, transition {transition}: its bounds do not follow from those of {what}",
    Refusal.MIXED_CLASSES: "learning, choice {choice}: its outcomes are of different classes",
    Refusal.NOT_ITS_CLASS: "learning, choice {choice}: its outcomes are not those of its class, each once",
    Refusal.NO_OUTCOME: "learning, choice {choice}: no outcome leads along one of its transitions",
    Refusal.UNUSED_CLASS: "learning, class_ptr: there is a class that no choice has",
    Refusal.NO_EVENT: "learning, event {event}: it is no set of outcomes of one class",
    Refusal.SURE_EVENT: "learning, event {event}: it is all outcomes of its class, and always happens",
    Refusal.SURE_OUTCOME: (
        "learning, outcome {outcome}: it is the only one of its class, and its probability must be 1"
    ),
    Refusal.BOX: "learning, box: the bounds of the classes leave values outside of it, or none at all",
    Refusal.NOT_FROM_BOX: "learning, outcome {outcome}: its bounds follow neither from its class nor from the box",
    Refusal.NOT_A_SUM: "learning, class {number}: its functions do not sum to 1",
    Refusal.MOST: "evidence, most: a trajectory counts for 1 at most where a probability is asked for",
    Refusal.PLAYED_HITS: "evidence, hits: more than there were plays, or less than none",
    Refusal.PLAYED_RATE: "evidence, spent: candidates have more than the error rate, all together",
    Refusal.PLAYED_LEVEL: "claim, level: more is claimed than the error rate leaves",
    Refusal.MIXTURE: "evidence, mixture: not a mixture of distributions",
    Refusal.PLAYED_BOUND: "claim, bound: the counts do not carry it",
}
