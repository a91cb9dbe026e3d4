"""Options that would do nothing are refused: whoever types one expects something of it."""

from __future__ import annotations

from collections.abc import Set
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from umdp.errors import FormatError, ModelError

if TYPE_CHECKING:
    from umdp.run import Config

__all__ = ["check_certificate", "confident", "is_log", "is_program", "promises", "typed", "unused"]

PROGRAMS = (".prism", ".nm", ".pm", ".jani")


def typed(context: typer.Context) -> frozenset[str]:
    """Return the names of the parameters that stand on the command line, as the command's function calls them."""
    source = context.get_parameter_source
    return frozenset(name for name in context.params if getattr(source(name), "name", "") == "COMMANDLINE")


def is_program(name: str | None) -> bool:
    """Whether a model is a program with constants."""
    return name is not None and name.endswith(PROGRAMS)


def is_log(config: Config) -> bool:
    """Whether a run learns from what others recorded."""
    return config.read_from is not None


def unused(config: Config, given: Set[str]) -> None:
    """Raise `ModelError` for the first option of `umdp learn` that would do nothing, with what to do about it.

    Parameters
    ----------
    config : Config
    given : set of str
        What stands on the command line.

    Examples
    --------
    >>> from umdp.run import Config
    >>> unused(Config(model="grid", xi=0.9, explore="uniform"), {"xi", "explore"})
    Traceback (most recent call last):
    ...
    umdp.errors.ModelError: --xi is the weight on the optimistic action and does nothing with --explore uniform; leave it out
    """
    if not config.model.strip():
        raise ModelError("MODEL is empty; name a benchmark, a file, gym:ID or FILE.py:NAME")
    if config.log is not None and not config.log.strip():
        raise ModelError("--log is empty; name a file, or - for standard input")
    if "const" in given and not (is_program(config.model) or is_program(config.switch)):
        raise ModelError(
            f"--const gives values to the constants of a program ({' '.join(PROGRAMS)}), and {config.model} is none; "
            "leave it out"
        )
    if "unknown" in given and not config.unknown.strip():
        raise ModelError("--unknown is empty; name a constant of the program, such as --unknown p")
    if "unknown" in given and "tie" in given:
        raise ModelError("--unknown ties the choices that a program writes alike; leave out --tie")
    if is_log(config):
        for name, why in (
            ("seed", "nothing is drawn at random where a log is read"),
            ("switch", "a log is what it is"),
            ("after", "a log is what it is"),
            ("explore", "nobody explores where a log was recorded"),
            ("xi", "nobody explores where a log was recorded"),
            ("horizon", "trajectories of a log are as long as they were recorded"),
            ("env_arg", "arguments are for environments and functions"),
            ("sampling", "nothing is drawn at random where a log is read"),
            ("evidence", "its trajectories are those of whoever recorded it, and evidence of nobody else"),
            ("per_solve", "a log is solved when counts have doubled, a stream with every batch"),
        ):
            if name in given:
                raise ModelError(f"--{name.replace('_', '-')} does nothing with a log: {why}; leave it out")
    else:
        for name in ("follow", "on_error"):
            if name in given:
                what = "waits for more of a log" if name == "follow" else "says what to do with a bad row of a log"
                raise ModelError(f"--{name.replace('_', '-')} {what}; give one with --log, or leave it out")
    if "xi" in given and config.explore != "optimism":
        raise ModelError(
            f"--xi is the weight on the optimistic action and does nothing with --explore {config.explore}; leave it out"
        )
    _check_switch(config, given)


def _check_switch(config: Config, given: Set[str]) -> None:
    from umdp.source.resolve import resolve

    if "after" in given and "switch" not in given:
        raise ModelError("--after says when the process changes; say with --switch MODEL into what, or leave it out")
    if "switch" in given and "after" not in given:
        raise ModelError("--switch needs --after N: after how many trajectories the process changes")
    if "switch" in given and any(resolve(str(name)).always_played for name in (config.model, config.switch)):
        raise ModelError("--switch is for models that are simulated, and an environment cannot be; leave it out")
    if "after" in given and config.after < 1:
        raise ModelError(f"--after must be a whole number, more than 0, not {config.after}")


def confident(
    learner: str, settings: dict[str, Any], confidence: Decimal | None, given: Set[str]
) -> tuple[str, dict[str, Any]]:
    """Return the learner that keeps a confidence, and its settings; an `ModelError` where the one that was chosen does not.

    Examples
    --------
    >>> confident("lui", {}, Decimal("0.95"), set())
    ('confidence-sequence', {'error_rate': 0.05})
    """
    if confidence is None:
        return learner, settings
    chosen = learner if "learner" in given else "confidence-sequence"
    if "error_rate" in settings:
        raise ModelError("--confidence and --set error_rate say the same thing; give one of them")
    more = {**settings, "error_rate": float(1 - confidence)}
    if not promises(chosen, more):
        raise ModelError(
            f"--confidence {confidence}: the learner {chosen} promises nothing; leave out --learner for "
            "confidence-sequence, which keeps it whenever you stop (clopper-pearson keeps it for one look at a log)"
        )
    return chosen, more


def promises(learner: str, settings: dict[str, Any] | None = None) -> bool:
    """Whether a learner has an error rate and claims something; what cannot be known here is said when it is made."""
    from umdp.learn import LEARNERS
    from umdp.learn.settings import make_learner, settings_of

    if learner not in LEARNERS:
        return True
    kind = LEARNERS[learner]
    return "error_rate" in settings_of(kind) and make_learner(kind, settings or {}).claim.holds


def check_certificate(path: str, config: Config) -> None:
    """Raise an error where a certificate could not be written in the end."""
    claim = config.build_learner().claim
    if not claim.holds and config.evidence is None:
        raise ModelError(
            f"--certificate {path}: the learner {config.learner} promises nothing, so there is nothing to certify; use "
            "--confidence 0.95"
        )
    folder = Path(path).parent
    if not folder.is_dir():
        raise FormatError(f"the folder {folder} does not exist; create it first", path=f"--certificate {path}")
    if Path(path).is_dir():
        raise FormatError("this is a folder; name a file in it", path=f"--certificate {path}")
