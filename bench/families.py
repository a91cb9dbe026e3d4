"""The benchmark's families of models: how to build one of a given size, and what to ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import umdp.io
from bench import arrays
from umdp import MDP, IntervalMDP

__all__ = ["FAMILIES", "Case", "Family", "build", "cases"]

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True)
class Family:
    """A scalable model with its properties.

    Attributes
    ----------
    name : str
    sizes : the numbers of transitions it is built for, roughly
    plain, interval : properties of the model as it is, and of its intervals of `width` (lower bounds at least `floor`,
        or the probability where that is smaller)
    make : builds it from a number of transitions; else the program `name`.prism is built with `constants` of the size
    """

    name: str
    sizes: tuple[int, ...]
    plain: tuple[str, ...]
    interval: tuple[str, ...]
    make: Callable[[int], MDP] | None = None
    constants: Mapping[int, str] | None = None
    width: float = 0.04
    floor: float = 1e-3


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    family: str
    size: int
    kind: str
    property: str


SMALL, MIDDLE, LARGE, HUGE = 10**3, 10**4, 10**5, 10**6
TO_MILLION = (SMALL, MIDDLE, LARGE, HUGE)
TO_TEN_MILLION = (*TO_MILLION, 10**7)


def _program(
    name: str, constants: tuple[str, ...], plain: tuple[str, ...], interval: tuple[str, ...], width: float = 0.04
) -> Family:
    sizes = TO_MILLION[: len(constants)]
    return Family(name, sizes, plain, interval, constants=dict(zip(sizes, constants, strict=True)), width=width)


FAMILIES = {
    family.name: family
    for family in (
        _program(
            "consensus",
            ("N=3,K=2", "N=5,K=2", "N=8,K=1", "N=12,K=1"),
            ('Pmin=? [ F "all_ones" ]', 'R{"steps"}max=? [ F "finished" ]'),
            ('Pminmax=? [ F "all_ones" ]', 'R{"steps"}minmax=? [ F "finished" ]'),
        ),
        _program(
            "zeroconf",
            ("K=2,T=3", "K=4,T=6", "K=8,T=12", "K=16,T=18"),
            ('Pmax=? [ F "collided" ]', 'R{"time"}min=? [ F "configured" ]'),
            ('Pmaxmin=? [ F "collided" ]', 'R{"time"}minmax=? [ F "configured" ]'),
        ),
        _program(
            "csma",
            ("D=3,M=2,F=2", "D=8,M=2,F=4", "D=16,M=3,F=5", "D=36,M=3,F=12"),
            ('Pmin=? [ F "crashed" ]', 'R{"time"}min=? [ F "done" ]'),
            ('Pminmax=? [ F "crashed" ]', 'R{"time"}minmax=? [ F "done" ]'),
        ),
        _program(
            "firewire",
            ("T=16,W=4", "T=48,W=12", "T=180,W=36", "T=560,W=112"),
            ('Pmax=? [ F "first" ]', 'R{"time"}max=? [ F "elected" ]'),
            ('Pmaxmin=? [ F "first" ]', 'R{"time"}maxmin=? [ F "elected" ]'),
        ),
        _program(
            "brp",
            ("N=16,R=3", "N=80,R=8", "N=500,R=12", "N=3000,R=20"),
            ('Pmin=? [ F "failed" ]', 'R{"cost"}min=? [ F "over" ]'),
            ('Pminmax=? [ F "failed" ]', 'R{"cost"}minmax=? [ F "over" ]'),
            width=0.01,
        ),
        _program(
            "crowds",
            ("N=6,R=5", "N=10,R=9", "N=20,R=17", "N=40,R=28"),
            ('Pmax=? [ F "suspected" ]', 'R{"hops"}max=? [ F "sent" ]'),
            ('Pmaxmax=? [ F "suspected" ]', 'R{"hops"}maxmax=? [ F "sent" ]'),
        ),
        _program(
            "nand",
            ("N=4,K=2", "N=7,K=3", "N=13,K=3", "N=22,K=4"),
            ('Pmax=? [ F "reliable" ]', 'R{"gates"}max=? [ F "done" ]'),
            ('Pminmin=? [ F "reliable" ]',),
            width=0.01,
        ),
        Family(
            "grid", TO_MILLION,
            ('R{"cost"}min=? [ F "goal" ]',), ('R{"cost"}minmax=? [ F "goal" ]', 'R{"cost"}minmin=? [ F "goal" ]'),
            make=arrays.grid, width=0.1,
        ),
        # The same grid, where the traps must not be entered: safe walks wait long for their luck.
        Family(
            "maze", (SMALL, MIDDLE, LARGE),
            ('Pmax=? [ !"trap" U "goal" ]',), ('Pmaxmin=? [ !"trap" U "goal" ]',),
            make=arrays.grid, width=0.1,
        ),
        Family(
            "random", TO_TEN_MILLION,
            ('Pmax=? [ F "goal" ]', 'R{"cost"}min=? [ F "end" ]'),
            ('Pmaxmin=? [ F "goal" ]', 'R{"cost"}minmax=? [ F "end" ]'),
            make=arrays.random_sparse, width=0.1,
        ),
        Family(
            "ruin", (SMALL, MIDDLE, LARGE),
            ('Pmax=? [ F "rich" ]', 'R{"games"}min=? [ F "end" ]'),
            ('Pmaxmin=? [ F "rich" ]', 'R{"games"}minmax=? [ F "end" ]'),
            make=arrays.ruin, width=0.01,
        ),
        Family(
            "layered", TO_TEN_MILLION,
            ('Pmax=? [ F "rich" ]', 'R{"wealth"}max=? [ F "end" ]'),
            ('Pmaxmin=? [ F "rich" ]', 'R{"wealth"}maxmin=? [ F "end" ]'),
            make=arrays.layered,
        ),
        Family(
            "clusters", TO_TEN_MILLION,
            ('Pmin=? [ F "goal" ]', 'R{"cost"}min=? [ F "end" ]'),
            ('Pminmax=? [ F "goal" ]', 'R{"cost"}minmax=? [ F "end" ]'),
            make=arrays.clusters, width=0.1,
        ),
        Family(
            "wide", TO_MILLION,
            ('Pmin=? [ F "goal" ]', 'R{"cost"}max=? [ F "end" ]'),
            ('Pmaxmin=? [ F "goal" ]', 'R{"cost"}maxmin=? [ F "end" ]'),
            make=arrays.wide, width=0.02,
        ),
    )
}  # fmt: skip


def build(family: Family, size: int, kind: str) -> MDP | IntervalMDP:
    """Return a family's model of roughly `size` transitions; variables and names, which no property needs, left out."""
    if family.make is not None:
        model: MDP | IntervalMDP = family.make(size)
    else:
        assert family.constants is not None
        full = umdp.io.read(MODELS / f"{family.name}.prism", constants=family.constants[size])
        assert isinstance(full, MDP)
        model = MDP(
            full.state_ptr, full.choice_ptr, full.successor, full.probability, initial=full.initial,
            labels=full.labels, rewards=full.rewards,
        )  # fmt: skip
    if kind == "plain":
        return model
    assert isinstance(model, MDP)
    return model.with_intervals(family.width, floor=family.floor)


def cases(sizes: tuple[int, ...] | None = None, only: tuple[str, ...] = ()) -> Iterator[Case]:
    """Yield the cases wanted, the models of one size together."""
    for family in FAMILIES.values():
        if only and family.name not in only:
            continue
        for size in family.sizes:
            if sizes is not None and size not in sizes:
                continue
            for kind in ("plain", "interval"):
                properties = family.plain if kind == "plain" else family.interval
                for asked in properties[:1] if size > HUGE else properties:
                    yield Case(family.name, size, kind, asked)
