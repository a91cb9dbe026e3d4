"""From what a solver says to what the judge confirms: nothing else is called certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp.errors import UmdpError
from umdp.model import Policy
from umdp.solver.judge import refuse
from umdp.solver.judge.question import Status, TwoPart, answer_of, case_of, plausible_end
from umdp.solver.objective import Request, SolveOptions
from umdp.solver.result import Bracket, Diagnostic, DraftBounds, Solution, mdp_of

__all__ = ["confirm", "confirm_above", "confirmed"]

Array = NDArray[Any]
CLOSE_BY = (0.0, 2.0**-46, 2.0**-41, 2.0**-36)  # by which vectors are moved outwards, relatively
FURTHER = (2.0**-31, 2.0**-26)  # where nothing else is found
KAPPAS = (2.0**-47, 2.0**-44)  # room for rounding in a step, relative to the terms of its row
ROUNDS = 12  # sweeps that move single states
CLOSE = 0.1  # of the precision: how much wider a bracket may become without a word
SMALL = 2000  # transitions of a model that is worth a proof in rationals
LARGE = 100_000  # transitions from which few attempts must do
ALL = slice(None)


class _Defence:
    """Vectors of a draft, and what the judge says of them: moved outwards as far as it takes."""

    def __init__(self, draft: Solution, request: Request) -> None:
        from umdp.solver.confirm.witness import levels_that_pay, trap_levels
        from umdp.solver.judge.ambiguity import may_cut

        if draft._candidate is not None:
            given = draft._candidate()
        else:
            none = np.zeros(draft.model.states)
            given = DraftBounds((draft.lower, none), (draft.upper, none), request.objective.safety)
        self.draft, self.request, self.given = draft, request, given
        self.case = case_of(draft.model, request.objective, *request.players, complement=given.complement)
        rows, asked = self.case.rows, self.case.asked
        self.precision, self.late = request.options.precision, request.options.is_late
        self.choice = np.array(draft.policy.choice, dtype=np.int64)
        low, size = given.low[0], given.low[0].size
        self.open = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self.holds = [False, False]
        self.trap = np.full(size, -1, np.int64)
        if asked.total and bool(np.isinf(low).any()):
            self.trap = levels_that_pay(rows, asked.all_below, low, self.choice)
        elif asked.reward and not asked.total and bool(np.isinf(low).any()):
            self.trap = trap_levels(rows, asked, self.choice, asked.all_below, asked.nature_max)
        elif not asked.reward and not asked.nature_max and may_cut(rows):
            self.trap = trap_levels(rows, asked, self.choice, asked.all_above, False)
        self.sides = [self._vector(0.0, 0), self._vector(0.0, 1)]

    @property
    def bottom(self) -> float:
        """The least value there is."""
        return 0.0 if self.case.asked.reward else self.case.asked.top - 1.0

    def _vector(self, margin: float, side: int) -> TwoPart:
        """Return the vector of a side, moved outwards by a relative margin; what is exactly 0, 1 or infinite stays."""
        reward, turned = self.case.asked.reward, self.given.complement
        below = (side == 0) != turned
        base, offset = (np.require(part, requirements="W") for part in (self.given.low if below else self.given.high))
        if margin:
            stays = np.isinf(base) if reward or not below else (base == 1.0) & (offset == 0.0)
            with np.errstate(invalid="ignore", over="ignore"):
                factor = np.where(stays, 1.0, 1.0 - margin if below else 1.0 + margin)
                base, offset = base * factor, offset * factor
        whole = not margin and self.given.low[1] is self.given.high[1]  # there are no second parts
        if not (reward or below or whole):
            over = base + offset >= 1.0
            base, offset = np.where(over, 1.0, base), np.where(over, 0.0, offset)
        return TwoPart(-base, -offset) if turned else TwoPart(base, offset)

    def ask(self) -> bool:
        """Ask the judge; whether both sides hold."""
        from umdp.solver.judge.reachability import examine

        rows, asked = self.case.rows, self.case.asked
        left = examine(rows, asked, self.sides[0], self.sides[1], self.choice, self.trap, *self.open)
        self.holds = [count == 0 for count in left]
        return all(self.holds)

    @property
    def failing(self) -> list[tuple[int, float]]:
        """The sides that do not hold, and the sign of what lies outwards there."""
        return [(side, sign) for side, sign in ((0, -1.0), (1, 1.0)) if not self.holds[side]]

    def move(self) -> bool:
        """Move single states outwards, until none fails or the rounds are over; whether both sides hold then."""
        from umdp.solver.confirm.witness import move_outwards

        rows, asked = self.case.rows, self.case.asked
        for side, sign in self.failing:
            self.sides[side] = TwoPart(*(np.array(part) for part in self.sides[side]))  # they may be the draft's own
            for turn in range(ROUNDS):
                if turn > 0 and self.late():
                    break
                if not move_outwards(rows, asked, self.sides[side], self.choice, sign, turn % 2 == 0, self.bottom):
                    break
        return self.ask()

    def _try(self, margins: tuple[float, ...]) -> bool:
        """Move vectors outwards by relative margins, then single states; whether both sides hold then."""
        for margin in margins:
            if margin > self.precision / 8 or self.late():
                break
            if margin:
                for side, _ in self.failing:
                    self.sides[side] = self._vector(margin, side)
            if self.move():
                return True
        return False

    def hold(self) -> bool:
        """Find vectors that hold, the closest first; whether that succeeds on both sides."""
        return self._try(CLOSE_BY[:: 3 if self.case.rows.successor.size > LARGE else 1])

    def widen(self) -> bool:
        """Find vectors that hold, by a linear system or further away; whether that succeeds on both sides."""
        if self.late():
            return False
        return self._carry() or self._try(() if self.case.rows.successor.size > LARGE else FURTHER)

    def _carry(self) -> bool:
        """Move the sides that do not hold by what roundings add up to over all steps; whether both hold then."""
        from umdp.solver.confirm.witness import carry_load

        rows, asked, prob = self.case.rows, self.case.asked, _answer(self.draft, self.request)
        for kappa in KAPPAS:
            for side, sign in self.failing:
                start = TwoPart(*(np.array(part) for part in self._vector(0.0, side)))
                found = carry_load(rows, asked, start, self.choice, prob, sign, self.bottom, kappa)
                self.sides[side] = start if found is None else found
            if self.ask():
                return True
        return self.move()

    def concede(self) -> None:
        """Give up states that do not pass, and what rests on them, until both sides hold."""
        for turn in range(4):
            if turn > 0 and self.late():
                break
            for side, _ in self.failing:
                self._give_up(side, self.open[side])
            if self.move():
                return
        for side, _ in self.failing:
            self._give_up(side, np.ones_like(self.open[side]))

    def _give_up(self, side: int, states: Array) -> None:
        end = self.bottom if side == 0 else math.inf if self.case.asked.reward else self.case.asked.top
        base, offset = self.sides[side]
        self.sides[side] = TwoPart(np.where(states, end, base), np.where(states, 0.0, offset))

    def bounds(self, states: Array | slice = ALL) -> tuple[Array, Array]:
        """Return the vectors of some states as bounds on what was asked, rounded outwards."""
        return answer_of(self.case, self.sides[0], self.sides[1], states)


def confirm(draft: Solution, request: Request, anew: Callable[[], Solution] | None = None) -> Solution:
    """Return the solution with the bounds that the judge confirms; only then may it be called certified.

    Parameters
    ----------
    draft : what the solver says
    request : what was asked
    anew : solves from nothing, without anything that was kept or given to start from; None where there was no such thing
    """
    options = request.options
    found = confirmed(draft, request)
    if found is not None:
        if found.status is Status.IMPRECISE and math.isinf(options.cutoff):  # it may have been for want of digits
            closer = _in_integers(draft, request)
            if closer is not None:
                return closer
        if draft.model.transitions > SMALL or _is_as_close(found, draft, CLOSE * options.precision):
            return found
        return _proved(draft, request) or found  # it was known much better
    refuse()
    if anew is not None:
        draft = anew()
        found = confirmed(draft, request)
        if found is not None:
            return found
    return _proved(draft, request) or _conceded(draft, request)


def confirm_above(draft: Solution, request: Request, anew: Callable[[], Solution]) -> Solution:
    """Return the solution of which the judge confirms the bounds from above; those from below are 0, the least there is."""
    found = confirmed(_from_above(draft), request)
    if found is None:
        refuse()
        draft = anew()
        found = confirmed(_from_above(draft), request)
    return found or _conceded(_from_above(draft), request)


def _from_above(draft: Solution) -> Solution:
    """Return a draft that says nothing from below."""
    nothing, bracket, given = np.zeros(draft.model.states), Bracket(0.0, draft.bracket.upper), draft._candidate
    return replace(
        draft, bracket=bracket, policy_bracket=bracket, status=Status.IMPRECISE, values=None,
        _bounds=lambda: (nothing, draft.upper),
        _candidate=None if given is None else lambda: given()._replace(low=(nothing, nothing)),
    )  # fmt: skip


def _is_as_close(found: Solution, draft: Solution, share: float) -> bool:
    """Whether brackets are as narrow as those of the draft in all states, or relatively no wider than `share`."""
    with np.errstate(invalid="ignore"):
        width, before = found.upper - found.lower, draft.upper - draft.lower
        wider = (width > before) & (width > share * np.abs(found.upper))
    return not bool(wider.any())


def _answer(draft: Solution, request: Request) -> Array:
    """Return nature's answer (T,) to the values of a draft."""
    guess = np.where(np.isfinite(draft.upper), draft.upper, np.where(np.isfinite(draft.lower), draft.lower, 0.0))
    return request.answer_to(guess, request.objective.paid)[0]


