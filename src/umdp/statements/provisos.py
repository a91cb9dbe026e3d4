"""Conditions and reasons: what a promise rests on, and what takes it away; a code and a sentence each.

`umdp.statements.conditions` says which source, graph, property, learner and column of a log brings which of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from umdp.statements.text import Sentence, nouns, were

__all__ = ["PROVISOS", "Cause", "Code", "PastCase", "PastFeature"]


class Code(StrEnum):
    """Stable codes; those of conditions come first, those of reasons why nothing is promised from `OBSERVED` on."""

    # -- conditions of a promise
    LISTED = "outcomes-listed"
    POSSIBLE = "listed-can-happen"
    SELECTED = "rows-not-selected"
    ONCE = "rows-once"
    STEADY = "one-process"
    MARKOV = "markov"
    ORDER = "rows-in-order"
    INITIAL = "initial-state"
    ENDS = "ends-are-final"
    TERMINAL = "terminal-is-final"
    LABEL = "label-as-shown"
    REWARD = "reward-as-shown"
    LEAST_SEEN = "reward-least-seen"
    LEAST = "reward-at-least"
    SPOILT = "rejected-by-chance"
    FIXED = "samples-fixed-before"
    TIED = "classes-alike"
    PROGRAM = "program-describes"
    UNCHANGED = "unchanged-since-start"
    UNCHANGED_SINCE = "unchanged-since-alarm"
    ALIKE = "episodes-alike"
    # -- reasons why nothing is promised
    OBSERVED = "graph-only-observed"
    NOT_FOUND = "graph-found-in-data"
    COSTLY = "unseen-may-cost-anything"
    UNSEEN = "value-rests-on-unseen"
    CHANGES = "process-changes"
    DROPPED = "unlisted-dropped"
    STRAY = "unlisted-row"
    REJECTED = "rows-rejected"
    UNEVEN = "rejected-not-by-chance"
    DRIFT = "outcomes-depend-on-position"
    PAST_MATTERS = "past-matters"
    COPIES = "rows-copied"
    SAME_NAME = "trajectories-copied"
    APART = "trajectories-apart"
    DISORDER = "rows-out-of-order"
    PAID_LESS = "paid-less-than-seen"
    MEAN = "reward-is-a-mean"
    NO_LEAST = "reward-without-least"
    UNREAD = "reward-unreadable"
    LOOKED_AGAIN = "looked-again"
    FOLLOWED = "followed-what-was-seen"
    FAILED = "run-failed"
    NO_CLAIM = "learner-claims-nothing"
    NOT_CONFIDENCE = "lui-not-confidence"
    BIASED = "biased-estimate"
    NO_BOUNDS = "estimate-without-bounds"
    NOT_UCRL2 = "not-ucrl2-intervals"
    BROKEN = "intervals-exclude-each-other"
    MISFIT = "class-misfit"
    CONTRADICTED = "class-contradicted"
    PROGRAM_DIFFERS = "program-differs"
    PROGRAM_WRONG = "program-contradicted"
    BEYOND_MOST = "more-than-the-most"
    LED_OUT = "played-out-of-graph"
    COST_OBSERVED = "cost-only-observed"
    OTHER_PROPERTY = "other-property"
    # -- a sentence from elsewhere, such as a learner that somebody else wrote
    OTHER = "other"


class Cause(StrEnum):
    """Causes for which a row of a log is malformed."""

    ENCODING = "encoding"
    ZERO = "character-0"
    QUOTE = "open-quote"
    FIELDS = "number-of-fields"
    FLAG = "neither-yes-nor-no"
    EMPTY = "missing"
    JSON = "no-object"
    TYPE = "wrong-type"
    CONTRADICTS = "contradicts-the-row-before"
    OTHER = "other"


CAUSES: Mapping[Cause, str] = {
    Cause.ENCODING: "they are not text in UTF-8",
    Cause.ZERO: "they hold a character 0",
    Cause.QUOTE: "a quotation mark is not closed",
    Cause.FIELDS: "they have another number of fields than the header",
    Cause.FLAG: "they do not say yes or no where they should",
    Cause.EMPTY: "something is missing",
    Cause.JSON: "they are no JSON objects",
    Cause.TYPE: "they hold what is neither text nor a number",
    Cause.CONTRADICTS: "they do not start where the row before them ended",
    Cause.OTHER: "they do not fit",
}


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


def _spoilt(rejected: int, rows: int) -> str:
    they = "it" if rejected == 1 else "they"
    return (
        f"the {rejected:,} of {rows:,} {nouns(rows, 'row')} that {were(rejected)} rejected {were(rejected)} spoilt by chance, "
        f"whatever {they} would have said"
    )


def _uneven(rejected: int, cause: Cause, role: str, name: str, times: int, share: float) -> str:
    return (
        f"rows were not rejected by chance: of {rejected:,} because {CAUSES[cause]}, {times:,} have the {role} {name!r}, and of "
        f"the others {share:.2%}; correct these rows"
    )


def _paid_less(steps: int) -> str:
    its = "its" if steps == 1 else "their"
    return f"{steps:,} {nouns(steps, 'step')} paid less than any of {its} kind that exploration saw"


def _drift(
    state: str, action: str, successor: str, before: tuple[int, int], after: tuple[int, int], row: int, p: float
) -> str:
    return (
        f"outcomes depend on the position in the log: state {state}, action {action} led to {successor} in {before[0]:,} of "
        f"{before[1]:,} rows before row {row:,}, and in {after[0]:,} of {after[1]:,} after it (p = {p:.1g}); rows are sorted or "
        "selected, or the process changes"
    )


def _initial(state: str, elsewhere: int, trajectories: int) -> str:
    begin = "begins" if elsewhere == 1 else "begin"
    return (
        f"it starts in state {state}, as the first row does: {elsewhere:,} of {trajectories:,} "
        f"{nouns(trajectories, 'trajectory')} {begin} elsewhere"
    )


def _since(noun: str, since: str, places: int, steps: int) -> str:
    return (
        f"no {noun} has changed since {since} (or since the start where there was none: there were alarms at {places:,} "
        f"{nouns(places, noun)}, the last after {steps:,} steps)"
    )


PROVISOS: Mapping[Code, Sentence] = {
    Code.LISTED: "the graph lists every outcome that can happen",
    Code.POSSIBLE: lambda unseen: (
        f"every listed transition can happen: {unseen:,} of those on which the value rests {were(unseen)} never seen"
    ),
    Code.SELECTED: "rows were not selected or left out by their outcome",
    Code.ONCE: "no row was recorded twice",
    Code.STEADY: "all rows come from one process that does not change",
    Code.MARKOV: "what happens next depends on the state and the action alone",
    Code.ORDER: "rows stand in the order in which they happened",
    Code.INITIAL: _initial,
    Code.ENDS: 'a true "{column}" says that a trajectory is over for good, not only its recording',
    Code.TERMINAL: "states that were said to be terminal are never left",
    Code.LABEL: 'the label "{label}" of a state is always what the log shows',
    Code.REWARD: 'the reward "{reward}" of a transition is always what the log shows',
    Code.LEAST_SEEN: "where an expected reward is asked for, no step pays less than any of its kind that exploration saw",
    Code.LEAST: 'no step pays a reward "{reward}" of less than {least:g}',
    Code.SPOILT: _spoilt,
    Code.FIXED: "the number of samples of every choice was fixed before, not by what was seen",
    Code.TIED: "the choices of every class share one distribution over outcomes",
    Code.PROGRAM: "{origin} describes the process, with {box}",
    Code.UNCHANGED: "the process has not changed since the start",
    Code.UNCHANGED_SINCE: lambda steps, **more: (
        _since(steps=steps, **more)
        if more
        else f"the process has not changed since the last alarm, after {steps:,} steps"
    ),
    Code.ALIKE: "every episode begins alike and does not depend on the others",
    Code.OBSERVED: "the graph was only observed: what can happen but was not seen is missing from it",
    Code.NOT_FOUND: (
        "the graph was found in the data, and the learner's bounds are for one that is known: use ConfidenceSequence"
    ),
    Code.COSTLY: (
        "an outcome that was never seen may cost anything, or hold for ever: no bound on a smallest cost, or on a long-run "
        "average, follows from an observed graph"
    ),
    Code.UNSEEN: lambda unseen: (
        f"the value rests on {unseen:,} listed {nouns(unseen, 'transition')} that {were(unseen)} never seen, in a graph only "
        "observed"
    ),
    Code.CHANGES: "the process is known to change: bounds from before say nothing of it after",
    Code.DROPPED: _dropped,
    Code.STRAY: "a row says what the graph does not list, so that one of them is wrong: {why}",
    Code.REJECTED: _rejected,
    Code.UNEVEN: _uneven,
    Code.DRIFT: _drift,
    Code.PAST_MATTERS: _past_matters,
    Code.COPIES: (
        "rows occur more than once: at least {copied:,} rows stand in copies of other rows, too long to be chance; remove the "
        "copies"
    ),
    Code.SAME_NAME: (
        "trajectories of the same name are the same, {same:,} times: more often than chance allows; remove the copies"
    ),
    Code.APART: (
        "rows of one trajectory stand apart from each other, so that nobody knows in which state it began: sort the rows by "
        "trajectory and time"
    ),
    Code.DISORDER: (
        "of {rows:,} rows that lead to a state which other rows leave, {followed:,} are followed by one that starts there, no "
        "more than in any order: where trajectories begin cannot be read off; sort the rows, or name trajectories"
    ),
    Code.PAID_LESS: _paid_less,
    Code.MEAN: 'the reward "{reward}" is the mean of what was seen of it, not known',
    Code.UNREAD: (
        '{values:,} of the values of the column "{column}" could not be read, such as {first!r}: nobody knows what they would '
        'have said of the reward "{reward}"; correct them'
    ),
    Code.NO_LEAST: (
        'the reward "{reward}" is below 0 at times, and an outcome that was never seen may pay less than any that was: say '
        "what a step pays at least, {reward}={column}>=NUMBER"
    ),
    Code.LOOKED_AGAIN: (
        "the bounds hold for one look, after numbers of samples fixed before, and this was look {looks}: use "
        "ConfidenceSequence, which holds at all looks"
    ),
    Code.FOLLOWED: (
        "the bounds hold for numbers of samples fixed before, and here what was seen decided what was sampled, or when to stop: "
        "use ConfidenceSequence"
    ),
    Code.FAILED: "the run stopped on an error, and what it had read last was not taken into account",
    Code.NO_CLAIM: "the learner promises nothing",
    Code.NOT_CONFIDENCE: "the intervals of LUI are not confidence intervals: they shrink faster than the error",
    Code.BIASED: "the intervals surround a biased estimate, for which Hoeffding's inequality does not hold",
    Code.NO_BOUNDS: "an estimate without bounds is almost surely not the truth",
    Code.NOT_UCRL2: "the intervals are not those that the guarantee of UCRL2 is about: they surround a biased estimate",
    Code.BROKEN: (
        "intervals of different times exclude each other (choices: {choices}): the process changed, or the promised event failed"
    ),
    Code.MISFIT: "the choices of class {kind} do not share one distribution: {choice} is not like the others",
    Code.CONTRADICTED: (
        "bounds of outcomes of class {kind} contradict each other: its choices do not share one distribution, the process "
        "changed, or the promised event failed"
    ),
    Code.PROGRAM_DIFFERS: "the data contradict {origin}: {why}",
    Code.PROGRAM_WRONG: (
        "the data contradict {origin}: no values of {names} fit what was seen of class {kind} and of the others; the program is "
        "wrong, or the promised event failed"
    ),
    Code.BEYOND_MOST: "a trajectory cost more than the most that was said, {most:g}",
    Code.LED_OUT: lambda unlisted: f"{unlisted:,} {nouns(unlisted, 'step')} led where the graph lists nothing",
    Code.COST_OBSERVED: "what a step costs was only observed",
    Code.OTHER_PROPERTY: (
        "the promise was made for another property, and does not follow for this one from the intervals alone"
    ),
    Code.OTHER: "{text}",
}
