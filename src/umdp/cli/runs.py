"""`umdp show` and `umdp export`: look into a run, also while it is going on. Nothing in it is executed or changed."""

from __future__ import annotations

import csv
import enum
import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umdp import __version__
from umdp.automata import MemoryPolicy
from umdp.benchmark import draw_chain, draw_grid
from umdp.cli.outputs import check_folder, check_outputs, files_behind
from umdp.cli.session import bounded, returned, seen
from umdp.cli.terminal import plain, say, say_json
from umdp.errors import FormatError, MissingExtra, ModelError
from umdp.model import Policy
from umdp.run import Store
from umdp.run.opened import configuration, kept_counts, kept_policy
from umdp.spec import Spec
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
    ".nc": What.MODEL, ".txt": What.MODEL, ".json": What.POLICY, ".py": What.POLICY,
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
            say(*(_known(last, Spec.parse(asked)) if last is not None else ["  nothing learned yet"]))
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


def _known(last: Mapping[str, Any], spec: Spec) -> Iterator[str]:
    """Yield what a row of a run says of the property, a line each."""
    guarantee, played = last["guarantee"], last.get("promise")
    bound = last["lower"] if spec.rises else last["upper"]
    shown = bounded(bound, at_least=spec.rises) if math.isfinite(bound) else "not bounded yet"
    of = f"{spec.describe_value()}, with the policy found, is"
    if played is not None and played["by"] == "evidence":
        yield f"  {of} {_in_words(played)}"
        yield f"  the learned model says {shown}, {guarantee['text']}"
        guarantee = played["guarantee"]
    elif guarantee["kind"] != "none":
        yield f"  {of} {shown} {guarantee['text']}"
    else:
        yield f"  {of} {shown} on the learned model, {guarantee['text']}"
    for line in guarantee["reasons"][1:]:  # the first is part of the label
        yield f"  {'provided that' if guarantee['kind'] != 'none' else 'no guarantee:'} {line}"
    partial = ", the last one incomplete" if last.get("partial") else ""
    rounds = f"{last['iterations']} {nouns(last['iterations'], 'iteration')}"
    yield f"  after {seen(last['trajectories'], last['steps'])}, {rounds}{partial}"
    if "return_lower" in last:
        yield f"  return   {returned(last['return_lower'], last['return_upper'])}"
    if last["performance"] is not None:
        yield f"  the policy is worth {last['performance']:.6g} on the process itself"


def _in_words(promise: Mapping[str, Any]) -> str:
    """Return what playing a policy promises, as a row has it."""
    return f"{bounded(promise['bound'], at_least=promise['side'] == 'at least')} {promise['text']}"


def _show_learned(store: Store, name: str) -> None:
    """Print what the source said, and the policy: as a picture where its states have a place, otherwise as a table."""
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
    say("", *(picture.split("\n") if picture else _table(learned.policy, kept_counts(store, learned.model.graph))))


def _table(policy: Policy, counts: NDArray[np.int64] | None) -> Iterator[str]:
    """Yield a policy as a table: what it does in each state, from which step to which, and how often that was seen there."""
    graph = policy.graph
    tried = None if counts is None else np.add.reduceat(counts, graph.choice_ptr[:-1])
    rows = [("state", "step", "action", "seen")]
    for first, last, choice in policy.spans():
        state = graph.state_name(int(graph.choice_state[choice]))
        share = "" if policy.weight is None else f" ({policy.weight[choice]:.3g})"
        steps = "" if policy.steps is None else str(first) if first == last else f"{first} to {last}"
        seen_so = "" if tried is None else f"{tried[choice]:,}"
        rows.append((state, steps, graph.action_name(choice) + share, seen_so))
    shown = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in shown]
    for row in zip(*shown, strict=True):
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


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
        .csv .parquet: snapshots; .drn .umb .tra .nc .txt: the model; .json .py and ...policy.csv: the policy.

    Options
    -------
    what : snapshots|model|policy
        What to write, if the name does not say.

    Examples
    --------
    # the policy
    umdp export grid.run policy.json
    # as a table, and as a Python function that needs nothing else
    umdp export grid.run policy.csv
    umdp export grid.run policy.py
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
        named = target.suffix == ".csv" and target.stem.lower().endswith("policy")
        what = self.what or (What.POLICY if named else WHAT.get(target.suffix))
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