def confirmed(draft: Solution, request: Request) -> Solution | None:
    """Return the solution with bounds that hold, close to those of the draft; None where the judge does not confirm them."""
    defence = _Defence(draft, request)
    if not (defence.ask() or defence.hold()):
        found = _in_integers(draft, request) if draft.status.is_precise else None
        if found is not None:
            refuse()
            return found
        if not defence.widen():
            return None
    found = _with_bounds(draft, defence.bounds, request.options)
    return None if draft.status.is_precise and not found.status.is_precise else found


def _with_bounds(
    draft: Solution, bounds: Callable[[Array | slice], tuple[Array, Array]], options: SolveOptions, *notes: Diagnostic
) -> Solution:
    """Return the solution with what holds in the place of what the draft says: `bounds` of some states."""

    def outer(states: Array | slice) -> tuple[Array, Array]:
        low, high = bounds(states)
        return np.fmin(draft.lower[states], low), np.fmax(draft.upper[states], high)

    # What lies further out than what was confirmed is confirmed, too; it has the digits that others have seen.
    low, high = (float(end[0]) for end in bounds(np.array([draft.model.initial])))
    bracket = Bracket(*plausible_end(draft.spec.kind, min(draft.bracket.lower, low), max(draft.bracket.upper, high)))
    own = bracket if draft.policy_bracket == draft.bracket else draft.policy_bracket
    status = options.status(bracket, draft.status if draft.status is Status.OPEN_GAME else Status.IMPRECISE)
    return replace(
        draft, bracket=bracket, policy_bracket=own, status=status, _bounds=lambda: outer(ALL),
        diagnostics=(*draft.diagnostics, *notes),
    )  # fmt: skip


