"""Confidence bounds, checked with rounding on the safe side: decimal arithmetic, whose logarithms are correctly rounded.

No end of an interval is computed to be believed. For a probability p below the share k/n that was seen, the question is whether
the data rule it out: then the lower end of the interval lies above p.

- *Confidence sequence* (Beta(b, b) mixture): p is ruled out at level a if
  ``k log p + (n-k) log(1-p) < log B(b+k, b+n-k) - log B(b, b) + log a``.
- *Clopper-Pearson*: p is ruled out at level a if k or more hits in n have probability at most a/2 under p.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from umdp.verify.work import Work

__all__ = ["all_counts", "lower_end", "mixture_rules_out", "ruled_out"]

DIGITS = 60
CONTEXT = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
SLIP = Decimal(10) ** -30  # what rounding may amount to, per sample: there are thirty digits more
BERNOULLI = [
    Fraction(*pair) for pair in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))
]
TERMS = 50_000  # of a binomial tail that are summed
WORK, CALL = 2 * 10**8, 300  # terms that are summed in all; what one question costs at least


def _decimal(value: Fraction, rounding: str) -> Decimal:
    context = Context(prec=DIGITS, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


@lru_cache(maxsize=100_000)
def log_gamma(x: Fraction) -> Decimal:
    """Return log Gamma(x) for x > 0, to about 40 digits: Stirling's series, whose terms enclose the value.

    Examples
    --------
    >>> round(log_gamma(Fraction(5)).exp(), 20)
    Decimal('24.00000000000000000000')
    """
    with localcontext(CONTEXT):
        shift, below = x, Decimal(1)
        while shift < 400:
            below *= _decimal(shift, ROUND_FLOOR)
            shift += 1
        at = _decimal(shift, ROUND_FLOOR)
        two_pi = 2 * Decimal(
            "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
        )
        total = (at - Decimal("0.5")) * at.ln() - at + two_pi.ln() / 2
        for i, number in enumerate(BERNOULLI, 1):
            total += _decimal(number / (2 * i * (2 * i - 1)), ROUND_FLOOR) / at ** (2 * i - 1)
        return total - below.ln()


def _log_mixture(a: Fraction, b: Fraction, hits: Fraction | int, misses: Fraction | int) -> Decimal:
    """Return log B(a + hits, b + misses) - log B(a, b)."""
    found = log_gamma(a + hits) + log_gamma(b + misses) - log_gamma(a + b + hits + misses)
    return found - (log_gamma(a) + log_gamma(b) - log_gamma(a + b))


def all_counts() -> Work:
    """Return the work that all counts of a certificate together may take."""
    return Work(WORK, "learning, counts: there are too many to check")


def ruled_out(
    p: Fraction, hits: int, samples: int, level: Fraction, method: str, prior: Fraction, work: Work | None = None
) -> bool:
    """Whether so many hits exclude the probability p (and all below) at a level; False where that is not certain."""
    work = work or all_counts()
    work.spend(CALL)
    if hits == 0 or p * samples >= hits:
        return p < 0
    if p <= 0:
        return True
    with localcontext(CONTEXT):
        x = _decimal(p, ROUND_CEILING)
        rest = _decimal(1 - p, ROUND_CEILING)
        log_level = _decimal(level, ROUND_FLOOR).ln()
        misses = samples - hits
        slip = SLIP * (samples + 10)
        if method == "confidence-sequence":
            return bool(
                hits * x.ln() + misses * rest.ln() + slip < _log_mixture(prior, prior, hits, misses) + log_level
            )
        if method != "clopper-pearson":
            return False
        choose = log_gamma(Fraction(samples + 1)) - log_gamma(Fraction(hits + 1)) - log_gamma(Fraction(misses + 1))
        first = choose + hits * x.ln() + misses * rest.ln()
        # Later terms shrink at least as fast as the next one does: sum some, and bound the rest by a geometric series.
        total = term = Decimal(1)
        odds = x / rest
        for j in range(hits, samples):
            ratio = odds * (samples - j) / (j + 1)
            term *= ratio
            if ratio < 1 and (term * ratio < (1 - ratio) * total * SLIP or j - hits > TERMS):
                total += term / (1 - ratio)
                break
            total += term
            if j - hits > TERMS:
                return False
        work.spend(min(TERMS, samples - hits))
        return bool(first + total.ln() + slip < log_level - Decimal(2).ln())


def lower_end(
    hits: int,
    samples: int,
    level: Fraction,
    method: str,
    prior: Fraction,
    *,
    near: Fraction,
    work: Work | None = None,
) -> Fraction:
    """Return a number that is certainly no more than the lower end of the interval, and close to it.

    The search starts at `near`, where the end is expected.
    """
    if hits == 0:
        return Fraction(0)

    def out(p: Fraction) -> bool:
        return ruled_out(p, hits, samples, level, method, prior, work)

    low, high = Fraction(0), Fraction(hits, samples)
    step = min(near, high) / 2**30
    if 0 < near < high and out(near):
        low = near
        while low + step < high and out(low + step):
            low, step = low + step, 4 * step
        high = min(low + step, high)
    elif 0 < near < high:
        high = near
        while high > step and not out(high - step):
            high, step = high - step, 4 * step
        low = max(high - step, Fraction(0))
        low = low if low > 0 and out(low) else Fraction(0)
    for _ in range(200):
        if high - low <= high / 2**46:
            break
        middle = (low + high) / 2
        scale = 2 ** (60 + middle.denominator.bit_length() - middle.numerator.bit_length())
        middle = Fraction(round(middle * scale), scale)
        low, high = (middle, high) if out(middle) else (low, middle)
    return low


def mixture_rules_out(
    p: Fraction, hits: Fraction, plays: int, level: Fraction, mixture: list[tuple[Fraction, Fraction, Fraction]]
) -> bool:
    """Whether plays that count for 0 to 1 each, and `hits` in all, exclude the mean p (and all below); False where not certain.

    The mixture is of Beta distributions, (weight, a, b) each: p is ruled out at a level if
    ``k log p + (n-k) log(1-p) < log sum_i w_i B(a_i+k, b_i+n-k) / B(a_i, b_i) + log level``.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> [mixture_rules_out(Fraction(p, 100), Fraction(60), 100, Fraction(1, 20), [(Fraction(1), half, half)]) for p in (40, 55)]
    [True, False]
    """
    if p <= 0:
        return True
    if hits <= 0 or p * plays >= hits:
        return False
    with localcontext(CONTEXT):
        misses, slip = plays - hits, SLIP * (plays + 10)
        k, m = _decimal(hits, ROUND_FLOOR), _decimal(misses, ROUND_FLOOR)
        said = k * _decimal(p, ROUND_CEILING).ln() + m * _decimal(1 - p, ROUND_CEILING).ln()
        mixed = Decimal(0)
        for weight, a, b in mixture:
            mixed += _decimal(weight, ROUND_FLOOR) * (_log_mixture(a, b, hits, misses) - slip - said).exp()
        return bool(mixed > 0 and mixed.ln() + _decimal(level, ROUND_FLOOR).ln() > slip)
