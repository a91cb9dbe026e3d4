"""The forger's table: every row is refused, or its trust is named; and the table in the documents has the same rows."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from umdp.cli import run
from umdp.errors import UmdpError
from umdp.verify import verify_content
from umdp.verify.premise import Premise
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
    try:
        verdict = verify_content(content if request.node.callspec.id == "digest" else signed(content))
    except UmdpError as error:
        said = str(error)
        assert row.names is None, said
    else:
        if row.names is not None:
            assert verdict.valid, verdict.reason
            named = [each for each in verdict.assumed if each.premise is row.names]
            assert named
            assert all(re.search(row.says, each.text) and each.text in verdict.claim for each in named)
            return
        assert not verdict.valid, verdict.claim
        said = verdict.reason
    assert re.search(row.says, said), said
    assert time.monotonic() - begun < LONG


WRITTEN = {
    name: row for name, row in ROWS.items() if name not in ("nested-lists", "long-integer")
}  # which Python writes, too


@pytest.mark.parametrize("row", WRITTEN.values(), ids=WRITTEN)
def test_the_command_line_says_one_line(row, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        assert shown.out.count("\n") == 1


def test_the_table_has_these_rows() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", TABLE.read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(ROWS)
    assert len(set(rows)) == len(rows)


def test_every_premise_is_in_the_documents() -> None:
    text = (TABLE.parent / "certificates.md").read_text()
    assert all(f"| `{each.code}` |" in text for each in Premise)
