"""Diagnostics: what there is to know about data, a run or an answer besides its numbers; a code and a sentence each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum

from umdp.statements.text import Sentence, nouns, were

__all__ = ["DIAGNOSTICS", "SHIFTS", "DiagnosticCode", "Unlisted"]

NAMED = 5  # states that are named, where there may be many


class Unlisted(StrEnum):
    """What becomes of a step that a graph does not list."""

    COUNTED = "counted as anything else"
    LEFT_OUT = "left out"
    MISSING = "missing"


class DiagnosticCode(StrEnum):
    """Stable codes of what sources, learners, runs and certificates have to say."""

    # -- logs
    LOG_GRAPH = "graph-from-log"
    SLIP = "slip-of-the-pen"
    BEGINNINGS = "beginnings-drawn"
    RECORDINGS_END = "column-ends-recordings"
    UNREADABLE = "values-unreadable"
    REJECTED_ROWS = "rows-passed-over"
    REJECTED_ROW = "row-passed-over"
    MORE_ROWS = "more-rows-passed-over"
    BY_CHANCE = "say-if-by-chance"
    ROWS_APART = "rows-apart"
    RECORDS = "records-read"
    # -- environments
    EPISODES_GRAPH = "graph-from-episodes"
    CUT_SHORT = "exploration-cut-short"
    REWARDS_VARY = "rewards-vary"
    TABLE_CHANGED = "table-not-relied-on"
    TRUNCATED = "episodes-truncated"
    BEYOND_GRAPH = "steps-beyond-graph"
    NOT_COUNTED = "steps-not-counted"
    STEP_NOT_COUNTED = "step-not-counted"
    PAID_BELOW = "steps-paid-less"
    NO_SEED = "reset-without-seed"
    TIME_LIMIT = "time-limit"
    SUM_FROM_LEAST = "rewards-above-least"
    COST_TO_MOST = "costs-below-most"
    EVERY_STEP = "rewards-shifted-every-step"
    # -- runs
    RESET_COUNTS = "reset-is-a-step"
    SELDOM_SEEN = "unseen-taken-for-impossible"
    TIED_CLASS = "class-learned"
    MORE_CLASSES = "more-classes"
    PARAMETER = "parameter-learned"
    CHANGED = "alarm-changed"
    MISFIT = "alarm-misfit"
    CONTRADICTED = "alarm-contradicted"
    MORE_ALARMS = "more-alarms"
    LEARNER_CHOSEN = "learner-chosen"
    PROPERTIES = "properties-from-file"
    # -- answers and certificates
    UNCONFIRMED = "unconfirmed"
    POLICY_NOT_CLAIMED = "policy-not-claimed"
    CLAIMED_LESS = "claimed-less"
    # -- checks of an environment
    BROKEN_RULES = "environment-breaks-rules"
    UNHASHABLE = "environment-states-unhashable"
    STARTS_ELSEWHERE = "environment-starts-elsewhere"
    NOT_LISTED = "environment-leaves-graph"
    ENDS_AND_GOES_ON = "environment-ends-and-goes-on"
    DRIFTS = "environment-drifts"
    STATE_BEFORE = "environment-depends-on-state-before"
    MASK_VARIES = "environment-mask-varies"
    BOTH_SIGNS = "environment-rewards-both-signs"
    NEVER_RECURS = "environment-states-never-recur"
    NOT_REPEATED = "environment-seed-does-not-repeat"
    SEEDS_ALIKE = "environment-seeds-alike"
    UNSEEDED_ALIKE = "environment-unseeded-alike"
    SHARED_GENERATOR = "environment-shares-generator"
    SHORT_OF_TIME = "environment-short-of-time"
    MORE_LIKE_THESE = "environment-more-like-these"


SHIFTS = frozenset({DiagnosticCode.SUM_FROM_LEAST, DiagnosticCode.COST_TO_MOST, DiagnosticCode.EVERY_STEP})
"""How rewards of both signs were shifted, which a property of rewards as the process pays them need not know."""

_BEYOND = {
    Unlisted.COUNTED: "counts as anything else",
    Unlisted.LEFT_OUT: "is taken for impossible",
    Unlisted.MISSING: "is missing, and no guarantee covers it",
}


def _size(states: int, transitions: int) -> str:
    return f"{states} {nouns(states, 'state')}, {transitions} {nouns(transitions, 'transition')}"


def _log_graph(name: str, states: int, transitions: int, unlisted: Unlisted) -> str:
    beyond = f"whatever can happen but is not in it {_BEYOND[unlisted]}"
    return f"the graph is what {name} shows: {_size(states, transitions)}; {beyond}"


def _episodes_graph(episodes: int, steps: int, states: int, transitions: int, unlisted: Unlisted) -> str:
    return (
        f"the graph is what {episodes} {nouns(episodes, 'episode')} with random actions showed ({steps} "
        f"{nouns(steps, 'step')}): {_size(states, transitions)}; whatever can happen but did not {_BEYOND[unlisted]}"
    )


def _slip(name: str, near: str, unlisted: Unlisted) -> str:
    instead = "it counts as anything else" if unlisted is Unlisted.COUNTED else "steps to it are left out"
    return f"the state {name!r} was reached and never left: taken for a slip of the pen for {near!r}, {instead}"


def _recordings_end(column: str, states: Sequence[str]) -> str:
    more = "" if len(states) <= NAMED else f" and {len(states) - NAMED:,} more"
    return (
        f'the column "{column}" is true with the last row of every recording: it marks where recordings end, and nobody knows '
        f"what follows {', '.join(states[:NAMED])}{more}; where trajectories really end there, say so (--terminal STATES)"
    )


def _unreadable(values: int, column: str, first: str) -> str:
    return f'{values:,} {nouns(values, "value")} of the column "{column}" could not be read: {first!r}'


def _rejected_rows(rejected: int, rows: int, path: str | None) -> str:
    to = "" if path is None else f"; {'it is' if rejected == 1 else 'they are'} in {path}"
    return f"{rejected:,} of {rows:,} {nouns(rows, 'row')} {were(rejected)} rejected and not counted{to}"


def _truncated(truncated: int, trajectories: int) -> str:
    return (
        f"{truncated} of {trajectories} {nouns(trajectories, 'trajectory')} {were(truncated)} cut off by the environment's "
        "time limit"
    )


def _beyond_graph(beyond: int, steps: int, unlisted: Unlisted) -> str:
    became = "was counted as anything else" if unlisted is Unlisted.COUNTED else "was left out"
    led = f"{beyond} of {steps} {nouns(steps, 'step')} led where the graph lists nothing"
    return f"{led}; each ended its trajectory and {became}"


def _not_counted(steps: int) -> str:
    return (
        f"{steps} {nouns(steps, 'step')} led where the graph has no transition; each ended its trajectory and was not counted, "
        f"and no guarantee covers {'it' if steps == 1 else 'them'}"
    )


def _paid_below(below: int, steps: int) -> str:
    its = "its" if below == 1 else "their"
    return (
        f"{below} of {steps} {nouns(steps, 'step')} paid less than any of {its} kind that exploration saw: expected rewards are "
        "overstated; explore longer (episodes=...)"
    )


def _time_limit(name: str, limit: int, ask: str | None, entry: bool) -> str:
    cuts = f"{name} cuts its episodes after {limit} steps, and the property does not"
    if ask is None:
        return f"{cuts}: what it asks for may come later"
    return f"{cuts}: for what can be played, ask for {ask}{' (the reset is a step, too)' if entry else ''}"


def _sum_from_least(least: float, most: float, label: str) -> str:
    return (
        f'rewards range from {least:g} to {most:g}: "reward" counts up from {least:g} at the end, so that the return is reward - '
        f'{-least:g}; ask for R{{"reward"}}max=? [ F "{label}" ]'
    )


def _cost_to_most(least: float, most: float, label: str) -> str:
    return (
        f'rewards range from {least:g} to {most:g}: "cost" counts down from {most:g} at the end, so that the return is {most:g} '
        f'- cost; ask for R{{"cost"}}min=? [ F "{label}" ]'
    )


def _every_step(least: float, most: float) -> str:
    return (
        f"rewards range from {least:g} to {most:g}: {-least:g} is added to every step, so that the return of k steps is the sum "
        f'minus k times {-least:g}; ask for R{{"reward"}}max=? [ C<=k ], with a number for k'
    )


def _reset_counts(steps: int) -> str:
    left = f"the other {steps - 1:,} are" if steps > 2 else "the other is" if steps == 2 else "none is"
    of = f"the first of the {steps:,} steps" if steps > 1 else "the one step"
    return f"the reset is {of} that the property counts; {left} the environment's own"


def _seldom_seen(learner: str | None, few: int | None, taken: int, often: int) -> str:
    said = (
        "what was never seen is taken for impossible, since it may cost anything"
        if learner is None
        else f"the learner {learner} takes what was never seen for impossible"
    )
    if few is None:
        return said
    return f"{said}: {few:,} of the {taken:,} choices that the policy takes {were(few)} seen fewer than {often} times"


def _tied_class(name: str, choices: int, samples: int, bounds: Sequence[tuple[str, float, float]]) -> str:
    learned = ", ".join(f"{outcome} in [{lower:.4f}, {upper:.4f}]" for outcome, lower, upper in bounds)
    return f"class {name}, {choices:,} choices, after {samples:,} samples: {learned}"


def _parameter(name: str, lower: float, upper: float, samples: int) -> str:
    return f"{name} in {_interval(lower, upper)} after {samples:,} {nouns(samples, 'sample')}"


def _interval(lower: float, upper: float) -> str:
    """Return an interval with as many digits as show its width, rounded outwards."""
    width = Decimal(repr(upper)) - Decimal(repr(lower))
    unit = Decimal(1).scaleb(max(min(width.adjusted() - 1, -3), -12) if width > 0 else -12)
    ends = (
        Decimal(repr(lower)).quantize(unit, rounding=ROUND_FLOOR),
        Decimal(repr(upper)).quantize(unit, rounding=ROUND_CEILING),
    )
    return "[" + ", ".join(f"{end.normalize():f}" for end in ends) + "]"


def _noticed(samples: int, steps: int) -> str:
    return f"noticed after {samples:,}, {steps:,} {nouns(steps, 'step')} in all"


def _changed(place: str, samples: int, steps: int, after: int, times: int) -> str:
    again = "" if times == 1 else f" (its alarm number {times})"
    when = f"after about {after:,} of its samples; {_noticed(samples, steps)}"
    return f"alarm: {place} changed {when}, and restarted{again}"


def _misfit(place: str, samples: int, steps: int, of: str) -> str:
    return f"alarm: {place} is not like the other choices of class {of}; {_noticed(samples, steps)}"


def _contradicted(place: str, samples: int, steps: int, of: str) -> str:
    return f"alarm: {place} does not fit {of}, whatever its parameters; {_noticed(samples, steps)}"


def _both_signs(
    gain: tuple[float, object, object], loss: tuple[float, object, object], losses: bool, gains: bool
) -> str:
    if losses and gains:
        ask = 'shifted in every step: ask for the sum of a number of steps, R{"reward"}max=? [ C<=k ]'
    elif losses:
        ask = 'shifted at the end of episodes: ask for R{"cost"}min=? [ F "terminated" ]'
    else:
        ask = 'shifted at the end of episodes: ask for R{"reward"}max=? [ F "terminated" ]'
    paid = "; ".join(f"{reward:g} in state {state!r}, action {action!r}" for reward, state, action in (gain, loss))
    return f"rewards have both signs ({paid}) and are {ask}"


DIAGNOSTICS: Mapping[DiagnosticCode, Sentence] = {
    DiagnosticCode.LOG_GRAPH: _log_graph,
    DiagnosticCode.SLIP: _slip,
    DiagnosticCode.BEGINNINGS: (
        'a trajectory leads from "{start}", from the states in which trajectories begin, by one step that bounds on steps count'
    ),
    DiagnosticCode.RECORDINGS_END: _recordings_end,
    DiagnosticCode.UNREADABLE: _unreadable,
    DiagnosticCode.REJECTED_ROWS: _rejected_rows,
    DiagnosticCode.REJECTED_ROW: "{name}, {place}: {why}",
    DiagnosticCode.MORE_ROWS: "... and {more} more",
    DiagnosticCode.BY_CHANCE: (
        'if rows were spoilt by chance, say so (on_error="chance", or --on-error chance): a promise then stands on that condition'
    ),
    DiagnosticCode.ROWS_APART: (
        "rows of one trajectory stand apart from each other; each run of rows was counted as a trajectory of its own. Sort the "
        "rows by trajectory and time"
    ),
    DiagnosticCode.RECORDS: lambda records, name: f"{records:,} {nouns(records, 'record')} read from {name}",
    DiagnosticCode.EPISODES_GRAPH: _episodes_graph,
    DiagnosticCode.CUT_SHORT: (
        "exploration was cut short after {steps:,} steps: what it did not see may be easy to reach"
    ),
    DiagnosticCode.REWARDS_VARY: "rewards differ for the same transition; the lowest that was seen counts",
    DiagnosticCode.TABLE_CHANGED: (
        "{wrapper} may change what happens, so the table of the environment is not relied on"
    ),
    DiagnosticCode.TRUNCATED: _truncated,
    DiagnosticCode.BEYOND_GRAPH: _beyond_graph,
    DiagnosticCode.NOT_COUNTED: _not_counted,
    DiagnosticCode.STEP_NOT_COUNTED: "{why}",
    DiagnosticCode.PAID_BELOW: _paid_below,
    DiagnosticCode.NO_SEED: (
        "reset takes no seed: a run cannot be repeated, and one that is resumed goes on with other random numbers"
    ),
    DiagnosticCode.TIME_LIMIT: _time_limit,
    DiagnosticCode.SUM_FROM_LEAST: _sum_from_least,
    DiagnosticCode.COST_TO_MOST: _cost_to_most,
    DiagnosticCode.EVERY_STEP: _every_step,
    DiagnosticCode.RESET_COUNTS: _reset_counts,
    DiagnosticCode.SELDOM_SEEN: _seldom_seen,
    DiagnosticCode.TIED_CLASS: _tied_class,
    DiagnosticCode.MORE_CLASSES: "{more:,} more classes of several choices",
    DiagnosticCode.PARAMETER: _parameter,
    DiagnosticCode.CHANGED: _changed,
    DiagnosticCode.MISFIT: _misfit,
    DiagnosticCode.CONTRADICTED: _contradicted,
    DiagnosticCode.MORE_ALARMS: lambda more: f"and {more:,} more {nouns(more, 'alarm')} before",
    DiagnosticCode.LEARNER_CHOSEN: (
        "the learner is {learner}, error rate {rate:g}, because the graph is only observed; --learner takes another"
    ),
    DiagnosticCode.PROPERTIES: "the properties of {path}",
    DiagnosticCode.UNCONFIRMED: (
        "more was found than the judge confirms on the model as given, so that the bracket is the one it does confirm: please "
        "report the model and the property"
    ),
    DiagnosticCode.POLICY_NOT_CLAIMED: "nothing is claimed of the policy itself",
    DiagnosticCode.CLAIMED_LESS: "the {side} bound claimed is {bound}, which is what could be proved",
    DiagnosticCode.BROKEN_RULES: "{why}",
    DiagnosticCode.UNHASHABLE: "{why}",
    DiagnosticCode.STARTS_ELSEWHERE: (
        "reset led to {start!r}, but the graph starts in {initial}; add an initial state that leads to every start"
    ),
    DiagnosticCode.NOT_LISTED: (
        "{why}; it was seen after state {state!r}, action {action!r}: add it to the graph, or learn the graph from observed "
        "episodes"
    ),
    DiagnosticCode.ENDS_AND_GOES_ON: (
        "state {state!r}: some episodes terminate there and others go on; add to the state what tells the two apart"
    ),
    DiagnosticCode.DRIFTS: (
        "state {state!r}, action {action!r}: the successors of the first half of {visits} visits differ from those of the second "
        "(p = {p:.1g}); use a learner for changing environments, such as LUI with a bounded strength"
    ),
    DiagnosticCode.STATE_BEFORE: (
        "state {state!r}, action {action!r}: the successors of {visits} visits depend on the state before (p = {p:.1g}); add to "
        "the state what they depend on"
    ),
    DiagnosticCode.MASK_VARIES: (
        "state {state!r}: the available actions differ from visit to visit ({masks} different masks); add to the state what they "
        "depend on"
    ),
    DiagnosticCode.BOTH_SIGNS: _both_signs,
    DiagnosticCode.NEVER_RECURS: (
        "{late} of the last {steps} steps led to states never seen before, {states} in all; round or group observations with "
        "state_of until states recur"
    ),
    DiagnosticCode.NOT_REPEATED: (
        "reset(seed={seed}) and the same actions led to different states the second time, so a run cannot be repeated; draw all "
        "random numbers from the seed"
    ),
    DiagnosticCode.SEEDS_ALIKE: (
        "the same actions led to the same states in {episodes} episodes with different seeds, though outcomes differ within an "
        "episode: each has the same noise, whatever the seed, or depends on something that the state leaves out; draw random "
        "numbers from the generator that reset(seed=...) seeds"
    ),
    DiagnosticCode.UNSEEDED_ALIKE: (
        "the same actions led to the same states in {episodes} episodes after reset() without a seed: each has the same noise; "
        "leave the generator as it is where no seed is given"
    ),
    DiagnosticCode.SHARED_GENERATOR: (
        "the environment uses a generator that all of the process shares, {name}: whatever else draws from it, or seeds it, "
        "changes the noise; draw from self.np_random, which reset(seed=...) seeds"
    ),
    DiagnosticCode.SHORT_OF_TIME: "{seen:,} of {steps:,} steps were looked at in the time given",
    DiagnosticCode.MORE_LIKE_THESE: "... and {more} more like these",
}
