"""`solve` and `evaluate`: from a model and a property to a certified answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.memory_policy import MemoryPolicy
from umdp.errors import ModelError, OutOfTime
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.again import mdp_of
from umdp.solver.bounded import bounded
from umdp.solver.confirm.lift import confirm_lift
from umdp.solver.endless import ENDLESS, endless
from umdp.solver.filtered import filtered
from umdp.solver.methods.table import METHODS
from umdp.solver.nested import settled
from umdp.solver.objective import bounds_of, objective_of, players
from umdp.solver.proposal import Proposal, as_good
from umdp.solver.result import Solution
from umdp.solver.support import possible_transitions, with_transitions, without_transitions
from umdp.solver.task import Effort
from umdp.solver.temporal import along, in_memory, lift, needs_automaton
from umdp.solver.unbounded import unbounded
from umdp.solver.unfinished import unanswered
from umdp.spec import Spec

__all__ = ["evaluate", "propose", "solve"]

Array = NDArray[Any]
Progress = Callable[[str, float], None]


def solve(
    model: MDP | IntervalMDP,
    spec: Spec | str,
    *,
    precision: float = 1e-6,
    start: Solution | Policy | None = None,
    method: str = "auto",
    threads: int = 1,
    time_limit: float = np.inf,
    cutoff: float = np.inf,
    progress: Progress | None = None,
) -> Solution:
    """Return a certified bracket of a property's value, with a policy and nature that go with it.

    Parameters
    ----------
    model : MDP or IntervalMDP
    spec : Spec or str
    precision : float
        The relative width the bracket should have.
    start : Solution or Policy, optional
        An earlier solution of a model with the same graph, or its policy; it changes the time taken, not the answer.
    method : {"auto", "policy", "value"}
        Policy iteration by elimination, sweeps and sparse systems with inductive bounds, or the solver's own choice.
    threads : int
        Threads for the kernels on large components; the last digits of the bounds may then differ between runs.
    time_limit : float
        Seconds after which the best certified bracket so far is returned.
    cutoff : float
        Where an expected reward seems to be more than this many times the largest single one, no time is spent on proving it
        unless that is easy; the bracket may then be ``[0, inf]``. While next to nothing is known of a process, that is all there
        is to say.
    progress : callable, optional
        Called now and then with (what is going on, how much values still move, relatively).

    Examples
    --------
    >>> from umdp import IntervalMDP, solve
    >>> model = IntervalMDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.2, 0.5, 1, 1], [0.5, 0.8, 1, 1],
    ...                     labels={"goal": [1]})
    >>> solution = solve(model, 'Pmaxmin=? [ F "goal" ]')
    >>> solution.bracket.lower <= 0.2 <= solution.bracket.upper
    True
    >>> solution.status.name
    'CERTIFIED'
    """
    spec = Spec.parse(spec) if isinstance(spec, str) else spec
    _check_options(precision, method)
    begun = time.monotonic()
    spec = settled(model, spec, _within(begun + time_limit, method, threads), precision)
    _check_filter(spec)
    if spec.filter is not None:
        plain = solve(
            model, replace(spec, filter=None), precision=precision, start=start, method=method, threads=threads,
            time_limit=begun + time_limit - time.monotonic(), cutoff=cutoff, progress=progress,
        )  # fmt: skip
        return filtered(plain, spec, Effort(precision))
    agent_max, nature_max = players(model, spec)
    if isinstance(model, IntervalMDP) and (used := possible_transitions(model)) is not None:
        inner = solve(
            without_transitions(model, used), spec, precision=precision, method=method, threads=threads,
            time_limit=begun + time_limit - time.monotonic(), cutoff=cutoff, progress=progress,
        )  # fmt: skip
        return with_transitions(inner, model, used)
    effort = Effort(precision, method, threads, begun + time_limit, progress, cutoff=cutoff)
    if needs_automaton(spec):
        return _in_product(model, spec, agent_max, nature_max, effort, begun, start)
    if spec.aim == "bounded":
        return bounded(model, spec, agent_max, nature_max, effort, begun, None)
    if start is not None:
        graph = start.model if isinstance(start, Solution) else start.graph
        if not np.array_equal(graph.state_ptr, model.state_ptr):
            raise ModelError("the solution to start from is for a model with other states and choices")
    if spec.aim in ENDLESS:
        return endless(model, spec, agent_max, nature_max, effort, begun, start, None, _reach)
    return unbounded(model, spec, agent_max, nature_max, effort, begun, start)


def propose(
    model: MDP | IntervalMDP, spec: Spec, *, precision: float = 1e-6, start: Policy | None = None, method: str = "auto"
) -> Proposal:
    """Return an optimal policy and its value without asking for a proof: exploration needs a direction, not a bracket."""
    agent_max, nature_max = players(model, spec)
    begun = time.monotonic()
    effort = Effort(precision, method, prove=False)
    if spec.aim == "bounded":
        solution = bounded(model, spec, agent_max, nature_max, effort, begun, None)
    elif spec.aim in ENDLESS:
        solution = endless(model, spec, agent_max, nature_max, effort, begun, start, None, _reach)
    else:
        solution = unbounded(model, spec, agent_max, nature_max, effort, begun, start)
    tied = lambda: as_good(model, spec, solution.upper)  # noqa: E731
    return Proposal(solution.policy, solution.value, tied, values=lambda: solution.upper)


def evaluate(
    model: MDP | IntervalMDP,
    spec: Spec | str,
    policy: Policy,
    *,
    precision: float = 1e-6,
    method: str = "auto",
    threads: int = 1,
    time_limit: float = np.inf,
    progress: Progress | None = None,
) -> Solution:
    """Return a certified bracket of the value of a given policy: against nature, or on an MDP as it is.

    The property's nature decides which way the probabilities go (`Pmaxmin`: against the policy); on an MDP there is
    nothing to decide. A policy with memory is worth what the run of the automaton is worth that it chooses.

    Examples
    --------
    >>> from umdp import MDP, Policy, evaluate
    >>> mdp = MDP([0, 2, 3, 4], [0, 2, 3, 4, 5], [1, 2, 2, 1, 2], [0.5, 0.5, 1, 1, 1], labels={"goal": [1]})
    >>> print(evaluate(mdp, 'Pmax=? [ F "goal" ]', Policy.uniform(mdp)).bracket)
    [0.25, 0.25]
    """
    spec = Spec.parse(spec) if isinstance(spec, str) else spec
    _check_options(precision, method)
    begun = time.monotonic()
    spec = settled(model, spec, _within(begun + time_limit, method, threads), precision)
    _check_filter(spec)
    if spec.filter is not None:
        plain = evaluate(
            model, replace(spec, filter=None), policy, precision=precision, method=method, threads=threads,
            time_limit=begun + time_limit - time.monotonic(), progress=progress,
        )  # fmt: skip
        return filtered(plain, spec, Effort(precision))
    if isinstance(policy, MemoryPolicy) and needs_automaton(spec):
        _, nature_max = players(model, spec, policy_given=spec.nature is not None or isinstance(model, MDP))
        if isinstance(model, IntervalMDP) and (used := possible_transitions(model)) is not None:
            model = without_transitions(model, used)
        product = along(policy, model, spec, nature_max)
        own = Policy(product.model, policy.choice, policy.weight)
        played = evaluate(
            product.model, product.spec, own, precision=precision, method=method, threads=threads,
            time_limit=begun + time_limit - time.monotonic(), progress=progress,
        )  # fmt: skip
        judged = confirm_lift(played, product, model, spec, (False, nature_max), Effort(precision), own)
        return replace(in_memory(judged, product), _policy=lambda: policy)
    if not np.array_equal(policy.graph.state_ptr, model.state_ptr):
        raise ModelError("the policy is for a model with other states and choices")
    if isinstance(model, IntervalMDP) and (used := possible_transitions(model)) is not None:
        trimmed = without_transitions(model, used)
        own = Policy(trimmed, policy.choice, policy.weight)
        inner = evaluate(
            trimmed,
            spec,
            own,
            precision=precision,
            method=method,
            threads=threads,
            time_limit=begun + time_limit - time.monotonic(),
            progress=progress,
        )
        return with_transitions(inner, model, used)
    _, nature_max = players(model, spec, policy_given=spec.nature is not None or isinstance(model, MDP))
    effort = Effort(precision, method, threads, begun + time_limit, progress)
    if needs_automaton(spec):
        if policy.weight is not None and isinstance(model, IntervalMDP):
            raise ModelError(
                "a randomised policy of an interval MDP cannot be evaluated for a temporal formula; give a deterministic one"
            )
        return _in_product(policy.induced(model), spec, nature_max, nature_max, effort, begun, None)  # type: ignore[type-var]
    if spec.aim == "bounded":
        return _about(policy, bounded(model, spec, nature_max, nature_max, effort, begun, policy))
    if policy.steps is not None:
        raise ModelError("a step-dependent policy can be evaluated for step-bounded properties only")
    if spec.aim in ENDLESS:
        return _about(policy, endless(model, spec, nature_max, nature_max, effort, begun, None, policy, _reach))
    chain: MDP | IntervalMDP = policy.induced(model)  # type: ignore[type-var]
    inner = unbounded(chain, spec, nature_max, nature_max, effort, begun, None)
    size = model.states

    def nature() -> MDP:
        if policy.weight is not None:
            raise ModelError("nature's answer to a randomised policy is part of the induced chain; solve that instead")
        lower, upper = bounds_of(model)
        prob = np.array(lower / np.repeat(np.add.reduceat(lower, model.choice_ptr[:-1]), np.diff(model.choice_ptr)))
        if isinstance(model, IntervalMDP):
            from umdp.solver.kernels.nature import respond

            paid = objective_of(model, spec).paid
            respond(model.choice_ptr, model.successor, lower, upper, inner.upper[:size], paid, nature_max, prob)
        return mdp_of(model, prob)

    return Solution(
        model, spec, inner.bracket, inner.bracket, inner.status, inner.statistics,
        lambda: (inner.lower[:size], inner.upper[:size]), lambda: policy, nature,
    )  # fmt: skip


def _about(policy: Policy, solution: Solution) -> Solution:
    """Return a solution, which must be about the policy given."""
    if solution.policy is not policy:
        raise RuntimeError(
            "the answer is about another policy than the one given: please report the model and the property"
        )
    return solution


def _within(deadline: float, method: str, threads: int) -> Callable[[MDP | IntervalMDP, Spec, float], Solution]:
    """Return what answers properties inside others, in the time there is left."""

    def answer(model: MDP | IntervalMDP, spec: Spec, precision: float) -> Solution:
        left = deadline - time.monotonic()
        return solve(model, spec, precision=precision, method=method, threads=threads, time_limit=left)

    return answer


def _check_filter(spec: Spec) -> None:
    if spec.filter is not None and needs_automaton(spec):
        raise spec.error(
            "filters of formulas with several temporal operators are not supported",
            "the value is that of the initial state; write the property alone",
        )


def _check_options(precision: float, method: str) -> None:
    if not 0 < precision < 1:
        raise ModelError(f"precision must lie strictly between 0 and 1, not {precision}")
    if method not in METHODS:
        raise ModelError(f"there is no method {method!r}; there are {', '.join(METHODS)}")


def _in_product(
    model: MDP | IntervalMDP,
    spec: Spec,
    agent_max: bool,
    nature_max: bool,
    effort: Effort,
    begun: float,
    start: Solution | Policy | None,
) -> Solution:
    """Return the solution of a property that needs an automaton: that of the product, where it is reachability."""
    try:
        product = lift(model, spec, agent_max, nature_max, late=effort.is_late)
    except OutOfTime:
        return unanswered(model, spec, effort, begun)
    known = start.policy if isinstance(start, Solution) else start
    if known is not None and not np.array_equal(known.graph.state_ptr, product.model.state_ptr):
        known = None  # a memory of another shape is no place to start from
    towards = product.spec
    inner = unbounded(product.model, towards, *players(product.model, towards), effort, begun, known)
    return in_memory(confirm_lift(inner, product, model, spec, (agent_max, nature_max), effort), product)


def _reach(model: IntervalMDP, spec: Spec, effort: Effort, begun: float) -> Solution:
    return unbounded(model, spec, *players(model, spec), effort, begun, None)
