"""The registry: what each name stands for, what is said about unknown names, and what importing costs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from umdp import MDP, ModelError, Spec
from umdp.benchmark import BENCHMARKS, load

FACTS = {
    "chain": ('Rmin=? [ F "goal" ]', 100),
    "chain-switched": ('Rmin=? [ F "goal" ]', 100),
    "aircraft": ('Pmax=? [ !"collision" U "goal" ]', 1000),
    "grid": ('Pmax=? [ !"trap" U "goal" ]', 200),
    "bandit": ('Rmax=? [ F "goal" ]', 100),
    "betting-favourable": ('Rmax=? [ F "done" ]', 7),
    "betting-unfavourable": ('Rmax=? [ F "done" ]', 7),
}


def test_the_names() -> None:
    assert list(BENCHMARKS) == list(FACTS)
    with pytest.raises(TypeError):
        BENCHMARKS["chain"] = BENCHMARKS["grid"]  # type: ignore[index]


@pytest.mark.parametrize("name", FACTS)
def test_a_benchmark(name: str) -> None:
    benchmark = load(name)
    text, horizon = FACTS[name]
    assert benchmark.name == name
    assert benchmark.spec == Spec.parse(text)
    assert str(benchmark.spec) == text
    assert benchmark.horizon == horizon
    assert "\n" not in benchmark.description
    assert isinstance(benchmark.build(), MDP)
    with pytest.raises(FrozenInstanceError):
        benchmark.horizon = 1  # type: ignore[misc]


def test_an_unknown_name() -> None:
    with pytest.raises(
        ModelError, match=r"there is no benchmark 'griid'; .*betting-unfavourable\. Did you mean grid\?"
    ):
        load("griid")
    with pytest.raises(ModelError, match="Did you mean betting-favourable"):
        load("betting-favorable")
    with pytest.raises(ModelError, match=r"betting-unfavourable$"):
        load("zzz")


def test_importing_builds_nothing_and_loads_no_compiler_and_no_parser() -> None:
    check = """
import sys
from umdp.model import MDP
def refuse(self): raise SystemExit("a model was built")
MDP.__post_init__ = refuse
import umdp.benchmark
print([name for name in ("numba", "scipy", "lark") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
