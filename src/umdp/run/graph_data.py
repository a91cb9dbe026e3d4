"""A graph as plain data, names, labels and rewards included, and back: what a run needs to be read without its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from umdp.automata.automaton import Automaton, Pair
from umdp.automata.labelled_automaton import LabelledAutomaton
from umdp.automata.product import Product, product_of
from umdp.errors import FormatError, ModelError, SpecError
from umdp.model import Graph, Rewards, Units
from umdp.model.interface import Interface
from umdp.spec import Expression, Spec

__all__ = ["graph_from_data", "graph_to_data"]


def graph_to_data(graph: Graph) -> dict[str, Any]:
    """Return everything a graph is.

    Examples
    --------
    >>> graph = Graph([0, 1, 2], [0, 2, 3], [0, 1, 1], labels={"goal": [1]}, actions=["try", "stay"], state_names="ab")
    >>> again = graph_from_data(graph_to_data(graph))
    >>> again, again.action_name(1), again.state_name(1)
    (Graph with 2 states, 2 choices, 3 transitions; initial state a; labels "goal", 'stay', 'b')
    """
    return {
        "state_ptr": graph.state_ptr,
        "choice_ptr": graph.choice_ptr,
        "successor": graph.successor,
        "initial": graph.initial,
        "labels": dict(graph.labels),
        "rewards": {
            name: {"state": each.state, "choice": each.choice, "transition": each.transition}
            for name, each in graph.rewards.items()
        },
        "action_codes": graph.action_codes,
        "action_names": _joined(graph.action_names),
        "state_names": None if graph.state_names is None else _joined(graph.state_names),
        "variables": {name: _column(values) for name, values in graph.variables.items()},
        "constants": dict(graph.constants),
        "formulas": dict(graph.formulas),
        "units": {
            name: [each.units.sign, each.units.once, each.units.every, each.units.reward_error]
            for name, each in graph.rewards.items()
            if each.units is not None
        },
        "interface": _plain_interface(graph.interface),
        "product": _product_to_data(product_of(graph)),
    }


def graph_from_data(data: Mapping[str, Any]) -> Graph:
    """Return the graph that `graph_to_data` was given; everything is checked again."""
    try:
        codes, units = data["action_codes"], data.get("units", {})  # runs from before they were kept have none
        graph = Graph(
            data["state_ptr"],
            data["choice_ptr"],
            data["successor"],
            initial=int(data["initial"]),
            labels=data["labels"],
            rewards={
                name: Rewards.of({part: values for part, values in each.items() if values is not None}).with_units(
                    Units(*units[name]) if name in units else None
                )
                for name, each in data["rewards"].items()
            },
            actions=None if codes is None else (codes, tuple(_apart(data["action_names"]))),
            state_names=None if data["state_names"] is None else _apart(data["state_names"]),
            variables={name: np.asarray(values) for name, values in data["variables"].items()},
            constants=data["constants"],
            formulas=data["formulas"],
        )
        graph = _with_interface(graph, data.get("interface"))
        if data.get("product") is not None:
            _product_from_data(data["product"], graph)
        return graph
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ModelError, SpecError) as error:
        raise FormatError(f"the graph in this run does not fit together ({error})") from None


def _column(values: Any) -> Any:
    return values if values.dtype.kind in "biuf" else [str(value) for value in values]


def _plain_interface(interface: Interface | None) -> dict[str, Any] | None:
    """Return what of an interface is plain data: actions that are numbers or text, and not what observations are turned into."""
    if interface is None or not all(action is None or type(action) in (int, str) for action in interface.actions):
        return None
    return {"actions": list(interface.actions), "entry": interface.entry, "paid": interface.paid is not None}


def _with_interface(graph: Graph, data: Mapping[str, Any] | None) -> Graph:
    if data is None:
        return graph
    actions = tuple(data["actions"])
    if len(actions) != graph.choices or not all(action is None or type(action) in (int, str) for action in actions):
        raise ModelError("the actions of the environment do not fit the graph")
    return graph.with_interface(Interface(actions, bool(data["entry"]), paid=float if data["paid"] else None))


def _product_to_data(product: Product | None) -> dict[str, Any] | None:
    """Return what makes a graph a product: the process's own graph, the automaton with what it reads, and where they meet."""
    if product is None:
        return None
    reading = product.reading
    automaton = reading.automaton
    return {
        "base": graph_to_data(product.base), "asked": str(product.asked), "spec": str(product.spec),
        "initial": automaton.initial, "letters": automaton.letters, "step": automaton.step,
        "jumps": [list(each) for each in automaton.jumps],
        "pairs": [[pair.avoid, pair.repeat] for pair in automaton.pairs], "names": list(automaton.names),
        "atoms": [str(atom) for atom in reading.atoms], "code": reading.code, "rest": reading.rest,
        "state": product.state, "memory": product.memory, "origin": product.origin, "stay": product.stay,
    }  # fmt: skip


def _product_from_data(data: Mapping[str, Any], graph: Graph) -> None:
    """Have a graph know the product that it is that of."""
    base, step = graph_from_data(data["base"]), np.asarray(data["step"])
    automaton = Automaton(
        int(data["initial"]), data["letters"], step, tuple(tuple(map(int, each)) for each in data["jumps"]),
        tuple(Pair(np.asarray(avoid), np.asarray(repeat)) for avoid, repeat in data["pairs"]),
        tuple(map(str, data["names"])),
    )  # fmt: skip
    states, choices, memories = graph.states, graph.choices, len(step)
    sound = (
        data["code"].shape == (base.states,) and step.shape == (memories, data["letters"].size)
        and all(data[name].shape == (states,) for name in ("state", "memory", "stay"))
        and data["origin"].shape == (choices,) and len(automaton.jumps) == memories
        and _below(data["code"], step.shape[1]) and _below(step, memories) and _below(data["state"], base.states)
        and _below(data["memory"], memories) and _below(data["origin"] + 1, base.choices + 1)
        and _below(data["stay"] + 1, choices + 1)
        and all(_below(np.array(each), memories) for each in automaton.jumps) and 0 <= automaton.initial < memories
        and all(each.shape == (memories,) for pair in automaton.pairs for each in (pair.avoid, pair.repeat))
        and (data["rest"] is None or 0 <= int(data["rest"]) < base.states)
    )  # fmt: skip
    if not sound:
        raise ModelError("the automaton does not fit the process")
    reading = LabelledAutomaton(automaton, tuple(map(Expression.parse, data["atoms"])), data["code"], data["rest"])
    Product(
        Spec.parse(data["asked"]), Spec.parse(data["spec"]), graph.with_any(), base, reading, data["state"], data["memory"],
        data["origin"], data["stay"],
    ).attached()  # fmt: skip


def _below(values: Any, end: int) -> bool:
    return values.size == 0 or bool(values.min() >= 0 and values.max() < end)


def _joined(names: Sequence[str]) -> dict[str, Any]:
    """Return texts as one text and where each ends: a million names are then two values, not a million."""
    ends = np.cumsum([len(name) for name in names], dtype=np.int64)
    return {"text": "".join(names), "ends": ends}


def _apart(joined: Mapping[str, Any]) -> list[str]:
    text, ends = joined["text"], joined["ends"].tolist()
    return [text[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