def _in_integers(draft: Solution, request: Request) -> Solution | None:
    """Return the solution with bounds of as many digits as it takes; None where they are not found, or not close enough."""
    from umdp.solver.confirm.integers import NARROWEST, rounded, solve_in_integers

    model, choice, options = draft.model, draft.policy.choice, request.options
    case = case_of(model, request.objective, *request.players, complement=False)
    unknown = ~case.asked.goal & case.asked.through
    if not case.asked.reward:
        unknown &= draft.lower < 1.0 if case.safety else draft.upper > 0.0
    if choice is None or options.is_late() or options.precision < NARROWEST or bool(np.isinf(draft.lower).any()):
        return None
    with np.errstate(all="ignore"):  # it proposes; what overflows or is no number does not pass
        found = solve_in_integers(case.rows, case.asked, unknown, (choice, _answer(draft, request)), options.is_late)
    if found is None:
        return None
    ends = (found.high, found.low) if case.safety else (found.low, found.high)
    low, high = (rounded(end, up, case.safety) for end, up in zip(ends, (False, True), strict=True))
    taken, prob = found.choice, found.prob
    bracket = Bracket(*plausible_end(draft.spec.kind, float(low[model.initial]), float(high[model.initial])))
    draft = replace(
        draft, _bounds=lambda: (low, high), _policy=lambda: Policy(model, taken), _nature=lambda: mdp_of(model, prob),
        bracket=bracket, policy_bracket=bracket,
    )  # fmt: skip
    # The policy's own rows prove its side.
    solution = _with_bounds(draft, lambda states: (low[states], high[states]), options)
    return solution if solution.status.is_precise else None


def _proved(draft: Solution, request: Request) -> Solution | None:
    """Return the solution with bounds proved in rationals, where the model is small and rounding leaves no room."""
    from umdp.solver.proof.prove import prove
    from umdp.verify.rationals import double, number

    if draft.model.transitions > SMALL or request.options.is_late():
        return None
    try:
        content = prove(draft).content
    except (UmdpError, ArithmeticError, MemoryError):
        return None
    size, claim, start = draft.model.states, content["claim"], draft.model.initial
    turned, most = request.objective.safety, math.inf if draft.spec.kind == "R" else 1.0
    bounds = [np.zeros(size), np.full(size, most)]
    for side in ("lower", "upper"):
        if side in content:
            up = (side == "upper") != turned
            exact = [number(value, side) for value in content[side]["value"]]
            bounds[up] = np.array([double(1 - value if turned else value, up=up) for value in exact])
    low, high = bounds
    low[start] = max(low[start], double(number(claim["lower"], "claim"), up=False))
    high[start] = min(high[start], double(number(claim["upper"], "claim"), up=True))
    proved = _with_bounds(draft, lambda states: (low[states], high[states]), request.options)
    # Where another policy proves the bound, nothing is known of this one.
    return proved if claim["policy"] else replace(proved, policy_bracket=Bracket(0.0, most))


def _conceded(draft: Solution, request: Request) -> Solution:
    """Return the solution with the bounds that do hold, and a note that more was found than could be confirmed."""
    defence = _Defence(draft, request)
    if not defence.ask():
        defence.concede()
    return _with_bounds(draft, defence.bounds, request.options, Diagnostic.UNCONFIRMED)
