"""Minification of SVG files to half their size: coordinates as fine as printers are, and steps as steps."""

from __future__ import annotations

import re

__all__ = ["minify"]

_PATH = re.compile(r'(?<= d=")[^"]*(?=")')
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_POLYGON = re.compile(r"[MLzZ\d.\s-]*")


def minify(text: str) -> str:
    r"""Minify an SVG file: no decimals beyond the second (a hundredth of a point), no repeated coordinates.

    Examples
    --------
    >>> minify('<path d="M 1.23456 2 \nL 7.5 2 \nL 7.5 9 \n"/>')
    '<path d="M1.23 2H7.5V9"/>\n'
    """
    text = _PATH.sub(lambda match: _shorter(_DECIMALS.sub(r"\1", match[0])), text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _shorter(path: str) -> str:
    """Return a path of straight lines with H and V where only one coordinate changes; other paths as they are."""
    if not _POLYGON.fullmatch(path):
        return path
    words, short, i, last = path.split(), [], 0, ("", "")
    while i < len(words):
        if words[i] in "zZ":
            short.append("z")
            i += 1
            continue
        command, x, y = words[i : i + 3]
        if command == "M":
            short.append(f"M{x} {y}")
        elif x == last[0]:
            short.append("" if y == last[1] else f"V{y}")
        else:
            short.append(f"H{x}" if y == last[1] else f"L{x} {y}")
        i, last = i + 3, (x, y)
    return "".join(short)
