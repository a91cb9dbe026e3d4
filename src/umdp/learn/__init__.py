"""Learners: bounds on unknown probabilities, moved by counts."""

from collections.abc import Mapping
from types import MappingProxyType

from umdp.errors import ModelError
from umdp.learn.clopper_pearson import ClopperPearson
from umdp.learn.confidence_sequence import ConfidenceSequence
from umdp.learn.learner import Learner
from umdp.learn.learner_settings import make_learner
from umdp.learn.lui import LUI
from umdp.learn.map import MAP
from umdp.learn.pac import PAC
from umdp.learn.restarting_sequence import RestartingSequence
from umdp.learn.ucrl2 import UCRL2
from umdp.spec.names import listed, suggestion
from umdp.statements.guarantee import Guarantee

__all__ = [
    "LEARNERS",
    "LUI",
    "MAP",
    "PAC",
    "UCRL2",
    "ClopperPearson",
    "ConfidenceSequence",
    "Guarantee",
    "Learner",
    "RestartingSequence",
    "as_learner",
]

LEARNERS: Mapping[str, type[Learner]] = MappingProxyType(
    {each.name: each for each in (LUI, PAC, MAP, UCRL2, ClopperPearson, ConfidenceSequence, RestartingSequence)}
)


def as_learner(given: Learner | type[Learner] | str) -> Learner:
    """Return a learner; a class or a name stands for the learner with its default settings.

    Examples
    --------
    >>> as_learner("map"), as_learner(MAP)
    (MAP(prior=10, strength_bound=None): no guarantee: ..., MAP(prior=10, strength_bound=None): no guarantee: ...)
    """
    if isinstance(given, Learner):
        return given
    if isinstance(given, str):
        if given not in LEARNERS:
            known = list(LEARNERS)
            raise ModelError(f"there is no learner {given!r}; there are {listed(known)}{suggestion(given, known)}")
        return make_learner(LEARNERS[given])
    if isinstance(given, type) and issubclass(given, Learner):
        return make_learner(given)
    raise ModelError(f"{given!r} is not a learner; give one such as umdp.LUI(), or its name, such as 'lui'")
