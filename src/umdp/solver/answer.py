"""`solve` and `evaluate`: from a model and a property to a certified answer.

Properties inside properties are answered first, and refused only where a bracket does not decide them; a filter asks for the
smallest, the largest, the average value over many states.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.automata.memory_policy import MemoryPolicy
from umdp.errors import ModelError, OutOfTime
from umdp.model import MDP, IntervalMDP, Policy
from umdp.model.beginnings import initial_states
from umdp.solver.confirm.products import confirm_lift
from umdp.solver.finite_horizon import bounded
from umdp.solver.infinite_horizon import average, discounted
from umdp.solver.judge.question import status_of
from umdp.solver.methods.method import METHODS
from umdp.solver.objective import Request, SolveOptions, SolveStatistics, Start, in_steps, players
from umdp.solver.result import Bracket, Solution, Status, UncertifiedSolution
from umdp.solver.support import with_transitions, without_transitions
from umdp.solver.task import possible_transitions
from umdp.solver.temporal import along, in_memory, lift, unanswered
from umdp.solver.threads import UNLIMITED, Watch
from umdp.solver.unbounded import unbounded
from umdp.spec import TRUE, Spec
from umdp.spec.evaluate import Known, Nested, mapped, nested_in
from umdp.spec.expression import Expression, Label
from umdp.spec.spec import Filter, needs_automaton

__all__ = ["answer", "evaluate", "outermost", "over_initial_states", "solve", "solve_uncertified"]

Array = NDArray[Any]
PRECISE = 1e-12  # the width to try where the one asked for does not decide a property inside another
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
    spec = over_initial_states(model, Spec.parse(spec) if isinstance(spec, str) else spec)
    return answer(model, spec, _options(precision, method, threads, time_limit, progress, cutoff), start)


def answer(
    model: MDP | IntervalMDP,
    spec: Spec,
    options: SolveOptions,
    start: Solution | Policy | Start | None = None,
    policy: Policy | None = None,
) -> Solution:
    """Return the solution of a property, or what a given policy is worth.

    What is inside the property is answered first, and what no distribution can use is left out.
    """
    model, spec = in_steps(model, resolve_nested(model, spec, options))
    if spec.filter is not None:
        return _filtered(answer(model, replace(spec, filter=None), options, start, policy), spec, options.precision)
    remembers = policy if isinstance(policy, MemoryPolicy) and needs_automaton(spec) else None
    if policy is not None and remembers is None and not np.array_equal(policy.graph.state_ptr, model.state_ptr):
        raise ModelError("the policy is for a model with other states and choices")
    if isinstance(model, IntervalMDP) and (used := possible_transitions(model)) is not None:
        if policy is None:
            players(model, spec)  # whether the property says enough is a matter of all that is listed
        trimmed = without_transitions(model, used)
        own = policy if policy is None or remembers else Policy(trimmed, policy.choice, policy.weight)
        return with_transitions(answer(trimmed, spec, options, policy=own), model)
    given = policy is not None and (spec.nature is not None or isinstance(model, MDP))
    agent_max, nature_max = players(model, spec, policy_given=given)
    request = Request(model, spec, agent_max if policy is None else nature_max, nature_max, options, start, policy)
    if needs_automaton(spec):
        return _in_product(request) if remembers is None else _along(request, remembers)
    if policy is not None and policy.steps is not None and spec.aim != "bounded":
        raise ModelError("a step-dependent policy can be evaluated for step-bounded properties only")
    if isinstance(start, Solution | Policy) and spec.aim != "bounded":
        graph = start.model if isinstance(start, Solution) else start.graph
        if not np.array_equal(graph.state_ptr, model.state_ptr):
            raise ModelError("the solution to start from is for a model with other states and choices")
    solution = AIMS[spec.aim](request)
    if policy is not None and solution.policy is not policy:
        raise RuntimeError(
            "the answer is about another policy than the one given: please report the model and the property"
        )
    return solution


def solve_uncertified(
    model: MDP | IntervalMDP, spec: Spec, options: SolveOptions, start: Start | None = None
) -> UncertifiedSolution:
    """Return an optimal policy and its value without asking for a proof: exploration needs a direction, not a bracket."""
    request = Request(model, spec, *players(model, spec), replace(options, prove=False), start)
    solution = AIMS[spec.aim](request)
    return UncertifiedSolution(
        solution.policy, solution.value, lambda: request.ties(solution.upper), values=lambda: solution.upper
    )


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
    spec = over_initial_states(model, Spec.parse(spec) if isinstance(spec, str) else spec)
    return answer(model, spec, _options(precision, method, threads, time_limit, progress), policy=policy)


def over_initial_states(model: MDP | IntervalMDP, spec: Spec) -> Spec:
    """Return what a property without a filter asks of several initial states, as PRISM reads it: the range of values, or all.

    Examples
    --------
    >>> from umdp import MDP
    >>> two = MDP([0, 1, 2], [0, 1, 2], [0, 1], [1.0, 1.0], labels={"init": [0, 1], "goal": [1]})
    >>> print(over_initial_states(two, Spec.parse('P=? [ F "goal" ]')), solve(two, 'P=? [ F "goal" ]').bracket)
    filter(range, P=? [ F "goal" ], "init") [0, 1]
    """
    if spec.filter is not None or initial_states(model).size == 1:
        return spec
    if needs_automaton(spec):
        raise spec.error(
            f"the model has {initial_states(model).size} initial states, and what needs an automaton is answered in one",
            "give a model with one",
        )
    return replace(spec, filter=Filter("range" if spec.threshold is None else "forall", Label("init")))


def _along(request: Request, policy: MemoryPolicy) -> Solution:
    """Return what a policy with memory is worth: the run of the automaton that it chooses."""
    product = along(policy, request.model, request.spec, request.nature_max)
    own = Policy(product.model, policy.choice, policy.weight)
    played = answer(product.model, product.spec, request.options, policy=own)
    judged = confirm_lift(played, product, replace(request, agent_max=False), own)
    return replace(in_memory(judged, product), _policy=lambda: policy)


def _in_product(request: Request) -> Solution:
    """Return the solution of a property that needs an automaton: that of the product, where it is reachability."""
    policy, options, start = request.policy, request.options, request.start
    if policy is not None:
        if policy.weight is not None and isinstance(request.model, IntervalMDP):
            raise ModelError(
                "a randomised policy of an interval MDP cannot be evaluated for a temporal formula; give a deterministic one"
            )
        request = request.of_policy(policy)
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
    watch = UNLIMITED if time_limit == np.inf else Watch(begun + time_limit)
    return SolveOptions(precision, method, threads, progress, watch, cutoff=cutoff, begun=begun)


def resolve_nested(model: MDP | IntervalMDP, spec: Spec, options: SolveOptions) -> Spec:
    """Return a property in which those inside are replaced by the states in which they hold, and the threshold is a number."""
    spec = spec.counted(model)

    def known(part: Expression) -> Expression:
        return Known.of(part, _members(model, part, options)) if isinstance(part, Nested) else part

    if next(nested_in((spec.formula, spec.filter)), None) is not None:
        spec = replace(spec, formula=mapped(spec.formula, known), filter=mapped(spec.filter, known))
    if spec.filter is not None and needs_automaton(spec):
        raise spec.error(
            "filters of formulas that need an automaton (several temporal operators, a bound on a reward) are not supported",
            "the value is that of the initial state; write the property alone",
        )
    return spec


def _members(model: MDP | IntervalMDP, nested: Nested, options: SolveOptions) -> NDArray[np.bool_]:
    """Return the states (S,) in which a property holds, or raise `SpecError` where a bracket has its threshold inside."""
    threshold = nested.spec.counted(model).threshold
    assert threshold is not None
    if needs_automaton(nested.spec):
        raise nested.error(
            "a formula that needs an automaton (several temporal operators, a bound on a reward) is not answered inside another",
            "ask it alone, or label the states in which it holds",
        )
    for width in dict.fromkeys((options.precision, min(options.precision, PRECISE))):
        own = replace(options, precision=width, progress=None, cutoff=np.inf, statistics=SolveStatistics())
        solution = answer(model, nested.spec, own)
        found = [threshold.holds(*bounds) for bounds in zip(solution.lower, solution.upper, strict=True)]
        if None not in found:
            return np.array(found, dtype=np.bool_)
        if solution.status is Status.STOPPED:
            break
    state = found.index(None)
    bracket = solution.at(state)
    stopped = solution.status is Status.STOPPED
    raise nested.error(
        f"whether {nested.spec} holds in state {model.state_name(state)} is not decided: its value there lies between "
        f"{bracket.lower!r} and {bracket.upper!r}",
        "time was up: give it more" if stopped else f"move the threshold away from {threshold.value:.12g}",
    )


def outermost(spec: Spec, check: Callable[[Spec], Any]) -> Spec:
    """Return a property as it is with nothing inside, having checked all that is inside."""
    for inner in nested_in((spec.formula, spec.filter)):
        check(inner.spec)

    def anything(part: Expression) -> Expression:
        return TRUE if isinstance(part, Nested) else part

    return replace(spec, formula=mapped(spec.formula, anything), filter=mapped(spec.filter, anything))


def _filtered(solution: Solution, spec: Spec, precision: float) -> Solution:
    """Return the answer to a property with a filter, given that to the property without."""
    wanted = spec.filter
    assert wanted is not None
    otherwise = Status.STOPPED if solution.status is Status.STOPPED else Status.IMPRECISE
    states = np.flatnonzero(wanted.states.evaluate(solution.model))
    if states.size == 0:
        raise spec.error(f"no state satisfies {wanted.states}, so that the filter has nothing to look at")
    if wanted.operator == "state" and states.size != 1:
        raise spec.error(f"{states.size} states satisfy {wanted.states}", "the filter state needs one; write first")
    low, high = solution.lower[states], solution.upper[states]
    status, shown = solution.status, states[:0]
    match wanted.operator:
        case "min" | "argmin":
            bracket = Bracket(float(low.min()), float(high.min()))
            shown = states[low <= high.min()]
        case "max" | "argmax":
            bracket = Bracket(float(low.max()), float(high.max()))
            shown = states[high >= low.max()]
        case "avg" | "sum":
            share = states.size if wanted.operator == "avg" else 1
            bracket = Bracket(_mean(low, share, -math.inf), _mean(high, share, math.inf))
        case "count" | "forall" | "exists":
            bracket, shown = _counted(spec, low, high, states)
        case operator:
            shown = states[:1] if operator in ("first", "state") else states
            bracket = Bracket(float(low[: shown.size].min()), float(high[: shown.size].max()))
    if wanted.operator in ("min", "max", "range", "avg", "sum"):
        shown = states[:0]
    if wanted.operator in ("min", "max", "avg", "sum", "argmin", "argmax"):
        status = status_of(bracket.lower, bracket.upper, precision, otherwise)
    elif wanted.operator == "range":
        ends = (low.min(), high.min()), (low.max(), high.max())
        found = [status_of(float(a), float(b), precision, otherwise) for a, b in ends]
        status = next((each for each in found if each is not Status.CERTIFIED), Status.CERTIFIED)
    return replace(solution, spec=spec, bracket=bracket, policy_bracket=bracket, status=status, shown=shown)


def _mean(values: Array, share: int, way: float) -> float:
    """Return a sum divided by a number, rounded outwards; `fsum` rounds once."""
    if not np.isfinite(values).all():
        return float(values.sum() / share)
    return math.nextafter(math.nextafter(math.fsum(values) / share, way), way)


def _counted(spec: Spec, low: Array, high: Array, states: Array) -> tuple[Bracket, Array]:
    """Return how many states satisfy a threshold, or 1 and 0 for yes and no, and which do for sure."""
    assert spec.threshold is not None
    assert spec.filter is not None
    holds = [spec.threshold.holds(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    sure = np.array([each is True for each in holds])
    least, most = int(sure.sum()), sum(each is not False for each in holds)
    if spec.filter.operator == "forall":
        least, most = int(least == len(holds)), int(most == len(holds))
    elif spec.filter.operator == "exists":
        least, most = int(least > 0), int(most > 0)
    return Bracket(float(least), float(most)), states[sure]
