"""The paper's experiments and one's own: described in small files, swept in parallel, judged, drawn and reported.

Examples
--------
>>> from umdp.paper import EXPERIMENTS, Experiment
>>> EXPERIMENTS
('basic', 'strength', 'change', 'ties')
>>> Experiment.load("strength").title
'Prior strength'
"""

from umdp.paper.experiments.archive import Archive
from umdp.paper.experiments.experiment import EXPERIMENTS, Experiment
from umdp.paper.experiments.sweep import cluster, processes, sweep
from umdp.paper.reproduction import Reproduction, collect, reproduce
from umdp.paper.results import Cell, LearningProblem, Results, TrialResult

__all__ = [
    "EXPERIMENTS",
    "Archive",
    "Cell",
    "Experiment",
    "LearningProblem",
    "Reproduction",
    "Results",
    "TrialResult",
    "cluster",
    "collect",
    "processes",
    "reproduce",
    "sweep",
]
