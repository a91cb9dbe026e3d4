"""Automata: formulas of linear temporal logic as machines that read a trajectory, and their products with models.

`labelled_automaton.py` goes from a property and a model to an automaton, `product.py` from there to a model that carries it.
"""

from __future__ import annotations

from umdp.automata.automaton import Automaton, Pair
from umdp.automata.memory_policy import MemoryPolicy, Player
from umdp.automata.product import Product

__all__ = ["Automaton", "MemoryPolicy", "Pair", "Player", "Product"]
