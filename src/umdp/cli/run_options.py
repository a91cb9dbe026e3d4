"""The options of a run, for every command that makes some: fields of `Config` under the names they have there.

And what is wrong with those that were typed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cached_property
from typing import Any

import typer

from umdp.benchmark import BENCHMARKS
from umdp.errors import ModelError
from umdp.explore import EXPLORERS
from umdp.learn import LEARNERS
from umdp.learn.learner_settings import make_learner, settings_of
from umdp.run import Config
from umdp.source.resolve import resolve

__all__ = [
    "Limits",
    "RunOptions",
    "arguments_of",
    "confident",
    "learners",
    "models",
    "promises",
    "settings",
    "settings_of_texts",
]

PROGRAMS = (".prism", ".nm", ".pm", ".jani")


# -- what the shell completes --------------------------------------------------------------------------------


def models(incomplete: str) -> list[tuple[str, str]]:
    """Return the benchmarks that a word may become; files are completed by the shell."""
    return [(name, each.description) for name, each in BENCHMARKS.items() if name.startswith(incomplete)]


def learners(incomplete: str) -> list[str]:
    """Return the learners that a word may become."""
    return [name for name in LEARNERS if name.startswith(incomplete)]


def settings(incomplete: str) -> list[str]:
    """Return the settings of learners that a word may become.

    Examples
    --------
    >>> settings("str")
    ['strength=', 'strength_bound=']
    """
    names = dict.fromkeys(name for kind in LEARNERS.values() for name in settings_of(kind))
    return [f"{name}=" for name in names if name.startswith(incomplete)]


def explorers(incomplete: str) -> list[str]:
    """Return the ways to explore that a word may become."""
    return [name for name in EXPLORERS if name.startswith(incomplete)]


# -- options -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What ends a run.

    Options
    -------
    trajectories : N
        Stop after so many trajectories.
    steps : N
        Stop after so many steps.
    seconds : SECONDS
        Stop after this time.
    until : ">=0.3"
        Stop when this is reached.
    gap : 0.01
        Stop when no policy can be better than what is promised by more than this.
    """

    trajectories: int | None = None
    steps: int | None = None
    seconds: float | None = None
    until: str | None = None
    gap: float | None = None

    @property
    def limits(self) -> dict[str, Any]:
        """Those that were given, and nothing for others, by name."""
        return {field.name: getattr(self, field.name) for field in fields(Limits)}


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What is learned, from what and how.

    Arguments
    ---------
    model : MODEL
        A benchmark (chain, chain-switched, aircraft, grid, bandit, betting-favourable, betting-unfavourable), a file as
        for check, gym:ID (gym:FrozenLake-v1,map_name=8x8), MODULE:ID, FILE.py:NAME, a function or class of yours that
        makes an MDP or an environment, or a log: .csv .tsv .jsonl .xes, also .gz, .parquet, a folder or pattern of these,
        or - for standard input.
    property : [PROPERTY]
        What for, such as Pmax=? [ F "goal" ]; benchmarks have their own.

    Options
    -------
    learner : NAME
        {learners}, or FILE.py:NAME. Where the graph is only observed (a log without a graph, an environment without a
        table) and none is asked for, confidence-sequence with the error rate 0.05.
    confidence : 0.95
        Learn so that the result holds with this probability, whenever you stop: chooses the learner confidence-sequence,
        and its error rate.
    set : NAME=VALUE
        A setting of the learner; may be repeated. {settings}.
    tie : FILE.py:NAME
        Which choices share one distribution over outcomes, so that what is seen of one is learned of all: a function of
        (state, action, successor) that returns a class and an outcome, or None; CLASS,OUTCOME, two columns of the table
        given by --graph; or: declared, for what a benchmark declares.
    evidence : SHARE
        Play this share of the trajectories, such as 0.5, with a candidate policy: what it shows is a promise of its own,
        whenever you stop, with any learner. It has half of the learner's error rate, or all of it where the learner
        promises nothing (--confidence, otherwise 0.99).
    most : NUMBER
        The most that a trajectory can earn or cost, for --evidence on an expected reward.
    explore : NAME
        How to move: {explorers}, or FILE.py:NAME.
    xi : NUMBER
        Weight on the optimistic action.
    horizon : N
        The longest a trajectory may be.
    seed : N
        Equal seeds give equal runs.
    const : K=2,err=.2
        Values for a program's constants.
    unknown : p=0.5:1,q
        Undefined constants of a program to be learned, with the ends between which they lie, 0 and 1 unless given;
        --const gives the values with which the process is played. May be repeated.
    """

    context: typer.Context
    learner: str = field(default="lui", metadata={"autocompletion": learners})
    model: str = field(metadata={"autocompletion": models})
    property: str | None = None
    confidence: Decimal | None = None
    set: list[str] | None = field(default=None, metadata={"autocompletion": settings})
    tie: str | None = None
    evidence: float | None = None
    most: float | None = None
    explore: str = field(default="optimism", metadata={"autocompletion": explorers})
    xi: float = 1.0
    horizon: int | None = None
    seed: int = 0
    const: list[str] | None = None
    unknown: list[str] | None = None
    env_arg: list[str] | None = None

    def __post_init__(self) -> None:
        """Refuse at once what cannot be put together."""
        _ = self.config

    @cached_property
    def given(self) -> frozenset[str]:
        """The names of the parameters that stand on the command line, as the fields of the command are called."""
        source = self.context.get_parameter_source
        return frozenset(name for name in self.context.params if getattr(source(name), "name", "") == "COMMANDLINE")

    @cached_property
    def config(self) -> Config:
        """What is to be learned, and how."""
        return self.configured()

    def configured(self, **found: Any) -> Config:
        """Return the configuration that a command stands for, or raise what is wrong with it.

        Parameters
        ----------
        **found : what was worked out, instead of what was typed
        """
        typed = {name: value for name, value in vars(self).items() if name in Config.__struct_fields__}
        worked_out = {
            "graph": "", "parameters": arguments_of(self.env_arg), "constants": ",".join(self.const or ()),
            "unknown": ",".join(self.unknown or ()),
        }  # fmt: skip
        config = Config(**{**typed, **worked_out, **found})
        _unused(config, self.given)
        if "most" in self.given and "evidence" not in self.given:
            raise ModelError(
                "--most is what a trajectory is worth at most, for --evidence; give a share, or leave it out"
            )
        if "evidence" in self.given and config.switch is not None:
            raise ModelError(
                "--evidence promises something of a process that stays as it is, and --switch changes it; leave one of them out"
            )
        return config


# -- arguments, learners and their settings ------------------------------------------------------------------


def arguments_of(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the arguments of an environment or a model, by name.

    Examples
    --------
    >>> arguments_of(["map_name=8x8", "is_slippery=false"])
    {'map_name': '8x8', 'is_slippery': False}
    """
    from umdp.source.environments.naming import argument

    found: dict[str, Any] = {}
    for text in texts or ():
        name, value = argument(text)
        if name in found:
            raise typer.BadParameter(f"--env-arg {name} is given twice")
        found[name] = value
    return found


