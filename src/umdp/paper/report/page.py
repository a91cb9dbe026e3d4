"""What an HTML page is made of: Jinja templates, figures from SVG files, and settings as text; nothing from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from umdp.errors import MissingExtra

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["Picture", "embed", "render", "toml"]

_DROPPED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)
_WHOLE = re.compile(r"<svg([^>]*)>(.*)</svg>", re.DOTALL)
_BOX = re.compile(r'viewBox="([^"]*)"')
_USED = re.compile(r'(?:url\(#|href="#)([^)"]+)')
_ID = re.compile(r'\s+id="([^"]*)"')


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


class Picture(NamedTuple):
    """An SVG image: its view box, and the elements in it as markup."""

    box: str
    elements: str


def embed(path: Path, prefix: str) -> Picture:
    """Return an SVG file of `umdp.plot.save` as a picture to stand in HTML.

    Names that nothing refers to are dropped, and the others begin with `prefix`, which is different for every figure of a
    page. The sheet of styles that matplotlib puts into every file would apply to the whole page, so it is dropped; the page has
    the same rules for its figures.
    """
    found = _WHOLE.search(_DROPPED.sub("", path.read_text(encoding="utf-8")))
    assert found is not None, "matplotlib writes one svg element"
    box, text = _BOX.search(found[1]), found[2]
    used = set(_USED.findall(text))
    text = _ID.sub(lambda match: f' id="{prefix}-{match[1]}"' if match[1] in used else "", text)
    text = text.replace("xlink:href=", "href=")
    text = re.sub(r'(url\(#|href="#)', lambda match: f"{match[1]}{prefix}-", text)
    return Picture(box[1] if box else "0 0 504 300", re.sub(r">\s+<", "><", text).strip())


def toml(settings: Mapping[str, Any], path: str = "") -> str:
    """Return plain data as text in the manner of TOML.

    Examples
    --------
    >>> print(toml({"seeds": 2, "learner": {"name": "LUI", "bound": None}, "change": [{"after": 100}]}))
    seeds = 2
    <BLANKLINE>
    [learner]
    name = "LUI"
    bound = "none"
    <BLANKLINE>
    [[change]]
    after = 100
    """
    lines, blocks = [], []
    for key, value in settings.items():
        place = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            blocks.append(f"[{place}]\n{toml(value, place)}".rstrip())
        elif isinstance(value, Sequence) and value and all(isinstance(each, Mapping) for each in value):
            blocks += [f"[[{place}]]\n{toml(each, place)}".rstrip() for each in value]
        else:
            lines.append(f"{key} = {_scalar(value)}")
    return "\n\n".join((["\n".join(lines)] if lines else []) + blocks)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_scalar, value))}]"
    return json.dumps("none" if value is None else str(value), ensure_ascii=False)
