"""HTML pages from Jinja templates: one file, readable on a phone and in print, with nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from umdp.errors import MissingExtra

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render"]


def render(template: str, **context: Any) -> str:
    """Return a page from a file in ``templates``; every text of the context is escaped.

    Raises
    ------
    MissingExtra
        Without Jinja.
    """
    return _templates().get_template(template).render(context)


@cache
def _templates() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtra("plot", "writing the report") from None
    return Environment(
        loader=PackageLoader("umdp.paper.report"), autoescape=True, finalize=_unparted, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip


def _unparted(value: Any) -> Any:
    """Return a text in which no number is parted from its percent sign; markup stays as it is."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value
