"""Streams that are closed or full, signals, and locks that are not there: one line, the right status, and nothing lost."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import without_note

UMDP = f"{sys.executable} -c 'import umdp.cli; umdp.cli.main()'"
LEARN = "learn chain --trajectories 200 --seed 1"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="streams of a shell")


def shell(command: str, **more) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-c", command.replace("umdp ", f"{UMDP} ", 1)],
        capture_output=True, text=True, timeout=120, check=False, **more,
    )  # fmt: skip
    done.stderr = without_note(done.stderr)
    return done


def is_one_line(text: str) -> bool:
    return text.startswith("error: ") and text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize(("streams", "said"), [(">&-", "it is closed"), ("> /dev/full", "No space left on device")])
def test_output_that_cannot_be_written_keeps_what_was_learned(umdp, folder, streams, said):
    done = shell(f"umdp {LEARN} --out a.run {streams}")
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert f"standard output cannot be written: {said}" in done.stderr
    assert umdp("show", "a.run").code == 0
    assert umdp("resume", "a.run", "-q", "--trajectories", "300").code == 0


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"])
def test_errors_that_nobody_can_read_have_their_status(folder, streams):
    done = shell(f"umdp show none.run {streams}")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_streams_that_are_closed_are_not_files(umdp, folder):
    """Without care the run would be opened under the number of standard error."""
    done = shell(f"umdp {LEARN} -q --out a.run <&- 2>&-")
    assert done.returncode == 0
    assert done.stdout.startswith("at ")
    assert umdp("show", "a.run").code == 0


def test_standard_input_that_is_closed_is_named(folder):
    (folder / "list.csv").write_text("state,action,next\na,go,a\na,go,b\nb,stay,b\n")
    done = shell("umdp learn - 'Pmax=? [ F \"b\" ]' --graph list.csv --label b=b <&-")
    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "standard input is closed" in done.stderr


def test_a_pipe_that_breaks_keeps_what_was_learned(umdp, folder):
    done = shell(f"umdp {LEARN} --json --out a.run | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert done.returncode in (0, 141)  # it may have ended before the pipe broke
    assert json.loads(done.stdout)["trajectories"] == 0
    assert done.stderr == ""
    assert umdp("show", "a.run").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_keep_what_was_learned(umdp, folder, number):
    command = [sys.executable, "-c", "import umdp.cli; umdp.cli.main()", "learn", "grid", "--out", "a.run", "--json"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        started.stdout.readline()
        started.send_signal(number)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Traceback" not in err
    assert umdp("show", "a.run").code == 0
    assert not Path("a.run-lock").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_interrupt_every_command(folder, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("what is ignored here, as under nohup, stays ignored")
    slow = 'Pmaxmin=? [ F<=12000000 "base" ]'
    command = [sys.executable, "-c", "import umdp.cli; umdp.cli.main()", "check", "examples/rover.tra"]
    quick = 'Pmaxmin=? [ F<=9 "base" ]'
    with subprocess.Popen(
        [*command, quick, slow, "--json"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        assert json.loads(started.stdout.readline())["property"] == quick
        started.send_signal(number)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert err.endswith("interrupted: 1 of 2 properties answered\n")


def test_what_is_ignored_stays_ignored(folder):
    """As under nohup."""
    command = f"trap '' HUP; exec {UMDP} learn grid --seconds 3 -q --out a.run"
    with subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        while not Path("a.run").exists():
            assert started.poll() is None
            time.sleep(0.05)
        started.send_signal(signal.SIGHUP)
        started.communicate(timeout=60)
    assert started.returncode == 0


def test_a_file_system_without_locks_is_named(umdp, folder, monkeypatch):
    assert umdp("learn", "chain", "--trajectories", "20", "-q", "--out", "there.run").code == 0
    fcntl = pytest.importorskip("fcntl")

    def refuse(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    for asked in (("learn", "chain", "--trajectories", "20", "--out", "new.run"), ("resume", "there.run")):
        done = umdp(*asked)
        assert done.code == 2
        assert is_one_line(done.err)
        assert "no locks (No locks available)" in done.err
        assert "choose a folder of another file system" in done.err
    assert sorted(each.name for each in folder.iterdir()) == ["examples", "there.run"]
    shown = umdp("show", "there.run")
    assert shown.code == 0
    assert "running now" not in shown.out


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        (("learn", "grid", "--seed", "1", "--seed", "2"), "--seed"),
        (("learn", "grid", "--json", "--json"), "--json"),
        (("learn", "grid", "-q", "--quiet"), "--quiet"),
        (("check", "examples/rover.tra", "--precision=1e-3", "--precision", "1e-6"), "--precision"),
        (("show", "a.run", "--json", "--json"), "--json"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(umdp, asked, option):
    done = umdp(*asked)
    assert done.code == 2
    assert is_one_line(done.err)
    assert f"{option} is given twice; give it once (see umdp {asked[0]} --help)" in done.err


def test_options_that_may_be_repeated_are_not(umdp, folder):
    (folder / "log.csv").write_text("trajectory,state,action,next\n1,a,go,b\n2,a,go,c\n")
    done = umdp("learn", "log.csv", 'Pmax=? [ F "b" ]', "--label", "b=b", "--label", "c=c", "-q")
    assert done.code == 0, done.err
