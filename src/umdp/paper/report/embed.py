"""Figures inside a page: the content of an SVG file, whose names clash with those of no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["Picture", "embed"]

_DROPPED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)
_WHOLE = re.compile(r"<svg([^>]*)>(.*)</svg>", re.DOTALL)
_BOX = re.compile(r'viewBox="([^"]*)"')
_USED = re.compile(r'(?:url\(#|href="#)([^)"]+)')
_ID = re.compile(r'\s+id="([^"]*)"')


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
