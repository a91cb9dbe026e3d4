"""What the documents say of speed is what was measured, and what is measured can be run."""

from __future__ import annotations

import numpy as np
import pytest
from bench.everything import PARTS, RESULTS, Part, section
from bench.quote import DOCUMENTS, quoted, sections

import umdp
from bench import again, arrays, machine, roofline


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_quote_the_results(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    assert text.count("<!-- bench: ") == text.count("<!-- /bench -->") > 5
    assert quoted(text) == text, "python -m bench.quote writes the tables anew"


def test_the_results_have_every_part_and_no_path_of_a_machine() -> None:
    text = (RESULTS / "all.md").read_text()
    assert set(sections(text)) == {"Machine", *(part.title for part in PARTS)}
    for file in RESULTS.iterdir():
        assert "/root" not in file.read_text()
        assert "/work" not in file.read_text()


def test_tables_stay_tables_and_the_rest_is_shown_as_printed() -> None:
    part = Part("Title", "bench.some")
    assert (
        section(part, ("1",), "| a |\n|---|\n| 1 |") == "## Title\n\n`python -m bench.some 1`\n\n| a |\n|---|\n| 1 |\n"
    )
    assert section(part, (), "a 1") == "## Title\n\n`python -m bench.some`\n\n```\na 1\n```\n"


def test_models_that_are_solved_again_differ_on_a_share_of_their_rows() -> None:
    plain = arrays.random_sparse(5000)
    for model in (plain, plain.with_intervals(0.1, floor=1e-3)):
        other = again.altered(model, 0.1, np.random.default_rng(1))
        numbers = ("probability",) if isinstance(model, umdp.MDP) else ("lower", "upper")
        moved = np.logical_or.reduce([getattr(model, name) != getattr(other, name) for name in numbers])
        rows = np.logical_or.reduceat(moved, model.choice_ptr[:-1])
        assert 0.05 < rows.mean() < 0.15
        if isinstance(other, umdp.IntervalMDP):
            assert (other.lower >= model.lower).all()  # type: ignore[union-attr]
            assert (other.upper <= model.upper).all()  # type: ignore[union-attr]


def test_a_sweep_is_measured_with_the_bytes_it_reads() -> None:
    entries, plain, seconds = roofline.measure("layered", 1000, "plain")
    same, free, _ = roofline.measure("layered", 1000, "interval")
    assert 0 < seconds < 1
    assert 12 * entries < plain < free
    assert free > 24 * same
    assert machine.copy_bandwidth(2**20, 1) > 0
