"""Reading programs with unknown constants: Storm builds the model, every probability comes over as an exact function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from umdp.errors import FormatError, ModelError
from umdp.io.constants import Constant, format_constants, parse_constants, parse_unknown
from umdp.io.storm import everything, kind_of, parsed_program, read_program, undefined_constants
from umdp.model import MDP, Graph
from umdp.parametric.function import Function, Polynomial
from umdp.parametric.model import ParametricMDP

__all__ = ["read_parametric_program"]

TRIES = 200  # points at which all listed transitions might be possible
Unknown = str | Iterable[str] | Mapping[str, tuple[float, float]]
Shape = tuple[list[int], list[int], list[int]]  # state_ptr, choice_ptr, successor


def read_parametric_program(
    path: Path, unknown: Unknown, constants: str | Mapping[str, Constant] = ""
) -> ParametricMDP:
    """Return the parametric model of a PRISM program or a JANI file.

    Parameters
    ----------
    path : Path
    unknown : the constants that are parameters, and the ends between which they lie
    constants : values for the other constants that the program leaves undefined
    """
    prior, given = parse_unknown(unknown), parse_constants(constants)
    names = list(prior)
    both = [name for name in names if name in given]
    if both:
        raise FormatError(f"{both[0]} is unknown and has a value; leave one of them out", path=path)
    with parsed_program(path) as (stormpy, program, _):
        _check_unknown(program, names, given, path)
        program = stormpy.instantiate_constants(program, format_constants(given))[0]
        model = _built(stormpy, program, path)
        _check_rewards(model, path)
        functions, shape = _functions(model, names)
    index = {name: place for place, name in enumerate(names)}
    graph = _graph(path, given, prior, functions, shape, index)
    try:
        return ParametricMDP.of(graph, names, functions, prior, path.name)
    except ModelError as error:
        raise FormatError(str(error), path=path) from None


def _check_unknown(program: Any, names: list[str], given: Mapping[str, Constant], path: Path) -> None:
    declared = undefined_constants(program, names, "learn", "learn it", path)
    for name in names:
        if kind_of(declared[name].type) != "double":
            raise FormatError(
                f"constant {name} is of type {kind_of(declared[name].type)}; what can be learned is a double", path=path
            )
    missing = [n for n, c in declared.items() if not c.defined and n not in given and n not in names]
    if missing:
        raise FormatError(
            f"constant {missing[0]} has no value; give --const {missing[0]}=VALUE, or learn it: --unknown "
            f"{','.join([*names, missing[0]])}",
            path=path,
        )


def _built(stormpy: Any, program: Any, path: Path) -> Any:
    if not program.undefined_constants_are_graph_preserving:
        raise FormatError(
            "an unknown constant decides what can happen: it stands in a guard, a range, an initial value or a label; what can "
            "be learned are probabilities, so give it a value with --const",
            path=path,
        )
    return stormpy.build_model[stormpy.RationalFunction](program, options=everything(stormpy))


def _check_rewards(model: Any, path: Path) -> None:
    found = sorted(each.name for each in model.collect_reward_parameters())
    if found:
        raise FormatError(
            f"a reward depends on {found[0]}; rewards are paid as they are written and cannot be learned: use a constant of its "
            "own there, with a value",
            path=path,
        )


def _functions(model: Any, names: list[str]) -> tuple[list[Function], Shape]:
    """Return the function of every transition, and the graph as pointers, in Storm's order."""
    index = {name: place for place, name in enumerate(names)}
    known: dict[str, Function] = {}
    functions: list[Function] = []
    state_ptr, choice_ptr, successor = [0], [0], []
    for state in model.states:
        for action in state.actions:
            for entry in action.transitions:
                value = entry.value() if callable(entry.value) else entry.value
                text = str(value)
                if text not in known:
                    known[text] = _function(value.rational_function(), index)
                if known[text].numerator.terms:
                    functions.append(known[text])
                    successor.append(int(entry.column))
            choice_ptr.append(len(functions))
        state_ptr.append(len(choice_ptr) - 1)
    return functions, (state_ptr, choice_ptr, successor)


def _function(value: Any, index: Mapping[str, int]) -> Function:
    return Function.of(_polynomial(value.numerator, index), _polynomial(value.denominator, index))


def _polynomial(value: Any, index: Mapping[str, int]) -> Polynomial:
    terms: dict[tuple[int, ...], Fraction] = {}
    for term in value:
        exponents = [0] * len(index)
        for variable, exponent in term.monomial or ():
            exponents[index[variable.name]] = int(exponent)
        terms[tuple(exponents)] = Fraction(str(term.coeff))
    return Polynomial(terms, len(index))


def _graph(
    path: Path,
    given: Mapping[str, Constant],
    prior: Mapping[str, tuple[float, float]],
    functions: list[Function],
    shape: Shape,
    index: Mapping[str, int],
) -> Graph:
    """Return the graph with all its names: that of the plain model at values where all listed transitions are possible."""
    different = list(dict.fromkeys(functions))
    for point in islice(_points(list(prior.values())), TRIES):
        exact = [Fraction(value) for value in point]
        if all(each.denominator.at(exact) != 0 and 0 < each.at(exact) <= 1 for each in different):
            break
    else:
        raise FormatError(
            "no values of the unknown constants were found at which all listed transitions are possible; give boxes in which "
            f"they are, such as --unknown {next(iter(prior))}=0.1:0.9",
            path=path,
        )
    plain = read_program(path, {**given, **dict(zip(index, point, strict=True))})
    same = isinstance(plain, MDP) and all(
        np.array_equal(getattr(plain, name), wanted)
        for name, wanted in zip(("state_ptr", "choice_ptr", "successor"), shape, strict=True)
    )
    if not same:
        raise FormatError("the graph of this program depends on the values of its unknown constants", path=path)
    return replace(plain.graph, constants={name: value for name, value in plain.constants.items() if name not in prior})


def _points(ends: list[tuple[float, float]]) -> Iterable[list[float]]:
    """Yield points inside a box, of no special values and well spread."""
    for number in range(1, TRIES + 1):
        shares = [(number * 0.6180339887498949 ** (1 + axis) + 0.137 * axis) % 1 for axis in range(len(ends))]
        yield [low + (0.02 + 0.96 * share) * (high - low) for share, (low, high) in zip(shares, ends, strict=True)]
