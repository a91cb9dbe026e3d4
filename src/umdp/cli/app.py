"""What can be typed: the commands, and how their help looks (words for types, no boxes, and examples to copy).

A command is a frozen dataclass: its fields are the arguments and options, its docstring is the help, `run` does what was asked.
Behind the name of a field stands the word for its value. Examples are lines of at most 80 columns, all of which run in the
repository: those of a command one after another, those of `learn` before those of the commands about runs.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any, Protocol, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from umdp import __version__
from umdp.cli.calibrate import Calibrate
from umdp.cli.certify import Certify
from umdp.cli.check import Check
from umdp.cli.check_env import CheckEnv
from umdp.cli.compare import Compare
from umdp.cli.explain import Explain
from umdp.cli.learn import Learn
from umdp.cli.look import Look
from umdp.cli.plot import Plot
from umdp.cli.reproduce import Reproduce
from umdp.cli.resume import Resume
from umdp.cli.runs import Export, Show
from umdp.cli.simulate import Simulate
from umdp.cli.terminal import console
from umdp.cli.verify import Verify
from umdp.explore import EXPLORERS
from umdp.learn import LEARNERS
from umdp.learn.learner_settings import settings_of, shown
from umdp.learning.validation import LARGEST
from umdp.solver.methods.method import METHODS

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Command", "CommandRequest", "Commands", "UsageError", "app", "named", "parse", "placed", "word"]

# Typer brings its own copy of click, or uses the one installed, depending on its version.
UsageError: Any = typer.BadParameter.__mro__[1]

LEFT = 34  # columns for the names; longer ones have a line of their own


class Command(TyperCommand):
    """A command whose help ends with examples, and whose options are given once unless they may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice: of two values one would be passed over without a word."""
        if not ctx.resilient_parsing:  # as for the completion of a shell
            *_, order = self.make_parser(ctx).parse_args(args=list(args))
            counts = Counter(each.name for each in order if each.param_type_name == "option" and not each.multiple)
            for option in order:
                if counts[option.name] > 1:
                    raise UsageError(f"{option.opts[0]} is given twice; give it once", ctx=ctx)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        usage = " ".join(["[OPTIONS]", *map(placed, arguments)])
        screen = console(markup=True)
        _introduce(screen, ctx.command_path, usage, self.help or "")
        _list(screen, "Arguments", [(word(each), _said(each)) for each in arguments])
        _list(screen, "Options", _options(self, ctx))
        _show_examples(self.epilog)


class Commands(TyperGroup):
    """The program: its help lists the commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        screen = console(markup=True)
        _introduce(screen, ctx.command_path, "[OPTIONS] COMMAND ...", self.help or "")
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        _list(screen, "Commands", [(name, _first(each.help or "")) for name, each in found if each is not None])
        _list(screen, "Options", _options(self, ctx))
        _show_examples(self.epilog)


def _introduce(console: Console, path: str, usage: str, text: str) -> None:
    from rich.text import Text

    console.print(Text.assemble(("Usage: ", "bold"), f"{path} {usage}"), soft_wrap=True)
    for paragraph in text.split("\n\n"):
        console.print()
        console.print(Text.from_markup(" ".join(paragraph.split())))


