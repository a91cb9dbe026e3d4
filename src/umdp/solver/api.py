"""`solve` and `evaluate`: from a model and a property to a certified answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from umdp.automata.memory_policy import MemoryPolicy
from umdp.errors import ModelError, OutOfTime
from umdp.model import MDP, IntervalMDP, Policy
from umdp.solver.bounded import bounded
from umdp.solver.confirm.products import confirm_lift
from umdp.solver.long_run import average
from umdp.solver.methods.table import METHODS
from umdp.solver.nested import filtered, settled
from umdp.solver.objective import players
from umdp.solver.request import Request, SolveOptions, SolveStatistics, Start, Watch
from umdp.solver.result import Solution, UncertifiedSolution, as_good
from umdp.solver.sums import discounted
from umdp.solver.support import possible_transitions, with_transitions, without_transitions
from umdp.solver.temporal import along, in_memory, lift
from umdp.solver.unbounded import unbounded
from umdp.solver.unfinished import unanswered
from umdp.spec import Spec
from umdp.spec.spec import needs_automaton

__all__ = ["answer", "evaluate", "solve", "solve_uncertified"]

AIMS = {"reach": unbounded, "total": unbounded, "bounded": bounded, "discounted": discounted, "average": average}
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
    return answer(model, spec, _options(precision, method, threads, time_limit, progress, cutoff), start)


def answer(
    model: MDP | IntervalMDP, spec: Spec, options: SolveOptions, start: Solution | Policy | Start | None = None
) -> Solution:
    """Return the solution of a property: what is inside it is answered first, and what no distribution can use is left out."""
    spec = settled(model, spec, _inside(options), options.precision)
    _check_filter(spec)
    if spec.filter is not None:
        return filtered(answer(model, replace(spec, filter=None), options, start), spec, options.precision)
    request = Request(model, spec, *players(model, spec), options, start)
    if isinstance(model, IntervalMDP) and (used := possible_transitions(model)) is not None:
        return with_transitions(answer(without_transitions(model, used), spec, options), model, used)
    if needs_automaton(spec):
        return _in_product(request)
    if isinstance(start, Solution | Policy) and spec.aim != "bounded":
        graph = start.model if isinstance(start, Solution) else start.graph
        if not np.array_equal(graph.state_ptr, model.state_ptr):
            raise ModelError("the solution to start from is for a model with other states and choices")
    return AIMS[spec.aim](request)


def solve_uncertified(
    model: MDP | IntervalMDP, spec: Spec, options: SolveOptions, start: Start | None = None
) -> UncertifiedSolution:
    """Return an optimal policy and its value without asking for a proof: exploration needs a direction, not a bracket."""
    options = replace(options, prove=False)
    solution = AIMS[spec.aim](Request(model, spec, *players(model, spec), options, start))
    tied = lambda: as_good(model, spec, solution.upper)  # noqa: E731
    return UncertifiedSolution(solution.policy, solution.value, tied, values=lambda: solution.upper)


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
    return _evaluated(model, spec, policy, _options(precision, method, threads, time_limit, progress))


def _evaluated(model: MDP | IntervalMDP, spec: Spec, policy: Policy, options: SolveOptions) -> Solution:
    """Return the solution of a property for a given policy, as `answer` does for the best one."""
    spec = settled(model, spec, _inside(options), options.precision)
    _check_filter(spec)
    if spec.filter is not None:
        plain = _evaluated(model, replace(spec, filter=None), policy, options)
        return filtered(plain, spec, options.precision)
    remembers = policy if isinstance(policy, MemoryPolicy) and needs_automaton(spec) else None
    if remembers is None and not np.array_equal(policy.graph.state_ptr, model.state_ptr):
        raise ModelError("the policy is for a model with other states and choices")
    used = possible_transitions(model) if isinstance(model, IntervalMDP) else None
    if used is not None:
        assert isinstance(model, IntervalMDP)
        trimmed = without_transitions(model, used)
        if remembers is not None:
            return _evaluated(trimmed, spec, policy, options)
        own = Policy(trimmed, policy.choice, policy.weight)
        return with_transitions(_evaluated(trimmed, spec, own, options), model, used)
    _, nature_max = players(model, spec, policy_given=spec.nature is not None or isinstance(model, MDP))
    request = Request(model, spec, nature_max, nature_max, options, policy=policy)
    if remembers is not None:
        return _along(request, remembers)
    if needs_automaton(spec):
        if policy.weight is not None and isinstance(model, IntervalMDP):
            raise ModelError(
                "a randomised policy of an interval MDP cannot be evaluated for a temporal formula; give a deterministic one"
            )
        return _in_product(request.of(policy.induced(model)))  # type: ignore[type-var]
    if policy.steps is not None and spec.aim != "bounded":
        raise ModelError("a step-dependent policy can be evaluated for step-bounded properties only")
    solution = AIMS[spec.aim](request)
    if solution.policy is not policy:
        raise RuntimeError(
            "the answer is about another policy than the one given: please report the model and the property"
        )
    return solution


def _along(request: Request, policy: MemoryPolicy) -> Solution:
    """Return what a policy with memory is worth: the run of the automaton that it chooses."""
    product = along(policy, request.model, request.spec, request.nature_max)
    own = Policy(product.model, policy.choice, policy.weight)
    played = _evaluated(product.model, product.spec, own, request.options)
    judged = confirm_lift(played, product, replace(request, agent_max=False), own)
    return replace(in_memory(judged, product), _policy=lambda: policy)


def _in_product(request: Request) -> Solution:
    """Return the solution of a property that needs an automaton: that of the product, where it is reachability."""
    options, start = request.options, request.start
    try:
        product = lift(request.model, request.spec, *request.players, late=options.is_late)
    except OutOfTime:
        return unanswered(request)
    known = start.policy if isinstance(start, Solution) else start
    if not isinstance(known, Policy) or not np.array_equal(known.graph.state_ptr, product.model.state_ptr):
        known = None  # a memory of another shape is no place to start from
    towards = product.spec
    inner = unbounded(Request(product.model, towards, *players(product.model, towards), options, known))
    return in_memory(confirm_lift(inner, product, request), product)


def _options(
    precision: float, method: str, threads: int, time_limit: float, progress: Progress | None, cutoff: float = np.inf
) -> SolveOptions:
    """Return the options of a solve that begins now."""
    if not 0 < precision < 1:
        raise ModelError(f"precision must lie strictly between 0 and 1, not {precision}")
    if method not in METHODS:
        raise ModelError(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    begun = time.monotonic()
    return SolveOptions(precision, method, threads, progress, Watch(begun + time_limit), cutoff=cutoff, begun=begun)


def _inside(options: SolveOptions) -> Callable[[MDP | IntervalMDP, Spec, float], Solution]:
    """Return what answers properties inside others, in the time there is left."""

    def answered(model: MDP | IntervalMDP, spec: Spec, precision: float) -> Solution:
        own = replace(options, precision=precision, progress=None, cutoff=np.inf, statistics=SolveStatistics())
        return answer(model, spec, own)

    return answered


def _check_filter(spec: Spec) -> None:
    if spec.filter is not None and needs_automaton(spec):
        raise spec.error(
            "filters of formulas with several temporal operators are not supported",
            "the value is that of the initial state; write the property alone",
        )
