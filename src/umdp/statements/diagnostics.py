"""Diagnostics: what there is to know about data, a run or an answer besides its numbers; a code and a sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from umdp.statements.text import WordedCode, nouns, were

__all__ = ["SHIFTS", "DiagnosticCode", "Unlisted"]

NAMED = 5  # states that are named, where there may be many


class Unlisted(WordedCode):
    """What becomes of a step that a graph does not list, as the end of a sentence about such steps."""

    COUNTED = "counted as anything else", "counts as anything else"
    LEFT_OUT = "left out", "is taken for impossible"
    MISSING = "missing", "is missing, and no guarantee covers it"


def _slip(name: str, near: str, unlisted: Unlisted) -> str:
    instead = "it counts as anything else" if unlisted is Unlisted.COUNTED else "steps to it are left out"
    return f"the state {name!r} was reached and never left: taken for a slip of the pen for {near!r}, {instead}"


def _recordings_end(column: str, states: Sequence[str]) -> str:
    more = "" if len(states) <= NAMED else f" and {len(states) - NAMED:,} more"
    return (
        f'the column "{column}" is true with the last row of every recording: it marks where recordings end, and nobody knows '
        f"what follows {', '.join(states[:NAMED])}{more}; where trajectories really end there, say so (--terminal STATES)"
    )


def _rejected_rows(rejected: int, rows: int, path: str | None) -> str:
    to = "" if path is None else f"; {'it is' if rejected == 1 else 'they are'} in {path}"
    return f"{rejected:,} of {rows:,} {nouns(rows, 'row')} {were(rejected)} rejected and not counted{to}"


def _beyond_graph(beyond: int, steps: int, unlisted: Unlisted) -> str:
    became = "was counted as anything else" if unlisted is Unlisted.COUNTED else "was left out"
    led = f"{beyond} of {steps} {nouns(steps, 'step')} led where the graph lists nothing"
    return f"{led}; each ended its trajectory and {became}"


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


def _changed(place: str, samples: int, steps: int, after: int, times: int) -> str:
    again = "" if times == 1 else f" (its alarm number {times})"
    noticed = f"noticed after {samples:,}, {steps:,} {nouns(steps, 'step')} in all"
    return f"alarm: {place} changed after about {after:,} of its samples; {noticed}, and restarted{again}"


def _first_reward(name: str, others: Sequence[str]) -> str:
    more = ", ".join(f'"{each}"' for each in others[:NAMED]) + (", ..." if len(others) > NAMED else "")
    return f'the property names no reward: the first of the model counts, "{name}" (others: {more})'


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


def _behaviour(lower: float, upper: float, trajectories: int, undecided: int, initial: str, level: float) -> str:
    cut = "" if not undecided else f", of which {undecided:,} {were(undecided)} cut off before that was decided"
    said = f"as in the log it is {lower:g} to {upper:g} with probability {100 * level:.10g} %"
    seen = f"by {trajectories:,} {nouns(trajectories, 'trajectory')} from {initial}{cut}"
    return f"{said}, {seen}, if they are alike, do not depend on each other, and none is missing for what it would show"


def _better(by: float, smaller: bool) -> str:
    return f"the policy is better than that: at least {by:g} {'less' if smaller else 'more'}"


class DiagnosticCode(WordedCode):
    """Stable codes of what sources, learners, runs and certificates have to say."""

    # fmt: off
    # -- logs
    LOG_GRAPH = "graph-from-log", (
        "the graph is what {name} shows: {states} {states:~state}, {transitions} {transitions:~transition}; whatever can happen "
        "but is not in it {unlisted.words}"
    )
    SLIP = "slip-of-the-pen", _slip
    BEGINNINGS = "beginnings-drawn", (
        'a trajectory leads from "{start}", from the states in which trajectories begin, by one step that bounds on steps count'
    )
    RECORDINGS_END = "column-ends-recordings", _recordings_end
    UNREADABLE = "values-unreadable", '{values:,} {values:~value} of the column "{column}" could not be read: {first!r}'
    ENCODING = "encoding-found", (
        "{name} was read as {encoding}, which its bytes suggest; where names look wrong, say which encoding it is (--encoding)"
    )
    DECIMAL = "decimal-comma-found", (
        'the column "{column}" was read with decimal commas, as in {first!r}; if that is wrong, say so (--decimal .)'
    )
    REJECTED_ROWS = "rows-passed-over", _rejected_rows
    REJECTED_ROW = "row-passed-over", "{name}, {place}: {why}"
    MORE_ROWS = "more-rows-passed-over", "... and {more} more"
    BY_CHANCE = "say-if-by-chance", (
        'if rows were spoilt by chance, say so (on_error="chance", or --on-error chance): a promise then stands on that '
        'condition'
    )
    ROWS_APART = "rows-apart", (
        "rows of one trajectory stand apart from each other; each run of rows was counted as a trajectory of its own. Sort the "
        "rows by trajectory and time"
    )
    RECORDS = "records-read", "{records:,} {records:~record} read from {name}"
    # -- environments
    EPISODES_GRAPH = "graph-from-episodes", (
        "the graph is what {episodes} {episodes:~episode} with random actions showed ({steps} {steps:~step}): {states} "
        "{states:~state}, {transitions} {transitions:~transition}; whatever can happen but did not {unlisted.words}"
    )
    CUT_SHORT = "exploration-cut-short", (
        "exploration was cut short after {steps:,} steps: what it did not see may be easy to reach"
    )
    REWARDS_VARY = "rewards-vary", "rewards differ for the same transition; the lowest that was seen counts"
    TABLE_CHANGED = "table-not-relied-on", "{wrapper} may change what happens, so the table of the environment is not relied on"
    TRUNCATED = "episodes-truncated", (
        "{truncated} of {trajectories} {trajectories:~trajectory} {truncated:~was|were} cut off by the environment's time limit"
    )
    BEYOND_GRAPH = "steps-beyond-graph", _beyond_graph
    NOT_COUNTED = "steps-not-counted", (
        "{steps} {steps:~step} led where the graph has no transition; each ended its trajectory and was not counted, and no "
        "guarantee covers {steps:~it|them}"
    )
    STEP_NOT_COUNTED = "step-not-counted", "{why}"
    PAID_BELOW = "steps-paid-less", (
        "{below} of {steps} {steps:~step} paid less than any of {below:~its|their} kind that exploration saw: expected rewards "
        "are overstated; explore longer (episodes=...)"
    )
    NO_SEED = "reset-without-seed", (
        "reset takes no seed: a run cannot be repeated, and one that is resumed goes on with other random numbers"
    )
    TIME_LIMIT = "time-limit", _time_limit
    SUM_FROM_LEAST = "rewards-above-least", _sum_from_least
    COST_TO_MOST = "costs-below-most", _cost_to_most
    EVERY_STEP = "rewards-shifted-every-step", _every_step
    # -- runs
    RESET_COUNTS = "reset-is-a-step", _reset_counts
    SELDOM_SEEN = "unseen-taken-for-impossible", _seldom_seen
    TIED_CLASS = "class-learned", _tied_class
    MORE_CLASSES = "more-classes", "{more:,} more classes of several choices"
    PARAMETER = "parameter-learned", _parameter
    CHANGED = "alarm-changed", _changed
    MISFIT = "alarm-misfit", (
        "alarm: {place} is not like the other choices of class {of}; noticed after {samples:,}, {steps:,} {steps:~step} in all"
    )
    CONTRADICTED = "alarm-contradicted", (
        "alarm: {place} does not fit {of}, whatever its parameters; noticed after {samples:,}, {steps:,} {steps:~step} in all"
    )
    MORE_ALARMS = "more-alarms", "and {more:,} more {more:~alarm} before"
    LEARNER_CHOSEN = "learner-chosen", (
        "the learner is {learner}, error rate {rate:g}, because the graph is only observed; --learner takes another"
    )
    PROPERTIES = "properties-from-file", "the properties of {path}"
    BEHAVIOUR = "behaviour", _behaviour
    BETTER = "better-than-log", _better
    NOT_BETTER = "not-shown-better", "the policy is not shown to be better than that yet; more rows may show it"
    # -- answers and certificates
    FIRST_REWARD = "first-reward", _first_reward
    UNCONFIRMED = "unconfirmed", (
        "more was found than the judge confirms on the model as given, so that the bracket is the one it does confirm: please "
        "report the model and the property"
    )
    POLICY_NOT_CLAIMED = "policy-not-claimed", "nothing is claimed of the policy itself"
    CLAIMED_LESS = "claimed-less", "the {side} bound claimed is {bound}, which is what could be proved"
    # -- checks of an environment
    BROKEN_RULES = "environment-breaks-rules", "{why}"
    UNHASHABLE = "environment-states-unhashable", "{why}"
    STARTS_ELSEWHERE = "environment-starts-elsewhere", (
        "reset led to {start!r}, but the graph starts in {initial}; add an initial state that leads to every start"
    )
    NOT_LISTED = "environment-leaves-graph", (
        "{why}; it was seen after state {state!r}, action {action!r}: add it to the graph, or learn the graph from observed "
        "episodes"
    )
    ENDS_AND_GOES_ON = "environment-ends-and-goes-on", (
        "state {state!r}: some episodes terminate there and others go on; add to the state what tells the two apart"
    )
    DRIFTS = "environment-drifts", (
        "state {state!r}, action {action!r}: the successors of the first half of {visits} visits differ from those of the second "
        "(p = {p:.1g}); use a learner for changing environments, such as LUI with a bounded strength"
    )
    STATE_BEFORE = "environment-depends-on-state-before", (
        "state {state!r}, action {action!r}: the successors of {visits} visits depend on the state before (p = {p:.1g}); add to "
        "the state what they depend on"
    )
    MASK_VARIES = "environment-mask-varies", (
        "state {state!r}: the available actions differ from visit to visit ({masks} different masks); add to the state what they "
        "depend on"
    )
    BOTH_SIGNS = "environment-rewards-both-signs", _both_signs
    NEVER_RECURS = "environment-states-never-recur", (
        "{late} of the last {steps} steps led to states never seen before, {states} in all; round or group observations with "
        "state_of until states recur"
    )
    NOT_REPEATED = "environment-seed-does-not-repeat", (
        "reset(seed={seed}) and the same actions led to different states the second time, so a run cannot be repeated; draw all "
        "random numbers from the seed"
    )
    SEEDS_ALIKE = "environment-seeds-alike", (
        "the same actions led to the same states in {episodes} episodes with different seeds, though outcomes differ within an "
        "episode: each has the same noise, whatever the seed, or depends on something that the state leaves out; draw random "
        "numbers from the generator that reset(seed=...) seeds"
    )
    UNSEEDED_ALIKE = "environment-unseeded-alike", (
        "the same actions led to the same states in {episodes} episodes after reset() without a seed: each has the same noise; "
        "leave the generator as it is where no seed is given"
    )
    SHARED_GENERATOR = "environment-shares-generator", (
        "the environment uses a generator that all of the process shares, {name}: whatever else draws from it, or seeds it, "
        "changes the noise; draw from self.np_random, which reset(seed=...) seeds"
    )
    SHORT_OF_TIME = "environment-short-of-time", "{seen:,} of {steps:,} steps were looked at in the time given"
    MORE_LIKE_THESE = "environment-more-like-these", "... and {more} more like these"
    # fmt: on


SHIFTS = frozenset({DiagnosticCode.SUM_FROM_LEAST, DiagnosticCode.COST_TO_MOST, DiagnosticCode.EVERY_STEP})
"""How rewards of both signs were shifted, which a property of rewards as the process pays them need not know."""
