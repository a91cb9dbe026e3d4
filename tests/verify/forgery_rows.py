"""The forger's table: a name for every row, and in the order of the file's fields what is set to what."""

from __future__ import annotations

from typing import Any

from umdp.statements import Code, Premise, Refusal, say
from verify import forgeries as f
from verify.forgeries import HUGE, Content, Row, put

__all__ = ["ROWS"]


def _deep(content: Content) -> None:
    inside: Any = []
    for _ in range(100_000):
        inside = [inside]
    content["more"] = inside


def _add(name: str, *path: Any) -> Any:
    """Return the change that makes a number larger by so much."""
    *where, by = path

    def change(content: Content) -> None:
        inside: Any = content
        for key in (name, *where[:-1]):
            inside = inside[key]
        inside[where[-1]] += by

    return change


def _all(*changes: Any) -> Any:
    def change(content: Content) -> None:
        for each in changes:
            each(content)

    return change


def _claim(lower: float) -> Any:
    return _all(put("claim", "lower", to=lower), put("claim", "upper", to=1.0))


def _narrow(content: Content) -> None:
    """Narrow the model's bounds, and claim nothing where nature would show it."""
    content["model"]["lower"][1] += 0.02
    content.pop("upper")
    content["claim"]["upper"] = 1.0


def _narrow_class(content: Content) -> None:
    content["learning"]["own_lower"][0] += 0.02


def _free(content: Content) -> None:
    """Bound a choice on which no level is spent."""
    for side in ("lower", "upper"):
        content["learning"][f"{side}_levels"][:3] = [0.0] * 3


def _two_times(content: Content) -> None:
    """Take the ends of a choice of two from counts that do not mirror each other."""
    content["learning"]["lower_hits"][3] += 20


def _fixed_times(content: Content) -> None:
    """Take the upper ends of a fixed number of samples from a larger number."""
    given = content["learning"]
    given["upper_samples"] = [2 * n for n in given["upper_samples"]]
    given["upper_hits"] = [2 * n for n in given["upper_hits"]]


def _many(content: Content) -> None:
    """Say that there were 2^52 samples: some 2^30 terms of a binomial tail matter."""
    given = content["learning"]
    for side in ("lower", "upper"):
        for own in ((0, 1, 2), (3, 4), (5, 6, 7), (8, 9)):
            for t in own:
                given[f"{side}_samples"][t] = 1 << 52
                given[f"{side}_hits"][t] = (1 << 52) // len(own) + (t == own[0]) * ((1 << 52) % len(own))


def _events_apart(content: Content) -> None:
    """Say of two outcomes of a class that each happens nearly always."""
    given = content["learning"]
    for e in (1, 2):
        for side in ("lower", "upper"):
            given[f"{side}_hits"][2 * e : 2 * e + 2], given[f"{side}_samples"][2 * e : 2 * e + 2] = (
                [9900, 100],
                [10_000, 10_000],
            )
        given["own_lower"][2 * e : 2 * e + 2], given["own_upper"][2 * e : 2 * e + 2] = [0.97, 0.0], [1.0, 0.03]


def _events(pointer: list[int], outcomes: list[int]) -> Any:
    return _all(put("learning", "event_ptr", to=pointer), put("learning", "event_outcome", to=outcomes))


def _said(sentence: str, code: str = "other") -> Any:
    return _all(put("learning", "assumptions", to=[sentence]), put("learning", "assumption_codes", to=[code]))


def _other_mixture(content: Content) -> None:
    """Choose a mixture that suits the plays."""
    content["evidence"]["mixture"] = [[1.0, 0.5, 0.5]]
    content["claim"]["bound"] += 0.05


def _box(content: Content) -> None:
    given = content["learning"]
    given["box_lower"][0] += 0.05 * (given["box_upper"][0] - given["box_lower"][0])


