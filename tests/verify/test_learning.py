"""The statistical half of certificates: bounds that follow from counts are accepted, all others refused."""

from __future__ import annotations

import contextlib
import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from umdp import ClopperPearson, ConfidenceSequence, Graph, anytime, benchmark, solve
from umdp.errors import FormatError
from umdp.solver.proof.prove import prove_learned
from umdp.statements import Premise
from umdp.verify import verify_content
from umdp.verify.document import digest
from umdp.verify.statistics import lower_end, ruled_out

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    "learner", [ConfidenceSequence(0.05), ConfidenceSequence(0.05, prior=0.9), ClopperPearson(0.05)]
)
def test_ends_agree_with_the_learners(learner: ConfidenceSequence | ClopperPearson) -> None:
    graph = Graph([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2])
    prior = Fraction(getattr(learner, "prior", 0.5))
    for hits, misses in [(1, 0), (0, 5), (1, 1), (3, 7), (50, 2), (900, 100), (7, 99_993), (400_000, 600_000)]:
        learned = learner.bind(graph).learn([hits, misses, 0, 0])
        level = Fraction(learned.level)
        end = Fraction(learned.lower[0])
        assert hits == 0 or ruled_out(end * (1 - Fraction(1, 10**12)), hits, hits + misses, level, learner.name, prior)
        assert not ruled_out(end * (1 + Fraction(1, 10**4)), hits, hits + misses, level, learner.name, prior)
        found = lower_end(hits, hits + misses, level, learner.name, prior, near=end)
        assert abs(float(found) - learned.lower[0]) <= 1e-8 * max(learned.lower[0], 1e-300)
        far = lower_end(hits, hits + misses, level, learner.name, prior, near=Fraction(1, 3))
        assert abs(float(far - found)) <= 1e-12


def learned_content(learner: ConfidenceSequence | ClopperPearson, name: str, samples: int) -> dict:
    mdp, spec = benchmark.load(name).build(), benchmark.load(name).spec
    rng = np.random.default_rng(5)
    bound = learner.bind(mdp.graph)
    for _ in range(3):
        rows = zip(mdp.choice_ptr[:-1], mdp.choice_ptr[1:], strict=True)
        counts = np.concatenate(
            [rng.multinomial(samples, mdp.probability[a:b] / mdp.probability[a:b].sum()) for a, b in rows]
        )
        bound = bound.learn(counts)
    solution = solve(mdp.graph.with_bounds(bound.lower, bound.upper), spec.robust())
    return json.loads(prove_learned(solution, bound.ledger()).to_json())


