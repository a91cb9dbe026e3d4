"""An experiment as a small file: environments, learners, seeds, trajectories, changes; and the runs it stands for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
import numpy as np

from umdp.errors import FormatError, SpecError, UmdpError, misfit
from umdp.learning.validation import check_numbers
from umdp.paper.experiments.trial import Trial, build, known
from umdp.paper.results import Cell
from umdp.run import Config
from umdp.source.resolve import is_plugin, plugin_file, resolve
from umdp.spec.names import listed, suggestion

__all__ = ["EXPERIMENTS", "EnvironmentEntry", "Experiment", "LearnerEntry", "check"]

EXPERIMENTS = ("basic", "strength", "change", "ties")
"""The experiments that come with the package."""
MOST = 1_000_000  # seeds
PAPERS = ("lui", "pac", "map", "ucrl2")
"""The learners that have a published variant."""


class EnvironmentEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """An environment to learn.

    Attributes
    ----------
    name : as figures and tables call it
    model : a benchmark's name, a file, ``gym:ID``, or ``FILE.py:NAME``; by default, the name
    title : for figures
    parameters, constants : for a benchmark or function, and for a program
    property, horizon : a benchmark has its own
    becomes, after : what it changes into, and after how many trajectories; each number is a cell of its own
    xi : in place of the experiment's
    """

    name: str
    model: str | None = None
    title: str | None = None
    parameters: dict[str, Any] = {}
    constants: str = ""
    property: str | None = None
    horizon: int | None = None
    becomes: str | None = None
    after: int | list[int] = []
    xi: float | list[float] | None = None


class LearnerEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A learner, with how it explores.

    Attributes
    ----------
    label, panel : how figures call it, and the row of panels it is drawn in; together they are unique
    learner : a name, or ``FILE.py:NAME``
    settings : of the learner
    explore : ``optimism`` or ``uniform``
    environments : where it takes part; by default, everywhere
    seeds : the most it takes part with, where it is slow; by default, all of the experiment's
    as_published : whether it takes part as published
    """

    label: str
    learner: str
    panel: str = ""
    settings: dict[str, Any] = {}
    explore: Literal["optimism", "uniform"] = "optimism"
    environments: list[str] | None = None
    seeds: int | None = None
    as_published: bool = True


class _Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """What is different as published, for one environment or one label; settings are added to the ones there are."""

    parameters: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    xi: float | list[float] | None = None
    explore: Literal["optimism", "uniform"] | None = None
    environments: list[str] | None = None


class _Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    environments: dict[str, _Change] = {}
    learners: dict[str, _Change] = {}


