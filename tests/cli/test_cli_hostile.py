"""Names are whatever somebody wrote: none controls a terminal, a picture or a page. Random calls are a sample of the bench."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from bench.hostile import GOAL, NAMES, called, controls
from bench.invocations import survey

from umdp import MDP, Policy, Rewards
from umdp.statements.text import as_markdown, as_markup, one_line, printable


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_random_calls(here):
    faults, ends = survey(30, 1, 5, here)
    os.chdir(here)
    assert faults == []
    assert ends.total() == 30


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_every_name_is_shown_as_text(name):
    assert controls(printable(name)) is None
    assert controls(one_line(name)) is None
    assert "\n" not in one_line(name)
    assert controls(as_markdown(name)) is None
    assert ET.fromstring(f'<a b="{as_markup(name)}">{as_markup(name)}</a>').text == printable(name)
    if name.isprintable():
        assert printable(name) == name


def test_what_is_written_out_is_json():
    for name in NAMES:
        assert json.loads(printable(json.dumps(name, ensure_ascii=False))) == name


def test_forged_lines_are_indented_or_written_out(here):
    name = "x\nerror: forged\nwarning: forged"
    done = called(["check", name, GOAL])
    assert done.code == 2
    assert not any(line.startswith(("error: forged", "warning")) for line in done.err.splitlines())


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (["check"], [GOAL], 0),
        (["learn"], [GOAL, "--trajectories", "5", "-q"], 0),
        (["learn"], [GOAL, "--trajectories", "5", "-q", "--out", "new.run"], 2),
        (["calibrate", "pac"], [GOAL, "--seeds", "2", "--trajectories", "5", "--jobs", "1"], 2),
        (["show"], [], 2),
        (["explain"], [], 2),
        (["verify"], [], 2),
    ],
)
def test_files_whose_names_are_not_text(here, before, after, code):
    """A run holds text: it says so where a name is none."""
    from umdp.benchmark import chain
    from umdp.io import write

    write(chain(), "chain.drn")
    name = "half\udc80.drn"
    Path(name).write_bytes(Path("chain.drn").read_bytes())
    done = called([*before, name, *after])
    assert done.code == code, done.err
    assert "bug" not in done.err
    assert controls(done.out + done.err) is None


def named() -> MDP:
    """Return a model in which everything has a hostile name."""
    count = len(NAMES)
    return MDP(
        np.arange(count + 1),
        np.arange(count + 1),
        np.minimum(np.arange(count) + 1, count - 1),
        np.ones(count),
        labels={name: [number] for number, name in enumerate(NAMES)},
        rewards={name: Rewards(state=np.ones(count)) for name in NAMES},
        actions=NAMES,
        state_names=NAMES,
    )


def test_representations_are_text_and_markup():
    model = named()
    for thing in (model, model.graph, Policy.uniform(model), Policy(model, np.arange(len(NAMES)))):
        assert controls(repr(thing)) is None
        page = thing._repr_html_()
        assert controls(page) is None
        assert "<script" not in page
        assert "<img" not in page


def test_pictures_are_made_of_text(here):
    pytest.importorskip("matplotlib")
    from umdp.plot.figure import new_figure, save_as

    figure = new_figure(4, 3)
    axes = figure.add_subplot()
    axes.plot([1, 2], [1, 2], label=NAMES[0])
    for number, name in enumerate(NAMES):
        axes.text(0.1, number / 40, name)
    axes.set_xticks(range(3), ["$x^2$", NAMES[3], NAMES[26]])
    axes.set_title(NAMES[34] + NAMES[35])
    text = save_as(figure, here / "a.svg").read_text(encoding="utf-8")
    assert controls(text) is None
    assert "<script" not in text
    ET.fromstring(text)


def test_a_report_and_its_summary_are_made_of_text(here):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    names = [json.dumps(each) for each in (NAMES[3], NAMES[26], NAMES[33])]
    Path("own.toml").write_text(
        f"title = {names[0]}\nseeds = 1\ntrajectories = 10\n"
        f'environments = [{{ name = {names[1]}, model = "chain" }}]\n[[learners]]\nlabel = {names[2]}\nlearner = "lui"\n'
    )
    done = called(["reproduce", "own.toml", "--jobs", "1", "--csv", "--out", "made"])
    assert done.code == 0, done.err
    assert controls(done.out + done.err) is None
    page = Path("made/report.html").read_text(encoding="utf-8")
    summary = Path("made/summary.md").read_text(encoding="utf-8")
    assert controls(page) is None
    assert controls(summary) is None
    assert "<script>alert" not in page
    assert "<script>" not in summary
    assert re.search(r"[^\\]\]\(javascript", summary) is None
