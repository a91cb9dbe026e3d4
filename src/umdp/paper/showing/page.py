"""A web page in one file: readable on a phone and in print, in light and dark, with nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape as entities
from typing import Any

__all__ = ["element", "escape", "page", "table", "toml"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #ffffff; --faint: #5c636b; --line: #d9dde1; --box: #f5f6f8;
  --link: #0b62a4; --holds: #007a4d; --partly: #8a5a00; --fails: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --paper: #15181b; --faint: #a2a9b0; --line: #363c42;
  --box: #1e2226; --link: #7cc0f5; --holds: #5fd39b; --partly: #f0b94d; --fails: #ff8f85; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
a { color: var(--link); }
nav ul { padding: 0; margin: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td p { margin: .25rem 0 0; }
.scroll { overflow-x: auto; }
.faint { color: var(--faint); }
.verdict { font-weight: 600; white-space: nowrap; }
.holds { color: var(--holds); } .partly { color: var(--partly); } .fails { color: var(--fails); }
figure { margin: 1.25rem 0 2rem; }
figure .scroll { background: #ffffff; border: 1px solid var(--line); border-radius: 4px; padding: .5rem; }
figure svg { display: block; width: 100%; height: auto; min-width: 38rem; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { font-size: .92rem; margin-top: .5rem; }
details { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; }
pre { margin: 0; padding: .75rem; overflow-x: auto; background: var(--box); font: .82rem/1.45 ui-monospace, monospace; }
@media (max-width: 44rem) {
  table.cards thead { display: none; }
  table.cards, table.cards tbody, table.cards tr, table.cards td, table.cards th { display: block; width: 100%; }
  table.cards tr { border: 1px solid var(--line); border-radius: 4px; margin: 0 0 .75rem; padding: .25rem 0; }
  table.cards td, table.cards th { border: 0; padding: .3rem .75rem; text-align: left; }
  table.cards td[data-label]::before { content: attr(data-label) ": "; color: var(--faint); }
}
@media print {
  :root { --ink: #000000; --paper: #ffffff; --faint: #444444; --line: #bbbbbb; --box: #ffffff; --holds: #000000;
    --partly: #000000; --fails: #000000; --link: #000000; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  figure .scroll { border: 0; padding: 0; }
  figure svg { min-width: 0; max-height: 20cm; }
  pre { white-space: pre-wrap; }
  details::details-content { content-visibility: visible; display: block; }
}
"""


def escape(text: str) -> str:
    """Return text as HTML, in which a number is not parted from its percent sign."""
    return entities(text).replace(" %", "\N{NO-BREAK SPACE}%")


def page(title: str, body: str) -> str:
    """Return a whole page; `body` is HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def element(tag: str, *content: str, **attributes: str) -> str:
    """Return an element around content that is HTML already; attributes are escaped, ``kind`` is ``class``.

    Examples
    --------
    >>> element("p", escape("a < b"), kind="faint")
    '<p class="faint">a &lt; b</p>'
    """
    names = {"kind": "class", "label": "data-label"}
    given = "".join(f' {names.get(name, name)}="{escape(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{given}>{''.join(content)}</{tag}>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, cards: bool = False) -> str:
    """Return a table of HTML cells; with `cards`, a row becomes a card on a narrow screen."""
    top = element("thead", element("tr", *(element("th", escape(name), scope="col") for name in head)))
    lines = [
        element("tr", *(element("td", cell, label=name if cards else "") for name, cell in zip(head, row, strict=True)))
        for row in rows
    ]
    return element("div", element("table", top, element("tbody", *lines), kind="cards" if cards else ""), kind="scroll")


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
