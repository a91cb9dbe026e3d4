"""What `umdp check` is about: MODEL, where it was learned if it was, and the properties that are asked or come with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from umdp.automata.product import product_of
from umdp.benchmark import BENCHMARKS
from umdp.errors import FormatError, ModelError, SpecError, UmdpError
from umdp.learning.validation import is_costly
from umdp.model import MDP, REST, Graph, IntervalMDP, Policy
from umdp.run import Config, Store, format_of
from umdp.run.opened import configuration
from umdp.solver import relevant
from umdp.solver.answer import outermost, over_initial_states
from umdp.solver.temporal import check_temporal
from umdp.source import Source
from umdp.source.resolve import resolve
from umdp.spec import Spec
from umdp.spec.names import listed, suggestion
from umdp.spec.spec import needs_automaton
from umdp.statements import Code, say
from umdp.statements.guarantee import Guarantee

if TYPE_CHECKING:
    from umdp.io.constants import Constant
    from umdp.io.properties import PropertyFile

__all__ = [
    "AskedProperty", "Checked", "Origin", "about", "beside", "checked_model", "chosen", "own_question", "properties_beside",
    "questions_of", "validate",
]  # fmt: skip

# Learners whose intervals hold for all choices at once, those that were never tried included.
SURE = ("confidence-sequence",)


@dataclass(frozen=True)
class Checked:
    """What is asked about.

    Attributes
    ----------
    model : the model
    origin : where it was learned, if it was
    notes : what there is to know about it, a line each
    """

    model: MDP | IntervalMDP
    origin: Origin | None = None
    notes: tuple[str, ...] = ()


def checked_model(
    name: str, constants: str = "", parameters: dict[str, Any] | None = None, asked: Collection[str] = ()
) -> Checked:
    """Return the model of a name, as `umdp learn` takes it; or the one that a run has learned.

    A file comes before a benchmark of the same name. Constants of names that are `asked` for need not be the model's own.
    """
    from umdp.io import parse_constants, with_constants

    given = parse_constants(constants)
    found = _found(name, given, [each for each in given if each not in asked], parameters, asked)
    return replace(found, model=with_constants(found.model, given))


def _found(
    name: str, given: Mapping[str, Constant], own: list[str], parameters: dict[str, Any] | None, asked: Collection[str]
) -> Checked:
    """Return what has a name; `own` are the constants that must be its own."""
    from umdp.io.files import SUFFIXES

    known = Path(name).is_file()
    if known and not name.endswith(SUFFIXES):
        found = _read_run(name)
        if found is not None:
            _refuse(name, "a run", own, parameters)
            return Checked(*found)
    if not known and ((what := resolve(name)).called or what.played):
        _refuse(name, "not a program", own)
        return _made(name, parameters or {})
    _refuse(name, "a file", [], parameters)
    from umdp.io import read

    try:
        return Checked(read(name, constants=given, asked=asked))
    except FormatError as error:
        if Path(name).exists() or Path(name).suffix in SUFFIXES:
            raise
        others = f"a run, a benchmark ({', '.join(BENCHMARKS)}), gym:ID or FILE.py:NAME"
        raise FormatError(f"{error}; MODEL is a file with one of {', '.join(SUFFIXES)}, {others}") from None


def _refuse(name: str, kind: str, constants: list[str], parameters: dict[str, Any] | None = None) -> None:
    if constants:
        raise ModelError(f"--const gives values to the constants of a program, and this is {kind}; leave it out")
    if parameters:
        raise ModelError(f"--env-arg is for benchmarks, environments and functions, and {name} is {kind}; leave it out")


def _made(name: str, parameters: dict[str, Any]) -> Checked:
    """Return what a benchmark, an environment or a function makes, if it is a model or carries one."""
    config = Config(model=name, parameters=parameters)
    made = resolve(name).make(parameters)
    if isinstance(made, MDP | IntervalMDP):
        return Checked(made)
    try:
        return _carried(made, name, config)
    finally:
        close = getattr(made, "close", None)
        if callable(close):
            close()


def _carried(made: Any, name: str, config: Config) -> Checked:
    """Return the model that an environment or a source carries: the table of an environment, the truth of a source."""
    from umdp.source.environments.gymnasium import Gymnasium, environment_table

    if not isinstance(made, Source):
        if not (hasattr(made, "reset") and hasattr(made, "step")):
            kinds = "an umdp.MDP or umdp.IntervalMDP, an environment with a table, or a source that knows its model"
            raise ModelError(f"{name} returned {type(made).__name__}; it must return {kinds}")
        made = Gymnasium(made) if environment_table(made) is not None else None
    if made is None or made.truth is None:
        raise ModelError(
            f"{name} does not tell its probabilities, so there is no model to check; learn one with "
            f"umdp learn {name} PROPERTY --out FILE, and check that run"
        )
    return Checked(made.truth, None, tuple(made.report()))


@dataclass(frozen=True)
class Origin:
    """Where a learned model is from.

    Attributes
    ----------
    question : the property it was learned for
    trajectories : from how many
    guarantee : what is promised for that property
    sure : whether the intervals are what is promised, whatever is asked of them
    """

    question: str
    trajectories: int
    guarantee: dict[str, Any]
    sure: bool = False

    def reading(self, model: Graph, spec: Spec) -> Spec:
        """Return a property as learning reads it: in the worst case, what the graph does not list is the worst, too."""
        worst = spec.agent is not None and spec.nature is spec.agent.flipped
        return spec.pessimistic(REST) if worst and model.rest is not None else spec

    def promised(self, model: Graph, spec: Spec) -> dict[str, Any]:
        """Return what is promised for a property of the learned model, as it is read."""
        asked = Spec.parse(self.question).robust()
        if self.guarantee["kind"] == "none" or spec in (asked, asked.pessimistic(REST)):
            return self.guarantee
        if self.sure and self._carries_over(model, spec):
            return self.guarantee
        return Guarantee("none", reasons=(say(Code.OTHER_PROPERTY),)).as_dict()

    def _carries_over(self, model: Graph, spec: Spec) -> bool:
        """Whether the worst case of another property follows from the intervals alone.

        It does not where the graph decides something in the agent's favour that need not have been seen, or where what the graph
        does not list may cost anything.
        """
        worst = spec.agent is not None and spec.nature is spec.agent.flipped and spec.filter is None
        codes = self.guarantee.get("codes")  # an older version has none: nothing is concluded from its sentences
        if not worst or needs_automaton(spec) or codes is None or Code.POSSIBLE in codes:
            return False
        if model.rest is not None and (spec.kind == "R" or is_costly(model, spec)):
            return False  # what is known of a reward was asked for only where the property asked for it
        return not relevant(model, spec).favoured


def _read_run(path: str) -> tuple[IntervalMDP, Origin] | None:
    """Return the learned model of a run; None if the file is no run. Nothing in it is executed or changed."""
    if format_of(Path(path)) is None:
        return None
    with Store.open(path) as store:
        learned, last = store.learned(), store.last()
        assert last is not None
        model, question, product = learned.model, store.question or "", product_of(learned.model.graph)
        if product is not None:  # what was learned is about the process, whatever was remembered
            model, question = product.of_process(model), str(product.asked)
        sure = configuration(store).learner in SURE
        return model, Origin(question, last["trajectories"], last["guarantee"], sure)


# -- properties ----------------------------------------------------------------------------------------------


class AskedProperty(NamedTuple):
    """A property: as text, parsed, its name, and the file and line it is from; nothing where it was typed."""

    text: str
    spec: Spec
    name: str | None = None
    place: str = ""


@contextmanager
def about(place: str) -> Iterator[None]:
    """Say in what is raised which of several properties it is about; nothing without a place."""
    try:
        yield
    except UmdpError as error:
        if not place:
            raise
        raise SpecError(f"{place}: {error}") from None


def questions_of(
    given: Sequence[str], constants: str, refused: list[str]
) -> tuple[list[AskedProperty], list[PropertyFile]]:
    """Return the properties that are given, and the files they are from.

    What is wrong with properties of files that cannot be read is added to `refused`: it does not cost the answers to the others.
    """
    from umdp.io import parse_constants
    from umdp.io.files import is_property_file
    from umdp.io.properties import name_of, read_properties

    asked: list[AskedProperty] = []
    files: list[PropertyFile] = []
    if not any(is_property_file(text) for text in given):
        for number, text in enumerate(given, 1):
            with about(f"property {number}" if len(given) > 1 else ""):
                asked.append(AskedProperty(text, Spec.parse(text), name_of(text)))
        return asked, files
    values = parse_constants(constants)
    for text in given:
        if not is_property_file(text):
            asked.append(AskedProperty(text, Spec.parse(text), name_of(text)))
            continue
        file = read_properties(text, values, refused)
        files.append(file)
        asked += [AskedProperty(str(spec), spec, name, f"{text}, line {line}") for line, name, spec in file.properties]
    return asked, files


def chosen(asked: Sequence[AskedProperty], names: Sequence[str], refused: list[str]) -> list[AskedProperty]:
    """Return the properties of some names, all where no name is given; what is wrong with others does not matter then."""
    if not names:
        return list(asked)
    missing = next((name for name in names if all(each.name != name for each in asked)), None)
    if missing is not None:
        known = [each.name for each in asked if each.name is not None]
        has = f"there are {listed(known, quoted=True)}" if known else "none has a name"
        found = "".join(f"\n{said}" for said in refused)
        raise SpecError(
            f'there is no property "{missing}" to ask; {has}{suggestion(missing, known, quoted=True)}{found}'
        )
    refused.clear()
    return [each for each in asked if each.name in names]


def properties_beside(model: str) -> str:
    """Return the file of properties beside a model, an empty text if there is none.

    It is found as PRISM names it: ``model.prism.props`` or ``model.props`` beside ``model.prism``. Where there is neither, but
    several such as ``model.prism.more.props``, the message lists them.
    """
    found = beside(model)
    plain = [each for each in found if each.stem in (Path(model).name, Path(model).stem)]
    if len(plain or found) > 1:
        names = ", ".join(map(str, plain or found))
        raise ModelError(f"say what to ask of {model}: a property, or one of the files beside it ({names})")
    return str((plain or found)[0]) if found else ""


def beside(model: str) -> list[Path]:
    """Return the files of properties that lie beside a model and have its name.

    Examples
    --------
    >>> beside("nowhere/model.prism")
    []
    """
    from umdp.io.files import is_property_file

    path = Path(model)
    if not path.is_file():
        return []
    known = [each for each in path.parent.iterdir() if is_property_file(each.name) and each.is_file()]
    return sorted(each for each in known if each.name.startswith(f"{path.name}.") or each.stem == path.stem)


def own_question(model: str, checked: Checked) -> str:
    """Return the property that belongs to a model: what a run was learned for, a benchmark's, or IntervalMDP.jl's beside it."""
    if checked.origin is not None:
        return str(Spec.parse(checked.origin.question).robust())
    if model in BENCHMARKS and not Path(model).is_file():
        return str(BENCHMARKS[model].spec)
    reason = ""
    if Path(model).suffix == ".nc":
        from umdp.io.intervalmdp_spec import read_specification

        asked = read_specification(Path(model).with_suffix(".json"), checked.model.states)
        if asked is not None and asked.property is not None:
            return asked.property
        reason = "" if asked is None else f"; {Path(model).with_suffix('.json')}: {asked.reason}"
    label = next((name for name in checked.model.labels if name != "deadlock"), "goal")
    players = "maxmin" if hasattr(checked.model, "lower") and not checked.model.is_chain else "max"
    raise ModelError(
        f"say what to ask of {model}: a property such as 'P{players}=? [ F \"{label}\" ]' after it{reason}"
    )


def validate(model: MDP | IntervalMDP, spec: Spec, policy: Policy | None = None) -> None:
    """Raise `UmdpError` if a property does not fit the model, or the policy to evaluate does not fit the property."""
    from umdp.solver.objective import in_steps, objective_of, players

    spec = over_initial_states(model, outermost(spec, lambda inner: validate(model, inner)))
    model, spec = in_steps(model, spec)
    players(model, spec, policy_given=policy is not None and (spec.nature is not None or isinstance(model, MDP)))
    if needs_automaton(spec):
        check_temporal(model, spec)
        if policy is not None and policy.steps is not None:
            raise ModelError(
                "the policy depends on the step, which a temporal formula does not; evaluate another policy"
            )
        return
    steps = objective_of(model, spec).steps
    if policy is not None and policy.steps is not None:
        if steps is None:
            raise ModelError(
                "the policy depends on the step, so the property needs a step bound, as in F<=k; "
                "write one, or evaluate another policy"
            )
        if policy.steps < steps:
            raise ModelError(f"the policy is for {policy.steps} steps, the property for {steps}; lower the step bound")
