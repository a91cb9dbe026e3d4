"""Sweeps: the same files however the work was done, and nothing is done twice."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from umdp.cli import run
from umdp.errors import FormatError, ModelError
from umdp.paper.experiments.archive import Archive
from umdp.paper.experiments.experiment import Experiment
from umdp.paper.experiments.sweep import cluster, processes, sweep
from umdp.paper.report.results_table import write_table
from umdp.paper.reproduction import collect


def small(trajectories: int = 60, seeds: int = 2) -> Experiment:
    return Experiment.load("ties").cut(seeds=seeds, trajectories=trajectories)


def files(folder: Path, experiment: Experiment, archive: Archive) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    results = collect(experiment, archive)
    return {path.name: path.read_bytes() for kind in ("parquet", "csv") for path in write_table(results, folder, kind)}


@pytest.fixture(scope="module")
def serial(tmp_path_factory) -> dict[str, bytes]:
    pytest.importorskip("polars")
    folder = tmp_path_factory.mktemp("serial")
    experiment = small()
    with Archive.open(folder / "runs.db") as archive:
        assert processes(experiment.trials(), archive, jobs=1) == 60
        return files(folder, experiment, archive)


def test_threads_processes_and_two_halves_give_the_files_of_the_serial_sweep(serial, tmp_path) -> None:
    experiment = small()
    trials = list(experiment.trials())
    with Archive.open(tmp_path / "threads.db") as archive, ThreadPoolExecutor(3) as pool:
        assert sweep(trials[:20], archive, pool) == 20
        reported: list[tuple[int, int]] = []
        assert sweep(trials, archive, pool, lambda done, of: reported.append((done, of))) == 40
        assert reported == [(n, 40) for n in range(41)]
        assert files(tmp_path / "threads", experiment, archive) == serial
    with Archive.open(tmp_path / "processes.db") as archive:
        assert processes(trials, archive, jobs=2) == 60
        assert processes(trials, archive, jobs=2) == 0
        assert files(tmp_path / "processes", experiment, archive) == serial


def test_more_seeds_keep_what_is_there(tmp_path) -> None:
    with Archive.open(tmp_path / "runs.db") as archive:
        assert processes(small(5, seeds=1).trials(), archive, jobs=1) == 30
        assert processes(small(5, seeds=2).trials(), archive, jobs=1) == 30


@pytest.mark.slow
def test_a_worker_process_that_is_killed_is_replaced(serial, tmp_path) -> None:
    experiment = small()
    killed: list[int] = []

    def kill(done: int, of: int) -> None:
        if done == 3 and not killed:
            killed.append(multiprocessing.active_children()[0].pid or 0)
            os.kill(killed[0], signal.SIGKILL)

    with Archive.open(tmp_path / "runs.db") as archive:
        processes(experiment.trials(), archive, 2, kill)
        assert killed
        assert files(tmp_path, experiment, archive) == serial


@pytest.mark.slow
def test_a_worker_of_a_cluster_that_is_killed(serial, tmp_path, capsys) -> None:
    distributed = pytest.importorskip("distributed")
    experiment = small()
    pids: list[int] = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as workers,
        Archive.open(tmp_path / "runs.db") as archive,
        cluster(workers.scheduler_address) as executor,
    ):
        pids += [nanny.pid for nanny in workers.workers.values()]

        def kill(done: int, of: int) -> None:
            if done == 3:
                os.kill(pids[0], signal.SIGKILL)

        assert sweep(experiment.trials(), archive, executor, kill) == 60
        assert [nanny.pid for nanny in workers.workers.values()] != pids  # it is another process now
        assert files(tmp_path, experiment, archive) == serial
        # The command line does the same, and finds nothing left to do in that folder.
        common = ["reproduce", "ties", "--by-definition", "--seeds", "2", "--trajectories", "60", "--quiet"]
        assert run([*common, "--scheduler", workers.scheduler_address, "--out", str(tmp_path)]) == 0
        assert "60 runs, 0 of them now" in capsys.readouterr().out
        common[common.index("60")] = "5"
        assert run([*common, "--scheduler", workers.scheduler_address, "--out", str(tmp_path / "other")]) == 0
        assert "60 runs, 60 of them now" in capsys.readouterr().out


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on_where_it_was(serial, tmp_path) -> None:
    """`umdp reproduce`, killed with its workers after a third and again after two thirds."""
    command = [
        sys.executable, "-c", "from umdp.cli import main; main()", "reproduce", "ties", "--by-definition", "--seeds", "2",
        "--trajectories", "60", "--jobs", "2", "--out", "sweep", "--quiet",
    ]  # fmt: skip
    counted = 0
    for wanted in (16, 32):
        process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True)
        try:
            deadline = time.monotonic() + 120
            while counted < wanted and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
                if (tmp_path / "sweep" / "runs.db").exists():
                    with Archive.open(tmp_path / "sweep" / "runs.db") as archive:
                        counted = len(archive.keys())
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert counted >= 32
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    now = int(done.stdout.split("60 runs, ")[1].split(" of them now")[0])
    assert now <= 60 - counted
    folder = tmp_path / "sweep"
    assert {name: (folder / name).read_bytes() for name in ("ties.parquet", "ties.json")} == {
        name: serial[name] for name in ("ties.parquet", "ties.json")
    }


def test_ctrl_c_keeps_what_is_done(tmp_path) -> None:
    command = [
        sys.executable, "-c", "from umdp.cli import main; main()", "reproduce", "basic", "--seeds", "50", "--jobs", "2",
        "--trajectories", "2000",
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    archive_path = tmp_path / "reproduction" / "runs.db"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if archive_path.exists():
            with Archive.open(archive_path) as archive:
                if archive.keys():
                    break
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert error.splitlines()[-1] == "interrupted: what is done is kept in reproduction; the same command goes on"
    assert "Traceback" not in error


@pytest.mark.slow
def test_workers_that_die_again_and_again(tmp_path) -> None:
    bad = Experiment.load(_deadly(tmp_path)).trials()
    with Archive.open(tmp_path / "runs.db") as archive, pytest.raises(ModelError, match="the worker processes die"):
        processes(bad, archive, jobs=2)


def _deadly(folder: Path) -> Path:
    (folder / "deadly.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    path = folder / "deadly.toml"
    path.write_text(
        'environments = [{ name = "x", model = "deadly.py:x", property = "Pmax=? [ F true ]" }]\n'
        '[[learners]]\nlabel = "LUI"\nlearner = "lui"\n'
    )
    return path


def test_errors_of_a_run_say_which(tmp_path) -> None:
    (tmp_path / "odd.py").write_text(
        "from umdp import LUI\nclass Odd(LUI):\n    def update(self, counts):\n        raise KeyError('strange')\n"
    )
    path = tmp_path / "odd.toml"
    path.write_text('environments = ["chain"]\n[[learners]]\nlabel = "Odd"\nlearner = "odd.py:Odd"\n')
    with Archive.open(tmp_path / "runs.db") as archive, pytest.raises(ModelError) as caught:
        processes(Experiment.load(path).trials(), archive, jobs=1)
    assert str(caught.value) == "Odd on chain, seed 0: KeyError: 'strange'"


def test_archives_and_schedulers_that_are_none(tmp_path) -> None:
    with Archive.open(tmp_path / "empty.db") as archive, pytest.raises(ModelError, match="sweep the experiment first"):
        collect(small(), archive)
    (tmp_path / "runs.db").write_text("not a database, but long enough to be taken for one by its size " * 20)
    with pytest.raises(FormatError, match="this is not an archive of runs"):
        Archive.open(tmp_path / "runs.db")
    pytest.importorskip("distributed")
    with pytest.raises(ModelError, match="no scheduler answers at"), cluster("tcp://127.0.0.1:9", timeout=1):
        pass
