"""What notebooks show: small tables with everything escaped, and an example whose cells run."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

import umdp

ROOT = Path(__file__).parents[1]
NASTY = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Collects the tags of a page; what is opened must be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(shown):
    html = shown._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert tags.seen <= {"table", "caption", "tr", "th", "td", "pre"}
    assert "color:#" not in html  # the colours are those of the page
    return tags.text


def nasty():
    """A model whose every name is an attack."""
    return umdp.MDP(
        [0, 2, 3], [0, 2, 4, 5], [0, 1, 0, 1, 1], [0.5, 0.5, 0.1, 0.9, 1], labels={NASTY: [1]},
        state_names=[NASTY, "</table>"], actions=[f"{NASTY}{k}" for k in range(3)],
    )  # fmt: skip


@pytest.fixture(scope="module")
def last():
    *_, last = umdp.anytime(nasty(), f'Pmax=? [ F<=3 "{NASTY}" ]', umdp.ConfidenceSequence(), trajectories=30)
    return last


def test_names_are_escaped(last):
    assert NASTY in read(last)  # as text, not as a tag
    assert NASTY in read(last.policy)
    assert NASTY in read(last.model)


def test_snapshots_say_what_is_promised(last):
    text = read(last)
    assert str(last.bracket) in text
    assert "with probability 99 %, whenever you stop" in text
    assert "30 trajectories have been seen" in text


def test_solutions_and_brackets(last):
    assert NASTY in read(last.robust)
    assert str(last.bracket) in read(last.robust)
    assert f"{last.bracket.lower:.10g}" in read(last.bracket)
    solution = umdp.solve(umdp.benchmark.grid(3, 3, traps=[]), 'Pmax>=0.5 [ F "goal" ]')
    assert "holdsyes" in read(solution)
    assert "◎" in read(solution)


def test_a_policy_is_drawn_where_it_can_be():
    mdp = umdp.benchmark.grid(3, 2, traps=[(1, 0)])
    policy = umdp.Policy.from_actions(mdp, {"(0,0)": "south", "(0,1)": "east", "(1,1)": "east"})
    assert "[↓] ×  ◎\n →  →  ↑" in read(policy)
    bandit = umdp.solve(umdp.benchmark.bandit(), 'Rmax=? [ F "goal" ]').policy
    assert "start99" in read(bandit)
    assert "0.5" in read(umdp.Policy.uniform(umdp.Graph([0, 2], [0, 1, 2], [0, 0], actions=["a", "b"])))


@pytest.mark.parametrize("learner", [umdp.LUI(), umdp.PAC(), umdp.MAP(), umdp.UCRL2(), umdp.ClopperPearson()])
def test_learners_say_what_they_claim(learner):
    text = read(learner)
    assert type(learner).__name__ in text
    assert str(learner.claim) in text
    assert "6 transitions" not in text
    assert "transitions, widest" in read(learner.bind(nasty().graph))


def test_runs(tmp_path):
    from umdp.cli import run

    path = tmp_path / "<b>.run"
    assert run(["learn", "chain", "--trajectories", "20", "--out", str(path), "-q"]) == 0
    text = read(umdp.open(path))
    assert "Run <b>.run" in text
    assert "20 trajectories" in text


def test_figures_show_themselves(last):
    pytest.importorskip("matplotlib")
    from umdp import plot

    shown = plot.value([last]).figure._repr_png_()
    assert shown.startswith(b"\x89PNG")
    assert len(shown) > 10_000


def cells():
    notebook = json.loads((ROOT / "examples" / "learning.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_example_notebook_runs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for number, cell in enumerate(cells()):
        exec(compile("".join(cell["source"]), f"cell {number + 1}", "exec"), namespace)
    assert namespace["last"].trajectories == 2000
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def test_the_example_notebook_is_kept_without_outputs():
    for cell in cells():
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