def settings_of_texts(texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the settings of a learner: numbers, pairs of numbers, or words.

    Examples
    --------
    >>> settings_of_texts(["strength=5,10", "around=mean", "strength_bound=none"])
    {'strength': (5, 10), 'around': 'mean', 'strength_bound': None}
    """
    found: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f'--set "{text}": write NAME=VALUE, such as strength=5,10 or error_rate=0.01')
        parts = [_plain_value(part) for part in value.split(",")]
        found[name.strip()] = parts[0] if len(parts) == 1 else tuple(parts)
    return found


def _plain_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text.strip() == "none" else text.strip()


def confident(learner: str, settings: Mapping[str, Any], confidence: Decimal | None, given: Set[str]) -> dict[str, Any]:
    """Return the learner that keeps a confidence, its settings, and the error rate of evidence where it alone keeps it.

    Raises
    ------
    ModelError
        If the learner that was chosen promises nothing, and there is no evidence either.

    Examples
    --------
    >>> confident("lui", {}, Decimal("0.95"), set())
    {'learner': 'confidence-sequence', 'settings': {'error_rate': 0.05}, 'evidence_rate': None}
    >>> confident("lui", {}, Decimal("0.95"), {"evidence", "learner"})
    {'learner': 'lui', 'settings': {}, 'evidence_rate': 0.05}
    """
    if confidence is None:
        return {"learner": learner, "settings": settings, "evidence_rate": None}
    rate = float(1 - confidence)
    if {"evidence", "learner"} <= given and not promises(learner):
        return {"learner": learner, "settings": settings, "evidence_rate": rate}
    chosen = learner if "learner" in given else "confidence-sequence"
    if "error_rate" in settings:
        raise ModelError("--confidence and --set error_rate say the same thing; give one of them")
    more = {**settings, "error_rate": rate}
    if not promises(chosen, more):
        raise ModelError(
            f"--confidence {confidence}: the learner {chosen} promises nothing; leave out --learner for "
            "confidence-sequence, which keeps it whenever you stop (clopper-pearson keeps it for one look at a log)"
        )
    return {"learner": chosen, "settings": more, "evidence_rate": None}


def promises(learner: str, settings: dict[str, Any] | None = None) -> bool:
    """Whether a learner has an error rate and claims something; what cannot be known here is said when it is made."""
    if learner not in LEARNERS:
        return True
    kind = LEARNERS[learner]
    return "error_rate" in settings_of(kind) and make_learner(kind, settings or {}).claim.holds


# -- options that would do nothing: whoever types one expects something of it --------------------------------

NOT_OF_A_LOG = {
    "seed": "nothing is drawn at random where a log is read",
    "switch": "a log is what it is",
    "after": "a log is what it is",
    "explore": "nobody explores where a log was recorded",
    "xi": "nobody explores where a log was recorded",
    "horizon": "trajectories of a log are as long as they were recorded",
    "env_arg": "arguments are for environments and functions",
    "sampling": "nothing is drawn at random where a log is read",
    "evidence": "its trajectories are those of whoever recorded it, and evidence of nobody else",
    "per_solve": "a log is solved when counts have doubled, a stream with every batch",
}
OF_A_LOG = {"follow": "waits for more of a log", "on_error": "says what to do with a bad row of a log"}


def _unused(config: Config, given: Set[str]) -> None:
    """Raise `ModelError` for the first option that would do nothing, with what to do about it.

    Examples
    --------
    >>> from umdp.run import Config
    >>> _unused(Config(model="grid", xi=0.9, explore="uniform"), {"xi", "explore"})
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --xi is the weight on the optimistic action and does nothing with --explore uniform; leave it out
    """
    if not config.model.strip():
        raise ModelError("MODEL is empty; name a benchmark, a file, gym:ID or FILE.py:NAME")
    if config.log is not None and not config.log.strip():
        raise ModelError("--log is empty; name a file, or - for standard input")
    if "const" in given and not any(name.endswith(PROGRAMS) for name in (config.model, config.switch or "")):
        raise ModelError(
            f"--const gives values to the constants of a program ({' '.join(PROGRAMS)}), and {config.model} is none; "
            "leave it out"
        )
    if "unknown" in given and not config.unknown.strip():
        raise ModelError("--unknown is empty; name a constant of the program, such as --unknown p")
    if "unknown" in given and "tie" in given:
        raise ModelError("--unknown ties the choices that a program writes alike; leave out --tie")
    for name, why in NOT_OF_A_LOG.items() if config.read_from is not None else ():
        if name in given:
            raise ModelError(f"--{name.replace('_', '-')} does nothing with a log: {why}; leave it out")
    for name, what in OF_A_LOG.items() if config.read_from is None else ():
        if name in given:
            raise ModelError(f"--{name.replace('_', '-')} {what}; give one with --log, or leave it out")
    if "xi" in given and config.explore != "optimism":
        raise ModelError(
            f"--xi is the weight on the optimistic action and does nothing with --explore {config.explore}; leave it out"
        )
    _check_switch(config, given)


def _check_switch(config: Config, given: Set[str]) -> None:
    if "after" in given and "switch" not in given:
        raise ModelError("--after says when the process changes; say with --switch MODEL into what, or leave it out")
    if "switch" in given and "after" not in given:
        raise ModelError("--switch needs --after N: after how many trajectories the process changes")
    if "switch" in given and any(resolve(str(name)).always_played for name in (config.model, config.switch)):
        raise ModelError("--switch is for models that are simulated, and an environment cannot be; leave it out")
    if "after" in given and config.after < 1:
        raise ModelError(f"--after must be a whole number, more than 0, not {config.after}")
