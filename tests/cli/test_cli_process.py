"""The command line as a process of its own: exit status, signals, pipes, terminals, start-up."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from umdp.cli.progress import Progress

pty = pytest.importorskip("pty")

UMDP = [sys.executable, "-c", "import umdp.cli; umdp.cli.main()"]
SLOW = 'Pmaxmin=? [ F<=12000000 "base" ]'
QUICK = 'Pmaxmin=? [ F<=9 "base" ]'


def process(*arguments, **options):
    return subprocess.run([*UMDP, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)


def read_until(reader, text, seconds=120):
    """Return what a terminal shows, up to `text` or its end."""
    seen, begun = "", time.monotonic()
    while text not in seen and time.monotonic() - begun < seconds:
        if select.select([reader], [], [], 1)[0]:
            seen += os.read(reader, 1 << 16).decode()
    return seen


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((QUICK,), 0),
        (('Pmaxmin>=0.9 [ F<=9 "base" ]',), 1),
        (('Pmaxmin>=0.9 [ F<=9 "base" ]', QUICK), 1),
        (('Pmaxmin=? [ F<=9 "bse" ]',), 2),
        ((), 2),
    ],
)
def test_exit_status(folder, arguments, code):
    done = process("check", "examples/rover.tra", *arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert bool(done.stdout) == (code < 2)
    if code == 2:
        assert done.stderr.startswith("error: ")


def test_storm_prints_nothing_of_its_own(folder):
    pytest.importorskip("stormpy")
    Path("q.prism").write_text("mdp\nmodule m\n x : [0..2] init 0\nendmodule\n")
    done = process("check", "q.prism", 'Pmax=? [ F "goal" ]')
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: q.prism, line 4: ")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_keeps_what_was_answered(folder):
    command = [*UMDP, "check", "examples/rover.tra", QUICK, SLOW, "--json"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert json.loads(started.stdout.readline())["property"] == QUICK
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert out == ""
    assert err.endswith("interrupted: 1 of 2 properties answered\n")
    assert "Traceback" not in err


def test_progress_shows_on_a_terminal_and_goes_away(folder):
    reader, writer = pty.openpty()
    command = [*UMDP, "check", "examples/rover.tra", QUICK, SLOW]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=writer, env=environment) as started:
        seen = read_until(reader, "property 2 of 2")
        started.send_signal(signal.SIGINT)
        out, _ = started.communicate(timeout=60)
    seen += read_until(reader, "answered")
    os.close(writer)
    os.close(reader)
    assert started.returncode == 130
    assert QUICK in out
    assert SLOW not in out
    assert "property 2 of 2" in seen
    assert "\x1b[2K" in seen  # the line was erased
    assert "interrupted: 1 of 2 properties answered" in seen


def test_a_terminal_gets_the_table(folder):
    reader, writer = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run([*UMDP, "check", "examples/rover.tra", QUICK], stdout=writer, env=environment, check=False)
    os.close(writer)
    seen = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert done.returncode == 0
    assert "╭" in seen
    assert "\x1b[" in seen


def test_nobody_reads_the_output(folder):
    command = " ".join(f"'{part}'" for part in [*UMDP, "check", "examples/rover.tra", QUICK])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | true"], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 141)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_ascii_terminals_do_not_end_the_program(folder):
    Path("m.tra").write_text("1 1 1\n0 0 0 1\n")
    Path("m.lab").write_text('0="init" 1="größe"\n0: 0 1\n')
    done = process("check", "m.tra", 'Pmax=? [ F "größe" ]', env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr


def test_importing_the_command_line_is_light(folder):
    code = "import sys, umdp.cli; print([m for m in ('numba', 'scipy', 'rich', 'typer', 'lark') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_compiling_is_announced_once(tmp_path, folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = (
        "from umdp import Graph, kernel\n"
        "from umdp.cli.terminal import announce\n"
        "kernel.LARGE = 0\n"
        "announce()\n"
        "for _ in range(2):\n"
        "    Graph([0, 1], [0, 1], [0]).with_bounds([1.0], [1.0])\n"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stderr
        for _ in range(2)
    ]
    assert said == ["compiling kernels once; later runs start at once\n", ""]


def test_nothing_is_compiled_for_a_small_model(tmp_path, folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = process("check", "examples/rover.tra", 'Pmaxmin=? [ F "base" ]', "--json", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert not any((tmp_path / "cache").rglob("*.nbi"))


def test_nothing_is_said_of_compiling_where_nothing_is_compiled(tmp_path, folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    failed = process("learn", "gird", env=environment)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: there is no benchmark 'gird'")


def test_nothing_is_said_of_what_is_compiled_after_a_command(tmp_path, folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = (
        "from umdp import Graph, kernel\n"
        "from umdp.cli import run\n"
        "kernel.LARGE = 0\n"
        "run(['learn', 'gird'])\n"
        "Graph([0, 1], [0, 1], [0]).with_bounds([1.0], [1.0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.startswith("error: there is no benchmark 'gird'")
    assert "compiling" not in done.stderr
    assert any((tmp_path / "cache").rglob("*are_feasible*"))


def test_progress_line():
    progress = Progress("property 2 of 3")
    assert progress.line() == "property 2 of 3"
    progress.tell("certifying", 2.5e-4)
    assert progress.line() == "property 2 of 3: certifying, relative width 0.0003"
