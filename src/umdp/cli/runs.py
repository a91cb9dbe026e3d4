"""`umdp show` and `umdp export`: look into a run, also while it is going on. Nothing in it is executed or changed."""

from __future__ import annotations

import csv
import enum
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umdp import __version__
from umdp.automata import MemoryPolicy
from umdp.benchmark import draw_chain, draw_grid
from umdp.cli.outputs import check_folder, check_outputs, files_behind
from umdp.cli.session import bounded, returned, seen
from umdp.cli.terminal import plain, say, say_json
from umdp.errors import FormatError, MissingExtra, ModelError
from umdp.run import Store
from umdp.run.opened import configuration, kept_policy
from umdp.statements import with_codes
from umdp.statements.text import nouns

__all__ = ["Export", "Show", "What"]

MEMORIES = 8  # that are spelled out


class What(enum.StrEnum):
    """What to export."""

    SNAPSHOTS = "snapshots"
    MODEL = "model"
    POLICY = "policy"


WHAT = {
    ".csv": What.SNAPSHOTS, ".parquet": What.SNAPSHOTS, ".drn": What.MODEL, ".umb": What.MODEL, ".tra": What.MODEL,
    ".nc": What.MODEL, ".txt": What.MODEL, ".json": What.POLICY,
}  # fmt: skip


@dataclass(frozen=True)
class Show:
    """Show what a run is and what it knows; also while it is going on. Nothing in it is executed.

    Options
    -------
    json
        As one JSON object.

    Examples
    --------
    # what it knows
    umdp show grid.run
    # for programs
    umdp show grid.run --json
    """

    path: str
    json: bool = False

    def run(self) -> int:
        """Print what a run is, how far it has come and what it knows."""
        with Store.open(self.path) as store:
            last, writer = store.last(), store.writer()
            if self.json:
                given = dict(store.config)
                typed = given.pop("question", None)
                running = None if writer is None else vars(writer)
                notes = [] if last is None or store.version == 1 else list(store.learned().report)
                about = {
                    "property": store.question or typed,
                    "config": given,
                    "format": store.version,
                    "running": running,
                }
                say_json({**about, "last": last, "notes": notes, "diagnostics": with_codes(notes)})
                return 0
            config = configuration(store)
            asked = config.wording() if config.remembers else store.question or config.wording()
            say(f"{self.path}: {asked} with {config.learner} on {config.model}")
            say(f"  seed {config.seed}, {_made(config.versions.get('umdp'))}")
            if config.read_from is not None:
                say(f"  from the log {config.read_from}")
                for line in config.data.words():
                    say(f"    {line}")
            say(*(_known(last) if last is not None else ["  nothing learned yet"]))
            if writer is not None:
                say(f"  running now: {writer}")
            elif last is None or not last["reason"]:
                say(f"  not ended: umdp resume {shlex.quote(self.path)}")
            else:
                say(f"  ended because {last['reason']}")
            if last is not None and store.version > 1:
                _show_learned(store, config.model)
        return 0


def _made(version: str | None) -> str:
    return f"umdp {version or 'unknown'}" + ("" if version == __version__ else f" (this is {__version__})")


