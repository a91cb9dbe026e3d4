"""The commands and options in docs/reference.md, from the help: ``python tests/reference_commands.py`` writes them there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from umdp.cli.app import app, named, placed, word

REFERENCE = Path(__file__).parents[1] / "docs" / "reference.md"
BEGIN, END = "<!-- commands: from the help, by tests/reference_commands.py -->\n", "<!-- end of commands -->\n"


def commands() -> dict[str, Any]:
    """Return every command by its name."""
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


def section(name: str, command: Any) -> str:
    """Return what the reference says of a command."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join(["umdp", name, *map(placed, arguments), "[OPTIONS]"])
    rows = [f"| {_code(_name(each))} | {_plain(each.help)} | {_default(each)} |" for each in command.params]
    head = ["| argument or option | meaning | default |", "|---|---|---|"]
    about = [_plain(part) + "." for part in (command.help or "").split("\n\n")]
    return "\n\n".join([f"### umdp {name}", f"    {usage}", *about, "\n".join(head + rows)]) + "\n"


def text() -> str:
    """Return the part of the reference that this file writes."""
    return BEGIN + "\n" + "\n".join(section(*each) for each in commands().items()) + "\n" + END


def _name(parameter: Any) -> str:
    return word(parameter) if parameter.param_type_name == "argument" else named(parameter)


def _code(name: str) -> str:
    return "`" + name.replace("|", "\\|") + "`"


def _plain(help_text: str | None) -> str:
    return (help_text or "").replace("\\[", "[").replace("|", "\\|").strip().removesuffix(".")


def _default(parameter: Any) -> str:
    default = getattr(parameter.default, "value", parameter.default)
    if default is None or isinstance(default, bool | list | tuple) or not getattr(parameter, "show_default", False):
        return ""
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def write() -> None:
    """Put the commands into the reference."""
    old = REFERENCE.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    REFERENCE.write_text(before + text() + rest.partition(END)[2], encoding="utf-8")


def documented() -> str:
    """Return what stands in the reference now."""
    found = re.search(re.escape(BEGIN) + ".*?" + re.escape(END), REFERENCE.read_text(encoding="utf-8"), re.DOTALL)
    return found[0] if found else ""


if __name__ == "__main__":
    write()
