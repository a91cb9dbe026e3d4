"""Simulate a policy: in an environment, or on a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.coverage import LEVEL, clopper_pearson
from umdp.analysis.episode_account import Account, Played, account_of
from umdp.analysis.on_model import play_model
from umdp.automata import MemoryPolicy
from umdp.automata.product import product_of
from umdp.errors import ModelError
from umdp.learning.validation import default_horizon
from umdp.model import MDP, IntervalMDP, Policy
from umdp.model.beginnings import check_one_initial
from umdp.solver.objective import in_steps
from umdp.solver.temporal import on_model
from umdp.source import Source
from umdp.spec import Spec
from umdp.spec.spec import needs_automaton
from umdp.statements.text import nouns, safe_bound, were

if TYPE_CHECKING:
    from umdp.io.decisions import Fitted

__all__ = [
    "Simulation",
    "fitted",
    "in_product",
    "known",
    "play",
    "play_some",
    "playable",
    "prepared",
    "simulate",
    "student",
]  # fmt: skip


def simulate(
    policy: Policy,
    process: Any,
    spec: Spec | str,
    *,
    episodes: int = 1000,
    seed: int = 0,
    horizon: int | None = None,
    promised: tuple[float, float] | None = None,
    watch: Callable[[str], None] | None = None,
) -> Simulation:
    """Return what a policy earns, or how often a property holds, when it is played.

    An environment is played as it is, with its own time limit. Of a probability, an episode that was cut off before the property
    was decided counts neither way: the interval allows for both. Of a probability, an episode that meets a state of which the
    policy knows nothing counts as the worst; otherwise an action is taken at random there. The policy of another graph is
    matched by the names of states and actions. What is measured is then what the model, or the source that plays an environment,
    says of its states.

    Parameters
    ----------
    policy : Policy
    process : MDP, environment or Source
        Where to play: a model, an environment or its id (``gym:FrozenLake-v1``), or a source that plays one.
    spec : Spec or str
        What is asked for.
    episodes, seed : int
        How many, and from which seed; equal seeds give equal results where the environment can be seeded.
    horizon : int, optional
        The most steps of an episode.
    promised : (float, float), optional
        The bracket that was promised, of the value of the property; the bound that matters is shown beside what was measured.
    watch : callable, optional
        Given the lines of the first episode.

    Examples
    --------
    >>> from umdp import solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> question = 'Pmax=? [ F "heads" ]'
    >>> played = simulate(solve(coin, question).policy, coin, question, episodes=10_000)
    >>> played.lower < 0.5 < played.upper, played.steps
    (True, 10000)
    """
    return play(*prepared(policy, process, spec), episodes, seed, horizon, promised, watch)


def prepared(policy: Policy, process: Any, spec: Spec | str) -> tuple[Fitted, Any, Spec]:
    """Return a policy for the graph of what can be played, that, and what is counted there."""
    process = playable(process)
    asked = Spec.parse(spec) if isinstance(spec, str) else spec
    if isinstance(process, MDP):
        process, asked = in_steps(process, asked)
    elif asked.kind == "T":
        raise asked.error("the steps of an environment are not counted by themselves", "ask for a reward of 1 a step")
    if needs_automaton(asked):
        policy, process, asked = with_memory(policy, process, asked)
    return fitted(policy, process), process, asked


def with_memory(policy: Policy, process: Any, spec: Spec) -> tuple[Policy, Any, Spec]:
    """Return the policy, the process and the property in terms of the product in which a temporal formula is played.

    A model is multiplied by the automaton; in an environment, whoever plays remembers.
    """
    if not isinstance(policy, MemoryPolicy) and MemoryPolicy.knows(policy):
        policy = MemoryPolicy.of(policy)
    if not isinstance(policy, MemoryPolicy) or policy.product.asked.formula != spec.formula:
        raise ModelError(
            f"the policy does not remember what matters for {spec.formula}; play the one that was found for it"
        )
    return in_product(policy, process)


def in_product(policy: MemoryPolicy, process: Any) -> tuple[Policy, Any, Spec]:
    """Return a policy with memory, where it is played, and what is counted, in terms of the product.

    Raises `ModelError` where the policy is for another process.
    """
    product = policy.product
    if isinstance(process, MDP):
        product = on_model(product, process)
        assert isinstance(product.model, MDP)  # as the process is
        return Policy(product.model, policy.choice, policy.weight), product.model, product.spec
    if product.reading.arrival is not None:
        raise ModelError("a policy that counts what it earns is played on a model, not in an environment")
    base, graph = product.attached().base, getattr(process, "graph", None)
    if graph is not None and [base.state_name(s) for s in range(base.states)] != [
        graph.state_name(s) for s in range(graph.states)
    ]:
        raise ModelError("the policy with memory is for an environment with other states")
    return Policy(product.model.graph, policy.choice, policy.weight), process, product.spec


def playable(process: Any) -> Any:
    """Return what can be played of what was given: the model of a source that simulates one."""
    if isinstance(process, IntervalMDP):
        raise ModelError("a model with intervals cannot be played; give one with probabilities, or an environment")
    if isinstance(process, Source) and not process.pace:  # it is no environment
        if process.truth is None:
            raise ModelError("what was recorded cannot be played again; give an environment or a model")
        return process.truth
    if isinstance(process, MDP):
        check_one_initial(process)
    return process


def fitted(policy: Policy, process: Any) -> Fitted:
    """Return a policy for the graph of a process; its own, where nothing is known of the process."""
    from umdp.io.decisions import Fitted, fit_policy

    if isinstance(process, MDP):
        return fit_policy(policy, process)
    if product_of(policy.graph) is None and isinstance(process, Source) and process.env is not None:
        return known(fit_policy(policy, process.graph, partly=True))
    return Fitted(policy, np.zeros(policy.graph.states, dtype=np.bool_))


def known(found: Fitted) -> Fitted:
    """Return a policy for an environment; `ModelError` if it has nothing to say in most states where there is a choice."""
    graph = found.policy.graph
    several, missing = int(np.count_nonzero(np.diff(graph.state_ptr) > 1)), np.flatnonzero(found.unknown)
    if 2 * missing.size > several:
        raise ModelError(
            f"the policy is for another environment: it knows {several - missing.size:,} of the {several:,} states of this one "
            f"in which there is a choice, and not, for instance, {graph.state_name(int(missing[0]))}"
        )
    return found


def play(
    found: Fitted,
    process: Any,
    asked: Spec,
    episodes: int,
    seed: int,
    horizon: int | None,
    promised: tuple[float, float] | None,
    watch: Callable[[str], None] | None,
) -> Simulation:
    """Return what a policy for the graph of a process earns there; see `simulate`."""
    policy = found.policy
    if episodes < 1:
        raise ModelError(f"at least 1 episode is needed, not {episodes}")
    if seed < 0:
        raise ModelError(f"a seed is a number of at least 0, not {seed}")
    account = account_of(process if isinstance(process, MDP) else policy.graph, asked)
    played = play_some(found, process, account, episodes, seed, horizon, watch)
    values, longest = played.values, longest_of(account, policy, horizon)
    mean = float(values.mean())
    if played.quantity == "probability":
        # What was not decided may have become anything: neither end counts on it, and the mean leaves it out.
        decided = values[played.decided]
        held = round(float(decided.sum()))
        lower = clopper_pearson(held, episodes)[0]
        upper = clopper_pearson(held + episodes - decided.size, episodes)[1]
        mean = float(decided.mean()) if decided.size else math.nan
    else:
        lower, upper = student(values, account.left_out(longest, played.quantity))
    bound, at_least = (None, True) if promised is None else account.promise(promised, played.quantity)
    return Simulation(
        episodes, played.steps, played.quantity, mean, lower, upper, bound, at_least, played.cut, played.unseen,
        account.about(longest),
    )  # fmt: skip


def longest_of(account: Account, policy: Policy, horizon: int | None) -> int:
    """Return how many steps an episode has at most."""
    return horizon or account.longest or 10 * default_horizon(policy.graph.states)


def play_some(
    found: Fitted,
    process: Any,
    account: Account,
    episodes: int,
    seed: int,
    horizon: int | None = None,
    watch: Callable[[str], None] | None = None,
    starts: Sequence[int] | None = None,
) -> Played:
    """Return what some episodes of a policy count for; `starts` are seeds for those of an environment, if not of the seed."""
    policy = found.policy
    if horizon is not None and horizon < 1:
        raise ModelError(f"the horizon is a number of steps and must be at least 1, not {horizon}")
    longest = longest_of(account, policy, horizon)
    if isinstance(process, MDP):
        return play_model(policy, process, account, episodes, seed, longest, watch)
    from umdp.analysis.in_environment import play_environment

    return play_environment(
        policy, process, account, episodes, seed, longest, watch=watch, unknown=found.unknown, starts=starts
    )


ROUNDING = 2.0**-52  # relative error of an addition, and more than that


@dataclass(frozen=True)
class Simulation:
    """What came of playing a policy for some episodes.

    Attributes
    ----------
    episodes, steps : how many, in all
    quantity : "probability": how often the property held; "return": what was earned, in the process's own units; "reward": what
        the model's reward structure adds up to; "average": what a step earned, or the share of time
    mean, lower, upper : the mean, and its 95 % interval: Clopper and Pearson's, which is exact, for a probability; Student's t,
        which is approximate, for the others. Of a probability, the mean is over the episodes in which the property was decided,
        nan where there is none, and the interval holds however the others would have gone on
    promised : the bound that was promised, in the same units; None where nothing was
    at_least : whether that is a lower bound
    cut : episodes that ended, or were cut off by a time limit, before the property was decided; what they had earned until then
        counts
    unseen : episodes that met a state the policy knows nothing of: of a probability they count as the worst, otherwise an action
        was taken at random there
    about : what is measured, where that is not quite what was asked for

    Examples
    --------
    >>> print(Simulation(1000, 13080, "return", 7.91, 7.75, 8.07, promised=7.9))
    return    7.910, 95 % interval 7.750 .. 8.070 (Student's t, approximate)
    promised  at least 7.900
    played    1,000 episodes of 13.1 steps
    """

    episodes: int
    steps: int
    quantity: Literal["probability", "return", "reward", "average"]
    mean: float
    lower: float
    upper: float
    promised: float | None = None
    at_least: bool = True
    cut: int = 0
    unseen: int = 0
    about: str = ""

    @property
    def kept(self) -> bool | None:
        """Whether what was measured agrees with the promise: False if the whole interval is on the wrong side of it."""
        if self.promised is None or math.isnan(self.mean):
            return None
        return self.upper >= self.promised if self.at_least else self.lower <= self.promised

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        return {
            "episodes": self.episodes, "steps": self.steps, "quantity": self.quantity,
            "mean": None if math.isnan(self.mean) else self.mean, "lower": self.lower, "upper": self.upper,
            "promised": self.promised, "cut": self.cut, "unseen": self.unseen, "about": self.about,
        }  # fmt: skip

    def lines(self, promise: str = "", *, holds: bool = True) -> list[str]:
        """Return what was measured in lines; `promise` is what stands behind the bound, in words, if it `holds` at all."""
        digits, width = (4, 11) if self.quantity == "probability" else (3, 8)
        by = "Clopper and Pearson, exact" if self.quantity == "probability" else "Student's t, approximate"
        interval = f"{self.lower:.{digits}f} .. {self.upper:.{digits}f}"
        mean = "undecided" if math.isnan(self.mean) else f"{self.mean:.{digits}f}"
        said = [f"{self.quantity:<{width}}  {mean}, 95 % interval {interval} ({by})"]
        if self.promised is not None:
            side = "at least" if self.at_least else "at most"
            behind = f", {promise}" if promise else ""
            said.append(f"{'promised' if holds else 'learned':<{width}}  {side} {self._safe(digits)}{behind}")
        if self.kept is False:
            said.append(f"{'':<{width}}  the measured interval lies on the wrong side of it")
        said.append(
            f"{'played':<{width}}  {self.episodes:,} {nouns(self.episodes, 'episode')} of "
            f"{self.steps / max(self.episodes, 1):.1f} steps"
        )
        if self.about:
            said.append(f"{'':<{width}}  {self.about}")
        if self.cut:
            so = ": the interval allows for both" if self.quantity == "probability" else ""
            said.append(
                f"{'':<{width}}  {self.cut:,} ended or {were(self.cut)} cut off before the property was decided{so}"
            )
        if self.unseen:
            then = "which counts as the worst" if self.quantity == "probability" else "where it acted at random"
            said.append(
                f"{'':<{width}}  {self.unseen:,} met a state the policy knows nothing of, {then}: it was not seen while the "
                "policy was learned; learn for longer"
            )
        return said

    def _safe(self, digits: int) -> str:
        """Return the bound that was promised, rounded to the side on which less is promised."""
        if self.promised is None or not math.isfinite(self.promised):
            return f"{self.promised}"
        return f"{safe_bound(self.promised, digits, at_least=self.at_least):.{digits}f}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def student(values: NDArray[np.float64], beyond: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    """Return the 95 % interval of a mean by Student's t, rounded outwards; all there is to say of one value is nothing.

    `beyond` is the least and the most that each value leaves out.

    Examples
    --------
    >>> [round(end, 3) for end in student(np.array([1.0, 2.0, 3.0]))]
    [-0.484, 4.484]
    """
    from scipy.special import stdtrit

    if values.size < 2:
        return -math.inf, math.inf
    mean = float(values.mean())
    half = float(stdtrit(values.size - 1, 1 - (1 - LEVEL) / 2)) * float(values.std(ddof=1)) / math.sqrt(values.size)
    slack = ROUNDING * (values.size + 1) * float(np.abs(values).max())
    return mean - half - slack + beyond[0], mean + half + slack + beyond[1]
