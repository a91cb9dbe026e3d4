"""Figures inside a page: an SVG file as an element of HTML whose names clash with those of no other."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

__all__ = ["embed"]

_DROPPED = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style[^>]*>.*?</style>", re.DOTALL)
_OPENING = re.compile(r"<svg[^>]*>")
_BOX = re.compile(r'viewBox="([^"]*)"')
_USED = re.compile(r'(?:url\(#|href="#)([^)"]+)')
_ID = re.compile(r'\s+id="([^"]*)"')


def embed(path: Path, prefix: str, description: str) -> str:
    """Return an SVG file of `umdp.plot.save` as an element to stand in HTML.

    Names that nothing refers to are dropped, and the others begin with `prefix`. The sheet of styles that matplotlib puts
    into every file would apply to the whole page, so it is dropped; the page has the same rules for its figures.

    Parameters
    ----------
    prefix : different for every figure of a page
    description : for readers who do not see it
    """
    text = path.read_text(encoding="utf-8")
    text = _DROPPED.sub("", text[text.index("<svg") :])
    used = set(_USED.findall(text))
    text = _ID.sub(lambda match: f' id="{prefix}-{match[1]}"' if match[1] in used else "", text)
    text = text.replace("xlink:href=", "href=")
    text = re.sub(r'(url\(#|href="#)', lambda match: f"{match[1]}{prefix}-", text)
    box = _BOX.search(text)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1] if box else "0 0 504 300"}" role="img" '
        f'aria-label="{escape(description)}">'
    )
    text = _OPENING.sub(lambda _: opening, text, count=1)
    return re.sub(r">\s+<", "><", text).strip()