@pytest.mark.parametrize("learner", [ConfidenceSequence(0.05), ClopperPearson(0.05)])
@pytest.mark.parametrize("name", ["aircraft", "chain", "bandit"])
def test_learned_models_are_certified_and_changed_ones_refused(
    learner: ConfidenceSequence | ClopperPearson, name: str
) -> None:
    content = learned_content(learner, name, 60)
    verdict = verify_content(content)
    assert verdict.valid, verdict.reason
    assert verdict.level == pytest.approx(0.95)
    assert verdict.claim.startswith("with probability at least 0.95")
    spent = np.array(content["learning"]["lower_levels"]) > 0
    often = int(np.argmax(np.array(content["learning"]["lower_hits"]) * spent))

    def refused(change: str, value: object, *where: str | int) -> bool:
        forged = copy.deepcopy(content)
        inside = forged
        for key in where:
            inside = inside[key]
        inside[change] = value
        forged["digest"] = digest(forged)
        return not verify_content(forged).valid

    learning = content["learning"]
    assert refused("level", 0.951, "claim")
    assert refused("lower_levels", [2 * a for a in learning["lower_levels"]], "learning")
    smaller = {f"{side}_levels": [a / 100 for a in learning[f"{side}_levels"]] for side in ("lower", "upper")}
    assert refused("learning", learning | smaller)
    assert refused("lower_levels", [0.0] * len(spent), "learning")
    assert refused(often, learning["lower_hits"][often] // 2, "learning", "lower_hits")
    assert refused(often, learning["lower_hits"][often] + 1000, "learning", "lower_hits")
    assert refused("learning", None)
    assert refused("level", None, "claim")


def test_a_snapshot_has_a_certificate() -> None:
    mdp, spec = benchmark.load("chain").build(), benchmark.load("chain").spec
    *_, snapshot = anytime(mdp, spec, ConfidenceSequence(0.1), trajectories=300)
    verdict = verify_content(json.loads(snapshot.certificate().to_json()))
    assert verdict.valid, verdict.reason
    assert verdict.level == pytest.approx(0.9)


def tied_content(name: str = "grid") -> dict[str, Any]:
    """Return the certificate of a run whose choices are tied."""
    bench = benchmark.load(name)
    mdp = bench.build()
    assert bench.tie is not None
    *_, snapshot = anytime(mdp, bench.spec, ConfidenceSequence(0.1), tie=bench.tie(mdp), trajectories=300)
    content: dict[str, Any] = json.loads(snapshot.certificate().to_json())
    return content


@pytest.mark.parametrize("name", ["grid", "aircraft"])
def test_tied_choices_are_certified_and_changed_ones_refused(name: str) -> None:
    content = tied_content(name)
    verdict = verify_content(content)
    assert verdict.valid, verdict.reason
    assert verdict.level == pytest.approx(0.9)
    assert Premise.CLASSES in {each.premise for each in verdict.assumed}
    assert "; taken on trust: " in verdict.claim
    learning, model = content["learning"], content["model"]

    def forged(**changes: Any) -> bool:
        other = copy.deepcopy(content)
        other["learning"] |= changes
        other["digest"] = digest(other)
        return not verify_content(other).valid

    quiet = copy.deepcopy(content)
    quiet["learning"] |= {"assumptions": [], "assumption_codes": []}
    quiet["digest"] = digest(quiet)
    assert Premise.CLASSES in {each.premise for each in verify_content(quiet).assumed}
    # A condition has the code it was learned with; an older file has none, and its sentences are named all the same.
    assert [each.named for each in verdict.assumed if each.premise is Premise.FILE] == ["classes-alike"]
    older = copy.deepcopy(content)
    del older["learning"]["assumption_codes"]
    older["digest"] = digest(older)
    named = [(each.premise, each.text) for each in verify_content(older).assumed]
    assert named == [(each.premise, each.text) for each in verdict.assumed]
    # A class costs its share once: outcomes of one class that are made two classes are not those of a choice any more.
    assert forged(class_ptr=[0, 1, *learning["class_ptr"][1:]])
    along, lower = learning["transition_outcome"], model["lower"]
    widths = np.diff(learning["transition_ptr"])
    first = next(t for t in range(len(lower)) if widths[t] == widths[t + 1] == 1 and lower[t] > 2 * lower[t + 1] > 0)
    place = learning["transition_ptr"][first]
    swapped = [*along[:place], along[place + 1], along[place], *along[place + 2 :]]
    assert forged(transition_outcome=swapped)
    assert forged(transition_outcome=[*along[:place], along[place + 1], *along[place + 1 :]])
    assert forged(lower_levels=[2 * a for a in learning["lower_levels"]])
    often = int(np.argmax(learning["lower_hits"]))
    assert forged(lower_hits=[n // 2 if o == often else n for o, n in enumerate(learning["lower_hits"])])
    merged = next(t for t in range(len(model["successor"])) if np.diff(learning["transition_ptr"])[t] > 1)
    narrow = copy.deepcopy(content)
    narrow["model"]["lower"][merged] = float(np.nextafter(narrow["model"]["lower"][merged], 1) * 1.001)
    narrow["digest"] = digest(narrow)
    assert not verify_content(narrow).valid


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("class_ptr", None), ("class_ptr", [1, 2]), ("class_ptr", [0, 4, 2]), ("transition_ptr", [0]), ("graph", "guessed"),
        ("transition_outcome", "all"), ("transition_outcome", [10**9]), ("class_ptr", [0, 2**41]),
    ],
)  # fmt: skip
def test_malformed_classes_are_refused(name: str, value: object) -> None:
    content = tied_content("chain")
    content["learning"][name] = value
    content["digest"] = digest(content)
    with contextlib.suppress(FormatError):
        assert not verify_content(content).valid
