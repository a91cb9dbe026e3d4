"""Calibration: how often what learners say is true, measured over many seeds where the truth is known."""

from umdp.calibration.api import calibrate
from umdp.calibration.result import Calibration, Frequency

__all__ = ["Calibration", "Frequency", "calibrate"]
