"""What is learned in `bench.coverage` and `bench.price`: processes with their property, and what is known of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from umdp import (
    MDP,
    ConfidenceSequence,
    Graph,
    Learner,
    Parametric,
    ParametricMDP,
    Spec,
    Tied,
    Tying,
    benchmark,
    read_parametric,
    solve,
)
from umdp.spec import Direction

__all__ = ["ERROR_RATE", "PROBLEMS", "Problem", "problem"]

ERROR_RATE = 0.05


@dataclass(frozen=True, eq=False)
class Problem:
    """A process that is to be learned: the truth, the property, how long trajectories are, and which choices are alike.

    `program` is the model with unknown constants that the process is known to be an instance of; alike are then the choices with
    the same functions. `most` is what a trajectory can
    earn at most, where that is known and a reward is asked for. `environment` says that it stands for one of Gymnasium, where
    optimism takes turns among equally good choices.
    """

    name: str
    truth: MDP
    spec: Spec
    horizon: int | None
    tying: Tying | None
    optimum: float
    most: float | None = None
    environment: bool = False
    program: ParametricMDP | None = None

    @property
    def playable(self) -> bool:
        """Whether playing a policy can prove something: a probability, or a reward that cannot be more than so much."""
        return self.spec.kind == "P" or self.most is not None

    def by_sequence(self) -> Learner:
        """Return the learner that knows the graph alone."""
        return ConfidenceSequence(ERROR_RATE)

    def by_ties(self) -> Learner | None:
        """Return the learner that knows which choices are alike; None where nobody does."""
        return None if self.tying is None else Tied(ConfidenceSequence(ERROR_RATE), self.tying)

    def by_parameters(self) -> Learner | None:
        """Return the learner that knows the program; None where there is none."""
        return None if self.program is None else Parametric(ConfidenceSequence(ERROR_RATE), self.program)

    @property
    def rises(self) -> bool:
        """Whether larger values are better."""
        return self.spec.deciding().agent is not Direction.MIN


def _benchmark(name: str) -> Callable[[], Problem]:
    def make() -> Problem:
        bench = benchmark.BENCHMARKS[name]
        truth = bench.build()
        tying = None if bench.tie is None else bench.tie(truth.graph)
        return Problem(name, truth, bench.spec, bench.horizon, tying, bench.optimum, MOST.get(name))

    return make


MOST = {"bandit": 1.0, "betting-favourable": 70.0, "betting-unfavourable": 70.0}


def _frozen_lake() -> Problem:
    """FrozenLake on its larger map: one slips to either side of where one goes with probability 1/3 each."""
    from umdp.source import as_source
    from umdp.source.environments.gymnasium import make

    truth = as_source(make("gym:FrozenLake-v1,map_name=8x8")[0]).truth
    assert truth is not None
    spec = Spec.parse('Pmax=? [ F<=100 "goal" ]')  # without a bound the graph decides: one gets there surely
    optimum = solve(truth, spec, precision=1e-9).value
    return Problem(
        "FrozenLake 8x8", truth, spec, 100, Tying.of(truth.graph, _slide(truth.graph)), optimum, environment=True
    )


def _program(name: str, question: str, unknown: str, constants: str, **values: float) -> Callable[[], Problem]:
    """Return what makes a problem of a program in `examples`, played with these values of its unknown constants."""

    def make() -> Problem:
        program = read_parametric(EXAMPLES / f"{name}.prism", unknown=unknown, constants=constants)
        truth, spec = program.at(**values), Spec.parse(question)
        optimum = solve(truth, spec, precision=1e-9).value
        return Problem(name, truth, spec, None, program.tying, optimum, program=program)

    return make


EXAMPLES = Path(__file__).parents[1] / "examples"
SIDE = 8
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # left, down, right, up, as Gymnasium numbers them


def _slide(graph: Graph) -> Callable[[str, str, str], tuple[str, list[str]] | None]:
    """One class for all moves: as told, or to one of the sides; at a wall one stays."""
    over = {graph.state_name(int(s)) for s in graph.choice_state[graph.sizes == 1]}  # in a hole, or at the goal

    def move(state: str, action: str, after: str) -> tuple[str, list[str]] | None:
        if state in over:
            return None
        row, column = divmod(int(state), SIDE)
        found = []
        for turn, name in ((-1, "to the right"), (0, "as told"), (1, "to the left")):
            down, right = STEPS[(int(action) + turn) % 4]
            there = min(max(row + down, 0), SIDE - 1) * SIDE + min(max(column + right, 0), SIDE - 1)
            if there == int(after):
                found.append(name)
        return "move", found

    return move


PROGRAMS = {
    "brp": _program("brp", 'Pmax=? [ F "ok" ]', "p,q", "N=16,MAX=2", p=0.98, q=0.9),
    "zeroconf": _program("zeroconf", 'Pmax=? [ F "configured" ]', "used,lost", "K=4", used=0.4, lost=0.2),
    "consensus": _program("consensus", 'Pmax=? [ F "heads" ]', "p,q", "B=3", p=0.55, q=0.4),
}
_READABLE = importlib.util.find_spec("stormpy") is not None

PROBLEMS: Mapping[str, Callable[[], Problem]] = {
    **{
        name: _benchmark(name)
        for name in ("chain", "aircraft", "grid", "bandit", "betting-favourable", "betting-unfavourable")
    },
    **({"FrozenLake 8x8": _frozen_lake} if importlib.util.find_spec("gymnasium") else {}),
    **(PROGRAMS if _READABLE else {}),
}
"""Problems by name; programs with unknown constants where Storm can read them."""


@cache
def problem(name: str) -> Problem:
    """Return a problem; made once per process."""
    return PROBLEMS[name]()
