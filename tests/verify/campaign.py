"""Many forged certificates of every kind: what became of each, and whether a false one was accepted."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np

from umdp.errors import UmdpError
from umdp.statements import Premise
from umdp.verify import Verdict, verify_content
from verify.carried import carried, played
from verify.forger import forged
from verify.originals import KINDS, Content
from verify.truth import claim_holds

Found = Counter[tuple[str, str]]
ROUND = 12  # forgeries of one original


def campaign(count: int, seed: int, fooled: list[dict[str, Any]] | None = None) -> Found:
    """Forge so many certificates, count what became of them by kind, and collect those that fooled the checker."""
    found: Found = Counter()
    for kind, (make, share) in KINDS.items():
        rng = np.random.default_rng([51, seed, *kind.encode()])
        left, number = round(count * share), 1000 * seed
        while left > 0:
            for original in make(number):
                assert verify_content(original).valid, (kind, number)
                found[kind, "originals"] += 1
                for _ in range(min(ROUND, left)):
                    left -= 1
                    content, changes = forged(original, rng)
                    what = outcome(content)
                    found[kind, what] += 1
                    if what.startswith("FOOLED") and fooled is not None:
                        fooled.append(
                            {"kind": kind, "number": number, "changes": changes, "what": what, "content": content}
                        )
            number += 1
    return found


def outcome(content: Content) -> str:
    """Return what became of a forged certificate: refused, still true, or FOOLED."""
    try:
        verdict = verify_content(json.loads(json.dumps(content)))
    except UmdpError:
        return "malformed"
    if not verdict.valid:
        return "refused"
    if not _named(content, verdict):
        return "FOOLED: trust that is not named"
    try:
        if "evidence" in content:
            return "still true" if played(content) else "FOOLED: counts"
        if not claim_holds(content):
            return "FOOLED: claim"
        return "still true" if "learning" not in content or carried(content) else "FOOLED: counts"
    except ValueError:
        return "undecided"


def _named(content: Content, verdict: Verdict) -> bool:
    """Whether everything that this certificate takes on trust is in the verdict, with the numbers that it is about."""
    named = {each.premise: each.text for each in verdict.assumed}
    needed: set[Premise] = set()
    if "evidence" in content:
        needed = {Premise.PLAYS, Premise.COUNTED, Premise.CANDIDATES} | (
            {Premise.RANGE} if content["property"][0] == "R" else set()
        )
    elif "learning" in content:
        given = content["learning"]
        needed = {Premise.PROCESS, Premise.SAMPLES, Premise.FIXED_BEFORE}
        needed |= {Premise.FIXED_SIZE} if given["method"] == "clopper-pearson" else set()
        needed |= {Premise.CLASSES} if "class_ptr" in given else set()
        if "parameters" in given:
            needed |= {Premise.FUNCTIONS, Premise.PRIOR_BOX}
            ends = (*given["prior_lower"], *given["prior_upper"])
            if not all(repr(float(end)) in named.get(Premise.PRIOR_BOX, "") for end in ends):
                return False
    return needed <= set(named) and all(text in verdict.claim for text in named.values())
