"""The live display, on a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys

import pytest

from umdp.cli.live import Point, chart, remaining

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")
UMDP = [sys.executable, "-c", "import umdp.cli; umdp.cli.main()"]


def on_terminal(columns, *arguments):
    """Return the lines that a terminal of so many columns was given, without colours."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    command = [*UMDP, *arguments]
    with subprocess.Popen(
        command, stdin=writer, stdout=writer, stderr=writer, env={**environment, "TERM": "xterm"}
    ) as started:
        os.close(writer)
        seen = b""
        while True:
            try:
                new = os.read(reader, 1 << 16)
            except OSError:  # nobody writes any more
                break
            if not new:
                break
            seen += new
    os.close(reader)
    assert started.returncode == 0, seen.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r", "").splitlines()


@pytest.mark.parametrize("columns", [80, 40])
def test_a_chart_with_a_scale_a_bar_and_the_policy(tmp_path, columns):
    lines = on_terminal(columns, "learn", "grid", "--trajectories", "400")
    chart_ = [line for line in lines if "┤" in line]
    assert any(line.split()[0] == "0" for line in chart_)
    assert any(line.strip().startswith("└┴") for line in lines)
    assert any(line.split()[:2] == ["1", "10"] for line in lines)
    bars = [line for line in lines if "%" in line and ("━" in line or "╌" in line)]
    assert bars
    assert all("left" in line or "0 %" in line for line in bars)
    drawn = [line for line in lines if any(sign in line for sign in "┤│└━╌█")]
    assert max(map(len, drawn)) <= columns
    assert lines[-10].startswith("[")  # ten lines of arrows
    assert "◎" in lines[-10]
    assert any("ended because 400 trajectories" in line for line in lines)


def test_without_a_budget_there_is_no_bar(tmp_path):
    lines = on_terminal(80, "learn", "bandit", "--until", ">=0.5")
    assert not any("━" in line or "╌" in line for line in lines)
    assert any("stops when >=0.5 is reached" in line for line in lines)
    assert "the policy" not in lines[-1]  # a bandit has no map


def test_values_of_many_sizes_are_on_a_logarithmic_scale():
    lines = chart([Point(n, 73 + 10 ** (120 / n), 50.0) for n in range(1, 500)], 60)
    assert lines[0].split()[0] == "100M"
    assert lines[5].split()[0] == "10"


def test_nothing_is_drawn_without_a_finite_bound():
    assert chart([Point(1, float("inf"), 3.0)], 60) == []
    assert chart([Point(1, 0.0)], 60)[-1].split() == ["1"]


@pytest.mark.parametrize("width", [10, 30, 39, 79, 200])
def test_a_chart_fits(width):
    lines = chart([Point(10**k, 0.1 * k, 1.0) for k in range(8)], width)
    assert max(map(len, lines)) <= max(width, 16)


def test_the_first_budget_to_run_out_counts():
    assert remaining((10, 1000), (0, 0), 1.0, (100, 2000, None)) == (0.5, 1.0)
    assert remaining((60, 0), (50, 0), 5.0, (100, None, None)) == (0.6, 20.0)  # the pace of this sitting
    assert remaining((0, 0), (0, 0), 0.0, (100, None, None)) == (0.0, None)
    assert remaining((5, 5), (0, 0), 1.0, (None, None, None)) is None