def _known(last: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a row of a run says, a line each."""
    partial = ", the last one incomplete" if last.get("partial") else ""
    rounds = f"{last['iterations']} {nouns(last['iterations'], 'iteration')}"
    yield f"  {seen(last['trajectories'], last['steps'])}, {rounds}{partial}"
    promise, guarantee = last.get("promise"), last["guarantee"]
    if promise is not None and promise["by"] == "evidence":
        yield f"  promised {_in_words(promise)}"
        yield from (f"           {line}" for line in promise["guarantee"]["reasons"][1:])
    yield f"  bracket  {last['lower']:.6g} .. {last['upper']:.6g} ({guarantee['text']})"
    yield from (f"           {line}" for line in guarantee["reasons"][1:])
    if "return_lower" in last:
        yield f"  return   {returned(last['return_lower'], last['return_upper'])}"
    if last["performance"] is not None:
        yield f"  the policy is worth {last['performance']:.6g} on the process itself"


def _in_words(promise: Mapping[str, Any]) -> str:
    """Return what playing a policy promises, as a row has it."""
    return f"{bounded(promise['bound'], at_least=promise['side'] == 'at least')} {promise['text']}"


def _show_learned(store: Store, name: str) -> None:
    """Print what the source said, and the policy as a picture where its states have a place."""
    from umdp.model.sketch import sketch

    learned = store.learned()
    say(*(f"  {line}" for line in learned.report))
    if learned.policy is None:
        return
    if MemoryPolicy.knows(learned.policy):
        say(*(f"  {line}" for line in _memories(MemoryPolicy.of(learned.policy))))
    draw = {"grid": draw_grid, "chain": draw_chain, "chain-switched": draw_chain}.get(name)
    try:
        picture = sketch(learned.policy) if draw is None else draw(learned.model, learned.policy)
    except ModelError:  # with parameters of its own it may be none of these
        picture = sketch(learned.policy)
    if picture:
        say("", *picture.split("\n"))


def _memories(policy: MemoryPolicy) -> Iterator[str]:
    """Yield what a policy remembers, and what each memory stands for."""
    product = policy.product
    used = sorted(set(product.memory.tolist()))
    states = f"{product.base.states:,} {nouns(product.base.states, 'state')}"
    yield f"the policy has {len(used):,} {nouns(len(used), 'memory')} for {states}"
    for memory in used[:MEMORIES]:
        yield f"  memory {memory}: {product.name(memory)}"
    if len(used) > MEMORIES:
        yield f"  and {len(used) - MEMORIES:,} more"


@dataclass(frozen=True)
class Export:
    """Write a run's snapshots, learned model or policy to a file; also while it is going on.

    Arguments
    ---------
    file : FILE
        .csv .parquet: snapshots; .drn .umb .tra .nc .txt: the model; .json: the policy.

    Options
    -------
    what : snapshots|model|policy
        What to write, if the name does not say.

    Examples
    --------
    # the policy
    umdp export grid.run policy.json
    # all snapshots as a table, over an older one
    umdp export grid.run snapshots.csv --force
    # the learned interval model, for PRISM
    umdp export grid.run grid.tra
    """

    path: str
    file: str
    what: What | None = None
    force: bool = False

    def run(self) -> int:
        """Write snapshots, the learned model or the policy to a file, by its name or as told."""
        self.write(aloud=True)
        return 0

    def write(self, *, aloud: bool) -> None:
        """Write the file; say what is in it, if that is wanted."""
        target = Path(self.file)
        what = self.what or WHAT.get(target.suffix)
        if what is None:
            raise FormatError(f"say what to export with --what, or use one of {', '.join(WHAT)}", path=target)
        check_folder(target, target)
        check_outputs([("", file) for file in _written(target)], [self.path], force=self.force)
        with Store.open(self.path) as store:
            if what is What.SNAPSHOTS:
                _write_rows(target, store.snapshots())
            elif what is What.MODEL:
                from umdp.io import write

                write(store.learned().model, target, _note(store))
            else:
                from umdp.io import write_policy

                write_policy(kept_policy(store.learned(), self.path), target, _about(store))
            if aloud:
                say(f"{what} written to {target}")
                if what is not What.SNAPSHOTS:
                    say(f"  {_note(store)}")


def _written(target: Path) -> Iterator[str | Path]:
    """Yield the files that are written; those of an older model beside a .tra file are replaced with it."""
    yield target
    if target.suffix == ".tra":
        yield from (each for each in files_behind(str(target)) if each != target)


def _about(store: Store) -> dict[str, Any]:
    """Return what a policy or model was learned for, its bracket, and what is promised of that."""
    last = store.last() or {}
    known = {name: plain(last.get(name)) for name in ("trajectories", "steps", "lower", "upper", "guarantee")}
    if last.get("promise") is not None:
        known["promise"] = last["promise"]
    config = configuration(store)
    return {
        "property": config.wording() if config.remembers else store.question,
        "model": config.read_from or config.model,
        "parameters": config.parameters,
        **known,
    }


def _note(store: Store) -> str:
    """Return the same in one line."""
    about = _about(store)
    label = (about["guarantee"] or {}).get("text", "nothing learned yet")
    after = f"{about['trajectories']} {nouns(about['trajectories'], 'trajectory')}"
    promise, said = about.get("promise"), ""
    if promise is not None and promise["by"] == "evidence":
        said = f"the policy is worth {_in_words(promise)}; "
    return (
        f"{about['property']}: {said}{about['lower']} .. {about['upper']} on the learned model, after {after}; {label}"
    )


def _write_rows(target: Path, rows: list[dict[str, Any]]) -> None:
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    if target.suffix == ".parquet":
        try:
            import polars
        except ImportError:
            raise MissingExtra("data", "Parquet") from None
        polars.DataFrame(flat, schema=columns, orient="row", infer_schema_length=None).write_parquet(target)
    elif target.suffix == ".csv":
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(flat)
    else:
        raise FormatError("snapshots are written as .csv or .parquet", path=target)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its guarantee as columns: its kind, its level, and its reasons in one text."""
    given = row["guarantee"]
    named = row.get("parameters", {})
    row = {name: value for name, value in row.items() if name != "parameters"}
    row |= {f"{name} {end}": value for name, each in named.items() for end, value in each.items()}
    flat = {**row, "guarantee": given["kind"], "level": given["level"], "reasons": "; ".join(given["reasons"])}
    if "promised" in row:  # a run with evidence
        promise, played = flat.pop("promise"), flat.pop("evidence")
        flat["promised_by"] = None if promise is None else promise["by"]
        flat |= {"evidence": played["bound"], "plays": played["plays"], "hits": played["hits"]}
    return flat
