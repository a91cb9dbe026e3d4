"""The ten claims of the paper, judged by the runs of its experiments.

A claim is read as its authors would read it off their figures, which show means over seeds. It has parts, one per environment
for example, and a number that decides each, with a 95 % interval over seeds; `criterion` says which, the functions how, and the
constants at the top of their modules why. A part is close, and neither holds nor fails, where the interval contains the limit or
the limit is missed by a hair. A claim holds when every part does, fails when more than half of the decided ones do not, holds
partly otherwise, and is not judged when the runs leave more than half of it open, or on less than ten seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from umdp.paper.claims.change import not_without_randomisation, only_lui_returns
from umdp.paper.claims.error import misleading, smallest_error
from umdp.paper.claims.measures import Evidence
from umdp.paper.claims.prices import Price, price_table, prices
from umdp.paper.claims.reach import about_equal, first_to_be_optimal, slowest
from umdp.paper.claims.recovery import dips, only_map_suboptimal
from umdp.paper.claims.strength import strength_hardly_matters
from umdp.paper.claims.verdict import FEWEST, Judged, Ruling, Verdict, unjudged
from umdp.paper.results import Results

__all__ = ["CLAIMS", "Judged", "Price", "Verdict", "judge", "price_table", "prices"]


class Claim(NamedTuple):
    """A claim: in one sentence, the experiment it is about, what judges it, and by what."""

    text: str
    experiment: str
    measure: Callable[[Evidence], Ruling]
    criterion: str


CLAIMS = {
    "C1": Claim(
        "LUI is first to reach an optimal policy in every environment.", "basic", first_to_be_optimal,
        "The mean curve of LUI is the first within 5 % of the optimum, of the four; clearly not where it takes 1.25 times as "
        "many trajectories.",
    ),
    "C2": Claim(
        "LUI and PAC are about equal on chain and grid.", "basic", about_equal,
        "The mean distance between the two mean curves over the logarithmic axis is at most 10 % of the height they span; "
        "clearly not beyond 20 %.",
    ),
    "C3": Claim(
        "LUI has the smallest estimation error.", "basic", smallest_error,
        "In the paper's figure (betting and bandit), the mean absolute error over the logarithmic axis is smallest for LUI among "
        "the learners that end within 5 % of the optimum; clearly not beyond 1.25 times the smallest.",
    ),
    "C4": Claim(
        "UCRL2 is the slowest.", "basic", slowest,
        "The mean gap to the optimum over the logarithmic axis is largest for UCRL2, of the four.",
    ),
    "C5": Claim(
        "On chain LUI and PAC dip near trajectory 5 and recover by about 100; "
        "UCRL2 dips near 10^3 and recovers after 10^5.",
        "basic", dips,
        "The mean of logarithms is worst, at least twice as bad as the prior, within a factor 5 of the paper's trajectory, and "
        "stays within 5 % of the optimum from within a factor 5 of it on; clearly not beyond a factor 10.",
    ),
    "C6": Claim(
        "In the unfavourable betting game only MAP is ever sub-optimal, until almost 10^4.", "basic", only_map_suboptimal,
        "The mean curve of MAP falls 5 % below the optimum (clearly not: 1 %) and is back within a factor 5 of 10^4; those of "
        "LUI, PAC and UCRL2 never fall more than 1 % below it (clearly: 5 %).",
    ),
    "C7": Claim(
        "MAP often has positive estimation error; the interval methods rarely.", "basic", misleading,
        "The mean error is above zero on at least 25 % of the logarithmic axis for MAP (clearly not: 15 %), averaged over "
        "environments, and on at most 10 % for each of the others (clearly more: 15 %).",
    ),
    "C8": Claim(
        "After a change only LUI returns to an optimal policy, the faster the lower the bound.", "change", only_lui_returns,
        "With a bound, LUI returns to within 5 % of the optimum in at least 90 % of the runs after every change (clearly not: "
        "75 %), the others in less than half after any (clearly more: 60 %), and LUI's median time falls with the bound.",
    ),
    "C9": Claim(
        "Prior strength hardly matters on grid.", "strength", strength_hardly_matters,
        "The distance between the best and the worst mean curve, averaged over the logarithmic axis, is at most 10 % of the "
        "optimum; clearly not beyond 20 %.",
    ),
    "C10": Claim(
        "Without randomisation (xi = 1) chain does not recover from a change.", "change", not_without_randomisation,
        "LUI returns in less than 10 % of the runs at xi = 1 (clearly more: 25 %), and in at least 90 % at xi = 0.8 with a bound "
        "(clearly not: 75 %).",
    ),
}  # fmt: skip
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
        runs = evidence.get(claim.experiment)
        if runs is not None and runs.seeds < FEWEST:
            reason = f"needs {FEWEST} seeds; there {'is' if runs.seeds == 1 else 'are'} {runs.seeds}"
            finding = unjudged("too few seeds", reason, runs.seeds)
        elif runs is not None:
            finding = claim.measure(runs)
        else:
            mode = "as published" if published else "by definition"
            finding = unjudged("none", f'the experiment "{claim.experiment}" was not run {mode}')
        judged.append(Judged(key, claim.text, published, criterion=claim.criterion, **finding._asdict()))
    return judged