ROWS: dict[str, Row] = {
    # the file
    "format": Row("reach", put("format", to="certificate"), "is not a certificate"),
    "version": Row("reach", put("version", to=True), "is a certificate of version"),
    "version-of-plays": Row("plays", put("version", to=True), "is a certificate of version"),
    "digest": Row("reach", put("claim", "lower", to=0.0), refused={Refusal.CHANGED}),
    "nested-lists": Row("reach", _deep, "JSON"),
    "long-integer": Row("reach", put("more", to=10**5000), "JSON"),
    "unknown-field": Row("reach", _all(put("proved", to=True), _claim(0.9)), refused={Refusal.UNPROVED}),
    # the property
    "property-players": Row(
        "reach", put("property", to='Pminmax=? [ F "goal" ]'), refused={Refusal.DECIDED, Refusal.VALUE, Refusal.UNPROVED},
    ),
    "property-filter": Row("reach", put("property", to='filter(max, Pmaxmin=? [ F "goal" ])'), "initial state"),
    "property-automaton": Row("reach", put("property", to='Pmaxmin=? [ G F "goal" ]'), "automaton"),
    "property-label": Row("reach", put("property", to='Pmaxmin=? [ F "nowhere" ]'), "nowhere"),
    "property-long": Row("reach", put("property", to=" " * 30_000 + 'Pmaxmin=? [ F "goal" ]'), "characters"),
    "property-steps": Row(
        "bounded", put("property", to='Pmaxmin=? [ F<=99999999999999 "goal" ]'), refused={Refusal.POLICY_LENGTH},
    ),
    "formulas-double": Row("reach", f.formulas, "once they are expanded"),
    "formulas-cycle": Row("reach", put("model", "formulas", to={"a": "b", "b": "a"}), "defined by itself"),
    "constants-huge": Row("reach", put("model", "constants", to={"k": HUGE}), "constants"),
    "variables-infinite": Row("reach", put("model", "variables", to={"x": [1e999, 0.0, 0.0]}), "variable"),
    # the model
    "successor-outside": Row("reach", put("model", "successor", 0, to=3), "successor"),
    "pointers-fall": Row("reach", put("model", "state_ptr", to=[0, 2, 2, 4]), "state_ptr"),
    "pointers-huge": Row("reach", put("model", "choice_ptr", to=[0, 1 << 40]), "choice_ptr"),
    "bounds-cross": Row("reach", put("model", "lower", 0, to=0.9), "no distribution"),
    "bounds-sum": Row("reach", put("model", "upper", 0, to=0.1), "no distribution"),
    "bounds-huge": Row("reach", put("model", "lower", 0, to=HUGE), "not a number"),
    "edge-without-room": Row("reach", f.no_room, refused={Refusal.DECIDED}),
    "initial-outside": Row("reach", put("model", "initial", to=3), "initial"),
    "label-outside": Row("reach", put("model", "labels", "goal", to=[7]), "label"),
    "reward-negative": Row("reward", put("model", "reward", "state", 0, to=-1.0), "at least 0"),
    "reward-huge": Row("reward", put("model", "reward", "state", 0, to=HUGE), "at least 0"),
    # the claim
    "claim-lower": Row("reach", _claim(0.5), refused={Refusal.UNPROVED}),
    "claim-upper": Row("reach", put("claim", "upper", to=0.1), refused={Refusal.CROSSED, Refusal.UNPROVED}),
    "claim-crossed": Row("reach", _all(put("claim", "lower", to=0.9), put("claim", "upper", to=0.8)), refused={Refusal.CROSSED}),
    "claim-huge": Row("reach", put("claim", "upper", to=HUGE), "claim, upper"),
    "claim-level": Row("reach", put("claim", "level", to=0.99), refused={Refusal.NO_COUNTS}),
    "claim-policy": Row("reach", put("policy", to=None), refused={Refusal.NEEDS_POLICY}),
    "claim-bounded": Row("bounded", _add("claim", "lower", 1e-9), refused={Refusal.CROSSED, Refusal.NOT_INDUCED}),
    "claim-discounted": Row("discounted", _add("claim", "lower", 1.0), refused={Refusal.CROSSED, Refusal.UNPROVED}),
    # the policy
    "policy-other-state": Row("reach", put("policy", 0, to=3), "not one of its own"),
    "policy-worse": Row("reach", put("policy", 0, to=1), refused={Refusal.RANK, Refusal.VALUE}),
    "policy-by-steps": Row("reach", put("policy", to=[[0, 2, 3]]), refused={Refusal.POLICY_BY_STEP}),
    "policy-short": Row("bounded", put("policy", to=[[0, 2, 3]]), refused={Refusal.POLICY_LENGTH}),
    # the proof
    "value-raised": Row("reach", put("lower", "value", 0, to=0.9), refused={Refusal.VALUE}),
    "value-above-one": Row("reach", put("lower", "value", 0, to=2.0), refused={Refusal.ABOVE_ONE}),
    "value-decided": Row("reach", put("lower", "value", 2, to=0.5), refused={Refusal.DECIDED}),
    "value-lowered": Row("reach", put("upper", "value", 0, to=0.1), refused={Refusal.VALUE}),
    "value-exponent": Row("reach", put("lower", "value", 0, to="1p-99999999"), "is not a number"),
    "value-digits": Row("reach", put("lower", "value", 0, to="1" * 50_000), "is not a number"),
    "rank-equal": Row("reach", _all(put("policy", 0, to=1), put("lower", "rank", to=[0, 0, 0])), refused={Refusal.RANK}),
    "trap-missing": Row("reward", put("lower", "value", 0, to="inf"), refused={Refusal.NO_TRAP, Refusal.DECIDED}),
    "total-lowered": Row("total", put("upper", "value", 0, to=0.0), refused={Refusal.VALUE}),
    "total-cut": Row("total", f.cut(True), refused={Refusal.VALUE, Refusal.CUT}),
    "gain-missing": Row("average", put("lower", to={"value": [0.0, 0.0]}), refused={Refusal.NO_GAIN}),
    "gain-raised": Row("average", _all(put("lower", "gain", to=[0.9, 0.9])), refused={Refusal.GAIN_AND_VALUE}),
    "average-cut": Row("average", f.cut(False), refused={Refusal.CUT}),
    # what was learned
    "level-raised": Row("sequence", put("claim", "level", to=0.95), refused={Refusal.OVERSPENT}),
    "level-without-counts": Row("sequence", put("learning", to=None), refused={Refusal.NO_COUNTS}),
    "counts-without-level": Row("sequence", put("claim", "level", to=None), refused={Refusal.NO_LEVEL}),
    "method-unknown": Row("sequence", put("learning", "method", to="hoeffding"), "methods"),
    "graph-unknown": Row("sequence", put("learning", "graph", to="observed"), "methods"),
    "prior-zero": Row("sequence", put("learning", "prior", to=0.0), "prior"),
    "levels-zero": Row("sequence", _free, refused={Refusal.UNSPENT}),
    "levels-pair": Row("fixed", f.halves, refused={Refusal.OVERSPENT}),
    "bound-narrow": Row("sequence", _narrow, refused={Refusal.NOT_CARRIED}),
    "hits-too-many": Row("sequence", put("learning", "lower_hits", 0, to=10**6), refused={Refusal.HITS}),
    "hits-nowhere": Row("sequence", f.counts([1000] * 3, [10_000] * 3), refused={Refusal.NO_SEQUENCE}),
    "hits-one-later": Row("sequence", f.counts([1000] * 3, [10_000, 10_001, 10_002]), refused={Refusal.NO_SEQUENCE}),
    "hits-mirrored": Row("sequence", _two_times, refused={Refusal.NO_SEQUENCE}),
    "samples-two-times": Row("fixed", _fixed_times, refused={Refusal.SEVERAL_SIZES}),
    "samples-2-52": Row("fixed", _many, "not summed"),
    "samples-2-60": Row("fixed", put("learning", "lower_samples", 0, to=1 << 60), "counts"),
    "assumptions-same-words": Row("tied", _said(str(say(Premise.CLASSES))), names=Premise.CLASSES),
    "assumptions-control": Row("sequence", _said('\x1b[2J"all\u202e is well"\n'), r"^[^\x00-\x1f\u202e]*$", Premise.FILE),
    "assumptions-same-code": Row("tied", _said("all is well", Code.TIED), names=Premise.CLASSES),
    "assumptions-unknown-code": Row("sequence", _said("all is well", "proved"), "all is well", Premise.FILE),
    "assumptions-fewer-codes": Row("sequence", put("learning", "assumption_codes", to=["proved"] * 9), "assumption_codes"),
    "assumptions-no-codes": Row("sequence", put("learning", "assumption_codes", to=[["proved"]]), "assumption_codes"),
    "assumptions-many": Row("sequence", put("learning", "assumptions", to=["so be it"] * 10**5), "sentences"),
    # classes, events, parameters
    "class-pointer-huge": Row("tied", put("learning", "class_ptr", to=[0, 1 << 40]), "class_ptr"),
    "class-nobody-has": Row("parameters", f.loose_class, refused={Refusal.UNUSED_CLASS}),
    "class-of-one": Row("parameters", f.only_outcome, refused={Refusal.NOT_A_SUM}),
    "class-mixed": Row("tied", put("learning", "transition_outcome", 0, to=4), refused={Refusal.MIXED_CLASSES}),
    "class-outcome-twice": Row("tied", put("learning", "transition_outcome", 0, to=1), refused={Refusal.NOT_ITS_CLASS}),
    "class-too-large": Row("tied", f.mass, "too large"),
    "event-always": Row("events", _events([0, 3, 4, 5], [0, 1, 2, 1, 2]), refused={Refusal.SURE_EVENT}),
    "event-two-classes": Row("events", _events([0, 2, 3, 4], [0, 3, 1, 2]), refused={Refusal.NO_EVENT}),
    "events-contradict": Row("events", _events_apart, refused={Refusal.NO_DISTRIBUTION}),
    "event-narrow": Row("events", _narrow_class, refused={Refusal.NOT_CARRIED}),
    "box-narrow": Row("parameters", _box, refused={Refusal.BOX}),
    "box-believed": Row("parameters", _all(put("learning", "prior_lower", 0, to=0.05)), "0.05", Premise.PRIOR_BOX),
    "functions-sum": Row(
        "parameters", put("learning", "functions", 1, to=[[["1/2", [1]]], [["1", [0]]]]), refused={Refusal.NOT_A_SUM},
    ),
    "function-exponent": Row("parameters", put("learning", "functions", 1, 0, 0, 0, to="1e999999999"), "coefficient"),
    "function-degrees": Row("parameters", f.degrees, "degrees"),
    "functions-busy": Row("parameters", f.busy, "too large to check"),
    "parameter-control": Row("parameters", put("learning", "parameters", to=["p\x1b[2J"]), r"p\?\[2J", Premise.PRIOR_BOX),
    "parameters-huge": Row("parameters", put("learning", "box_upper", to=[HUGE]), "box"),
    # plays
    "plays-bound": Row("plays", put("claim", "bound", to=0.0), refused={Refusal.PLAYED_BOUND}),
    "plays-level": Row("plays", put("claim", "level", to=0.9999), refused={Refusal.PLAYED_LEVEL}),
    "plays-spent": Row("plays", put("evidence", "spent", to=[0.5]), "all together|rank"),
    "plays-rank": Row("plays", put("evidence", "rank", to=10**6), "rank"),
    "plays-hits": Row("plays", put("evidence", "hits", to=1e9), refused={Refusal.PLAYED_HITS}),
    "plays-huge": Row("plays", put("evidence", "plays", to=HUGE), "plays"),
    "plays-mixture": Row("plays", put("evidence", "mixture", to=[[2.0, 0.5, 0.5]]), refused={Refusal.MIXTURE}),
    "plays-mixture-later": Row("plays", _other_mixture, names=Premise.CANDIDATES),
    "plays-most": Row("plays", put("evidence", "most", to=2.0), refused={Refusal.MOST}),
    "plays-most-earned": Row("earnings", lambda _: None, "6.0", Premise.RANGE),
    "plays-label": Row("plays", put("property", to='Pmin=? [ F "nowhere" ]'), "nowhere"),
    "plays-policy": Row("plays", put("policy", 0, 0, to=10_000), refused={Refusal.POLICY_CHOICE}),
    "plays-counted": Row("plays", put("model", "labels", to={"goal": []}), names=Premise.COUNTED),
}  # fmt: skip
