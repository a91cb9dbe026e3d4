"""What can go wrong with a user's input; every message names the place and the remedy."""

from __future__ import annotations


class UmdpError(Exception):
    """Base of every error this package raises on purpose."""


class ModelError(UmdpError):
    """A model's arrays do not fit together."""


class InfeasibleChoice(ModelError):
    """No probability distribution lies within the bounds of a choice.

    Examples
    --------
    >>> print(InfeasibleChoice(state="(3,4)", action="east", lower_sum=1.02, upper_sum=1.4))
    state (3,4), action east: no distribution fits the bounds (lower bounds sum to 1.02, upper bounds to 1.4); \
lower bounds must sum to at most 1 and upper bounds to at least 1
    """

    def __init__(self, *, state: str, action: str, lower_sum: float, upper_sum: float) -> None:
        self.state, self.action = state, action
        self.lower_sum, self.upper_sum = lower_sum, upper_sum
        super().__init__(
            f"state {state}, action {action}: no distribution fits the bounds (lower bounds sum to {lower_sum:.12g}, "
            f"upper bounds to {upper_sum:.12g}); lower bounds must sum to at most 1 and upper bounds to at least 1"
        )


class SpecError(UmdpError):
    """A property cannot be read, or does not fit the model."""


class FormatError(UmdpError):
    """A file is not what its format promises.

    Examples
    --------
    >>> print(FormatError("expected 3 numbers", path="model.tra", line=7))
    model.tra, line 7: expected 3 numbers
    """

    def __init__(self, message: str, *, path: object = None, line: int | None = None) -> None:
        self.path, self.line = path, line
        place = "" if path is None else f"{path}" + ("" if line is None else f", line {line}")
        super().__init__(f"{place}: {message}" if place else message)


class MissingExtra(UmdpError):
    """An optional dependency is needed and not installed.

    Examples
    --------
    >>> print(MissingExtra("storm", "reading PRISM programs"))
    reading PRISM programs needs the extra "storm"; install it with: pip install 'umdp[storm]'
    """

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs the extra \"{extra}\"; install it with: pip install 'umdp[{extra}]'")
