"""Everything that an experiment names, built once before its first run, so that what is wrong with it is said at once."""

from __future__ import annotations

from umdp.errors import FormatError, SpecError, UmdpError
from umdp.learning.validation import check_numbers
from umdp.paper.experiments.experiment import Experiment
from umdp.paper.experiments.trial import build, known

__all__ = ["check"]


def check(experiment: Experiment) -> None:
    """Build every environment, property and learner of an experiment, and raise `FormatError` with the place in its file.

    Examples
    --------
    >>> check(Experiment.load("strength"))
    """
    path = f"{experiment.name}.toml"
    sound: set[tuple[str, str, str]] = set()
    known_good: set[str] = set()
    for trial in experiment.cut(seeds=1).trials():
        cell, config = trial.cell, trial.config
        place = f'environments, "{cell.environment}"'
        try:
            if cell.environment not in known_good:
                check_numbers(horizon=config.horizon)
                known(config)
                known_good.add(cell.environment)
            place = "xi" if config.xi in experiment.xi else place
            config.build_explorer()
            place = f'learners, "{cell.learner}"'
            config.build_learner()
            place += f' in "{cell.environment}"'
            pair = (cell.environment, cell.learner, cell.panel)
            if pair not in sound:  # xi and the time of a change have no part in building it
                build(trial)
                sound.add(pair)
        except SpecError as error:  # also where it is found late: a label that the model does not have
            raise FormatError(f'environments, "{cell.environment}": {error}', path=path) from None
        except UmdpError as error:
            raise FormatError(f"{place}: {error}", path=path) from None