class _ExperimentFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """An experiment file, as written."""

    title: str = ""
    trajectories: int = 100_000
    seeds: int = 10
    seed: int = 0
    xi: float | list[float] = 1.0
    ties: Literal["first", "random"] = "first"
    sampling: Literal["steps", "counts", "auto"] = "steps"
    environments: list[str | EnvironmentEntry]
    learners: list[LearnerEntry]
    as_published: _Published = _Published()


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment, ready to be run in one mode.

    Attributes
    ----------
    name, title : of the experiment
    published : whether by the rules of the published code
    trajectories, seeds, seed : how long, how many, and the root of all seeds
    ties : ``first``, or ``random`` for actions in random order
    sampling : how models are simulated, see `Simulator`
    environments, methods : what takes part
    changes : what is different as published
    plugins : the text of the Python files that are named
    own : whether it is a user's, from a file

    Examples
    --------
    >>> basic = Experiment.load("basic").cut(seeds=2, trajectories=1000)
    >>> len(basic.cells()), len(list(basic.trials()))
    (40, 80)
    """

    name: str
    title: str
    trajectories: int
    seeds: int
    seed: int
    xi: list[float]
    ties: str
    environments: list[EnvironmentEntry]
    methods: list[LearnerEntry]
    changes: _Published
    plugins: dict[str, str]
    published: bool = False
    own: bool = False
    sampling: str = "steps"

    @classmethod
    def load(cls, name: str | Path) -> Self:
        """Return one of `EXPERIMENTS`, or the experiment in a file."""
        if str(name) in EXPERIMENTS:
            text = resources.files("umdp.paper.experiments").joinpath("experiments", f"{name}.toml").read_text("utf-8")
            return cls._parsed(text, str(name), Path(f"{name}.toml"))
        path = Path(name)
        if path.suffix != ".toml":
            known = f"there are {listed(EXPERIMENTS)}, or give a .toml file{suggestion(str(name), EXPERIMENTS)}"
            raise FormatError(f"there is no experiment {str(name)!r}; {known}")
        try:
            return msgspec.structs.replace(cls._parsed(path.read_text("utf-8"), path.stem, path), own=True)
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"this file cannot be read ({error})", path=path) from None

    @classmethod
    def _parsed(cls, text: str, name: str, path: Path) -> Self:
        try:
            plain = tomllib.loads(text)
            given = msgspec.convert(plain, _ExperimentFile)
        except tomllib.TOMLDecodeError as error:
            raise FormatError(f"this is not TOML: {error}", path=path) from None
        except msgspec.ValidationError:
            raise FormatError(misfit(plain, _ExperimentFile), path=path) from None
        environments = [EnvironmentEntry(name=each) if isinstance(each, str) else each for each in given.environments]
        plugins, near = _plugins(environments, given.learners, path)
        experiment = cls(
            name=name, title=given.title or name, trajectories=given.trajectories, seeds=given.seeds, seed=given.seed,
            xi=_several(given.xi), ties=given.ties, environments=environments, methods=given.learners,
            changes=given.as_published, plugins=plugins, sampling=given.sampling,
        )  # fmt: skip
        _check(experiment, path)
        return msgspec.structs.replace(experiment, environments=[near(each) for each in environments])

    def cut(self, *, seeds: int | None = None, trajectories: int | None = None, seed: int | None = None) -> Self:
        """Return the experiment with other numbers of seeds and trajectories, or another root seed."""
        new = {"seeds": seeds, "trajectories": trajectories, "seed": seed}
        for name in ("seeds", "trajectories"):
            value = new[name]
            if value is not None and value < 1:
                raise FormatError(f"--{name} must be at least 1, not {value}")
        if seeds is not None and seeds > MOST:
            raise FormatError(f"--seeds {seeds} is more than {MOST:,}; give fewer")
        if seed is not None and seed < 0:
            raise FormatError(f"--seed must be at least 0, not {seed}")
        return msgspec.structs.replace(self, **{name: value for name, value in new.items() if value is not None})

    def as_published(self) -> Self:
        """Return the experiment as the published code runs it; its learners must be the paper's."""
        for method in self.methods:
            if method.as_published and method.learner not in PAPERS:
                raise FormatError(
                    f"the learner {method.label} has no published variant, as {listed(PAPERS)} have; leave it out there with "
                    "as-published = false"
                )
        return msgspec.structs.replace(self, published=True)

    # -- what it stands for ----------------------------------------------------------------------------------

    def cells(self) -> list[Cell]:
        """Return the curves, in order; changes at or after the last trajectory are left out."""
        return [cell for cell, _, _ in self._pairs()]

    def trials(self) -> Iterator[Trial]:
        """Return the runs, cell by cell and seed by seed."""
        seeds = [
            int(s.generate_state(1, np.uint64)[0] >> 1) for s in np.random.SeedSequence(self.seed).spawn(self.seeds)
        ]
        for cell, config, most in self._pairs():
            for number, seed in enumerate(seeds[:most]):
                yield Trial(
                    cell=cell, number=number, config=msgspec.structs.replace(config, seed=seed), ties=self.ties,
                    published=self.published,
                )  # fmt: skip

    def problems(self) -> dict[str, Config]:
        """Return a configuration for every environment, to look at it."""
        found: dict[str, Config] = {}
        for cell, config, _ in self._pairs():
            found.setdefault(cell.environment, config)
        return found

    def left_out(self) -> list[int]:
        """Return the changes that the runs are too short for."""
        return sorted({a for e in self.environments for a in _several(e.after) if a >= self.trajectories})

    def _pairs(self) -> Iterator[tuple[Cell, Config, int | None]]:
        for environment in self.environments:
            change = self.changes.environments.get(environment.name, _Change()) if self.published else _Change()
            weights = _several(change.xi if change.xi is not None else environment.xi) or self.xi
            parameters = environment.parameters | change.parameters
            later = [after for after in _several(environment.after) if after < self.trajectories]
            for after in later or ([None] if environment.becomes is None else []):
                for xi in weights:
                    for method in self._methods(environment.name):
                        uniform = method.explore == "uniform"
                        if uniform and xi != weights[0]:
                            continue
                        yield (
                            Cell(environment.name, method.label, method.panel, None if uniform else xi, after),
                            Config(
                                model=environment.model or environment.name, parameters=parameters,
                                constants=environment.constants, question=environment.property,
                                learner=method.learner, settings=method.settings, explore=method.explore, xi=xi,
                                horizon=environment.horizon, switch=environment.becomes, after=after or 0,
                                trajectories=self.trajectories, plugins=self.plugins, sampling=self.sampling,
                            ),
                            method.seeds,
                        )  # fmt: skip

    def _methods(self, environment: str) -> Iterator[LearnerEntry]:
        """Return the learners that take part in an environment, as this mode has them."""
        for method in self.methods:
            if method.environments is not None and environment not in method.environments:
                continue
            if not self.published:
                yield method
            elif method.as_published:
                change = self.changes.learners.get(method.label)
                if change is None or (change.environments is not None and environment not in change.environments):
                    yield method
                else:
                    yield msgspec.structs.replace(
                        method, settings=method.settings | change.settings, explore=change.explore or method.explore
                    )


