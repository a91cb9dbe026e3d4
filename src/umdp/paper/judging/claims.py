"""The ten claims of the paper, judged by the runs of its experiments.

Every claim has parts, one per environment for example, and a measure that decides each; the functions say which, and the
constants at the top of their modules say why. A claim holds when every part does, holds partly when at least half of the
decided parts do, fails when fewer do, and is not judged when the runs leave more than half of it open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from umdp.paper.judging.change import not_without_randomisation, only_lui_returns
from umdp.paper.judging.error import misleading, smallest_error
from umdp.paper.judging.measures import Evidence
from umdp.paper.judging.prices import Price, price_table, prices
from umdp.paper.judging.reach import about_equal, first_to_be_optimal, slowest
from umdp.paper.judging.recovery import dips, only_map_suboptimal
from umdp.paper.judging.strength import strength_hardly_matters
from umdp.paper.judging.verdict import Judged, Ruling, Verdict
from umdp.paper.results import Results

__all__ = ["CLAIMS", "Judged", "Price", "Verdict", "judge", "price_table", "prices"]


class Claim(NamedTuple):
    """A claim: in one sentence, the experiment it is about, and what judges it."""

    text: str
    experiment: str
    measure: Callable[[Evidence], Ruling]


CLAIMS = {
    "C1": Claim("LUI is first to reach an optimal policy in every environment.", "basic", first_to_be_optimal),
    "C2": Claim("LUI and PAC are about equal on chain and grid.", "basic", about_equal),
    "C3": Claim("LUI has the smallest estimation error.", "basic", smallest_error),
    "C4": Claim("UCRL2 is the slowest.", "basic", slowest),
    "C5": Claim(
        "On chain LUI and PAC dip near trajectory 5 and recover by about 100; "
        "UCRL2 dips near 10^3 and recovers after 10^5.",
        "basic",
        dips,
    ),
    "C6": Claim(
        "In the unfavourable betting game only MAP is ever sub-optimal, until almost 10^4.",
        "basic",
        only_map_suboptimal,
    ),
    "C7": Claim("MAP often has positive estimation error; the interval methods rarely.", "basic", misleading),
    "C8": Claim(
        "After a change only LUI returns to an optimal policy, the faster the lower the bound.",
        "change",
        only_lui_returns,
    ),
    "C9": Claim("Prior strength hardly matters on grid.", "strength", strength_hardly_matters),
    "C10": Claim(
        "Without randomisation (xi = 1) chain does not recover from a change.", "change", not_without_randomisation
    ),
}
"""By key, in order."""


def judge(results: Sequence[Results], published: bool) -> list[Judged]:
    """Return the ten claims, in order, each with a verdict and its number.

    Parameters
    ----------
    results : the experiments that were run; looked at are "basic", "strength" and "change"
    published : whether to judge runs by the rules of the published code, or those by the paper's definitions

    Examples
    --------
    >>> [judged.verdict for judged in judge([], published=False)] == ["not judged"] * 10
    True
    >>> judge([], published=False)[8].detail
    'Not judged: the experiment "strength" was not run by definition.'
    """
    evidence: dict[str, Evidence] = {}
    for found in results:
        if found.published == published and found.outcomes and not found.own:
            evidence.setdefault(found.name, Evidence(found))
    judged = []
    for key, claim in CLAIMS.items():
        if claim.experiment in evidence:
            finding = claim.measure(evidence[claim.experiment])
        else:
            mode = "as published" if published else "by definition"
            reason = f'Not judged: the experiment "{claim.experiment}" was not run {mode}.'
            finding = Ruling("not judged", "none", reason)
        judged.append(Judged(key, claim.text, published, *finding))
    return judged
