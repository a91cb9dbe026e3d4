"""Files that announce more than they hold are refused before there is room made for it."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest
from test_io_malformed import DRN, TRA, archive

import umdp.io
from umdp import FormatError

MANY = 2 * 10**9
READ = """
import resource, sys
import umdp.io, umdp.io.umb_read, umdp.io.drn_read, umdp.io.explicit_read, umdp.model
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
for path in sys.argv[1:]:
    try:
        print(umdp.io.read(path))
    except umdp.UmdpError as error:
        print(type(error).__name__, error)
"""


def announcements(folder):
    """Write one file per lie; return them with what is said of each."""
    texts = {
        "states.tra": (TRA.replace("2 3 4", f"{MANY} 3 4"), f"state 2 has no transitions ({MANY - 2} such states)"),
        "choices.tra": (TRA.replace("2 3 4", f"2 {MANY} 4"), f"the header declares {MANY} choices, but the file has 3"),
        "all.tra": (TRA.replace("2 3 4", f"2 3 {MANY}"), f"the header declares {MANY} transitions, but the file has 4"),
        "hint.tra": (
            TRA.replace("2 3 4", "mdp").replace("0 0 1 ", "0 0 1999999999 "),
            "state 2 has no transitions (1999999998 such states)",
        ),
        "digits.tra": (TRA.replace("2 3 4", f"{'9' * 5000} 3 4"), "the header"),
        "states.drn": (
            DRN.replace("@nr_states\n2", f"@nr_states\n{MANY}"), f"the header declares {MANY} states, but the file has 2",
        ),
        "choices.drn": (
            DRN.replace("@nr_choices\n2", f"@nr_choices\n{MANY}"), f"the header declares {MANY} choices, but the file has 2",
        ),
        "digits.drn": (DRN.replace("@nr_states\n2", f"@nr_states\n{'9' * 5000}"), "@nr_states must be followed by a number"),
    }  # fmt: skip
    found = {}
    for name, (text, said) in texts.items():
        (folder / name).write_text(text)
        found[folder / name] = said
    edits = {
        "states": ({"#states": MANY}, "every state needs a choice"),
        "chain": ({"#states": MANY, "#choices": MANY}, "every choice a branch"),
        "branches": ({"#branches": MANY}, f"branch-to-target.bin has 32 bytes; {MANY} entries need {8 * MANY}"),
        "all": ({"#states": MANY, "#choices": MANY, "#branches": MANY}, "branch-to-target.bin has 32 bytes"),
        "actions": ({"#choice-actions": MANY}, "string-mapping.bin has"),
        "negative": ({"#states": -1}, "there must be a state"),
    }
    for name, (edit, said) in edits.items():
        data = archive(folder, index=lambda i, edit=edit: i["transition-system"].update(edit)).read_bytes()
        for kind, stored in (("", data), ("-gz", gzip.compress(data))):
            (folder / f"{name}{kind}.umb").write_bytes(stored)
            found[folder / f"{name}{kind}.umb"] = said
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on memory")
def test_what_is_announced_takes_no_memory(tmp_path):
    expected = announcements(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", READ, *map(str, expected)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(expected)
    for line, (path, wanted) in zip(said, expected.items(), strict=True):
        assert line.startswith(f"FormatError {path}")
        assert wanted in line


def test_actions_without_names(tmp_path):
    changed = {"actions/choices/strings.bin": None, "actions/choices/string-mapping.bin": None}
    assert umdp.io.read(archive(tmp_path, changed)).action_names == ("a0", "a1")
    with pytest.raises(FormatError, match=f"declares {MANY} actions without names for 3 choices"):
        umdp.io.read(archive(tmp_path, changed, lambda i: i["transition-system"].update({"#choice-actions": MANY})))


def test_lengths_in_the_archive_itself(tmp_path):
    """A tar header that says a member is longer than the file."""
    data = bytearray(archive(tmp_path).read_bytes())
    at = data.index(b"branch-to-target.bin")
    data[at + 124 : at + 136] = b"%011o\x00" % (8 * MANY)
    data[at + 148 : at + 156] = b" " * 8
    data[at + 148 : at + 156] = b"%06o\x00 " % sum(data[at : at + 512])
    (tmp_path / "m.umb").write_bytes(data)
    with pytest.raises(FormatError, match=r"ends within branch-to-target|not a whole UMB archive"):
        umdp.io.read(tmp_path / "m.umb")
