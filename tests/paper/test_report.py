from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from umdp.paper.claims.claims import Judged, judge
from umdp.paper.report.figures import Drawing, figures
from umdp.paper.report.html_report import write_report
from umdp.paper.report.page import toml
from umdp.paper.report.summary import markdown_table, summary
from umdp.paper.results import Results

from . import sample

pytest.importorskip("matplotlib")

JUDGED = [
    Judged("C10", "Chain does not recover.", False, "fails", "0 of 3", "It does <always> & at once."),
    Judged("C2", "LUI | PAC are equal.", False, "holds", "5 of 6", "By medians,\nsee there."),
    Judged(
        "C2",
        "LUI | PAC are equal.",
        True,
        "not judged",
        "none",
        'Not judged: the experiment "basic" was not run.',
        reason='The experiment "basic" was not run.',
    ),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Results], list[Drawing]]:
    folder = tmp_path_factory.mktemp("report")
    results = [sample.strength(seeds=2, rows=30, published=published) for published in (False, True)]
    nasty = Results(
        "nasty", "<script>alert(1)</script>", False, 10, 1, {}, (), {"text": "</pre><b>", "versions": {"umdp": "<1>"}}
    )
    results.append(nasty)
    drawings = [drawing for one in results for drawing in figures(one, folder)]
    write_report(folder / "new" / "report.html", results, JUDGED, drawings)
    return (folder / "new" / "report.html").read_text(encoding="utf-8"), results, drawings


def test_the_page_is_well_formed_and_has_all_sections(made: tuple[str, list[Results], list[Drawing]]) -> None:
    root = ET.fromstring(made[0].removeprefix("<!DOCTYPE html>"))
    heads = ["Figures", "Claims of the paper", "What differs from the paper, and why", "What was run", "Settings"]
    assert [each.text for each in root.iter("h2")] == heads
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:url\(#|href="#)([^)"]+)', made[0])
    assert used
    assert set(used) <= set(ids)


def test_the_page_needs_nothing_from_elsewhere(made: tuple[str, list[Results], list[Drawing]]) -> None:
    page = made[0]
    assert "<script" not in page
    assert "<link" not in page
    assert "@import" not in page
    assert "src=" not in page
    assert re.findall(r'href="(?!#)([^"]*)"', page) == ["https://arxiv.org/abs/2205.15827"]
    assert not re.search(r"url\((?!#)", page)


def test_figures_stand_with_their_captions_by_experiment_and_mode(
    made: tuple[str, list[Results], list[Drawing]],
) -> None:
    page, _, drawings = made
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>"))
    shown = list(root.iter("figure"))
    assert len(shown) == len(drawings) == 2
    assert len(list(root.iter("{http://www.w3.org/2000/svg}svg"))) == 2
    captions = ["".join(figure.find("figcaption").itertext()) for figure in shown]  # type: ignore[union-attr]
    for number, (text, drawing) in enumerate(zip(captions, drawings, strict=True), 1):
        assert text.replace("\N{NO-BREAK SPACE}", " ") == f"Figure {number}. {drawing.caption}"
    heads = [each.text for each in root.iter("h3")]
    assert heads[:2] == ["The strength experiment, by definition", "The strength experiment, as published"]


def test_what_was_run_is_said(made: tuple[str, list[Results], list[Drawing]]) -> None:
    text = " ".join("".join(ET.fromstring(made[0].removeprefix("<!DOCTYPE html>")).itertext()).split())
    assert "1,000,000" in text
    assert "umdp 0.1.0, numpy 2.0.0, python 3.11.7 (strength by definition, strength as published)" in text
    assert 'name = "PAC <Hoeffding>"' in text
    assert "root_seed = 2022" in text


def test_claims_have_a_verdict_for_both_modes(made: tuple[str, list[Results], list[Drawing]]) -> None:
    root = ET.fromstring(made[0].removeprefix("<!DOCTYPE html>"))
    section = next(each for each in root.iter("section") if each.get("id") == "claims")
    assert section.find("p").text == "By definition: 1 hold, 1 fail. As published: 1 not judged."  # type: ignore[union-attr]
    rows = [[" ".join("".join(cell.itertext()).split()) for cell in row.iter("td")] for row in section.iter("tr")][1:]
    assert rows[0][0] == "C2"
    assert rows[0][2:] == ["✓ holds 5 of 6By medians, see there.", '– not judgedThe experiment "basic" was not run.']
    assert rows[1][0] == "C10"
    assert rows[1][2:] == ["✗ fails 0 of 3It does <always> & at once.", "not run"]


def test_everything_is_escaped(made: tuple[str, list[Results], list[Drawing]]) -> None:
    page = made[0]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;/pre&gt;&lt;b&gt;" in page
    assert "<b>" not in page
    assert "It does &lt;always&gt; &amp; at once." in page


def test_an_empty_report_can_be_written(tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", [], [], [])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    ET.fromstring(page.removeprefix("<!DOCTYPE html>"))
    for sentence in ("Nothing was run.", "No claim was judged.", "No figure was drawn."):
        assert sentence in page


def test_the_same_report_has_the_same_bytes(tmp_path: Path, made: tuple[str, list[Results], list[Drawing]]) -> None:
    write_report(tmp_path / "again.html", made[1], JUDGED, made[2])
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == made[0]


def test_claims_as_markdown() -> None:
    assert markdown_table(JUDGED).splitlines()[2:] == [
        "| C2 | **LUI \\| PAC are equal.** | **holds**: 5 of 6. By medians, see there. | "
        '**not judged**. The experiment "basic" was not run. |',
        "| C10 | **Chain does not recover.** | **fails**: 0 of 3. It does &lt;always> & at once. | not run |",
    ]


def test_settings_are_plain_text() -> None:
    settings = {"on": True, "list": [1, 0.5, "a\n"], "none": None, "table": {"inner": {"x": 1e-4}}, "empty": {}}
    assert toml(settings).split("\n\n") == [
        'on = true\nlist = [1, 0.5, "a\\n"]\nnone = "none"', "[table]\n[table.inner]\nx = 0.0001", "[empty]",
    ]  # fmt: skip


def test_both_modes_share_their_settings_and_what_is_not_set_is_left_out(tmp_path: Path) -> None:
    results = [sample.strength(seeds=1, rows=3, published=published) for published in (False, True)]
    write_report(tmp_path / "report.html", results, [], [])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<details>") == 1
    assert "The strength experiment, by definition and as published" in page
    assert "none" not in page.partition("<pre>")[2].partition("</pre>")[0]


def test_a_users_experiment_has_its_own_title_and_no_claims(tmp_path: Path) -> None:
    ours = replace(sample.strength(seeds=2, rows=3, published=False), own=True, title="Mine & only mine", name="basic")
    write_report(tmp_path / "report.html", [ours], [], figures(ours, tmp_path))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>"))
    assert [each.text for each in root.iter("h1")] == ["Mine & only mine"]
    assert [each.text for each in root.iter("h2")] == ["Figures", "How the runs ended", "What was run", "Settings"]
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    for word in ("paper", "arxiv", "by definition", "as published", "Claims"):
        assert word not in text, word
    assert "### Claims" not in summary([ours], [])
    assert judge([ours], published=False)[0].verdict == "not judged"  # though it is called basic