def _several(given: Any) -> list[Any]:
    """Return a list of what may be one, several or nothing."""
    if given is None:
        return []
    return list(given) if isinstance(given, list) else [given]


def _check(experiment: Experiment, path: Path) -> None:
    """Refuse what fits the format and makes no sense."""

    def twice(names: Iterable[Any]) -> Any:
        seen: set[Any] = set()
        return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]

    names = [environment.name for environment in experiment.environments]
    problem = None
    if not experiment.environments or not experiment.methods:
        problem = "there are no environments or no learners; an experiment needs at least one of each"
    elif (name := twice(names)) is not None:
        problem = f"two environments are called {name!r}; give one of them another name"
    elif (pair := twice((m.label, m.panel) for m in experiment.methods)) is not None:
        problem = f"two learners are called {pair[0]!r}; give one of them another label or panel"
    elif min(experiment.seeds, experiment.trajectories, *(m.seeds or 1 for m in experiment.methods)) < 1:
        problem = "seeds and trajectories must be at least 1"
    elif experiment.seeds > MOST:
        problem = f"{experiment.seeds} seeds are more than {MOST:,}; give fewer"
    elif experiment.seed < 0:
        problem = f"seed must be at least 0, not {experiment.seed}"
    for environment in experiment.environments:
        if (environment.becomes is None) != (not _several(environment.after)):
            problem = f"environment {environment.name!r}: give both becomes and after, or neither"
    for method in experiment.methods:
        strange = [name for name in method.environments or [] if name not in names]
        if strange:
            problem = (
                f"learner {method.label!r}: there is no environment {strange[0]!r} here; there are {listed(names)}"
            )
    if problem is not None:
        raise FormatError(problem, path=path)


def _plugins(
    environments: list[EnvironmentEntry], methods: list[LearnerEntry], path: Path
) -> tuple[dict[str, str], Callable[[EnvironmentEntry], EnvironmentEntry]]:
    """Return the text of the Python files named, and a function that finds model files beside the experiment file."""
    named = [m.learner for m in methods] + [e.model or e.name for e in environments]
    named += [e.becomes for e in environments if e.becomes is not None]
    texts: dict[str, str] = {}
    for file in dict.fromkeys(plugin_file(name) for name in named if is_plugin(name)):
        try:
            texts[file] = (path.parent / file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"the file {file} cannot be read ({error})", path=path) from None

    def beside(name: str | None) -> str | None:
        if name is None or not Path(name).suffix or resolve(name).played:
            return name
        return str(path.parent / name)

    def near(environment: EnvironmentEntry) -> EnvironmentEntry:
        model = beside(environment.model or environment.name)
        return msgspec.structs.replace(environment, model=model, becomes=beside(environment.becomes))

    return texts, near


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