def _list(console: Console, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Print names and what they mean in two columns; a long name has its meaning below it."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    console.print()
    console.print(Text(title, style="bold"))
    left = min(max(len(name) for name, _ in rows), LEFT if console.width >= 80 else LEFT // 2)
    for name, meaning in rows:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=left)
        table.add_column(ratio=1)
        if len(name) > left:
            console.print(Padding(Text(name, style="cyan"), (0, 0, 0, 2)), soft_wrap=True)
            name = ""
        table.add_row(Text(name, style="cyan"), Text.from_markup(meaning))
        console.print(Padding(table, (0, 0, 0, 2)))


def _options(command: Any, ctx: Any) -> list[tuple[str, str]]:
    return [(named(each), _said(each)) for each in command.get_params(ctx) if each.param_type_name == "option"]


def named(option: Any) -> str:
    """Return the names of an option, and the word for its value."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {word(option)}"


def word(parameter: Any) -> str:
    """Return the word that stands for a value."""
    return str(parameter.metavar or parameter.name.upper()).strip("[]")


def placed(argument: Any) -> str:
    """Return an argument as the usage line has it."""
    name = word(argument)
    more = "..." if argument.nargs != 1 and not name.endswith("...") else ""
    return f"{name}{more}" if argument.required else f"[{name}{more}]"


def _said(parameter: Any) -> str:
    """Return what a parameter means, with its default."""
    text = parameter.help or ""
    default = parameter.default.value if isinstance(parameter.default, enum.Enum) else parameter.default
    shown = getattr(parameter, "show_default", False) and not callable(default)
    if not shown or getattr(parameter, "is_flag", False) or default is None or isinstance(default, list | tuple):
        return text
    value = f"{default:g}" if isinstance(default, float) else str(default)
    return f"{text.removesuffix('.')} \\[default: {value}]"


def _first(text: str) -> str:
    """Return the first sentence."""
    return text.split("\n\n", maxsplit=1)[0].split(". ", maxsplit=1)[0].strip().removesuffix(".")


def _show_examples(examples: str | None) -> None:
    """Print examples, which must not be wrapped: they are there to be copied."""
    typer.echo("\nExamples\n" + re.sub("^#", "\n#", examples or "", flags=re.MULTILINE))


app = typer.Typer(
    name="umdp",
    cls=Commands,
    rich_markup_mode="rich",
    epilog="""
# learn a grid world from simulated trajectories
umdp learn grid --trajectories 2000
# the worst case of an interval model
umdp check examples/rover.tra 'Pmaxmin=? [ F<=9 "base" ]'
""".strip(),
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class CommandRequest(Protocol):
    """What a command was asked for."""

    def run(self) -> int:
        """Do it, and return the exit status."""


COMMANDS: tuple[type[CommandRequest], ...] = (
    Check, Look, Learn, Resume, Show, Export, Plot, Compare, Simulate, Certify, Calibrate, Explain, Reproduce, Verify, CheckEnv,
)  # fmt: skip


# -- from fields to arguments and options -------------------------------------------------------------------


def number(text: str) -> float:
    """Return the number that a text stands for."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f'"{text}" is not a number') from None


def integer(text: str) -> int:
    """Return the whole number that a text stands for; ``1e6`` is one.

    Examples
    --------
    >>> integer("1e6"), integer("-3")
    (1000000, -3)
    """
    shown = text if len(str(text)) <= 30 else f"{text[:27]}..."
    try:
        value = Decimal(str(text).strip())  # a default comes as the number it is
        if not value.is_finite():
            raise ValueError
        if abs(value) > LARGEST:
            raise typer.BadParameter(f'"{shown}" is more than 64 bits hold; give at most {LARGEST}')
        if value != int(value):
            raise ValueError
    except (InvalidOperation, ValueError):
        raise typer.BadParameter(f'"{shown}" is not a whole number') from None
    return int(value)


def share(text: str) -> Decimal:
    """Return the probability that a text stands for, with its digits: ``0.95`` or ``95%``.

    Examples
    --------
    >>> share("0.95"), share("95 %")
    (Decimal('0.95'), Decimal('0.95'))
    """
    given = text.strip()
    try:
        value = Decimal(given.removesuffix("%").strip()) / (100 if given.endswith("%") else 1)
        fits = 0 < value < 1
    except InvalidOperation:
        raise typer.BadParameter(f'"{text}" is not a number') from None
    if not fits:
        raise typer.BadParameter(f"{text} is not between 0 and 1; give a probability such as 0.95")
    if 1 - value < Decimal("1e-9"):
        raise typer.BadParameter(f"{text} is more than any data would show; give at most 0.999999999")
    return value


SHARED = {
    "path": ("Arguments", "RUN", "A file written by umdp learn --out."),
    "runs": ("Arguments", "RUN...", "Files written by umdp learn --out."),
    "quiet": ("Options", "", "Print the result only."),
    "force": ("Options", "", "Write over files that are there already; what is read is never written over."),
    "json": ("Options", "", "As one JSON object."),
    "env_arg": (
        "Options",
        "NAME=VALUE",
        "An argument of the environment, benchmark or function: true, false, a number, a list or a word; may be repeated.",
    ),
}
"""The part of a docstring in which a field would stand, the word for its value, and what it means."""

SECTION = re.compile(r"\n\n(Arguments|Options|Examples)\n-+\n")
ENTRY = re.compile(r"^(\w+)(?: : (.+))?\n((?: {4}.+\n?)+)", re.MULTILINE)
PARSERS = {int: integer, int | None: integer, float: number, float | None: number, Decimal | None: share}
WORDS = {
    "{learners}": ", ".join(LEARNERS),
    "{explorers}": ", ".join(EXPLORERS),
    "{settings}": "; ".join(
        f"{name}: {' '.join(f'{key}={shown(value)}' for key, value in settings_of(kind).items())}"
        for name, kind in LEARNERS.items()
    ),
    "{method names}": "|".join(METHODS),
    "{methods}": "; ".join(f"{method.name}: {method.title}" for method in METHODS.values()),
}
"""What stands in docstrings for what is known elsewhere."""


def _parameters(kind: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the fields of a command as parameters for typer, with what its docstring says of them, or those of its bases."""
    said = SHARED | {
        name: (title, word, " ".join(text.split()))
        for each in reversed(kind.__mro__)
        for title, body in _sections(each).items()
        for name, word, text in ENTRY.findall(body)
    }
    types = get_type_hints(kind)
    for field in fields(kind):
        expected, name = types[field.name], f"--{field.name.replace('_', '-')}"
        if field.name in said:
            title, word, text = said[field.name]
            for placeholder, meant in WORDS.items():
                word, text = word.replace(placeholder, meant), text.replace(placeholder, meant)
            names = () if title == "Arguments" else (name, "-q") if field.name == "quiet" else (name,)
            given = {
                "metavar": word or None,
                "help": text.replace("[", "\\["),
                "parser": PARSERS.get(expected),
                **field.metadata,
            }
            made = typer.Option(*names, **given) if names else typer.Argument(show_default=False, **given)
            expected = Annotated[expected, made]
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=expected)


def _sections(kind: type[Any]) -> dict[str, str]:
    """Return the parts of a docstring by their titles; what comes before them has none."""
    about, *more = SECTION.split(inspect.cleandoc(kind.__doc__ or ""))
    return {"": about, **dict(zip(more[::2], more[1::2], strict=True))}


def _declare(kind: type[CommandRequest]) -> None:
    """Make a command known to typer."""

    def made(**given: Any) -> CommandRequest:
        return kind(**given)

    made.__signature__ = inspect.Signature(list(_parameters(kind)))  # type: ignore[attr-defined]
    parts = _sections(kind)
    name = "check-env" if kind is CheckEnv else kind.__name__.lower()
    paragraphs = "\n\n".join(" ".join(each.split()) for each in parts[""].split("\n\n"))
    app.command(name=name, cls=Command, help=paragraphs, epilog=parts.get("Examples"))(made)


for command in COMMANDS:
    _declare(command)


def parse(arguments: Sequence[str]) -> CommandRequest | int:
    """Return what was asked for, or the exit status where printing help or the version was all.

    Raises
    ------
    UsageError
        If the arguments do not fit.
    """
    request: CommandRequest | int | None = app(args=list(arguments), prog_name="umdp", standalone_mode=False)
    return 0 if request is None else request


@app.callback(invoke_without_command=True)
def _umdp(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")] = False,
) -> None:
    """Learn uncertain Markov decision processes, and check them robustly, with certified answers."""
    if version:
        typer.echo(f"umdp {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
