"""What the checker of certificates says: what it takes on trust, and why it refuses; a code and a sentence each."""

from __future__ import annotations

from umdp.statements.text import WordedCode

__all__ = ["OF_CLAIM", "OF_POLICY", "Premise", "Refusal"]


class Premise(WordedCode):
    """What must be true besides what the checker proves."""

    # fmt: off
    PROCESS = "process", (
        "the process has the states, choices, labels and rewards of the file, and of each choice the listed transitions, all of "
        "which can happen, and no others"
    )
    SAMPLES = "samples", (
        "the counts are those of independent samples of the process, of all samples of a choice since a moment that was not "
        "chosen by what they show"
    )
    FIXED_BEFORE = "fixed-before", "the levels, the method and the parameter of its mixture were fixed before the data"
    FIXED_SIZE = "fixed-size", "the number of samples of every choice was fixed before the data, which were looked at once"
    CLASSES = "classes", "the choices of every class share one distribution over outcomes"
    FUNCTIONS = "functions", "the functions of the parameters describe the process"
    PRIOR_BOX = "prior-box", "the parameters lie in the box believed beforehand: {box}"
    PLAYS = "plays", (
        "these are the counts of this policy, of all its trajectories since it was fixed, each of which began alike and did not "
        "depend on the others"
    )
    COUNTED = "counted", (
        "each trajectory was counted for what the property says of it; the file holds no trajectory, and no probability"
    )
    CANDIDATES = "candidates", (
        "the mixture, the parts of the error rate and the number of candidates were fixed before the trajectories that they "
        "judge"
    )
    RANGE = "range", "no trajectory is worth less than 0 or more than {most}"
    FILE = "file", 'the file says: "{sentence}"'
    # fmt: on


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


class Refusal(WordedCode):
    """Why a certificate is refused: the line of it that does not hold."""

    # fmt: off
    # -- the file, and what it claims
    CHANGED = "file-changed", "digest: the file has been changed since it was written"
    CROSSED = "claim-crossed", "claim: the lower bound exceeds the upper bound"
    UNPROVED = "claim-unproved", "{side} bound: more is claimed than is proved"
    NOT_INDUCED = "claim-not-induced", "{side} bound: the backward induction gives {found!r} for it"
    # -- the policy
    POLICY_BY_STEP = "policy-by-step", "policy: depends on the step, but the property has no step bound"
    NO_POLICY = "policy-missing", "policy: something is claimed of it, but there is none"
    POLICY_LENGTH = "policy-length", "policy: {steps} steps, but the property has {asked}"
    POLICY_VALUE = "policy-value", "policy, state {state}: the value claimed is not that of its choice {choice}"
    POLICY_STATES = "policy-states", "policy: not a choice for every state"
    POLICY_CHOICE = "policy-choice", "policy, state {state}: choice {choice} is not one of its own"
    # -- the vectors of one side
    NEEDS_POLICY = "needs-policy", "{side}: needs a policy that does not depend on the step"
    ABOVE_ONE = "above-one", "{side}, state {state}: a probability is at most 1"
    DECIDED = "graph-decides", "{side}, state {state}: the graph decides its value, and it is {known}"
    LEADS_TO_INFINITE = "leads-to-infinite", "{side}, state {state}: the policy's choice {choice} leads to an infinite reward"
    VALUE = "value", _value
    RANK = "rank", "{side}, state {state}: choice {choice} does not lead to a smaller rank"
    MAY_BE_INFINITE = "may-be-infinite", "{side}, state {state}: choice {choice} may lead to an infinite value"
    INFINITE = "infinite", _infinite
    NO_TRAP = "no-trap", "{side}, state {state}: infinite, and no trap level"
    LEAVES_TRAP = "leaves-trap", "{side}, state {state}: choice {choice} need not stay away from the goal"
    NEED_NOT_PAY = "need-not-pay", "{side}, state {state}: choice {choice} need not pay, nor lead to a smaller rank"
    STOPS_PAYING = "stops-paying", "{side}, state {state}: choice {choice} need not go on paying"
    CUT = "cut-transition", "{side}, state {state}: choice {choice} is worth that only where nature cuts a transition"
    NO_GAIN = "no-gain", "{side}: there are no gains"
    GAIN = "gain", _gain
    GAIN_AND_VALUE = "gain-and-value", _gain_and_value
    # -- counts and levels
    NO_LEVEL = "level-missing", "claim, level: counts are given, and no level is claimed"
    NO_COUNTS = "counts-missing", "claim, level: there are no counts to prove it"
    OVERSPENT = "levels-overspent", "learning, levels: they add up to {spent!r}, more than a level of {level!r} leaves"
    UNSPENT = "level-unspent", "learning, transitions {first} to {last}: bounded, and no level is spent on them"
    SEVERAL_SIZES = "several-sizes", "learning, transitions {first} to {last}: one number of samples is fixed, not several"
    HITS = "hits-exceed-samples", "learning, transitions {first} to {last}: seen more often than their choice"
    NO_SEQUENCE = "no-sequence", "learning, transitions {first} to {last}: no sequence of samples has these counts"
    NOT_CARRIED = "counts-do-not-carry", "learning, transition {transition}: the counts do not carry the {end} bound {bound!r}"
    NO_DISTRIBUTION = "no-distribution", "learning, {place}: no distribution lies within the bounds that its counts prove"
    NOT_DERIVED = "bounds-not-derived", "learning, transition {transition}: its bounds do not follow from those of {what}"
    # -- classes, events and parameters
    MIXED_CLASSES = "mixed-classes", "learning, choice {choice}: its outcomes are of different classes"
    NOT_ITS_CLASS = "not-its-class", "learning, choice {choice}: its outcomes are not those of its class, each once"
    NO_OUTCOME = "no-outcome", "learning, choice {choice}: no outcome leads along one of its transitions"
    UNUSED_CLASS = "unused-class", "learning, class_ptr: there is a class that no choice has"
    NO_EVENT = "no-event", "learning, event {event}: it is no set of outcomes of one class"
    SURE_EVENT = "sure-event", "learning, event {event}: it is all outcomes of its class, and always happens"
    SURE_OUTCOME = "sure-outcome", "learning, outcome {outcome}: it is the only one of its class, and its probability must be 1"
    BOX = "box-too-small", "learning, box: the bounds of the classes leave values outside of it, or none at all"
    NOT_FROM_BOX = "bounds-not-from-box", "learning, outcome {outcome}: its bounds follow neither from its class nor from the box"
    NOT_A_SUM = "functions-do-not-sum", "learning, class {number}: its functions do not sum to 1"
    # -- plays of a policy
    MOST = "worth-at-most-1", "evidence, most: a trajectory counts for 1 at most where a probability is asked for"
    PLAYED_HITS = "hits-exceed-plays", "evidence, hits: more than there were plays, or less than none"
    PLAYED_RATE = "rate-overspent", "evidence, spent: candidates have more than the error rate, all together"
    PLAYED_LEVEL = "level-overclaimed", "claim, level: more is claimed than the error rate leaves"
    MIXTURE = "no-mixture", "evidence, mixture: not a mixture of distributions"
    PLAYED_BOUND = "plays-do-not-carry", "claim, bound: the counts do not carry it"
    # fmt: on


OF_POLICY = frozenset({Refusal.POLICY_BY_STEP, Refusal.NO_POLICY, Refusal.POLICY_LENGTH, Refusal.POLICY_VALUE})
"""What is said of the policy cannot be proved."""
OF_CLAIM = frozenset({Refusal.UNPROVED, Refusal.NOT_INDUCED})
"""One side (`side`) claims more than its proof gives."""
