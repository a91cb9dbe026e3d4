"""Examples in the help: (what it shows, command), one line of at most 80 columns each; all of them run in the repository.

Those of a command run one after another, those of `learn` before those of the commands about runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["EXAMPLES"]

EXAMPLES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "umdp": (
            ("learn a grid world from simulated trajectories", "umdp learn grid --trajectories 2000"),
            ("the worst case of an interval model", """umdp check examples/rover.tra 'Pmaxmin=? [ F<=9 "base" ]'"""),
        ),
        "check": (
            (
                "the worst case over the intervals",
                """umdp check examples/rover.tra 'Pmaxmin=? [ !"crater" U "base" ]'""",
            ),
            (
                "the best case, and a reward",
                """umdp check examples/rover.tra 'Pmaxmax=? [ F<=9 "base" ]' 'Rminmin=? [ C<=9 ]'""",
            ),
            ("yes or no, also as exit status", """umdp check examples/rover.tra 'Pmaxmin>=0.7 [ F<=12 "base" ]'"""),
            ("for programs", """umdp check examples/rover.tra 'Pmaxmin=? [ G<=9 !"crater" ]' --json"""),
            ("keep the policy", """umdp check examples/rover.tra 'Rminmax=? [ F "base" ]' --policy best.json"""),
            (
                "and see what it is worth when all goes well",
                """umdp check examples/rover.tra 'Rminmin=? [ F "base" ]' --evaluate best.json""",
            ),
            (
                "a program with undefined constants (needs the extra storm)",
                """umdp check examples/courier.prism 'Pmax=? [ F "arrived" ]' --const N=3,loss=.1""",
            ),
        ),
        "learn": (
            ("until the worst case is good enough", "umdp learn grid --until '>=0.2' --out grid.run"),
            ("with a promise: right with probability 95 %", "umdp learn aircraft --confidence 0.95 --trajectories 500"),
            (
                "what is alike learned together, sampled where it counts",
                "umdp learn grid --confidence 0.95 --tie declared --explore gap --until '>=0.2'",
            ),
            ("by playing candidates while learning", "umdp learn aircraft --evidence 0.5 --trajectories 900"),
            ("for programs", "umdp learn chain --trajectories 100 --json"),
            ("another learner, with settings", "umdp learn bandit --learner pac --set error_rate=0.1 --steps 900"),
            (
                "a log (python examples/machine.py machine.csv writes this one)",
                """umdp learn machine.csv 'Pmin=? [ F<=20 "failed" ]' --label failed=failed""",
            ),
            (
                "an environment of Gymnasium (needs the extra gym)",
                """umdp learn gym:FrozenLake-v1 'Pmax=? [ F "goal" ]' --trajectories 2000""",
            ),
        ),
        "resume": (
            ("where it was when it ended", "umdp resume grid.run"),
            ("beyond its end", "umdp resume grid.run --trajectories 3000"),
        ),
        "show": (("what it knows", "umdp show grid.run"), ("for programs", "umdp show grid.run --json")),
        "export": (
            ("the policy", "umdp export grid.run policy.json"),
            ("all snapshots as a table, over an older one", "umdp export grid.run snapshots.csv --force"),
            ("the learned interval model, for PRISM", "umdp export grid.run grid.tra"),
        ),
        "plot": (
            ("the bound and the optimistic value over trajectories", "umdp plot grid.run"),
            ("where the policy goes", "umdp plot grid.run --what policy --out policy.svg"),
        ),
        "compare": (("one row per run", "umdp compare grid.run"), ("for programs", "umdp compare grid.run --json")),
        "simulate": (
            ("what the policy of a run earns", "umdp simulate grid.run --episodes 200"),
            (
                "a policy that was exported, on a model",
                """umdp simulate policy.json grid --property 'Pmax=? [ F "goal" ]'""",
            ),
        ),
        "explain": (
            ("what holds the bound of a run back", "umdp explain grid.run --top 3"),
            ("and how much more a target takes", "umdp explain grid.run --target '>=0.3' --json"),
            ("of a model with intervals", """umdp explain examples/rover.tra 'Pmaxmin=? [ F "base" ]'"""),
        ),
        "certify": (
            ("a promise for the policy of a run", "umdp certify grid.run --trajectories 2000"),
            ("until enough is promised", "umdp certify grid.run --until '>=0.1' --confidence 0.99"),
        ),
        "calibrate": (
            ("are LUI's intervals right?", "umdp calibrate lui chain --seeds 20 --trajectories 100"),
            ("at 95 %, for programs", "umdp calibrate pac chain --confidence 0.95 --seeds 10 --json"),
        ),
        "reproduce": (
            (
                "an experiment of your own, with code of your own",
                "umdp reproduce examples/own/ferry.toml --seeds 2 --trajectories 200 --trust",
            ),
        ),
        "verify": (
            (
                "write a certificate",
                """umdp check examples/rover.tra 'Pmaxmin=? [ F<=9 "base" ]' --certificate p.json""",
            ),
            ("check it: without the solver, in exact arithmetic", "umdp verify p.json"),
        ),
        "check-env": (("needs the extra gym", "umdp check-env gym:FrozenLake-v1"),),
    }
)
