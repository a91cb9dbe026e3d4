"""What follows from where data come from: for every source, graph, property, learner and column of a log, a row.

A row names the conditions it adds to a promise, or the reasons why nothing is promised, by their codes. Where it does neither,
it says why. `test_conditions.py` compares the package with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from umdp.statements import Code
from umdp.statements.conditions import Asked, GraphKind


@dataclass(frozen=True)
class Effect:
    """What one thing does to a promise.

    Attributes
    ----------
    adds : conditions that the promise then has
    against : reasons why nothing is promised; where there are several, whichever is true
    why : what makes it harmless, where it does nothing
    """

    adds: tuple[Code, ...] = ()
    against: tuple[Code, ...] = ()
    why: str = ""


class SourceKind(StrEnum):
    """Where data come from."""

    MODEL = "model"
    TABLE = "environment with a table"
    ENVIRONMENT = "environment"
    LOG = "log"


SOURCES: Mapping[SourceKind, Effect] = {
    SourceKind.MODEL: Effect(why="the process is the model"),
    SourceKind.TABLE: Effect(why="the table is what the environment draws from"),
    SourceKind.ENVIRONMENT: Effect((Code.MARKOV,)),
    SourceKind.LOG: Effect((Code.SELECTED, Code.ONCE, Code.STEADY, Code.MARKOV)),
}


GRAPHS: Mapping[GraphKind, Effect] = {
    GraphKind.GIVEN: Effect((Code.LISTED, Code.POSSIBLE), (Code.DROPPED, Code.STRAY)),
    GraphKind.OBSERVED: Effect(
        against=(Code.NOT_FOUND, Code.UNSEEN), why="a learner that discovers bounds what was not seen"
    ),
    GraphKind.CLOSED: Effect(against=(Code.OBSERVED,)),
}


# On a graph that was given, all of these are what the graph and its rewards say; on one that was observed:
ON_OBSERVED: Mapping[Asked, Effect] = {
    Asked.PROBABILITY: Effect(why="anything else is read as the worst that can happen"),
    Asked.EARNED: Effect(
        why="nothing more is earned in anything else; the column of the reward says what a step pays at least"
    ),
    Asked.SIGNED: Effect(against=(Code.COSTLY,)),
    Asked.SPENT: Effect(against=(Code.COSTLY,)),
    Asked.DISCOUNTED: Effect(why="anything else pays the least for ever; the column of the reward says what that is"),
    Asked.DISCOUNTED_SPENT: Effect(against=(Code.COSTLY,)),
    Asked.AVERAGE: Effect(against=(Code.COSTLY,)),
}


LEARNERS: Mapping[str, Effect] = {
    "confidence-sequence": Effect(against=(Code.BROKEN,), why="it holds at all times at once"),
    "restarting-sequence": Effect((Code.UNCHANGED, Code.UNCHANGED_SINCE), (Code.BROKEN,)),
    "clopper-pearson": Effect((Code.FIXED,), (Code.LOOKED_AGAIN, Code.FOLLOWED)),
    "pac": Effect((Code.FIXED,), (Code.BIASED, Code.LOOKED_AGAIN, Code.FOLLOWED)),
    "lui": Effect(against=(Code.NOT_CONFIDENCE,)),
    "map": Effect(against=(Code.NO_BOUNDS,)),
    "ucrl2": Effect(against=(Code.NOT_UCRL2,)),
    "tied": Effect((Code.TIED,), (Code.MISFIT, Code.CONTRADICTED)),
    "parametric": Effect((Code.PROGRAM,), (Code.PROGRAM_DIFFERS, Code.PROGRAM_WRONG)),
}


class Column(StrEnum):
    """What a log says besides its outcomes, or does not say; and what is said of it."""

    STATE = "state"
    ACTION = "action"
    NEXT = "next"
    TRAJECTORY = "trajectory"
    NO_TRAJECTORY = "no trajectory"
    END = "end"
    END_OF_RECORDINGS = "end, with every last row"
    TERMINATED = "terminated"
    TRUNCATED = "truncated"
    TERMINAL = "--terminal"
    LABEL = "--label NAME=column:"
    STATES = "--label NAME=STATES"
    PAID = "--reward NAME=COLUMN, never below 0"
    PAID_SIGNED = "--reward NAME=COLUMN, below 0 at times"
    PAID_AT_LEAST = "--reward NAME=COLUMN>=NUMBER"
    PAID_BY_RULE = "--reward NAME=NUMBER"
    PAID_MEAN = "--reward NAME=mean:COLUMN"
    INITIAL = "--initial STATE"
    INITIAL_FIRST = "no --initial"
    INITIAL_OBSERVED = "--initial observed"
    UNUSED = "any other"


# For a graph that the log shows; one that was given has labels, rewards, an initial and terminal states of its own.
COLUMNS: Mapping[Column, Effect] = {
    Column.STATE: Effect(against=(Code.REJECTED, Code.UNEVEN, Code.ONE_CAUSE), why="rows that say it are counted"),
    Column.ACTION: Effect(against=(Code.REJECTED, Code.UNEVEN, Code.ONE_CAUSE), why="rows that say it are counted"),
    Column.NEXT: Effect(against=(Code.REJECTED, Code.UNEVEN, Code.ONE_CAUSE), why="a missing one is anything else"),
    Column.TRAJECTORY: Effect(why="it says which rows belong together"),
    Column.NO_TRAJECTORY: Effect((Code.ORDER,)),
    Column.END: Effect((Code.ENDS,)),
    Column.END_OF_RECORDINGS: Effect(
        why="it marks where recordings end, and nothing is concluded of their last states"
    ),
    Column.TERMINATED: Effect((Code.ENDS,)),
    Column.TRUNCATED: Effect(why="nothing is concluded of the last state of a recording that was cut"),
    Column.TERMINAL: Effect((Code.TERMINAL,)),
    Column.LABEL: Effect((Code.LABEL,)),
    Column.STATES: Effect(why="whoever asks says what is meant"),
    Column.PAID: Effect((Code.REWARD, Code.LEAST), (Code.UNREAD,)),
    Column.PAID_SIGNED: Effect((Code.REWARD,), (Code.NO_LEAST, Code.UNREAD)),
    Column.PAID_AT_LEAST: Effect((Code.REWARD, Code.LEAST), (Code.UNREAD,)),
    Column.PAID_BY_RULE: Effect(why="whoever asks says what every step pays"),
    Column.PAID_MEAN: Effect(against=(Code.MEAN,)),
    Column.INITIAL: Effect(why="whoever asks says where it starts"),
    Column.INITIAL_FIRST: Effect((Code.INITIAL,)),
    Column.INITIAL_OBSERVED: Effect((Code.ORDER,), (Code.APART, Code.DISORDER)),
    Column.UNUSED: Effect(why="it is not looked at"),
}


class DataTest(StrEnum):
    """Tests of data while they are read: one that rejects takes the promise away."""

    DRIFT = "drift"
    MARKOV = "dependence on the past"
    COPIES = "copies"
    NAMES = "names"
    CAUSES = "causes of rejection"
    ORDER = "order of rows"


TESTS: Mapping[DataTest, Effect] = {
    DataTest.DRIFT: Effect(against=(Code.DRIFT,)),
    DataTest.MARKOV: Effect(against=(Code.PAST_MATTERS,)),
    DataTest.COPIES: Effect(against=(Code.COPIES,)),
    DataTest.NAMES: Effect(against=(Code.SAME_NAME,)),
    DataTest.CAUSES: Effect(against=(Code.UNEVEN, Code.ONE_CAUSE)),
    DataTest.ORDER: Effect(against=(Code.APART, Code.DISORDER)),
}
