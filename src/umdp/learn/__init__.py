"""Learners: bounds on unknown probabilities, moved by counts."""

from umdp.learn.base import Guarantee, Learner

__all__ = ["Guarantee", "Learner"]
