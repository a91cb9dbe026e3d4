"""Conditions and reasons: what a promise rests on, and what takes it away; a code and a sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from umdp.statements.text import WordedCode, nouns, were

__all__ = ["Cause", "Code", "PastCase", "PastFeature"]


class Cause(WordedCode):
    """Causes for which a row of a log is malformed."""

    # fmt: off
    ENCODING = "encoding", "they are not text in the encoding of the log"
    DECIMAL = "decimal-comma", "a number in them has a decimal comma between fields that commas separate"
    ZERO = "character-0", "they hold a character 0"
    QUOTE = "open-quote", "a quotation mark is not closed"
    FIELDS = "number-of-fields", "they have another number of fields than the header"
    FLAG = "neither-yes-nor-no", "they do not say yes or no where they should"
    EMPTY = "missing", "something is missing"
    JSON = "no-object", "they are no JSON objects"
    TYPE = "wrong-type", "they hold what is neither text nor a number"
    CONTRADICTS = "contradicts-the-row-before", "they do not start where the row before them ended"
    OTHER = "other", "they do not fit"
    # fmt: on


class PastFeature(IntEnum):
    """What of the past an outcome may depend on."""

    STATE = 0
    ACTION = 1
    CLOCK = 2
    PARITY = 3
    STAY = 4
    OUTCOME = 5


PAST: Mapping[PastFeature, str] = {
    PastFeature.STATE: "the state before",
    PastFeature.ACTION: "the action before",
    PastFeature.CLOCK: "the number of steps since the trajectory began",
    PastFeature.PARITY: "whether the number of steps since the trajectory began is odd",
    PastFeature.STAY: "how long the state has not changed",
    PastFeature.OUTCOME: "what the same action led to the last time",
}


@dataclass(frozen=True)
class PastCase:
    """A past that some rows have: a state, an action or an outcome by its name, or a number of steps.

    Attributes
    ----------
    name : of the state, the action or the outcome; None for whatever else there is
    least, most : the number of steps; without a largest where `most` is None
    began : whether there was no past, since the trajectory began
    """

    name: str | None = None
    least: int = 0
    most: int | None = None
    began: bool = False


def _when(past: PastFeature, case: PastCase) -> str:
    """Return in words in which rows a past is this one."""
    if past in (PastFeature.STATE, PastFeature.ACTION):
        noun = "state" if past is PastFeature.STATE else "action"
        if case.began:
            return "with which a trajectory began"
        return f"after {f'another {noun}' if case.name is None else f'{noun} {case.name}'}"
    if past is PastFeature.PARITY:
        return f"after an {'odd' if case.least else 'even'} number of steps"
    if past is PastFeature.OUTCOME:
        rare = "after a rare outcome of the same"
        return rare if case.name is None else f"after it had led to {case.name} the last time"
    low, high = case.least, case.most
    span = f"{low:,} or more" if high is None else f"{low:,}" if high <= low else f"{low:,} to {high:,}"
    noun = nouns(0 if high is None else max(low, high), "step")
    return f"after {span} {noun}" + (" without change" if past is PastFeature.STAY else "")


def _past_matters(
    past: PastFeature,
    case: PastCase,
    state: str,
    action: str,
    successor: str,
    inside: tuple[int, int],
    outside: tuple[int, int],
    evidence: float,
) -> str:
    return (
        f"what happens next depends on {PAST[past]}, and not on the state and the action alone: state {state}, action {action} "
        f"led to {successor} in {inside[0]:,} of {inside[1]:,} {nouns(inside[1], 'row')} {_when(past, case)}, and in "
        f"{outside[0]:,} of {outside[1]:,} others (evidence {evidence:.1g} to 1); add to the state what it depends on"
    )


def _of(rows: int) -> str:
    return f" of {rows:,}" if rows else ""


def _dropped(unlisted: int, rows: int) -> str:
    return (
        f"{unlisted:,}{_of(rows)} {nouns(rows or unlisted, 'step')} that the graph does not list {were(unlisted)} dropped: what "
        "is left was selected by outcome"
    )


def _rejected(rejected: int, rows: int) -> str:
    they = "it" if rejected == 1 else "they"
    return (
        f"{rejected:,}{_of(rows)} {nouns(rows or rejected, 'row')} {were(rejected)} rejected: nobody knows what {they} would "
        "have said"
    )


def _since(noun: str, since: str, places: int, steps: int) -> str:
    return (
        f"no {noun} has changed since {since} (or since the start where there was none: there were alarms at {places:,} "
        f"{nouns(places, noun)}, the last after {steps:,} steps)"
    )


class Code(WordedCode):
    """Stable codes; those of conditions come first, those of reasons why nothing is promised from `OBSERVED` on."""

    # fmt: off
    # -- conditions of a promise
    LISTED = "outcomes-listed", "the graph lists every outcome that can happen"
    POSSIBLE = "listed-can-happen", (
        "every listed transition can happen: {unseen:,} of those on which the value rests {unseen:~was|were} never seen"
    )
    SELECTED = "rows-not-selected", "rows were not selected or left out by their outcome"
    ONCE = "rows-once", "no row was recorded twice"
    STEADY = "one-process", "all rows come from one process that does not change"
    MARKOV = "markov", "what happens next depends on the state and the action alone"
    ORDER = "rows-in-order", "rows stand in the order in which they happened"
    INITIAL = "initial-state", (
        "it starts in state {state}, as the first row does: {elsewhere:,} of {trajectories:,} {trajectories:~trajectory} "
        "{elsewhere:~begins|begin} elsewhere"
    )
    ENDS = "ends-are-final", 'a true "{column}" says that a trajectory is over for good, not only its recording'
    TERMINAL = "terminal-is-final", "states that were said to be terminal are never left"
    LABEL = "label-as-shown", 'the label "{label}" of a state is always what the log shows'
    REWARD = "reward-as-shown", 'the reward "{reward}" of a transition is always what the log shows'
    LEAST_SEEN = "reward-least-seen", (
        "where an expected reward is asked for, no step pays less than any of its kind that exploration saw"
    )
    LEAST = "reward-at-least", 'no step pays a reward "{reward}" of less than {least:g}'
    SPOILT = "rejected-by-chance", (
        "the {rejected:,} of {rows:,} {rows:~row} that {rejected:~was|were} rejected {rejected:~was|were} spoilt by chance, "
        "whatever {rejected:~it|they} would have said"
    )
    FIXED = "samples-fixed-before", "the number of samples of every choice was fixed before, not by what was seen"
    TIED = "classes-alike", "the choices of every class share one distribution over outcomes"
    PROGRAM = "program-describes", "{origin} describes the process, with {box}"
    UNCHANGED = "unchanged-since-start", "the process has not changed since the start"
    UNCHANGED_SINCE = "unchanged-since-alarm", lambda steps, **more: (
        _since(steps=steps, **more)
        if more
        else f"the process has not changed since the last alarm, after {steps:,} steps"
    )
    ALIKE = "episodes-alike", "every episode begins alike and does not depend on the others"
    # -- reasons why nothing is promised
    OBSERVED = "graph-only-observed", "the graph was only observed: what can happen but was not seen is missing from it"
    NOT_FOUND = "graph-found-in-data", (
        "the graph was found in the data, and the learner's bounds are for one that is known: use ConfidenceSequence"
    )
    COSTLY = "unseen-may-cost-anything", (
        "an outcome that was never seen may cost anything, or hold for ever: no bound on a smallest cost, or on a long-run "
        "average, follows from an observed graph"
    )
    UNSEEN = "value-rests-on-unseen", (
        "the value rests on {unseen:,} listed {unseen:~transition} that {unseen:~was|were} never seen, in a graph only observed"
    )
    CHANGES = "process-changes", "the process is known to change: bounds from before say nothing of it after"
    DROPPED = "unlisted-dropped", _dropped
    STRAY = "unlisted-row", "a row says what the graph does not list, so that one of them is wrong: {why}"
    REJECTED = "rows-rejected", _rejected
    UNEVEN = "rejected-not-by-chance", (
        "rows were not rejected by chance: of {rejected:,} because {cause.words}, {times:,} have the {role} {name!r}, and of the "
        "others {share:.2%}; correct these rows"
    )
    ONE_CAUSE = "rejected-for-one-cause", (
        "rows were not rejected by chance: {rejected:,} of them for one and the same cause, {piece!r}, because {cause.words}; "
        "say how the log is written (--encoding), or correct these rows"
    )
    DRIFT = "outcomes-depend-on-position", (
        "outcomes depend on the position in the log: state {state}, action {action} led to {successor} in {before[0]:,} of "
        "{before[1]:,} rows before row {row:,}, and in {after[0]:,} of {after[1]:,} after it (p = {p:.1g}); rows are sorted or "
        "selected, or the process changes"
    )
    PAST_MATTERS = "past-matters", _past_matters
    COPIES = "rows-copied", (
        "rows occur more than once: at least {copied:,} rows stand in copies of other rows, too long to be chance; remove the "
        "copies"
    )
    SAME_NAME = "trajectories-copied", (
        "trajectories of the same name are the same, {same:,} times: more often than chance allows; remove the copies"
    )
    APART = "trajectories-apart", (
        "rows of one trajectory stand apart from each other, so that nobody knows in which state it began: sort the rows by "
        "trajectory and time"
    )
    DISORDER = "rows-out-of-order", (
        "of {rows:,} rows that lead to a state which other rows leave, {followed:,} are followed by one that starts there, no "
        "more than in any order: where trajectories begin cannot be read off; sort the rows, or name trajectories"
    )
    PAID_LESS = "paid-less-than-seen", (
        "{steps:,} {steps:~step} paid less than any of {steps:~its|their} kind that exploration saw"
    )
    MEAN = "reward-is-a-mean", 'the reward "{reward}" is the mean of what was seen of it, not known'
    NO_LEAST = "reward-without-least", (
        'the reward "{reward}" is below 0 at times, and an outcome that was never seen may pay less than any that was: say '
        "what a step pays at least, {reward}={column}>=NUMBER"
    )
    UNREAD = "reward-unreadable", (
        '{values:,} of the values of the column "{column}" could not be read, such as {first!r}: nobody knows what they would '
        'have said of the reward "{reward}"; correct them'
    )
    LOOKED_AGAIN = "looked-again", (
        "the bounds hold for one look, after numbers of samples fixed before, and this was look {looks}: use "
        "ConfidenceSequence, which holds at all looks"
    )
    FOLLOWED = "followed-what-was-seen", (
        "the bounds hold for numbers of samples fixed before, and here what was seen decided what was sampled, or when to stop: "
        "use ConfidenceSequence"
    )
    FAILED = "run-failed", "the run stopped on an error, and what it had read last was not taken into account"
    NO_CLAIM = "learner-claims-nothing", "the learner promises nothing"
    NOT_CONFIDENCE = "lui-not-confidence", "the intervals of LUI are not confidence intervals: they shrink faster than the error"
    BIASED = "biased-estimate", "the intervals surround a biased estimate, for which Hoeffding's inequality does not hold"
    NO_BOUNDS = "estimate-without-bounds", "an estimate without bounds is almost surely not the truth"
    NOT_UCRL2 = "not-ucrl2-intervals", (
        "the intervals are not those that the guarantee of UCRL2 is about: they surround a biased estimate"
    )
    BROKEN = "intervals-exclude-each-other", (
        "intervals of different times exclude each other (choices: {choices}): the process changed, or the promised event failed"
    )
    MISFIT = "class-misfit", "the choices of class {kind} do not share one distribution: {choice} is not like the others"
    CONTRADICTED = "class-contradicted", (
        "bounds of outcomes of class {kind} contradict each other: its choices do not share one distribution, the process "
        "changed, or the promised event failed"
    )
    PROGRAM_DIFFERS = "program-differs", "the data contradict {origin}: {why}"
    PROGRAM_WRONG = "program-contradicted", (
        "the data contradict {origin}: no values of {names} fit what was seen of class {kind} and of the others; the program is "
        "wrong, or the promised event failed"
    )
    BEYOND_MOST = "more-than-the-most", "a trajectory cost more than the most that was said, {most:g}"
    LED_OUT = "played-out-of-graph", "{unlisted:,} {unlisted:~step} led where the graph lists nothing"
    COST_OBSERVED = "cost-only-observed", "what a step costs was only observed"
    OTHER_PROPERTY = "other-property", (
        "the promise was made for another property, and does not follow for this one from the intervals alone"
    )
    # -- a sentence from elsewhere, such as a learner that somebody else wrote
    OTHER = "other", "{text}"
    # fmt: on
