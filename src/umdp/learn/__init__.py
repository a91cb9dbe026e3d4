"""Learners: bounds on unknown probabilities, moved by counts."""

from collections.abc import Mapping
from types import MappingProxyType

from umdp.guarantee import Guarantee
from umdp.learn.base import Learner
from umdp.learn.clopper_pearson import ClopperPearson
from umdp.learn.confidence_sequence import ConfidenceSequence
from umdp.learn.lui import LUI
from umdp.learn.map import MAP
from umdp.learn.pac import PAC
from umdp.learn.ucrl2 import UCRL2

__all__ = ["LEARNERS", "LUI", "MAP", "PAC", "UCRL2", "ClopperPearson", "ConfidenceSequence", "Guarantee", "Learner"]

LEARNERS: Mapping[str, type[Learner]] = MappingProxyType(
    {each.name: each for each in (LUI, PAC, MAP, UCRL2, ClopperPearson, ConfidenceSequence)}
)
