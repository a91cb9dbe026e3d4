"""Small valid certificates of every kind, from which forgeries are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from parametric.programs import PROGRAMS
from properties.bridge import BOUNDED, OBJECTIVES, PLAYERS, to_model, to_spec
from properties.generate import random_model
from properties.test_infinite_horizon import drawn
from umdp import (
    LUI,
    MDP,
    CandidateEvaluation,
    ClopperPearson,
    ConfidenceSequence,
    IntervalMDP,
    Rewards,
    SpecError,
    anytime,
    solve,
)
from umdp.learn.learner import Learner
from umdp.learn.tied import Tied
from umdp.model.tying import Tying
from umdp.solver.proof.prove import prove_learned

Content = dict[str, Any]
LEARNED = (
    'Pmaxmin=? [ F "goal" ]', 'Pminmax=? [ F "goal" ]', 'Pmaxmax=? [ G "safe" ]', 'Rminmax=? [ F "goal" ]',
    "Rmaxmin=? [ C<=3 ]", "Rminmax=? [ Cdiscount=0.9 ]", 'Pmaxmin=? [ "left" U<=4 "goal" ]',
)  # fmt: skip


def _read(certificate: Any) -> Content:
    content: Content = json.loads(certificate.to_json())
    return content


def model_certificates(number: int) -> Iterator[Content]:
    """Yield certificates of a random model, for properties with a goal and for sums over steps."""
    rng = np.random.default_rng([41, number])
    model = to_model(random_model(rng, zero_lower=bool(number % 2), states=(2, 5)))
    for index in rng.permutation(len(OBJECTIVES + BOUNDED))[:8]:
        yield _read(solve(model, to_spec((OBJECTIVES + BOUNDED)[index]), precision=1e-9).certificate())


def sum_certificates(number: int) -> Iterator[Content]:
    """Yield certificates of totals, averages and discounted sums; of two states where nature may cut a transition."""
    for path in ("Cdiscount=0.95", "S", "C", "I=3", '"goal"'):
        zero = number % 2 == 1 and path != "I=3"
        instance = drawn(42, number, signed=path != "C", zero_lower=zero, small=True)
        if zero and len(instance.model.choices) > 2 and path != "Cdiscount=0.95":
            continue
        model = to_model(instance)
        for agent, nature in PLAYERS:
            kind = "S" if path.startswith('"') else "R"
            try:
                yield _read(solve(model, f"{kind}{agent}{nature}=? [ {path} ]").certificate())
            except SpecError:  # an average that rests on what nature may cut has none
                continue


def _truth() -> MDP:
    """Four states: two that are alike, with two choices each, a goal and a trap."""
    rows = [
        [(1, 0.5), (2, 0.3), (3, 0.2)],
        [(0, 0.4), (2, 0.6)],
        [(0, 0.5), (2, 0.3), (3, 0.2)],
        [(1, 0.4), (2, 0.6)],
        [(2, 1.0)],
        [(3, 1.0)],
    ]
    return MDP(
        [0, 2, 4, 5, 6], np.cumsum([0, *map(len, rows)]), [t for row in rows for t, _ in row],
        [p for row in rows for _, p in row],
        labels={"goal": [2], "safe": [0, 1, 2], "left": [0, 1]}, rewards={"r": Rewards(state=[1.0, 2.0, 0.0, 0.5])},
    )  # fmt: skip


def _learned(learner: Learner, truth: MDP, spec: str, number: int, assumptions: tuple[str, ...] = ()) -> Content:
    rng = np.random.default_rng([43, number])
    bound = learner.bind(truth.graph)
    looks = 1 if "Clopper" in repr(learner) else int(rng.integers(1, 4))
    for _ in range(looks):
        rows = zip(truth.choice_ptr[:-1], truth.choice_ptr[1:], strict=True)
        size = int(rng.choice([20, 60, 200]))
        bound = bound.learn(np.concatenate([rng.multinomial(size, truth.probability[a:b]) for a, b in rows]))
    model = IntervalMDP(
        truth.state_ptr,
        truth.choice_ptr,
        truth.successor,
        bound.lower,
        bound.upper,
        labels=truth.labels,
        rewards=truth.rewards,
    )
    return _read(prove_learned(solve(model, spec), bound.ledger(), assumptions))


def _apart(state: str, action: str, successor: str) -> tuple[str, str] | None:
    """Return class and outcome where the states 0 and 1 are alike."""
    if state in ("2", "3"):
        return None
    return ("three" if action == "0" else "two"), ("other" if successor in ("0", "1") else successor)


def learned_certificates(number: int) -> Iterator[Content]:
    """Yield certificates of learned models: by both methods, of single choices and of classes."""
    truth, spec = _truth(), LEARNED[number % len(LEARNED)]
    for learner in (ConfidenceSequence(0.1), ClopperPearson(0.1)):
        yield _learned(learner, truth, spec, number)
        yield _learned(Tied(learner, Tying.of(truth.graph, _apart)), truth, spec, number, ("the walls are as drawn",))
        yield _learned(Tied(learner, Tying.of(_wall().graph, _merged)), _wall(), spec, number)


def _wall() -> MDP:
    """Three outcomes that one state tells apart and the other does not."""
    rows = [[(1, 0.5), (2, 0.3), (3, 0.2)], [(1, 0.5), (2, 0.5)], [(2, 1.0)], [(3, 1.0)]]
    return MDP(
        [0, 1, 2, 3, 4], np.cumsum([0, *map(len, rows)]), [t for row in rows for t, _ in row],
        [p for row in rows for _, p in row],
        labels={"goal": [2], "safe": [0, 1, 2], "left": [0, 1]}, rewards={"r": Rewards(state=[1.0, 2.0, 0.0, 0.5])},
    )  # fmt: skip


def _merged(state: str, action: str, successor: str) -> tuple[str, list[str]] | None:
    if state in ("2", "3"):
        return None
    return "go", {"0": {"1": ["a"], "2": ["b"], "3": ["c"]}, "1": {"1": ["a"], "2": ["b", "c"]}}[state][successor]


def parameter_certificates(number: int) -> Iterator[Content]:
    """Yield certificates of parametric programs."""
    names = list(PROGRAMS)
    make, values = PROGRAMS[names[number % len(names)]]
    program = make()
    *_, last = anytime(
        program.at(values), 'Pmax=? [ F "goal" ]', ConfidenceSequence(0.05), tie=program, trajectories=200, seed=number
    )
    yield _read(last.certificate())


def evidence_certificates(number: int) -> Iterator[Content]:
    """Yield certificates by evidence: of a probability, and of a cost over some steps."""
    truth = _truth()
    spec = ('Pmax=? [ F<=1 "goal" ]', 'Pmin=? [ F<=2 "goal" ]', "Rmax=? [ C<=3 ]")[number % 3]
    more: Any = {"most": 6.0} if spec[0] == "R" else {}
    *_, last = anytime(truth, spec, LUI(), evidence=CandidateEvaluation(0.5, **more), trajectories=800, seed=number)
    if last.promise is not None and last.promise.by == "evidence":
        yield _read(last.certificate())


KINDS: dict[str, tuple[Callable[[int], Iterator[Content]], float]] = {
    "model": (model_certificates, 0.35), "sums": (sum_certificates, 0.25), "learned": (learned_certificates, 0.25),
    "parameters": (parameter_certificates, 0.05), "evidence": (evidence_certificates, 0.1),
}  # fmt: skip
