"""Every line of the judge, by random cases whose verdict is known in rationals: the false is refused, what has room passes."""

from __future__ import annotations

import numpy as np

from solver.judged import Case
from solver.judged_cases import cases
from umdp.solver.judge.question import JudgedQuestion, ModelRows, TwoPart
from umdp.solver.judge.reachability import examine


def _marks(case: Case) -> tuple[set[int], set[int]]:
    rows = ModelRows.of(*case.arrays.fields())
    asked = JudgedQuestion(
        case.reward, case.total, case.goal, case.through, case.nature_max, case.all_below, case.all_above, case.top
    )
    states = case.arrays.states
    marks = np.ones(states, np.bool_), np.ones(states, np.bool_)
    counts = examine(rows, asked, TwoPart(*case.low), TwoPart(*case.high), case.choice, case.trap, *marks)
    found = set(np.flatnonzero(marks[0]).tolist()), set(np.flatnonzero(marks[1]).tolist())
    assert counts == (len(found[0]), len(found[1]))
    return found


def test_what_fails_in_rationals_is_refused_and_what_holds_with_room_is_confirmed() -> None:
    passed = refused = 0
    for case in cases(1200):
        for found, must, may, side in zip(
            _marks(case), case.must_refuse, case.may_refuse, ("below", "above"), strict=True
        ):
            assert must <= found, f"{case.name} from {side}: {must - found} do not satisfy the theorem"
            assert found <= may, f"{case.name} from {side}: {found - may} satisfy it with room"
            passed += not found
            refused += len(must) == 1
    assert passed > 300
    assert refused > 300
