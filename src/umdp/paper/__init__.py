"""The paper's experiments and one's own: described in small files, swept in parallel, judged, drawn and reported.

Examples
--------
>>> from umdp.paper import EXPERIMENTS, Experiment
>>> EXPERIMENTS
('basic', 'strength', 'change', 'ties')
>>> Experiment.load("strength").title
'Prior strength'
"""

from umdp.paper.archive import Archive
from umdp.paper.experiment import EXPERIMENTS, Experiment
from umdp.paper.reproduce import Reproduction, collect, reproduce
from umdp.paper.results import Cell, Outcome, Problem, Results
from umdp.paper.sweep import cluster, processes, sweep

__all__ = [
    "EXPERIMENTS",
    "Archive",
    "Cell",
    "Experiment",
    "Outcome",
    "Problem",
    "Reproduction",
    "Results",
    "cluster",
    "collect",
    "processes",
    "reproduce",
    "sweep",
]
