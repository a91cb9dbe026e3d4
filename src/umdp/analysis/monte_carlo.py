"""Direct evidence: what playing a policy proves of it, whenever one stops."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from umdp.analysis.episode_account import Account, Played, account_of
from umdp.analysis.simulation import play_some, prepared
from umdp.errors import ModelError
from umdp.learn import ConfidenceSequence
from umdp.learning.candidates.scheduler import ALIKE
from umdp.learning.validation import check_numbers, threshold
from umdp.model import MDP, Policy
from umdp.source.random_streams import EpisodeSeeds, RandomStream
from umdp.spec import Instantaneous, Spec, Threshold
from umdp.statements.guarantee import Guarantee
from umdp.statements.text import nouns, safe_bound

if TYPE_CHECKING:
    from umdp.io.decisions import Fitted

__all__ = ["MonteCarloBound", "certify", "certify_fitted"]

FIRST = 100  # episodes before the first look; each look comes after twice as many as the one before


@dataclass(frozen=True)
class MonteCarloBound:
    """What a policy has shown when it was played.

    Attributes
    ----------
    episodes, steps : how many, in all
    quantity : "probability", or "reward": what the model's reward structure adds up to
    mean : what was measured; episodes that ended before the property was decided count as the worst
    bound : what is promised of the policy: that its value is at least, or at most, this
    at_least : which of the two
    guarantee : how sure that is, and on which conditions
    cut : episodes that ended, or were cut off, before the property was decided
    looks : (episodes, bound) after which the bound was looked at

    Examples
    --------
    >>> sure, looks = Guarantee("any-time", 0.95), ((10_000, 0.3371),)
    >>> print(MonteCarloBound(10_000, 40_000, "probability", 0.35, 0.3371, True, sure, 0, looks))
    promised  at least 0.3371, with probability 95 %, whenever you stop
    measured  0.3500 in 10,000 episodes of 4.0 steps
    """

    episodes: int
    steps: int
    quantity: Literal["probability", "reward"]
    mean: float
    bound: float
    at_least: bool
    guarantee: Guarantee
    cut: int
    looks: tuple[tuple[int, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        return {
            "episodes": self.episodes, "steps": self.steps, "quantity": self.quantity, "mean": self.mean,
            "bound": self.bound, "side": "at least" if self.at_least else "at most", "cut": self.cut,
            "guarantee": self.guarantee.as_dict(),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """Return what was shown in lines."""
        safe = safe_bound(self.bound, 4, at_least=self.at_least)
        said = [f"promised  {'at least' if self.at_least else 'at most'} {safe:.4f}, {self.guarantee}"]
        played = (
            f"{self.episodes:,} {nouns(self.episodes, 'episode')} of {self.steps / max(self.episodes, 1):.1f} steps"
        )
        said.append(f"measured  {self.mean:.4f} in {played}")
        if self.cut:
            said.append(f"          {self.cut:,} ended before the property was decided, and count as the worst")
        return said

    def __str__(self) -> str:
        return "\n".join(self.lines())


def certify(
    policy: Policy,
    process: Any,
    spec: Spec | str,
    *,
    error_rate: float = 0.05,
    episodes: int = 10_000,
    until: Threshold | str | None = None,
    seconds: float | None = None,
    most: float | None = None,
    seed: int = 0,
    horizon: int | None = None,
) -> MonteCarloBound:
    r"""Play a policy, and return a bound on its value that holds whenever one stops.

    Nothing but the episodes is used: neither intervals nor a graph, nor how the policy was found. The bound comes from a
    confidence sequence (a Beta mixture, as `ConfidenceSequence`) for the mean of numbers in [0, 1]: of an episode, 1 if the
    property holds, or what it earned divided by `most`. That it holds for numbers in between, too, is convexity: the likelihood
    ratio :math:`(q/p)^x ((1-q)/(1-p))^{1-x}` is convex in x, so that its mean is at most that of the coin with the same mean, 1.

    The policy must have been fixed before these episodes: of several policies of which the best is taken, each must be tested at
    its share of the error rate.

    Parameters
    ----------
    policy : Policy
    process : MDP, environment or Source
        Where to play, as for `simulate`.
    spec : Spec or str
        What is asked for: a probability, or an expected reward.
    error_rate : float
        The probability with which the bound may ever be wrong.
    episodes : int
        How many at most.
    until : Threshold or str, optional
        Stop when this is promised, such as ``">=0.3"``.
    seconds : float, optional
        Stop after so long.
    most : float, optional
        The most that an episode can earn, for an expected reward: without it one that was never seen might earn anything.
    seed, horizon : int
        As for `simulate`.

    Examples
    --------
    >>> from umdp import solve
    >>> coin = MDP([0, 1, 2, 3], [0, 2, 3, 4], [1, 2, 1, 2], [0.5, 0.5, 1, 1], labels={"heads": [1]})
    >>> question = 'Pmax=? [ F "heads" ]'
    >>> found = certify(solve(coin, question).policy, coin, question)
    >>> 0.46 < found.bound < 0.5, found.guarantee.level, found.at_least
    (True, 0.95, True)
    """
    return certify_fitted(
        *prepared(policy, process, spec), error_rate=error_rate, episodes=episodes, until=until, seconds=seconds, most=most,
        seed=seed, horizon=horizon,
    )  # fmt: skip


def certify_fitted(
    found: Fitted,
    process: Any,
    asked: Spec,
    *,
    error_rate: float,
    episodes: int,
    until: Threshold | str | None,
    seconds: float | None,
    most: float | None,
    seed: int,
    horizon: int | None,
) -> MonteCarloBound:
    """Return what playing a policy for the graph of a process proves; see `certify`."""
    check_numbers(seed=seed, horizon=horizon)
    if asked.aim not in ("reach", "bounded") or isinstance(asked.formula, Instantaneous):
        raise asked.error(
            "what has no end, or counts at one time only, is not certified by episodes",
            "evaluate the policy on the model (umdp.evaluate), or ask for a number of steps, C<=100",
        )
    account = account_of(process if isinstance(process, MDP) else found.policy.graph, asked)
    top = _top(account, most, asked)
    if episodes < 1:
        raise ModelError(f"at least 1 episode is needed, not {episodes}")
    sequence = ConfidenceSequence(error_rate)
    wanted = threshold(until) if isinstance(until, str) else until
    at_least, deadline = account.maximises, time.monotonic() + (math.inf if seconds is None else seconds)
    total, steps, cut, done = 0.0, 0, 0, 0
    bound = 0.0 if at_least else top
    looks: list[tuple[int, float]] = []
    seeds = EpisodeSeeds(seed, RandomStream.CERTIFY_EPISODES)
    while done < episodes:
        size = min(max(done, FIRST), episodes - done)
        own = int(np.random.SeedSequence([seed, done]).generate_state(1, np.uint64)[0] >> 1)
        # In an environment no two of all episodes begin alike.
        starts = None if isinstance(process, MDP) else [seeds[number] for number in range(done, done + size)]
        played = play_some(found, process, account, size, own, horizon, starts=starts)
        shares = _shares(played, account, top)
        total, steps, cut, done = total + float(shares.sum()), steps + played.steps, cut + played.cut, done + size
        end = _end(sequence, total if at_least else done - total, done)
        now = math.nextafter(top * end, 0.0) if at_least else math.nextafter(top * (1.0 - end), math.inf)
        bound = max(bound, now) if at_least else min(bound, now)  # each was proved
        looks.append((done, bound))
        if time.monotonic() >= deadline:
            break
        if wanted is not None and wanted.holds(*((bound, math.inf) if at_least else (-math.inf, bound))):
            break
    conditions = () if isinstance(process, MDP) else (ALIKE,)
    guarantee = Guarantee("any-time", 1 - error_rate, conditions)
    quantity: Literal["probability", "reward"] = "probability" if account.paid is None else "reward"
    return MonteCarloBound(done, steps, quantity, top * total / done, bound, at_least, guarantee, cut, tuple(looks))


def _top(account: Account, most: float | None, asked: Spec) -> float:
    """Return the most that an episode counts for; `ModelError` where nobody knows."""
    if account.paid is None:
        if most is not None:
            raise ModelError("most is for an expected reward; a probability is at most 1 anyway")
        return 1.0
    if account.units is not None and (account.returned(0.0), account.returned(1.0)) != (0.0, 1.0):
        raise ModelError(
            "returns of both signs cannot be certified by episodes here; ask for a probability, such as that of reaching a goal"
        )
    if most is None:
        raise ModelError(
            f"{asked} has no bound that episodes alone can prove: one that was never seen may {_earns(account)} anything. Say "
            "the most that an episode can: most (--most)"
        )
    if not (isinstance(most, int | float) and 0 < most < math.inf):
        raise ModelError(f"most is what an episode {_earns(account)}s at most, a number above 0, not {most}")
    return float(most)


def _earns(account: Account) -> str:
    return "earn" if account.maximises else "cost"


def _shares(played: Played, account: Account, top: float) -> NDArray[np.float64]:
    """Return what episodes count for, in [0, 1]; the worst where that was not decided, or the policy had nothing to say."""
    worst = 0.0 if account.maximises else 1.0
    least, largest = float(played.values.min()), float(played.values.max())
    if least < 0.0:
        raise ModelError(
            f"an episode {_earns(account)}s {least:g}, less than nothing, of which no bound is proved here"
        )
    if not account.maximises and largest > top:
        raise ModelError(f"an episode cost {largest:g}, more than the most that was said, {top:g}")
    return np.where(played.undecided | played.strange, worst, np.minimum(played.values / top, 1.0))


def _end(sequence: Any, hits: float, episodes: int) -> float:
    """Return the lower end of the interval of a mean, after episodes with so many hits in all."""
    found = sequence.ends(np.array([hits]), np.array([episodes - hits]), sequence.error_rate)
    return float(found[0])
