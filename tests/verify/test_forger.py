"""The forger's table: every row is refused, or its trust is named; and the table in the documents has the same rows."""

from __future__ import annotations

import json
import re
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from umdp.cli import run
from umdp.errors import UmdpError
from umdp.statements import Premise
from umdp.verify import document, formulas, qualitative, statistics, step_bounded, verify, verify_content
from umdp.verify.rationals import vector
from verify.forgeries import original
from verify.forgery_rows import ROWS
from verify.tamper import signed

TABLE = Path(__file__).parents[2] / "docs" / "explanation" / "forgeries.md"
LONG = 30.0  # seconds, on a busy machine: none takes longer, whatever is in the file


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_row(row, request: pytest.FixtureRequest) -> None:
    content = original(row.original)
    assert verify_content(content).valid
    row.change(content)
    begun = time.monotonic()
    given = content if request.node.callspec.id == "digest" else signed(content) if row.names or row.refused else None
    if given is None:  # not well-formed
        with pytest.raises(UmdpError, match=row.says):
            verify_content(signed(content))
        assert time.monotonic() - begun < LONG
        return
    verdict = verify_content(given)
    if row.names is not None:
        assert verdict.valid, verdict.reason
        named = [each for each in verdict.assumed if each.premise is row.names]
        assert named
        for each in named:
            assert re.search(row.says, " ".join(map(str, each.said.data.values())))
            assert each.text in verdict.claim
        return
    assert verdict.refused is not None, verdict.claim
    assert not verdict.valid
    assert verdict.refused.code in row.refused, verdict.reason
    assert verdict.as_dict()["refused"] == {"code": verdict.refused.code.value, "text": verdict.reason}
    assert time.monotonic() - begun < LONG


WRITTEN = {
    name: row for name, row in ROWS.items() if name not in ("nested-lists", "long-integer")
}  # which Python writes, too


@pytest.mark.parametrize("row", WRITTEN.values(), ids=WRITTEN)
def test_the_command_line_says_a_line_for_each_thing(row, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = original(row.original)
    row.change(content)
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(signed(content)))
    status = run(["verify", str(path)])
    shown = capsys.readouterr()
    assert status in (0, 1, 2)
    assert "bug" not in shown.err
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown.out + shown.err)
    if status < 2:
        verdict = verify(path)
        parts = (verdict.proved, verdict.assumed) if verdict.valid else ()
        assert shown.out.count("\n") == 1 + sum(len(part) + 1 for part in parts if part)


def test_the_table_has_these_rows() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", TABLE.read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(ROWS)
    assert len(set(rows)) == len(rows)


def test_every_premise_is_in_the_documents() -> None:
    text = (TABLE.parent / "certificates.md").read_text()
    assert all(f"| `{each.value}` |" in text for each in Premise)


@pytest.mark.parametrize(
    ("where", "name", "most", "says"),
    [
        (document, "LARGEST", 100, "larger than"),
        (document, "TRANSITIONS", 3, "transitions are too many"),
        (document, "LABELLED", 2, "labels"),
        (qualitative, "WORK", 5, "too many rounds"),
        (step_bounded, "WORK", 5, "too many to check"),
        (formulas, "ENTRIES", 5, "once they are expanded"),
        (statistics, "WORK", 10, "too many to check"),
    ],
)
def test_sizes_have_limits(
    where: Any, name: str, most: Any, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.json"
    kind = {step_bounded: "bounded", statistics: "sequence"}.get(where, "reach")
    path.write_text(json.dumps(original(kind)))
    assert verify(path).valid
    monkeypatch.setattr(where, name, most)
    with pytest.raises(UmdpError, match=says):
        verify(path)


def test_wide_numbers_of_many_states_are_refused() -> None:
    with pytest.raises(UmdpError, match="too large"):
        vector([Fraction(1, 1 << 399_000), *[Fraction(1)] * 20_000], "lower")


def test_what_is_taken_on_trust_is_for_programs_too() -> None:
    found = verify_content(original("fixed tied")).as_dict()["assumed"]
    assert [each["code"] for each in found] == ["process", "samples", "fixed-before", "fixed-size", "classes", "file"]
    assert found[-1]["named"] == "other"
    assert verify_content(original("reach")).as_dict()["assumed"] == []
