"""Explaining a promise: what holds it back, how much more a target would take, and how its error was spent."""

from umdp.explanation.api import explain, ledger
from umdp.explanation.explanation import Explanation, HeldChoice, HeldClass, HeldTransition
from umdp.explanation.forecast import Forecast
from umdp.explanation.parameters import HeldParameter
from umdp.explanation.sensitivity import Sensitivity
from umdp.explanation.spending import Ledger, Spent
from umdp.explanation.worst_case import WorstCase

__all__ = [
    "Explanation",
    "Forecast",
    "HeldChoice",
    "HeldClass",
    "HeldParameter",
    "HeldTransition",
    "Ledger",
    "Sensitivity",
    "Spent",
    "WorstCase",
    "explain",
    "ledger",
]
